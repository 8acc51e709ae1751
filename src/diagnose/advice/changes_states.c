/*
 * changes_states.c - how techniques that concern gradients and the optimizer would change a
 * history.
 */
#include "diagnose/advice/techniques.h"

#include "base/map.h"

/* Of states, and of the temporaries of the optimizer's step, `kept` / `of` stay. */
static void keep_states(const plim_program_shape *shape, plim_what_if *what_if, uint64_t kept,
                        uint64_t of)
{
    plim_what_if_walk walk = plim_program_lives(shape);
    plim_what_if_life life;
    while (plim_what_if_next(&walk, &life)) {
        if (life.category == PLIM_CATEGORY_OPTIMIZER_STATE) {
            plim_what_if_less(what_if, life.bytes - life.bytes / of * kept, life.born, life.freed);
        } else if ((shape->plays[life.id] & PLIM_PLAYS_OPTIMIZING) != 0) {
            plim_what_if_less(what_if, life.bytes, life.born, life.freed);
        }
    }
}

bool plim_change_no_states(const plim_program_shape *shape, plim_what_if *what_if)
{
    keep_states(shape, what_if, 0, 1);
    return true;
}

bool plim_change_one_state(const plim_program_shape *shape, plim_what_if *what_if)
{
    keep_states(shape, what_if, 1, 2);
    return true;
}

/* One byte and a little for scales, of four. */
bool plim_change_eight_bit(const plim_program_shape *shape, plim_what_if *what_if)
{
    keep_states(shape, what_if, 65, 256);
    return true;
}

bool plim_change_fused(const plim_program_shape *shape, plim_what_if *what_if)
{
    plim_what_if_walk walk = plim_program_lives(shape);
    plim_what_if_life life;
    while (plim_what_if_next(&walk, &life)) {
        if ((shape->plays[life.id] & PLIM_PLAYS_OPTIMIZING) != 0) {
            plim_what_if_less(what_if, life.bytes, life.born, life.freed);
        }
    }
    return true;
}

/* One tensor after the other: two temporaries as large as the largest. */
bool plim_change_foreach(const plim_program_shape *shape, plim_what_if *what_if)
{
    plim_what_if_walk walk = plim_program_lives(shape);
    plim_what_if_life life;
    while (plim_what_if_next(&walk, &life)) {
        if ((shape->plays[life.id] & PLIM_PLAYS_OPTIMIZING) != 0) {
            plim_what_if_less(what_if, life.bytes, life.born, life.freed);
            plim_what_if_more(what_if, 2 * life.bytes, life.born, life.born + 1);
        }
    }
    return true;
}

/* No gradients, no states but those of adapters, which are small; and of what layers save for the
 * gradients of their weights, at most half of what goes with the batch. */
bool plim_change_adapters(const plim_program_shape *shape, plim_what_if *what_if)
{
    keep_states(shape, what_if, 0, 1);
    (void)plim_change_batch(shape, what_if);
    plim_what_if_walk walk = plim_program_lives(shape);
    plim_what_if_life life;
    while (plim_what_if_next(&walk, &life)) {
        if (life.category == PLIM_CATEGORY_GRADIENTS) {
            plim_what_if_less(what_if, life.bytes, life.born, life.freed);
        }
    }
    return true;
}

/* A gradient is used and freed as soon as it is made. */
bool plim_change_in_backward(const plim_program_shape *shape, plim_what_if *what_if)
{
    plim_what_if_walk walk = plim_program_lives(shape);
    plim_what_if_life life;
    while (plim_what_if_next(&walk, &life)) {
        if (life.category == PLIM_CATEGORY_GRADIENTS) {
            plim_what_if_less(what_if, life.bytes, life.born + 1, life.freed);
        } else if ((shape->plays[life.id] & PLIM_PLAYS_OPTIMIZING) != 0) {
            plim_what_if_less(what_if, life.bytes, life.born, life.freed);
        }
    }
    return true;
}

/* --- gradients that stay --- */

typedef struct kept_gradients {
    plim_map sizes;    /* of those that stay → how many */
    uint64_t *changes; /* of their bytes, by round, modulo 2^64 */
    size_t rounds;
} kept_gradients;

/* Gradients that a later round finds when it begins. False: no memory. */
static bool find_kept(const plim_program_shape *shape, kept_gradients *kept)
{
    plim_what_if_walk walk = plim_program_lives(shape);
    plim_what_if_life life;
    size_t round = 0;
    while (plim_what_if_next(&walk, &life)) {
        round = plim_program_round_at(shape, life.born, round);
        const bool is_bucket =
            plim_stack_kind_of(&shape->one->passes.stacks, life.stack) == PLIM_STACK_BUCKETS;
        if (life.category != PLIM_CATEGORY_GRADIENTS || is_bucket ||
            round + 1 >= shape->rounds.count ||
            life.freed < (int64_t)shape->rounds.items[round + 1].back) {
            continue;
        }
        const uint64_t before = plim_map_get(&kept->sizes, life.bytes);
        if (!plim_map_put(&kept->sizes, life.bytes, before == PLIM_MAP_ABSENT ? 1 : before + 1)) {
            return false;
        }
        const size_t first = life.born == PLIM_AT_START ? 0 : round + 1;
        kept->changes[first] += life.bytes;
        size_t last =
            plim_program_round_at(shape, life.freed, round); /* the round in which it goes */
        if (last < shape->rounds.count && life.freed >= (int64_t)shape->rounds.items[last].back) {
            last++;
        }
        kept->changes[last] -= life.bytes;
    }
    return true;
}

/*
 * In the backward pass of a round the temporaries that are added to kept gradients become the
 * gradients. *ret_bytes: of those; what nothing is added to is no gradient that stays (a bucket of
 * data-parallel training). False: no memory.
 */
static bool renew(const plim_program_shape *shape, const plim_training_round *round,
                  const kept_gradients *kept, uint64_t kept_bytes, uint64_t *ret_bytes,
                  plim_what_if *what_if)
{
    const plim_events *const events = &shape->one->device->events;
    plim_map used;
    plim_map_init(&used, shape->mem);
    bool has_memory = true;
    uint64_t left = kept_bytes;
    for (uint32_t i = round->turn; i < round->back && has_memory && left > 0; i++) {
        const uint64_t bytes = events->bytes[i];
        const uint64_t all =
            events->action[i] == PLIM_ALLOC ? plim_map_get(&kept->sizes, bytes) : PLIM_MAP_ABSENT;
        const uint64_t before = plim_map_get(&used, bytes);
        const uint64_t count = before == PLIM_MAP_ABSENT ? 0 : before;
        const uint32_t ended = shape->one->view.timeline.start.lifetimes.partner[i];
        if (all == PLIM_MAP_ABSENT || count >= all || ended >= round->back || bytes > left) {
            continue;
        }
        plim_what_if_more(what_if, bytes, ended, round->back);
        left -= bytes;
        has_memory = plim_map_put(&used, bytes, count + 1);
    }
    plim_map_deinit(&used);
    *ret_bytes = kept_bytes - left;
    return has_memory;
}

bool plim_change_set_to_none(const plim_program_shape *shape, plim_what_if *what_if)
{
    kept_gradients kept = { .rounds = shape->rounds.count + 1 };
    plim_map_init(&kept.sizes, shape->mem);
    kept.changes = plim_mem_alloc_zeroed(shape->mem, kept.rounds, sizeof *kept.changes);
    bool has_memory = kept.changes != NULL && find_kept(shape, &kept);
    uint64_t bytes = 0;
    uint64_t renewed = 0; /* in the last round that has a backward pass */
    for (size_t i = 0; i < shape->rounds.count && has_memory; i++) {
        const plim_training_round *const round = &shape->rounds.items[i];
        bytes += kept.changes[i];
        /* Between two steps of the optimizer gradients accumulate, and have to stay. */
        if (bytes == 0 || bytes > INT64_MAX || i == 0 || round[-1].end == round[-1].back) {
            continue;
        }
        if (round->turn < round->back) {
            has_memory = renew(shape, round, &kept, bytes, &renewed, what_if);
        }
        plim_what_if_less(what_if, renewed < bytes ? renewed : bytes, round->start, round->back);
    }
    plim_mem_free(shape->mem, kept.changes, kept.rounds, sizeof *kept.changes);
    plim_map_deinit(&kept.sizes);
    return has_memory;
}
