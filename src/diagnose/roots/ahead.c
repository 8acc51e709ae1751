/*
 * ahead.c - batches that are on the device long before a step uses them.
 *
 * One place in the program makes many tensors before the next forward pass, and each step frees
 * the oldest: they waited for their turn. A cache or a memory is filled and emptied at one pace.
 */
#include "base/error.h"
#include "diagnose/roots/causes.h"
#include "diagnose/roots/waste.h"

/* So many steps must free from what one burst made. Loaders keep two to four batches ready. */
#define STEPS_AHEAD_MIN 6

/* The burst at hand of one stack. */
typedef struct burst {
    uint64_t pass; /* of its last request, + 1 */
    uint64_t bytes;
    uint64_t count;
    uint64_t steps;     /* different steps in which they are freed, in order */
    uint64_t last_step; /* + 1 */
    uint64_t last_freed;
    uint64_t first_id;
    uint64_t peak_bytes; /* live at the peak, */
    uint64_t next_bytes; /* of that, what the peak's own step frees */
    bool is_in_order;
} burst;

typedef struct ahead_search {
    plim_case *one;
    burst *bursts; /* by stack */
    burst best;
    uint32_t best_stack;
} ahead_search;

static bool is_loaded(const plim_case *one, uint32_t stack)
{
    const plim_stack_kind kind = plim_stack_kind_of(&one->passes.stacks, stack);
    return kind == PLIM_STACK_DATA || kind == PLIM_STACK_USER || kind == PLIM_STACK_USER_INIT;
}

static void end_burst(ahead_search *at, uint32_t stack)
{
    burst *const now = &at->bursts[stack];
    if (now->is_in_order && now->steps >= STEPS_AHEAD_MIN && now->bytes > at->best.bytes) {
        at->best = *now;
        at->best_stack = stack;
    }
}

static void note_request(ahead_search *at, uint64_t event, uint64_t pass)
{
    const plim_case *const one = at->one;
    const uint32_t stack = one->device->events.stack[event];
    const uint64_t id = plim_timeline_recorded_id(&one->view.timeline, event);
    const plim_allocation made = plim_timeline_allocation(&one->view.timeline, id);
    burst *const now = &at->bursts[stack];
    if (now->pass != pass + 1) {
        end_burst(at, stack);
        *now = (burst){ .pass = pass + 1, .first_id = id, .is_in_order = true };
    }
    const uint64_t step = made.freed == PLIM_NEVER || made.freed > (int64_t)one->passes.last_request
                              ? PLIM_NO_STEP
                              : plim_steps_at(&one->view.steps, (uint64_t)made.freed);
    if (step == PLIM_NO_STEP) {
        return; /* not used by the end, or freed with the program */
    }
    now->is_in_order = now->is_in_order && (uint64_t)made.freed >= now->last_freed;
    now->last_freed = (uint64_t)made.freed;
    now->steps += step + 1 != now->last_step;
    now->last_step = step + 1;
    now->bytes += made.requested_bytes;
    now->count++;
    const int64_t peak = one->facts->peak.event;
    if (made.born <= peak && made.freed > peak) {
        now->peak_bytes += made.requested_bytes;
        const bool is_next = peak >= 0 && step == plim_steps_at(&one->view.steps, (uint64_t)peak);
        now->next_bytes += is_next ? made.requested_bytes : 0;
    }
}

/* Passes that only fetch or set up do not part bursts: a forward pass does. */
static void walk_requests(ahead_search *at)
{
    const plim_case *const one = at->one;
    const plim_events *const events = &one->device->events;
    size_t pass = 0;
    uint64_t forwards = 0;
    for (uint64_t i = 0; i < events->count; i++) {
        while (pass + 1 < one->passes.list.count && one->passes.list.items[pass + 1].first <= i) {
            pass++;
            forwards += one->passes.list.items[pass].kind == PLIM_PASS_FORWARD;
        }
        if (events->action[i] == PLIM_ALLOC && is_loaded(one, events->stack[i]) &&
            one->passes.list.items[pass].kind != PLIM_PASS_FORWARD) {
            note_request(at, i, forwards);
        }
    }
    for (uint32_t i = 0; i < plim_history_stack_count(one->history); i++) {
        end_burst(at, i);
    }
}

static plim_status report_ahead(ahead_search *at, plim_error *err)
{
    plim_case *const one = at->one;
    const burst *const best = &at->best;
    plim_diagnosis_finding *const finding =
        plim_add_waste(one, PLIM_CAUSE_BATCHES_AHEAD, 0.85,
                       best->peak_bytes > 0 ? best->peak_bytes - best->next_bytes : best->bytes);
    if (finding == NULL) {
        return plim_fail_memory(err, "finding batches that wait");
    }
    PLIM_TRY(plim_waste_root(one, &best->first_id, 1, finding, err));
    const plim_evidence_line wait = {
        .id = "batches_wait",
        .text = "{} tensors with {} are made here one after another, and freed in the same order "
                "in {} different steps: they wait on the device for their turn",
        .figures = { plim_say_amount("batches", best->count),
                     plim_say_bytes("batch_bytes", best->bytes),
                     plim_say_amount("steps_ahead", best->steps) },
        .figure_count = 3,
    };
    const plim_evidence_line peak = {
        .id = "waiting_at_peak",
        .text = "{} of them are live at the peak, of which its own step frees {}",
        .figures = { plim_say_bytes("waiting_at_peak_bytes", best->peak_bytes),
                     plim_say_bytes("used_at_peak_bytes", best->next_bytes) },
        .figure_count = 2,
    };
    return plim_case_say(one, finding, &wait) && plim_case_say(one, finding, &peak)
               ? PLIM_OK
               : plim_fail_memory(err, "finding batches that wait");
}

plim_status plim_find_batches_ahead(plim_case *one, plim_error *err)
{
    const uint32_t stacks = plim_history_stack_count(one->history);
    if (stacks == 0 || one->view.steps.count < STEPS_AHEAD_MIN) {
        return PLIM_OK;
    }
    ahead_search at = { .one = one };
    at.bursts = plim_mem_alloc_zeroed(one->mem, stacks, sizeof *at.bursts);
    if (at.bursts == NULL) {
        return plim_fail_memory(err, "finding batches that wait");
    }
    walk_requests(&at);
    const plim_status status = at.best.count > 0 ? report_ahead(&at, err) : PLIM_OK;
    plim_mem_free(one->mem, at.bursts, stacks, sizeof *at.bursts);
    return status;
}
