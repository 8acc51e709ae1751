/*
 * books.h - who holds what of a device that is not a GPU: capacity, handles, ranges, mappings.
 *
 * The rules are those of the CUDA driver, and they are the same for sim and host:
 *
 *   - a handle is counted: one reference of its creator, one of each mapping. What it holds goes
 *     back to the device when the last is gone, so a released handle can stay mapped;
 *   - a mapping is of a whole handle, inside one range, and overlaps no other;
 *   - unmap and access are for whole mappings, one or several side by side;
 *   - what is mapped cannot be read or written before access was given;
 *   - a range can be freed as a whole, once nothing is mapped in it.
 *
 * All sizes and addresses are multiples of the granularity. Whoever owns the books locks them;
 * messages begin with the device's name.
 */
#ifndef PLIMSOLL_DEVICE_BOOKS_H
#define PLIMSOLL_DEVICE_BOOKS_H

#include "base/map.h"
#include "device/space.h"

#include "plimsoll/device.h"

#define PLIM_DEVICE_GRANULARITY_BYTES (UINT64_C(2) << 20) /* of every NVIDIA GPU so far */
#define PLIM_DEVICE_GRANULARITY_MAX   (UINT64_C(1) << 30)

typedef struct plim_physical {
    uint64_t bytes;      /* 0: a free slot, `tag` is the next one */
    uint64_t tag;        /* the owner's: where the memory is */
    uint32_t references; /* of the creator and of each mapping */
    uint32_t generation; /* how often the slot was used: an old handle stays unknown */
    bool is_released;    /* by its creator */
} plim_physical;

typedef struct plim_virtual_range {
    plim_addr base;
    uint64_t bytes;
    plim_space unmapped;
    plim_space closed; /* where there is no access: unmapped, or not given */
} plim_virtual_range;

typedef struct plim_books {
    const plim_mem *mem;
    const char *name; /* borrowed */
    uint64_t granularity_bytes;
    uint64_t total_bytes;
    uint64_t used_bytes;  /* by others */
    uint64_t taken_bytes; /* by us */
    PLIM_VEC(plim_physical) physicals;
    uint64_t free_physical;              /* first of the list, or PLIM_MAP_ABSENT */
    PLIM_VEC(plim_virtual_range) ranges; /* by address */
    plim_map mappings; /* address -> index of the physical * 2 + whether it is open */
} plim_books;

void plim_books_init(plim_books *books, const plim_mem *mem, const char *name);
void plim_books_deinit(plim_books *books);

/* --- capacity --- */

uint64_t plim_books_free_bytes(const plim_books *books);
/* PLIM_OUT_OF_DEVICE_MEMORY when there are not as many free; changes nothing. */
plim_status plim_books_has_room(const plim_books *books, uint64_t bytes, plim_error *err);
/* `bytes` in whole granules; false when that overflows. */
bool plim_books_whole(const plim_books *books, uint64_t bytes, uint64_t *ret_bytes);
/* PLIM_INVALID_ARGUMENT unless `bytes` is a positive multiple of the granularity. */
plim_status plim_books_check_size(const plim_books *books, const char *what, uint64_t bytes,
                                  plim_error *err);

/* --- handles --- */

plim_status plim_books_create(plim_books *books, uint64_t bytes, plim_handle *ret_handle,
                              plim_error *err);
/* NULL: unknown, or all of it has gone back. Valid until the next create. */
plim_physical *plim_books_physical(const plim_books *books, plim_handle handle);
/* ret_gone   what went back to the device by this; bytes 0: nothing, it is mapped still */
plim_status plim_books_release(plim_books *books, plim_handle handle, plim_physical *ret_gone,
                               plim_error *err);

/* --- ranges --- */

/* The caller has the addresses. False: no host memory. */
bool plim_books_add_range(plim_books *books, plim_addr base, uint64_t bytes);
/* PLIM_INVALID_ARGUMENT: no such range, or something is mapped in it. */
plim_status plim_books_check_free_range(const plim_books *books, plim_addr base, uint64_t bytes,
                                        plim_error *err);
/* One that was checked. */
void plim_books_remove_range(plim_books *books, plim_addr base);
/* True if any of [addr, addr + bytes), which is not empty, lies in a range. */
bool plim_books_has_range(const plim_books *books, plim_addr addr, uint64_t bytes);

/* --- mappings --- */

plim_status plim_books_map(plim_books *books, plim_addr addr, uint64_t bytes, plim_handle handle,
                           plim_error *err);
/* PLIM_INVALID_ARGUMENT unless [addr, addr + bytes) is mapped, from mapping to mapping. */
plim_status plim_books_check_mapped(const plim_books *books, const char *what, plim_addr addr,
                                    uint64_t bytes, plim_error *err);
/* The mapping that starts at `addr`, which does, ends. Returns its bytes. */
uint64_t plim_books_unmap(plim_books *books, plim_addr addr, plim_physical *ret_gone);
/* Access to [addr, addr + bytes), which was checked as above. PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_books_open(plim_books *books, plim_addr addr, uint64_t bytes, plim_error *err);
/* True if every byte of [addr, addr + bytes) is mapped and open. */
bool plim_books_is_open(const plim_books *books, plim_addr addr, uint64_t bytes);

#endif
