/*
 * core.h - what sim and host have in common: the rules of memory (books.h), streams and fences
 * (queues.h), and calls that are counted, reported and made to fail. Each call is
 *
 *     plim_device_record record = { .call = …, what was asked };
 *     if (plim_core_begin(core, &record, err)) {   locks; may be made to fail
 *         record.status = …;
 *     }
 *     return plim_core_end(core, &record);         counts, costs, reports, unlocks
 */
#ifndef PLIMSOLL_DEVICE_CORE_H
#define PLIMSOLL_DEVICE_CORE_H

#include "device/books.h"
#include "device/queues.h"

#include <pthread.h>

typedef struct plim_core_failure {
    uint64_t in; /* calls from now; 0: none */
    plim_status status;
} plim_core_failure;

/* The first member of a device: what its functions get as `self` is both. */
typedef struct plim_device_core {
    pthread_mutex_t lock;
    bool is_unshared; /* it is not taken */
    bool is_lenient;  /* waiting for a stream, and freeing, complete no fence */
    const plim_mem *mem;
    plim_device_ops ops;
    int32_t ordinal;
    char name[PLIM_DEVICE_NAME_BYTES];
    plim_driver_costs costs;
    void (*on_call)(void *ctx, const plim_device_record *record);
    void *on_call_ctx;
    plim_sim_counts counts;
    plim_core_failure failures[PLIM_DEVICE_CALL_COUNT];

    plim_books books;
    plim_queues queues;
    plim_map plain_bytes; /* address of plain memory -> bytes taken */
} plim_device_core;

/* `name` is copied; books, queues and the entries of the table that core.c fills are as for a
 * device of total_bytes. granularity_bytes 0: 2 MiB. */
void plim_core_init(plim_device_core *core, const plim_mem *mem, const char *name,
                    uint64_t total_bytes, uint64_t granularity_bytes);
void plim_core_deinit(plim_device_core *core);

static inline void plim_core_lock(plim_device_core *core)
{
    if (!core->is_unshared) {
        (void)pthread_mutex_lock(&core->lock);
    }
}

static inline void plim_core_unlock(plim_device_core *core)
{
    if (!core->is_unshared) {
        (void)pthread_mutex_unlock(&core->lock);
    }
}

static inline void plim_core_leave(plim_device_core *const *core)
{
    plim_core_unlock(*core);
}

/* Holds the lock from here to the end of the block, however that is left. */
#define PLIM_CORE_HOLD(core)                                                         \
    __attribute__((cleanup(plim_core_leave), unused)) plim_device_core *const held = \
        (plim_core_lock(core), (core))

/* begin returns false when the call is to fail; the record has the status. */
bool plim_core_begin(plim_device_core *core, plim_device_record *record, plim_error *err);
plim_status plim_core_end(plim_device_core *core, plim_device_record *record);

#endif
