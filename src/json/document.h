/*
 * document.h - members of a JSON document that our own Python wrote, with defaults for those
 * that are missing or of another type.
 */
#ifndef PLIMSOLL_JSON_DOCUMENT_H
#define PLIMSOLL_JSON_DOCUMENT_H

#include "base/arena.h"

#include "plimsoll/status.h"

#include <yajl/yajl_tree.h>

#define PLIM_JSON_FILE_BYTES_MAX ((size_t)256 << 20)

/* The document in a file. Freed by yajl_tree_free(). PLIM_IO, PLIM_CORRUPT, PLIM_LIMIT. */
PLIM_MUST_USE plim_status plim_json_read_file(const char *path, yajl_val *ret, plim_error *err);
/* All of a file, zero-terminated, unread. Freed by free(). PLIM_IO, PLIM_LIMIT. */
PLIM_MUST_USE plim_status plim_json_load_text(const char *path, char **ret_text, plim_error *err);
/* The document in a text of `length` bytes, zero-terminated; `name` is for errors. */
PLIM_MUST_USE plim_status plim_json_read_text(const char *name, const char *text, yajl_val *ret,
                                              plim_error *err);

/* Strings are copied to it. It remembers a lack of memory: one check at the end is enough. */
typedef struct plim_json_copier {
    plim_arena *arena;
    bool is_out_of_memory;
} plim_json_copier;

/* NULL if absent or not an object. */
yajl_val plim_json_get(yajl_val object, const char *key);
/* 0 for what is no whole number, or negative. */
uint64_t plim_json_get_u64(yajl_val object, const char *key);
double plim_json_get_double(yajl_val object, const char *key);
/* A copy in the arena; NULL for what is no string, and when there is no memory. */
const char *plim_json_get_string(yajl_val object, const char *key, plim_json_copier *copier);

/* Number of items of an array; 0 for another value. */
size_t plim_json_length(yajl_val array);
yajl_val plim_json_item(yajl_val array, size_t index);

/* The strings of an array, copied; what is no string is left out. False: no memory. */
bool plim_json_get_strings(yajl_val object, const char *key, plim_json_copier *copier,
                           const char *const **ret, size_t *ret_count);

#endif
