"""What tools and frameworks print of memory, line for line as they do, with figures of our own.

Form.lines(moment) is what is printed at one moment: moment.i counts them, moment.time is in seconds of
the epoch, moment.mem is the memory of each owner (GPU, rank, process, container) in MiB. TOTAL is what a
device has, HOST_TOTAL what the machine has.
"""

import dataclasses
import datetime
import json
import typing

START = 1767323045  # 2026-01-02 03:04:05 UTC
TOTAL = 24564
HOST_TOTAL = 64000
MIB = 1 << 20


@dataclasses.dataclass
class Moment:
    i: int
    time: float
    mem: list
    is_first: bool

    def at(self, form):
        return datetime.datetime.fromtimestamp(self.time, datetime.timezone.utc).strftime(form)


@dataclasses.dataclass
class Form:
    id: str
    lines: typing.Callable
    name: str  # what the name of the leading series has in it
    axis: str = None
    owners: int = 1
    owner: typing.Callable = None  # what the name has in it of owner k
    capacity: int = None  # bytes that the log says there are
    stride: int = 1  # of steps
    is_share: bool = False


FORMATS = []


def form(name, **more):
    def keep(lines):
        FORMATS.append(Form(lines.__name__, lines, name, **more))
        return lines
    return keep


def gpu(k):
    return f"gpu {k}"


DEVICE = TOTAL * MIB


# --- NVIDIA's tools ---------------------------------------------------------------------------------


@form("fb", owners=2, owner=gpu)
def nvidia_smi_dmon(m):
    head = ("# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk     fb   bar1\n"
            "# Idx      W      C      C      %      %      %      %      %      %    MHz    MHz     MB     MB\n")
    rows = "".join(f"    {k}    255     65      -     99     {60 + m.i % 7}      0      0      0      0   9501"
                   f"   1695  {mem:5.0f}     11\n" for k, mem in enumerate(m.mem))
    return (head if m.i % 20 == 0 else "") + rows


@form("fb", axis="second", owners=2, owner=gpu)
def nvidia_smi_dmon_dated(m):
    head = ("#Date       Time        gpu     fb   bar1   ccpm \n"
            "#YYYYMMDD   HH:MM:SS    Idx     MB     MB     MB \n")
    rows = "".join(f" {m.at('%Y%m%d   %H:%M:%S')}      {k}  {mem:5.0f}     11      0 \n"
                   for k, mem in enumerate(m.mem))
    return (head if m.i % 20 == 0 else "") + rows


@form("fb")
def nvidia_smi_pmon(m):
    head = ("# gpu         pid   type     fb   ccpm    command \n"
            "# Idx           #    C/G     MB     MB    name \n")
    return (head if m.i % 20 == 0 else "") + f"    0     123456     C  {m.mem[0]:5.0f}      0    python         \n"


def smi_table(m, date):
    text = date + """
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.14              Driver Version: 550.54.14      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
"""
    for k, mem in enumerate(m.mem):
        text += (f"|   {k}  NVIDIA GeForce RTX 4090        Off |   00000000:0{k + 1}:00.0 Off |                  Off |\n"
                 f"| 30%   45C    P2             120W / 450W |  {mem:6.0f}MiB / {TOTAL:6}MiB |     97%      Default |\n"
                 "|                                         |                        |                  N/A |\n"
                 "+-----------------------------------------+------------------------+----------------------+\n")
    text += ("                                                                                         \n"
             "+-----------------------------------------------------------------------------------------+\n"
             "| Processes:                                                                              |\n"
             "|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |\n"
             "|        ID   ID                                                               Usage      |\n"
             "|=========================================================================================|\n")
    for k, mem in enumerate(m.mem):
        text += f"|    {k}   N/A  N/A     {12340 + k}      C   python                                     {mem - 100:6.0f}MiB |\n"
    return text + "+-----------------------------------------------------------------------------------------+\n"


@form("", axis="second", owners=2, owner=gpu, capacity=DEVICE)
def nvidia_smi_table(m):
    return smi_table(m, m.at("%a %b %e %H:%M:%S %Y") + "       ")


@form("", axis="second", owners=3, owner=gpu, capacity=DEVICE)
def nvidia_smi_table_utc_date(m):
    return smi_table(m, m.at("%a %b %e %I:%M:%S %p UTC %Y"))


@form("memory.used", axis="second", owners=2, owner=lambda k: f"index {k}", capacity=DEVICE)
def nvidia_smi_query(m):
    head = "timestamp, index, name, memory.used [MiB], memory.total [MiB], utilization.gpu [%]\n"
    return (head if m.is_first else "") + "".join(
        f"{m.at('%Y/%m/%d %H:%M:%S')}.678, {k}, NVIDIA GeForce RTX 4090, {mem:.0f} MiB, {TOTAL} MiB, 97 %\n"
        for k, mem in enumerate(m.mem))


@form("memory.used", axis="second", owners=2, owner=lambda k: f"index {k}", capacity=DEVICE)
def nvidia_smi_query_nounits(m):
    head = "timestamp, index, memory.used [MiB], memory.total [MiB]\n"
    return (head if m.is_first else "") + "".join(
        f"{m.at('%Y/%m/%d %H:%M:%S')}.678, {k}, {mem:.0f}, {TOTAL}\n" for k, mem in enumerate(m.mem))


@form("memory.used", capacity=DEVICE)
def nvidia_smi_query_in_a_loop(m):  # while true: the header comes each time
    return f"memory.used [MiB], memory.total [MiB]\n{m.mem[0]:.0f} MiB, {TOTAL} MiB\n"


@form("", axis="second", owners=2, owner=lambda k: str(k), capacity=DEVICE)
def nvidia_smi_query_noheader(m):
    return "".join(f"{m.at('%Y/%m/%d %H:%M:%S')}.678, {k}, {mem:.0f} MiB, {TOTAL} MiB\n" for k, mem in enumerate(m.mem))


@form("", axis="second", owners=2, owner=lambda k: str(k), capacity=DEVICE)
def nvidia_smi_query_noheader_nounits(m):
    return "".join(f"{m.at('%Y/%m/%d %H:%M:%S')}.678, {k}, {mem:.0f}, {TOTAL}\n" for k, mem in enumerate(m.mem))


@form("", capacity=DEVICE)
def csv_used_and_total(m):
    return f"{m.mem[0]:.0f}, {TOTAL}\n"


@form("", owners=2, owner=lambda k: str(k))
def csv_index_and_used(m):
    return "".join(f"{k}, {mem:.0f}\n" for k, mem in enumerate(m.mem))


@form("")
def bare_integers(m):
    return f"{m.mem[0]:.0f}\n"


@form("")
def bare_with_unit(m):
    return f"{m.mem[0]:.0f} MiB\n"


@form("")
def bare_bytes(m):
    return f"{m.mem[0] * MIB:.0f}\n"


@form("", axis="second")
def csv_time_and_used(m):
    return f"{m.time:.3f},{m.mem[0] * MIB:.0f}\n"


@form("", axis="step", stride=10)
def mlflow_metric_file(m):  # mlruns/…/metrics/…: timestamp in ms, value, step
    return f"{m.time * 1000:.0f} {m.mem[0]:.1f} {m.i * 10}\n"


@form("Used", axis="second", owners=2, owner=lambda k: f"gpu 0000000{k}:", capacity=DEVICE)
def nvidia_smi_q_memory(m):
    text = f"\n==============NVSMI LOG==============\n\nTimestamp                                 : {m.at('%a %b %e %H:%M:%S %Y')}\n"
    text += "Driver Version                            : 550.54.14\nCUDA Version                              : 12.4\n\nAttached GPUs                             : 2\n"
    for k, mem in enumerate(m.mem):
        text += (f"GPU 0000000{k}:01:00.0\n    FB Memory Usage\n"
                 f"        Total                             : {TOTAL} MiB\n"
                 f"        Reserved                          : 362 MiB\n"
                 f"        Used                              : {mem:.0f} MiB\n"
                 f"        Free                              : {TOTAL - 362 - mem:.0f} MiB\n"
                 "    BAR1 Memory Usage\n"
                 "        Total                             : 256 MiB\n"
                 "        Used                              : 11 MiB\n"
                 "        Free                              : 245 MiB\n\n")
    return text


@form("FBUSD", owners=2, owner=gpu)
def dcgmi_dmon(m):
    head = "#Entity   FBTTL   FBFRE   FBUSD   GPUTL\nID                                     \n"
    return (head if m.i % 20 == 0 else "") + "".join(
        f"GPU {k}     {TOTAL}   {TOTAL - 362 - mem:.0f}   {mem:.0f}   99\n" for k, mem in enumerate(m.mem))


@form("DCGM_FI_DEV_FB_USED", owners=2, owner=gpu)
def prometheus_dcgm(m):
    text = ("# HELP DCGM_FI_DEV_FB_USED Framebuffer memory used (in MiB).\n# TYPE DCGM_FI_DEV_FB_USED gauge\n")
    for k, mem in enumerate(m.mem):
        text += (f'DCGM_FI_DEV_FB_USED{{gpu="{k}",UUID="GPU-6ad7ea4c-5517-05e7-b54b-7554cb4374d{k}",pci_bus_id="00000000:0{k}:00.0",'
                 f'device="nvidia{k}",modelName="NVIDIA A100-SXM4-80GB",Hostname="node-1"}} {mem:.0f}\n')
    return text


@form("memory_used_bytes", owners=2, owner=lambda k: str(k))
def prometheus_nvidia_exporter(m):
    return "".join(f'nvidia_gpu_memory_used_bytes{{minor="{k}",name="Tesla T4"}} {mem * MIB:.8e}\n' for k, mem in enumerate(m.mem))


@form("memory", axis="second", owners=2, owner=lambda k: f"train-{k}")
def prometheus_container(m):
    return "".join(f'container_memory_working_set_bytes{{container="main",namespace="ml",pod="train-{k}"}} {mem * MIB:.8e} {m.time * 1000:.0f}\n'
                   for k, mem in enumerate(m.mem))


@form("", owners=2, owner=gpu, axis="second", capacity=DEVICE)
def gpustat(m):
    return (f"node-1                    {m.at('%a %b %e %H:%M:%S %Y')}  550.54.14\n" + "".join(
        f"[{k}] NVIDIA GeForce RTX 4090 | 65'C,  97 % | {mem:5.0f} / {TOTAL} MB | user({mem - 100:.0f}M)\n"
        for k, mem in enumerate(m.mem)))


@form("mem_used", capacity=DEVICE)
def nvtop_snapshot(m):
    return json.dumps([{"device_name": "NVIDIA GeForce RTX 4090", "gpu_clock": "2520MHz", "mem_clock": "10501MHz", "temp": "65C",
                        "power_draw": "255W", "gpu_util": "97%", "mem_util": "40%", "mem_total": str(DEVICE),
                        "mem_used": f"{m.mem[0] * MIB:.0f}", "mem_free": f"{DEVICE - m.mem[0] * MIB:.0f}"}], indent=1) + "\n"


# --- AMD's tools ------------------------------------------------------------------------------------


@form("Used", owners=2, owner=gpu, capacity=DEVICE)
def rocm_smi_meminfo(m):
    bar = "=" * 40
    text = f"\n{bar} ROCm System Management Interface {bar}\n{bar} Memory Usage (Bytes) {bar}\n"
    for k, mem in enumerate(m.mem):
        text += f"GPU[{k}]\t\t: VRAM Total Memory (B): {DEVICE}\nGPU[{k}]\t\t: VRAM Total Used Memory (B): {mem * MIB:.0f}\n"
    return text + bar * 2 + "\n"


@form("Used", owners=2, owner=lambda k: f"card{k}", capacity=DEVICE)
def rocm_smi_csv(m):
    return "device,VRAM Total Memory (B),VRAM Total Used Memory (B)\n" + "".join(
        f"card{k},{DEVICE},{mem * MIB:.0f}\n" for k, mem in enumerate(m.mem)) + "\n"


@form("USED_VRAM", owners=2, owner=gpu, capacity=DEVICE)
def amd_smi_metric(m):
    return "".join(f"GPU: {k}\n    MEM_USAGE:\n        TOTAL_VRAM: {TOTAL} MB\n        USED_VRAM: {mem:.0f} MB\n"
                   f"        FREE_VRAM: {TOTAL - mem:.0f} MB\n\n" for k, mem in enumerate(m.mem))


@form("VRAM_USED", owners=2, owner=gpu, capacity=DEVICE)
def amd_smi_monitor(m):
    return "GPU  VRAM_USED  VRAM_FREE  VRAM_TOTAL\n" + "".join(
        f"  {k}   {mem:.0f} MB    {TOTAL - mem:.0f} MB    {TOTAL} MB\n" for k, mem in enumerate(m.mem))


# --- the system's tools -----------------------------------------------------------------------------


@form("RSS")
def ps_rss(m):
    return f"    PID   RSS COMMAND\n 123456 {m.mem[0] * 1024:.0f} python train.py --lr 0.1\n"


@form("RSS", owners=2, owner=lambda k: str(4242 + k))
def ps_aux(m):
    return "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n" + "".join(
        f"root        {4242 + k} 99.0 {mem / HOST_TOTAL * 100:4.1f} {mem * 2048:.0f} {mem * 1024:.0f} ?        Rl   Jan01  {m.i}:34 python train.py\n"
        for k, mem in enumerate(m.mem))


@form("RSS", axis="second", owners=2, owner=lambda k: str(4242 + k))
def pidstat(m):
    head = "Linux 5.15.0-91-generic (node-1) \t01/02/2026 \t_x86_64_\t(16 CPU)\n" if m.is_first else ""
    return head + f"\n{m.at('%H:%M:%S')}      UID       PID  minflt/s  majflt/s     VSZ     RSS   %MEM  Command\n" + "".join(
        f"{m.at('%H:%M:%S')}     1000      {4242 + k}      0.00      0.00 {mem * 2048:.0f} {mem * 1024:.0f}  {mem / HOST_TOTAL * 100:5.2f}  python\n"
        for k, mem in enumerate(m.mem))


@form("RES", axis="second", owners=2, owner=lambda k: str(4242 + k))
def top_batch(m):
    text = (f"top - {m.at('%H:%M:%S')} up 12 days,  3:04,  2 users,  load average: 1.00, 1.02, 1.05\n"
            "Tasks: 412 total,   2 running, 410 sleeping,   0 stopped,   0 zombie\n"
            "%Cpu(s):  6.2 us,  0.3 sy,  0.0 ni, 93.5 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st\n"
            f"MiB Mem :  {HOST_TOTAL}.0 total,  30000.0 free,  30000.0 used,   4000.0 buff/cache\n"
            "MiB Swap:   2048.0 total,   2048.0 free,      0.0 used.  33000.0 avail Mem\n\n"
            "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n")
    for k, mem in enumerate(m.mem):
        text += f"   {4242 + k} root      20   0   {mem / 512:.1f}g  {mem / 1024:.3f}g 123456 R  99.0  20.1  {m.i}:34.56 python\n"
    return text + "\n"


@form("Mem used", capacity=HOST_TOTAL * MIB)
def free_m(m):
    used = m.mem[0]
    return ("               total        used        free      shared  buff/cache   available\n"
            f"Mem:           {HOST_TOTAL}       {used:.0f}       {HOST_TOTAL - used - 4000:.0f}         123        4000       {HOST_TOTAL - used - 500:.0f}\n"
            "Swap:           2047           0        2047\n")


@form("Mem used", axis="second", capacity=HOST_TOTAL * MIB)
def date_and_free_m(m):
    return m.at("%a %b %e %H:%M:%S UTC %Y\n") + free_m(m)


@form("MEM USAGE", owners=2, owner=lambda k: f"train-{k}", capacity=32 << 30)
def docker_stats(m):
    return "CONTAINER ID   NAME      CPU %     MEM USAGE / LIMIT     MEM %     NET I/O           BLOCK I/O         PIDS\n" + "".join(
        f"0a1b2c3d4e5{k}   train-{k}   99.51%    {mem / 1024:.2f}GiB / 32GiB         {mem / 327.68:.2f}%    1.45kB / 0B       12.3MB / 0B       {23 + m.i % 3}\n"
        for k, mem in enumerate(m.mem))


@form("MEMORY", owners=2, owner=lambda k: f"train-{k}")
def kubectl_top(m):
    return "NAME      CPU(cores)   MEMORY(bytes)   \n" + "".join(
        f"train-{k}   1234m        {mem:.0f}Mi         \n" for k, mem in enumerate(m.mem))


@form("AnonPages", capacity=HOST_TOTAL * MIB)
def proc_meminfo(m):
    kib = m.mem[0] * 1024
    total = HOST_TOTAL * 1024
    return (f"MemTotal:       {total} kB\nMemFree:        {total - kib - 5000000:.0f} kB\nMemAvailable:   {total - kib - 1000000:.0f} kB\n"
            f"Buffers:          123456 kB\nCached:          4567890 kB\nSwapCached:            0 kB\nActive:         {kib / 2:.0f} kB\n"
            f"AnonPages:      {kib:.0f} kB\nMapped:           654321 kB\n")


@form("VmRSS")
def proc_status(m):
    return f"Name:\tpython\nVmSize:\t{m.mem[0] * 2048:.0f} kB\nVmRSS:\t {m.mem[0] * 1024:.0f} kB\nThreads:\t17\n"


@form("", owners=1)
def ps_rss_alone(m):  # ps -o rss= -p 123: KiB, without a word
    return f"{m.mem[0] * 1024:.0f}\n"


@form("", axis=None)
def ps_pid_and_rss(m):  # ps -o pid=,rss=
    return f"23145 {m.mem[0] * 1024:.0f}\n"


@form("", axis="second")
def date_and_ps_rss(m):
    return m.at("%a %b %e %H:%M:%S UTC %Y\n") + f"{m.mem[0] * 1024:.0f}\n"


@form("", axis="second")
def time_and_ps_rss(m):
    return m.at("%H:%M:%S ") + f"{m.mem[0] * 1024:.0f}\n"


@form("RSS")
def ps_rss_with_header(m):  # ps -o rss in a loop
    return f"  RSS\n{m.mem[0] * 1024:.0f}\n"


@form("kbmemused", axis="second")
def sar_r(m):
    head = ("Linux 5.15.0 (node7) \t01/02/2026 \t_x86_64_\t(64 CPU)\n\n"
            "03:04:05    kbmemfree   kbavail kbmemused  %memused kbbuffers  kbcached\n") if m.is_first else ""
    kib = m.mem[0] * 1024
    return head + (f"{m.at('%H:%M:%S')}     {HOST_TOTAL * 1024 - kib:.0f}  {HOST_TOTAL * 1024 - kib + 99999:.0f} {kib:9.0f}"
                   f"     {m.mem[0] / HOST_TOTAL * 100:.2f}    103412   5213412\n")


@form("MEM USAGE", owners=2, owner=lambda k: f"train-{k}")
def docker_stats_two_columns(m):
    return "NAME      MEM USAGE / LIMIT\n" + "".join(
        f"train-{k}   {mem / 1024:.3f}GiB / 62.71GiB\n" for k, mem in enumerate(m.mem))


@form("Value", axis="step", stride=50)
def tensorboard_csv(m):
    return ("Wall time,Step,Value\n" if m.is_first else "") + f"{m.time + 0.25:.7f},{m.i * 50},{m.mem[0] * MIB:.1f}\n"


@form("gpu_1_memory", axis="step")
def mlflow_csv(m):
    head = "run_id,key,value,step,timestamp\n" if m.is_first else ""
    return head + (f"0a1b,train_loss,2.31,{m.i},{m.time * 1000:.0f}\n"
                   f"0a1b,system/gpu_1_memory_mb,{m.mem[0]:.2f},{m.i},{m.time * 1000:.0f}\n")


# --- metrics ----------------------------------------------------------------------------------------


@form("memoryAllocatedBytes", axis="step", owners=2, owner=gpu, stride=10)
def wandb_history(m):
    row = {"_step": m.i * 10, "_timestamp": m.time, "_runtime": m.i}
    for k, mem in enumerate(m.mem):
        row |= {f"system.gpu.{k}.memory": 40 + m.i % 9, f"system.gpu.{k}.memoryAllocatedBytes": round(mem * MIB),
                f"system.gpu.{k}.memoryAllocated": round(mem / TOTAL * 100, 2)}
    return json.dumps(row) + "\n"


@form("memoryAllocatedBytes", axis="second", owners=2, owner=gpu)
def wandb_events(m):
    row = {"_timestamp": m.time + 0.25, "_runtime": m.time - START, "_wandb": True}
    for k, mem in enumerate(m.mem):
        row |= {f"system.gpu.{k}.memoryAllocatedBytes": round(mem * MIB), f"system.gpu.{k}.temp": 65.5}
    return json.dumps(row) + "\n"


@form("gpu_mem", axis="step", stride=10)
def wandb_export(m):
    head = '"Step","run-1 - gpu_mem_mb","run-1 - gpu_mem_mb__MIN","run-1 - gpu_mem_mb__MAX"\n' if m.is_first else ""
    return head + f'"{m.i * 10}","{m.mem[0]:.1f}","{m.mem[0]:.1f}","{m.mem[0]:.1f}"\n'


@form("memory_usage_megabytes", axis="step", owners=2, owner=lambda k: f"gpu_{k}", stride=10)
def mlflow_json(m):
    return "".join(json.dumps({"key": f"system/gpu_{k}_memory_usage_megabytes", "value": round(mem, 1), "timestamp": round(m.time * 1000),
                               "step": m.i * 10}) + "\n" for k, mem in enumerate(m.mem))


@form("gpu_memory_mb", axis="step", stride=10)
def lightning_csv(m):
    return ("epoch,step,train_loss,gpu_memory_mb\n" if m.is_first else "") + f"0,{m.i * 10},2.31,{m.mem[0]:.0f}\n"


@form("allocated_bytes.all.current", axis="step", stride=10)
def lightning_device_stats(m):
    head = "DeviceStatsMonitor.on_train_batch_start/allocated_bytes.all.current,DeviceStatsMonitor.on_train_batch_start/num_ooms,step\n"
    return (head if m.is_first else "") + f"{m.mem[0] * MIB:.0f},0,{m.i * 10}\n"


@form("gpu_1_memory", axis="step")
def mlflow_csv_of_the_page(m):
    head = "Run,Name,metric,step,timestamp,value\n" if m.is_first else ""
    return head + f"0a1b,run-1,system/gpu_1_memory_usage_megabytes,{m.i},{m.time * 1000:.0f},{m.mem[0]:.2f}\n"


@form("used", axis="second", owners=2, owner=gpu, capacity=DEVICE)
def pynvml_by_hand(m):
    return "".join(f"{m.at('%Y-%m-%d %H:%M:%S')} GPU {k}: used={mem:.1f}MiB free={TOTAL - mem:.1f}MiB total={TOTAL}.0MiB\n"
                   for k, mem in enumerate(m.mem))


# --- training ---------------------------------------------------------------------------------------


@form("memory", axis=None)
def hf_trainer(m):
    return f"{{'loss': 2.31, 'grad_norm': 1.25, 'learning_rate': 5e-05, 'memory/max_active (GiB)': {m.mem[0] / 1024:.2f}, 'epoch': {m.i / 1000:.2f}}}\n"


@form("mem", axis="step")
def tqdm(m):
    return f"\rEpoch 1:  {m.i // 5}%|##        | {m.i}/500 [00:{m.i % 60:02}<05:00,  1.23it/s, loss=2.31, mem={m.mem[0] / 1024:.2f}G]"


@form("allocated", axis="step", owners=2, owner=lambda k: f"rank {k}", stride=10)
def megatron(m):
    return "".join(f"[Rank {k}] (after {m.i * 10} iterations) memory (MB) | allocated: {mem:.4f} | max allocated: {TOTAL}.0 | "
                   f"reserved: 24000.0 | max reserved: 24000.0\n" for k, mem in enumerate(m.mem))


@form("MA", axis="second")
def deepspeed(m):
    stamp = m.at("[%Y-%m-%d %H:%M:%S,338]")
    return (f"{stamp} [INFO] [utils.py:822:see_memory_usage] before forward\n"
            f"{stamp} [INFO] [utils.py:823:see_memory_usage] MA {m.mem[0] / 1024:.2f} GB         Max_MA 23.5 GB         CA 23.5 GB         Max_CA 24 GB \n"
            f"{stamp} [INFO] [utils.py:831:see_memory_usage] CPU Virtual Memory:  used = 50.25 GB, percent = 40.2%\n")


@form("Allocated memory")
def memory_summary(m):
    return f"""|===========================================================================|
|                  PyTorch CUDA memory summary, device ID 0                 |
|---------------------------------------------------------------------------|
|            CUDA OOMs: 0            |        cudaMalloc retries: 0         |
|===========================================================================|
|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
|---------------------------------------------------------------------------|
| Allocated memory      |  {m.mem[0]:6.0f} MiB |  {TOTAL} MiB |   {m.i * 99:6} MiB |   {m.i * 98:6} MiB |
|       from large pool |  {m.mem[0] - 9:6.0f} MiB |  {TOTAL} MiB |   {m.i * 99:6} MiB |   {m.i * 98:6} MiB |
|---------------------------------------------------------------------------|
| GPU reserved memory   |  {TOTAL} MiB |  {TOTAL} MiB |  {TOTAL} MiB |       0 B  |
|===========================================================================|
"""


@form("bytes_in_use", capacity=DEVICE)
def jax_memory_stats(m):
    used = m.mem[0] * MIB
    return (f"{{'num_allocs': {1000 + m.i}, 'bytes_in_use': {used:.0f}, 'peak_bytes_in_use': {DEVICE - 5}, 'largest_alloc_size': 536870912, "
            f"'bytes_limit': {DEVICE}, 'bytes_reserved': 0}}\n")


@form("current")
def tensorflow_memory_info(m):
    return f"GPU:0 memory info: {{'current': {m.mem[0] * MIB:.0f}, 'peak': {DEVICE}}}\n"


@form("KV cache usage", axis="second", is_share=True)
def vllm_v0(m):
    return (f"INFO {m.at('%m-%d %H:%M:%S')} metrics.py:455] Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 312.3 tokens/s, "
            f"Running: 8 reqs, Swapped: 0 reqs, Pending: 0 reqs, GPU KV cache usage: {m.mem[0] / TOTAL * 100:.1f}%, CPU KV cache usage: 0.0%.\n")


@form("KV cache usage", axis="second", is_share=True)
def vllm_v1(m):
    return (f"(APIServer pid=1234) INFO {m.at('%m-%d %H:%M:%S')} [loggers.py:127] Engine 000: Avg prompt throughput: 10.2 tokens/s, "
            f"Avg generation throughput: 312.3 tokens/s, Running: 8 reqs, Waiting: 0 reqs, GPU KV cache usage: {m.mem[0] / TOTAL * 100:.1f}%, "
            "Prefix cache hit rate: 12.5%\n")


@form("token usage", axis="second", is_share=True)
def sglang(m):
    return (f"[{m.at('%Y-%m-%d %H:%M:%S')} TP0] Decode batch. #running-req: 8, #token: {m.mem[0] * 10:.0f}, token usage: {m.mem[0] / TOTAL:.3f}, "
            "cuda graph: True, gen throughput (token/s): 912.34, #queue-req: 0, \n")


@form("memory", axis="second")
def syslog(m):
    return f"{m.at('%b %e %H:%M:%S')} node-1 train[4242]: gpu memory used: {m.mem[0]:.0f} MiB\n"


@form("memory", axis="second", owners=2, owner=lambda k: f"rank{k}".replace("rank", "rank "))
def iso_time(m):
    return "".join(f"{m.at('%Y-%m-%dT%H:%M:%S')}.{m.i % 1000:03}Z [rank{k}] INFO allocated memory {mem / 1024:.3f} GiB\n" for k, mem in enumerate(m.mem))


@form("memory", axis="second")
def glog(m):
    return f"I{m.at('%m%d %H:%M:%S')}.123456 4242 trainer.cc:81] memory in use: {m.mem[0]:.1f} MB\n"


@form("memory", axis="iteration", capacity=DEVICE)
def by_hand(m):
    return f"iteration {m.i}: gpu memory {m.mem[0]:.0f} / {TOTAL} MB\n"
