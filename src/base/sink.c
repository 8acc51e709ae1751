/*
 * sink.c - files and texts as sinks.
 */
#include "base/sink.h"

#include <string.h>

static bool write_file(void *ctx, const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, ctx) == bytes;
}

plim_sink plim_sink_to_file(FILE *file)
{
    return (plim_sink){ .write = write_file, .ctx = file };
}

static bool write_text(void *ctx, const void *data, size_t bytes)
{
    plim_text *text = ctx;
    plim_text_append(text, data, bytes);
    return text->status == PLIM_OK;
}

plim_sink plim_sink_to_text(plim_text *text)
{
    return (plim_sink){ .write = write_text, .ctx = text };
}

void plim_sink_buffer_init(plim_sink_buffer *buffer, plim_sink below)
{
    buffer->below = below;
    buffer->failed = false;
    buffer->count = 0;
}

bool plim_sink_buffer_flush(plim_sink_buffer *buffer)
{
    if (!buffer->failed && buffer->count > 0) {
        buffer->failed = !buffer->below.write(buffer->below.ctx, buffer->data, buffer->count);
    }
    buffer->count = 0;
    return !buffer->failed;
}

static bool write_buffer(void *ctx, const void *data, size_t bytes)
{
    plim_sink_buffer *const buffer = ctx;
    if (bytes > sizeof buffer->data - buffer->count) {
        plim_sink_buffer_flush(buffer);
    }
    if (bytes > sizeof buffer->data) {
        buffer->failed = buffer->failed || !buffer->below.write(buffer->below.ctx, data, bytes);
    } else {
        memcpy(buffer->data + buffer->count, data, bytes);
        buffer->count += bytes;
    }
    return !buffer->failed;
}

plim_sink plim_sink_to_buffer(plim_sink_buffer *buffer)
{
    return (plim_sink){ .write = write_buffer, .ctx = buffer };
}
