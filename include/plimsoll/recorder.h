/*
 * plimsoll/recorder.h - a recording written while the program runs: the .plim file.
 *
 *   allocator ──events──► bounded queue per thread ──► writer thread ──► file, append only
 *
 * Recording never blocks the allocator: what the writer cannot keep up with is dropped and
 * counted, in the file too, where it is missing. A file whose writer was killed is readable up to
 * the last chunk that reached the system: a few milliseconds before. After a fork the child's
 * copy of a recorder takes nothing and may only be stopped, which frees it.
 * Format: docs/formats/plim.md; reasons: docs/design/recorder.md.
 */
#ifndef PLIMSOLL_RECORDER_H
#define PLIMSOLL_RECORDER_H

#include "plimsoll/event.h"
#include "plimsoll/history.h"

PLIM_BEGIN_DECLS

typedef struct plim_recorder plim_recorder;

/* All zero is a valid default. */
typedef struct plim_recorder_options {
    const plim_mem *mem;    /* borrowed; NULL: the C heap. Called from several threads at once */
    uint64_t queue_events;  /* of each queue; 0: 65,536. A power of two or rounded up to one */
    uint32_t flush_ms;      /* how long an event waits at most before it is written; 0: 20 */
    uint32_t compression;   /* zstd level; 0: none, which is the fastest. Without libzstd.so.1 the
                             * recording is written uncompressed */
    bool leaves_out_frames; /* keep return addresses, resolve no names */
} plim_recorder_options;

/**
 * Start a recording: creates or truncates the file and starts the writer thread.
 *
 * errors   PLIM_IO, PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_API PLIM_MUST_USE plim_status plim_recorder_start(const char *path,
                                                       const plim_recorder_options *options,
                                                       plim_recorder **ret_recorder,
                                                       plim_error *err);

/** The listener to give to plim_add_event_sink(): of one allocator, whose numbers of stacks it
 * keeps. Any number of threads may call it at once. */
PLIM_API plim_event_sink plim_recorder_sink(plim_recorder *recorder);

/** Record the present state and the settings in force: segments, blocks and
 * settings of a history (its events are left out). Call it before events flow. */
PLIM_API plim_status plim_recorder_state(plim_recorder *recorder, const plim_history *history,
                                         plim_error *err);

/** Name a moment: a step, a phase. May be called from any thread. `name` may be NULL.
 * errors   PLIM_LIMIT: the thread's queue is full. PLIM_OUT_OF_HOST_MEMORY */
PLIM_API plim_status plim_recorder_annotate(plim_recorder *recorder, int32_t device,
                                            const char *name, bool is_start, plim_error *err);

typedef struct plim_recorder_counts {
    uint64_t events;        /* taken */
    uint64_t dropped;       /* not taken: the queue was full */
    uint64_t written_bytes; /* of the file so far */
} plim_recorder_counts;

PLIM_API plim_recorder_counts plim_recorder_count(const plim_recorder *recorder);

/** Wait until everything taken so far is with the system.
 * errors   the first failure of the recording: PLIM_IO, PLIM_OUT_OF_HOST_MEMORY */
PLIM_API plim_status plim_recorder_flush(plim_recorder *recorder, plim_error *err);

/** Write what is left, close the file, end the thread. The sink must be removed before.
 * errors   as plim_recorder_flush(). NULL is allowed */
PLIM_API plim_status plim_recorder_stop(plim_recorder *recorder, plim_error *err);

#define PLIM_RECORDING_SAVE_LEVEL 3 /* of zstd: small beside what making a history takes */

/* All zero is a valid default. */
typedef struct plim_recording_save_options {
    const plim_mem *mem;  /* borrowed; NULL: the C heap */
    uint32_t compression; /* zstd level, such as the above; 0: none */
} plim_recording_save_options;

/**
 * Write a history as a recording, whatever it was read from; returns when the file is closed. Read
 * back, it is the same history: events and their notes, stacks, annotations of each device,
 * settings, segments and blocks at the end, whether a device overflowed. The same history gives
 * the same bytes. What stood at the start is worked out as for every reader, so that the
 * recording makes sense without the end too.
 *
 * Left out are the source's name, anomalies and warnings; strings no event, stack, segment,
 * setting or annotation leads to; what strings have beyond 64 KiB; times before 1970 and after
 * 2262, which become unknown. Annotations come back by device.
 *
 * path     created or truncated; removed again when writing fails, if it is an ordinary file
 * options  NULL: all zero
 * errors   PLIM_IO, PLIM_LIMIT, PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_API PLIM_MUST_USE plim_status plim_recording_save(const plim_history *history,
                                                       const char *path,
                                                       const plim_recording_save_options *options,
                                                       plim_error *err);

/**
 * Read a recording back as a history. A cut or damaged part is left out, with a warning in the
 * history that says how much. A device of which events are missing is `overflowed`; what the
 * missing ones must have been for the rest to make sense stands in their place, with a note whose
 * user metadata says so.
 *
 * path     as the recorder wrote it; plim_history_load() of libplimsoll reads files that were
 *          compressed afterwards too
 * mem      NULL: the C heap
 * errors   PLIM_IO, PLIM_CORRUPT (not even a header), PLIM_UNSUPPORTED (a newer format, a
 * compressed file, or a recording with zstd's compression where libzstd.so.1 is not installed),
 *          PLIM_LIMIT, PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_API PLIM_MUST_USE plim_status plim_recording_load(const char *path, const plim_mem *mem,
                                                       plim_history **ret_history, plim_error *err);
/** The same from memory, which is only read during the call. */
PLIM_API PLIM_MUST_USE plim_status plim_recording_parse(const void *data, size_t bytes,
                                                        const plim_mem *mem,
                                                        plim_history **ret_history,
                                                        plim_error *err);

PLIM_END_DECLS

#endif
