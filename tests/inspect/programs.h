/*
 * programs.h - random histories: of a toy allocator that tells the truth, and of pure noise.
 *
 * The toy cuts blocks from segments of 16 KiB and from one expandable run, first fit, as
 * PyTorch cuts small blocks, defers some completions, and returns empty segments. It notes
 * what really was live before each event, so that any cut of its trace can be judged.
 */
#ifndef PLIMSOLL_TESTS_PROGRAMS_H
#define PLIMSOLL_TESTS_PROGRAMS_H

#include "harness.h"
#include "history/builder.h"

#define PROGRAM_EVENTS_MAX  400
#define PROGRAM_BLOCKS_MAX  256
#define PROGRAM_STACKS      5
#define TOY_SEGMENT_BYTES   16384u
#define TOY_SEGMENTS        6u
#define TOY_EXPANDABLE_ADDR ((uint64_t)1 << 20)

typedef struct truth {
    uint64_t requested_bytes, live_count, reserved_bytes;
} truth;

typedef struct toy_program {
    plim_event events[PROGRAM_EVENTS_MAX];
    size_t event_count;
    truth before[PROGRAM_EVENTS_MAX + 1];  /* before each event, and at the end */
    plim_block blocks[PROGRAM_BLOCKS_MAX]; /* by address, gaps between segments */
    size_t block_count;
    plim_segment segments[PROGRAM_BLOCKS_MAX];
    size_t segment_count;
} toy_program;

/* --- the toy --- */

static inline bool toy_is_expandable(plim_addr addr)
{
    return addr >= TOY_EXPANDABLE_ADDR;
}

static inline plim_addr toy_segment_of(plim_addr addr)
{
    return toy_is_expandable(addr) ? TOY_EXPANDABLE_ADDR
                                   : addr / (2 * TOY_SEGMENT_BYTES) * (2 * TOY_SEGMENT_BYTES);
}

static inline void toy_tell(toy_program *program, plim_action action, plim_addr addr, uint64_t size)
{
    T_TRUE(program->event_count < PROGRAM_EVENTS_MAX);
    const uint32_t stack = (uint32_t)t_random_between(0, PROGRAM_STACKS);
    program->events[program->event_count++] =
        (plim_event){ .action = action,
                      .addr = addr,
                      .bytes = size,
                      .time_ns = plim_time_ns((int64_t)program->event_count),
                      .stack = stack == PROGRAM_STACKS ? PLIM_NONE : stack };
    program->before[program->event_count] = program->before[program->event_count - 1];
}

static inline truth *toy_now(toy_program *program)
{
    return &program->before[program->event_count];
}

static inline void toy_insert(toy_program *program, size_t at, plim_block block)
{
    T_TRUE(program->block_count < PROGRAM_BLOCKS_MAX);
    memmove(program->blocks + at + 1, program->blocks + at,
            (program->block_count - at) * sizeof block);
    program->blocks[at] = block;
    program->block_count++;
}

static inline void toy_erase(toy_program *program, size_t at)
{
    program->block_count--;
    memmove(program->blocks + at, program->blocks + at + 1,
            (program->block_count - at) * sizeof *program->blocks);
}

/* Joins block `at` with the next one when both are free and of one segment. */
static inline void toy_join(toy_program *program, size_t at)
{
    if (at + 1 >= program->block_count) {
        return;
    }
    plim_block *const low = &program->blocks[at];
    const plim_block *const high = low + 1;
    if (low->state == PLIM_BLOCK_INACTIVE && high->state == PLIM_BLOCK_INACTIVE &&
        low->addr + low->bytes == high->addr &&
        toy_segment_of(low->addr) == toy_segment_of(high->addr)) {
        low->bytes += high->bytes;
        toy_erase(program, at + 1);
    }
}

/* A new segment, or more of the expandable one; nothing when there is no room. */
static inline void toy_reserve(toy_program *program)
{
    plim_addr addr = t_random_between(0, TOY_SEGMENTS - 1) * 2 * TOY_SEGMENT_BYTES;
    const bool is_expandable = t_random_between(0, 2) == 0;
    size_t at = program->block_count;
    if (is_expandable) {
        const plim_block *const last = at > 0 ? &program->blocks[at - 1] : NULL;
        addr = last != NULL && toy_is_expandable(last->addr) ? last->addr + last->bytes
                                                             : TOY_EXPANDABLE_ADDR;
    } else {
        for (at = 0; at < program->block_count && program->blocks[at].addr < addr;) {
            at++;
        }
        if (at < program->block_count && program->blocks[at].addr == addr) {
            return;
        }
    }
    if (program->block_count + 4 > PROGRAM_BLOCKS_MAX) {
        return;
    }
    toy_tell(program, is_expandable ? PLIM_SEGMENT_MAP : PLIM_SEGMENT_ALLOC, addr,
             TOY_SEGMENT_BYTES);
    toy_now(program)->reserved_bytes += TOY_SEGMENT_BYTES;
    toy_insert(program, at,
               (plim_block){ .addr = addr, .bytes = TOY_SEGMENT_BYTES, .stack = PLIM_NONE });
    if (is_expandable && at > 0) {
        toy_join(program, at - 1);
    }
}

static inline void toy_alloc(toy_program *program)
{
    const uint64_t requested = t_random_between(1, 4000);
    const uint64_t rounded = (requested + 511) / 512 * 512;
    for (size_t i = 0; i < program->block_count && program->block_count + 2 < PROGRAM_BLOCKS_MAX;
         i++) {
        plim_block *const block = &program->blocks[i];
        if (block->state != PLIM_BLOCK_INACTIVE || block->bytes < rounded) {
            continue;
        }
        const uint64_t rest = block->bytes - rounded;
        if (rest > 0) {
            toy_insert(program, i + 1,
                       (plim_block){ .addr = block->addr + rounded, .bytes = rest });
            program->blocks[i].bytes = rounded;
        }
        program->blocks[i].state = PLIM_BLOCK_ACTIVE_ALLOCATED;
        program->blocks[i].requested_bytes = requested;
        toy_tell(program, PLIM_ALLOC, program->blocks[i].addr, requested);
        program->blocks[i].stack = program->events[program->event_count - 1].stack;
        toy_now(program)->requested_bytes += requested;
        toy_now(program)->live_count++;
        return;
    }
    toy_reserve(program);
}

static inline void toy_complete(toy_program *program, size_t at)
{
    plim_block *const block = &program->blocks[at];
    toy_tell(program, PLIM_FREE_COMPLETED, block->addr, block->requested_bytes);
    block->state = PLIM_BLOCK_INACTIVE;
    block->stack = PLIM_NONE;
    toy_join(program, at);
    if (at > 0) {
        toy_join(program, at - 1);
    }
}

static inline void toy_request(toy_program *program, size_t at)
{
    plim_block *const block = &program->blocks[at];
    toy_tell(program, PLIM_FREE_REQUESTED, block->addr, block->requested_bytes);
    toy_now(program)->requested_bytes -= block->requested_bytes;
    toy_now(program)->live_count--;
    block->state = PLIM_BLOCK_ACTIVE_PENDING_FREE;
    if (t_random_between(0, 2) > 0) {
        toy_complete(program, at);
    }
}

/* Gives back a segment that is one free block, or the free end of the expandable one. */
static inline void toy_release(toy_program *program, size_t at)
{
    const plim_block block = program->blocks[at];
    const bool is_last = at + 1 == program->block_count;
    if (!toy_is_expandable(block.addr) && block.bytes == TOY_SEGMENT_BYTES) {
        toy_tell(program, PLIM_SEGMENT_FREE, block.addr, block.bytes);
        toy_now(program)->reserved_bytes -= block.bytes;
        toy_erase(program, at);
    } else if (toy_is_expandable(block.addr) && is_last && block.bytes >= TOY_SEGMENT_BYTES) {
        toy_tell(program, PLIM_SEGMENT_UNMAP, block.addr + block.bytes - TOY_SEGMENT_BYTES,
                 TOY_SEGMENT_BYTES);
        toy_now(program)->reserved_bytes -= TOY_SEGMENT_BYTES;
        program->blocks[at].bytes -= TOY_SEGMENT_BYTES;
        if (program->blocks[at].bytes == 0) {
            toy_erase(program, at);
        }
    }
}

static inline uint64_t toy_active_bytes(const toy_program *program)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < program->block_count; i++) {
        bytes += program->blocks[i].state != PLIM_BLOCK_INACTIVE ? program->blocks[i].bytes : 0;
    }
    return bytes;
}

static inline void toy_step(toy_program *program)
{
    const uint64_t what = t_random_between(0, 99);
    if (what < 45 || program->block_count == 0) {
        toy_alloc(program);
        return;
    }
    const size_t at = (size_t)t_random_between(0, program->block_count - 1);
    if (what < 96) {
        switch (program->blocks[at].state) {
        case PLIM_BLOCK_ACTIVE_ALLOCATED:
            toy_request(program, at);
            break;
        case PLIM_BLOCK_ACTIVE_PENDING_FREE:
            toy_complete(program, at);
            break;
        case PLIM_BLOCK_INACTIVE:
            toy_release(program, at);
            break;
        }
    } else if (what < 98) {
        toy_tell(program, PLIM_SNAPSHOT, 0, toy_active_bytes(program));
    } else {
        toy_tell(program, PLIM_OOM, 4096, 8192);
    }
}

/* The segments that the blocks make up. */
static inline void toy_end(toy_program *program)
{
    for (size_t i = 0; i < program->block_count; i++) {
        const plim_block *const block = &program->blocks[i];
        plim_segment *segment = &program->segments[program->segment_count];
        if (i == 0 || toy_segment_of(block->addr) != toy_segment_of(block[-1].addr)) {
            program->segment_count++;
            *segment = (plim_segment){ .addr = block->addr,
                                       .block_first = i,
                                       .stack = PLIM_NONE,
                                       .is_expandable = toy_is_expandable(block->addr) };
        } else {
            segment--;
        }
        segment->bytes += block->bytes;
        segment->block_count++;
    }
}

static inline void program_of_toy(toy_program *program, size_t steps)
{
    memset(program, 0, sizeof *program);
    for (size_t i = 0; i < steps; i++) {
        toy_step(program);
    }
    toy_end(program);
}

/* --- noise --- */

/* Any event at one of few addresses, any blocks at the end: nothing fits anything. */
static inline void program_of_noise(toy_program *program, size_t events)
{
    memset(program, 0, sizeof *program);
    /* Sometimes a half of the frees is missing, as some recordings skip actions. */
    const uint64_t skipped = t_random_between(0, 4);
    for (size_t i = 0; i < events; i++) {
        uint8_t action = (uint8_t)t_random_between(0, PLIM_OOM);
        if (t_random_between(0, 1) == 0) {
            action = (uint8_t)t_random_between(0, PLIM_FREE_COMPLETED);
        }
        if (action == skipped && skipped != PLIM_ALLOC) {
            action = PLIM_ALLOC;
        }
        const bool is_segment = action >= PLIM_SEGMENT_ALLOC && action <= PLIM_SEGMENT_UNMAP;
        const uint64_t unit = is_segment ? 2048 : 512;
        toy_tell(program, (plim_action)action, t_random_between(0, 11) * unit,
                 t_random_between(0, 3) * (is_segment ? 2048 : 300));
        program->events[i].time_ns = plim_time_ns((int64_t)(i + t_random_between(0, 3)));
    }
    const size_t segments = (size_t)t_random_between(0, 5);
    plim_addr addr = 0;
    for (size_t i = 0; i < segments; i++) {
        plim_segment *const segment = &program->segments[program->segment_count++];
        const size_t blocks = (size_t)t_random_between(0, 4);
        *segment = (plim_segment){ .addr = addr,
                                   .bytes = t_random_between(0, 4) * 2048,
                                   .block_first = program->block_count,
                                   .block_count = blocks,
                                   .stack = PLIM_NONE,
                                   .is_large = t_random_between(0, 1) == 0,
                                   .is_expandable = t_random_between(0, 1) == 0 };
        for (size_t b = 0; b < blocks; b++) {
            program->blocks[program->block_count++] =
                (plim_block){ .addr = t_random_between(0, 15) * 512,
                              .bytes = t_random_between(0, 3) * 512,
                              .requested_bytes = t_random_between(0, 1200),
                              .stack = (uint32_t)t_random_between(0, PROGRAM_STACKS - 1),
                              .state = (plim_block_state)t_random_between(0, 2) };
        }
        addr += t_random_between(0, 4) * 2048;
    }
}

/* --- as a history --- */

static inline void program_stacks(plim_history *history)
{
    for (uint32_t i = 0; i < PROGRAM_STACKS; i++) {
        char name[16];
        const int bytes = snprintf(name, sizeof name, "stack%u", i);
        plim_frame frame = { .line = i, .fx = PLIM_NONE };
        uint32_t id = 0;
        uint32_t stack = 0;
        T_TRUE(plim_history_add_string(history, "/home/u/a.py", 12, &frame.filename, NULL) ==
               PLIM_OK);
        T_TRUE(plim_history_add_string(history, name, (size_t)bytes, &frame.name, NULL) == PLIM_OK);
        T_TRUE(plim_history_add_frame(history, &frame, &id, NULL) == PLIM_OK);
        T_TRUE(plim_history_add_stack(history, &id, 1, &stack, NULL) == PLIM_OK);
        T_EQ_U64(stack, i);
    }
}

/* The program from event `first` on, as a ring buffer would have kept it. */
static inline plim_history *program_history(const toy_program *program, size_t first)
{
    plim_history *history = NULL;
    T_TRUE(plim_history_create(NULL, &history, NULL) == PLIM_OK);
    uint32_t stream = 0;
    T_TRUE(plim_history_add_stream(history, 0, &stream, NULL) == PLIM_OK);
    program_stacks(history);
    for (size_t i = first; i < program->event_count; i++) {
        T_TRUE(plim_history_push_event(history, &program->events[i], NULL) == PLIM_OK);
    }
    for (size_t i = 0; i < program->segment_count; i++) {
        T_TRUE(plim_history_push_segment(history, &program->segments[i], NULL) == PLIM_OK);
    }
    for (size_t i = 0; i < program->block_count; i++) {
        T_TRUE(plim_history_push_block(history, &program->blocks[i], NULL) == PLIM_OK);
    }
    const plim_device_ranges ranges = { .events = { 0, program->event_count - first },
                                        .segments = { 0, program->segment_count },
                                        .blocks = { 0, program->block_count } };
    T_TRUE(plim_history_add_device(history, &ranges, NULL) == PLIM_OK);
    plim_history_seal(history);
    return history;
}

#endif
