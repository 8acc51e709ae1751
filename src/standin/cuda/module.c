/*
 * module.c - the driver's functions that load modules and find what is in them, over modules.h.
 *
 * Libraries (cuLibrary…) are modules that every context has: one module here, as there is only one
 * context for each device. Kernels of libraries are functions at once.
 */
#include "standin/core/stub.h"
#include "standin/cuda/cuda.h"
#include "standin/cuda/modules.h"

int cuModuleLoad(plim_standin_module **module, const char *path)
{
    if (module == NULL || path == NULL) {
        return DRIVER_INVALID_VALUE;
    }
    return plim_standin_module_open(path, module);
}

int cuModuleLoadData(plim_standin_module **module, const void *image)
{
    if (module == NULL || image == NULL) {
        return DRIVER_INVALID_VALUE;
    }
    return plim_standin_module_load(image, module);
}

int cuModuleLoadDataEx(plim_standin_module **module, const void *image, unsigned option_count,
                       const int *options, void **values)
{
    /* option_count: of the compiler, which does not run; its logs stay empty */
    return cuModuleLoadData(module, image);
}

int cuModuleLoadFatBinary(plim_standin_module **module, const void *image)
{
    return cuModuleLoadData(module, image);
}

int cuModuleUnload(plim_standin_module *module)
{
    return plim_standin_module_unload(module);
}

int cuModuleGetFunction(plim_standin_kernel **function, plim_standin_module *module,
                        const char *name)
{
    return plim_standin_module_kernel(module, name, function);
}

int cuModuleGetFunctionCount(unsigned *count, plim_standin_module *module)
{
    *count = (unsigned)plim_standin_module_kernel_count(module);
    return DRIVER_SUCCESS;
}

int cuModuleEnumerateFunctions(plim_standin_kernel **functions, unsigned count,
                               plim_standin_module *module)
{
    for (unsigned i = 0; i < count; i++) {
        functions[i] = plim_standin_module_kernel_at(module, i);
    }
    return DRIVER_SUCCESS;
}

int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, plim_standin_module *module,
                         const char *name)
{
    return plim_standin_module_variable(module, name, address, bytes);
}

int cuModuleGetLoadingMode(int *mode)
{
    *mode = 2; /* CU_MODULE_LAZY_LOADING, the default since CUDA 12.2 */
    return DRIVER_SUCCESS;
}

int cuLibraryLoadData(plim_standin_module **library, const void *code, int *jit_options,
                      void **jit_values, unsigned jit_count, int *options, void **values,
                      unsigned count)
{
    return cuModuleLoadData(library, code);
}

int cuLibraryLoadFromFile(plim_standin_module **library, const char *path, int *jit_options,
                          void **jit_values, unsigned jit_count, int *options, void **values,
                          unsigned count)
{
    return cuModuleLoad(library, path);
}

int cuLibraryUnload(plim_standin_module *library)
{
    return plim_standin_module_unload(library);
}

int cuLibraryGetKernel(plim_standin_kernel **kernel, plim_standin_module *library, const char *name)
{
    return plim_standin_module_kernel(library, name, kernel);
}

int cuLibraryGetKernelCount(unsigned *count, plim_standin_module *library)
{
    return cuModuleGetFunctionCount(count, library);
}

int cuLibraryEnumerateKernels(plim_standin_kernel **kernels, unsigned count,
                              plim_standin_module *library)
{
    return cuModuleEnumerateFunctions(kernels, count, library);
}

int cuLibraryGetModule(plim_standin_module **module, plim_standin_module *library)
{
    *module = library;
    return DRIVER_SUCCESS;
}

int cuLibraryGetGlobal(uint64_t *address, size_t *bytes, plim_standin_module *library,
                       const char *name)
{
    return plim_standin_module_variable(library, name, address, bytes);
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
PLIM_STANDIN_DECLINED(cuLibraryGetManaged, DRIVER_NOT_FOUND, "no managed variables are known")
PLIM_STANDIN_DECLINED(cuLibraryGetUnifiedFunction, DRIVER_NOT_FOUND, "there is no code")
