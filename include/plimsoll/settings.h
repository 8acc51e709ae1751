/*
 * plimsoll/settings.h - what PYTORCH_CUDA_ALLOC_CONF can say.
 *
 *   conf  := [ pair { "," pair } [ "," ] ]
 *   pair  := key ":" value
 *   value := scalar | "[" [ item { "," item } [ "," ] ] "]"
 *   item  := left ":" right
 *
 * White space means nothing anywhere. Every key of every release is accepted; those that have no
 * meaning here (pinned memory, other backends) are kept and can be named. A wrong separator is an
 * error, as PyTorch's own parser meant it to be.
 */
#ifndef PLIMSOLL_SETTINGS_H
#define PLIMSOLL_SETTINGS_H

#include "plimsoll/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PLIM_BEGIN_DECLS

#define PLIM_UNLIMITED           UINT64_MAX
#define PLIM_ROUNDUP_INTERVALS   16 /* [1,2) MiB and below, [2,4) MiB, … 32 GiB and above */
#define PLIM_SETTINGS_TEXT_BYTES 1024

typedef enum plim_backend {
    PLIM_BACKEND_NATIVE,
    PLIM_BACKEND_CUDA_MALLOC_ASYNC,
} plim_backend;

/* Every key of every release to 2.14; docs/settings.md has a row for each. The parser also takes
 * the aliases of ROCm. */
typedef enum plim_setting_key {
    PLIM_KEY_BACKEND,
    PLIM_KEY_MAX_SPLIT_SIZE_MB,
    PLIM_KEY_MAX_NON_SPLIT_ROUNDING_MB,
    PLIM_KEY_GARBAGE_COLLECTION_THRESHOLD,
    PLIM_KEY_ROUNDUP_POWER2_DIVISIONS,
    PLIM_KEY_EXPANDABLE_SEGMENTS,
    PLIM_KEY_RELEASE_LOCK_ON_CUDAMALLOC,
    PLIM_KEY_PINNED_USE_CUDA_HOST_REGISTER,
    PLIM_KEY_PINNED_NUM_REGISTER_THREADS,
    PLIM_KEY_PINNED_USE_BACKGROUND_THREADS,
    PLIM_KEY_PINNED_RESERVE_SEGMENT_SIZE_MB,
    PLIM_KEY_PINNED_MAX_ROUND_THRESHOLD_MB,
    PLIM_KEY_PINNED_MAX_CACHED_SIZE_MB,
    PLIM_KEY_PINNED_FREE_CATCH_ALL,
    PLIM_KEY_GRAPH_CAPTURE_RECORD_STREAM_REUSE,
    PLIM_KEY_PER_PROCESS_MEMORY_FRACTION,
    PLIM_KEY_LARGE_SEGMENT_SIZE_MB,
    PLIM_KEY_THROW_ON_CUDAMALLOC_OOM,
    PLIM_KEY_EXPANDABLE_SEGMENTS_RESERVE,
    PLIM_KEY_EXPANDABLE_SEGMENTS_RESERVE_BY_CLASS,
    PLIM_SETTING_KEY_COUNT
} plim_setting_key;

/** The name of a key in the string, a constant; NULL: there is no such key. */
PLIM_API const char *plim_setting_key_name(plim_setting_key key);
/** True if the allocator acts on a key; false: it only accepts it, or there is no such key. */
PLIM_API bool plim_setting_key_acts(plim_setting_key key);

/* A plain value: copy it at will. */
typedef struct plim_settings {
    /* --- what a parse resets when it does not name it --- */
    uint64_t max_split_bytes;                                  /* PLIM_UNLIMITED by default */
    uint64_t max_non_split_rounding_bytes;                     /* large_segment_bytes by default */
    double garbage_collection_threshold;                       /* 0: off */
    uint64_t roundup_power2_divisions[PLIM_ROUNDUP_INTERVALS]; /* 0 and 1: none */

    /* --- what stays as it was --- */
    bool expandable_segments;
    bool release_lock_on_cudamalloc;
    bool graph_capture_record_stream_reuse;
    bool throw_on_cudamalloc_oom;
    uint64_t large_segment_bytes;                /* 20 MiB */
    double per_process_memory_fraction;          /* 1: no limit */
    double expandable_segments_reserve_fraction; /* of the device's memory; 0: unset */
    uint64_t expandable_segments_reserve_bytes;  /* 0: unset */

    /* --- accepted and kept --- */
    plim_backend backend;
    bool pinned_use_cuda_host_register;
    bool pinned_use_background_threads;
    bool pinned_free_catch_all;
    uint64_t pinned_num_register_threads; /* 1 */
    uint64_t pinned_reserve_segment_bytes;
    uint64_t pinned_max_round_threshold_bytes; /* PLIM_UNLIMITED */
    uint64_t pinned_max_cached_bytes;          /* PLIM_UNLIMITED */

    uint32_t given;                      /* bit i: the last parse named plim_setting_key i */
    uint32_t ignored;                    /* bit i: and its value is not valid, of which PyTorch
                                            only warns (expandable_segments_reserve…) */
    char text[PLIM_SETTINGS_TEXT_BYTES]; /* what was parsed last, cut where it is longer */
} plim_settings;

/** The settings of a process in which no variable is set. */
PLIM_API plim_settings plim_settings_default(void);

/**
 * Parse a string over the settings in force, as PyTorch does at run time: what the string does
 * not name is reset or stays, as the struct above says. The last of two equal keys wins, but a
 * list of roundup_power2_divisions changes only the intervals it names.
 *
 * settings   changed only when all of the string is valid
 * err        offset: the character of `text` that is wrong; the message says what was expected
 * errors     PLIM_CORRUPT (syntax, unknown key, not a number), PLIM_INVALID_ARGUMENT (a value out
 *            of its range; NULL)
 * source     PyTorch 2.11 c10/core/AllocatorConfig.cpp, c10/cuda/CUDAAllocatorConfig.cpp
 */
PLIM_API PLIM_MUST_USE plim_status plim_settings_parse(const char *text, plim_settings *settings,
                                                       plim_error *err);

/**
 * The settings that the environment asks for: those of the first that is set of PLIMSOLL_CONF,
 * PYTORCH_CUDA_ALLOC_CONF, PYTORCH_HIP_ALLOC_CONF, PYTORCH_ALLOC_CONF.
 *
 * ret_variable   its name, a constant, or NULL when none is set; may be NULL
 * err            begins with that name where its value is not valid
 * errors         those of plim_settings_parse()
 */
PLIM_API PLIM_MUST_USE plim_status plim_settings_from_environment(plim_settings *settings,
                                                                  const char **ret_variable,
                                                                  plim_error *err);

/**
 * The settings that differ from the default ones, as a string, keys in the order above.
 * Parsed over the default settings it gives these, where they came out of a parse themselves.
 *
 * settings  NULL: an empty string
 * text      may be NULL: only the length is returned
 * returns   its length; a string longer than `bytes` is cut, with a zero after it
 */
PLIM_API size_t plim_settings_format(const plim_settings *settings, char *text, size_t bytes);

/**
 * Requested bytes as the allocator rounds them. Any size: 0 is given the smallest block, and 2^60
 * bytes and more, which no request reaches, stay as they are.
 *
 * settings  NULL: the default ones
 * source    PyTorch 2.11 c10/cuda/CUDACachingAllocator.cpp: round_size()
 */
PLIM_API uint64_t plim_round_size(const plim_settings *settings, uint64_t bytes);
/** The bytes of the segment for a rounded size: get_allocation_size() there. Same arguments. */
PLIM_API uint64_t plim_segment_size(const plim_settings *settings, uint64_t rounded_bytes);

PLIM_END_DECLS

#endif
