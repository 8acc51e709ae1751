/*
 * evaluation.c - evaluation that takes more than training.
 */
#include "diagnose/spikes/parts.h"

/* Evaluation stands above training where its peak is so much of training's, or more. */
#define ABOVE_SHARE 1.25
/* The device was full when it failed: less is enough to say that training needed less. */
#define FAILED_SHARE 1.1
/* Training has shown its own peak after so many backward passes. */
#define CYCLES_MIN 2
/* Evaluation without a graph is a burst where it comes in up to this share of training's passes;
 * more often it is what the program does. */
#define RARE_SHARE (1.0 / 3)
/* It records a graph where it holds so much of what each pass of training keeps for backward, in
 * number, in the same modules. Without a graph it holds one or two. */
#define SAVED_SHARE 0.75
#define SAVED_MIN   3
/* Stretches within this share of the highest are like it. */
#define ALIKE_SHARE 0.9

typedef struct evaluation {
    plim_case *one;
    const plim_stretch *stretch; /* the highest */
    plim_map called_paths;       /* paths of modules that training calls → 1 */
    plim_map saved_paths;        /* of those, where it keeps something for backward → 1 */
    uint64_t saved;              /* allocations that training keeps for backward */
    uint64_t held;               /* at the peak of evaluation, in the same modules */
    plim_map training_calls;     /* frames from which training calls the model → 1 */
    plim_map calls;              /* frames that call the model → bytes at that peak */
    uint64_t forward_bytes;      /* of modules' calls at the peak, made in the stretch */
    uint64_t known_bytes;        /* of those, in modules that training calls too */
    uint32_t stack;              /* the largest of them */
    uint64_t stack_bytes;
} evaluation;

/* Collects the modules that training calls, and counts what it keeps. */
static bool note_training(evaluation *at, const plim_stretches *stretches)
{
    const plim_events *const events = at->one->passes.events;
    size_t next = 0;
    for (uint64_t i = 0; i < events->count; i++) {
        while (next < stretches->list.count && stretches->list.items[next].end <= i) {
            next++;
        }
        const bool is_training =
            next == stretches->list.count || i < stretches->list.items[next].first;
        if (!is_training || events->action[i] != PLIM_ALLOC ||
            plim_stack_kind_of(&at->one->passes.stacks, events->stack[i]) != PLIM_STACK_FORWARD) {
            continue;
        }
        const uint64_t path = plim_module_path(at->one, events->stack[i]);
        const bool is_saved = plim_is_saved(at->one, i);
        at->saved += is_saved ? 1u : 0u;
        const uint32_t call = plim_model_call(at->one, events->stack[i]);
        if (call != PLIM_NONE && !plim_map_put(&at->training_calls, call, 1)) {
            return false;
        }
        if (path != 0 && (!plim_map_put(&at->called_paths, path, 1) ||
                          (is_saved && !plim_map_put(&at->saved_paths, path, 1)))) {
            return false;
        }
    }
    return true;
}

static bool note_held(evaluation *at, uint64_t event, uint64_t bytes)
{
    const uint32_t stack = at->one->passes.events->stack[event];
    at->forward_bytes += bytes;
    if (bytes > at->stack_bytes) {
        at->stack_bytes = bytes;
        at->stack = stack;
    }
    const uint32_t call = plim_model_call(at->one, stack);
    if (call != PLIM_NONE) {
        const uint64_t before = plim_map_get(&at->calls, call);
        if (!plim_map_put(&at->calls, call, before == PLIM_MAP_ABSENT ? bytes : before + bytes)) {
            return false;
        }
    }
    const uint64_t path = plim_module_path(at->one, stack);
    at->known_bytes += plim_map_get(&at->called_paths, path) != PLIM_MAP_ABSENT ? bytes : 0;
    at->held += plim_map_get(&at->saved_paths, path) != PLIM_MAP_ABSENT ? 1u : 0u;
    return true;
}

/* Notes all that modules' calls of the stretch hold at its peak. */
static bool note_peak(evaluation *at)
{
    const plim_events *const events = at->one->passes.events;
    const uint32_t *const ends = at->one->view.timeline.start.lifetimes.partner;
    for (uint64_t i = at->stretch->first; i <= at->stretch->peak_event; i++) {
        if (events->action[i] == PLIM_ALLOC &&
            (ends[i] == PLIM_NONE || ends[i] > at->stretch->peak_event) &&
            plim_stack_kind_of(&at->one->passes.stacks, events->stack[i]) == PLIM_STACK_FORWARD &&
            !note_held(at, i, events->bytes[i])) {
            return false;
        }
    }
    return true;
}

static plim_code_place find_place(const evaluation *at)
{
    plim_code_place place = { .stack = at->stack, .frame = PLIM_NONE };
    uint64_t most = 0;
    for (size_t i = 0; at->calls.slots != NULL && i <= at->calls.mask; i++) {
        const plim_map_slot *const slot = &at->calls.slots[i];
        if (slot->value != PLIM_MAP_ABSENT &&
            (slot->value > most || (slot->value == most && slot->key < place.frame))) {
            most = slot->value;
            place.frame = (uint32_t)slot->key;
        }
    }
    return place;
}

/* Allocations that one pass of training keeps, on average. */
static double saved_each(const evaluation *at, const plim_stretches *stretches)
{
    return (double)at->saved / (double)stretches->cycles;
}

static bool records_graph(const evaluation *at, const plim_stretches *stretches)
{
    const double saved = saved_each(at, stretches);
    return saved >= SAVED_MIN && (double)at->held >= SAVED_SHARE * saved;
}

static size_t count_alike(const plim_stretches *stretches, uint64_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < stretches->list.count; i++) {
        count += (double)stretches->list.items[i].peak_bytes >= ALIKE_SHARE * (double)bytes;
    }
    return count;
}

static bool say(const evaluation *at, plim_diagnosis_finding *finding,
                const plim_stretches *stretches, size_t count)
{
    const plim_evidence_line peaks = {
        .id = "evaluation_peak",
        .text = "forward passes without a backward pass reach {}; training reaches {}",
        .figures = { plim_say_bytes("evaluation_peak_bytes", at->stretch->peak_bytes),
                     plim_say_bytes("training_peak_bytes", stretches->training_bytes) },
        .figure_count = 2,
    };
    const plim_evidence_line often = {
        .id = "evaluation_count",
        .text = "such passes that reach as much: {}; backward passes: {}",
        .figures = { plim_say_amount("evaluations", count),
                     plim_say_amount("backward_passes", stretches->cycles) },
        .figure_count = 2,
    };
    const plim_evidence_line graph = {
        .id = "graph_recorded",
        .text = "at the peak they hold {} tensors of modules in which a pass of training keeps {} "
                "for its backward pass",
        .figures = { plim_say_amount("held_tensors", at->held),
                     plim_say_amount("saved_tensors", (uint64_t)saved_each(at, stretches)) },
        .figure_count = 2,
    };
    return plim_case_say(at->one, finding, &peaks) && plim_case_say(at->one, finding, &often) &&
           (!records_graph(at, stretches) || plim_case_say(at->one, finding, &graph));
}

static bool add(evaluation *at, const plim_stretches *stretches, bool is_failure)
{
    const bool has_graph = records_graph(at, stretches);
    const size_t count = count_alike(stretches, at->stretch->peak_bytes);
    const bool is_rare = (double)count <= RARE_SHARE * (double)stretches->cycles;
    plim_diagnosis_finding *const finding =
        plim_case_add(at->one, PLIM_VERDICT_SPIKE,
                      has_graph ? PLIM_CAUSE_EVALUATION_WITH_GRAD : PLIM_CAUSE_EVALUATION_BATCH);
    if (finding == NULL) {
        return false;
    }
    finding->decides = is_failure || has_graph || is_rare;
    finding->confidence = has_graph || is_failure ? 0.9 : 0.7;
    finding->finding.certainty = plim_certainty_of(finding->confidence, true);
    finding->finding.severity = is_failure         ? PLIM_SEVERITY_FAILURE
                                : finding->decides ? PLIM_SEVERITY_WARNING
                                                   : PLIM_SEVERITY_NOTE;
    const uint64_t high = at->stretch->peak_bytes;
    finding->bytes =
        high > stretches->training_bytes ? high - stretches->training_bytes : at->forward_bytes;
    finding->root = find_place(at);
    finding->first_step = plim_steps_at(&at->one->view.steps, at->stretch->peak_event);
    finding->last_step = finding->first_step;
    finding->finding.subject.kind = PLIM_SUBJECT_EVENT;
    finding->finding.subject.first = at->stretch->peak_event;
    finding->finding.subject.last = at->stretch->peak_event;
    return say(at, finding, stretches, count);
}

/* The highest stretch; of a failure, the one that it lies in. */
static const plim_stretch *choose(const plim_stretches *stretches, const plim_last_request *failed)
{
    const plim_stretch *highest = NULL;
    for (size_t i = 0; i < stretches->list.count; i++) {
        const plim_stretch *const one = &stretches->list.items[i];
        const bool may_be =
            failed == NULL || (one->first <= failed->event && failed->event < one->end);
        if (may_be && (highest == NULL || one->peak_bytes > highest->peak_bytes)) {
            highest = one;
        }
    }
    return highest;
}

/* True if the stretch, with the request that failed in it, stands far enough above training. */
static bool stands_out(const plim_stretch *stretch, const plim_last_request *failed,
                       const plim_stretches *stretches)
{
    if (stretch == NULL || stretches->cycles < CYCLES_MIN) {
        return false;
    }
    const double training = (double)stretches->training_bytes;
    return failed != NULL
               ? (double)failed->live_bytes + (double)failed->bytes >= FAILED_SHARE * training
               : (double)stretch->peak_bytes >= ABOVE_SHARE * training;
}

/* Another model than that which is trained is no evaluation of it. A forward pass that failed is
 * evaluation where training calls the model from elsewhere: else it may be training's. */
static bool is_evaluation(const evaluation *at, const plim_last_request *failed)
{
    const uint32_t call = find_place(at).frame;
    return at->known_bytes > 0 && at->known_bytes >= at->forward_bytes / 2 &&
           (failed == NULL ||
            (call != PLIM_NONE && plim_map_get(&at->training_calls, call) == PLIM_MAP_ABSENT));
}

bool plim_spike_of_evaluation(plim_case *one, const plim_last_request *failed,
                              const plim_stretches *stretches)
{
    evaluation at = { .one = one, .stretch = choose(stretches, failed), .stack = PLIM_NONE };
    if (!stands_out(at.stretch, failed, stretches)) {
        return true;
    }
    plim_map_init(&at.called_paths, one->mem);
    plim_map_init(&at.saved_paths, one->mem);
    plim_map_init(&at.training_calls, one->mem);
    plim_map_init(&at.calls, one->mem);
    bool is_done = note_training(&at, stretches) && note_peak(&at);
    if (is_done && is_evaluation(&at, failed)) {
        is_done = add(&at, stretches, failed != NULL);
    }
    plim_map_deinit(&at.calls);
    plim_map_deinit(&at.training_calls);
    plim_map_deinit(&at.saved_paths);
    plim_map_deinit(&at.called_paths);
    return is_done;
}
