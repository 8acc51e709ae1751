/*
 * sim.h - inside the device of addresses and counters.
 *
 * sim.c makes it and has its controls, sim_memory.c is its calls on memory, core.c all others.
 */
#ifndef PLIMSOLL_DEVICE_SIM_H
#define PLIMSOLL_DEVICE_SIM_H

#include "device/core.h"

typedef struct plim_sim {
    plim_device_core core;
    plim_space plain;    /* addresses of plain memory */
    plim_space reserved; /* addresses of ranges */
    plim_space guests;   /* all other addresses: only by plim_sim_place_next() */
    plim_addr wanted;    /* plim_sim_place_next(): where the next piece is to be; 0: anywhere */
    plim_addr (*place)(void *ctx, plim_device_call call, uint64_t bytes); /* or NULL */
    void *place_ctx;
} plim_sim;

/* Fill the entries of the table. */
void plim_sim_memory_ops(plim_device_ops *ops, bool can_map);

/* --- addresses (sim_windows.c) --- */

/* Opens the windows for ranges and plain memory; false: no host memory. */
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
/* True if every byte of [addr, addr + bytes) was placed. */
bool plim_sim_is_placed(plim_sim *sim, plim_addr addr, uint64_t bytes);

#endif
