/*
 * levels.c - see levels.h.
 */
#include "diagnose/leaks/levels.h"

#include "base/error.h"

/* Sizes beyond it are a file's mistake; sums of them stay sums. */
#define BYTES_MAX (UINT64_C(1) << 48)

/* Stands for the sizes that are rare. */
#define RARE_KEY (UINT64_C(1) << 46)
/* A size is rare that comes in less than one of so many steps, or less often than RARE_MIN. */
#define RARE_SHARE 4
#define RARE_MIN   3

typedef PLIM_VEC(uint32_t) group_list;

/* One walk over the events. */
typedef struct level_walk {
    plim_levels *levels;
    group_list touched; /* in this step */
    group_list moved;   /* whose level at its end is not their floor: the next floor differs */
    uint32_t step;      /* of the axis; the first one while it has not begun */
    size_t next_displacement;
} level_walk;

/* --- groups --- */

static bool is_rare_size(const plim_levels *levels, uint64_t event)
{
    const uint64_t bytes = levels->one->device->events.bytes[event];
    return plim_map_get(&levels->sizes, bytes >> 1) < levels->rare;
}

/* Streams are few; sizes speak only where there is no stack, and only those that come again. */
static uint64_t other_key(const plim_levels *levels, uint64_t event)
{
    const plim_events *const events = &levels->one->device->events;
    const uint64_t stream = (uint64_t)events->stream[event] << 48;
    const uint64_t bytes = events->bytes[event];
    if (events->stack[event] != PLIM_NONE) {
        return stream ^ events->stack[event] ^ (UINT64_C(1) << 47);
    }
    return is_rare_size(levels, event) ? stream ^ RARE_KEY : stream ^ (bytes & (RARE_KEY - 1));
}

static bool is_plain(const plim_events *events, uint64_t event)
{
    return events->stack[event] != PLIM_NONE && events->stream[event] == 0;
}

uint32_t plim_levels_group(const plim_levels *levels, uint64_t event)
{
    const plim_events *const events = &levels->one->device->events;
    if (is_plain(events, event)) {
        return levels->of_stack[events->stack[event]] - 1;
    }
    return (uint32_t)plim_map_get(&levels->of_other, other_key(levels, event));
}

/* The group of an alloc, made if it is new; PLIM_NONE: no memory. */
static uint32_t group_of(plim_levels *levels, uint64_t event)
{
    const plim_events *const events = &levels->one->device->events;
    const uint32_t fresh = (uint32_t)levels->groups.count;
    if (is_plain(events, event)) {
        uint32_t *const of_stack = &levels->of_stack[events->stack[event]];
        if (*of_stack != 0) {
            return *of_stack - 1;
        }
        *of_stack = fresh + 1;
    } else {
        const uint64_t key = other_key(levels, event);
        const uint64_t found = plim_map_get(&levels->of_other, key);
        if (found != PLIM_MAP_ABSENT) {
            return (uint32_t)found;
        }
        if (!plim_map_put(&levels->of_other, key, fresh)) {
            return PLIM_NONE;
        }
    }
    const bool has_stack = events->stack[event] != PLIM_NONE;
    const plim_level group = { .last_floor = PLIM_NONE,
                               .has_stack = has_stack,
                               .is_rare = !has_stack && is_rare_size(levels, event) };
    return PLIM_VEC_PUSH(levels->one->mem, &levels->groups, group) ? fresh : PLIM_NONE;
}

/* --- floors --- */

/* Writes down the floor of a group in the step that ends. */
static bool close_floor(level_walk *walk, uint32_t index)
{
    plim_levels *const levels = walk->levels;
    plim_level *const group = &levels->groups.items[index];
    const uint32_t last = group->last_floor;
    const plim_floor before =
        last != PLIM_NONE ? levels->floors.items[last] : (plim_floor){ .before = PLIM_NONE };
    if (group->floor_bytes == before.bytes && group->floor_count == before.count) {
        return true;
    }
    const plim_floor floor = {
        .bytes = group->floor_bytes, .count = group->floor_count, .step = walk->step, .before = last
    };
    if (!PLIM_VEC_PUSH(levels->one->mem, &levels->floors, floor)) {
        return false;
    }
    group->last_floor = (uint32_t)(levels->floors.count - 1);
    return true;
}

/* Notes that something happens to a group in this step, before it does. */
static bool touch(level_walk *walk, uint32_t index)
{
    plim_level *const group = &walk->levels->groups.items[index];
    if (group->touched == walk->step + 1) {
        return true;
    }
    group->touched = walk->step + 1;
    group->floor_bytes = group->bytes;
    group->floor_count = group->count;
    return PLIM_VEC_PUSH(walk->levels->one->mem, &walk->touched, index);
}

/* Ends a step: floors are written down, and those that will differ in the next one are noted. */
static bool close_step(level_walk *walk)
{
    const plim_mem *const mem = walk->levels->one->mem;
    walk->moved.count = 0;
    for (size_t i = 0; i < walk->touched.count; i++) {
        const uint32_t index = walk->touched.items[i];
        const plim_level *const group = &walk->levels->groups.items[index];
        if (!close_floor(walk, index) ||
            ((group->bytes != group->floor_bytes || group->count != group->floor_count) &&
             !PLIM_VEC_PUSH(mem, &walk->moved, index))) {
            return false;
        }
    }
    walk->touched.count = 0;
    walk->step++;
    for (size_t i = 0; i < walk->moved.count; i++) {
        if (!touch(walk, walk->moved.items[i])) {
            return false;
        }
    }
    return true;
}

/* --- events --- */

static uint64_t size_of(const plim_levels *levels, uint64_t event)
{
    const uint64_t bytes = levels->one->device->events.bytes[event];
    return bytes < BYTES_MAX ? bytes : BYTES_MAX;
}

static bool begin(level_walk *walk, uint64_t event)
{
    const uint32_t index = group_of(walk->levels, event);
    if (index == PLIM_NONE || !touch(walk, index)) {
        return false;
    }
    plim_level *const group = &walk->levels->groups.items[index];
    group->bytes += size_of(walk->levels, event);
    group->count++;
    return true;
}

/* Ends what the alloc `event` began. */
static bool end(level_walk *walk, uint64_t event)
{
    const uint32_t index = plim_levels_group(walk->levels, event);
    if (!touch(walk, index)) {
        return false;
    }
    plim_level *const group = &walk->levels->groups.items[index];
    group->bytes -= size_of(walk->levels, event);
    group->count--;
    if (group->count <= group->floor_count) {
        group->floor_count = group->count;
    }
    if (group->bytes < group->floor_bytes) {
        group->floor_bytes = group->bytes;
    }
    return true;
}

/* Ends what is displaced by an alloc, if anything is. */
static bool end_displaced(level_walk *walk, uint64_t event)
{
    const plim_lifetimes *const lifetimes = &walk->levels->one->view.timeline.start.lifetimes;
    if (walk->next_displacement == lifetimes->displacements.count ||
        lifetimes->displacements.items[walk->next_displacement].event != event) {
        return true;
    }
    const uint32_t displaced = lifetimes->displacements.items[walk->next_displacement++].displaced;
    return walk->levels->one->device->events.action[displaced] != PLIM_ALLOC ||
           end(walk, displaced);
}

static bool walk_events(level_walk *walk)
{
    const plim_levels *const levels = walk->levels;
    const plim_lifetimes *const lifetimes = &levels->one->view.timeline.start.lifetimes;
    const plim_events *const events = &levels->one->device->events;
    for (uint64_t i = 0; i < levels->end_event; i++) {
        while (i >= levels->axis.first_events[walk->step + 1]) {
            if (!close_step(walk)) {
                return false;
            }
        }
        if (events->action[i] == PLIM_ALLOC) {
            if (!end_displaced(walk, i) || !begin(walk, i)) {
                return false;
            }
        } else if (plim_ends_allocation(lifetimes->halves, events->action[i]) &&
                   lifetimes->partner[i] != PLIM_NONE && !end(walk, lifetimes->partner[i])) {
            return false;
        }
    }
    return close_step(walk);
}

/* Counts how often each size comes without a stack. Halves of sizes are keys, as one number is not
 * allowed. */
static bool count_sizes(plim_levels *levels)
{
    const plim_events *const events = &levels->one->device->events;
    for (uint64_t i = 0; i < levels->end_event; i++) {
        if (events->action[i] != PLIM_ALLOC || events->stack[i] != PLIM_NONE) {
            continue;
        }
        const uint64_t key = events->bytes[i] >> 1;
        const uint64_t count = plim_map_get(&levels->sizes, key);
        if (!plim_map_put(&levels->sizes, key, count == PLIM_MAP_ABSENT ? 1 : count + 1)) {
            return false;
        }
    }
    return true;
}

plim_status plim_levels_init(plim_levels *levels, const plim_case *one, plim_axis axis,
                             plim_error *err)
{
    const uint64_t last = axis.first_events[axis.count];
    const uint64_t end_event =
        last <= one->passes.last_request ? last : (uint64_t)one->passes.last_request + 1;
    *levels = (plim_levels){ .one = one, .axis = axis, .end_event = end_event };
    const uint64_t rare = (uint64_t)axis.count / RARE_SHARE;
    levels->rare = rare > RARE_MIN ? rare : RARE_MIN;
    plim_map_init(&levels->of_other, one->mem);
    plim_map_init(&levels->sizes, one->mem);
    const size_t stacks = plim_history_stack_count(one->history);
    if (stacks > 0) {
        levels->of_stack = plim_mem_alloc_zeroed(one->mem, stacks, sizeof *levels->of_stack);
        if (levels->of_stack == NULL) {
            return plim_fail_memory(err, "following groups of allocations");
        }
    }
    level_walk walk = { .levels = levels };
    const bool is_done = count_sizes(levels) && walk_events(&walk);
    PLIM_VEC_FREE(one->mem, &walk.touched);
    PLIM_VEC_FREE(one->mem, &walk.moved);
    return is_done ? PLIM_OK : plim_fail_memory(err, "following groups of allocations");
}

void plim_levels_deinit(plim_levels *levels)
{
    if (levels->one == NULL) {
        return;
    }
    const plim_mem *const mem = levels->one->mem;
    plim_mem_free(mem, levels->of_stack, plim_history_stack_count(levels->one->history),
                  sizeof *levels->of_stack);
    plim_map_deinit(&levels->of_other);
    plim_map_deinit(&levels->sizes);
    PLIM_VEC_FREE(mem, &levels->groups);
    PLIM_VEC_FREE(mem, &levels->floors);
    *levels = (plim_levels){ 0 };
}

/* --- allocations --- */

bool plim_levels_stays(const plim_levels *levels, uint64_t event)
{
    const uint32_t partner = levels->one->view.timeline.start.lifetimes.partner[event];
    return partner == PLIM_NONE || partner > levels->one->passes.last_request;
}
