/*
 * test_spans.c - the set of spans against a map of cells, one per address.
 */
#include "history/spans.h"

#include "harness.h"

#define CELLS 4096

/* What is at each cell: 0 nothing, otherwise the number of its span. */
static uint32_t cells[CELLS + 1];

static bool is_run(size_t begin, size_t end, uint32_t value)
{
    for (size_t i = begin; i < end; i++) {
        if (cells[i] != value) {
            return false;
        }
    }
    return true;
}

static void fill(size_t begin, size_t end, uint32_t value)
{
    for (size_t i = begin; i < end; i++) {
        cells[i] = value;
    }
}

static bool is_whole(size_t begin, size_t end)
{
    return cells[begin] != 0 && is_run(begin, end, cells[begin]) && cells[end] != cells[begin] &&
           (begin == 0 || cells[begin - 1] != cells[begin]);
}

static plim_spans_result step(plim_spans *spans, uint32_t number, bool *ret_expected)
{
    const size_t begin = (size_t)t_random_between(0, CELLS - 2);
    const size_t end = begin + 1 + (size_t)t_random_between(0, begin + 5 < CELLS ? 4 : 0);
    const uint64_t what = t_random_between(0, 9);
    if (what < 6) {
        *ret_expected = is_run(begin, end, 0);
        if (*ret_expected) {
            fill(begin, end, number);
        }
        return plim_spans_add(spans, plim_span_of(begin, end - begin, 0, false));
    }
    if (what < 8) {
        *ret_expected = is_whole(begin, end);
        if (*ret_expected) {
            fill(begin, end, 0);
        }
        return plim_spans_remove(spans, begin, end);
    }
    *ret_expected = cells[begin] != 0 && is_run(begin, end, cells[begin]);
    if (*ret_expected) {
        const uint32_t rest = cells[begin];
        fill(begin, end, 0);
        for (size_t i = end; cells[i] == rest; i++) {
            cells[i] = number; /* what is left above is a span of its own */
        }
    }
    return plim_spans_cut(spans, begin, end);
}

static void agrees_with_a_map_of_cells(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_spans spans;
    plim_spans_init(&spans, &heap.mem);
    memset(cells, 0, sizeof cells);
    for (uint32_t i = 1; i < 60000; i++) {
        bool expected = false;
        const plim_spans_result result = step(&spans, i, &expected);
        T_EQ_U64(result, expected ? PLIM_SPANS_DONE : PLIM_SPANS_CONTRADICTION);
        const plim_addr probe = t_random_between(0, CELLS - 1);
        const plim_span *const span = plim_spans_find(&spans, probe);
        T_EQ_U64(span != NULL, cells[probe] != 0);
        T_TRUE(span == NULL || is_whole((size_t)span->begin, (size_t)span->end));
        size_t next = (size_t)probe;
        while (next < CELLS && cells[next] == 0) {
            next++;
        }
        const plim_span *const from = plim_spans_from(&spans, probe);
        T_EQ_U64(from != NULL, next < CELLS);
        T_TRUE(from == NULL || (from->begin <= next && next < from->end));
    }
    T_TRUE(spans.chunks.count > 2);
    plim_spans_deinit(&spans);
    T_EQ_U64(heap.live_bytes, 0);
}

static void spans_that_join_and_have_one_tag_become_one(void)
{
    plim_spans spans;
    plim_spans_init(&spans, plim_mem_or_heap(NULL));
    T_EQ_U64(plim_spans_add(&spans, plim_span_of(0, 10, 1, true)), PLIM_SPANS_DONE);
    T_EQ_U64(plim_spans_add(&spans, plim_span_of(20, 10, 1, true)), PLIM_SPANS_DONE);
    T_EQ_U64(plim_spans_add(&spans, plim_span_of(10, 10, 1, true)), PLIM_SPANS_DONE);
    T_EQ_U64(plim_spans_find(&spans, 15)->begin, 0);
    T_EQ_U64(plim_spans_find(&spans, 15)->end, 30);
    T_EQ_U64(plim_spans_add(&spans, plim_span_of(30, 10, 2, true)), PLIM_SPANS_DONE);
    T_EQ_U64(plim_spans_find(&spans, 29)->end, 30);
    T_EQ_U64(plim_spans_add(&spans, plim_span_of(40, 10, 2, false)), PLIM_SPANS_DONE);
    T_EQ_U64(plim_spans_find(&spans, 30)->end, 40);
    T_EQ_U64(plim_spans_cut(&spans, 5, 25), PLIM_SPANS_DONE);
    T_NULL(plim_spans_find(&spans, 10));
    T_EQ_U64(plim_spans_find(&spans, 29)->begin, 25);
    plim_spans_deinit(&spans);
}

static void the_last_address_ends_a_span(void)
{
    plim_spans spans;
    plim_spans_init(&spans, plim_mem_or_heap(NULL));
    const plim_span span = plim_span_of(UINT64_MAX - 10, UINT64_MAX, 0, false);
    T_EQ_U64(span.end, UINT64_MAX);
    T_EQ_U64(plim_spans_add(&spans, span), PLIM_SPANS_DONE);
    T_EQ_U64(plim_spans_add(&spans, plim_span_of(UINT64_MAX, 1, 0, false)),
             PLIM_SPANS_CONTRADICTION);
    T_EQ_U64(plim_spans_add(&spans, plim_span_of(0, UINT64_MAX, 0, false)),
             PLIM_SPANS_CONTRADICTION);
    T_EQ_U64(plim_spans_cut(&spans, UINT64_MAX - 5, UINT64_MAX - 5), PLIM_SPANS_CONTRADICTION);
    plim_spans_deinit(&spans);
}

T_MAIN(T_TEST(agrees_with_a_map_of_cells), T_TEST(spans_that_join_and_have_one_tag_become_one),
       T_TEST(the_last_address_ends_a_span))
