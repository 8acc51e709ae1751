/*
 * changes_passes.c - how techniques that concern activations would change a history.
 */
#include "diagnose/advice/techniques.h"

#define LOSS_PIECES      8u
#define OFFLOAD_REQUESTS 2u /* requests for which an activation stays until its copy has left */

/* The part 1 - 1/pieces of what plays a role is not there. */
static void shrink(const plim_program_shape *shape, plim_what_if *what_if, uint8_t role,
                   uint64_t pieces)
{
    plim_what_if_walk walk = plim_program_lives(shape);
    plim_what_if_life life;
    while (plim_what_if_next(&walk, &life)) {
        if ((shape->plays[life.id] & role) != 0) {
            plim_what_if_less(what_if, life.bytes - life.bytes / pieces, life.born, life.freed);
        }
    }
}

bool plim_change_batch(const plim_program_shape *shape, plim_what_if *what_if)
{
    shrink(shape, what_if, PLIM_PLAYS_BATCH, 2);
    return true;
}

/* Half the batch twice: gradients of the first half stay while the second one runs, and what that
 * adds to each stands beside it for a moment. */
bool plim_change_micro_batches(const plim_program_shape *shape, plim_what_if *what_if)
{
    shrink(shape, what_if, PLIM_PLAYS_BATCH, 2);
    plim_what_if_walk walk = plim_program_lives(shape);
    plim_what_if_life life;
    size_t round = 0;
    while (plim_what_if_next(&walk, &life)) {
        while (round < shape->rounds.count &&
               life.born >= (int64_t)shape->rounds.items[round].back) {
            round++;
        }
        if (round < shape->rounds.count && life.category == PLIM_CATEGORY_GRADIENTS &&
            life.born >= (int64_t)shape->rounds.items[round].turn &&
            life.freed >= (int64_t)shape->rounds.items[round].back) {
            plim_what_if_more(what_if, life.bytes, shape->rounds.items[round].start, life.born);
            plim_what_if_more(what_if, life.bytes, life.born, life.born + 1);
        }
    }
    return true;
}

/* Of what runs before the forward pass that is trained with, one part in `kept` stays. */
static void shrink_evaluation(const plim_program_shape *shape, plim_what_if *what_if, uint64_t kept)
{
    plim_what_if_walk walk = plim_program_lives(shape);
    plim_what_if_life life;
    size_t round = 0;
    while (plim_what_if_next(&walk, &life)) {
        round = plim_program_round_at(shape, life.born, round);
        if (round < shape->rounds.count && (shape->plays[life.id] & PLIM_PLAYS_BATCH) != 0 &&
            (life.born < (int64_t)shape->rounds.items[round].forward ||
             shape->rounds.items[round].turn == shape->rounds.items[round].back)) {
            plim_what_if_less(what_if, life.bytes - (kept > 0 ? life.bytes / kept : 0), life.born,
                              life.freed);
        }
    }
}

bool plim_change_evaluation_batch(const plim_program_shape *shape, plim_what_if *what_if)
{
    shrink_evaluation(shape, what_if, 2);
    return true;
}

void plim_change_evaluation(const plim_program_shape *shape, plim_what_if *what_if)
{
    shrink_evaluation(shape, what_if, 0);
}

/* --- recomputing --- */

/*
 * Of a block nothing stays but its output until its backward pass, which makes all of it anew.
 * Copies of weights are kept by autocast until the forward pass is over.
 */
static void recompute(const plim_program_shape *shape, const plim_block_span *block,
                      plim_what_if *what_if)
{
    const plim_timeline *const timeline = &shape->one->view.timeline;
    const plim_events *const events = &shape->one->device->events;
    const plim_training_round *const round = &shape->rounds.items[block->round];
    const int64_t again = block->again == PLIM_NONE ? PLIM_NEVER : (int64_t)block->again;
    for (uint32_t i = block->first; i < block->end; i++) {
        const uint32_t ended = timeline->start.lifetimes.partner[i];
        const uint64_t id = plim_timeline_recorded_id(timeline, i);
        if (events->action[i] != PLIM_ALLOC || i == block->output ||
            (ended != PLIM_NONE && ended < round->turn)) {
            continue;
        }
        const int64_t freed = ended == PLIM_NONE ? PLIM_NEVER : (int64_t)ended;
        const bool is_copy = (shape->plays[id] & PLIM_PLAYS_COPY) != 0;
        plim_what_if_less(what_if, events->bytes[i],
                          is_copy ? (int64_t)round->turn : (int64_t)block->end,
                          again < freed ? again : freed);
    }
    if (block->again != PLIM_NONE) {
        plim_what_if_more(what_if, block->extra_bytes, again, again + 1);
    }
}

static bool recompute_every(const plim_program_shape *shape, uint32_t which, plim_what_if *what_if)
{
    for (size_t i = 0; i < shape->blocks.count; i++) {
        if (shape->blocks.items[i].number % which == 0) {
            recompute(shape, &shape->blocks.items[i], what_if);
        }
    }
    return true;
}

bool plim_change_checkpointing(const plim_program_shape *shape, plim_what_if *what_if)
{
    return recompute_every(shape, 1, what_if);
}

bool plim_change_half_checkpointing(const plim_program_shape *shape, plim_what_if *what_if)
{
    return recompute_every(shape, 2, what_if);
}

/* --- the loss, attention --- */

/* The first event at which the backward pass of a round's last block begins. */
static uint32_t blocks_again(const plim_program_shape *shape, size_t round, size_t *block)
{
    uint32_t again = shape->rounds.items[round].back;
    for (; *block < shape->blocks.count && shape->blocks.items[*block].round == round; (*block)++) {
        again = shape->blocks.items[*block].again;
    }
    return again == PLIM_NONE ? shape->rounds.items[round].back : again;
}

/* The first request of the loss in a round, or PLIM_NONE: logits. */
static uint32_t first_logits(const plim_program_shape *shape, const plim_training_round *round)
{
    const uint64_t first_id = plim_timeline_recorded_id(&shape->one->view.timeline, 0);
    for (uint32_t i = round->forward; i < round->turn; i++) {
        if ((shape->plays[first_id + i] & PLIM_PLAYS_LOGITS) != 0) {
            return i;
        }
    }
    return PLIM_NONE;
}

/* The logits of a piece are there again in its backward pass. Each piece adds to the gradients of
 * the head, which stand from the first piece on. */
bool plim_change_loss(const plim_program_shape *shape, plim_what_if *what_if)
{
    shrink(shape, what_if, PLIM_PLAYS_LOGITS, LOSS_PIECES);
    const plim_events *const events = &shape->one->device->events;
    const plim_categories *const categories = &shape->one->view.categories;
    size_t block = 0;
    for (size_t i = 0; i < shape->rounds.count; i++) {
        const uint32_t turn = shape->rounds.items[i].turn;
        const uint32_t until = blocks_again(shape, i, &block);
        const uint32_t logits = first_logits(shape, &shape->rounds.items[i]);
        if (logits == PLIM_NONE) {
            continue;
        }
        plim_what_if_more(what_if, events->bytes[logits] / LOSS_PIECES, turn, until);
        for (uint32_t k = turn; k < until; k++) {
            const uint64_t id = plim_timeline_recorded_id(&shape->one->view.timeline, k);
            if (events->action[k] == PLIM_ALLOC && categories->of[id] == PLIM_CATEGORY_GRADIENTS) {
                plim_what_if_more(what_if, events->bytes[k], turn, k);
                plim_what_if_more(what_if, events->bytes[k], k, (int64_t)k + 1);
            }
        }
    }
    return true;
}

bool plim_change_attention(const plim_program_shape *shape, plim_what_if *what_if)
{
    plim_what_if_walk walk = plim_program_lives(shape);
    plim_what_if_life life;
    while (plim_what_if_next(&walk, &life)) {
        if ((shape->plays[life.id] & PLIM_PLAYS_SCORES) != 0) {
            plim_what_if_less(what_if, life.bytes, life.born, life.freed);
        }
    }
    return true;
}

/* --- elsewhere, or smaller --- */

/* Saved activations leave as they are made and return just before they are used. */
bool plim_change_activation_offload(const plim_program_shape *shape, plim_what_if *what_if)
{
    const plim_events *const events = &shape->one->device->events;
    const plim_timeline *const timeline = &shape->one->view.timeline;
    for (size_t r = 0; r < shape->rounds.count; r++) {
        const plim_training_round *const round = &shape->rounds.items[r];
        for (uint32_t i = round->forward; i < round->turn; i++) {
            const uint32_t ended = timeline->start.lifetimes.partner[i];
            const uint64_t id = plim_timeline_recorded_id(timeline, i);
            if (events->action[i] != PLIM_ALLOC || ended < round->turn ||
                (shape->plays[id] & (PLIM_PLAYS_BATCH | PLIM_PLAYS_COPY)) == 0) {
                continue;
            }
            uint32_t left = i + 1;
            for (uint32_t k = 0; left < round->turn && k < OFFLOAD_REQUESTS; left++) {
                k += events->action[left] == PLIM_ALLOC ? 1u : 0u;
            }
            const int64_t freed =
                ended == PLIM_NONE ? PLIM_NEVER : (int64_t)ended - OFFLOAD_REQUESTS;
            plim_what_if_less(what_if, events->bytes[i], left, freed);
        }
    }
    return true;
}

/* No more than half of what goes with the batch: norms, losses and copies of weights take more. */
bool plim_change_autocast(const plim_program_shape *shape, plim_what_if *what_if)
{
    return plim_change_batch(shape, what_if);
}

bool plim_change_half_weights(const plim_program_shape *shape, plim_what_if *what_if)
{
    plim_what_if_walk walk = plim_program_lives(shape);
    plim_what_if_life life;
    while (plim_what_if_next(&walk, &life)) {
        const bool is_model = life.category == PLIM_CATEGORY_PARAMETERS ||
                              life.category == PLIM_CATEGORY_GRADIENTS ||
                              life.category == PLIM_CATEGORY_OPTIMIZER_STATE;
        const uint8_t plays = shape->plays[life.id];
        if (is_model || (plays & (PLIM_PLAYS_OPTIMIZING | PLIM_PLAYS_COPY)) != 0 ||
            (plays & PLIM_PLAYS_BATCH) != 0) {
            plim_what_if_less(what_if, life.bytes / 2, life.born, life.freed);
        }
    }
    return true;
}
