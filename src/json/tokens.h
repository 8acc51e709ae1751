/*
 * tokens.h - JSON as a stream of tokens, through yajl, from any input.
 */
#ifndef PLIMSOLL_JSON_TOKENS_H
#define PLIMSOLL_JSON_TOKENS_H

#include "base/input.h"

typedef enum plim_json_token {
    PLIM_JSON_NULL,
    PLIM_JSON_FALSE,
    PLIM_JSON_TRUE,
    PLIM_JSON_NUMBER, /* with its text */
    PLIM_JSON_STRING, /* likewise, decoded */
    PLIM_JSON_KEY,    /* likewise; its value follows */
    PLIM_JSON_MAP_BEGIN,
    PLIM_JSON_MAP_END,
    PLIM_JSON_ARRAY_BEGIN,
    PLIM_JSON_ARRAY_END,
} plim_json_token;

/* Both functions end the reading with any status but PLIM_OK. */
typedef struct plim_json_sink {
    /* Takes a token; the text is borrowed during the call and not zero-terminated. Containers are
     * balanced, and keys have values. */
    plim_status (*take)(void *ctx, plim_json_token token, const char *text, size_t bytes,
                        plim_error *err);
    /* Called after each piece of the input, of some 256 KiB, with the bytes read so far. */
    plim_status (*piece)(void *ctx, const plim_input *input, uint64_t bytes, plim_error *err);
    void *ctx;
} plim_json_sink;

/**
 * Read one JSON document.
 *
 * errors  PLIM_CORRUPT with the byte offset; PLIM_LIMIT (a string of 32 MiB);
 *         PLIM_OUT_OF_HOST_MEMORY; those of plim_input_refill() and of the sink
 * depth   nesting costs heap, never stack
 */
plim_status plim_json_tokens(plim_input *input, const plim_mem *mem, const plim_json_sink *sink,
                             plim_error *err);

#endif
