/*
 * reading.c - a builder, an input and the reader, put together.
 */
#include "pickle/reading.h"

#include "codec/codec.h"
#include "pickle/dump.h"

#define TEXT_BYTES_MAX ((size_t)1 << 30)

static void read_input(plim_input *input, const plim_mem *mem, const plim_row_sink *sink,
                       pickle_reading *ret)
{
    plim_builder_init(&ret->builder, mem, sink);
    if (ret->status == PLIM_OK) {
        ret->status =
            plim_pickle_read(input, &ret->builder, NULL, &ret->facts, &ret->value, &ret->err);
    }
    plim_input_close(input);
}

void read_pickle(const void *data, size_t bytes, const plim_mem *mem, const plim_row_sink *sink,
                 pickle_reading *ret)
{
    plim_input *input = NULL;
    *ret = (pickle_reading){ .err.message = "" };
    ret->status =
        plim_input_open_memory(data, bytes, &(plim_input_options){ .mem = mem }, &input, &ret->err);
    read_input(input, mem, sink, ret);
}

void read_pickle_file(const char *path, const plim_row_sink *sink, pickle_reading *ret)
{
    plim_input *input = NULL;
    *ret = (pickle_reading){ .err.message = "" };
    ret->status =
        plim_input_open(path, &(plim_input_options){ .codecs = plim_codecs }, &input, &ret->err);
    read_input(input, NULL, sink, ret);
}

void reading_free(pickle_reading *reading)
{
    plim_builder_deinit(&reading->builder);
}

plim_text reading_text(const pickle_reading *reading)
{
    plim_text text;
    plim_text_init(&text, NULL, TEXT_BYTES_MAX);
    if (reading->status == PLIM_OK) {
        dump_value(reading->value, &text);
    } else {
        plim_text_append_string(&text, reading->err.message);
    }
    return text;
}
