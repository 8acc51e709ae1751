/*
 * copy.c - the runtime's copies and fills, over core/copy.h.
 *
 * All are complete on return, also the asynchronous ones.
 */
#include "standin/core/copy.h"

#include "standin/cudart/cudart.h"

int cudaMemcpy(void *target, const void *source, size_t bytes, int kind);
int cudaMemcpyAsync(void *target, const void *source, size_t bytes, int kind, void *stream);
int cudaMemcpyPeerAsync(void *target, int target_device, const void *source, int source_device,
                        size_t bytes, void *stream);
int cudaMemcpy2DAsync(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                      size_t row_bytes, size_t rows, int kind, void *stream);
int cudaMemset(void *target, int byte, size_t bytes);
int cudaMemsetAsync(void *target, int byte, size_t bytes, void *stream);

int cudaMemcpy(void *target, const void *source, size_t bytes, int kind)
{
    (void)kind;
    plim_standin_copy(target, source, bytes);
    return CUDA_SUCCESS_CODE;
}

int cudaMemcpyAsync(void *target, const void *source, size_t bytes, int kind, void *stream)
{
    (void)stream;
    return cudaMemcpy(target, source, bytes, kind);
}

int cudaMemcpyPeerAsync(void *target, int target_device, const void *source, int source_device,
                        size_t bytes, void *stream)
{
    (void)target_device;
    (void)source_device;
    (void)stream;
    plim_standin_copy(target, source, bytes);
    return CUDA_SUCCESS_CODE;
}

int cudaMemcpy2DAsync(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                      size_t row_bytes, size_t rows, int kind, void *stream)
{
    (void)kind;
    (void)stream;
    plim_standin_copy_rows(target, target_pitch, source, source_pitch, row_bytes, rows);
    return CUDA_SUCCESS_CODE;
}

int cudaMemset(void *target, int byte, size_t bytes)
{
    plim_standin_fill(target, byte, bytes);
    return CUDA_SUCCESS_CODE;
}

int cudaMemsetAsync(void *target, int byte, size_t bytes, void *stream)
{
    (void)stream;
    return cudaMemset(target, byte, bytes);
}
