/*
 * unet.c - a diffusion UNet, trained on buckets of resolutions: each step has another one.
 */
#include "traces/programs.h"
#include "traces/tape.h"

enum { LEVELS = 4, TEXT_TOKENS = 77 };

/* Stable Diffusion's (Rombach et al. 2022): attention in all levels but the last. */
static const uint64_t unet_channels[LEVELS] = { 320, 640, 1280, 1280 };

typedef struct unet {
    trace_tape tape;
    uint64_t images;
    uint64_t area; /* of an image, in pixels: buckets have about this */
    bool is_eager; /* attention scores become a tensor */
} unet;

/* Attention over what `readers` can see: itself, or the text. */
static void attend(trace_play *play, unet *run, trace_map *map, uint64_t keys)
{
    const uint64_t channels = map->channels;
    const uint64_t pixels = map->height * map->width;
    tape_norm(play, &run->tape, map, &at_norm);
    tape_linear(play, &run->tape, map, channels, &at_q);
    trace_map other = { map->images, channels, keys, 1 };
    tape_linear(play, &run->tape, &other, channels, &at_k);
    tape_linear(play, &run->tape, &other, channels, &at_v);
    if (run->is_eager) {
        tape_keep(play, &run->tape, map->images * 8 * pixels * keys, &at_scores);
    }
    tape_keep(play, &run->tape, map_numbers(map), &at_sdpa);
    tape_linear(play, &run->tape, map, channels, &at_o);
}

static void attention_block(trace_play *play, unet *run, trace_map *map)
{
    const uint64_t channels = map->channels;
    play_enter(play, &at_block);
    attend(play, run, map, map->height * map->width);
    attend(play, run, map, TEXT_TOKENS);
    tape_norm(play, &run->tape, map, &at_norm);
    tape_linear(play, &run->tape, map, channels * 8, &at_up);
    map->channels = channels * 4;
    tape_keep(play, &run->tape, map_numbers(map), &at_act);
    tape_linear(play, &run->tape, map, channels, &at_down);
    play_leave(play, &at_block);
}

static void unet_forward(trace_play *play, unet *run, trace_map map)
{
    tape_rewind(&run->tape);
    play_enter(play, &at_forward);
    tape_conv(play, &run->tape, &map, unet_channels[0], 3, 1);
    for (unsigned level = 0; level < LEVELS; level++) {
        for (unsigned i = 0; i < 2; i++) {
            tape_resnet_block(play, &run->tape, &map, unet_channels[level]);
            if (level + 1 < LEVELS) {
                attention_block(play, run, &map);
            }
        }
        if (level + 1 < LEVELS) {
            tape_conv(play, &run->tape, &map, unet_channels[level], 3, 2);
        }
    }
    for (unsigned level = LEVELS; level-- > 0;) {
        for (unsigned i = 0; i < 3; i++) {
            map.channels += unet_channels[level];
            tape_keep(play, &run->tape, map_numbers(&map), &at_skip);
            tape_resnet_block(play, &run->tape, &map, unet_channels[level]);
            if (level + 1 < LEVELS) {
                attention_block(play, run, &map);
            }
        }
        if (level > 0) {
            map.height *= 2;
            map.width *= 2;
            tape_keep(play, &run->tape, map_numbers(&map), &at_upsample);
            tape_conv(play, &run->tape, &map, unet_channels[level], 3, 1);
        }
    }
    tape_conv(play, &run->tape, &map, 4, 3, 1);
    play_leave(play, &at_forward);
}

/* A bucket: sides are multiples of 64, the area is about the same (Podell et al. 2023). */
static trace_map bucket(trace_play *play, const unet *run)
{
    const uint64_t side = run->area == 512 * 512 ? 512 : 768;
    const uint64_t width = play_between(play, side / 128, side / 48) * 64;
    const uint64_t height = (run->area / width + 32) / 64 * 64;
    return (trace_map){ run->images, 4, height / 8, width / 8 };
}

static void run_unet(trace_play *play, void *state)
{
    unet *const run = state;
    run->tape.weight_bytes = play_chance(play, 500) ? 4 : 2;
    run->tape.is_trained = true;
    run->images = play_between(play, 1, 4);
    run->is_eager = play_chance(play, 300);
    run->area = run->is_eager || play_chance(play, 500) ? 512 * 512 : 768 * 768;
    const bool is_foreach = play_chance(play, 500);
    while (!play_is_over(play)) {
        play_step(play);
        play_enter(play, &at_train_step);
        const trace_map latent = bucket(play, run);
        plim_addr noise = play_take(play, map_numbers(&latent) * 4, &at_noise);
        plim_addr text = play_take(play, run->images * TEXT_TOKENS * 768 * 2, &at_load_batch);
        unet_forward(play, run, latent);
        tape_backward(play, &run->tape);
        play_drop(play, &noise);
        play_drop(play, &text);
        tape_optimize(play, &run->tape, is_foreach);
        play_leave(play, &at_train_step);
    }
}

const trace_generator trace_unet = { run_unet, sizeof(unet) };
