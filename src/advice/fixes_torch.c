/*
 * fixes_torch.c - fixes for PyTorch, on every device it runs on.
 *
 * Savings and costs: ZeRO (Rajbhandari et al. 2020) for bytes per parameter; torchtune's and
 * torchtitan's published runs and the Hugging Face guides for slowdowns. Allocator settings: the
 * notes on CUDA semantics in PyTorch's documentation, and its sources where those say more.
 */
#include "advice/fix.h"

#include "base/size.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>

#define CUDA   PLIM_FAMILY_BIT(PLIM_FAMILY_PYTORCH)
#define ROCM   PLIM_FAMILY_BIT(PLIM_FAMILY_PYTORCH_ROCM)
#define MPS    PLIM_FAMILY_BIT(PLIM_FAMILY_PYTORCH_MPS)
#define NPU    PLIM_FAMILY_BIT(PLIM_FAMILY_PYTORCH_NPU)
#define XPU    PLIM_FAMILY_BIT(PLIM_FAMILY_PYTORCH_XPU)
#define ASYNC  PLIM_FAMILY_BIT(PLIM_FAMILY_PYTORCH_ASYNC)
#define TORCH  PLIM_FAMILIES_TORCH
#define NATIVE (CUDA | ROCM | NPU) /* allocators that read the settings below */

#define EXHAUSTED  PLIM_VERDICT_BIT(PLIM_VERDICT_EXHAUSTED)
#define FRAGMENTED PLIM_VERDICT_BIT(PLIM_VERDICT_FRAGMENTED)
#define CAPPED     PLIM_VERDICT_BIT(PLIM_VERDICT_CAPPED)
#define OVERSIZED  PLIM_VERDICT_BIT(PLIM_VERDICT_OVERSIZED)
#define UNKNOWN    PLIM_VERDICT_BIT(PLIM_VERDICT_UNKNOWN)
#define OTHER      PLIM_VERDICT_BIT(PLIM_VERDICT_OTHER_PROCESS)

#define IN(what) PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_##what)
/* Signs that weights are trained, not only used. */
#define TRAINING (IN(CHECKPOINTING) | IN(ACCUMULATION) | IN(8BIT_OPTIMIZER) | IN(LORA))

/* --- what devices call things --- */

typedef struct device_words {
    plim_oom_family family;
    const char *settings; /* the environment variable of the allocator's settings, or NULL */
    const char *module;   /* of Python */
    const char *type;     /* as autocast takes it */
} device_words;

static const device_words *words_of(plim_oom_family family)
{
    static const device_words words[] = {
        { PLIM_FAMILY_PYTORCH, "PYTORCH_CUDA_ALLOC_CONF", "torch.cuda", "cuda" },
        { PLIM_FAMILY_PYTORCH_ROCM, "PYTORCH_HIP_ALLOC_CONF", "torch.cuda", "cuda" },
        { PLIM_FAMILY_PYTORCH_MPS, NULL, "torch.mps", "mps" },
        { PLIM_FAMILY_PYTORCH_NPU, "PYTORCH_NPU_ALLOC_CONF", "torch.npu", "npu" },
        { PLIM_FAMILY_PYTORCH_XPU, NULL, "torch.xpu", "xpu" },
        { PLIM_FAMILY_PYTORCH_ASYNC, "PYTORCH_CUDA_ALLOC_CONF", "torch.cuda", "cuda" },
    };
    size_t i = 0;
    while (i + 1 < sizeof words / sizeof words[0] && words[i].family != family) {
        i++;
    }
    return &words[i];
}

static void write_setting(plim_text *out, const plim_failed_request *oom, const char *setting)
{
    const char *const variable = words_of(oom->family)->settings;
    if (variable != NULL) {
        plim_text_append_format(out, "export %s=%s", variable, setting);
    }
}

/* --- fragmentation --- */

static bool may_be_fragmented(const plim_failed_request *oom, const plim_judgement *judgement)
{
    (void)oom;
    return plim_fix_may_be(judgement, PLIM_VERDICT_FRAGMENTED);
}

static void expandable_segments(plim_text *out, const plim_failed_request *oom,
                                const plim_judgement *judgement)
{
    (void)judgement;
    write_setting(out, oom, "expandable_segments:True");
}

static void expandable_segments_text(plim_text *out, const plim_failed_request *oom,
                                     const plim_judgement *judgement)
{
    (void)judgement;
    if ((oom->in_force & (IN(MAX_SPLIT_SIZE) | IN(GC_THRESHOLD))) != 0) {
        /* Together they make reserved memory grow without bound (pytorch issue 123548), and NPU
         * refuses the combination. */
        plim_text_append_string(
            out, "Let segments grow, so that free pieces join and serve any size; put it in place "
                 "of max_split_size_mb and garbage_collection_threshold, which do not go with it. "
                 "It costs next to nothing, on Linux.");
    }
}

/*
 * Blocks at least as large as this are not split for smaller requests. At or below the request,
 * so that the request finds such a block whole; powers of two are what people compare.
 */
static uint64_t split_limit_mib(const plim_failed_request *oom)
{
    const uint64_t requested = oom->figures[PLIM_FIGURE_REQUESTED].bytes;
    uint64_t limit_mib = 128;
    if (requested != PLIM_BYTES_UNKNOWN) {
        limit_mib = 32; /* below 20 MiB it is refused */
        while (limit_mib < 512 && limit_mib * 2 * MIB <= requested) {
            limit_mib *= 2;
        }
    }
    return limit_mib;
}

static void max_split_size(plim_text *out, const plim_failed_request *oom,
                           const plim_judgement *judgement)
{
    (void)judgement;
    char setting[64];
    snprintf(setting, sizeof setting, "max_split_size_mb:%" PRIu64, split_limit_mib(oom));
    write_setting(out, oom, setting);
}

static void gc_threshold(plim_text *out, const plim_failed_request *oom,
                         const plim_judgement *judgement)
{
    (void)judgement;
    write_setting(out, oom, "garbage_collection_threshold:0.8");
}

static void empty_cache(plim_text *out, const plim_failed_request *oom,
                        const plim_judgement *judgement)
{
    (void)judgement;
    plim_text_append_format(out, "%s.empty_cache()", words_of(oom->family)->module);
}

/* --- limits --- */

/* The least fraction of the device that would have let the request pass; 0 if unknown. */
static uint64_t fraction_percent(const plim_failed_request *oom, const plim_judgement *judgement)
{
    const uint64_t total = oom->figures[PLIM_FIGURE_TOTAL].bytes;
    return plim_fix_percent(plim_needed_bytes(oom, judgement), total, true);
}

/* No fraction helps where the whole device would not do, or where the words name another cap. */
static bool fraction_helps(const plim_failed_request *oom, const plim_judgement *judgement)
{
    return fraction_percent(oom, judgement) <= 100;
}

static void raise_fraction(plim_text *out, const plim_failed_request *oom,
                           const plim_judgement *judgement)
{
    /* One percent more: the figures are rounded, and the next request comes soon. */
    const uint64_t least = fraction_percent(oom, judgement);
    const uint64_t percent = least == 0 || least >= 99 ? 100 : least + 1;
    plim_text_append_format(out, "%s.set_per_process_memory_fraction(%" PRIu64 ".%02" PRIu64 ")",
                            words_of(oom->family)->module, percent / 100, percent % 100);
}

static void raise_fraction_text(plim_text *out, const plim_failed_request *oom,
                                const plim_judgement *judgement)
{
    const uint64_t needed = plim_needed_bytes(oom, judgement);
    const uint64_t limit = oom->figures[PLIM_FIGURE_LIMIT].bytes;
    if (needed != PLIM_BYTES_UNKNOWN && limit != PLIM_BYTES_UNKNOWN) {
        plim_text_append_format(out,
                                "Raise the memory fraction: %s were needed under a limit of %s. "
                                "What the CUDA context takes is not counted, so leave a little.",
                                plim_format_bytes(needed).text, plim_format_bytes(limit).text);
    }
}

/* --- other libraries in this process --- */

/* A context and its libraries are 0.3 to 2.5 GiB; more is somebody's pool. */
static bool other_library_holds(const plim_failed_request *oom, const plim_judgement *judgement)
{
    (void)oom;
    const uint64_t outside = judgement->outside_bytes;
    return outside != PLIM_BYTES_UNKNOWN && outside >= 3 * GIB &&
           (judgement->held_bytes == PLIM_BYTES_UNKNOWN || outside >= judgement->held_bytes / 4);
}

static void other_library_text(plim_text *out, const plim_failed_request *oom,
                               const plim_judgement *judgement)
{
    (void)oom;
    plim_text_append_format(
        out,
        "%s of this very process are not PyTorch's: another library in it (JAX, TensorFlow, "
        "TensorRT, NCCL) took them. Stop it from taking its memory in advance; for TensorFlow set "
        "TF_FORCE_GPU_ALLOW_GROWTH=true.",
        plim_format_bytes(judgement->outside_bytes).text);
}

/* Contexts of other ranks on one device: several small ones. */
static bool ranks_share_device(const plim_failed_request *oom, const plim_judgement *judgement)
{
    size_t small = 0;
    for (size_t i = 0; i < oom->process_count; i++) {
        const plim_process_figure *const process = &oom->processes[i];
        const bool is_this = process->is_this || i == judgement->this_process;
        small += !is_this && process->bytes < 2 * GIB ? 1 : 0;
    }
    return small >= 2;
}

/* Printed as allocated, but free blocks of the pools in truth. */
static bool private_pools_would_do(const plim_failed_request *oom, const plim_judgement *judgement)
{
    const uint64_t pools = oom->figures[PLIM_FIGURE_PRIVATE_POOLS].bytes;
    const uint64_t requested = oom->figures[PLIM_FIGURE_REQUESTED].bytes;
    (void)judgement;
    return pools != PLIM_BYTES_UNKNOWN && pools >= requested;
}

static void private_pools_text(plim_text *out, const plim_failed_request *oom,
                               const plim_judgement *judgement)
{
    (void)judgement;
    plim_text_append_format(
        out,
        "%s lie in private pools, which ordinary requests cannot use: capture fewer CUDA graphs, "
        "or compile without them (not mode=\"reduce-overhead\"). Small steps get slower.",
        plim_format_bytes(oom->figures[PLIM_FIGURE_PRIVATE_POOLS].bytes).text);
}

static bool driver_pool_holds(const plim_failed_request *oom, const plim_judgement *judgement)
{
    (void)oom;
    return judgement->reason == PLIM_REASON_DRIVER_POOL;
}

/* --- too much --- */

static void mixed_precision(plim_text *out, const plim_failed_request *oom,
                            const plim_judgement *judgement)
{
    (void)judgement;
    plim_text_append_format(
        out, "with torch.autocast(\"%s\", dtype=torch.bfloat16):", words_of(oom->family)->type);
}

/* --- contradictions --- */

static bool free_was_enough(const plim_failed_request *oom, const plim_judgement *judgement)
{
    (void)oom;
    return judgement->reason == PLIM_REASON_FREE_ENOUGH;
}

static const plim_fix fixes[] = {
    {
        .id = "private-pools",
        .place = PLIM_FIX_LEADING,
        .verdicts = EXHAUSTED | FRAGMENTED,
        .families = CUDA | ROCM,
        .applies = private_pools_would_do,
        .text = "Memory lies unused in pools of CUDA graphs, where ordinary requests cannot get "
                "it: capture fewer graphs.",
        .write_text = private_pools_text,
        .command = "model = torch.compile(model, mode=\"default\")",
        .source = "PyTorch CUDA notes, graph memory management",
    },
    {
        .id = "trim-driver-pool",
        .place = PLIM_FIX_LEADING,
        .families = ASYNC,
        .applies = driver_pool_holds,
        .text = "The driver's pool keeps what was freed: let it go. If the device stays full, "
                "somebody else holds it.",
        .command = "torch.cuda.empty_cache()",
        .source = "CUDA programming guide, stream ordered allocator",
    },
    /* --- found and not used, or refused: cheap and lossless --- */
    {
        .id = "pin-rank-to-device",
        .place = PLIM_FIX_LEADING,
        .verdicts = EXHAUSTED | OTHER,
        .families = CUDA | ROCM | ASYNC,
        .applies = ranks_share_device,
        .text = "Several small processes share this device, as when the ranks of one job all touch "
                "the first GPU. Let each rank choose its own device before anything else.",
        .command = "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"]))",
        .source = "PyTorch documentation, torchrun",
    },
    {
        .id = "other-library-in-process",
        .place = PLIM_FIX_LEADING,
        .verdicts = EXHAUSTED | FRAGMENTED | CAPPED | OTHER,
        .families = CUDA | ROCM | ASYNC,
        .unless = IN(NO_PREALLOCATION),
        .applies = other_library_holds,
        .text = "Another library in this process holds memory of its own; stop it from taking it "
                "in advance.",
        .write_text = other_library_text,
        .command = "export XLA_PYTHON_CLIENT_PREALLOCATE=false",
        .source = "JAX documentation, GPU memory allocation",
    },
    {
        .id = "raise-memory-fraction",
        .verdicts = CAPPED,
        .families = CUDA | ROCM | NPU | XPU | ASYNC,
        .applies = fraction_helps,
        .text = "Raise the memory fraction that was set for this process, or take the call out.",
        .write_text = raise_fraction_text,
        .write_command = raise_fraction,
        .source = "PyTorch documentation, set_per_process_memory_fraction",
    },
    {
        .id = "expandable-segments",
        .verdicts = FRAGMENTED | EXHAUSTED,
        .families = NATIVE,
        .unless = IN(EXPANDABLE_SEGMENTS),
        .applies = may_be_fragmented,
        .text = "Let segments grow, so that free pieces join and serve requests of any size. It "
                "costs next to nothing; on Windows it is not available.",
        .write_text = expandable_segments_text,
        .write_command = expandable_segments,
        .source = "PyTorch CUDA notes, expandable_segments (2.1 and later)",
    },
    {
        .id = "native-allocator",
        .verdicts = FRAGMENTED,
        .families = ASYNC,
        .text = "Go back to PyTorch's own allocator with segments that grow: the driver's pool "
                "fragments too, and shows less of it.",
        .command = "export PYTORCH_CUDA_ALLOC_CONF=backend:native,expandable_segments:True",
        .source = "PyTorch CUDA notes, backend",
    },
    {
        .id = "max-split-size",
        .verdicts = FRAGMENTED,
        .families = NATIVE,
        .unless = IN(EXPANDABLE_SEGMENTS) | IN(MAX_SPLIT_SIZE),
        .text = "Or keep large blocks whole: above this size they are not cut for small requests. "
                "It may reserve somewhat more and is the way where segments cannot grow.",
        .write_command = max_split_size,
        .source = "PyTorch CUDA notes, max_split_size_mb (1.10 and later)",
    },
    {
        .id = "gc-threshold",
        .verdicts = FRAGMENTED,
        .families = NATIVE,
        .unless = IN(GC_THRESHOLD) | IN(EXPANDABLE_SEGMENTS),
        .text = "Or give old unused blocks back before memory is full. It works only together with "
                "set_per_process_memory_fraction(1.0) or less, and costs some new allocations.",
        .write_command = gc_threshold,
        .source = "PyTorch CUDA notes, garbage_collection_threshold (1.12 and later)",
    },
    {
        .id = "empty-cache",
        .verdicts = FRAGMENTED,
        .families = TORCH,
        .text = "Empty the cache between phases of different sizes (training, evaluation, saving), "
                "not in every step: whole unused segments go back to the driver, and getting new "
                "ones costs milliseconds.",
        .write_command = empty_cache,
        .source = "PyTorch documentation, empty_cache",
    },
    {
        .id = "steady-shapes",
        .verdicts = FRAGMENTED,
        .families = TORCH,
        .text = "Keep sizes steady: pad to a few lengths and drop the odd last batch, so that "
                "freed blocks fit the next request. The padding costs a little arithmetic.",
        .command = "collate = DataCollatorWithPadding(tokenizer, pad_to_multiple_of=128)",
        .source = "PyTorch tuning guide, variable input lengths",
    },
    {
        .id = "cuda-malloc-async",
        .verdicts = FRAGMENTED,
        .families = CUDA,
        .unless = IN(CUDA_MALLOC_ASYNC),
        .only_with = IN(EXPANDABLE_SEGMENTS),
        .text = "Segments grow already; the driver's own pool is the other thing to try. It tells "
                "less about itself, and snapshots do not show it.",
        .command = "export PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync",
        .source = "PyTorch CUDA notes, backend (CUDA 11.4 and later)",
    },
    /* --- one request too large --- */
    {
        .id = "relaxed-allocation-limits",
        .verdicts = OVERSIZED | UNKNOWN,
        .families = XPU,
        .text = "Intel's driver refuses single allocations above 4 GiB unless told otherwise; "
                "large buffers may run a little slower.",
        .command = "export UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1",
        .source = "oneAPI Level Zero, relaxed allocation limits",
    },
    {
        .id = "fused-attention",
        .verdicts = OVERSIZED,
        .families = TORCH,
        .unless = IN(FLASH_ATTENTION),
        .text = "If it is the table of attention scores, do not build it: fused attention needs "
                "memory linear in the length instead of quadratic, and is faster.",
        .command = "y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)",
        .source = "Dao et al. 2022, FlashAttention",
    },
    {
        .id = "chunk-operation",
        .verdicts = OVERSIZED,
        .families = TORCH,
        .text = "Or do it in slices and keep only the results: batches of an evaluation, pairs of "
                "a distance matrix, the loss over a long sequence.",
        .command = "y = torch.cat([f(part) for part in x.split(1024)])",
        .source = "torchtune, chunked cross-entropy",
    },
    /* --- too much: by how little it hurts --- */
    {
        .id = "smaller-batch",
        .verdicts = PLIM_VERDICTS_TOO_MUCH,
        .families = TORCH,
        .unless = IN(BATCH_OF_ONE) | IN(ACCUMULATION),
        .text = "Halve the batch and accumulate gradients over two: activations halve, the result "
                "is the same, and speed falls by 0 to 15 %.",
        .command =
            "TrainingArguments(per_device_train_batch_size=1, gradient_accumulation_steps=16)",
        .source = "Hugging Face guide to training on one GPU",
    },
    {
        .id = "smaller-micro-batch",
        .verdicts = PLIM_VERDICTS_TOO_MUCH,
        .families = TORCH,
        .unless = IN(BATCH_OF_ONE),
        .only_with = IN(ACCUMULATION),
        .text = "Halve the micro-batch and double the steps over which gradients accumulate: "
                "activations halve, and the result is the same.",
        .command = "TrainingArguments(per_device_train_batch_size=1)",
        .source = "Hugging Face guide to training on one GPU",
    },
    {
        .id = "shorter-sequences",
        .verdicts = PLIM_VERDICTS_TOO_MUCH,
        .families = TORCH,
        .only_with = IN(BATCH_OF_ONE),
        .text = "The batch cannot shrink further, its samples can: activations fall at least in "
                "proportion to the length or the pixels. It changes what the model sees.",
        .command = "tokenizer(text, truncation=True, max_length=1024)",
        .source = "Korthikanti et al. 2022, activation sizes",
    },
    {
        .id = "mixed-precision",
        .verdicts = PLIM_VERDICTS_TOO_MUCH,
        .families = TORCH,
        .unless = IN(MIXED_PRECISION),
        .text = "Compute in 16 bits: activations take half the memory and matrix products run "
                "about twice as fast; weights and optimizer states stay as they are.",
        .write_command = mixed_precision,
        .source = "Micikevicius et al. 2018, mixed precision training",
    },
    {
        .id = "gradient-checkpointing",
        .verdicts = PLIM_VERDICTS_TOO_MUCH,
        .families = TORCH,
        .unless = IN(CHECKPOINTING),
        .text = "Keep the input of each block and compute the rest again in backward: most "
                "activations go, for 20 to 30 % of the speed. In a model of your own, "
                "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False).",
        .command = "model.gradient_checkpointing_enable()",
        .source = "Chen et al. 2016; torchtune measures 21 %",
    },
    {
        .id = "sdpa-attention",
        .verdicts = PLIM_VERDICTS_TOO_MUCH,
        .families = TORCH,
        .unless = IN(FLASH_ATTENTION) | IN(QUANTIZED),
        .only_with = IN(CHECKPOINTING) | IN(MIXED_PRECISION),
        .text = "Use fused attention: no table of scores is kept, which is quadratic in the "
                "length, and it is faster.",
        .command =
            "model = AutoModelForCausalLM.from_pretrained(name, attn_implementation=\"sdpa\")",
        .source = "Dao et al. 2022, FlashAttention",
    },
    {
        .id = "8bit-optimizer",
        .verdicts = PLIM_VERDICTS_TOO_MUCH,
        .families = CUDA | ROCM | XPU | ASYNC,
        .unless = IN(8BIT_OPTIMIZER) | IN(LORA) | IN(QUANTIZED),
        .text = "Keep Adam's states in 8 bits: 2 bytes per parameter instead of 8, about 5.6 GiB "
                "less for each billion parameters, at 1 to 5 % less speed.",
        .command = "optimizer = bitsandbytes.optim.AdamW8bit(model.parameters(), lr=lr)",
        .source = "Dettmers et al. 2022, 8-bit optimizers",
    },
    {
        .id = "lora",
        .verdicts = PLIM_VERDICTS_TOO_MUCH,
        .families = TORCH,
        .unless = IN(LORA),
        .text = "Train small adapters and freeze the weights: about 2 bytes per parameter instead "
                "of 16. It is another way to train, and the result differs.",
        .command = "model = peft.get_peft_model(model, peft.LoraConfig(r=16))",
        .source = "Hu et al. 2021, LoRA",
    },
    {
        .id = "load-in-4bit",
        .verdicts = PLIM_VERDICTS_TOO_MUCH,
        .families = CUDA | ROCM | XPU | ASYNC,
        .unless = IN(QUANTIZED),
        .text = "Load frozen weights in 4 bits: a quarter of their 16-bit size, for a small loss "
                "in quality.",
        .command = "config = transformers.BitsAndBytesConfig(load_in_4bit=True)",
        .source = "Dettmers et al. 2023, QLoRA",
    },
    {
        .id = "inference-mode",
        .verdicts = PLIM_VERDICTS_TOO_MUCH,
        .families = TORCH,
        .unless = TRAINING,
        .text = "If nothing is trained here, say so: without a graph no activations are kept.",
        .command = "with torch.inference_mode():",
        .source = "PyTorch documentation, inference mode",
    },
    {
        .id = "shard",
        .verdicts = PLIM_VERDICTS_TOO_MUCH,
        .families = CUDA | ROCM | NPU | XPU | ASYNC,
        .unless = IN(SHARDED),
        .text = "With several devices, share weights, gradients and states among them instead of "
                "repeating them: the 16 bytes per parameter are divided by their number.",
        .command = "torch.distributed.fsdp.fully_shard(model)",
        .source = "Rajbhandari et al. 2020, ZeRO",
    },
    {
        .id = "offload",
        .verdicts = PLIM_VERDICTS_TOO_MUCH,
        .families = CUDA | ROCM | NPU | XPU | ASYNC,
        .unless = IN(OFFLOAD),
        .text = "Move what is kept for backward to host memory: large, and slow where the link to "
                "the device is.",
        .command = "with torch.autograd.graph.save_on_cpu(pin_memory=True):",
        .source = "PyTorch documentation, saved tensor hooks",
    },
    {
        .id = "mps-watermark",
        .verdicts = CAPPED,
        .families = MPS,
        .text = "Last, lift the limit: it is PyTorch's own, above what the system recommends. "
                "The machine may swap or freeze when memory really runs out.",
        .command = "export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0",
        .source = "PyTorch documentation, MPS environment variables",
    },
    /* --- too little said --- */
    {
        .id = "ask-the-driver",
        .verdicts = UNKNOWN,
        .families = CUDA | ROCM | ASYNC,
        .applies = free_was_enough,
        .text = "Print free and total just before the failure. Where free stays large, suspect a "
                "memory fraction (PyTorch 2.1 to 2.4 do not print it), a virtual GPU's share, or "
                "on Windows and WSL a page file that is too small.",
        .command = "print(torch.cuda.mem_get_info())",
        .source = "PyTorch sources, 2.1 to 2.4",
    },
    {
        .id = "record-snapshot",
        .verdicts = EXHAUSTED | FRAGMENTED | CAPPED | UNKNOWN,
        .families = CUDA | ROCM,
        .unless = IN(SNAPSHOT),
        .place = PLIM_FIX_CLOSING,
        .text = "To see who holds what, record: this line at the start, "
                "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") where the error is caught, "
                "then plimsoll inspect snapshot.pickle.",
        .command = "torch.cuda.memory._record_memory_history()",
        .source = "PyTorch documentation, understanding CUDA memory usage",
    },
    {
        .id = "inspect-snapshot",
        .verdicts = EXHAUSTED | FRAGMENTED | CAPPED | UNKNOWN,
        .families = CUDA | ROCM,
        .only_with = IN(SNAPSHOT),
        .place = PLIM_FIX_CLOSING,
        .text = "A history is being recorded: look into its snapshot for who holds what at the "
                "moment of the failure.",
        .command = "plimsoll inspect snapshot.pickle",
        .source = "PyTorch documentation, understanding CUDA memory usage",
    },
};

const plim_fix_list plim_fixes_torch = { fixes, sizeof fixes / sizeof fixes[0] };
