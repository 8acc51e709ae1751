/*
 * entry_point.c - driver functions by name.
 */
#include "standin/core/calls.h"
#include "standin/core/stage.h"
#include "standin/core/trace.h"
#include "standin/cuda/cuda.h"
#include "standin/work/work.h"

#include <stdio.h>

/*
 * A base name means the newest form of a function, which the header calls name_v2 and so on where
 * there are several. Which form came with which version does not matter: programs of the versions
 * that are stood in for want the newest that is written here.
 */
void *plim_standin_driver_function(const char *symbol)
{
    static const char *const forms[] = { "%s_v4", "%s_v3", "%s_v2", "%s" };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        char name[128];
        (void)snprintf(name, sizeof(name), forms[i], symbol);
        void *found = plim_standin_find_counted(name);
        if (found != NULL) {
            return found;
        }
    }
    plim_standin_trace("%s is not stood in for: the program is told that there is none", symbol);
    plim_stage_count_call(plim_standin_stage(), symbol, PLIM_STAGE_DECLINED, "asked for by name",
                          1);
    return NULL;
}

int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                        int *status)
{
    *function = plim_standin_driver_function(symbol);
    if (status != NULL) {
        *status = *function != NULL ? 0 : 1; /* found, or CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND */
    }
    return DRIVER_SUCCESS; /* since CUDA 12; the first form says it by its code */
}

int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
    (void)cuGetProcAddress_v2(symbol, function, version, flags, NULL);
    return *function != NULL ? DRIVER_SUCCESS : DRIVER_NOT_FOUND;
}
