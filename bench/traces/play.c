/*
 * play.c - a made-up program's requests, passed on to an allocator. See play.h.
 */
#include "traces/play.h"

#include "base/error.h"
#include "traces/scribe.h"

#include <inttypes.h>
#include <stdio.h>

static void fail(trace_play *play, plim_status status, const plim_error *err)
{
    if (play->status == PLIM_OK && status != PLIM_OK) {
        play->status = status;
        play->error = *err;
    }
    play->is_over = play->is_over || status != PLIM_OK;
}

/* The program did something that counts; its clock goes on. */
static void count(trace_play *play, uint64_t events, uint64_t ns)
{
    play->program_events += events;
    play->time_ns += ns;
    play->is_over = play->is_over || play->program_events >= play->spec->events;
}

/* --- chance --- */

uint64_t play_draw(trace_play *play, uint64_t below)
{
    /* splitmix64 (Steele, Lea, Flood 2014) */
    uint64_t z = play->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return below == 0 ? 0 : z % below;
}

uint64_t play_between(trace_play *play, uint64_t low, uint64_t high)
{
    return low + play_draw(play, high - low + 1);
}

bool play_chance(trace_play *play, uint64_t per_mille)
{
    return play_draw(play, 1000) < per_mille;
}

/*
 * A log-normal draw in integers, as libm differs between machines: the sum of twelve even draws is
 * near enough to normal (variance 1), and 2^x is 2^floor(x) times a straight line.
 */
uint64_t play_skewed(trace_play *play, uint64_t median, uint64_t spread_256, uint64_t most)
{
    int64_t normal = -6 * 256;
    for (int i = 0; i < 12; i++) {
        normal += (int64_t)play_draw(play, 257);
    }
    const int64_t exponent = normal * (int64_t)spread_256 / 256 + 20 * 256; /* above 0 */
    const uint64_t whole = exponent < 0 ? 0 : (uint64_t)exponent / 256;
    const uint64_t part = exponent < 0 ? 0 : (uint64_t)exponent % 256;
    const uint64_t drawn = (median * (256 + part) << (whole < 40 ? whole : 40)) >> 28;
    return drawn < 1 ? 1 : drawn > most ? most : drawn;
}

/* --- memory --- */

plim_addr play_take(trace_play *play, uint64_t bytes, const trace_place *place)
{
    if (play->is_over || bytes == 0) {
        return 0;
    }
    plim_error err;
    plim_addr addr = 0;
    play_enter(play, place);
    const plim_status status = plim_malloc(play->allocator, 0, bytes, play->stream, &addr, &err);
    play_leave(play, place);
    play->outcome.requests++;
    if (status == PLIM_OUT_OF_DEVICE_MEMORY) {
        play->is_over = !play->spec->goes_on_after_oom;
    } else {
        fail(play, status, &err);
    }
    /* As of a kernel launch, and of what the launch is for. */
    count(play, 1, 2000 + play_draw(play, 30000) + bytes / 512);
    return status == PLIM_OK ? addr : 0;
}

void play_drop(trace_play *play, plim_addr *addr)
{
    if (play->is_over || *addr == 0) {
        return;
    }
    plim_error err;
    fail(play, plim_free(play->allocator, *addr, &err), &err);
    *addr = 0;
    count(play, 2, 1000 + play_draw(play, 4000));
}

void play_use(trace_play *play, plim_addr addr, plim_stream stream)
{
    if (!play->is_over && addr != 0) {
        plim_error err;
        fail(play, plim_record_stream(play->allocator, addr, stream, &err), &err);
    }
}

void play_touch(trace_play *play, uint64_t bytes, const trace_place *place)
{
    plim_addr addr = play_take(play, bytes, place);
    play_drop(play, &addr);
}

void play_empty_cache(trace_play *play)
{
    if (!play->is_over) {
        plim_error err;
        fail(play, plim_empty_cache(play->allocator, NULL, &err), &err);
        play->time_ns += 5000000;
    }
}

/* --- streams, pools, steps --- */

plim_stream play_stream(uint32_t number)
{
    return UINT64_C(0x7f5a2c000000) + (uint64_t)number * 0x8f0;
}

plim_stream play_on(trace_play *play, plim_stream stream)
{
    const plim_stream before = play->stream;
    play->stream = stream;
    return before;
}

void play_complete(trace_play *play, plim_stream stream)
{
    if (!play->is_over) {
        plim_sim_complete(&play->device, stream);
    }
}

plim_pool_id play_pool_new(trace_play *play)
{
    return plim_new_pool_id(play->allocator, true);
}

void play_pool_begin(trace_play *play, plim_pool_id pool)
{
    if (!play->is_over) {
        plim_error err;
        fail(play, plim_pool_begin(play->allocator, 0, pool, NULL, NULL, &err), &err);
    }
}

void play_pool_end(trace_play *play, plim_pool_id pool)
{
    if (!play->is_over) {
        plim_error err;
        fail(play, plim_pool_end(play->allocator, 0, pool, &err), &err);
    }
}

void play_pool_release(trace_play *play, plim_pool_id pool)
{
    if (!play->is_over) {
        plim_error err;
        fail(play, plim_pool_release(play->allocator, 0, pool, &err), &err);
    }
}

void play_step(trace_play *play)
{
    if (play->is_over) {
        return;
    }
    char name[40];
    if (play->spec->annotates_steps && play->outcome.steps > 0) {
        (void)snprintf(name, sizeof name, "ProfilerStep#%" PRIu64, play->outcome.steps - 1);
        trace_scribe_annotate(play->scribe, name, false);
    }
    play->time_ns += 1000000;
    if (play->spec->annotates_steps) {
        (void)snprintf(name, sizeof name, "ProfilerStep#%" PRIu64, play->outcome.steps);
        trace_scribe_annotate(play->scribe, name, true);
    }
    play->outcome.steps++;
}

/* --- where --- */

void play_enter(trace_play *play, const trace_place *place)
{
    for (size_t i = place->count; i-- > 0 && play->frame_count < PLAY_FRAMES_MAX;) {
        play->frames[play->frame_count] = &place->frames[i];
        play->frame_count++;
    }
}

void play_leave(trace_play *play, const trace_place *place)
{
    play->frame_count -= place->count < play->frame_count ? place->count : play->frame_count;
}
