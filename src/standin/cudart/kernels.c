/*
 * kernels.c - which kernels a program has, their attributes and occupancy, and their launches.
 */
#include "base/map.h"
#include "base/vec.h"
#include "standin/core/current.h"
#include "standin/core/devices.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/core/tally.h"
#include "standin/cuda/modules.h"
#include "standin/cudart/cudart.h"
#include "standin/work/work.h"

#include <pthread.h>
#include <string.h>

/* The image of a kernel that a driver would load. */
typedef struct plim_standin_image {
    int ptx_version;    /* 10 * major + minor of the architecture it was compiled for */
    int binary_version; /* of what runs: the GPU's own where the driver compiles it */
} plim_standin_image;

/* ---- registered with the fat binaries that hold them ----------------------------------------- */

/*
 * Compiled code registers, as it is loaded, each fat binary and each kernel in it. CUB and others
 * ask for what architecture a kernel was compiled, and accept only those that they know of: the
 * answer must be one that is in the fat binary, not the GPU's own.
 *
 * Layouts: the wrapper is what nvcc's generated host code shows (nvcc --keep); the headers inside
 * are not in any manual, and are as cuobjdump --dump-elf shows that they are:
 *
 *     fat binary  u32 magic, u16 version, u16 bytes of this header, u64 bytes of what follows
 *     entry       u16 kind, u16, u32 bytes of this header, u64 bytes of its image, u32, u32,
 *                 u16 minor, u16 major, u32 architecture …
 */

#define WRAPPER_MAGIC UINT32_C(0x466243b1)
#define KIND_PTX      1
#define KIND_CUBIN    2

typedef struct wrapper {
    uint32_t magic;
    uint32_t version;
    const unsigned char *data;
} wrapper;

typedef struct fatbin_header {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t bytes;
} fatbin_header;

typedef struct entry_header {
    uint16_t kind;
    uint16_t flags;
    uint32_t header_bytes;
    uint64_t bytes;
    uint32_t packed_bytes;
    uint32_t reserved;
    uint16_t minor;
    uint16_t major;
    uint32_t architecture;
} entry_header;

typedef struct registered {
    const wrapper *module;
    const char *name; /* mangled; of the compiled code, which stays */
} registered;

/* From a kernel's host side to what is registered of it. Compiled code has only this one way to
 * say so, so it is the process's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static plim_map indices;
static PLIM_VEC(registered) kernels;

/* A module is known by its wrapper, which stays where it is. */
void **__cudaRegisterFatBinary(void *binary)
{
    return binary;
}

char __cudaInitModule(void **module)
{
    return 1; /* nothing is loaded lazily, so it is always ready */
}

void __cudaRegisterFunction(void **module, const void *function, const char *handle,
                            const char *name)
{
    const registered made = { .module = (const wrapper *)(const void *)module, .name = name };
    (void)pthread_mutex_lock(&lock);
    if (indices.mem == NULL) {
        plim_map_init(&indices, &plim_mem_heap);
    }
    /* Without memory a kernel is unknown, which has an answer too. */
    if (PLIM_VEC_PUSH(&plim_mem_heap, &kernels, made)) {
        (void)plim_map_put(&indices, (uint64_t)(uintptr_t)function, kernels.count - 1);
    }
    (void)pthread_mutex_unlock(&lock);
}

/* All NULL where it was not registered. */
static registered find_kernel(const void *function)
{
    (void)pthread_mutex_lock(&lock);
    const uint64_t found = indices.mem != NULL
                               ? plim_map_get(&indices, (uint64_t)(uintptr_t)function)
                               : PLIM_MAP_ABSENT;
    const registered ret = found != PLIM_MAP_ABSENT ? kernels.items[found] : (registered){ 0 };
    (void)pthread_mutex_unlock(&lock);
    return ret;
}

/* Machine code runs on later GPUs of the same major version, PTX on any later one. */
static void consider(const entry_header *entry, int gpu, plim_standin_image *cubin,
                     plim_standin_image *ptx)
{
    const int version = (int)entry->architecture;
    if (version > gpu) {
        return;
    }
    if (entry->kind == KIND_CUBIN && version / 10 == gpu / 10 && version > cubin->ptx_version) {
        *cubin = (plim_standin_image){ .ptx_version = version, .binary_version = version };
    } else if (entry->kind == KIND_PTX && version > ptx->ptx_version) {
        *ptx = (plim_standin_image){ .ptx_version = version, .binary_version = gpu };
    }
}

/*
 * The image of a kernel that fits the chosen GPU best.
 *
 * function  the address of the kernel's host side
 * returns   false: the program has none that this GPU can run
 */
static bool plim_standin_kernel_image(const void *function, plim_standin_image *ret)
{
    const plim_gpu *gpu = &plim_standin_settings()->gpu;
    const int capability = (int)(10 * gpu->capability_major + gpu->capability_minor);
    const wrapper *module = find_kernel(function).module;
    *ret = (plim_standin_image){ .ptx_version = capability, .binary_version = capability };
    if (module == NULL || module->magic != WRAPPER_MAGIC) {
        return true; /* loaded in another way: the driver will have chosen well */
    }
    fatbin_header head;
    memcpy(&head, module->data, sizeof(head));
    if (head.magic != PLIM_FATBIN_MAGIC) {
        return true;
    }
    plim_standin_image cubin = { 0 };
    plim_standin_image ptx = { 0 };
    const unsigned char *at = module->data + head.header_bytes;
    const unsigned char *end = at + head.bytes;
    while ((size_t)(end - at) >= sizeof(entry_header)) {
        entry_header entry;
        memcpy(&entry, at, sizeof(entry));
        consider(&entry, capability, &cubin, &ptx);
        if (entry.header_bytes + entry.bytes > (uint64_t)(end - at) || entry.header_bytes == 0) {
            break;
        }
        at += entry.header_bytes + entry.bytes;
    }
    *ret = cubin.ptx_version > 0 ? cubin : ptx;
    return ret->ptx_version > 0;
}

int __cudaGetKernel(void **kernel, const void *function)
{
    *kernel = (void *)(uintptr_t)function;
    return CUDA_SUCCESS_CODE;
}

/* Nothing else is kept, so there is nothing to add or to take back. */
PLIM_STANDIN_NOTHING(__cudaRegisterFatBinaryEnd)
PLIM_STANDIN_NOTHING(__cudaUnregisterFatBinary)

/* ---- attributes and occupancy, never zero ---------------------------------------------------- */

/*
 * Callers choose their grid from these and divide by them. The figures are those
 * of an unremarkable kernel; they change launch shapes, and so the size of a few
 * scratch buffers, but not what a program allocates otherwise.
 */

#define CLUSTERS_SINCE 11080

/* cudaFuncAttributes, CUDA Runtime API manual 13.0. */
typedef struct function_attributes {
    size_t sharedSizeBytes;
    size_t constSizeBytes;
    size_t localSizeBytes;
    int maxThreadsPerBlock;
    int numRegs;
    int ptxVersion;
    int binaryVersion;
    int cacheModeCA;
    int maxDynamicSharedSizeBytes;
    int preferredShmemCarveout;
    int clusters_and_reserved[22]; /* about thread block clusters: six, the rest is reserved */
} function_attributes;

int cudaFuncGetAttributes(function_attributes *attributes, const void *function)
{
    const plim_gpu *gpu = &plim_standin_settings()->gpu;
    plim_standin_image image;
    if (!plim_standin_kernel_image(function, &image)) {
        return plim_standin_current_error_note(CUDA_NO_KERNEL_IMAGE_CODE);
    }
    const bool is_long = plim_standin_settings()->cuda_version >= CLUSTERS_SINCE;
    memset(attributes, 0,
           is_long ? sizeof(*attributes) : offsetof(function_attributes, clusters_and_reserved));
    attributes->maxThreadsPerBlock = PLIM_STANDIN_BLOCK_MAX;
    attributes->numRegs = 32;
    attributes->ptxVersion = image.ptx_version;
    attributes->binaryVersion = image.binary_version;
    attributes->maxDynamicSharedSizeBytes = (int)gpu->shared_bytes_per_block_optin;
    attributes->preferredShmemCarveout = -1; /* no preference */
    return CUDA_SUCCESS_CODE;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                  size_t shared_bytes)
{
    const plim_gpu *gpu = &plim_standin_settings()->gpu;

    int fit = threads > 0 ? (int)gpu->threads_per_multiprocessor / threads : 1;
    if (shared_bytes > 0) {
        const size_t reserved = (size_t)plim_standin_device_attribute(
            PLIM_STANDIN_ATTRIBUTE_RESERVED_SHARED, plim_standin_current_device());
        const size_t by_shared = gpu->shared_bytes_per_multiprocessor / (shared_bytes + reserved);
        fit = by_shared < (size_t)fit ? (int)by_shared : fit;
    }
    if (fit > (int)gpu->blocks_per_multiprocessor) {
        fit = (int)gpu->blocks_per_multiprocessor;
    }
    *blocks = fit > 0 ? fit : 1;
    return CUDA_SUCCESS_CODE;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                           int threads, size_t shared_bytes,
                                                           unsigned flags)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes);
}

/* There is no kernel that could mind. */
PLIM_STANDIN_NOTHING(cudaFuncSetAttribute)

/* ---- launches, and the stack that carries their configuration -------------------------------- */

/*
 * The compiler turns kernel<<<grid, block, shared, stream>>>(...) into a push of
 * the configuration, and the host side of the kernel pops it before it launches.
 * A pop that gave back something else would reach launch checks, so the stack is
 * real and the launches are not.
 */

#define LAUNCH_DEPTH_MAX 16 /* a launch inside the arguments of a launch is already rare */

/* cudaLaunchConfig_t begins like this, too; attributes follow there. */
typedef struct configuration {
    plim_standin_dim3 grid;
    plim_standin_dim3 block;
    size_t shared_bytes;
    void *stream;
} configuration;

static _Thread_local configuration stack[LAUNCH_DEPTH_MAX];
static _Thread_local int depth;

unsigned __cudaPushCallConfiguration(plim_standin_dim3 grid, plim_standin_dim3 block,
                                     size_t shared_bytes, void *stream)
{
    if (depth == LAUNCH_DEPTH_MAX) {
        plim_standin_trace("launch configuration refused: %d of them are waiting", depth);
        return 1; /* not zero: the caller then skips the launch */
    }
    stack[depth] = (configuration){ grid, block, shared_bytes, stream };
    depth++;
    return 0;
}

int __cudaPopCallConfiguration(plim_standin_dim3 *grid, plim_standin_dim3 *block,
                               size_t *shared_bytes, void **stream)
{
    if (depth == 0) {
        return CUDA_INVALID_VALUE_CODE;
    }
    depth--;
    *grid = stack[depth].grid;
    *block = stack[depth].block;
    *shared_bytes = stack[depth].shared_bytes;
    *stream = stack[depth].stream;
    return CUDA_SUCCESS_CODE;
}

/* Kernels compute nothing; see copy.h for what the host then reads. */
PLIM_STANDIN_KIND(cudaLaunchKernel, PLIM_STAGE_NOTHING, "")
PLIM_STANDIN_KIND(cudaLaunchKernelExC, PLIM_STAGE_NOTHING, "")
PLIM_STANDIN_KIND(cudaLaunchCooperativeKernel, PLIM_STAGE_NOTHING, "")
PLIM_STANDIN_KIND(__cudaLaunchKernel, PLIM_STAGE_NOTHING, "")

int cudaLaunchKernel(const void *function, plim_standin_dim3 grid, plim_standin_dim3 block,
                     void **arguments, size_t shared_bytes, void *stream)
{
    const char *name = find_kernel(function).name;
    if (name != NULL) {
        plim_standin_tally(function, name, 1);
    }
    const plim_standin_work work = { .kind = PLIM_WORK_KERNEL,
                                     .function = function,
                                     .grid = { grid.x, grid.y, grid.z },
                                     .block = { block.x, block.y, block.z },
                                     .shared_bytes = shared_bytes };
    return plim_standin_put(stream, &work);
}

int __cudaLaunchKernel(const void *function, plim_standin_dim3 grid, plim_standin_dim3 block,
                       void **arguments, size_t shared_bytes, void *stream)
{
    return cudaLaunchKernel(function, grid, block, arguments, shared_bytes, stream);
}

int cudaLaunchCooperativeKernel(const void *function, plim_standin_dim3 grid,
                                plim_standin_dim3 block, void **arguments, size_t shared_bytes,
                                void *stream)
{
    return cudaLaunchKernel(function, grid, block, arguments, shared_bytes, stream);
}

int cudaLaunchKernelExC(const configuration *configured, const void *function, void **arguments)
{
    return cudaLaunchKernel(function, configured->grid, configured->block, arguments,
                            configured->shared_bytes, configured->stream);
}
