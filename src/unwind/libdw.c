/*
 * libdw.c - see libdw.h.
 */
#include "unwind/libdw.h"

#include "base/dynamic.h"

#include <pthread.h>

static plim_libdw libdw; /* constant once looked for */
static bool is_found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void look(void)
{
#define NAME(name) #name,
    static const char *const names[] = { PLIM_LIBDW_LIST(NAME) };
#undef NAME
    is_found = plim_dynamic_open("libdw.so.1", names, sizeof names / sizeof names[0], &libdw);
}

const plim_libdw *plim_libdw_find(void)
{
    (void)pthread_once(&once, look);
    return is_found ? &libdw : NULL;
}
