/*
 * inspect_pools.c - the pools at the end: where segments lie, and what of them is free in which
 * way.
 */
#include "base/size.h"
#include "report/counted.h"
#include "report/inspect_page.h"
#include "report/line.h"
#include "report/table.h"

#include <inttypes.h>

#define POOLS_SHOWN 12u

/* Streams that wait are rare: the column is there when one does. */
static void add_pool_figures(plim_table *table, const plim_end_state *state, bool shows_pending)
{
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_count(state->segments).text);
    plim_table_add(table, PLIM_TONE_HEADING, plim_format_bytes(state->reserved_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(state->allocated_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(state->inactive_split_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(state->releasable_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(state->largest_free_block_bytes).text);
    if (shows_pending) {
        plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(state->pending_free_bytes).text);
    }
}

static void add_pool(plim_table *table, const plim_pool_state *pool, bool shows_pending)
{
    if (pool->stream == 0) {
        plim_table_add(table, PLIM_TONE_PLAIN, "default");
    } else { /* handles are pointers, small ones are the driver's special streams */
        plim_table_format(table, PLIM_TONE_PLAIN, pool->stream < 1024 ? "%" PRIu64 : "%#" PRIx64,
                          pool->stream);
    }
    const char *name = pool->is_large        ? pool->is_expandable ? "large expandable" : "large"
                       : pool->is_expandable ? "small expandable"
                                             : "small";
    if (plim_pool_is_default(pool->pool)) {
        plim_table_add(table, PLIM_TONE_PLAIN, name);
    } else { /* a private pool, its id as PyTorch writes it */
        plim_table_format(table, PLIM_TONE_PLAIN, "%s (%" PRIu64 ",%" PRIu64 ")", name,
                          pool->pool.a, pool->pool.b);
    }
    add_pool_figures(table, &pool->state, shows_pending);
}

void plim_page_pools(const plim_page *page, const plim_device_inspection *device)
{
    static const plim_table_column columns[] = {
        { "stream", PLIM_ALIGN_PATH },      { "pool", PLIM_ALIGN_LEFT },
        { "segments", PLIM_ALIGN_RIGHT },   { "reserved", PLIM_ALIGN_RIGHT },
        { "allocated", PLIM_ALIGN_RIGHT },  { "split", PLIM_ALIGN_RIGHT },
        { "releasable", PLIM_ALIGN_RIGHT }, { "largest", PLIM_ALIGN_RIGHT },
        { "pending", PLIM_ALIGN_RIGHT }, /* last, as it may be left out */
    };
    const uint32_t column_count = (uint32_t)(sizeof columns / sizeof columns[0]);
    const bool shows_pending = device->end.pending_free_bytes > 0;
    if (device->pool_count == 0) {
        return;
    }
    plim_table table;
    plim_table_init(&table, page->mem, columns, shows_pending ? column_count : column_count - 1);
    const size_t shown = device->pool_count < POOLS_SHOWN ? device->pool_count : POOLS_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        add_pool(&table, &device->pools[i], shows_pending);
    }
    if (device->pool_count > 1) {
        plim_table_add(&table, PLIM_TONE_PLAIN, "all");
        plim_table_add(&table, PLIM_TONE_PLAIN, "");
        add_pool_figures(&table, &device->end, shows_pending);
    }
    plim_page_heading(page, "Pools at the end, by stream");
    plim_table_write(&table, page->out, page->style, 2);
    plim_table_deinit(&table);
    if (shown < device->pool_count) {
        plim_line line = plim_line_begin(page->out, page->style, 2);
        plim_line_format(&line, PLIM_TONE_FAINT, "(%s more: --json has all)",
                         plim_counted(device->pool_count - shown, "pool").text);
        plim_line_end(&line);
    }
}
