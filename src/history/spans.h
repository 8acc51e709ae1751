/*
 * spans.h - disjoint address ranges in order: the segments or the blocks of a moment.
 *
 *   [chunk 0: 0x1000-0x3000  0x4000-0x9000 …]  [chunk 1: 0x20000-0x30000 …]  …
 *
 * A sorted array cut into chunks: a search is two binary ones, a change moves at most one chunk,
 * so that a million segments coming and going in any order stay affordable. What a range is, its
 * tag says, which belongs to the caller; touching ranges that join and have one tag become one.
 */
#ifndef PLIMSOLL_HISTORY_SPANS_H
#define PLIMSOLL_HISTORY_SPANS_H

#include "base/vec.h"
#include "plimsoll/history.h"

#define PLIM_SPANS_PER_CHUNK 256

typedef struct plim_span {
    plim_addr begin;
    plim_addr end; /* after the last byte, above begin */
    uint32_t tag;
    bool joins; /* with neighbours that join and have its tag */
} plim_span;

typedef struct plim_span_chunk {
    size_t count; /* 1 … PLIM_SPANS_PER_CHUNK */
    plim_span spans[PLIM_SPANS_PER_CHUNK];
} plim_span_chunk;

typedef struct plim_spans {
    const plim_mem *mem;
    PLIM_VEC(plim_span_chunk *) chunks;
} plim_spans;

typedef enum plim_spans_result {
    PLIM_SPANS_DONE,
    PLIM_SPANS_CONTRADICTION, /* it does not fit what is there; nothing changed */
    PLIM_SPANS_NO_MEMORY,     /* likewise */
} plim_spans_result;

void plim_spans_init(plim_spans *spans, const plim_mem *mem);
/* A zeroed set is allowed. */
void plim_spans_deinit(plim_spans *spans);
/* A copy of its own; false: no memory, and `ret_copy` is empty. */
bool plim_spans_copy(const plim_spans *spans, const plim_mem *mem, plim_spans *ret_copy);

/* The span of `bytes` bytes from `addr`; what would pass the last address is cut off there. */
plim_span plim_span_of(plim_addr addr, uint64_t bytes, uint32_t tag, bool joins);

/* Adds a span; a contradiction when it is empty or overlaps another. */
plim_spans_result plim_spans_add(plim_spans *spans, plim_span span);
/* Takes out a whole span; a contradiction when none has these ends. */
plim_spans_result plim_spans_remove(plim_spans *spans, plim_addr begin, plim_addr end);
/* Cuts a part out of the one span that holds it; a contradiction when none does. */
plim_spans_result plim_spans_cut(plim_spans *spans, plim_addr begin, plim_addr end);

/* The span that holds `addr`, or NULL; valid until the set changes. */
const plim_span *plim_spans_find(const plim_spans *spans, plim_addr addr);
/* The first span that ends above `addr`, or NULL; valid until the set changes. */
const plim_span *plim_spans_from(const plim_spans *spans, plim_addr addr);

/* Each span in order: `for (span = first(spans); span != NULL; span = next(spans, span))`. */
static inline const plim_span *plim_spans_first(const plim_spans *spans)
{
    return plim_spans_from(spans, 0);
}

static inline const plim_span *plim_spans_next(const plim_spans *spans, const plim_span *span)
{
    return plim_spans_from(spans, span->end);
}

#endif
