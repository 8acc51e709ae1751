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
 * argued in docs/design/explain.md.
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
    X(PLIM_VERDICT_NOT_OOM, "not_oom")             /* another error that speaks of memory */     \
    /* Of histories only: diagnose.h. */                                                         \
    X(PLIM_VERDICT_LEAK, "leak")   /* what is live grows step by step */                         \
    X(PLIM_VERDICT_SPIKE, "spike") /* one short burst far above the rest */                      \
    X(PLIM_VERDICT_FIRST_STEP_GROWTH, "first_step_growth") /* optimizer states arrive */         \
    X(PLIM_VERDICT_HEALTHY, "healthy")                     /* nothing is wrong */

typedef enum plim_verdict {
#define PLIM_VERDICT_ENUM(code, name) code,
    PLIM_VERDICT_LIST(PLIM_VERDICT_ENUM)
#undef PLIM_VERDICT_ENUM
        PLIM_VERDICT_COUNT
} plim_verdict;

/* Those that plim_judge() may give a request. */
#define PLIM_VERDICT_JUDGED_COUNT (PLIM_VERDICT_NOT_OOM + 1)

/** "exhausted", …; a constant string, never NULL. */
PLIM_API const char *plim_verdict_name(plim_verdict verdict);

/* A figure that the source does not have. */
#define PLIM_BYTES_UNKNOWN UINT64_MAX

/*
 * The figures of a failed request. Those below PLIM_FIGURE_PRINTED_COUNT are what a message may
 * say, and the verdict and its sentences rest on them alone. The others are known to an allocator
 * and to some histories only; plim_remedy_text() uses them.
 */
#define PLIM_FIGURE_LIST(X)                                                                        \
    X(PLIM_FIGURE_REQUESTED, "requested_bytes") /* from the device: of PyTorch a                   \
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
    /* The machine's memory, where a process was ended for that: */                                \
    X(PLIM_FIGURE_HOST_PROCESS,                                                                    \
      "host_process_bytes") /* resident, of the process that was ended */                          \
    X(PLIM_FIGURE_HOST_VIRTUAL, "host_virtual_bytes")     /* its address space */                  \
    X(PLIM_FIGURE_HOST_USED, "host_used_bytes")           /* of the machine, container or job */   \
    X(PLIM_FIGURE_HOST_LIMIT, "host_limit_bytes")         /* of a container, a control group or a  \
                                                             job; the threshold of a killer */     \
    X(PLIM_FIGURE_HOST_AVAILABLE, "host_available_bytes") /* on the machine */                     \
    X(PLIM_FIGURE_HOST_TOTAL, "host_total_bytes")         /* of the machine */                     \
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
#define PLIM_FIGURE_PRINTED_COUNT (PLIM_FIGURE_HOST_TOTAL + 1)

/** "requested_bytes", …; a constant string, never NULL. */
PLIM_API const char *plim_figure_name(plim_figure_id id);

typedef struct plim_figure {
    uint64_t bytes;       /* to the nearest byte, or PLIM_BYTES_UNKNOWN */
    uint64_t slack_bytes; /* half a unit of the last printed digit: the truth is that near */
    uint64_t offset;      /* where it stands in the input, */
    uint32_t length;      /* and how many bytes of it */
} plim_figure;

/*
 * "Process 1234 has 5.00 GiB memory in use." Of host memory: the process that was killed is the
 * first one and is_this, with its resident set if that is known; the limit that it met is
 * PLIM_FIGURE_HOST_LIMIT. No figure of the host stands among those of the device.
 */
typedef struct plim_process_figure {
    uint64_t pid;
    uint64_t bytes;
    bool is_this;     /* judged to be the process that failed, seen from outside its container */
    const char *name; /* "python", borrowed as the processes are; NULL: unknown */
} plim_process_figure;

/* The program whose memory it is: decides which switches advice may name. */
#define PLIM_FAMILY_LIST(X)                                                                       \
    X(PLIM_FAMILY_ANY, "any") /* unknown, or none of these */                                     \
    X(PLIM_FAMILY_PYTORCH, "pytorch")                                                             \
    X(PLIM_FAMILY_PYTORCH_ROCM, "pytorch_rocm")                                                   \
    X(PLIM_FAMILY_PYTORCH_MPS, "pytorch_mps")                                                     \
    X(PLIM_FAMILY_PYTORCH_NPU, "pytorch_npu")                                                     \
    X(PLIM_FAMILY_PYTORCH_XPU, "pytorch_xpu")                                                     \
    X(PLIM_FAMILY_PYTORCH_ASYNC, "pytorch_async") /* cudaMallocAsync as PyTorch's back end */     \
    X(PLIM_FAMILY_PADDLE, "paddle")                                                               \
    X(PLIM_FAMILY_TENSORFLOW, "tensorflow")                                                       \
    X(PLIM_FAMILY_JAX, "jax")                                                                     \
    X(PLIM_FAMILY_TPU, "tpu")                                                                     \
    X(PLIM_FAMILY_CUPY, "cupy")                                                                   \
    X(PLIM_FAMILY_RMM, "rmm")                                                                     \
    X(PLIM_FAMILY_XGBOOST, "xgboost")                                                             \
    X(PLIM_FAMILY_FAISS, "faiss")                                                                 \
    X(PLIM_FAMILY_LLAMA_CPP, "llama_cpp")                                                         \
    X(PLIM_FAMILY_OLLAMA, "ollama")                                                               \
    X(PLIM_FAMILY_MLX, "mlx")                                                                     \
    X(PLIM_FAMILY_METAL, "metal")                                                                 \
    X(PLIM_FAMILY_VULKAN, "vulkan")                                                               \
    X(PLIM_FAMILY_OPENCL, "opencl")                                                               \
    X(PLIM_FAMILY_SYCL, "sycl")                                                                   \
    X(PLIM_FAMILY_VLLM, "vllm")                                                                   \
    X(PLIM_FAMILY_SGLANG, "sglang")                                                               \
    X(PLIM_FAMILY_TGI, "tgi")                                                                     \
    X(PLIM_FAMILY_TENSORRT, "tensorrt")                                                           \
    X(PLIM_FAMILY_ONNXRUNTIME, "onnxruntime")                                                     \
    X(PLIM_FAMILY_DIRECTML, "directml")                                                           \
    X(PLIM_FAMILY_JULIA, "julia")                                                                 \
    X(PLIM_FAMILY_DARKNET, "darknet")                                                             \
    X(PLIM_FAMILY_CUDA, "cuda") /* the driver or the runtime, no framework in sight */            \
    X(PLIM_FAMILY_HIP, "hip")                                                                     \
    X(PLIM_FAMILY_TRITON, "triton")                                                               \
    X(PLIM_FAMILY_HOST, "host") /* the operating system, and programs without a GPU */            \
    X(PLIM_FAMILY_COMFYUI, "comfyui")                                                             \
    X(PLIM_FAMILY_WEBUI, "webui") /* Stable Diffusion WebUI and its forks */                      \
    X(PLIM_FAMILY_DIFFUSERS, "diffusers")                                                         \
    X(PLIM_FAMILY_TENSORRT_LLM, "tensorrt_llm")                                                   \
    X(PLIM_FAMILY_LMDEPLOY, "lmdeploy")                                                           \
    X(PLIM_FAMILY_TRAINER, "trainer") /* transformers' Trainer, TRL, Axolotl, LLaMA-Factory */    \
    X(PLIM_FAMILY_UNSLOTH, "unsloth")                                                             \
    X(PLIM_FAMILY_DEEPSPEED, "deepspeed")                                                         \
    X(PLIM_FAMILY_MEGATRON, "megatron")                                                           \
    X(PLIM_FAMILY_VERL, "verl")               /* reinforcement learning: verl, OpenRLHF, slime */ \
    X(PLIM_FAMILY_WHISPER, "whisper")         /* OpenAI's, and WhisperX */                        \
    X(PLIM_FAMILY_CTRANSLATE2, "ctranslate2") /* faster-whisper */                                \
    X(PLIM_FAMILY_EXLLAMA, "exllama")                                                             \
    X(PLIM_FAMILY_LM_STUDIO, "lm_studio")                                                         \
    X(PLIM_FAMILY_LINUX, "linux") /* the kernel's out-of-memory killer, by its own words */       \
    X(PLIM_FAMILY_OOMD, "oomd")   /* systemd-oomd, earlyoom */                                    \
    X(PLIM_FAMILY_DOCKER, "docker")                                                               \
    X(PLIM_FAMILY_KUBERNETES, "kubernetes")                                                       \
    X(PLIM_FAMILY_SLURM, "slurm")                                                                 \
    X(PLIM_FAMILY_BATCH, "batch") /* LSF, PBS, Grid Engine, HTCondor */                           \
    X(PLIM_FAMILY_RAY, "ray")                                                                     \
    X(PLIM_FAMILY_LOADER, "loader") /* worker processes of PyTorch's DataLoader */                \
    X(PLIM_FAMILY_SPAWN, "spawn")   /* ranks under torch.multiprocessing or torchrun */           \
    X(PLIM_FAMILY_COLAB, "colab")                                                                 \
    X(PLIM_FAMILY_KAGGLE, "kaggle")                                                               \
    X(PLIM_FAMILY_WINDOWS, "windows") /* its paging file */                                       \
    X(PLIM_FAMILY_MACOS, "macos")

typedef enum plim_oom_family {
#define PLIM_FAMILY_ENUM(code, name) code,
    PLIM_FAMILY_LIST(PLIM_FAMILY_ENUM)
#undef PLIM_FAMILY_ENUM
        PLIM_FAMILY_COUNT
} plim_oom_family;

#define PLIM_FAMILY_BIT(family) ((uint64_t)1 << (family))

/* The kind of failure, apart from its figures. */
#define PLIM_TOPIC_LIST(X)                                                                         \
    /* Judged by the figures. */                                                                   \
    X(PLIM_TOPIC_ALLOCATION, "allocation") /* a caching allocator failed */                        \
    X(PLIM_TOPIC_ASYNC_POOL, "async_pool") /* the driver's own pool, whose cache is not printed */ \
    X(PLIM_TOPIC_POOL, "pool")             /* one big pool, taken at start; limit is the pool's */ \
    X(PLIM_TOPIC_WATERMARK, "watermark")   /* Metal's, against a watermark */                      \
    X(PLIM_TOPIC_STARTUP, "startup")       /* a share of the device was wanted at start */         \
    X(PLIM_TOPIC_PROGRAM, "program")       /* a compiled program; requested is all of it */        \
    X(PLIM_TOPIC_ARENA, "arena")           /* an arena that may be the device's or the host's */   \
    X(PLIM_TOPIC_SUMMARY, "summary")       /* a table that counts failures */                      \
    /* An out-of-memory without figures, unknown in itself. */                                     \
    X(PLIM_TOPIC_BARE, "bare")           /* the driver says out of memory */                       \
    X(PLIM_TOPIC_WORKSPACE, "workspace") /* a library (cuBLAS, cuDNN, NCCL) got no workspace */    \
    X(PLIM_TOPIC_HANDLE, "handle")       /* a library could not be initialized */                  \
    X(PLIM_TOPIC_NO_ENGINE, "no_engine") /* cuDNN found no algorithm that fits, or none exists */  \
    X(PLIM_TOPIC_WEIGHTS, "weights")     /* loading a model */                                     \
    X(PLIM_TOPIC_COMPUTE, "compute")     /* a compute buffer, grows with context and batch */      \
    X(PLIM_TOPIC_WARMUP, "warmup")       /* a server tried its largest batch */                    \
    X(PLIM_TOPIC_TACTIC, "tactic")       /* a tactic with a large workspace; survivable */         \
    /* A limit, by the words alone. */                                                             \
    X(PLIM_TOPIC_CAP, "cap")           /* a pool or fraction that may not grow */                  \
    X(PLIM_TOPIC_KV_NONE, "kv_none")   /* a server's share leaves none for its cache */            \
    X(PLIM_TOPIC_KV_CACHE, "kv_cache") /* the budget of a server's KV cache */                     \
    /* One request too large, by the words alone. */                                               \
    X(PLIM_TOPIC_BUFFER_MAX, "buffer_max") /* the largest single buffer that a driver allows */    \
    X(PLIM_TOPIC_OVERFLOW, "overflow")     /* the size overflowed */                               \
    /* The host's memory. */                                                                       \
    X(PLIM_TOPIC_HOST_RAM, "host_ram")                                                             \
    X(PLIM_TOPIC_HOST_KILLED, "host_killed")   /* killed for memory, by its killer's words */      \
    X(PLIM_TOPIC_HOST_CGROUP, "host_cgroup")   /* … by the kernel, at a control group's limit */ \
    X(PLIM_TOPIC_HOST_MACHINE, "host_machine") /* … by the kernel, with the machine full */      \
    X(PLIM_TOPIC_HOST_SIGNAL, "host_signal")   /* SIGKILL, by an unknown sender */                 \
    X(PLIM_TOPIC_HOST_EVICTED, "host_evicted") /* a pod was evicted from its node */               \
    X(PLIM_TOPIC_HOST_COMMIT, "host_commit") /* Windows: the page file bounds what is promised */  \
    X(PLIM_TOPIC_HOST_SHM, "host_shm")                                                             \
    X(PLIM_TOPIC_HOST_PINNED, "host_pinned")                                                       \
    X(PLIM_TOPIC_HOST_MAPS, "host_maps") /* too many mappings, or a fork */                        \
    X(PLIM_TOPIC_HOST_HEAP, "host_heap") /* the heap of a language's runtime (Node, Java) */       \
    /* No memory at all. */                                                                        \
    X(PLIM_TOPIC_KERNEL, "kernel")       /* a kernel's shared memory, registers, threads */        \
    X(PLIM_TOPIC_SCRATCH, "scratch")     /* a chip's scratch memory (vmem) */                      \
    X(PLIM_TOPIC_DISK, "disk")           /* "no space left on device" */                           \
    X(PLIM_TOPIC_ERROR, "error")         /* another error of the device (illegal access, …) */   \
    X(PLIM_TOPIC_SLOTS, "slots")         /* tokens, slots, shapes */                               \
    X(PLIM_TOPIC_WARNING, "warning")     /* says itself that it is no failure */                   \
    X(PLIM_TOPIC_REPORT, "report")       /* a table or a line of information */                    \
    X(PLIM_TOPIC_PLACEMENT, "placement") /* a plan of layers over devices that does not fit */

typedef enum plim_oom_topic {
#define PLIM_TOPIC_ENUM(code, name) code,
    PLIM_TOPIC_LIST(PLIM_TOPIC_ENUM)
#undef PLIM_TOPIC_ENUM
        PLIM_TOPIC_COUNT
} plim_oom_topic;

/* Settings and techniques that are in force already, so that they are not advised. */
#define PLIM_IN_FORCE_LIST(X)                                                                   \
    X(PLIM_IN_FORCE_EXPANDABLE_SEGMENTS, "expandable_segments")                                 \
    X(PLIM_IN_FORCE_MAX_SPLIT_SIZE, "max_split_size")                                           \
    X(PLIM_IN_FORCE_CUDA_MALLOC_ASYNC, "cuda_malloc_async")                                     \
    X(PLIM_IN_FORCE_GC_THRESHOLD, "gc_threshold")                                               \
    X(PLIM_IN_FORCE_CHECKPOINTING, "checkpointing")                                             \
    X(PLIM_IN_FORCE_MIXED_PRECISION, "mixed_precision") /* bf16, fp16, autocast */              \
    X(PLIM_IN_FORCE_BATCH_OF_ONE, "batch_of_one")                                               \
    X(PLIM_IN_FORCE_ACCUMULATION, "accumulation")                                               \
    X(PLIM_IN_FORCE_8BIT_OPTIMIZER, "8bit_optimizer")                                           \
    X(PLIM_IN_FORCE_QUANTIZED, "quantized") /* load_in_4bit, load_in_8bit, … */               \
    X(PLIM_IN_FORCE_LORA, "lora")                                                               \
    X(PLIM_IN_FORCE_OFFLOAD, "offload")                                                         \
    X(PLIM_IN_FORCE_SHARDED, "sharded")                   /* FSDP, ZeRO */                      \
    X(PLIM_IN_FORCE_NO_PREALLOCATION, "no_preallocation") /* JAX, TensorFlow */                 \
    X(PLIM_IN_FORCE_PLATFORM_ALLOCATOR, "platform_allocator")                                   \
    X(PLIM_IN_FORCE_SNAPSHOT, "snapshot") /* _record_memory_history was called */               \
    X(PLIM_IN_FORCE_FLASH_ATTENTION, "flash_attention")                                         \
    X(PLIM_IN_FORCE_ENFORCE_EAGER, "enforce_eager")                                             \
    X(PLIM_IN_FORCE_SLEEP_MODE, "sleep_mode")     /* vLLM's, or torch_memory_saver */           \
    X(PLIM_IN_FORCE_NO_BACKWARD, "no_backward")   /* nothing is trained: seen in a rehearsal */ \
    X(PLIM_IN_FORCE_NO_OPTIMIZER, "no_optimizer") /* no weights are updated: likewise */

typedef enum plim_in_force {
#define PLIM_IN_FORCE_ENUM(code, name) code,
    PLIM_IN_FORCE_LIST(PLIM_IN_FORCE_ENUM)
#undef PLIM_IN_FORCE_ENUM
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
    /* The need of the whole program, and of that parameters, gradients and optimizer states,
     * from a rehearsal without the limit; 0: not known. */
    uint64_t need_bytes;
    uint64_t need_kept_bytes;
    bool is_rejected; /* refused by throw_on_cudamalloc_oom: the device was not asked */
    bool leaks;       /* memory had been growing over the steps before */
} plim_failed_request;

/** A request of which nothing is known yet. */
PLIM_API plim_failed_request plim_failed_request_of(plim_oom_topic topic, plim_oom_family family);

/* --- the judgement --- */

/* Which rule decided; the words follow it. */
#define PLIM_REASON_LIST(X)                                                                       \
    X(PLIM_REASON_TOPIC, "topic")               /* the topic alone */                             \
    X(PLIM_REASON_NO_FIGURES, "no_figures")     /* too few figures */                             \
    X(PLIM_REASON_FREE_ENOUGH, "free_enough")   /* more was free than requested: contradictory */ \
    X(PLIM_REASON_OVER_LIMIT, "over_limit")     /* held and request pass a limit */               \
    X(PLIM_REASON_OVER_DEVICE, "over_device")   /* the request exceeds the device */              \
    X(PLIM_REASON_OVER_ANY, "over_any")         /* the request exceeds every device there is */   \
    X(PLIM_REASON_SPILLED, "spilled")           /* more allocated than the device has */          \
    X(PLIM_REASON_GAP, "gap")                   /* held but unused covers the request */          \
    X(PLIM_REASON_GAP_AND_FREE, "gap_and_free") /* only together with what is free */             \
    X(PLIM_REASON_POOL_GAP, "pool_gap") /* what is left of a pool's limit covers the request */   \
    X(PLIM_REASON_HOLDS_LITTLE, "holds_little") /* this process holds a few per cent */           \
    X(PLIM_REASON_ELSEWHERE, "elsewhere")       /* more is held elsewhere than here */            \
    X(PLIM_REASON_STARTUP, "startup")           /* a share wanted at start is not free */         \
    X(PLIM_REASON_NEAR_MISS, "near_miss")       /* … and is missed by a little */               \
    X(PLIM_REASON_FULL, "full") /* it does not fit, unused memory included where that is known */ \
    X(PLIM_REASON_FULL_NEARLY, "full_nearly") /* but under a tenth is unused */                   \
    X(PLIM_REASON_TABLE, "table")             /* peaks of a table that counts failures */         \
    X(PLIM_REASON_DRIVER_POOL, "driver_pool") /* the driver's pool or others hold it */

typedef enum plim_reason {
#define PLIM_REASON_ENUM(code, name) code,
    PLIM_REASON_LIST(PLIM_REASON_ENUM)
#undef PLIM_REASON_ENUM
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
 * The remedy of a request: what it needed and what there was; then the steps that
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
