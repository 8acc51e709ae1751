/*
 * lanes.c - lanes by the key of what is open on them. See lanes.h.
 */
#include "export/lanes.h"

void plim_lanes_init(plim_lanes *lanes, const plim_mem *mem)
{
    *lanes = (plim_lanes){ .mem = mem, .first_free = PLIM_LANE_FREE };
    plim_map_init(&lanes->of_key, mem);
}

void plim_lanes_deinit(plim_lanes *lanes)
{
    if (lanes->mem != NULL) {
        plim_map_deinit(&lanes->of_key);
        PLIM_VEC_FREE(lanes->mem, &lanes->all);
    }
}

bool plim_lanes_open(plim_lanes *lanes, uint64_t key, int64_t begin_us, uint64_t value)
{
    const size_t free_lane = lanes->first_free;
    const size_t lane = free_lane == PLIM_LANE_FREE ? lanes->all.count : free_lane;
    const plim_span_lane none = { .next = PLIM_LANE_FREE };
    if (lane == lanes->all.count && !PLIM_VEC_PUSH(lanes->mem, &lanes->all, none)) {
        return false;
    }
    const uint64_t hidden = plim_map_get(&lanes->of_key, key);
    if (!plim_map_put(&lanes->of_key, key, lane)) {
        return false;
    }
    if (lane == free_lane) {
        lanes->first_free = lanes->all.items[lane].next;
    }
    lanes->all.items[lane] =
        (plim_span_lane){ .key = key,
                          .begin_us = begin_us,
                          .value = value,
                          .number = lanes->opened++,
                          .is_open = true,
                          .next = hidden == PLIM_MAP_ABSENT ? PLIM_LANE_FREE : (size_t)hidden };
    return true;
}

size_t plim_lanes_close(plim_lanes *lanes, uint64_t key)
{
    const uint64_t found = plim_map_take(&lanes->of_key, key);
    if (found == PLIM_MAP_ABSENT) {
        return PLIM_LANE_FREE;
    }
    plim_span_lane *const lane = &lanes->all.items[found];
    if (lane->next != PLIM_LANE_FREE) {
        (void)plim_map_put(&lanes->of_key, key, lane->next); /* in the place that was taken */
    }
    lane->is_open = false;
    lane->next = lanes->first_free;
    lanes->first_free = (size_t)found;
    return (size_t)found;
}

bool plim_lanes_fresh(plim_lanes *lanes, size_t *ret_lane)
{
    const plim_span_lane none = { .next = PLIM_LANE_FREE, .number = lanes->opened };
    if (!PLIM_VEC_PUSH(lanes->mem, &lanes->all, none)) {
        return false;
    }
    lanes->opened++;
    *ret_lane = lanes->all.count - 1;
    return true;
}
