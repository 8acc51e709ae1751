/*
 * words_topics.c - the table of what can be said of each topic.
 */
#include "verdict/words_topics.h"

/* Clauses that several topics share. */
#define ASKED   .before_wanted = "The program requested ", .with_wanted = ""
#define OF_HOST .before_wanted = "The program requested ", .with_wanted = " of the host's memory"
#define TOO_FEW \
    "Too few figures are known to say more: what is held, and by whom, is not among them"

static const plim_topic_words words[] = {
    [PLIM_TOPIC_ALLOCATION] = {
        .second = TOO_FEW,
    },
    [PLIM_TOPIC_ASYNC_POOL] = {
        .second = "What the driver's pool keeps is not printed, so it may be that, others, or "
                   "live data",
    },
    [PLIM_TOPIC_POOL] = {
        .full = "The pool is as good as full, and nearly all of it is live",
        .second = "The program takes one pool at the start, and how large or how full it is, the "
                   "text does not say",
    },
    [PLIM_TOPIC_WATERMARK] = {
        .full = "No limit of the allocator was in the way: the system had no more memory to give",
        .second = "The figures are missing or zero, as on a machine without a real device",
    },
    [PLIM_TOPIC_STARTUP] = {
        .second = "So much was not free: others hold the rest, or the share is set too high",
    },
    [PLIM_TOPIC_PROGRAM] = {
        .full = "It is planned ahead, so nothing else is to blame: the program itself has to "
                "become smaller",
        .second = TOO_FEW,
    },
    [PLIM_TOPIC_ARENA] = {
        .second = "The same arena serves the CPU and the GPU, and the text does not say which "
                   "of the two is full",
    },
    [PLIM_TOPIC_SUMMARY] = {
        .first = "The allocator's table counts an out-of-memory",
        .second = "The request, and what was free, are not in it",
    },
    [PLIM_TOPIC_BARE] = {
        .second = "The cause is open: a device filled by others fails in this way, and so does a "
                   "program that is too large",
    },
    [PLIM_TOPIC_WORKSPACE] = {
        .second = "The device was full already, often by the framework's own pool, and by whom "
                   "is not said",
    },
    [PLIM_TOPIC_HANDLE] = {
        .first = "A library (cuBLAS, cuDNN) could not be initialized",
        .second = "Its memory comes from outside a framework's pool, so a full device is a usual "
                  "cause; an earlier error, such as an index out of range, shows alike",
    },
    [PLIM_TOPIC_NO_ENGINE] = {
        .first = "The library (cuDNN, MIOpen) found no algorithm for a convolution",
        .second = "It passes over those whose workspace does not fit, so a full device is a usual "
                  "cause; types or a build that no algorithm supports show alike",
    },
    [PLIM_TOPIC_WEIGHTS] = {
        .second = "How much the device has, or how much was free, the text does not say",
    },
    [PLIM_TOPIC_COMPUTE] = {
        .second = "It grows with context and batch; how much was free, the text does not say",
    },
    [PLIM_TOPIC_WARMUP] = {
        .first = "A server's warm-up ran out of memory",
        .second = "The limits of the server are too large for what is left beside the weights; "
                   "no bytes are given",
    },
    [PLIM_TOPIC_TACTIC] = {
        .second = "It goes on with another way if it can, so this may not be a failure at all",
    },
    [PLIM_TOPIC_CAP] = {
        .first = "A pool or a share that may not grow was full",
        ASKED,
        .with_bound = " is the limit",
        .bound = PLIM_FIGURE_LIMIT,
        .second = "A limit that was set refused it, not the device",
    },
    [PLIM_TOPIC_KV_NONE] = {
        .first = "Nothing is left for the KV cache",
        .second = "Weights and activations use up the server's share of the device: a larger "
                  "share, a smaller or quantized model, or more devices help",
    },
    [PLIM_TOPIC_KV_CACHE] = {
        .first = "The KV cache does not fit its budget",
        .before_wanted = "",
        .with_wanted = " of KV cache are needed",
        .with_bound = " are what its budget leaves",
        .bound = PLIM_FIGURE_LIMIT,
        .second = "The budget is the server's share of the device less weights and activations: "
                  "a larger share or a shorter context helps",
    },
    [PLIM_TOPIC_BUFFER_MAX] = {
        .first = "One buffer is larger than the driver allows",
        .before_wanted = "One buffer of ",
        .with_wanted = " was requested",
        .with_bound = " is the most that the driver gives at once",
        .bound = PLIM_FIGURE_LIMIT,
        .second = "However empty the device is, a single buffer of that size cannot be had",
    },
    [PLIM_TOPIC_OVERFLOW] = {
        .first = "The size that was requested overflowed",
        ASKED,
        .second = "That is no size of anything real: it was computed wrongly",
    },
    [PLIM_TOPIC_HOST_RAM] = {
        .first = "An allocation in the host's memory failed",
        OF_HOST,
        .with_bound = " were available",
        .bound = PLIM_FIGURE_FREE,
        .second = "It is the machine's memory that was short, not the GPU's",
    },
    [PLIM_TOPIC_HOST_KILLED] = {
        .first = " because memory was short",
        .second = "It is the machine's memory, or a limit on it, that was short, not the GPU's",
    },
    [PLIM_TOPIC_HOST_CGROUP] = {
        .first = " at the memory limit of ",
        .second = "The limit was met, not the end of the machine's memory; the GPU's has no part in it",
    },
    [PLIM_TOPIC_HOST_MACHINE] = {
        .first = " because the machine's memory ran short",
        .second = "It is the machine's memory that was short, not the GPU's",
    },
    [PLIM_TOPIC_HOST_SIGNAL] = {
        .first = "A process was killed from outside",
        .second = "That is how the kernel or a scheduler ends a program when the machine's "
                  "memory is short; the GPU's has no part in it",
    },
    [PLIM_TOPIC_HOST_EVICTED] = {
        .first = " because the node's memory was short",
        .second = "Pods that use more than they request go first; the GPU's memory has no part "
                  "in it",
    },
    [PLIM_TOPIC_HOST_COMMIT] = {
        .first = "Windows refused to promise more memory: the page file is too small",
        OF_HOST,
        .second = "Memory that is promised counts against RAM and page file together, so it fails "
                  "while RAM and the GPU have room",
    },
    [PLIM_TOPIC_HOST_SHM] = {
        .first = "Shared memory between processes (/dev/shm) ran out",
        .second = "Loader processes hand batches over through it, and containers get only 64 MiB "
                  "unless they are given more",
    },
    [PLIM_TOPIC_HOST_PINNED] = {
        .first = "Pinned memory of the host could not be had",
        .before_wanted = "The program requested ",
        .with_wanted = " of pinned host memory",
        .second = "It is the host's memory, locked for copies to the device; what the GPU has "
                  "free does not matter",
    },
    [PLIM_TOPIC_HOST_MAPS] = {
        .first = "The system refused a mapping or a new process",
        .before_wanted = "The system refused to map ",
        .with_wanted = "",
        .second = "Memory may be free all the same: the number of mappings, the address space or "
                  "what the kernel promises is limited",
    },
    [PLIM_TOPIC_HOST_HEAP] = {
        .first = "The heap of a language's runtime is full",
        .before_wanted = "The heap of a language's runtime could not give ",
        .with_wanted = "",
        .second = "It has a limit of its own, below the machine's memory, and nothing to do with "
                  "the GPU",
    },
    [PLIM_TOPIC_KERNEL] = {
        .first = "A kernel wants more shared memory, registers or threads than there are",
        .before_wanted = "A kernel needs ",
        .with_wanted = " of shared memory",
        .with_bound = " is what the hardware has",
        .bound = PLIM_FIGURE_SHARED_LIMIT,
        .wanted_shared = true,
        .second = "That is scratch space inside the chip, so the device's memory is not short",
    },
    [PLIM_TOPIC_SCRATCH] = {
        .first = "The scratch memory of the chip is too small for this program",
        .before_wanted = "The program needs ",
        .with_wanted = " of the chip's scratch memory",
        .second = "That is memory inside the chip, so the device's memory is not short",
    },
    [PLIM_TOPIC_DISK] = {
        .first = "A disk is full",
        .second = "The device without space is a disk or a quota on it, no GPU",
    },
    [PLIM_TOPIC_ERROR] = {
        .first = "Another error of the device was reported",
        .second = "The words name another failure, and do not say that memory was short",
    },
    [PLIM_TOPIC_SLOTS] = {
        .first = "Tokens, slots or elements ran out",
        .second = "They are counted in a table of fixed size, so no memory was short",
    },
    [PLIM_TOPIC_WARNING] = {
        .first = "The program tried to get memory and went on without it",
        .before_wanted = "The program tried to get ",
        .with_wanted = " and went on without",
        .second = "The text says itself that this is not a failure",
    },
    [PLIM_TOPIC_REPORT] = {
        .first = "This is a report of memory in use",
        .second = "It reports no failure",
    },
    [PLIM_TOPIC_PLACEMENT] = {
        .first = "A plan of layers over devices does not fit",
        .second = "Nothing was allocated yet: the GPU is too small or too full for the model as "
                  "it is to be loaded",
    },
};

_Static_assert(sizeof words / sizeof words[0] == PLIM_TOPIC_COUNT, "each topic has its words");

const plim_topic_words *plim_words_of_topic(plim_oom_topic topic)
{
    return &words[topic];
}
