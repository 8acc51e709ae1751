/*
 * kept.c - see kept.h.
 */
#include "diagnose/roots/kept.h"

#include "base/map.h"

/* Rounds that are looked at closely, and allocations in each. */
#define ROUNDS_SAMPLED      4
#define ALLOCATIONS_SAMPLED 96
/* What one statement keeps stands together: of so many that follow, others of it are looked for. */
#define NEIGHBOURS 256

plim_allocation plim_kept_allocation(const plim_case *one, const plim_leak *leak, size_t index)
{
    return plim_timeline_allocation(&one->view.timeline, leak->ids[index]);
}

/* --- by stack --- */

/* True if the block lies in a private pool of a captured graph. */
static bool is_in_graph_pool(const plim_device_history *device, plim_addr addr)
{
    size_t low = 0;
    size_t high = device->segment_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (device->segments[middle].addr + device->segments[middle].bytes <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == device->segment_count || device->segments[low].addr > addr) {
        return false;
    }
    const plim_pool_id pool = device->segments[low].pool;
    return pool.a != 0; /* {n, 0}: a capture made it */
}

static void add_to_stack(plim_case *one, plim_kept_stack *row, const plim_allocation *made)
{
    const uint8_t category = one->view.categories.of[made->id];
    row->bytes += made->requested_bytes;
    row->count++;
    row->inputs += category == PLIM_CATEGORY_INPUTS;
    row->graded += category == PLIM_CATEGORY_GRADIENTS;
    if (made->requested_bytes > row->largest) {
        row->largest = made->requested_bytes;
    }
    if (made->freed == PLIM_NEVER && is_in_graph_pool(one->device, made->addr)) {
        row->in_pool += made->requested_bytes;
    }
}

static bool add_stack(plim_case *one, plim_leak_content *kept, uint32_t stack)
{
    if (kept->stack_count == kept->stack_capacity &&
        !plim_vec_room(kept->mem, &kept->stacks, &kept->stack_capacity, kept->stack_count,
                       sizeof *kept->stacks)) {
        return false;
    }
    kept->stacks[kept->stack_count++] =
        (plim_kept_stack){ .kind = plim_stack_kind_of(&one->passes.stacks, stack),
                           .stack = stack,
                           .line = plim_line_innermost(one, stack),
                           .part = PLIM_NONE };
    return true;
}

static bool group_by_stack(plim_case *one, const plim_leak *leak, plim_leak_content *kept)
{
    plim_map rows;
    plim_map_init(&rows, one->mem);
    bool is_done = true;
    for (size_t i = 0; is_done && i < leak->id_count; i++) {
        const plim_allocation made = plim_kept_allocation(one, leak, i);
        uint64_t row = plim_map_get(&rows, made.stack);
        if (row == PLIM_MAP_ABSENT) {
            row = kept->stack_count;
            is_done = plim_map_put(&rows, made.stack, row) && add_stack(one, kept, made.stack);
            if (!is_done) {
                break;
            }
        }
        kept->stack_of[i] = (uint32_t)row;
        kept->bytes += made.requested_bytes;
        add_to_stack(one, &kept->stacks[row], &made);
    }
    plim_map_deinit(&rows);
    return is_done;
}

/* --- rounds --- */

/* The next Python frame inside number `from`, or PLIM_NONE. */
static uint32_t next_inside(const plim_case *one, const plim_stack *frames, uint32_t from)
{
    for (uint32_t i = from; i-- > 0;) {
        if (plim_frame_is_python(&one->passes.stacks, frames->frames[i])) {
            return i;
        }
    }
    return PLIM_NONE;
}

/* The number of outermost Python frames that two stacks share, at most `most`. */
static uint32_t shared_frames(const plim_case *one, uint32_t left, uint32_t right, uint32_t most)
{
    const plim_stack a = plim_history_stack(one->history, left);
    const plim_stack b = plim_history_stack(one->history, right);
    uint32_t at = next_inside(one, &a, a.frame_count);
    uint32_t there = next_inside(one, &b, b.frame_count);
    uint32_t shared = 0;
    while (shared < most && at != PLIM_NONE && there != PLIM_NONE &&
           a.frames[at] == b.frames[there]) {
        shared++;
        at = next_inside(one, &a, at);
        there = next_inside(one, &b, there);
    }
    return shared;
}

/* The Python frame after `shared` of the outermost ones. */
static uint32_t frame_after(const plim_case *one, uint32_t stack, uint32_t shared)
{
    const plim_stack frames = plim_history_stack(one->history, stack);
    uint32_t at = next_inside(one, &frames, frames.frame_count);
    for (uint32_t i = 0; i < shared && at != PLIM_NONE; i++) {
        at = next_inside(one, &frames, at);
    }
    return at == PLIM_NONE ? PLIM_NONE : frames.frames[at];
}

static void find_parting(const plim_case *one, plim_leak_content *kept)
{
    const plim_kept_stack *first = NULL;
    uint32_t shared = UINT32_MAX;
    for (size_t i = 0; i < kept->stack_count; i++) {
        const plim_kept_stack *const row = &kept->stacks[i];
        if (row->line == PLIM_NONE) {
            continue;
        }
        if (first == NULL) {
            first = row;
        } else {
            shared = shared_frames(one, first->stack, row->stack, shared);
        }
    }
    for (size_t i = 0; i < kept->stack_count; i++) {
        if (kept->stacks[i].line != PLIM_NONE && shared != UINT32_MAX) {
            kept->stacks[i].part = frame_after(one, kept->stacks[i].stack, shared);
        }
    }
}

/* True if `next` comes before `last` in the program, so that a loop must have turned in between. */
static bool turns(const plim_case *one, uint32_t last, uint32_t next, uint32_t first)
{
    if (last == next || last == PLIM_NONE || next == PLIM_NONE) {
        return last != next && next == first;
    }
    const plim_frame *const from = plim_history_frame(one->history, last);
    const plim_frame *const to = plim_history_frame(one->history, next);
    if (from->filename == to->filename && from->name == to->name) {
        return to->line < from->line;
    }
    return next == first;
}

/* True if something else is requested between two that one stack made: its statement ended. */
static bool is_apart(const plim_case *one, const plim_leak *leak, const plim_leak_content *kept,
                     size_t index, plim_look *look)
{
    const plim_kept_stack *const row = &kept->stacks[kept->stack_of[index]];
    const int64_t from = plim_kept_allocation(one, leak, index - 1).born;
    const int64_t to = plim_kept_allocation(one, leak, index).born;
    const plim_events *const events = &one->device->events;
    for (int64_t i = from + 1; i < to && row->line != PLIM_NONE; i++) {
        if (look->left == 0) {
            return true;
        }
        look->left--;
        if (events->action[i] == PLIM_ALLOC &&
            !plim_line_same_statement(one, row->stack, row->line, events->stack[i])) {
            return true;
        }
    }
    return row->line == PLIM_NONE;
}

static void find_rounds(const plim_case *one, const plim_leak *leak, plim_leak_content *kept,
                        plim_look *look)
{
    size_t first = SIZE_MAX; /* row of the first framed stack of the round */
    size_t last = SIZE_MAX;
    bool has_parts = false;
    for (size_t i = 0; i < kept->stack_count; i++) {
        has_parts = has_parts || kept->stacks[i].part != kept->stacks[0].part;
    }
    for (size_t i = 0; i < leak->id_count; i++) {
        const size_t row = kept->stack_of[i];
        if (kept->stacks[row].line == PLIM_NONE && kept->stack_count > 1) {
            continue;
        }
        if (last != SIZE_MAX && (has_parts ? turns(one, kept->stacks[last].part,
                                                   kept->stacks[row].part, kept->stacks[first].part)
                                           : row == first && is_apart(one, leak, kept, i, look))) {
            kept->round_ends[kept->round_count++] = i;
            first = row;
        }
        first = first == SIZE_MAX ? row : first;
        last = row;
    }
    kept->round_ends[kept->round_count++] = leak->id_count;
}

static size_t round_start(const plim_leak_content *kept, size_t round)
{
    return round == 0 ? 0 : kept->round_ends[round - 1];
}

/* The last that a forward pass of the round keeps, with what the program's own code makes of it
 * before the pass ends; without a forward pass, the last of all. */
static size_t last_of_forward(const plim_case *one, const plim_leak *leak,
                              const plim_leak_content *kept, size_t round)
{
    const size_t end = kept->round_ends[round];
    size_t last = SIZE_MAX;
    size_t last_of_users = end - 1;
    for (size_t i = round_start(kept, round); i < end; i++) {
        const plim_stack_kind kind = kept->stacks[kept->stack_of[i]].kind;
        last = kind == PLIM_STACK_FORWARD ? i : last;
        last_of_users = kind == PLIM_STACK_USER ? i : last_of_users;
    }
    if (last == SIZE_MAX) {
        return last_of_users;
    }
    const int64_t born = plim_kept_allocation(one, leak, last).born;
    const uint64_t pass_end =
        born < 0 ? 0 : one->passes.list.items[plim_pass_of(one, (uint64_t)born)].end;
    for (size_t i = last + 1; i < end; i++) {
        const bool is_users = kept->stacks[kept->stack_of[i]].kind == PLIM_STACK_USER;
        const plim_allocation made = plim_kept_allocation(one, leak, i);
        /* Indices and flags have no history; a loss is one number. */
        const bool is_small =
            made.requested_bytes <= PLIM_SMALLEST_BLOCK && made.requested_bytes > PLIM_SCALAR_BYTES;
        if (is_users && !is_small && made.born < (int64_t)pass_end) {
            last = i;
        }
    }
    return last;
}

/* --- a closer look at some rounds --- */

static void look_at(plim_case *one, const plim_leak *leak, plim_leak_content *kept, size_t index,
                    size_t round_end, plim_look *look)
{
    plim_kept_stack *const row = &kept->stacks[kept->stack_of[index]];
    const bool is_looked_at = row->kind == PLIM_STACK_FORWARD || row->kind == PLIM_STACK_USER;
    const plim_allocation made = plim_kept_allocation(one, leak, index);
    if (!is_looked_at || row->line == PLIM_NONE || made.born < 0) {
        return;
    }
    row->sampled++;
    const bool is_result = plim_is_result(one, &made, row->line, look);
    row->results += is_result;
    const uint32_t call = plim_line_module_call(one, row->stack, row->line);
    row->returned += call != PLIM_NONE && plim_is_result(one, &made, call, look);
    const uint32_t outside = plim_line_outside_model(one, row->stack, row->line);
    row->outputs += outside != row->line && plim_is_result(one, &made, outside, look);
    size_t last = index;
    for (size_t i = index + 1; i < round_end && i <= index + NEIGHBOURS; i++) {
        if (plim_line_same_statement(one, row->stack, row->line,
                                     kept->stacks[kept->stack_of[i]].stack)) {
            last = i;
        }
    }
    /* Of several in one statement each may be a result, unless it ends in one number. */
    const bool is_number =
        plim_kept_allocation(one, leak, last).requested_bytes <= PLIM_SCALAR_BYTES;
    row->open +=
        !is_result && (last == index || (is_number && made.requested_bytes > PLIM_SCALAR_BYTES));
}

static bool is_computed(const plim_case *one, uint32_t stack)
{
    const plim_stack_kind kind = plim_stack_kind_of(&one->passes.stacks, stack);
    return kind == PLIM_STACK_FORWARD || kind == PLIM_STACK_USER;
}

/* True if a backward pass that begins at `backward` frees a forward pass's tensor of [from, to). */
static bool releases(const plim_case *one, uint64_t from, uint64_t to, const plim_pass *backward,
                     plim_look *look)
{
    const plim_events *const events = &one->device->events;
    for (uint64_t i = from; i < to && look->left > 0; i++, look->left--) {
        if (events->action[i] != PLIM_ALLOC || !is_computed(one, events->stack[i])) {
            continue;
        }
        const int64_t freed =
            plim_timeline_allocation(&one->view.timeline,
                                     plim_timeline_recorded_id(&one->view.timeline, i))
                .freed;
        if (freed >= (int64_t)backward->first && freed < (int64_t)backward->backward_end) {
            return true;
        }
    }
    return false;
}

/* True if a forward pass's tensor of [born + 1, the backward pass), no number, outlives that pass
 * and is freed in the next turn: by `until` the next round has come as far. */
static bool carries(const plim_case *one, uint64_t born, uint64_t until, const plim_pass *backward,
                    plim_look *look)
{
    const plim_events *const events = &one->device->events;
    const int64_t turn_end = (int64_t)(until + (until - born));
    for (uint64_t i = born + 1; i < backward->first && look->left > 0; i++, look->left--) {
        if (events->action[i] != PLIM_ALLOC || !is_computed(one, events->stack[i]) ||
            events->bytes[i] <= PLIM_SCALAR_BYTES) {
            continue;
        }
        const int64_t freed =
            plim_timeline_allocation(&one->view.timeline,
                                     plim_timeline_recorded_id(&one->view.timeline, i))
                .freed;
        if (freed >= (int64_t)backward->backward_end && freed < turn_end) {
            return true;
        }
    }
    return false;
}

/* Looks for the backward pass after the last that a round keeps, before event `until`. */
static void look_for_backward(const plim_case *one, uint64_t born, uint64_t until,
                              plim_leak_content *kept, plim_look *look)
{
    const size_t count = one->passes.list.count;
    const plim_pass *const passes = one->passes.list.items;
    const size_t forward = plim_pass_of(one, born);
    size_t pass = forward;
    while (pass < count && passes[pass].first < until && passes[pass].kind != PLIM_PASS_BACKWARD) {
        pass++;
    }
    if (pass == count || passes[pass].first >= until) {
        return;
    }
    kept->rounds_with_backward++;
    for (size_t i = pass; i < count && passes[i].first < until; i++) {
        kept->backward_passes += passes[i].kind == PLIM_PASS_BACKWARD;
    }
    kept->rounds_carried += carries(one, born, until, &passes[pass], look);
    if (releases(one, passes[forward].first, born, &passes[pass], look)) {
        kept->rounds_released++;
    } else if (releases(one, born, passes[pass].first, &passes[pass], look)) {
        kept->rounds_passed_by++;
    }
}

/* Counts what a round's forward pass requests from the first that it keeps to the last. */
static void count_computed(const plim_case *one, const plim_leak *leak, plim_leak_content *kept,
                           size_t round, plim_look *look)
{
    int64_t first = PLIM_NEVER;
    const int64_t last = plim_kept_allocation(one, leak, kept->last_of[round]).born;
    for (size_t i = round_start(kept, round); i <= kept->last_of[round]; i++) {
        const plim_kept_stack *const row = &kept->stacks[kept->stack_of[i]];
        const int64_t born = plim_kept_allocation(one, leak, i).born;
        if (first == PLIM_NEVER && row->kind == PLIM_STACK_FORWARD && born >= 0) {
            first = born;
        }
        kept->computed_kept += first != PLIM_NEVER && is_computed(one, row->stack);
    }
    const plim_events *const events = &one->device->events;
    for (int64_t i = first; i <= last && look->left > 0; i++, look->left--) {
        kept->computed += events->action[i] == PLIM_ALLOC && is_computed(one, events->stack[i]);
    }
}

static void sample_rounds(plim_case *one, const plim_leak *leak, plim_leak_content *kept,
                          plim_look *look)
{
    const size_t count = kept->round_count;
    /* The last one may be torn. */
    const size_t end = count > 1 ? count - 1 : count;
    const size_t begin = end > ROUNDS_SAMPLED ? end - ROUNDS_SAMPLED : 0;
    for (size_t round = begin; round < end; round++) {
        const size_t from = round_start(kept, round);
        const size_t size = kept->round_ends[round] - from;
        const size_t stride = size / ALLOCATIONS_SAMPLED + 1;
        for (size_t i = from; i < kept->round_ends[round]; i += stride) {
            look_at(one, leak, kept, i, kept->round_ends[round], look);
        }
        kept->sampled_rounds++;
        count_computed(one, leak, kept, round, look);
        const int64_t born = plim_kept_allocation(one, leak, kept->last_of[round]).born;
        uint64_t until = one->device->events.count;
        if (round + 1 < count) {
            const int64_t next = plim_kept_allocation(one, leak, kept->last_of[round + 1]).born;
            until = next > 0 ? (uint64_t)next : 0;
        }
        if (born >= 0) {
            look_for_backward(one, (uint64_t)born, until, kept, look);
        }
    }
}

void plim_kept_deinit(plim_leak_content *kept)
{
    if (kept->mem == NULL) {
        return;
    }
    plim_mem_free(kept->mem, kept->stacks, kept->stack_capacity, sizeof *kept->stacks);
    plim_mem_free(kept->mem, kept->stack_of, kept->id_count, sizeof *kept->stack_of);
    plim_mem_free(kept->mem, kept->round_ends, kept->id_count, sizeof *kept->round_ends);
    plim_mem_free(kept->mem, kept->last_of, kept->id_count, sizeof *kept->last_of);
    *kept = (plim_leak_content){ 0 };
}

bool plim_kept_find(plim_case *one, const plim_leak *leak, plim_look *look,
                    plim_leak_content *ret_kept)
{
    const size_t count = leak->id_count;
    *ret_kept = (plim_leak_content){ .mem = one->mem, .id_count = count };
    plim_leak_content *const kept = ret_kept;
    kept->stack_of = plim_mem_alloc(one->mem, count, sizeof *kept->stack_of);
    kept->round_ends = plim_mem_alloc(one->mem, count, sizeof *kept->round_ends);
    kept->last_of = plim_mem_alloc(one->mem, count, sizeof *kept->last_of);
    if (kept->stack_of == NULL || kept->round_ends == NULL || kept->last_of == NULL ||
        !group_by_stack(one, leak, kept)) {
        return false;
    }
    find_parting(one, kept);
    find_rounds(one, leak, kept, look);
    for (size_t round = 0; round < kept->round_count; round++) {
        kept->last_of[round] = last_of_forward(one, leak, kept, round);
        kept->stacks[kept->stack_of[kept->last_of[round]]].last++;
    }
    sample_rounds(one, leak, kept, look);
    return true;
}
