/*
 * clauses.c - the table of clauses, by program. The wording of each is a fact about that program,
 * gathered from its source or from messages that people posted (docs/design/explain.md).
 */
#include "oomtext/clauses.h"

#define TORCH    PLIM_CLAUSES_TORCH
#define MPS      PLIM_CLAUSES_MPS
#define ASYNC    PLIM_CLAUSES_ASYNC
#define PADDLE   PLIM_CLAUSES_PADDLE
#define TF       PLIM_CLAUSES_TF
#define BFC      PLIM_CLAUSES_BFC
#define XLA      PLIM_CLAUSES_XLA
#define TPU      PLIM_CLAUSES_TPU
#define CUPY     PLIM_CLAUSES_CUPY
#define RMM      PLIM_CLAUSES_RMM
#define XGBOOST  PLIM_CLAUSES_XGBOOST
#define FAISS    PLIM_CLAUSES_FAISS
#define GGML     PLIM_CLAUSES_GGML
#define OLLAMA   PLIM_CLAUSES_OLLAMA
#define METAL    PLIM_CLAUSES_METAL
#define OPENCL   PLIM_CLAUSES_OPENCL
#define MESA     PLIM_CLAUSES_MESA
#define VLLM     PLIM_CLAUSES_VLLM
#define TENSORRT PLIM_CLAUSES_TENSORRT
#define ORT      PLIM_CLAUSES_ORT
#define THEANO   PLIM_CLAUSES_THEANO
#define DARKNET  PLIM_CLAUSES_DARKNET
#define JULIA    PLIM_CLAUSES_JULIA
#define HOST     PLIM_CLAUSES_HOST
#define KERNEL   PLIM_CLAUSES_KERNEL
#define PLAIN    PLIM_CLAUSES_PLAIN
#define SUMMARY  PLIM_CLAUSES_SUMMARY
#define ASCEND   PLIM_CLAUSES_ASCEND

#define KEY   PLIM_CLAUSE_KEY
#define EARLY PLIM_CLAUSE_EARLY
#define LAST  PLIM_CLAUSE_LAST
#define EXACT PLIM_CLAUSE_EXACT
#define GLUED PLIM_CLAUSE_GLUED

static const plim_clause clauses[] = {
    /* PyTorch's caching allocator, all releases and devices. "cached" (up to 1.3) is the unused
     * part alone, "reserved in total" (1.4 to 2.0) live and unused together. */
    { TORCH | MPS | HOST, KEY, "tried to allocate", NULL, "{requested}" },
    { HOST, KEY, "tried to reallocate", NULL, "{requested}" },
    { TORCH, 0, "requested size", NULL, "[:]{requested:a}" },
    { TORCH, EARLY, "gpu", NULL, "{device:i}" },
    { TORCH, EARLY, "npu", NULL, "{device:i}" },
    { TORCH, EARLY, "xpu", NULL, "{device:i}" },
    { TORCH, EARLY, "total capacity", "{total}", "of {total}" },
    { TORCH, EARLY, "total capacty", "{total}", "of {total}" }, /* 2.1 spells it so */
    { TORCH, EARLY, "already allocated", "{allocated}", NULL },
    { TORCH, 0, "free", "{free}", NULL },
    { TORCH, 0, "is free", "{free}", NULL },
    { TORCH, 0, "total", "{total}", NULL },
    { TORCH, EARLY, "of which", NULL, "{free}" },
    { TORCH, EARLY, "allowed", "{limit}", NULL },
    { TORCH, 0, "with size larger than", NULL, "{limit}" },
    { TORCH, LAST, "cached", "{unallocated}", NULL },
    { TORCH, LAST, "cache", "{unallocated}", NULL },
    { TORCH, LAST, "reserved in total", "{reserved}", NULL },
    { TORCH, EARLY, "this process has", NULL, "{process}" },
    { TORCH, EARLY, "process", NULL, "!{pid:i} has {process_n}" },
    { TORCH, EARLY, "is allocated by", "{allocated}", NULL },
    { TORCH, 0, "allocated in private pools", "{private}", NULL },
    { TORCH, LAST, "is reserved by", "{unallocated}", NULL },
    { MPS, EARLY, "mps allocated", NULL, "[:]{allocated}" },
    { MPS, EARLY, "other allocations", NULL, "[:]{other}" },
    { MPS, EARLY, "max allowed", NULL, "[:]{limit}" },
    /* The driver's own pool (cudaMallocAsync) behind PyTorch. */
    { ASYNC, KEY, "allocation on device", NULL, "{device:i}" },
    { ASYNC, 0, "currently allocated", NULL, "[:]{allocated}" },
    { ASYNC, 0, "requested", NULL, "[:]{requested}" },
    { ASYNC, 0, "device limit", NULL, "[:]{total}" },
    { ASYNC, 0, "free according to cuda", NULL, "[)][:]{free}" },
    { ASYNC, LAST, "user supplied memory fraction", NULL, "[)][:]{limit}" },
    /* torch.cuda.memory_summary(): a row is "| Allocated memory | now | peak | … |". Releases
     * before 1.13 write MB, later ones MiB; "Requested memory" came with 2.1. */
    { SUMMARY, EARLY, "device id", NULL, "{device:i}" },
    { SUMMARY, 0, "cudamalloc retries", NULL, "[:]{:i}" },
    { SUMMARY, 0, "npumalloc retries", NULL, "[:]{:i}" },
    { SUMMARY, 0, "allocated memory", NULL, "[|]{allocated}[|]{allocated_peak}" },
    { SUMMARY, 0, "active memory", NULL, "[|]{active}[|]{}" },
    { SUMMARY, 0, "requested memory", NULL, "[|]{}[|]{}" },
    { SUMMARY, 0, "reserved memory", NULL, "[|]{reserved}[|]{reserved_peak}" },
    { SUMMARY, 0, "non releasable memory", NULL, "[|]{inactive_split}[|]{}" },
    { SUMMARY, 0, "from large pool", NULL, "[|]{}" },
    { SUMMARY, 0, "from small pool", NULL, "[|]{}" },
    /* PaddlePaddle. */
    { PADDLE, KEY | EARLY | EXACT, "cannot allocate", NULL, "{requested}" },
    { PADDLE, KEY | EARLY, "cannot malloc", NULL, "{requested}" },
    { PADDLE, EARLY, "gpu", NULL, "{device:i}" },
    { PADDLE, 0, "memory has been allocated", "{allocated}", NULL },
    { PADDLE, 0, "available memory is", NULL, "[only]{free}" },
    { PADDLE, 0, "available", NULL, "{free}" },
    { PADDLE, 0, "total", NULL, "{total:b}" },
    { PADDLE, 0, "gpu memory used", NULL, "[:]{allocated}" },
    { PADDLE, 0, "received allocating", NULL, "[_memory][:]{requested:b}" },
    { PADDLE, 0, "available", NULL, "[_memory]:{free:b}" },
    { PADDLE, 0, "available failed", NULL, ",{requested:b}[>][=]{free:b}" },
    /* TensorFlow, and what JAX and others took from it. */
    { TF, KEY, "oom when allocating tensor with shape", NULL, "{shape}" },
    { TF, KEY, "oom when allocating tensor of shape", NULL, "{shape}" },
    { TF, 0, "device gpu", NULL, "[:]{device:i}" },
    { TF, 0, "device dml", NULL, "[:]{device:i}" },
    { TF, 0, "device xla gpu", NULL, "[:]{device:i}" },
    { TF | BFC, EARLY, "gpu", NULL, "!_{device:i}_bfc" },
    { TF, KEY, "memory when allocating", NULL, "{requested:a}" },
    { TF | BFC, KEY | EARLY, "memory trying to allocate", NULL, "{requested:a}" },
    { TF, KEY, "failed to allocate", NULL, "{requested}[({requested:b}]" },
    { TF, KEY, "failed to alloc", NULL, "{requested:a}" },
    { TF, KEY, "pinned host memory of size", NULL, "[:]{requested:a}" },
    { TF, EARLY, "total memory", NULL, ":{total}" },
    { TF, EARLY, "totalMemory", NULL, ":{total}" },
    { TF, EARLY, "free memory", NULL, ":{free}" },
    { TF, EARLY, "freeMemory", NULL, ":{free}" },
    { TF, EARLY, "device", NULL, "!:{device:i},name" },
    { BFC, EARLY, "sum total of in use chunks", NULL, "[:]{allocated}" },
    { BFC, KEY, "tried to allocate", NULL, "{requested}" },
    { BFC, EARLY, "total region allocated bytes", NULL, "[_][:]{reserved:a}" },
    { BFC, EARLY, "total size in pool", NULL, "[:]{reserved:a}" },
    { BFC, EARLY, "total bytes in pool", NULL, "[:]{reserved:a}" },
    { BFC, EARLY, "memory limit", NULL, "[_][:]{limit:a}" },
    { BFC, EARLY, "available bytes", NULL, "[:]{free:a}" },
    { BFC, EARLY, "available size", NULL, "[:]{free:a}" },
    { BFC, EARLY | EXACT, "limit", NULL, ":{limit:a}" },
    { BFC, EARLY | EXACT | GLUED, "in use", NULL, ":{allocated:a}" },
    { BFC, 0, "oom when allocating tensor with shape", NULL, "{shape}" },
    { BFC, 0, "device gpu", NULL, "[:]{device:i}" },
    /* JAX, XLA, TPU. */
    { XLA | BFC, KEY, "while trying to allocate", NULL, "{requested:a}" },
    { XLA | BFC, KEY, "out of memory allocating", NULL, "{requested:a}" },
    { XLA | BFC, KEY, "failed to allocate request for", NULL, "{requested}[({requested:b}]" },
    { XLA, 0, "on device ordinal", NULL, "{device:i}" },
    { XLA, EARLY, "bytes on device", NULL, "!{device:i} for bfcallocator" },
    { TPU, KEY, "in memory space hbm", NULL, "[.] used {requested} of {total}" },
    { TPU, KEY, "in memory space vmem", NULL, "[.] used {shared_required} of {shared_limit}" },
    { TPU, KEY, "in memory space smem", NULL, "[.] used {shared_required} of {shared_limit}" },
    { TPU, KEY, "in memory space sflag", NULL, "[.] used {shared_required:a} of {shared_limit:a}" },
    { TPU, KEY, "attempting to reserve", NULL, "{requested}" },
    { TPU, KEY, "attempting to allocate", NULL, "{requested}" },
    { TPU, 0, "there are", NULL, "{free} free" },
    /* RAPIDS and friends. */
    { CUPY, KEY, "out of memory allocating", NULL, "{requested:b}" },
    { CUPY, 0, "allocated so far", NULL, "[:]{allocated:b}" },
    { CUPY, 0, "limit set to", NULL, "[:]{limit:b}" },
    { CUPY, KEY, "out of memory to allocate", NULL, "{requested:b}" },
    { RMM, EARLY, "upstream", NULL, "{requested:b}" },
    { RMM, 0, "current max try size", NULL, "[=]{reserved},{limit},{:s}" },
    { RMM, 0, "failed to allocate", NULL, "{requested:a}" },
    { XGBOOST, 0, "free memory", NULL, "[:]{free:a}" },
    { XGBOOST, 0, "requested memory", NULL, "[:]{requested:a}" },
    { XGBOOST, 0, "requested", NULL, "[:]{requested:a}" },
    { FAISS, KEY, "failed to cudamalloc", NULL, "{requested:b}" },
    { FAISS, 0, "on device", NULL, "{device:i}" },
    { FAISS, 0, "dev", NULL, "!{device:i} space" },
    { FAISS, 0, "size", NULL, "!{requested:b} ( cudaMalloc" },
    { FAISS, 0, "size", NULL, "!{requested:b} (" },
    /* ggml (llama.cpp, whisper.cpp, stable-diffusion.cpp), ollama, Apple's MLX. */
    { GGML, KEY, "allocating", NULL, "{requested} on device {device:i}" },
    { GGML, 0, "buffer of size", NULL, "{requested:a}" },
    { GGML, EXACT, "failed to allocate cuda", NULL, "!{device:i} buffer of size {requested:b}" },
    { GGML, EXACT, "failed to allocate rocm", NULL, "!{device:i} buffer of size {requested:b}" },
    { GGML, EXACT, "failed to allocate vulkan", NULL, "!{device:i} buffer of size {requested:b}" },
    { GGML, EXACT, "failed to allocate sycl", NULL, "!{device:i} buffer of size {requested:b}" },
    { GGML, 0, "unable to allocate cuda", NULL, "!{device:i} buffer" },
    { GGML, 0, "unable to allocate rocm", NULL, "!{device:i} buffer" },
    { GGML, KEY, "device memory allocation of size", NULL, "{requested:a}" },
    { GGML, KEY, "requested buffer size", NULL,
      "!({requested:b}) exceeds device memory allocation limit ({limit:b}" },
    { GGML, KEY, "failed to allocate", NULL, "!{requested} of pinned memory" },
    { GGML, 0, "buffer", NULL, "!, size = {requested}" },
    { GGML | METAL, KEY, "size", NULL,
      "!{requested:a} is larger than buffer maximum of {limit:a}" },
    { OLLAMA, KEY, "requires more system memory", NULL,
      "[(]{requested}[)] than is available [(]{free}" },
    { METAL, KEY, "attempting to allocate", NULL, "{requested:a}" },
    { METAL, 0, "must not exceed", NULL, "{limit}" },
    { METAL, EARLY, "size", NULL, "!({requested:b}) is too large" },
    { METAL, 0, "maximum allowed buffer size of", NULL, "{limit:a}" },
    { METAL, KEY, "unable to allocate", NULL, "{requested:a}" },
    /* Graphics. */
    { OPENCL, EARLY, "clcreatebuffer", NULL, "!( ~ {requested:b} ," },
    { OPENCL, 0, "device", NULL, "![#]{device:i}" },
    { OPENCL, EARLY, "device", NULL, "!#{device:i}:not" },
    { OPENCL, EARLY, "global memory", NULL, "[:]{total:a}" },
    { OPENCL, EARLY, "max allocation", NULL, "[:]{limit:a}" },
    { MESA, KEY, "size", NULL, "!: {requested:b}" },
    /* Servers. */
    { VLLM, KEY, "free memory on device", NULL, "[cuda:{device:i}] ({free:u} / {total})" },
    { VLLM, EARLY, "total_gpu_memory", NULL, "[=][(]{total}" },
    { VLLM, EARLY, "gpu_memory_utilization", NULL, "!( {:u} ) = {limit}" },
    { VLLM, EARLY, "model weights take", NULL, "{allocated}" },
    { VLLM, 0, "desired gpu memory utilization", NULL, "({:u}, {requested}" },
    { VLLM, 0, "kv cache is needed", "{requested}", NULL },
    { VLLM, 0, "larger than the available", NULL, "({limit}" },
    { VLLM, 0, "than the available kv cache memory", NULL, "[(]{limit}" },
    { TENSORRT, KEY, "requested amount of gpu memory", NULL, "[(]{requested:a}" },
    { TENSORRT, KEY, "requested amount of memory", NULL, "[(]{requested:a}" },
    { TENSORRT, KEY, "device request", NULL, "[:]{requested}[.,] available [:]{free}" },
    { ORT, KEY, "requested buffer of size", NULL, "{requested:a}" },
    { ORT, KEY, "could not allocate tensor with", NULL, "{requested:a}" },
    /* Older programs. */
    { THEANO, KEY | EARLY, "error allocating", NULL, "{requested:b}" },
    { THEANO, 0, "driver report", NULL, "{free:b} free and {total:b} total" },
    { DARKNET, EARLY, "need memory", NULL, "[:]{requested:b}" },
    { DARKNET, EARLY, "available", NULL, "!:{free:b}" },
    { JULIA, KEY, "memory trying to allocate", NULL, "{requested}" },
    { JULIA, EARLY, "effective gpu memory usage", NULL, "[:]{:u}% ({:s}/{total}" },
    { JULIA, EARLY, "memory pool usage", NULL, "!: {:s} ({allocated} allocated" },
    { JULIA, EARLY, "cuda allocator usage", NULL, "!: {reserved} (capped" },
    { JULIA, EARLY, "cuda allocator usage", NULL, "!: {allocated} ({reserved} reserved" },
    { JULIA, EARLY, "memory pool usage", NULL, "!: {allocated} ({reserved} reserved" },
    { JULIA, EARLY, "memory pool usage", NULL, "!: {reserved} (capped" },
    { JULIA, EARLY, "cuda allocator usage", NULL, ": {reserved}" },
    { JULIA, 0, "capped at", NULL, "{limit}" },
    { ASCEND, EARLY, "alloc size", NULL, "[:]{requested:b}" },
    { ASCEND, 0, "total mem size", NULL, "[:]{total:b}" },
    { ASCEND, EARLY, "totalusedmemstatistics", NULL, "[:]{allocated:b}" },
    { ASCEND, EARLY, "size", NULL, "!:{requested:b}" },
    { ASCEND, EARLY, "device id", NULL, "[_][:]{device:i}" },
    /* The host. */
    { HOST, KEY, "unable to allocate", NULL, "{requested:a}" },
    { HOST, KEY, "unable to allocate array with shape", NULL, NULL },
    { HOST, EARLY, "failed to allocate", NULL, "{requested:a}" },
    { HOST, EARLY, "failed to map", NULL, "{requested:a}" },
    { HOST, KEY, "unable to mmap", NULL, "{requested:a}" },
    { HOST, KEY, "failed to alloc", NULL, "{requested:a}" },
    { HOST, KEY, "pinned host memory of size", NULL, "[:]{requested:a}" },
    { HOST, KEY, "failed to allocate", NULL, "!{requested} of pinned memory" },
    /* Kernels. */
    { KERNEL, EARLY, "required", NULL, "[:]{shared_required:a}" },
    { KERNEL, 0, "hardware limit", NULL, "[:]{shared_limit:a}" },
    { KERNEL, 0, "hardware limitation", NULL, "[:]{shared_limit:a}" },
    /* Anyone. */
    { PLAIN, KEY, "tried to allocate", NULL, "{requested}" },
    { PLAIN, KEY, "trying to allocate", NULL, "{requested}" },
    { PLAIN, KEY | EARLY, "failed to allocate", NULL, "{requested}" },
    { PLAIN, KEY | EARLY, "cannot allocate", NULL, "{requested}" },
    { PLAIN, KEY | EARLY, "could not allocate", NULL, "{requested}" },
    { PLAIN, KEY | EARLY, "couldnt allocate", NULL, "{requested}" },
    { PLAIN, KEY | EARLY, "unable to allocate", NULL, "{requested}" },
    { PLAIN, KEY | EARLY, "error allocating", NULL, "{requested}" },
    { PLAIN, KEY | EARLY, "allocation of", NULL, "!{requested} failed" },
    { PLAIN, 0, "allocation of size", NULL, "{requested}" },
    { PLAIN, 0, "calloc", NULL, "{requested}" },
    { PLAIN, KEY, "while requesting", NULL, "{requested}" },
    { PLAIN, EARLY, "generating dag light", NULL, "[:]{requested}" },
    { PLAIN, EARLY, "allocating dag", NULL, "[(]{requested}" },
    { PLAIN, EARLY, "cuda memory", NULL, "!: {total} total, {free} free" },
    { PLAIN, 0, "on device", NULL, "{device:i}" },
    { PLAIN, 0, "on gpu", NULL, "{device:i}" },
    { PLAIN, EARLY, "gpu", NULL, "!{device:i} failed" },
    { PLAIN, 0, "gpu", NULL, "!={device:i}" },
    { PLAIN, EARLY, "when allocating", NULL, "{requested}" },
    { PLAIN, EARLY, "while allocating", NULL, "{requested}" },
};

const plim_clause *plim_clauses(size_t *ret_count)
{
    *ret_count = sizeof clauses / sizeof clauses[0];
    return clauses;
}
