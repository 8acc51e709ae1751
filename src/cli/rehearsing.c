/*
 * rehearsing.c - one rehearsal from start to end. See rehearsing.h.
 */
#include "cli/rehearsing.h"

#include "base/clock.h"
#include "base/units.h"
#include "cli/output.h"
#include "cli/rehearse_record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#define LOG_SHOWN_BYTES 4096
#define ASK_PERSONALITY 0xffffffffuL /* personality(2): changes nothing, tells */

/* ---- where output goes ----------------------------------------------------------------------- */

/* Our own streams while the program has others. */
typedef struct detour {
    int kept_stdout;
    int kept_stderr;
    FILE *log;
} detour;

static bool leave_way(plim_rehearsing_output output, detour *ret)
{
    *ret = (detour){ .kept_stdout = -1, .kept_stderr = -1 };
    if (output == PLIM_REHEARSING_PASSES) {
        return true;
    }
    (void)fflush(stdout);
    ret->kept_stdout = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (output == PLIM_REHEARSING_STDERR) {
        return ret->kept_stdout >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    }
    ret->kept_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    ret->log = tmpfile();
    return ret->kept_stdout >= 0 && ret->kept_stderr >= 0 && ret->log != NULL &&
           dup2(fileno(ret->log), STDOUT_FILENO) >= 0 && dup2(fileno(ret->log), STDERR_FILENO) >= 0;
}

static void put_back(int kept, int stream)
{
    if (kept >= 0) {
        (void)dup2(kept, stream);
        (void)close(kept);
    }
}

static void come_back(detour *way)
{
    (void)fflush(stdout);
    put_back(way->kept_stdout, STDOUT_FILENO);
    put_back(way->kept_stderr, STDERR_FILENO);
}

/* The end of what the program said, where it failed of something else than memory. */
static void show_log(const plim_rehearsing *how, const detour *way)
{
    char text[LOG_SHOWN_BYTES];
    if (way->log == NULL || fseek(way->log, 0, SEEK_END) != 0) {
        return;
    }
    const long bytes = ftell(way->log);
    if (fseek(way->log, bytes > LOG_SHOWN_BYTES ? bytes - LOG_SHOWN_BYTES : 0, SEEK_SET) != 0) {
        return;
    }
    const size_t shown = fread(text, 1, sizeof(text), way->log);
    plim_say(how->who, "the program failed; the end of what it said:");
    (void)fwrite(text, 1, shown, stderr);
    if (shown > 0 && text[shown - 1] != '\n') {
        (void)fputc('\n', stderr);
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

/*
 * PyTorch frees what is in some sets in the order of addresses. Without address randomisation two
 * rehearsals of one program are alike to the byte. Where this is forbidden they may differ a bit.
 */
static unsigned long steady(void)
{
    const int before = personality(ASK_PERSONALITY);
    if (before >= 0) {
        (void)personality((unsigned long)before | ADDR_NO_RANDOMIZE);
    }
    return (unsigned long)before;
}

static void run_program(const plim_rehearsing *how, plim_rehearsing_result *ret)
{
    const plim_child_command command = {
        .argv = plim_rehearsal_argv(ret->rehearsal),
        .environment = plim_rehearsal_environment(ret->rehearsal),
    };
    const plim_explain_options options = { .capacity_bytes = (double)how->options.capacity_bytes };
    const unsigned long before = steady();
    const uint64_t start_ns = plim_clock_now_ns(&plim_clock_system);
    plim_child_run(how->who, &command, &options, &ret->child);
    ret->seconds = (double)(plim_clock_now_ns(&plim_clock_system) - start_ns) / (double)NS_PER_S;
    (void)personality(before);
}

/* A device's memory ran out, and that ended the program: by what PyTorch noted, or what it said. */
static bool has_run_out(const plim_rehearsing_result *result, const plim_rehearsal_outcome *outcome,
                        const plim_oom_message *message)
{
    if (result->child.exit_status == 0) {
        return false;
    }
    for (size_t i = 0; i < outcome->process_count; i++) {
        if (strcmp(outcome->processes[i].ended, "oom") == 0) {
            return true;
        }
    }
    return result->child.died_of_memory && message != NULL &&
           message->judgement.verdict != PLIM_VERDICT_HOST;
}

static bool gather(const plim_rehearsing *how, const char *const *argv, plim_rehearsing_result *ret)
{
    plim_error err = { 0 };
    const plim_rehearsal_outcome *outcome = NULL;
    if (plim_rehearsal_finish(ret->rehearsal, &outcome, &err) != PLIM_OK) {
        plim_say(how->who, "%s", err.message);
        return false;
    }
    const plim_oom_message *message =
        ret->child.explanation != NULL ? plim_explanation_main(ret->child.explanation) : NULL;
    ret->rehearsed = (plim_rehearsed){
        .outcome = outcome,
        .argv = argv,
        .exit_status = ret->child.exit_status,
        .ran_out = has_run_out(ret, outcome, message),
        .message = message,
        .lists_calls = how->options.prints_calls,
    };
    return true;
}

/* ---- what it left ---------------------------------------------------------------------------- */

static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* Those that would end us here and now, and leave the folder, with snapshots of any size. */
static void hold_signals(sigset_t *ret_held, sigset_t *ret_before)
{
    sigemptyset(ret_held);
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
        struct sigaction now;
        if (sigaction(deadly[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) {
            sigaddset(ret_held, deadly[i]);
        }
    }
    sigprocmask(SIG_BLOCK, ret_held, ret_before);
}

static bool has_come(const sigset_t *held)
{
    sigset_t waiting;
    sigpending(&waiting);
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
        if (sigismember(held, deadly[i]) == 1 && sigismember(&waiting, deadly[i]) == 1) {
            return true;
        }
    }
    return false;
}

/* Reads and records results. A signal that comes meanwhile ends us after that, tidied up. */
static bool keep_results(const plim_rehearsing *how, const char *const *argv,
                         plim_rehearsing_result *ret)
{
    sigset_t held;
    sigset_t before;
    hold_signals(&held, &before);
    bool is_good = gather(how, argv, ret);
    if (is_good && how->record_path != NULL) {
        is_good = plim_rehearse_record(how->who, how->record_path, ret);
    }
    if (has_come(&held)) {
        plim_rehearsal_destroy(ret->rehearsal);
        ret->rehearsal = NULL;
        is_good = false;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return is_good;
}

bool plim_rehearsing_run(const plim_rehearsing *how, const char *const *argv,
                         plim_rehearsing_result *ret)
{
    *ret = (plim_rehearsing_result){ 0 };
    plim_error err = { 0 };
    if (plim_rehearsal_prepare(argv, &how->options, &ret->rehearsal, &err) != PLIM_OK) {
        plim_say(how->who, "%s", err.message);
        return false;
    }
    detour way;
    const bool is_on_way = leave_way(how->output, &way);
    if (is_on_way) {
        run_program(how, ret);
    }
    come_back(&way);
    const bool is_good = is_on_way && ret->child.was_started && keep_results(how, argv, ret);
    if (!is_on_way) {
        plim_say(how->who, "cannot redirect the program's output: %s", strerror(errno));
    } else if (is_good && plim_rehearsed_judge(&ret->rehearsed) == PLIM_REHEARSED_FAILED) {
        show_log(how, &way);
    }
    if (way.log != NULL) {
        (void)fclose(way.log);
    }
    return is_good;
}

void plim_rehearsing_deinit(plim_rehearsing_result *result)
{
    plim_rehearse_record_forget(result);
    plim_child_result_deinit(&result->child);
    plim_rehearsal_destroy(result->rehearsal);
    result->rehearsal = NULL;
}
