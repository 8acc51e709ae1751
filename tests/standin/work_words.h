/*
 * work_words.h - the vendor's functions of streams, events, captures, graphs and modules.
 */
#ifndef PLIMSOLL_TESTS_STANDIN_WORK_WORDS_H
#define PLIMSOLL_TESTS_STANDIN_WORK_WORDS_H

#include <stddef.h>
#include <stdint.h>

#define LEGACY     ((void *)1) /* cudaStreamLegacy */
#define PER_THREAD ((void *)2) /* cudaStreamPerThread */

enum { MODE_GLOBAL, MODE_THREAD_LOCAL, MODE_RELAXED };

typedef struct dim {
    unsigned x, y, z;
} dim;

int cudaStreamCreate(void **stream);
int cudaStreamCreateWithFlags(void **stream, unsigned flags);
int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority);
int cudaStreamDestroy(void *stream);
int cudaStreamGetPriority(void *stream, int *priority);
int cudaStreamGetFlags(void *stream, unsigned *flags);
int cudaStreamGetId(void *stream, unsigned long long *id);
int cudaStreamGetDevice(void *stream, int *device);
int cudaStreamQuery(void *stream);
int cudaStreamSynchronize(void *stream);
int cudaDeviceSynchronize(void);
int cudaStreamWaitEvent(void *stream, void *event, unsigned flags);
int cudaStreamAddCallback(void *stream, void (*callback)(void *, int, void *), void *data,
                          unsigned flags);
int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data);
int cudaEventCreate(void **event);
int cudaEventCreateWithFlags(void **event, unsigned flags);
int cudaEventDestroy(void *event);
int cudaEventRecord(void *event, void *stream);
int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags);
int cudaEventQuery(void *event);
int cudaEventSynchronize(void *event);
int cudaEventElapsedTime(float *milliseconds, void *start, void *end);
typedef struct ticket {
    char bytes[64];
} ticket;
int cudaIpcGetEventHandle(ticket *shared, void *event);
int cudaIpcOpenEventHandle(void **event, ticket shared);
int cudaLaunchKernel(const void *function, dim grid, dim block, void **arguments,
                     size_t shared_bytes, void *stream);
int cudaMemcpyAsync(void *target, const void *source, size_t bytes, int kind, void *stream);

int cudaStreamBeginCapture(void *stream, int mode);
int cudaStreamBeginCaptureToGraph(void *stream, void *graph, void *const *dependencies,
                                  const void *edges, size_t count, int mode);
int cudaStreamEndCapture(void *stream, void **graph);
int cudaStreamIsCapturing(void *stream, int *status);
int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, void **graph,
                             void *const **dependencies, const void **edges, size_t *count);
int cudaStreamUpdateCaptureDependencies(void *stream, void *const *dependencies, uintptr_t third,
                                        uintptr_t fourth, unsigned fifth);
int cudaThreadExchangeStreamCaptureMode(int *mode);
int cuStreamGetCaptureInfo(void *stream, int *status, uint64_t *id);
int cuStreamUpdateCaptureDependencies(void *stream, void *const *dependencies, size_t count,
                                      unsigned flags);
int cuStreamIsCapturing(void *stream, int *status);

int cudaGraphCreate(void **graph, unsigned flags);
int cudaGraphDestroy(void *graph);
int cudaGraphClone(void **clone, void *graph);
int cudaGraphDebugDotPrint(void *graph, const char *path, unsigned flags);
int cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags);
int cudaGraphExecDestroy(void *exec);
int cudaGraphExecUpdate(void *exec, void *graph, void *result);
int cudaGraphLaunch(void *exec, void *stream);
int cudaGraphUpload(void *exec, void *stream);
typedef struct host_params {
    void (*function)(void *);
    void *data;
} host_params;
int cudaGraphAddHostNode(void **node, void *graph, void *const *after, size_t count,
                         const host_params *params);
int cudaGraphAddEmptyNode(void **node, void *graph, void *const *after, size_t count);
int cudaGraphAddChildGraphNode(void **node, void *graph, void *const *after, size_t count,
                               void *child);
int cudaGraphDestroyNode(void *node);
int cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, uintptr_t fourth,
                             size_t fifth);
int cudaGraphRemoveDependencies(void *graph, void *const *from, void *const *to, uintptr_t fourth,
                                size_t fifth);
int cudaGraphGetNodes(void *graph, void **nodes, size_t *count);
int cudaGraphGetRootNodes(void *graph, void **nodes, size_t *count);
int cudaGraphGetEdges(void *graph, void **from, void **to, void *edges, size_t *count);
int cudaGraphNodeGetDependencies(void *node, void **before, void *edges, size_t *count);
int cudaGraphNodeGetDependentNodes(void *node, void **after, void *edges, size_t *count);
int cudaGraphNodeGetType(void *node, int *type);
int cudaUserObjectCreate(void **object, void *data, void (*destroy)(void *), unsigned uses,
                         unsigned flags);
int cudaUserObjectRetain(void *object, unsigned count);
int cudaUserObjectRelease(void *object, unsigned count);
int cudaGraphRetainUserObject(void *graph, void *object, unsigned count, unsigned flags);
int cudaGraphReleaseUserObject(void *graph, void *object, unsigned count);

int cuCtxGetCurrent(void **context);
int cuCtxSetCurrent(void *context);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuCtxGetDevice(int *device);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuModuleLoad(void **module, const char *path);
int cuModuleLoadData(void **module, const void *image);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name);
int cuFuncGetAttribute(int *value, int attribute, const void *function);
int cuFuncGetName(const char **name, const void *function);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                size_t dynamic_bytes);
int cuLaunchKernel(const void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void *stream, void **arguments, void **extra);
int nvrtcCreateProgram(void **ret, const char *source, const char *name, int header_count,
                       const char *const *headers, const char *const *header_names);
int nvrtcDestroyProgram(void **made);
int nvrtcAddNameExpression(void *made, const char *text);
int nvrtcCompileProgram(void *made, int option_count, const char *const *options);
int nvrtcGetLoweredName(void *made, const char *text, const char **lowered);
int nvrtcGetCUBINSize(void *made, size_t *bytes);
int nvrtcGetCUBIN(void *made, char *code);
int nvrtcGetProgramLogSize(void *made, size_t *bytes);

/* A kernel on a stream; which one does not matter. */
static inline int launch(void *stream)
{
    static const char kernel;
    const dim one = { 1, 1, 1 };
    return cudaLaunchKernel(&kernel, one, one, NULL, 0, stream);
}

#endif
