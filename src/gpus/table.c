/*
 * table.c - reading gpus.tsv: two sections, [capabilities] and [gpus], each a header line and
 * rows, columns separated by tabs; docs/formats/gpus.md.
 *
 * A column is a row of a table here: its name, what it holds and where that goes. Every column
 * must be there, in this order, so that a figure cannot slip into the one beside it unseen.
 */
#include "gpus/table.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/units.h"

#include <stdbool.h>
#include <string.h>

#define FIELD_BYTES 512

typedef enum column_kind {
    COLUMN_TEXT,       /* goes to a field of characters */
    COLUMN_32,         /* times the unit, to a field of 32 bits */
    COLUMN_64,         /* times the unit, to a field of 64 bits */
    COLUMN_CAPABILITY, /* "8.9" */
    COLUMN_UNREAD,     /* for people: where the figures come from */
} column_kind;

typedef struct column {
    const char *name;
    column_kind kind;
    bool may_be_empty;
    size_t offset;  /* of the field in plim_gpus_row; its first member is the plim_gpu */
    uint64_t unit;  /* that figures of the column count in */
    uint64_t limit; /* bytes of a field of characters; the largest figure else */
} column;

#define FIGURE(kind, name, field, unit, limit)                             \
    {                                                                      \
        name, kind, false, offsetof(plim_gpus_row, gpu.field), unit, limit \
    }

static const column capability_columns[] = {
    FIGURE(COLUMN_CAPABILITY, "capability", capability_major, 1, 99),
    FIGURE(COLUMN_32, "threads", threads_per_multiprocessor, 1, 4096),
    FIGURE(COLUMN_32, "blocks", blocks_per_multiprocessor, 1, 64),
    FIGURE(COLUMN_32, "shared_kib", shared_bytes_per_multiprocessor, KIB, 1024),
    FIGURE(COLUMN_32, "shared_block_kib", shared_bytes_per_block_optin, KIB, 1024),
    FIGURE(COLUMN_64, "cublas_mib", cublas_bytes, MIB, 4096),
    FIGURE(COLUMN_64, "cudnn_mib", cudnn_bytes, MIB, 4096),
    FIGURE(COLUMN_64, "nccl_mib", nccl_bytes, MIB, 4096),
    { "source", COLUMN_UNREAD, false, 0, 1, FIELD_BYTES },
};

static const column gpu_columns[] = {
    FIGURE(COLUMN_TEXT, "key", key, 1, PLIM_GPU_KEY_BYTES),
    FIGURE(COLUMN_TEXT, "name", name, 1, PLIM_GPU_NAME_BYTES),
    FIGURE(COLUMN_64, "memory_mib", memory_bytes, MIB, 1 << 22),
    FIGURE(COLUMN_64, "nominal_gib", nominal_bytes, GIB, 1 << 12),
    FIGURE(COLUMN_CAPABILITY, "capability", capability_major, 1, 99),
    FIGURE(COLUMN_32, "multiprocessors", multiprocessors, 1, 1024),
    FIGURE(COLUMN_32, "l2_kib", l2_bytes, KIB, 1 << 20),
    FIGURE(COLUMN_32, "bus_bits", bus_bits, 1, 1 << 16),
    FIGURE(COLUMN_32, "clock_mhz", clock_khz, 1000, 10000),
    FIGURE(COLUMN_32, "memory_clock_mhz", memory_clock_khz, 1000, 100000),
    FIGURE(COLUMN_64, "context_mib", context_bytes, MIB, 4096),
    { "aliases", COLUMN_TEXT, true, offsetof(plim_gpus_row, aliases), 1, PLIM_GPUS_ALIASES_BYTES },
    { "source", COLUMN_UNREAD, false, 0, 1, FIELD_BYTES },
};

#define CAPABILITY_COLUMNS (sizeof capability_columns / sizeof capability_columns[0])
#define GPU_COLUMNS        (sizeof gpu_columns / sizeof gpu_columns[0])

/* A section of the file: what its rows are made of. */
typedef enum section { SECTION_NONE, SECTION_CAPABILITIES, SECTION_GPUS, SECTIONS } section;

static const struct {
    const char *title;
    const column *columns;
    size_t count;
} sections[SECTIONS] = {
    [SECTION_CAPABILITIES] = { "[capabilities]", capability_columns, CAPABILITY_COLUMNS },
    [SECTION_GPUS] = { "[gpus]", gpu_columns, GPU_COLUMNS },
};

typedef struct gpus_reader {
    plim_gpus_table *table;
    section section;
    bool has_header; /* of the section */
    unsigned line;   /* from 1 */
    plim_error *err;
} gpus_reader;

/* The field up to the next tab or the end; false if it is too long for the buffer. */
static bool next_field(const char **line, char field[FIELD_BYTES])
{
    const size_t length = strcspn(*line, "\t");
    if (length >= FIELD_BYTES) {
        return false;
    }
    memcpy(field, *line, length);
    field[length] = '\0';
    *line += length + ((*line)[length] == '\t');
    return true;
}

/* Digits up to the end or to `stop`, and nothing else; at most `limit`. */
static bool read_number(const char **text, char stop, uint64_t limit, uint64_t *ret)
{
    uint64_t number = 0;
    const char *c = *text;
    for (; plim_is_digit(*c); c++) {
        number = 10 * number + (uint64_t)(*c - '0');
        if (number > limit) {
            return false;
        }
    }
    if (c == *text || *c != stop) {
        return false;
    }
    *text = c;
    *ret = number;
    return true;
}

static bool read_capability(const char *field, const column *of, plim_gpus_row *row)
{
    uint64_t major = 0;
    uint64_t minor = 0;
    const char *text = field;
    if (!read_number(&text, '.', of->limit, &major)) {
        return false;
    }
    text++;
    if (!read_number(&text, '\0', of->limit, &minor)) {
        return false;
    }
    row->gpu.capability_major = (uint32_t)major;
    row->gpu.capability_minor = (uint32_t)minor;
    return true;
}

/* Puts a field where its column says. False: it is none of what the column holds. */
static bool put(const char *field, const column *of, plim_gpus_row *row)
{
    char *place = (char *)row + of->offset;
    const size_t length = strlen(field);
    uint64_t number = 0;
    if (length == 0) {
        return of->may_be_empty;
    }
    switch (of->kind) {
    case COLUMN_TEXT:
        if (length >= of->limit) {
            return false;
        }
        memcpy(place, field, length + 1);
        return true;
    case COLUMN_CAPABILITY:
        return read_capability(field, of, row);
    case COLUMN_32:
        if (!read_number(&field, '\0', of->limit, &number) || number == 0 ||
            number * of->unit > UINT32_MAX) {
            return false;
        }
        memcpy(place, &(uint32_t){ (uint32_t)(number * of->unit) }, sizeof(uint32_t));
        return true;
    case COLUMN_64:
        if (!read_number(&field, '\0', of->limit, &number) || number == 0) {
            return false;
        }
        memcpy(place, &(uint64_t){ number * of->unit }, sizeof(uint64_t));
        return true;
    case COLUMN_UNREAD:
        return true;
    }
    return false;
}

static plim_status check_header(const gpus_reader *r, const char *line)
{
    char field[FIELD_BYTES];
    for (size_t i = 0; i < sections[r->section].count; i++) {
        const char *name = sections[r->section].columns[i].name;
        if (!next_field(&line, field) || strcmp(field, name) != 0) {
            return plim_fail(r->err, PLIM_CORRUPT, "gpus.tsv:%u: column %zu must be '%s'", r->line,
                             i + 1, name);
        }
    }
    if (*line != '\0') {
        return plim_fail(r->err, PLIM_CORRUPT, "gpus.tsv:%u: column '%s' is unknown", r->line,
                         line);
    }
    return PLIM_OK;
}

static plim_status read_row(const gpus_reader *r, const char *line, plim_gpus_row *row)
{
    char field[FIELD_BYTES];
    for (size_t i = 0; i < sections[r->section].count; i++) {
        const column *of = &sections[r->section].columns[i];
        if (!next_field(&line, field) || !put(field, of, row)) {
            return plim_fail(r->err, PLIM_CORRUPT, "gpus.tsv:%u: bad or missing %s", r->line,
                             of->name);
        }
    }
    if (*line != '\0') {
        return plim_fail(r->err, PLIM_CORRUPT, "gpus.tsv:%u: more columns than the header names",
                         r->line);
    }
    return PLIM_OK;
}

static const plim_gpu *find_capability(const plim_gpus_table *table, const plim_gpu *gpu)
{
    for (size_t i = 0; i < table->capability_count; i++) {
        const plim_gpu *capability = &table->capabilities[i];
        if (capability->capability_major == gpu->capability_major &&
            capability->capability_minor == gpu->capability_minor) {
            return capability;
        }
    }
    return NULL;
}

static plim_status add_capability(gpus_reader *r, const plim_gpu *gpu)
{
    plim_gpus_table *table = r->table;
    if (find_capability(table, gpu) != NULL) {
        return plim_fail(r->err, PLIM_CORRUPT, "gpus.tsv:%u: capability %u.%u stands twice",
                         r->line, gpu->capability_major, gpu->capability_minor);
    }
    if (table->capability_count == PLIM_GPUS_CAPABILITIES_MAX) {
        return plim_fail(r->err, PLIM_LIMIT, "gpus.tsv:%u: more than %d capabilities", r->line,
                         PLIM_GPUS_CAPABILITIES_MAX);
    }
    table->capabilities[table->capability_count++] = *gpu;
    return PLIM_OK;
}

static plim_status add_gpu(gpus_reader *r, plim_gpus_row *row)
{
    plim_gpus_table *table = r->table;
    plim_gpu *gpu = &row->gpu;
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].gpu.key, gpu->key) == 0) {
            return plim_fail(r->err, PLIM_CORRUPT, "gpus.tsv:%u: key '%s' stands twice", r->line,
                             gpu->key);
        }
    }
    const plim_gpu *capability = find_capability(table, gpu);
    if (capability == NULL) {
        return plim_fail(r->err, PLIM_CORRUPT, "gpus.tsv:%u: capability %u.%u has no row", r->line,
                         gpu->capability_major, gpu->capability_minor);
    }
    if (table->count == PLIM_GPUS_MAX) {
        return plim_fail(r->err, PLIM_LIMIT, "gpus.tsv:%u: more than %d GPUs", r->line,
                         PLIM_GPUS_MAX);
    }
    gpu->threads_per_multiprocessor = capability->threads_per_multiprocessor;
    gpu->blocks_per_multiprocessor = capability->blocks_per_multiprocessor;
    gpu->shared_bytes_per_multiprocessor = capability->shared_bytes_per_multiprocessor;
    gpu->shared_bytes_per_block_optin = capability->shared_bytes_per_block_optin;
    gpu->cublas_bytes = capability->cublas_bytes;
    gpu->cudnn_bytes = capability->cudnn_bytes;
    gpu->nccl_bytes = capability->nccl_bytes;
    table->rows[table->count++] = *row;
    return PLIM_OK;
}

static plim_status open_section(gpus_reader *r, const char *title)
{
    for (section i = SECTION_NONE + 1; i < SECTIONS; i++) {
        if (strcmp(sections[i].title, title) == 0) {
            r->section = i;
            r->has_header = false;
            return PLIM_OK;
        }
    }
    return plim_fail(r->err, PLIM_CORRUPT, "gpus.tsv:%u: no section is called %s", r->line, title);
}

static plim_status read_line(gpus_reader *r, const char *line)
{
    if (line[0] == '\0' || line[0] == '#') {
        return PLIM_OK;
    }
    if (line[0] == '[') {
        return open_section(r, line);
    }
    if (r->section == SECTION_NONE) {
        return plim_fail(r->err, PLIM_CORRUPT, "gpus.tsv:%u: a row before any section", r->line);
    }
    if (!r->has_header) {
        r->has_header = true;
        return check_header(r, line);
    }
    plim_gpus_row row = { 0 };
    PLIM_TRY(read_row(r, line, &row));
    return r->section == SECTION_GPUS ? add_gpu(r, &row) : add_capability(r, &row.gpu);
}

plim_status plim_gpus_table_read(const char *const *lines, plim_gpus_table *table, plim_error *err)
{
    gpus_reader r = { .table = table, .err = err };
    for (; lines[r.line] != NULL;) {
        const char *line = lines[r.line++];
        PLIM_TRY(read_line(&r, line));
    }
    return PLIM_OK;
}
