/*
 * build.h - making values, sparingly: the half that every reader of a format shares.
 *
 * Files of memory events repeat themselves: the same strings, the same lists of frames, millions
 * of dicts with the same keys. A builder with a row sink therefore keeps
 *
 *   strings      once each
 *   lists        the items of equal lists and tuples once; a list itself is 16 bytes
 *   dicts        not at all, where the sink takes them: a dict whose keys form a known *shape* is
 *                handed over as a row and leaves 16 bytes with the id that the sink gave it
 *   lists of rows  as a run: the first id and a count
 *
 * Without a sink nothing is shared that the input does not share, so that a value can be written
 * back byte for byte.
 *
 * Memory is bounded by the caller: plim_builder_bytes() is checked against what was read.
 */
#ifndef PLIMSOLL_PICKLE_BUILD_H
#define PLIMSOLL_PICKLE_BUILD_H

#include "base/arena.h"
#include "base/intern.h"
#include "pickle/value.h"
#include "plimsoll/status.h"

/* The class of dicts with certain keys. */
typedef struct plim_pickle_row_class {
    uint8_t number;   /* 1 … 255: hand them over as rows; 0: keep them as dicts */
    bool is_by_value; /* ids name contents (equal rows have equal ids), not places in a sequence */
} plim_pickle_row_class;

/* Whoever takes records out of a document while it is read. `pairs` are keys and values in turn. */
typedef struct plim_row_sink {
    void *ctx;
    /* Called once for each new sequence of keys; they are the strings of all its dicts. */
    plim_status (*on_shape)(void *ctx, uint32_t shape, const plim_value *pairs, size_t pair_count,
                            plim_pickle_row_class *ret_class, plim_error *err);
    /* Called for each dict of a shape that is a row; the id is at most PLIM_ROW_ID_MAX. */
    plim_status (*on_row)(void *ctx, uint32_t shape, const plim_value *pairs, uint64_t *ret_id,
                          plim_error *err);
} plim_row_sink;

#define PLIM_SHAPE_PAIRS_MAX 64 /* dicts with more keys are never rows */
#define PLIM_SHAPE_CACHE     16

/* A sequence of keys, and what its dicts become. */
typedef struct plim_pickle_shape {
    const plim_value *keys;
    size_t key_count;
    plim_pickle_row_class row_class;
} plim_pickle_shape;

typedef struct plim_builder {
    const plim_mem *mem;
    const plim_row_sink *sink; /* or NULL */
    plim_arena arena;
    PLIM_VEC(plim_object *) strings;
    PLIM_VEC(plim_array *) arrays;
    PLIM_VEC(plim_pickle_shape) shapes;
    plim_intern string_index, array_index, shape_index;
    uint32_t shape_cache[PLIM_SHAPE_CACHE]; /* shape + 1 by first key and count */
    bool is_by_value[256];                  /* row classes whose ids name contents */
} plim_builder;

/* `sink` is borrowed; NULL keeps every value as the input has it. */
void plim_builder_init(plim_builder *builder, const plim_mem *mem, const plim_row_sink *sink);
void plim_builder_deinit(plim_builder *builder);
/* Bytes taken from memory so far. */
size_t plim_builder_bytes(const plim_builder *builder);
/*
 * PLIM_LIMIT when these and the reader's own bytes are out of proportion to what was read: more
 * than PLIM_PICKLE_BYTES_FREE + PLIM_PICKLE_BYTES_PER_BYTE times it.
 */
plim_status plim_builder_check(const plim_builder *builder, uint64_t own_bytes, uint64_t bytes_read,
                               plim_error *err);

/* A one-byte opcode can make a container of 16 bytes with a place on the stack and in the memo. */
#define PLIM_PICKLE_BYTES_FREE     ((uint64_t)64 << 20)
#define PLIM_PICKLE_BYTES_PER_BYTE 24u

/* Each makes one value; false when there is no memory. */
bool plim_make_int(plim_builder *builder, int64_t integer, plim_value *ret);
/* Two's complement, little-endian, any length. */
bool plim_make_long(plim_builder *builder, const uint8_t *bytes, size_t count, plim_value *ret);
bool plim_make_real(plim_builder *builder, double real, plim_value *ret);
bool plim_make_string(plim_builder *builder, const void *text, size_t bytes, plim_value *ret);
/* PLIM_KIND_BYTES or PLIM_KIND_BYTEARRAY. */
bool plim_make_bytes(plim_builder *builder, plim_kind kind, const void *data, size_t bytes,
                     plim_value *ret);
/* An empty container of any kind. */
bool plim_make_container(plim_builder *builder, plim_kind kind, plim_value *ret);

/* A list with items that another list of this builder has; they must be shared ones. */
bool plim_make_list_of(plim_builder *builder, plim_array *items, plim_value *ret);

/*
 * Append items to a list, tuple or set, or pairs to a dict. The first pairs a dict gets may turn
 * it into a row; a row cannot be changed any more (PLIM_UNSUPPORTED).
 */
plim_status plim_container_extend(plim_builder *builder, plim_value container,
                                  const plim_value *items, size_t count, plim_error *err);

/* The row of a dict with these pairs, of a shape that is a row's. Errors are the sink's. */
plim_status plim_make_row(plim_builder *builder, uint32_t shape, const plim_value *pairs,
                          plim_value *ret, plim_error *err);

/* The shape of pairs whose dict became a row; false without one. */
bool plim_builder_shape(const plim_builder *builder, const plim_value *pairs, size_t pair_count,
                        uint32_t *ret_shape);

/*
 * Add one pair to a dict that is filled pair by pair. The last one is not known as such, so the
 * dict stays one.
 */
plim_status plim_dict_add(plim_builder *builder, plim_value dict, const plim_value pair[2],
                          plim_error *err);

#endif
