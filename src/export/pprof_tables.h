/*
 * pprof_tables.h - the tables of a pprof profile: strings, functions and locations, each entry
 * written when it is first needed. For pprof.c.
 */
#ifndef PLIMSOLL_EXPORT_PPROF_TABLES_H
#define PLIMSOLL_EXPORT_PPROF_TABLES_H

#include "export/messages.h"
#include "export/weights.h"

#include "base/map.h"

#include <pprof.pb-c.h>

typedef struct plim_pprof {
    plim_messages messages;
    const plim_mem *mem;
    const plim_history *history;
    int64_t strings;      /* entries so far */
    uint32_t *string_of;  /* by string of the history: its entry, or 0 */
    plim_map function_of; /* by file and name: the number from 1 */
    uint8_t *located;     /* 1: the location is written; by frame, and origins after them */
    plim_text text;
} plim_pprof;

/* The first entry of the strings is written: "". After a failure plim_pprof_deinit() is allowed. */
plim_status plim_pprof_init(plim_pprof *out, const plim_history *history, plim_sink sink,
                            const plim_mem *mem, plim_error *err);
void plim_pprof_deinit(plim_pprof *out);

/* A new entry. */
int64_t plim_pprof_add_text(plim_pprof *out, const char *text);
/* The number of a frame's location. */
uint64_t plim_pprof_location(plim_pprof *out, uint32_t frame);
/* Of the frame that stands at the root of a stack of this origin; PLIM_WEIGHT_RECORDED: of a stack
 * without frames. */
uint64_t plim_pprof_origin_location(plim_pprof *out, plim_weight_origin origin);

#endif
