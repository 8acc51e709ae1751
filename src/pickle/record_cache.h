/*
 * record_cache.h - records known by the bytes of their keys.
 *
 * The events of a trace are dicts with the same keys, and keys are memo reads: the same bytes in
 * every event, with values in between that are mostly short numbers.
 *
 *   } MEMOIZE (  [key 1] value  [key 2] value  …  SETITEMS
 *
 * A form holds the bytes of the keys of one such dict. Another that follows it is run without
 * looking anything up: keys are compared, values are read, and the row goes straight to the sink.
 * No stack, no dict, no search for the shape. Whatever does not fit - another key, a value of an
 * unusual kind, the end of the window - undoes what was begun, and the opcodes run one by one.
 */
#ifndef PLIMSOLL_PICKLE_RECORD_CACHE_H
#define PLIMSOLL_PICKLE_RECORD_CACHE_H

#include "pickle/build.h"

#define PLIM_RECORD_FORMS  8
#define PLIM_RECORD_FIELDS 24

/* A few bytes that are compared at once: `bits` of the eight at a place, where `mask` is set. */
typedef struct plim_byte_pattern {
    uint64_t bits;
    uint64_t mask;
    uint32_t length; /* at most 8 */
} plim_byte_pattern;

typedef struct plim_pickle_record_field {
    plim_byte_pattern key;
    /* The last short text or pair of numbers, with its MEMOIZE: they repeat, and cannot change. */
    plim_byte_pattern seen;
    plim_value seen_value;
} plim_pickle_record_field;

typedef struct plim_record_form {
    uint32_t shape;
    uint32_t field_count;
    uint32_t next; /* the form of the record that followed one of this form last */
    plim_pickle_record_field fields[PLIM_RECORD_FIELDS];
    plim_value pairs[2 * PLIM_RECORD_FIELDS]; /* keys in place; values of the record at hand */
} plim_record_form;

typedef struct plim_record_cache {
    plim_record_form *forms; /* PLIM_RECORD_FORMS of them; NULL before the first is learned */
    uint32_t count;
    uint32_t last;        /* the form of the last record */
    const uint8_t *begun; /* the dict that began last, if its bytes are at hand; else NULL */
    bool is_off;          /* a memo entry was written twice: bytes no longer say what a key is */
    bool has_no_memory;   /* why a value could not be read */
} plim_record_cache;

void plim_record_cache_deinit(plim_record_cache *cache, const plim_mem *mem);

typedef struct plim_machine plim_machine;

/*
 * The record that begins at `at`, if its form is known: *ret_after is the byte after it, and
 * its row stands on the stack. NULL where it is not, and nothing changed. There must be room for
 * a value on the stack. Errors are those of the sink, and lack of memory.
 */
plim_status plim_record_run(plim_machine *machine, const uint8_t *at, const uint8_t **ret_after,
                            plim_error *err);

/*
 * Remember the form of a dict that became a row: it began at cache->begun, its SETITEMS is the
 * byte before `after`, and `pairs` are what it got. False when there is no memory.
 */
bool plim_record_learn(plim_machine *machine, const uint8_t *after, const plim_value *pairs,
                       size_t pair_count);

#endif
