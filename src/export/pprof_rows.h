/*
 * pprof_rows.h - the allocations of a device, added up by what a pprof sample distinguishes.
 */
#ifndef PLIMSOLL_EXPORT_PPROF_ROWS_H
#define PLIMSOLL_EXPORT_PPROF_ROWS_H

#include "export/weights.h"

#include "base/intern.h"

/* Rows differ in these. */
typedef struct plim_pprof_key {
    plim_pool_id pool; /* {0,0} unless has_pool */
    uint32_t stack;
    uint32_t stream; /* PLIM_NONE: no event names it */
    uint32_t origin; /* plim_weight_origin */
    uint16_t category;
    uint16_t has_pool; /* the event names its pool */
} plim_pprof_key;

typedef struct plim_pprof_row {
    plim_pprof_key key;
    plim_total allocated_bytes;
    plim_total live_bytes;
    uint64_t allocated_count;
    uint64_t live_count;
} plim_pprof_row;

typedef struct plim_pprof_rows {
    const plim_mem *mem;
    plim_intern index;
    PLIM_VEC(plim_pprof_row) all; /* in order of first appearance */
    uint64_t before_count;        /* allocations from before the recording, which are among them */
} plim_pprof_rows;

/* Every allocation that the history knows, and of these what is live after `event`. Linear in
 * events. After a failure plim_pprof_rows_deinit() is allowed. */
plim_status plim_pprof_rows_init(plim_pprof_rows *rows, const plim_device_view *view, int64_t event,
                                 plim_error *err);
void plim_pprof_rows_deinit(plim_pprof_rows *rows);

#endif
