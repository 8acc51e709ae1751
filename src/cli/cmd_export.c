/*
 * cmd_export.c - "in the tools I already have": a recording in another format.
 */
#include "base/fixed_text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "cli/result.h"
#include "report/json/documents.h"

#include "plimsoll/export.h"

#include <stdio.h>
#include <string.h>

#define MOMENTS_MAX       64
#define FORMATS_BYTES_MAX 256

typedef struct export_arguments {
    plim_asked asked;
    const char *path;
    plim_export_options options;
    plim_moment_choice moments[MOMENTS_MAX];
    plim_moment_choice from;
    plim_moment_choice until;
    int32_t device;
} export_arguments;

/* --- options --- */

static void take_format(struct argp_state *state, void *arguments, char *text)
{
    export_arguments *const self = arguments;
    self->options.format = plim_export_format_named(text);
    if (self->options.format == NULL) {
        char names[FORMATS_BYTES_MAX];
        plim_fixed_text out = plim_fixed_text_begin(names, sizeof names);
        const plim_export_format *format = NULL;
        for (size_t i = 0; (format = plim_export_format_at(i)) != NULL; i++) {
            plim_fixed_text_put(&out, "%s%s", i > 0 ? ", " : "", format->name);
        }
        argp_error(state, "--to takes one of %s, not \"%s\"", names, text);
    }
}

static plim_moment_choice moment_of(struct argp_state *state, const char *option, const char *text)
{
    plim_moment_choice choice = { 0 };
    if (!plim_moment_parse(text, &choice)) {
        argp_error(state,
                   "--%s takes a moment such as peak, end, event:120, step:7, step:7:end or oom, "
                   "not \"%s\"",
                   option, text);
    }
    return choice;
}

static void take_at(struct argp_state *state, void *arguments, char *text)
{
    export_arguments *const self = arguments;
    if (self->options.moment_count == MOMENTS_MAX) {
        argp_error(state, "--at may be repeated %d times", MOMENTS_MAX);
    }
    self->moments[self->options.moment_count++] = moment_of(state, "at", text);
    self->options.moments = self->moments;
}

static void take_from(struct argp_state *state, void *arguments, char *text)
{
    export_arguments *const self = arguments;
    self->from = moment_of(state, "from", text);
    self->options.from = &self->from;
}

static void take_until(struct argp_state *state, void *arguments, char *text)
{
    export_arguments *const self = arguments;
    self->until = moment_of(state, "until", text);
    self->options.until = &self->until;
}

static void take_what(struct argp_state *state, void *arguments, char *text)
{
    if (!plim_export_what_find(text, &((export_arguments *)arguments)->options.what)) {
        argp_error(state, "--what takes live, growth, difference, churn or temporary, not \"%s\"",
                   text);
    }
}

static void take_device(struct argp_state *state, void *arguments, char *text)
{
    export_arguments *const self = arguments;
    self->device = (int32_t)plim_option_number(state, "device", text, -1, 65535);
    self->options.device = &self->device;
}

static const plim_option options[] = {
    { .name = "output",
      .argument = "NAME",
      .purpose = "the file to write, whose ending says in which format; - is standard output",
      .kind = PLIM_OPTION_TEXT,
      .place = PLIM_PLACE(export_arguments, path, const char *),
      .letter = 'o' },
    PLIM_TAKEN("to", "FORMAT", take_format, "the format, whatever the name ends in"),
    PLIM_TAKEN("at", "MOMENT", take_at,
               "stacks of what is live then: peak, start, end, event:120, step:7, step:7:end, "
               "oom:0; may be repeated (peak and end, or the peak where one fits)"),
    PLIM_TAKEN("what", "WEIGHT", take_what,
               "weigh stacks by what is live, or over a span: growth, difference (two figures), "
               "churn (all that is allocated), temporary (of that, what is soon freed)"),
    PLIM_TAKEN("from", "MOMENT", take_from, "where the span begins (start)"),
    PLIM_TAKEN("until", "MOMENT", take_until, "where it ends (end)"),
    PLIM_TAKEN("device", "N", take_device, "only GPU N (-1 is pinned host memory)"),
    PLIM_SIZE("lives", export_arguments, options.lives_min_bytes,
              "draw the life of each allocation of at least SIZE as a span, in traces"),
    PLIM_TEXT("table", "NAME", export_arguments, options.table,
              "of CSV: the table or view of plimsoll query (allocations)"),
    PLIM_FLAG("full-paths", export_arguments, options.full_paths,
              "do not shorten paths and C++ names, in folded stacks"),
    PLIM_FLAG("force", export_arguments, options.replaces, "replace a file that is there already"),
};
static const plim_option_group groups[] = { PLIM_OPTION_GROUP(options, 0) };

static const char *const examples[] = {
    "plimsoll export run.pickle -o run.speedscope.json",
    "what was live at the peak and at the end, by stack, for https://www.speedscope.app",
    "plimsoll export run.pickle --what=growth --from=step:2 --until=step:9 -o grown.folded",
    "the stacks that held more at step 9 than at step 2, for flamegraph.pl",
    "plimsoll export run.pickle --lives=1MiB -o run.pftrace",
    "memory over time, with every allocation from 1 MiB on, for https://ui.perfetto.dev",
    "plimsoll export run.plim -o run.pickle",
    "a recording of Plimsoll's for PyTorch's own tools",
    NULL,
};

static void check(struct argp_state *state, void *arguments)
{
    const export_arguments *const self = arguments;
    if (self->asked.file_count != 1) {
        argp_error(state, self->asked.file_count == 0
                              ? "which file? Give a snapshot or recording, or - for standard input"
                              : "one file at a time");
    }
    if (self->path == NULL) {
        argp_error(state, "where to? -o NAME says where, and by its ending in which format");
        return;
    }
    if (self->path != NULL && strcmp(self->path, "-") == 0) {
        if (self->asked.as_json) {
            argp_error(state, "--json prints on standard output, which -o - gives to the export");
        }
        if (self->options.format == NULL) {
            argp_error(state, "which format? -o - has no ending: name one with --to");
        }
    }
}

static const plim_usage usage = {
    .arguments = "FILE -o NAME",
    .purpose =
        "Writes a snapshot of PyTorch's or a recording of Plimsoll's in the format of another "
        "tool: .speedscope.json, .folded (flame graphs), .pb.gz (pprof), .pftrace (Perfetto), "
        ".trace.json (Chrome), .sqlite, .csv, .pickle (PyTorch's snapshot), .plim. "
        "With .gz at the end of the name, compressed.",
    .groups = groups,
    .group_count = 1,
    .asked = offsetof(export_arguments, asked),
    .json = "print what was written as JSON, document \"export/1\"",
    .examples = examples,
    .closing = "Exit status: 0 fine, 2 wrong usage, 3 the file could not be read or the export not "
               "written.",
    .check = check,
};

/* --- the command --- */

static int say_failed(const char *who, const char *path, plim_status status, const plim_error *err)
{
    if (status == PLIM_INVALID_ARGUMENT) {
        plim_say(who, "%s", err->message);
        return PLIM_EXIT_USAGE;
    }
    plim_reading_failed(who, path, err);
    return PLIM_EXIT_FAILED;
}

/* On standard error: the export itself may be on standard output. */
static int print(const char *who, const export_arguments *self, const plim_export_result *result)
{
    const plim_exported exported = { .source = self->asked.files[0],
                                     .path = self->path,
                                     .what = self->options.what,
                                     .result = result };
    plim_result out;
    plim_page page;
    plim_result_begin(&out, who, stderr, &self->asked);
    plim_page_init(&page, NULL);
    plim_export_page(&page, &exported);
    if (out.has_document) {
        out.err.status = plim_export_json_write(out.sink, &exported, &page, &out.err);
    }
    return plim_result_end(&out, &page);
}

static int export_history(const char *who, export_arguments *self, const plim_history *history)
{
    const char *const source = self->asked.files[0];
    const char *const slash = strrchr(source, '/');
    self->options.title = slash != NULL ? slash + 1 : plim_reading_name(source);
    plim_error err = { 0 };
    plim_export_result result = { 0 };
    const plim_status status =
        plim_history_export(history, self->path, &self->options, &result, &err);
    const int code =
        status == PLIM_OK ? print(who, self, &result) : say_failed(who, self->path, status, &err);
    plim_export_result_deinit(&result);
    return code;
}

int plim_cmd_export(int argc, char **argv)
{
    const char *const who = argv[0];
    export_arguments arguments = { 0 };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    plim_error err = { 0 };
    plim_history *history = NULL;
    if (plim_reading_history(arguments.asked.files[0], &history, &err) != PLIM_OK) {
        plim_reading_failed(who, arguments.asked.files[0], &err);
        return PLIM_EXIT_FAILED;
    }
    status = export_history(who, &arguments, history);
    plim_history_destroy(history);
    return status;
}
