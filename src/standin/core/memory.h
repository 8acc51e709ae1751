/*
 * memory.h - device memory that is only addresses and counters.
 *
 * Each device has a capacity. Memory leaves it in two ways, as on a real GPU:
 *
 *   allocate()  address and memory together, what cudaMalloc does
 *   reserve()   addresses alone, then physical_create() + map(): what the
 *               driver's virtual memory calls do
 *
 * Both kinds of address lie in windows of their own, which are mapped without
 * access at first use: a stray read or write of "device memory" by the host
 * faults at once instead of hitting something else. All functions may be
 * called from any thread.
 */
#ifndef PLIM_STANDIN_CORE_MEMORY_H
#define PLIM_STANDIN_CORE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Smallest page the driver maps device memory with: 2 MiB (cuMemGetAllocationGranularity). */
#define PLIM_STANDIN_PAGE_BYTES (UINT64_C(2) << 20)

typedef enum plim_standin_memory_status {
    PLIM_STANDIN_MEMORY_OK,
    PLIM_STANDIN_MEMORY_OUT,    /* the device, or its address window, is full */
    PLIM_STANDIN_MEMORY_INVALID /* no such address, handle or device */
} plim_standin_memory_status;

void plim_standin_memory_info(int device, uint64_t *ret_free_bytes, uint64_t *ret_total_bytes);

/* Whole pages are taken from the device; the address is a multiple of a page. */
plim_standin_memory_status plim_standin_memory_allocate(int device, uint64_t bytes,
                                                        uint64_t *ret_address);
plim_standin_memory_status plim_standin_memory_release(uint64_t address);

/* Addresses without memory. `bytes` is a multiple of a page. */
plim_standin_memory_status plim_standin_memory_reserve(uint64_t bytes, uint64_t alignment,
                                                       uint64_t *ret_address);
plim_standin_memory_status plim_standin_memory_unreserve(uint64_t address, uint64_t bytes);

/*
 * Memory without an address. It goes back to its device when the creator has
 * released the handle and nothing maps it any more, in either order.
 */
plim_standin_memory_status plim_standin_memory_physical_create(int device, uint64_t bytes,
                                                               uint64_t *ret_handle);
plim_standin_memory_status plim_standin_memory_physical_release(uint64_t handle);

plim_standin_memory_status plim_standin_memory_map(uint64_t address, uint64_t bytes,
                                                   uint64_t handle);
/* Takes away every mapping inside the range; the range must cover them whole. */
plim_standin_memory_status plim_standin_memory_unmap(uint64_t address, uint64_t bytes);

/* The allocation or mapping that holds `address`. False: it is not device memory. */
bool plim_standin_memory_find(uint64_t address, int *ret_device, uint64_t *ret_base,
                              uint64_t *ret_bytes);

/* Is this an address only a device could use? True also where nothing is mapped. */
bool plim_standin_memory_is_device_address(uint64_t address);

#endif
