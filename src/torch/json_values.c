/*
 * json_values.c - JSON through yajl, a streaming parser, into a builder.
 *
 * yajl calls back for each token; containers collect their items on a stack until they end. Two
 * things about yajl need care. It takes memory without looking whether it got any, so our
 * allocator leaves by longjmp() when there is none and frees what yajl held from a list. And it
 * knows no end of input of its own: the caller says so.
 */
#include "torch/json_values.h"

#include "base/error.h"
#include "base/vec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#define JSON_CHUNK_BYTES ((size_t)256 << 10) /* what yajl gets at a time */
#define TOKEN_BYTES_MAX  ((size_t)32 << 20)  /* no string of a snapshot is nearly as long */
#define NUMBER_BYTES_MAX 400                 /* a double's longest exact form has some 330 digits */

/* In front of each block that yajl holds. */
typedef struct held_block {
    struct held_block *previous;
    struct held_block *next;
    size_t bytes;  /* after this header */
    size_t unused; /* keeps what follows 16-aligned */
} held_block;

typedef struct json_reader {
    plim_builder *builder;
    plim_error *err;
    plim_status status; /* of the first callback that failed */
    uint64_t tokens;    /* callbacks so far */
    PLIM_VEC(plim_value) stack;
    PLIM_VEC(size_t) marks; /* stack heights where open containers begin */
    held_block held;        /* head of a ring */
    jmp_buf no_memory;
} json_reader;

static void *hold(void *ctx, size_t bytes)
{
    json_reader *reader = ctx;
    held_block *block = bytes > SIZE_MAX / 2
                            ? NULL
                            : plim_mem_alloc(reader->builder->mem, bytes + sizeof *block, 1);
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
    plim_mem_free(reader->builder->mem, block, block->bytes + sizeof *block, 1);
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
static int finish(json_reader *reader, plim_status status)
{
    reader->status = status;
    return status == PLIM_OK;
}

static int push(json_reader *reader, bool made, plim_value value)
{
    reader->tokens++;
    if (!made || !PLIM_VEC_PUSH(reader->builder->mem, &reader->stack, value)) {
        return finish(reader, plim_fail_memory(reader->err, "reading the JSON"));
    }
    return 1;
}

static int on_null(void *ctx)
{
    return push(ctx, true, PLIM_VALUE_NONE);
}

static int on_boolean(void *ctx, int boolean)
{
    return push(ctx, true, boolean ? PLIM_VALUE_TRUE : PLIM_VALUE_FALSE);
}

static int on_number(void *ctx, const char *text, size_t bytes)
{
    json_reader *reader = ctx;
    char copy[NUMBER_BYTES_MAX + 1];
    plim_value value = PLIM_VALUE_ABSENT;
    if (bytes > NUMBER_BYTES_MAX) {
        return finish(reader, plim_fail(reader->err, PLIM_LIMIT, "a number of %zu digits", bytes));
    }
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    if (strpbrk(copy, ".eE") == NULL) {
        errno = 0;
        const long long integer = strtoll(copy, NULL, 10);
        if (errno == 0) {
            return push(reader, plim_make_int(reader->builder, integer, &value), value);
        }
        errno = 0;
        uint8_t little[9] = { 0 }; /* unsigned, hence a ninth byte for the sign */
        unsigned long long large = copy[0] == '-' ? 0 : strtoull(copy, NULL, 10);
        if (errno == 0 && large != 0) {
            for (size_t i = 0; i < 8; i++) {
                little[i] = (uint8_t)large;
                large >>= 8;
            }
            return push(reader, plim_make_long(reader->builder, little, 9, &value), value);
        }
    }
    return push(reader, plim_make_real(reader->builder, strtod(copy, NULL), &value), value);
}

static int on_string(void *ctx, const unsigned char *text, size_t bytes)
{
    json_reader *reader = ctx;
    plim_value value = PLIM_VALUE_ABSENT;
    return push(reader, plim_make_string(reader->builder, text, bytes, &value), value);
}

static int on_start(void *ctx)
{
    json_reader *reader = ctx;
    reader->tokens++;
    if (!PLIM_VEC_PUSH(reader->builder->mem, &reader->marks, reader->stack.count)) {
        return finish(reader, plim_fail_memory(reader->err, "reading the JSON"));
    }
    return 1;
}

/* yajl sees to it that containers are balanced and keys have values. */
static int on_end(json_reader *reader, plim_kind kind)
{
    const size_t height = reader->marks.items[--reader->marks.count];
    plim_value value = PLIM_VALUE_ABSENT;
    if (!plim_make_container(reader->builder, kind, &value)) {
        return finish(reader, plim_fail_memory(reader->err, "reading the JSON"));
    }
    const plim_status status =
        plim_container_extend(reader->builder, value, reader->stack.items + height,
                              reader->stack.count - height, reader->err);
    reader->stack.count = height;
    /* JSON has no names for values, so nothing but its parent will ever see the dict of a row. */
    return status == PLIM_OK ? push(reader, true, plim_value_clean(value)) : finish(reader, status);
}

static int on_end_map(void *ctx)
{
    return on_end(ctx, PLIM_KIND_DICT);
}

static int on_end_array(void *ctx)
{
    return on_end(ctx, PLIM_KIND_LIST);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start,
    .yajl_map_key = on_string,
    .yajl_end_map = on_end_map,
    .yajl_start_array = on_start,
    .yajl_end_array = on_end_array,
};

static plim_status explain(json_reader *reader, yajl_handle yajl, yajl_status outcome,
                           uint64_t chunk_offset, plim_error *err)
{
    if (outcome == yajl_status_ok) {
        return PLIM_OK;
    }
    if (outcome == yajl_status_client_canceled) {
        return reader->status; /* the callback has said why */
    }
    return plim_fail_at(err, PLIM_CORRUPT, chunk_offset + yajl_get_bytes_consumed(yajl),
                        "damaged JSON: a character that does not belong there, or the file is "
                        "cut off");
}

/*
 * yajl reads a token that a chunk cuts again from its start, so a string of many chunks would take
 * quadratic time: chunks without a token make the next one twice as long.
 */
static plim_status feed(json_reader *reader, plim_input *input, yajl_handle yajl,
                        const plim_pickle_options *options, plim_error *err)
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
        const uint64_t own_bytes =
            reader->stack.capacity * sizeof(plim_value) + reader->marks.capacity * sizeof(size_t);
        PLIM_TRY(plim_builder_check(reader->builder, own_bytes, offset + consumed, err));
        chunk = reader->tokens == tokens_before ? 2 * chunk : JSON_CHUNK_BYTES;
        if (chunk > TOKEN_BYTES_MAX) {
            return plim_fail_at(err, PLIM_LIMIT, offset, "damaged JSON: %zu MiB without a value",
                                TOKEN_BYTES_MAX >> 20);
        }
        if (options != NULL && options->reading != NULL &&
            !options->reading(options->reading_ctx, input)) {
            return plim_fail(err, PLIM_CANCELLED, "stopped while reading");
        }
    }
}

/* Apart from its caller, which keeps what longjmp() must not lose. */
static plim_status parse(json_reader *reader, plim_input *input, const plim_pickle_options *options,
                         plim_error *err)
{
    if (setjmp(reader->no_memory) != 0) {
        return plim_fail_memory(err, "reading the JSON");
    }
    yajl_alloc_funcs functions = {
        .malloc = hold, .realloc = rehold, .free = release, .ctx = reader
    };
    yajl_handle yajl = yajl_alloc(&callbacks, &functions, reader);
    yajl_config(yajl, yajl_dont_validate_strings, 1); /* file names hold any bytes */
    return feed(reader, input, yajl, options, err);
}

plim_status plim_json_read(plim_input *input, plim_builder *builder,
                           const plim_pickle_options *options, plim_value *ret_root,
                           plim_error *err)
{
    json_reader reader = { .builder = builder, .err = err };
    reader.held.next = reader.held.previous = &reader.held;
    /* The stack is there from the start, so that no pointer to its top is NULL and something. */
    plim_status status = plim_vec_room(builder->mem, &reader.stack.items, &reader.stack.capacity, 0,
                                       sizeof(plim_value))
                             ? parse(&reader, input, options, err)
                             : plim_fail_memory(err, "reading the JSON");
    release_all(&reader);
    if (status == PLIM_OK && reader.stack.count == 1) {
        *ret_root = reader.stack.items[0];
    } else if (status == PLIM_OK) {
        status = plim_fail(err, PLIM_CORRUPT, "damaged JSON: there is no value in it");
    }
    PLIM_VEC_FREE(builder->mem, &reader.stack);
    PLIM_VEC_FREE(builder->mem, &reader.marks);
    return status;
}
