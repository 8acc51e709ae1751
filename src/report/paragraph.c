/*
 * paragraph.c - breaking lines at spaces, as late as they allow.
 */
#include "report/paragraph.h"

#include "report/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the words that fit `columns`: at least one word. */
static size_t measure_line(const plim_style *style, const char *words, uint32_t columns)
{
    size_t fits = strcspn(words, " ");
    while (words[fits] == ' ') {
        const size_t word = fits + strspn(words + fits, " ");
        const size_t next = word + strcspn(words + word, " ");
        if (words[word] == '\0' || plim_printable_columns(words, next, style->utf8) > columns) {
            break;
        }
        fits = next;
    }
    return fits;
}

void plim_paragraph_write(plim_text *out, const plim_style *style, uint32_t indent, plim_tone tone,
                          const char *lead, const char *words)
{
    const uint32_t lead_columns = plim_style_columns(style, lead);
    const uint32_t hang = indent + (lead_columns > 0 ? lead_columns + 1 : 0);
    bool is_first = true;
    words += strspn(words, " ");
    while (*words != '\0') {
        plim_line line = plim_line_begin(out, style, is_first ? indent : hang);
        if (is_first) {
            plim_line_add(&line, tone, lead);
            plim_line_to(&line, hang);
        }
        const size_t bytes = measure_line(style, words, plim_line_left(&line));
        plim_line_add_bytes(&line, tone, words, bytes);
        plim_line_end(&line);
        words += bytes;
        words += strspn(words, " ");
        is_first = false;
    }
}

void plim_paragraph_format(plim_text *out, const plim_style *style, uint32_t indent, plim_tone tone,
                           const char *format, ...)
{
    char words[1024];
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    if (written > 0) {
        plim_paragraph_write(out, style, indent, tone, "", words);
    }
}
