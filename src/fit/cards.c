/*
 * cards.c - what the program needs on cards of 8 to 141 GB: the folk table of guides, for it.
 *
 * The trials are of use for all cards: they had all memory that they wanted. Where none of them
 * is the answer for a card yet, some more stacks are tried for it, from the largest card down.
 */
#include "base/error.h"
#include "base/numbers.h"
#include "base/units.h"
#include "fit/cost.h"
#include "fit/degree.h"
#include "fit/search.h"

#include <string.h>

/* For each memory of guides' tables a card of it that many have. */
static const struct {
    uint64_t gib;
    const char *key;
} cards[PLIM_FIT_CARDS] = {
    { 8, "rtx4060" },  { 12, "rtx3060" },     { 16, "rtx4080" }, { 24, "rtx4090" },
    { 32, "rtx5090" }, { 48, "rtx6000-ada" }, { 80, "h100" },    { 141, "h200" },
};

const plim_gpu *plim_fit_card(size_t index)
{
    const plim_gpu *gpu = NULL;
    return plim_gpu_find(cards[index].key, &gpu, NULL) == PLIM_OK ? gpu : NULL;
}

/* ---- rows of a batch ------------------------------------------------------------------------- */

/* True if two trials differ in the number of pieces alone. */
static bool is_same_but_pieces(const plim_fit_trial *a, const plim_fit_trial *b)
{
    size_t i = 0;
    size_t j = 0;
    for (;;) {
        while (i < a->use_count && plim_fit_is_accumulation(a->uses[i].text)) {
            i++;
        }
        while (j < b->use_count && plim_fit_is_accumulation(b->uses[j].text)) {
            j++;
        }
        if (i == a->use_count || j == b->use_count) {
            return i == a->use_count && j == b->use_count;
        }
        if (strcmp(a->uses[i++].text, b->uses[j++].text) != 0) {
            return false;
        }
    }
}

static uint64_t rows_of(const plim_fit_search *search, size_t index)
{
    const uint64_t rows = search->known[index].piece_rows;
    return rows > 0 ? rows : search->batch_rows;
}

/* By a line through the trial and the one that has the same techniques and other pieces. */
static uint64_t most_rows(const plim_fit_search *search, size_t index, uint64_t capacity_bytes)
{
    const plim_gpu *const gpu = search->gpu;
    const uint64_t rows = rows_of(search, index);
    const uint64_t need = plim_fit_need_on(search, index, gpu);
    uint64_t most = 0;
    for (size_t i = 0; i < search->count && rows > 0 && need <= capacity_bytes; i++) {
        const uint64_t other = rows_of(search, i);
        const uint64_t other_need = plim_fit_need_on(search, i, gpu);
        const bool is_line = search->known[i].is_measured && !search->known[i].is_bad &&
                             is_same_but_pieces(&search->trials[i], &search->trials[index]) &&
                             (other > rows ? other_need > need : other_need < need);
        if (other != rows && is_line) {
            const double slope =
                ((double)other_need - (double)need) / ((double)other - (double)rows);
            most = plim_max(most, rows + plim_whole((double)(capacity_bytes - need) / slope));
        }
    }
    return most;
}

/* ---- a card ---------------------------------------------------------------------------------- */

/* A limit on the search's GPU that is that of another, whose context differs. */
static plim_fit_limit limit_on(const plim_fit_search *search, const plim_gpu *gpu)
{
    const uint64_t bytes = plim_plus(gpu->memory_bytes, search->gpu->context_bytes);
    return (plim_fit_limit){ plim_minus(bytes, gpu->context_bytes), false };
}

static void fill_time(const plim_fit_search *search, size_t card, size_t index, plim_fit_row *row)
{
    const plim_fit_trial *const trial = &search->trials[index];
    const plim_fit_cost plain = { .seconds = search->known[0].card_seconds[card] };
    const plim_fit_cost with = { .seconds = search->known[index].card_seconds[card] };
    row->step_seconds = with.seconds;
    row->slowdown =
        plain.seconds > 0 && with.seconds > 0 ? plim_fit_trial_slowdown(&plain, &with, trial) : 0;
}

static void fill_row(const plim_fit_search *search, size_t card, size_t best, plim_fit_row *row)
{
    const plim_gpu *const gpu = plim_fit_card(card);
    *row = (plim_fit_row){ .nominal_bytes = cards[card].gib * GIB, .gpu = gpu };
    const size_t index = best != SIZE_MAX ? best : plim_fit_smallest(search);
    const uint64_t need = plim_fit_need_on(search, index, gpu);
    row->device_bytes = plim_minus(need, search->margin_bytes);
    if (best == SIZE_MAX) {
        row->missing_bytes = plim_max(plim_minus(need, gpu->memory_bytes), 1);
        return;
    }
    row->trial = &search->trials[best];
    row->rows = rows_of(search, best);
    row->rows_most = most_rows(search, best, limit_on(search, gpu).capacity_bytes);
    fill_time(search, card, best, row);
}

plim_status plim_fit_fill_cards(plim_fit_search *search, plim_fitted *ret, plim_error *err)
{
    plim_fit_row *const rows = plim_arena_alloc(search->arena, PLIM_FIT_CARDS * sizeof(*rows));
    if (rows == NULL) {
        return plim_fail_memory(err, "making a table");
    }
    const size_t made_max = search->made_max;
    const char *const stopped = search->stopped;
    for (size_t i = PLIM_FIT_CARDS; i-- > 0;) {
        const plim_fit_limit limit = limit_on(search, plim_fit_card(i));
        plim_fit_beyond made = { 0 };
        const size_t left = made_max - search->made; /* shared by the cards that are left */
        search->made_max = search->made + left / (i + 1);
        if (!plim_fit_is_within(search, 0, limit)) {
            PLIM_TRY(plim_fit_look(search, limit, 0, &made, err));
        }
    }
    search->made_max = made_max;
    search->stopped = stopped; /* the table is the best of what was tried */
    for (size_t i = 0; i < PLIM_FIT_CARDS; i++) {
        const plim_fit_limit limit = limit_on(search, plim_fit_card(i));
        const bool fits = plim_fit_is_within(search, 0, limit);
        fill_row(search, i, fits ? 0 : plim_fit_best(search, limit), &rows[i]);
    }
    ret->rows = rows;
    ret->row_count = PLIM_FIT_CARDS;
    return PLIM_OK;
}
