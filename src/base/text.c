/*
 * text.c - appending to a string that grows by half.
 */
#include "base/text.h"

#include "base/assert.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_CAPACITY_MIN ((size_t)64)

void plim_text_init(plim_text *text, const plim_mem *mem, size_t length_max)
{
    PLIM_ASSERT(length_max < SIZE_MAX / 2);

    *text = (plim_text){ .mem = plim_mem_or_heap(mem), .length_max = length_max };
}

/* Room for `length` more bytes and the zero; false, with the status set, without memory or beyond
 * the limit. */
static bool make_room(plim_text *text, size_t length)
{
    if (text->status != PLIM_OK) {
        return false;
    }
    if (length > text->length_max - text->length) {
        text->status = PLIM_LIMIT;
        return false;
    }
    const size_t needed = text->length + length + 1;
    if (needed <= text->capacity) {
        return true;
    }
    size_t capacity = text->capacity + text->capacity / 2;
    if (capacity > text->length_max + 1) {
        capacity = text->length_max + 1; /* never more than can be used */
    }
    if (capacity < TEXT_CAPACITY_MIN) {
        capacity = TEXT_CAPACITY_MIN;
    }
    if (capacity < needed) {
        capacity = needed;
    }
    char *grown = plim_mem_resize(text->mem, text->data, text->capacity, capacity, 1);
    if (grown == NULL) {
        text->status = PLIM_OUT_OF_HOST_MEMORY;
        return false;
    }
    text->data = grown;
    text->capacity = capacity;
    return true;
}

void plim_text_append(plim_text *text, const void *data, size_t length)
{
    if (length == 0 || !make_room(text, length)) {
        return;
    }
    memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void plim_text_append_string(plim_text *text, const char *string)
{
    plim_text_append(text, string, strlen(string));
}

void plim_text_append_char(plim_text *text, char c)
{
    plim_text_append(text, &c, 1);
}

void plim_text_append_format(plim_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    PLIM_ASSERT(length >= 0); /* only a format of our own could be that wrong */
    if (length == 0 || !make_room(text, (size_t)length)) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

const char *plim_text_string(const plim_text *text)
{
    return text->data != NULL ? text->data : "";
}

plim_status plim_text_status(const plim_text *text, const char *doing, plim_error *err)
{
    if (text->status == PLIM_OUT_OF_HOST_MEMORY) {
        return plim_fail_memory(err, doing);
    }
    if (text->status == PLIM_LIMIT) {
        return plim_fail(err, PLIM_LIMIT, "a text grows beyond its limit of %zu bytes while %s",
                         text->length_max, doing);
    }
    return PLIM_OK;
}

void plim_text_reset(plim_text *text)
{
    text->length = 0;
    text->status = PLIM_OK;
    if (text->data != NULL) {
        text->data[0] = '\0';
    }
}

void plim_text_deinit(plim_text *text)
{
    if (text->data != NULL) { /* a zeroed text has no mem */
        plim_mem_free(text->mem, text->data, text->capacity, 1);
    }
    *text = (plim_text){ .mem = text->mem, .length_max = text->length_max };
}
