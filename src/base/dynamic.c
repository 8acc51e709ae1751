/*
 * dynamic.c - see dynamic.h.
 */
#include "base/dynamic.h"

#include "base/assert.h"

#include <dlfcn.h>
#include <string.h>

#define FUNCTIONS_MAX 32

bool plim_dynamic_open(const char *soname, const char *const *names, size_t count, void *ret_table)
{
    /* ISO C has no conversion from void * to a function pointer; POSIX promises the same bytes. */
    void *found[FUNCTIONS_MAX] = { NULL };
    PLIM_ASSERT(count <= FUNCTIONS_MAX);
    void *const library = dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        return false;
    }
    bool is_whole = true;
    for (size_t i = 0; i < count; i++) {
        found[i] = dlsym(library, names[i]);
        is_whole = is_whole && found[i] != NULL;
    }
    (void)dlclose(library);
    if (is_whole) {
        memcpy(ret_table, found, count * sizeof found[0]);
    }
    return is_whole;
}
