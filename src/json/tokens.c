/*
 * tokens.c - JSON through yajl, a streaming parser, to a sink.
 *
 * Two things about yajl need care. It takes memory without looking whether it got any, so our
 * allocator leaves by longjmp() when memory is out and frees what yajl held from a list. And it
 * knows no end of input of its own: the caller says so.
 */
#include "json/tokens.h"

#include "base/error.h"

#include <setjmp.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#define JSON_CHUNK_BYTES ((size_t)256 << 10) /* what yajl gets at a time */
#define TOKEN_BYTES_MAX  ((size_t)32 << 20)  /* no string of a snapshot is nearly as long */

/* In front of each block that yajl holds. */
typedef struct held_block {
    struct held_block *previous;
    struct held_block *next;
    size_t bytes;  /* after this header */
    size_t unused; /* keeps what follows 16-aligned */
} held_block;

typedef struct json_reader {
    const plim_mem *mem;
    const plim_json_sink *sink;
    plim_error *err;
    plim_status status; /* of the first token that the sink refused */
    uint64_t tokens;    /* so far */
    held_block held;    /* head of a ring */
    jmp_buf no_memory;
} json_reader;

static void *hold(void *ctx, size_t bytes)
{
    json_reader *reader = ctx;
    held_block *block =
        bytes > SIZE_MAX / 2 ? NULL : plim_mem_alloc(reader->mem, bytes + sizeof *block, 1);
    if (block == NULL) {
        longjmp(reader->no_memory, 1);
    }
    *block = (held_block){ .previous = &reader->held, .next = reader->held.next, .bytes = bytes };
    block->next->previous = block;
    reader->held.next = block;
    return block + 1;
}

static void release(void *ctx, void *ptr)
{
    json_reader *reader = ctx;
    if (ptr == NULL) {
        return;
    }
    held_block *block = (held_block *)ptr - 1;
    block->previous->next = block->next;
    block->next->previous = block->previous;
    plim_mem_free(reader->mem, block, block->bytes + sizeof *block, 1);
}

/* yajl lets its buffers grow by a fixed amount; doubling keeps that from being quadratic. */
static void *rehold(void *ctx, void *ptr, size_t bytes)
{
    const size_t old_bytes = ptr == NULL ? 0 : ((held_block *)ptr - 1)->bytes;
    if (ptr != NULL && bytes <= old_bytes) {
        return ptr;
    }
    void *fresh = hold(ctx, bytes < 2 * old_bytes ? 2 * old_bytes : bytes);
    if (ptr != NULL) {
        memcpy(fresh, ptr, old_bytes);
        release(ctx, ptr);
    }
    return fresh;
}

static void release_all(json_reader *reader)
{
    while (reader->held.next != &reader->held) {
        release(reader, reader->held.next + 1);
    }
}

/* The answer of a callback: 0 makes yajl stop. */
static int take(json_reader *reader, plim_json_token token, const char *text, size_t bytes)
{
    reader->tokens++;
    reader->status = reader->sink->take(reader->sink->ctx, token, text, bytes, reader->err);
    return reader->status == PLIM_OK;
}

static int on_null(void *ctx)
{
    return take(ctx, PLIM_JSON_NULL, "", 0);
}

static int on_boolean(void *ctx, int boolean)
{
    return take(ctx, boolean ? PLIM_JSON_TRUE : PLIM_JSON_FALSE, "", 0);
}

static int on_number(void *ctx, const char *text, size_t bytes)
{
    return take(ctx, PLIM_JSON_NUMBER, text, bytes);
}

static int on_string(void *ctx, const unsigned char *text, size_t bytes)
{
    return take(ctx, PLIM_JSON_STRING, (const char *)text, bytes);
}

static int on_key(void *ctx, const unsigned char *text, size_t bytes)
{
    return take(ctx, PLIM_JSON_KEY, (const char *)text, bytes);
}

static int on_start_map(void *ctx)
{
    return take(ctx, PLIM_JSON_MAP_BEGIN, "", 0);
}

static int on_end_map(void *ctx)
{
    return take(ctx, PLIM_JSON_MAP_END, "", 0);
}

static int on_start_array(void *ctx)
{
    return take(ctx, PLIM_JSON_ARRAY_BEGIN, "", 0);
}

static int on_end_array(void *ctx)
{
    return take(ctx, PLIM_JSON_ARRAY_END, "", 0);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end_map,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end_array,
};

static plim_status explain(json_reader *reader, yajl_handle yajl, yajl_status outcome,
                           uint64_t chunk_offset, plim_error *err)
{
    if (outcome == yajl_status_ok) {
        return PLIM_OK;
    }
    if (outcome == yajl_status_client_canceled) {
        return reader->status; /* the sink has said why */
    }
    return plim_fail_at(err, PLIM_CORRUPT, chunk_offset + yajl_get_bytes_consumed(yajl),
                        "damaged JSON: a character that does not belong there, or the file is "
                        "cut off");
}

/*
 * yajl reads a token that a chunk cuts again from its start, so a string of many chunks would take
 * quadratic time: chunks without a token make the next one twice as long.
 */
static plim_status feed(json_reader *reader, plim_input *input, yajl_handle yajl, plim_error *err)
{
    size_t consumed = 0;
    size_t chunk = JSON_CHUNK_BYTES;
    for (;;) {
        plim_window window;
        PLIM_TRY(plim_input_refill(input, consumed, chunk, &window, err));
        const uint64_t offset = plim_input_offset(input);
        if (window.length == 0) {
            return explain(reader, yajl, yajl_complete_parse(yajl), offset, err);
        }
        const uint64_t tokens_before = reader->tokens;
        consumed = window.length < chunk ? window.length : chunk;
        PLIM_TRY(explain(reader, yajl, yajl_parse(yajl, window.data, consumed), offset, err));
        chunk = reader->tokens == tokens_before ? 2 * chunk : JSON_CHUNK_BYTES;
        if (chunk > TOKEN_BYTES_MAX) {
            return plim_fail_at(err, PLIM_LIMIT, offset, "damaged JSON: %zu MiB without a value",
                                TOKEN_BYTES_MAX >> 20);
        }
        PLIM_TRY(reader->sink->piece(reader->sink->ctx, input, offset + consumed, err));
    }
}

/* Apart from its caller, which keeps what longjmp() must not lose. */
static plim_status parse(json_reader *reader, plim_input *input, plim_error *err)
{
    if (setjmp(reader->no_memory) != 0) {
        return plim_fail_memory(err, "reading the JSON");
    }
    yajl_alloc_funcs functions = {
        .malloc = hold, .realloc = rehold, .free = release, .ctx = reader
    };
    yajl_handle yajl = yajl_alloc(&callbacks, &functions, reader);
    yajl_config(yajl, yajl_dont_validate_strings, 1); /* file names hold any bytes */
    return feed(reader, input, yajl, err);
}

plim_status plim_json_tokens(plim_input *input, const plim_mem *mem, const plim_json_sink *sink,
                             plim_error *err)
{
    json_reader reader = { .mem = mem, .sink = sink, .err = err };
    reader.held.next = reader.held.previous = &reader.held;
    const plim_status status = parse(&reader, input, err);
    release_all(&reader);
    return status;
}
