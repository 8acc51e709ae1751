/*
 * stack_filter.c - a pattern against each frame once, then each stack by its frames.
 */
#include "inspect/stack_filter.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A pattern, taken apart: "models/gpt*.py:50". */
typedef struct wanted {
    const char *text;
    size_t length; /* without the line */
    uint64_t line; /* 0: any */
    bool is_glob;
} wanted;

static wanted read_pattern(const char *pattern)
{
    wanted want = { .text = pattern, .length = strlen(pattern) };
    size_t digits = want.length;
    while (digits > 0 && plim_is_digit(pattern[digits - 1])) {
        digits--;
    }
    if (digits > 1 && digits < want.length && pattern[digits - 1] == ':') {
        want.line = strtoull(pattern + digits, NULL, 10);
        want.length = digits - 1;
    }
    want.is_glob =
        memchr(pattern, '*', want.length) != NULL || memchr(pattern, '?', want.length) != NULL;
    return want;
}

/* True if a pattern with * and ? matches all of a text. `is_free` lets any text stand before it,
 * up to a slash. At most the product of both lengths. */
static bool glob(const wanted *want, const char *text, size_t length, bool is_free)
{
    size_t at = 0;
    size_t next = 0;
    size_t star = SIZE_MAX; /* the pattern goes on here after the last *, */
    size_t tried = 0;       /* which stands for the text up to here */
    size_t slash = 0;
    for (;;) {
        if (next == length && at == want->length) {
            return true;
        }
        if (at < want->length && want->text[at] == '*') {
            star = ++at;
            tried = next;
        } else if (next < length && at < want->length &&
                   (want->text[at] == '?' || want->text[at] == text[next])) {
            at++;
            next++;
        } else if (star != SIZE_MAX) {
            if (tried == length) {
                return false;
            }
            at = star;
            next = ++tried;
        } else {
            const char *const found =
                is_free && slash < length ? memchr(text + slash, '/', length - slash) : NULL;
            if (found == NULL) {
                return false;
            }
            slash = next = (size_t)(found - text) + 1;
            at = 0;
        }
    }
}

static bool is_part(const wanted *want, const char *text, size_t length)
{
    if (want->length > length) {
        return false;
    }
    for (const char *at = text; want->length > 0;) {
        const size_t left = length - (size_t)(at - text);
        at = left < want->length ? NULL : memchr(at, want->text[0], left - want->length + 1);
        if (at == NULL) {
            return false;
        }
        if (memcmp(at, want->text, want->length) == 0) {
            return true;
        }
        at++;
    }
    return true;
}

static bool names_frame(const wanted *want, const plim_history *history, uint32_t frame)
{
    const plim_frame *const row = plim_history_frame(history, frame);
    size_t length = 0;
    if (want->line == 0) {
        const char *const name = plim_history_string(history, row->name, &length);
        if (want->is_glob ? glob(want, name, length, false) : is_part(want, name, length)) {
            return true;
        }
    } else if (row->line != want->line) {
        return false;
    }
    const char *const file = plim_history_string(history, row->filename, &length);
    return want->is_glob ? glob(want, file, length, true) : is_part(want, file, length);
}

static void pass_stacks(plim_stack_filter *filter, const plim_history *history,
                        const uint8_t *is_named)
{
    for (uint32_t i = 0; i < filter->count; i++) {
        const plim_stack stack = plim_history_stack(history, i);
        for (uint32_t k = 0; k < stack.frame_count && filter->passes[i] == 0; k++) {
            filter->passes[i] = is_named[stack.frames[k]];
        }
    }
}

plim_status plim_stack_filter_init(plim_stack_filter *filter, const plim_history *history,
                                   const char *pattern, const plim_mem *mem, plim_error *err)
{
    const wanted want = read_pattern(pattern);
    const uint32_t frames = plim_history_frame_count(history);
    *filter = (plim_stack_filter){ .mem = plim_mem_or_heap(mem),
                                   .count = plim_history_stack_count(history) };
    filter->passes = plim_mem_alloc_zeroed(filter->mem, (size_t)filter->count + 1, 1);
    uint8_t *const is_named = plim_mem_alloc_zeroed(filter->mem, (size_t)frames + 1, 1);
    if (filter->passes == NULL || is_named == NULL) {
        plim_mem_free(filter->mem, is_named, (size_t)frames + 1, 1);
        return plim_fail_memory(err, "choosing stacks");
    }
    for (uint32_t i = 0; i < frames; i++) {
        is_named[i] = names_frame(&want, history, i);
    }
    pass_stacks(filter, history, is_named);
    plim_mem_free(filter->mem, is_named, (size_t)frames + 1, 1);
    return PLIM_OK;
}

void plim_stack_filter_deinit(plim_stack_filter *filter)
{
    if (filter->passes != NULL) {
        plim_mem_free(filter->mem, filter->passes, (size_t)filter->count + 1, 1);
    }
    *filter = (plim_stack_filter){ 0 };
}
