/*
 * plimsoll/verdict.h - one failed request: its figures, the judgement on it, and its words.
 *
 *   error text ─────┐
 *   history ────────┤                        plim_judge()          plim_judgement_why()
 *   rehearsal ──────┼──► plim_failed_request ───────────► judgement ───────────────► two sentences
 *   replay ─────────┤                                     (a finding)
 *   allocator ──────┘                        plim_remedy_text(): what would have satisfied it
 *
 * All sources are judged by the same pure functions, which allocate nothing: the same figures get
 * the same verdict and the same sentences. Thresholds are named in src/verdict/thresholds.h and
 * argued in docs/design/verdict.md.
 */
#ifndef PLIMSOLL_VERDICT_H
#define PLIMSOLL_VERDICT_H

#include "plimsoll/finding.h"

PLIM_BEGIN_DECLS

#define PLIM_VERDICT_LIST(X)                                                                     \
    X(PLIM_VERDICT_UNKNOWN, "unknown")       /* too few figures, or they contradict the error */ \
    X(PLIM_VERDICT_EXHAUSTED, "exhausted")   /* live data and the request do not fit */          \
    X(PLIM_VERDICT_FRAGMENTED, "fragmented") /* held but unused would do, in one piece */        \
    X(PLIM_VERDICT_OTHER_PROCESS, "other_process") /* others hold the device */                  \
    X(PLIM_VERDICT_CAPPED, "capped")               /* a limit that was set, not the device */    \
    X(PLIM_VERDICT_OVERSIZED, "oversized")         /* the one request exceeds the device */      \
    X(PLIM_VERDICT_HOST, "host")                   /* CPU memory, pinned memory, /dev/shm */     \
    X(PLIM_VERDICT_NOT_OOM, "not_oom")             /* another error that speaks of memory */

typedef enum plim_verdict {
#define PLIM_VERDICT_ENUM(code, name) code,
    PLIM_VERDICT_LIST(PLIM_VERDICT_ENUM)
#undef PLIM_VERDICT_ENUM
        PLIM_VERDICT_COUNT
} plim_verdict;

/** "exhausted", …; a constant string, never NULL. */
PLIM_API const char *plim_verdict_name(plim_verdict verdict);

/* A figure that the source does not have. */
#define PLIM_BYTES_UNKNOWN UINT64_MAX

/*
 * The figures of a failed request. Those up to PLIM_FIGURE_SHARED_LIMIT are what a message may
 * say, and the verdict and its sentences rest on them alone. The others are known to an allocator
 * and to some histories only; plim_remedy_text() uses them.
 */
#define PLIM_FIGURE_LIST(X)                                                                        \
    X(PLIM_FIGURE_REQUESTED, "requested_bytes") /* what the device was asked for: of PyTorch a     \
                                                   whole segment, "Tried to allocate" */           \
    X(PLIM_FIGURE_TOTAL, "total_bytes")         /* of the device */                                \
    X(PLIM_FIGURE_FREE, "free_bytes")           /* as the driver reports it; in a pool's dump,     \
                                                   what is left of the pool's limit */             \
    X(PLIM_FIGURE_ALLOCATED, "allocated_bytes") /* live in this allocator */                       \
    X(PLIM_FIGURE_RESERVED, "reserved_bytes")   /* all this allocator holds */                     \
    X(PLIM_FIGURE_RESERVED_UNALLOCATED, "reserved_unallocated_bytes") /* held, not live */         \
    X(PLIM_FIGURE_PROCESS, "process_bytes")                           /* "this process has" */     \
    X(PLIM_FIGURE_OTHER_PROCESSES, "other_processes_bytes") /* the sum of "Process N has": one of  \
                                                               them may be this very process */    \
    X(PLIM_FIGURE_LIMIT, "limit_bytes")                     /* a bound other than the device */    \
    X(PLIM_FIGURE_PRIVATE_POOLS, "private_pools_bytes")     /* free in private pools; PyTorch      \
                                                               counts it as allocated */           \
    X(PLIM_FIGURE_OTHER_ALLOCATIONS, "other_allocations_bytes") /* Metal, outside the allocator */ \
    X(PLIM_FIGURE_REQUESTED_FROM_SHAPE, "requested_from_shape_bytes") /* shape x size of type */   \
    X(PLIM_FIGURE_SHARED_REQUIRED, "shared_required_bytes") /* of a kernel, in no memory above */  \
    X(PLIM_FIGURE_SHARED_LIMIT, "shared_limit_bytes")                                              \
    X(PLIM_FIGURE_ACTIVE, "active_bytes")                 /* live, or freed and still in use by a  \
                                                             stream */                             \
    X(PLIM_FIGURE_ALLOCATED_PEAK, "allocated_peak_bytes") /* the most that was live at once, */    \
    X(PLIM_FIGURE_RESERVED_PEAK, "reserved_peak_bytes")   /* and held at once */                   \
    X(PLIM_FIGURE_INACTIVE_SPLIT, "inactive_split_bytes") /* free, in partly used segments */      \
    X(PLIM_FIGURE_BLOCK, "block_bytes")     /* of the block that the program's request needs */    \
    X(PLIM_FIGURE_PAGE, "page_bytes")       /* that an expandable segment would map for it; 0:     \
                                               none would */                                       \
    X(PLIM_FIGURE_PENDING, "pending_bytes") /* freed, but waiting for another stream */            \
    X(PLIM_FIGURE_POOL_FREE, "pool_free_bytes") /* free where this request may take from: its      \
                                                   pool and stream; */                             \
    X(PLIM_FIGURE_LARGEST_FREE, "largest_free_block_bytes") /* the largest block of it, */         \
    X(PLIM_FIGURE_LARGEST_FREE_ANYWHERE, "largest_free_block_anywhere_bytes") /* of all pools */   \
    X(PLIM_FIGURE_OTHER_STREAMS_FREE, "other_streams_free_bytes") /* in its pool, other streams */ \
    X(PLIM_FIGURE_RELEASABLE, "releasable_bytes") /* wholly free segments and pages */             \
    X(PLIM_FIGURE_EXPANDABLE_RESERVED,                                                             \
      "expandable_reserved_bytes") /* what expandable segments                                     \
           would leave reserved for what is live, in whole pages */

typedef enum plim_figure_id {
#define PLIM_FIGURE_ENUM(code, name) code,
    PLIM_FIGURE_LIST(PLIM_FIGURE_ENUM)
#undef PLIM_FIGURE_ENUM
        PLIM_FIGURE_COUNT
} plim_figure_id;

/* Figures that a message may say. */
#define PLIM_FIGURE_PRINTED_COUNT (PLIM_FIGURE_INACTIVE_SPLIT + 1)

/** "requested_bytes", …; a constant string, never NULL. */
PLIM_API const char *plim_figure_name(plim_figure_id id);

typedef struct plim_figure {
    uint64_t bytes;       /* to the nearest byte, or PLIM_BYTES_UNKNOWN */
    uint64_t slack_bytes; /* half a unit of the last printed digit: the truth is that near */
    uint64_t offset;      /* where it stands in the input, */
    uint32_t length;      /* and how many bytes of it */
} plim_figure;

/* "Process 1234 has 5.00 GiB memory in use." */
typedef struct plim_process_figure {
    uint64_t pid;
    uint64_t bytes;
    bool is_this; /* judged to be the process that failed, seen from outside its container */
} plim_process_figure;

/* The program whose memory it is: decides which switches advice may name. */
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
    PLIM_FAMILY_CUDA, /* the driver or the runtime, no framework in sight */
    PLIM_FAMILY_HIP,
    PLIM_FAMILY_TRITON,
    PLIM_FAMILY_HOST, /* the operating system and schedulers */
    PLIM_FAMILY_COUNT
} plim_oom_family;

#define PLIM_FAMILY_BIT(family) ((uint64_t)1 << (family))

/* The kind of failure, apart from its figures. */
typedef enum plim_oom_topic {
    /* Judged by the figures. */
    PLIM_TOPIC_ALLOCATION, /* a caching allocator could not get what it asked for */
    PLIM_TOPIC_ASYNC_POOL, /* the driver's own pool: what it caches is not printed */
    PLIM_TOPIC_POOL,       /* one big pool, taken at start; limit is the pool's */
    PLIM_TOPIC_WATERMARK,  /* Metal: allocated and other allocations against a watermark */
    PLIM_TOPIC_STARTUP,    /* a share of the device was wanted at start */
    PLIM_TOPIC_PROGRAM,    /* a compiled program against a chip: requested is all of it */
    PLIM_TOPIC_ARENA,      /* an arena that may be the device's or the host's */
    PLIM_TOPIC_SUMMARY,    /* a table of statistics that counts failures, printed after them */
    /* An out-of-memory without figures, unknown in itself. */
    PLIM_TOPIC_BARE,      /* the driver says out of memory */
    PLIM_TOPIC_WORKSPACE, /* a library (cuBLAS, cuDNN, NCCL) got no workspace */
    PLIM_TOPIC_HANDLE,    /* a library could not be initialized; often for want of memory */
    PLIM_TOPIC_WEIGHTS,   /* loading a model */
    PLIM_TOPIC_COMPUTE,   /* a compute buffer, grows with context and batch */
    PLIM_TOPIC_WARMUP,    /* a server tried its largest batch */
    PLIM_TOPIC_TACTIC,    /* an optimizer tried a tactic with a large workspace; survivable */
    /* A limit, by the words alone. */
    PLIM_TOPIC_CAP,      /* a pool or fraction that may not grow */
    PLIM_TOPIC_KV_NONE,  /* a server's share that leaves nothing for its KV cache */
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

/* Settings and techniques that are in force already, so that they are not advised. */
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

/* One request that failed, however it became known. */
typedef struct plim_failed_request {
    plim_oom_topic topic;
    plim_oom_family family;
    plim_subject subject;                   /* the device; of a history, the event and its stack */
    plim_figure figures[PLIM_FIGURE_COUNT]; /* PLIM_BYTES_UNKNOWN where the source is silent */
    const plim_process_figure *processes;   /* borrowed; is_this need not be filled in yet */
    size_t process_count;
    uint32_t in_force; /* PLIM_IN_FORCE_BIT of each */
    bool is_rejected;  /* refused by throw_on_cudamalloc_oom: the device was not asked */
    bool leaks;        /* memory had been growing over the steps before */
} plim_failed_request;

/** A request of which nothing is known yet. */
PLIM_API plim_failed_request plim_failed_request_of(plim_oom_topic topic, plim_oom_family family);

/* --- the judgement --- */

/* Which rule decided; the words follow it. */
typedef enum plim_reason {
    PLIM_REASON_TOPIC,        /* the topic alone */
    PLIM_REASON_NO_FIGURES,   /* too few figures */
    PLIM_REASON_FREE_ENOUGH,  /* more was free than requested: contradictory */
    PLIM_REASON_OVER_LIMIT,   /* held and request pass a limit below the device, or nearly */
    PLIM_REASON_OVER_DEVICE,  /* the request exceeds the device */
    PLIM_REASON_OVER_ANY,     /* the request exceeds every device there is */
    PLIM_REASON_SPILLED,      /* more allocated than the device has */
    PLIM_REASON_GAP,          /* held but unused covers the request */
    PLIM_REASON_GAP_AND_FREE, /* only together with what is free */
    PLIM_REASON_POOL_GAP,     /* what is left of a pool's limit covers the request */
    PLIM_REASON_HOLDS_LITTLE, /* this process holds a few per cent, others nearly all */
    PLIM_REASON_ELSEWHERE,    /* more is held elsewhere than here */
    PLIM_REASON_STARTUP,      /* a share wanted at start is not free */
    PLIM_REASON_NEAR_MISS,    /* … and is missed by a little */
    PLIM_REASON_FULL,         /* it does not fit, unused memory included where that is known */
    PLIM_REASON_FULL_NEARLY,  /* unused or free memory would do, but under a tenth is unused */
    PLIM_REASON_TABLE,        /* peaks of a table that counts failures */
    PLIM_REASON_DRIVER_POOL,  /* live and request fit; the driver's pool or others hold the rest */
} plim_reason;

/* The verdict as a finding, and the sums that it rests on. */
typedef struct plim_judgement {
    plim_finding finding; /* "oom.exhausted", …, about the request's subject; its figures are those
                           * of the request that are known, and the sums below */
    plim_verdict verdict;
    plim_verdict alternatives[PLIM_VERDICT_COUNT]; /* others that the figures allow */
    size_t alternative_count;
    double confidence; /* of the verdict, 0 … 1 */
    plim_reason reason;
    /* Bytes; PLIM_BYTES_UNKNOWN where they could not be worked out. */
    uint64_t held_bytes;      /* by this allocator, live and cached */
    uint64_t gap_bytes;       /* held and not live */
    uint64_t elsewhere_bytes; /* on the device, outside this allocator and this process */
    uint64_t outside_bytes;   /* in this very process, beside the allocator (contexts, libraries) */
    uint64_t short_bytes;     /* what was missing, all free and unused space taken together */
    size_t this_process;      /* index of the process that is this one, or SIZE_MAX */
} plim_judgement;

/**
 * Judge a failed request: a pure function of its topic, its printed figures and its processes.
 *
 * threads  any
 */
PLIM_API plim_judgement plim_judge(const plim_failed_request *request);

/* Room that holds the words of any judgement, with the zero at the end. */
#define PLIM_WHY_BYTES      512
#define PLIM_HEADLINE_BYTES 96

/**
 * Two sentences: what the figures say, and what follows from them. Each claim follows from the
 * condition under which the verdict was given.
 *
 * text     gets at most `bytes`, ends in a zero; NULL where bytes is 0
 * returns  the length of the whole text, as snprintf()
 */
PLIM_API size_t plim_judgement_why(const plim_failed_request *request,
                                   const plim_judgement *judgement, char *text, size_t bytes);

/* Room that holds any remedy. */
#define PLIM_REMEDY_BYTES 1536

/**
 * What would have satisfied the request: what it needed and what there was; then the steps that
 * would have been enough, the cheapest first and at most two; or how far those fall short.
 *
 * returns  the length of the whole text; 0, and nothing is written but a zero, where the figures
 *          beyond those of a message are unknown
 */
PLIM_API size_t plim_remedy_text(const plim_failed_request *request, char *text, size_t bytes);

/** The answer in one line, "Out of memory: GPU 0 is fragmented"; `device` is "GPU 0". */
PLIM_API size_t plim_verdict_headline(plim_verdict verdict, const char *device, char *text,
                                      size_t bytes);

PLIM_END_DECLS

#endif
