/*
 * failures.c - why requests failed, and whether that ended the program.
 *
 *   oom events ──► outcome of each ──► the last that ended the program   judged: the finding
 *                  (case/outcomes)     those the program survived        one finding of all
 *                                      tries of a library                not a failure
 *   error texts without an oom event ──► their own judgement: the finding
 */
#include "diagnose/case/outcomes.h"
#include "diagnose/failures/judged.h"

#include "base/error.h"
#include "base/numbers.h"

/* Moments that are measured of failures which the same request survived at once. */
#define SPURIOUS_MEASURED_MAX 4u

/* --- failures that the program survived --- */

typedef struct survived {
    size_t count;
    size_t largest; /* index of the ooms, or SIZE_MAX */
    uint64_t first_step;
    uint64_t last_step;
} survived;

static void add_survivor(const plim_case *one, size_t index, survived *all)
{
    const plim_oom_moment *const ooms = one->facts->ooms;
    const uint64_t step = plim_steps_at(&one->view.steps, ooms[index].event);
    all->count++;
    if (all->largest == SIZE_MAX ||
        ooms[index].requested_bytes > ooms[all->largest].requested_bytes) {
        all->largest = index;
    }
    all->first_step = all->first_step == PLIM_NO_STEP ? step : all->first_step;
    all->last_step = step != PLIM_NO_STEP ? step : all->last_step;
}

static bool say_survived(plim_case *one, plim_diagnosis_finding *finding, const survived *all,
                         bool is_tried)
{
    const plim_oom_moment *const oom = &one->facts->ooms[all->largest];
    const bool has_place = finding->root.frame != PLIM_NONE;
    const plim_evidence_line line = {
        .id = is_tried ? "tries" : "survived",
        .text = is_tried ? "Requests failed {} times, and the same code requested less at once, as "
                           "libraries do that look for a workspace which fits"
                         : "Requests failed {} times, and the program went on",
        .figures = { plim_say_amount("failures", all->count) },
        .figure_count = 1,
    };
    plim_evidence_line largest = {
        .id = "largest",
        .text = has_place ? "The largest was for {}, at {}" : "The largest was for {}",
        .figures = { plim_say_bytes("requested_bytes", oom->requested_bytes) },
        .figure_count = 1,
    };
    if (has_place) {
        largest.figures[largest.figure_count++] =
            plim_say_frame("requested_at", finding->root.frame);
    }
    if (all->count == 1 && !is_tried) {
        largest.id = "survived";
        largest.text = has_place ? "A request for {} failed at {}, and the program went on"
                                 : "A request for {} failed, and the program went on";
        return plim_case_say(one, finding, &largest);
    }
    return plim_case_say(one, finding, &line) && plim_case_say(one, finding, &largest);
}

static plim_status add_survived(plim_case *one, const survived *all, bool is_tried, plim_error *err)
{
    if (all->count == 0) {
        return PLIM_OK;
    }
    const plim_oom_moment *const oom = &one->facts->ooms[all->largest];
    plim_diagnosis_finding *const finding =
        plim_case_add(one, PLIM_VERDICT_HEALTHY, PLIM_CAUSE_FAILURE_CAUGHT);
    if (finding == NULL) {
        return plim_fail_memory(err, "writing down failures");
    }
    finding->finding.severity = is_tried ? PLIM_SEVERITY_NOTE : PLIM_SEVERITY_WARNING;
    finding->finding.certainty = PLIM_CERTAINTY_CERTAIN;
    finding->finding.subject.kind = PLIM_SUBJECT_EVENT;
    finding->finding.subject.first = finding->finding.subject.last = oom->event;
    finding->confidence = 1;
    finding->bytes = oom->requested_bytes;
    finding->root = plim_case_place(one, oom->stack);
    finding->first_step = all->first_step;
    finding->last_step = all->last_step;
    return say_survived(one, finding, all, is_tried)
               ? PLIM_OK
               : plim_fail_memory(err, "writing down failures");
}

/* A failure after which the same request succeeded, though nothing was freed for it. */
static plim_status add_spurious(plim_case *one, const plim_oom_moment *oom, size_t count,
                                plim_error *err)
{
    plim_diagnosis_finding *const finding =
        plim_case_add(one, PLIM_VERDICT_FRAGMENTED, PLIM_CAUSE_SPURIOUS_FAILURE);
    if (finding == NULL) {
        return plim_fail_memory(err, "writing down failures");
    }
    finding->finding.severity = PLIM_SEVERITY_WARNING;
    finding->finding.certainty = PLIM_CERTAINTY_LIKELY;
    finding->finding.subject.kind = PLIM_SUBJECT_EVENT;
    finding->finding.subject.first = finding->finding.subject.last = oom->event;
    finding->confidence = 0.8;
    finding->bytes = oom->requested_bytes;
    finding->root = plim_case_place(one, oom->stack);
    const plim_evidence_line line = {
        .id = "spurious",
        .text = "{} requests failed and succeeded at once, though the program freed nothing in "
                "between; the largest was for {}",
        .figures = { plim_say_amount("failures", count),
                     plim_say_bytes("requested_bytes", oom->requested_bytes) },
        .figure_count = 2,
    };
    return plim_case_say(one, finding, &line) ? PLIM_OK
                                              : plim_fail_memory(err, "writing down failures");
}

/* True if a block of this size was free, or waited for a stream. */
static plim_status was_there(plim_case *one, const plim_oom_moment *oom, bool *ret_was_there,
                             plim_error *err)
{
    plim_fragmentation_facts facts;
    PLIM_TRY(plim_failure_measure(one, oom, &facts, err));
    *ret_was_there = plim_failure_is_spurious(one, oom, &facts) ||
                     facts.loss.pending_bytes >= oom->requested_bytes;
    return PLIM_OK;
}

static plim_status find_survived(plim_case *one, const plim_oom_outcomes *outcomes, plim_error *err)
{
    const survived none = { .largest = SIZE_MAX,
                            .first_step = PLIM_NO_STEP,
                            .last_step = PLIM_NO_STEP };
    survived caught = none;
    survived tried = none;
    survived spurious = none;
    for (size_t i = 0; i < one->facts->oom_count; i++) {
        bool is_spurious = false;
        if (outcomes->of[i] == PLIM_OOM_RETRIED && spurious.count < SPURIOUS_MEASURED_MAX) {
            PLIM_TRY(was_there(one, &one->facts->ooms[i], &is_spurious, err));
        }
        if (is_spurious) {
            add_survivor(one, i, &spurious);
        } else if (outcomes->of[i] == PLIM_OOM_TRIED) {
            add_survivor(one, i, &tried);
        } else if (outcomes->of[i] != PLIM_OOM_ENDED) {
            add_survivor(one, i, &caught);
        }
    }
    if (spurious.count > 0) {
        PLIM_TRY(add_spurious(one, &one->facts->ooms[spurious.largest], spurious.count, err));
    }
    PLIM_TRY(add_survived(one, &caught, false, err));
    return add_survived(one, &tried, true, err);
}

/* --- error texts alone --- */

/* The first device that the process used. */
static const plim_device_history *first_used(const plim_history *history)
{
    for (size_t i = 0; i < plim_history_device_count(history); i++) {
        const plim_device_history *const device = plim_history_device(history, i);
        if (device->events.count > 0 || device->segment_count > 0) {
            return device;
        }
    }
    return NULL;
}

/* True if a text speaks of this device: by its index, or it names none and this is the first. */
static bool is_of_device(const plim_case *one, const plim_judgement *text)
{
    const int32_t device = text->finding.subject.device;
    return device == PLIM_DEVICE_UNKNOWN ? one->device == first_used(one->history)
                                         : device == one->device->device;
}

static plim_status add_text(plim_case *one, const plim_judgement *text, plim_error *err)
{
    plim_diagnosis_finding *const finding =
        plim_case_add(one, text->verdict,
                      text->verdict == PLIM_VERDICT_EXHAUSTED ? PLIM_CAUSE_LIVE_DATA
                                                              : plim_failure_cause(text->verdict));
    if (finding == NULL) {
        return plim_fail_memory(err, "writing down an error text");
    }
    const char *const id = finding->finding.id;
    finding->finding = text->finding;
    finding->finding.id = id;
    finding->decides = true;
    finding->confidence = text->confidence;
    const uint64_t bytes =
        plim_finding_figure(&text->finding, plim_figure_name(PLIM_FIGURE_REQUESTED));
    finding->bytes = bytes != PLIM_BYTES_UNKNOWN ? bytes : 0;
    plim_evidence_line line = {
        .id = "text",
        .text = "The error text reports a failure that the recording does not have",
    };
    if (finding->bytes > 0) {
        line.text = "The error text reports a failed request for {}, which the recording does not "
                    "have";
        line.figures[line.figure_count++] = plim_say_bytes("requested_bytes", bytes);
    }
    return plim_case_say(one, finding, &line) ? PLIM_OK
                                              : plim_fail_memory(err, "writing down an error text");
}

static plim_status find_text(plim_case *one, plim_error *err)
{
    for (size_t i = 0; i < one->options->judgement_count; i++) {
        const plim_judgement *const text = &one->options->judgements[i];
        if (is_of_device(one, text) && text->verdict != PLIM_VERDICT_NOT_OOM) {
            return add_text(one, text, err);
        }
    }
    return PLIM_OK;
}

plim_status plim_find_failures(plim_case *one, plim_error *err)
{
    plim_oom_outcomes outcomes;
    PLIM_TRY(plim_oom_outcomes_of(one, &outcomes, err));
    if (outcomes.last_ended != SIZE_MAX) {
        PLIM_TRY(plim_failure_add(one, outcomes.last_ended, err));
    } else {
        PLIM_TRY(find_text(one, err));
    }
    return one->facts->oom_count > 0 ? find_survived(one, &outcomes, err) : PLIM_OK;
}
