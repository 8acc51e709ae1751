/*
 * test_torch_texts.c - the allocator's own error texts, of every release of PyTorch, read back:
 * each figure that a text prints comes out as it went in.
 */
#include "harness.h"

#include "base/units.h"
#include "plimsoll/explain.h"
#include "plimsoll/settings.h"
#include "plimsoll/stats.h"

static const uint32_t minors_last[] = { 0, 13, 13 }; /* of releases 0, 1 and 2 */

/* A failure as it may happen: what is held adds up to what is not free. */
static plim_oom_facts any_failure(void)
{
    plim_oom_facts facts = { .device = (int32_t)t_random_between(0, 7), .pid = 4711 };
    facts.device_total_bytes = t_random_between(8 * GIB, 192 * GIB);
    facts.device_free_bytes = t_random_between(0, 2 * GIB);
    facts.reserved_bytes = t_random_between(2 * GIB, 5 * GIB);
    facts.allocated_bytes = t_random_between(GIB, 2 * GIB);
    facts.requested_bytes = t_random_bytes(1, 100 * GIB);
    facts.segment_bytes = t_random_between(1, 50000) * 2 * MIB;
    facts.allowed_bytes =
        t_random_between(0, 1) == 0 ? PLIM_UNLIMITED : t_random_between(GIB, 8 * GIB);
    facts.private_pools_free_bytes = t_random_between(0, 1) == 0 ? 0 : t_random_bytes(1, GIB / 2);
    facts.process_count = t_random_between(0, 3);
    for (size_t i = 0; i < facts.process_count; i++) {
        facts.processes[i] = (plim_device_process){
            .pid = i == 1 ? 4711 : 100 + (int64_t)i,
            .used_bytes = t_random_between(300 * MIB, 8 * GIB),
        };
    }
    return facts;
}

/* What a text of this release says of the facts. */
static void expect_figures(const plim_oom_facts *facts, uint32_t torch, uint64_t *figures)
{
    const bool has_sentences = torch >= PLIM_TORCH(2, 1);
    const bool has_private = torch >= PLIM_TORCH(2, 4) && facts->private_pools_free_bytes > 0;
    const bool has_limit =
        (torch >= PLIM_TORCH(1, 8) && !has_sentences) || torch >= PLIM_TORCH(2, 4);
    const uint64_t private_bytes = has_private ? facts->private_pools_free_bytes : 0;
    for (size_t i = 0; i < PLIM_FIGURE_COUNT; i++) {
        figures[i] = PLIM_BYTES_UNKNOWN;
    }
    figures[PLIM_FIGURE_REQUESTED] = facts->segment_bytes;
    figures[PLIM_FIGURE_TOTAL] = facts->device_total_bytes;
    figures[PLIM_FIGURE_FREE] = facts->device_free_bytes;
    figures[PLIM_FIGURE_ALLOCATED] = facts->allocated_bytes + private_bytes;
    if (has_sentences || torch < PLIM_TORCH(1, 4)) {
        figures[PLIM_FIGURE_RESERVED_UNALLOCATED] =
            facts->reserved_bytes - facts->allocated_bytes - private_bytes;
    } else {
        figures[PLIM_FIGURE_RESERVED] = facts->reserved_bytes;
    }
    if (has_limit && facts->allowed_bytes != PLIM_UNLIMITED) {
        figures[PLIM_FIGURE_LIMIT] = facts->allowed_bytes;
    }
    if (has_private) {
        figures[PLIM_FIGURE_PRIVATE_POOLS] = private_bytes;
    }
    if (has_sentences && facts->process_count > 1) {
        figures[PLIM_FIGURE_PROCESS] = facts->processes[1].used_bytes;
    }
}

/* Printed to two decimals, and read as exactly as that allows. */
static bool is_near(const plim_figure *figure, uint64_t bytes)
{
    const uint64_t off = figure->bytes > bytes ? figure->bytes - bytes : bytes - figure->bytes;
    return off <= figure->slack_bytes + 1;
}

static bool is_as_expected(const plim_figure *figure, uint64_t bytes)
{
    const bool is_known = figure->bytes != PLIM_BYTES_UNKNOWN && bytes != PLIM_BYTES_UNKNOWN;
    return is_known ? is_near(figure, bytes) : figure->bytes == bytes;
}

static void check_processes(const plim_oom_message *message, const plim_oom_facts *facts,
                            uint32_t torch)
{
    size_t count = 0;
    for (size_t i = 0; i < facts->process_count && torch >= PLIM_TORCH(2, 1); i++) {
        if (facts->processes[i].pid == facts->pid) {
            continue;
        }
        T_TRUE(count < message->request.process_count);
        const uint64_t bytes = message->request.processes[count].bytes;
        const uint64_t used = facts->processes[i].used_bytes;
        T_EQ_I64(message->request.processes[count].pid, facts->processes[i].pid);
        T_TRUE((bytes > used ? bytes - used : used - bytes) <= GIB / 100);
        count++;
    }
    T_EQ_U64(message->request.process_count, count);
}

static void check_text(const plim_oom_facts *facts, uint32_t torch)
{
    char text[PLIM_OOM_TEXT_BYTES];
    uint64_t figures[PLIM_FIGURE_COUNT];
    plim_explanation *explanation = NULL;
    plim_error err;
    const size_t length = plim_oom_text(facts, torch, text, sizeof text);
    T_CASE("%" PRIu32 " %.150s", torch, text);
    T_EQ_U64(plim_explain_text(text, length, NULL, &explanation, &err), PLIM_OK);
    T_EQ_U64(plim_explanation_message_count(explanation), 1);
    const plim_oom_message *const message = plim_explanation_message(explanation, 0);
    T_EQ_STR(message->framework, "pytorch");
    T_EQ_I64(message->request.subject.device, facts->device);
    expect_figures(facts, torch, figures);
    for (size_t i = 0; i < PLIM_FIGURE_COUNT; i++) {
        const plim_figure *const figure = &message->request.figures[i];
        if (i == PLIM_FIGURE_OTHER_PROCESSES) {
            continue; /* a sum of the list, which is looked at below */
        }
        if (!is_as_expected(figure, figures[i])) {
            fail_msg("%s is %" PRIu64 ", not %" PRIu64 " in\n%s",
                     plim_figure_name((plim_figure_id)i), figure->bytes, figures[i], text);
        }
    }
    check_processes(message, facts, torch);
    plim_explanation_destroy(explanation);
}

static void every_figure_of_every_release_comes_back(void)
{
    for (uint32_t major = 1; major <= 2; major++) {
        for (uint32_t minor = 0; minor <= minors_last[major]; minor++) {
            for (int i = 0; i < 20; i++) {
                const plim_oom_facts facts = any_failure();
                check_text(&facts, PLIM_TORCH(major, minor));
            }
        }
    }
}

static void expect_form(const plim_oom_facts *facts, uint32_t torch, const char *form,
                        plim_verdict verdict)
{
    char text[PLIM_OOM_TEXT_BYTES];
    plim_explanation *explanation = NULL;
    plim_error err;
    const size_t length = plim_oom_text(facts, torch, text, sizeof text);
    T_EQ_U64(plim_explain_text(text, length, NULL, &explanation, &err), PLIM_OK);
    T_EQ_U64(plim_explanation_message_count(explanation), 1);
    T_EQ_STR(plim_explanation_message(explanation, 0)->form, form);
    T_EQ_U64(plim_explanation_message(explanation, 0)->judgement.verdict, verdict);
    plim_explanation_destroy(explanation);
}

static void refusals_are_read_as_what_they_are(void)
{
    plim_oom_facts facts = any_failure();
    facts.is_rejection = true;
    expect_form(&facts, PLIM_TORCH_NEWEST, "pytorch-preemptive", PLIM_VERDICT_CAPPED);
    facts.requested_bytes = (uint64_t)1 << 60;
    expect_form(&facts, PLIM_TORCH_NEWEST, "pytorch-1EB", PLIM_VERDICT_OVERSIZED);
}

/* The paragraph may stand after the text: it is no second failure, and changes no figure. */
static void advice_behind_a_text_is_not_another_message(void)
{
    for (int i = 0; i < 200; i++) {
        plim_oom_facts facts = any_failure();
        char text[PLIM_OOM_TEXT_BYTES + 1 + PLIM_OOM_ADVICE_BYTES];
        plim_explanation *explanation = NULL;
        plim_error err;
        facts.rounded_bytes = facts.segment_bytes;
        facts.free_own_bytes = facts.largest_hole_bytes = facts.reserved_bytes / 2;
        facts.releasable_bytes = t_random_between(0, GIB);
        facts.pending_bytes = t_random_between(0, GIB);
        facts.free_other_stream_bytes = t_random_between(0, GIB);
        facts.pinned_by_split_bytes = t_random_between(0, GIB);
        facts.expandable_reserved_bytes = facts.allocated_bytes + t_random_between(0, GIB);
        size_t length = plim_oom_text(&facts, PLIM_TORCH_NEWEST, text, sizeof text);
        text[length++] = '\n';
        length += plim_oom_advice(&facts, text + length, sizeof text - length);
        T_CASE("%.150s", strchr(text, '\n') + 1);
        T_EQ_U64(plim_explain_text(text, length, NULL, &explanation, &err), PLIM_OK);
        T_EQ_U64(plim_explanation_message_count(explanation), 1);
        const plim_oom_message *const message = plim_explanation_message(explanation, 0);
        T_TRUE(is_near(&message->request.figures[PLIM_FIGURE_REQUESTED], facts.segment_bytes));
        T_TRUE(is_near(&message->request.figures[PLIM_FIGURE_FREE], facts.device_free_bytes));
        plim_explanation_destroy(explanation);
    }
}

T_MAIN(T_TEST(every_figure_of_every_release_comes_back), T_TEST(refusals_are_read_as_what_they_are),
       T_TEST(advice_behind_a_text_is_not_another_message))
