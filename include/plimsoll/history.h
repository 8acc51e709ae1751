/*
 * plimsoll/history.h - what happened to the memory of some devices, in order.
 *
 * A history is the hub of Plimsoll: every source becomes one, every reader reads one. It holds
 *
 *   strings, frames, stacks     each stored once and named by an index
 *   streams, notes              likewise: small tables that events point into
 *   devices                     each with its events by column, and the segments and blocks that
 *                               existed when the recording ended
 *   settings, annotations       what was in force, what the program said it was doing
 *   anomalies, warnings         what the source got wrong, counted
 *
 * A history may be the tail of a ring buffer: what existed before its first event is worked out by
 * a timeline (timeline.h), and is never mixed with what was recorded.
 *
 * Histories are built by importers and are read-only afterwards: any number of threads may read
 * one. All pointers reached from it belong to it and live until plim_history_destroy().
 */
#ifndef PLIMSOLL_HISTORY_H
#define PLIMSOLL_HISTORY_H

#include "plimsoll/event.h"
#include "plimsoll/mem.h"
#include "plimsoll/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PLIM_BEGIN_DECLS

/*
 * A place in a program: filename, name and line. Indices are into strings; line 0 means unknown.
 * What torch.fx says of the place is that of the first frame met there.
 */
typedef struct plim_frame {
    uint32_t filename;
    uint32_t name;
    uint32_t line;
    uint32_t fx; /* string: the torch.fx node and its original trace, or PLIM_NONE */
} plim_frame;

/* Frames innermost first, as indices into the history's frames. */
typedef struct plim_stack {
    const uint32_t *frames;
    uint32_t frame_count;
} plim_stack;

/* Fields that rarely differ between events, kept apart so that an event pays four bytes for it. */
typedef struct plim_note {
    plim_pool_id pool;
    bool has_pool;            /* the event itself named a pool (PyTorch 2.12+) */
    uint32_t compile_context; /* string or PLIM_NONE */
    uint32_t user_metadata;   /* string or PLIM_NONE */
    uint32_t forward_stack;   /* string (frames joined by newlines) or PLIM_NONE */
    uint32_t category;        /* string or PLIM_NONE: profiler exports say what memory is for */
} plim_note;

/*
 * Events by column, each of them the field of plim_event that bears its name: row i of each column
 * is event i. Columns have `count` rows. Files have times in microseconds.
 */
typedef struct plim_events {
    uint64_t count;
    const uint8_t *action; /* plim_action, or above PLIM_ACTION_OTHER for unknown ones */
    const uint64_t *addr;
    const uint64_t *bytes;
    const int64_t *time_us; /* plim_event's time_ns / 1000, or PLIM_TIME_UNKNOWN */
    const uint32_t *stack;  /* index into stacks, or PLIM_NONE */
    const uint32_t *stream; /* index into streams */
    const uint32_t *note;   /* index into notes; note 0 is the empty one */
} plim_events;

typedef enum plim_block_state {
    PLIM_BLOCK_INACTIVE,            /* free */
    PLIM_BLOCK_ACTIVE_ALLOCATED,    /* held by the program */
    PLIM_BLOCK_ACTIVE_PENDING_FREE, /* freed, but a stream's event has not completed */
} plim_block_state;

typedef struct plim_block {
    plim_addr addr;
    uint64_t bytes;
    uint64_t requested_bytes; /* as the program requested; stale in free blocks */
    uint32_t stack;           /* of its allocation, or PLIM_NONE */
    plim_block_state state;
} plim_block;

typedef struct plim_segment {
    plim_addr addr;
    uint64_t bytes;
    plim_pool_id pool;
    uint32_t stream;      /* index into streams */
    uint32_t stack;       /* of the driver call, or PLIM_NONE */
    uint64_t block_first; /* index into the device's blocks: block_first … + block_count - 1 */
    uint64_t block_count; /* in address order */
    bool is_large;        /* serves requests above 1 MiB */
    bool is_expandable;   /* one mapped run of a virtual range */
} plim_segment;

typedef enum plim_known { PLIM_UNKNOWN, PLIM_NO, PLIM_YES } plim_known;

typedef struct plim_device_history {
    int32_t device; /* PyTorch's index; PLIM_HOST_DEVICE for pinned host memory */
    plim_events events;
    const plim_segment *segments; /* by address */
    uint64_t segment_count;
    const plim_block *blocks; /* by segment, then address */
    uint64_t block_count;
    uint64_t capacity_events; /* of the ring buffer, 0 when the source does not say */
    /* The first so many events stand for what was allocated before the recording, of a source that
     * has sums or a list of that. */
    uint64_t earlier_events;
    plim_known overflowed; /* the ring buffer wrapped; of a .plim file, that events are missing */
} plim_device_history;

/* A span the program named: START and END of one record_function scope. */
typedef struct plim_annotation {
    uint32_t name; /* string */
    int32_t device;
    int64_t time_us; /* or PLIM_TIME_UNKNOWN */
    bool is_start;
} plim_annotation;

typedef enum plim_setting_kind {
    PLIM_SETTING_NONE, /* the source has the key with no value */
    PLIM_SETTING_INTEGER,
    PLIM_SETTING_REAL,
    PLIM_SETTING_BOOLEAN,
    PLIM_SETTING_TEXT,
} plim_setting_kind;

/* One allocator setting. Settings that belong to a table (roundup_power2_divisions) share its
 * name as `group` and follow each other. */
typedef struct plim_setting {
    uint32_t group; /* string or PLIM_NONE */
    uint32_t name;  /* string */
    plim_setting_kind kind;
    union {
        int64_t integer;
        double real;
        bool boolean;
        uint32_t text; /* string */
    } value;
} plim_setting;

/*
 * Faults of a source. Each is counted, and does not end the import.
 * In the list: enumerator, name in JSON, meaning with %s for "N times".
 */
#define PLIM_ANOMALY_LIST(X)                                                                       \
    X(PLIM_ANOMALY_DOUBLE_FREE, "double_free",                                                     \
      "an address is freed again though nothing was allocated there since its last free")          \
    X(PLIM_ANOMALY_ALLOC_OVER_LIVE, "alloc_over_live",                                             \
      "an allocation takes an address that still holds a live one")                                \
    X(PLIM_ANOMALY_FREE_SIZE, "free_size_mismatch", "a free has another size than its allocation") \
    X(PLIM_ANOMALY_COMPLETED_UNREQUESTED, "completed_without_request",                             \
      "a free completes without a request")                                                        \
    X(PLIM_ANOMALY_LIVE_NOT_ACTIVE, "live_but_not_active",                                         \
      "an allocation is live by the trace but no block holds it at the end")                       \
    X(PLIM_ANOMALY_ACTIVE_NOT_LIVE, "active_but_freed",                                            \
      "a block is allocated at the end though the trace frees it")                                 \
    X(PLIM_ANOMALY_BLOCK_SIZE, "block_smaller_than_request",                                       \
      "a block is smaller than what was requested of it")                                          \
    X(PLIM_ANOMALY_BLOCK_OVERLAP, "blocks_overlap", "a block overlaps its neighbour")              \
    X(PLIM_ANOMALY_BLOCK_OUTSIDE, "blocks_not_tiling",                                             \
      "the blocks of a segment do not add up to it")                                               \
    X(PLIM_ANOMALY_SEGMENT_OVERLAP, "segments_overlap", "two segments share addresses")            \
    X(PLIM_ANOMALY_SEGMENT_UNKNOWN, "segment_contradiction",                                       \
      "a segment event does not fit the segments at the end")                                      \
    X(PLIM_ANOMALY_EVENT_OUTSIDE, "alloc_outside_segments",                                        \
      "an allocation lies in no segment that stood then")                                          \
    X(PLIM_ANOMALY_TIME_BACKWARDS, "time_backwards", "the clock of the trace steps back")          \
    X(PLIM_ANOMALY_SNAPSHOT_CHECK, "snapshot_check_mismatch",                                      \
      "a snapshot event names other active bytes than the trace adds up to")                       \
    X(PLIM_ANOMALY_AFTER_OOM, "events_after_oom", "an event follows the last out-of-memory event") \
    X(PLIM_ANOMALY_UNKNOWN_ACTION, "unknown_action", "an event has an action this does not know")  \
    X(PLIM_ANOMALY_UNKNOWN_FIELD, "unknown_field", "a record has a field this does not know")      \
    X(PLIM_ANOMALY_BAD_FIELD, "bad_field", "a field has an unexpected type or value")              \
    X(PLIM_ANOMALY_MISSING_FIELD, "missing_field", "a record lacks a field it cannot do without")

typedef enum plim_anomaly {
#define PLIM_ANOMALY_ENUM(code, name, text) code,
    PLIM_ANOMALY_LIST(PLIM_ANOMALY_ENUM)
#undef PLIM_ANOMALY_ENUM
        PLIM_ANOMALY_COUNT
} plim_anomaly;

/** The stable name ("double_free") and the meaning of an anomaly. */
PLIM_API const char *plim_anomaly_name(plim_anomaly anomaly);
PLIM_API const char *plim_anomaly_text(plim_anomaly anomaly);

/* The sizes that alloc and free events have. */
typedef enum plim_sizes {
    PLIM_SIZES_REQUESTED, /* as the program requested */
    PLIM_SIZES_OF_BLOCKS, /* as the allocator rounded them: requests are not recorded */
} plim_sizes;

/* The origin of a history. Strings are constants or belong to the history. */
typedef struct plim_source {
    const char *format;      /* "pickle", "json", … */
    const char *compression; /* "gzip", "zstd", "xz", "bzip2", "UTF-16", or NULL */
    const char *generation;  /* which releases write such files, "PyTorch 2.9"; "" if unclear */
    int32_t pickle_protocol; /* 0 … 5, or -1 */
    uint64_t bytes;          /* after decompression */
    plim_sizes sizes;
} plim_source;

typedef struct plim_history plim_history;

/* Called now and then while a long file is read. Return false to stop with PLIM_CANCELLED. */
typedef bool plim_progress(void *ctx, uint64_t done_bytes, uint64_t total_bytes);

/* Options of reading any file into a history. All zero is a valid default. */
typedef struct plim_load_options {
    const plim_mem *mem;     /* borrowed until the history is destroyed; NULL: the C heap */
    plim_progress *progress; /* may be NULL; total_bytes is 0 when it is not known */
    void *progress_ctx;
} plim_load_options;

PLIM_API plim_source plim_history_source(const plim_history *history);

/** Free a history and all that was reached from it. NULL is allowed. */
PLIM_API void plim_history_destroy(plim_history *history);

/**
 * A string of the history.
 *
 * ret_bytes  its length in bytes, may be NULL; strings may hold any bytes but end in a zero too
 * returns    "" for PLIM_NONE, never NULL
 */
PLIM_API const char *plim_history_string(const plim_history *history, uint32_t string,
                                         size_t *ret_bytes);

PLIM_API const plim_frame *plim_history_frame(const plim_history *history, uint32_t frame);
/** A stack; an empty one for PLIM_NONE. */
PLIM_API plim_stack plim_history_stack(const plim_history *history, uint32_t stack);
/** The stream's handle as the source has it: 0 is the default stream. */
PLIM_API uint64_t plim_history_stream(const plim_history *history, uint32_t stream);
PLIM_API const plim_note *plim_history_note(const plim_history *history, uint32_t note);
/** Event `index` of a device. Its pool is the one its note names; its block is not known. */
PLIM_API plim_event plim_history_event(const plim_history *history,
                                       const plim_device_history *device, uint64_t index);
/** The name of an event's action, known or not. */
PLIM_API const char *plim_history_action_name(const plim_history *history, uint8_t action);

PLIM_API size_t plim_history_device_count(const plim_history *history);
/** Devices come in order of their index, pinned host memory (if any) last. */
PLIM_API const plim_device_history *plim_history_device(const plim_history *history, size_t index);

PLIM_API uint32_t plim_history_string_count(const plim_history *history);
PLIM_API uint32_t plim_history_frame_count(const plim_history *history);
PLIM_API uint32_t plim_history_stack_count(const plim_history *history);
PLIM_API uint32_t plim_history_stream_count(const plim_history *history);

PLIM_API const plim_annotation *plim_history_annotations(const plim_history *history,
                                                         uint64_t *ret_count);
PLIM_API const plim_setting *plim_history_settings(const plim_history *history,
                                                   uint64_t *ret_count);

/** Times the source showed an anomaly while it was imported. */
PLIM_API uint64_t plim_history_anomaly_count(const plim_history *history, plim_anomaly anomaly);
PLIM_API size_t plim_history_warning_count(const plim_history *history);
/** One line for a person. */
PLIM_API const char *plim_history_warning(const plim_history *history, size_t index);

PLIM_END_DECLS

#endif
