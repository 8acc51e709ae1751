/*
 * reading.h - reading a pickle in a test: one call, one struct to free.
 */
#ifndef PLIMSOLL_TESTS_PICKLE_READING_H
#define PLIMSOLL_TESTS_PICKLE_READING_H

#include "base/text.h"
#include "pickle/reader.h"

/* What became of a pickle. `value` lives in `builder` until reading_free(). */
typedef struct pickle_reading {
    plim_status status;
    plim_error err;
    plim_pickle_facts facts;
    plim_value value;
    plim_builder builder;
} pickle_reading;

/* `mem` and `sink` may be NULL. The result is never moved: builders know their place. */
void read_pickle(const void *data, size_t bytes, const plim_mem *mem, const plim_row_sink *sink,
                 pickle_reading *ret);
/* The same from a file, compressed or not. */
void read_pickle_file(const char *path, const plim_row_sink *sink, pickle_reading *ret);
void reading_free(pickle_reading *reading);

/* The value as text (dump.h); the caller frees it with plim_text_deinit(). */
plim_text reading_text(const pickle_reading *reading);

#endif
