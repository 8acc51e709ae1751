/*
 * test_diff.c - groups of stacks become lines of code, whose sums are those of the groups; settings
 * that differ are named. The groups are made by hand: a fault of the engine cannot hide one here.
 */
#include "harness.h"

#include "report/model/diff_lines.h"
#include "report/model/diff_parts.h"
#include "report/model/settings_text.h"
#include "sample.h"

static const plim_diff_view everything = { 0 };

static plim_diff_share share(uint32_t stack, uint64_t bytes)
{
    return (plim_diff_share){ .bytes = bytes,
                              .count = 1,
                              .stack = stack,
                              .user_frame = stack == SAMPLE_FORWARD || stack == SAMPLE_FORWARD_TWICE
                                                ? 1
                                                : PLIM_NONE,
                              .differing_frame = PLIM_NONE };
}

static plim_diff_share nothing(void)
{
    return (plim_diff_share){ .stack = PLIM_NONE,
                              .user_frame = PLIM_NONE,
                              .differing_frame = PLIM_NONE };
}

static plim_diff_group group(plim_diff_match match, plim_diff_share before, plim_diff_share after)
{
    return (plim_diff_group){ .match = match,
                              .before = before,
                              .after = after,
                              .change_bytes = plim_diff_change(before.bytes, after.bytes),
                              .package = "" };
}

static plim_diff_lines lines_of(const plim_diff_view *view, const plim_history *history,
                                const plim_diff_group *groups, size_t count)
{
    const plim_diffed diffed = { .before = { .name = "a", .history = history },
                                 .after = { .name = "b", .history = history } };
    const plim_diff_moment moment = { .is_known = true, .groups = groups, .group_count = count };
    plim_diff_lines lines;
    T_EQ_U64(plim_diff_lines_init(&lines, NULL, view, &diffed, &moment, NULL), PLIM_OK);
    return lines;
}

static void stacks_of_one_line_are_one_row(void)
{
    plim_history *history = sample_history(1);
    const plim_diff_group groups[] = {
        group(PLIM_DIFF_SURE, share(SAMPLE_FORWARD, 10), share(SAMPLE_FORWARD, 30)),
        group(PLIM_DIFF_LIKELY, share(SAMPLE_FORWARD_TWICE, 5), share(SAMPLE_FORWARD_TWICE, 1)),
        group(PLIM_DIFF_SURE, share(SAMPLE_OPTIMIZER, 7), share(SAMPLE_OPTIMIZER, 7)),
    };
    plim_diff_lines lines = lines_of(&everything, history, groups, 3);
    T_EQ_U64(lines.count, 2);
    T_EQ_U64(lines.grown, 1);
    T_EQ_U64(lines.shrunk, 0);
    T_EQ_U64(lines.items[0].group_count, 2);
    T_EQ_U64(lines.items[0].before_bytes, 15);
    T_EQ_U64(lines.items[0].after_bytes, 31);
    T_EQ_I64(lines.items[0].change_bytes, 16);
    T_EQ_U64(lines.items[0].likely_bytes, 5);
    T_TRUE(lines.items[0].likely == &groups[1]);
    T_TRUE(lines.items[0].group == &groups[0]);
    T_NULL(lines.items[0].was);
    T_EQ_STR(lines.items[0].where, "model.py:120 in forward");
    T_EQ_U64(lines.total.before_bytes, 22);
    T_EQ_U64(lines.total.after_bytes, 38);
    plim_diff_lines_deinit(&lines);
    plim_history_destroy(history);
}

static void a_line_that_calls_something_else_is_not_new_and_gone(void)
{
    plim_history *history = sample_history(1);
    const plim_diff_group groups[] = {
        group(PLIM_DIFF_GONE, share(SAMPLE_FORWARD, 10), nothing()),
        group(PLIM_DIFF_NEW, nothing(), share(SAMPLE_FORWARD_TWICE, 30)),
    };
    plim_diff_lines lines = lines_of(&everything, history, groups, 2);
    T_EQ_U64(lines.count, 1);
    T_EQ_STR(plim_diff_line_kind(&lines.items[0]), "grown");
    T_EQ_I64(lines.items[0].change_bytes, 20);
    plim_diff_lines_deinit(&lines);
    plim_history_destroy(history);
}

/* The optimizer's code stood at another line before; what is gone from that line joins it, and
 * what is gone from the line that it has now does not. */
static void moved_lines_do_not_take_what_is_gone_from_theirs(void)
{
    plim_history *history = sample_history(1);
    const plim_diff_group groups[] = {
        group(PLIM_DIFF_LIKELY, share(SAMPLE_OPTIMIZER, 10), share(SAMPLE_FORWARD, 10)),
        group(PLIM_DIFF_GONE, share(SAMPLE_FORWARD, 4), nothing()),
        group(PLIM_DIFF_GONE, share(SAMPLE_OPTIMIZER, 3), nothing()),
    };
    plim_diff_lines lines = lines_of(&everything, history, groups, 3);
    T_EQ_U64(lines.count, 2);
    T_EQ_STR(plim_diff_line_kind(&lines.items[0]), "shrunk");
    T_EQ_U64(lines.items[0].before_bytes, 13);
    T_NOT_NULL(lines.items[0].was);
    T_EQ_STR(plim_diff_line_kind(&lines.items[1]), "gone");
    T_EQ_U64(lines.items[1].before_bytes, 4);
    T_EQ_U64(lines.shrunk, 2);
    plim_diff_lines_deinit(&lines);
    plim_history_destroy(history);
}

/* A group that both sides have may hold nothing on one of them at a moment. */
static void known_code_that_held_nothing_is_not_new(void)
{
    plim_history *history = sample_history(1);
    const plim_diff_group groups[] = {
        group(PLIM_DIFF_SURE, nothing(), share(SAMPLE_FORWARD, 8)),
        group(PLIM_DIFF_NEW, nothing(), share(SAMPLE_BACKWARD, 4)),
        group(PLIM_DIFF_SURE, share(PLIM_NONE, 9), share(PLIM_NONE, 2)),
    };
    plim_diff_lines lines = lines_of(&everything, history, groups, 3);
    T_EQ_U64(lines.count, 3);
    T_EQ_STR(plim_diff_line_kind(&lines.items[0]), "grown");
    T_NULL(lines.items[0].was);
    T_EQ_STR(plim_diff_line_kind(&lines.items[1]), "new");
    T_EQ_STR(plim_diff_line_kind(&lines.items[2]), "shrunk");
    T_EQ_STR(lines.items[2].where, "no stack recorded");
    plim_diff_lines_deinit(&lines);
    plim_history_destroy(history);
}

static void filters_leave_out_groups(void)
{
    plim_history *history = sample_history(1);
    plim_diff_group groups[] = {
        group(PLIM_DIFF_SURE, share(SAMPLE_FORWARD, 1), share(SAMPLE_FORWARD, 2)),
        group(PLIM_DIFF_SURE, share(SAMPLE_OPTIMIZER, 10), share(SAMPLE_OPTIMIZER, 20)),
        group(PLIM_DIFF_GONE, share(SAMPLE_FORWARD_TWICE, 100), nothing()),
    };
    groups[1].category = PLIM_CATEGORY_OPTIMIZER_STATE;
    const plim_diff_view states = { .one_category = true,
                                    .category = PLIM_CATEGORY_OPTIMIZER_STATE };
    const plim_diff_view relu = { .stack = "relu" };
    plim_diff_lines lines = lines_of(&states, history, groups, 3);
    T_EQ_U64(lines.total.after_bytes, 20);
    plim_diff_lines_deinit(&lines);
    lines = lines_of(&relu, history, groups, 3);
    T_EQ_U64(lines.count, 1);
    T_EQ_U64(lines.total.before_bytes, 100);
    plim_diff_lines_deinit(&lines);
    plim_history_destroy(history);
}

static void sums_do_not_wrap(void)
{
    plim_history *history = sample_history(1);
    const plim_diff_group groups[] = {
        group(PLIM_DIFF_SURE, nothing(), share(SAMPLE_FORWARD, UINT64_MAX)),
        group(PLIM_DIFF_SURE, nothing(), share(SAMPLE_FORWARD_TWICE, UINT64_MAX)),
        group(PLIM_DIFF_SURE, share(SAMPLE_HOSTILE, UINT64_MAX), nothing()),
    };
    plim_diff_lines lines = lines_of(&everything, history, groups, 3);
    T_EQ_U64(lines.items[0].after_bytes, UINT64_MAX);
    T_EQ_I64(lines.items[0].change_bytes, INT64_MAX);
    T_EQ_I64(lines.items[1].change_bytes, -INT64_MAX);
    plim_diff_lines_deinit(&lines);
    lines = lines_of(&everything, history, groups, 0);
    T_EQ_U64(lines.count, 0);
    plim_diff_lines_deinit(&lines);
    T_EQ_I64(plim_diff_change(3, 1), -2);
    plim_history_destroy(history);
}

/* --- which rank is the worst --- */

static plim_diffed_rank rank_of(uint64_t peak, uint64_t step, uint64_t end)
{
    plim_diffed_rank rank = { 0 };
    rank.figures[PLIM_DIFF_FIGURE_PEAK] =
        (plim_diff_figure){ .is_known = true, .before_bytes = 100, .after_bytes = peak };
    rank.figures[PLIM_DIFF_FIGURE_STEP] =
        (plim_diff_figure){ .is_known = true, .before_bytes = 100, .after_bytes = step };
    rank.figures[PLIM_DIFF_FIGURE_END] =
        (plim_diff_figure){ .is_known = true, .before_bytes = 100, .after_bytes = end };
    return rank;
}

static void growth_is_worse_than_shrinkage(void)
{
    const plim_diffed_rank ranks[] = { rank_of(20, 100, 100),  rank_of(100, 100, 101),
                                       rank_of(100, 101, 100), rank_of(101, 100, 100),
                                       rank_of(103, 100, 100), rank_of(103, 100, 100) };
    T_EQ_U64(plim_diffed_rank_worst(ranks, 0), SIZE_MAX);
    T_EQ_U64(plim_diffed_rank_worst(ranks, 1), 0);
    T_EQ_U64(plim_diffed_rank_worst(ranks, 2), 1);
    T_EQ_U64(plim_diffed_rank_worst(ranks, 3), 2);
    T_EQ_U64(plim_diffed_rank_worst(ranks, 4), 3);
    T_EQ_U64(plim_diffed_rank_worst(ranks, 6), 4);
}

/* --- settings --- */

static void check_other(const plim_history *history, const plim_history *other,
                        const char *expected)
{
    plim_text text;
    plim_text_init(&text, NULL, 4096);
    plim_settings_text_add_other(&text, history, other);
    T_EQ_STR(plim_text_string(&text), expected);
    plim_text_deinit(&text);
}

static void settings_that_differ_are_named(void)
{
    plim_history *one = sample_history(1);
    plim_history *none = NULL;
    plim_history *other = NULL;
    T_EQ_U64(plim_history_create(NULL, &none, NULL), PLIM_OK);
    T_EQ_U64(plim_history_create(NULL, &other, NULL), PLIM_OK);
    sample_setting(other, NULL, "expandable_segments",
                   (plim_setting){ .kind = PLIM_SETTING_BOOLEAN, .value.boolean = false });
    sample_setting(other, NULL, "max_split_size",
                   (plim_setting){ .kind = PLIM_SETTING_INTEGER, .value.integer = 512 << 20 });
    plim_history_seal(none);
    plim_history_seal(other);
    check_other(one, one, "");
    check_other(none, one, "");
    check_other(one, none,
                "expandable_segments=True, max_split_size=512 MiB, "
                "roundup_power2_divisions[256]=8");
    check_other(one, other, "expandable_segments=True, roundup_power2_divisions[256]=8");
    check_other(other, one, "expandable_segments=False");
    plim_history_destroy(one);
    plim_history_destroy(none);
    plim_history_destroy(other);
}

/* --- memory --- */

static bool put_together(const plim_mem *mem, void *ctx)
{
    const plim_diff_group groups[] = {
        group(PLIM_DIFF_LIKELY, share(SAMPLE_OPTIMIZER, 10), share(SAMPLE_FORWARD, 10)),
        group(PLIM_DIFF_GONE, share(SAMPLE_FORWARD, 4), nothing()),
        group(PLIM_DIFF_NEW, nothing(), share(SAMPLE_HOSTILE, 4)),
    };
    const plim_diff_view view = { .stack = "e" };
    const plim_diffed diffed = { .before = { .name = "a", .history = ctx },
                                 .after = { .name = "b", .history = ctx } };
    const plim_diff_moment moment = { .is_known = true, .groups = groups, .group_count = 3 };
    plim_diff_lines lines;
    const bool ok = plim_diff_lines_init(&lines, mem, &view, &diffed, &moment, NULL) == PLIM_OK;
    plim_diff_lines_deinit(&lines);
    return ok;
}

static void survives_lack_of_memory(void)
{
    plim_history *history = sample_history(1);
    t_fail_each_allocation(put_together, history);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(stacks_of_one_line_are_one_row),
       T_TEST(a_line_that_calls_something_else_is_not_new_and_gone),
       T_TEST(moved_lines_do_not_take_what_is_gone_from_theirs),
       T_TEST(known_code_that_held_nothing_is_not_new), T_TEST(filters_leave_out_groups),
       T_TEST(sums_do_not_wrap), T_TEST(growth_is_worse_than_shrinkage),
       T_TEST(settings_that_differ_are_named), T_TEST(survives_lack_of_memory))
