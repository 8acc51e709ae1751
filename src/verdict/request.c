/*
 * request.c - readings of a failed request. See request.h.
 */
#include "verdict/request.h"

void plim_figures_clear(plim_figure figures[PLIM_FIGURE_COUNT])
{
    for (size_t i = 0; i < PLIM_FIGURE_COUNT; i++) {
        figures[i] = (plim_figure){ .bytes = PLIM_BYTES_UNKNOWN };
    }
}

plim_failed_request plim_failed_request_of(plim_oom_topic topic, plim_oom_family family)
{
    plim_failed_request request = { .topic = topic,
                                    .family = family,
                                    .subject = plim_subject_unknown() };
    plim_figures_clear(request.figures);
    return request;
}

uint64_t plim_known_sum(uint64_t a, uint64_t b)
{
    return a > PLIM_BYTES_UNKNOWN - b ? PLIM_BYTES_UNKNOWN : a + b;
}

uint64_t plim_known_difference(uint64_t a, uint64_t b)
{
    if (a == PLIM_BYTES_UNKNOWN || b == PLIM_BYTES_UNKNOWN) {
        return PLIM_BYTES_UNKNOWN;
    }
    return a > b ? a - b : 0;
}

uint64_t plim_needed_bytes(const plim_failed_request *request, const plim_judgement *judgement)
{
    return plim_known_sum(judgement->held_bytes, request->figures[PLIM_FIGURE_REQUESTED].bytes);
}

const plim_process_figure *plim_largest_other(const plim_failed_request *request,
                                              const plim_judgement *judgement)
{
    const plim_process_figure *largest = NULL;
    for (size_t i = 0; i < request->process_count; i++) {
        const plim_process_figure *const process = &request->processes[i];
        const bool is_this = process->is_this || i == judgement->this_process;
        if (!is_this && process->pid != 0 && (largest == NULL || process->bytes > largest->bytes)) {
            largest = process;
        }
    }
    return largest;
}
