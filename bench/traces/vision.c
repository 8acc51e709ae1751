/*
 * vision.c - a detector is trained: batches are as large as their largest picture.
 */
#include "traces/programs.h"
#include "traces/tape.h"

typedef struct detector {
    trace_tape tape;
    uint64_t images;
} detector;

/* ResNet-50 (He et al. 2015): blocks of each stage, and what comes out of them. */
static const struct {
    uint32_t blocks;
    uint64_t channels;
} stages[] = { { 3, 256 }, { 4, 512 }, { 6, 1024 }, { 3, 2048 } };

static void bottleneck(trace_play *play, trace_tape *tape, trace_map *map, uint64_t channels,
                       uint32_t stride)
{
    play_enter(play, &at_resnet_block);
    for (unsigned i = 0; i < 3; i++) {
        tape_conv(play, tape, map, i < 2 ? channels / 4 : channels, i == 1 ? 3 : 1,
                  i == 1 ? stride : 1);
        tape_norm(play, tape, map, &at_batch_norm);
    }
    tape_keep(play, tape, map_numbers(map), &at_relu);
    play_leave(play, &at_resnet_block);
}

/* As many as there are things in the pictures. */
static void propose(trace_play *play, trace_tape *tape, const trace_map *map)
{
    const uint64_t boxes = map->height * map->width * 3 * map->images;
    const uint64_t kept = play_skewed(play, 600, 200, 2000) * map->images;
    plim_addr scores = play_take(play, boxes * 4, &at_detect);
    play_touch(play, boxes * 8, &at_detect);
    plim_addr chosen = play_take(play, kept * 16, &at_detect);
    play_touch(play, kept * kept / 64 * 8, &at_detect); /* overlaps, a bit each */
    play_drop(play, &scores);
    tape_keep(play, tape, kept / 4 * 256 * 49, &at_detect);
    trace_map regions = { kept / 4, 256 * 49, 1, 1 };
    tape_linear(play, tape, &regions, 1024, &at_head);
    tape_linear(play, tape, &regions, 1024, &at_head);
    play_drop(play, &chosen);
}

static void detect(trace_play *play, detector *run, trace_map map)
{
    tape_rewind(&run->tape);
    play_enter(play, &at_forward);
    tape_conv(play, &run->tape, &map, 64, 7, 2);
    tape_norm(play, &run->tape, &map, &at_batch_norm);
    map.height = (map.height + 1) / 2;
    map.width = (map.width + 1) / 2;
    for (unsigned stage = 0; stage < 4; stage++) {
        for (uint32_t i = 0; i < stages[stage].blocks; i++) {
            bottleneck(play, &run->tape, &map, stages[stage].channels, i == 0 && stage > 0 ? 2 : 1);
        }
    }
    tape_conv(play, &run->tape, &map, 256, 1, 1);
    tape_conv(play, &run->tape, &map, 256, 3, 1);
    propose(play, &run->tape, &map);
    play_leave(play, &at_forward);
}

/* The shorter side is one of six, the longer at most 1333 (as in Detectron2); a batch is padded to
 * its largest picture. */
static trace_map batch_size(trace_play *play, const detector *run)
{
    trace_map map = { .images = run->images, .channels = 3 };
    for (uint64_t i = 0; i < run->images; i++) {
        const uint64_t shorter = 640 + 32 * play_draw(play, 6);
        const uint64_t drawn = shorter * play_between(play, 256, 430) / 256;
        const uint64_t longer = drawn < 1333 ? drawn : 1333;
        const bool is_upright = play_chance(play, 300);
        const uint64_t height = is_upright ? longer : shorter;
        const uint64_t width = is_upright ? shorter : longer;
        map.height = height > map.height ? height : map.height;
        map.width = width > map.width ? width : map.width;
    }
    map.height = (map.height + 31) / 32 * 32;
    map.width = (map.width + 31) / 32 * 32;
    return map;
}

static void run_vision(trace_play *play, void *state)
{
    detector *const run = state;
    run->tape.weight_bytes = play_chance(play, 500) ? 4 : 2;
    run->tape.is_trained = true;
    run->tape.searches = play_chance(play, 500);
    run->images = play_between(play, 2, 8);
    const bool is_foreach = play_chance(play, 500);
    while (!play_is_over(play)) {
        const trace_map images = batch_size(play, run);
        play_step(play);
        play_enter(play, &at_train_step);
        plim_addr pixels = play_take(play, map_numbers(&images) * 4, &at_load_batch);
        detect(play, run, images);
        tape_backward(play, &run->tape);
        play_drop(play, &pixels);
        tape_optimize(play, &run->tape, is_foreach);
        play_leave(play, &at_train_step);
    }
}

const trace_generator trace_vision = { run_vision, sizeof(detector) };
