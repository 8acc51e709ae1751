/*
 * fixes_processes.c - who else holds the device, and how to get it or another one.
 */
#include "advice/fix.h"

#include "base/size.h"

#include <inttypes.h>

#define FAMILY(what) PLIM_FAMILY_BIT(PLIM_FAMILY_##what)

#define AMD     (FAMILY(PYTORCH_ROCM) | FAMILY(HIP))
#define APPLE   (FAMILY(PYTORCH_MPS) | FAMILY(MLX) | FAMILY(METAL))
#define ASCEND  FAMILY(PYTORCH_NPU)
#define INTEL   (FAMILY(PYTORCH_XPU) | FAMILY(SYCL))
#define TPU     FAMILY(TPU)
#define WINDOWS FAMILY(DIRECTML)
#define NVIDIA  (~(AMD | APPLE | ASCEND | INTEL | TPU | WINDOWS))

#define EXHAUSTED  PLIM_VERDICT_BIT(PLIM_VERDICT_EXHAUSTED)
#define FRAGMENTED PLIM_VERDICT_BIT(PLIM_VERDICT_FRAGMENTED)
#define OTHER      PLIM_VERDICT_BIT(PLIM_VERDICT_OTHER_PROCESS)
#define UNKNOWN    PLIM_VERDICT_BIT(PLIM_VERDICT_UNKNOWN)

#define TOPIC(what) PLIM_TOPIC_BIT(PLIM_TOPIC_##what)

/*
 * Without figures, on a device filled by others, it is the driver that fails first. What is about
 * a model's own size is not.
 */
#define THINKABLE \
    (~(TOPIC(COMPUTE) | TOPIC(WARMUP) | TOPIC(TACTIC) | TOPIC(PROGRAM) | TOPIC(ARENA)))

/* Whether others may hold the device: said by the verdict, or thinkable where little is said. */
static bool others_may_hold(const plim_failed_request *oom, const plim_judgement *judgement)
{
    return judgement->verdict == PLIM_VERDICT_OTHER_PROCESS ||
           (PLIM_TOPIC_BIT(oom->topic) & THINKABLE) != 0;
}

/* A fifth of the device, and the request: then stopping it is the answer, whatever the verdict. */
static bool another_is_enough(const plim_failed_request *oom, const plim_judgement *judgement)
{
    const plim_process_figure *const other = plim_largest_other(oom, judgement);
    return judgement->verdict != PLIM_VERDICT_OTHER_PROCESS && other != NULL &&
           other->bytes != PLIM_BYTES_UNKNOWN &&
           other->bytes >= oom->figures[PLIM_FIGURE_REQUESTED].bytes &&
           other->bytes >= oom->figures[PLIM_FIGURE_TOTAL].bytes / 5;
}

static bool another_is_named(const plim_failed_request *oom, const plim_judgement *judgement)
{
    return plim_largest_other(oom, judgement) != NULL && !another_is_enough(oom, judgement);
}

static void kill_largest(plim_text *out, const plim_failed_request *oom,
                         const plim_judgement *judgement)
{
    plim_text_append_format(out, "kill %" PRIu64, plim_largest_other(oom, judgement)->pid);
}

static void kill_largest_text(plim_text *out, const plim_failed_request *oom,
                              const plim_judgement *judgement)
{
    const plim_process_figure *const other = plim_largest_other(oom, judgement);
    plim_text_append_format(out, "Stop process %" PRIu64, other->pid);
    if (other->bytes != PLIM_BYTES_UNKNOWN) {
        plim_text_append_format(out, ", which holds %s", plim_format_bytes(other->bytes).text);
    }
    plim_text_append_string(out,
                            ", if it is yours and not needed: often a run that died without "
                            "letting go. In a container the number is the host's, and kill has "
                            "to run there.");
}

typedef struct device_choice {
    uint64_t families;
    const char *variable;
} device_choice;

static void another_device(plim_text *out, const plim_failed_request *oom,
                           const plim_judgement *judgement)
{
    static const device_choice choices[] = {
        { AMD, "HIP_VISIBLE_DEVICES" },
        { ASCEND, "ASCEND_RT_VISIBLE_DEVICES" },
        { INTEL, "ZE_AFFINITY_MASK" },
    };
    (void)judgement;
    const char *variable = "CUDA_VISIBLE_DEVICES";
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        if ((choices[i].families & PLIM_FAMILY_BIT(oom->family)) != 0) {
            variable = choices[i].variable;
        }
    }
    /* The neighbour of the one that failed; the first device is tried by everybody. */
    const int other = oom->subject.device <= 0 ? 1 : 0;
    plim_text_append_format(out, "export %s=%d", variable, other);
}

#define WHO                                                                     \
    "See who holds the device. Processes of other users, of containers and of " \
    "notebooks whose kernel still runs count as well."

static const plim_fix fixes[] = {
    {
        .id = "see-processes",
        .verdicts = OTHER | UNKNOWN,
        .families = NVIDIA,
        .applies = others_may_hold,
        .text = WHO,
        .command = "nvidia-smi --query-compute-apps=pid,used_memory --format=csv",
        .source = "nvidia-smi manual",
    },
    {
        .id = "see-processes-amd",
        .verdicts = OTHER | UNKNOWN,
        .families = AMD,
        .applies = others_may_hold,
        .text = WHO,
        .command = "rocm-smi --showpids",
        .source = "ROCm SMI manual",
    },
    {
        .id = "see-processes-npu",
        .verdicts = OTHER | UNKNOWN,
        .families = ASCEND,
        .applies = others_may_hold,
        .text = WHO,
        .command = "npu-smi info",
        .source = "Ascend documentation, npu-smi",
    },
    {
        .id = "see-processes-intel",
        .verdicts = OTHER | UNKNOWN,
        .families = INTEL,
        .applies = others_may_hold,
        .text = WHO,
        .command = "xpu-smi ps",
        .source = "Intel XPU manager documentation",
    },
    {
        .id = "see-processes-tpu",
        .verdicts = OTHER | UNKNOWN,
        .families = TPU,
        .applies = others_may_hold,
        .text = "A TPU serves one process at a time: see who has it open.",
        .command = "sudo lsof -w /dev/accel0",
        .source = "JAX documentation, TPU in use",
    },
    {
        .id = "close-programs",
        .verdicts = OTHER | UNKNOWN,
        .families = APPLE | WINDOWS,
        .applies = others_may_hold,
        .text = "Close what else uses the GPU: browsers, editors of video, other models. Activity "
                "Monitor and Task Manager show it.",
        .source = "manuals of macOS and Windows",
    },
    {
        .id = "stop-process-that-suffices",
        .place = PLIM_FIX_LEADING,
        .verdicts = OTHER | UNKNOWN | EXHAUSTED | FRAGMENTED,
        .applies = another_is_enough,
        .text = "Stop the process that holds most, if it is yours and not needed.",
        .command = "kill PID",
        .write_text = kill_largest_text,
        .write_command = kill_largest,
        .source = "the process clauses of the message",
    },
    {
        .id = "stop-process",
        .verdicts = OTHER | UNKNOWN,
        .applies = another_is_named,
        .text = "Stop the process that holds most, if it is yours and not needed.",
        .command = "kill PID",
        .write_text = kill_largest_text,
        .write_command = kill_largest,
        .source = "the process clauses of the message",
    },
    {
        .id = "another-device",
        .verdicts = OTHER,
        .families = ~(APPLE | WINDOWS | TPU),
        .text = "Or run on another device, if there is one. Set it before the program starts; "
                "inside, devices are then counted from 0 again.",
        .command = "export CUDA_VISIBLE_DEVICES=1",
        .write_command = another_device,
        .source = "CUDA programming guide, environment variables",
    },
    {
        .id = "start-order",
        .verdicts = OTHER,
        .text = "Where several programs are to share the device, give each a limit of its own "
                "and start the one that takes all it finds (JAX, TensorFlow, vLLM) last.",
        .source = "documentation of those frameworks",
    },
};

const plim_fix_list plim_fixes_processes = { fixes, sizeof fixes / sizeof fixes[0] };
