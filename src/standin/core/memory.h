/*
 * memory.h - device memory that is only addresses and counters.
 *
 * Memory leaves a device in three ways, as on a real GPU:
 *
 *   allocate()  address and memory together, what cudaMalloc does
 *   reserve()   addresses alone, then physical_create() + map(): what the driver's virtual memory
 *               calls do (virtual.c)
 *   pools       what cudaMallocAsync does (pool.h)
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

#include "standin/core/windows.h"

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

/* Of devices that have their context (footprint.h): the driver makes it first. */
plim_standin_memory_status plim_standin_memory_allocate(int device, uint64_t bytes,
                                                        uint64_t *ret_address);
/* Also what came from a pool, which gets it back. */
plim_standin_memory_status plim_standin_memory_release(uint64_t address);

/* The allocation or mapping that holds `address`. False: it is not device memory. */
bool plim_standin_memory_find(uint64_t address, plim_standin_place *ret);

/* An address alone, for a pool (its number, not 0), which keeps the books itself. */
plim_standin_memory_status plim_standin_memory_place(int device, uint64_t bytes, uint64_t pool,
                                                     uint64_t *ret_address);

/* ---- virtual memory -------------------------------------------------------------------------- */

/* Addresses without memory. `bytes` is a multiple of a page. */
plim_standin_memory_status plim_standin_memory_reserve(uint64_t bytes, uint64_t alignment,
                                                       uint64_t *ret_address);
/* A whole reservation, in which nothing is mapped any more. */
plim_standin_memory_status plim_standin_memory_unreserve(uint64_t address, uint64_t bytes);

/*
 * Memory without an address. It goes back to its device when whoever made or retained it has
 * released the handle and nothing maps it any more, in either order.
 */
plim_standin_memory_status plim_standin_memory_physical_create(int device, uint64_t bytes,
                                                               uint64_t *ret_handle);
plim_standin_memory_status plim_standin_memory_physical_release(uint64_t handle);
/* What is mapped at an address, retained once more. */
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

#endif
