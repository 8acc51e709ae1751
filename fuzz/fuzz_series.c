/*
 * fuzz_series.c - any bytes as a log, in pieces of two sizes: both give the same series.
 *
 * The first byte says how large the pieces are. The rest is read over and over, so that lines
 * come again and their shapes are used.
 */
#include "base/assert.h"
#include "series/reader.h"

#include <math.h>
#include <string.h>

#define TIMES 3

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct outcome {
    plim_arena arena;
    const plim_series *all;
    size_t count;
} outcome;

static outcome read_in_pieces(const char *data, size_t size, size_t piece)
{
    outcome result = { 0 };
    plim_series_reader *reader = NULL;
    plim_error err;
    PLIM_ASSERT(plim_series_reader_create(NULL, &reader, &err) == PLIM_OK);
    for (int i = 0; i < TIMES; i++) {
        for (size_t at = 0; at < size; at += piece) {
            const size_t some = size - at < piece ? size - at : piece;
            PLIM_ASSERT(plim_series_reader_feed(reader, data + at, some, &err) == PLIM_OK);
        }
    }
    plim_arena_init(&result.arena, NULL);
    const plim_series_capacity capacity = { 0 };
    PLIM_ASSERT(plim_series_reader_finish(reader, &capacity, &result.arena, &result.all,
                                          &result.count, &err) == PLIM_OK);
    plim_series_reader_destroy(reader);
    return result;
}

static void check(const plim_series *series)
{
    PLIM_ASSERT(series->name[0] != '\0');
    PLIM_ASSERT(series->count >= PLIM_SERIES_POINTS_MIN);
    PLIM_ASSERT(series->count <= PLIM_SERIES_POINTS_MAX);
    PLIM_ASSERT(series->seen >= series->count);
    PLIM_ASSERT(series->first_line >= 1 && series->first_line <= series->last_line);
    for (size_t i = 0; i < series->count; i++) {
        PLIM_ASSERT(isfinite(series->bytes[i]) && series->bytes[i] >= 0);
        PLIM_ASSERT(isfinite(series->steps[i]));
    }
}

static void check_same(const plim_series *a, const plim_series *b)
{
    PLIM_ASSERT(strcmp(a->name, b->name) == 0);
    PLIM_ASSERT(strcmp(a->unit, b->unit) == 0);
    PLIM_ASSERT(a->step_name == b->step_name); /* constants */
    PLIM_ASSERT(a->count == b->count && a->seen == b->seen);
    PLIM_ASSERT(a->first_line == b->first_line && a->last_line == b->last_line);
    PLIM_ASSERT(memcmp(a->bytes, b->bytes, a->count * sizeof *a->bytes) == 0);
    PLIM_ASSERT(memcmp(a->steps, b->steps, a->count * sizeof *a->steps) == 0);
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    const char *const text = (const char *)data + 1;
    outcome small = read_in_pieces(text, size - 1, (size_t)data[0] + 1);
    outcome large = read_in_pieces(text, size - 1, (size_t)1 << 20);
    PLIM_ASSERT(small.count == large.count);
    for (size_t i = 0; i < small.count; i++) {
        check(&small.all[i]);
        check_same(&small.all[i], &large.all[i]);
    }
    plim_arena_deinit(&small.arena);
    plim_arena_deinit(&large.arena);
    return 0;
}
