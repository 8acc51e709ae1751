/*
 * tune_page.c - rows of a search as tables and documents take them. See tune_page.h.
 */
#include "report/tune_page.h"

plim_replay_row plim_tune_row_of(const plim_tuning *tuning, size_t index)
{
    const plim_tune_row *row = &tuning->rows[index];
    const bool starts = row->result.survives || row->result.failed_event != PLIM_NO_EVENT;
    return (plim_replay_row){
        .conf = &row->conf,
        .is_recorded = row->is_recorded,
        .wants_torch = row->is_too_new ? row->needs_torch : 0,
        .is_start_requested = row->is_start_requested && tuning->baseline != tuning->recorded,
        .is_winner = index == tuning->best,
        .result = starts ? &row->result : NULL,
        .min_capacity_bytes = row->min_capacity_bytes,
        .is_min_capacity_bound = row->is_min_capacity_bound,
        .empty_cache = row->empty_cache,
        .empty_cache_event = row->empty_cache_event,
    };
}
