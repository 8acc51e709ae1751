/*
 * dit.c - a diffusion transformer samples images: every request has another size, and each ends
 * with a decoder whose tensors are far larger than all before.
 */
#include "traces/programs.h"
#include "traces/tape.h"

/* PixArt's widths (Chen et al. 2023), those of DiT-XL/2 (Peebles, Xie 2023). */
static const trace_model dit_model = { "dit-xl", 28, 1152, 1152, 16, 4608, 8 };

typedef struct dit {
    trace_transformer it;
    trace_tape decoder;
    plim_addr encoder[24]; /* of texts, layer by layer */
} dit;

/* From latents to pixels: the widest tensors of all, for a moment. */
static void decode(trace_play *play, dit *run, trace_map map)
{
    static const uint64_t channels[] = { 512, 512, 256, 128 };
    play_enter(play, &at_decode);
    tape_rewind(&run->decoder);
    tape_conv(play, &run->decoder, &map, channels[0], 3, 1);
    for (unsigned level = 0; level < 4; level++) {
        for (unsigned i = 0; i < 3; i++) {
            tape_resnet_block(play, &run->decoder, &map, channels[level]);
        }
        if (level < 3) {
            map.height *= 2;
            map.width *= 2;
            tape_keep(play, &run->decoder, map_numbers(&map), &at_upsample);
            tape_conv(play, &run->decoder, &map, channels[level], 3, 1);
        }
    }
    tape_conv(play, &run->decoder, &map, 3, 3, 1);
    tape_backward(play, &run->decoder); /* nothing is trained: drops what is left */
    play_leave(play, &at_decode);
}

static void sample(trace_play *play, dit *run, const trace_map *latent, uint64_t steps)
{
    /* With and without the text; a patch is 2 x 2. */
    const uint64_t patches = latent->height / 2 * (latent->width / 2);
    const trace_pass pass = { latent->images * 2 * patches, patches, TRACE_KEEP_NOTHING };
    const uint64_t bytes = map_numbers(latent) * 4;
    plim_addr image = play_take(play, bytes, &at_noise);
    for (uint64_t i = 0; i < steps && !play_is_over(play); i++) {
        plim_addr twice = play_take(play, bytes, &at_noise);
        transformer_forward(play, &run->it, &pass);
        plim_addr noise = play_take(play, bytes * 2, &at_noise);
        transformer_end_pass(play, &run->it);
        plim_addr next = play_take(play, bytes, &at_noise);
        play_drop(play, &twice);
        play_drop(play, &noise);
        play_drop(play, &image);
        image = next;
    }
    decode(play, run, *latent);
    play_drop(play, &image);
}

static void run_dit(trace_play *play, void *state)
{
    dit *const run = state;
    run->it.model = dit_model;
    run->it.weight_bytes = 2;
    run->decoder.weight_bytes = 2;
    run->decoder.searches = play_chance(play, 300);
    play_enter(play, &at_setup);
    transformer_load(play, &run->it, true);
    for (unsigned i = 0; i < 24; i++) { /* T5-XXL: 4.7 billion numbers */
        run->encoder[i] = play_take(play, (uint64_t)4700000000 / 24 * 2, &at_parameter);
    }
    play_leave(play, &at_setup);
    const bool empties_cache = play_chance(play, 300);
    while (!play_is_over(play)) {
        const trace_map latent = { play_between(play, 1, 4), 4, play_between(play, 4, 24) * 8,
                                   play_between(play, 4, 24) * 8 };
        play_step(play);
        play_enter(play, &at_sample_image);
        plim_addr text = play_take(play, 2 * latent.images * 300 * 4096 * 2, &at_embedding);
        sample(play, run, &latent, play_between(play, 6, 20));
        play_drop(play, &text);
        play_leave(play, &at_sample_image);
        if (empties_cache) {
            play_empty_cache(play);
        }
    }
}

const trace_generator trace_dit = { run_dit, sizeof(dit) };
