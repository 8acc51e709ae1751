/*
 * run.c - launch and read: the order of things. See plimsoll/run.h.
 */
#include "run/run.h"
#include "rehearse/with_file.h"

#include "base/ascii.h"
#include "base/error.h"
#include "rehearse/reason.h"
#include "rehearse/signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- conditions ------------------------------------------------------------------------------ */

/* "leak", or "reserved>95%" with 0 < percent <= 100. */
static bool is_condition(const char *word, size_t length)
{
    static const char reserved[] = "reserved>";
    const size_t head = sizeof(reserved) - 1;
    if (length == 4 && strncmp(word, "leak", length) == 0) {
        return true;
    }
    if (length <= head + 1 || strncmp(word, reserved, head) != 0) {
        return false;
    }
    char *end = NULL;
    const double percent = strtod(word + head, &end);
    const bool is_digit = plim_is_digit(word[head]);
    return is_digit && end == word + length - 1 && *end == '%' && percent > 0 && percent <= 100;
}

plim_status plim_run_check_stop(const char *conditions, plim_error *err)
{
    for (const char *word = conditions;;) {
        const size_t length = strcspn(word, ",");
        if (!is_condition(word, length)) {
            return plim_fail(err, PLIM_INVALID_ARGUMENT,
                             "\"%.*s\" is neither leak nor reserved>95%%", (int)length, word);
        }
        if (word[length] == '\0') {
            return PLIM_OK;
        }
        word += length + 1;
    }
}

/* ---- the account ----------------------------------------------------------------------------- */

static plim_run *create(const plim_mem *mem)
{
    plim_run *run = plim_mem_alloc_zeroed(mem, 1, sizeof(*run));
    if (run != NULL) {
        plim_arena_init(&run->arena, mem);
        run->lock = -1;
    }
    return run;
}

static bool is_memory(const plim_oom_message *message)
{
    return message != NULL && message->judgement.verdict != PLIM_VERDICT_NOT_OOM;
}

/* The message that the program printed, or the text of the main dump: its output may have gone
 * elsewhere. */
static plim_status find_message(plim_run *run, plim_ran *ret, plim_error *err)
{
    const plim_explanation *const printed = ret->launched.explanation;
    ret->message = printed != NULL ? plim_explanation_main(printed) : NULL;
    const char *const text = ret->main_dump != NULL ? ret->main_dump->error : NULL;
    if (is_memory(ret->message) || text == NULL) {
        return PLIM_OK;
    }
    const plim_explain_options how = { .mem = run->arena.mem, .without_series = true };
    PLIM_TRY(plim_explain_text(text, strlen(text), &how, &run->of_dump, err));
    const plim_oom_message *const of_dump = plim_explanation_main(run->of_dump);
    ret->message = is_memory(of_dump) ? of_dump : ret->message;
    return PLIM_OK;
}

static bool has_ended_by_oom(const plim_ran *ran)
{
    for (size_t i = 0; i < ran->process_count; i++) {
        if (strcmp(ran->processes[i].ended, "oom") == 0) {
            return true;
        }
    }
    return ran->main_dump != NULL && strcmp(ran->main_dump->reason, "oom") == 0;
}

static void judge(plim_ran *ret)
{
    const plim_launched *const launched = &ret->launched;
    const bool is_of_caught = launched->died_of_memory && !launched->was_oom_killed &&
                              is_memory(ret->message) && plim_run_was_caught(ret, ret->message);
    ret->died_of_memory = (launched->died_of_memory && !is_of_caught) || has_ended_by_oom(ret);
    const bool is_of_host =
        launched->was_oom_killed ||
        (ret->message != NULL && ret->message->judgement.verdict == PLIM_VERDICT_HOST);
    if (ret->died_of_memory && ret->main_dump == NULL && !is_of_host) {
        ret->why_unseen = plim_run_why_unseen(ret);
    }
}

/* A report of techniques that cannot be read is a warning. */
static plim_status gather_techniques(plim_run *run, plim_ran *ret, plim_error *err)
{
    plim_with_reports reports = { 0 };
    PLIM_TRY(plim_with_read(run->folder, &run->arena, &reports, err));
    for (size_t i = 0; i < reports.unread_count; i++) {
        plim_run_warn(run, reports.unread[i]);
    }
    return plim_with_join(ret->choice != NULL ? ret->choice->techniques : NULL, &reports,
                          &run->arena, &ret->techniques, &ret->technique_count, err);
}

static plim_status gather(plim_run *run, plim_ran *ret, plim_error *err)
{
    if (run->folder[0] != '\0') {
        PLIM_TRY(plim_run_gather(run, err));
        PLIM_TRY(gather_techniques(run, ret, err));
        ret->folder = run->folder;
    }
    ret->processes = run->processes.items;
    ret->process_count = run->processes.count;
    ret->warnings = run->warnings.items;
    ret->warning_count = run->warnings.count;
    plim_run_choose_main(ret);
    PLIM_TRY(find_message(run, ret, err));
    judge(ret);
    return PLIM_OK;
}

plim_status plim_run_read(const char *folder, const plim_mem *mem, plim_ran *ret, plim_error *err)
{
    static const char *const nothing[] = { NULL };
    *ret = (plim_ran){ .argv = nothing };
    ret->run = create(plim_mem_or_heap(mem));
    if (ret->run == NULL) {
        return plim_fail_memory(err, "gathering the account of a run");
    }
    const int length = snprintf(ret->run->folder, sizeof(ret->run->folder), "%s", folder);
    plim_status status = (size_t)length < sizeof(ret->run->folder)
                             ? PLIM_OK
                             : plim_fail(err, PLIM_LIMIT, "%s: the path is too long", folder);
    status = status == PLIM_OK ? gather(ret->run, ret, err) : status;
    if (status != PLIM_OK) {
        plim_ran_deinit(ret);
    }
    return status;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* A failure of the recorder is no reason not to run the program. */
static plim_status go_without(plim_run *run, plim_status status, const plim_error *why,
                              plim_error *err)
{
    if (status == PLIM_OUT_OF_HOST_MEMORY) {
        return plim_fail_memory(err, "preparing a run");
    }
    if (status != PLIM_OK) {
        char line[sizeof(why->message) + 64];
        (void)snprintf(line, sizeof(line), "the program was not recorded: %s", why->message);
        plim_run_warn(run, line);
        plim_run_give_up_place(run);
    }
    return PLIM_OK;
}

/* A place that was chosen has to be had; without another the program runs unrecorded. */
static plim_status place(plim_run *run, const char *const *argv, const plim_run_choice *choice,
                         plim_error *err)
{
    plim_error why = { 0 };
    return choice->folder != NULL
               ? plim_run_place(run, argv, choice, err)
               : go_without(run, plim_run_place(run, argv, choice, &why), &why, err);
}

static plim_status prepare(plim_run *run, const char *const *argv, const plim_run_choice *choice,
                           plim_error *err)
{
    plim_error why = { 0 };
    if (!choice->is_unrecorded) {
        PLIM_TRY(place(run, argv, choice, err));
    }
    if (choice->standins == NULL) {
        return go_without(run, plim_run_arm(run, choice, &why), &why, err);
    }
    plim_rehearse_variable armed[PLIM_RUN_VARIABLES_MAX];
    PLIM_TRY(plim_run_variables(run, choice, armed, err));
    plim_rehearse_options over = *choice->standins;
    over.mem = choice->mem;
    over.home = choice->home;
    over.techniques = choice->techniques;
    over.variables = armed;
    return plim_rehearsal_prepare(argv, &over, &run->standins, err);
}

static plim_status launch(plim_run *run, const char *const *argv, const plim_run_choice *choice,
                          const plim_launch_options *given, plim_ran *ret, plim_error *err)
{
    plim_launch_options how = given != NULL ? *given : (plim_launch_options){ 0 };
    plim_output_end end = { .output = how.output, .output_ctx = how.output_ctx };
    how.explain.mem = choice->mem;
    how.output = plim_output_end_take;
    how.output_ctx = &end;
    how.environment =
        run->standins != NULL ? plim_rehearsal_environment(run->standins) : run->environment;
    /* So that two runs over the stand-ins agree: see rehearse/run.c. */
    how.has_fixed_addresses = run->standins != NULL;
    char *const *words =
        run->standins != NULL ? plim_rehearsal_argv(run->standins) : (char *const *)(uintptr_t)argv;
    const plim_status status = plim_launch(words, &how, &ret->launched, err);
    ret->exit_status = ret->launched.exit_status;
    ret->lacks_gpu = status == PLIM_OK && ret->exit_status != 0 && run->standins == NULL &&
                     plim_run_lacks_gpu(end.bytes, end.count);
    return status;
}

/* The file is for later readers: without it the rest of the folder stands. */
static void write_run_file(plim_run *run, const plim_ran *ran, const plim_launched *launched)
{
    plim_error err = { 0 };
    if (run->folder[0] != '\0' &&
        plim_run_file_write(run, ran->argv, ran->choice, ran->started, launched, &err) != PLIM_OK) {
        plim_run_warn(run, err.message);
    }
}

/* A signal that comes meanwhile takes effect after that: the folder of the stand-ins is gone, and
 * run.json says how the program ended. */
static void finish(plim_run *run, const plim_ran *ran, plim_status status)
{
    const plim_held_signals signals = plim_signals_hold();
    plim_rehearsal_destroy(run->standins);
    run->standins = NULL;
    if (status == PLIM_OK) {
        write_run_file(run, ran, &ran->launched);
        plim_run_leave(run);
    } else {
        plim_run_give_up_place(run);
    }
    plim_signals_release(signals);
}

static plim_status run_all(plim_run *run, const plim_launch_options *given, plim_ran *ret,
                           plim_error *err)
{
    const plim_run_choice *const choice = ret->choice;
    if (choice->stop_on != NULL) {
        PLIM_TRY(plim_run_check_stop(choice->stop_on, err));
    }
    plim_status status = prepare(run, ret->argv, choice, err);
    if (status == PLIM_OK) {
        ret->started = plim_run_clock();
        write_run_file(run, ret, NULL);
        status = launch(run, ret->argv, choice, given, ret, err);
    }
    finish(run, ret, status);
    status = status == PLIM_OK ? gather(run, ret, err) : status;
    if (status == PLIM_OK && run->processes.count == 0 && run->is_own_folder) {
        plim_run_give_up_place(run); /* no process used CUDA: it would push out one that has one */
        ret->folder = NULL;
    }
    return status;
}

plim_status plim_run_launch(const char *const *argv, const plim_run_choice *choice,
                            const plim_launch_options *launch_options, plim_ran *ret,
                            plim_error *err)
{
    static const plim_run_choice defaults;
    *ret = (plim_ran){ .argv = argv,
                       .choice = choice != NULL ? choice : &defaults,
                       .exit_status = PLIM_LAUNCH_FAILED };
    ret->run = create(plim_mem_or_heap(ret->choice->mem));
    if (ret->run == NULL) {
        return plim_fail_memory(err, "preparing a run");
    }
    return run_all(ret->run, launch_options, ret, err);
}

void plim_ran_deinit(plim_ran *ran)
{
    plim_launched_deinit(&ran->launched);
    if (ran->run != NULL) {
        plim_run *const run = ran->run;
        const plim_mem *const mem = run->arena.mem;
        plim_run_leave(run);
        plim_rehearsal_destroy(run->standins);
        plim_explanation_destroy(run->of_dump);
        PLIM_VEC_FREE(mem, &run->warnings);
        PLIM_VEC_FREE(mem, &run->processes);
        plim_arena_deinit(&run->arena);
        plim_mem_free(mem, run, 1, sizeof(*run));
    }
    *ran = (plim_ran){ 0 };
}
