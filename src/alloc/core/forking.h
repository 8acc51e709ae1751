/*
 * forking.h - the allocators of the process, each of which is whole in a forked child.
 *
 * What a child's device answers is another matter: a GPU's context does not outlive a fork, memory
 * of the host and simulated memory do.
 */
#ifndef PLIMSOLL_ALLOC_FORKING_H
#define PLIMSOLL_ALLOC_FORKING_H

#include "alloc/core/heap.h"

/* False: the system has no memory for it. */
bool plim_forking_enter(plim_allocator *allocator);
/* One that is not there is allowed. */
void plim_forking_leave(plim_allocator *allocator);

#endif
