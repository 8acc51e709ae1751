/*
 * snapshot_file.h - a memory snapshot as PyTorch pickles it, of a training that runs as it is
 * written.
 *
 * Objects are shared as in recordings of PyTorch 2.10: one frames list for an allocation, its
 * segment_alloc and the block that it leaves at the end, one for the two events of a free;
 * `compile_context` is a new str in each event, keys and actions are always the same str.
 */
#ifndef BENCH_SNAPSHOT_LOAD_SNAPSHOT_FILE_H
#define BENCH_SNAPSHOT_LOAD_SNAPSHOT_FILE_H

#include "pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* When the steps of the training began and ended. */
typedef struct snapshot_steps {
    uint64_t *starts_us; /* of step k */
    uint64_t *ends_us;
    size_t start_count;
    size_t end_count; /* one less when the trace stops within a step */
    size_t capacity;
} snapshot_steps;

/* What has to be known before the first byte: `segments`, the state at the end, stand before
 * `device_traces` in the file. */
typedef struct snapshot_facts {
    uint64_t seed;
    uint32_t depth;           /* mean frames per stack */
    uint64_t event_count;     /* at which the training stops */
    bool has_categories;      /* allocs have one more key than frees: two shapes take turns */
    const block_pool *memory; /* as it is then */
    const snapshot_steps *steps;
} snapshot_facts;

/* Writes the whole file, the events as they happen; returns its length. Trouble ends the program.
 */
uint64_t snapshot_file_write(FILE *file, const snapshot_facts *facts);

#endif
