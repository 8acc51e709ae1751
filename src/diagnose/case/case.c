/*
 * case.c - what detectors share of one device.
 */
#include "diagnose/case/case.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

#define ID_BYTES 64u

/* --- steps --- */

/* The lowest, the highest and the last figure of each step: one walk. */
static void measure_steps(const plim_case *one, plim_step_fact *facts, size_t count)
{
    plim_cursor cursor;
    plim_cursor_init(&cursor, &one->view.timeline);
    size_t step = 0;
    uint64_t requested = plim_cursor_figures(&cursor).requested_bytes;
    for (uint64_t event = 0; step < count; event++) {
        while (step < count && event >= facts[step].end_event) {
            facts[step].end_requested_bytes = requested;
            step++;
        }
        if (step == count || !plim_cursor_next(&cursor)) {
            break;
        }
        requested = plim_cursor_figures(&cursor).requested_bytes;
        plim_step_fact *const fact = &facts[step];
        if (event < fact->first_event) {
            continue;
        }
        if (requested > fact->peak_requested_bytes) {
            fact->peak_requested_bytes = requested;
            fact->peak_event = event;
        }
        if (requested < fact->least_requested_bytes) {
            fact->least_requested_bytes = requested;
        }
    }
    for (; step < count; step++) {
        facts[step].end_requested_bytes = requested;
    }
}

plim_step_fact *plim_case_measure(const plim_case *one, const uint64_t *first_events, size_t count)
{
    plim_step_fact *const facts = plim_mem_alloc(one->mem, count, sizeof *facts);
    if (facts == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        facts[i] = (plim_step_fact){ .first_event = first_events[i],
                                     .end_event = first_events[i + 1],
                                     .peak_event = first_events[i],
                                     .least_requested_bytes = UINT64_MAX };
    }
    measure_steps(one, facts, count);
    return facts;
}

static bool make_step_facts(plim_case *one)
{
    const size_t count = one->view.steps.count;
    if (count > 0) {
        one->step_facts = plim_case_measure(one, one->view.steps.first_events, count);
    }
    return count == 0 || one->step_facts != NULL;
}

/* --- the case --- */

plim_status plim_case_init(plim_case *one, plim_error *err)
{
    PLIM_TRY(plim_device_view_init(&one->view, one->history, one->device, one->mem, err));
    PLIM_TRY(plim_passes_init(&one->passes, one->history, one->device, one->mem, err));
    one->has_stacks = one->passes.has_any_stack;
    return make_step_facts(one) ? PLIM_OK : plim_fail_memory(err, "measuring steps");
}

void plim_case_deinit(plim_case *one)
{
    if (one->mem == NULL) {
        return;
    }
    plim_mem_free(one->mem, one->step_facts, one->view.steps.count, sizeof *one->step_facts);
    plim_passes_deinit(&one->passes);
    plim_device_view_deinit(&one->view);
    PLIM_VEC_FREE(one->mem, &one->findings);
    *one = (plim_case){ 0 };
}

plim_code_place plim_case_place(plim_case *one, uint32_t stack)
{
    const plim_stack frames = plim_history_stack(one->history, stack);
    plim_code_place place = { .stack = stack, .frame = PLIM_NONE };
    if (frames.frame_count > 0) {
        const uint32_t user = plim_group_user_frame(&one->view.grouper, stack);
        place.frame = frames.frames[user != PLIM_NONE ? user : 0];
    }
    return place;
}

/* --- findings --- */

static const char *make_id(plim_case *one, plim_verdict kind, plim_cause cause)
{
    char id[ID_BYTES];
    const int length =
        snprintf(id, sizeof id, "%s.%s", plim_verdict_name(kind), plim_cause_name(cause));
    return plim_arena_copy(one->arena, id, (size_t)length);
}

bool plim_case_name_cause(plim_case *one, plim_diagnosis_finding *finding, plim_cause cause)
{
    const char *const id = make_id(one, finding->kind, cause);
    if (id != NULL) {
        finding->finding.id = id;
        finding->cause = cause;
    }
    return id != NULL;
}

plim_diagnosis_finding *plim_case_add(plim_case *one, plim_verdict kind, plim_cause cause)
{
    const char *const kept = make_id(one, kind, cause);
    const plim_code_place nowhere = { .stack = PLIM_NONE, .frame = PLIM_NONE };
    const plim_diagnosis_finding fresh = {
        .finding = { .id = kept, .subject = plim_subject_unknown() },
        .kind = kind,
        .cause = cause,
        .first_step = PLIM_NO_STEP,
        .last_step = PLIM_NO_STEP,
        .root = nowhere,
        .keeper = nowhere,
    };
    if (kept == NULL || !PLIM_VEC_PUSH(one->mem, &one->findings, fresh)) {
        return NULL;
    }
    plim_diagnosis_finding *const finding = &one->findings.items[one->findings.count - 1];
    finding->finding.subject.device = one->device->device;
    return finding;
}

bool plim_case_say(plim_case *one, plim_diagnosis_finding *finding, const plim_evidence_line *line)
{
    const size_t count = finding->evidence_count;
    plim_evidence_line *const lines = plim_arena_alloc(one->arena, (count + 1) * sizeof *lines);
    if (lines == NULL) {
        return false;
    }
    if (count > 0) {
        memcpy(lines, finding->evidence, count * sizeof *lines);
    }
    lines[count] = *line;
    finding->evidence = lines;
    finding->evidence_count = count + 1;
    return true;
}
