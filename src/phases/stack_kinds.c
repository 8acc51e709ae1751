/*
 * stack_kinds.c - a table of files and names, tried from the top. See stack_kinds.h.
 *
 * Paths are those of Python packages and hold for every release of PyTorch from 2.0 on; other
 * packages are named where they have optimizers, trainers or loaders of their own. Windows paths
 * are read with '\' as '/'.
 */
#include "phases/stack_kinds.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

/* What one frame says. From DECIDING on, the innermost decides what the stack does. */
typedef enum frame_says {
    SAYS_NATIVE,
    SAYS_PACKAGE, /* Python, of an installed package */
    SAYS_USER,    /* Python, anything else */
    SAYS_INIT,    /* Python, __init__ */
    SAYS_STARTS,  /* Python, where a thread or program begins */
    SAYS_DECIDING,
    SAYS_CALL = SAYS_DECIDING,
    SAYS_BUILD,
    SAYS_DATA,
    SAYS_RECOMPUTE,
    SAYS_BACKWARD,
    SAYS_ENGINE,
    SAYS_BUCKETS,
    SAYS_TOOLS,
    SAYS_ZERO_GRAD,
    SAYS_OPTIMIZER_SETUP,
    SAYS_OPTIMIZER_STATE,
    SAYS_OPTIMIZER_STEP,
} frame_says;

/* A name: "" is any, "x*" begins with x, "*x*" holds x. */
typedef struct rule {
    const char *file; /* what the path holds; "" is any */
    const char *name;
    frame_says says;
} rule;

static const rule rules[] = {
    /* What lies in torch/optim and is no optimizer. */
    { "torch/optim/lr_scheduler.py", "", SAYS_PACKAGE },
    { "torch/optim/swa_utils.py", "__init__", SAYS_BUILD },
    { "torch/optim/swa_utils.py", "", SAYS_PACKAGE },
    { "", "zero_grad", SAYS_ZERO_GRAD },
    { "torch/optim/", "_init_group", SAYS_OPTIMIZER_STATE },
    { "torch/optim/", "__init__", SAYS_OPTIMIZER_SETUP },
    { "torch/optim/", "add_param_group", SAYS_OPTIMIZER_SETUP },
    { "torch/optim/", "*load_state_dict*", SAYS_OPTIMIZER_SETUP },
    { "torch/optim/", "_process_value*", SAYS_OPTIMIZER_SETUP },
    { "torch/optim/", "", SAYS_OPTIMIZER_STEP },
    { "torch/distributed/optim/", "__init__", SAYS_OPTIMIZER_SETUP },
    { "torch/distributed/optim/", "", SAYS_OPTIMIZER_STEP },
    { "bitsandbytes/optim/", "init_state", SAYS_OPTIMIZER_STATE },
    { "bitsandbytes/optim/", "*state_buffer", SAYS_OPTIMIZER_STATE },
    { "bitsandbytes/optim/", "__init__", SAYS_OPTIMIZER_SETUP },
    { "bitsandbytes/optim/", "", SAYS_OPTIMIZER_STEP },
    { "apex/optimizers/", "__init__", SAYS_OPTIMIZER_SETUP },
    { "apex/optimizers/", "", SAYS_OPTIMIZER_STEP },
    { "apex/contrib/optimizers/", "", SAYS_OPTIMIZER_STEP },
    { "transformers/optimization.py", "step", SAYS_OPTIMIZER_STEP },
    { "transformer_engine/pytorch/optimizers/", "", SAYS_OPTIMIZER_STEP },
    { "deepspeed/ops/", "step", SAYS_OPTIMIZER_STEP },
    { "deepspeed/runtime/", "step", SAYS_OPTIMIZER_STEP },
    { "deepspeed/runtime/", "initialize_optimizer_states", SAYS_OPTIMIZER_SETUP },
    { "deepspeed/runtime/", "backward", SAYS_BACKWARD },
    { "megatron/core/optimizer/", "step*", SAYS_OPTIMIZER_STEP },
    { "fairscale/optim/", "step", SAYS_OPTIMIZER_STEP },
    { "timm/optim/", "step", SAYS_OPTIMIZER_STEP },
    { "lion_pytorch/", "step", SAYS_OPTIMIZER_STEP },
    { "galore_torch/", "step", SAYS_OPTIMIZER_STEP },
    { "torch_optimizer/", "step", SAYS_OPTIMIZER_STEP },
    { "pytorch_optimizer/", "step", SAYS_OPTIMIZER_STEP },
    { "torchao/optim/", "", SAYS_OPTIMIZER_STEP },
    { "schedulefree/", "step", SAYS_OPTIMIZER_STEP },
    { "", "_single_tensor_*", SAYS_OPTIMIZER_STEP },
    { "", "_multi_tensor_*", SAYS_OPTIMIZER_STEP },

    { "torch/amp/grad_scaler.py", "", SAYS_TOOLS },
    { "torch/cuda/amp/grad_scaler.py", "", SAYS_TOOLS },
    { "torch/nn/utils/clip_grad.py", "", SAYS_TOOLS },

    { "torch/utils/checkpoint.py", "unpack_hook", SAYS_RECOMPUTE },
    { "torch/utils/checkpoint.py", "recompute_fn", SAYS_RECOMPUTE },
    { "torch/utils/checkpoint.py", "backward", SAYS_RECOMPUTE },
    { "torch/_tensor.py", "backward", SAYS_BACKWARD },
    { "torch/autograd/__init__.py", "", SAYS_BACKWARD },
    { "torch/autograd/graph.py", "_engine_run_backward", SAYS_BACKWARD },
    { "torch/autograd/function.py", "apply", SAYS_NATIVE }, /* of either pass */
    { "torch/_functorch/", "backward", SAYS_BACKWARD },
    { "torch/_functorch/", "*compiled_bw*", SAYS_BACKWARD },
    { "torch/distributed/", "_post_backward*", SAYS_BACKWARD },
    { "torch/distributed/", "_pre_backward*", SAYS_BACKWARD },
    { "torch/distributed/", "post_backward*", SAYS_BACKWARD },
    { "torch/distributed/", "pre_backward*", SAYS_BACKWARD },

    { "torch/nn/parallel/distributed.py", "_ddp_init_helper", SAYS_BUCKETS },
    { "torch/nn/parallel/distributed.py", "_pre_forward", SAYS_BUCKETS },

    { "torch/nn/modules/module.py", "_call_impl", SAYS_CALL },
    { "torch/nn/modules/module.py", "_wrapped_call_impl", SAYS_CALL },
    { "torch/nn/modules/module.py", "inner", SAYS_CALL },
    { "torch/nn/modules/module.py", "_slow_forward", SAYS_CALL },
    { "torch/nn/modules/module.py", "__call__", SAYS_CALL },
    { "torch/nn/modules/module.py", "", SAYS_BUILD },
    { "torch/nn/modules/", "__init__", SAYS_BUILD },
    { "torch/nn/modules/", "reset_parameters", SAYS_BUILD },
    { "torch/nn/init.py", "", SAYS_BUILD },
    { "torch/nn/parameter.py", "", SAYS_BUILD },
    { "torch/serialization.py", "", SAYS_BUILD },
    { "safetensors/", "", SAYS_BUILD },
    { "torch/distributed/fsdp/", "__init__", SAYS_BUILD },
    { "torch/distributed/tensor/", "distribute_tensor", SAYS_BUILD },
    { "torch/distributed/tensor/_random.py", "", SAYS_PACKAGE },
    { "/copy.py", "deepcopy", SAYS_BUILD },
    { "", "from_pretrained", SAYS_BUILD },
    { "", "load_state_dict", SAYS_BUILD },

    { "torch/utils/data/", "", SAYS_DATA },
    { "accelerate/data_loader.py", "", SAYS_DATA },
    { "accelerate/utils/operations.py", "send_to_device", SAYS_DATA },
    { "transformers/trainer.py", "_prepare_input*", SAYS_DATA },
    { "lightning/", "batch_to_device", SAYS_DATA },
    { "pytorch_lightning/", "batch_to_device", SAYS_DATA },
    { "", "get_batch", SAYS_DATA },
    { "", "next_batch", SAYS_DATA },
    { "", "load_batch", SAYS_DATA },
    { "", "sample_batch", SAYS_DATA },
    { "", "batch_to_device", SAYS_DATA },
    { "", "collate*", SAYS_DATA },

    { "/threading.py", "*bootstrap*", SAYS_STARTS },
    { "/threading.py", "run", SAYS_STARTS },
    { "runpy", "", SAYS_STARTS },
    { "", "<module>", SAYS_STARTS },
    { "", "__init__", SAYS_INIT },
    { "site-packages/", "", SAYS_PACKAGE },
    { "dist-packages/", "", SAYS_PACKAGE },
    { "/pytorch/torch/", "", SAYS_PACKAGE },
    { "/python3", "", SAYS_PACKAGE },
    { "torchinductor", "", SAYS_PACKAGE },
    { "<frozen ", "", SAYS_PACKAGE },
};

/* Native code that only the backward pass runs: the engine's thread has these, forward has not. */
static const char *const engine_names[] = { "autograd::Engine::", "autograd::python::PythonEngine",
                                            "autograd::AccumulateGrad" };

static char path_at(const char *path)
{
    return *path == '\\' ? '/' : *path;
}

static bool path_holds(const char *path, const char *part)
{
    const size_t bytes = strlen(part);
    if (bytes == 0) {
        return true;
    }
    for (; *path != '\0'; path++) {
        size_t same = 0;
        while (same < bytes && path_at(path + same) == part[same]) {
            same++;
        }
        if (same == bytes) {
            return true;
        }
    }
    return false;
}

static bool name_is(const char *name, const char *pattern)
{
    const size_t bytes = strlen(pattern);
    if (bytes == 0) {
        return true;
    }
    if (pattern[0] != '*') {
        return pattern[bytes - 1] == '*' ? strncmp(name, pattern, bytes - 1) == 0
                                         : strcmp(name, pattern) == 0;
    }
    char part[32];
    const size_t inner = bytes - (pattern[bytes - 1] == '*' ? 2u : 1u);
    if (inner >= sizeof part) {
        return false;
    }
    memcpy(part, pattern + 1, inner);
    part[inner] = '\0';
    return strstr(name, part) != NULL;
}

static bool is_python(const char *file)
{
    const size_t bytes = strlen(file);
    return (bytes > 3 && strcmp(file + bytes - 3, ".py") == 0) || file[0] == '<' ||
           (bytes > 6 && strcmp(file + bytes - 6, ".ipynb") == 0) ||
           strstr(file, "ipykernel_") != NULL;
}

static frame_says frame_of(const plim_history *history, const plim_frame *frame)
{
    const char *file = plim_history_string(history, frame->filename, NULL);
    const char *name = plim_history_string(history, frame->name, NULL);
    if (!is_python(file)) {
        for (size_t i = 0; i < sizeof engine_names / sizeof engine_names[0]; i++) {
            if (strstr(name, engine_names[i]) != NULL) {
                return SAYS_ENGINE;
            }
        }
        return SAYS_NATIVE;
    }
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (name_is(name, rules[i].name) && path_holds(file, rules[i].file)) {
            return rules[i].says;
        }
    }
    return SAYS_USER;
}

static const uint8_t kind_of_deciding[] = {
    [SAYS_CALL] = PLIM_STACK_FORWARD,
    [SAYS_BUILD] = PLIM_STACK_BUILD,
    [SAYS_DATA] = PLIM_STACK_DATA,
    [SAYS_RECOMPUTE] = PLIM_STACK_RECOMPUTE,
    [SAYS_BACKWARD] = PLIM_STACK_BACKWARD,
    [SAYS_ENGINE] = PLIM_STACK_BACKWARD,
    [SAYS_BUCKETS] = PLIM_STACK_BUCKETS,
    [SAYS_TOOLS] = PLIM_STACK_GRADIENT_TOOLS,
    [SAYS_ZERO_GRAD] = PLIM_STACK_ZERO_GRAD,
    [SAYS_OPTIMIZER_SETUP] = PLIM_STACK_OPTIMIZER_SETUP,
    [SAYS_OPTIMIZER_STATE] = PLIM_STACK_OPTIMIZER_STATE,
    [SAYS_OPTIMIZER_STEP] = PLIM_STACK_OPTIMIZER_STEP,
};

/* What a stack's frames say together. */
typedef struct stack_says {
    frame_says deciding;  /* the innermost that decides, or SAYS_NATIVE */
    frame_says outermost; /* of Python's */
    bool in_backward;     /* some frame outside of that belongs to the backward pass */
    bool has_python;
    bool has_init;
} stack_says;

static stack_says read_stack(const uint8_t *of_frame, plim_stack stack)
{
    stack_says says = { .deciding = SAYS_NATIVE, .outermost = SAYS_NATIVE };
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        const frame_says one = (frame_says)of_frame[stack.frames[i]];
        if (one >= SAYS_DECIDING && says.deciding == SAYS_NATIVE) {
            says.deciding = one;
        }
        says.in_backward = says.in_backward || one == SAYS_RECOMPUTE || one == SAYS_BACKWARD;
        says.has_init = says.has_init || one == SAYS_INIT;
        if (one != SAYS_NATIVE && one != SAYS_ENGINE) {
            says.has_python = true;
            says.outermost = one;
        }
    }
    return says;
}

static plim_stack_kind kind_of(const uint8_t *of_frame, plim_stack stack)
{
    const stack_says says = read_stack(of_frame, stack);
    if (says.deciding == SAYS_CALL && says.in_backward) {
        return PLIM_STACK_RECOMPUTE;
    }
    if (says.deciding == SAYS_ENGINE && says.has_python && !says.in_backward) {
        return PLIM_STACK_BACKWARD;
    }
    if (says.deciding != SAYS_NATIVE) {
        return (plim_stack_kind)kind_of_deciding[says.deciding];
    }
    if (!says.has_python) {
        return PLIM_STACK_NONE;
    }
    /* A program's own thread begins in its own code. What begins in a package was called from
     * native code: a hook, in the engine's thread. */
    if (says.outermost == SAYS_PACKAGE) {
        return PLIM_STACK_BACKWARD;
    }
    return says.has_init ? PLIM_STACK_USER_INIT : PLIM_STACK_USER;
}

/*
 * Where an object is made that makes the one at hand: the frame that calls the outermost
 * __init__, or PLIM_NONE. Modules made for one model share it, whatever their depth.
 */
static uint32_t site_of(const plim_stack_kinds *kinds, const plim_history *history,
                        plim_stack stack)
{
    uint32_t site = PLIM_NONE;
    bool was_init = false;
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        if (!plim_frame_is_python(kinds, stack.frames[i])) {
            continue;
        }
        if (was_init) {
            site = stack.frames[i];
        }
        const plim_frame *frame = plim_history_frame(history, stack.frames[i]);
        was_init = strcmp(plim_history_string(history, frame->name, NULL), "__init__") == 0;
    }
    return site;
}

/*
 * What a program's own object takes while it is made is a weight if modules are made there too,
 * and may be anything (a cache of keys and values) if modules are made elsewhere only.
 */
static void judge_inits(plim_stack_kinds *kinds, const plim_history *history, uint8_t *is_site)
{
    bool has_site = false;
    for (uint32_t i = 0; i < kinds->stack_count; i++) {
        const uint32_t site = kinds->of_stack[i] == PLIM_STACK_BUILD
                                  ? site_of(kinds, history, plim_history_stack(history, i))
                                  : PLIM_NONE;
        if (site != PLIM_NONE) {
            is_site[site] = 1;
            has_site = true;
        }
    }
    for (uint32_t i = 0; has_site && i < kinds->stack_count; i++) {
        if (kinds->of_stack[i] == PLIM_STACK_USER_INIT) {
            const uint32_t site = site_of(kinds, history, plim_history_stack(history, i));
            if (site == PLIM_NONE || is_site[site] == 0) {
                kinds->of_stack[i] = PLIM_STACK_USER;
            }
        }
    }
}

plim_status plim_stack_kinds_init(plim_stack_kinds *ret_kinds, const plim_history *history,
                                  const plim_mem *mem, plim_error *err)
{
    plim_stack_kinds kinds = { .mem = mem,
                               .stack_count = plim_history_stack_count(history),
                               .frame_count = plim_history_frame_count(history) };
    kinds.of_stack = plim_mem_alloc_zeroed(mem, kinds.stack_count + 1, 1);
    kinds.of_frame = plim_mem_alloc_zeroed(mem, kinds.frame_count + 1, 1);
    uint8_t *is_site = plim_mem_alloc_zeroed(mem, kinds.frame_count + 1, 1);
    if (kinds.of_stack == NULL || kinds.of_frame == NULL || is_site == NULL) {
        plim_mem_free(mem, is_site, kinds.frame_count + 1, 1);
        plim_stack_kinds_deinit(&kinds);
        return plim_fail_memory(err, "reading stacks");
    }
    for (uint32_t i = 0; i < kinds.frame_count; i++) {
        kinds.of_frame[i] = (uint8_t)frame_of(history, plim_history_frame(history, i));
    }
    for (uint32_t i = 0; i < kinds.stack_count; i++) {
        kinds.of_stack[i] = (uint8_t)kind_of(kinds.of_frame, plim_history_stack(history, i));
    }
    judge_inits(&kinds, history, is_site);
    plim_mem_free(mem, is_site, kinds.frame_count + 1, 1);
    *ret_kinds = kinds;
    return PLIM_OK;
}

void plim_stack_kinds_deinit(plim_stack_kinds *kinds)
{
    if (kinds->mem == NULL) {
        return;
    }
    plim_mem_free(kinds->mem, kinds->of_stack, kinds->stack_count + 1, 1);
    plim_mem_free(kinds->mem, kinds->of_frame, kinds->frame_count + 1, 1);
    *kinds = (plim_stack_kinds){ 0 };
}

bool plim_frame_is_python(const plim_stack_kinds *kinds, uint32_t frame)
{
    return frame < kinds->frame_count && kinds->of_frame[frame] != SAYS_NATIVE &&
           kinds->of_frame[frame] != SAYS_ENGINE;
}

bool plim_frame_is_module_call(const plim_stack_kinds *kinds, uint32_t frame)
{
    return frame < kinds->frame_count && kinds->of_frame[frame] == SAYS_CALL;
}
