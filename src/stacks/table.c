/*
 * table.c - reading frames.tsv: a header line and rows of four fields; docs/formats/frames.md.
 */
#include "stacks/table.h"

#include "base/ascii.h"
#include "base/error.h"
#include "stacks/frames.h"

#include <string.h>

#define FIELDS 4
#define HEADER "file\tfunction\tline\tclass"

typedef struct class_name {
    const char *name;
    plim_frame_class_kind kind;
    uint8_t class;
} class_name;

static const class_name class_names[] = {
#define OWNER_NAME(code, name) { name, PLIM_CLASS_OWNER, code },
#define ROLE_NAME(code, name)  { name, PLIM_CLASS_ROLE, code },
#define LABEL_NAME(code, name) { name, PLIM_CLASS_LABEL, code },
    PLIM_FRAME_OWNER_LIST(OWNER_NAME) PLIM_FRAME_ROLE_LIST(ROLE_NAME)
        PLIM_FRAME_LABEL_LIST(LABEL_NAME)
#undef OWNER_NAME
#undef ROLE_NAME
#undef LABEL_NAME
};

typedef struct field {
    const char *data;
    size_t bytes;
} field;

typedef struct frames_reader {
    plim_frame_table *table;
    unsigned line; /* from 1 */
    plim_error *err;
} frames_reader;

#define FAIL(reader, ...) \
    plim_fail((reader)->err, PLIM_CORRUPT, "frames.tsv:%u: " __VA_ARGS__)

static bool is_text(field of, const char *text)
{
    return strlen(text) == of.bytes && memcmp(of.data, text, of.bytes) == 0;
}

/* Returns how many fields the line has; those beyond FIELDS are not kept. */
static size_t split(const char *line, field fields[FIELDS])
{
    size_t count = 0;
    for (;;) {
        const size_t bytes = strcspn(line, "\t");
        if (count < FIELDS) {
            fields[count] = (field){ line, bytes };
        }
        count++;
        if (line[bytes] == '\0') {
            break;
        }
        line += bytes + 1;
    }
    return count;
}

/* A copy of the field's bytes, which a zero ends. */
static plim_status keep(const frames_reader *r, field of, plim_frame_pattern *ret_pattern)
{
    plim_frame_table *const table = r->table;
    if (PLIM_FRAME_TEXT_BYTES - table->text_used <= of.bytes) {
        return FAIL(r, "the patterns have more than %d bytes", r->line, PLIM_FRAME_TEXT_BYTES);
    }
    char *const copy = table->text + table->text_used;
    memcpy(copy, of.data, of.bytes);
    copy[of.bytes] = '\0';
    table->text_used += of.bytes + 1;
    ret_pattern->text = copy;
    ret_pattern->bytes = of.bytes;
    ret_pattern->has_star = strchr(copy, '*') != NULL;
    return PLIM_OK;
}

static plim_status read_file(const frames_reader *r, field of, plim_frame_pattern *ret_pattern)
{
    for (size_t i = 0; i < of.bytes; i++) {
        if (plim_is_upper(of.data[i]) || of.data[i] == '\\') {
            return FAIL(r, "a path is compared in lower case and with '/'", r->line);
        }
    }
    ret_pattern->begins = of.bytes > 0 && of.data[0] == '^';
    ret_pattern->ends = of.bytes > 0 && of.data[of.bytes - 1] == '$';
    const size_t anchors = (size_t)ret_pattern->begins + (size_t)ret_pattern->ends;
    const bool is_empty = of.bytes <= anchors;
    of.data += ret_pattern->begins;
    of.bytes -= is_empty ? of.bytes : anchors;
    if (is_empty ? anchors > 0 : of.data[0] == '*') {
        return FAIL(r, "a file that may be any is an empty field", r->line);
    }
    return keep(r, of, ret_pattern);
}

/* "x" is x, "x*" begins with x, "*x*" holds x: a star at an end is the lack of an anchor. */
static plim_status read_function(const frames_reader *r, field of, plim_frame_pattern *ret_pattern)
{
    const bool is_open = of.bytes > 0 && of.data[0] == '*';
    ret_pattern->begins = !is_open;
    of.data += is_open;
    of.bytes -= is_open;
    ret_pattern->ends = of.bytes == 0 || of.data[of.bytes - 1] != '*';
    of.bytes -= ret_pattern->ends ? 0 : 1;
    if (is_open && of.bytes == 0) {
        return FAIL(r, "a function that may be any is an empty field", r->line);
    }
    return keep(r, of, ret_pattern);
}

static const class_name *find_class(field of)
{
    for (size_t i = 0; i < sizeof class_names / sizeof class_names[0]; i++) {
        if (is_text(of, class_names[i].name)) {
            return &class_names[i];
        }
    }
    return NULL;
}

static bool is_same_pattern(const plim_frame_pattern *a, const plim_frame_pattern *b)
{
    return a->begins == b->begins && a->ends == b->ends && strcmp(a->text, b->text) == 0;
}

static bool stands_already(const plim_frame_row *rows, size_t count, const plim_frame_row *row)
{
    for (size_t i = 0; i < count; i++) {
        if (is_same_pattern(&rows[i].file, &row->file) &&
            is_same_pattern(&rows[i].function, &row->function) &&
            rows[i].without_line == row->without_line) {
            return true;
        }
    }
    return false;
}

static plim_status read_row(const frames_reader *r, const char *line)
{
    field fields[FIELDS] = { { 0 } };
    plim_frame_row row = { .file.text = "", .function.text = "" };
    const size_t field_count = split(line, fields);
    if (field_count != FIELDS) {
        return FAIL(r, "%zu fields, where a row has %d", r->line, field_count, FIELDS);
    }
    PLIM_TRY(read_file(r, fields[0], &row.file));
    PLIM_TRY(read_function(r, fields[1], &row.function));
    const class_name *const found = find_class(fields[3]);
    if (found == NULL) {
        return FAIL(r, "there is no class '%.*s'", r->line, (int)fields[3].bytes, fields[3].data);
    }
    if (fields[2].bytes > 0 && (!is_text(fields[2], "0") || found->kind != PLIM_CLASS_OWNER)) {
        return FAIL(r, "a line is 0, for an owner, or empty", r->line);
    }
    if (found->kind == PLIM_CLASS_LABEL && row.file.bytes > 0) {
        return FAIL(r, "a label goes by the function alone", r->line);
    }
    row.without_line = fields[2].bytes > 0;
    row.class = found->class;
    plim_frame_row *const rows = r->table->rows[found->kind];
    size_t *const count = &r->table->counts[found->kind];
    if (*count == PLIM_FRAME_ROWS_MAX) {
        return FAIL(r, "more than %d rows of one kind", r->line, PLIM_FRAME_ROWS_MAX);
    }
    if (stands_already(rows, *count, &row)) {
        return FAIL(r, "a row above is of the same frames", r->line);
    }
    rows[(*count)++] = row;
    return PLIM_OK;
}

plim_status plim_frame_table_read(const char *const *lines, plim_frame_table *table,
                                  plim_error *err)
{
    frames_reader r = { .table = table, .err = err };
    bool has_header = false;
    for (; *lines != NULL; lines++) {
        r.line++;
        if ((*lines)[0] == '#' || (*lines)[0] == '\0') {
            continue;
        }
        if (has_header) {
            PLIM_TRY(read_row(&r, *lines));
        } else if (strcmp(*lines, HEADER) != 0) {
            return FAIL(&r, "the first row names the columns: file, function, line, class", r.line);
        }
        has_header = true;
    }
    return has_header ? PLIM_OK : FAIL(&r, "there are no rows", r.line);
}
