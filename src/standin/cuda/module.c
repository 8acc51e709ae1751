/*
 * module.c - what the driver alone says of modules and their kernels; functions by name; its
 * linker.
 */
#include "standin/core/calls.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cuda/cuda.h"
#include "standin/cuda/modules.h"
#include "standin/work/work.h"

#include <stdio.h>

int cuModuleGetLoadingMode(int *mode)
{
    *mode = 2; /* CU_MODULE_LAZY_LOADING, the default since CUDA 12.2 */
    return DRIVER_SUCCESS;
}

int cuLibraryGetModule(plim_standin_module **module, plim_standin_module *library)
{
    *module = library;
    return DRIVER_SUCCESS;
}

int cuKernelGetFunction(const void **function, const void *kernel)
{
    *function = kernel;
    return DRIVER_SUCCESS;
}

int cuFuncGetModule(plim_standin_module **module, const void *function)
{
    *module = plim_standin_kernel_module(function);
    return *module != NULL ? DRIVER_SUCCESS : DRIVER_NOT_FOUND;
}

int cuKernelGetLibrary(plim_standin_module **library, const void *kernel)
{
    return cuFuncGetModule(library, kernel);
}

int cuFuncGetName(const char **name, const void *function)
{
    *name = plim_standin_kernel_name(function);
    return *name != NULL ? DRIVER_SUCCESS : DRIVER_NOT_FOUND;
}

int cuKernelGetName(const char **name, const void *kernel)
{
    return cuFuncGetName(name, kernel);
}

/* ---- the linker: whatever goes in, a module comes out that has every kernel ------------------ */

static char link_token[] = PLIM_STANDIN_CUBIN_TOKEN;

int cuLinkCreate_v2(unsigned count, int *options, void **values, void **link)
{
    *link = link_token; /* nothing of it differs from another */
    return DRIVER_SUCCESS;
}

int cuLinkComplete(void *link, const void **cubin, size_t *bytes)
{
    if (link != link_token || cubin == NULL) {
        return DRIVER_INVALID_VALUE;
    }
    *cubin = link_token;
    if (bytes != NULL) {
        *bytes = sizeof(link_token);
    }
    return DRIVER_SUCCESS;
}

PLIM_STANDIN_NOTHING(cuLinkAddData_v2)
PLIM_STANDIN_NOTHING(cuLinkAddFile_v2)
PLIM_STANDIN_NOTHING(cuLinkDestroy)
PLIM_STANDIN_NOTHING(cuFuncLoad)

/* ---- driver functions by name ---------------------------------------------------------------- */

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
    plim_standin_trace("%s has no stand-in: the program gets the error for a missing symbol",
                       symbol);
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
