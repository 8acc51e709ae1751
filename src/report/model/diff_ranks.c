/*
 * diff_ranks.c - see diff_ranks.h.
 */
#include "report/model/diff_ranks.h"

#include "report/model/diff_parts.h"
#include "report/model/inspect_parts.h"

#define ROWS_FIRST 16u /* ranks shown where --top says nothing */

static int64_t change_of(const plim_diffed_rank *rank, plim_diff_figure_id figure)
{
    const plim_diff_figure *const one = &rank->figures[figure];
    return one->is_known ? plim_diff_change(one->before_bytes, one->after_bytes) : 0;
}

/* The figure that ranks are compared by: the chosen moment, the peak, or the end where there are no
 * events. */
static plim_diff_figure_id main_figure(const plim_diffed_rank *rank)
{
    return rank->figures[PLIM_DIFF_FIGURE_AT].is_known     ? PLIM_DIFF_FIGURE_AT
           : rank->figures[PLIM_DIFF_FIGURE_PEAK].is_known ? PLIM_DIFF_FIGURE_PEAK
                                                           : PLIM_DIFF_FIGURE_END;
}

/* --- rows --- */

static void add_bytes(plim_page *page, const char *name, bool is_known, uint64_t bytes)
{
    if (is_known) {
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(name, bytes));
    } else {
        plim_page_cell_text(page, PLIM_TONE_FAINT, "-", NULL);
    }
}

static void add_change(plim_page *page, const plim_diff_figure *figure)
{
    if (figure->is_known) {
        plim_diff_change_cell(page, plim_diff_change(figure->before_bytes, figure->after_bytes));
    } else {
        plim_page_cell_text(page, PLIM_TONE_FAINT, "-", NULL);
    }
}

/* The figures of a row, and what there is to say of it. */
static void add_cells(plim_page *page, const plim_diffed_rank *rank)
{
    const plim_diff_figure *const figure = &rank->figures[main_figure(rank)];
    add_bytes(page, "before_bytes", figure->is_known, figure->before_bytes);
    add_bytes(page, "after_bytes", figure->is_known, figure->after_bytes);
    add_change(page, figure);
    add_change(page, &rank->figures[PLIM_DIFF_FIGURE_STEP]);
    add_change(page, &rank->figures[PLIM_DIFF_FIGURE_END]);
    if (rank->in_before != rank->in_after) {
        plim_page_cell_text(page, PLIM_TONE_WARN, rank->in_after ? "only after" : "only before",
                            NULL);
    } else if (rank->is_same) {
        plim_page_cell_text(page, PLIM_TONE_FAINT, "no difference", NULL);
    } else {
        plim_page_cell(page, PLIM_TONE_USER, plim_words(rank->where));
    }
}

#define FIGURE_COLUMNS                                                                \
    { "before", PLIM_ALIGN_RIGHT, 1, 0 }, { "after", PLIM_ALIGN_RIGHT, 0, 0 },        \
        { "change", PLIM_ALIGN_RIGHT, 0, 0 }, { "per step", PLIM_ALIGN_RIGHT, 0, 0 }, \
        { "at the end", PLIM_ALIGN_RIGHT, 2, 0 },                                     \
    {                                                                                 \
        "most at", PLIM_ALIGN_LEFT, 0, 0                                              \
    }

void plim_diff_devices_table(plim_page *page, const plim_diffed_rank *ranks, size_t count)
{
    static const plim_column columns[] = { { "device", PLIM_ALIGN_LEFT, 0, 0 }, FIGURE_COLUMNS };
    plim_page_heading(page, "All devices", NULL);
    plim_page_table(page, "devices", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < count; i++) {
        plim_page_cell(page, PLIM_TONE_HEADING,
                       plim_words(plim_device_name(page, ranks[i].device)));
        add_cells(page, &ranks[i]);
    }
}

static void say_table(plim_page *page, const plim_diffed_rank *ranks, size_t count)
{
    static const plim_column columns[] = { { "rank", PLIM_ALIGN_RIGHT, 0, 0 },
                                           { "GPU", PLIM_ALIGN_RIGHT, 2, 0 },
                                           FIGURE_COLUMNS };
    plim_page_gap(page);
    plim_page_table(page, "ranks", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < count; i++) {
        plim_page_cell(page, PLIM_TONE_HEADING, plim_plain("rank", ranks[i].rank));
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_id("device", ranks[i].device));
        add_cells(page, &ranks[i]);
    }
}

/* --- sentences --- */

static size_t count_grown(const plim_diffed_rank *ranks, size_t count, plim_diff_figure_id figure)
{
    size_t grown = 0;
    for (size_t i = 0; i < count; i++) {
        grown += change_of(&ranks[i], figure) > 0;
    }
    return grown;
}

static size_t count_same(const plim_diffed_rank *ranks, size_t count)
{
    size_t same = 0;
    for (size_t i = 0; i < count; i++) {
        same += ranks[i].is_same;
    }
    return same;
}

/* "rank", or "GPU" where a rank has several. */
static const char *noun_of(const plim_diffed_rank *ranks, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (ranks[i].pair == ranks[i - 1].pair) {
            return "GPU";
        }
    }
    return "rank";
}

static void say_worst(plim_page *page, const plim_diffed_rank *ranks, size_t count,
                      const plim_diffed_rank *worst)
{
    static const char *const verbs[PLIM_DIFF_FIGURE_COUNT] = {
        [PLIM_DIFF_FIGURE_AT] = "More is held then",
        [PLIM_DIFF_FIGURE_PEAK] = "The peak grew",
        [PLIM_DIFF_FIGURE_STEP] = "More stays of each step",
        [PLIM_DIFF_FIGURE_END] = "More is held at the end",
        [PLIM_DIFF_FIGURE_RESERVED] = "",
        [PLIM_DIFF_FIGURE_NEW] = "",
    };
    const plim_diff_figure_id subject = worst->subject;
    const int64_t change = change_of(worst, subject);
    const size_t same = count_same(ranks, count);
    const plim_fact all = plim_count_of("ranks", count, noun_of(ranks, count));
    if (same == count) {
        plim_page_say(page, "answer", PLIM_TONE_IN_USE, "No difference on any of {}.",
                      PLIM_FACTS(all));
    } else if (change > 0) {
        plim_page_say(page, "answer", PLIM_TONE_HEADING, "{} on {} of {}, most on rank {}: by {}.",
                      PLIM_FACTS(plim_words(verbs[subject]),
                                 plim_count("ranks_grown", count_grown(ranks, count, subject)), all,
                                 plim_plain("rank", worst->rank),
                                 plim_bytes("grown_bytes", (uint64_t)change)));
    } else {
        plim_page_say(
            page, "answer", PLIM_TONE_HEADING,
            "Nothing grew on any of {}; {} without a difference.",
            PLIM_FACTS(plim_count_of("ranks", count, "rank"), plim_count("ranks_same", same)));
    }
}

static void say_unmatched(plim_page *page, const plim_diff_job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        const plim_diffed_pair *const pair = &job->pairs[i];
        const bool is_after = pair->before_path == NULL;
        if (is_after || pair->after_path == NULL) {
            plim_page_warn(page, is_after ? "only_after" : "only_before",
                           "{} has no counterpart {}: it is not compared.",
                           PLIM_FACTS(plim_words(is_after ? pair->after_path : pair->before_path),
                                      plim_words(is_after ? "before" : "after")));
        }
    }
}

void plim_diff_ranks_page(plim_page *page, const plim_diff_view *view, const plim_diff_job *job)
{
    const size_t worst = plim_diffed_rank_worst(job->ranks, job->rank_count);
    const size_t most = view->top > 0 ? view->top : ROWS_FIRST;
    const size_t shown = job->rank_count < most ? job->rank_count : most;
    if (worst == SIZE_MAX) {
        plim_page_say(page, "empty", PLIM_TONE_WARN, "Nothing to compare in any pair of files.",
                      NULL);
        say_unmatched(page, job);
        return;
    }
    say_worst(page, job->ranks, job->rank_count, &job->ranks[worst]);
    say_unmatched(page, job);
    say_table(page, job->ranks, shown);
    if (shown < job->rank_count) {
        plim_page_note(page, "more", PLIM_TONE_FAINT, "({}: --top={} shows all)",
                       PLIM_FACTS(plim_count_of("ranks_left", job->rank_count - shown, "more rank"),
                                  plim_plain("top", job->rank_count)));
    }
    plim_page_heading(page, "Rank {}", PLIM_FACTS(plim_plain("rank", job->ranks[worst].rank)));
}
