/*
 * cudart.c - a CUDA runtime whose every function returns at once, so that what is measured is
 * PyTorch's allocator alone: addresses count up, nothing is ever full, all work is complete.
 *
 * Built as libcudart.so.13 with cudart.map. Names and signatures are those of the runtime and the
 * driver API manuals; cudaDeviceProp's totalGlobalMem stands at byte 288 in CUDA 13.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DEVICE_BYTES     ((uint64_t)256 << 30)
#define GRANULE          ((uint64_t)2 << 20)
#define TOTAL_MEM_OFFSET 288
#define PROPERTIES_BYTES 512 /* of which only zeros and totalGlobalMem are written */
#define CUDA_13          13000

static uint64_t next_plain = UINT64_C(0x7a0000000000);
static uint64_t next_range = UINT64_C(0x700000000000);
static uint64_t next_handle = 1;
static uint64_t taken;
static uint64_t driver_calls;

static uint64_t whole_granules(uint64_t bytes)
{
    return (bytes + GRANULE - 1) / GRANULE * GRANULE;
}

uint64_t plim_bench_driver_calls(void)
{
    return __atomic_load_n(&driver_calls, __ATOMIC_RELAXED);
}

static void count(void)
{
    (void)__atomic_fetch_add(&driver_calls, 1, __ATOMIC_RELAXED);
}

int cudaMalloc(void **pointer, size_t bytes)
{
    count();
    *pointer = (void *)__atomic_fetch_add(&next_plain, whole_granules(bytes), __ATOMIC_RELAXED);
    (void)__atomic_fetch_add(&taken, whole_granules(bytes), __ATOMIC_RELAXED);
    return 0;
}

int cudaFree(void *pointer)
{
    (void)pointer;
    count();
    return 0;
}

int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = DEVICE_BYTES;
    *total_bytes = DEVICE_BYTES;
    return 0;
}

int cudaGetDevice(int *device)
{
    *device = 0;
    return 0;
}

int cudaGetDeviceCount(int *devices)
{
    *devices = 1;
    return 0;
}

int cudaGetDeviceProperties(void *properties, int device)
{
    (void)device;
    const uint64_t bytes = DEVICE_BYTES;
    memset(properties, 0, PROPERTIES_BYTES);
    memcpy((char *)properties + TOTAL_MEM_OFFSET, &bytes, sizeof bytes);
    return 0;
}

int cudaDriverGetVersion(int *version)
{
    *version = CUDA_13;
    return 0;
}

int cudaStreamIsCapturing(void *stream, int *status)
{
    (void)stream;
    *status = 0;
    return 0;
}

int cudaStreamGetCaptureInfo(void *stream, int *status)
{
    (void)stream;
    *status = 0;
    return 0;
}

const char *cudaGetErrorName(int error)
{
    (void)error;
    return "error";
}

const char *cudaGetErrorString(int error)
{
    (void)error;
    return "error";
}

/* --- the driver, by name --- */

static int range_reserve(uint64_t *addr, size_t bytes)
{
    count();
    *addr = __atomic_fetch_add(&next_range, whole_granules(bytes), __ATOMIC_RELAXED);
    return 0;
}

static int handle_create(uint64_t *handle)
{
    count();
    *handle = __atomic_fetch_add(&next_handle, 1, __ATOMIC_RELAXED);
    return 0;
}

static int counted(void)
{
    count();
    return 0;
}

static int granularity(size_t *bytes)
{
    *bytes = GRANULE;
    return 0;
}

static int device_get(int *device)
{
    *device = 0;
    return 0;
}

static int zero(void)
{
    return 0;
}

typedef struct named {
    const char *name;
    int (*function)(void);
} named;

int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                     unsigned long long flags, int *status)
{
    static const named table[] = {
        { "cuMemAddressReserve", (int (*)(void))range_reserve },
        { "cuMemCreate", (int (*)(void))handle_create },
        { "cuMemGetAllocationGranularity", (int (*)(void))granularity },
        { "cuDeviceGet", (int (*)(void))device_get },
        { "cuDeviceGetAttribute", (int (*)(void))device_get },
        { "cuMemMap", counted },
        { "cuMemUnmap", counted },
        { "cuMemRelease", counted },
    };
    (void)version;
    (void)flags;
    int (*found)(void) = zero;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        found = strcmp(name, table[i].name) == 0 ? table[i].function : found;
    }
    memcpy(function, &found, sizeof found);
    if (status != NULL) {
        *status = 0;
    }
    return 0;
}

/* --- everything else succeeds and does nothing --- */

#define NOTHING(name) \
    int name(void);   \
    int name(void)    \
    {                 \
        return 0;     \
    }

NOTHING(cudaDeviceCanAccessPeer)
NOTHING(cudaDeviceEnablePeerAccess)
NOTHING(cudaDeviceGetDefaultMemPool)
NOTHING(cudaDeviceGetStreamPriorityRange)
NOTHING(cudaDeviceSynchronize)
NOTHING(cudaEventCreateWithFlags)
NOTHING(cudaEventDestroy)
NOTHING(cudaEventElapsedTime)
NOTHING(cudaEventQuery)
NOTHING(cudaEventRecord)
NOTHING(cudaEventSynchronize)
NOTHING(cudaFreeAsync)
NOTHING(cudaGetLastError)
NOTHING(cudaGraphNodeGetDependencies)
NOTHING(cudaIpcCloseMemHandle)
NOTHING(cudaIpcGetMemHandle)
NOTHING(cudaIpcOpenMemHandle)
NOTHING(cudaMallocAsync)
NOTHING(cudaMemcpy)
NOTHING(cudaMemcpyAsync)
NOTHING(cudaMemcpyPeerAsync)
NOTHING(cudaMemPoolGetAttribute)
NOTHING(cudaMemPoolSetAccess)
NOTHING(cudaMemPoolSetAttribute)
NOTHING(cudaMemPoolTrimTo)
NOTHING(cudaSetDevice)
NOTHING(cudaStreamCreateWithPriority)
NOTHING(cudaStreamGetPriority)
NOTHING(cudaStreamQuery)
NOTHING(cudaStreamSynchronize)
NOTHING(cudaStreamWaitEvent)
NOTHING(cudaThreadExchangeStreamCaptureMode)
