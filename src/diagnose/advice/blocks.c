/*
 * blocks.c - the repeated blocks of a forward pass: layers that request the same, in the same
 * order.
 *
 *   request   e  a b c d  a b c d  a b c d  n h l
 *   before            4 4 4 4  4 4 4 4              how far back the same request stands
 *
 * A request is its stack and its size. The distance that most have is the length of a block; where
 * it holds without a break are blocks. Where a block begins in such a run its outermost frame that
 * varies says: the line numbers of a function fall where it is called again.
 */
#include "diagnose/advice/program.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"

#define BLOCK_REQUESTS_MIN 4u /* in one block: fewer repeat by chance */
#define LENGTHS_TRIED      3u
#define LOOKS_PER_REQUEST  16u
#define ROUNDS_LEARNT      8u   /* shapes may vary from batch to batch */
#define SAVED_BY_GRAPH_MIN 5u   /* requests of a block: a cache of keys and values keeps two */
#define PATTERNS_MAX       64u  /* kinds of blocks in one program */
#define OUTPUT_SHARE       512u /* of the largest that a block saves is its output, at the least */
#define EVENTS_BACK_MAX    4096 /* looked at for where a block's backward pass begins */

typedef struct forward_requests {
    const plim_program_shape *shape;
    const plim_training_round *round;
    uint32_t *events;
    uint64_t *kinds;   /* stack and size of each, as one number */
    uint32_t *lengths; /* how often each distance is met */
    size_t count;
    size_t room;
    size_t looks; /* left for where blocks end, so that no file costs the square of its length */
} forward_requests;

static bool requests_init(forward_requests *all, const plim_program_shape *shape,
                          const plim_training_round *round)
{
    const plim_events *const events = &shape->one->device->events;
    size_t room = 1;
    for (uint32_t i = round->forward; i < round->turn; i++) {
        room += events->action[i] == PLIM_ALLOC ? 1u : 0u;
    }
    *all = (forward_requests){
        .shape = shape, .round = round, .room = room, .looks = LOOKS_PER_REQUEST * room
    };
    all->events = plim_mem_alloc(shape->mem, room, sizeof *all->events);
    all->kinds = plim_mem_alloc(shape->mem, room, sizeof *all->kinds);
    all->lengths = plim_mem_alloc_zeroed(shape->mem, room, sizeof *all->lengths);
    if (all->events == NULL || all->kinds == NULL || all->lengths == NULL) {
        return false;
    }
    uint64_t before = 0;
    uint64_t repeats = 0;
    for (uint32_t i = round->forward; i < round->turn; i++) {
        if (events->action[i] != PLIM_ALLOC) {
            continue;
        }
        const uint64_t kind = plim_hash_u64(events->bytes[i], events->stack[i]);
        repeats = kind == before ? repeats + 1
                                 : 0; /* several alike in a row are distinguished by number */
        before = kind;
        all->events[all->count] = i;
        all->kinds[all->count++] = kind + repeats;
    }
    return true;
}

static void requests_deinit(forward_requests *all)
{
    const plim_mem *const mem = all->shape->mem;
    plim_mem_free(mem, all->events, all->room, sizeof *all->events);
    plim_mem_free(mem, all->kinds, all->room, sizeof *all->kinds);
    plim_mem_free(mem, all->lengths, all->room, sizeof *all->lengths);
}

static bool count_lengths(forward_requests *all)
{
    plim_map last;
    plim_map_init(&last, all->shape->mem);
    bool has_memory = true;
    for (size_t i = 0; i < all->count && has_memory; i++) {
        const uint64_t before = plim_map_get(&last, all->kinds[i]);
        if (before != PLIM_MAP_ABSENT) {
            all->lengths[i - before]++;
        }
        has_memory = plim_map_put(&last, all->kinds[i], i);
    }
    plim_map_deinit(&last);
    return has_memory;
}

/* The end of the run of requests, from `from` on, that each stand `length` after the same one. */
static size_t run_end(const forward_requests *all, size_t from, size_t length)
{
    while (from < all->count && all->kinds[from] == all->kinds[from - length]) {
        from++;
    }
    return from;
}

/* Requests that lie in blocks of a length. */
static size_t covered_by(const forward_requests *all, size_t length)
{
    size_t covered = 0;
    for (size_t i = length; i < all->count;) {
        const size_t end = run_end(all, i, length);
        covered += end - i >= length ? end - i : 0;
        i = end + 1;
    }
    return covered;
}

/* The length of a block, or 0. Of the distances met most often, the one that covers most. */
static size_t find_length(forward_requests *all)
{
    size_t best = 0;
    size_t most = 0;
    for (size_t tried = 0; tried < LENGTHS_TRIED; tried++) {
        size_t length = 0;
        for (size_t i = BLOCK_REQUESTS_MIN; i < all->count; i++) {
            if (all->lengths[i] > (length > 0 ? all->lengths[length] : 0)) {
                length = i;
            }
        }
        if (length == 0) {
            break;
        }
        const size_t covered = covered_by(all, length);
        if (covered > most) {
            most = covered;
            best = length;
        }
        all->lengths[length] = 0;
    }
    return best;
}

/* --- where a block begins --- */

static plim_stack stack_of(const forward_requests *all, size_t request)
{
    const plim_case *const one = all->shape->one;
    const uint32_t stack = one->device->events.stack[all->events[request]];
    return stack < plim_history_stack_count(one->history) ? plim_history_stack(one->history, stack)
                                                          : (plim_stack){ 0 };
}

/* Frame number `depth` of a stack, from the outermost; PLIM_NONE beyond the last. */
static uint32_t frame_at(plim_stack stack, uint32_t depth)
{
    return depth < stack.frame_count ? stack.frames[stack.frame_count - 1 - depth] : PLIM_NONE;
}

/* The line of the outermost frame that varies within a block, at a request; 0: not known. */
static uint32_t line_at(const forward_requests *all, size_t request, uint32_t depth)
{
    const uint32_t frame = frame_at(stack_of(all, request), depth);
    return frame == PLIM_NONE ? 0 : plim_history_frame(all->shape->one->history, frame)->line;
}

static uint32_t common_depth(const forward_requests *all, size_t from, size_t length)
{
    const plim_stack first = stack_of(all, from);
    uint32_t depth = first.frame_count;
    for (size_t i = from + 1; i < from + length; i++) {
        const plim_stack other = stack_of(all, i);
        uint32_t common = 0;
        while (common < depth && frame_at(other, common) == frame_at(first, common)) {
            common++;
        }
        depth = common;
    }
    return depth;
}

/* The first request of a block, in a run that begins at `from` anywhere in one. */
static size_t align(const forward_requests *all, size_t from, size_t length)
{
    const uint32_t depth = common_depth(all, from, length);
    for (size_t i = from + 1; i < from + length; i++) {
        if (line_at(all, i, depth) < line_at(all, i - 1, depth)) {
            /* From its first line to its last it is the run's own. */
            return line_at(all, from, depth) > line_at(all, from + length - 1, depth) ? i : from;
        }
    }
    return from;
}

/* --- one block --- */

static int64_t freed_of(const plim_case *one, uint32_t event)
{
    const uint32_t ended = one->view.timeline.start.lifetimes.partner[event];
    return ended == PLIM_NONE ? PLIM_NEVER : (int64_t)ended;
}

/* The last moment before `event` at which something from the forward pass was freed: there the
 * backward pass of what comes later ends. */
static uint32_t begin_of_backward(const plim_case *one, const plim_training_round *round,
                                  int64_t event)
{
    for (int64_t i = event - 1; i >= (int64_t)round->turn && event - i < EVENTS_BACK_MAX; i--) {
        const uint64_t about = plim_timeline_about(&one->view.timeline, (uint64_t)i);
        if (one->device->events.action[i] != PLIM_ALLOC && about != PLIM_NO_ALLOCATION &&
            about < plim_timeline_recorded_id(&one->view.timeline, round->turn)) {
            return (uint32_t)i;
        }
    }
    return event > (int64_t)round->turn ? (uint32_t)event - 1 : round->turn;
}

static plim_block_span measure(const forward_requests *all, size_t from, size_t to)
{
    const plim_case *const one = all->shape->one;
    const plim_events *const events = &one->device->events;
    plim_block_span block = { .first = all->events[from],
                              .end = to < all->count ? all->events[to] : all->round->turn,
                              .again = PLIM_NONE,
                              .output = PLIM_NONE };
    uint64_t stays = 0;
    uint64_t live = 0;
    uint64_t most = 0;
    uint64_t largest = 0;
    int64_t soonest = PLIM_NEVER;
    for (uint32_t i = block.first; i < block.end; i++) {
        if (events->action[i] != PLIM_ALLOC) {
            const uint32_t made = one->view.timeline.start.lifetimes.partner[i];
            if (made != PLIM_NONE && made >= block.first && made < i &&
                one->view.timeline.start.lifetimes.partner[made] == i) {
                live -= events->bytes[made] < live ? events->bytes[made] : live;
            }
            continue;
        }
        live += events->bytes[i];
        most = live > most ? live : most;
        if (freed_of(one, i) < (int64_t)all->round->turn) {
            continue;
        }
        stays += events->bytes[i];
        largest = events->bytes[i] > largest ? events->bytes[i] : largest;
        block.output = events->bytes[i] >= largest / OUTPUT_SHARE ? i : block.output;
        if (freed_of(one, i) < soonest) {
            soonest = freed_of(one, i);
        }
    }
    block.extra_bytes = most > stays ? most - stays : 0;
    if (soonest < (int64_t)all->round->back) {
        block.again = begin_of_backward(one, all->round, soonest);
    }
    return block;
}

/* Blocks of one kind begin and end with the same requests in every round. */
typedef struct block_pattern {
    uint64_t first;
    uint64_t last;
    size_t length;
} block_pattern;

typedef struct block_patterns {
    block_pattern items[PATTERNS_MAX];
    size_t count;
} block_patterns;

static void add_pattern(block_patterns *patterns, const forward_requests *all, size_t from,
                        size_t length)
{
    const block_pattern pattern = { .first = all->kinds[from],
                                    .last = all->kinds[from + length - 1],
                                    .length = length };
    for (size_t i = 0; i < patterns->count; i++) {
        if (patterns->items[i].first == pattern.first && patterns->items[i].last == pattern.last) {
            return;
        }
    }
    if (patterns->count < PATTERNS_MAX) {
        patterns->items[patterns->count++] = pattern;
    }
}

/* Learns what blocks look like from the requests of a round. */
static void learn_patterns(block_patterns *patterns, const forward_requests *all, size_t length)
{
    for (size_t i = length; i < all->count;) {
        const size_t end = run_end(all, i, length);
        const size_t begin = end - i >= length ? align(all, i - length, length) : end;
        if (begin + length <= end) {
            add_pattern(patterns, all, begin, length);
        }
        i = end + 1;
    }
}

/* The end of the block that begins at `from`; `from` where none begins. The first batch requests
 * workspaces too, so that a block may have more requests then. */
static size_t block_end(const block_patterns *patterns, forward_requests *all, size_t from)
{
    for (size_t k = 0; k < patterns->count; k++) {
        const block_pattern *const pattern = &patterns->items[k];
        if (all->kinds[from] != pattern->first) {
            continue;
        }
        const size_t longest = from + pattern->length + pattern->length / 2;
        for (size_t i = from + pattern->length / 2; i < longest && i < all->count && all->looks > 0;
             i++, all->looks--) {
            if (all->kinds[i] == pattern->last) {
                return i + 1;
            }
        }
    }
    return from;
}

static bool add_blocks(plim_program_shape *shape, forward_requests *all,
                       const block_patterns *patterns)
{
    uint32_t number = 0;
    for (size_t i = 0; i < all->count;) {
        const size_t end = block_end(patterns, all, i);
        if (end == i) {
            i++;
            continue;
        }
        plim_block_span block = measure(all, i, end);
        block.round = (uint32_t)(all->round - shape->rounds.items);
        block.number = number++;
        if (!PLIM_VEC_PUSH(shape->mem, &shape->blocks, block)) {
            return false;
        }
        i = end;
    }
    return true;
}

/* Learns from the first rounds. False: no memory. */
static bool find_patterns(plim_program_shape *shape, block_patterns *patterns)
{
    for (size_t i = 0; i < shape->rounds.count && i < ROUNDS_LEARNT; i++) {
        forward_requests all;
        bool has_memory = requests_init(&all, shape, &shape->rounds.items[i]);
        if (has_memory && all.count >= 2 * (size_t)BLOCK_REQUESTS_MIN) {
            has_memory = count_lengths(&all);
            const size_t length = has_memory ? find_length(&all) : 0;
            if (length > 0) {
                learn_patterns(patterns, &all, length);
            }
        }
        requests_deinit(&all);
        if (!has_memory) {
            return false;
        }
    }
    return true;
}

/* The requests of a block that stay after it. */
static size_t count_saved(const plim_case *one, const plim_block_span *block, uint32_t turn)
{
    size_t saved = 0;
    for (uint32_t i = block->first; i < block->end; i++) {
        saved += one->device->events.action[i] == PLIM_ALLOC && freed_of(one, i) >= (int64_t)turn
                     ? 1u
                     : 0u;
    }
    return saved;
}

static bool find_graph(const plim_program_shape *shape)
{
    bool keeps =
        shape->blocks.count > 0 && !shape->has_backward && shape->one->facts->oom_count > 0;
    for (size_t i = 0; i < shape->blocks.count && keeps; i++) {
        const plim_block_span *const block = &shape->blocks.items[i];
        keeps = count_saved(shape->one, block, shape->rounds.items[block->round].turn) >=
                SAVED_BY_GRAPH_MIN;
    }
    return keeps;
}

bool plim_program_find_blocks(plim_program_shape *shape)
{
    block_patterns patterns = { .count = 0 };
    bool has_memory = find_patterns(shape, &patterns);
    for (size_t i = 0; i < shape->rounds.count && has_memory && patterns.count > 0; i++) {
        forward_requests all;
        has_memory = requests_init(&all, shape, &shape->rounds.items[i]) &&
                     add_blocks(shape, &all, &patterns);
        requests_deinit(&all);
    }
    for (size_t i = 0; i < shape->blocks.count; i++) {
        const uint32_t output = shape->blocks.items[i].output;
        const uint64_t bytes = output != PLIM_NONE ? shape->one->device->events.bytes[output] : 0;
        shape->output_bytes = bytes > shape->output_bytes ? bytes : shape->output_bytes;
    }
    shape->keeps_graph = find_graph(shape);
    return has_memory;
}
