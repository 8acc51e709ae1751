/*
 * queues.c - see queues.h.
 */
#include "replay/program/queues.h"

#include "base/memory.h"

/* The last free of a queue: when it completes. Queues are kept with the latest first. */
typedef struct queue_end {
    uint32_t completed;
    uint32_t queue;
    uint32_t entries;
} queue_end;

/* Of the queues a free may be appended to, the one that ends latest: the first that ends no later
 * than it. Taking its place keeps the order. */
static size_t find_end(const queue_end *ends, size_t count, uint32_t completed)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ends[middle].completed <= completed) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

bool plim_deferrals_deal(plim_deferrals *deferrals)
{
    if (deferrals->rows.count == 0) {
        return true;
    }
    queue_end *ends = plim_mem_alloc(deferrals->mem, PLIM_QUEUES_MAX, sizeof *ends);
    if (ends == NULL) {
        return false;
    }
    uint32_t count = 0;
    for (size_t i = 0; i < deferrals->rows.count; i++) {
        plim_deferral *row = &deferrals->rows.items[i];
        const size_t at = find_end(ends, count, row->completed);
        row->queue = PLIM_NONE;
        if (at == PLIM_QUEUES_MAX) {
            continue;
        }
        if (at == count) {
            ends[at] = (queue_end){ .queue = count };
            count++;
        }
        ends[at].completed = row->completed;
        ends[at].entries++;
        row->queue = ends[at].queue;
        row->entry = ends[at].entries;
    }
    deferrals->queue_count = count;
    plim_mem_free(deferrals->mem, ends, PLIM_QUEUES_MAX, sizeof *ends);
    return true;
}

static uint32_t request_of(const plim_deferral *row)
{
    return row->request;
}

static uint32_t completion_of(const plim_deferral *row)
{
    return row->completed;
}

/* The row of [low, end) with a key, by which these are in order; or NULL. */
static const plim_deferral *find(const plim_deferral *low, const plim_deferral *end, uint32_t key,
                                 uint32_t (*key_of)(const plim_deferral *row))
{
    const plim_deferral *const last = end;
    while (low < end) {
        const plim_deferral *middle = low + (end - low) / 2;
        if (key_of(middle) < key) {
            low = middle + 1;
        } else {
            end = middle;
        }
    }
    return low < last && key_of(low) == key ? low : NULL;
}

const plim_deferral *plim_deferrals_find(const plim_deferrals *deferrals, uint32_t request)
{
    const plim_deferral *rows = deferrals->rows.items;
    return rows == NULL ? NULL
                        : find(rows + deferrals->of_start, rows + deferrals->rows.count, request,
                               request_of);
}

const plim_deferral *plim_deferrals_find_start(const plim_deferrals *deferrals, uint32_t completed)
{
    const plim_deferral *rows = deferrals->rows.items;
    return rows == NULL ? NULL : find(rows, rows + deferrals->of_start, completed, completion_of);
}

void plim_deferrals_deinit(plim_deferrals *deferrals)
{
    if (deferrals->mem != NULL) {
        PLIM_VEC_FREE(deferrals->mem, &deferrals->rows);
    }
}
