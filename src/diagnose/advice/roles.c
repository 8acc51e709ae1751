/*
 * roles.c - which allocations go with the batch, and which are copies of weights, logits, scores.
 *
 * All by size, counted in one round: a size that a weight has too (or half of it, or twice) is a
 * copy of weights unless there are more of it than weights.
 */
#include "diagnose/advice/program.h"

#include "base/map.h"

#include <string.h>

#define SCORES_IN_BLOCK_MIN 3u    /* scores, masked, softmax: fewer are no attention's */
#define BLOCK_EVENTS_MAX    4096u /* a block of more is not looked at for scores */
#define LOGITS_MIN          2u    /* logits and their softmax */
#define BIAS_SHARE          16u   /* of its weight is a bias, at the most */
#define COPIES_SHARE_MIN    0.5   /* of the weights have copies: then it is mixed precision */

typedef struct role_search {
    plim_program_shape *shape;
    plim_map weights;      /* size → how many */
    plim_map forward;      /* size → requests in the forward pass of one round */
    plim_map backward;     /* likewise in its backward pass */
    plim_map in_block;     /* likewise in one block */
    uint64_t scores_bytes; /* 0: not found */
    uint64_t scores_function;
    uint32_t before_stack; /* of the allocation that was judged last */
    uint64_t before_bytes;
    uint8_t before_role;
} role_search;

static uint64_t count_in(const plim_map *map, uint64_t bytes)
{
    const uint64_t count = plim_map_get(map, bytes);
    return count == PLIM_MAP_ABSENT ? 0 : count;
}

static bool add_to(plim_map *map, uint64_t bytes)
{
    return plim_map_put(map, bytes, count_in(map, bytes) + 1);
}

static bool is_of_size(uint64_t bytes, uint64_t of)
{
    return of > 0 && (bytes == of || bytes == of / 2 || bytes / 2 == of || bytes == of / 4);
}

static bool goes_with_batch(plim_category category, int64_t freed)
{
    return category == PLIM_CATEGORY_ACTIVATIONS || category == PLIM_CATEGORY_TEMPORARY ||
           category == PLIM_CATEGORY_INPUTS ||
           (category == PLIM_CATEGORY_OTHER && freed != PLIM_NEVER);
}

static bool find_weights(role_search *at, int64_t peak_event)
{
    plim_what_if_walk walk = plim_program_lives(at->shape);
    plim_what_if_life life;
    uint64_t states = 0;
    while (plim_what_if_next(&walk, &life)) {
        states += life.category == PLIM_CATEGORY_OPTIMIZER_STATE ? life.bytes : 0;
        if (life.category != PLIM_CATEGORY_PARAMETERS || life.bytes == 0 ||
            life.born > peak_event || life.freed <= peak_event) {
            continue;
        }
        at->shape->parameter_bytes += life.bytes;
        if (!add_to(&at->weights, life.bytes)) {
            return false;
        }
    }
    at->shape->state_bytes = states;
    return true;
}

/* Bytes of a weight's element: a vector of v bytes goes with a square matrix of v²/4 or v²/2. */
static uint32_t find_item_bytes(const plim_map *weights)
{
    uint64_t votes[2] = { 0 }; /* for 4, for 2 */
    for (size_t i = 0; weights->count > 0 && i <= weights->mask; i++) {
        const uint64_t bytes = weights->slots[i].key;
        const uint64_t count = weights->slots[i].value;
        if (count == PLIM_MAP_ABSENT || bytes < 64 || bytes > UINT32_MAX) {
            continue;
        }
        for (size_t k = 0; k < 2; k++) {
            const uint64_t squares = count_in(weights, bytes * bytes / (k == 0 ? 4 : 2));
            votes[k] += squares < count ? squares : count;
        }
    }
    return votes[0] > votes[1] ? 4 : votes[1] > votes[0] ? 2 : 0;
}

/* The last round with both passes, else the last: there sizes are counted. NULL: no rounds. */
static const plim_training_round *reference_round(const plim_program_shape *shape)
{
    for (size_t i = shape->rounds.count; i-- > 0;) {
        const plim_training_round *const round = &shape->rounds.items[i];
        if (round->turn < round->back && round->back < shape->one->device->events.count) {
            return round;
        }
    }
    return shape->rounds.count > 0 ? &shape->rounds.items[shape->rounds.count - 1] : NULL;
}

static bool count_sizes(role_search *at, const plim_training_round *round)
{
    const plim_events *const events = &at->shape->one->device->events;
    const uint8_t *const of = at->shape->one->view.categories.of;
    const uint64_t first_id = plim_timeline_recorded_id(&at->shape->one->view.timeline, 0);
    for (uint32_t i = round->forward; i < round->back; i++) {
        const plim_category category = (plim_category)of[first_id + i];
        if (events->action[i] == PLIM_ALLOC && goes_with_batch(category, PLIM_AT_START) &&
            !add_to(i < round->turn ? &at->forward : &at->backward, events->bytes[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < at->shape->blocks.count; i++) {
        const plim_block_span *const block = &at->shape->blocks.items[i];
        if (&at->shape->rounds.items[block->round] != round || block->number > 0) {
            continue;
        }
        for (uint32_t k = block->first; k < block->end; k++) {
            if (events->action[k] == PLIM_ALLOC && !add_to(&at->in_block, events->bytes[k])) {
                return false;
            }
        }
    }
    return true;
}

/* Under mixed precision most weights have a copy of half the size in the forward pass. */
static bool has_half_copies(const role_search *at)
{
    const plim_map *const weights = &at->weights;
    double bytes = 0;
    for (size_t i = 0; weights->count > 0 && i <= weights->mask; i++) {
        if (weights->slots[i].value == PLIM_MAP_ABSENT) {
            continue;
        }
        const uint64_t copies = count_in(&at->forward, weights->slots[i].key / 2);
        const uint64_t count = weights->slots[i].value;
        bytes += (double)weights->slots[i].key * (double)(copies < count ? copies : count);
    }
    return at->shape->item_bytes != 2 &&
           bytes > COPIES_SHARE_MIN * (double)at->shape->parameter_bytes;
}

/* In the backward pass also what is added to a gradient. */
static bool is_copy(const role_search *at, uint64_t bytes, bool is_backward)
{
    const uint64_t weights = (at->shape->has_half_copies ? count_in(&at->weights, bytes * 2) : 0) +
                             (is_backward ? count_in(&at->weights, bytes) : 0);
    return weights > 0 && count_in(is_backward ? &at->backward : &at->forward, bytes) <= weights;
}

/* The user's function that requested something, as its file's and its name's strings in one number;
 * 0: not known. */
static uint64_t function_of(plim_program_shape *shape, uint32_t stack)
{
    const uint32_t frame = plim_case_place(shape->one, stack).frame;
    if (frame == PLIM_NONE) {
        return 0;
    }
    const plim_frame *const place = plim_history_frame(shape->one->history, frame);
    return ((uint64_t)place->filename << 32 | place->name) + 1;
}

/* The function calls itself attention, and no kernel that does it in one. */
static bool is_named_attention(plim_program_shape *shape, uint32_t stack)
{
    const uint32_t frame = plim_case_place(shape->one, stack).frame;
    if (frame == PLIM_NONE) {
        return false;
    }
    const plim_frame *const place = plim_history_frame(shape->one->history, frame);
    const char *const name = plim_history_string(shape->one->history, place->name, NULL);
    return (strstr(name, "atten") != NULL || strstr(name, "attn") != NULL ||
            strstr(name, "softmax") != NULL) &&
           strstr(name, "sdpa") == NULL && strstr(name, "scaled_dot") == NULL &&
           strstr(name, "flash") == NULL;
}

/* Scores of attention: the largest size of which a function of that name requests several in a
 * block, larger than what blocks hand on. */
static void find_scores_in(role_search *at, const plim_block_span *block)
{
    const plim_events *const events = &at->shape->one->device->events;
    for (uint32_t i = block->first; i < block->end; i++) {
        const uint64_t bytes = events->bytes[i];
        if (events->action[i] != PLIM_ALLOC || bytes <= at->scores_bytes ||
            count_in(&at->in_block, bytes) < SCORES_IN_BLOCK_MIN || is_copy(at, bytes, false)) {
            continue;
        }
        const uint64_t function = function_of(at->shape, events->stack[i]);
        size_t count = 0;
        for (uint32_t k = i; k < block->end && k - i < BLOCK_EVENTS_MAX && function != 0; k++) {
            count += events->action[k] == PLIM_ALLOC && is_of_size(events->bytes[k], bytes) &&
                             function_of(at->shape, events->stack[k]) == function
                         ? 1u
                         : 0u;
        }
        if (count >= SCORES_IN_BLOCK_MIN && bytes > at->shape->output_bytes &&
            is_named_attention(at->shape, events->stack[i])) {
            at->scores_bytes = bytes;
            at->scores_function = function;
        }
    }
}

static void find_scores(role_search *at, const plim_training_round *round)
{
    for (size_t i = 0; i < at->shape->blocks.count && round != NULL; i++) {
        const plim_block_span *const block = &at->shape->blocks.items[i];
        if (&at->shape->rounds.items[block->round] == round && block->number == 0 &&
            block->end - block->first < BLOCK_EVENTS_MAX) {
            find_scores_in(at, block);
        }
    }
}

/* --- judging --- */

/* By size, and in the forward pass by who requested it. */
static bool is_scores(const role_search *at, const plim_training_round *round,
                      const plim_what_if_life *life)
{
    return at->scores_bytes > 0 && is_of_size(life->bytes, at->scores_bytes) &&
           (life->born >= (int64_t)round->turn ||
            function_of(at->shape, life->stack) == at->scores_function);
}

/*
 * If activations have the size of copies too: autocast copies a layer's bias and weight before
 * anything else that the layer requests.
 */
static bool comes_first(const role_search *at, const plim_training_round *round,
                        const plim_what_if_life *life)
{
    return at->shape->has_half_copies && life->born < (int64_t)round->turn &&
           count_in(&at->weights, life->bytes * 2) > 0 && life->stack != PLIM_NONE &&
           (life->stack != at->before_stack ||
            (at->before_role == PLIM_PLAYS_COPY && at->before_bytes < life->bytes / BIAS_SHARE));
}

static uint8_t role_of(const role_search *at, const plim_training_round *round,
                       const plim_what_if_life *life)
{
    if (life->pass == PLIM_PASS_OPTIMIZER) {
        return life->category == PLIM_CATEGORY_TEMPORARY ? PLIM_PLAYS_OPTIMIZING : 0;
    }
    if (round == NULL || life->born < (int64_t)round->start || life->born >= (int64_t)round->back ||
        !goes_with_batch(life->category, life->freed) ||
        (life->stack < at->shape->stack_count && at->shape->is_gathered[life->stack] != 0)) {
        return 0;
    }
    if (is_copy(at, life->bytes, life->born >= (int64_t)round->turn) ||
        comes_first(at, round, life)) {
        return PLIM_PLAYS_COPY;
    }
    return (uint8_t)(PLIM_PLAYS_BATCH | (is_scores(at, round, life) ? PLIM_PLAYS_SCORES : 0));
}

static void judge_all(role_search *at)
{
    plim_program_shape *const shape = at->shape;
    plim_what_if_walk walk = plim_program_lives(shape);
    plim_what_if_life life;
    size_t round = 0;
    while (plim_what_if_next(&walk, &life)) {
        round = plim_program_round_at(shape, life.born, round);
        const plim_training_round *const now =
            round < shape->rounds.count ? &shape->rounds.items[round] : NULL;
        shape->plays[life.id] = role_of(at, now, &life);
        at->before_stack = life.stack;
        at->before_role = shape->plays[life.id];
        at->before_bytes = life.bytes;
    }
}

/* Logits: after the blocks, the largest size of which the loss makes several. */
static void find_logits(plim_program_shape *shape, size_t index, size_t *block)
{
    const plim_training_round *const round = &shape->rounds.items[index];
    const plim_events *const events = &shape->one->device->events;
    uint32_t from = round->forward;
    uint32_t to = round->back;
    for (; *block < shape->blocks.count && shape->blocks.items[*block].round == index; (*block)++) {
        from = shape->blocks.items[*block].end;
        to = shape->blocks.items[*block].again;
    }
    to = to == PLIM_NONE ? round->back : to;
    const uint64_t first_id = plim_timeline_recorded_id(&shape->one->view.timeline, 0);
    uint64_t most = 0;
    size_t count = 0;
    for (uint32_t i = from; i < round->turn; i++) {
        if (events->action[i] != PLIM_ALLOC ||
            (shape->plays[first_id + i] & PLIM_PLAYS_BATCH) == 0) {
            continue;
        }
        if (events->bytes[i] > most) {
            count = events->bytes[i] / 2 == most ? count : 0;
            most = events->bytes[i];
        }
        count += events->bytes[i] == most || events->bytes[i] == most / 2 ? 1u : 0u;
    }
    if (count < LOGITS_MIN || most <= shape->output_bytes ||
        (shape->seen & PLIM_SEEN(PLIM_TECHNIQUE_CROSS_ENTROPY)) == 0) {
        return;
    }
    for (uint32_t i = from; i < to; i++) {
        if (events->action[i] == PLIM_ALLOC &&
            (shape->plays[first_id + i] & PLIM_PLAYS_BATCH) != 0 &&
            (events->bytes[i] == most || events->bytes[i] == most / 2)) {
            shape->plays[first_id + i] |= PLIM_PLAYS_LOGITS;
        }
    }
}

bool plim_program_find_roles(plim_program_shape *shape, int64_t peak_event)
{
    role_search at = { .shape = shape };
    plim_map_init(&at.weights, shape->mem);
    plim_map_init(&at.forward, shape->mem);
    plim_map_init(&at.backward, shape->mem);
    plim_map_init(&at.in_block, shape->mem);
    const plim_training_round *const round = reference_round(shape);
    const bool has_memory =
        find_weights(&at, peak_event) && (round == NULL || count_sizes(&at, round));
    if (has_memory) {
        shape->item_bytes = find_item_bytes(&at.weights);
        shape->has_half_copies = has_half_copies(&at);
        find_scores(&at, round);
        judge_all(&at);
        size_t block = 0;
        for (size_t i = 0; i < shape->rounds.count; i++) {
            find_logits(shape, i, &block);
        }
    }
    plim_map_deinit(&at.weights);
    plim_map_deinit(&at.forward);
    plim_map_deinit(&at.backward);
    plim_map_deinit(&at.in_block);
    return has_memory;
}
