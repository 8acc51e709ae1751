/*
 * inside.h - the inside of a recorder, for the files of this room that make it up.
 *
 *   recorder.c  the calls of the public header, in the program's threads
 *   writer.c    the thread that takes from the queues and writes
 *   state.c     the segments and blocks that exist already, at once
 *
 * Three kinds of fields: those the program's threads touch without a lock, those under `lock`
 * (the writer holds it while it works, and never while it waits), and what never changes.
 */
#ifndef PLIMSOLL_TRACE_WRITE_INSIDE_H
#define PLIMSOLL_TRACE_WRITE_INSIDE_H

#include "plimsoll/recorder.h"
#include "trace/chunk.h"
#include "trace/write/filling.h"
#include "trace/write/names.h"
#include "trace/write/threads.h"
#include "trace/write/wake.h"

#include <pthread.h>

#define PLIM_LOST_DEVICES     64 /* devices above share the last place */
#define PLIM_QUEUED_BYTES_MAX ((uint64_t)64 << 20)

/* A foreign frame within a queued stack; its two strings follow. */
typedef struct plim_queued_frame {
    uint32_t line;
    uint32_t filename_bytes;
    uint32_t name_bytes;
} plim_queued_frame;

/* A stack on its way to the writer: this, addresses, plim_queued_frames, strings. */
typedef struct plim_queued_stack plim_queued_stack;
struct plim_queued_stack {
    plim_queued_stack *next;
    size_t bytes; /* all together */
    size_t address_count;
    size_t frame_count;
    uint32_t id;
};

/* The name of an annotation on its way. */
typedef struct plim_queued_name {
    size_t bytes;
    char text[];
} plim_queued_name;

/* Events of a device that found no room since the last that did. */
typedef struct plim_lost {
    _Atomic uint64_t count;
    _Atomic int32_t device;
} plim_lost;

struct plim_recorder {
    /* --- never changes --- */
    const plim_mem *mem;
    uint32_t flush_ms;

    /* --- without a lock --- */
    plim_listed listed;
    _Atomic(plim_queued_stack *) queued; /* newest first */
    _Atomic uint64_t queued_bytes;
    _Atomic uint64_t dropped;
    _Atomic uint64_t discarded; /* taken, and not written because writing failed */
    _Atomic uint64_t stacks_lost;
    plim_lost lost[PLIM_LOST_DEVICES];
    atomic_bool is_asleep; /* the writer waits for `wake` */
    atomic_bool is_stopping;
    plim_wake wake;
    uint8_t apart[PLIM_CACHE_LINE];
    _Atomic uint64_t next_number; /* of a slot */
    uint8_t apart_too[PLIM_CACHE_LINE];

    /* --- under the lock --- */
    pthread_mutex_t lock;
    pthread_cond_t flushed;
    uint64_t flushes_wanted;
    uint64_t flushes_done;
    plim_chunk_file file;
    plim_trace_names names;
    PLIM_VEC(plim_filling *) fillings;
    plim_filling *last_filling;
    plim_event_queue *last_queue;
    uint64_t next_taken; /* number of the slot the writer takes next */
    uint64_t oldest_ns;  /* when the oldest row that is not written was put; 0: none */
    plim_error error;    /* the first that is not of the file */
    pthread_t writer;
};

/* The thread's function; its argument is the recorder. */
void *plim_recorder_write(void *recorder);

/* Frees a stack or a name on its way. */
static inline void plim_queued_stack_free(plim_recorder *recorder, plim_queued_stack *stack)
{
    plim_mem_free(recorder->mem, stack, stack->bytes, 1);
}

static inline void plim_queued_name_free(plim_recorder *recorder, plim_queued_name *name)
{
    plim_mem_free(recorder->mem, name, sizeof *name + name->bytes, 1);
}

#endif
