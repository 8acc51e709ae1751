/*
 * play.h - a made-up program under way: what generators call.
 *
 * Once a program is over (it has made its events, memory ran out, something failed), every
 * function here does nothing: generators look at play_is_over() in their outermost loop only.
 */
#ifndef PLIMSOLL_BENCH_TRACES_PLAY_H
#define PLIMSOLL_BENCH_TRACES_PLAY_H

#include "plimsoll/allocator.h"
#include "traces/places.h"
#include "traces/trace.h"

#define PLAY_FRAMES_MAX 48

typedef struct trace_scribe trace_scribe;

typedef struct trace_play {
    const plim_trace_spec *spec;
    plim_device device;
    plim_allocator *allocator;
    trace_scribe *scribe; /* who writes down what happens */
    plim_status status;   /* the first trouble there was */
    plim_error error;
    uint64_t random;
    uint64_t time_ns;        /* of the program's own clock */
    uint64_t program_events; /* so far */
    plim_trace_outcome outcome;
    bool is_over;
    plim_stream stream;                                /* requests are on it */
    const plim_foreign_frame *frames[PLAY_FRAMES_MAX]; /* outermost first */
    size_t frame_count;
} trace_play;

/* The program of a kind, until it is over. `state` is zeroed. */
typedef void trace_program(trace_play *play, void *state);

typedef struct trace_generator {
    trace_program *run;
    size_t state_bytes;
} trace_generator;

static inline bool play_is_over(const trace_play *play)
{
    return play->is_over;
}

/* --- chance: the same numbers on every machine --- */

/* Evenly, 0 … below - 1. */
uint64_t play_draw(trace_play *play, uint64_t below);
/* Evenly, both ends included. */
uint64_t play_between(trace_play *play, uint64_t low, uint64_t high);
/* About `median` x 2^(spread/256 x a normal draw), at least 1 and at most `most`. */
uint64_t play_skewed(trace_play *play, uint64_t median, uint64_t spread_256, uint64_t most);
/* True if something of this likelihood happens now. */
bool play_chance(trace_play *play, uint64_t per_mille);

/* --- memory --- */

/* A tensor of so many bytes on the current stream; 0 bytes and a program that is over give 0. */
plim_addr play_take(trace_play *play, uint64_t bytes, const trace_place *place);
/* Frees *addr, if there is one, and forgets it. */
void play_drop(trace_play *play, plim_addr *addr);
/* Another stream uses it, too. */
void play_use(trace_play *play, plim_addr addr, plim_stream stream);
/* Takes and drops at once. */
void play_touch(trace_play *play, uint64_t bytes, const trace_place *place);
void play_empty_cache(trace_play *play);

/* --- streams, pools, steps --- */

/* A stream of the program's own, the nth. */
plim_stream play_stream(uint32_t number);
/* Requests are on `stream` from now on; what they were on before. */
plim_stream play_on(trace_play *play, plim_stream stream);
/* What was put on a stream so far is done. */
void play_complete(trace_play *play, plim_stream stream);
/* Requests go to a private pool, which is made if need be, until they no longer do. */
void play_pool_begin(trace_play *play, plim_pool_id pool);
void play_pool_end(trace_play *play, plim_pool_id pool);
plim_pool_id play_pool_new(trace_play *play);
/* A graph that held a pool is gone. */
void play_pool_release(trace_play *play, plim_pool_id pool);
/* A step ends, where one has begun, and the next begins. */
void play_step(trace_play *play);

/* --- where in the program: for stacks --- */

void play_enter(trace_play *play, const trace_place *place);
void play_leave(trace_play *play, const trace_place *place);

#endif
