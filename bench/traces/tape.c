/*
 * tape.c - forward and backward of convolutional networks. See tape.h.
 */
#include "traces/tape.h"

void tape_rewind(trace_tape *tape)
{
    tape->next_weight = 0;
}

void tape_keep(trace_play *play, trace_tape *tape, uint64_t numbers, const trace_place *place)
{
    if (tape->count == TAPE_MAX) {
        play_touch(play, numbers * 2, place);
        return;
    }
    const plim_addr kept = play_take(play, numbers * 2, place);
    if (!tape->is_trained && tape->count > 1) { /* only the last two are still read */
        tape->count--;
        play_drop(play, &tape->entries[0].kept);
        tape->entries[0] = tape->entries[1];
    }
    tape->entries[tape->count].kept = kept;
    tape->entries[tape->count].bytes = numbers * 2;
    tape->entries[tape->count].weight = NULL;
    tape->entries[tape->count].place = place;
    tape->count++;
}

/* The weight that comes next, made if it is met for the first time. */
static trace_weight *next_weight(trace_play *play, trace_tape *tape, uint64_t numbers)
{
    if (tape->next_weight == TAPE_WEIGHTS_MAX) {
        return NULL;
    }
    trace_weight *const weight = &tape->weights[tape->next_weight];
    if (tape->next_weight == tape->weight_count) {
        weight_load(play, weight, numbers, tape->weight_bytes);
        tape->weight_count++;
    }
    tape->next_weight++;
    return weight;
}

static void attach(trace_tape *tape, trace_weight *weight)
{
    if (tape->count > 0) {
        tape->entries[tape->count - 1].weight = weight;
    }
}

/* --- workspaces of convolutions --- */

static uint32_t hash_of(const trace_map *map, uint64_t channels, uint32_t kernel)
{
    uint64_t z = map->images * 31 + map->channels;
    z = z * 8191 + map->height;
    z = z * 8191 + map->width;
    z = z * 131 + channels + kernel;
    z = (z ^ (z >> 31)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z >> 32) | 1;
}

static bool is_new_shape(trace_tape *tape, uint32_t hash)
{
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t *const slot = &tape->shapes[(hash + i) % TAPE_SHAPES_MAX];
        if (*slot == hash) {
            return false;
        }
        if (*slot == 0) {
            *slot = hash;
            return true;
        }
    }
    return false;
}

/*
 * What an algorithm wants besides its tensors differs from shape to shape: nothing, a little, or
 * several times its input. A search tries them all, the greedy ones too.
 */
static void workspace(trace_play *play, trace_tape *tape, const trace_map *map, uint64_t channels,
                      uint32_t kernel)
{
    const uint32_t hash = hash_of(map, channels, kernel);
    const uint64_t input = map_numbers(map) * 2;
    if (tape->searches && is_new_shape(tape, hash)) {
        for (uint32_t tried = 0; tried < 4; tried++) {
            play_touch(play, input * tried + 4096 * (hash >> 8 & 1023), &at_conv);
        }
    }
    static const uint32_t sixteenths[] = { 0, 0, 1, 4, 16, 36 };
    const uint64_t bytes = input * sixteenths[hash / 2 % 6] / 16;
    play_touch(play, kernel == 1 ? 0 : bytes, &at_conv);
}

/* --- layers --- */

void tape_conv(trace_play *play, trace_tape *tape, trace_map *map, uint64_t channels,
               uint32_t kernel, uint32_t stride)
{
    trace_weight *const weight =
        next_weight(play, tape, map->channels * channels * kernel * kernel);
    if (weight != NULL) {
        weight_cast(play, weight, tape->weight_bytes, tape->is_trained);
    }
    map->height = (map->height + stride - 1) / stride;
    map->width = (map->width + stride - 1) / stride;
    workspace(play, tape, map, channels, kernel);
    map->channels = channels;
    tape_keep(play, tape, map_numbers(map), &at_conv);
    attach(tape, weight);
}

void tape_linear(trace_play *play, trace_tape *tape, trace_map *map, uint64_t channels,
                 const trace_place *place)
{
    trace_weight *const weight = next_weight(play, tape, map->channels * channels);
    if (weight != NULL) {
        weight_cast(play, weight, tape->weight_bytes, tape->is_trained);
    }
    map->channels = channels;
    tape_keep(play, tape, map_numbers(map), place);
    attach(tape, weight);
}

void tape_norm(trace_play *play, trace_tape *tape, const trace_map *map, const trace_place *place)
{
    plim_addr single = play_take(play, map_numbers(map) * 4, place); /* autocast: in 32 bits */
    tape_keep(play, tape, map_numbers(map), place);
    play_drop(play, &single);
    tape_keep(play, tape, map->images * 64, place);
}

void tape_resnet_block(trace_play *play, trace_tape *tape, trace_map *map, uint64_t channels)
{
    play_enter(play, &at_resnet_block);
    for (unsigned half = 0; half < 2; half++) {
        tape_norm(play, tape, map, &at_group_norm);
        tape_keep(play, tape, map_numbers(map), &at_act);
        tape_conv(play, tape, map, channels, 3, 1);
        play_touch(play, map->images * channels * 2, &at_up); /* when: an embedded time */
    }
    tape_keep(play, tape, map_numbers(map), &at_residual);
    play_leave(play, &at_resnet_block);
}

void tape_backward(trace_play *play, trace_tape *tape)
{
    plim_addr flowing = 0;
    play_enter(play, &at_backward);
    while (tape->count > 0) {
        tape->count--;
        if (tape->is_trained) {
            /* A workspace, or a factor of the derivative. */
            play_touch(play, tape->entries[tape->count].bytes, tape->entries[tape->count].place);
            plim_addr gradient =
                play_take(play, tape->entries[tape->count].bytes, tape->entries[tape->count].place);
            if (tape->entries[tape->count].weight != NULL) {
                weight_grad(play, tape->entries[tape->count].weight, tape->weight_bytes);
            }
            play_drop(play, &flowing);
            flowing = gradient;
        }
        play_drop(play, &tape->entries[tape->count].kept);
    }
    play_drop(play, &flowing);
    play_leave(play, &at_backward);
}

void tape_optimize(trace_play *play, trace_tape *tape, bool is_foreach)
{
    play_enter(play, &at_optimizer);
    weights_optimize(play, tape->weights, tape->weight_count, is_foreach);
    play_leave(play, &at_optimizer);
    weights_zero_grad(play, tape->weights, tape->weight_count);
}
