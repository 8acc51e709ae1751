/*
 * largest.c - see largest.h.
 */
#include "diagnose/keepers/largest.h"

#include "diagnose/keepers/moment.h"

#include <stdlib.h>
#include <string.h>

#define MOST_SHARE 0.5 /* of what was live */

/* A block that a collection held. */
typedef struct collected_block {
    size_t holder; /* its index in the document */
    uint32_t stack;
    uint64_t bytes;
} collected_block;

typedef struct collected_blocks {
    PLIM_VEC(collected_block) list;
    uint64_t live_bytes;
} collected_blocks;

static bool gather(const plim_case *one, collected_blocks *all)
{
    plim_live live = plim_timeline_live(&one->view.timeline, plim_holders_moment(one), false);
    plim_allocation found;
    while (plim_live_next(&live, &found)) {
        const plim_holder *const holder = plim_holder_of(one, &found);
        all->live_bytes += found.requested_bytes;
        if (holder == NULL || !plim_holder_is_collection(holder)) {
            continue;
        }
        const collected_block block = { (size_t)(holder -
                                                 plim_holders_at(one->options->holders, 0)),
                                        found.stack, found.requested_bytes };
        if (!PLIM_VEC_PUSH(one->mem, &all->list, block)) {
            return false;
        }
    }
    return true;
}

static int compare_blocks(const void *left, const void *right)
{
    const collected_block *const a = left;
    const collected_block *const b = right;
    return a->holder != b->holder ? (a->holder > b->holder) - (a->holder < b->holder)
                                  : (a->stack > b->stack) - (a->stack < b->stack);
}

/* Bytes of the run of blocks from `first` on that have its holder and, if so wanted, its stack. */
static uint64_t sum_run(const collected_blocks *all, size_t first, bool by_stack, size_t *ret_end)
{
    const collected_block *const items = all->list.items;
    uint64_t bytes = 0;
    size_t at = first;
    while (at < all->list.count && items[at].holder == items[first].holder &&
           (!by_stack || items[at].stack == items[first].stack)) {
        bytes += items[at++].bytes;
    }
    *ret_end = at;
    return bytes;
}

/* The largest run in [first, end): its first block and its bytes. */
static size_t find_largest(const collected_blocks *all, size_t first, size_t end, bool by_stack,
                           uint64_t *ret_bytes)
{
    size_t largest = first;
    *ret_bytes = 0;
    for (size_t at = first, next = first; at < end; at = next) {
        const uint64_t bytes = sum_run(all, at, by_stack, &next);
        if (bytes > *ret_bytes) {
            *ret_bytes = bytes;
            largest = at;
        }
    }
    return largest;
}

static bool say(plim_case *one, plim_diagnosis_finding *finding, const collected_blocks *all)
{
    uint64_t held_bytes = 0;
    uint64_t made_bytes = 0;
    size_t end = 0;
    const size_t first = find_largest(all, 0, all->list.count, false, &held_bytes);
    if ((double)held_bytes < MOST_SHARE * (double)all->live_bytes) {
        return true;
    }
    (void)sum_run(all, first, false, &end);
    const size_t made = find_largest(all, first, end, true, &made_bytes);
    const plim_holder *const holder =
        plim_holders_at(one->options->holders, all->list.items[first].holder);
    const char *const from = holder->text != NULL ? holder->text : "a collection";
    const char *const text = plim_arena_copy(one->arena, from, strlen(from));
    const uint32_t stack = all->list.items[made].stack;
    const uint32_t frame = stack != PLIM_NONE ? plim_case_place(one, stack).frame : PLIM_NONE;
    const plim_evidence_line line = {
        .id = "largest_holder",
        .text = frame != PLIM_NONE ? "{} of what was live is held by {}; most of it was requested "
                                     "at {}"
                                   : "{} of what was live is held by {}",
        .figures = { plim_say_bytes("held_bytes", held_bytes), plim_say_word("holder", text),
                     plim_say_frame("made_at", frame) },
        .figure_count = frame != PLIM_NONE ? 3 : 2,
    };
    return text != NULL && plim_case_say(one, finding, &line);
}

bool plim_keepers_say_largest(plim_case *one, plim_diagnosis_finding *finding)
{
    if (one->options->holders == NULL) {
        return true;
    }
    collected_blocks all = { .live_bytes = 0 };
    bool is_said = gather(one, &all);
    if (is_said && all.list.count > 0) {
        qsort(all.list.items, all.list.count, sizeof *all.list.items, compare_blocks);
        is_said = say(one, finding, &all);
    }
    PLIM_VEC_FREE(one->mem, &all.list);
    return is_said;
}
