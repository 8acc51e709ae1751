/*
 * host.h - inside the device of real memory.
 *
 * host.c makes it, host_memory.c asks the kernel, host_streams.c is streams, fences and contents.
 * The rules are those of books.c and queues.c. One lock for everything, held while bytes are
 * copied too: so no other thread unmaps them meanwhile.
 */
#ifndef PLIMSOLL_DEVICE_HOST_H
#define PLIMSOLL_DEVICE_HOST_H

#include "device/books.h"
#include "device/queues.h"

#include <pthread.h>

typedef struct plim_host {
    pthread_mutex_t lock;
    const plim_mem *mem;
    plim_device_ops ops;
    int32_t ordinal;
    plim_books books;
    plim_queues queues;
    plim_map plain_bytes; /* address of plain memory -> bytes */
    plim_space not_plain; /* all other addresses */

    int file;            /* the memfd behind all handles that cannot leave the process */
    uint64_t file_bytes; /* as long as was needed so far */
    plim_space offsets;  /* of it: which lie behind a handle */
} plim_host;

/* Fill the entries of the table. */
void plim_host_memory_ops(plim_device_ops *ops);
void plim_host_stream_ops(plim_device_ops *ops);

/* Gives all memory and addresses back to the kernel; the books stay as they are. */
void plim_host_unmap_all(plim_host *host);

#endif
