/*
 * formats.c - the table of formats.
 *
 * A new one is a row here, its writer in a file of its name, its bytes in docs/formats/exports.md.
 */
#include "export/export.h"

#include <stdbool.h>
#include <string.h>

static const plim_export_writer writers[] = {
    { .format = { .name = "speedscope",
                  .endings = { ".speedscope.json" },
                  .holds = "stacks by the bytes that are live, a profile for each GPU and moment",
                  .opens = "https://www.speedscope.app, or: speedscope %s",
                  .opens_gzip = true,
                  .scope = PLIM_EXPORT_SEVERAL },
      .write = plim_export_speedscope },
    { .format = { .name = "folded",
                  .endings = { ".folded", ".collapsed" },
                  .holds = "a line for each stack and its bytes, for flame graphs",
                  .opens = "flamegraph.pl --countname bytes %s >flames.svg",
                  .scope = PLIM_EXPORT_ONE,
                  .has_differences = true },
      .write = plim_export_folded },
    { .format = { .name = "pprof",
                  .endings = { ".pb.gz", ".pprof" },
                  .holds = "stacks by bytes and allocations, with stream, category and pool",
                  .opens = "go tool pprof -http=: %s",
                  .scope = PLIM_EXPORT_ONE,
                  .gzip = PLIM_EXPORT_GZIP_ALWAYS },
      .write = plim_export_pprof },
    { .format = { .name = "perfetto",
                  .endings = { ".pftrace", ".perfetto-trace" },
                  .holds = "memory over time: counters, steps, annotations, segments, failures",
                  .opens = "https://ui.perfetto.dev",
                  .opens_gzip = true,
                  .scope = PLIM_EXPORT_WHOLE,
                  .has_lives = true },
      .write = plim_export_perfetto,
      .needs_views = true },
    { .format = { .name = "chrome",
                  .endings = { ".trace.json" },
                  .holds = "the same as JSON, for short recordings",
                  .opens = "https://ui.perfetto.dev or chrome://tracing",
                  .opens_gzip = true,
                  .scope = PLIM_EXPORT_WHOLE,
                  .has_lives = true },
      .write = plim_export_chrome,
      .needs_views = true },
    { .format = { .name = "sqlite",
                  .endings = { ".sqlite", ".db" },
                  .holds = "all of it as tables, with the views of plimsoll query",
                  .opens = "sqlite3 %s",
                  .scope = PLIM_EXPORT_WHOLE,
                  .gzip = PLIM_EXPORT_GZIP_NEVER },
      .save = plim_export_sqlite },
    { .format = { .name = "csv",
                  .endings = { ".csv" },
                  .holds = "one table of plimsoll query: allocations, or that of --table",
                  .opens = "any spreadsheet",
                  .scope = PLIM_EXPORT_WHOLE,
                  .has_tables = true },
      .write = plim_export_csv },
    { .format = { .name = "snapshot",
                  .endings = { ".pickle" },
                  .holds = "all of it, as PyTorch's own recorder writes it",
                  .opens = "https://pytorch.org/memory_viz",
                  .scope = PLIM_EXPORT_WHOLE },
      .write = plim_export_snapshot },
    { .format = { .name = "plim",
                  .endings = { ".plim" },
                  .holds = "all of it, as a recording of Plimsoll's",
                  .opens = "plimsoll inspect %s",
                  .scope = PLIM_EXPORT_WHOLE,
                  .gzip = PLIM_EXPORT_GZIP_NEVER },
      .save = plim_export_recording },
};

#define WRITER_COUNT (sizeof writers / sizeof writers[0])

const plim_export_format *plim_export_format_at(size_t index)
{
    return index < WRITER_COUNT ? &writers[index].format : NULL;
}

const plim_export_format *plim_export_format_named(const char *name)
{
    for (size_t i = 0; i < WRITER_COUNT; i++) {
        if (strcmp(writers[i].format.name, name) == 0) {
            return &writers[i].format;
        }
    }
    return NULL;
}

static bool ends_in(const char *path, size_t length, const char *end)
{
    const size_t end_length = strlen(end);
    return length > end_length && memcmp(path + length - end_length, end, end_length) == 0;
}

/* The length of the longest ending of a format that the first `length` bytes of a path have. */
static size_t match(const plim_export_format *format, const char *path, size_t length)
{
    size_t longest = 0;
    for (size_t i = 0; i < PLIM_EXPORT_ENDINGS_MAX && format->endings[i] != NULL; i++) {
        const size_t end_length = strlen(format->endings[i]);
        if (end_length > longest && ends_in(path, length, format->endings[i])) {
            longest = end_length;
        }
    }
    return longest;
}

const plim_export_format *plim_export_format_of(const char *path)
{
    const size_t length = strlen(path);
    const size_t bare = ends_in(path, length, ".gz") ? length - strlen(".gz") : length;
    const plim_export_format *found = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < WRITER_COUNT; i++) {
        const plim_export_format *const format = &writers[i].format;
        size_t matched = match(format, path, length);
        if (matched == 0 && format->gzip == PLIM_EXPORT_GZIP_BY_NAME) {
            matched = match(format, path, bare);
        }
        if (matched > longest) {
            longest = matched;
            found = format;
        }
    }
    return found;
}

const plim_export_writer *plim_export_writer_of(const plim_export_format *format)
{
    for (size_t i = 0; i < WRITER_COUNT; i++) {
        if (&writers[i].format == format) {
            return &writers[i];
        }
    }
    return NULL;
}
