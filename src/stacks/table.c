/*
 * table.c - reading frames.tsv; docs/formats/frames.md.
 */
#include "stacks/table.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/tsv.h"
#include "stacks/frames.h"

#include <string.h>

typedef struct class_name {
    const char *name;
    plim_frame_class_kind kind;
    uint8_t class;
} class_name;

static const class_name class_names[] = {
#define OWNER_NAME(code, name)     { name, PLIM_CLASS_OWNER, code },
#define ROLE_NAME(code, name)      { name, PLIM_CLASS_ROLE, code },
#define LABEL_NAME(code, name)     { name, PLIM_CLASS_LABEL, code },
#define TECHNIQUE_NAME(code, name) { name, PLIM_CLASS_TECHNIQUE, code },
    PLIM_FRAME_OWNER_LIST(OWNER_NAME) PLIM_FRAME_ROLE_LIST(ROLE_NAME)
        PLIM_FRAME_LABEL_LIST(LABEL_NAME) PLIM_FRAME_TECHNIQUE_LIST(TECHNIQUE_NAME)
#undef OWNER_NAME
#undef ROLE_NAME
#undef LABEL_NAME
#undef TECHNIQUE_NAME
};

/* A line as it is read. */
typedef struct frame_line {
    plim_frame_row frame;
    plim_frame_class_kind kind;
} frame_line;

/* Sets the pattern's text, whose anchors are known already. */
static plim_status keep(plim_tsv *file, plim_tsv_field of, plim_frame_pattern *pattern)
{
    PLIM_TRY(plim_tsv_keep(file, of, &pattern->text));
    pattern->bytes = of.bytes;
    pattern->has_star = strchr(pattern->text, '*') != NULL;
    return PLIM_OK;
}

static plim_status read_file(plim_tsv *file, plim_tsv_field of)
{
    plim_frame_pattern *const pattern = &((frame_line *)file->row)->frame.file;
    for (size_t i = 0; i < of.bytes; i++) {
        if (plim_is_upper(of.text[i]) || of.text[i] == '\\') {
            return plim_tsv_fail(file, "a path is compared in lower case and with '/'");
        }
    }
    pattern->begins = of.bytes > 0 && of.text[0] == '^';
    pattern->ends = of.bytes > 0 && of.text[of.bytes - 1] == '$';
    const size_t anchors = (size_t)pattern->begins + (size_t)pattern->ends;
    const bool is_empty = of.bytes <= anchors;
    of.text += pattern->begins;
    of.bytes -= is_empty ? of.bytes : anchors;
    if (is_empty ? anchors > 0 : of.text[0] == '*') {
        return plim_tsv_fail(file, "a file that may be any is an empty field");
    }
    return keep(file, of, pattern);
}

/* "x" is x, "x*" begins with x, "*x*" holds x: a star at an end is the lack of an anchor. */
static plim_status read_function(plim_tsv *file, plim_tsv_field of)
{
    plim_frame_pattern *const pattern = &((frame_line *)file->row)->frame.function;
    const bool is_open = of.bytes > 0 && of.text[0] == '*';
    pattern->begins = !is_open;
    of.text += is_open;
    of.bytes -= is_open;
    pattern->ends = of.bytes == 0 || of.text[of.bytes - 1] != '*';
    of.bytes -= pattern->ends ? 0 : 1;
    if (is_open && of.bytes == 0) {
        return plim_tsv_fail(file, "a function that may be any is an empty field");
    }
    return keep(file, of, pattern);
}

static plim_status read_line(plim_tsv *file, plim_tsv_field of)
{
    ((frame_line *)file->row)->frame.without_line = of.bytes > 0;
    return of.bytes == 0 || plim_tsv_is(of, "0")
               ? PLIM_OK
               : plim_tsv_fail(file, "a line is 0, for an owner, or empty");
}

static plim_status read_class(plim_tsv *file, plim_tsv_field of)
{
    for (size_t i = 0; i < sizeof class_names / sizeof class_names[0]; i++) {
        if (plim_tsv_is(of, class_names[i].name)) {
            ((frame_line *)file->row)->kind = class_names[i].kind;
            ((frame_line *)file->row)->frame.class = class_names[i].class;
            return PLIM_OK;
        }
    }
    return plim_tsv_fail(file, "there is no class '%.*s'", (int)of.bytes, of.text);
}

static bool is_same_pattern(const plim_frame_pattern *a, const plim_frame_pattern *b)
{
    return a->bytes == b->bytes && a->begins == b->begins && a->ends == b->ends &&
           memcmp(a->text, b->text, a->bytes) == 0;
}

static bool stands_already(const plim_frame_row *rows, size_t count, const plim_frame_row *wanted)
{
    for (size_t i = 0; i < count; i++) {
        if (is_same_pattern(&rows[i].file, &wanted->file) &&
            is_same_pattern(&rows[i].function, &wanted->function) &&
            rows[i].without_line == wanted->without_line) {
            return true;
        }
    }
    return false;
}

static plim_status add_row(plim_tsv *file)
{
    plim_frame_table *const table = file->ctx;
    const frame_line *const read = file->row;
    plim_frame_row *const rows = table->rows[read->kind];
    size_t *const count = &table->counts[read->kind];
    if (read->frame.without_line && read->kind != PLIM_CLASS_OWNER) {
        return plim_tsv_fail(file, "a line is 0, for an owner, or empty");
    }
    if (read->kind == PLIM_CLASS_LABEL && read->frame.file.bytes > 0) {
        return plim_tsv_fail(file, "a label goes by the function alone");
    }
    if (*count == PLIM_FRAME_ROWS_MAX) {
        return plim_tsv_fail(file, "more than %d rows of one kind", PLIM_FRAME_ROWS_MAX);
    }
    if (stands_already(rows, *count, &read->frame)) {
        return plim_tsv_fail(file, "a row above is of the same frames");
    }
    rows[(*count)++] = read->frame;
    return PLIM_OK;
}

plim_status plim_frame_table_read(const char *const *lines, plim_frame_table *table,
                                  plim_error *err)
{
    static const plim_tsv_column columns[] = {
        { .name = "file", .kind = PLIM_TSV_OTHER, .may_be_empty = true, .read = read_file },
        { .name = "function", .kind = PLIM_TSV_OTHER, .may_be_empty = true, .read = read_function },
        { .name = "line", .kind = PLIM_TSV_OTHER, .may_be_empty = true, .read = read_line },
        { .name = "class", .kind = PLIM_TSV_OTHER, .read = read_class },
    };
    static const plim_tsv_section section = { NULL, columns, sizeof columns / sizeof columns[0],
                                              add_row };
    frame_line read;
    plim_tsv file = { .name = "frames.tsv",
                      .lines = lines,
                      .row = &read,
                      .row_bytes = sizeof read,
                      .texts = table->text,
                      .texts_bytes = sizeof table->text,
                      .ctx = table,
                      .err = err };
    return plim_tsv_read(&file, &section, 1);
}
