/*
 * program.c - rounds, and what stacks show of techniques. See program.h.
 */
#include "diagnose/advice/program.h"

#include "base/error.h"
#include "base/memory.h"

static plim_frame_technique technique_of(const plim_history *history, uint32_t index)
{
    const plim_frame *const frame = plim_history_frame(history, index);
    return plim_frame_technique_of(plim_history_string(history, frame->filename, NULL),
                                   plim_history_string(history, frame->name, NULL));
}

/* Collectives and their buffers: called by a module's hooks, not by its forward(). */
static bool gathers(const plim_program_shape *shape, const uint8_t *of_frame, plim_stack stack)
{
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        const uint8_t technique = of_frame[stack.frames[i]];
        if (technique == PLIM_TECHNIQUE_SHARDING || technique == PLIM_TECHNIQUE_COLLECTIVES ||
            technique == PLIM_TECHNIQUE_GATHERING) {
            return true;
        }
        if (plim_frame_is_module_call(&shape->one->passes.stacks, stack.frames[i])) {
            return false;
        }
    }
    return false;
}

/* Reads what the stacks of a device's requests show. False: no memory. */
static bool read_stacks(plim_program_shape *shape)
{
    const plim_history *const history = shape->one->history;
    const plim_events *const events = &shape->one->device->events;
    const size_t stacks = plim_history_stack_count(history);
    const size_t frames = plim_history_frame_count(history);
    uint8_t *const of_frame = plim_mem_alloc_zeroed(shape->mem, stacks + frames + 1, 1);
    if (of_frame == NULL) {
        return false;
    }
    uint8_t *const is_read = of_frame + frames; /* by stack */
    for (size_t i = 0; i < frames; i++) {
        of_frame[i] = (uint8_t)technique_of(history, (uint32_t)i);
    }
    for (uint64_t i = 0; i < events->count; i++) {
        const uint32_t index = events->stack[i];
        if (events->action[i] != PLIM_ALLOC || index >= stacks || is_read[index] != 0) {
            continue;
        }
        is_read[index] = 1;
        const plim_stack stack = plim_history_stack(history, index);
        shape->is_gathered[index] = gathers(shape, of_frame, stack) ? 1 : 0;
        for (uint32_t k = 0; k < stack.frame_count; k++) {
            shape->seen |= PLIM_SEEN(of_frame[stack.frames[k]]);
        }
    }
    plim_mem_free(shape->mem, of_frame, stacks + frames + 1, 1);
    return true;
}

/* --- rounds --- */

static bool is_backward(plim_pass_kind kind)
{
    return kind == PLIM_PASS_BACKWARD || kind == PLIM_PASS_RECOMPUTE;
}

/* The forward pass that ends at `turn`, in the passes before number `pass`. */
static uint32_t forward_before(const plim_passes *passes, size_t pass, uint32_t start)
{
    for (size_t i = pass; i-- > 0 && passes->list.items[i].first >= start;) {
        if (passes->list.items[i].kind == PLIM_PASS_FORWARD) {
            return passes->list.items[i].first;
        }
    }
    return start;
}

/* After the last round: a forward pass that no backward pass follows. */
static bool add_rest(plim_program_shape *shape, uint32_t start)
{
    const plim_passes *const passes = &shape->one->passes;
    const uint32_t end = (uint32_t)passes->events->count;
    bool has_forward = false;
    for (size_t i = passes->list.count; i-- > 0 && passes->list.items[i].first >= start;) {
        has_forward = has_forward || passes->list.items[i].kind == PLIM_PASS_FORWARD;
    }
    if (!has_forward) {
        return true;
    }
    const plim_training_round round = { .start = start,
                                        .forward =
                                            forward_before(passes, passes->list.count, start),
                                        .turn = end,
                                        .back = end,
                                        .end = end };
    return PLIM_VEC_PUSH(shape->mem, &shape->rounds, round);
}

/* A forward pass that is trained with begins where something is made that its backward pass frees:
 * evaluation right before it makes nothing of the kind. */
static void part_evaluation(plim_program_shape *shape)
{
    const plim_events *const events = shape->one->passes.events;
    const uint32_t *const ended = shape->one->view.timeline.start.lifetimes.partner;
    for (size_t i = 0; i < shape->rounds.count; i++) {
        plim_training_round *const round = &shape->rounds.items[i];
        uint32_t first = round->forward;
        while (first < round->turn && (events->action[first] != PLIM_ALLOC ||
                                       ended[first] < round->turn || ended[first] >= round->back)) {
            first++;
        }
        if (first < round->turn) {
            round->forward = first;
        }
    }
}

static bool find_rounds(plim_program_shape *shape)
{
    const plim_passes *const passes = &shape->one->passes;
    uint32_t start = 0;
    bool is_begun = false;
    for (size_t i = 0; i < passes->list.count; i++) {
        const plim_pass *const pass = &passes->list.items[i];
        if (!is_begun && pass->kind != PLIM_PASS_SETUP && !is_backward(pass->kind)) {
            start = pass->first;
            is_begun = true;
        }
        if (pass->kind == PLIM_PASS_OPTIMIZER && shape->rounds.count > 0) {
            shape->rounds.items[shape->rounds.count - 1].end = pass->end;
            start = pass->end;
        }
        if (!is_begun || !is_backward(pass->kind) || pass->first < start) {
            continue;
        }
        const plim_training_round round = { .start = start,
                                            .forward = forward_before(passes, i, start),
                                            .turn = pass->first,
                                            .back = pass->backward_end,
                                            .end = pass->backward_end };
        if (!PLIM_VEC_PUSH(shape->mem, &shape->rounds, round)) {
            return false;
        }
        start = pass->backward_end;
    }
    part_evaluation(shape);
    return add_rest(shape, start);
}

/* A request for the loss of a batch failed before any backward pass. */
static bool fails_in_loss(const plim_program_shape *shape)
{
    bool fails = false;
    for (size_t i = 0; i < shape->one->findings.count && !shape->has_backward; i++) {
        fails = fails || shape->one->findings.items[i].cause == PLIM_CAUSE_LOGITS;
    }
    return fails;
}

/* --- all --- */

plim_status plim_program_shape_init(plim_program_shape *shape, plim_case *one,
                                    const plim_what_if *what_if, plim_error *err)
{
    *shape = (plim_program_shape){ .one = one,
                                   .mem = one->mem,
                                   .ids = plim_timeline_id_end(&one->view.timeline),
                                   .peak_event = what_if->peak_event,
                                   .stack_count = plim_history_stack_count(one->history),
                                   .has_backward = one->passes.has_backward,
                                   .has_optimizer = one->passes.has_optimizer };
    shape->plays = plim_mem_alloc_zeroed(one->mem, shape->ids + 1, 1);
    shape->is_gathered = plim_mem_alloc_zeroed(one->mem, shape->stack_count + 1, 1);
    if (shape->plays == NULL || shape->is_gathered == NULL || !read_stacks(shape) ||
        !find_rounds(shape) || !plim_program_find_blocks(shape) ||
        !plim_program_find_roles(shape, what_if->peak_event)) {
        plim_program_shape_deinit(shape);
        return plim_fail_memory(err, "working out what helps");
    }
    shape->keeps_graph = shape->keeps_graph || fails_in_loss(shape);
    for (size_t i = 0; i < shape->rounds.count; i++) {
        const plim_training_round *const round = &shape->rounds.items[i];
        shape->is_whole = shape->is_whole ||
                          (round->turn < round->back && round->back < one->device->events.count &&
                           what_if->peak_event < (int64_t)round->end);
    }
    return PLIM_OK;
}

void plim_program_shape_deinit(plim_program_shape *shape)
{
    if (shape->mem == NULL) {
        return;
    }
    plim_mem_free(shape->mem, shape->plays, shape->ids + 1, 1);
    plim_mem_free(shape->mem, shape->is_gathered, shape->stack_count + 1, 1);
    PLIM_VEC_FREE(shape->mem, &shape->rounds);
    PLIM_VEC_FREE(shape->mem, &shape->blocks);
    *shape = (plim_program_shape){ 0 };
}
