/*
 * module.c - what the driver alone says of modules and their kernels, and its linker.
 */
#include "standin/core/stub.h"
#include "standin/cuda/cuda.h"
#include "standin/cuda/modules.h"

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
