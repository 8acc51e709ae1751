/*
 * inspect_pools.c - the pools at the end: where segments lie, and what of them is free in which
 * way.
 */
#include "report/model/inspect_parts.h"

#include <inttypes.h>
#include <stdio.h>

#define POOLS_SHOWN 12u

/* Streams that wait are rare: the column is there when one does. */
static void add_figures(plim_page *page, const plim_end_state *state, bool shows_pending)
{
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_count(NULL, state->segments));
    plim_page_cell(page, PLIM_TONE_HEADING, plim_bytes(NULL, state->reserved_bytes));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, state->allocated_bytes));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, state->inactive_split_bytes));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, state->releasable_bytes));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, state->largest_free_block_bytes));
    if (shows_pending) {
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, state->pending_free_bytes));
    }
}

static void add_pool(plim_page *page, const plim_pool_state *pool, bool shows_pending)
{
    char stream[32] = "default";
    char id[64] = "";
    if (pool->stream != 0) { /* handles are pointers, small ones are the driver's special streams */
        (void)snprintf(stream, sizeof stream, pool->stream < 1024 ? "%" PRIu64 : "%#" PRIx64,
                       pool->stream);
    }
    if (!plim_pool_is_default(pool->pool)) { /* a private pool, as PyTorch writes its id */
        (void)snprintf(id, sizeof id, " (%" PRIu64 ",%" PRIu64 ")", pool->pool.a, pool->pool.b);
    }
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(stream));
    plim_page_cell_text(page, PLIM_TONE_PLAIN, "{}{}{}",
                        PLIM_FACTS(plim_words(pool->is_large ? "large" : "small"),
                                   plim_words(pool->is_expandable ? " expandable" : ""),
                                   plim_words(id)));
    add_figures(page, &pool->state, shows_pending);
}

void plim_inspected_pools(const plim_inspected *self, const plim_device_inspection *device)
{
    static const plim_column columns[] = {
        { "stream", PLIM_ALIGN_PATH, 0, 0 },      { "pool", PLIM_ALIGN_LEFT, 0, 0 },
        { "segments", PLIM_ALIGN_RIGHT, 0, 0 },   { "reserved", PLIM_ALIGN_RIGHT, 0, 0 },
        { "allocated", PLIM_ALIGN_RIGHT, 0, 0 },  { "split", PLIM_ALIGN_RIGHT, 0, 0 },
        { "releasable", PLIM_ALIGN_RIGHT, 0, 0 }, { "largest", PLIM_ALIGN_RIGHT, 0, 0 },
        { "pending", PLIM_ALIGN_RIGHT, 0, 0 }, /* last, as it may be left out */
    };
    const uint32_t column_count = (uint32_t)(sizeof columns / sizeof columns[0]);
    const bool shows_pending = device->end.pending_free_bytes > 0;
    if (device->pool_count == 0) {
        return;
    }
    plim_page_heading(self->page, "Pools at the end, by stream", NULL);
    plim_page_table(self->page, "pools", columns, shows_pending ? column_count : column_count - 1);
    const size_t shown = device->pool_count < POOLS_SHOWN ? device->pool_count : POOLS_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        add_pool(self->page, &device->pools[i], shows_pending);
    }
    if (device->pool_count > 1) {
        plim_page_cell_text(self->page, PLIM_TONE_PLAIN, "all", NULL);
        plim_page_cell_text(self->page, PLIM_TONE_PLAIN, "", NULL);
        add_figures(self->page, &device->end, shows_pending);
    }
    if (shown < device->pool_count) {
        plim_page_note(
            self->page, "more", PLIM_TONE_FAINT, "({} more: --json has all)",
            PLIM_FACTS(plim_count_of("pools_left_out", device->pool_count - shown, "pool")));
    }
}
