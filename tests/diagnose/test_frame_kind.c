/*
 * test_frame_kind.c - whose code a frame is, by paths seen in recordings.
 */
#include "diagnose/frame_kind.h"
#include "harness.h"

static const struct {
    const char *filename;
    const char *name;
    uint32_t line;
    plim_frame_kind kind;
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
        T_EQ_U64(plim_frame_kind_of(cases[i].filename, cases[i].name, cases[i].line),
                 cases[i].kind);
    }
}

static void a_path_made_to_be_slow_is_not(void)
{
    static char path[1 << 20];
    for (size_t i = 0; i + 1 < sizeof path; i++) {
        path[i] = "/envs/so"[i % 8];
    }
    T_EQ_U64(plim_frame_kind_of(path, "f", 1), PLIM_FRAME_USER);
    memset(path, '/', sizeof path - 1);
    T_EQ_U64(plim_frame_kind_of(path, "f", 1), PLIM_FRAME_USER);
}

T_MAIN(T_TEST(frames_belong_to_whom_we_wrote_down), T_TEST(a_path_made_to_be_slow_is_not))
