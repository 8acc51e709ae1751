/*
 * host.h - host memory that CUDA knows: pinned, registered and managed. Ordinary memory that is
 * remembered.
 */
#ifndef PLIMSOLL_STANDIN_CORE_HOST_H
#define PLIMSOLL_STANDIN_CORE_HOST_H

#include <stdbool.h>
#include <stddef.h>

typedef enum plim_standin_host_range {
    PLIM_STANDIN_HOST_NONE,       /* CUDA does not know it */
    PLIM_STANDIN_HOST_PINNED,     /* allocated by the stand-ins */
    PLIM_STANDIN_HOST_REGISTERED, /* the program's own */
    PLIM_STANDIN_HOST_MANAGED,    /* allocated by the stand-ins */
} plim_standin_host_range;

/* False if part of it is known already. */
bool plim_standin_host_remember(const void *address, size_t bytes, plim_standin_host_range what);

/* False if no range of that kind begins there. */
bool plim_standin_host_forget(const void *address, plim_standin_host_range what);

/* Of the range that an address lies in. */
plim_standin_host_range plim_standin_host_find(const void *address);

/*
 * Fills memory with zeros. Large pinned buffers do it by giving their pages back: activations and
 * gradients that a program copies to the host hold no values here, and may be more than this
 * machine has.
 */
void plim_standin_host_zero(void *address, size_t bytes);

#endif
