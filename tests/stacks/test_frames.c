/*
 * test_frames.c - whose code a frame is and what it does, by paths and names seen in recordings.
 */
#include "harness.h"
#include "stacks/frames.h"

static const struct {
    const char *filename;
    const char *name;
    uint32_t line;
    plim_frame_owner owner;
} cases[] = {
    { "/home/u/train.py", "step", 12, PLIM_FRAME_USER },
    { "train.py", "<module>", 3, PLIM_FRAME_USER },
    { "./model/torch_utils.py", "f", 3, PLIM_FRAME_USER },
    { "/home/u/torch/model.py", "forward", 3, PLIM_FRAME_USER },
    { "D:\\Dev\\cs336\\model.py", "forward", 39, PLIM_FRAME_USER },
    { "<string>", "<module>", 1, PLIM_FRAME_USER },
    { "<stdin>", "<module>", 1, PLIM_FRAME_USER },
    { "<ipython-input-3-8e1f>", "<module>", 4, PLIM_FRAME_USER },
    { "/tmp/ipykernel_2591349/2415349784.py", "<module>", 37, PLIM_FRAME_USER },
    { "/home/u/train.py", "Foo::bar", 12, PLIM_FRAME_USER }, /* it has a line */
    { "/opt/conda/lib/python3.10/site-packages/torch/nn/modules/linear.py", "forward", 116,
      PLIM_FRAME_TORCH },
    { "/usr/lib/python3/dist-packages/torch/_tensor.py", "backward", 5, PLIM_FRAME_TORCH },
    { "C:\\Users\\u\\AppData\\Roaming\\Python\\Python311\\site-packages\\torch\\optim\\adam.py",
      "f", 5, PLIM_FRAME_TORCH },
    { "C:\\Venv\\Lib\\Site-Packages\\Torch\\_ops.py", "f", 5, PLIM_FRAME_TORCH },
    { "/home/dev/pytorch/torch/optim/sgd.py", "step", 5, PLIM_FRAME_TORCH },
    { "/home/me/src/torch/_dynamo/eval_frame.py", "f", 5, PLIM_FRAME_TORCH },
    { "torch/nn/modules/module.py", "_call_impl", 5, PLIM_FRAME_TORCH },
    { "<eval_with_key>.12", "forward", 5, PLIM_FRAME_TORCH },
    { "/tmp/torchinductor_u/ab/cabcd.py", "call", 5, PLIM_FRAME_TORCH },
    { "/usr/lib/python3.11/site-packages/transformers/trainer.py", "train", 5, PLIM_FRAME_LIBRARY },
    { "/usr/local/lib/python3.10/dist-packages/torchvision/models.py", "f", 5, PLIM_FRAME_LIBRARY },
    { "/usr/lib/python3.11/contextlib.py", "__exit__", 5, PLIM_FRAME_PYTHON },
    { "/usr/lib64/python3.9/threading.py", "run", 5, PLIM_FRAME_PYTHON },
    { "C:\\Python310\\lib\\threading.py", "run", 5, PLIM_FRAME_PYTHON },
    { "C:\\ProgramData\\Anaconda3\\lib\\runpy.py", "run", 5, PLIM_FRAME_PYTHON },
    { "C:\\miniconda3\\envs\\ml\\lib\\runpy.py", "run", 5, PLIM_FRAME_PYTHON },
    { "<frozen runpy>", "_run_code", 5, PLIM_FRAME_PYTHON },
    { "<frozen importlib._bootstrap>", "f", 5, PLIM_FRAME_PYTHON },
    { "??", "at::native::empty", 0, PLIM_FRAME_NATIVE },
    { "", "f", 0, PLIM_FRAME_NATIVE },
    { "anything", "c10::Allocator::allocate", 0, PLIM_FRAME_NATIVE },
    { "/pytorch/aten/src/ATen/native/Linear.cpp", "f", 60, PLIM_FRAME_NATIVE },
    { "Kernel.cu", "f", 60, PLIM_FRAME_NATIVE },
    { "/usr/include/c++/12/functional.h", "f", 60, PLIM_FRAME_NATIVE },
    { "./misc/../sysdeps/unix/sysv/linux/x86_64/clone3.S", "clone3", 81, PLIM_FRAME_NATIVE },
    { "thread48.o", "execute_native_thread_routine", 0, PLIM_FRAME_NATIVE },
    { "/lib/x86_64-linux-gnu/libc.so.6", "clone", 0, PLIM_FRAME_NATIVE },
    { "libtorch_python.so", "f", 0, PLIM_FRAME_NATIVE },
    { "/home/u/bin/train", "main", 0, PLIM_FRAME_NATIVE }, /* a C program without a line table */
    { "/home/u/bin/train", "_start", 0, PLIM_FRAME_NATIVE },
    { "/home/u/train-2.0", "step", 0, PLIM_FRAME_NATIVE },
    { "C:\\bin\\train.exe", "main", 0, PLIM_FRAME_NATIVE },
    { "/usr/bin/python3.11", "_PyEval_EvalFrameDefault", 0, PLIM_FRAME_NATIVE },
    { "train", "_start", 0, PLIM_FRAME_NATIVE },
    { "train", "__libc_start_main@@GLIBC_2.34", 0, PLIM_FRAME_NATIVE },
    { "train", "__libc_start_call_main", 0, PLIM_FRAME_NATIVE },
    { "train", "_start_of_step", 0, PLIM_FRAME_USER },
    { "/home/u/train.py", "_start", 7, PLIM_FRAME_USER },
    { "/home/u/train.py", "step", 0, PLIM_FRAME_USER },
    { "/home/u/kernel.pyx", "step", 0, PLIM_FRAME_USER },
    { "D:\\Train.PY", "step", 0, PLIM_FRAME_USER },
    { "/home/u/model", "step", 7, PLIM_FRAME_USER }, /* it has a line */
    { "<string>", "<module>", 0, PLIM_FRAME_USER },
};

static void frames_belong_to_whom_we_wrote_down(void)
{
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].filename);
        T_EQ_U64(plim_frame_owner_of(cases[i].filename, cases[i].name, cases[i].line),
                 cases[i].owner);
    }
}

static void a_path_made_to_be_slow_is_not(void)
{
    static char path[1 << 20];
    for (size_t i = 0; i + 1 < sizeof path; i++) {
        path[i] = "/envs/so"[i % 8];
    }
    T_EQ_U64(plim_frame_owner_of(path, "f", 1), PLIM_FRAME_USER);
    memset(path, '/', sizeof path - 1);
    T_EQ_U64(plim_frame_owner_of(path, "f", 1), PLIM_FRAME_USER);
}

#define SITE "/venv/lib/python3.12/site-packages"

static const struct {
    const char *file;
    const char *function;
    plim_frame_role role;
} roles[] = {
    { "/home/u/train.py", "step", PLIM_ROLE_NONE },
    { "/home/u/train.py", "__init__", PLIM_ROLE_INIT },
    { "/home/u/train.py", "<module>", PLIM_ROLE_START },
    { "/home/u/train.py", "collate_fn", PLIM_ROLE_DATA },
    { SITE "/torch/nn/modules/module.py", "_call_impl", PLIM_ROLE_CALL },
    { SITE "/torch/nn/modules/module.py", "_apply", PLIM_ROLE_BUILD },
    { SITE "/torch/nn/modules/linear.py", "__init__", PLIM_ROLE_BUILD },
    { SITE "/torch/nn/modules/linear.py", "forward", PLIM_ROLE_NONE },
    { SITE "/torch/utils/data/_utils/fetch.py", "fetch", PLIM_ROLE_DATA },
    { SITE "/torch/utils/checkpoint.py", "recompute_fn", PLIM_ROLE_RECOMPUTE },
    { SITE "/torch/utils/checkpoint.py", "checkpoint", PLIM_ROLE_NONE },
    { SITE "/torch/_tensor.py", "backward", PLIM_ROLE_BACKWARD },
    { SITE "/torch/_functorch/_aot_autograd/runtime_wrappers.py", "call_compiled_bw",
      PLIM_ROLE_BACKWARD },
    { SITE "/torch/autograd/function.py", "apply", PLIM_ROLE_EITHER },
    { SITE "/torch/nn/parallel/distributed.py", "_ddp_init_helper", PLIM_ROLE_BUCKETS },
    { SITE "/torch/nn/utils/clip_grad.py", "clip_grad_norm_", PLIM_ROLE_GRADIENT_TOOLS },
    { SITE "/torch/optim/optimizer.py", "zero_grad", PLIM_ROLE_ZERO_GRAD },
    { SITE "/torch/optim/adam.py", "_init_group", PLIM_ROLE_OPTIMIZER_STATE },
    { SITE "/torch/optim/optimizer.py", "_load_state_dict_pre", PLIM_ROLE_OPTIMIZER_SETUP },
    { SITE "/torch/optim/adam.py", "step", PLIM_ROLE_OPTIMIZER_STEP },
    { SITE "/torch/optim/lr_scheduler.py", "step", PLIM_ROLE_NONE },
    { SITE "/bitsandbytes/optim/optimizer.py", "get_state_buffer", PLIM_ROLE_OPTIMIZER_STATE },
    { "C:\\Python310\\Lib\\site-packages\\torch\\optim\\adam.py", "step",
      PLIM_ROLE_OPTIMIZER_STEP },
    { "C:\\Python310\\Lib\\threading.py", "_bootstrap_inner", PLIM_ROLE_START },
    { "<frozen runpy>", "_run_code", PLIM_ROLE_START },
    { "torch/optim/adam.py", "step", PLIM_ROLE_OPTIMIZER_STEP },
    { "/home/u/mytorch/optim/adam.py", "step", PLIM_ROLE_NONE }, /* a folder's whole name */
    { "/home/u/runpyramid.py", "run", PLIM_ROLE_NONE },
    { "??", "torch::autograd::Engine::thread_main(...)", PLIM_ROLE_ENGINE },
    { "??", "torch::autograd::AccumulateGrad::apply(...)", PLIM_ROLE_ENGINE },
    { "", "autograd::engine::evaluate_function: MmBackward0", PLIM_ROLE_ENGINE },
    { "??", "at::native::empty(...)", PLIM_ROLE_NONE },
    { "/src/zero.cpp", "zero_grad", PLIM_ROLE_NONE }, /* roles of Python are Python's */
};

static void frames_do_what_they_did(void)
{
    for (size_t i = 0; i < T_COUNT(roles); i++) {
        T_CASE("%s of %s", roles[i].function, roles[i].file);
        const plim_frame_owner owner = plim_frame_owner_of(roles[i].file, roles[i].function, 7);
        T_EQ_U64(plim_frame_role_of(roles[i].file, roles[i].function, owner), roles[i].role);
    }
}

static void a_native_frame_names_its_stack_or_not(void)
{
    static const struct {
        const char *function;
        plim_frame_label label;
    } labels[] = {
        { "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)",
          PLIM_LABEL_BACKWARD_NODE },
        { "torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)",
          PLIM_LABEL_ACCUMULATE_GRAD },
        { "at::_ops::mm::call(at::Tensor const&, at::Tensor const&)", PLIM_LABEL_OPERATOR },
        { "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(...)",
          PLIM_LABEL_MACHINERY },
        { "torch::unwind::unwind()", PLIM_LABEL_MACHINERY },
        { "clone3", PLIM_LABEL_OTHER },
        { "", PLIM_LABEL_OTHER },
    };
    for (size_t i = 0; i < T_COUNT(labels); i++) {
        T_CASE("%s", labels[i].function);
        T_EQ_U64(plim_frame_label_of(labels[i].function), labels[i].label);
    }
}

static void a_frame_shows_a_technique_or_none(void)
{
    static const struct {
        const char *file;
        const char *function;
        plim_frame_technique technique;
    } frames[] = {
        { SITE "/torch/utils/checkpoint.py", "checkpoint", PLIM_TECHNIQUE_CHECKPOINTING },
        { SITE "/torch/autograd/graph.py", "pack_to_cpu", PLIM_TECHNIQUE_OFFLOADING },
        { SITE "/torch/autograd/graph.py", "pack_hook", PLIM_TECHNIQUE_NONE },
        { SITE "/peft/tuners/layer.py", "forward", PLIM_TECHNIQUE_LORA },
        { SITE "/torch/distributed/fsdp/_fully_shard/_fsdp_param.py", "init_sharded_param",
          PLIM_TECHNIQUE_SHARDING },
        { SITE "/torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py", "unshard",
          PLIM_TECHNIQUE_GATHERING },
        { SITE "/torch/distributed/distributed_c10d.py", "all_reduce", PLIM_TECHNIQUE_COLLECTIVES },
        { SITE "/torch/nn/parallel/distributed.py", "forward", PLIM_TECHNIQUE_REPLICAS },
        { SITE "/torch/optim/adamw.py", "_multi_tensor_adamw", PLIM_TECHNIQUE_FOREACH },
        { SITE "/torch/optim/adamw.py", "step", PLIM_TECHNIQUE_ADAM },
        { SITE "/transformers/optimization.py", "Adafactor.step", PLIM_TECHNIQUE_ADAFACTOR },
        { SITE "/bitsandbytes/optim/optimizer.py", "step", PLIM_TECHNIQUE_EIGHT_BIT },
        { SITE "/torch/nn/functional.py", "cross_entropy", PLIM_TECHNIQUE_CROSS_ENTROPY },
        { SITE "/torch/nn/functional.py", "scaled_dot_product_attention",
          PLIM_TECHNIQUE_ATTENTION },
        { "/home/u/train.py", "step", PLIM_TECHNIQUE_NONE },
    };
    for (size_t i = 0; i < T_COUNT(frames); i++) {
        T_CASE("%s of %s", frames[i].function, frames[i].file);
        T_EQ_U64(plim_frame_technique_of(frames[i].file, frames[i].function), frames[i].technique);
    }
}

T_MAIN(T_TEST(a_frame_shows_a_technique_or_none), T_TEST(frames_belong_to_whom_we_wrote_down),
       T_TEST(a_path_made_to_be_slow_is_not), T_TEST(frames_do_what_they_did),
       T_TEST(a_native_frame_names_its_stack_or_not))
