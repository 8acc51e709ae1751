/*
 * modules.h - modules and their kernels, for cuModule…, cuLibrary…, cudaLibrary… and launches.
 *
 * A module is a cubin, whose kernels are known (cubin.h), or code that would be compiled or
 * picked from at run time: PTX, fat binaries, and what our NVRTC hands out. Of these nothing is
 * known, so every name that is requested is there, with the figures of an unremarkable kernel.
 */
#ifndef PLIMSOLL_STANDIN_CUDA_MODULES_H
#define PLIMSOLL_STANDIN_CUDA_MODULES_H

#include "standin/cuda/cubin.h"

/* The token that NVRTC and the linker hand out instead of code. */
#define PLIM_FATBIN_MAGIC    UINT32_C(0xba55ed50) /* of a fat binary's header */
#define PLIM_WARP_THREADS    32u
#define PLIM_SHARED_RESERVED 1024u /* bytes of each block, from capability 8.0 */

#define PLIM_STANDIN_CUBIN_TOKEN "PLIMSOLL: a kernel that is never compiled\n"

typedef struct plim_standin_module plim_standin_module;
typedef struct plim_standin_kernel plim_standin_kernel;

/* Codes of CUresult. 200: not an image; 2: no memory on the host. */
int plim_standin_module_load(const void *image, plim_standin_module **ret);
/* The same from a file. 301: it cannot be read. */
int plim_standin_module_open(const char *path, plim_standin_module **ret);
/* NULL is allowed. 400: it is no module. */
int plim_standin_module_unload(plim_standin_module *module);

/* 500: it has none of that name. */
int plim_standin_module_kernel(plim_standin_module *module, const char *name,
                               plim_standin_kernel **ret);
/* A variable's address on the current device, and its size. */
int plim_standin_module_variable(plim_standin_module *module, const char *name,
                                 uint64_t *ret_address, size_t *ret_bytes);
/* Those that are known: all of a cubin, else those that were requested. NULL beyond the last. */
plim_standin_kernel *plim_standin_module_kernel_at(plim_standin_module *module, size_t index);
size_t plim_standin_module_kernel_count(plim_standin_module *module);

/* Facts of what the program holds for a kernel: also what our runtime knows nothing of. */
plim_standin_kernel_facts plim_standin_kernel_get_facts(const void *function);
/* NULL: not of a module. */
const char *plim_standin_kernel_name(const void *function);
plim_standin_module *plim_standin_kernel_module(const void *function);

/* The most threads of a block, by registers and by what the source promised. */
unsigned plim_standin_kernel_threads_max(const plim_standin_kernel_facts *facts);
/* Blocks that fit on a multiprocessor at once. */
unsigned plim_standin_kernel_blocks(const plim_standin_kernel_facts *facts, unsigned threads,
                                    uint64_t dynamic_bytes);

#endif
