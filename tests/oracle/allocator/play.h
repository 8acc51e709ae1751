/*
 * play.h - a script played on an allocator, and the record of it.
 *
 * The two sides, PyTorch's library (record.cc) and ours (run.c), differ in what stands below
 * `subject`; reading the script, naming blocks and writing the record is the same code.
 */
#ifndef ORACLE_PLAY_H
#define ORACLE_PLAY_H

#include "script.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum play_verdict {
    PLAY_OK,
    PLAY_OOM,     /* the ordinary out-of-memory error; `text` is compared */
    PLAY_REFUSED, /* the caller was wrong, or an assertion failed */
    PLAY_BROKEN,  /* the driver failed otherwise */
} play_verdict;

#define PLAY_TEXT_BYTES 2048

typedef struct play_answer {
    play_verdict verdict;
    bool has_addr;
    bool has_number;
    bool has_fraction;
    plim_addr addr;
    uint64_t number;
    double fraction;
    char text[PLAY_TEXT_BYTES]; /* of an error */
} play_answer;

/* One side. Calls of the device arrive by play_call(), whatever happens below `perform`. */
typedef struct play_subject {
    void (*start)(const script_setup *setup);
    void (*perform)(const script_op *op, play_answer *ret);
    void (*stats)(int32_t device, plim_device_stats *ret);
    void (*finish)(void);
} play_subject;

/* Plays a script, the record goes to standard output. */
void play(const char *path, const play_subject *subject);

/* --- what the sides report while `perform` runs --- */

void play_call(const plim_device_record *record);

/* An observer of out-of-memory errors was called. */
void play_observed(int32_t device, uint64_t asked_bytes, uint64_t limit_bytes, uint64_t free_bytes);

typedef struct play_segment {
    int32_t device;
    plim_addr addr;
    uint64_t bytes;
    plim_stream stream;
    plim_pool_id pool;
    bool is_large;
    bool is_expandable;
    uint32_t line; /* of the operation whose stack it has; 0: it has none */
} play_segment;

typedef struct play_block {
    uint64_t bytes;
    uint64_t requested_bytes;
    plim_block_state state;
    uint32_t line; /* as that of a segment */
} play_block;

typedef struct play_entry {
    int32_t device;
    plim_action action;
    uint64_t addr;
    uint64_t bytes;
    plim_stream stream;
    uint32_t line; /* as that of a segment */
} play_entry;

/* A segment of a snapshot, followed by its blocks. */
void play_snapshot_segment(const play_segment *segment);
void play_snapshot_block(const play_block *block);
/* An entry of a trace, oldest first, devices one after the other. */
void play_event(const play_entry *entry);
/* The same as it happens. That somebody looked (snapshots, traces) is told by PyTorch alone, and
 * not written. */
void play_told(const play_entry *entry);

#ifdef __cplusplus
}
#endif

#endif
