/*
 * writer.h - values to pickle bytes, protocol 4, as CPython's C pickler writes them: with it tests
 * hold the reader and the emitter against CPython.
 *
 * What pickle.dump() wrote in protocol 4 comes back byte for byte when it was read without a row
 * sink: the same opcodes, memo and frames. PyTorch's own snapshots are such files. Not written
 * the same are pickles of other protocols (this writes 4) and what a row sink has taken apart.
 */
#ifndef PLIMSOLL_TESTS_PICKLE_WRITER_H
#define PLIMSOLL_TESTS_PICKLE_WRITER_H

#include "base/sink.h"
#include "pickle/value.h"

/* All zero is a valid default. */
typedef struct plim_pickle_write_options {
    const plim_mem *mem; /* for the frame, the memo and the containers that are open; NULL: heap */
    /*
     * Refuse what PyTorch's viewer (MemoryViz.js) cannot read: bytes, sets, tuples that contain
     * themselves, integers above 255 bytes, strings above 4 GiB. Without it they are written.
     */
    bool viewer_safe;
} plim_pickle_write_options;

/**
 * Write a value as one pickle.
 *
 * root     a value and all it holds; objects that stand in several places are written once
 * options  may be NULL
 * sink     gets the bytes in order, a frame of some 64 KiB at a time
 * errors   PLIM_UNSUPPORTED         a bytearray (protocol 4 has none, and Python would write a
 *                                   call), a row (its dict is gone), what viewer_safe refuses
 *          PLIM_INVALID_ARGUMENT    an absent value
 *          PLIM_LIMIT               more objects than a memo can number, 2^32; nested deeper than
 *                                   PLIM_PICKLE_WRITE_DEPTH_MAX
 *          PLIM_IO                  the sink took no more; whoever made it knows why
 *          PLIM_OUT_OF_HOST_MEMORY
 *          After an error the sink has a part of the pickle.
 * depth    nesting costs heap, 24 bytes a level, never stack: there is no recursion
 * cycles   are fine. Tuples that lie on many cycles at once take, as in Python, up to the square
 *          of their number in bytes: bound the sink where values come from strangers
 */
plim_status plim_pickle_write(plim_value root, const plim_pickle_write_options *options,
                              plim_sink sink, plim_error *err);

/* Python itself gives up at some thousands. */
#define PLIM_PICKLE_WRITE_DEPTH_MAX (1u << 22)

#endif
