/*
 * cmd_dump.c - "what does it hold just now?", of a program that runs.
 */
#include "base/error.h"
#include "base/numbers.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/result.h"
#include "report/json/documents.h"
#include "report/model/dump.h"

#include "plimsoll/live.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAIT_SECONDS 60
#define POLL_NS      20000000 /* a dump takes a tenth of a second at least */

typedef struct dump_arguments {
    plim_asked asked;
    bool all;
    double wait_seconds;
    int32_t pid; /* 0: none was given */
} dump_arguments;

/* --- arguments --- */

static void take_wait(struct argp_state *state, void *arguments, char *text)
{
    ((dump_arguments *)arguments)->wait_seconds = plim_option_seconds(state, "wait", text);
}

static const plim_option rows[] = {
    PLIM_FLAG("all", dump_arguments, all,
              "dump every process of PID's run, or below PID; without PID, every one of yours"),
    PLIM_TAKEN("wait", "SECONDS", take_wait, "wait so long for the dumps (60)"),
};
static const plim_option_group groups[] = { PLIM_OPTION_GROUP(rows, 0) };

static const char *const examples[] = {
    "plimsoll dump 4711",
    "a snapshot of that process as it is now, with the objects that hold its memory",
    "plimsoll dump --all 4711",
    "of every rank of that job; 4711 is one of them, or the torchrun that started them",
    "plimsoll dump --wait=5min --json 4711",
    "for a script: where the files are, or the reason that a dump failed",
    NULL,
};

static void check(struct argp_state *state, void *given)
{
    dump_arguments *const arguments = given;
    if (arguments->asked.file_count > 1) {
        argp_error(state, "one process at a time; --all takes all of its run");
    }
    if (arguments->asked.file_count == 0 && !arguments->all) {
        argp_error(state, "which process? Give the number of one that plimsoll run started, or "
                          "--all");
    }
    if (arguments->asked.file_count == 1) {
        arguments->pid =
            (int32_t)plim_option_number(state, "PID", arguments->asked.files[0], 1, INT32_MAX);
    }
}

static const plim_usage usage = {
    .arguments = "PID",
    .purpose = "Requests a dump of a program that plimsoll run started: PyTorch's snapshot, "
               "figures, and the objects that hold its memory. The program goes on as soon as "
               "the dump is written.",
    .groups = groups,
    .group_count = 1,
    .asked = offsetof(dump_arguments, asked),
    .json = "print what was written as JSON, document \"dump/1\"",
    .examples = examples,
    .closing = "Exit status: 0 fine, 2 wrong usage, 3 a process could not be reached or did not "
               "dump.",
    .check = check,
};

/* --- which processes --- */

/* The folder of a run: that of its process, without the last name. */
static size_t run_bytes(const plim_live_page *live)
{
    const char *const slash = strrchr(live->folder, '/');
    return slash != NULL ? (size_t)(slash - live->folder) : 0;
}

static bool is_same_run(const plim_live_page *a, const plim_live_page *b)
{
    const size_t bytes = run_bytes(a);
    return bytes > 0 && bytes == run_bytes(b) && memcmp(a->folder, b->folder, bytes) == 0;
}

static const plim_live_page *find(const plim_live_list *list, int32_t pid)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].pid == pid) {
            return &list->items[i];
        }
    }
    return NULL;
}

static bool is_chosen(const dump_arguments *arguments, const plim_live_page *own,
                      const plim_live_page *live)
{
    if (!arguments->all) {
        return live->pid == arguments->pid;
    }
    return arguments->pid == 0 || plim_live_is_of(live, arguments->pid) ||
           (own != NULL && is_same_run(own, live));
}

static int say_absent(const char *who, const dump_arguments *arguments, const plim_live_list *list)
{
    plim_error err = { 0 };
    size_t below = 0;
    int32_t first = 0;
    for (size_t i = 0; i < list->count && arguments->pid != 0; i++) {
        if (plim_live_is_of(&list->items[i], arguments->pid)) {
            below++;
            first = first == 0 ? list->items[i].pid : first;
        }
    }
    if (arguments->pid == 0) {
        plim_say(who, "no process of yours runs under \"plimsoll run\" and uses CUDA");
    } else if (below > 0) {
        plim_say(who, "process %d started %zu that can be dumped (%d%s): name one, or give --all",
                 (int)arguments->pid, below, (int)first, below > 1 ? ", …" : "");
    } else {
        (void)plim_live_why_absent(arguments->pid, &err);
        plim_say(who, "%s", err.message);
    }
    return PLIM_EXIT_FAILED;
}

/* --- requesting and waiting --- */

static void name_file(const plim_live_page *live, const char *ending, char *ret)
{
    (void)snprintf(ret, PLIM_DUMP_PATH_BYTES, "%s/%s%s", live->folder, live->last_dump, ending);
    if (live->folder[0] == '\0' || access(ret, F_OK) != 0) {
        ret[0] = '\0';
    }
}

static void conclude(plim_dumped *dumped)
{
    const plim_live_dump *const dump = &dumped->dump;
    dumped->age_seconds = plim_live_age_seconds(&dump->live);
    if (dump->is_done) {
        dumped->outcome = dump->has_failed ? PLIM_DUMP_FAILED : PLIM_DUMP_DONE;
    } else if (dump->is_gone) {
        dumped->outcome = PLIM_DUMP_GONE;
    } else {
        dumped->outcome = dump->was_taken_up ? PLIM_DUMP_UNFINISHED : PLIM_DUMP_NO_ANSWER;
        plim_live_dump_withdraw(dump);
    }
    if (dumped->outcome == PLIM_DUMP_DONE) {
        name_file(&dump->live, ".json", dumped->document);
        name_file(&dump->live, ".pickle", dumped->snapshot);
        name_file(&dump->live, ".holders.json", dumped->holders);
    }
}

static void wait_for(plim_dumped *dumps, size_t count, double seconds)
{
    bool waits = true;
    while (waits) {
        waits = false;
        for (size_t i = 0; i < count; i++) {
            plim_live_dump *const dump = &dumps[i].dump;
            if (!dump->is_done && !dump->is_gone && !plim_live_dump_look(dump)) {
                waits = waits || dump->seconds < seconds;
            }
        }
        if (waits) {
            (void)nanosleep(&(struct timespec){ .tv_nsec = POLL_NS }, NULL);
        }
    }
    for (size_t i = 0; i < count; i++) {
        conclude(&dumps[i]);
    }
}

/* A process that ends just now has no page to be written to. */
static size_t request(const char *who, const dump_arguments *arguments, const plim_live_list *list,
                      plim_dumped *ret)
{
    const plim_live_page *const own = find(list, arguments->pid);
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (is_chosen(arguments, own, &list->items[i])) {
            plim_error err = { 0 };
            ret[count].dump.live = list->items[i];
            if (plim_live_dump_request(&ret[count].dump, &err) == PLIM_OK) {
                count++;
            } else {
                plim_say(who, "%s", err.message);
            }
        }
    }
    return count;
}

static int print(const char *who, const dump_arguments *arguments, const plim_dumped *dumps,
                 size_t count)
{
    plim_result result;
    plim_page page;
    bool is_fine = true;
    plim_result_begin(&result, who, stdout, &arguments->asked);
    plim_page_init(&page, NULL);
    plim_dump_page(&page, dumps, count);
    if (result.has_document) {
        result.err.status = plim_dump_json_write(result.sink, dumps, count, &page, &result.err);
    }
    for (size_t i = 0; i < count; i++) {
        is_fine = is_fine && dumps[i].outcome == PLIM_DUMP_DONE;
    }
    const int status = plim_result_end(&result, &page);
    return status == PLIM_EXIT_OK && !is_fine ? PLIM_EXIT_FAILED : status;
}

static int dump_all(const char *who, const dump_arguments *arguments, const plim_live_list *list)
{
    plim_dumped *const dumps = calloc(list->count + 1, sizeof *dumps);
    if (dumps == NULL) {
        plim_error err = { 0 };
        (void)plim_fail_memory(&err, "requesting dumps");
        plim_say(who, "%s", err.message);
        return PLIM_EXIT_FAILED;
    }
    const size_t count = request(who, arguments, list, dumps);
    int status = PLIM_EXIT_FAILED;
    if (count == 0) {
        status = say_absent(who, arguments, list);
    } else {
        wait_for(dumps, count, arguments->wait_seconds);
        status = print(who, arguments, dumps, count);
    }
    free(dumps);
    return status;
}

int plim_cmd_dump(int argc, char **argv)
{
    const char *const who = argv[0];
    dump_arguments arguments = { .wait_seconds = WAIT_SECONDS };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    plim_error err = { 0 };
    plim_live_list list = { 0 };
    if (plim_live_list_read(NULL, &list, &err) != PLIM_OK) {
        plim_say(who, "%s", err.message);
        return PLIM_EXIT_FAILED;
    }
    status = dump_all(who, &arguments, &list);
    plim_live_list_deinit(&list);
    return status;
}
