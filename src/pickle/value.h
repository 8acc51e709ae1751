/*
 * value.h - Python's plain data: what pickles and JSON documents hold.
 *
 * A value is eight bytes. Its low three bits say what the rest is:
 *
 *   ..000  pointer to an object: string, bytes, list, tuple, dict, set, float, long integer
 *   ..001  integer of up to 61 bits
 *   ..010  none, false, true
 *   ..011  row: a record that was handed to a plim_row_sink while it was read (build.h)
 *
 * Objects live in the arena of the builder that made them and are freed with it. Values may be
 * shared and, in hostile files, contain themselves: walk them to a known depth only.
 */
#ifndef PLIMSOLL_PICKLE_VALUE_H
#define PLIMSOLL_PICKLE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct plim_value {
    uint64_t bits; /* 0: absent */
} plim_value;

typedef enum plim_kind {
    PLIM_KIND_ABSENT,
    PLIM_KIND_NONE,
    PLIM_KIND_BOOL,
    PLIM_KIND_INT,    /* fits int64_t */
    PLIM_KIND_BIGINT, /* any other integer */
    PLIM_KIND_FLOAT,
    PLIM_KIND_STRING,
    PLIM_KIND_BYTES,
    PLIM_KIND_BYTEARRAY,
    PLIM_KIND_LIST,
    PLIM_KIND_TUPLE,
    PLIM_KIND_DICT,
    PLIM_KIND_SET,
    PLIM_KIND_FROZENSET,
    PLIM_KIND_ROW,
} plim_kind;

/* The items of a container. Dicts hold keys and values in turn. */
typedef struct plim_array {
    uint64_t count;
    uint64_t capacity; /* 0: shared by equal containers, so copied before it is changed */
    uint32_t slot;
    bool is_run; /* items[0] is the first of `count` rows with consecutive ids */
    plim_value items[];
} plim_array;

/* The object of a value with tag 0: 16 bytes, then the bytes of strings and long integers. */
typedef struct plim_object {
    uint8_t kind;
    uint8_t row_class;
    uint32_t slot;
    union {
        uint64_t bytes;    /* length: strings, bytes, long integers (two's complement, LE) */
        plim_array *array; /* containers; NULL: empty */
        double real;
        int64_t integer;
        uint64_t row_id;
    } as;
} plim_object;

#define PLIM_TAG_MASK   7u
#define PLIM_TAG_OBJECT 0u
#define PLIM_TAG_INT    1u
#define PLIM_TAG_WORD   2u
#define PLIM_TAG_ROW    3u

#define PLIM_VALUE_ABSENT ((plim_value){ 0 })
#define PLIM_VALUE_NONE   ((plim_value){ PLIM_TAG_WORD })
#define PLIM_VALUE_FALSE  ((plim_value){ PLIM_TAG_WORD | 1u << 3 })
#define PLIM_VALUE_TRUE   ((plim_value){ PLIM_TAG_WORD | 2u << 3 })

#define PLIM_INLINE_INT_MAX (INT64_MAX >> 3)
#define PLIM_INLINE_INT_MIN (INT64_MIN >> 3)

/* A row is a class (1 … 255) and an id below 2^53 that the sink gave. */
#define PLIM_ROW_ID_MAX ((UINT64_C(1) << 53) - 1)

static inline plim_value plim_value_row(uint8_t row_class, uint64_t id)
{
    return (plim_value){ id << 11 | (uint64_t)row_class << 3 | PLIM_TAG_ROW };
}

static inline bool plim_value_is_object(plim_value value)
{
    return (value.bits & PLIM_TAG_MASK) == PLIM_TAG_OBJECT && value.bits != 0;
}

static inline plim_object *plim_value_object(plim_value value)
{
    return (plim_object *)(uintptr_t)value.bits;
}

static inline plim_value plim_value_of_object(const plim_object *object)
{
    return (plim_value){ (uint64_t)(uintptr_t)object };
}

/* The bytes after an object that has some. They end in a zero that is not counted. */
static inline char *plim_object_bytes(const plim_object *object)
{
    return (char *)(uintptr_t)(object + 1);
}

/*
 * The value itself, but for a dict that became a row: that is the row. Rows compare by class and
 * id, whatever dict they came in.
 */
static inline plim_value plim_value_clean(plim_value value)
{
    if (plim_value_is_object(value) && plim_value_object(value)->kind == PLIM_KIND_ROW) {
        const plim_object *object = plim_value_object(value);
        return plim_value_row(object->row_class, object->as.row_id);
    }
    return value;
}

plim_kind plim_value_kind(plim_value value);
/* "a string", "a list", …, for messages. */
const char *plim_kind_text(plim_kind kind);

/* False, and *ret untouched, when the value is no integer (booleans are) or does not fit. */
bool plim_value_i64(plim_value value, int64_t *ret);
/* Negative integers are taken modulo 2^64: PyTorch writes some handles so. */
bool plim_value_u64(plim_value value, uint64_t *ret);
/* Integers and floats. */
bool plim_value_real(plim_value value, double *ret);
bool plim_value_bool(plim_value value, bool *ret);
/* Strings only; the text lives as long as the value and ends in a zero too. */
bool plim_value_string(plim_value value, const char **ret_text, size_t *ret_bytes);
bool plim_value_is_string(plim_value value, const char *text);
/* Rows met as values: class and id. */
bool plim_value_row_of(plim_value value, uint8_t *ret_class, uint64_t *ret_id);

/* Items of a list, tuple or set; 0 for anything else. */
uint64_t plim_value_count(plim_value value);
/* Item `index` < count, clean. */
plim_value plim_value_item(plim_value value, uint64_t index);
/* Pairs of a dict; 0 for anything else. */
uint64_t plim_value_pairs(plim_value value);
plim_value plim_value_pair_key(plim_value value, uint64_t index);
plim_value plim_value_pair_value(plim_value value, uint64_t index);
/* The value of a string key, the last one where a file repeats it; absent without one. */
plim_value plim_value_get(plim_value dict, const char *key);

/*
 * Four bytes the reader's user may keep with a string or with the items of a container; 0 at
 * first. Equal items share them. NULL for other values and for empty containers.
 */
uint32_t *plim_value_slot(plim_value value);

#endif
