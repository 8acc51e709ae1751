/*
 * sink.c - files and texts as sinks.
 */
#include "base/sink.h"

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
