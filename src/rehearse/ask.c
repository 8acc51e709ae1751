/*
 * ask.c - a script of ours run with a Python. See ask.h.
 */
#include "rehearse/ask.h"

#include "base/error.h"
#include "base/text.h"
#include "rehearse/folder.h"
#include "rehearse/signals.h"
#include "json/document.h"

#include "plimsoll/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_BYTES_MAX ((size_t)64 << 20)
#define WORDS_MAX        8u /* of a script, and three before them */

/* A file of these bytes, to be read from its beginning; -1 and errno. */
static int open_input(const char *text)
{
    const int file = memfd_create("question", MFD_CLOEXEC);
    size_t length = strlen(text);
    while (file >= 0 && length > 0) {
        const ssize_t written = write(file, text, length);
        if (written < 0 && errno != EINTR) {
            const int code = errno;
            (void)close(file);
            errno = code;
            return -1;
        }
        text += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    if (file >= 0) {
        (void)lseek(file, 0, SEEK_SET);
    }
    return file;
}

/* Starts it with its standard output in a pipe; input -1: ours. Returns an errno. */
static int spawn(char *const *argv, int input, int *ret_output, pid_t *ret_pid)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return errno;
    }
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code == 0) {
        code = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        if (code == 0 && input >= 0) {
            code = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
        }
        code = code != 0 ? code : posix_spawn(ret_pid, argv[0], &actions, NULL, argv, environ);
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    (void)close(ends[1]);
    if (code != 0) {
        (void)close(ends[0]);
        return code;
    }
    *ret_output = ends[0];
    return 0;
}

static void read_to_end(int source, plim_text *answer)
{
    char piece[4096];
    for (;;) {
        const ssize_t got = read(source, piece, sizeof(piece));
        if (got > 0) {
            plim_text_append(answer, piece, (size_t)got);
        } else if (got == 0 || errno != EINTR) {
            return;
        }
    }
}

static int start(char *const *argv, const char *input, int *ret_output, pid_t *ret_pid)
{
    const int file = input != NULL ? open_input(input) : -1;
    if (input != NULL && file < 0) {
        return errno;
    }
    const int code = spawn(argv, file, ret_output, ret_pid);
    if (file >= 0) {
        (void)close(file);
    }
    return code;
}

static plim_status ask(char *const *argv, const plim_python_question *question, plim_text *answer,
                       plim_error *err)
{
    int output = -1;
    pid_t pid = 0;
    const int code = start(argv, question->input, &output, &pid);
    if (code != 0) {
        return plim_fail_errno(err, code, "%s: cannot be run", argv[0]);
    }
    read_to_end(output, answer);
    (void)close(output);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status) && plim_signals_ended(PLIM_LAUNCH_SIGNALLED + WTERMSIG(status))) {
        return plim_fail(err, PLIM_CANCELLED, "interrupted");
    }
    if (status != 0) {
        return plim_fail(err, PLIM_IO, "%s: cannot %s (it ended with %d)", argv[0], question->doing,
                         WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) + 128);
    }
    return plim_text_status(answer, "asking Python what it has", err);
}

plim_status plim_python_ask(const plim_python_question *question, yajl_val *ret, plim_error *err)
{
    const char *const *const words = question->words;
    char path[PLIM_PATH_BYTES];
    PLIM_TRY(plim_folder_join(path, sizeof(path), question->home, question->script, err));
    const char *line[WORDS_MAX + 1] = { question->python, "-B", path };
    for (size_t i = 0; words != NULL && words[i] != NULL && 3 + i < WORDS_MAX; i++) {
        line[3 + i] = words[i];
    }
    plim_text answer;
    plim_text_init(&answer, NULL, ANSWER_BYTES_MAX);
    plim_status status = ask((char *const *)(uintptr_t)line, question, &answer, err);
    if (status == PLIM_OK) {
        status = plim_json_read_text(question->python, plim_text_string(&answer), ret, err);
    }
    plim_text_deinit(&answer);
    return status;
}
