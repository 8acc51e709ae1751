/*
 * library.c - libraries of code, over cuda/modules.h: modules that every context has.
 *
 * One module serves, as there is only one context for each device. Kernels of libraries are
 * functions at once. Options are those of the compiler, which does not run.
 */
#include "standin/both/both.h"
#include "standin/cuda/modules.h"

#define NOT_FOUND 500 /* CUDA_ERROR_NOT_FOUND, cudaErrorSymbolNotFound */

static int load(const void *code, void **library)
{
    plim_standin_module *loaded = NULL;
    const int error = code != NULL && library != NULL ? plim_standin_module_load(code, &loaded)
                                                      : PLIM_WORK_INVALID_VALUE;
    if (error == 0) {
        *library = loaded;
    }
    return error;
}

static int load_file(const char *path, void **library)
{
    plim_standin_module *loaded = NULL;
    const int error = path != NULL && library != NULL ? plim_standin_module_open(path, &loaded)
                                                      : PLIM_WORK_INVALID_VALUE;
    if (error == 0) {
        *library = loaded;
    }
    return error;
}

static int find_kernel(void *library, const char *name, void **kernel)
{
    plim_standin_kernel *found = NULL;
    const int error = kernel != NULL ? plim_standin_module_kernel(library, name, &found)
                                     : PLIM_WORK_INVALID_HANDLE;
    if (error == 0) {
        *kernel = found;
    }
    return error;
}

static int count_kernels(void *library, unsigned *count)
{
    *count = (unsigned)plim_standin_module_kernel_count(library);
    return PLIM_WORK_OK;
}

static int list_kernels(void *library, void **kernels, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        kernels[i] = plim_standin_module_kernel_at(library, i);
    }
    return PLIM_WORK_OK;
}

/* ---- libraries ------------------------------------------------------------------------------- */

BOTH(cuLibraryLoadData, cudaLibraryLoadData,
     (void **library, const void *code, int *jit_options, void **jit_values, unsigned jit_count,
      int *options, void **values, unsigned count),
     load(code, library))
BOTH(cuLibraryLoadFromFile, cudaLibraryLoadFromFile,
     (void **library, const char *path, int *jit_options, void **jit_values, unsigned jit_count,
      int *options, void **values, unsigned count),
     load_file(path, library))
BOTH(cuLibraryUnload, cudaLibraryUnload, (void *library), plim_standin_module_unload(library))
BOTH(cuLibraryGetKernel, cudaLibraryGetKernel, (void **found, void *library, const char *name),
     find_kernel(library, name, found))
BOTH(cuLibraryGetKernelCount, cudaLibraryGetKernelCount, (unsigned *count, void *library),
     count_kernels(library, count))
BOTH(cuLibraryEnumerateKernels, cudaLibraryEnumerateKernels,
     (void **kernels, unsigned count, void *library), list_kernels(library, kernels, count))

/* ---- the driver's modules -------------------------------------------------------------------- */

DRIVER(cuModuleLoad, (void **loaded, const char *path), load_file(path, loaded))
DRIVER(cuModuleLoadData, (void **loaded, const void *image), load(image, loaded))
/* Its logs stay empty. */
DRIVER(cuModuleLoadDataEx,
       (void **loaded, const void *image, unsigned option_count, const int *options, void **values),
       load(image, loaded))
DRIVER(cuModuleLoadFatBinary, (void **loaded, const void *image), load(image, loaded))
DRIVER(cuModuleUnload, (void *loaded), plim_standin_module_unload(loaded))
DRIVER(cuModuleGetFunction, (void **function, void *loaded, const char *name),
       find_kernel(loaded, name, function))
DRIVER(cuModuleGetFunctionCount, (unsigned *count, void *loaded), count_kernels(loaded, count))
DRIVER(cuModuleEnumerateFunctions, (void **functions, unsigned count, void *loaded),
       list_kernels(loaded, functions, count))

/* ---- variables ------------------------------------------------------------------------------- */

BOTH(cuLibraryGetGlobal, cudaLibraryGetGlobal,
     (void *address, size_t *bytes, void *library, const char *name),
     plim_standin_module_variable(library, name, address, bytes))
DRIVER(cuModuleGetGlobal_v2, (void *address, size_t *bytes, void *loaded, const char *name),
       plim_standin_module_variable(loaded, name, address, bytes))

PLIM_STANDIN_NOTHING(cudaKernelSetAttributeForDevice)
PLIM_STANDIN_DECLINED(cuLibraryGetManaged, NOT_FOUND, "no managed variables are known")
PLIM_STANDIN_DECLINED(cudaLibraryGetManaged, NOT_FOUND, "no managed variables are known")
PLIM_STANDIN_DECLINED(cuLibraryGetUnifiedFunction, NOT_FOUND, "there is no code")
PLIM_STANDIN_DECLINED(cudaLibraryGetUnifiedFunction, NOT_FOUND, "there is no code")
