/*
 * libzstd.c - see libzstd.h.
 */
#include "trace/libzstd.h"

#include "base/dynamic.h"

#include <pthread.h>

static plim_libzstd libzstd; /* constant once looked for */
static bool is_found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void look(void)
{
#define NAME(name) #name,
    static const plim_dynamic_name names[] = { PLIM_LIBZSTD_LIST(NAME) };
#undef NAME
    is_found = plim_dynamic_open("libzstd.so.1", names, sizeof names / sizeof names[0], &libzstd);
}

const plim_libzstd *plim_libzstd_find(void)
{
    (void)pthread_once(&once, look);
    return is_found ? &libzstd : NULL;
}
