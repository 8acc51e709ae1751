/*
 * reason.c - why a rehearsal has no answer. See reason.h.
 */
#include "rehearse/reason.h"

#include "base/error.h"
#include "base/numbers.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES 512u

/* ---- the end of the output ------------------------------------------------------------------- */

void plim_output_end_take(void *ctx, int stream, const char *data, size_t bytes)
{
    plim_output_end *end = ctx;
    const size_t taken = plim_min(bytes, sizeof(end->bytes));
    const size_t kept = plim_min(end->count, sizeof(end->bytes) - taken);
    memmove(end->bytes, end->bytes + end->count - kept, kept);
    memcpy(end->bytes + kept, data + bytes - taken, taken);
    end->count = kept + taken;
    if (end->output != NULL) {
        end->output(end->output_ctx, stream, data, bytes);
    }
}

static bool ends_with(const char *text, size_t length, const char *ending)
{
    const size_t bytes = strlen(ending);
    return length >= bytes && memcmp(text + length - bytes, ending, bytes) == 0;
}

/* "ValueError: …", "package.module.SomeError", "KeyboardInterrupt": a traceback's last line. */
static bool is_exception(const char *line, size_t length)
{
    size_t name = 0;
    while (name < length &&
           (isalnum((unsigned char)line[name]) || line[name] == '_' || line[name] == '.')) {
        name++;
    }
    const bool is_name = ends_with(line, name, "Error") || ends_with(line, name, "Exception") ||
                         ends_with(line, name, "Interrupt");
    return is_name && (name == length || line[name] == ':');
}

/* The last line that is an exception's, or that Python prints where it cannot open a script. */
static bool find_exception(const plim_output_end *end, char *ret, size_t ret_bytes)
{
    size_t begin = 0;
    bool is_found = false;
    while (begin < end->count) {
        const char *line = end->bytes + begin;
        const char *stop = memchr(line, '\n', end->count - begin);
        size_t length = stop != NULL ? (size_t)(stop - line) : end->count - begin;
        begin += length + 1;
        while (length > 0 && line[length - 1] == '\r') {
            length--;
        }
        static const char cannot[] = "can't open file ";
        const char *missing = memmem(line, length, cannot, strlen(cannot));
        if (is_exception(line, length) || missing != NULL) {
            const size_t skipped = missing != NULL ? (size_t)(missing - line) : 0;
            (void)snprintf(ret, ret_bytes, "%.*s", (int)(length - skipped), line + skipped);
            is_found = true;
        }
    }
    return is_found;
}

/* ---- whose failure --------------------------------------------------------------------------- */

/* Ended by a launcher because another process had failed, or the launcher itself. */
static bool is_follower(const plim_rehearsed_process *process)
{
    return process->device_count == 0 || strcmp(process->exception, "terminated by SIGTERM") == 0;
}

const plim_rehearsed_process *plim_reason_process(const plim_rehearsal_outcome *outcome)
{
    const plim_rehearsed_process *found = NULL;
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *process = &outcome->processes[i];
        if (process->exception == NULL) {
            continue;
        }
        if (!is_follower(process)) {
            return process;
        }
        found = found == NULL ? process : found;
    }
    return found;
}

bool plim_rehearsed_used_gpu(const plim_rehearsal_outcome *outcome)
{
    for (uint32_t i = 0; i < outcome->device_count; i++) {
        if (outcome->gpus[i].peak_bytes > 0) {
            return true;
        }
    }
    return false;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void describe_program(const plim_rehearsed *rehearsed, const plim_output_end *end,
                             char text[TEXT_BYTES])
{
    const plim_rehearsed_process *culprit = plim_reason_process(rehearsed->outcome);
    char printed[TEXT_BYTES];
    if (culprit != NULL && rehearsed->outcome->process_count > 1 && culprit->device_count > 0) {
        (void)snprintf(text, TEXT_BYTES, "rank %llu: %s", (unsigned long long)culprit->rank,
                       culprit->exception);
    } else if (culprit != NULL) {
        (void)snprintf(text, TEXT_BYTES, "%s", culprit->exception);
    } else if (find_exception(end, printed, sizeof(printed))) {
        (void)snprintf(text, TEXT_BYTES, "%s", printed);
    } else {
        (void)snprintf(text, TEXT_BYTES, "exit status %d", rehearsed->exit_status);
    }
}

static void describe_signal(const plim_rehearsed *rehearsed, const char *name,
                            char text[TEXT_BYTES])
{
    (void)snprintf(text, TEXT_BYTES, "%s%s", name,
                   rehearsed->launched.was_oom_killed
                       ? ": the kernel ended it, since this machine's own memory ran out"
                       : "");
}

static void describe_no_gpu(const plim_rehearsal_outcome *outcome, char text[TEXT_BYTES])
{
    const char *why = "no process imported PyTorch, and no program called CUDA";
    for (size_t i = 0; i < outcome->process_count; i++) {
        if (outcome->processes[i].no_gpu_text != NULL) {
            why = outcome->processes[i].no_gpu_text;
            break;
        }
    }
    (void)snprintf(text, TEXT_BYTES, "%s", why);
}

/* The signal that ended it, by itself or as a shell says it; NULL: none did. */
static const char *find_signal(const plim_rehearsed *rehearsed)
{
    static const struct {
        int number;
        const char *name;
    } signals[] = {
        { SIGSEGV, "SIGSEGV (segmentation fault)" },
        { SIGABRT, "SIGABRT (aborted)" },
        { SIGBUS, "SIGBUS (bus error)" },
        { SIGFPE, "SIGFPE (arithmetic error)" },
        { SIGILL, "SIGILL (illegal instruction)" },
        { SIGTRAP, "SIGTRAP (trap)" },
        { SIGKILL, "SIGKILL (killed)" },
        { SIGTERM, "SIGTERM (terminated)" },
        { SIGINT, "SIGINT (interrupted)" },
        { SIGHUP, "SIGHUP (hung up)" },
        { SIGQUIT, "SIGQUIT (quit)" },
        { SIGPIPE, "SIGPIPE (broken pipe)" },
    };
    const int number = rehearsed->launched.signal != 0
                           ? rehearsed->launched.signal
                           : rehearsed->exit_status - PLIM_LAUNCH_SIGNALLED;
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (signals[i].number == number) {
            return signals[i].name;
        }
    }
    return rehearsed->launched.signal != 0 ? "a signal" : NULL;
}

/* The reason's word, and its text unless a process has said it; NULL: it did not fail. */
static const char *judge(const plim_rehearsed *rehearsed, const plim_output_end *end,
                         char text[TEXT_BYTES])
{
    const plim_rehearsal_outcome *outcome = rehearsed->outcome;
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *process = &outcome->processes[i];
        if (process->stop_reason != NULL &&
            strcmp(process->stop_reason, PLIM_REASON_NO_KERNELS) == 0) {
            (void)snprintf(text, TEXT_BYTES, "%s",
                           process->stop_text != NULL ? process->stop_text : "");
            return PLIM_REASON_NO_KERNELS;
        }
    }
    const char *signal_name = find_signal(rehearsed);
    if (signal_name != NULL) {
        describe_signal(rehearsed, signal_name, text);
        return PLIM_REASON_SIGNAL;
    }
    if (rehearsed->exit_status != 0) {
        describe_program(rehearsed, end, text);
        return PLIM_REASON_PROGRAM;
    }
    if (!plim_rehearsed_used_gpu(outcome)) {
        describe_no_gpu(outcome, text);
        return PLIM_REASON_NO_GPU;
    }
    return NULL;
}

plim_status plim_reason_find(const plim_rehearsed *rehearsed, const plim_output_end *end,
                             plim_arena *arena, plim_rehearsed_reason *ret, plim_error *err)
{
    *ret = (plim_rehearsed_reason){ 0 };
    if (rehearsed->ran_out || rehearsed->outcome->unanswered_count > 0) {
        return PLIM_OK; /* another verdict */
    }
    char text[TEXT_BYTES] = "";
    const char *word = judge(rehearsed, end, text);
    if (word != NULL) {
        ret->text = plim_arena_copy(arena, text, strlen(text));
        ret->word = word;
    }
    return word == NULL || ret->text != NULL ? PLIM_OK : plim_fail_memory(err, "naming a failure");
}
