/*
 * cuda_abi.h - the part of the CUDA driver's and of NVML's binary interface that is called.
 *
 * Names, numbers and layouts from the CUDA Driver API and NVML API reference manuals
 * (docs.nvidia.com/cuda/cuda-driver-api, docs.nvidia.com/deploy/nvml-api); versions of functions
 * as in cudaTypedefs.h, whose PFN_cuMemAlloc_v3020 says: this form since CUDA 3.2. Only what is
 * used stands here; nothing of NVIDIA's is included or linked to.
 */
#ifndef PLIMSOLL_DEVICE_CUDA_ABI_H
#define PLIMSOLL_DEVICE_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int cu_result;
typedef int cu_device;
typedef unsigned long long cu_deviceptr;
typedef unsigned long long cu_mem_handle; /* CUmemGenericAllocationHandle */
typedef struct cu_context cu_context;
typedef struct cu_stream cu_stream;
typedef struct cu_event cu_event;

enum { /* CUresult */
       CU_SUCCESS = 0,
       CU_INVALID_VALUE = 1,
       CU_OUT_OF_MEMORY = 2,
       CU_NOT_INITIALIZED = 3,
       CU_NO_DEVICE = 100,
       CU_INVALID_DEVICE = 101,
       CU_INVALID_CONTEXT = 201,
       CU_INVALID_HANDLE = 400,
       CU_NOT_FOUND = 500,
       CU_NOT_READY = 600,
       CU_ILLEGAL_ADDRESS = 700,
       CU_NOT_SUPPORTED = 801,
       CU_STREAM_CAPTURE_UNSUPPORTED = 900,
};

enum { /* CUdevice_attribute */
       CU_ATTRIBUTE_VMM = 102,
       CU_ATTRIBUTE_POSIX_FD = 103,
       CU_ATTRIBUTE_RDMA_WITH_VMM = 110, /* …GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED */
       CU_ATTRIBUTE_FABRIC = 128,
};

enum {
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_CAPTURE_MODE_RELAXED = 2, /* CUstreamCaptureMode: global, thread-local, relaxed */
    CU_CAPTURE_STATUS_NONE = 0,  /* CUstreamCaptureStatus */
    CU_ALLOCATION_PINNED = 1,    /* CUmemAllocationType */
    CU_LOCATION_DEVICE = 1,      /* CUmemLocationType */
    CU_HANDLE_NONE = 0,          /* CUmemAllocationHandleType */
    CU_HANDLE_POSIX_FD = 1,
    CU_HANDLE_FABRIC = 8,
    CU_ACCESS_READ_WRITE = 3,    /* CUmemAccess_flags */
    CU_LOOKUP_LEGACY_STREAM = 1, /* CUdriverProcAddress_flags: stream 0 is the legacy one */
    CU_GRANULARITY_MINIMUM = 0,  /* CUmemAllocationGranularity_flags */
};

#define CU_FABRIC_HANDLE_BYTES 64

typedef struct cu_mem_location {
    int type;
    int id;
} cu_mem_location;

typedef struct cu_mem_prop { /* CUmemAllocationProp */
    int type;
    int requested_handle_types;
    cu_mem_location location;
    void *win32_meta_data;
    struct {
        unsigned char compression_type;
        unsigned char is_rdma_capable;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
} cu_mem_prop;

typedef struct cu_mem_access { /* CUmemAccessDesc */
    cu_mem_location location;
    int flags;
} cu_mem_access;

_Static_assert(sizeof(cu_mem_prop) == 32, "as in cuda.h");
_Static_assert(offsetof(cu_mem_prop, win32_meta_data) == 16, "as in cuda.h");
_Static_assert(offsetof(cu_mem_prop, flags.is_rdma_capable) == 25, "as in cuda.h");
_Static_assert(sizeof(cu_mem_access) == 12, "as in cuda.h");

/*
 * Every function that is called: X(field, name, exported name, version, parameters). The name is
 * what cuGetProcAddress() knows, with the version of the form that the exported name stands for.
 */
#define CU_FUNCTION_LIST(X)                                                                        \
    X(init, "cuInit", "cuInit", 2000, (unsigned flags))                                            \
    X(driver_version, "cuDriverGetVersion", "cuDriverGetVersion", 2020, (int *version))            \
    X(error_name, "cuGetErrorName", "cuGetErrorName", 6000, (cu_result code, const char **ret))    \
    X(error_string, "cuGetErrorString", "cuGetErrorString", 6000,                                  \
      (cu_result code, const char **ret))                                                          \
    X(device_count, "cuDeviceGetCount", "cuDeviceGetCount", 2000, (int *ret))                      \
    X(device_get, "cuDeviceGet", "cuDeviceGet", 2000, (cu_device * ret, int ordinal))              \
    X(device_name, "cuDeviceGetName", "cuDeviceGetName", 2000,                                     \
      (char *ret, int bytes, cu_device device))                                                    \
    X(device_attribute, "cuDeviceGetAttribute", "cuDeviceGetAttribute", 2000,                      \
      (int *ret, int attribute, cu_device device))                                                 \
    X(device_total, "cuDeviceTotalMem", "cuDeviceTotalMem_v2", 3020,                               \
      (size_t * ret, cu_device device))                                                            \
    X(device_bus_id, "cuDeviceGetPCIBusId", "cuDeviceGetPCIBusId", 4010,                           \
      (char *ret, int bytes, cu_device device))                                                    \
    X(primary_retain, "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain", 7000,                \
      (cu_context * *ret, cu_device device))                                                       \
    X(primary_release, "cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2", 11000,         \
      (cu_device device))                                                                          \
    X(context_push, "cuCtxPushCurrent", "cuCtxPushCurrent_v2", 4000, (cu_context * context))       \
    X(context_pop, "cuCtxPopCurrent", "cuCtxPopCurrent_v2", 4000, (cu_context * *ret))             \
    X(context_synchronize, "cuCtxSynchronize", "cuCtxSynchronize", 2000, (void))                   \
    X(capture_mode, "cuThreadExchangeStreamCaptureMode", "cuThreadExchangeStreamCaptureMode",      \
      10010, (int *mode))                                                                          \
    X(mem_info, "cuMemGetInfo", "cuMemGetInfo_v2", 3020, (size_t * ret_free, size_t * ret_total))  \
    X(mem_alloc, "cuMemAlloc", "cuMemAlloc_v2", 3020, (cu_deviceptr * ret, size_t bytes))          \
    X(mem_free, "cuMemFree", "cuMemFree_v2", 3020, (cu_deviceptr addr))                            \
    X(stream_create, "cuStreamCreate", "cuStreamCreate", 2000, (cu_stream * *ret, unsigned flags)) \
    X(stream_destroy, "cuStreamDestroy", "cuStreamDestroy_v2", 4000, (cu_stream * stream))         \
    X(stream_synchronize, "cuStreamSynchronize", "cuStreamSynchronize", 2000,                      \
      (cu_stream * stream))                                                                        \
    X(stream_is_capturing, "cuStreamIsCapturing", "cuStreamIsCapturing", 10000,                    \
      (cu_stream * stream, int *ret_status))                                                       \
    X(event_create, "cuEventCreate", "cuEventCreate", 2000, (cu_event * *ret, unsigned flags))     \
    X(event_destroy, "cuEventDestroy", "cuEventDestroy_v2", 4000, (cu_event * event))              \
    X(event_record, "cuEventRecord", "cuEventRecord", 2000,                                        \
      (cu_event * event, cu_stream * stream))                                                      \
    X(event_query, "cuEventQuery", "cuEventQuery", 2000, (cu_event * event))                       \
    X(event_synchronize, "cuEventSynchronize", "cuEventSynchronize", 2000, (cu_event * event))     \
    X(memset_async, "cuMemsetD8Async", "cuMemsetD8Async", 3020,                                    \
      (cu_deviceptr addr, unsigned char value, size_t bytes, cu_stream *stream))                   \
    X(copy_async, "cuMemcpyDtoDAsync", "cuMemcpyDtoDAsync_v2", 3020,                               \
      (cu_deviceptr to, cu_deviceptr from, size_t bytes, cu_stream * stream))                      \
    X(copy_to_host, "cuMemcpyDtoH", "cuMemcpyDtoH_v2", 3020,                                       \
      (void *to, cu_deviceptr from, size_t bytes))                                                 \
    X(copy_to_device, "cuMemcpyHtoD", "cuMemcpyHtoD_v2", 3020,                                     \
      (cu_deviceptr to, const void *from, size_t bytes))

/* Needed only by devices that can map: with a driver older than CUDA 10.2 there are none. */
#define CU_MAPPING_LIST(X)                                                                      \
    X(address_reserve, "cuMemAddressReserve", "cuMemAddressReserve", 10020,                     \
      (cu_deviceptr * ret, size_t bytes, size_t alignment, cu_deviceptr hint,                   \
       unsigned long long flags))                                                               \
    X(address_free, "cuMemAddressFree", "cuMemAddressFree", 10020,                              \
      (cu_deviceptr addr, size_t bytes))                                                        \
    X(mem_create, "cuMemCreate", "cuMemCreate", 10020,                                          \
      (cu_mem_handle * ret, size_t bytes, const cu_mem_prop *prop, unsigned long long flags))   \
    X(mem_release, "cuMemRelease", "cuMemRelease", 10020, (cu_mem_handle handle))               \
    X(mem_map, "cuMemMap", "cuMemMap", 10020,                                                   \
      (cu_deviceptr addr, size_t bytes, size_t offset, cu_mem_handle handle,                    \
       unsigned long long flags))                                                               \
    X(mem_unmap, "cuMemUnmap", "cuMemUnmap", 10020, (cu_deviceptr addr, size_t bytes))          \
    X(mem_set_access, "cuMemSetAccess", "cuMemSetAccess", 10020,                                \
      (cu_deviceptr addr, size_t bytes, const cu_mem_access *access, size_t count))             \
    X(mem_granularity, "cuMemGetAllocationGranularity", "cuMemGetAllocationGranularity", 10020, \
      (size_t * ret, const cu_mem_prop *prop, int which))                                       \
    X(mem_export, "cuMemExportToShareableHandle", "cuMemExportToShareableHandle", 10020,        \
      (void *ret, cu_mem_handle handle, int type, unsigned long long flags))

/* --- NVML --- */

typedef struct nvml_device nvml_device;

enum { /* nvmlReturn_t */
       NVML_SUCCESS = 0,
       NVML_NOT_FOUND = 6,
       NVML_INSUFFICIENT_SIZE = 7,
};

#define NVML_VALUE_NOT_AVAILABLE UINT64_MAX

typedef struct nvml_process { /* nvmlProcessInfo_v2_t, of nvmlDeviceGetComputeRunningProcesses_v3 */
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance;
    unsigned compute_instance;
} nvml_process;

_Static_assert(sizeof(nvml_process) == 24, "as in nvml.h");

#define NVML_FUNCTION_LIST(X)                               \
    X(init, "nvmlInit_v2", (void))                          \
    X(shutdown, "nvmlShutdown", (void))                     \
    X(device_by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2", \
      (const char *bus_id, nvml_device **ret))              \
    X(processes, "nvmlDeviceGetComputeRunningProcesses_v3", \
      (nvml_device * device, unsigned *count, nvml_process *ret))

#endif
