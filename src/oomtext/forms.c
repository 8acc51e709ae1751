/*
 * forms.c - THE table of forms: one place to add the next.
 *
 * A row is found by its anchors, which the scanner looks for in every byte of the input; `with`,
 * `also` and `without` are looked for around them. Of all rows that fit, the first one wins, so
 * telling rows stand before plain ones. Figures are read by the clauses of its sets (clauses.c).
 * Phrases are compared without blanks, punctuation and case. Sources: docs/design/explain.md.
 */
#include "oomtext/form.h"

#define S(figure) PLIM_SAYS(PLIM_FIGURE_##figure)

/* Where "tried to allocate" is more than prose. */
#define TORCH_WORDS                                                                   \
    "total capac|already allocated|reserved in total|is allocated by|is reserved by|" \
    "out of memory|tried to allocate more than"
#define TORCH_ANCHORS "tried to allocate|total capac|reserved in total by|is allocated by pytorch"
#define TORCH_2       "has a total|of which|is allocated by|is reserved by"

#define ROW(name, framework, versions, family, topic) \
    name, framework, versions, PLIM_FAMILY_##family, PLIM_TOPIC_##topic

static const plim_form forms[] = {
    /* --- not memory, and said so beside it --- */
    { ROW("tf-bfc-not-a-failure", "tensorflow", "", TENSORFLOW, WARNING),
      .anchors = "memory trying to allocate|not a failure but",
      .with = "caller indicates that this is not a failure|not a failure but this may mean",
      .sets = PLIM_CLAUSES_BFC, .before = 200, .after = 400 },
    { ROW("triton-shared-memory", "triton", "", TRITON, KERNEL),
      .anchors = "out of resource shared memory|errors outofresources", .with = "shared memory",
      .sets = PLIM_CLAUSES_KERNEL, .before = 60, .after = 300 },
    { ROW("triton-resources", "triton", "", TRITON, KERNEL),
      .anchors = "out of resource threads|out of resource tensor memory|errors outofresources",
      .sets = PLIM_CLAUSES_KERNEL, .before = 60, .after = 300 },
    { ROW("ptx-shared-memory", "cuda-app", "", CUDA, KERNEL),
      .anchors = "uses too much shared data", .after = 200 },
    { ROW("xla-tpu-vmem", "jax-tpu", "", TPU, SCRATCH),
      .anchors = "in memory space vmem|in memory space smem|in memory space sflag",
      .sets = PLIM_CLAUSES_TPU, .before = 250, .after = 200 },
    { ROW("negative-launch-resources", "cuda-app", "", CUDA, KERNEL),
      .anchors = "too many resources requested for launch|cudaerrorlaunchoutofresources|"
                 "cuda_error_launch_out_of_resources|cuerror 701|error code 701",
      .after = 80 },
    { ROW("flashinfer-workspace", "flashinfer", "", VLLM, SLOTS),
      .anchors = "out of workspace memory in aligned|out of workspace memory", .after = 200 },
    { ROW("sglang-slots", "sglang", "", SGLANG, SLOTS),
      .anchors = "alloc_req_slots runs out of memory|alloc_req_slots|"
                 "prefill out of memory try to lower|decode out of memory try to lower",
      .after = 200 },
    { ROW("kv-slots", "llama.cpp", "", LLAMA_CPP, SLOTS),
      .anchors = "failed to find a memory slot for batch|failed to find free space in the kv cache|"
                 "could not find a kv slot|no kv slot",
      .after = 120 },
    { ROW("onnxruntime-shape", "onnxruntime", "", ONNXRUNTIME, SLOTS),
      .anchors = "not enough space expected", .after = 120 },
    { ROW("transformers-modules-dispatched", "transformers", "", PYTORCH, PLACEMENT),
      .anchors = "some modules are dispatched on the cpu|make sure you have enough gpu ram",
      .after = 500 },
    { ROW("negative-disk-full", "system", "", ANY, DISK), .anchors = "no space left on device",
      .after = 60 },
    { ROW("nccl-tests-max-bytes", "nccl-tests", "", CUDA, REPORT),
      .anchors = "reducing maxbytes to", .with = "memory limitation", .after = 100,
      .flags = PLIM_FORM_REPORT },
    { ROW("ggml-metal-follower", "llama.cpp", "", METAL, ERROR),
      .anchors = "kiogpucommandbuffercallbackerrorsubmissionsignored|"
                 "ignored for causing prior excessive gpu errors",
      .after = 80 },
    { ROW("mlx-metal-error", "mlx", "", METAL, ERROR),
      .anchors = "kiogpucommandbuffercallbackerrortimeout|"
                 "kiogpucommandbuffercallbackerrorinnocentvictim|"
                 "kiogpucommandbuffercallbackerrorpagefault|"
                 "kiogpucommandbuffercallbackerrorimpactinginteractivity|"
                 "kiogpucommandbuffercallbackerrorhang",
      .after = 80 },

    /* --- the host's memory, in words that also speak of devices --- */
    { ROW("tf-pinned-host", "tensorflow", "", TENSORFLOW, HOST_PINNED),
      .anchors = "failed to alloc|could not allocate pinned host memory",
      .with = "bytes on host|pinned host memory", .sets = PLIM_CLAUSES_HOST, .before = 100,
      .after = 200 },
    { ROW("ggml-pinned-host", "llama.cpp", "", LLAMA_CPP, HOST_PINNED),
      .anchors = "of pinned memory", .with = "failed to allocate", .sets = PLIM_CLAUSES_HOST,
      .before = 120, .after = 80 },
    { ROW("tf-oom-shape-cpu", "tensorflow", "", TENSORFLOW, HOST_RAM),
      .anchors = "oom when allocating tensor",
      .with = "device cpu|by allocator cpu|allocator mklcpu|gpu_host_bfc|allocator mkl|by "
              "allocator cuda_host_bfc",
      .sets = PLIM_CLAUSES_TF, .before = 20, .after = 500 },
    { ROW("tf-bfc-ran-out-cpu", "tensorflow", "", TENSORFLOW, HOST_RAM),
      .anchors = "memory trying to allocate",
      .with = "allocator cpu|allocator mklcpu|gpu_host_bfc|cuda_host_bfc|xla_gpu_host",
      .sets = PLIM_CLAUSES_BFC, .before = 100, .after = 300 },
    { ROW("pytorch-cpu-allocator", "pytorch", "", PYTORCH, HOST_RAM),
      .anchors = "defaultcpuallocator|enforce fail at alloc_cpu|enforce fail at cpuallocator|"
                 "posix_memalign|cpu allocator",
      .with = "tried to allocate|12 vs 0|cant allocate memory|not enough memory|error code 12",
      .sets = PLIM_CLAUSES_HOST, .before = 80, .after = 400 },
    { ROW("th-host-alloc", "torch7", "", PYTORCH, HOST_RAM),
      .anchors = "torch not enough memory|buy new ram|you tried to reallocate",
      .sets = PLIM_CLAUSES_HOST, .before = 120, .after = 160 },
    { ROW("numpy-unable-to-allocate", "numpy", "", HOST, HOST_RAM),
      .anchors = "unable to allocate|arraymemoryerror",
      .with = "for an array|array with shape|arraymemoryerror", .sets = PLIM_CLAUSES_HOST,
      .before = 40, .after = 160 },
    { ROW("ollama-system-memory", "ollama", "", OLLAMA, HOST_RAM),
      .anchors = "requires more system memory", .sets = PLIM_CLAUSES_OLLAMA, .before = 20,
      .after = 120 },
    { ROW("host-shm", "pytorch", "", PYTORCH, HOST_SHM),
      .anchors = "workers are out of shared memory|killed by signal bus error|"
                 "insufficient shared memory|unable to allocate shared memory|out of shared memory",
      .with = "dataloader|shm|bus error|shared memory limit|shared memory shm|dev shm",
      .before = 120, .after = 200 },
    { ROW("host-enomem-mmap", "pytorch", "", PYTORCH, HOST_MAPS), .anchors = "unable to mmap",
      .with = "cannot allocate memory", .sets = PLIM_CLAUSES_HOST, .after = 300 },
    { ROW("linux-oom-killer", "linux", "", HOST, HOST_KILLED),
      .anchors = "killed process|oom reaper reaped process|oom kill constraint|invoked oom killer|"
                 "memory cgroup out of memory",
      .with = "memory killed process|anon rss|total vm|reaped process|invoked oom killer|"
              "cgroup out of memory|oom kill constraint",
      .before = 100, .after = 300 },
    { ROW("slurm-oom-kill", "slurm", "", HOST, HOST_KILLED),
      .anchors = "slurmstepd|slurmd|oom kill event|oomkill event",
      .with = "oom kill event|oom_kill event|oom killed|out of memory handler|"
              "exceeded memory limit|exceeded job memory limit|exceeded step memory limit",
      .before = 20, .after = 140 },
    { ROW("slurm-task", "slurm", "", HOST, HOST_KILLED), .anchors = "srun error",
      .with = "out of memory|oom killed|out_of_memory", .after = 60 },
    { ROW("ray-node-memory", "ray", "", HOST, HOST_KILLED),
      .anchors = "node running low on memory|killed due to memory pressure|"
                 "killed due to the node running low|memory on the node",
      .with = "killed due to|running low on memory|was killed|ray", .before = 200, .after = 300 },
    { ROW("ray-memory-threshold", "ray", "", HOST, HOST_KILLED),
      .anchors = "exceeds the memory usage threshold|ray killed this worker|rayoutofmemoryerror",
      .before = 200, .after = 300 },
    { ROW("killed-by-signal", "system", "", HOST, HOST_KILLED),
      .anchors = "return code 9|exitcode 9|returncode 9|exit code 137|exited with code 137|"
                 "exit status 137|exit code 9|signals sigkill 9|signal 9 sigkill|sigkill 9",
      .with = "sigkill|137|code 9|exitcode 9", .without = "exit code 0", .before = 20, .after = 60,
      .flags = PLIM_FORM_SIGNAL },
    { ROW("kubernetes-oom-killed", "kubernetes", "", HOST, HOST_KILLED), .anchors = "oomkilled",
      .before = 10, .after = 80, .flags = PLIM_FORM_PROSE },
    { ROW("host-array", "unknown", "", HOST, HOST_RAM), .anchors = "bytes for array",
      .with = "failed to allocate", .sets = PLIM_CLAUSES_HOST, .before = 80, .after = 60 },
    { ROW("node-heap", "node", "", HOST, HOST_HEAP),
      .anchors = "javascript heap out of memory|ineffective mark compacts near heap limit|"
                 "reached heap limit allocation failed",
      .before = 80, .after = 200 },
    { ROW("jvm-native-memory", "jvm", "", HOST, HOST_HEAP),
      .without = "rmm|cudf|cuda error|cudaerror|gpu oom|gpuretryoom|gpu outofmemory",
      .anchors = "insufficient memory for the java runtime|java.lang.outofmemoryerror|"
                 "native memory allocation mmap failed|native memory allocation malloc failed",
      .sets = PLIM_CLAUSES_HOST, .before = 400, .after = 300 },
    { ROW("ptx-compiler-memory", "ptxas", "", HOST, HOST_RAM),
      .anchors = "fatal memory allocation failure|cc1plus out of memory|virtual memory exhausted",
      .before = 20, .after = 60 },
    { ROW("vulkan-host", "vulkan", "", VULKAN, HOST_RAM),
      .anchors = "error_out_of_host_memory|outofmemory host|vk_error_out_of_host_memory|"
                 "cl_out_of_host_memory",
      .before = 200, .after = 60 },
    { ROW("opencv-host-alloc", "opencv", "", HOST, HOST_RAM),
      .anchors = "4 insufficient memory|cv outofmemoryerror|alloc.cpp",
      .with = "insufficient memory|cv outofmemoryerror", .also = "opencv|cv2|cv error|alloc.cpp",
      .without = "cuda|gpumat|modules gpu|ocl|opencl", .sets = PLIM_CLAUSES_HOST, .before = 160,
      .after = 200 },
    { ROW("cuda-host-alloc", "cuda-app", "", CUDA, HOST_PINNED),
      .anchors = "cudahostalloc|cumemhostalloc|cudamallochost|cumemallochost|"
                 "cudahostregister|cumemhostregister",
      .with = "out of memory|memoryallocation|failed", .before = 100, .after = 120 },

    /* --- PyTorch --- */
    { ROW("pytorch-1EB", "pytorch", "", PYTORCH, OVERFLOW),
      .anchors = "tried to allocate more than 1eb", .before = 60, .after = 60 },
    { ROW("pytorch-preemptive", "pytorch", "2.12 and later", PYTORCH, CAP),
      .anchors = "allocation was preemptively rejected|exceed per_process_memory_fraction",
      .sets = PLIM_CLAUSES_TORCH, .before = 100, .after = 300 },
    { ROW("ipex-4GB-limit", "pytorch-xpu", "", PYTORCH_XPU, BUFFER_MAX),
      .anchors = "memory block with size larger than", .sets = PLIM_CLAUSES_TORCH, .before = 60,
      .after = 400 },
    { ROW("pytorch-mps", "pytorch-mps", "1.12 and later", PYTORCH_MPS, WATERMARK),
      .anchors = "mps backend out of memory|mps allocated", .sets = PLIM_CLAUSES_MPS, .before = 60,
      .after = 500 },
    { ROW("pytorch-cudamallocasync", "pytorch", "1.13 and later", PYTORCH_ASYNC, ASYNC_POOL),
      .anchors = "would exceed allowed memory|free according to cuda|currently allocated",
      .with = "would exceed allowed memory|free according to cuda", .sets = PLIM_CLAUSES_ASYNC,
      .before = 80, .after = 700 },
    { ROW("pytorch-async-bare", "pytorch", "", PYTORCH_ASYNC, BARE),
      .anchors = "allocation on device", .without = "allocation on device memory",
      .sets = PLIM_CLAUSES_ASYNC, .before = 200, .after = 60, .flags = PLIM_FORM_PROSE },
    { ROW("pytorch-npu", "pytorch-npu", "", PYTORCH_NPU, ALLOCATION), .anchors = TORCH_ANCHORS,
      .with = "npu out of memory|npu 0|current active", .also = TORCH_WORDS,
      .sets = PLIM_CLAUSES_TORCH, .before = 120, .after = 1500 },
    { ROW("pytorch-xpu-2.x", "pytorch-xpu", "", PYTORCH_XPU, ALLOCATION), .anchors = TORCH_ANCHORS,
      .with = "xpu out of memory", .also = TORCH_2, .sets = PLIM_CLAUSES_TORCH, .before = 120,
      .after = 1500 },
    { ROW("ipex-xpu", "pytorch-xpu", "", PYTORCH_XPU, ALLOCATION), .anchors = TORCH_ANCHORS,
      .with = "xpu out of memory", .sets = PLIM_CLAUSES_TORCH, .before = 120, .after = 1500 },
    { ROW("pytorch-hip-allowed", "pytorch-rocm", "", PYTORCH_ROCM, ALLOCATION),
      .anchors = TORCH_ANCHORS, .with = "hip out of memory", .sets = PLIM_CLAUSES_TORCH,
      .needs = S(LIMIT), .before = 120, .after = 1500 },
    { ROW("pytorch-hip", "pytorch-rocm", "", PYTORCH_ROCM, ALLOCATION), .anchors = TORCH_ANCHORS,
      .with = "hip out of memory", .sets = PLIM_CLAUSES_TORCH, .before = 120, .after = 1500 },
    { ROW("pytorch-1.x-cached", "pytorch", "1.0 to 1.3", PYTORCH, ALLOCATION),
      .anchors = TORCH_ANCHORS, .with = "already allocated|total capac", .without = TORCH_2,
      .sets = PLIM_CLAUSES_TORCH, .needs = S(RESERVED_UNALLOCATED), .lacks = S(RESERVED),
      .before = 120, .after = 1500 },
    { ROW("pytorch-1.x-allowed", "pytorch", "1.8 to 2.0", PYTORCH, ALLOCATION),
      .anchors = TORCH_ANCHORS, .with = "already allocated|total capac", .without = TORCH_2,
      .sets = PLIM_CLAUSES_TORCH, .needs = S(LIMIT), .before = 120, .after = 1500 },
    { ROW("pytorch-1.x-reserved-hint", "pytorch", "1.10 to 2.0", PYTORCH, ALLOCATION),
      .anchors = TORCH_ANCHORS, .with = "if reserved memory is", .without = TORCH_2,
      .sets = PLIM_CLAUSES_TORCH, .needs = S(RESERVED), .before = 120, .after = 1500 },
    { ROW("pytorch-1.4-reserved", "pytorch", "1.4 to 2.0", PYTORCH, ALLOCATION),
      .anchors = TORCH_ANCHORS, .with = "already allocated|total capac", .without = TORCH_2,
      .sets = PLIM_CLAUSES_TORCH, .before = 120, .after = 1500 },
    { ROW("pytorch-2.x-private-pools", "pytorch", "2.4 and later", PYTORCH, ALLOCATION),
      .anchors = TORCH_ANCHORS, .with = TORCH_2, .sets = PLIM_CLAUSES_TORCH,
      .needs = S(PRIVATE_POOLS), .before = 120, .after = 1500 },
    { ROW("pytorch-2.x-allowed", "pytorch", "2.5 and later", PYTORCH, ALLOCATION),
      .anchors = TORCH_ANCHORS, .with = TORCH_2, .sets = PLIM_CLAUSES_TORCH, .needs = S(LIMIT),
      .before = 120, .after = 1500 },
    { ROW("pytorch-2.x-both-process-clauses", "pytorch", "2.1 and later", PYTORCH, ALLOCATION),
      .anchors = TORCH_ANCHORS, .with = TORCH_2, .sets = PLIM_CLAUSES_TORCH,
      .needs = S(PROCESS) | S(OTHER_PROCESSES), .before = 120, .after = 1500 },
    { ROW("pytorch-2.x-this-process", "pytorch", "2.1 and later", PYTORCH, ALLOCATION),
      .anchors = TORCH_ANCHORS, .with = TORCH_2, .sets = PLIM_CLAUSES_TORCH, .needs = S(PROCESS),
      .before = 120, .after = 1500 },
    { ROW("pytorch-2.x-process-n", "pytorch", "2.1 and later", PYTORCH, ALLOCATION),
      .anchors = TORCH_ANCHORS, .with = TORCH_2, .sets = PLIM_CLAUSES_TORCH,
      .needs = S(OTHER_PROCESSES), .before = 120, .after = 1500 },
    { ROW("pytorch-2.x-no-process-clause", "pytorch", "2.1 and later", PYTORCH, ALLOCATION),
      .anchors = TORCH_ANCHORS, .with = TORCH_2, .also = TORCH_WORDS, .sets = PLIM_CLAUSES_TORCH,
      .needs = S(TOTAL), .before = 120, .after = 1500 },
    { ROW("pytorch-2.x-truncated", "pytorch", "", PYTORCH, ALLOCATION), .anchors = TORCH_ANCHORS,
      .with = TORCH_WORDS, .sets = PLIM_CLAUSES_TORCH, .before = 120, .after = 1500 },
    { ROW("pytorch-0.x-thc", "pytorch", "up to 0.4", PYTORCH, BARE),
      .anchors = "cuda runtime error 2|thcudacheck fail|thccudacheck fail", .with = "out of memory",
      .without = "cuda runtime error 29", .before = 20, .after = 200 },
    { ROW("vllm-sampler-warmup", "vllm", "", VLLM, WARMUP), .anchors = "when warming up sampler",
      .before = 120, .after = 300 },
    { ROW("pytorch-accelerator-error", "pytorch", "2.8 and later", PYTORCH, BARE),
      .anchors = "acceleratorerror", .with = "out of memory", .before = 40, .after = 120 },
    { ROW("pytorch-memory-summary-oom", "pytorch", "1.4 and later", PYTORCH, SUMMARY),
      .anchors = "cuda ooms|npu ooms", .sets = PLIM_CLAUSES_SUMMARY, .before = 300, .after = 2800,
      .flags = PLIM_FORM_SOME },
    { ROW("negative-memory-summary", "pytorch", "1.4 and later", PYTORCH, REPORT),
      .anchors = "cuda memory summary device id|npu memory summary device id|cuda ooms|npu ooms",
      .sets = PLIM_CLAUSES_SUMMARY, .before = 300, .after = 2800, .flags = PLIM_FORM_REPORT },

    /* --- PaddlePaddle --- */
    { ROW("paddle-gpu-oom-allocated", "paddle", "2.0 and later", PADDLE, ALLOCATION),
      .anchors = "out of memory error on gpu|memory has been allocated and available memory",
      .with = "cannot allocate", .sets = PLIM_CLAUSES_PADDLE, .needs = S(ALLOCATED), .before = 120,
      .after = 500 },
    { ROW("paddle-gpu-oom", "paddle", "1.5 and later", PADDLE, ALLOCATION),
      .anchors = "out of memory error on|gpu memory available memory is|available memory is only",
      .with = "cannot allocate|on gpu", .sets = PLIM_CLAUSES_PADDLE, .before = 120, .after = 500 },
    { ROW("paddle-enforce", "paddle", "0.x", PADDLE, ALLOCATION),
      .anchors = "enforce allocating available failed|enforce allocating|"
                 "expected allocating available but received|"
                 "expected allocating_memory available_memory",
      .with = "available failed|but received allocating", .sets = PLIM_CLAUSES_PADDLE, .before = 40,
      .after = 160 },
    { ROW("paddle-legacy-allocator", "paddle", "1.x", PADDLE, ALLOCATION),
      .anchors = "gpuminchunksize|flags_fraction_of_gpu_memory_to_use|cannot allocate",
      .with = "in gpu", .also = "available", .sets = PLIM_CLAUSES_PADDLE, .before = 600,
      .after = 900 },
    { ROW("paddle-malloc-flags", "paddle", "1.x", PADDLE, BARE), .anchors = "cannot malloc",
      .with = "gpu memory|flags_fraction_of_gpu", .after = 300, .sets = PLIM_CLAUSES_PADDLE,
      .before = 60 },

    /* --- TensorFlow, JAX, TPU --- */
    { ROW("xla-tpu-hbm", "jax-tpu", "", TPU, PROGRAM), .anchors = "in memory space hbm",
      .sets = PLIM_CLAUSES_TPU, .before = 250, .after = 300 },
    { ROW("xla-tpu-reserve", "jax-tpu", "", TPU, PROGRAM),
      .anchors = "attempting to reserve|attempting to allocate",
      .with = "bottom of memory|reservable|that was not possible", .sets = PLIM_CLAUSES_TPU,
      .before = 80, .after = 300 },
    { ROW("tf-bfc-dump", "tensorflow", "", TENSORFLOW, POOL),
      .anchors = "sum total of in use chunks|total region allocated bytes|total bytes in pool|"
                 "total size in pool|maxallocsize|maxinuse",
      .with = "limit|tried to allocate|available", .sets = PLIM_CLAUSES_BFC, .before = 600,
      .after = 1600, .flags = PLIM_FORM_DUMP },
    { ROW("tf-bfc-ran-out", "tensorflow", "", TENSORFLOW, BARE),
      .anchors = "memory trying to allocate",
      .with =
          "allocator|bfc|rounded to|requested by op|resource exhausted|ran out of memory trying",
      .without = "out of gpu memory trying|while trying", .sets = PLIM_CLAUSES_BFC, .before = 100,
      .after = 250 },
    { ROW("tf-oom-shape", "tensorflow", "", TENSORFLOW, BARE),
      .anchors = "oom when allocating tensor", .sets = PLIM_CLAUSES_TF, .before = 100,
      .after = 500 },
    { ROW("tf-ran-out-bytes", "tensorflow", "", TENSORFLOW, BARE),
      .anchors = "ran out of gpu memory when allocating|memory when allocating",
      .sets = PLIM_CLAUSES_TF, .before = 40, .after = 160 },
    { ROW("tf-rocm-driver-alloc", "tensorflow", "", TENSORFLOW, ALLOCATION),
      .anchors = "failed to allocate", .with = "from device hip", .sets = PLIM_CLAUSES_TF,
      .before = 900, .after = 160 },
    { ROW("tf-cuda-driver-alloc", "tensorflow", "", TENSORFLOW, ALLOCATION),
      .anchors = "failed to allocate", .with = "from device cuda|bytes from device",
      .sets = PLIM_CLAUSES_TF, .before = 900, .after = 160 },
    { ROW("jax-xla-bytes-buffer-stats", "jax", "", JAX, BARE),
      .anchors = "while trying to allocate|out of memory allocating", .with = "bufferassignment",
      .sets = PLIM_CLAUSES_XLA, .before = 700, .after = 250 },
    { ROW("cupy-limit", "cupy", "7 and later", CUPY, ALLOCATION),
      .anchors = "out of memory allocating|allocated so far", .with = "limit set to",
      .sets = PLIM_CLAUSES_CUPY, .before = 60, .after = 200 },
    { ROW("cupy-allocated", "cupy", "7 and later", CUPY, BARE),
      .anchors = "out of memory allocating|allocated so far", .with = "allocated so far|cupy",
      .sets = PLIM_CLAUSES_CUPY, .before = 60, .after = 200 },
    { ROW("cupy-old", "cupy", "up to 6", CUPY, BARE), .anchors = "out of memory to allocate",
      .sets = PLIM_CLAUSES_CUPY, .before = 60, .after = 120 },
    { ROW("jax-xla-bytes", "jax", "", JAX, BARE),
      .anchors = "while trying to allocate|out of memory allocating",
      .with = "out of memory|resource exhausted", .sets = PLIM_CLAUSES_XLA, .before = 400,
      .after = 160 },
    { ROW("jax-xla-request-ordinal", "jax", "", JAX, BARE),
      .anchors = "failed to allocate request for", .sets = PLIM_CLAUSES_XLA, .before = 80,
      .after = 160 },
    { ROW("tf-failed-to-allocate", "tensorflow", "2.4 and later", TENSORFLOW, BARE),
      .anchors = "failed to allocate memory", .with = "resourceexhausted|resource exhausted|op",
      .also = "resource", .before = 60, .after = 80 },

    /* --- RAPIDS, XGBoost, FAISS --- */
    { ROW("rmm-pool-grow", "rmm", "", RMM, CAP),
      .anchors = "failure maximum pool size exceeded|not enough room to grow",
      .with = "maximum pool size exceeded", .also = "upstream|current max try|not enough room",
      .sets = PLIM_CLAUSES_RMM, .before = 120, .after = 250 },
    { ROW("rmm-pool-exceeded", "rmm", "", RMM, CAP), .anchors = "maximum pool size exceeded",
      .sets = PLIM_CLAUSES_RMM, .before = 200, .after = 200 },
    { ROW("xgboost-worker", "xgboost", "", XGBOOST, ALLOCATION),
      .anchors = "memory allocation error on worker", .sets = PLIM_CLAUSES_XGBOOST, .before = 40,
      .after = 400 },
    { ROW("rmm-bad-alloc", "rmm", "", RMM, BARE),
      .anchors = "std::bad_alloc|rmm::out_of_memory|rmm::bad_alloc",
      .with = "cudaerrormemoryallocation|cuda error at|rmm failure|out_of_memory cuda error|rmm",
      .sets = PLIM_CLAUSES_RMM, .before = 20, .after = 300, .flags = PLIM_FORM_PROSE },
    { ROW("faiss", "faiss", "", FAISS, BARE),
      .anchors = "failed to cudamalloc|alloc fail type|standardgpuresources",
      .with = "out of memory|alloc fail|failed to cudamalloc", .sets = PLIM_CLAUSES_FAISS,
      .before = 60, .after = 300 },

    /* --- llama.cpp, ollama, MLX, graphics --- */
    { ROW("ggml-cuda-malloc", "llama.cpp", "", LLAMA_CPP, WEIGHTS),
      .anchors = "ggml_backend_cuda_buffer_type_alloc_buffer|ggml_cuda_device_malloc|"
                 "ggml_gallocr_reserve|alloc_tensor_range|unable to allocate cuda|"
                 "unable to allocate rocm|ggml_backend_alloc_ctx_tensors|"
                 "failed to allocate cuda|failed to allocate rocm|failed to allocate sycl",
      .with = "failed|unable to allocate", .sets = PLIM_CLAUSES_GGML, .before = 60, .after = 420 },
    { ROW("ggml-vulkan-limit", "llama.cpp", "", VULKAN, BUFFER_MAX),
      .anchors = "exceeds device memory allocation limit", .sets = PLIM_CLAUSES_GGML, .before = 120,
      .after = 60 },
    { ROW("ggml-vulkan", "llama.cpp", "", VULKAN, BARE),
      .anchors = "device memory allocation of size|ggml_vulkan",
      .with = "device memory allocation of size|outofdevicememory|failed to allocate vulkan",
      .sets = PLIM_CLAUSES_GGML, .before = 20, .after = 300 },
    { ROW("ggml-metal-buffer-max", "llama.cpp", "", METAL, BUFFER_MAX),
      .anchors = "larger than buffer maximum of", .sets = PLIM_CLAUSES_METAL | PLIM_CLAUSES_GGML,
      .before = 120, .after = 60 },
    { ROW("ggml-metal", "llama.cpp", "", METAL, BARE),
      .anchors = "kiogpucommandbuffercallbackerroroutofmemory|insufficient memory 00000008|"
                 "ggml_metal_add_buffer error failed to allocate|ggml_metal",
      .with = "erroroutofmemory|insufficient memory|error failed to allocate",
      .sets = PLIM_CLAUSES_GGML, .before = 120, .after = 200 },
    { ROW("ggml-sycl", "llama.cpp", "", SYCL, BARE), .anchors = "ggml_sycl",
      .with = "out_of_device_memory|out_of_resources|out of memory|cant allocate",
      .sets = PLIM_CLAUSES_GGML, .before = 40, .after = 250 },
    { ROW("ollama", "ollama", "", OLLAMA, WEIGHTS),
      .anchors = "llama runner process has terminated|runner process has terminated",
      .with = "cudamalloc failed|out of memory|unable to allocate|failed to allocate",
      .sets = PLIM_CLAUSES_GGML, .before = 20, .after = 400 },
    { ROW("ollama-maybe", "ollama", "", OLLAMA, BARE),
      .anchors = "you may not have enough available memory|"
                 "you may not have enough memory to run the model|"
                 "you may not have enough vram",
      .before = 80, .after = 60 },
    { ROW("mlx-buffer-max", "mlx", "", MLX, BUFFER_MAX),
      .anchors = "greater than the maximum allowed buffer size", .sets = PLIM_CLAUSES_METAL,
      .before = 160, .after = 80 },
    { ROW("metal-buffer-validation", "metal", "", METAL, BUFFER_MAX), .anchors = "must not exceed",
      .with = "newbufferwith|buffer validation", .sets = PLIM_CLAUSES_METAL, .before = 120,
      .after = 60 },
    { ROW("webgpu-buffer-too-large", "webgpu", "", VULKAN, BUFFER_MAX),
      .anchors = "is too large for the implementation", .with = "createbuffer",
      .sets = PLIM_CLAUSES_METAL, .before = 120, .after = 60 },
    { ROW("mlx-malloc-or-wait", "mlx", "", MLX, BARE), .anchors = "malloc_or_wait|metal::malloc",
      .with = "unable to allocate", .sets = PLIM_CLAUSES_METAL, .before = 10, .after = 120 },
    { ROW("opencl-alloc-failure", "opencl", "", OPENCL, BARE),
      .anchors = "mem_object_allocation_failure|clcreatebuffer failed|cl_out_of_resources|"
                 "invalid buffer size when calling clcreatebuffer|error code 5 out of resources",
      .sets = PLIM_CLAUSES_OPENCL, .before = 400, .after = 600, .flags = PLIM_FORM_PROSE },
    { ROW("mesa-radeon-buffer", "mesa", "", VULKAN, BARE), .anchors = "failed to allocate a buffer",
      .with = "radeon|amdgpu", .sets = PLIM_CLAUSES_MESA, .before = 20, .after = 200 },
    { ROW("sycl-native-api", "sycl", "", SYCL, BARE),
      .anchors = "error_out_of_device_memory|error_out_of_resources",
      .without = "vk error|vulkan|vk device|vkallocate", .before = 200, .after = 60 },
    { ROW("sycl-other-error", "sycl", "", SYCL, ERROR), .anchors = "native api failed",
      .before = 20, .after = 160 },
    { ROW("wgpu", "wgpu", "", VULKAN, BARE),
      .anchors = "allocationerror outofmemory|outofmemory device|not enough memory left",
      .before = 60, .after = 60 },
    { ROW("vulkan-bare", "vulkan", "", VULKAN, BARE),
      .anchors = "vk_error_out_of_device_memory|error_out_of_device_memory|"
                 "erroroutofdevicememory|vk_error_out_of_pool_memory|out_of_device_memory",
      .before = 60, .after = 60, .flags = PLIM_FORM_PROSE },

    /* --- servers --- */
    { ROW("vllm-startup-free", "vllm", "", VLLM, STARTUP),
      .anchors = "on startup is less than desired|free memory on device",
      .with = "less than desired", .sets = PLIM_CLAUSES_VLLM, .before = 120, .after = 300 },
    { ROW("vllm-no-cache-blocks", "vllm", "", VLLM, KV_NONE),
      .anchors = "no available memory for the cache blocks", .after = 160 },
    { ROW("vllm-no-cache-left", "vllm", "", VLLM, KV_NONE),
      .anchors = "available kv cache memory|reserved for kv cache is|gpu blocks|cuda blocks",
      .sets = PLIM_CLAUSES_VLLM, .before = 400, .after = 80, .flags = PLIM_FORM_NONE },
    { ROW("vllm-kv-cache", "vllm", "", VLLM, KV_CACHE),
      .anchors = "kv cache is needed|larger than the available kv cache memory|"
                 "maximum number of tokens that can be stored in kv cache",
      .with = "max seq len|is needed which is larger|stored in kv cache", .sets = PLIM_CLAUSES_VLLM,
      .before = 250, .after = 300 },
    { ROW("vllm-info", "vllm", "", VLLM, REPORT), .anchors = "x gpu_memory_utilization",
      .with = "total_gpu_memory|gpu memory utilization", .before = 60, .after = 120,
      .flags = PLIM_FORM_REPORT },
    { ROW("sglang-max-total-tokens", "sglang", "", SGLANG, WARNING),
      .anchors = "is larger than the profiled value", .before = 80, .after = 80 },
    { ROW("sglang-mem-fraction", "sglang", "", SGLANG, CAP),
      .anchors = "not enough memory|loading the model failed not enough",
      .with = "mem fraction static|memfractionstatic", .before = 40, .after = 250,
      .flags = PLIM_FORM_PROSE },
    { ROW("tgi-warmup", "tgi", "", TGI, WARMUP), .anchors = "not enough memory to handle",
      .with = "tokens", .before = 40, .after = 160 },
    { ROW("tensorrt-llm", "tensorrt-llm", "", TENSORRT, BARE), .anchors = "cuda runtime error in",
      .with = "out of memory", .before = 40, .after = 200 },
    { ROW("tensorrt-requested-amount", "tensorrt", "", TENSORRT, TACTIC),
      .anchors = "requested amount of gpu memory|requested amount of memory",
      .sets = PLIM_CLAUSES_TENSORRT, .before = 300, .after = 200 },
    { ROW("tensorrt-tactic", "tensorrt", "", TENSORRT, TACTIC),
      .anchors = "tactic device request|insufficient to use tactic|"
                 "skipping tactic|insufficient memory on requested size",
      .with = "insufficient|out of memory|outofmemory", .sets = PLIM_CLAUSES_TENSORRT,
      .before = 200, .after = 200 },
    { ROW("tensorrt-error-code", "tensorrt", "", TENSORRT, TACTIC),
      .anchors = "error code 2 outofmemory|error code 1 cuda runtime out of memory|"
                 "cuda error in allocate 2|resizephysical|cuda runtime out of memory",
      .with = "out of memory|outofmemory", .before = 100, .after = 120 },
    { ROW("onnxruntime-bfc", "onnxruntime", "", ONNXRUNTIME, ARENA),
      .anchors = "requested buffer of size|bfcarena", .with = "failed to allocate memory",
      .sets = PLIM_CLAUSES_ORT, .before = 200, .after = 300 },
    { ROW("directml", "directml", "", DIRECTML, BARE),
      .anchors = "could not allocate tensor with|not enough gpu video memory",
      .sets = PLIM_CLAUSES_ORT, .before = 120, .after = 160 },

    /* --- older and smaller programs --- */
    { ROW("theano-driver-report", "theano", "", CUDA, ALLOCATION),
      .anchors = "bytes of device memory|driver report", .with = "error allocating",
      .sets = PLIM_CLAUSES_THEANO, .before = 80, .after = 250 },
    { ROW("julia-cuda-out-of-gpu-memory", "julia-cuda", "", JULIA, ALLOCATION),
      .anchors = "out of gpu memory trying to allocate", .sets = PLIM_CLAUSES_JULIA, .before = 40,
      .after = 400 },
    { ROW("julia-cuda-allocation-failed", "julia-cuda", "", JULIA, ALLOCATION),
      .anchors = "cuda memory allocation failed|effective gpu memory usage",
      .with = "cuda memory allocation failed", .sets = PLIM_CLAUSES_JULIA, .before = 300,
      .after = 200 },
    { ROW("julia-usage", "julia-cuda", "", JULIA, REPORT), .anchors = "effective gpu memory usage",
      .sets = PLIM_CLAUSES_JULIA, .before = 20, .after = 200, .flags = PLIM_FORM_REPORT },
    { ROW("caffe-memory-required", "caffe", "", CUDA, REPORT),
      .anchors = "memory required for data", .before = 20, .after = 60, .flags = PLIM_FORM_REPORT },
    { ROW("deepspeed-memory", "deepspeed", "", PYTORCH, REPORT),
      .anchors = "see_memory_usage|gb max_ma", .before = 100, .after = 200,
      .flags = PLIM_FORM_REPORT },
    { ROW("caffe-check-failed", "caffe", "", CUDA, BARE), .anchors = "cudasuccess 2 vs 0",
      .before = 60, .after = 60 },
    { ROW("mxnet-storage", "mxnet", "", CUDA, BARE),
      .anchors = "pooled_storage_manager|gpu_device_storage",
      .with = "cudamalloc failed|memory allocation failed|out of memory", .before = 40,
      .after = 120 },
    { ROW("darknet", "darknet", "", DARKNET, BARE), .anchors = "cuda error out of memory",
      .with = "dark_cuda|darknet|subdivisions|file exists|need memory|success", .before = 400,
      .after = 120, .sets = PLIM_CLAUSES_DARKNET },
    { ROW("numba-driver", "numba", "", CUDA, BARE),
      .anchors = "results in cuda_error_out_of_memory|cudaapierror 2|results in outofmemory",
      .before = 80, .after = 60 },
    { ROW("bitsandbytes-ops", "bitsandbytes", "", PYTORCH, BARE),
      .anchors = "error out of memory at line", .before = 10, .after = 120 },
    { ROW("bitsandbytes-other", "bitsandbytes", "", PYTORCH, ERROR), .anchors = "in file",
      .with = "error named symbol not found at line|error invalid argument at line|"
              "error no kernel image|error invalid configuration argument at line|"
              "error an illegal memory access was encountered at line|"
              "error invalid device function at line",
      .before = 120, .after = 80 },
    { ROW("mindspore-pool", "mindspore", "", PYTORCH_NPU, ALLOCATION),
      .anchors = "is more than total mem size|totalusedmemstatistics",
      .with = "total mem size|alloc size", .sets = PLIM_CLAUSES_ASCEND, .before = 400,
      .after = 200 },
    { ROW("mindspore-malloc", "mindspore", "", PYTORCH_NPU, BARE),
      .anchors = "malloc for kernel output failed|memory isnt enough|"
                 "malloc for kernel workspace failed|device memory isnt enough",
      .sets = PLIM_CLAUSES_ASCEND, .before = 60, .after = 120 },
    { ROW("cann-memory", "cann", "", PYTORCH_NPU, BARE),
      .anchors = "memory_allocation_failure el0004|rtmalloc fail|rtmalloc execute failed|"
                 "alloc device memory failed|malloc device memory fail",
      .sets = PLIM_CLAUSES_ASCEND, .before = 400, .after = 700 },
    { ROW("megengine-oom", "megengine", "", CUDA, BARE), .anchors = "memory while requesting",
      .sets = PLIM_CLAUSES_PLAIN, .before = 60, .after = 120 },
    { ROW("blender-cycles", "blender", "", CUDA, BARE),
      .anchors = "out of gpu and shared host memory|out of gpu memory", .with = "system is out",
      .before = 60, .after = 120 },
    { ROW("hashcat-device-memory", "hashcat", "", OPENCL, BARE),
      .anchors = "enough allocatable device memory|allocatable device memory for this attack",
      .sets = PLIM_CLAUSES_OPENCL, .before = 100, .after = 60 },
    { ROW("miner-dag", "miner", "", CUDA, BARE),
      .anchors = "cannot allocate big buffer|not enough gpu memory to place dag|"
                 "insufficient gpu memory for dag",
      .sets = PLIM_CLAUSES_PLAIN, .before = 100, .after = 80 },
    { ROW("nvenc", "ffmpeg", "", CUDA, BARE),
      .anchors = "unable to allocate enough memory to perform|nvenc_err_out_of_memory|"
                 "openencodesessionex failed out of memory",
      .before = 160, .after = 60 },
    { ROW("spark-rapids-oom", "spark-rapids", "", RMM, BARE),
      .anchors = "retryoom|gpu oom exception|gpuretryoom", .with = "rapids|rmm|cudf|gpu|retryoom",
      .before = 100, .after = 200 },
    { ROW("oneflow-oom", "oneflow", "", CUDA, BARE),
      .anchors = "oneflow.errorproto.out_of_memory|errorproto out_of_memory", .before = 60,
      .after = 60 },
    { ROW("cu-mem-create", "cuda-app", "", CUDA, BARE),
      .anchors = "curesult error result 2|curesult error 2|cuda_error result 2|"
                 "hiperror_t error result 2|cudaerror_t error result 2",
      .before = 20, .after = 200 },
    { ROW("cublas-alloc-failed", "cuda-app", "", CUDA, WORKSPACE),
      .anchors = "cublas_status_alloc_failed|cublas status alloc failed|cublasstatus alloc "
                 "failed|cublas_alloc_failed",
      .sets = PLIM_CLAUSES_PLAIN, .before = 60, .after = 80, .flags = PLIM_FORM_PROSE },
    { ROW("cudnn-alloc-failed", "cuda-app", "", CUDA, WORKSPACE),
      .anchors = "cudnn_status_alloc_failed|cudnn status alloc failed", .before = 60, .after = 80,
      .flags = PLIM_FORM_PROSE },
    { ROW("library-alloc-failed", "cuda-app", "", CUDA, WORKSPACE),
      .anchors = "status_alloc_failed|cufft_alloc_failed|curand_status_allocation_failed|"
                 "cusparse_status_insufficient_resources|mlopen status alloc "
                 "failed|miopenstatusallocfailed",
      .before = 60, .after = 80, .flags = PLIM_FORM_PROSE },
    { ROW("nccl-out-of-memory", "nccl", "", CUDA, WORKSPACE),
      .anchors = "nccl warn cuda failure|failed to cuda calloc|failed to cuda malloc",
      .with = "out of memory|calloc|malloc", .sets = PLIM_CLAUSES_PLAIN, .before = 40,
      .after = 60 },
    { ROW("exllama", "exllama", "", CUDA, BARE),
      .anchors = "insufficient space in device allocation", .before = 40, .after = 40 },
    { ROW("direct3d", "direct3d", "", DIRECTML, BARE), .anchors = "0x8007000e",
      .with = "d3d|direct3d|dx|texture|buffer|gpu|device", .before = 160, .after = 60 },

    /* --- other errors of devices --- */
    { ROW("negative-cuda-error", "pytorch", "", CUDA, ERROR),
      .anchors =
          "an illegal memory access was encountered|illegal memory access|"
          "device side assert triggered|misaligned address|invalid device ordinal|"
          "unspecified launch failure|no kernel image is available|invalid device pointer|"
          "cannot re initialize cuda in forked subprocess|an illegal instruction was encountered|"
          "cuda error invalid argument|cuda error unknown error|"
          "cuda error initialization error|driver shutting down|"
          "cuda driver version is insufficient|"
          "cuda error invalid configuration argument|cuda error peer access|"
          "cuda_error_illegal_address|cudaerrorillegaladdress|cuda_error_launch_failed|"
          "cudaerrorassert|cuda_error_invalid_value|cuda_error_no_device|"
          "cuda_error_not_initialized|cuda_error_invalid_device|"
          "hiperrornobinaryforgpu|hiperrorinvaliddevicefunction|"
          "cuda error uncorrectable ecc|uncorrectable ecc error|"
          "cuda error the launch timed out|launch timed out and was terminated|"
          "cuda error operation not supported|invalid resource handle|"
          "cuda error invalid device function|hip error invalid device function|"
          "nvml shared library not found|all cuda capable devices are busy|"
          "hip error the operation cannot be performed|cuda error invalid",
      .without = "out of memory|outofmemory", .before = 60, .after = 80, .flags = PLIM_FORM_PROSE },
    { ROW("library-not-initialized", "cuda-app", "", CUDA, HANDLE),
      .anchors = "cublas_status_not_initialized|cudnn_status_not_initialized|"
                 "cusolver_status_not_initialized|cusparse_status_not_initialized|"
                 "hipblas_status_not_initialized|miopenstatusnotinitialized",
      .without = "out of memory|outofmemory|alloc failed", .sets = PLIM_CLAUSES_TF, .before = 900,
      .after = 80, .flags = PLIM_FORM_PROSE },
    { ROW("library-handle-failed", "cuda-app", "", CUDA, HANDLE),
      .anchors = "cublas_status_internal_error|cudnn_status_internal_error|"
                 "cusolver_status_internal_error",
      .with = "cublascreate|cudnncreate|cusolverdncreate|create cudnn handle|create cublas handle",
      .without = "out of memory|outofmemory|alloc failed", .sets = PLIM_CLAUSES_TF, .before = 900,
      .after = 80, .flags = PLIM_FORM_PROSE },
    { ROW("negative-library-status", "cuda-app", "", CUDA, ERROR),
      .anchors = "cublas_status_execution_failed|"
                 "cublas_status_internal_error|cublas_status_invalid_value|"
                 "cublas_status_not_supported|cublas_status_arch_mismatch|"
                 "cudnn_status_execution_failed|"
                 "cudnn_status_internal_error|cudnn_status_bad_param|"
                 "cudnn_status_not_supported|cudnn_status_mapping_error|"
                 "cudnn_status_version_mismatch|cusolver_status_internal_error|"
                 "cusolver_status_execution_failed|cufft_internal_error|"
                 "device_lost|result_error_device_lost|vk_error_device_lost",
      .without = "out of memory|outofmemory|alloc failed", .before = 60, .after = 80,
      .flags = PLIM_FORM_PROSE },

    /* --- words that any program might use --- */
    { ROW("pytorch-bare-cuda-error", "pytorch", "", PYTORCH, BARE),
      .anchors = "cuda error out of memory",
      .with = "runtimeerror|cuda kernel errors might|torch|"
              "dsa|cuda_launch_blocking|acceleratorerror",
      .sets = PLIM_CLAUSES_PLAIN, .before = 120, .after = 400,
      .flags = PLIM_FORM_PROSE | PLIM_FORM_PLAIN },
    { ROW("hip-runtime-oom", "hip-app", "", HIP, BARE),
      .anchors =
          "hiperroroutofmemory|hiperrormemoryallocation|hip error out of memory|hip out of memory|"
          "hip_error_outofmemory|hiperror 2|hiperror_t 2",
      .sets = PLIM_CLAUSES_PLAIN, .before = 120, .after = 160,
      .flags = PLIM_FORM_PROSE | PLIM_FORM_PLAIN },
    { ROW("cuda-driver-oom", "cuda-app", "", CUDA, BARE),
      .anchors = "cuda_error_out_of_memory|cumemalloc failed|cumemcreate failed|cuerror 2",
      .with = "out_of_memory|out of memory|cuerror 2", .sets = PLIM_CLAUSES_PLAIN, .before = 160,
      .after = 160, .flags = PLIM_FORM_PROSE | PLIM_FORM_PLAIN },
    { ROW("cuda-runtime-oom", "cuda-app", "", CUDA, BARE),
      .anchors = "cudaerrormemoryallocation|cudamalloc failed|cuda failed with error out of memory|"
                 "cuda error out of memory|cuda out of memory|cuda failure out of memory|"
                 "cuda failure 2|cuda runtime error out of memory|cudamemoryallocation",
      .sets = PLIM_CLAUSES_PLAIN, .before = 160, .after = 200,
      .flags = PLIM_FORM_PLAIN | PLIM_FORM_PROSE },
    { ROW("gpu-out-of-memory", "unknown", "", ANY, BARE),
      .anchors =
          "out of gpu memory|out of device memory|out of video memory|out of vram|"
          "gpu out of memory|device out of memory|insufficient gpu memory|not enough gpu memory|"
          "insufficient device memory|not enough vram|insufficient vram|"
          "xpu out of memory|npu out of memory|mps out of memory|metal out of memory|"
          "gpu memory is full|system is out of gpu memory|not enough video memory|"
          "error_outofdevicememory|dxgi_error_out_of_memory|e_outofmemory|gl_out_of_memory",
      .sets = PLIM_CLAUSES_PLAIN, .before = 160, .after = 200,
      .flags = PLIM_FORM_PLAIN | PLIM_FORM_PROSE },
    { ROW("tf-resource-exhausted", "tensorflow", "", TENSORFLOW, BARE),
      .anchors = "resource exhausted|resourceexhaustederror",
      .with = "op_requires failed|op kernel|node",
      .without = "grpc|quota|too many requests|code 429|error 429|rate limit", .before = 120,
      .after = 60, .flags = PLIM_FORM_PROSE | PLIM_FORM_PLAIN | PLIM_FORM_HEAD },
    { ROW("resource-exhausted", "tensorflow", "", TENSORFLOW, BARE),
      .anchors = "resourceexhaustederror|resource_exhausted|resource exhausted",
      .with = "out of memory|memory|oom",
      .without = "quota|too many requests|code 429|error 429|rate limit",
      .sets = PLIM_CLAUSES_PLAIN, .before = 60, .after = 250,
      .flags = PLIM_FORM_PLAIN | PLIM_FORM_PROSE | PLIM_FORM_HEAD },
    { ROW("failed-allocation", "unknown", "", ANY, BARE),
      .anchors = "failed to allocate|cannot allocate|could not allocate|couldnt allocate|"
                 "unable to allocate|error allocating|failed allocating",
      .with = "gpu|cuda|device|hip|vram|video memory|opencl|vulkan|metal|npu|xpu",
      .sets = PLIM_CLAUSES_PLAIN, .needs = S(REQUESTED), .before = 60, .after = 160,
      .flags = PLIM_FORM_PLAIN | PLIM_FORM_PROSE },
    { ROW("failed-allocation-host", "unknown", "", HOST, HOST_RAM),
      .anchors = "memory allocation of", .with = "bytes failed", .sets = PLIM_CLAUSES_PLAIN,
      .needs = S(REQUESTED), .before = 20, .after = 100,
      .flags = PLIM_FORM_PLAIN | PLIM_FORM_PROSE },
    { ROW("std-bad-alloc", "c++", "", HOST, HOST_RAM), .anchors = "std::bad_alloc|bad_alloc",
      .without = "cuda|rmm|hip error|hiperror|thrust", .before = 60, .after = 120,
      .flags = PLIM_FORM_PLAIN | PLIM_FORM_PROSE },
    { ROW("thrust-bad-alloc", "thrust", "", CUDA, BARE), .anchors = "std::bad_alloc|bad_alloc",
      .with = "cuda|thrust|hip error|hiperror|rmm", .sets = PLIM_CLAUSES_PLAIN, .before = 60,
      .after = 200, .flags = PLIM_FORM_PLAIN | PLIM_FORM_PROSE },
    { ROW("python-memory-error", "python", "", HOST, HOST_RAM), .anchors = "memoryerror",
      .without = "cuda|outofmemory|out of memory|device memory|gpu memory", .before = 20,
      .after = 60, .flags = PLIM_FORM_PROSE | PLIM_FORM_GLUED | PLIM_FORM_PLAIN | PLIM_FORM_LINE },
    { ROW("host-out-of-memory", "unknown", "", HOST, HOST_RAM),
      .anchors = "out of host memory|out of system memory|insufficient system memory|"
                 "not enough system memory|out of cpu memory|not enough ram|insufficient ram",
      .sets = PLIM_CLAUSES_PLAIN, .before = 60, .after = 160,
      .flags = PLIM_FORM_PLAIN | PLIM_FORM_PROSE },
    { ROW("host-enomem", "system", "", HOST, HOST_RAM),
      .anchors = "errno 12|os error 12|cannot allocate memory", .with = "cannot allocate memory",
      .before = 40, .after = 80, .without = "on gpu|in gpu|gpu memory|static tls|enomem",
      .flags = PLIM_FORM_PLAIN },
    { ROW("out-of-memory", "unknown", "", ANY, BARE),
      .anchors = "out of memory|outofmemory|memory allocation failed|memory allocation failure|"
                 "memory allocation error|failed to allocate memory|insufficient memory|"
                 "not enough memory|could not allocate memory|failed to allocate gpu memory|"
                 "failed to allocate device memory|unable to allocate gpu memory|"
                 "unable to allocate device memory",
      .sets = PLIM_CLAUSES_PLAIN, .before = 160, .after = 200,
      .flags = PLIM_FORM_PLAIN | PLIM_FORM_PROSE },
    { ROW("shell-killed", "shell", "", HOST, HOST_KILLED),
      .anchors = "killed|已杀死|已砍掉|getötet|processus arrêté|terminado killed|ucciso|"
                 "убито|Убито|強制終了|죽었음|unicestwiony",
      .before = 10, .after = 40, .flags = PLIM_FORM_PLAIN | PLIM_FORM_ALONE },
};

const plim_form *plim_forms(size_t *ret_count)
{
    *ret_count = sizeof forms / sizeof forms[0];
    return forms;
}
