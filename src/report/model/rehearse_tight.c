/*
 * rehearse_tight.c - the answer where the error bar of device use reaches beyond the capacity, or
 * into the margin. See rehearse_parts.h.
 */
#include "base/numbers.h"
#include "report/model/rehearse_parts.h"

static const plim_rehearsed_gpu *find_gpu(const plim_rehearsal_outcome *outcome,
                                          uint64_t high_bytes)
{
    for (uint32_t i = 0; i < outcome->device_count; i++) {
        if (outcome->gpus[i].peak.high_bytes == high_bytes) {
            return &outcome->gpus[i];
        }
    }
    return NULL;
}

static void say_doubt(const plim_rehearsing_page *self, uint64_t high_bytes)
{
    static const char *const sentences[] = {
        [PLIM_REHEARSED_DOUBT_NOTHING] = "",
        [PLIM_REHEARSED_DOUBT_REQUESTS] =
            "Most of the bar: what the program requests hangs on choices of a real GPU, such as "
            "the workspaces of convolutions.",
        [PLIM_REHEARSED_DOUBT_CONTEXT] = "Most of the bar: the driver's context is modelled.",
        [PLIM_REHEARSED_DOUBT_MODULES] =
            "Most of the bar: all kernels are loaded at once (CUDA_MODULE_LOADING=EAGER); without "
            "that they take less.",
        [PLIM_REHEARSED_DOUBT_GRAPHS] = "Most of the bar: the driver's memory of CUDA graphs is "
                                        "modelled.",
        [PLIM_REHEARSED_DOUBT_LIBRARIES] =
            "Most of the bar: the kernels that PyTorch and its libraries load are modelled.",
        [PLIM_REHEARSED_DOUBT_NCCL] = "Most of the bar: the memory of NCCL is modelled.",
    };
    const plim_rehearsed_gpu *gpu = find_gpu(self->outcome, high_bytes);
    if (gpu == NULL) {
        return;
    }
    if (gpu->waiting_bytes > (gpu->peak.high_bytes - gpu->peak.expected_bytes) / 2) {
        plim_page_say(self->page, "doubt", PLIM_TONE_PLAIN,
                      "Most of the bar: blocks that wait for other streams, up to {}.",
                      PLIM_FACTS(plim_bytes("waiting_bytes", gpu->waiting_bytes)));
    } else if (gpu->doubt != PLIM_REHEARSED_DOUBT_NOTHING) {
        plim_page_say(self->page, "doubt", PLIM_TONE_PLAIN, sentences[gpu->doubt], NULL);
    }
}

void plim_rehearsed_say_tight(const plim_rehearsing_page *self)
{
    const plim_rehearsal_outcome *outcome = self->outcome;
    const plim_rehearsed_bar bar = plim_rehearsed_find_bar(outcome);
    plim_page_say(self->page, "tight", PLIM_TONE_WARN,
                  "It is tight: {} expected at the peak, {} to {} possible, of {}",
                  PLIM_FACTS(plim_bytes("expected_bytes", bar.expected_bytes),
                             plim_bytes("low_bytes", bar.low_bytes),
                             plim_bytes("high_bytes", bar.high_bytes),
                             plim_bytes("capacity_bytes", outcome->capacity_bytes)));
    if (bar.high_bytes > outcome->capacity_bytes) {
        plim_page_more(self->page, ".", NULL);
        say_doubt(self, bar.high_bytes);
        return;
    }
    plim_page_more(
        self->page, ": {} may be left, less than the margin of {}.",
        PLIM_FACTS(plim_bytes("least_spare_bytes", outcome->capacity_bytes - bar.high_bytes),
                   plim_bytes("margin_bytes", outcome->margin_bytes)));
}
