/*
 * fixes_not_oom.c - for errors that speak of memory and are something else: what, and what then.
 */
#include "advice/fix.h"

#define NOT_OOM PLIM_VERDICT_BIT(PLIM_VERDICT_NOT_OOM)

#define TOPIC(what)  PLIM_TOPIC_BIT(PLIM_TOPIC_##what)
#define FAMILY(what) PLIM_FAMILY_BIT(PLIM_FAMILY_##what)

#define AMD (FAMILY(PYTORCH_ROCM) | FAMILY(HIP))
/* Families whose kernels are CUDA's, or may be. */
#define CUDA                                                                                 \
    (~(AMD | FAMILY(PYTORCH_MPS) | FAMILY(PYTORCH_NPU) | FAMILY(PYTORCH_XPU) | FAMILY(TPU) | \
       FAMILY(MLX) | FAMILY(METAL) | FAMILY(VULKAN) | FAMILY(OPENCL) | FAMILY(SYCL) |        \
       FAMILY(DIRECTML) | FAMILY(HOST)))

static const plim_fix fixes[] = {
    {
        .id = "smaller-kernel-blocks",
        .verdicts = NOT_OOM,
        .topics = TOPIC(KERNEL),
        .text = "One kernel wants more shared memory, registers or threads than a multiprocessor "
                "has: use smaller blocks, then fewer stages. No memory of the device is missing.",
        .command = "triton.Config({\"BLOCK_M\": 64, \"BLOCK_N\": 64}, num_stages=1, num_warps=4)",
        .source = "Triton documentation; CUDA programming guide, compute capabilities",
    },
    {
        .id = "tpu-scratch",
        .verdicts = NOT_OOM,
        .topics = TOPIC(SCRATCH),
        .text = "The scratch memory of the chip is full, not its hbm: use smaller blocks in the "
                "kernel, or let the compiler use more of it.",
        .command = "export LIBTPU_INIT_ARGS=--xla_tpu_scoped_vmem_limit_kib=65536",
        .source = "JAX documentation, Pallas on TPU",
    },
    {
        .id = "disk-full",
        .verdicts = NOT_OOM,
        .topics = TOPIC(DISK),
        .text = "The device without space is a disk: make room, or point TMPDIR and the caches "
                "(HF_HOME, TORCH_HOME) to another one.",
        .command = "df -h",
        .source = "errno 28, ENOSPC",
    },
    {
        .id = "launch-blocking",
        .verdicts = NOT_OOM,
        .topics = TOPIC(ERROR),
        .families = CUDA,
        .text = "Another error of the device, which shows up later than it happens: run again so "
                "that the stack trace points to its cause.",
        .command = "export CUDA_LAUNCH_BLOCKING=1",
        .source = "CUDA programming guide, environment variables",
    },
    {
        .id = "compute-sanitizer",
        .verdicts = NOT_OOM,
        .topics = TOPIC(ERROR),
        .families = CUDA,
        .text = "For illegal or misaligned accesses, have every access checked; it is many times "
                "slower.",
        .command = "compute-sanitizer --tool memcheck python train.py",
        .source = "Compute Sanitizer documentation",
    },
    {
        .id = "serialize-kernels",
        .verdicts = NOT_OOM,
        .topics = TOPIC(ERROR),
        .families = AMD,
        .text = "Another error of the device, which shows up later than it happens: run again so "
                "that the stack trace points to its cause.",
        .command = "export AMD_SERIALIZE_KERNEL=3",
        .source = "HIP documentation, debugging",
    },
    {
        .id = "run-on-cpu",
        .verdicts = NOT_OOM,
        .topics = TOPIC(ERROR),
        .text = "Run the failing step on the CPU: an index out of range says there which one.",
        .source = "PyTorch forums and documentation, device-side assert",
    },
    {
        .id = "fewer-slots",
        .verdicts = NOT_OOM,
        .topics = TOPIC(SLOTS),
        .text = "What ran out is counted in tokens, slots or elements, not in bytes: allow fewer "
                "requests at a time or shorter ones, or set the fixed size higher.",
        .source = "documentation of the server that printed it",
    },
    {
        .id = "only-a-warning",
        .verdicts = NOT_OOM,
        .topics = TOPIC(WARNING),
        .text = "Nothing failed: the program tried something large, went without it and goes on. "
                "If it failed later, that message counts.",
        .source = "the text itself",
    },
    {
        .id = "only-a-report",
        .verdicts = NOT_OOM,
        .topics = TOPIC(REPORT),
        .text = "This is a report of memory in use, not an error; look for what failed around it.",
        .source = "the text itself",
    },
    {
        .id = "place-fewer-layers",
        .verdicts = NOT_OOM,
        .topics = TOPIC(PLACEMENT),
        .text = "The plan of layers over devices does not fit the GPU, nothing was allocated yet: "
                "free the GPU, take fewer bits, or allow some layers on the CPU in 32 bits.",
        .command = "config = BitsAndBytesConfig(load_in_8bit=True, "
                   "llm_int8_enable_fp32_cpu_offload=True)",
        .source = "Transformers documentation, bitsandbytes",
    },
    {
        .id = "not-memory",
        .verdicts = NOT_OOM,
        .place = PLIM_FIX_RESORT,
        .text = "No memory ran out here: read the message for what it says, nothing that saves "
                "memory will help.",
        .source = "the text itself",
    },
};

const plim_fix_list plim_fixes_not_oom = { fixes, sizeof fixes / sizeof fixes[0] };
