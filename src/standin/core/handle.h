/*
 * handle.h - opaque handles: streams, events, library contexts.
 *
 * Callers only pass them back to us, so a handle is a number. It comes from a
 * counter and not from malloc(), because stream handles end up in snapshots
 * and a recording should repeat itself.
 */
#ifndef PLIMSOLL_STANDIN_CORE_HANDLE_H
#define PLIMSOLL_STANDIN_CORE_HANDLE_H

/* A handle no call has returned before. Never NULL, never an address that is in use. */
void *plim_standin_handle_create(void);

/* Makes such a handle for what needs no memory, as the vendor's function of this name does. */
#define PLIM_STANDIN_CREATES(name)                  \
    int name(void **ret_handle)                     \
    {                                               \
        *ret_handle = plim_standin_handle_create(); \
        return 0;                                   \
    }

#endif
