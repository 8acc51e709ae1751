/*
 * places.c - the frames of places. See places.h.
 */
#include "traces/places.h"

#define SITE "/opt/conda/lib/python3.11/site-packages/"

/* Frames of one kind of file each. */
#define TORCH(file, name, line)        \
    {                                  \
        SITE "torch/" file, name, line \
    }
#define SHARD(file, name, line)                                      \
    {                                                                \
        SITE "torch/distributed/fsdp/_fully_shard/" file, name, line \
    }
#define HUB(file, name, line)                 \
    {                                         \
        SITE "transformers/" file, name, line \
    }
#define ENGINE(name, line)                                   \
    {                                                        \
        SITE "engine/worker/gpu_model_runner.py", name, line \
    }
#define MODEL(file, name, line)              \
    {                                        \
        "/workspace/model/" file, name, line \
    }
#define SCRIPT(name, line)               \
    {                                    \
        "/workspace/main.py", name, line \
    }
#define ENGINE_CPP                                            \
    {                                                         \
        "??", "torch::autograd::Engine::evaluate_function", 0 \
    }
#define MODULE_CALL                                    \
    TORCH("nn/modules/module.py", "_call_impl", 1784), \
        TORCH("nn/modules/module.py", "_wrapped_call_impl", 1773)
#define LINEAR TORCH("nn/modules/linear.py", "forward", 125), MODULE_CALL

#define TRACE_PLACE_DEFINED(name, ...)                                 \
    static const plim_foreign_frame name##_frames[] = { __VA_ARGS__ }; \
    const trace_place name = { name##_frames, sizeof name##_frames / sizeof name##_frames[0] };
TRACE_PLACES(TRACE_PLACE_DEFINED)
