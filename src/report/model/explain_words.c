/*
 * explain_words.c - tables of words.
 */
#include "report/model/explain_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *id;
    const char *name;
} frameworks[] = {
    { "blender", "Blender" },
    { "c++", "C++" },
    { "caffe", "Caffe" },
    { "cann", "CANN" },
    { "colab", "Google Colab" },
    { "container", "a container" },
    { "cuda-app", "a CUDA program" },
    { "cupy", "CuPy" },
    { "darknet", "Darknet" },
    { "deepspeed", "DeepSpeed" },
    { "direct3d", "Direct3D" },
    { "directml", "DirectML" },
    { "docker", "Docker" },
    { "exllama", "ExLlama" },
    { "faiss", "Faiss" },
    { "ffmpeg", "FFmpeg" },
    { "flashinfer", "FlashInfer" },
    { "go", "Go" },
    { "grid-engine", "Grid Engine" },
    { "hip-app", "a HIP program" },
    { "htcondor", "HTCondor" },
    { "jax", "JAX" },
    { "jax-tpu", "JAX on TPU" },
    { "julia-cuda", "CUDA.jl" },
    { "jupyter", "Jupyter" },
    { "jvm", "the Java VM" },
    { "kaggle", "Kaggle" },
    { "kubernetes", "Kubernetes" },
    { "linux", "Linux" },
    { "lmdeploy", "LMDeploy" },
    { "lsf", "LSF" },
    { "macos", "macOS" },
    { "megengine", "MegEngine" },
    { "mesa", "Mesa" },
    { "metal", "Metal" },
    { "mindspore", "MindSpore" },
    { "miner", "a miner" },
    { "mlx", "MLX" },
    { "mxnet", "MXNet" },
    { "nccl", "NCCL" },
    { "nccl-tests", "NCCL tests" },
    { "node", "Node.js" },
    { "numba", "Numba" },
    { "numpy", "NumPy" },
    { "ollama", "Ollama" },
    { "oneflow", "OneFlow" },
    { "onnxruntime", "ONNX Runtime" },
    { "opencl", "OpenCL" },
    { "opencv", "OpenCV" },
    { "paddle", "PaddlePaddle" },
    { "pbs", "PBS" },
    { "pyarrow", "PyArrow" },
    { "python", "Python" },
    { "pytorch", "PyTorch" },
    { "pytorch-mps", "PyTorch on MPS" },
    { "pytorch-npu", "PyTorch on NPU" },
    { "pytorch-rocm", "PyTorch on ROCm" },
    { "pytorch-xpu", "PyTorch on XPU" },
    { "r", "R" },
    { "ray", "Ray" },
    { "rmm", "RMM" },
    { "sglang", "SGLang" },
    { "shell", "the shell" },
    { "slurm", "Slurm" },
    { "spark-rapids", "Spark RAPIDS" },
    { "sycl", "SYCL" },
    { "system", "the system" },
    { "tensorflow", "TensorFlow" },
    { "tensorrt", "TensorRT" },
    { "tensorrt-llm", "TensorRT-LLM" },
    { "tgi", "Text Generation Inference" },
    { "lm-studio", "LM Studio" },
    { "theano", "Theano" },
    { "thrust", "Thrust" },
    { "torch7", "Torch7" },
    { "transformers", "Transformers" },
    { "triton", "Triton" },
    { "unknown", "a program" },
    { "vllm", "vLLM" },
    { "vulkan", "Vulkan" },
    { "webgpu", "WebGPU" },
    { "windows", "Windows" },
    { "xgboost", "XGBoost" },
    { "yarn", "YARN" },
};

const char *plim_explain_framework(const char *framework)
{
    for (size_t i = 0; i < sizeof frameworks / sizeof frameworks[0]; i++) {
        if (strcmp(framework, frameworks[i].id) == 0) {
            return frameworks[i].name;
        }
    }
    return framework;
}

plim_short_text plim_explain_device(const plim_oom_message *message)
{
    plim_short_text text = { "the device" };
    if (message->request.subject.device != PLIM_DEVICE_UNKNOWN) {
        const bool is_other = strstr(message->form, "npu") != NULL ||
                              strstr(message->form, "tpu") != NULL ||
                              strstr(message->form, "xpu") != NULL;
        snprintf(text.text, sizeof text.text, "%s %" PRId32, is_other ? "device" : "GPU",
                 message->request.subject.device);
    }
    return text;
}

plim_explain_phrase plim_explain_headline(const plim_oom_message *message)
{
    plim_explain_phrase text;
    plim_verdict_headline(message->judgement.verdict, plim_explain_device(message).text, text.text,
                          sizeof text.text);
    return text;
}

plim_short_text plim_explain_verdict(plim_verdict verdict)
{
    plim_short_text text;
    snprintf(text.text, sizeof text.text, "%s%s",
             verdict == PLIM_VERDICT_UNKNOWN ? "out of memory, cause " : "",
             plim_verdict_name(verdict));
    for (char *at = strchr(text.text, '_'); at != NULL; at = strchr(at, '_')) {
        *at = ' ';
    }
    return text;
}

const char *plim_explain_trend_words(plim_trend_class kind)
{
    switch (kind) {
    case PLIM_TREND_TOO_SHORT:
        return "too few points to say";
    case PLIM_TREND_FLAT:
        return "does not grow";
    case PLIM_TREND_RAMP:
        return "grew at first and has settled";
    case PLIM_TREND_STAIRCASE:
        return "grows in stairs";
    case PLIM_TREND_LEAK:
        return "grows for ever";
    }
    return "";
}

const char *plim_explain_figure(plim_figure_id id)
{
    static const char *const names[PLIM_FIGURE_PRINTED_COUNT] = {
        [PLIM_FIGURE_REQUESTED] = "requested",
        [PLIM_FIGURE_TOTAL] = "the device has",
        [PLIM_FIGURE_FREE] = "free",
        [PLIM_FIGURE_ALLOCATED] = "allocated",
        [PLIM_FIGURE_RESERVED] = "reserved",
        [PLIM_FIGURE_RESERVED_UNALLOCATED] = "reserved, not in use",
        [PLIM_FIGURE_PROCESS] = "this process",
        [PLIM_FIGURE_OTHER_PROCESSES] = "other processes",
        [PLIM_FIGURE_LIMIT] = "limit",
        [PLIM_FIGURE_PRIVATE_POOLS] = "in private pools",
        [PLIM_FIGURE_OTHER_ALLOCATIONS] = "other allocations",
        [PLIM_FIGURE_REQUESTED_FROM_SHAPE] = "requested, by the shape",
        [PLIM_FIGURE_SHARED_REQUIRED] = "shared memory wanted",
        [PLIM_FIGURE_SHARED_LIMIT] = "shared memory allowed",
        [PLIM_FIGURE_ACTIVE] = "active",
        [PLIM_FIGURE_ALLOCATED_PEAK] = "allocated at most",
        [PLIM_FIGURE_RESERVED_PEAK] = "reserved at most",
        [PLIM_FIGURE_INACTIVE_SPLIT] = "not releasable",
        [PLIM_FIGURE_HOST_PROCESS] = "resident memory of the process",
        [PLIM_FIGURE_HOST_VIRTUAL] = "its address space",
        [PLIM_FIGURE_HOST_USED] = "host memory in use",
        [PLIM_FIGURE_HOST_LIMIT] = "limit or threshold",
        [PLIM_FIGURE_HOST_AVAILABLE] = "available on the host",
        [PLIM_FIGURE_HOST_TOTAL] = "the host has",
    };
    return (unsigned)id < PLIM_FIGURE_PRINTED_COUNT ? names[id] : "";
}

plim_explain_axis plim_explain_axis_of(const plim_series *series)
{
    static const plim_explain_axis axes[] = {
        { "second", "seconds", 1 },       { "minute", "minutes", 60 }, { "hour", "hours", 3600 },
        { "iteration", "iterations", 1 }, { "step", "steps", 1 },      { "batch", "batches", 1 },
        { "epoch", "epochs", 1 },         { "update", "updates", 1 },
    };
    const double span = series->trend.last_step - series->trend.first_step;
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        if (series->step_name != NULL && strcmp(series->step_name, axes[i].step) == 0) {
            const size_t larger = i > 0 || span < 120 ? 0 : span < 7200 ? 1 : 2;
            return axes[i + larger];
        }
    }
    return (plim_explain_axis){ "point", "points", 1 };
}

plim_fact plim_explain_steps(const plim_explain_axis *axis, const char *name, double steps)
{
    const bool is_time = strcmp(axis->step, "second") == 0 || axis->unit > 1;
    const double number = steps / axis->unit;
    return plim_number(name, is_time ? round(number * 100) / 100 : number);
}

plim_fact plim_explain_amount(const plim_series *series, const char *name, double amount)
{
    return plim_real(series->is_percent ? PLIM_UNIT_PERCENT : PLIM_UNIT_LEVEL, name, amount);
}
