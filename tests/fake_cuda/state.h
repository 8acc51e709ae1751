/*
 * state.h - what the fake driver knows. Naive on purpose: arrays that are searched, one lock.
 */
#ifndef PLIMSOLL_TESTS_FAKE_CUDA_STATE_H
#define PLIMSOLL_TESTS_FAKE_CUDA_STATE_H

#include "fake_cuda/fake_cuda.h"

#include "device/cuda_abi.h"

#define FAKE_GRANULARITY_BYTES ((uint64_t)2 << 20)
#define FAKE_FAILURES_MAX      16
#define FAKE_ATTRIBUTES        256
#define FAKE_CONTEXTS_MAX      16

/* The functions, under names of our own; the symbols are the driver's. */
#define FAKE_DECLARE(field, name, symbol, version, parameters) \
    cu_result fake_##field parameters __asm__(symbol);
CU_FUNCTION_LIST(FAKE_DECLARE)
CU_MAPPING_LIST(FAKE_DECLARE)
#undef FAKE_DECLARE

struct cu_context {
    int device;
};

struct cu_stream {
    int device;
    bool is_live;
    bool is_capturing;
    uint64_t recorded;
    uint64_t completed;
    cu_stream *next;
};

struct cu_event {
    bool is_live;
    cu_stream *stream; /* NULL: never recorded */
    uint64_t sequence;
    cu_event *next;
};

typedef struct fake_device {
    uint64_t total_bytes;
    uint64_t used_bytes;
    uint64_t taken_bytes;
    size_t retains;
    cu_context context;
    cu_stream default_stream;
} fake_device;

typedef struct fake_range {
    uint64_t base;
    uint64_t bytes;
} fake_range;

typedef struct fake_handle {
    uint64_t bytes;
    uint64_t offset; /* in the file */
    size_t references;
    int device;
    int types; /* it can be exported as */
    bool is_released;
} fake_handle;

typedef struct fake_mapping {
    uint64_t base;
    uint64_t bytes;
    size_t handle;      /* index */
    unsigned accessors; /* a bit for each device */
} fake_mapping;

typedef struct fake_allocation {
    uint64_t base;
    uint64_t bytes;
    int device;
} fake_allocation;

typedef struct fake_failure {
    char function[64];
    uint64_t in;
    int code;
} fake_failure;

#define FAKE_ARRAY(type) \
    struct {             \
        type *items;     \
        size_t count;    \
        size_t capacity; \
    }

typedef struct fake_state {
    bool is_initialised;
    bool is_pending;
    bool is_lookup_hidden;
    bool is_quiet;
    int device_count;
    fake_device devices[FAKE_CUDA_DEVICES_MAX];
    int attributes[FAKE_ATTRIBUTES];
    FAKE_ARRAY(fake_range) ranges;
    FAKE_ARRAY(fake_handle) handles; /* never used again: a stale handle stays stale */
    FAKE_ARRAY(fake_mapping) mappings;
    FAKE_ARRAY(fake_allocation) allocations;
    cu_stream *streams; /* lists; the dead stay until a reset */
    cu_event *events;
    fake_failure failures[FAKE_FAILURES_MAX];
    size_t faults;
    char fault_text[200];
    int file; /* -1 before the first handle */
    uint64_t file_bytes;
} fake_state;

extern fake_state fake;

/* A new item at the end, zeroed; there is memory, or the test ends. */
#define FAKE_ADD(array) \
    fake_add((void **)&(array)->items, &(array)->count, &(array)->capacity, sizeof *(array)->items)
void *fake_add(void **items, size_t *count, size_t *capacity, size_t item_bytes);
#define FAKE_REMOVE(array, index) ((array)->items[index] = (array)->items[--(array)->count])

/*
 * A call begins: takes the lock, and says what it has to fail with. `needs_context`: one must be
 * current on this thread. fake_end() gives the lock back and passes the result on.
 */
cu_result fake_begin(const char *function, bool needs_context);
cu_result fake_end(cu_result result);

/* The device whose context is current. */
fake_device *fake_current(void);
/* -1: none. */
int fake_current_ordinal(void);
/* True if a call that a capture forbids comes while there is one and the thread minds. */
bool fake_is_captured(void);

/* Tells of a misuse; the result of the call that it was. */
cu_result fake_fault(cu_result result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The stream of a handle, which may be NULL; NULL: no such. */
cu_stream *fake_stream_of(cu_stream *stream);
/* A stream of this device on which not all is complete, or NULL. */
cu_stream *fake_pending_stream(int device);
void fake_complete_device(int device);
void fake_streams_reset(void);
void fake_memory_reset(void);
cu_result fake_mode_exchange(int *mode);
/* No context is current on this thread, and its capture mode is the usual one. */
void fake_thread_reset(void);

#endif
