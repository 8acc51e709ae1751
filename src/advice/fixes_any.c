/*
 * fixes_any.c - what helps whatever the program is: the size of a request, a larger device, and
 * the last resorts, one for each verdict, so that nobody leaves empty-handed.
 */
#include "advice/fix.h"

#include "base/size.h"

#define EXHAUSTED  PLIM_VERDICT_BIT(PLIM_VERDICT_EXHAUSTED)
#define FRAGMENTED PLIM_VERDICT_BIT(PLIM_VERDICT_FRAGMENTED)
#define CAPPED     PLIM_VERDICT_BIT(PLIM_VERDICT_CAPPED)
#define OVERSIZED  PLIM_VERDICT_BIT(PLIM_VERDICT_OVERSIZED)
#define UNKNOWN    PLIM_VERDICT_BIT(PLIM_VERDICT_UNKNOWN)

#define TOPIC(what)  PLIM_TOPIC_BIT(PLIM_TOPIC_##what)
#define FAMILY(what) PLIM_FAMILY_BIT(PLIM_FAMILY_##what)

/* Programs in which arrays have a shape that a user can print with Python. */
#define PYTHON                                                                                \
    (PLIM_FAMILIES_TORCH | FAMILY(PADDLE) | FAMILY(TENSORFLOW) | FAMILY(JAX) | FAMILY(CUPY) | \
     FAMILY(RMM) | FAMILY(MLX) | FAMILY(ONNXRUNTIME) | FAMILY(DIRECTML))
/* Programs that say CUDA's words and may be written in anything. */
#define BARE_CUDA (FAMILY(CUDA) | FAMILY(ANY) | FAMILY(TRITON) | FAMILY(DARKNET))

/* --- one request too large --- */

static uint64_t bound_of(const plim_failed_request *oom)
{
    const uint64_t limit = oom->figures[PLIM_FIGURE_LIMIT].bytes;
    const uint64_t total = oom->figures[PLIM_FIGURE_TOTAL].bytes;
    return limit < total ? limit : total; /* unknown is the largest */
}

static void check_shape_text(plim_text *out, const plim_failed_request *oom,
                             const plim_judgement *judgement)
{
    (void)judgement;
    const uint64_t requested = oom->figures[PLIM_FIGURE_REQUESTED].bytes;
    const uint64_t bound = bound_of(oom);
    if (requested != PLIM_BYTES_UNKNOWN && bound != PLIM_BYTES_UNKNOWN) {
        plim_text_append_format(out,
                                "A single request of %s against %s is most often a wrong shape: "
                                "a broadcast, a swapped axis, a length in the wrong unit. Print "
                                "shapes before the line that fails.",
                                plim_format_bytes(requested).text, plim_format_bytes(bound).text);
    }
}

/* --- a larger device --- */

static bool need_is_known(const plim_failed_request *oom, const plim_judgement *judgement)
{
    const uint64_t needed = plim_needed_bytes(oom, judgement);
    const uint64_t total = oom->figures[PLIM_FIGURE_TOTAL].bytes;
    return needed != PLIM_BYTES_UNKNOWN && total != PLIM_BYTES_UNKNOWN && needed > total;
}

static void larger_device_text(plim_text *out, const plim_failed_request *oom,
                               const plim_judgement *judgement)
{
    plim_text_append_format(
        out,
        "This state of the program needs at least %s and its context, on a device of %s: without "
        "any of the above it takes a larger device, or several.",
        plim_format_bytes(plim_needed_bytes(oom, judgement)).text,
        plim_format_bytes(oom->figures[PLIM_FIGURE_TOTAL].bytes).text);
}

static const plim_fix fixes[] = {
    {
        .id = "check-overflow",
        .place = PLIM_FIX_LEADING,
        .verdicts = OVERSIZED,
        .topics = TOPIC(OVERFLOW),
        .text = "The size overflowed, so it is no size at all: look for a negative length, an "
                "uninitialised number, or a product of shapes in 32 bits.",
        .source = "the request itself",
    },
    {
        .id = "check-shape",
        .place = PLIM_FIX_LEADING,
        .verdicts = OVERSIZED,
        .families = PYTHON,
        .topics = ~(TOPIC(PROGRAM) | TOPIC(BUFFER_MAX) | TOPIC(OVERFLOW)),
        .text = "A request of that size is most often a wrong shape: a broadcast, a swapped axis, "
                "a length in the wrong unit. Print shapes before the line that fails.",
        .write_text = check_shape_text,
        .command = "print(x.shape, x.dtype)",
        .source = "the request itself",
    },
    {
        .id = "leave-room",
        .verdicts = UNKNOWN | EXHAUSTED,
        .families = FAMILY(PYTORCH) | FAMILY(PYTORCH_ROCM) | FAMILY(PYTORCH_ASYNC),
        .topics = TOPIC(WORKSPACE) | TOPIC(HANDLE),
        .text = "A library (cuBLAS, cuDNN, NCCL) finds no room where the framework's pool has "
                "taken the device: leave some room, by a smaller batch or share.",
        .command = "torch.cuda.set_per_process_memory_fraction(0.90)",
        .source = "cuBLAS and cuDNN documentation, ALLOC_FAILED",
    },
    {
        .id = "leave-room-for-library",
        .verdicts = UNKNOWN | EXHAUSTED,
        .families = BARE_CUDA | FAMILY(JAX),
        .topics = TOPIC(WORKSPACE) | TOPIC(HANDLE),
        .text = "A library (cuBLAS, cuDNN, NCCL) finds no room where the framework's pool has "
                "taken the device: leave some room, by a smaller batch or by letting the pool "
                "grow instead of taking all.",
        .source = "cuBLAS and cuDNN documentation, ALLOC_FAILED",
    },
    {
        .id = "launch-blocking-if-free",
        .verdicts = EXHAUSTED,
        .topics = TOPIC(HANDLE),
        .text = "If the device is not full, it is an earlier error on it, which shows up later "
                "than it happens: run again so that the stack trace points to its cause.",
        .command = "export CUDA_LAUNCH_BLOCKING=1",
        .source = "CUDA programming guide, environment variables",
    },
    {
        .id = "larger-device",
        .verdicts = EXHAUSTED,
        .applies = need_is_known,
        .text = "Without any of the above it takes a larger device, or several.",
        .write_text = larger_device_text,
        .source = "the figures of the message",
    },
    {
        .id = "memory-summary",
        .verdicts = UNKNOWN,
        .families = FAMILY(PYTORCH) | FAMILY(PYTORCH_ROCM),
        .text = "Print the allocator's own account where the error is caught: the text at hand "
                "does not have it.",
        .command = "print(torch.cuda.memory_summary())",
        .source = "PyTorch documentation, memory_summary",
    },
    {
        .id = "try-smaller",
        .verdicts = UNKNOWN,
        .families = PYTHON | FAMILY(CUDA) | FAMILY(HIP) | FAMILY(ANY),
        .unless = PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_BATCH_OF_ONE),
        .text = "Try half the batch or a smaller model: if it then runs, size is the cause and "
                "not somebody else on the device.",
        .command = "batch_size = batch_size // 2",
        .source = "the text itself, which has too few figures",
    },
    /* --- last resorts; where others hold the device, fixes_processes.c always has something --- */
    {
        .id = "use-less",
        .verdicts = EXHAUSTED | FRAGMENTED,
        .place = PLIM_FIX_RESORT,
        .text = "Do less at a time: smaller batches, tiles or models, in 16 bits where 32 are not "
                "needed; or take a larger device.",
        .source = "the figures of the message",
    },
    {
        .id = "raise-limit",
        .verdicts = CAPPED,
        .place = PLIM_FIX_RESORT,
        .text = "A limit that somebody set was reached, not the device: look for it in the "
                "program's settings and raise it, or use less.",
        .source = "the figures of the message",
    },
    {
        .id = "split-request",
        .verdicts = OVERSIZED,
        .place = PLIM_FIX_RESORT,
        .text = "One request exceeds what the device gives at once: split it, or look for a size "
                "that is computed wrongly.",
        .source = "the figures of the message",
    },
    {
        .id = "fuller-report",
        .verdicts = UNKNOWN,
        .place = PLIM_FIX_RESORT,
        .text = "Run again and note how much memory the device has, and how much is free just "
                "before the failure; the text alone does not say why. A smaller batch or model "
                "tells whether size is the cause.",
        .source = "the figures of the message",
    },
};

const plim_fix_list plim_fixes_any = { fixes, sizeof fixes / sizeof fixes[0] };
