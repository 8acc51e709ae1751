/*
 * memory.h - device memory that is only addresses and counters.
 *
 * Memory leaves a device in three ways, as on a real GPU:
 *
 *   allocate()  address and memory together, what cudaMalloc does
 *   reserve()   addresses alone, then physical_create() + map(): what the driver's virtual memory
 *               calls do (virtual.c)
 *   pools       what cudaMallocAsync does
 *
 * The books are the stage's, where all processes of the rehearsal share the devices. All
 * functions may be called from any thread.
 *
 * Why this is no plim_sim_create(): there, an address range and a handle belong to one device,
 * while cuMemAddressReserve names none and a handle may be mapped by any; and the capacity is
 * what the other processes leave.
 */
#ifndef PLIMSOLL_STANDIN_CORE_MEMORY_H
#define PLIMSOLL_STANDIN_CORE_MEMORY_H

#include "standin/core/ranges.h"

/* Smallest page the driver maps device memory with: 2 MiB (cuMemGetAllocationGranularity). */
#define PLIM_STANDIN_PAGE_BYTES (UINT64_C(2) << 20)

/* cudaMalloc packs requests up to this into shared pages. */
#define PLIM_STANDIN_SMALL_BYTES (UINT64_C(1) << 20)
#define PLIM_STANDIN_ALIGNMENT   UINT64_C(512) /* of all that is allocated */

typedef enum plim_standin_memory_status {
    PLIM_STANDIN_MEMORY_OK,
    PLIM_STANDIN_MEMORY_OUT,    /* the device, or its address window, is full */
    PLIM_STANDIN_MEMORY_INVALID /* no such address, handle or device */
} plim_standin_memory_status;

typedef struct plim_standin_place {
    uint64_t base;
    uint64_t bytes;
    int device;
} plim_standin_place;

void plim_standin_memory_info(int device, uint64_t *ret_free_bytes, uint64_t *ret_total_bytes);

/* No block of a caching allocator in memory of the device is larger. */
uint64_t plim_standin_memory_largest(int device);
/* Something lies in memory of a device in one piece. */
void plim_standin_memory_note_piece(int device, uint64_t bytes);

/* Of devices that have their context (footprint.h): the driver makes it first. */
plim_standin_memory_status plim_standin_memory_allocate(int device, uint64_t bytes,
                                                        uint64_t *ret_address);
/* Also what came from a pool, which gets it back. */
plim_standin_memory_status plim_standin_memory_release(uint64_t address);

/* The allocation or mapping that holds `address`. False: it is not device memory. */
bool plim_standin_memory_find(uint64_t address, plim_standin_place *ret);

/* ---- virtual memory -------------------------------------------------------------------------- */

/* Addresses without memory. `bytes` is a multiple of a page. */
plim_standin_memory_status plim_standin_memory_reserve(uint64_t bytes, uint64_t alignment,
                                                       uint64_t *ret_address);
/* A whole reservation, in which nothing is mapped any more. */
plim_standin_memory_status plim_standin_memory_unreserve(uint64_t address, uint64_t bytes);

/*
 * Memory without an address. It goes back to its device when every creator and retainer has
 * released the handle and nothing maps it any more, in either order.
 */
plim_standin_memory_status plim_standin_memory_physical_create(int device, uint64_t bytes,
                                                               uint64_t *ret_handle);
plim_standin_memory_status plim_standin_memory_physical_release(uint64_t handle);
/* The handle mapped at an address, retained once more. */
plim_standin_memory_status plim_standin_memory_physical_retain(uint64_t address,
                                                               uint64_t *ret_handle);
plim_standin_memory_status plim_standin_memory_physical_device(uint64_t handle, int *ret_device);

plim_standin_memory_status plim_standin_memory_map(uint64_t address, uint64_t bytes,
                                                   uint64_t handle);
/* Takes away every mapping inside the range; the range must cover them whole. */
plim_standin_memory_status plim_standin_memory_unmap(uint64_t address, uint64_t bytes);
/* Is all of the range mapped? */
bool plim_standin_memory_is_mapped(uint64_t address, uint64_t bytes);
bool plim_standin_memory_find_mapping(uint64_t address, plim_standin_place *ret);

/* ---- pools: what cudaMallocAsync takes from and cudaFreeAsync gives to ----------------------- */

/*
 * A pool takes memory of its device in steps and keeps what is freed, up to its release
 * threshold. This one is a model: it never fragments, since the driver can join pieces of physical
 * memory under one range of addresses, and it gives back at once what a real one gives back at the
 * next synchronisation, since streams here have always finished.
 *
 * Pools are numbered from 1, and the number is the handle. The first PLIM_STAGE_DEVICES_MAX are the
 * default pools of the devices.
 */
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
/* Live allocations stay, and go back to the device when they are freed. */
plim_standin_memory_status plim_standin_pool_destroy(uint64_t pool);

plim_standin_memory_status plim_standin_pool_allocate(uint64_t pool, uint64_t bytes,
                                                      uint64_t *ret_address);
/* Gives back what is not used, down to `keep_bytes`. */
plim_standin_memory_status plim_standin_pool_trim(uint64_t pool, uint64_t keep_bytes);

plim_standin_memory_status plim_standin_pool_figures_get(uint64_t pool,
                                                         plim_standin_pool_figures *ret);
plim_standin_memory_status plim_standin_pool_set_threshold(uint64_t pool, uint64_t bytes);
plim_standin_memory_status plim_standin_pool_reset_peaks(uint64_t pool, bool of_reserved);

#endif
