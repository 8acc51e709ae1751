/*
 * library.c - modules loaded through the runtime, over cuda/modules.h.
 */
#include "standin/core/current.h"
#include "standin/core/stub.h"
#include "standin/cuda/modules.h"

#define SYMBOL_NOT_FOUND 500 /* cudaErrorSymbolNotFound */

static int note(int error)
{
    return plim_standin_current_error_note(error); /* the codes of loading are the driver's */
}

int cudaLibraryLoadData(plim_standin_module **library, const void *code, int *jit_options,
                        void **jit_values, unsigned jit_count, int *options, void **values,
                        unsigned count)
{
    /* jit_options: of the compiler, which does not run */
    return note(plim_standin_module_load(code, library));
}

int cudaLibraryLoadFromFile(plim_standin_module **library, const char *path, int *jit_options,
                            void **jit_values, unsigned jit_count, int *options, void **values,
                            unsigned count)
{
    return note(plim_standin_module_open(path, library));
}

int cudaLibraryUnload(plim_standin_module *library)
{
    return note(plim_standin_module_unload(library));
}

int cudaLibraryGetKernel(plim_standin_kernel **kernel, plim_standin_module *library,
                         const char *name)
{
    return note(plim_standin_module_kernel(library, name, kernel));
}

int cudaLibraryGetKernelCount(unsigned *count, plim_standin_module *library)
{
    *count = (unsigned)plim_standin_module_kernel_count(library);
    return 0;
}

int cudaLibraryEnumerateKernels(plim_standin_kernel **kernels, unsigned count,
                                plim_standin_module *library)
{
    for (unsigned i = 0; i < count; i++) {
        kernels[i] = plim_standin_module_kernel_at(library, i);
    }
    return 0;
}

int cudaLibraryGetGlobal(uint64_t *address, size_t *bytes, plim_standin_module *library,
                         const char *name)
{
    return note(plim_standin_module_variable(library, name, address, bytes));
}

PLIM_STANDIN_NOTHING(cudaKernelSetAttributeForDevice)
PLIM_STANDIN_DECLINED(cudaLibraryGetManaged, SYMBOL_NOT_FOUND, "no managed variables are known")
PLIM_STANDIN_DECLINED(cudaLibraryGetUnifiedFunction, SYMBOL_NOT_FOUND, "there is no code")
