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

#define PLIM_SINK_BUFFER_BYTES ((size_t)1 << 16)

/* Gathers small pieces before another sink. A failure sticks. */
typedef struct plim_sink_buffer {
    plim_sink below;
    bool failed;
    size_t count;
    unsigned char data[PLIM_SINK_BUFFER_BYTES];
} plim_sink_buffer;

void plim_sink_buffer_init(plim_sink_buffer *buffer, plim_sink below);
plim_sink plim_sink_to_buffer(plim_sink_buffer *buffer);
/* All to the sink below; false: it failed, then or before. */
bool plim_sink_buffer_flush(plim_sink_buffer *buffer);

#endif
