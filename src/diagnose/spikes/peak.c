/*
 * peak.c - the burst of each step: one to three tensors that stand for a short while, and dwarf all
 * else that the program ever holds.
 */
#include "base/total.h"
#include "diagnose/case/next_peak.h"
#include "diagnose/spikes/parts.h"

/* Members of such a burst. */
#define MEMBERS_MAX 3
/* Each lives for this share of its step at most. */
#define SHORT_SHARE 4
/* The peak is so many times the highest moment without the burst, a library's workspaces left out:
 * then a fix of one line gives back four fifths, and the verdict is that burst. */
#define DECIDES_FACTOR 5.0
/* From here on it is worth a note. */
#define NOTE_FACTOR 1.5

/* Bytes of no category that stand before the step: a library's workspaces, tables. */
static uint64_t standing_bytes(const plim_case *one, uint64_t first)
{
    plim_live live = plim_timeline_live(&one->view.timeline, (int64_t)first - 1, false);
    plim_allocation standing;
    plim_total bytes = 0;
    while (plim_live_next(&live, &standing)) {
        bytes += one->view.categories.of[standing.id] == PLIM_CATEGORY_OTHER
                     ? standing.requested_bytes
                     : 0;
    }
    return plim_total_bytes(bytes);
}

static bool add(const plim_burst *burst, uint64_t next_bytes, bool decides)
{
    plim_case *const one = burst->one;
    const uint64_t peak = one->facts->peak.requested_bytes;
    plim_diagnosis_finding *const finding =
        plim_case_add(one, PLIM_VERDICT_SPIKE, plim_burst_cause(one, burst->stack));
    if (finding == NULL) {
        return false;
    }
    finding->decides = decides;
    finding->confidence = decides ? 0.7 : 0.8;
    finding->bytes = peak - next_bytes;
    finding->root = plim_case_place(one, burst->stack);
    finding->first_step = plim_steps_at(&one->view.steps, (uint64_t)one->facts->peak.event);
    finding->last_step = finding->first_step;
    finding->finding.severity = decides ? PLIM_SEVERITY_WARNING : PLIM_SEVERITY_NOTE;
    finding->finding.certainty = plim_certainty_of(finding->confidence, true);
    finding->finding.subject.kind = PLIM_SUBJECT_EVENT;
    finding->finding.subject.first = (uint64_t)one->facts->peak.event;
    finding->finding.subject.last = finding->finding.subject.first;
    finding->finding.subject.stack = burst->stack;
    const plim_evidence_line line = {
        .id = "burst_at_peak",
        .text = "at the peak of {}, allocations that live for a quarter of the step at most take "
                "{} ({} of them); no moment without such exceeds {}",
        .figures = { plim_say_bytes("peak_bytes", peak),
                     plim_say_bytes("burst_bytes", burst->member_bytes),
                     plim_say_amount("burst_allocations", burst->members),
                     plim_say_bytes("next_peak_bytes", next_bytes) },
        .figure_count = 4,
    };
    return plim_case_say(one, finding, &line);
}

static bool judge(plim_burst *burst)
{
    plim_case *const one = burst->one;
    const uint64_t step = plim_steps_at(&one->view.steps, (uint64_t)one->facts->peak.event);
    const plim_step_fact *const fact = &one->step_facts[step];
    const plim_makers makers = { .keys = burst->stacks,
                                 .longest = (fact->end_event - fact->first_event) / SHORT_SHARE };
    if (burst->members == 0 || burst->members > MEMBERS_MAX || burst->repeated > 0 ||
        burst->stacks.count != burst->members || burst->longest > makers.longest) {
        return true;
    }
    int64_t event = PLIM_AT_START;
    const uint64_t next = plim_next_peak(one, &makers, &event);
    const uint64_t standing = standing_bytes(one, burst->first);
    const double rest = next > standing ? (double)(next - standing) : 0;
    const double peak = (double)one->facts->peak.requested_bytes - (double)standing;
    return next == 0 || peak < NOTE_FACTOR * rest ||
           add(burst, next, peak >= DECIDES_FACTOR * rest);
}

bool plim_spike_at_peak(plim_case *one)
{
    const int64_t event = one->facts->peak.event;
    if (event < 0 || !one->has_stacks ||
        plim_steps_at(&one->view.steps, (uint64_t)event) == PLIM_NO_STEP) {
        return true;
    }
    const plim_last_request peak = { .event = (uint64_t)event + 1,
                                     .live_bytes = one->facts->peak.requested_bytes,
                                     .stack = PLIM_NONE };
    plim_burst burst;
    const bool is_done = plim_burst_look(one, &peak, &burst) && judge(&burst);
    plim_burst_deinit(&burst);
    return is_done;
}
