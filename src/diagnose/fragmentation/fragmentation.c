/*
 * fragmentation.c - where reserved memory is lost, and what pins it.
 *
 *   moments   failures, the peaks of reserved and of requested memory, the end ──► facts of each
 *   verdicts  the device given is too small for the layout alone, by a replay
 *             segments are taken again and again though as much is free, and what lives long pins
 * it notes     what is lost at a peak that nothing else needs
 *
 * A failure that ended the program is judged by failures/, with the same measures.
 */
#include "diagnose/case/holes.h"
#include "diagnose/case/outcomes.h"
#include "diagnose/fragmentation/course.h"
#include "diagnose/fragmentation/replayed.h"

#include "base/error.h"
#include "base/numbers.h"
#include "base/units.h"

#include <string.h>

#define FAILURES_MEASURED_MAX 4u /* the first ones; and the last */
#define MOMENTS_MAX           (FAILURES_MEASURED_MAX + 3)

/* The allocator takes large memory in segments of 20 MiB: what two of them hold in vain is its
 * grain, not a loss. */
#define LOST_BYTES_MIN (40 * MIB)
/* Of what is reserved. A fifth lost is worth a line. A fifth kept from use by blocks that live
 * long, and a fifth taken in vain while the program repeats itself, are more than any recording of
 * a healthy program has of both. */
#define LOST_SHARE   0.20
#define PINNED_SHARE 0.20
#define FORCED_SHARE 0.20
/* Most of the loss is then theirs, and not of the moment's layout. */
#define PINNED_OF_LOST_SHARE 0.50
/* Two rounds may be a new size and its echo. */
#define FORCED_ROUNDS_MIN 3u
#define PRIVATE_SHARE     0.10

#define CONFIDENCE_PINNED   0.75
#define CONFIDENCE_REPLAYED 0.90
#define CONFIDENCE_NOTE     0.70

/* --- moments --- */

typedef struct measured_moments {
    plim_fragmentation_facts facts[MOMENTS_MAX];
    size_t count;
} measured_moments;

static plim_status measure(plim_case *one, const plim_holes_request *request, measured_moments *all,
                           plim_error *err)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->facts[i].event == request->moment) {
            return PLIM_OK;
        }
    }
    PLIM_TRY(plim_holes_measure(one, request, &all->facts[all->count], err));
    all->count++;
    return PLIM_OK;
}

static uint32_t stream_of(const plim_case *one, int64_t event)
{
    return event < 0 ? PLIM_NONE : one->device->events.stream[event];
}

static plim_status measure_failures(plim_case *one, measured_moments *all, plim_error *err)
{
    const size_t count = one->facts->oom_count;
    for (size_t i = 0; i < count; i++) {
        if (i == FAILURES_MEASURED_MAX && count > i) {
            i = count - 1;
        }
        const plim_oom_moment *const oom = &one->facts->ooms[i];
        const plim_holes_request request = { .moment = (int64_t)oom->event,
                                             .is_oom = true,
                                             .bytes = oom->requested_bytes,
                                             .stream = stream_of(one, (int64_t)oom->event) };
        PLIM_TRY(measure(one, &request, all, err));
    }
    return PLIM_OK;
}

/* The peaks of reserved and of requested memory; of a recording without events, its one moment. */
static plim_status measure_peaks(plim_case *one, const plim_reserved_course *course,
                                 measured_moments *all, plim_error *err)
{
    const int64_t reserved =
        course->peak_event == PLIM_NO_EVENT_YET ? PLIM_AT_START : (int64_t)course->peak_event;
    const int64_t peaks[] = { reserved, one->facts->peak.event };
    for (size_t i = 0; i < 2; i++) {
        const plim_holes_request request = { .moment = peaks[i],
                                             .stream = stream_of(one, peaks[i]) };
        PLIM_TRY(measure(one, &request, all, err));
    }
    return PLIM_OK;
}

static plim_status keep_moments(plim_case *one, const measured_moments *all, plim_error *err)
{
    plim_fragmentation_facts *const kept =
        plim_arena_alloc(one->arena, all->count * sizeof *all->facts);
    if (kept == NULL) {
        return plim_fail_memory(err, "measuring fragmentation");
    }
    memcpy(kept, all->facts, all->count * sizeof *kept);
    one->out->fragmentation = kept;
    one->out->fragmentation_count = all->count;
    return PLIM_OK;
}

/* --- findings --- */

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static uint64_t pinned_bytes(const plim_fragmentation_facts *facts)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < facts->pin_count; i++) {
        sum = plim_plus(sum, facts->pins[i].blocked_bytes);
    }
    return sum;
}

static plim_diagnosis_finding *begin(plim_case *one, const plim_fragmentation_facts *facts,
                                     plim_cause cause, uint32_t request_stack, double confidence)
{
    plim_diagnosis_finding *const finding = plim_case_add(one, PLIM_VERDICT_FRAGMENTED, cause);
    if (finding == NULL) {
        return NULL;
    }
    finding->finding.severity = PLIM_SEVERITY_NOTE;
    finding->finding.certainty = plim_certainty_of(confidence, confidence < 0.9);
    plim_finding_add(&finding->finding, "reserved_bytes", facts->reserved_bytes);
    plim_finding_add(&finding->finding, "allocated_bytes", facts->allocated_bytes);
    plim_finding_add(&finding->finding, "lost_bytes", plim_holes_lost(&facts->loss));
    finding->confidence = confidence;
    finding->bytes = plim_holes_lost(&facts->loss);
    const bool has_pin = facts->pin_count > 0 && facts->pins[0].place.frame != PLIM_NONE;
    finding->root = has_pin ? facts->pins[0].place : plim_case_place(one, request_stack);
    if (facts->event >= 0) {
        finding->first_step = finding->last_step =
            plim_steps_at(&one->view.steps, (uint64_t)facts->event);
    }
    return finding;
}

static bool say_unused(plim_case *one, plim_diagnosis_finding *finding,
                       const plim_fragmentation_facts *facts)
{
    const plim_evidence_line line = {
        .id = "unused",
        .text = facts->event >= 0
                    ? "When {} were reserved, {} were allocated, and {} of the rest lay around "
                      "live blocks or in pools of their own"
                    : "Of {} reserved, {} are allocated, and {} of the rest lie around live blocks "
                      "or in pools of their own",
        .figures = { plim_say_bytes("reserved_bytes", facts->reserved_bytes),
                     plim_say_bytes("allocated_bytes", facts->allocated_bytes),
                     plim_say_bytes("lost_bytes", plim_holes_lost(&facts->loss)) },
        .figure_count = 3,
    };
    return plim_case_say(one, finding, &line);
}

static bool say_forced(plim_case *one, plim_diagnosis_finding *finding,
                       const plim_reserved_course *course)
{
    const plim_evidence_line line = {
        .id = "forced",
        .text = course->rounds_are_steps
                    ? "In {} of the {} steps after the second, segments were taken though as much "
                      "as was requested lay free: {} in all"
                    : "In {} of the last {} of 30 parts of the recording, segments were taken "
                      "though as much as was requested lay free: {} in all",
        .figures = { plim_say_amount("forced_rounds", course->forced_rounds),
                     plim_say_amount("rounds", course->rounds),
                     plim_say_bytes("forced_bytes", course->forced_bytes) },
        .figure_count = 3,
    };
    return course->forced_rounds == 0 || plim_case_say(one, finding, &line);
}

/* Reserved memory grows while the program repeats itself, and what lives long keeps it from use. */
static bool is_pinned(const plim_reserved_course *course, const plim_fragmentation_facts *facts)
{
    const uint64_t pinned = pinned_bytes(facts);
    const uint64_t lost = plim_holes_lost(&facts->loss);
    return lost >= LOST_BYTES_MIN && share(pinned, facts->reserved_bytes) >= PINNED_SHARE &&
           share(pinned, lost) >= PINNED_OF_LOST_SHARE &&
           course->forced_rounds >= FORCED_ROUNDS_MIN &&
           share(course->forced_bytes, course->peak_reserved_bytes) >= FORCED_SHARE;
}

static plim_status add_pinned(plim_case *one, const plim_reserved_course *course,
                              const plim_fragmentation_facts *facts, plim_error *err)
{
    plim_diagnosis_finding *const finding =
        begin(one, facts, plim_holes_cause(one, facts, course->peak_stack), course->peak_stack,
              CONFIDENCE_PINNED);
    if (finding == NULL) {
        return plim_fail_memory(err, "writing down fragmentation");
    }
    finding->decides = true;
    finding->finding.severity = PLIM_SEVERITY_WARNING;
    finding->first_step = plim_steps_at(&one->view.steps, course->first_forced);
    finding->last_step = plim_steps_at(&one->view.steps, course->last_forced);
    return say_forced(one, finding, course) && say_unused(one, finding, facts) &&
                   plim_holes_say_pin(one, finding, facts)
               ? PLIM_OK
               : plim_fail_memory(err, "writing down fragmentation");
}

/* A note on what is lost at a peak, of a program that has memory enough. */
static plim_status add_note(plim_case *one, const plim_reserved_course *course,
                            const plim_fragmentation_facts *facts, plim_error *err)
{
    plim_diagnosis_finding *const finding =
        begin(one, facts, plim_holes_cause(one, facts, course->peak_stack), course->peak_stack,
              CONFIDENCE_NOTE);
    if (finding == NULL || !say_unused(one, finding, facts) ||
        !plim_holes_say_pin(one, finding, facts)) {
        return plim_fail_memory(err, "writing down fragmentation");
    }
    if (facts->event < 0) {
        const plim_evidence_line line = {
            .id = "no_events",
            .text = "The recording has no events: how it came to this, it does not say",
        };
        return plim_case_say(one, finding, &line)
                   ? PLIM_OK
                   : plim_fail_memory(err, "writing down fragmentation");
    }
    return PLIM_OK;
}

/* Private pools hold free memory that only their graphs can use. */
static plim_status add_private(plim_case *one, const plim_fragmentation_facts *facts,
                               plim_error *err)
{
    plim_diagnosis_finding *const finding =
        begin(one, facts, PLIM_CAUSE_PRIVATE_POOLS, PLIM_NONE, CONFIDENCE_NOTE);
    if (finding == NULL) {
        return plim_fail_memory(err, "writing down fragmentation");
    }
    finding->bytes = facts->loss.private_pool_bytes;
    finding->root = (plim_code_place){ .stack = PLIM_NONE, .frame = PLIM_NONE };
    const plim_evidence_line line = {
        .id = "private_pools",
        .text = "{} of {} reserved are free in private pools: a captured graph that is replayed "
                "uses them, and no other request can",
        .figures = { plim_say_bytes("private_pool_bytes", facts->loss.private_pool_bytes),
                     plim_say_bytes("reserved_bytes", facts->reserved_bytes) },
        .figure_count = 2,
    };
    return plim_case_say(one, finding, &line) ? PLIM_OK
                                              : plim_fail_memory(err, "writing down fragmentation");
}

/* The layout alone is too large for the device that was given: `failure` is that of a replay. */
static plim_status add_replayed(plim_case *one, const plim_replayed_failure *failure,
                                plim_error *err)
{
    const plim_events *const events = &one->device->events;
    const plim_holes_request request = { .moment = (int64_t)failure->event - 1,
                                         .bytes = failure->requested_bytes,
                                         .stream = events->stream[failure->event] };
    const uint32_t stack = events->stack[failure->event];
    plim_fragmentation_facts facts;
    PLIM_TRY(plim_holes_measure(one, &request, &facts, err));
    plim_diagnosis_finding *const finding =
        begin(one, &facts, plim_holes_cause(one, &facts, stack), stack, CONFIDENCE_REPLAYED);
    if (finding == NULL) {
        return plim_fail_memory(err, "writing down fragmentation");
    }
    finding->decides = true;
    finding->finding.severity = PLIM_SEVERITY_FAILURE;
    finding->bytes = plim_minus(failure->reserved_bytes, failure->allocated_bytes);
    finding->root = plim_case_place(one, stack);
    const plim_evidence_line replayed = {
        .id = "replayed",
        .text = "Run again on a device of {}, a request for {} fails, with {} allocated of {} "
                "reserved",
        .figures = { plim_say_bytes("capacity_bytes", one->capacity_bytes),
                     plim_say_bytes("requested_bytes", failure->requested_bytes),
                     plim_say_bytes("allocated_bytes", failure->allocated_bytes),
                     plim_say_bytes("reserved_bytes", failure->reserved_bytes) },
        .figure_count = 4,
    };
    bool said = plim_case_say(one, finding, &replayed);
    if (said && finding->root.frame != PLIM_NONE) {
        const plim_evidence_line line = {
            .id = "request",
            .text = "It is requested at {}",
            .figures = { plim_say_frame("requested_at", finding->root.frame) },
            .figure_count = 1,
        };
        said = plim_case_say(one, finding, &line);
    }
    return said ? PLIM_OK : plim_fail_memory(err, "writing down fragmentation");
}

/* The moment of a peak at which most was lost. */
static const plim_fragmentation_facts *worst_peak(const measured_moments *all)
{
    const plim_fragmentation_facts *worst = NULL;
    for (size_t i = 0; i < all->count; i++) {
        const plim_fragmentation_facts *const facts = &all->facts[i];
        if (!facts->is_oom &&
            (worst == NULL || plim_holes_lost(&facts->loss) > plim_holes_lost(&worst->loss))) {
            worst = facts;
        }
    }
    return worst;
}

/* The first that is no failure's: that of the peak of reserved memory. */
static const plim_fragmentation_facts *reserved_peak(const measured_moments *all)
{
    for (size_t i = 0; i < all->count; i++) {
        if (!all->facts[i].is_oom) {
            return &all->facts[i];
        }
    }
    return NULL;
}

static plim_status conclude(plim_case *one, const plim_reserved_course *course,
                            const measured_moments *all, plim_error *err)
{
    const plim_fragmentation_facts *const peak = reserved_peak(all);
    const plim_fragmentation_facts *const worst = worst_peak(all);
    plim_replayed_failure failure = { 0 };
    bool fails = false;
    if (one->options->capacity_bytes > 0 &&
        course->peak_reserved_bytes > one->options->capacity_bytes &&
        course->peak_allocated_bytes <= one->options->capacity_bytes) {
        PLIM_TRY(plim_replay_at_capacity(one, &fails, &failure, err));
    }
    if (fails) {
        return add_replayed(one, &failure, err);
    }
    if (peak != NULL && is_pinned(course, peak)) {
        return add_pinned(one, course, peak, err);
    }
    if (worst == NULL) {
        return PLIM_OK;
    }
    const uint64_t lost = plim_holes_lost(&worst->loss);
    const uint64_t private_bytes = worst->loss.private_pool_bytes;
    if (lost >= LOST_BYTES_MIN && share(lost, worst->reserved_bytes) >= LOST_SHARE) {
        PLIM_TRY(add_note(one, course, worst, err));
    } else if (private_bytes >= LOST_BYTES_MIN &&
               share(private_bytes, worst->reserved_bytes) >= PRIVATE_SHARE) {
        PLIM_TRY(add_private(one, worst, err));
    }
    return PLIM_OK;
}

plim_status plim_find_fragmentation(plim_case *one, plim_error *err)
{
    const plim_reserved_course course = plim_reserved_course_of(one);
    measured_moments all = { .count = 0 };
    plim_oom_outcomes outcomes;
    if (course.peak_reserved_bytes == 0) {
        return PLIM_OK;
    }
    PLIM_TRY(measure_failures(one, &all, err));
    PLIM_TRY(measure_peaks(one, &course, &all, err));
    PLIM_TRY(keep_moments(one, &all, err));
    PLIM_TRY(plim_oom_outcomes_of(one, &outcomes, err));
    return outcomes.last_ended == SIZE_MAX ? conclude(one, &course, &all, err) : PLIM_OK;
}
