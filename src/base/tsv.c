/*
 * tsv.c - sections, headers, rows and fields of the data files. See tsv.h.
 */
#include "base/tsv.h"

#include "base/ascii.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

plim_status plim_tsv_fail(const plim_tsv *file, const char *format, ...)
{
    char message[PLIM_ERROR_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return plim_fail(file->err, PLIM_CORRUPT, "%s:%u: %s", file->name, file->line, message);
}

/* --- pieces of a line --- */

bool plim_tsv_cut(plim_tsv_field *rest, char separator, plim_tsv_field *ret_piece)
{
    if (rest->text == NULL) {
        return false;
    }
    const char *const end = memchr(rest->text, separator, rest->bytes);
    if (end == NULL) {
        *ret_piece = *rest;
        *rest = (plim_tsv_field){ NULL, 0 };
        return true;
    }
    const size_t bytes = (size_t)(end - rest->text);
    *ret_piece = (plim_tsv_field){ rest->text, bytes };
    rest->text = end + 1;
    rest->bytes -= bytes + 1;
    return true;
}

bool plim_tsv_is(plim_tsv_field field, const char *text)
{
    if (field.bytes == 0 || field.text[0] != text[0]) {
        return field.bytes == 0 && text[0] == '\0';
    }
    return strncmp(field.text, text, field.bytes) == 0 && text[field.bytes] == '\0';
}

bool plim_tsv_number(plim_tsv_field field, uint64_t limit, uint64_t *ret_number)
{
    uint64_t number = 0;
    for (size_t i = 0; i < field.bytes; i++) {
        const uint64_t digit = (uint64_t)(field.text[i] - '0');
        if (!plim_is_digit(field.text[i]) || digit > limit || number > (limit - digit) / 10) {
            return false;
        }
        number = 10 * number + digit;
    }
    *ret_number = number;
    return field.bytes > 0;
}

plim_status plim_tsv_keep(plim_tsv *file, plim_tsv_field field, const char **ret_text)
{
    if (file->texts_bytes - file->texts_used <= field.bytes) {
        return plim_tsv_fail(file, "the texts of the file have more than %zu bytes",
                             file->texts_bytes);
    }
    char *const copy = file->texts + file->texts_used;
    memcpy(copy, field.text, field.bytes);
    copy[field.bytes] = '\0';
    file->texts_used += field.bytes + 1;
    *ret_text = copy;
    return PLIM_OK;
}

/* --- fields --- */

/* To a uint32_t or a uint64_t at `place`, by the column's kind. */
static plim_status read_number(const plim_tsv *file, const plim_tsv_column *column,
                               plim_tsv_field field, void *place)
{
    uint64_t number = 0;
    if (!plim_tsv_number(field, column->limit, &number) || number == 0) {
        return plim_tsv_fail(file, "%s is '%.*s', not a number from 1 to %" PRIu64, column->name,
                             (int)field.bytes, field.text, column->limit);
    }
    number *= column->unit;
    const uint32_t narrow = (uint32_t)number;
    if (column->kind == PLIM_TSV_U32) {
        memcpy(place, &narrow, sizeof narrow);
    } else {
        memcpy(place, &number, sizeof number);
    }
    return PLIM_OK;
}

/* The word's index, to a uint32_t at `place`. */
static plim_status read_word(const plim_tsv *file, const plim_tsv_column *column,
                             plim_tsv_field field, void *place)
{
    for (uint32_t i = 0; column->words[i] != NULL; i++) {
        if (plim_tsv_is(field, column->words[i])) {
            memcpy(place, &i, sizeof i);
            return PLIM_OK;
        }
    }
    return plim_tsv_fail(file, "%s '%.*s' is unknown", column->name, (int)field.bytes, field.text);
}

static plim_status read_text(plim_tsv *file, plim_tsv_field field, void *place)
{
    const char *text = NULL;
    PLIM_TRY(plim_tsv_keep(file, field, &text));
    memcpy(place, &text, sizeof text);
    return PLIM_OK;
}

static plim_status read_field(plim_tsv *file, const plim_tsv_column *column, plim_tsv_field field)
{
    char *const place = (char *)file->row + column->offset;
    const bool is_read = column->kind == PLIM_TSV_TEXT || column->kind == PLIM_TSV_OTHER;
    if (field.bytes == 0 && !column->may_be_empty && column->kind != PLIM_TSV_NOTE) {
        return plim_tsv_fail(file, "%s is empty", column->name);
    }
    if (field.bytes == 0 && !is_read) {
        return PLIM_OK;
    }
    switch (column->kind) {
    case PLIM_TSV_NOTE:
        return PLIM_OK;
    case PLIM_TSV_CHARS:
        if (field.bytes >= column->limit) {
            return plim_tsv_fail(file, "%s has more than %" PRIu64 " bytes", column->name,
                                 column->limit - 1);
        }
        memcpy(place, field.text, field.bytes);
        return PLIM_OK;
    case PLIM_TSV_TEXT:
        return read_text(file, field, place);
    case PLIM_TSV_U32:
    case PLIM_TSV_U64:
        return read_number(file, column, field, place);
    case PLIM_TSV_WORD:
        return read_word(file, column, field, place);
    case PLIM_TSV_OTHER:
        return column->read(file, field);
    }
    return PLIM_OK;
}

/* --- lines --- */

static plim_status check_header(const plim_tsv *file, const plim_tsv_section *section,
                                plim_tsv_field line)
{
    plim_tsv_field field = { 0 };
    for (size_t i = 0; i < section->column_count; i++) {
        if (!plim_tsv_cut(&line, '\t', &field) || !plim_tsv_is(field, section->columns[i].name)) {
            return plim_tsv_fail(file, "column %zu must be '%s'", i + 1, section->columns[i].name);
        }
    }
    if (plim_tsv_cut(&line, '\t', &field)) {
        return plim_tsv_fail(file, "column '%.*s' is unknown", (int)field.bytes, field.text);
    }
    return PLIM_OK;
}

static plim_status read_row(plim_tsv *file, const plim_tsv_section *section, plim_tsv_field line)
{
    size_t count = 1;
    for (size_t i = 0; i < line.bytes; i++) {
        count += line.text[i] == '\t';
    }
    if (count != section->column_count) {
        return plim_tsv_fail(file, "%zu fields, where a row has %zu", count, section->column_count);
    }
    memset(file->row, 0, file->row_bytes);
    for (size_t i = 0; i < count; i++) {
        plim_tsv_field field = { 0 };
        (void)plim_tsv_cut(&line, '\t', &field);
        PLIM_TRY(read_field(file, &section->columns[i], field));
    }
    return section->add(file);
}

static const plim_tsv_section *find_section(const plim_tsv_section *sections, size_t count,
                                            const char *title)
{
    for (size_t i = 0; i < count; i++) {
        if (sections[i].title != NULL && strcmp(sections[i].title, title) == 0) {
            return &sections[i];
        }
    }
    return NULL;
}

plim_status plim_tsv_read(plim_tsv *file, const plim_tsv_section *sections, size_t section_count)
{
    const plim_tsv_section *section = sections[0].title == NULL ? sections : NULL;
    bool has_header = false;
    bool has_row = false;
    for (file->line = 0; file->lines[file->line] != NULL;) {
        const char *const line = file->lines[file->line++];
        const plim_tsv_field whole = { line, strlen(line) };
        if (line[0] == '\0' || line[0] == '#') {
            continue;
        }
        if (line[0] == '[' && sections[0].title != NULL) {
            section = find_section(sections, section_count, line);
            has_header = false;
            if (section == NULL) {
                return plim_tsv_fail(file, "there is no section %s", line);
            }
        } else if (section == NULL) {
            return plim_tsv_fail(file, "a row before any section");
        } else if (!has_header) {
            PLIM_TRY(check_header(file, section, whole));
            has_header = true;
        } else {
            PLIM_TRY(read_row(file, section, whole));
            has_row = true;
        }
    }
    return has_row ? PLIM_OK : plim_tsv_fail(file, "the file has no rows");
}
