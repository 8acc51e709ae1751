"""What machines, schedulers and installers print around a training run: lines by section."""

import base64
import json

from log_training import GPUS, clock

PACKAGES = ["torch", "numpy", "xformers", "flash_attn", "bitsandbytes", "memory_profiler", "psutil",
            "pytest-memray", "accelerate", "nvidia_cublas_cu12", "triton", "oomstore", "zarr",
            "py-cgroup-oom", "sentencepiece", "rmm_cu12", "tokenizers", "earlyoom-exporter"]


def nccl(rng):
    host = f"node{rng.randint(1, 999):03}"
    for channel in range(rng.randint(100, 700)):
        head = f"{host}:{rng.randint(1000, 99999)}:{rng.randint(1000, 99999)} [{channel % 8}] NCCL INFO "
        yield rng.choice((
            f"{head}Channel {channel % 32:02}/32 : {channel % 8}[{channel % 8}] -> "
            f"{(channel + 1) % 8}[{(channel + 1) % 8}] via P2P/CUMEM/read",
            f"{head}NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.{channel % 256}<0>",
            f"{head}comm 0x{rng.getrandbits(48):x} rank {channel % 8} nranks 8 cudaDev {channel % 8} "
            f"nvmlDev {channel % 8} busId {rng.randint(1, 255):x}000 commId 0x{rng.getrandbits(64):x} - "
            "Init COMPLETE",
            f"{head}Allocated {rng.randint(1, 99999999)} bytes of memory in 12 chunks for proxy",
            f"{head}DMA-BUF is available on GPU device {channel % 8}"))


def nvidia_smi(rng):
    for _ in range(rng.randint(4, 15)):
        yield "+-----------------------------------------------------------------------------------+"
        yield "| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    CUDA Version: 12.4           |"
        yield "| GPU  Name                 Persistence-M | Bus-Id     Disp.A | Volatile Uncorr. ECC |"
        yield "| Fan  Temp   Perf          Pwr:Usage/Cap |      Memory-Usage | GPU-Util  Compute M. |"
        for gpu in range(8):
            yield (f"|   {gpu}  {rng.choice(GPUS):<24} On  | 00000000:{rng.randint(0, 255):02X}:00.0 "
                   f"Off |                    0 |")
            yield (f"| N/A   {rng.randint(30, 80)}C    P0    {rng.randint(60, 700)}W / 700W | "
                   f"{rng.randint(0, 81559):6}MiB / 81559MiB |    {rng.randint(0, 100):3}%      Default |")
        yield "| Processes:                                                           GPU Memory   |"
        for gpu in range(8):
            yield (f"|    {gpu}   N/A  N/A   {rng.randint(1, 4194303):7}      C   python3"
                   f"                       {rng.randint(100, 80000):6}MiB |")
        yield "+-----------------------------------------------------------------------------------+"


def slurm(rng):
    job = rng.randint(100000, 9999999)
    yield f"srun: job {job} queued and waiting for resources"
    yield f"srun: job {job} has been allocated resources"
    yield f"JobId={job} JobName=train OomKillStep=0 MailType=FAIL,TIME_LIMIT"
    yield "   ReqTRES=cpu=64,mem=500G,node=1,gres/gpu=8 MinMemoryNode=500G Power= Requeue=1"
    yield ("states: BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PENDING "
           "PREEMPTED RUNNING REQUEUED TIMEOUT")
    yield "JobID           JobName  MaxRSS     MaxVMSize      State ExitCode"
    for step in range(rng.randint(5, 40)):
        yield (f"{job}.{step:<6}  train.sh {rng.randint(1, 1 << 28):9}K {rng.randint(1, 1 << 29):9}K "
               f" COMPLETED      0:0")
    yield "Memory Utilized: 487.21 GB"
    yield f"Memory Efficiency: {rng.uniform(60, 99.9):.2f}% of 500.00 GB"
    yield (f"slurmstepd: error: *** JOB {job} ON node{rng.randint(1, 99):03} CANCELLED AT "
           f"2026-03-04T{clock(job)} DUE TO TIME LIMIT ***")
    yield f"srun: error: node{rng.randint(1, 99):03}: task {rng.randint(0, 7)}: Exited with exit code 1"


def installers(rng):
    for _ in range(rng.randint(10, 60)):
        name, major = rng.choice(PACKAGES), rng.randint(0, 9)
        yield rng.choice((
            f"Collecting {name}>={major}.1\n  Downloading {name}-{major}.4.2-cp311-cp311-manylinux_2_17_"
            f"x86_64.whl ({rng.uniform(0.1, 900):.1f} MB)\n     ━━━━━━━━━━━━━━━━━━━━━━ "
            f"{rng.uniform(0.1, 900):.1f}/900.0 MB {rng.uniform(1, 99):.1f} MB/s eta 0:00:00",
            f"Requirement already satisfied: {name} in ./env/lib/python3.11/site-packages ({major}.0)",
            f"Get:{major} http://deb.example.org/ubuntu noble/main amd64 lib{name} amd64 {major}.4-2 "
            f"[{rng.randint(10, 9999)} kB]",
            f"Setting up lib{name}:amd64 ({major}.4-2ubuntu1) ...",
            "Setting up systemd-oomd (255.4-1ubuntu8.4) ...",
            "Created symlink /etc/systemd/system/multi-user.target.wants/earlyoom.service",
            f"{name}-{major}.4.2         | {rng.uniform(0.1, 99):.1f} MB  | "
            f"{'#' * rng.randint(1, 40)} | {rng.randint(1, 100)}%",
            f"  {name:<28}{major}.4.2-py311h{rng.getrandbits(28):07x}_0  conda-forge"))
    yield "Successfully installed " + " ".join(f"{name}-1.{rng.randint(0, 99)}" for name in PACKAGES)


def boot(rng):
    """A kernel log, and what systemd and its like say of memory without lacking any."""
    for line in range(rng.randint(60, 300)):
        at = f"[{line * 3.1 + rng.random():12.6f}] "
        yield at + rng.choice((
            f"Memory: {rng.randint(1 << 20, 1 << 30)}K/{1 << 31}K available (20480K kernel code, 4236K "
            "rwdata, 12872K rodata, 4740K init, 5124K bss, 1203912K reserved, 0K cma-reserved)",
            "systemd[1]: Starting systemd-oomd.service - Userspace Out-Of-Memory (OOM) Killer...",
            "systemd[1]: Started systemd-oomd.service - Userspace Out-Of-Memory (OOM) Killer.",
            "systemd[1]: Listening on systemd-oomd.socket - Userspace Out-Of-Memory (OOM) Killer Socket.",
            f"earlyoom[{rng.randint(1, 9999)}]: mem avail: {rng.randint(900, 64000)} of 64215 MiB "
            f"({rng.uniform(20, 99):.2f}%), swap free: 2047 of 2047 MiB (100.00%)",
            f"udevd[{rng.randint(1, 9999)}]: oom_score_adj set to -1000",
            f"NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15  rank {line}",
            f"nvidia-uvm: Loaded the UVM driver, major device number {rng.randint(200, 511)}.",
            "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1 slot:0)",
            f"perf: interrupt took too long ({rng.randint(2500, 9999)} > 2500), lowering",
            "mce: [Hardware Error]: Machine check events logged",
            f"cgroup: fork rejected by pids controller in /user.slice/user-{line}.slice"))
    for line in ("vm.overcommit_memory = 0", "vm.oom_kill_allocating_task = 0", "vm.panic_on_oom = 0",
                 "vm.oom_dump_tasks = 1", "low 0", "high 0", "max 0", "oom 0", "oom_kill 0",
                 "oom_group_kill 0", "oom_kill_disable 0", "under_oom 0", "OOMPolicy=stop",
                 "OOMScoreAdjust=0", "ManagedOOMMemoryPressure=kill",
                 "ENOMEM 12 Cannot allocate memory"):
        yield line


def containers(rng):
    for _ in range(rng.randint(5, 30)):
        yield json.dumps({"State": {"Status": "exited", "Running": False, "OOMKilled": False, "Dead":
                                    False, "Pid": 0, "ExitCode": 0, "Error": ""},
                          "HostConfig": {"Memory": rng.randint(1 << 30, 1 << 37), "OomKillDisable": False,
                                         "OomScoreAdj": 0, "ShmSize": 67108864}}, indent=4)
        yield "    Last State:     Terminated"
        yield "      Reason:       Completed"
        yield "      Exit Code:    0"
        yield "    Limits:\n      memory:          64Gi\n      nvidia.com/gpu:  8"
        yield "  Normal  Pulled     2m    kubelet  Successfully pulled image in 3.2s"
        yield f"  MemoryPressure   False   kubelet has sufficient memory available {rng.randint(1, 59)}m"


def spark_and_ray(rng):
    for step in range(rng.randint(30, 200)):
        yield rng.choice((
            "Launch command: java -Xmx64g -XX:+HeapDumpOnOutOfMemoryError -XX:+ExitOnOutOfMemoryError "
            "-XX:OnOutOfMemoryError='kill -9 %p' -Djava.io.tmpdir=/tmp org.apache.spark.executor.Main",
            f"26/03/04 {clock(step)} INFO MemoryStore: Block broadcast_{step} stored as values in memory "
            f"(estimated size {rng.uniform(1, 900):.1f} KiB, free {rng.uniform(1, 60):.1f} GiB)",
            f"26/03/04 {clock(step)} INFO ExternalSorter: Thread {step} spilling in-memory map of "
            f"{rng.uniform(1, 9):.1f} GiB to disk (1 time so far)",
            f"[2026-03-04 {clock(step)},001 I {step} {step}] (raylet) memory_monitor.cc:45: MemoryMonitor "
            f"initialized with usage threshold at {rng.randint(1 << 33, 1 << 36)} bytes (0.95 system "
            f"memory), total system memory bytes: {1 << 37}",
            f"(raylet) [{clock(step)}] local_object_manager.cc:490: :info_message:Spilled "
            f"{rng.randint(1000, 99999)} MiB, {step} objects, write throughput 512 MiB/s.",
            "options: max_retries=3 retry_exceptions=[OutOfMemoryError, WorkerCrashedError]",
            "distributed.worker.memory - WARNING - Unmanaged memory use is high. This may indicate a "
            "memory leak or the memory may not be released to the OS; Process memory: 3.25 GiB -- Worker "
            "memory limit: 4.66 GiB"))


def other_failures(rng):
    """What fails for other reasons, some with words that sound like memory.

    Errors that are told apart from failures of memory by name ("illegal memory access", "no space
    left on device") are messages too, of the verdict not_oom; so they are not here.
    """
    rank = rng.randint(0, 7)
    yield ("ImportError: /usr/lib/x86_64-linux-gnu/libgomp.so.1: cannot allocate memory in static TLS "
           "block")
    yield (f"[rank{rank}]:[E304 09:12:11.123 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught "
           f"collective operation timeout: WorkNCCL(SeqNum={rng.randint(1, 99999)}, OpType=ALLREDUCE, "
           f"NumelIn={rng.randint(1, 1 << 30)}, Timeout(ms)=600000) ran for 600022 milliseconds before "
           "timing out.")
    yield ('{"error": {"code": 429, "message": "Resource has been exhausted (e.g. check quota).", '
           '"status": "RESOURCE_EXHAUSTED"}}')
    yield ("google.api_core.exceptions.ResourceExhausted: 429 Quota exceeded for quota metric "
           "'Generate requests' and limit 'Requests per minute'")
    yield "grpc: StatusCode.RESOURCE_EXHAUSTED details = \"Received message larger than max (5242880)\""
    yield "OSError: [Errno 24] Too many open files: '/data/shard_0042.tar'"
    yield f"W0304 09:12:13 {rng.randint(1, 99999)} torch/distributed/elastic/agent/server/api.py:719] " \
        "Received Signals.SIGTERM death signal, shutting down workers"
    yield f"Sending process {rng.randint(1, 99999)} closing signal SIGTERM"
    yield "Segmentation fault (core dumped)"
    yield "KeyboardInterrupt"
    yield "ValueError: Expected more than 1 value per channel when training, got input size [1, 512]"


def encoded(rng):
    """Images and checkpoints that land in a log, and bytes that are no text."""
    for _ in range(rng.randint(2, 6)):
        data = rng.randbytes(rng.randint(1000, 40000))
        yield f'<img src="data:image/png;base64,{base64.b64encode(data).decode()}">'
    yield rng.randbytes(2000).hex()
    yield "".join(map(chr, rng.choices(range(1, 0x2ff), k=3000))).replace("\n", " ")


def one_long_line(rng):
    yield "losses=[" + ", ".join(f"{rng.uniform(0, 9):.6f}" for _ in range(rng.randint(9, 40000))) + "]"


SHAPES = [nccl, nvidia_smi, slurm, installers, boot, containers, spark_and_ray, other_failures, encoded,
          one_long_line]
