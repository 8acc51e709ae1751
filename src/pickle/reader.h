/*
 * reader.h - pickle bytes to values. Executes nothing.
 */
#ifndef PLIMSOLL_PICKLE_READER_H
#define PLIMSOLL_PICKLE_READER_H

#include "base/input.h"
#include "pickle/build.h"

/* Called every few megabytes; false stops the reading with PLIM_CANCELLED. */
typedef bool plim_reading(void *ctx, const plim_input *input);

typedef struct plim_pickle_options {
    plim_reading *reading; /* may be NULL */
    void *reading_ctx;
} plim_pickle_options;

/* Facts about a pickle that was read. */
typedef struct plim_pickle_facts {
    int protocol; /* as the PROTO opcode says; 0 without one */
} plim_pickle_facts;

/**
 * Read one pickle, protocols 0 to 5.
 *
 * input      at the pickle's first byte; left somewhere after its STOP
 * builder    values live in it; its sink, if any, gets the rows
 * ret_root   the value the pickle stands for
 * errors     PLIM_CORRUPT      malformed; err->offset is the byte of the opcode at fault, or
 *                              the end of a file that is cut off
 *            PLIM_FORBIDDEN    an opcode that would import or call; module and name in the message
 *            PLIM_UNSUPPORTED  a protocol above 5; a record changed after it was handed over
 *            PLIM_LIMIT        the values take memory out of proportion to the bytes read
 *            and those of plim_input_refill() and of the sink
 * memory     at most PLIM_PICKLE_BYTES_FREE + PLIM_PICKLE_BYTES_PER_BYTE times the bytes read
 * depth      nesting costs heap, never stack: there is no recursion
 */
plim_status plim_pickle_read(plim_input *input, plim_builder *builder,
                             const plim_pickle_options *options, plim_pickle_facts *ret_facts,
                             plim_value *ret_root, plim_error *err);

/* True if a document that starts like this can be a pickle rather than text such as JSON. */
bool plim_pickle_looks_like(const uint8_t *data, size_t bytes);

#endif
