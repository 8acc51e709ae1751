/*
 * cuda_words.h - the vendor's functions that tests of the stand-ins call, as they are exported.
 */
#ifndef PLIMSOLL_TESTS_STANDIN_CUDA_WORDS_H
#define PLIMSOLL_TESTS_STANDIN_CUDA_WORDS_H

#include <stddef.h>
#include <stdint.h>

int cudaSetDevice(int device);
int cudaGetDevice(int *device);
int cudaGetDeviceCount(int *count);
int cudaMalloc(void **address, size_t bytes);
int cudaFree(void *address);
int cudaMallocAsync(void **address, size_t bytes, void *stream);
int cudaFreeAsync(void *address, void *stream);
int cudaMallocManaged(void **address, size_t bytes, unsigned flags);
int cudaHostAlloc(void **address, size_t bytes, unsigned flags);
int cudaFreeHost(void *address);
int cudaHostRegister(void *address, size_t bytes, unsigned flags);
int cudaHostUnregister(void *address);
int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
int cudaMemcpy(void *target, const void *source, size_t bytes, int kind);
int cudaMemset(void *target, int byte, size_t bytes);
int cudaPointerGetAttributes(void *attributes, const void *address);
int cudaDeviceGetDefaultMemPool(void **pool, int device);
int cudaMemPoolGetAttribute(void *pool, int attribute, void *value);
int cudaMemPoolSetAttribute(void *pool, int attribute, const void *value);
int cudaMemPoolTrimTo(void *pool, size_t keep_bytes);
int cudaDeviceCanAccessPeer(int *can, int device, int peer);
int cudaDeviceEnablePeerAccess(int peer, unsigned flags);
int cudaDeviceDisablePeerAccess(int peer);
int cudaDeviceGetAttribute(int *value, int attribute, int device);
int cudaGetDeviceProperties(void *properties, int device);
int cudaGetDeviceProperties_v2(void *properties, int device);
int cudaGetLastError(void);
int cuMemAddressReserve(uint64_t *address, size_t bytes, size_t alignment, uint64_t hint,
                        unsigned long long flags);
int cuMemAddressFree(uint64_t address, size_t bytes);
int cuMemCreate(uint64_t *handle, size_t bytes, const void *properties, unsigned long long flags);
int cuMemRelease(uint64_t handle);
int cuMemRetainAllocationHandle(uint64_t *handle, const void *address);
int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
             unsigned long long flags);
int cuMemUnmap(uint64_t address, size_t bytes);
int cuMemSetAccess(uint64_t address, size_t bytes, const void *descriptors, size_t count);
int cuMemsetD32Async(uint64_t target, unsigned value, size_t count, void *stream);
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active);
int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                        int *status);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device);
int nvmlDeviceGetMemoryInfo(void *device, void *info);
int nvmlDeviceGetMemoryInfo_v2(void *device, void *info);
int nvmlDeviceGetUUID(void *device, char *text, unsigned bytes);
int nvmlDeviceGetHandleByUUID(const char *text, void **device);
int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, void *processes);

#endif
