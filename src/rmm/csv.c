/*
 * csv.c - see csv.h.
 */
#include "rmm/csv.h"

#include "base/ascii.h"

#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

static const char *const column_names[PLIM_CSV_COLUMN_COUNT] = { "Time", "Action", "Pointer",
                                                                 "Size", "Stream" };

static plim_csv_field trimmed(const char *text, size_t bytes)
{
    while (bytes > 0 && plim_is_space(text[0])) {
        text++;
        bytes--;
    }
    while (bytes > 0 && plim_is_space(text[bytes - 1])) {
        bytes--;
    }
    if (bytes >= 2 && text[0] == '"' && text[bytes - 1] == '"') {
        return (plim_csv_field){ text + 1, bytes - 2 };
    }
    return (plim_csv_field){ text, bytes };
}

/* The comma that ends the field at `at`, or the end of the line; commas in quotes end nothing. */
static size_t end_of_field(const char *line, size_t bytes, size_t at)
{
    bool is_quoted = false;
    for (; at < bytes && (is_quoted || line[at] != ','); at++) {
        is_quoted = is_quoted != (line[at] == '"');
    }
    return at;
}

bool plim_csv_is(plim_csv_field field, const char *text)
{
    return strlen(text) == field.bytes && memcmp(text, field.text, field.bytes) == 0;
}

bool plim_csv_read_header(const char *line, size_t bytes, plim_csv_header *ret_header)
{
    plim_csv_header header = { { 0 }, 0 };
    const size_t mark = strlen(BYTE_ORDER_MARK);
    size_t at = bytes >= mark && memcmp(line, BYTE_ORDER_MARK, mark) == 0 ? mark : 0;
    for (; at <= bytes && header.fields < PLIM_CSV_FIELDS_MAX; header.fields++) {
        const size_t end = end_of_field(line, bytes, at);
        const plim_csv_field field = trimmed(line + at, end - at);
        for (size_t i = 0; i < PLIM_CSV_COLUMN_COUNT; i++) {
            if (header.at[i] == 0 && plim_csv_is(field, column_names[i])) {
                header.at[i] = (uint8_t)(header.fields + 1);
            }
        }
        at = end + 1;
    }
    *ret_header = header;
    return header.at[PLIM_CSV_ACTION] != 0 && header.at[PLIM_CSV_POINTER] != 0 &&
           header.at[PLIM_CSV_SIZE] != 0;
}

bool plim_csv_read_row(const plim_csv_header *header, const char *line, size_t bytes,
                       plim_csv_field ret_fields[PLIM_CSV_COLUMN_COUNT])
{
    plim_csv_field fields[PLIM_CSV_FIELDS_MAX];
    size_t count = 0;
    for (size_t at = 0; at <= bytes && count < header->fields; count++) {
        const size_t end = end_of_field(line, bytes, at);
        fields[count] = trimmed(line + at, end - at);
        at = end + 1;
    }
    for (size_t i = 0; i < PLIM_CSV_COLUMN_COUNT; i++) {
        ret_fields[i] = (plim_csv_field){ "", 0 };
        if (header->at[i] > count) {
            return false;
        }
        if (header->at[i] > 0) {
            ret_fields[i] = fields[header->at[i] - 1];
        }
    }
    return true;
}
