/*
 * spans.c - a set of spans as a sorted array in chunks.
 *
 * A full chunk is halved; an emptied one goes. Sparse chunks are not joined: their number stays
 * within that of the spans once added, and a history's segments do not come and go for long.
 */
#include "history/spans.h"

#include "base/assert.h"

#include <string.h>

/* A place between spans: after it everything begins above the address that was looked for. */
typedef struct span_place {
    size_t chunk;
    size_t index; /* of the first such span; at the chunk's end, its count */
} span_place;

void plim_spans_init(plim_spans *spans, const plim_mem *mem)
{
    *spans = (plim_spans){ .mem = mem };
}

void plim_spans_deinit(plim_spans *spans)
{
    for (size_t i = 0; i < spans->chunks.count; i++) {
        plim_mem_free(spans->mem, spans->chunks.items[i], 1, sizeof *spans->chunks.items[i]);
    }
    PLIM_VEC_FREE(spans->mem, &spans->chunks);
}

plim_span plim_span_of(plim_addr addr, uint64_t bytes, uint32_t tag, bool joins)
{
    const plim_addr end = bytes > UINT64_MAX - addr ? UINT64_MAX : addr + bytes;
    return (plim_span){ addr, end, tag, joins };
}

/* The last chunk that begins at or below `addr`, or the first one. */
static size_t find_chunk(const plim_spans *spans, plim_addr addr)
{
    size_t low = 0;
    size_t count = spans->chunks.count;
    while (count > 1) {
        const size_t half = count / 2;
        if (spans->chunks.items[low + half]->spans[0].begin <= addr) {
            low += half;
        }
        count -= half;
    }
    return low;
}

static span_place find_above(const plim_spans *spans, plim_addr addr)
{
    PLIM_ASSERT_DEBUG(spans->chunks.count > 0);
    const size_t chunk = find_chunk(spans, addr);
    const plim_span_chunk *const here = spans->chunks.items[chunk];
    size_t low = 0;
    size_t high = here->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (here->spans[middle].begin <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (span_place){ chunk, low };
}

/* The span before a place; only the first place of the first chunk has none. */
static plim_span *before(const plim_spans *spans, span_place at)
{
    return at.index > 0 ? &spans->chunks.items[at.chunk]->spans[at.index - 1] : NULL;
}

static plim_span *after(const plim_spans *spans, span_place at)
{
    if (at.index < spans->chunks.items[at.chunk]->count) {
        return &spans->chunks.items[at.chunk]->spans[at.index];
    }
    return at.chunk + 1 < spans->chunks.count ? &spans->chunks.items[at.chunk + 1]->spans[0] : NULL;
}

/* A chunk of `count` spans as number `index`; false when there is no memory. */
static bool insert_chunk(plim_spans *spans, size_t index, const plim_span *from, size_t count)
{
    plim_span_chunk *chunk = plim_mem_alloc(spans->mem, 1, sizeof *chunk);
    if (chunk == NULL) {
        return false;
    }
    if (!PLIM_VEC_PUSH(spans->mem, &spans->chunks, chunk)) {
        plim_mem_free(spans->mem, chunk, 1, sizeof *chunk);
        return false;
    }
    chunk->count = count;
    memcpy(chunk->spans, from, count * sizeof *from);
    plim_span_chunk **items = spans->chunks.items;
    memmove(items + index + 1, items + index,
            (spans->chunks.count - 1 - index) * sizeof(plim_span_chunk *));
    items[index] = chunk;
    return true;
}

bool plim_spans_copy(const plim_spans *spans, const plim_mem *mem, plim_spans *ret_copy)
{
    plim_spans_init(ret_copy, mem);
    for (size_t i = 0; i < spans->chunks.count; i++) {
        const plim_span_chunk *const chunk = spans->chunks.items[i];
        if (!insert_chunk(ret_copy, i, chunk->spans, chunk->count)) {
            plim_spans_deinit(ret_copy);
            return false;
        }
    }
    return true;
}

static bool insert(plim_spans *spans, span_place at, plim_span span)
{
    plim_span_chunk *chunk = spans->chunks.items[at.chunk];
    if (chunk->count == PLIM_SPANS_PER_CHUNK) {
        const size_t half = PLIM_SPANS_PER_CHUNK / 2;
        if (!insert_chunk(spans, at.chunk + 1, chunk->spans + half, PLIM_SPANS_PER_CHUNK - half)) {
            return false;
        }
        chunk->count = half;
        if (at.index > half) {
            at.index -= half;
            chunk = spans->chunks.items[at.chunk + 1];
        }
    }
    memmove(chunk->spans + at.index + 1, chunk->spans + at.index,
            (chunk->count - at.index) * sizeof *chunk->spans);
    chunk->spans[at.index] = span;
    chunk->count++;
    return true;
}

/* Takes out the span before a place. */
static void erase_before(plim_spans *spans, span_place at)
{
    PLIM_ASSERT(at.index > 0);
    plim_span_chunk *chunk = spans->chunks.items[at.chunk];
    memmove(chunk->spans + at.index - 1, chunk->spans + at.index,
            (chunk->count - at.index) * sizeof *chunk->spans);
    chunk->count--;
    if (chunk->count == 0) {
        plim_mem_free(spans->mem, chunk, 1, sizeof *chunk);
        plim_span_chunk **items = spans->chunks.items;
        memmove(items + at.chunk, items + at.chunk + 1,
                (spans->chunks.count - 1 - at.chunk) * sizeof(plim_span_chunk *));
        spans->chunks.count--;
    }
}

static bool join(const plim_span *low, const plim_span *high)
{
    return low != NULL && high != NULL && low->end == high->begin && low->joins && high->joins &&
           low->tag == high->tag;
}

plim_spans_result plim_spans_add(plim_spans *spans, plim_span span)
{
    if (span.begin >= span.end) {
        return PLIM_SPANS_CONTRADICTION;
    }
    if (spans->chunks.count == 0) {
        return insert_chunk(spans, 0, &span, 1) ? PLIM_SPANS_DONE : PLIM_SPANS_NO_MEMORY;
    }
    const span_place at = find_above(spans, span.begin);
    plim_span *const low = before(spans, at);
    plim_span *const high = after(spans, at);
    if ((low != NULL && low->end > span.begin) || (high != NULL && high->begin < span.end)) {
        return PLIM_SPANS_CONTRADICTION;
    }
    const bool joins_high = join(&span, high);
    if (join(low, &span)) {
        low->end = joins_high ? high->end : span.end;
        if (joins_high) {
            erase_before(spans, find_above(spans, high->begin));
        }
        return PLIM_SPANS_DONE;
    }
    if (joins_high) {
        high->begin = span.begin;
        return PLIM_SPANS_DONE;
    }
    return insert(spans, at, span) ? PLIM_SPANS_DONE : PLIM_SPANS_NO_MEMORY;
}

plim_spans_result plim_spans_remove(plim_spans *spans, plim_addr begin, plim_addr end)
{
    if (spans->chunks.count == 0) {
        return PLIM_SPANS_CONTRADICTION;
    }
    const span_place at = find_above(spans, begin);
    const plim_span *const span = before(spans, at);
    if (span == NULL || span->begin != begin || span->end != end) {
        return PLIM_SPANS_CONTRADICTION;
    }
    erase_before(spans, at);
    return PLIM_SPANS_DONE;
}

plim_spans_result plim_spans_cut(plim_spans *spans, plim_addr begin, plim_addr end)
{
    if (spans->chunks.count == 0 || begin >= end) {
        return PLIM_SPANS_CONTRADICTION;
    }
    const span_place at = find_above(spans, begin);
    plim_span *const span = before(spans, at);
    if (span == NULL || span->end < end || span->end <= begin) {
        return PLIM_SPANS_CONTRADICTION;
    }
    if (span->begin == begin && span->end == end) {
        erase_before(spans, at);
    } else if (span->begin == begin) {
        span->begin = end;
    } else if (span->end == end) {
        span->end = begin;
    } else {
        plim_span rest = *span;
        rest.begin = end;
        if (!insert(spans, at, rest)) {
            return PLIM_SPANS_NO_MEMORY;
        }
        /* Splitting the chunk may have moved the span: it is again the one before the cut. */
        before(spans, find_above(spans, begin))->end = begin;
    }
    return PLIM_SPANS_DONE;
}

const plim_span *plim_spans_find(const plim_spans *spans, plim_addr addr)
{
    if (spans->chunks.count == 0) {
        return NULL;
    }
    const plim_span *const span = before(spans, find_above(spans, addr));
    return span != NULL && addr < span->end ? span : NULL;
}

const plim_span *plim_spans_from(const plim_spans *spans, plim_addr addr)
{
    if (spans->chunks.count == 0) {
        return NULL;
    }
    const span_place at = find_above(spans, addr);
    const plim_span *const span = before(spans, at);
    return span != NULL && addr < span->end ? span : after(spans, at);
}
