/*
 * fixes_serving.c - fixes for inference servers and runtimes: vLLM, SGLang, TGI, llama.cpp, ollama.
 *
 * Switches are those that the servers' own documentation names for lack of memory.
 */
#include "advice/fix.h"

#include "base/size.h"

#include <inttypes.h>

#define VLLM   PLIM_FAMILY_BIT(PLIM_FAMILY_VLLM)
#define SGLANG PLIM_FAMILY_BIT(PLIM_FAMILY_SGLANG)
#define TGI    PLIM_FAMILY_BIT(PLIM_FAMILY_TGI)
#define LLAMA  PLIM_FAMILY_BIT(PLIM_FAMILY_LLAMA_CPP)
#define OLLAMA PLIM_FAMILY_BIT(PLIM_FAMILY_OLLAMA)

#define EXHAUSTED  PLIM_VERDICT_BIT(PLIM_VERDICT_EXHAUSTED)
#define FRAGMENTED PLIM_VERDICT_BIT(PLIM_VERDICT_FRAGMENTED)
#define CAPPED     PLIM_VERDICT_BIT(PLIM_VERDICT_CAPPED)
#define OVERSIZED  PLIM_VERDICT_BIT(PLIM_VERDICT_OVERSIZED)
#define UNKNOWN    PLIM_VERDICT_BIT(PLIM_VERDICT_UNKNOWN)
#define OTHER      PLIM_VERDICT_BIT(PLIM_VERDICT_OTHER_PROCESS)
#define ON_DEVICE  (EXHAUSTED | FRAGMENTED | UNKNOWN | OVERSIZED) /* lack of memory itself */

#define TOPIC(what) PLIM_TOPIC_BIT(PLIM_TOPIC_##what)
#define BUDGET      (TOPIC(KV_CACHE) | TOPIC(CAP)) /* a share that is too small */
/* Out of memory while running: all topics but the budgets and the start. */
#define RUNNING (~(BUDGET | TOPIC(STARTUP)))

#define IN(what) PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_##what)

/* The share of the device that was free, in whole percent; 0 if unknown. */
static uint64_t free_percent(const plim_failed_request *oom)
{
    const uint64_t percent = plim_fix_percent(oom->figures[PLIM_FIGURE_FREE].bytes,
                                              oom->figures[PLIM_FIGURE_TOTAL].bytes, false);
    return percent > 100 ? 0 : percent;
}

/* Below a fifth of the device there is hardly a model to be served: others have to go. */
static bool free_share_is_useful(const plim_failed_request *oom, const plim_judgement *judgement)
{
    (void)judgement;
    const uint64_t percent = free_percent(oom);
    return percent == 0 || percent >= 20;
}

static void startup_share(plim_text *out, const plim_failed_request *oom,
                          const plim_judgement *judgement)
{
    (void)judgement;
    const uint64_t percent = free_percent(oom);
    if (percent > 0) {
        plim_text_append_format(out, "--gpu-memory-utilization %" PRIu64 ".%02" PRIu64,
                                percent / 100, percent % 100);
    }
}

static void startup_share_text(plim_text *out, const plim_failed_request *oom,
                               const plim_judgement *judgement)
{
    (void)judgement;
    const uint64_t free_bytes = oom->figures[PLIM_FIGURE_FREE].bytes;
    if (free_percent(oom) > 0) {
        plim_text_append_format(out,
                                "Ask for no more than what is free, %s; the KV cache and with it "
                                "the number of requests at a time shrink.",
                                plim_format_bytes(free_bytes).text);
    }
}

/* How much of the wanted length the cache holds, as the message's own estimate would say. */
static void model_length_text(plim_text *out, const plim_failed_request *oom,
                              const plim_judgement *judgement)
{
    (void)judgement;
    const uint64_t percent = plim_fix_percent(oom->figures[PLIM_FIGURE_LIMIT].bytes,
                                              oom->figures[PLIM_FIGURE_REQUESTED].bytes, false);
    if (percent > 0 && percent < 100) {
        plim_text_append_format(out,
                                "Shorten the longest sequence: the cache holds %" PRIu64
                                " %% of the length asked for. Set that share, or the estimated "
                                "maximum of the message; auto finds it in newer releases.",
                                percent);
    }
}

static const plim_fix fixes[] = {
    /* --- vLLM --- */
    {
        .id = "vllm-fit-free-memory",
        .verdicts = OTHER | CAPPED,
        .families = VLLM,
        .topics = TOPIC(STARTUP),
        .applies = free_share_is_useful,
        .text = "Ask for no more than what is free; the KV cache and with it the number of "
                "requests at a time shrink.",
        .write_text = startup_share_text,
        .command = "--gpu-memory-utilization 0.80",
        .write_command = startup_share,
        .source = "vLLM documentation, engine arguments",
    },
    {
        .id = "vllm-shorter-context",
        .verdicts = CAPPED,
        .families = VLLM,
        .topics = BUDGET,
        .text = "Shorten the longest sequence to what the cache holds: use the estimated maximum "
                "of the message, or auto, which finds it in newer releases.",
        .write_text = model_length_text,
        .command = "--max-model-len auto",
        .source = "vLLM documentation, conserving memory",
    },
    {
        .id = "vllm-raise-utilization",
        .verdicts = CAPPED,
        .families = VLLM,
        .topics = BUDGET,
        .text = "Give the engine more of the device: all of the difference goes to the KV cache. "
                "Too much, and other allocations fail later.",
        .command = "--gpu-memory-utilization 0.95",
        .source = "vLLM documentation, conserving memory",
    },
    {
        .id = "vllm-fp8-cache",
        .verdicts = CAPPED,
        .families = VLLM,
        .topics = BUDGET,
        .text = "Keep the KV cache in 8 bits: twice the tokens in the same memory, for a small "
                "loss in quality.",
        .command = "--kv-cache-dtype fp8",
        .source = "vLLM documentation, quantized KV cache",
    },
    {
        .id = "vllm-fewer-sequences",
        .verdicts = ON_DEVICE | CAPPED,
        .families = VLLM,
        .topics = RUNNING,
        .text = "Serve fewer requests at a time: the sampler's warm-up and the activations of a "
                "step shrink with them.",
        .command = "--max-num-seqs 64",
        .source = "vLLM documentation, conserving memory",
    },
    {
        .id = "vllm-lower-utilization",
        .verdicts = ON_DEVICE,
        .families = VLLM,
        .topics = RUNNING,
        .text = "Leave more room beside the KV cache, which takes all of the share it is given.",
        .command = "--gpu-memory-utilization 0.80",
        .source = "vLLM documentation, conserving memory",
    },
    {
        .id = "vllm-smaller-steps",
        .verdicts = ON_DEVICE,
        .families = VLLM,
        .topics = RUNNING,
        .text = "Cut long prompts into smaller steps: activations shrink, the first token comes "
                "later.",
        .command = "--max-num-batched-tokens 2048",
        .source = "vLLM documentation, chunked prefill",
    },
    {
        .id = "vllm-enforce-eager",
        .verdicts = ON_DEVICE | CAPPED,
        .families = VLLM,
        .unless = IN(ENFORCE_EAGER),
        .text = "Do without CUDA graphs: they take some hundred MiB to a few GiB, and tokens come "
                "more slowly without them.",
        .command = "--enforce-eager",
        .source = "vLLM documentation, conserving memory",
    },
    {
        .id = "vllm-tensor-parallel",
        .verdicts = ON_DEVICE | CAPPED,
        .families = VLLM,
        .text = "Divide the weights among several devices; each then has more for its cache.",
        .command = "--tensor-parallel-size 2",
        .source = "vLLM documentation, conserving memory",
    },
    /* --- SGLang --- */
    {
        .id = "sglang-raise-static-fraction",
        .verdicts = CAPPED,
        .families = SGLANG,
        .text = "The weights and the KV cache do not fit their share: raise it in small steps. "
                "What is left over is for activations and CUDA graphs.",
        .command = "--mem-fraction-static 0.90",
        .source = "SGLang documentation, hyperparameter tuning",
    },
    {
        .id = "sglang-lower-static-fraction",
        .verdicts = ON_DEVICE | OTHER,
        .families = SGLANG,
        .text = "Leave more for activations: the share of weights and KV cache goes down, and "
                "with it the requests at a time.",
        .command = "--mem-fraction-static 0.70",
        .source = "SGLang documentation, hyperparameter tuning",
    },
    {
        .id = "sglang-smaller-prefill",
        .verdicts = ON_DEVICE,
        .families = SGLANG,
        .text = "When a prompt is read: in smaller chunks, which is slower for long prompts.",
        .command = "--chunked-prefill-size 2048",
        .source = "SGLang documentation, hyperparameter tuning",
    },
    {
        .id = "sglang-fewer-requests",
        .verdicts = ON_DEVICE,
        .families = SGLANG,
        .text = "When tokens are generated: fewer requests at a time.",
        .command = "--max-running-requests 64",
        .source = "SGLang documentation, hyperparameter tuning",
    },
    {
        .id = "sglang-shorter-context",
        .verdicts = CAPPED,
        .families = SGLANG,
        .text = "Or promise a shorter context.",
        .command = "--context-length 8192",
        .source = "SGLang documentation, server arguments",
    },
    {
        .id = "sglang-tensor-parallel",
        .verdicts = ON_DEVICE | CAPPED,
        .families = SGLANG,
        .text = "Divide the weights among several devices.",
        .command = "--tp 2",
        .source = "SGLang documentation, server arguments",
    },
    /* --- TGI --- */
    {
        .id = "tgi-smaller-prefill",
        .verdicts = ON_DEVICE | CAPPED,
        .families = TGI,
        .text = "The warm-up runs the largest batch it may get: allow fewer tokens of prompts in "
                "one step.",
        .command = "--max-batch-prefill-tokens 2048",
        .source = "TGI documentation, launcher arguments",
    },
    {
        .id = "tgi-shorter-requests",
        .verdicts = ON_DEVICE | CAPPED,
        .families = TGI,
        .text = "Allow fewer tokens of a request in all; each takes KV cache.",
        .command = "--max-total-tokens 4096",
        .source = "TGI documentation, launcher arguments",
    },
    {
        .id = "tgi-quantize",
        .verdicts = ON_DEVICE | CAPPED,
        .families = TGI,
        .unless = IN(QUANTIZED),
        .text = "Load the weights in 8 bits: half their memory, for a small loss in quality.",
        .command = "--quantize eetq",
        .source = "TGI documentation, quantization",
    },
    {
        .id = "tgi-shard",
        .verdicts = ON_DEVICE | CAPPED,
        .families = TGI,
        .text = "Divide the weights among several devices.",
        .command = "--num-shard 2",
        .source = "TGI documentation, launcher arguments",
    },
    /* --- llama.cpp --- */
    {
        .id = "llama-fewer-layers",
        .verdicts = ON_DEVICE,
        .families = LLAMA,
        .topics = ~(TOPIC(COMPUTE) | TOPIC(KV_CACHE)),
        .text = "Put fewer layers on the device; the rest runs on the CPU, and slower. Halve until "
                "it loads, then go up again.",
        .command = "-ngl 20",
        .source = "llama.cpp documentation, server options",
    },
    {
        .id = "llama-shorter-context",
        .verdicts = ON_DEVICE | CAPPED,
        .families = LLAMA,
        .text = "Take a shorter context: the KV cache is proportional to it, and the compute "
                "buffer grows with it.",
        .command = "-c 4096",
        .source = "llama.cpp documentation, server options",
    },
    {
        .id = "llama-smaller-ubatch",
        .verdicts = ON_DEVICE,
        .families = LLAMA,
        .text = "Make the physical batch smaller: the compute buffer shrinks with it, prompts are "
                "read more slowly.",
        .command = "-ub 128",
        .source = "llama.cpp documentation, server options",
    },
    {
        .id = "llama-cache-type",
        .verdicts = ON_DEVICE | CAPPED,
        .families = LLAMA,
        .text = "Keep the KV cache in 8 bits: half its memory for hardly any loss. That of the "
                "values needs flash attention (-fa on).",
        .command = "--cache-type-k q8_0 --cache-type-v q8_0",
        .source = "llama.cpp documentation, server options",
    },
    {
        .id = "llama-smaller-quantization",
        .verdicts = ON_DEVICE | CAPPED,
        .families = LLAMA,
        .text = "Take a file of the model in a smaller quantization, such as Q4_K_M: about 0.6 "
                "bytes per parameter.",
        .command = "llama-quantize model-f16.gguf model-q4.gguf Q4_K_M",
        .source = "llama.cpp documentation, quantize",
    },
    {
        .id = "llama-late-layers",
        .verdicts = ON_DEVICE,
        .families = LLAMA,
        .topics = TOPIC(COMPUTE) | TOPIC(KV_CACHE),
        .text = "Or put fewer layers on the device, which leaves room for this buffer.",
        .command = "-ngl 20",
        .source = "llama.cpp documentation, server options",
    },
    /* --- ollama --- */
    {
        .id = "ollama-shorter-context",
        .verdicts = ON_DEVICE | CAPPED | OTHER,
        .families = OLLAMA,
        .text = "Take a shorter context (num_ctx): the KV cache is proportional to it.",
        .command = "export OLLAMA_CONTEXT_LENGTH=4096",
        .source = "ollama documentation, context length",
    },
    {
        .id = "ollama-one-at-a-time",
        .verdicts = ON_DEVICE | CAPPED,
        .families = OLLAMA,
        .text = "Serve one request at a time: each slot has a context of its own.",
        .command = "export OLLAMA_NUM_PARALLEL=1",
        .source = "ollama documentation, FAQ",
    },
    {
        .id = "ollama-cache-type",
        .verdicts = ON_DEVICE | CAPPED,
        .families = OLLAMA,
        .text = "Keep the KV cache in 8 bits, half its memory; OLLAMA_FLASH_ATTENTION=1 must be "
                "set as well.",
        .command = "export OLLAMA_KV_CACHE_TYPE=q8_0",
        .source = "ollama documentation, FAQ",
    },
    {
        .id = "ollama-fewer-layers",
        .verdicts = ON_DEVICE,
        .families = OLLAMA,
        .text = "Put fewer layers on the device, in the session or as num_gpu in the Modelfile; "
                "the rest runs on the CPU.",
        .command = "/set parameter num_gpu 20",
        .source = "ollama documentation, Modelfile parameters",
    },
    {
        .id = "ollama-one-model",
        .verdicts = ON_DEVICE | OTHER | PLIM_VERDICT_BIT(PLIM_VERDICT_HOST),
        .families = OLLAMA,
        .text = "See which models are loaded, and stop what is not needed (ollama stop).",
        .command = "ollama ps",
        .source = "ollama documentation, FAQ",
    },
    {
        .id = "ollama-smaller-model",
        .verdicts = PLIM_VERDICT_BIT(PLIM_VERDICT_HOST),
        .families = OLLAMA,
        .text = "The part of the model that does not fit the GPU does not fit the host either: "
                "take a smaller model or a shorter context.",
        .command = "export OLLAMA_CONTEXT_LENGTH=4096",
        .source = "ollama documentation, context length",
    },
};

const plim_fix_list plim_fixes_serving = { fixes, sizeof fixes / sizeof fixes[0] };
