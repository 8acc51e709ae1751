/*
 * pickle_tool.c - reads pickles and writes them back, for test_against_python.py.
 *
 * A filter: for each pickle on standard input, a length of four bytes (little-endian) before it,
 * it answers with four pieces of the same form: the value as text (dump.h), the value written
 * again, the same for PyTorch's viewer (empty where that has no such values), and the message of
 * the first step that failed.
 */
#include "pickle/dump.h"
#include "pickle/reader.h"
#include "pickle/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX ((size_t)1 << 30)

static bool read_length(uint32_t *ret_length)
{
    unsigned char bytes[4];
    if (fread(bytes, 1, 4, stdin) != 4) {
        return false;
    }
    *ret_length = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                  (uint32_t)bytes[3] << 24;
    return true;
}

static void write_piece(const char *data, size_t length)
{
    for (int shift = 0; shift < 32; shift += 8) {
        (void)putchar((int)(length >> shift & 0xff));
    }
    (void)fwrite(data, 1, length, stdout);
}

/* What the tool answers. */
typedef struct tool_reply {
    plim_text text;
    plim_text pickle;
    plim_text for_viewer;
} tool_reply;

static plim_status convert(plim_input *input, tool_reply *reply, plim_error *err)
{
    const plim_pickle_write_options for_viewer = { .viewer_safe = true };
    plim_builder builder;
    plim_pickle_facts facts;
    plim_value value = PLIM_VALUE_ABSENT;
    plim_builder_init(&builder, NULL, NULL);
    plim_status status = plim_pickle_read(input, &builder, NULL, &facts, &value, err);
    if (status == PLIM_OK) {
        dump_value(value, &reply->text);
        status = plim_pickle_write(value, NULL, plim_sink_to_text(&reply->pickle), err);
        if (plim_pickle_write(value, &for_viewer, plim_sink_to_text(&reply->for_viewer), NULL) !=
            PLIM_OK) {
            plim_text_reset(&reply->for_viewer);
        }
    }
    plim_builder_deinit(&builder);
    return status;
}

static void answer(const void *data, size_t length)
{
    plim_input *input = NULL;
    tool_reply reply;
    plim_error err = { .status = PLIM_OK };
    plim_text_init(&reply.text, NULL, TEXT_BYTES_MAX);
    plim_text_init(&reply.pickle, NULL, TEXT_BYTES_MAX);
    plim_text_init(&reply.for_viewer, NULL, TEXT_BYTES_MAX);
    plim_status status = plim_input_open_memory(data, length, NULL, &input, &err);
    if (status == PLIM_OK) {
        status = convert(input, &reply, &err);
    }
    write_piece(plim_text_string(&reply.text), reply.text.length);
    write_piece(plim_text_string(&reply.pickle), status == PLIM_OK ? reply.pickle.length : 0);
    write_piece(plim_text_string(&reply.for_viewer), reply.for_viewer.length);
    write_piece(err.message, status == PLIM_OK ? 0 : strlen(err.message));
    plim_input_close(input);
    plim_text_deinit(&reply.text);
    plim_text_deinit(&reply.pickle);
    plim_text_deinit(&reply.for_viewer);
}

int main(void)
{
    uint32_t length = 0;
    while (read_length(&length)) {
        char *data = malloc(length + 1u);
        const bool is_complete = data != NULL && fread(data, 1, length, stdin) == length;
        if (is_complete) {
            answer(data, length);
        }
        free(data);
        if (!is_complete || fflush(stdout) != 0) {
            return 1;
        }
    }
    return 0;
}
