/*
 * plimsoll/holders.h - which objects of a program hold which blocks of memory.
 *
 *   run.holders.json ──► plim_holders_read() ──► plim_holders_find(device, address) ──► holder
 *
 * The recorder of `plimsoll run` writes such a document beside each snapshot;
 * docs/formats/holders-json.md describes it. Its addresses are those of the snapshot.
 */
#ifndef PLIMSOLL_HOLDERS_H
#define PLIMSOLL_HOLDERS_H

#include "plimsoll/addr.h"
#include "plimsoll/api.h"
#include "plimsoll/mem.h"
#include "plimsoll/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PLIM_BEGIN_DECLS

/* The kind of an object. In the list: enumerator, name in the document. */
#define PLIM_HOLDER_KIND_LIST(X)                        \
    X(PLIM_HOLDER_UNKNOWN, "unknown")                   \
    X(PLIM_HOLDER_LOCAL, "local")                       \
    X(PLIM_HOLDER_GLOBAL, "global")                     \
    X(PLIM_HOLDER_ATTRIBUTE, "attribute")               \
    X(PLIM_HOLDER_CLOSURE, "closure")                   \
    X(PLIM_HOLDER_GENERATOR, "generator")               \
    X(PLIM_HOLDER_TRACEBACK, "traceback")               \
    X(PLIM_HOLDER_NOTEBOOK_OUTPUT, "notebook_output")   \
    X(PLIM_HOLDER_CACHE, "cache")                       \
    X(PLIM_HOLDER_PARAMETERS, "parameters")             \
    X(PLIM_HOLDER_BUFFERS, "buffers")                   \
    X(PLIM_HOLDER_GRADIENTS, "gradients")               \
    X(PLIM_HOLDER_OPTIMIZER_STATES, "optimizer_states") \
    X(PLIM_HOLDER_GRAPH, "graph")                       \
    X(PLIM_HOLDER_ENGINE, "engine")                     \
    X(PLIM_HOLDER_LIBRARY, "library")                   \
    X(PLIM_HOLDER_GARBAGE, "garbage")

typedef enum plim_holder_kind {
#define PLIM_HOLDER_KIND_ENUM(code, name) code,
    PLIM_HOLDER_KIND_LIST(PLIM_HOLDER_KIND_ENUM)
#undef PLIM_HOLDER_KIND_ENUM
        PLIM_HOLDER_KIND_COUNT
} plim_holder_kind;

/** "local", …; never NULL. */
PLIM_API const char *plim_holder_kind_name(plim_holder_kind kind);

/* Texts are NULL where the document does not say, lines 0. */
typedef struct plim_holder {
    uint64_t id;
    plim_holder_kind kind;
    const char
        *text; /* the subject of "holds 812 tensors": "list `losses` in train (train.py:41)" */
    const char *name;
    const char *type;
    const char *const *path; /* labelled edges from the root to the object */
    size_t path_count;
    const char *file; /* where the root stands */
    uint64_t line;
    const char *function;
    const char *made_file; /* the line that made most of the bytes */
    uint64_t made_line;
    const char *made_function;
    uint64_t tensors; /* storages on that device, and their bytes */
    uint64_t bytes;
    int32_t device;
    const uint64_t *also; /* ids of holders of some of the same storages */
    size_t also_count;
} plim_holder;

typedef struct plim_holder_block {
    plim_addr address;
    uint64_t bytes;
    const char *label; /* "[3]", "exp_avg of layers.0.weight"; may be NULL */
    const plim_holder *holder;
} plim_holder_block;

/* Of one device: all that was allocated, and how much of it has a holder of which kind. */
typedef struct plim_holders_device {
    int32_t device;
    uint64_t live_bytes;
    uint64_t held_bytes;   /* by name */
    uint64_t graph_bytes;  /* saved by graphs */
    uint64_t engine_bytes; /* in use by a running backward pass */
} plim_holders_device;

/* Memory that one collection of Python's collector would give back. */
typedef struct plim_holders_garbage {
    bool was_searched;
    uint64_t bytes;
    uint64_t tensors;
    uint64_t objects;
    const char *text;
} plim_holders_garbage;

typedef struct plim_holders_facts {
    bool is_at_failure; /* the moment is that of a failed request; else that of the dump */
    bool is_complete;
    const char *why_incomplete;
    bool has_all_blocks; /* of each holder; false: only the largest */
    double seconds;      /* that the search took */
    uint64_t pid;
    const char *torch;
    plim_holders_garbage garbage;
    const char *const *warnings;
    size_t warning_count;
} plim_holders_facts;

typedef struct plim_holders plim_holders;

/**
 * Read a document.
 *
 * path         a file, plain or compressed
 * mem          borrowed until destroy; NULL: the C heap
 * ret_holders  the caller's, until plim_holders_destroy()
 * errors       PLIM_IO, PLIM_CORRUPT, PLIM_UNSUPPORTED (not such a document, another version),
 *              PLIM_LIMIT (above 256 MiB), PLIM_OUT_OF_HOST_MEMORY
 * time         n log n in blocks
 */
PLIM_API PLIM_MUST_USE plim_status plim_holders_read(const char *path, const plim_mem *mem,
                                                     plim_holders **ret_holders, plim_error *err);
/** The same for a text in memory, which is borrowed for the call. */
PLIM_API PLIM_MUST_USE plim_status plim_holders_read_text(const char *text, size_t bytes,
                                                          const plim_mem *mem,
                                                          plim_holders **ret_holders,
                                                          plim_error *err);
/** NULL is allowed. */
PLIM_API void plim_holders_destroy(plim_holders *holders);

PLIM_API const plim_holders_facts *plim_holders_facts_of(const plim_holders *holders);
/** Largest first, as the document has them. */
PLIM_API size_t plim_holders_count(const plim_holders *holders);
PLIM_API const plim_holder *plim_holders_at(const plim_holders *holders, size_t index);
PLIM_API size_t plim_holders_device_count(const plim_holders *holders);
PLIM_API const plim_holders_device *plim_holders_device_at(const plim_holders *holders,
                                                           size_t index);

/**
 * The block that begins at an address. Of several holders of it, the first of the document.
 *
 * returns  NULL where no holder has it
 * time     log n in blocks
 */
PLIM_API const plim_holder_block *plim_holders_find(const plim_holders *holders, int32_t device,
                                                    plim_addr address);

/**
 * The name of the document that belongs to a recording: run.holders.json for run.pickle,
 * run.pickle.zst or run.plim.
 *
 * returns  false for standard input, and where the name does not fit into `buffer_bytes`
 */
PLIM_API bool plim_holders_beside(const char *recording, char *buffer, size_t buffer_bytes);

PLIM_END_DECLS

#endif
