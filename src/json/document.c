/*
 * document.c - members of a JSON document. See document.h.
 */
#include "json/document.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* yajl frees a tree by recursion: one that is nested deeper would need a stack of its own. */
#define DEPTH_MAX 128u

static bool is_too_deep(const char *text)
{
    const size_t length = strlen(text);
    uint32_t depth = 0;
    bool is_string = false;
    for (size_t i = 0; i < length; i++) {
        if (is_string) {
            is_string = text[i] != '"';
            i += text[i] == '\\'; /* and what it escapes */
        } else if (text[i] == '"') {
            is_string = true;
        } else if (text[i] == '[' || text[i] == '{') {
            depth++;
        } else if ((text[i] == ']' || text[i] == '}') && depth > 0) {
            depth--;
        }
        if (depth > DEPTH_MAX) {
            return true;
        }
    }
    return false;
}

plim_status plim_json_read_text(const char *name, const char *text, yajl_val *ret, plim_error *err)
{
    char why[256] = "";
    if (is_too_deep(text)) {
        return plim_fail(err, PLIM_CORRUPT, "%s: is nested too deep", name);
    }
    *ret = yajl_tree_parse(text, why, sizeof(why));
    if (*ret != NULL) {
        return PLIM_OK;
    }
    why[strcspn(why, "\n")] = '\0'; /* the text and an arrow into it follow */
    return plim_fail(err, PLIM_CORRUPT, "%s: no JSON: %s", name, why);
}

static plim_status read_all(FILE *file, const char *path, char **ret_text, plim_error *err)
{
    char *text = NULL;
    size_t length = 0;
    size_t room = 0;
    for (;;) {
        if (room - length < 2) {
            room = room == 0 ? (size_t)64 << 10 : room * 2;
            const bool is_too_large = room > PLIM_JSON_FILE_BYTES_MAX;
            char *grown = is_too_large ? NULL : realloc(text, room);
            if (grown == NULL) {
                free(text);
                return is_too_large ? plim_fail(err, PLIM_LIMIT, "%s: is too large", path)
                                    : plim_fail_memory(err, "reading a JSON document");
            }
            text = grown;
        }
        const size_t got = fread(text + length, 1, room - length - 1, file);
        length += got;
        if (got == 0) {
            break;
        }
    }
    text[length] = '\0';
    *ret_text = text;
    return PLIM_OK;
}

plim_status plim_json_load_text(const char *path, char **ret_text, plim_error *err)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return errno == ENOMEM ? plim_fail_memory(err, "reading a JSON document")
                               : plim_fail_errno(err, errno, "%s: cannot be read", path);
    }
    const plim_status status = read_all(file, path, ret_text, err);
    (void)fclose(file);
    return status;
}

plim_status plim_json_read_file(const char *path, yajl_val *ret, plim_error *err)
{
    char *text = NULL;
    plim_status status = plim_json_load_text(path, &text, err);
    if (status == PLIM_OK && text != NULL) {
        status = plim_json_read_text(path, text, ret, err);
        free(text);
    }
    return status;
}

yajl_val plim_json_get(yajl_val object, const char *key)
{
    const char *path[] = { key, NULL };
    return object != NULL ? yajl_tree_get(object, path, yajl_t_any) : NULL;
}

/* yajl's own macros ask for a value twice, which clang-tidy takes for a slip. */
static bool is_number(yajl_val value)
{
    return value != NULL && value->type == yajl_t_number;
}

static bool is_array(yajl_val value)
{
    return value != NULL && value->type == yajl_t_array;
}

uint64_t plim_json_get_u64(yajl_val object, const char *key)
{
    yajl_val value = plim_json_get(object, key);
    const bool is_whole = is_number(value) && (value->u.number.flags & YAJL_NUMBER_INT_VALID) != 0;
    return is_whole && value->u.number.i > 0 ? (uint64_t)value->u.number.i : 0;
}

double plim_json_get_double(yajl_val object, const char *key)
{
    yajl_val value = plim_json_get(object, key);
    if (!is_number(value)) {
        return 0;
    }
    const bool is_real = (value->u.number.flags & YAJL_NUMBER_DOUBLE_VALID) != 0;
    return is_real ? value->u.number.d : (double)value->u.number.i;
}

static const char *copy_string(yajl_val value, plim_json_copier *copier)
{
    const char *text = value != NULL ? YAJL_GET_STRING(value) : NULL;
    if (text == NULL) {
        return NULL;
    }
    const char *copy = plim_arena_copy(copier->arena, text, strlen(text));
    copier->is_out_of_memory = copier->is_out_of_memory || copy == NULL;
    return copy;
}

const char *plim_json_get_string(yajl_val object, const char *key, plim_json_copier *copier)
{
    return copy_string(plim_json_get(object, key), copier);
}

size_t plim_json_length(yajl_val array)
{
    return is_array(array) ? array->u.array.len : 0;
}

yajl_val plim_json_item(yajl_val array, size_t index)
{
    return index < plim_json_length(array) ? array->u.array.values[index] : NULL;
}

bool plim_json_get_strings(yajl_val object, const char *key, plim_json_copier *copier,
                           const char *const **ret, size_t *ret_count)
{
    yajl_val array = plim_json_get(object, key);
    const size_t length = plim_json_length(array);
    const char **strings = plim_arena_alloc(copier->arena, length * sizeof(*strings));
    if (strings == NULL) {
        copier->is_out_of_memory = true;
        return false;
    }
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        strings[count] = copy_string(plim_json_item(array, i), copier);
        count += strings[count] != NULL;
    }
    *ret = strings;
    *ret_count = count;
    return !copier->is_out_of_memory;
}
