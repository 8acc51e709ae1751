/*
 * properties.h - the layout of cudaDeviceProp in CUDA 12 and in CUDA 13.
 *
 * The order of the fields is a fact of the ABI, taken from the documentation of
 * cudaDeviceProp (CUDA Runtime API manuals 12.x and 13.0, and bindings generated from them:
 * docs.rs/cudarc, runtime::sys::cudaDeviceProp). CUDA 13 dropped eight fields, so that the two do
 * not mix; here each is marked with where it is. The beginning of CUDA 12's, up to
 * PLIM_STANDIN_PROPERTIES_11_BYTES, is all of CUDA 11's. Names keep the vendor's spelling, so
 * that they can be looked up.
 */
#ifndef PLIMSOLL_STANDIN_CUDART_PROPERTIES_H
#define PLIMSOLL_STANDIN_CUDART_PROPERTIES_H

#include <stddef.h>

/* In the order of both: BOTH(type, name, dimension), ONLY_12 and ONLY_13 alike. */
#define PLIM_STANDIN_PROPERTIES(BOTH, ONLY_12, ONLY_13)              \
    BOTH(char, name, [256])                                          \
    BOTH(unsigned char, uuid, [16])                                  \
    BOTH(char, luid, [8])                                            \
    BOTH(unsigned, luidDeviceNodeMask, )                             \
    BOTH(size_t, totalGlobalMem, )                                   \
    BOTH(size_t, sharedMemPerBlock, )                                \
    BOTH(int, regsPerBlock, )                                        \
    BOTH(int, warpSize, )                                            \
    BOTH(size_t, memPitch, )                                         \
    BOTH(int, maxThreadsPerBlock, )                                  \
    BOTH(int, maxThreadsDim, [3])                                    \
    BOTH(int, maxGridSize, [3])                                      \
    ONLY_12(int, clockRate, )                                        \
    BOTH(size_t, totalConstMem, )                                    \
    BOTH(int, major, )                                               \
    BOTH(int, minor, )                                               \
    BOTH(size_t, textureAlignment, )                                 \
    BOTH(size_t, texturePitchAlignment, )                            \
    ONLY_12(int, deviceOverlap, )                                    \
    BOTH(int, multiProcessorCount, )                                 \
    ONLY_12(int, kernelExecTimeoutEnabled, )                         \
    BOTH(int, integrated, )                                          \
    BOTH(int, canMapHostMemory, )                                    \
    ONLY_12(int, computeMode, )                                      \
    BOTH(int, maxTexture1D, [2]) /* and maxTexture1DMipmap */        \
    ONLY_12(int, maxTexture1DLinear, )                               \
    BOTH(int, maxTexture2D, [37]) /* … maxSurfaceCubemapLayered */ \
    BOTH(size_t, surfaceAlignment, )                                 \
    BOTH(int, concurrentKernels, )                                   \
    BOTH(int, ECCEnabled, )                                          \
    BOTH(int, pciBusID, )                                            \
    BOTH(int, pciDeviceID, )                                         \
    BOTH(int, pciDomainID, )                                         \
    BOTH(int, tccDriver, )                                           \
    BOTH(int, asyncEngineCount, )                                    \
    BOTH(int, unifiedAddressing, )                                   \
    ONLY_12(int, memoryClockRate, )                                  \
    BOTH(int, memoryBusWidth, )                                      \
    BOTH(int, l2CacheSize, )                                         \
    BOTH(int, persistingL2CacheMaxSize, )                            \
    BOTH(int, maxThreadsPerMultiProcessor, )                         \
    BOTH(int, streamPrioritiesSupported, )                           \
    BOTH(int, globalL1CacheSupported, )                              \
    BOTH(int, localL1CacheSupported, )                               \
    BOTH(size_t, sharedMemPerMultiprocessor, )                       \
    BOTH(int, regsPerMultiprocessor, )                               \
    BOTH(int, managedMemory, )                                       \
    BOTH(int, isMultiGpuBoard, )                                     \
    BOTH(int, multiGpuBoardGroupID, )                                \
    BOTH(int, hostNativeAtomicSupported, )                           \
    ONLY_12(int, singleToDoublePrecisionPerfRatio, )                 \
    BOTH(int, pageableMemoryAccess, )                                \
    BOTH(int, concurrentManagedAccess, )                             \
    BOTH(int, computePreemptionSupported, )                          \
    BOTH(int, canUseHostPointerForRegisteredMem, )                   \
    BOTH(int, cooperativeLaunch, )                                   \
    ONLY_12(int, cooperativeMultiDeviceLaunch, )                     \
    BOTH(size_t, sharedMemPerBlockOptin, )                           \
    BOTH(int, pageableMemoryAccessUsesHostPageTables, )              \
    BOTH(int, directManagedMemAccessFromHost, )                      \
    BOTH(int, maxBlocksPerMultiProcessor, )                          \
    BOTH(int, accessPolicyMaxWindowSize, )                           \
    BOTH(size_t, reservedSharedMemPerBlock, )                        \
    BOTH(int, hostRegisterSupported, )                               \
    BOTH(int, sparseCudaArraySupported, )                            \
    BOTH(int, hostRegisterReadOnlySupported, )                       \
    BOTH(int, timelineSemaphoreInteropSupported, )                   \
    BOTH(int, memoryPoolsSupported, )                                \
    BOTH(int, gpuDirectRDMASupported, )                              \
    BOTH(unsigned, gpuDirectRDMAFlushWritesOptions, )                \
    BOTH(int, gpuDirectRDMAWritesOrdering, )                         \
    BOTH(unsigned, memoryPoolSupportedHandleTypes, )                 \
    BOTH(int, deferredMappingCudaArraySupported, )                   \
    BOTH(int, ipcEventSupported, )                                   \
    BOTH(int, clusterLaunch, )                                       \
    BOTH(int, unifiedFunctionPointers, )                             \
    ONLY_12(int, reserved12, [63])                                   \
    ONLY_13(int, deviceNumaConfig, )                                 \
    ONLY_13(int, deviceNumaId, )                                     \
    ONLY_13(int, mpsEnabled, )                                       \
    ONLY_13(int, hostNumaId, )                                       \
    ONLY_13(unsigned, gpuPciDeviceID, )                              \
    ONLY_13(unsigned, gpuPciSubsystemID, )                           \
    ONLY_13(int, hostNumaMultinodeIpcSupported, )                    \
    ONLY_13(int, reserved13, [56])

#define PLIM_STANDIN_FIELD(type, name, dimension) type name dimension;
#define PLIM_STANDIN_NO_FIELD(type, name, dimension)

typedef struct plim_standin_properties_12 {
    PLIM_STANDIN_PROPERTIES(PLIM_STANDIN_FIELD, PLIM_STANDIN_FIELD, PLIM_STANDIN_NO_FIELD)
} plim_standin_properties_12;

typedef struct plim_standin_properties_13 {
    PLIM_STANDIN_PROPERTIES(PLIM_STANDIN_FIELD, PLIM_STANDIN_NO_FIELD, PLIM_STANDIN_FIELD)
} plim_standin_properties_13;

/* All values, in no particular order. */
typedef struct plim_standin_properties {
    PLIM_STANDIN_PROPERTIES(PLIM_STANDIN_FIELD, PLIM_STANDIN_FIELD, PLIM_STANDIN_FIELD)
} plim_standin_properties;

#define PLIM_STANDIN_PROPERTIES_11_BYTES offsetof(plim_standin_properties_12, hostRegisterSupported)

#endif
