/*
 * import.h - the state of one import, shared by the files of this room.
 *
 * A snapshot is read in two steps. While the document is parsed, every dict that is an event, a
 * segment, a block, a frame or an annotation is taken as a row (rows.c; records.c decides by its
 * keys) and becomes an entry in a table here or in the history. When the root is known, assemble.c
 * follows it down to the rows and says which device each belongs to. Documents that build their
 * dicts piecemeal (protocol 0) arrive as ordinary dicts; they pass through the same functions.
 */
#ifndef PLIMSOLL_TORCH_IMPORT_H
#define PLIMSOLL_TORCH_IMPORT_H

#include "base/vec.h"
#include "history/builder.h"
#include "pickle/build.h"

#define PLIM_SNAPSHOT_DEVICES_MAX 1024 /* of one file; more: not a snapshot */

/* The dicts of a snapshot that are records. Row classes of the builder. */
typedef enum plim_record_kind {
    RECORD_NONE,
    RECORD_EVENT,
    RECORD_SEGMENT,
    RECORD_BLOCK,
    RECORD_FRAME,
    RECORD_ANNOTATION,
    RECORD_KIND_COUNT,
} plim_record_kind;

/*
 * Every field a record can have (docs/formats/pytorch-snapshot.md). Names are unique across kinds:
 * a field means the same wherever it stands.
 */
#define FIELD_LIST(X)                         \
    X(ACTION, "action")                       \
    X(ADDR, "addr")                           \
    X(DEVICE_FREE, "device_free")             \
    X(SIZE, "size")                           \
    X(STREAM, "stream")                       \
    X(TIME_US, "time_us")                     \
    X(FRAMES, "frames")                       \
    X(CPP_FRAMES, "cpp_frames")               \
    X(COMPILE_CONTEXT, "compile_context")     \
    X(USER_METADATA, "user_metadata")         \
    X(POOL_ID, "pool_id")                     \
    X(FORWARD_FRAMES, "forward_frames")       \
    X(CATEGORY, "category")                   \
    X(DEVICE, "device")                       \
    X(ADDRESS, "address")                     \
    X(TOTAL_SIZE, "total_size")               \
    X(ALLOCATED_SIZE, "allocated_size")       \
    X(ACTIVE_SIZE, "active_size")             \
    X(REQUESTED_SIZE, "requested_size")       \
    X(SEGMENT_TYPE, "segment_type")           \
    X(SEGMENT_POOL_ID, "segment_pool_id")     \
    X(IS_EXPANDABLE, "is_expandable")         \
    X(BLOCKS, "blocks")                       \
    X(STATE, "state")                         \
    X(HISTORY, "history")                     \
    X(REAL_SIZE, "real_size")                 \
    X(FILENAME, "filename")                   \
    X(LINE, "line")                           \
    X(NAME, "name")                           \
    X(FX_NODE_OP, "fx_node_op")               \
    X(FX_NODE_NAME, "fx_node_name")           \
    X(FX_NODE_INFO, "fx_node_info")           \
    X(FX_NODE_TARGET, "fx_node_target")       \
    X(FX_ORIGINAL_TRACE, "fx_original_trace") \
    X(STAGE, "stage")                         \
    X(REGISTRATION_COUNTER, "registration_counter")

typedef enum plim_record_field {
#define FIELD_ENUM(code, name) FIELD_##code,
    FIELD_LIST(FIELD_ENUM)
#undef FIELD_ENUM
        FIELD_COUNT
} plim_record_field;

/* The places of the fields in dicts with certain keys. */
typedef struct plim_record_shape {
    plim_record_kind kind;
    int8_t position[FIELD_COUNT]; /* pair index, or -1 */
    uint64_t unknown;             /* bit i: pair i is a field this does not know */
    uint64_t rows;                /* dicts of this shape so far */
    plim_value keys[PLIM_SHAPE_PAIRS_MAX];
} plim_record_shape;

/* One dict seen through its shape. */
typedef struct plim_record {
    const plim_record_shape *shape;
    const plim_value *pairs; /* keys and values in turn */
} plim_record;

typedef struct raw_block {
    plim_block block;
    bool has_addr; /* 2.0 and earlier leave it out: it follows from the sizes before it */
} raw_block;

typedef struct raw_segment {
    plim_segment segment; /* but for its blocks */
    int32_t device;
    plim_value blocks;
} raw_segment;

/* A field that this version does not know, and how often it was met. */
typedef struct unknown_field {
    plim_record_kind kind;
    plim_value key;
    uint64_t times;
} unknown_field;

#define NOTE_FIELDS  5  /* of an event, those that a note keeps */
#define NOTES_KEPT   16 /* a power of two */
#define ACTIONS_KEPT 64 /* likewise */

/* The note that some fields of an event gave. All zero: no fields, and the empty note. */
typedef struct known_note {
    plim_value values[NOTE_FIELDS];
    uint32_t note;
} known_note;

/* The signs by which releases differ. */
typedef struct generation_facts {
    bool bare_list, has_history, has_block_addr, has_time, has_settings, has_annotations,
        has_compile_context, has_stream_reuse, has_user_metadata, has_pool_id, has_host;
} generation_facts;

typedef struct plim_import {
    const plim_mem *mem;
    plim_history *history;
    generation_facts facts;
    uint64_t input_bytes;  /* of the document, decompressed: records are bounded by it */
    uint64_t record_count; /* events, segments and blocks given to devices so far */

    PLIM_VEC(plim_record_shape *) shapes; /* by the builder's number */
    PLIM_VEC(raw_block) blocks;           /* rows */
    PLIM_VEC(raw_segment) segments;
    PLIM_VEC(plim_annotation) annotations;
    PLIM_VEC(uint32_t) stack_scratch;
    PLIM_VEC(unknown_field) unknown_fields;

    /* The last of each, for events repeat themselves. */
    struct {
        uint64_t action_bits[ACTIONS_KEPT]; /* by a hash of the value */
        plim_action actions[ACTIONS_KEPT];
        uint64_t stream_handle;
        uint32_t stream;
        bool has_stream;
        known_note notes[NOTES_KEPT]; /* by a hash of the values */
        uint32_t note;                /* the last one's place */
    } last;
} plim_import;

/* Imports one record; *ret_id is its row. Errors: those of the calls inside. */
typedef plim_status plim_record_import(plim_import *import, const plim_record *record,
                                       uint64_t *ret_id, plim_error *err);

/* rows.c */
void plim_import_sink(plim_import *import, plim_row_sink *ret_sink);
/* The id of the record in an item of a list: it became a row when it was read, or becomes one
 * now. *ret_found is false where the item is something else (counted). */
plim_status plim_import_row_of(plim_import *import, plim_value item, plim_record_kind kind,
                               uint64_t *ret_id, bool *ret_found, plim_error *err);

/* records.c: which dicts are records, and their fields. */
void plim_record_shape_read(plim_record_shape *shape, const plim_value *pairs, size_t pair_count);
/* The record in a dict that did not become a row: `scratch` holds its shape. */
bool plim_record_of_dict(plim_value dict, plim_record_shape *scratch, plim_record *ret_record);
/* Counts what a shape has that is not known, for `rows` records; nothing for most shapes. */
plim_status plim_import_count_unknown(plim_import *import, const plim_record_shape *shape,
                                      uint64_t rows, plim_error *err);
/* A warning for each unknown field, whatever shapes had it. */
plim_status plim_import_report_unknown_fields(plim_import *import, plim_error *err);

static inline plim_value record_get(const plim_record *record, plim_record_field field)
{
    const int position = record->shape->position[field];
    return position < 0 ? PLIM_VALUE_ABSENT : record->pairs[2 * position + 1];
}

/*
 * The field as a number of its kind; `fallback` where it is absent, or present and wrong: then
 * PLIM_ANOMALY_BAD_FIELD is counted. None counts as absent. Floats that are whole are integers.
 */
uint64_t plim_record_u64_slow(plim_import *import, plim_value value, uint64_t fallback);
int64_t plim_record_i64_slow(plim_import *import, plim_value value, int64_t fallback);
uint64_t plim_record_handle_slow(plim_import *import, plim_value value);

/* Small numbers inline: the case that counts. */
static inline bool record_is_small(plim_value value)
{
    return (value.bits & PLIM_TAG_MASK) == PLIM_TAG_INT && (int64_t)value.bits >= 0;
}

static inline uint64_t plim_record_u64(plim_import *import, const plim_record *record,
                                       plim_record_field field, uint64_t fallback)
{
    const plim_value value = record_get(record, field);
    return record_is_small(value) ? value.bits >> 3 : plim_record_u64_slow(import, value, fallback);
}

static inline int64_t plim_record_i64(plim_import *import, const plim_record *record,
                                      plim_record_field field, int64_t fallback)
{
    const plim_value value = record_get(record, field);
    return record_is_small(value) ? (int64_t)(value.bits >> 3)
                                  : plim_record_i64_slow(import, value, fallback);
}

/* The field `device`: 0 where it is absent or no device's number (counted). */
int32_t plim_record_device(plim_import *import, const plim_record *record);
/* A stream's handle: any integer, negative ones modulo 2^64; 0, the default stream, if absent. */
static inline uint64_t plim_record_handle(plim_import *import, const plim_record *record,
                                          plim_record_field field)
{
    const plim_value value = record_get(record, field);
    return record_is_small(value) ? value.bits >> 3 : plim_record_handle_slow(import, value);
}
bool plim_record_bool(plim_import *import, const plim_record *record, plim_record_field field,
                      bool fallback);
/* The history's number of a string field, or PLIM_NONE. */
plim_status plim_record_string(plim_import *import, const plim_record *record,
                               plim_record_field field, uint32_t *ret_string, plim_error *err);
plim_status plim_import_string(plim_import *import, plim_value value, uint32_t *ret_string,
                               plim_error *err);
/* A (int, int) field; false where it is absent or wrong (counted). */
bool plim_record_pool(plim_import *import, const plim_record *record, plim_record_field field,
                      plim_pool_id *ret_pool);

/* events.c */
plim_status plim_import_event(plim_import *import, const plim_record *record, uint64_t *ret_id,
                              plim_error *err);
plim_status plim_import_annotation(plim_import *import, const plim_record *record, uint64_t *ret_id,
                                   plim_error *err);
plim_status plim_import_stream(plim_import *import, uint64_t handle, uint32_t *ret_stream,
                               plim_error *err);

/* segments.c */
plim_status plim_import_segment(plim_import *import, const plim_record *record, uint64_t *ret_id,
                                plim_error *err);
plim_status plim_import_block(plim_import *import, const plim_record *record, uint64_t *ret_id,
                              plim_error *err);

/* stacks.c */
plim_status plim_import_frame(plim_import *import, const plim_record *record, uint64_t *ret_id,
                              plim_error *err);
/* The stack of a record's `frames` (or, in 2.0 files, `cpp_frames`); PLIM_NONE if it has none. */
plim_status plim_import_record_stack(plim_import *import, const plim_record *record,
                                     uint32_t *ret_stack, plim_error *err);
plim_status plim_import_stack(plim_import *import, plim_value frames, uint32_t *ret_stack,
                              plim_error *err);

/* settings.c */
plim_status plim_import_settings(plim_import *import, plim_value settings, plim_error *err);

/* assemble.c: from the root to devices. Seals the history. */
plim_status plim_import_assemble(plim_import *import, plim_value root, plim_error *err);

#endif
