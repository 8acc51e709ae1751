/*
 * fixes_frameworks.c - fixes for frameworks and libraries other than PyTorch.
 *
 * Switches and calls are those that each one's own documentation names.
 */
#include "advice/fix.h"

#include "base/size.h"
#include "base/units.h"

#include <inttypes.h>

#define TF       PLIM_FAMILY_BIT(PLIM_FAMILY_TENSORFLOW)
#define JAX      PLIM_FAMILY_BIT(PLIM_FAMILY_JAX)
#define TPU      PLIM_FAMILY_BIT(PLIM_FAMILY_TPU)
#define PADDLE   PLIM_FAMILY_BIT(PLIM_FAMILY_PADDLE)
#define CUPY     PLIM_FAMILY_BIT(PLIM_FAMILY_CUPY)
#define RMM      PLIM_FAMILY_BIT(PLIM_FAMILY_RMM)
#define XGBOOST  PLIM_FAMILY_BIT(PLIM_FAMILY_XGBOOST)
#define FAISS    PLIM_FAMILY_BIT(PLIM_FAMILY_FAISS)
#define JULIA    PLIM_FAMILY_BIT(PLIM_FAMILY_JULIA)
#define TENSORRT PLIM_FAMILY_BIT(PLIM_FAMILY_TENSORRT)
#define ORT      PLIM_FAMILY_BIT(PLIM_FAMILY_ONNXRUNTIME)
#define DIRECTML PLIM_FAMILY_BIT(PLIM_FAMILY_DIRECTML)
#define DARKNET  PLIM_FAMILY_BIT(PLIM_FAMILY_DARKNET)
#define MLX      PLIM_FAMILY_BIT(PLIM_FAMILY_MLX)
#define METAL    PLIM_FAMILY_BIT(PLIM_FAMILY_METAL)
#define VULKAN   PLIM_FAMILY_BIT(PLIM_FAMILY_VULKAN)
#define OPENCL   PLIM_FAMILY_BIT(PLIM_FAMILY_OPENCL)
#define SYCL     PLIM_FAMILY_BIT(PLIM_FAMILY_SYCL)

#define EXHAUSTED  PLIM_VERDICT_BIT(PLIM_VERDICT_EXHAUSTED)
#define FRAGMENTED PLIM_VERDICT_BIT(PLIM_VERDICT_FRAGMENTED)
#define CAPPED     PLIM_VERDICT_BIT(PLIM_VERDICT_CAPPED)
#define OVERSIZED  PLIM_VERDICT_BIT(PLIM_VERDICT_OVERSIZED)
#define UNKNOWN    PLIM_VERDICT_BIT(PLIM_VERDICT_UNKNOWN)
#define OTHER      PLIM_VERDICT_BIT(PLIM_VERDICT_OTHER_PROCESS)
#define TOO_MUCH   (EXHAUSTED | CAPPED | UNKNOWN)

#define TOPIC(what) PLIM_TOPIC_BIT(PLIM_TOPIC_##what)
#define IN(what)    PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_##what)

/*
 * The bytes a pool needs at least, in whole MiB; 0 if unknown. What is live counts where the
 * pool's own size is not told.
 */
static uint64_t needed_mib(const plim_failed_request *oom, const plim_judgement *judgement)
{
    uint64_t needed = plim_needed_bytes(oom, judgement);
    if (needed == PLIM_BYTES_UNKNOWN) {
        needed = plim_known_sum(oom->figures[PLIM_FIGURE_ALLOCATED].bytes,
                                oom->figures[PLIM_FIGURE_REQUESTED].bytes);
    }
    const uint64_t total = oom->figures[PLIM_FIGURE_TOTAL].bytes;
    const bool fits = needed != PLIM_BYTES_UNKNOWN && needed < PLIM_BYTES_UNKNOWN - MIB;
    return fits && needed <= total ? (needed + MIB - 1) / MIB : 0;
}

/* --- limits with a value --- */

static void tf_limit(plim_text *out, const plim_failed_request *oom,
                     const plim_judgement *judgement)
{
    const uint64_t mib = needed_mib(oom, judgement);
    if (mib > 0) {
        plim_text_append_format(out,
                                "tf.config.set_logical_device_configuration(gpu, "
                                "[tf.config.LogicalDeviceConfiguration(memory_limit=%" PRIu64 ")])",
                                mib);
    }
}

static void cupy_limit(plim_text *out, const plim_failed_request *oom,
                       const plim_judgement *judgement)
{
    const uint64_t mib = needed_mib(oom, judgement);
    if (mib > 0) {
        plim_text_append_format(out, "cupy.get_default_memory_pool().set_limit(size=%" PRIu64 ")",
                                mib * MIB);
    }
}

static void rmm_limit(plim_text *out, const plim_failed_request *oom,
                      const plim_judgement *judgement)
{
    const uint64_t mib = needed_mib(oom, judgement);
    if (mib > 0) {
        plim_text_append_format(
            out, "rmm.reinitialize(pool_allocator=True, maximum_pool_size=%" PRIu64 ")", mib * MIB);
    }
}

static void ort_limit(plim_text *out, const plim_failed_request *oom,
                      const plim_judgement *judgement)
{
    const uint64_t mib = needed_mib(oom, judgement);
    if (mib > 0) {
        plim_text_append_format(out, "cuda_options[\"gpu_mem_limit\"] = %" PRIu64, mib * MIB);
    }
}

/* The share of the device that others leave. */
static void jax_share(plim_text *out, const plim_failed_request *oom,
                      const plim_judgement *judgement)
{
    (void)judgement;
    const uint64_t percent = plim_fix_percent(oom->figures[PLIM_FIGURE_FREE].bytes,
                                              oom->figures[PLIM_FIGURE_TOTAL].bytes, false);
    if (percent > 0 && percent < 100) {
        plim_text_append_format(out, "export XLA_PYTHON_CLIENT_MEM_FRACTION=.%02" PRIu64, percent);
    }
}

static bool may_be_fragmented(const plim_failed_request *oom, const plim_judgement *judgement)
{
    (void)oom;
    return plim_fix_may_be(judgement, PLIM_VERDICT_FRAGMENTED);
}

static const plim_fix fixes[] = {
    /* --- TensorFlow --- */
    {
        .id = "tf-allow-growth",
        .verdicts = OTHER | UNKNOWN,
        .families = TF,
        .unless = IN(NO_PREALLOCATION),
        .text = "Let TensorFlow take memory as it needs it instead of nearly all at the start, "
                "which leaves room for cuDNN, cuBLAS and others. Set it before anything else.",
        .command = "tf.config.experimental.set_memory_growth(gpu, True)",
        .source = "TensorFlow guide, limiting GPU memory growth",
    },
    {
        .id = "tf-async-allocator",
        .verdicts = FRAGMENTED | EXHAUSTED,
        .families = TF | JAX,
        .unless = IN(CUDA_MALLOC_ASYNC) | IN(PLATFORM_ALLOCATOR),
        .applies = may_be_fragmented,
        .text = "Let the driver's pool allocate (CUDA 11.2 and later): it maps free pages together "
                "that the framework's own pool cannot join.",
        .command = "export TF_GPU_ALLOCATOR=cuda_malloc_async",
        .source = "TensorFlow and XLA, message of the BFC allocator",
    },
    {
        .id = "tf-raise-limit",
        .verdicts = CAPPED,
        .families = TF,
        .text = "Raise the limit of this logical device to what was needed, or take it out. The "
                "number is in MiB.",
        .command = "tf.config.set_logical_device_configuration(gpu, "
                   "[tf.config.LogicalDeviceConfiguration()])",
        .write_command = tf_limit,
        .source = "TensorFlow guide, limiting GPU memory growth",
    },
    {
        .id = "tf-smaller-batch",
        .verdicts = TOO_MUCH | FRAGMENTED,
        .families = TF,
        .unless = IN(BATCH_OF_ONE),
        .text = "Halve the batch: activations halve.",
        .command = "model.fit(x, y, batch_size=16)",
        .source = "TensorFlow documentation, Model.fit",
    },
    {
        .id = "tf-mixed-precision",
        .verdicts = TOO_MUCH,
        .families = TF,
        .unless = IN(MIXED_PRECISION),
        .text = "Compute in 16 bits: activations take half the memory, and matrix products are "
                "faster.",
        .command = "tf.keras.mixed_precision.set_global_policy(\"mixed_float16\")",
        .source = "TensorFlow guide, mixed precision",
    },
    {
        .id = "tf-recompute",
        .verdicts = EXHAUSTED | CAPPED,
        .families = TF,
        .unless = IN(CHECKPOINTING),
        .text = "Recompute blocks in the backward pass instead of keeping their activations, for a "
                "fifth to a third of the speed.",
        .command = "block = tf.recompute_grad(block)",
        .source = "Chen et al. 2016; TensorFlow documentation",
    },
    /* --- JAX --- */
    {
        .id = "jax-fit-free-memory",
        .verdicts = OTHER,
        .families = JAX,
        .text = "Take no larger share than others leave. Newer releases call the variable "
                "XLA_CLIENT_MEM_FRACTION.",
        .command = "export XLA_PYTHON_CLIENT_MEM_FRACTION=.40",
        .write_command = jax_share,
        .source = "JAX documentation, GPU memory allocation",
    },
    {
        .id = "jax-no-preallocation",
        .verdicts = OTHER | UNKNOWN,
        .families = JAX,
        .unless = IN(NO_PREALLOCATION) | IN(PLATFORM_ALLOCATOR),
        .text = "Do not take three quarters of the device at the start. It shares better with "
                "others, and fragments more when nearly all is in use.",
        .command = "export XLA_PYTHON_CLIENT_PREALLOCATE=false",
        .source = "JAX documentation, GPU memory allocation",
    },
    {
        .id = "jax-larger-pool",
        .verdicts = EXHAUSTED | CAPPED | FRAGMENTED | UNKNOWN,
        .families = JAX,
        .unless = IN(NO_PREALLOCATION) | IN(PLATFORM_ALLOCATOR),
        .text = "Or, where nobody else uses the device, make the pool larger: it is 75 % by "
                "default. Newer releases call the variable XLA_CLIENT_MEM_FRACTION.",
        .command = "export XLA_PYTHON_CLIENT_MEM_FRACTION=.95",
        .source = "JAX documentation, GPU memory allocation",
    },
    {
        .id = "jax-donate",
        .verdicts = TOO_MUCH | OVERSIZED,
        .families = JAX | TPU,
        .text = "Donate the old parameters and states to the step, so that the new ones take "
                "their place. The old arrays cannot be used afterwards.",
        .command = "step = jax.jit(step, donate_argnums=(0,))",
        .source = "JAX documentation, buffer donation",
    },
    {
        .id = "jax-remat",
        .verdicts = TOO_MUCH | OVERSIZED,
        .families = JAX | TPU,
        .unless = IN(CHECKPOINTING),
        .text = "Recompute blocks in the backward pass instead of keeping their activations, for a "
                "fifth to a third of the speed.",
        .command = "block = jax.checkpoint(block)",
        .source = "JAX documentation, gradient checkpointing",
    },
    {
        .id = "jax-16-bit",
        .verdicts = EXHAUSTED | CAPPED | OVERSIZED,
        .families = JAX | TPU,
        .unless = IN(MIXED_PRECISION),
        .text = "Compute in bfloat16: activations take half the memory.",
        .command = "x = x.astype(jax.numpy.bfloat16)",
        .source = "Micikevicius et al. 2018, mixed precision training",
    },
    {
        .id = "jax-shard",
        .verdicts = EXHAUSTED | CAPPED | OVERSIZED,
        .families = JAX | TPU,
        .unless = IN(SHARDED),
        .text = "Share parameters and the batch among several devices.",
        .command = "x = jax.device_put(x, jax.sharding.NamedSharding(mesh, spec))",
        .source = "JAX documentation, distributed arrays",
    },
    /* --- PaddlePaddle --- */
    {
        .id = "paddle-auto-growth",
        .verdicts = OTHER | UNKNOWN | CAPPED,
        .families = PADDLE,
        .unless = IN(NO_PREALLOCATION),
        .text = "Let Paddle take memory as it needs it. It may fragment more than one pool taken "
                "at the start.",
        .command = "export FLAGS_allocator_strategy=auto_growth",
        .source = "PaddlePaddle documentation, memory flags",
    },
    {
        .id = "paddle-smaller-share",
        .verdicts = OTHER | UNKNOWN,
        .families = PADDLE,
        .text = "With a pool taken at the start, ask for a smaller share than the default of 92 %.",
        .command = "export FLAGS_fraction_of_gpu_memory_to_use=0.5",
        .source = "PaddlePaddle documentation, memory flags",
    },
    {
        .id = "paddle-one-pool",
        .verdicts = FRAGMENTED,
        .families = PADDLE,
        .text = "Take one pool at the start: it fragments less, and keeps others off the device.",
        .command = "export FLAGS_allocator_strategy=naive_best_fit",
        .source = "PaddlePaddle documentation, memory flags",
    },
    {
        .id = "paddle-smaller-batch",
        .verdicts = TOO_MUCH | FRAGMENTED,
        .families = PADDLE,
        .unless = IN(BATCH_OF_ONE),
        .text = "Halve the batch: activations halve.",
        .command = "loader = paddle.io.DataLoader(dataset, batch_size=8)",
        .source = "PaddlePaddle documentation, DataLoader",
    },
    {
        .id = "paddle-mixed-precision",
        .verdicts = EXHAUSTED | CAPPED,
        .families = PADDLE,
        .unless = IN(MIXED_PRECISION),
        .text = "Compute in 16 bits: activations take half the memory.",
        .command = "with paddle.amp.auto_cast():",
        .source = "PaddlePaddle guide, automatic mixed precision",
    },
    {
        .id = "paddle-recompute",
        .verdicts = EXHAUSTED | CAPPED,
        .families = PADDLE,
        .unless = IN(CHECKPOINTING),
        .text = "Recompute blocks in the backward pass instead of keeping their activations, for a "
                "fifth to a third of the speed.",
        .command = "y = paddle.distributed.fleet.utils.recompute(block, x)",
        .source = "Chen et al. 2016; PaddlePaddle documentation",
    },
    {
        .id = "paddle-empty-cache",
        .verdicts = FRAGMENTED | UNKNOWN,
        .families = PADDLE,
        .text = "Empty the cache between phases of different sizes.",
        .command = "paddle.device.cuda.empty_cache()",
        .source = "PaddlePaddle documentation, device",
    },
    /* --- CuPy --- */
    {
        .id = "cupy-raise-limit",
        .verdicts = CAPPED,
        .families = CUPY,
        .text = "Raise the pool's limit to what was needed, or set it to 0 for none.",
        .command = "cupy.get_default_memory_pool().set_limit(size=0)",
        .write_command = cupy_limit,
        .source = "CuPy documentation, memory management",
    },
    {
        .id = "cupy-free-blocks",
        .verdicts = TOO_MUCH | FRAGMENTED | OTHER,
        .families = CUPY,
        .text = "Give unused blocks of the pool back to the driver before the large request; "
                "arrays that are still referenced stay.",
        .command = "cupy.get_default_memory_pool().free_all_blocks()",
        .source = "CuPy documentation, memory management",
    },
    {
        .id = "cupy-async-pool",
        .verdicts = FRAGMENTED,
        .families = CUPY,
        .text = "Let the driver's pool allocate (CUDA 11.2 and later), which can join free pages.",
        .command = "cupy.cuda.set_allocator(cupy.cuda.MemoryAsyncPool().malloc)",
        .source = "CuPy documentation, stream-ordered allocator",
    },
    {
        .id = "cupy-managed-memory",
        .verdicts = TOO_MUCH | OVERSIZED,
        .families = CUPY,
        .text = "Use managed memory, which may exceed the device: it works, and is slow while "
                "pages move.",
        .command = "cupy.cuda.set_allocator(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc)",
        .source = "CuPy documentation, unified memory",
    },
    {
        .id = "cupy-smaller-type",
        .verdicts = TOO_MUCH | OVERSIZED,
        .families = CUPY,
        .text = "Use float32 where float64 is not needed: half the memory.",
        .command = "x = cupy.asarray(x, dtype=cupy.float32)",
        .source = "CuPy documentation, data types",
    },
    /* --- RMM and cuDF --- */
    {
        .id = "rmm-raise-pool",
        .verdicts = CAPPED,
        .families = RMM,
        .text = "Let the pool grow to what was needed; without a maximum it may take the whole "
                "device.",
        .command = "rmm.reinitialize(pool_allocator=True, maximum_pool_size=None)",
        .write_command = rmm_limit,
        .source = "RMM documentation, pool memory resource",
    },
    {
        .id = "rmm-async-pool",
        .verdicts = FRAGMENTED | UNKNOWN | EXHAUSTED | CAPPED,
        .families = RMM,
        .text = "Use the driver's pool, which does not fragment as one block does.",
        .command = "rmm.mr.set_current_device_resource(rmm.mr.CudaAsyncMemoryResource())",
        .source = "RMM documentation, choosing a memory resource",
    },
    {
        .id = "cudf-spill",
        .verdicts = TOO_MUCH,
        .families = RMM,
        .text = "With cuDF, let unused columns move to host memory when the device is full.",
        .command = "export CUDF_SPILL=on",
        .source = "cuDF documentation, spilling",
    },
    {
        .id = "rmm-managed-memory",
        .verdicts = TOO_MUCH | OVERSIZED,
        .families = RMM,
        .text = "Use managed memory, which may exceed the device: it works, and is slow while "
                "pages move.",
        .command = "rmm.reinitialize(managed_memory=True)",
        .source = "RMM documentation, managed memory",
    },
    /* --- XGBoost --- */
    {
        .id = "xgboost-quantile-matrix",
        .verdicts = TOO_MUCH | OVERSIZED | FRAGMENTED,
        .families = XGBOOST,
        .text = "Build the quantized matrix directly: the data is not held a second time.",
        .command = "dtrain = xgboost.QuantileDMatrix(X, y)",
        .source = "XGBoost documentation, GPU memory",
    },
    {
        .id = "xgboost-fewer-bins",
        .verdicts = TOO_MUCH | OVERSIZED,
        .families = XGBOOST,
        .text = "Use fewer bins: histograms shrink in proportion; splits are a little coarser.",
        .command = "params[\"max_bin\"] = 64",
        .source = "XGBoost documentation, parameters",
    },
    {
        .id = "xgboost-subsample",
        .verdicts = TOO_MUCH | OVERSIZED,
        .families = XGBOOST,
        .text = "Train each tree on a sample chosen by gradient: as few as a tenth of the rows do.",
        .command = "params.update(sampling_method=\"gradient_based\", subsample=0.2)",
        .source = "Ou 2020, out-of-core gradient boosting",
    },
    /* --- FAISS --- */
    {
        .id = "faiss-smaller-temp",
        .verdicts = TOO_MUCH | FRAGMENTED,
        .families = FAISS,
        .text = "Reserve less scratch memory: 1.5 GiB by default. Large searches then go in more "
                "steps.",
        .command = "res.setTempMemory(268435456)",
        .source = "FAISS wiki, running on GPUs",
    },
    {
        .id = "faiss-float16",
        .verdicts = TOO_MUCH | OVERSIZED,
        .families = FAISS,
        .text = "Keep vectors in 16 bits: half the memory, hardly any loss in recall.",
        .command = "options.useFloat16 = True",
        .source = "FAISS wiki, running on GPUs",
    },
    {
        .id = "faiss-compressed-index",
        .verdicts = TOO_MUCH | OVERSIZED,
        .families = FAISS,
        .text = "Use a compressed index; some tens of bytes per vector, for some recall.",
        .command = "index = faiss.index_factory(d, \"IVF4096,PQ32\")",
        .source = "FAISS wiki, guidelines to choose an index",
    },
    {
        .id = "faiss-smaller-batches",
        .verdicts = TOO_MUCH | OVERSIZED,
        .families = FAISS,
        .text = "Add and search in batches.",
        .command = "index.add(x[start:start + 65536])",
        .source = "FAISS wiki, running on GPUs",
    },
    /* --- Julia --- */
    {
        .id = "julia-raise-limit",
        .verdicts = CAPPED,
        .families = JULIA,
        .text = "Raise the limit that is set for this process, or take it out.",
        .command = "export JULIA_CUDA_HARD_MEMORY_LIMIT=95%",
        .source = "CUDA.jl documentation, memory limits",
    },
    {
        .id = "julia-reclaim",
        .verdicts = TOO_MUCH | FRAGMENTED | OTHER,
        .families = JULIA,
        .text = "Collect garbage with GC.gc(true), then give the pool's unused memory back; arrays "
                "that are still referenced stay.",
        .command = "CUDA.reclaim()",
        .source = "CUDA.jl documentation, memory management",
    },
    {
        .id = "julia-free-early",
        .verdicts = TOO_MUCH | FRAGMENTED,
        .families = JULIA,
        .text = "Free large temporaries by hand as soon as they are used up: the collector does "
                "not see how large they are.",
        .command = "CUDA.unsafe_free!(x)",
        .source = "CUDA.jl documentation, memory management",
    },
    {
        .id = "julia-smaller-type",
        .verdicts = TOO_MUCH | OVERSIZED,
        .families = JULIA,
        .text = "Use Float32 where Float64 is not needed: half the memory.",
        .command = "x = CuArray{Float32}(x)",
        .source = "CUDA.jl documentation, performance tips",
    },
    /* --- TensorRT --- */
    {
        .id = "tensorrt-ignore-tactic",
        .verdicts = UNKNOWN | EXHAUSTED | OVERSIZED | OTHER,
        .families = TENSORRT,
        .topics = TOPIC(TACTIC),
        .text = "If the build goes on (\"Skipping tactic\") nothing failed: one way to compute a "
                "layer wanted too large a workspace, and another was taken. See that the engine "
                "was written.",
        .command = "trtexec --loadEngine=model.plan",
        .source = "TensorRT developer guide, troubleshooting",
    },
    {
        .id = "tensorrt-workspace",
        .verdicts = TOO_MUCH | OVERSIZED | OTHER | FRAGMENTED,
        .families = TENSORRT,
        .text = "Limit the workspace to less than is free (here 1 GiB): fewer tactics are tried, "
                "and some layers may be slower.",
        .command = "config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1073741824)",
        .source = "TensorRT developer guide, limiting memory",
    },
    {
        .id = "tensorrt-smaller-profile",
        .verdicts = TOO_MUCH | OVERSIZED,
        .families = TENSORRT,
        .text = "Make the largest shape of the optimization profile smaller: activations are "
                "reserved for it.",
        .command = "profile.set_shape(\"input\", min=(1, 3, 224, 224), opt=(4, 3, 224, 224), "
                   "max=(8, 3, 224, 224))",
        .source = "TensorRT developer guide, dynamic shapes",
    },
    {
        .id = "tensorrt-half",
        .verdicts = TOO_MUCH,
        .families = TENSORRT,
        .unless = IN(MIXED_PRECISION),
        .text = "Build in 16 bits: weights and activations take half the memory.",
        .command = "trtexec --onnx=model.onnx --fp16 --saveEngine=model.plan",
        .source = "TensorRT developer guide, reduced precision",
    },
    /* --- ONNX Runtime, DirectML --- */
    {
        .id = "ort-same-as-requested",
        .verdicts = TOO_MUCH | FRAGMENTED | OTHER,
        .families = ORT,
        .text = "Let the arena grow by what is asked for instead of doubling; the next larger "
                "request costs an allocation.",
        .command = "cuda_options[\"arena_extend_strategy\"] = \"kSameAsRequested\"",
        .source = "ONNX Runtime documentation, CUDA execution provider",
    },
    {
        .id = "ort-raise-limit",
        .verdicts = CAPPED,
        .families = ORT,
        .text = "Raise the arena's limit to what was needed, or take it out.",
        .command = "cuda_options.pop(\"gpu_mem_limit\")",
        .write_command = ort_limit,
        .source = "ONNX Runtime documentation, CUDA execution provider",
    },
    {
        .id = "ort-small-workspace",
        .verdicts = TOO_MUCH,
        .families = ORT,
        .text = "Keep convolutions from choosing the fastest way whatever it takes; some are "
                "slower.",
        .command = "cuda_options[\"cudnn_conv_use_max_workspace\"] = \"0\"",
        .source = "ONNX Runtime documentation, CUDA execution provider",
    },
    {
        .id = "ort-smaller-batch",
        .verdicts = TOO_MUCH | FRAGMENTED | PLIM_VERDICT_BIT(PLIM_VERDICT_HOST),
        .families = ORT,
        .unless = IN(BATCH_OF_ONE),
        .text = "Run smaller batches; if the request is absurdly large, look for a shape that is "
                "computed wrongly.",
        .command = "session.run(None, {\"input\": x[:8]})",
        .source = "ONNX Runtime documentation, troubleshooting",
    },
    {
        .id = "directml-smaller-batch",
        .verdicts = TOO_MUCH | FRAGMENTED | OVERSIZED,
        .families = DIRECTML,
        .text = "Use a smaller batch or smaller images, and close what else uses the GPU: "
                "DirectML has no pool to tune.",
        .source = "DirectML documentation",
    },
    /* --- Darknet --- */
    {
        .id = "darknet-subdivisions",
        .verdicts = TOO_MUCH | OVERSIZED | OTHER,
        .families = DARKNET,
        .text = "In the .cfg file, cut the batch into more parts: memory falls in proportion and "
                "the result is the same.",
        .command = "subdivisions=64",
        .source = "Darknet documentation, out of memory",
    },
    {
        .id = "darknet-smaller-input",
        .verdicts = TOO_MUCH | OVERSIZED | OTHER,
        .families = DARKNET,
        .text = "Or make the network's input smaller, in multiples of 32; small objects are found "
                "less well.",
        .command = "width=416 height=416",
        .source = "Darknet documentation, out of memory",
    },
    /* --- Apple, Vulkan, OpenCL, SYCL --- */
    {
        .id = "mlx-clear-cache",
        .verdicts = TOO_MUCH | FRAGMENTED,
        .families = MLX,
        .text = "Give cached buffers back, and cap the cache with mx.set_cache_limit.",
        .command = "mx.clear_cache()",
        .source = "MLX documentation, memory management",
    },
    {
        .id = "mlx-split-array",
        .verdicts = OVERSIZED,
        .families = MLX | METAL,
        .text = "One buffer may not be larger than the device allows: compute over slices of the "
                "batch or of the sequence.",
        .source = "Metal documentation, maxBufferLength",
    },
    {
        .id = "apple-wired-limit",
        .verdicts = TOO_MUCH,
        .families = MLX | METAL,
        .text = "macOS keeps about a quarter of the memory from the GPU: the limit, in MiB, can "
                "be raised until the next restart (here 24 GiB). Too high, and the machine swaps.",
        .command = "sudo sysctl iogpu.wired_limit_mb=24576",
        .source = "MLX documentation, large models",
    },
    {
        .id = "apple-smaller-model",
        .verdicts = TOO_MUCH | OVERSIZED,
        .families = MLX | METAL,
        .unless = IN(QUANTIZED),
        .text = "Use weights in 4 bits: a quarter of their 16-bit size, for a small loss in "
                "quality.",
        .command = "mlx_lm.convert --hf-path model -q --q-bits 4",
        .source = "MLX LM documentation",
    },
    {
        .id = "opencl-split-buffer",
        .verdicts = OVERSIZED | UNKNOWN | EXHAUSTED,
        .families = OPENCL,
        .text = "Ask the driver for its largest single allocation (CL_DEVICE_MAX_MEM_ALLOC_SIZE, "
                "often a quarter of the memory), and split buffers above it.",
        .command = "clinfo",
        .source = "OpenCL specification, device queries",
    },
    {
        .id = "vulkan-split-buffer",
        .verdicts = OVERSIZED | UNKNOWN | EXHAUSTED,
        .families = VULKAN,
        .text = "Ask the driver for its largest single allocation (maxMemoryAllocationSize, often "
                "4 GiB), and split buffers above it.",
        .command = "vulkaninfo",
        .source = "Vulkan specification, maintenance3 properties",
    },
    {
        .id = "sycl-relaxed-limits",
        .verdicts = OVERSIZED | UNKNOWN | EXHAUSTED,
        .families = SYCL,
        .text = "Intel's driver refuses single allocations above 4 GiB unless told otherwise; "
                "large buffers may run a little slower.",
        .command = "export UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1",
        .source = "oneAPI Level Zero, relaxed allocation limits",
    },
};

const plim_fix_list plim_fixes_frameworks = { fixes, sizeof fixes / sizeof fixes[0] };
