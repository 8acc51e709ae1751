/*
 * pool.h - stream-ordered memory: what cudaMallocAsync takes from and cudaFreeAsync gives to.
 *
 * A pool takes memory of its device in steps and keeps what is freed, up to its release
 * threshold. This one is a model: it never fragments, since the driver can join pieces of physical
 * memory under one range of addresses, and it gives back at once what a real one gives back at the
 * next synchronisation, since streams here have always finished.
 *
 * Pools are numbered from 1, and the number is the handle. The first PLIM_STAGE_DEVICES_MAX are the
 * default pools of the devices.
 */
#ifndef PLIMSOLL_STANDIN_CORE_POOL_H
#define PLIMSOLL_STANDIN_CORE_POOL_H

#include "standin/core/memory.h"

#define PLIM_STANDIN_POOLS_MAX 1024

/* Seen as the least that cudaMemPoolAttrReservedMemCurrent says; not documented. */
#define PLIM_STANDIN_POOL_STEP_BYTES (UINT64_C(32) << 20)

typedef struct plim_standin_pool_figures {
    uint64_t threshold_bytes;
    uint64_t reserved_bytes;
    uint64_t reserved_bytes_peak;
    uint64_t used_bytes;
    uint64_t used_bytes_peak;
} plim_standin_pool_figures;

/* 0: there is no such device, or no room for another pool. */
uint64_t plim_standin_pool_create(int device);
uint64_t plim_standin_pool_default(int device);
/* What is still allocated stays so, and goes back to the device when it is freed. */
plim_standin_memory_status plim_standin_pool_destroy(uint64_t pool);

plim_standin_memory_status plim_standin_pool_allocate(uint64_t pool, uint64_t bytes,
                                                      uint64_t *ret_address);
/* memory.c's release() says so. */
void plim_standin_pool_get_back(uint64_t pool, uint64_t bytes);

/* Gives back what is not used, down to `keep_bytes`. */
plim_standin_memory_status plim_standin_pool_trim(uint64_t pool, uint64_t keep_bytes);

plim_standin_memory_status plim_standin_pool_figures_get(uint64_t pool,
                                                         plim_standin_pool_figures *ret);
plim_standin_memory_status plim_standin_pool_set_threshold(uint64_t pool, uint64_t bytes);
plim_standin_memory_status plim_standin_pool_reset_peaks(uint64_t pool, bool of_reserved);

#endif
