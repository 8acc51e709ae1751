/*
 * sim.h - inside the device of addresses and counters.
 *
 * sim.c makes it and has its controls, sim_memory.c and sim_streams.c are its calls. Each call is
 *
 *     plim_device_record record = { .call = …, what was asked };
 *     if (plim_sim_begin(sim, &record, err)) {   locks; may have been told to fail
 *         record.status = …;
 *     }
 *     return plim_sim_end(sim, &record);         counts, costs, tells, unlocks
 */
#ifndef PLIMSOLL_DEVICE_SIM_H
#define PLIMSOLL_DEVICE_SIM_H

#include "device/books.h"
#include "device/queues.h"

#include <pthread.h>

typedef struct plim_sim_failure {
    uint64_t in; /* calls from now; 0: none */
    plim_status status;
} plim_sim_failure;

typedef struct plim_sim {
    pthread_mutex_t lock;
    const plim_mem *mem;
    plim_device_ops ops;
    int32_t ordinal;
    char name[PLIM_DEVICE_NAME_BYTES];
    plim_sim_costs costs;
    void (*on_call)(void *ctx, const plim_device_record *record);
    void *on_call_ctx;

    uint64_t clock_ns;
    uint64_t calls[PLIM_DEVICE_CALL_COUNT];
    plim_sim_failure failures[PLIM_DEVICE_CALL_COUNT];

    plim_books books;
    plim_space plain;     /* addresses of plain memory */
    plim_map plain_bytes; /* address -> bytes taken */
    plim_space reserved;  /* addresses of ranges */
    plim_space guests;    /* all other addresses: only who is told to goes there */
    plim_addr wanted;     /* plim_sim_place_next(): where the next piece is to be; 0: anywhere */

    plim_queues queues;
} plim_sim;

/* sim_call.c. begin returns false when the call was told to fail; the record has the status. */
bool plim_sim_begin(plim_sim *sim, plim_device_record *record, plim_error *err);
plim_status plim_sim_end(plim_sim *sim, plim_device_record *record);

/* Fill the entries of the table; sim_memory.c and sim_streams.c. */
void plim_sim_memory_ops(plim_device_ops *ops, bool can_map);
void plim_sim_stream_ops(plim_device_ops *ops);

/* --- addresses (sim_windows.c) --- */

/* Where the device may put ranges and plain memory; false: no host memory. */
bool plim_sim_add_windows(plim_sim *sim);
/*
 * Takes `bytes` addresses: at `wanted` if all of them are free, else where `home` has them free
 * first, in whole granules.
 *
 * returns   PLIM_OUT_OF_DEVICE_MEMORY when no place is large enough, PLIM_OUT_OF_HOST_MEMORY
 */
plim_status plim_sim_place(plim_sim *sim, plim_space *home, plim_addr wanted, uint64_t bytes,
                           plim_addr *ret_addr);
/* Gives back what was placed. */
void plim_sim_displace(plim_sim *sim, plim_addr addr, uint64_t bytes);
/* Whether every byte of [addr, addr + bytes) was placed. */
bool plim_sim_is_placed(plim_sim *sim, plim_addr addr, uint64_t bytes);

#endif
