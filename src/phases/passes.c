/*
 * passes.c - see passes.h.
 */
#include "phases/passes.h"

#include "base/error.h"

/* One request in so many must have a stack before the want of one is taken for a sign: in real
 * recordings a third or more have. */
#define STACKS_SHARE_MIN 10

/* A walk over events in order that knows which optimizer spans it is in. */
typedef struct pass_walk {
    plim_passes *passes;
    size_t next_mark[2];  /* the first that does not end before here */
    size_t begun_mark[2]; /* the first that has not begun */
    plim_pass_kind now;
} pass_walk;

static const plim_mark_kind span_kinds[2] = { PLIM_MARK_OPTIMIZER, PLIM_MARK_ZERO_GRAD };

/* True if the event lies in a span of the optimizer; `ret_begins` whether one began since the
 * event before: it may have ended again. */
static bool in_optimizer_span(pass_walk *at, uint64_t event, bool *ret_begins)
{
    bool is_inside = false;
    *ret_begins = false;
    for (size_t i = 0; i < 2; i++) {
        const size_t count = at->passes->marks.of[span_kinds[i]].count;
        const plim_mark *marks = at->passes->marks.of[span_kinds[i]].items;
        while (at->begun_mark[i] < count && marks[at->begun_mark[i]].first <= event) {
            *ret_begins = true;
            at->begun_mark[i]++;
        }
        while (at->next_mark[i] < count && marks[at->next_mark[i]].end <= event) {
            at->next_mark[i]++;
        }
        is_inside =
            is_inside || (at->next_mark[i] < count && marks[at->next_mark[i]].first <= event);
    }
    return is_inside;
}

static bool enter(pass_walk *at, plim_pass_kind kind, uint64_t event)
{
    if (kind == at->now) {
        return true;
    }
    at->now = kind;
    const plim_pass pass = { .first = (uint32_t)event, .kind = kind };
    return PLIM_VEC_PUSH(at->passes->mem, &at->passes->list, pass);
}

/* The kind of pass that a request makes of it. */
static plim_pass_kind pass_after(const plim_passes *passes, plim_pass_kind now,
                                 plim_stack_kind stack)
{
    switch (stack) {
    case PLIM_STACK_FORWARD:
        return PLIM_PASS_FORWARD;
    case PLIM_STACK_RECOMPUTE:
        return PLIM_PASS_RECOMPUTE;
    case PLIM_STACK_BACKWARD:
        return PLIM_PASS_BACKWARD;
    case PLIM_STACK_OPTIMIZER_STATE:
    case PLIM_STACK_OPTIMIZER_STEP:
    case PLIM_STACK_ZERO_GRAD:
        return PLIM_PASS_OPTIMIZER;
    case PLIM_STACK_DATA:
        return now == PLIM_PASS_SETUP ? now : PLIM_PASS_BETWEEN;
    case PLIM_STACK_USER:
        if (!passes->has_forward) {
            return PLIM_PASS_FORWARD; /* a model without modules */
        }
        return now == PLIM_PASS_SETUP || now == PLIM_PASS_FORWARD ? now : PLIM_PASS_BETWEEN;
    case PLIM_STACK_GRADIENT_TOOLS:
        return now == PLIM_PASS_BACKWARD || now == PLIM_PASS_RECOMPUTE ? PLIM_PASS_BETWEEN : now;
    case PLIM_STACK_NONE:
        if (passes->has_stacks) {
            return PLIM_PASS_BACKWARD;
        }
        return now == PLIM_PASS_OPTIMIZER ? PLIM_PASS_BETWEEN : now; /* its span is over */
    case PLIM_STACK_USER_INIT:
    case PLIM_STACK_BUILD:
    case PLIM_STACK_BUCKETS:
    case PLIM_STACK_OPTIMIZER_SETUP:
        break;
    }
    return now;
}

/* Inside of an optimizer's span all is the optimizer's, but for a closure's passes. */
static bool is_of_closure(plim_stack_kind stack)
{
    return stack == PLIM_STACK_FORWARD || stack == PLIM_STACK_RECOMPUTE ||
           stack == PLIM_STACK_BACKWARD;
}

static bool walk_events(pass_walk *at)
{
    const plim_events *events = at->passes->events;
    for (uint64_t i = 0; i < events->count; i++) {
        bool begins = false;
        const bool is_inside = in_optimizer_span(at, i, &begins);
        if (begins && !enter(at, PLIM_PASS_OPTIMIZER, i)) {
            return false;
        }
        if (events->action[i] != PLIM_ALLOC) {
            continue;
        }
        const plim_stack_kind stack = plim_stack_kind_of(&at->passes->stacks, events->stack[i]);
        const plim_pass_kind next = is_inside && !is_of_closure(stack)
                                        ? PLIM_PASS_OPTIMIZER
                                        : pass_after(at->passes, at->now, stack);
        if (!enter(at, next, i)) {
            return false;
        }
    }
    return true;
}

/* Fills what is known of a pass from later ones. */
static void look_back(plim_passes *passes)
{
    const uint32_t end = (uint32_t)passes->events->count;
    plim_pass behind = { .first = end, .end = end, .kind = PLIM_PASS_BETWEEN };
    uint32_t forward = end;
    uint32_t optimizer = end; /* the next one at all */
    uint32_t step = end;
    uint32_t optimizer_later = end; /* the next one after a forward pass */
    for (size_t i = passes->list.count; i-- > 0;) {
        plim_pass *pass = &passes->list.items[i];
        pass->end = behind.first;
        pass->next_forward = forward;
        pass->next_optimizer = optimizer_later;
        pass->next_step = step;
        pass->backward_end = pass->end;
        if (behind.kind == PLIM_PASS_BACKWARD || behind.kind == PLIM_PASS_RECOMPUTE) {
            pass->backward_end = behind.backward_end;
        }
        /* Without stacks, what lies between two steps of the optimizer has a forward pass in it. */
        if (pass->kind == PLIM_PASS_FORWARD ||
            (!passes->has_any_stack && pass->kind == PLIM_PASS_BETWEEN)) {
            forward = pass->first;
            optimizer_later = optimizer;
        } else if (pass->kind == PLIM_PASS_OPTIMIZER) {
            optimizer = pass->first;
            step = forward;
        }
        behind = *pass;
    }
}

/* The last request of each backward pass. */
static void find_backward_last(plim_passes *passes)
{
    uint32_t last = 0;
    for (size_t i = passes->list.count; i-- > 0;) {
        plim_pass *pass = &passes->list.items[i];
        const bool is_backward =
            pass->kind == PLIM_PASS_BACKWARD || pass->kind == PLIM_PASS_RECOMPUTE;
        if (is_backward && pass->end == pass->backward_end) {
            last = pass->end - 1;
            while (last > pass->first && passes->events->action[last] != PLIM_ALLOC) {
                last--;
            }
        }
        pass->backward_last = is_backward ? last : pass->end;
    }
}

/* Notes whether stacks were recorded, so that missing ones mean something, and what they show. */
static void survey(plim_passes *passes)
{
    const plim_events *events = passes->events;
    uint64_t requests = 0;
    uint64_t with_stack = 0;
    for (uint64_t i = 0; i < events->count; i++) {
        if (events->action[i] != PLIM_ALLOC) {
            continue;
        }
        const plim_stack_kind stack = plim_stack_kind_of(&passes->stacks, events->stack[i]);
        requests++;
        passes->last_request = (uint32_t)i;
        passes->has_states = passes->has_states || stack == PLIM_STACK_OPTIMIZER_STATE;
        with_stack += stack != PLIM_STACK_NONE ? 1u : 0u;
        passes->has_forward = passes->has_forward || stack == PLIM_STACK_FORWARD;
    }
    passes->has_any_stack = with_stack > 0;
    passes->has_stacks = passes->has_forward && with_stack >= requests / STACKS_SHARE_MIN;
}

static void summarize(plim_passes *passes)
{
    for (size_t i = 0; i < passes->list.count; i++) {
        const plim_pass_kind kind = passes->list.items[i].kind;
        passes->has_backward = passes->has_backward || kind == PLIM_PASS_BACKWARD;
        passes->has_optimizer = passes->has_optimizer || kind == PLIM_PASS_OPTIMIZER;
    }
}

plim_status plim_passes_init(plim_passes *passes, const plim_history *history,
                             const plim_device_history *device, const plim_mem *mem,
                             plim_error *err)
{
    *passes = (plim_passes){ .mem = mem, .events = &device->events };
    plim_status status = plim_stack_kinds_init(&passes->stacks, history, mem, err);
    if (status == PLIM_OK) {
        status = plim_marks_init(&passes->marks, history, device, mem, err);
    }
    if (status != PLIM_OK) {
        plim_passes_deinit(passes);
        return status;
    }
    survey(passes);
    pass_walk at = { .passes = passes, .now = PLIM_PASS_SETUP };
    const plim_pass setup = { .kind = PLIM_PASS_SETUP };
    if (!PLIM_VEC_PUSH(mem, &passes->list, setup) || !walk_events(&at)) {
        plim_passes_deinit(passes);
        return plim_fail_memory(err, "sorting allocations");
    }
    look_back(passes);
    find_backward_last(passes);
    summarize(passes);
    return PLIM_OK;
}

const plim_pass *plim_passes_at(const plim_passes *passes, uint64_t event)
{
    size_t low = 0;
    size_t high = passes->list.count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (passes->list.items[middle].first <= event) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &passes->list.items[low];
}

void plim_passes_deinit(plim_passes *passes)
{
    if (passes->mem == NULL) {
        return;
    }
    PLIM_VEC_FREE(passes->mem, &passes->list);
    plim_stack_kinds_deinit(&passes->stacks);
    plim_marks_deinit(&passes->marks);
    *passes = (plim_passes){ 0 };
}
