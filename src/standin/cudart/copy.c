/*
 * copy.c - the runtime's copies and fills, over core/copy.h.
 *
 * All are complete on return, also the asynchronous ones, unless their stream captures: then they
 * happen whenever the graph is launched.
 */
#include "standin/core/copy.h"

#include "standin/core/current.h"
#include "standin/core/stub.h"
#include "standin/cudart/cudart.h"
#include "standin/work/work.h"

/* cudaMemcpy3DParms, in the manual under "Data types". */
/* cudaStreamLegacy and cudaStreamPerThread, in cuda_runtime_api.h. */
#define DEFAULT_STREAM_MAX 2u

typedef struct pitched {
    char *base;
    size_t pitch;
    size_t row_bytes;
    size_t rows; /* of one layer, from which the distance between layers follows */
} pitched;

typedef struct position {
    size_t x; /* bytes, where there are no arrays */
    size_t y;
    size_t z;
} position;

typedef struct copy_3d {
    void *source_array;
    position source_position;
    pitched source;
    void *target_array;
    position target_position;
    pitched target;
    struct {
        size_t row_bytes;
        size_t rows;
        size_t layers;
    } extent;
    int kind;
} copy_3d;

static void run_copy(const plim_standin_work *work)
{
    plim_standin_copy_rows(work->target, work->target_pitch, work->source, work->source_pitch,
                           work->row_bytes, work->rows);
}

static void run_fill(const plim_standin_work *work)
{
    for (size_t row = 0; row < work->rows; row++) {
        plim_standin_fill((char *)work->target + row * work->target_pitch, (int)work->value,
                          work->row_bytes);
    }
}

int cudaMemcpy2DAsync(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                      size_t row_bytes, size_t rows, int kind, void *stream)
{
    /* kind: the addresses say it, too */
    if (rows > 1 && (target_pitch < row_bytes || source_pitch < row_bytes)) {
        return plim_standin_current_error_note(CUDA_INVALID_VALUE_CODE);
    }
    const plim_standin_work work = { .kind = PLIM_WORK_COPY,
                                     .run = run_copy,
                                     .target = target,
                                     .target_pitch = target_pitch,
                                     .source = source,
                                     .source_pitch = source_pitch,
                                     .row_bytes = row_bytes,
                                     .rows = rows };
    if ((uintptr_t)stream > DEFAULT_STREAM_MAX) {
        plim_standin_tally_aside(target, source, row_bytes * rows);
    }
    return plim_standin_put(stream, &work);
}

int cudaMemcpy2D(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                 size_t row_bytes, size_t rows, int kind)
{
    return cudaMemcpy2DAsync(target, target_pitch, source, source_pitch, row_bytes, rows, kind,
                             NULL);
}

int cudaMemcpyAsync(void *target, const void *source, size_t bytes, int kind, void *stream)
{
    return cudaMemcpy2DAsync(target, bytes, source, bytes, bytes, 1, kind, stream);
}

int cudaMemcpy(void *target, const void *source, size_t bytes, int kind)
{
    return cudaMemcpyAsync(target, source, bytes, kind, NULL);
}

static char *place_of(const pitched *from, const position *at, size_t layer)
{
    return from->base + ((at->z + layer) * from->rows + at->y) * from->pitch + at->x;
}

PLIM_STANDIN_MODELLED(cudaMemcpy3DAsync, "a graph that captures it gets a node for each layer")

int cudaMemcpy3DAsync(const copy_3d *copy, void *stream)
{
    if (copy->source_array != NULL || copy->target_array != NULL) {
        return plim_standin_current_error_note(CUDA_INVALID_VALUE_CODE); /* we made none */
    }
    for (size_t layer = 0; layer < copy->extent.layers; layer++) {
        PLIM_STANDIN_TRY(cudaMemcpy2DAsync(
            place_of(&copy->target, &copy->target_position, layer), copy->target.pitch,
            place_of(&copy->source, &copy->source_position, layer), copy->source.pitch,
            copy->extent.row_bytes, copy->extent.rows, copy->kind, stream));
    }
    return CUDA_SUCCESS_CODE;
}

int cudaMemcpy3D(const copy_3d *copy)
{
    return cudaMemcpy3DAsync(copy, NULL);
}

int cudaMemcpyPeerAsync(void *target, int target_device, const void *source, int source_device,
                        size_t bytes, void *stream)
{
    return cudaMemcpyAsync(target, source, bytes, 0, stream);
}

int cudaMemcpyPeer(void *target, int target_device, const void *source, int source_device,
                   size_t bytes)
{
    return cudaMemcpyPeerAsync(target, target_device, source, source_device, bytes, NULL);
}

int cudaMemset2DAsync(void *target, size_t pitch, int byte, size_t row_bytes, size_t rows,
                      void *stream)
{
    const plim_standin_work work = { .kind = PLIM_WORK_FILL,
                                     .run = run_fill,
                                     .target = target,
                                     .target_pitch = pitch,
                                     .value = (unsigned char)byte,
                                     .value_bytes = 1,
                                     .row_bytes = row_bytes,
                                     .rows = rows };
    return plim_standin_put(stream, &work);
}

int cudaMemset2D(void *target, size_t pitch, int byte, size_t row_bytes, size_t rows)
{
    return cudaMemset2DAsync(target, pitch, byte, row_bytes, rows, NULL);
}

int cudaMemsetAsync(void *target, int byte, size_t bytes, void *stream)
{
    return cudaMemset2DAsync(target, bytes, byte, bytes, 1, stream);
}

int cudaMemset(void *target, int byte, size_t bytes)
{
    return cudaMemsetAsync(target, byte, bytes, NULL);
}
