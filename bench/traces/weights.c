/*
 * weights.c - what a parameter brings along: a copy in 16 bits, a gradient, two moments. See
 * transformer.h.
 */
#include "traces/transformer.h"

void weight_load(trace_play *play, trace_weight *weight, uint64_t count, uint32_t weight_bytes)
{
    weight->count = count;
    weight->at = play_take(play, count * weight_bytes, &at_parameter);
}

void weight_cast(trace_play *play, trace_weight *weight, uint32_t weight_bytes, bool is_kept)
{
    if (weight_bytes == 2 || weight->half != 0) {
        return;
    }
    weight->half = play_take(play, weight->count * 2, &at_autocast);
    if (!is_kept) {
        play_drop(play, &weight->half);
    }
}

/* The first gradient of a step stays as it is made; later ones are added to it. */
void weight_grad(trace_play *play, trace_weight *weight, uint32_t weight_bytes)
{
    plim_addr fresh = play_take(play, weight->count * 2, &at_weight_grad);
    if (weight_bytes == 4) {
        plim_addr single = play_take(play, weight->count * 4, &at_weight_grad);
        play_drop(play, &fresh);
        fresh = single;
    }
    if (weight->gradient == 0) {
        weight->gradient = fresh;
    } else {
        play_drop(play, &fresh);
    }
    play_drop(play, &weight->half);
}

static void make_moments(trace_play *play, trace_weight *weights, size_t count)
{
    play_enter(play, &at_optimizer_state);
    for (size_t i = 0; i < count; i++) {
        for (unsigned k = 0; k < 2 && weights[i].count > 0; k++) {
            if (weights[i].moments[k] == 0) {
                weights[i].moments[k] = play_take(play, weights[i].count * 4, &at_optimizer);
            }
        }
    }
    play_leave(play, &at_optimizer_state);
}

/*
 * Lists of tensors: all roots of the second moments are there at once. They take the place of the
 * 16-bit copies, which no one needs any more.
 */
static void take_roots(trace_play *play, trace_weight *weights, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        weights[i].half = play_take(play, weights[i].count * 4, &at_optimizer);
    }
    for (size_t i = 0; i < count; i++) {
        play_drop(play, &weights[i].half);
    }
}

void weights_optimize(trace_play *play, trace_weight *weights, size_t count, bool is_foreach)
{
    make_moments(play, weights, count);
    if (is_foreach) {
        take_roots(play, weights, count);
    }
}

void weights_zero_grad(trace_play *play, trace_weight *weights, size_t count)
{
    play_enter(play, &at_zero_grad);
    for (size_t i = 0; i < count; i++) {
        play_drop(play, &weights[i].gradient);
    }
    play_leave(play, &at_zero_grad);
}
