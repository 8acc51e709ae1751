/*
 * program.h - programs that never ran: what they tell a listener, and what must be read back.
 *
 * A program allocates and frees at random places of segments and mapped runs, with no overlap, so
 * that what stands is known at every moment; it keeps all it told. Addresses mean nothing.
 */
#ifndef PLIMSOLL_TESTS_TRACE_PROGRAM_H
#define PLIMSOLL_TESTS_TRACE_PROGRAM_H

#include "plimsoll/recorder.h"

#include "harness.h"

#define T_SLOTS       12 /* places for segments on a device */
#define T_SLOT_BYTES  (UINT64_C(64) << 20)
#define T_PAGE_BYTES  (UINT64_C(2) << 20)
#define T_PAGES       16 /* of a segment at most */
#define T_LIVE_MAX    400
#define T_STACKS      40
#define T_DEVICES_MAX 3

/* A segment, or a range of which some pages are mapped. */
typedef struct t_slot {
    bool is_mapped[T_PAGES]; /* plain ones: all up to their size, or none */
    bool is_expandable;
    bool is_small;
    plim_stream stream;
    plim_pool_id pool;
    uint32_t stack[T_PAGES];
} t_slot;

typedef struct t_block {
    plim_addr addr;
    uint64_t bytes;
    uint64_t requested;
    uint32_t stack;
    size_t slot;
    bool is_pending;
} t_block;

typedef struct t_device {
    t_slot slots[T_SLOTS];
    t_block blocks[T_LIVE_MAX];
    size_t block_count;
} t_device;

typedef struct t_program {
    t_device devices[T_DEVICES_MAX];
    size_t device_count;
    plim_event_sink sink;
    uint64_t time_ns;
    bool is_recorded[T_STACKS];
    plim_event *events; /* all that were told, in order */
    size_t count;
    size_t capacity;
} t_program;

void t_program_init(t_program *program, size_t devices);
void t_program_deinit(t_program *program);
/* Does something at random, which may be nothing. */
void t_program_step(t_program *program);
void t_program_run(t_program *program, size_t steps);

/* True if the history ends with what stands in the program. */
void t_program_expect_end(const t_program *program, const plim_history *history);
/* True if the history has the events from `first` on, as they were told, and no others. */
void t_program_expect_events(const t_program *program, const plim_history *history, size_t first);
/* The number of events of a device from `first` on. */
uint64_t t_program_events_of(const t_program *program, int32_t device, size_t first);

/* A name for a file that is this process's own. */
void t_path(char *path, size_t bytes, const char *name);

#endif
