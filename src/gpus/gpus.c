/*
 * gpus.c - the table of GPUs, and finding one by what people call it.
 *
 * A name is compared without what people leave out: case, blanks, hyphens, the vendor's words.
 * A key names its row even where others have it as an alias; else all rows are asked for whom it
 * is a name or an alias, and there must be one.
 */
#include "base/ascii.h"
#include "base/assert.h"
#include "base/edit_distance.h"
#include "base/error.h"
#include "gpus/table.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PLAIN_BYTES 64  /* of a name without what does not matter */
#define LIST_BYTES  240 /* of keys, in the text of an error */
#define NEAR_MAX    4

static plim_gpus_table table; /* constant once read */
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void read_table(void)
{
    plim_error err = { 0 };
    if (plim_gpus_table_read(plim_gpus_lines, &table, &err) != PLIM_OK) {
        plim_assert_failed(err.message, __FILE__, __LINE__); /* built wrong: tests/gpus */
    }
}

static const plim_gpus_table *the_table(void)
{
    (void)pthread_once(&table_once, read_table);
    return &table;
}

size_t plim_gpu_count(void)
{
    return the_table()->count;
}

const plim_gpu *plim_gpu_at(size_t index)
{
    return index < the_table()->count ? &the_table()->rows[index].gpu : NULL;
}

/* Removes every `word` from a plain name. */
static void remove_word(char *plain, const char *word)
{
    for (char *place = strstr(plain, word); place != NULL; place = strstr(plain, word)) {
        const char *rest = place + strlen(word);
        memmove(place, rest, strlen(rest) + 1);
    }
}

/* The letters and digits of the first `length` bytes of a name. False: none, or too long. */
static bool make_plain(const char *name, size_t length, char plain[PLAIN_BYTES])
{
    static const char *const words[] = { "nvidia", "geforce", "tesla", "quadro" };
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        const char c = name[i];
        if (plim_is_letter(c) || plim_is_digit(c)) {
            if (used == PLAIN_BYTES - 1) {
                return false;
            }
            plain[used++] = plim_lower(c);
        }
    }
    plain[used] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        remove_word(plain, words[i]);
    }
    if (strncmp(plain, "rtx", 3) == 0 && plain[3] != '\0') {
        memmove(plain, plain + 3, strlen(plain + 3) + 1);
    }
    return plain[0] != '\0';
}

static bool is_same(const char *plain, const char *name, size_t length)
{
    char other[PLAIN_BYTES];
    return make_plain(name, length, other) && strcmp(plain, other) == 0;
}

/* True if the driver's name of a row or one of its aliases is this. */
static bool is_called(const plim_gpus_row *row, const char *plain)
{
    if (is_same(plain, row->gpu.name, strlen(row->gpu.name))) {
        return true;
    }
    const char *alias = row->aliases;
    while (*alias != '\0') {
        const size_t length = strcspn(alias, ",");
        if (is_same(plain, alias, length)) {
            return true;
        }
        alias += length + (alias[length] == ',');
    }
    return false;
}

/* Adds a key to "a, b, c"; what has no room is left out. */
static void list_key(char list[LIST_BYTES], const char *key)
{
    const size_t used = strlen(list);
    if (used + strlen(key) + 3 <= LIST_BYTES) {
        (void)snprintf(list + used, LIST_BYTES - used, "%s%s", used > 0 ? ", " : "", key);
    }
}

/* The keys most like an unknown name, best first; up to a third of the letters may differ. */
static void list_near(const char *plain, char list[LIST_BYTES])
{
    const size_t length = strlen(plain);
    size_t listed = 0;
    for (size_t away = 1; away <= length / 3 && listed < NEAR_MAX; away++) {
        for (size_t i = 0; i < table.count && listed < NEAR_MAX; i++) {
            char key[PLAIN_BYTES];
            (void)make_plain(table.rows[i].gpu.key, strlen(table.rows[i].gpu.key), key);
            if (plim_edit_distance(plain, key) == away) {
                list_key(list, table.rows[i].gpu.key);
                listed++;
            }
        }
    }
}

static plim_status fail_unknown(const char *name, const char *plain, plim_error *err)
{
    char list[LIST_BYTES] = "";
    list_near(plain, list);
    return list[0] != '\0'
               ? plim_fail(err, PLIM_INVALID_ARGUMENT, "no GPU is called '%.40s'; near to it: %s",
                           name, list)
               : plim_fail(err, PLIM_INVALID_ARGUMENT,
                           "no GPU is called '%.40s'; names are such as t4, rtx4090, a100-80gb "
                           "and h100",
                           name);
}

plim_status plim_gpu_find(const char *name, const plim_gpu **ret, plim_error *err)
{
    char plain[PLAIN_BYTES] = "";
    char list[LIST_BYTES] = "";
    const plim_gpu *found = NULL;
    size_t found_count = 0;
    const plim_gpus_table *gpus = the_table();
    if (name == NULL || !make_plain(name, strlen(name), plain)) {
        return fail_unknown(name == NULL ? "" : name, "", err);
    }
    for (size_t i = 0; i < gpus->count; i++) {
        const plim_gpus_row *row = &gpus->rows[i];
        if (is_same(plain, row->gpu.key, strlen(row->gpu.key))) {
            *ret = &row->gpu;
            return PLIM_OK;
        }
        if (is_called(row, plain)) {
            found = &row->gpu;
            found_count++;
            list_key(list, row->gpu.key);
        }
    }
    if (found_count > 1) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "several GPUs are called '%.40s': %s", name,
                         list);
    }
    if (found == NULL) {
        return fail_unknown(name, plain, err);
    }
    *ret = found;
    return PLIM_OK;
}
