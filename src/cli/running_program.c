/*
 * running_program.c - a program under the recorder, from its start to what is said after it.
 */
#include "cli/command.h"
#include "cli/output.h"
#include "cli/result.h"
#include "cli/running.h"
#include "report/json/documents.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void show(const char *who, const plim_running_wanted *wanted, const plim_ran *ran)
{
    plim_result result;
    plim_page page;
    plim_ran_account account = { 0 };
    plim_result_begin(&result, who, stderr, wanted->asked);
    plim_page_init(&page, NULL);
    result.has_page = plim_run_has_page(ran);
    result.prints_page = result.prints_page && !wanted->how->is_quiet;
    if (result.has_page &&
        (result.prints_page || result.has_document || wanted->asked->page != NULL)) {
        if (plim_run_has_account(ran)) {
            plim_ran_account_find(who, ran, &account);
        }
        plim_page_gap(&page); /* after the program's own output */
        plim_run_page(&page, &wanted->view, ran, &account.found);
    }
    if (result.has_document) {
        result.err.status =
            plim_run_json_write(result.sink, ran, &account.found, &page, &result.err);
    }
    (void)plim_result_end(&result, &page); /* the exit status is the program's */
    plim_ran_account_end(&account);
}

/* The first warning of a process's recorder; the others are counted, one that ranks share once. */
static const char *find_recorder_warning(const plim_ran *ran, size_t *ret_more)
{
    const char *first = NULL;
    *ret_more = 0;
    for (size_t i = 0; i < ran->process_count; i++) {
        const plim_ran_process *const process = &ran->processes[i];
        for (size_t j = 0; j < process->warning_count; j++) {
            const bool is_same = first != NULL && strcmp(first, process->warnings[j]) == 0;
            *ret_more += first != NULL && !is_same;
            first = first != NULL ? first : process->warnings[j];
        }
    }
    return first;
}

/* What could not be recorded or read, and what the program lacked: a line each. */
static void say_warnings(const char *who, const plim_ran *ran)
{
    size_t more = 0;
    const char *const recorder = find_recorder_warning(ran, &more);
    for (size_t i = 0; i < ran->warning_count; i++) {
        plim_say(who, "%s", ran->warnings[i]);
    }
    if (recorder != NULL && more > 0) {
        plim_say(who, "the recorder warns: %s (and %zu more in %s)", recorder, more,
                 ran->folder != NULL ? ran->folder : "process.json");
    } else if (recorder != NULL) {
        plim_say(who, "the recorder warns: %s", recorder);
    }
    if (ran->lacks_gpu) {
        plim_say(who, "this machine has no GPU for it: --gpu=NAME runs it over stand-ins for one");
    }
}

/* Techniques that the program ran without, or that changed nothing: a line each. */
static void say_techniques(const char *who, const plim_ran *ran)
{
    for (size_t i = 0; i < ran->technique_count; i++) {
        const plim_rehearsed_technique *const one = &ran->techniques[i];
        const bool is_refused = strcmp(one->state, "refused") == 0;
        const bool is_waiting = strcmp(one->state, "waiting") == 0;
        const char *const otherwise =
            is_waiting ? "no process of the program reported it" : "no reason was given";
        if (strcmp(one->state, "applied") != 0) {
            plim_say(who, "--with %s%s%s: %s: %s", one->name, one->value[0] != '\0' ? "=" : "",
                     one->value,
                     is_refused   ? "refused, the program ran without it"
                     : is_waiting ? "never came to it"
                                  : "no effect",
                     one->text != NULL ? one->text : otherwise);
        }
    }
}

int plim_running_program(const char *who, char *const *argv, const plim_running_wanted *wanted)
{
    static const int to_stderr[PLIM_LAUNCH_STREAMS] = { STDERR_FILENO, STDERR_FILENO };
    const plim_launch_options launch = { .outputs = wanted->has_document ? to_stderr : NULL };
    plim_ran ran;
    plim_error err = { 0 };
    const plim_status status =
        plim_run_launch((const char *const *)argv, wanted->how, &launch, &ran, &err);
    int answer = ran.exit_status;
    if (status != PLIM_OK) {
        plim_say(who, "%s", err.message);
    } else {
        plim_output_unwritten(who, &ran.launched);
        if (ran.main_process != NULL && strcmp(ran.main_process->ended, "stopped") == 0) {
            answer = PLIM_EXIT_FOUND; /* by --stop-on; the program may have ended with anything */
        }
        if (!wanted->how->is_quiet) {
            say_warnings(who, &ran);
            say_techniques(who, &ran);
        }
        show(who, wanted, &ran);
    }
    plim_ran_deinit(&ran);
    return answer;
}
