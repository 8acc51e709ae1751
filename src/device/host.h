/*
 * host.h - inside the device of real memory.
 *
 * host.c makes it, host_memory.c asks the kernel, host_contents.c reads and writes, core.c is the
 * rest. One lock for everything, held while bytes are copied too: so no other thread unmaps them
 * meanwhile.
 */
#ifndef PLIMSOLL_DEVICE_HOST_H
#define PLIMSOLL_DEVICE_HOST_H

#include "device/core.h"

/* Work is done at once, in the thread that asks: a fence is complete as soon as it is recorded. */
typedef struct plim_host {
    plim_device_core core;
    plim_space not_plain; /* all addresses but those of plain memory */

    int file;            /* the memfd behind all handles that cannot leave the process */
    uint64_t file_bytes; /* as long as was needed so far */
    plim_space offsets;  /* of it: those that belong to a handle */
} plim_host;

/* Fill the entries of the table. */
void plim_host_memory_ops(plim_device_ops *ops);
void plim_host_contents_ops(plim_device_ops *ops);

/* Gives all memory and addresses back to the kernel; the books stay as they are. */
void plim_host_unmap_all(plim_host *host);

#endif
