/*
 * plimsoll/gpu.h - GPUs by name: what they have, and what a driver takes of it.
 */
#ifndef PLIMSOLL_GPU_H
#define PLIMSOLL_GPU_H

#include "plimsoll/api.h"
#include "plimsoll/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PLIM_BEGIN_DECLS

#define PLIM_GPU_KEY_BYTES  32
#define PLIM_GPU_NAME_BYTES 64

/* The evidence for the memory of a GPU's context. */
typedef enum plim_gpu_evidence {
    PLIM_GPU_MODELLED, /* by the number of threads that can be resident */
    PLIM_GPU_CHECKED,  /* modelled, and a public measurement is within 3 % of it */
    PLIM_GPU_MEASURED,
} plim_gpu_evidence;

/*
 * One kind of GPU. A plain value without pointers, so that it can lie in shared memory. The
 * figures and where each comes from: src/gpus/gpus.tsv, docs/formats/gpus.md.
 */
typedef struct plim_gpu {
    char key[PLIM_GPU_KEY_BYTES];   /* what users write: "h100", "rtx4090" */
    char name[PLIM_GPU_NAME_BYTES]; /* what the driver says: "NVIDIA H100 80GB HBM3" */
    uint64_t memory_bytes;          /* cudaMemGetInfo's total: what programs can have */
    uint64_t nominal_bytes;         /* what is printed on the box */
    uint64_t driver_bytes;          /* the driver's own, beyond memory_bytes; 0: not known */
    uint64_t context_bytes;         /* a process takes so much as it starts to use the GPU */
    uint64_t kernels_bytes;         /* more with the first kernels */
    uint64_t cublas_bytes;          /* more with the first cuBLAS handle */
    uint64_t cudnn_bytes;           /* more with the first cuDNN handle */
    uint64_t nccl_bytes;            /* more with the first NCCL communicator, buffers apart */
    uint32_t capability_major;
    uint32_t capability_minor;
    uint32_t multiprocessors;
    uint32_t threads_per_multiprocessor;
    uint32_t blocks_per_multiprocessor;
    uint32_t shared_bytes_per_multiprocessor;
    uint32_t shared_bytes_per_block_optin; /* the most a kernel may ask for */
    uint32_t l2_bytes;
    uint32_t bus_bits;
    uint32_t clock_khz;
    uint32_t memory_clock_khz;
    plim_gpu_evidence context_evidence;
    /* Peaks of the data sheet, dense; 0: not known. docs/formats/gpus.md, "[speeds]". */
    uint64_t fp32_flops; /* a second, without tensor cores */
    uint64_t tf32_flops; /* 0: it has no TF32 */
    uint64_t half_flops; /* products of 16 bits, added in 32 */
    uint64_t memory_bytes_per_second;
    uint64_t link_bytes_per_second; /* to the host, or from it */
    bool are_speeds_published;      /* or derived from cores and clocks */
} plim_gpu;

/** The number of known kinds, and the one at an index, NULL beyond; constant, never freed. */
PLIM_API size_t plim_gpu_count(void);
PLIM_API const plim_gpu *plim_gpu_at(size_t index);

/**
 * Memory that the allocator of one program can have: all but what a process that computes takes
 * beside it, as in a rehearsal. cuDNN and NCCL take more of those that use them.
 */
PLIM_API uint64_t plim_gpu_allocator_bytes(const plim_gpu *gpu);

/** "modelled", "checked", "measured"; a constant. */
PLIM_API const char *plim_gpu_evidence_name(plim_gpu_evidence evidence);

/**
 * The GPU of a name: a key, or what people and drivers call it. Case, spaces, "-", "_" and the
 * words NVIDIA, GeForce, Tesla and Quadro do not matter, nor RTX where it comes first: "NVIDIA
 * GeForce RTX 4090", "rtx-4090" and "4090" are one.
 *
 * ret     set to the table's own row, never freed
 * errors  PLIM_INVALID_ARGUMENT for an unknown name (the text suggests known ones), or one that
 *         several bear ("a100": 40 or 80 GiB? the text lists them)
 */
PLIM_API PLIM_MUST_USE plim_status plim_gpu_find(const char *name, const plim_gpu **ret,
                                                 plim_error *err);

PLIM_END_DECLS

#endif
