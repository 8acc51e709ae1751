/*
 * request.h - readings of a failed request that the judge, the words and the advice share.
 */
#ifndef PLIMSOLL_VERDICT_REQUEST_H
#define PLIMSOLL_VERDICT_REQUEST_H

#include "plimsoll/verdict.h"

/* No figure is known yet. */
void plim_figures_clear(plim_figure figures[PLIM_FIGURE_COUNT]);

static inline bool plim_request_has(const plim_failed_request *request, plim_figure_id id)
{
    return request->figures[id].bytes != PLIM_BYTES_UNKNOWN;
}

/* The machine's memory, not a device's. */
static inline bool plim_topic_is_host(plim_oom_topic topic)
{
    return topic >= PLIM_TOPIC_HOST_RAM && topic <= PLIM_TOPIC_HOST_HEAP;
}

/* Metal's other allocations are part of what is held: no other figure says what is. */
static inline bool plim_held_counts_others(const plim_failed_request *request)
{
    return request->topic == PLIM_TOPIC_WATERMARK &&
           !plim_request_has(request, PLIM_FIGURE_RESERVED) &&
           !plim_request_has(request, PLIM_FIGURE_RESERVED_UNALLOCATED);
}

/* Sums and differences that keep PLIM_BYTES_UNKNOWN and never wrap. */
uint64_t plim_known_sum(uint64_t a, uint64_t b);
uint64_t plim_known_difference(uint64_t a, uint64_t b);
/* held and request together, or PLIM_BYTES_UNKNOWN. */
uint64_t plim_needed_bytes(const plim_failed_request *request, const plim_judgement *judgement);
/* The largest of the processes that are not this one, or NULL. */
const plim_process_figure *plim_largest_other(const plim_failed_request *request,
                                              const plim_judgement *judgement);

#endif
