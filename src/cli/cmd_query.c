/*
 * cmd_query.c - "I have a question of my own": a recording as tables, asked in SQL.
 */
#include "base/sink.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "cli/result.h"
#include "report/json/query_json.h"
#include "report/model/query.h"

#include "plimsoll/query.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define TIME_LIMIT_SECONDS     60.0
#define TIME_LIMIT_SECONDS_MAX 1e8 /* three years */
#define MEMORY_LIMIT_BYTES     ((uint64_t)1 << 30)
#define GRACE_SECONDS          5.0 /* so much later a function of SQLite that ignores the limit ends */

typedef struct query_arguments {
    plim_asked asked;
    const char *sql_file;
    bool as_csv;
    bool full;
    bool wants_schema;
    const char *schema;
    uint64_t limit;
    uint64_t memory_limit_bytes;
    double time_limit_seconds;
} query_arguments;

/* --- options --- */

static void take_schema(struct argp_state *state, void *arguments, char *text)
{
    query_arguments *const self = arguments;
    (void)state;
    self->wants_schema = true;
    self->schema = text;
}

static void take_time_limit(struct argp_state *state, void *arguments, char *text)
{
    const double seconds = plim_option_seconds(state, "time-limit", text);
    ((query_arguments *)arguments)->time_limit_seconds =
        seconds < TIME_LIMIT_SECONDS_MAX ? seconds : TIME_LIMIT_SECONDS_MAX;
}

static const plim_option options[] = {
    { .name = "schema",
      .argument = "TABLE",
      .purpose = "list tables, views and functions, or the columns of one table; no FILE is read",
      .kind = PLIM_OPTION_TAKEN,
      .take = take_schema,
      .is_optional = true },
    PLIM_TEXT("sql-file", "PATH", query_arguments, sql_file,
              "read the statement from a file; - is standard input"),
    PLIM_FLAG("csv", query_arguments, as_csv, "print comma-separated values, with a header"),
    PLIM_COUNT("limit", query_arguments, limit, 1, 1000000000,
               "rows of the table that is drawn (200); --csv and --json have all"),
    PLIM_FLAG("full", query_arguments, full, "do not cut long texts"),
    PLIM_TAKEN("time-limit", "TIME", take_time_limit, "stop the statement after so long (60s)"),
    PLIM_SIZE("memory-limit", query_arguments, memory_limit_bytes,
              "memory that SQLite may take for sorting and grouping (1GiB)"),
};
static const plim_option_group groups[] = { PLIM_OPTION_GROUP(options, 0) };

static const char *const examples[] = {
    "plimsoll query run.pickle 'SELECT * FROM peak_by_stack LIMIT 5'",
    "the five stacks that held most at the peak",
    "plimsoll query run.pickle \"SELECT * FROM live('step:7')\" --csv",
    "what was live at the highest moment of step 7, for a spreadsheet",
    "plimsoll query --schema=allocations",
    "the columns of a table",
    NULL,
};

static void check(struct argp_state *state, void *arguments)
{
    const query_arguments *const self = arguments;
    const size_t wanted = self->wants_schema ? 0 : self->sql_file != NULL ? 1 : 2;
    const size_t given = self->asked.file_count;
    if (self->as_csv && self->asked.as_json) {
        argp_error(state, "--csv and --json exclude each other");
    }
    if (self->wants_schema && (self->as_csv || self->sql_file != NULL)) {
        argp_error(state, "--schema runs no statement: leave out --csv and --sql-file");
    }
    if (given > wanted) {
        argp_error(state, self->wants_schema
                              ? "--schema takes no FILE; --schema=TABLE names a table"
                          : self->sql_file != NULL
                              ? "one FILE: the statement comes from --sql-file"
                              : "one FILE and one statement; quote the statement for the shell");
    }
    if (given < wanted) {
        argp_error(state, given == 0
                              ? "which file? Give a snapshot or recording, or - for standard input"
                              : "which statement? For example 'SELECT * FROM peak_by_stack'");
    }
    if (self->sql_file != NULL && strcmp(self->sql_file, "-") == 0 &&
        strcmp(self->asked.files[0], "-") == 0) {
        argp_error(state, "FILE and --sql-file cannot both be standard input");
    }
}

static const plim_usage usage = {
    .arguments = "FILE 'SQL'",
    .purpose =
        "Answers a question in SQL about a recording: PyTorch's snapshots (pickle or JSON) and "
        "Plimsoll's recordings (.plim), plain or compressed; - is standard input. Events, "
        "allocations, stacks, steps, moments and findings are tables of SQLite, which are read "
        "where they are. Statements only read.",
    .groups = groups,
    .group_count = 1,
    .asked = offsetof(query_arguments, asked),
    .json = "print the rows as JSON, document \"query/1\"; with --schema \"query-schema/1\"",
    .examples = examples,
    .closing =
        "Exit status: 0 fine, 2 wrong usage or a wrong statement, 3 a file could not be read, a "
        "limit was reached or the output could not be written.",
    .check = check,
};

/* --- a last resort --- */

static void end_now(int signal_number)
{
    static const char message[] =
        "plimsoll query: a function of the statement ran past the time limit\n";
    (void)signal_number;
    const ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
    (void)ignored;
    _exit(PLIM_EXIT_FAILED);
}

/* SQLite looks at the clock between steps; a single function on huge texts may take for ever. */
static void watch(double seconds)
{
    const struct itimerval timer = { .it_value = { .tv_sec = (time_t)seconds, .tv_usec = 1 } };
    struct sigaction action = { .sa_handler = end_now };
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

static void stop_watching(void)
{
    const struct itimerval none = { .it_value = { .tv_sec = 0 } };
    (void)setitimer(ITIMER_REAL, &none, NULL);
}

/* --- a statement --- */

typedef struct statement {
    const char *who;
    const query_arguments *arguments;
    plim_query *query;
    const char *sql;
    size_t bytes;
} statement;

/* Says why a statement failed; the exit status. */
static int say_failure(const statement *self, const plim_error *err)
{
    if (err->offset != PLIM_NO_OFFSET) {
        plim_say(self->who, "%s (at byte %llu of the statement)", err->message,
                 (unsigned long long)err->offset);
    } else {
        plim_say(self->who, "%s", err->message);
    }
    const bool is_wrong = err->status == PLIM_INVALID_ARGUMENT || err->status == PLIM_FORBIDDEN;
    if (err->status == PLIM_INVALID_ARGUMENT) {
        plim_say(self->who,
                 "\"plimsoll query --schema\" lists tables and functions, --schema=TABLE "
                 "the columns of one");
    }
    return is_wrong ? PLIM_EXIT_USAGE : PLIM_EXIT_FAILED;
}

static plim_status run(const statement *self, const plim_query_reader *reader, plim_error *err)
{
    watch(self->arguments->time_limit_seconds + GRACE_SECONDS);
    const plim_status status = plim_query_run(self->query, self->sql, self->bytes, reader, err);
    stop_watching();
    return status;
}

/* The readers of one statement: each gets all rows, until it fails. */
typedef struct readers {
    plim_query_reader items[3];
    size_t count;
} readers;

static void add_reader(readers *self, plim_query_reader reader)
{
    self->items[self->count++] = reader;
}

static void drop_reader(readers *self, size_t index)
{
    self->items[index] = self->items[--self->count];
}

static bool begin_all(void *ctx, const char *const *names, size_t count)
{
    readers *const self = ctx;
    for (size_t i = self->count; i-- > 0;) {
        if (!self->items[i].begin(self->items[i].ctx, names, count)) {
            drop_reader(self, i);
        }
    }
    return self->count > 0;
}

static bool hand_to_all(void *ctx, const plim_query_value *values, size_t count)
{
    readers *const self = ctx;
    for (size_t i = self->count; i-- > 0;) {
        if (!self->items[i].row(self->items[i].ctx, values, count)) {
            drop_reader(self, i);
        }
    }
    return self->count > 0;
}

/* The rows of a statement on their way to the page, to CSV and to the document. */
typedef struct rows_out {
    plim_result result;
    plim_page page;
    plim_page says; /* of the document, which has the rows in a member of their own */
    plim_query_csv csv;
    plim_query_answer table;
    plim_query_document document;
    readers all;
} rows_out;

static void begin_rows(const statement *self, rows_out *out)
{
    const query_arguments *const arguments = self->arguments;
    const plim_sink standard = plim_sink_to_file(stdout);
    plim_result *const result = &out->result;
    plim_result_begin(result, self->who, stdout, &arguments->asked);
    result->prints_page = result->prints_page && !arguments->as_csv;
    plim_page_init(&out->page, NULL);
    plim_page_init(&out->says, NULL);
    out->csv = (plim_query_csv){ .write = standard.write, .ctx = standard.ctx };
    out->table = (plim_query_answer){ .page = &out->page,
                                      .limit = arguments->limit,
                                      .full = arguments->full };
    out->document = (plim_query_document){ .sink = result->sink,
                                           .page = &out->says,
                                           .file = arguments->asked.files[0],
                                           .sql = self->sql,
                                           .sql_bytes = self->bytes };
    out->all.count = 0;
    if (arguments->as_csv) {
        add_reader(&out->all, plim_query_csv_reader(&out->csv));
    }
    if (result->prints_page || arguments->asked.page != NULL) {
        add_reader(&out->all, plim_query_answer_reader(&out->table));
    }
    if (result->has_document) {
        add_reader(&out->all, plim_query_document_reader(&out->document));
    }
}

/* why  the statement failed, or NULL */
static int end_rows(const statement *self, const plim_error *why, rows_out *out)
{
    plim_result *const result = &out->result;
    result->has_page = why == NULL;
    if (result->has_page && (result->prints_page || self->arguments->asked.page != NULL)) {
        plim_query_page(&out->page, &out->table);
    }
    if (result->has_document && why != NULL && !out->document.has_begun) {
        result->err = *why;
        result->is_said = true;
    } else if (result->has_document) {
        plim_query_count_page(&out->says, out->document.row_count);
        result->err.status = plim_query_document_finish(&out->document, why, &result->err);
    }
    plim_query_answer_deinit(&out->table);
    plim_page_deinit(&out->says);
    return plim_result_end(result, &out->page);
}

static int print(const statement *self)
{
    rows_out out;
    plim_error err = { 0 };
    begin_rows(self, &out);
    const plim_query_reader reader = { .begin = begin_all, .row = hand_to_all, .ctx = &out.all };
    plim_status status = run(self, &reader, &err);
    if (status == PLIM_CANCELLED) { /* by us: each output says itself why it failed */
        status = PLIM_OK;
    }
    const int said = status == PLIM_OK ? PLIM_EXIT_OK : say_failure(self, &err);
    const int ended = end_rows(self, status == PLIM_OK ? NULL : &err, &out);
    const int finished = self->arguments->as_csv ? plim_output_finish(self->who) : PLIM_EXIT_OK;
    return said != PLIM_EXIT_OK ? said : ended != PLIM_EXIT_OK ? ended : finished;
}

static int ask(const char *who, const query_arguments *arguments, const char *sql, size_t bytes)
{
    const char *const path = arguments->asked.files[0];
    plim_history *history = NULL;
    plim_error err = { 0 };
    if (plim_reading_history(path, &history, &err) != PLIM_OK) {
        plim_reading_failed(who, path, &err);
        return PLIM_EXIT_FAILED;
    }
    const plim_query_options limits = { .time_limit_seconds = arguments->time_limit_seconds,
                                        .memory_limit_bytes = arguments->memory_limit_bytes };
    statement self = { .who = who, .arguments = arguments, .sql = sql, .bytes = bytes };
    int status = PLIM_EXIT_FAILED;
    if (plim_query_open(history, &limits, &self.query, &err) != PLIM_OK) {
        plim_say(who, "%s", err.message);
    } else {
        status = print(&self);
    }
    plim_query_close(self.query);
    plim_history_destroy(history);
    return status;
}

static int ask_file(const char *who, const query_arguments *arguments)
{
    plim_text sql;
    plim_error err = { 0 };
    if (plim_reading_text(arguments->sql_file, &sql, &err) != PLIM_OK) {
        plim_reading_failed(who, arguments->sql_file, &err);
        plim_text_deinit(&sql);
        return PLIM_EXIT_FAILED;
    }
    const int status = ask(who, arguments, plim_text_string(&sql), sql.length);
    plim_text_deinit(&sql);
    return status;
}

static int print_schema(const char *who, const query_arguments *arguments)
{
    plim_result result;
    plim_page page;
    plim_page_init(&page, NULL);
    if (!plim_query_schema_page(&page, arguments->schema)) {
        plim_page_deinit(&page);
        plim_say(who, "there is no table \"%s\"; --schema lists them", arguments->schema);
        return PLIM_EXIT_USAGE;
    }
    plim_result_begin(&result, who, stdout, &arguments->asked);
    if (result.has_document) {
        result.err.status = plim_query_schema_json_write(result.sink, &page, &result.err);
    }
    return plim_result_end(&result, &page);
}

int plim_cmd_query(int argc, char **argv)
{
    const char *const who = argv[0];
    query_arguments arguments = { .limit = PLIM_ANSWER_ROWS_DEFAULT,
                                  .memory_limit_bytes = MEMORY_LIMIT_BYTES,
                                  .time_limit_seconds = TIME_LIMIT_SECONDS };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    if (arguments.wants_schema) {
        return print_schema(who, &arguments);
    }
    if (arguments.sql_file != NULL) {
        return ask_file(who, &arguments);
    }
    const char *const sql = arguments.asked.files[1];
    return ask(who, &arguments, sql, strlen(sql));
}
