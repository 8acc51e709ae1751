/*
 * judged.c - see judged.h.
 */
#include "diagnose/failures/judged.h"

#include "base/block_bytes.h"
#include "base/error.h"
#include "base/numbers.h"
#include "diagnose/keepers/largest.h"
#include "verdict/thresholds.h"

/* A text's figure is that of a request if it lies so near: texts have two decimals. */
#define TEXT_SHARE 0.01
/* Without the size of the device: a request this much larger than all that was held and free is
 * larger than what any other use of the device would have left. */
#define OVER_HELD_AND_FREE   1.25
#define CONFIDENCE_LIKELY    0.75
#define CONFIDENCE_SURE      0.95
#define CONFIDENCE_OVER_HELD 0.6

/* --- the request --- */

static uint64_t text_figure(const plim_judgement *text, plim_figure_id id)
{
    return plim_finding_figure(&text->finding, plim_figure_name(id));
}

static bool is_near(uint64_t a, uint64_t b)
{
    const uint64_t difference = a > b ? a - b : b - a;
    return (double)difference <= TEXT_SHARE * (double)plim_max(a, b);
}

/* True if an error text is about this failure. */
static bool is_text_of(const plim_case *one, const plim_judgement *text, const plim_oom_moment *oom)
{
    const uint64_t bytes = text_figure(text, PLIM_FIGURE_REQUESTED);
    const int32_t device = text->finding.subject.device;
    return (device == PLIM_DEVICE_UNKNOWN || device == one->device->device) &&
           bytes != PLIM_BYTES_UNKNOWN &&
           (is_near(bytes, oom->segment_bytes) || is_near(bytes, oom->requested_bytes));
}

static const plim_judgement *find_text(const plim_case *one, const plim_oom_moment *oom)
{
    for (size_t i = 0; i < one->options->judgement_count; i++) {
        if (is_text_of(one, &one->options->judgements[i], oom)) {
            return &one->options->judgements[i];
        }
    }
    return NULL;
}

plim_failed_request plim_failure_request(const plim_case *one, size_t index,
                                         const plim_judgement **ret_text)
{
    static const plim_figure_id from_text[] = { PLIM_FIGURE_TOTAL, PLIM_FIGURE_PROCESS,
                                                PLIM_FIGURE_OTHER_PROCESSES, PLIM_FIGURE_LIMIT,
                                                PLIM_FIGURE_PRIVATE_POOLS };
    const plim_oom_moment *const oom = &one->facts->ooms[index];
    plim_failed_request request = plim_oom_request(one->facts, index);
    const plim_judgement *const text = find_text(one, oom);
    for (size_t i = 0; text != NULL && i < sizeof from_text / sizeof from_text[0]; i++) {
        request.figures[from_text[i]].bytes = text_figure(text, from_text[i]);
    }
    uint64_t *const total = &request.figures[PLIM_FIGURE_TOTAL].bytes;
    /* A device smaller than what was held is another one: that of a question, not of the run. */
    if (*total == PLIM_BYTES_UNKNOWN && one->options->capacity_bytes > 0 &&
        one->options->capacity_bytes >= oom->moment.reserved_bytes) {
        *total = one->options->capacity_bytes;
    }
    uint64_t *const limit = &request.figures[PLIM_FIGURE_LIMIT].bytes;
    const double fraction = one->view.rule.settings.per_process_memory_fraction;
    if (*limit == PLIM_BYTES_UNKNOWN && *total != PLIM_BYTES_UNKNOWN && fraction < 1) {
        *limit = plim_whole(fraction * (double)*total);
    }
    if (one->view.rule.settings.expandable_segments) {
        request.in_force |= PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_EXPANDABLE_SEGMENTS);
    }
    *ret_text = text;
    return request;
}

/* --- the judgement --- */

static void decide(plim_judgement *judged, plim_verdict verdict, double confidence)
{
    judged->verdict = verdict;
    judged->confidence = confidence;
}

static uint64_t figure_of(const plim_failed_request *request, plim_figure_id id)
{
    return request->figures[id].bytes;
}

/* A recording does not show what the process holds beside the allocator: where a context and
 * libraries explain what lies elsewhere, that is no other process. */
static plim_judgement judge_with_context(const plim_failed_request *request)
{
    const plim_judgement judged = plim_judge(request);
    if (judged.verdict != PLIM_VERDICT_OTHER_PROCESS ||
        judged.elsewhere_bytes > CONTEXT_BYTES_MAX) {
        return judged;
    }
    plim_failed_request without = *request;
    without.figures[PLIM_FIGURE_TOTAL].bytes = PLIM_BYTES_UNKNOWN;
    return plim_judge(&without);
}

static plim_judgement judge(const plim_case *one, const plim_failed_request *request,
                            const plim_judgement *text)
{
    plim_judgement judged = text != NULL ? plim_judge(request) : judge_with_context(request);
    const bool text_decides =
        text != NULL &&
        (text->verdict == PLIM_VERDICT_CAPPED || text->verdict == PLIM_VERDICT_OTHER_PROCESS ||
         text->verdict == PLIM_VERDICT_OVERSIZED || text->verdict == PLIM_VERDICT_HOST);
    if (text_decides) { /* it has figures that the recording lacks */
        decide(&judged, text->verdict, text->confidence);
        judged.alternative_count = text->alternative_count;
        return judged;
    }
    if (judged.verdict == PLIM_VERDICT_UNKNOWN && judged.reason == PLIM_REASON_FREE_ENOUGH) {
        /* In a recording both figures are the driver's own, at one moment. */
        decide(&judged, PLIM_VERDICT_CAPPED,
               one->view.rule.settings.per_process_memory_fraction < 1 ? CONFIDENCE_SURE
                                                                       : CONFIDENCE_LIKELY);
    }
    const uint64_t free = figure_of(request, PLIM_FIGURE_FREE);
    const uint64_t held = figure_of(request, PLIM_FIGURE_RESERVED);
    const uint64_t wanted = figure_of(request, PLIM_FIGURE_REQUESTED);
    if (judged.verdict == PLIM_VERDICT_EXHAUSTED && free != PLIM_BYTES_UNKNOWN &&
        figure_of(request, PLIM_FIGURE_TOTAL) == PLIM_BYTES_UNKNOWN &&
        (double)wanted >
            OVER_HELD_AND_FREE * (double)plim_plus(held == PLIM_BYTES_UNKNOWN ? 0 : held, free)) {
        decide(&judged, PLIM_VERDICT_OVERSIZED, CONFIDENCE_OVER_HELD);
    }
    return judged;
}

plim_cause plim_failure_cause(plim_verdict verdict)
{
    return verdict == PLIM_VERDICT_CAPPED          ? PLIM_CAUSE_LIMIT
           : verdict == PLIM_VERDICT_OTHER_PROCESS ? PLIM_CAUSE_OTHERS
           : verdict == PLIM_VERDICT_OVERSIZED     ? PLIM_CAUSE_REQUEST
                                                   : PLIM_CAUSE_UNKNOWN;
}

/* --- spurious failures --- */

plim_status plim_failure_measure(plim_case *one, const plim_oom_moment *oom,
                                 plim_fragmentation_facts *ret_facts, plim_error *err)
{
    const plim_holes_request request = { .moment = (int64_t)oom->event,
                                         .is_oom = true,
                                         .bytes = oom->requested_bytes,
                                         .stream = one->device->events.stream[oom->event] };
    return plim_holes_measure(one, &request, ret_facts, err);
}

static bool has_private_pool(const plim_device_history *device)
{
    for (uint64_t i = 0; i < device->segment_count; i++) {
        if (!plim_pool_is_default(device->segments[i].pool)) {
            return true;
        }
    }
    return false;
}

bool plim_failure_is_spurious(const plim_case *one, const plim_oom_moment *oom,
                              const plim_fragmentation_facts *facts)
{
    /* A block may be up to 1 MiB larger than it seems, and a hole after it smaller. */
    const uint64_t slack = oom->moment.allocated_slack_bytes > 0 ? PLIM_SMALL_BYTES_MAX : 0;
    return oom->requested_bytes > 0 && !has_private_pool(one->device) &&
           facts->largest_hole_bytes >= plim_plus(oom->requested_bytes, slack);
}

/* --- the finding --- */

static bool say_request(plim_case *one, plim_diagnosis_finding *finding, const plim_oom_moment *oom)
{
    plim_evidence_line line = { .id = "request",
                                .text = "A request for {} failed; the recording has no stack of it",
                                .figures = { plim_say_bytes("requested_bytes",
                                                            oom->requested_bytes) },
                                .figure_count = 1 };
    const plim_code_place place = plim_case_place(one, oom->stack);
    if (place.frame != PLIM_NONE) {
        line.text = "A request for {} failed at {}";
        line.figures[line.figure_count++] = plim_say_frame("requested_at", place.frame);
    }
    if (!plim_case_say(one, finding, &line)) {
        return false;
    }
    plim_evidence_line held = {
        .id = "held",
        .text = "The program held {} in live blocks of {} reserved",
        .figures = { plim_say_bytes("allocated_bytes", oom->moment.allocated_bytes),
                     plim_say_bytes("reserved_bytes", oom->moment.reserved_bytes) },
        .figure_count = 2,
    };
    if (oom->moment.reserved_bytes == 0 && oom->moment.allocated_bytes > 0) {
        held.text = "The program held {} in live blocks; what was reserved is not recorded";
        held.figure_count = 1;
    } else if (oom->has_device_free) {
        held.text = "The program held {} in live blocks of {} reserved, and the driver had {} left";
        held.figures[held.figure_count++] =
            plim_say_bytes("device_free_bytes", oom->device_free_bytes);
    }
    return plim_case_say(one, finding, &held);
}

static bool say_verdict(plim_case *one, plim_diagnosis_finding *finding, const plim_oom_moment *oom,
                        const plim_failed_request *request, const plim_judgement *judged)
{
    plim_evidence_line line = { .id = "verdict" };
    if (judged->verdict == PLIM_VERDICT_CAPPED && oom->has_device_free &&
        oom->device_free_bytes >= oom->segment_bytes) {
        line.text = "The driver had {} more than was requested: a limit of the program refused it";
        line.figures[line.figure_count++] = plim_say_bytes(
            "left_over_bytes", plim_minus(oom->device_free_bytes, oom->segment_bytes));
    } else if (judged->verdict == PLIM_VERDICT_CAPPED &&
               figure_of(request, PLIM_FIGURE_LIMIT) != PLIM_BYTES_UNKNOWN) {
        line.text = "A limit of {} is set";
        line.figures[line.figure_count++] =
            plim_say_bytes("limit_bytes", figure_of(request, PLIM_FIGURE_LIMIT));
    } else if (judged->verdict == PLIM_VERDICT_OTHER_PROCESS &&
               judged->elsewhere_bytes != PLIM_BYTES_UNKNOWN) {
        line.text = "{} of the device lies outside this process";
        line.figures[line.figure_count++] =
            plim_say_bytes("elsewhere_bytes", judged->elsewhere_bytes);
    } else if (judged->verdict == PLIM_VERDICT_OVERSIZED) {
        const uint64_t total = figure_of(request, PLIM_FIGURE_TOTAL);
        const bool is_known = total != PLIM_BYTES_UNKNOWN;
        line.text = is_known ? "The device has {} in all"
                             : "All that the program held and the driver had left is {}";
        line.figures[line.figure_count++] = plim_say_bytes(
            is_known ? "total_bytes" : "held_and_free_bytes",
            is_known ? total : plim_plus(oom->moment.reserved_bytes, oom->device_free_bytes));
    }
    return line.text == NULL || plim_case_say(one, finding, &line);
}

static bool say_holes(plim_case *one, plim_diagnosis_finding *finding,
                      const plim_fragmentation_facts *facts, bool is_spurious)
{
    plim_evidence_line line = {
        .id = "holes",
        .text = is_spurious ? "A free block of {} was there for it, of {} that was free in pieces"
                            : "The largest piece that it could use had {}, of {} that was free",
        .figures = { plim_say_bytes("largest_hole_bytes", facts->largest_hole_bytes),
                     plim_say_bytes("unused_bytes",
                                    plim_minus(facts->reserved_bytes, facts->allocated_bytes)) },
        .figure_count = 2,
    };
    return plim_case_say(one, finding, &line) &&
           (is_spurious || plim_holes_say_pin(one, finding, facts));
}

/* The line that is blamed, where it is not the request's. */
static bool say_root(plim_case *one, plim_diagnosis_finding *finding, const plim_oom_moment *oom)
{
    const plim_evidence_line line = {
        .id = "first_of_size",
        .text = "The same call requested as much before, first at {}",
        .figures = { plim_say_frame("root_at", finding->root.frame) },
        .figure_count = 1,
    };
    return finding->root.frame == plim_case_place(one, oom->stack).frame ||
           plim_case_say(one, finding, &line);
}

/* The finding of a verdict, but for its cause, its root and what is special to it. */
static plim_diagnosis_finding *begin(plim_case *one, const plim_oom_moment *oom,
                                     const plim_judgement *judged, plim_cause cause)
{
    plim_diagnosis_finding *const finding = plim_case_add(one, judged->verdict, cause);
    if (finding == NULL) {
        return NULL;
    }
    const char *const id = finding->finding.id;
    finding->finding = judged->finding;
    finding->finding.id = id;
    finding->finding.severity = PLIM_SEVERITY_FAILURE;
    finding->finding.certainty =
        plim_certainty_of(judged->confidence, judged->alternative_count > 0);
    finding->decides = true;
    finding->confidence = judged->confidence;
    finding->bytes = oom->segment_bytes;
    finding->root = plim_failure_root(one, oom);
    finding->first_step = finding->last_step = plim_steps_at(&one->view.steps, oom->event);
    return say_request(one, finding, oom) ? finding : NULL;
}

plim_status plim_failure_add(plim_case *one, size_t index, plim_error *err)
{
    const plim_oom_moment *const oom = &one->facts->ooms[index];
    const plim_judgement *text = NULL;
    const plim_failed_request request = plim_failure_request(one, index, &text);
    plim_judgement judged = judge(one, &request, text);
    plim_cause cause = one->device->device == PLIM_HOST_DEVICE ? PLIM_CAUSE_PINNED_HOST
                                                               : plim_failure_cause(judged.verdict);
    plim_full_part largest = { 0 };
    plim_fragmentation_facts facts = { 0 };
    const bool by_layout =
        judged.verdict == PLIM_VERDICT_FRAGMENTED || judged.verdict == PLIM_VERDICT_EXHAUSTED;
    bool is_spurious = false;
    if (by_layout) {
        PLIM_TRY(plim_failure_measure(one, oom, &facts, err));
        is_spurious = plim_failure_is_spurious(one, oom, &facts);
    }
    if (is_spurious) {
        judged.verdict = PLIM_VERDICT_FRAGMENTED;
        cause = PLIM_CAUSE_SPURIOUS_FAILURE;
    } else if (judged.verdict == PLIM_VERDICT_FRAGMENTED) {
        cause = plim_holes_cause(one, &facts, oom->stack);
    } else if (judged.verdict == PLIM_VERDICT_EXHAUSTED) {
        PLIM_TRY(plim_failure_fill(one, oom, &cause, &largest, err));
    }
    plim_diagnosis_finding *const finding = begin(one, oom, &judged, cause);
    bool said = finding != NULL && say_verdict(one, finding, oom, &request, &judged);
    if (said && judged.verdict == PLIM_VERDICT_FRAGMENTED) {
        finding->bytes = plim_holes_lost(&facts.loss);
        if (!is_spurious && facts.pin_count > 0 && facts.pins[0].place.frame != PLIM_NONE) {
            finding->root = facts.pins[0].place;
        }
        said = say_holes(one, finding, &facts, is_spurious);
    } else if (said && largest.name != NULL) {
        const plim_evidence_line line = {
            .id = "largest_category",
            .text = "The largest part of what was live is {}: {}",
            .figures = { plim_say_word("category", largest.name),
                         plim_say_bytes("category_bytes", largest.bytes) },
            .figure_count = 2,
        };
        said = (largest.bytes == 0 || plim_case_say(one, finding, &line)) &&
               plim_keepers_say_largest(one, finding) && say_root(one, finding, oom);
    }
    return said ? PLIM_OK : plim_fail_memory(err, "writing down a failure");
}
