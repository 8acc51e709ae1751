/*
 * fixes_leak.c - fixes for memory that grows step by step, without an error or before one.
 *
 * In the order in which the causes turn up in practice: a result kept with its graph, lists of
 * them, evaluation with a graph, graphs kept on purpose, hooks, caches, cycles, loaders.
 */
#include "advice/fix.h"

#define FAMILY(what) PLIM_FAMILY_BIT(PLIM_FAMILY_##what)
/* The text may be a log of anybody's; Python programs with graphs are the usual ones. */
#define TORCH    (PLIM_FAMILIES_TORCH | FAMILY(ANY) | FAMILY(CUDA) | FAMILY(HIP))
#define SERVING  (FAMILY(VLLM) | FAMILY(SGLANG) | FAMILY(TGI))
#define SNAPSHOT PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_SNAPSHOT)

static void server_step(plim_text *out, const plim_failed_request *oom,
                        const plim_judgement *judgement)
{
    (void)judgement;
    const char *option = "--max-num-batched-tokens";
    if (oom->family == PLIM_FAMILY_SGLANG) {
        option = "--chunked-prefill-size";
    } else if (oom->family == PLIM_FAMILY_TGI) {
        option = "--max-batch-prefill-tokens";
    }
    plim_text_append_format(out, "%s 2048", option);
}

static const plim_fix fixes[] = {
    {
        .id = "keep-loss-value",
        .families = TORCH,
        .text = "Add up the number, not the tensor: a loss that is kept keeps the whole graph of "
                "its step. It waits for the device, so do it every few steps.",
        .command = "total += loss.item()",
        .source = "PyTorch FAQ, my model reports out of memory",
    },
    {
        .id = "detach-outputs",
        .families = TORCH,
        .text = "Outputs collected in a list stay on the device with their graphs: detach them "
                "and move them to the host.",
        .command = "outputs.append(y.detach().cpu())",
        .source = "PyTorch FAQ, my model reports out of memory",
    },
    {
        .id = "evaluate-without-graph",
        .families = TORCH,
        .text = "Evaluate without a graph.",
        .command = "with torch.inference_mode():",
        .source = "PyTorch documentation, inference mode",
    },
    {
        .id = "drop-graph",
        .families = TORCH,
        .text = "Let each step's graph go: no retain_graph=True without need, gradients set to "
                "None, and the state of a recurrent net detached between steps.",
        .command = "optimizer.zero_grad(set_to_none=True)",
        .source = "PyTorch documentation, autograd mechanics",
    },
    {
        .id = "collect-cycles",
        .families = TORCH,
        .text = "If it falls back after a collection, tensors hang in cycles: hooks and "
                "exceptions that keep them, callbacks that keep the trainer. Remove what you "
                "register (handle.remove()), and del what is done.",
        .command = "gc.collect()",
        .source = "PyTorch blog, finding and removing reference cycles",
    },
    {
        .id = "compare-snapshots",
        .families = FAMILY(PYTORCH) | FAMILY(PYTORCH_ROCM),
        .unless = SNAPSHOT,
        .place = PLIM_FIX_CLOSING,
        .text = "To see which lines grow, record with this line at the start and write a snapshot "
                "(torch.cuda.memory._dump_snapshot) at two steps some way apart; plimsoll inspect "
                "shows who holds what in each.",
        .command = "torch.cuda.memory._record_memory_history()",
        .source = "PyTorch documentation, understanding CUDA memory usage",
    },
    {
        .id = "inspect-snapshots",
        .families = FAMILY(PYTORCH) | FAMILY(PYTORCH_ROCM),
        .only_with = SNAPSHOT,
        .place = PLIM_FIX_CLOSING,
        .text = "A history is being recorded: write snapshots at two steps some way apart, and "
                "compare who holds what.",
        .command = "plimsoll inspect snapshot.pickle",
        .source = "PyTorch documentation, understanding CUDA memory usage",
    },
    {
        .id = "jax-live-arrays",
        .families = FAMILY(JAX) | FAMILY(TPU),
        .text = "Count live arrays every few steps: what is appended to lists or kept by "
                "closures stays on the device. Move results to the host.",
        .command = "print(len(jax.live_arrays()))",
        .source = "JAX documentation, live_arrays",
    },
    {
        .id = "jax-recompilation",
        .families = FAMILY(JAX) | FAMILY(TPU),
        .text = "Shapes that change in each step compile a new program each time, which stays: "
                "pad to a few.",
        .command = "jax.config.update(\"jax_log_compiles\", True)",
        .source = "JAX documentation, just-in-time compilation",
    },
    {
        .id = "tf-clear-session",
        .families = FAMILY(TENSORFLOW),
        .text = "Models built in a loop add up in the global state of Keras: clear it between "
                "them.",
        .command = "tf.keras.backend.clear_session()",
        .source = "TensorFlow documentation, clear_session",
    },
    {
        .id = "tf-retracing",
        .families = FAMILY(TENSORFLOW),
        .text = "A function that is called with Python numbers or changing shapes is traced anew "
                "each time, and the graphs stay: pass tensors and give a signature.",
        .command = "@tf.function(reduce_retracing=True)",
        .source = "TensorFlow guide, better performance with tf.function",
    },
    {
        .id = "paddle-keep-value",
        .families = FAMILY(PADDLE),
        .text = "Add up the number, not the tensor: a loss that is kept keeps the graph of its "
                "step. Evaluate under paddle.no_grad().",
        .command = "total += float(loss)",
        .source = "PaddlePaddle documentation, autograd",
    },
    {
        .id = "cupy-free-blocks-often",
        .families = FAMILY(CUPY),
        .text = "A pool keeps what it once had: if this makes it fall, it is the cache and no "
                "leak; else arrays are still referenced.",
        .command = "cupy.get_default_memory_pool().free_all_blocks()",
        .source = "CuPy documentation, memory management",
    },
    {
        .id = "julia-collect",
        .families = FAMILY(JULIA),
        .text = "Collect garbage between steps, then CUDA.reclaim(): if it falls, free large "
                "temporaries with CUDA.unsafe_free!; else they are still referenced.",
        .command = "GC.gc(true)",
        .source = "CUDA.jl documentation, memory management",
    },
    {
        .id = "mlx-evaluate",
        .families = FAMILY(MLX),
        .text = "Evaluate in every step: what is not evaluated keeps growing as a graph; the "
                "cache goes with mx.clear_cache().",
        .command = "mx.eval(model.parameters(), optimizer.state)",
        .source = "MLX documentation, lazy evaluation",
    },
    {
        .id = "bound-server-step",
        .families = SERVING,
        .text = "A server's KV cache is reserved at the start and does not grow; what grows "
                "beside it is activations of longer prompts: bound the tokens of a step.",
        .write_command = server_step,
        .source = "documentation of vLLM, SGLang and TGI",
    },
    {
        .id = "bound-context",
        .families = FAMILY(LLAMA_CPP),
        .text = "The KV cache grows with the conversation up to the context: bound it.",
        .command = "-c 4096",
        .source = "llama.cpp documentation, server options",
    },
    {
        .id = "ollama-bound-context",
        .families = FAMILY(OLLAMA),
        .text = "The KV cache grows with the conversation up to the context: bound it.",
        .command = "export OLLAMA_CONTEXT_LENGTH=4096",
        .source = "ollama documentation, context length",
    },
    {
        .id = "rmm-count",
        .families = FAMILY(RMM),
        .text = "Count what is live: if live bytes stay level while the device fills, it is the "
                "pool and no leak; else frames or arrays are still referenced.",
        .command = "rmm.statistics.enable_statistics()",
        .source = "RMM documentation, statistics",
    },
    {
        .id = "loader-copies",
        .families = FAMILY(HOST),
        .text = "Loader processes copy Python objects of the data set as they touch them, and the "
                "host's memory grows through the epoch: keep data in arrays, and use fewer "
                "workers.",
        .command = "loader = DataLoader(dataset, num_workers=2, persistent_workers=False)",
        .source = "PyTorch issue 13246",
    },
    {
        .id = "bound-generation-cache",
        .families = TORCH,
        .text = "When text is generated, the KV cache grows with each token and stays with the "
                "outputs that are kept: bound the length.",
        .command = "model.generate(x, max_new_tokens=512)",
        .source = "Transformers documentation, caching",
    },
    {
        .id = "watch-process",
        .families = ~(TORCH | FAMILY(JAX) | FAMILY(TPU) | FAMILY(TENSORFLOW) | FAMILY(PADDLE) |
                      FAMILY(CUPY) | FAMILY(RMM) | FAMILY(JULIA) | FAMILY(MLX) | SERVING |
                      FAMILY(LLAMA_CPP) | FAMILY(OLLAMA) | FAMILY(HOST)),
        .text = "Find what is kept from step to step: caches without a bound, results in lists, "
                "objects that are created again and never freed.",
        .source = "the series itself",
    },
};

const plim_fix_list plim_fixes_leak = { fixes, sizeof fixes / sizeof fixes[0] };
