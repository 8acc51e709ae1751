/*
 * collect.h - the messages of one input, gathered as they are found, judged at the end.
 *
 * Judging waits for the end because what the text shows to be in force, and whether memory grew
 * before the failure, may stand anywhere in it.
 */
#ifndef PLIMSOLL_OOMTEXT_COLLECT_H
#define PLIMSOLL_OOMTEXT_COLLECT_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "oomtext/find.h"

#include "plimsoll/explain.h"

/* An input up to this size is a paste: who pastes a report deserves an answer to it. */
#define PLIM_PASTE_BYTES_MAX ((uint64_t)64 << 10)

/* A message as it was found: what is kept until the end. */
typedef struct plim_gathered {
    const plim_form *form;
    uint64_t line;
    uint64_t offset;
    uint64_t length;
    uint64_t count;
    const char *excerpt;
    int32_t device;
    plim_figure figures[PLIM_FIGURE_COUNT];
    plim_process_figure *processes;
    size_t process_count;
    bool is_victim; /* the only process is the one that was killed */
} plim_gathered;

typedef struct plim_collection {
    const plim_mem *mem;
    plim_arena *arena;
    PLIM_VEC(plim_gathered) items;
    plim_map by_content; /* hash to the last one with it */
    uint64_t hash_key;
    uint64_t unkept_count;
} plim_collection;

void plim_collection_init(plim_collection *collection, const plim_mem *mem, plim_arena *arena);
void plim_collection_deinit(plim_collection *collection);

/**
 * Add a message, or count it when it says exactly what one before it said.
 *
 * base  what to add to offsets in the piece to have those in the input
 * line  of its first byte, from 1
 */
bool plim_collection_add(plim_collection *collection, const plim_found *found, uint64_t base,
                         uint64_t line);

/* All of them, judged. */
typedef struct plim_judged {
    plim_oom_message *messages; /* in the collection's arena */
    size_t count;
    size_t main; /* index of the one that answers for all, or SIZE_MAX */
} plim_judged;

/** Judge all, in the order of the input. errors: PLIM_OUT_OF_HOST_MEMORY */
PLIM_MUST_USE plim_status plim_collection_judge(plim_collection *collection,
                                                const plim_circumstances *around,
                                                uint64_t input_bytes, plim_judged *ret,
                                                plim_error *err);

#endif
