/*
 * fixes_host.c - fixes for the host's memory: RAM, /dev/shm, pinned memory, mappings, heaps.
 */
#include "advice/fix.h"

#include "base/size.h"

#define HOST PLIM_VERDICT_BIT(PLIM_VERDICT_HOST)

#define TOPIC(what) PLIM_TOPIC_BIT(PLIM_TOPIC_##what)
/* Killed from outside, by its own words or by the signal alone. */
#define KILLED       (TOPIC(HOST_KILLED) | TOPIC(HOST_CGROUP) | TOPIC(HOST_MACHINE) | TOPIC(HOST_SIGNAL))
#define RAM          (TOPIC(HOST_RAM) | TOPIC(ARENA))
#define FAMILY(what) PLIM_FAMILY_BIT(PLIM_FAMILY_##what)

/* Programs that load data with PyTorch, or may. */
#define LOADS (PLIM_FAMILIES_TORCH | FAMILY(ANY) | FAMILY(HOST))
/* Programs in which the host's arrays are NumPy's. */
#define ARRAYS                                                                                \
    (LOADS | FAMILY(PADDLE) | FAMILY(TENSORFLOW) | FAMILY(JAX) | FAMILY(TPU) | FAMILY(CUPY) | \
     FAMILY(RMM) | FAMILY(XGBOOST) | FAMILY(FAISS) | FAMILY(ONNXRUNTIME))

static void see_free_text(plim_text *out, const plim_failed_request *oom,
                          const plim_judgement *judgement)
{
    (void)judgement;
    const uint64_t requested = oom->figures[PLIM_FIGURE_REQUESTED].bytes;
    if (requested != PLIM_BYTES_UNKNOWN) {
        plim_text_append_format(out,
                                "See whether %s can be had at all: what counts is the column "
                                "\"available\", or the limit of the container or the job if that "
                                "is lower.",
                                plim_format_bytes(requested).text);
    }
}

static void map_files(plim_text *out, const plim_failed_request *oom,
                      const plim_judgement *judgement)
{
    (void)judgement;
    if ((PLIM_FAMILY_BIT(oom->family) & PLIM_FAMILIES_TORCH) != 0) {
        plim_text_append_string(
            out, "state = torch.load(path, mmap=True, map_location=\"cpu\", weights_only=True)");
    }
}

static const plim_fix fixes[] = {
    /* --- killed --- */
    {
        .id = "confirm-killer",
        .verdicts = HOST,
        .topics = KILLED,
        .text = "Make sure that it was the kernel's out-of-memory killer: anything may send that "
                "signal.",
        .command = "journalctl -k --grep \"Out of memory\"",
        .source = "systemd and Linux manuals",
    },
    {
        .id = "ask-more-memory",
        .verdicts = HOST,
        .topics = KILLED | TOPIC(HOST_RAM),
        .families = FAMILY(HOST) | FAMILY(ANY),
        .text = "Ask the scheduler or the container for more memory of the host; the default is "
                "often a few GiB.",
        .command = "sbatch --mem=64G job.sh",
        .source = "Slurm manual; for containers docker run --memory",
    },
    {
        .id = "fewer-loader-workers",
        .verdicts = HOST,
        .topics = KILLED | RAM,
        .families = LOADS,
        .text = "Use fewer loader processes: each comes to hold its own copy of the data set's "
                "Python objects, the more the longer it runs.",
        .command = "loader = DataLoader(dataset, num_workers=2)",
        .source = "PyTorch issue 13246",
    },
    /* --- RAM --- */
    {
        .id = "see-free-memory",
        .verdicts = HOST,
        .topics = RAM | KILLED,
        .text = "See how much memory the host has left: what counts is the column \"available\", "
                "or the limit of the container or the job if that is lower.",
        .write_text = see_free_text,
        .command = "free -h",
        .source = "procps manual",
    },
    {
        .id = "map-files",
        .verdicts = HOST,
        .topics = RAM | KILLED,
        .families = LOADS,
        .text = "Map large files instead of reading them: pages come when they are touched and "
                "need no memory of their own.",
        .command = "x = numpy.load(path, mmap_mode=\"r\")",
        .write_command = map_files,
        .source = "documentation of torch.load and numpy.load",
    },
    {
        .id = "smaller-type",
        .verdicts = HOST,
        .topics = RAM,
        .families = ARRAYS,
        .text = "Ask for less at once: a smaller type (float32 is half of float64) or pieces of "
                "the array.",
        .command = "x = numpy.empty(shape, dtype=numpy.float32)",
        .source = "NumPy documentation, data types",
    },
    {
        .id = "add-swap",
        .verdicts = HOST,
        .topics = RAM | KILLED,
        .text = "Where it is needed only for a moment, while a model loads, swap space does; "
                "slow, but it ends.",
        .command = "sudo swapon /swapfile",
        .source = "Linux manual, swapon",
    },
    /* --- shared memory --- */
    {
        .id = "larger-shm",
        .verdicts = HOST,
        .topics = TOPIC(HOST_SHM),
        .text = "Give the container more shared memory: 64 MiB is the default, and loader "
                "processes hand their batches over through it.",
        .command = "docker run --shm-size=8g",
        .source = "PyTorch README, Docker; Docker manual",
    },
    {
        .id = "no-loader-workers",
        .verdicts = HOST,
        .topics = TOPIC(HOST_SHM),
        .text = "Or load in the main process, which needs none, and may be slower.",
        .command = "loader = DataLoader(dataset, num_workers=0)",
        .source = "PyTorch documentation, data loading",
    },
    {
        .id = "shm-space",
        .verdicts = HOST,
        .topics = TOPIC(HOST_SHM),
        .text = "See how much is there, and whether dead runs left files in it.",
        .command = "df -h /dev/shm",
        .source = "coreutils manual",
    },
    /* --- pinned memory --- */
    {
        .id = "no-pinning",
        .verdicts = HOST,
        .topics = TOPIC(HOST_PINNED),
        .families = LOADS | FAMILY(CUDA),
        .text = "Pin less: copies to the device become a little slower. PyTorch rounds pinned "
                "sizes up to powers of two.",
        .command = "loader = DataLoader(dataset, pin_memory=False)",
        .source = "PyTorch documentation, pinned memory",
    },
    {
        .id = "locked-memory-limit",
        .verdicts = HOST,
        .topics = TOPIC(HOST_PINNED),
        .text = "See the limit for locked memory; in containers and on WSL it is low. WSL takes "
                "half of the machine's memory unless .wslconfig says more.",
        .command = "ulimit -l",
        .source = "bash manual; WSL documentation",
    },
    {
        .id = "llama-no-pinned",
        .verdicts = HOST,
        .topics = TOPIC(HOST_PINNED),
        .families = FAMILY(LLAMA_CPP) | FAMILY(OLLAMA),
        .text = "It goes on without pinned memory, more slowly; this turns the attempt off.",
        .command = "export GGML_CUDA_NO_PINNED=1",
        .source = "llama.cpp documentation, CUDA",
    },
    /* --- mappings --- */
    {
        .id = "more-mappings",
        .verdicts = HOST,
        .topics = TOPIC(HOST_MAPS),
        .text = "Allow more mappings per process: many mapped files or small pieces use up the "
                "65530 of the default, with memory to spare.",
        .command = "sudo sysctl -w vm.max_map_count=1048576",
        .source = "Linux documentation, vm sysctl",
    },
    {
        .id = "allow-overcommit",
        .verdicts = HOST,
        .topics = TOPIC(HOST_MAPS),
        .text = "If it is a fork or a large mapping that is refused while memory is free, let the "
                "kernel promise more than it has.",
        .command = "sudo sysctl -w vm.overcommit_memory=1",
        .source = "Linux documentation, overcommit accounting",
    },
    {
        .id = "address-space-limit",
        .verdicts = HOST,
        .topics = TOPIC(HOST_MAPS),
        .text = "See whether the shell or the job limits the address space: CUDA maps far more "
                "than it uses.",
        .command = "ulimit -v",
        .source = "bash manual",
    },
    /* --- heaps of runtimes --- */
    {
        .id = "larger-node-heap",
        .verdicts = HOST,
        .topics = TOPIC(HOST_HEAP),
        .text = "With Node: raise the limit of its heap (in MiB), where the machine has the "
                "memory.",
        .command = "export NODE_OPTIONS=--max-old-space-size=8192",
        .source = "Node documentation, command line",
    },
    {
        .id = "larger-java-heap",
        .verdicts = HOST,
        .topics = TOPIC(HOST_HEAP),
        .text = "With Java: set the heap so that it and the rest fit the machine; too large a "
                "heap leaves nothing for native memory.",
        .command = "export JAVA_TOOL_OPTIONS=-Xmx8g",
        .source = "Java documentation, launcher",
    },
    /* --- and else --- */
    {
        .id = "host-memory",
        .verdicts = HOST,
        .place = PLIM_FIX_RESORT,
        .text = "It is the host's memory that ran out, not the GPU's: see what is left, and close "
                "programs or load less.",
        .command = "free -h",
        .source = "procps manual",
    },
};

const plim_fix_list plim_fixes_host = { fixes, sizeof fixes / sizeof fixes[0] };
