/*
 * options.c - reading rows of options through argp, and help made of them.
 */
#include "cli/options.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/output.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define OPTION_INDENT 2u
#define DOC_COLUMN    26u
#define OPTIONS_MAX   48
#define KEY_FIRST     0x100 /* beyond characters: row i of a command has key KEY_FIRST + i */

static void take_color(struct argp_state *state, void *arguments, char *text)
{
    static const char *const choices[] = { "auto", "always", "never" }; /* as in the enum */
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, choices[i]) == 0) {
            ((plim_asked *)arguments)->color = (plim_color_choice)i;
            return;
        }
    }
    argp_error(state, "--color takes auto, always or never, not \"%s\"", text);
}

/* The rows of every command, after its own. */
static const plim_option asked_rows[] = {
    PLIM_TEXT("document", "FILE", plim_asked, document,
              "write the document of --json to FILE, beside the page"),
    PLIM_TEXT("page", "FILE", plim_asked, page, "write the page to FILE; goes with --json too"),
    PLIM_TAKEN("color", "WHEN", take_color,
               "auto (on terminals, unless NO_COLOR is set), always, never"),
    PLIM_NUMBER("width", plim_asked, width, PLIM_STYLE_WIDTH_MIN, PLIM_STYLE_WIDTH_MAX,
                "columns to fill (the terminal's, at most 100; else 96)"),
    { .name = "help",
      .purpose = "print this",
      .place = PLIM_PLACE(plim_asked, wants_help, bool),
      .letter = 'h' },
    { .name = "usage",
      .purpose = "print one line",
      .place = PLIM_PLACE(plim_asked, wants_usage, bool),
      .is_hidden = true },
};
static const plim_option_group asked_group = PLIM_OPTION_GROUP(asked_rows, 0);

/* A command line while it is read. */
typedef struct reader {
    const plim_usage *usage;
    unsigned char *arguments;
    plim_option json;
} reader;

/* Row `index` and the offset of its struct: the command's own, --json, then every command's. */
static const plim_option *find_row(const reader *self, size_t index, size_t *ret_offset)
{
    for (size_t i = 0; i < self->usage->group_count; i++) {
        const plim_option_group *group = &self->usage->groups[i];
        if (index < group->count) {
            *ret_offset = group->offset;
            return &group->rows[index];
        }
        index -= group->count;
    }
    *ret_offset = self->usage->asked;
    if (index == 0) {
        return &self->json;
    }
    return index - 1 < asked_group.count ? &asked_group.rows[index - 1] : NULL;
}

long plim_option_number(struct argp_state *state, const char *option, const char *text, long least,
                        long most)
{
    char *end = NULL;
    errno = 0;
    const long number = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < least || number > most) {
        argp_error(state, "--%s takes a number from %ld to %ld, not \"%s\"", option, least, most,
                   text);
    }
    return number;
}

double plim_option_seconds(struct argp_state *state, const char *option, const char *text)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {
        { "", 1 }, { "s", 1 }, { "ms", 0.001 }, { "min", 60 }, { "m", 60 }, { "h", 3600 }
    };
    const bool is_digit = plim_is_digit(*text) || *text == '.';
    char *end = NULL;
    errno = 0;
    const double number = is_digit ? strtod(text, &end) : 0;
    for (size_t i = 0; is_digit && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].unit) == 0 && number > 0 && isfinite(number) && errno == 0) {
            return number * units[i].seconds;
        }
    }
    argp_error(state, "--%s takes a time such as 30s, 5min or 1h, not \"%s\"", option, text);
    return 0;
}

static uint64_t size_of(struct argp_state *state, const char *option, const char *text)
{
    uint64_t bytes = 0;
    plim_error err;
    if (plim_size_parse(text, &bytes, &err) != PLIM_OK) {
        argp_error(state, "--%s: %s", option, err.message);
    }
    if (bytes == 0) {
        argp_error(state, "--%s takes a size such as 80GiB, not \"%s\"", option, text);
    }
    return bytes;
}

static void put(struct argp_state *state, const plim_option *row, void *arguments, char *text)
{
    void *const place = (unsigned char *)arguments + row->place;
    switch (row->kind) {
    case PLIM_OPTION_FLAG:
        *(bool *)place = true;
        break;
    case PLIM_OPTION_NUMBER:
        *(uint32_t *)place =
            (uint32_t)plim_option_number(state, row->name, text, row->least, row->most);
        break;
    case PLIM_OPTION_COUNT:
        *(uint64_t *)place =
            (uint64_t)plim_option_number(state, row->name, text, row->least, row->most);
        break;
    case PLIM_OPTION_SIZE:
        *(uint64_t *)place = size_of(state, row->name, text);
        break;
    case PLIM_OPTION_TEXT:
        *(const char **)place = text;
        break;
    case PLIM_OPTION_TAKEN:
        row->take(state, arguments, text);
        break;
    }
}

/* A file that is read is not written to, whatever its name. */
static void check_output(struct argp_state *state, const plim_asked *asked, const char *option,
                         const char *path)
{
    struct stat output;
    struct stat input;
    if (strcmp(path, "-") == 0) {
        argp_error(state, "--%s takes the name of a file, not -", option);
    }
    if (stat(path, &output) != 0 || !S_ISREG(output.st_mode)) {
        return;
    }
    for (size_t i = 0; i < asked->file_count; i++) {
        if (stat(asked->files[i], &input) == 0 && input.st_dev == output.st_dev &&
            input.st_ino == output.st_ino) {
            argp_error(state, "--%s: \"%s\" is the file to read; give another name", option, path);
        }
    }
}

static void check_outputs(struct argp_state *state, const plim_asked *asked)
{
    if (asked->document != NULL && asked->as_json) {
        argp_error(state, "--document and --json cannot be combined: both take the one document");
    }
    if (asked->document != NULL) {
        check_output(state, asked, "document", asked->document);
    }
    if (asked->page != NULL) {
        check_output(state, asked, "page", asked->page);
    }
    if (asked->document != NULL && asked->page != NULL &&
        strcmp(asked->document, asked->page) == 0) {
        argp_error(state, "--document and --page take two files, not one");
    }
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    const reader *self = state->input;
    plim_asked *const asked = (plim_asked *)(void *)(self->arguments + self->usage->asked);
    if (key == ARGP_KEY_ARGS) { /* argp has moved all files after the options */
        asked->files = state->argv + state->next;
        asked->file_count = (size_t)(state->argc - state->next);
        state->next = state->argc;
        return 0;
    }
    if (key == ARGP_KEY_SUCCESS) {
        if (!asked->wants_help && !asked->wants_usage) {
            self->usage->check(state, self->arguments);
            check_outputs(state, asked);
        }
        return 0;
    }
    size_t offset = 0;
    for (size_t i = 0;; i++) {
        const plim_option *const row = find_row(self, i, &offset);
        if (row == NULL) {
            return ARGP_ERR_UNKNOWN;
        }
        if (key == KEY_FIRST + (int)i || (row->letter != 0 && key == row->letter)) {
            put(state, row, self->arguments + offset, text);
            return 0;
        }
    }
}

/* argp's own rows; a letter is its key. */
static void list_for_argp(const reader *self, struct argp_option options[OPTIONS_MAX])
{
    size_t ignored = 0;
    const plim_option *row = NULL;
    for (size_t i = 0; i + 1 < OPTIONS_MAX && (row = find_row(self, i, &ignored)) != NULL; i++) {
        options[i] = (struct argp_option){
            .name = row->name,
            .key = row->letter != 0 ? row->letter : KEY_FIRST + (int)i,
            .arg = row->argument,
            .flags = row->is_optional ? OPTION_ARG_OPTIONAL : 0,
        };
    }
}

static reader reader_of(const plim_usage *usage, void *arguments)
{
    return (reader){ .usage = usage,
                     .arguments = arguments,
                     .json = { .name = "json",
                               .purpose = usage->json,
                               .place = PLIM_PLACE(plim_asked, as_json, bool) } };
}

/* --- help --- */

/* argp could print it, but aborts when it finds no memory to sort options with. */

static void add_usage(plim_text *page, const plim_style *style, const char *who,
                      const plim_usage *usage)
{
    char words[256];
    snprintf(words, sizeof words, "Usage: %s [OPTION...] %s", who, usage->arguments);
    plim_paragraph_write(page, style, 0, PLIM_TONE_PLAIN, "", words);
}

/* "-h, --help" or "    --top=N". */
static void name_option(char *name, size_t name_bytes, const plim_option *option)
{
    const char letter[] = { '-', option->letter, ',', '\0' };
    snprintf(name, name_bytes, "%3s --%s%s%s", option->letter != 0 ? letter : "", option->name,
             option->argument != NULL ? "=" : "", option->argument != NULL ? option->argument : "");
}

/* The paragraph beside the name, wrapped in the second column. */
static void add_option(plim_text *page, const plim_style *style, const plim_option *option)
{
    char name[64];
    char lead[96];
    name_option(name, sizeof name, option);
    snprintf(lead, sizeof lead, "%-*s", (int)(DOC_COLUMN - OPTION_INDENT - 1), name);
    plim_paragraph_write(page, style, OPTION_INDENT, PLIM_TONE_PLAIN, lead, option->purpose);
}

static int finish(const char *who, plim_text *page)
{
    const int status = plim_output_page(who, stdout, page);
    plim_text_deinit(page);
    return status;
}

static int print_usage(const char *who, const plim_usage *usage)
{
    const plim_style style = plim_output_style(stdout, PLIM_COLOR_AUTO, 0);
    plim_text page;
    plim_text_init(&page, NULL, PLIM_OUTPUT_BYTES_MAX);
    add_usage(&page, &style, who, usage);
    return finish(who, &page);
}

static int print_help(const char *who, const plim_usage *usage)
{
    const plim_style style = plim_output_style(stdout, PLIM_COLOR_AUTO, 0);
    plim_text page;
    plim_text_init(&page, NULL, PLIM_OUTPUT_BYTES_MAX);
    add_usage(&page, &style, who, usage);
    plim_paragraph_write(&page, &style, 0, PLIM_TONE_PLAIN, "", usage->purpose);
    plim_text_append_char(&page, '\n');
    const reader self = reader_of(usage, NULL);
    size_t ignored = 0;
    const plim_option *row = NULL;
    for (size_t i = 0; (row = find_row(&self, i, &ignored)) != NULL; i++) {
        if (!row->is_hidden) {
            add_option(&page, &style, row);
        }
    }
    plim_text_append_string(&page, "\nExamples:\n");
    for (const char *const *example = usage->examples; *example != NULL; example += 2) {
        plim_term_line line = plim_term_line_begin(&page, &style, OPTION_INDENT);
        plim_term_line_add(&line, PLIM_TONE_HEADING, example[0]);
        plim_term_line_end(&line);
        plim_paragraph_write(&page, &style, 2 * OPTION_INDENT + 2, PLIM_TONE_PLAIN, "", example[1]);
    }
    plim_text_append_char(&page, '\n');
    plim_paragraph_write(&page, &style, 0, PLIM_TONE_PLAIN, "", usage->closing);
    return finish(who, &page);
}

/* --- reading --- */

/* Takes "-- COMMAND ARG..." off: argp would take it for files. */
static int split_command(int argc, char **argv, plim_asked *asked)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            asked->command = argv + i + 1;
            return i;
        }
    }
    return argc;
}

bool plim_options_read(const plim_usage *usage, int argc, char **argv, void *arguments,
                       int *ret_status)
{
    reader self = reader_of(usage, arguments);
    plim_asked *const asked = (plim_asked *)(void *)(self.arguments + usage->asked);
    struct argp_option options[OPTIONS_MAX] = { 0 };
    list_for_argp(&self, options);
    const struct argp argp = { .options = options, .parser = parse };
    const int ours = usage->takes_command ? split_command(argc, argv, asked) : argc;
    if (argp_parse(&argp, ours, argv, ARGP_NO_HELP, NULL, &self) != 0) {
        plim_say(argv[0], "out of host memory while reading the arguments"); /* else it exits */
        *ret_status = PLIM_EXIT_FAILED;
        return false;
    }
    if (asked->wants_help || asked->wants_usage) {
        *ret_status = asked->wants_help ? print_help(argv[0], usage) : print_usage(argv[0], usage);
        return false;
    }
    return true;
}
