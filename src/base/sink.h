/*
 * sink.h - where bytes go: one function that takes them.
 */
#ifndef PLIMSOLL_BASE_SINK_H
#define PLIMSOLL_BASE_SINK_H

#include "base/text.h"

#include <stdio.h>

typedef struct plim_sink {
    /* Takes all of the bytes, or returns false: then it is not called again. */
    bool (*write)(void *ctx, const void *data, size_t bytes);
    void *ctx;
} plim_sink;

/* Both borrow what they write to. A file is not flushed: fflush() it and look at ferror(). */
plim_sink plim_sink_to_file(FILE *file);
plim_sink plim_sink_to_text(plim_text *text);

#endif
