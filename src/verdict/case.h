/*
 * case.h - what is known of one failure of memory, however it became known.
 *
 * Whoever has figures (an error text, a history) fills in a case; the verdict, its words and the
 * advice are functions of it.
 */
#ifndef PLIMSOLL_VERDICT_CASE_H
#define PLIMSOLL_VERDICT_CASE_H

#include "plimsoll/verdict.h"

/* Whose memory it is: decides which switches advice may name. */
typedef enum plim_oom_family {
    PLIM_FAMILY_ANY, /* unknown, or none of these */
    PLIM_FAMILY_PYTORCH,
    PLIM_FAMILY_PYTORCH_ROCM,
    PLIM_FAMILY_PYTORCH_MPS,
    PLIM_FAMILY_PYTORCH_NPU,
    PLIM_FAMILY_PYTORCH_XPU,
    PLIM_FAMILY_PYTORCH_ASYNC, /* cudaMallocAsync as PyTorch's back end */
    PLIM_FAMILY_PADDLE,
    PLIM_FAMILY_TENSORFLOW,
    PLIM_FAMILY_JAX,
    PLIM_FAMILY_TPU,
    PLIM_FAMILY_CUPY,
    PLIM_FAMILY_RMM,
    PLIM_FAMILY_XGBOOST,
    PLIM_FAMILY_FAISS,
    PLIM_FAMILY_LLAMA_CPP,
    PLIM_FAMILY_OLLAMA,
    PLIM_FAMILY_MLX,
    PLIM_FAMILY_METAL,
    PLIM_FAMILY_VULKAN,
    PLIM_FAMILY_OPENCL,
    PLIM_FAMILY_SYCL,
    PLIM_FAMILY_VLLM,
    PLIM_FAMILY_SGLANG,
    PLIM_FAMILY_TGI,
    PLIM_FAMILY_TENSORRT,
    PLIM_FAMILY_ONNXRUNTIME,
    PLIM_FAMILY_DIRECTML,
    PLIM_FAMILY_JULIA,
    PLIM_FAMILY_DARKNET,
    PLIM_FAMILY_CUDA, /* the driver or the runtime, nobody else in sight */
    PLIM_FAMILY_HIP,
    PLIM_FAMILY_TRITON,
    PLIM_FAMILY_HOST, /* the operating system and schedulers */
    PLIM_FAMILY_COUNT
} plim_oom_family;

#define PLIM_FAMILY_BIT(family) ((uint64_t)1 << (family))

/* What the failure is about, apart from its figures. */
typedef enum plim_oom_topic {
    /* Judged by the figures. */
    PLIM_TOPIC_ALLOCATION, /* a caching allocator could not get what it asked for */
    PLIM_TOPIC_ASYNC_POOL, /* the driver's own pool: what it caches is not printed */
    PLIM_TOPIC_POOL,       /* one big pool, taken at start; limit is the pool's */
    PLIM_TOPIC_WATERMARK,  /* Metal: allocated and other allocations against a watermark */
    PLIM_TOPIC_STARTUP,    /* a share of the device was wanted at start */
    PLIM_TOPIC_PROGRAM,    /* a compiled program against a chip: requested is all of it */
    PLIM_TOPIC_ARENA,      /* an arena that may be the device's or the host's */
    /* An out-of-memory without figures, unknown in itself. */
    PLIM_TOPIC_BARE,      /* the driver says out of memory */
    PLIM_TOPIC_WORKSPACE, /* a library (cuBLAS, cuDNN, NCCL) got no workspace */
    PLIM_TOPIC_WEIGHTS,   /* loading a model */
    PLIM_TOPIC_COMPUTE,   /* a compute buffer, grows with context and batch */
    PLIM_TOPIC_WARMUP,    /* a server tried its largest batch */
    PLIM_TOPIC_TACTIC,    /* an optimizer tried a tactic with a large workspace; survivable */
    /* A limit, by the words alone. */
    PLIM_TOPIC_CAP,      /* a pool or fraction that may not grow */
    PLIM_TOPIC_KV_CACHE, /* the budget of a server's KV cache */
    /* One request too large, by the words alone. */
    PLIM_TOPIC_BUFFER_MAX, /* the largest single buffer that a driver allows */
    PLIM_TOPIC_OVERFLOW,   /* the size overflowed */
    /* The host's memory. */
    PLIM_TOPIC_HOST_RAM,
    PLIM_TOPIC_HOST_KILLED, /* the kernel's or a scheduler's out-of-memory killer */
    PLIM_TOPIC_HOST_SHM,
    PLIM_TOPIC_HOST_PINNED,
    PLIM_TOPIC_HOST_MAPS, /* too many mappings, or a fork */
    PLIM_TOPIC_HOST_HEAP, /* the heap of a language's runtime (Node, Java) */
    /* No memory at all. */
    PLIM_TOPIC_KERNEL,    /* a kernel's shared memory, registers, threads */
    PLIM_TOPIC_SCRATCH,   /* a chip's scratch memory (vmem) */
    PLIM_TOPIC_DISK,      /* "no space left on device" */
    PLIM_TOPIC_ERROR,     /* another error of the device (illegal access, …) */
    PLIM_TOPIC_SLOTS,     /* tokens, slots, shapes */
    PLIM_TOPIC_WARNING,   /* says itself that it is no failure */
    PLIM_TOPIC_REPORT,    /* a table or a line of information */
    PLIM_TOPIC_PLACEMENT, /* a plan of layers over devices that does not fit */
    PLIM_TOPIC_COUNT
} plim_oom_topic;

/* What the text shows to be in force already, so that it is not advised. */
typedef enum plim_in_force {
    PLIM_IN_FORCE_EXPANDABLE_SEGMENTS,
    PLIM_IN_FORCE_MAX_SPLIT_SIZE,
    PLIM_IN_FORCE_CUDA_MALLOC_ASYNC,
    PLIM_IN_FORCE_GC_THRESHOLD,
    PLIM_IN_FORCE_CHECKPOINTING,
    PLIM_IN_FORCE_MIXED_PRECISION, /* bf16, fp16, autocast */
    PLIM_IN_FORCE_BATCH_OF_ONE,
    PLIM_IN_FORCE_ACCUMULATION,
    PLIM_IN_FORCE_8BIT_OPTIMIZER,
    PLIM_IN_FORCE_QUANTIZED, /* load_in_4bit, load_in_8bit, … */
    PLIM_IN_FORCE_LORA,
    PLIM_IN_FORCE_OFFLOAD,
    PLIM_IN_FORCE_SHARDED,          /* FSDP, ZeRO */
    PLIM_IN_FORCE_NO_PREALLOCATION, /* XLA_PYTHON_CLIENT_PREALLOCATE=false, allow growth */
    PLIM_IN_FORCE_PLATFORM_ALLOCATOR,
    PLIM_IN_FORCE_SNAPSHOT, /* _record_memory_history was called */
    PLIM_IN_FORCE_FLASH_ATTENTION,
    PLIM_IN_FORCE_ENFORCE_EAGER,
    PLIM_IN_FORCE_COUNT
} plim_in_force;

#define PLIM_IN_FORCE_BIT(what) ((uint32_t)1 << (what))

typedef struct plim_oom_case {
    plim_oom_topic topic;
    plim_oom_family family;
    int32_t device; /* index as printed, -1 if unknown */
    plim_figure figures[PLIM_FIGURE_COUNT];
    const plim_process_figure *processes; /* is_this need not be filled in yet */
    size_t process_count;
    uint32_t in_force; /* PLIM_IN_FORCE_BIT of each */
    bool leaks;        /* memory had been growing over the steps before */
} plim_oom_case;

/* Nothing is known yet. */
static inline void plim_figures_clear(plim_figure figures[PLIM_FIGURE_COUNT])
{
    for (size_t i = 0; i < PLIM_FIGURE_COUNT; i++) {
        figures[i] = (plim_figure){ .bytes = PLIM_BYTES_UNKNOWN };
    }
}

static inline bool plim_case_has(const plim_oom_case *oom, plim_figure_id id)
{
    return oom->figures[id].bytes != PLIM_BYTES_UNKNOWN;
}

#endif
