/*
 * test_series.c - series of memory, read out of logs of every kind.
 */
#include "harness.h"

#include "base/text.h"
#include "base/units.h"
#include "series/reader.h"

#include <math.h>

#define LINES 4 /* how often a pattern is repeated */

static const plim_series_capacity no_capacity;

static plim_series_reader *create(const plim_mem *mem)
{
    plim_series_reader *reader = NULL;
    T_EQ_U64(plim_series_reader_create(mem, &reader, NULL), PLIM_OK);
    return reader;
}

/* All that is known of the series, as text. */
static void describe(plim_text *out, const plim_series *all, size_t count, size_t points_max)
{
    plim_text_reset(out);
    for (size_t i = 0; i < count; i++) {
        plim_text_append_format(out, "%s (%s) by %s:", all[i].name, all[i].unit,
                                all[i].step_name == NULL ? "count" : all[i].step_name);
        const double unit = all[i].is_percent ? 1 : MIB;
        for (size_t k = 0; k < all[i].count && k < points_max; k++) {
            plim_text_append_format(out, " %.10g=%.10g", all[i].steps[k],
                                    round(all[i].bytes[k] / unit * 10) / 10);
        }
        plim_text_append_format(out, "\n");
        T_EQ_U64(all[i].seen, all[i].count);
        T_TRUE(all[i].first_line >= 1 && all[i].last_line >= all[i].first_line);
    }
    T_EQ_U64(plim_text_status(out, "describing", NULL), PLIM_OK);
}

/* Reads a text in pieces of some size, the first piece of another. */
static void read_in_pieces(plim_text *out, const char *text, size_t length, size_t first,
                           size_t piece)
{
    plim_series_reader *const reader = create(NULL);
    for (size_t at = 0; at < length;) {
        const size_t wanted = at == 0 ? first : piece;
        const size_t some = wanted < length - at ? wanted : length - at;
        T_EQ_U64(plim_series_reader_feed(reader, text + at, some, NULL), PLIM_OK);
        at += some;
    }
    plim_arena arena;
    plim_arena_init(&arena, NULL);
    const plim_series *all = NULL;
    size_t count = 0;
    T_EQ_U64(plim_series_reader_finish(reader, &no_capacity, &arena, &all, &count, NULL), PLIM_OK);
    plim_series_reader_destroy(reader);
    describe(out, all, count, 6);
    plim_arena_deinit(&arena);
}

/* A header and lines in which every '#' is 1, 2, 3, 4. */
static void repeat(plim_text *out, const char *header, const char *pattern)
{
    plim_text_reset(out);
    plim_text_append_string(out, header);
    for (int i = 1; i <= LINES; i++) {
        for (const char *at = pattern; *at != '\0'; at++) {
            plim_text_append_char(out, *at == '#' ? (char)('0' + i) : *at);
        }
    }
    T_EQ_U64(plim_text_status(out, "repeating", NULL), PLIM_OK);
}

typedef struct form {
    const char *header;
    const char *pattern;
    const char *series;
} form;

/* What frameworks print; the lines are our own, after their ways. */
static const form forms[] = {
    /* mmdetection: MiB without saying so; steps start anew with each epoch */
    { "",
      "2024-05-01 10:00:0#,166 - INFO - Epoch [2][#0/100]\tlr: 0.00050, eta: 1 day, 19:58:30, "
      "time: 0.429, memory: 681#, loss: 5.55\n",
      "memory (MiB) by step: 210=6811 220=6812 230=6813 240=6814\n" },
    { "",
      "05/01 10:00:0# - mmengine - INFO - Epoch(train) [1][ #0/50]  lr: 1.0e-02  memory: 341#\n",
      "memory (MiB) by step: 60=3411 70=3412 80=3413 90=3414\n" },
    { "", "05/01 10:00:00 - mmengine - INFO - Iter(train) [#0/160000]  memory: 341#  loss: 1.2\n",
      "memory (MiB) by iteration: 10=3411 20=3412 30=3413 40=3414\n" },
    /* Megatron */
    { "",
      "[Rank 0] (after #0 iterations) memory (MB) | allocated: 1629#.5 | max allocated: 20000.0 |"
      " reserved: 21000.0 | max reserved: 21000.5\n",
      "memory (MB) allocated [rank 0] (MB) by step: 10=16291.5 20=16292.5 30=16293.5 40=16294.5\n"
      "memory (MB) reserved [rank 0] (MB) by step: 10=21000 20=21000 30=21000 40=21000\n"
      "memory (MB) max allocated [rank 0] (MB) by step: 10=20000 20=20000 30=20000 40=20000\n"
      "memory (MB) max reserved [rank 0] (MB) by step: 10=21000.5 20=21000.5 30=21000.5"
      " 40=21000.5\n" },
    { "", "iteration #/100 | mem-allocated-gigabytes: 12.5 | mem-max-allocated-gigabytes: 2#.5\n",
      "mem-allocated-gigabytes (gigabytes) by iteration: 1=12800 2=12800 3=12800 4=12800\n"
      "mem-max-allocated-gigabytes (gigabytes) by iteration: 1=22016 2=23040 3=24064 4=25088\n" },
    /* DeepSpeed */
    { "",
      "[2024-02-21 23:35:2#,338] [INFO] [utils.py:822:see_memory_usage] before forward 1\n"
      "[2024-02-21 23:35:2#,338] [INFO] [utils.py:827:see_memory_usage] MA #.5 GB         "
      "Max_MA 5.25 GB         CA 6.5 GB         Max_CA 7 GB \n"
      "[2024-02-21 23:35:2#,338] [INFO] [utils.py:832:see_memory_usage] CPU Virtual Memory:  "
      "used = 50.# GB, percent = 40.2%\n",
      "MA (GB) by second: 0=1536 1=2560 2=3584 3=4608\n"
      "CA (GB) by second: 0=6656 1=6656 2=6656 3=6656\n"
      "Max_MA (GB) by second: 0=5376 1=5376 2=5376 3=5376\n"
      "Max_CA (GB) by second: 0=7168 1=7168 2=7168 3=7168\n"
      "CPU Virtual Memory used (GB) by second: 0=51302.4 1=51404.8 2=51507.2 3=51609.6\n" },
    /* Ultralytics: a table that is printed anew for each epoch */
    { "",
      "      Epoch    GPU_mem   box_loss   cls_loss  Instances       Size\n"
      "       #/30      1#.5G      1.822      21.96          9        576: 100%|#| 9/9 [00:48<\n"
      "                 Class     Images  Instances      Box(P          R      mAP50\n"
      "                   all         48         28          0          0          0\n\n",
      "GPU_mem (G) by epoch: 1=11776 2=12800 3=13824 4=14848\n" },
    /* Trainers that print dicts */
    { "", "{'loss': 2.3, 'gpu_mem': 12.#, 'epoch': 0.#}\n",
      "gpu_mem (GiB) by count: 0=12390.4 1=12492.8 2=12595.2 3=12697.6\n" },
    { "",
      "{'loss': 0.6, 'learning_rate': 2.9e-05, 'memory_allocated (GB)': 3.#, "
      "'max_memory_allocated (GB)': 6.5, 'total_memory_available (GB)': 29.5}\n",
      "memory_allocated (GB) (GB) by count: 0=3174.4 1=3276.8 2=3379.2 3=3481.6\n"
      "max_memory_allocated (GB) (GB) by count: 0=6656 1=6656 2=6656 3=6656\n"
      "total_memory_available (GB) (GB) by count: 0=30208 1=30208 2=30208 3=30208\n" },
    { "", "{'loss': 0.4, 'memory(GiB)': 6#.5, 'epoch': 0.26, 'global_step/max_steps': '#2/94'}\n",
      "memory(GiB) (GiB) by step: 12=62976 22=64000 32=65024 42=66048\n" },
    /* torchtitan, in colours */
    { "",
      "\x1b[31m[rank1]:\x1b[39m2024-06-01 12:00:00,123 - root - INFO - \x1b[36mstep: #0  "
      "\x1b[32mloss: 8.01  \x1b[33mmemory: 3#.5GiB(44.5%)  \x1b[34mtps: 7,123\x1b[39m\n",
      "memory [rank 1] (GiB) by step: 10=32256 20=33280 30=34304 40=35328\n" },
    /* detectron2 */
    { "", "[06/01 12:00:00 d2.utils.events]:  eta: 1:02:03  iter: #9  lr: 0.002  max_mem: 340#M\n",
      "max_mem (M) by iteration: 19=3401 29=3402 39=3403 49=3404\n" },
    /* fairseq prints what is free */
    { "",
      "2024-04-05 18:39:03 | INFO | train_inner | epoch 001:    100 / 1000 loss=4.2, "
      "num_updates=#00, lr=0.0001, gb_free=1#.5, wall=100\n",
      "gb_free (gb) by update: 100=11776 200=12800 300=13824 400=14848\n" },
    /* torchtune */
    { "",
      "Step # | loss:2.4555773735046387 lr:2e-05 peak_memory_active:47.5 peak_memory_alloc:5#.5\n",
      "peak_memory_active (GiB) by step: 1=48640 2=48640 3=48640 4=48640\n"
      "peak_memory_alloc (GiB) by step: 1=52736 2=53760 3=54784 4=55808\n" },
    /* MLX */
    { "", "Iter #0: Train loss 0.311, It/sec 0.283, Trained Tokens 235#87, Peak mem 61.# GB\n",
      "Peak mem (GB) by iteration: 10=62566.4 20=62668.8 30=62771.2 40=62873.6\n" },
    /* Paddle: bytes, or MB */
    { "",
      "[11/20 19:16:32] ppdet.engine INFO: Epoch: [0] [ #00/3125] ips: 27.0991 images/s "
      "max_mem_reserved: 5242880000 max_mem_allocated: 4#94304000\n",
      "max_mem_allocated () by step: 100=4000 200=4095.4 300=4190.7 400=4286.1\n"
      "max_mem_reserved () by step: 100=5000 200=5000 300=5000 400=5000\n" },
    { "", "global step # / 22140, loss: 1.78, ips: 94.9 sample/sec, max_mem_allocated: 24#84 MB\n",
      "max_mem_allocated (MB) by step: 1=24184 2=24284 3=24384 4=24484\n" },
    /* nanotron: its disk is none of ours */
    { "",
      "01/17/2024 14:02:16 [INFO|DP=0|PP=1|TP=0]: iteration: 99# / 1000 | consumed_tokens: 634K | "
      "elapsed_time_per_iteration_ms: 272 | global_batch_size: 20 | cuda_memory_allocated: 9#.5M | "
      "hd_total_memory_tb: 312G | hd_used_memory_tb: 61.8G\n",
      "cuda_memory_allocated [dp 0, pp 1, tp 0] (M) by iteration: 991=91.5 992=92.5 993=93.5"
      " 994=94.5\n" },
    /* composer: a figure on each line */
    { "",
      "[batch=#/10]:\n\t Train memory/allocated_mem: 3.895#\n\t Train memory/alloc_retries: 3\n",
      "Train memory/allocated_mem (GiB) by count: 0=3988.6 1=3988.7 2=3988.8 3=3988.9\n" },
    /* verl */
    { "",
      "step:# - actor/entropy:0.4 - perf/max_memory_allocated_gb:36.# - "
      "perf/cpu_memory_used_gb:101.5 - training/global_step:# - response_length/mean:500.1\n",
      "perf/max_memory_allocated_gb (gb) by step: 1=36966.4 2=37068.8 3=37171.2 4=37273.6\n"
      "perf/cpu_memory_used_gb (gb) by step: 1=103936 2=103936 3=103936 4=103936\n" },
    /* axolotl: what stands in brackets is added to it */
    { "",
      "[2024-01-19 08:21:59,758] [INFO] [axolotl:625] [PID:6553] [RANK:4] GPU memory usage while "
      "training: 25.#GB (+0.079GB cache, +1.045GB misc)\n",
      "GPU memory usage while training [rank 4] (GB) by count: 0=25702.4 1=25804.8 2=25907.2"
      " 3=26009.6\n" },
    /* torchvision */
    { "", "Epoch: [1]  [ #0/100]  eta: 2:32:25  loss: 5.1 (5.4)  data: 0.01  max mem: 541#\n",
      "max mem (MiB) by step: 110=5411 120=5412 130=5413 140=5414\n" },
    /* llama-recipes */
    { "", "Max CUDA memory allocated was 1# GB\nCuda Malloc retires : 0\n",
      "Max CUDA memory allocated (GB) by count: 0=11264 1=12288 2=13312 3=14336\n" },
    /* torch.cuda.memory_summary(): the first of four columns */
    { "", "| Allocated memory      |   1234# MiB |   23456 MiB |   99999 MiB |   88888 MiB |\n",
      "Allocated memory (MiB) by count: 0=12341 1=12342 2=12343 3=12344\n" },
    /* nvidia-smi: GPUs are counted, because their numbers are on other lines */
    { "",
      "| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |\n"
      "|   0  Tesla T4                       On  |   00000000:07:00.0 Off |                    0 "
      "|\n"
      "| N/A   35C    P0              55W / 400W |  1234#MiB / 81920MiB |      0%      Default |\n"
      "|   1  Tesla T4                       On  |   00000000:0A:00.0 Off |                    0 "
      "|\n"
      "| N/A   35C    P0              55W / 400W |   234#MiB / 81920MiB |      0%      Default |\n",
      "Memory-Usage [gpu 0] (MiB) by count: 0=12341 1=12342 2=12343 3=12344\n"
      "Memory-Usage [gpu 1] (MiB) by count: 0=2341 1=2342 2=2343 3=2344\n" },
    { "", "[3] NVIDIA A100 | 35'C,   0 % | 1234# / 81920 MB | user(#M)\n",
      "Memory-Usage [gpu 3] (MB) by count: 0=12341 1=12342 2=12343 3=12344\n" },
    { "index, timestamp, memory.used [MiB], memory.total [MiB], utilization.memory [%]\n",
      "0, 2024/01/01 12:00:0#.123, 1234# MiB, 24576 MiB, 12 %\n"
      "1, 2024/01/01 12:00:0#.123, 234# MiB, 24576 MiB, 12 %\n",
      "memory.used [MiB] [index 0] (MiB) by second: 0=12341 1=12342 2=12343 3=12344\n"
      "memory.used [MiB] [index 1] (MiB) by second: 0=2341 1=2342 2=2343 3=2344\n" },
    /* the same, by what else may say which GPU it is, and by process */
    { "timestamp, pci.bus_id, memory.used [MiB]\n",
      "2024/01/01 12:00:0#.123, 00000000:07:00.0, 1234# MiB\n"
      "2024/01/01 12:00:0#.123, 00000000:8A:00.0, 234# MiB\n",
      "memory.used [MiB] [pci.bus_id 00000000:07:00.0] (MiB) by second: 0=12341 1=12342 2=12343"
      " 3=12344\n"
      "memory.used [MiB] [pci.bus_id 00000000:8A:00.0] (MiB) by second: 0=2341 1=2342 2=2343"
      " 3=2344\n" },
    { "timestamp, gpu_uuid, pid, used_gpu_memory [MiB]\n",
      "2024/01/01 12:00:0#.123, GPU-0a1b2c3d-4e5f, 1234567, 500# MiB\n"
      "2024/01/01 12:00:0#.123, GPU-0a1b2c3d-4e5f, 1234568, 600# MiB\n",
      "used_gpu_memory [MiB] [gpu_uuid GPU-0a1b2c3d-4e5f, pid 1234567] (MiB) by second: 0=5001"
      " 1=5002 2=5003 3=5004\n"
      "used_gpu_memory [MiB] [gpu_uuid GPU-0a1b2c3d-4e5f, pid 1234568] (MiB) by second: 0=6001"
      " 1=6002 2=6003 3=6004\n" },
    { "step,hostname,mem_mb\n", "#,node-a,500#\n#,node-b,600#\n",
      "mem_mb [hostname node-a] (mb) by step: 1=5001 2=5002 3=5003 4=5004\n"
      "mem_mb [hostname node-b] (mb) by step: 1=6001 2=6002 3=6003 4=6004\n" },
    { "", "[pid 1234567] rss 100# MB\n[pid 1234568] rss 200# MB\n",
      "rss [pid 1234567] (MB) by count: 0=1001 1=1002 2=1003 3=1004\n"
      "rss [pid 1234568] (MB) by count: 0=2001 1=2002 2=2003 3=2004\n" },
    /* the host: free with and without a unit, top, psutil; what there is never is a series */
    { "",
      "              total        used        free      shared  buff/cache   available\n"
      "Mem:         128000       2000#      103000          12        5000      108000\n"
      "Swap:          8191         10#        8091\n",
      "Mem used (MiB) by count: 0=20001 1=20002 2=20003 3=20004\n"
      "Mem free (MiB) by count: 0=103000 1=103000 2=103000 3=103000\n" },
    { "", "Mem:      131072000    1048576#   103000000          12     5000000   108000000\n",
      "Mem used (KiB) by count: 0=10240 1=10240 2=10240 3=10240\n"
      "Mem free (KiB) by count: 0=100585.9 1=100585.9 2=100585.9 3=100585.9\n" },
    { "", "Mem:           125Gi        2#Gi       100Gi        12Mi       5.0Gi       108Gi\n",
      "Mem used (Gi) by count: 0=21504 1=22528 2=23552 3=24576\n"
      "Mem free (Gi) by count: 0=102400 1=102400 2=102400 3=102400\n" },
    { "", "MiB Mem :  31998.2 total,  12345.6 free,  1500#.0 used,   4652.3 buff/cache\n",
      "MiB Mem used (MiB) by count: 0=15001 1=15002 2=15003 3=15004\n"
      "MiB Mem free (MiB) by count: 0=12345.6 1=12345.6 2=12345.6 3=12345.6\n" },
    { "", "svmem(total=33567432704, available=20000000000, percent=40.4, used=1258291200#)\n",
      "svmem used () by count: 0=12000 1=12000 2=12000 3=12000\n"
      "svmem available () by count: 0=19073.5 1=19073.5 2=19073.5 3=19073.5\n" },
    /* metrics whose unit is known: percentages, and what is no amount at all */
    { "",
      "{\"_step\": #, \"system.gpu.0.memory\": 3#.5, \"system.gpu.0.memoryAllocated\": 2#.5, "
      "\"system.gpu.1.memoryAllocated\": 4#.5, \"system.gpu.1.memoryAllocatedBytes\": 1258291200#, "
      "\"system.memory\": 1#.5}\n",
      "memoryAllocated [gpu 0] (%) by step: 1=21.5 2=22.5 3=23.5 4=24.5\n"
      "memoryAllocated [gpu 1] (%) by step: 1=41.5 2=42.5 3=43.5 4=44.5\n"
      "memoryAllocatedBytes [gpu 1] () by step: 1=12000 2=12000 3=12000 4=12000\n"
      "system.memory (%) by step: 1=11.5 2=12.5 3=13.5 4=14.5\n" },
    { "", "{\"iteration\": #, \"gpu_0_mem_usage\": 4#.5, \"gpu_0_mem_used_gb\": 1#.5}\n",
      "gpu_0_mem_usage (%) by iteration: 1=41.5 2=42.5 3=43.5 4=44.5\n"
      "gpu_0_mem_used_gb (gb) by iteration: 1=11776 2=12800 3=13824 4=14848\n" },
    /* vLLM, SGLang: the share of their cache */
    { "",
      "INFO 01-02 03:04:0# [loggers.py:118] Engine 000: Avg prompt throughput: 1.0 tokens/s, "
      "GPU KV cache usage: 3#.2%, Prefix cache hit rate: 0.0%\n",
      "GPU KV cache usage (%) by second: 0=31.2 1=32.2 2=33.2 3=34.2\n" },
    { "",
      "[2026-01-02 03:04:0# TP0] Decode batch. #running-req: 8, token usage: 0.5#, cuda graph: 1\n",
      "token usage [tp 0] (%) by second: 0=51 1=52 2=53 3=54\n" },
    /* tools whose rows have texts, and headers with units below them */
    { "# gpu    sm    mem     fb   bar1\n# Idx     %      %     MB     MB\n",
      "    0    99     4#   500#     11\n    1    99     4#   600#     11\n",
      "fb [gpu 0] (MiB) by count: 0=5001 1=5002 2=5003 3=5004\n"
      "fb [gpu 1] (MiB) by count: 0=6001 1=6002 2=6003 3=6004\n" },
    { "#Date       Time        gpu     fb\n#YYYYMMDD   HH:MM:SS    Idx     MB\n",
      " 20260102   03:04:0#      0   500#\n",
      "fb [gpu 0] (MiB) by second: 0=5001 1=5002 2=5003 3=5004\n" },
    { "", "    PID   RSS COMMAND\n 123456 512#000 python train.py\n",
      "RSS [pid 123456] (KiB) by count: 0=5001 1=5002 2=5002.9 3=5003.9\n" },
    { "",
      "CONTAINER ID   NAME    CPU %     MEM USAGE / LIMIT   MEM %     NET I/O\n"
      "0a1b2c3d4e50   train   99.51%    #.50GiB / 32GiB     12.34%    1.45kB / 0B\n",
      "MEM USAGE / LIMIT [name train] (GiB) by count: 0=1536 1=2560 2=3584 3=4608\n" },
    { "procs ---------memory-------- ---swap--\n r  b   swpd   free   buff  cache   si   so\n",
      " 1  0      0 512#000 103412 521341    0    0\n",
      "free (KiB) by count: 0=5001 1=5002 2=5002.9 3=5003.9\n" },
    { "", "procs -----memory----\n r  b   swpd   free\n 1  0      0 512#000\n",
      "free (KiB) by count: 0=5001 1=5002 2=5002.9 3=5003.9\n" },
    { "Wall time,Step,Value,Other\n", "1767323045.5,#0,5#0.5,1.5\n", "" },
    { "", "03:04:0# 512#000\n", "column 2 (KiB) by second: 0=5001 1=5002 2=5002.9 3=5003.9\n" },
    { "Step,Value\n", "#0,53#.5\n", "Value (MiB) by step: 10=531.5 20=532.5 30=533.5 40=534.5\n" },
    { "run,key,value,step\n", "a,loss,2.5#,#\na,gpu_1_mem_mb,500#,#\n",
      "gpu_1_mem_mb (mb) by step: 1=5001 2=5002 3=5003 4=5004\n" },
    { "", "GPU  VRAM_USED  VRAM_TOTAL\n  0   500# MB    65504 MB\n",
      "VRAM_USED [gpu 0] (MB) by count: 0=5001 1=5002 2=5003 3=5004\n" },
    /* no header at all */
    { "", "500#\n", "column 1 (MiB) by count: 0=5001 1=5002 2=5003 3=5004\n" },
    { "", "0, 500#, 24564\n1, 600#, 24564\n",
      "column 2 [index 0] (MiB) by count: 0=5001 1=5002 2=5003 3=5004\n"
      "column 2 [index 1] (MiB) by count: 0=6001 1=6002 2=6003 3=6004\n" },
    { "", "176732304500# 987#.5 #0\n",
      "column 2 (MiB) by step: 10=9871.5 20=9872.5 30=9873.5 40=9874.5\n" },
    /* metrics */
    { "", "DCGM_FI_DEV_FB_USED{gpu=\"0\",device=\"nvidia0\",modelName=\"Tesla T4\"} 500#\n",
      "DCGM_FI_DEV_FB_USED [gpu 0] (MiB) by count: 0=5001 1=5002 2=5003 3=5004\n" },
    { "", "container_memory_working_set_bytes{pod=\"a-1\"} 1258291200# 176732304#000\n",
      "container_memory_working_set_bytes [pod a-1] () by second: 0=12000 1=12000 2=12000 "
      "3=12000\n" },
    { "", "{\"key\": \"system/gpu_0_memory_usage_megabytes\", \"value\": 500#, \"step\": #}\n",
      "system/gpu_0_memory_usage_megabytes (megabytes) by step: 1=5001 2=5002 3=5003 4=5004\n" },
    /* reports in sections */
    { "",
      "GPU: 0\n    MEM_USAGE:\n        TOTAL_VRAM: 65504 MB\n        USED_VRAM: 500# MB\n"
      "GPU: 1\n    MEM_USAGE:\n        TOTAL_VRAM: 65504 MB\n        USED_VRAM: 600# MB\n",
      "USED_VRAM [gpu 0] (MB) by count: 0=5001 1=5002 2=5003 3=5004\n"
      "USED_VRAM [gpu 1] (MB) by count: 0=6001 1=6002 2=6003 3=6004\n" },
    { "",
      "Timestamp    : Fri Jan  2 03:04:0# 2026\nGPU 00000000:01:00.0\n    FB Memory Usage\n"
      "        Total                  : 24564 MiB\n        Used                   : 500# MiB\n",
      "FB Memory Usage Used [gpu 00000000:01:00.0] (MiB) by second: 0=5001 1=5002 2=5003 "
      "3=5004\n" },
    /* a time that stands before the figures, and durations that are none */
    { "", "Fri Jan  2 03:0#:05 PM UTC 2026\nmem 500#MB\n",
      "mem (MB) by second: 0=5001 60=5002 120=5003 180=5004\n" },
    { "", "eta: 1 day, 19:58:3# mem 500#MB\n", "mem (MB) by count: 0=5001 1=5002 2=5003 3=5004\n" },
    /* by hand */
    { "", "memory_allocated 9.747852#\n",
      "memory_allocated (GiB) by count: 0=9981.8 1=9981.8 2=9981.8 3=9981.8\n" },
    { "", "Allocated: 102#.50 MB, Reserved: 2048.00 MB\n",
      "Allocated (MB) by count: 0=1021.5 1=1022.5 2=1023.5 3=1024.5\n"
      "Reserved (MB) by count: 0=2048 1=2048 2=2048 3=2048\n" },
    { "", "step # RSS: 123# MB\n", "RSS (MB) by step: 1=1231 2=1232 3=1233 4=1234\n" },
    { "", "step # ru_maxrss=1024000#\n",
      "ru_maxrss (KiB) by step: 1=10000 2=10000 3=10000 4=10000\n" },
    { "", "Memory used: #,234.5 MB\n",
      "Memory used (MB) by count: 0=1234.5 1=2234.5 2=3234.5 3=4234.5\n" },
    { "", "GPU0: 123#MiB GPU1: 234#MiB\n",
      "GPU [gpu 0] (MiB) by count: 0=1231 1=1232 2=1233 3=1234\n"
      "GPU [gpu 1] (MiB) by count: 0=2341 1=2342 2=2343 3=2344\n" },
    { "", "step #: memory 1# GB on cuda:0\n",
      "memory [cuda 0] (GB) by step: 1=11264 2=12288 3=13312 4=14336\n" },
    { "", "gpu mem 1#.5/80GB\n", "gpu mem (GB) by count: 0=11776 1=12800 2=13824 3=14848\n" },
    { "", "\xe6\x98\xbe\xe5\xad\x98: 1#GB\n",
      "\xe6\x98\xbe\xe5\xad\x98 (GB) by count: 0=11264 1=12288 2=13312 3=14336\n" },
    { "", "Peak VRAM: 900#M\nVRAM: 1.#G\nVRAM: 900M\n",
      "VRAM (G) by count: 0=1126.4 1=900 2=1228.8 3=900 4=1331.2 5=900\n"
      "Peak VRAM (M) by count: 0=9001 1=9002 2=9003 3=9004\n" },
    /* CSV and its kin */
    { "step,loss,gpu_mem_gb\n", "#0,2.3,1#.5\n",
      "gpu_mem_gb (gb) by step: 10=11776 20=12800 30=13824 40=14848\n" },
    { "\"step\";\"loss\";\"memory_allocated_MB\"\n", "\"#0\";\"2,3\";\"100#\"\n",
      "memory_allocated_MB (MB) by step: 10=1001 20=1002 30=1003 40=1004\n" },
    { "epoch\titeration\tmem\n", "0\t#0\t500#\n",
      "mem (MiB) by iteration: 10=5001 20=5002 30=5003 40=5004\n" },
    { ",rank,used_mem\n", "#,0,500#\n#,1,600#\n",
      "used_mem [rank 0] (MiB) by count: 0=5001 1=5002 2=5003 3=5004\n"
      "used_mem [rank 1] (MiB) by count: 0=6001 1=6002 2=6003 3=6004\n" },
    { "step,mem_mb,x\n", "#,5000,1\nnote # in between\n#0,,1\n",
      "mem_mb (mb) by step: 1=5000 2=5000 3=5000 4=5000\n" },
    /* JSON */
    { "",
      "{\"step\": #2, \"memory_allocated\": 12582912#, \"mem\": {\"reserved\": 209715200, "
      "\"gpu0\": "
      "{\"peak\": 3145728000}}, \"loss\": 2.3}\n",
      "memory_allocated () by step: 12=120 22=120 32=120 42=120\n"
      "mem.reserved () by step: 12=200 22=200 32=200 42=200\n"
      "mem.peak [gpu 0] () by step: 12=3000 22=3000 32=3000 42=3000\n" },
    { "", "{\n  \"step\": #,\n  \"memory_allocated\": 12582912#,\n  \"loss\": 2.3\n}\n",
      "memory_allocated () by count: 0=120 1=120 2=120 3=120\n" },
    /* ends of lines, and who says it */
    { "", "\rEpoch 1:  #%|##       | #2/500 [00:1#<01:00, 3.2it/s, mem=#.5GB]",
      "mem (GB) by step: 512=1536 522=2560 532=3584 542=4608\n" },
    { "", "iter # mem 100#MB\r\n", "mem (MB) by iteration: 1=1001 2=1002 3=1003 4=1004\n" },
    { "", "[rank0]: memory 100#MiB\n[default3]: memory 200#MiB\nrank 2: memory 300#MiB\n",
      "memory [rank 0] (MiB) by count: 0=1001 1=1002 2=1003 3=1004\n"
      "memory [default 3] (MiB) by count: 0=2001 1=2002 2=2003 3=2004\n"
      "memory [rank 2] (MiB) by count: 0=3001 1=3002 2=3003 3=3004\n" },
    { "", "I0501 10:00:00.123456 4242 trainer.cc:81] step # memory_mb=100#\n",
      "memory_mb (mb) by step: 1=1001 2=1002 3=1003 4=1004\n" },
    { "", "mem 100#MB, mem 200#MB\n", "mem (MB) by count: 0=1001 1=1002 2=1003 3=1004\n" },
    /* steps that say nothing: they start anew, or stand still */
    { "", "step 1 mem 100#MB\nstep 2 mem 200#MB\nstep 3 mem 300#MB\n",
      "mem (MB) by count: 0=1001 1=2001 2=3001 3=1002 4=2002 5=3002\n" },
    { "", "every step 100 mem 100#MB\n", "mem (MB) by count: 0=1001 1=1002 2=1003 3=1004\n" },
};

static void every_form_is_read(void)
{
    plim_text text;
    plim_text found;
    plim_text_init(&text, NULL, 1 << 20);
    plim_text_init(&found, NULL, 1 << 20);
    for (size_t i = 0; i < T_COUNT(forms); i++) {
        T_CASE("form %zu: %.60s", i, forms[i].pattern);
        repeat(&text, forms[i].header, forms[i].pattern);
        read_in_pieces(&found, plim_text_string(&text), text.length, SIZE_MAX, SIZE_MAX);
        T_EQ_STR(plim_text_string(&found), forms[i].series);
    }
    plim_text_deinit(&text);
    plim_text_deinit(&found);
}

static void cuts_change_nothing(void)
{
    plim_text text;
    plim_text found;
    plim_text_init(&text, NULL, 1 << 20);
    plim_text_init(&found, NULL, 1 << 20);
    for (size_t i = 0; i < T_COUNT(forms); i++) {
        T_CASE("form %zu: %.60s", i, forms[i].pattern);
        repeat(&text, forms[i].header, forms[i].pattern);
        for (size_t cut = 1; cut <= text.length; cut++) {
            read_in_pieces(&found, plim_text_string(&text), text.length, cut, SIZE_MAX);
            T_EQ_STR(plim_text_string(&found), forms[i].series);
        }
        for (size_t piece = 1; piece < 20; piece++) {
            read_in_pieces(&found, plim_text_string(&text), text.length, piece, piece);
            T_EQ_STR(plim_text_string(&found), forms[i].series);
        }
    }
    plim_text_deinit(&text);
    plim_text_deinit(&found);
}

static void what_is_no_memory_is_left_out(void)
{
    static const char *const lines[] = {
        "Downloading model.safetensors: 45% 2.3G/5.1G 10MB/s\n",
        "model has 124M parameters\n",
        "throughput 12.3 MB/s, memory bandwidth: 900 GB/s\n",
        "disk usage: 120 GB\n",
        "tokens/GB 3.4\n",
        "Loading checkpoint 13.5 GB\n",
        "dataset size 12 GB\n",
        "memory usage: 45.#%\n",
        "gpu_mem_util: 0.45\n",
        "gpu_mem: 0.4#\n", /* a share, as well as not */
        "mem: 1#\n",       /* GB? percent? */
        "memory.py:81] hello\n",
        "memory clock: 877 MHz\n",
        "alloc_time_memory: 0.32 s\n",
        "pin_memory: 1000\n",
        "replay memory: 10000\n",
        "memory bank size: 65536\n",
        "num_alloc_retries: 3, num_ooms: 0\n",
        "member 5123, item 4000, hello 2000\n",
        "mem += 512 MB\n",
        "memory grew by +512.0 MB, memory change -12 MB\n",
        "100%|####| 97.8M/97.8M [00:09<00:00, 10.3MB/s]\n",
        "memory at 12:30, memory 2024-01-02, memory 1.2.3\n",
        "Sleep mode freed 42.1 GiB memory\n",
        ("RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total "
         "capacity "
         "of 79.15 GiB of which 12.25 MiB is free. This process has 70.00 GiB memory in use.\n"),
        "Allocated memory: nan GB\n",
        "2024-01-01 10:00:00 GB MB MiB memory\n",
        "\n\r\r\n",
    };
    plim_text text;
    plim_text found;
    plim_text_init(&text, NULL, 1 << 20);
    plim_text_init(&found, NULL, 1 << 20);
    for (size_t i = 0; i < T_COUNT(lines); i++) {
        T_CASE("%.100s", lines[i]);
        repeat(&text, "", lines[i]);
        read_in_pieces(&found, plim_text_string(&text), text.length, SIZE_MAX, SIZE_MAX);
        T_EQ_STR(plim_text_string(&found), "");
    }
    /* Two points are no series. */
    read_in_pieces(&found, "mem 1000MB\nmem 1001MB\n", 22, SIZE_MAX, SIZE_MAX);
    T_EQ_STR(plim_text_string(&found), "");
    plim_text_deinit(&text);
    plim_text_deinit(&found);
}

enum { KINDS = 5, COUNT = 400 };

/* A log of several kinds of lines, and the figures in it. */
typedef struct made_up {
    plim_text text;
    double bytes[KINDS][COUNT];
    size_t counts[KINDS];
} made_up;

static void make_up_line(made_up *log)
{
    const uint64_t a = t_random_bytes(0, 99999999);
    const uint64_t value = t_random_bytes(0, 999999);
    const uint64_t kind = t_random_between(0, KINDS - 1);
    const char *const sign = t_random_between(0, 1) == 1 ? "-" : "";
    plim_text *const text = &log->text;
    log->bytes[kind][log->counts[kind]++] = (double)value * MIB;
    switch (kind) {
    case 0:
        plim_text_append_format(
            text, "a %" PRIu64 " b %s%" PRIu64 ".%" PRIu64 " mem %" PRIu64 " MB, c %" PRIu64 "\n",
            a, sign, a / 3, a / 7, value, a / 11);
        break;
    case 1:
        plim_text_append_format(
            text, "{\"x\": %s%" PRIu64 ", \"gpu_memory_mb\": %" PRIu64 ".0e+00, \"y\": 1}\n", sign,
            a, value);
        break;
    case 2:
        plim_text_append_format(text, "VRAM %" PRIu64 "M\n", value);
        break;
    case 3:
        plim_text_append_format(
            text, "[%" PRIu64 ":%" PRIu64 "] reserved memory %" PRIu64 "MiB of %" PRIu64 "MiB\n", a,
            a / 2, value, a);
        break;
    default:
        plim_text_append_format(text, "%" PRIu64 " [rank7] memory = %" PRIu64 " MB\n", a, value);
        break;
    }
}

/* Lines in any order, numbers of any width: what comes out is what was put in. */
static void shapes_lose_nothing(void)
{
    static const char *const names[KINDS] = { "mem", "gpu_memory_mb", "VRAM", "reserved memory",
                                              "memory [rank 7]" };
    static made_up log;
    log = (made_up){ 0 };
    plim_text_init(&log.text, NULL, 1 << 20);
    for (int i = 0; i < COUNT; i++) {
        make_up_line(&log);
    }
    plim_series_reader *const reader = create(NULL);
    for (size_t at = 0; at < log.text.length;) {
        const size_t left = log.text.length - at;
        const size_t some = (size_t)t_random_between(1, left < 999 ? left : 999);
        T_EQ_U64(plim_series_reader_feed(reader, log.text.data + at, some, NULL), PLIM_OK);
        at += some;
    }
    plim_arena arena;
    plim_arena_init(&arena, NULL);
    const plim_series *all = NULL;
    size_t count = 0;
    T_EQ_U64(plim_series_reader_finish(reader, &no_capacity, &arena, &all, &count, NULL), PLIM_OK);
    T_EQ_U64(count, KINDS);
    for (size_t i = 0; i < count; i++) {
        size_t kind = 0;
        while (kind < KINDS && strcmp(all[i].name, names[kind]) != 0) {
            kind++;
        }
        T_CASE("%s", all[i].name);
        T_TRUE(kind < KINDS);
        T_EQ_U64(all[i].count, log.counts[kind]);
        T_EQ_MEM(all[i].bytes, log.bytes[kind], all[i].count * sizeof *all[i].bytes);
    }
    plim_series_reader_destroy(reader);
    plim_arena_deinit(&arena);
    plim_text_deinit(&log.text);
}

static void long_series_are_thinned_evenly(void)
{
    enum { POINTS = 300000 };
    t_mem heap;
    t_mem_init(&heap);
    plim_series_reader *const reader = create(&heap.mem);
    for (int i = 0; i < POINTS; i++) {
        char line[80];
        const int length =
            snprintf(line, sizeof line, "step %d mem %d MB\n", 10 * i, 1000 + i % 1000);
        T_EQ_U64(plim_series_reader_feed(reader, line, (size_t)length, NULL), PLIM_OK);
    }
    plim_arena arena;
    plim_arena_init(&arena, NULL);
    const plim_series *all = NULL;
    size_t count = 0;
    T_EQ_U64(plim_series_reader_finish(reader, &no_capacity, &arena, &all, &count, NULL), PLIM_OK);
    T_EQ_U64(count, 1);
    T_EQ_U64(all[0].seen, POINTS);
    T_EQ_U64(all[0].last_line, POINTS);
    T_EQ_U64(all[0].count, (POINTS + 7) / 8);
    T_TRUE(all[0].count <= PLIM_SERIES_POINTS_MAX);
    for (size_t i = 0; i < all[0].count; i++) {
        T_EQ_U64(all[0].steps[i], 80 * i);
        T_EQ_U64(all[0].bytes[i], (1000 + 8 * i % 1000) * (uint64_t)MIB);
    }
    plim_series_reader_destroy(reader);
    plim_arena_deinit(&arena);
    T_EQ_U64(heap.live_bytes, 0);
}

/* Any number of names and lines of any length need no more than a bounded amount of memory. */
/* Lines of so many ranks, one of which grows, and what leads then. */
static void the_worst_rank_leads(void)
{
    enum { RANKS = 300, STEPS = 40, LEAKING = 287 };
    plim_series_reader *const reader = create(NULL);
    for (int step = 0; step < STEPS; step++) {
        for (int rank = 0; rank < RANKS; rank++) {
            char line[128];
            const int length =
                snprintf(line, sizeof line, "[rank%d]: step %d memory %d MiB reserved %d MiB\n",
                         rank, step, rank == LEAKING ? 10000 + 12 * step : 10000, 12000);
            T_EQ_U64(plim_series_reader_feed(reader, line, (size_t)length, NULL), PLIM_OK);
        }
    }
    plim_arena arena;
    plim_arena_init(&arena, NULL);
    const plim_series *all = NULL;
    size_t count = 0;
    T_EQ_U64(plim_series_reader_finish(reader, &no_capacity, &arena, &all, &count, NULL), PLIM_OK);
    T_EQ_U64(count, 2 * RANKS);
    T_EQ_STR(all[0].name, "memory [rank 287]");
    T_EQ_U64(all[0].trend.kind, PLIM_TREND_LEAK);
    for (size_t i = 1; i < count; i++) {
        T_TRUE(all[i].trend.kind <= all[i - 1].trend.kind);
    }
    plim_series_reader_destroy(reader);
    plim_arena_deinit(&arena);
}

typedef struct measured {
    const char *pattern;
    plim_series_capacity capacity;
    double capacity_mib; /* of the first series */
} measured;

/* What trends are measured against: the user's word, then the series' own total, then a message. */
static void totals_are_capacities(void)
{
    const plim_series_capacity none = { 0 };
    const plim_series_capacity given = { .given_bytes = 2000 * MIB };
    const plim_series_capacity named = { .named_bytes = 3000 * MIB };
    const measured cases[] = {
        { "gpu mem 100#/1500MB\n", none, 1500 },
        { "gpu mem 100#/1500MB\n", given, 2000 },
        { "gpu mem 100#/1500MB\n", named, 1500 },
        { "gpu mem 100# MB\n", named, 3000 },
        { "MEM 1000MiB / 1.#GiB\n", none, 0 }, /* a total that moves is none */
        { "memory: used 100# MB, total 1500 MB\n", none, 1500 },
        { "memory used 100# MB, ram total 1500 MB\n", none, 0 }, /* of other memory */
        { "rss 100# MB\n", named, 0 },                           /* a message names the device */
        { "Mem:  1500  100#  400  0  0  0\n", none, 1500 * 1024 },
        { "memory limit 100# MB, memory used 1100 MB\n", none, 0 },
    };
    plim_text text;
    plim_text_init(&text, NULL, 1 << 20);
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].pattern);
        repeat(&text, "", cases[i].pattern);
        plim_series_reader *const reader = create(NULL);
        T_EQ_U64(plim_series_reader_feed(reader, plim_text_string(&text), text.length, NULL),
                 PLIM_OK);
        plim_arena arena;
        plim_arena_init(&arena, NULL);
        const plim_series *all = NULL;
        size_t count = 0;
        T_EQ_U64(plim_series_reader_finish(reader, &cases[i].capacity, &arena, &all, &count, NULL),
                 PLIM_OK);
        T_TRUE(count >= 1);
        T_EQ_U64((uint64_t)round(all[0].capacity_bytes / MIB), (uint64_t)cases[i].capacity_mib);
        plim_series_reader_destroy(reader);
        plim_arena_deinit(&arena);
    }
    plim_text_deinit(&text);
}

static void memory_is_bounded(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_series_reader *const reader = create(&heap.mem);
    for (int i = 0; i < 5000; i++) {
        char line[80];
        const int length = snprintf(line, sizeof line, "memory of %c%c%c %d MB, x%d\n",
                                    'a' + i % 26, 'a' + i / 26 % 26, 'a' + i / 676, i, i);
        T_EQ_U64(plim_series_reader_feed(reader, line, (size_t)length, NULL), PLIM_OK);
    }
    for (int i = 0; i < 3; i++) {
        T_EQ_U64(plim_series_reader_feed(reader, "mem 1000MB ", 11, NULL), PLIM_OK);
        for (int k = 0; k < 100000; k++) {
            T_EQ_U64(plim_series_reader_feed(reader, "far mem 7MB, ", 13, NULL), PLIM_OK);
        }
        T_EQ_U64(plim_series_reader_feed(reader, "late memory 12 MB\n", 18, NULL), PLIM_OK);
    }
    T_TRUE(heap.peak_bytes < (size_t)2 << 20);
    plim_arena arena;
    plim_arena_init(&arena, NULL);
    const plim_series *all = NULL;
    size_t count = 0;
    T_EQ_U64(plim_series_reader_finish(reader, &no_capacity, &arena, &all, &count, NULL), PLIM_OK);
    /* Late names got a place though 5000 came before; what stands beyond the limit is not read. */
    T_EQ_U64(count, 2);
    T_EQ_STR(all[0].name, "mem");
    T_EQ_STR(all[1].name, "far mem");
    plim_series_reader_destroy(reader);
    plim_arena_deinit(&arena);
    T_EQ_U64(heap.live_bytes, 0);
}

static void rubbish_is_read_without_harm(void)
{
    static const char broken[] = "mem\xff\xfe \xe6\x98: 100#MB\n\0\0\0mem\0 12MB\n\x1b[mem 5GB\x1b";
    plim_text found;
    plim_text_init(&found, NULL, 1 << 20);
    char text[4 * sizeof broken];
    for (int i = 0; i < 4; i++) {
        memcpy(text + (size_t)i * sizeof broken, broken, sizeof broken);
    }
    read_in_pieces(&found, text, sizeof text, SIZE_MAX, SIZE_MAX);
    for (size_t cut = 1; cut < sizeof text; cut++) {
        plim_text other;
        plim_text_init(&other, NULL, 1 << 20);
        read_in_pieces(&other, text, sizeof text, cut, 7);
        T_EQ_STR(plim_text_string(&other), plim_text_string(&found));
        plim_text_deinit(&other);
    }
    for (size_t i = 0; i < found.length; i++) {
        T_TRUE((unsigned char)found.data[i] < 0x80); /* broken bytes are question marks */
    }
    plim_text_deinit(&found);
}

static bool read_some(const plim_mem *mem, void *ctx)
{
    static const char text[] = "step,gpu_mem_gb\n1,2.5\n2,3.5\n3,4.5\nend\n\n"
                               "iter 1 mem 5MB vram 6MB\niter 2 mem 5MB vram 7MB\n"
                               "iter 3 mem 5MB vram 8MB\nrank 0 mem: 7GB\n";
    (void)ctx;
    plim_series_reader *reader = NULL;
    if (plim_series_reader_create(mem, &reader, NULL) != PLIM_OK) {
        return false;
    }
    plim_arena arena;
    plim_arena_init(&arena, mem);
    const plim_series *all = NULL;
    size_t count = 0;
    plim_error err = { 0 };
    plim_status status = plim_series_reader_feed(reader, text, sizeof text - 1, &err);
    if (status == PLIM_OK) {
        status = plim_series_reader_finish(reader, &no_capacity, &arena, &all, &count, &err);
    }
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    T_EQ_U64(status, err.status);
    T_TRUE(status != PLIM_OK || count == 3);
    plim_series_reader_destroy(reader);
    plim_arena_deinit(&arena);
    return status == PLIM_OK;
}

static void every_failed_allocation_is_an_error(void)
{
    t_fail_each_allocation(read_some, NULL);
}

/* What is free is never said to leak, whatever it does. */
static void free_memory_does_not_leak(void)
{
    plim_series_reader *const reader = create(NULL);
    for (int i = 0; i < 500; i++) {
        char line[80];
        const int length =
            snprintf(line, sizeof line, "step %d free memory %d MB\n", i, 1000 + 10 * i);
        T_EQ_U64(plim_series_reader_feed(reader, line, (size_t)length, NULL), PLIM_OK);
    }
    plim_arena arena;
    plim_arena_init(&arena, NULL);
    const plim_series *all = NULL;
    size_t count = 0;
    T_EQ_U64(plim_series_reader_finish(reader, &no_capacity, &arena, &all, &count, NULL), PLIM_OK);
    T_EQ_U64(count, 1);
    T_TRUE(all[0].trend.kind == PLIM_TREND_FLAT || all[0].trend.kind == PLIM_TREND_TOO_SHORT);
    T_TRUE(all[0].trend.growth_bytes_per_step == 0);
    T_FALSE(all[0].trend.has_exhaustion);
    plim_series_reader_destroy(reader);
    plim_arena_deinit(&arena);
}

static void destroying_nothing_is_allowed(void)
{
    plim_series_reader_destroy(NULL);
    plim_series_reader *const reader = create(NULL);
    T_EQ_U64(plim_series_reader_feed(reader, "", 0, NULL), PLIM_OK);
    plim_series_reader_destroy(reader);
}

T_MAIN(T_TEST(every_form_is_read), T_TEST(cuts_change_nothing),
       T_TEST(what_is_no_memory_is_left_out), T_TEST(shapes_lose_nothing),
       T_TEST(long_series_are_thinned_evenly), T_TEST(memory_is_bounded),
       T_TEST(the_worst_rank_leads), T_TEST(totals_are_capacities),
       T_TEST(rubbish_is_read_without_harm), T_TEST(every_failed_allocation_is_an_error),
       T_TEST(free_memory_does_not_leak), T_TEST(destroying_nothing_is_allowed))
