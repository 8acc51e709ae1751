"""What trainers and servers print while all is well: each shape yields the lines of a section."""

import json

GPUS = ["NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3", "NVIDIA GeForce RTX 4090",
        "Tesla V100-SXM2-32GB", "AMD Instinct MI300X", "Tesla T4", "NVIDIA L40S"]
MODELS = ["llama-7b", "gpt2-medium", "vit-large-patch16", "mixtral-8x7b", "qwen2-72b", "t5-3b",
          "resnet50", "mask-rcnn-r50-fpn", "stable-diffusion-xl", "whisper-small"]


def clock(step):
    return f"{8 + step // 3600 % 14:02}:{step // 60 % 60:02}:{step % 60:02}"


def bar(step, steps, width=24):
    """A tqdm bar as far as the percentage and the blocks."""
    eighths = " ▏▎▍▌▋▊▉"
    done = step * width * 8 // steps
    full = "█" * (done // 8)
    return f"{100 * step // steps:3}%|{full + eighths[done % 8]:<{width}}|"


def plain_loop(rng):
    """A script of one's own with print()."""
    mem = rng.uniform(2, 70)
    yield f"Using device cuda:0 ({rng.choice(GPUS)})"
    for step in range(rng.randint(200, 900)):
        mem += rng.uniform(-0.2, 0.2)
        yield (f"step {step:6d} | loss {rng.uniform(0.1, 9):.4f} | lr {rng.random() * 1e-3:.3e} | "
               f"norm {rng.uniform(0, 3):.3f} | dt {rng.uniform(80, 900):.1f}ms | "
               f"tok/s {rng.uniform(1e3, 1e6):.0f} | mem {abs(mem):.2f}GiB/79.15GiB")


def torchvision_loop(rng):
    for epoch in range(rng.randint(1, 3)):
        for step in range(0, 5005, 20):
            yield (f"Epoch: [{epoch}]  [{step:4}/5005]  eta: 0:{rng.randint(0, 59):02}:"
                   f"{rng.randint(0, 59):02}  lr: 0.1  img/s: {rng.uniform(300, 900):.3f}  "
                   f"loss: {rng.uniform(0, 7):.4f} ({rng.uniform(0, 7):.4f})  "
                   f"time: {rng.random():.4f}  data: {rng.random():.4f}  "
                   f"max mem: {rng.randint(5000, 30000)}")


def huggingface(rng):
    yield "***** Running training *****"
    yield f"  Num examples = {rng.randint(1000, 900000):,}"
    yield "  Gradient Accumulation steps = 8"
    total = rng.randint(400, 3000)
    for step in range(0, total, 10):
        if step % 100 == 0:
            yield (f"\r{bar(step, total)} {step}/{total} [{clock(step)}<{clock(total - step)}, "
                   f"{rng.uniform(0.4, 9):.2f}it/s]")
        yield str({"loss": round(rng.uniform(0, 4), 4), "grad_norm": rng.uniform(0, 9),
                   "learning_rate": rng.random() * 5e-5, "epoch": round(step / total * 3, 2)})
    yield str({"train_runtime": rng.uniform(100, 9999), "train_samples_per_second": 12.5,
               "train_mem_gpu_alloc_delta": rng.randint(0, 1 << 34),
               "train_mem_gpu_peaked_delta": rng.randint(0, 1 << 34)})


def lightning(rng):
    yield "GPU available: True (cuda), used: True"
    yield "TPU available: False, using: 0 TPU cores"
    yield "LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0,1,2,3]"
    yield "  | Name    | Type             | Params | Mode "
    yield "-" * 49
    yield "0 | encoder | TransformerStack | 1.2 B  | train"
    yield "1 | loss    | CrossEntropyLoss | 0      | train"
    yield f"{rng.uniform(100, 9000):.3f}   Total estimated model params size (MB)"
    for size in (2, 4, 8, 16):
        yield f"Batch size {size} succeeded, trying batch size {size * 2}"
    yield "Finished batch size finder, will continue with full run using batch size 32"
    for epoch in range(rng.randint(2, 6)):
        yield "".join(
            f"\rEpoch {epoch}: {bar(step, 400)} {step}/400 [{clock(step)}<{clock(400 - step)}, "
            f"{rng.uniform(1, 9):.2f}it/s, v_num={rng.randint(0, 99)}, "
            f"train_loss={rng.uniform(0, 4):.3f}, gpu_mem={rng.uniform(4, 70):.1f}GB, oom=0]"
            for step in range(0, 401, 8))


def megatron(rng):
    yield "------------------------ arguments ------------------------"
    for name, value in (("accumulate_allreduce_grads_in_fp32", True), ("hidden_size", 8192),
                        ("recompute_granularity", "selective"), ("empty_unused_memory_level", 0),
                        ("exit_on_missing_checkpoint", False), ("log_memory_to_tensorboard", True),
                        ("fine_grained_activation_offload_oom_fallback", False)):
        yield f"  {name} {'.' * (46 - len(name))} {value}"
    yield "-------------------- end of arguments ---------------------"
    yield (f" [Rank 0] (after 10 iterations) memory (MB) | allocated: {rng.uniform(1e3, 7e4):.6f} | "
           f"max allocated: {rng.uniform(3e4, 7e4):.6f} | reserved: {rng.randint(30000, 79000)}.0 | "
           f"max reserved: {rng.randint(60000, 80000)}.0")
    for step in range(1, rng.randint(100, 500)):
        yield (f" [2026-03-{rng.randint(1, 28):02} {clock(step)}] iteration {step:8}/  500000 | "
               f"consumed samples: {step * 1024:12} | elapsed time per iteration (ms): "
               f"{rng.uniform(900, 30000):.1f} | throughput per GPU (TFLOP/s/GPU): "
               f"{rng.uniform(90, 480):.1f} | learning rate: {rng.random() * 3e-4:.6E} | "
               f"global batch size:  1024 | lm loss: {rng.uniform(1, 9):.6E} | loss scale: 1.0 | "
               f"grad norm: {rng.uniform(0, 5):.3f} | number of skipped iterations:   0 | "
               f"number of nan iterations:   0 |")


def deepspeed(rng):
    for step in range(rng.randint(60, 300)):
        head = f"[2026-03-04 {clock(step)},{rng.randint(0, 999):03}] [INFO] "
        yield (f"{head}[logging.py:96:log_dist] [Rank 0] step={step * 10}, skipped=0, "
               f"lr=[{rng.random() * 1e-4:.6e}], mom=[(0.9, 0.95)]")
        yield (f"{head}[utils.py:800:see_memory_usage] MA {rng.uniform(1, 60):.2f} GB         "
               f"Max_MA {rng.uniform(1, 70):.2f} GB         CA {rng.uniform(1, 75):.2f} GB         "
               f"Max_CA {rng.randint(1, 80)} GB ")
        yield (f"{head}[utils.py:807:see_memory_usage] CPU Virtual Memory:  used = "
               f"{rng.uniform(50, 900):.2f} GB, percent = {rng.uniform(3, 97):.1f}%")
        if step % 40 == 7:
            yield (f"[2026-03-04 {clock(step)}] [WARNING] [stage3.py:1949:step] {rng.randint(1, 30)} "
                   "pytorch allocator cache flushes since last step. this happens when there is high "
                   "memory pressure and is detrimental to performance. consider settings that "
                   "use less memory, or torch.cuda.empty_cache() at the same step on all ranks")
    yield "Estimated memory needed for params, optim states and gradients for a:"
    yield "HW: Setup with 1 node, 8 GPUs per node."
    yield "  per CPU  |  per GPU |   Options"
    yield "  18.21GB  |   0.21GB | offload_param=cpu , offload_optimizer=cpu , zero_init=1"


def openmmlab(rng):
    for step in range(50, rng.randint(3000, 20000), 50):
        yield (f"03/{rng.randint(1, 28):02} {clock(step)} - mmengine - INFO - Epoch(train)  "
               f"[{step // 7330 + 1}][{step % 7330:4}/7330]  lr: 2.0000e-02  eta: 1 day, "
               f"{clock(step * 7)}  time: {rng.random():.4f}  data_time: {rng.random() / 9:.4f}  "
               f"memory: {rng.randint(3000, 30000)}  loss: {rng.uniform(0, 3):.4f}  "
               f"loss_rpn_cls: {rng.random():.4f}  acc: {rng.uniform(60, 99):.4f}")


def yolo(rng):
    yield (f"Ultralytics 8.3.{rng.randint(0, 99)} Python-3.11.9 torch-2.4.0 CUDA:0 "
           f"({rng.choice(GPUS)}, 81051MiB)")
    yield "AutoBatch: Computing optimal batch size for imgsz=640 at 60.0% CUDA memory utilization."
    yield (f"AutoBatch: CUDA:0 ({rng.choice(GPUS)}) 79.15G total, 0.10G reserved, 0.09G allocated, "
           "78.96G free")
    yield "      Params      GFLOPs  GPU_mem (GB)  forward (ms) backward (ms)                   input"
    yield "     3157200       8.858         0.284         21.04           nan        (1, 3, 640, 640)"
    for epoch in range(1, rng.randint(5, 40)):
        yield "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size"
        yield "".join(
            f"\r{epoch:7}/300 {rng.uniform(2, 20):9.3g}G {rng.uniform(0, 4):10.4f} "
            f"{rng.uniform(0, 4):10.4f} {rng.uniform(0, 4):10.4f} {rng.randint(1, 300):10}        "
            f"640: {bar(step, 117, 10)} {step}/117 [{clock(step)}<{clock(117 - step)}, "
            f"{rng.uniform(1, 9):.2f}it/s]" for step in range(0, 118, 13))
        yield (f"                 Class     Images  Instances      Box(P          R      mAP50  "
               f"mAP50-95): 100%|██████████| 40/40\n                   all       5000      36335      "
               f"{rng.random():.3f}      {rng.random():.3f}      {rng.random():.3f}      "
               f"{rng.random():.3f}")


def fairseq(rng):
    for step in range(100, rng.randint(2000, 20000), 100):
        yield f"2026-03-04 {clock(step)} | INFO | train_inner | " + json.dumps(
            {"epoch": 1 + step // 5000, "update": round(step / 5000, 3),
             "loss": f"{rng.uniform(2, 14):.3f}", "ppl": f"{rng.uniform(3, 900):.2f}",
             "wps": f"{rng.uniform(1e3, 1e5):.1f}", "num_updates": str(step), "gnorm": "0.9",
             "clip": "0", "oom": "0", "loss_scale": "128", "train_wall": "61", "gb_free": "21.4",
             "wall": str(step)})


def keras(rng):
    for epoch in range(1, rng.randint(4, 20)):
        yield f"Epoch {epoch}/{30}"
        yield "\b" * 80 + "".join(
            f"\r{step:4}/1875 ━━━━━━━━━━━━━━━━━━━━ {clock(1875 - step)} {rng.randint(1, 90)}ms/step - "
            f"accuracy: {rng.random():.4f} - loss: {rng.uniform(0, 3):.4f}"
            for step in range(1, 1876, 75))


def tensorflow_start(rng):
    for gpu in range(rng.randint(20, 120)):
        head = f"2026-03-04 {clock(gpu)}.{rng.randint(0, 999999):06}: "
        yield (f"{head}I tensorflow/core/platform/cpu_feature_guard.cc:210] This TensorFlow binary is "
               "optimized to use available CPU instructions in performance-critical operations.")
        yield (f"{head}I tensorflow/core/common_runtime/gpu/gpu_device.cc:1928] Created device "
               f"/job:localhost/replica:0/task:0/device:GPU:{gpu % 8} with "
               f"{rng.randint(9000, 79000)} MB memory:  -> device: {gpu % 8}, name: "
               f"{rng.choice(GPUS)}, pci bus id: 0000:{rng.randint(0, 255):02x}:00.0, "
               "compute capability: 8.0")
        if gpu % 5 == 0:
            yield (f"{head}W external/local_tsl/tsl/framework/cpu_allocator_impl.cc:83] Allocation of "
                   f"{rng.randint(1 << 28, 1 << 35)} exceeds 10% of free system memory.")
        if gpu % 7 == 0:
            yield (f"{head}W tensorflow/core/common_runtime/bfc_allocator.cc:360] Garbage collection: "
                   "deallocate free memory regions (i.e., allocations) so that we can re-allocate a "
                   "larger region to avoid OOM due to memory fragmentation. Seen often, it says that "
                   "you are near the limit of the device's memory; smaller batches may be faster. "
                   "Set TF_ENABLE_GPU_GARBAGE_COLLECTION=false to disable this.")
        yield (f"{head}I tensorflow/core/common_runtime/gpu/gpu_process_state.cc:236] Using CUDA malloc "
               "Async allocator for GPU: 0")


def jax_run(rng):
    yield "XLA_PYTHON_CLIENT_PREALLOCATE=false XLA_PYTHON_CLIENT_MEM_FRACTION=.92"
    yield f"JAX devices: [CudaDevice(id=0), CudaDevice(id=1)] process 0/{rng.randint(1, 64)}"
    for step in range(rng.randint(80, 400)):
        yield (f"I0304 {clock(step)}.{rng.randint(0, 999999):06} {rng.randint(1, 99999)} "
               f"trainer.py:{rng.randint(1, 900)}] step: {step}, loss: {rng.uniform(0, 9):.6f}, "
               f"steps_per_sec: {rng.random():.4f}")
        if step % 20 == 0:
            yield str({"bytes_in_use": rng.randint(1 << 30, 1 << 36), "largest_alloc_size": 1 << 28,
                       "bytes_limit": 1 << 36, "peak_bytes_in_use": rng.randint(1 << 30, 1 << 36),
                       "bytes_reserved": 0, "num_allocs": rng.randint(1, 1 << 20),
                       "largest_free_block_bytes": 0})


def vllm_server(rng):
    head = f"(EngineCore_DP0 pid={rng.randint(100, 99999)}) INFO 03-04 "
    total = rng.choice((23.65, 44.53, 79.11, 139.81))
    share = rng.choice((0.85, 0.90, 0.95))
    yield f"{head}{clock(1)} [gpu_model_runner.py:2007] Starting to load model {rng.choice(MODELS)}..."
    yield (f"{head}{clock(9)} [worker.py:267] the current vLLM instance can use total_gpu_memory "
           f"({total}GiB) x gpu_memory_utilization ({share:.2f}) = {total * share:.2f}GiB")
    yield (f"{head}{clock(9)} [worker.py:267] model weights take {rng.uniform(4, 15):.2f}GiB; "
           f"non_torch_memory takes {rng.random():.2f}GiB; PyTorch activation peak memory takes "
           f"{rng.uniform(0, 4):.2f}GiB; the rest of the memory reserved for KV Cache is "
           f"{rng.uniform(4, 50):.2f}GiB.")
    yield (f"{head}{clock(11)} [model_runner.py:1456] Capturing cudagraphs for decoding. This may lead "
           "to unexpected consequences if the model is not static. To run the model in eager mode, "
           "set 'enforce_eager=True' or use '--enforce-eager' in the CLI. If out-of-memory error "
           "occurs during cudagraph capture, consider decreasing `gpu_memory_utilization` or "
           "switching to eager mode. You can also reduce the `max_num_seqs` as needed to decrease "
           "memory usage.")
    yield (f"{head}{clock(11)} [model_runner.py:1002] CUDA graphs can take additional 1~3 GiB memory "
           "per GPU. If you are running out of memory, consider decreasing `gpu_memory_utilization` "
           "or enforcing eager mode. You can also reduce the `max_num_seqs` as needed.")
    yield (f"{head}{clock(12)} [gpu_worker.py:298] Free memory on device ({total - 1:.2f}/{total} GiB) "
           f"on startup. Desired GPU memory utilization is ({share}, {total * share:.2f} GiB). Actual "
           f"usage is {rng.uniform(4, 15):.2f} GiB for weight, 1.02 GiB for peak activation, 0.2 GiB "
           "for non-torch memory, and 0.7 GiB for CUDAGraph memory. Replace gpu_memory_utilization "
           f"config with `--kv-cache-memory={rng.randint(1 << 30, 1 << 36)}` to fit into requested "
           "memory.")
    for step in range(rng.randint(150, 600)):
        yield (f"INFO 03-04 {clock(step * 10)} [loggers.py:123] Engine 000: Avg prompt throughput: "
               f"{rng.uniform(0, 9e3):.1f} tokens/s, Avg generation throughput: "
               f"{rng.uniform(0, 3e3):.1f} tokens/s, Running: {rng.randint(0, 256)} reqs, Waiting: "
               f"{rng.randint(0, 99)} reqs, GPU KV cache usage: {rng.uniform(0, 100):.1f}%, "
               f"Prefix cache hit rate: {rng.uniform(0, 100):.1f}%")
        yield (f'INFO:     10.0.{rng.randint(0, 255)}.{rng.randint(0, 255)}:{rng.randint(1024, 65535)}'
               ' - "POST /v1/chat/completions HTTP/1.1" 200 OK')


def sglang_server(rng):
    yield ("[2026-03-04 09:00:00] server_args=ServerArgs(model_path='models/x', mem_fraction_static="
           "0.88, max_running_requests=None, schedule_conservativeness=1.0, "
           "disable_cuda_graph=False, oom_retry_limit=0, gc_warning_threshold_secs=0.0)")
    free = rng.uniform(20, 130)
    yield f"[2026-03-04 09:00:03 TP0] Load weight begin. avail mem={free:.2f} GB"
    yield (f"[2026-03-04 09:00:19 TP0] KV Cache is allocated. #tokens: {rng.randint(9, 999)}207, K "
           f"size: {free / 3:.2f} GB, V size: {free / 3:.2f} GB")
    yield f"[2026-03-04 09:00:19 TP0] Memory pool end. avail mem={free / 4:.2f} GB"
    yield ("[2026-03-04 09:00:20 TP0] Capture cuda graph begin. This can take up to several minutes. "
           f"avail mem={free / 4:.2f} GB")
    for step in range(rng.randint(150, 700)):
        yield (f"[2026-03-04 {clock(step)} TP0] Decode batch, #running-req: {rng.randint(1, 200)}, "
               f"#token: {rng.randint(100, 999999)}, token usage: {rng.random():.2f}, cuda graph: "
               f"True, gen throughput (token/s): {rng.uniform(50, 9000):.2f}, #queue-req: 0")


def llama_cpp(rng):
    yield "ggml_cuda_init: found 1 CUDA devices:"
    yield f"  Device 0: {rng.choice(GPUS)}, compute capability 8.9, VMM: yes"
    for layer in range(rng.randint(40, 200)):
        yield (f"llama_model_loader: - tensor {layer:4}: blk.{layer // 9}.ffn_down.weight q4_K     "
               f"[ 14336,  4096,     1,     1 ]")
    yield "load_tensors: offloaded 33/33 layers to GPU"
    yield f"load_tensors:        CUDA0 model buffer size = {rng.uniform(2e3, 4e4):.2f} MiB"
    yield f"llama_kv_cache_init:      CUDA0 KV buffer size = {rng.uniform(100, 9e3):.2f} MiB"
    yield f"llama_context:      CUDA0 compute buffer size = {rng.uniform(100, 999):.2f} MiB"
    yield "hint: lower --n-gpu-layers or --ctx-size if you run out of memory"


def memory_summary(rng):
    """torch.cuda.memory_summary() and memory_stats()."""
    def size():
        return f"{rng.randint(0, 99999):6} {rng.choice(('  B', 'KiB', 'MiB'))} "
    for gpu in range(rng.randint(5, 20)):
        yield "|" + "=" * 75 + "|"
        yield f"|                  PyTorch CUDA memory summary, device ID {gpu % 8}                 |"
        yield "|" + "-" * 75 + "|"
        yield "|            CUDA OOMs: 0            |        cudaMalloc retries: 0         |"
        yield "|" + "=" * 75 + "|"
        yield "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |"
        for name in ("Allocated memory", "Active memory", "Requested memory", "GPU reserved memory",
                     "Non-releasable memory", "Allocations", "Active allocs", "Oversize allocations",
                     "Oversize GPU segments"):
            yield "|" + "-" * 75 + "|"
            yield f"| {name:<21} |{size()} |{size()} |{size()} |{size()} |"
        yield "|" + "=" * 75 + "|"
        yield str({"active.all.allocated": rng.randint(1, 1 << 40), "num_alloc_retries": 0,
                   "num_ooms": 0, "num_device_alloc": rng.randint(1, 999), "max_split_size": -1})


def structured(rng):
    """JSON lines with memory in them, and without."""
    for step in range(rng.randint(200, 900)):
        yield json.dumps({"ts": f"2026-03-04T{clock(step)}Z", "level": "info", "event": "train_step",
                          "rank": rng.randint(0, 63), "step": step, "loss": rng.uniform(0, 9),
                          "gpu": {"mem_used_mb": rng.randint(1000, 80000), "mem_total_mb": 81559,
                                  "util": rng.randint(0, 100)}, "oom": False, "ooms": 0,
                          "error": None, "tags": ["prod", "memory-efficient"]})


def table_of_values(rng):
    yield "step,epoch,loss,accuracy,gpu_mem_mib,cpu_rss_bytes,oom_count,exit_reason"
    for step in range(rng.randint(500, 2500)):
        yield (f"{step},{step // 500},{rng.uniform(0, 9):.5f},{rng.random():.5f},"
               f"{rng.randint(1000, 80000)},{rng.randint(1 << 28, 1 << 36)},0,")


def arguments(rng):
    """The configuration as it is dumped at the start."""
    yield f"Namespace(model='{rng.choice(MODELS)}', oom_retries=3, skip_oom_batches=False, " + \
        ", ".join(f"opt_{i}={rng.choice((True, False, None, rng.random(), rng.randint(0, 9999)))}"
                  for i in range(rng.randint(30, 300))) + ")"
    for name in ("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:128",
                 "PYTORCH_ALLOC_CONF=expandable_segments:True", "PYTORCH_NO_CUDA_MEMORY_CACHING=0",
                 "TORCH_OOM_SNAPSHOT_DIR=/scratch/oom", "CUDA_DEVICE_MAX_CONNECTIONS=1",
                 "RAY_memory_usage_threshold=0.95", "RAY_task_oom_retries=-1",
                 "TF_FORCE_GPU_ALLOW_GROWTH=true", "NCCL_DEBUG=INFO", "OMP_NUM_THREADS=8"):
        yield f"  export {name}"
    yield "trainer:"
    for name in ("strategy: fsdp", "auto_find_batch_size: false", "on_oom: skip  # or: raise",
                 "oom_observer: true", "activation_memory_budget: 0.5", "memory_limit_gb: 75",
                 "memory: {max_allocated: true, oom_dump: false}"):
        yield f"  {name}"


def compile_and_tune(rng):
    for case in range(rng.randint(20, 90)):
        yield f"AUTOTUNE mm({rng.randint(1, 64) * 128}x4096, 4096x{rng.randint(1, 64) * 128})"
        for i in range(8):
            yield (f"  triton_mm_{case * 8 + i} {rng.random():.4f} ms {rng.uniform(40, 100):.1f}% "
                   f"ACC_TYPE='tl.float32', BLOCK_K=32, BLOCK_M=128, BLOCK_N=64, num_stages="
                   f"{rng.randint(2, 5)}, num_warps=8")
        yield (f"SingleProcess AUTOTUNE benchmarking takes {rng.random():.4f} seconds and "
               f"{rng.random():.4f} seconds precompiling")


SHAPES = [plain_loop, torchvision_loop, huggingface, lightning, megatron, deepspeed, openmmlab, yolo,
          fairseq, keras, tensorflow_start, jax_run, vllm_server, sglang_server, llama_cpp,
          memory_summary, structured, table_of_values, arguments, compile_and_tune]
