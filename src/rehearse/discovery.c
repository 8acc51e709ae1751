/*
 * discovery.c - what a Python has that wants CUDA. See discovery.h.
 */
#include "rehearse/discovery.h"

#include "base/error.h"
#include "base/text.h"
#include "rehearse/folder.h"
#include "rehearse/json_read.h"
#include "rehearse/program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_BYTES_MAX ((size_t)64 << 20)

/* Starts it with its standard output in a pipe. Returns an errno. */
static int spawn(char *const *argv, int *ret_output, pid_t *ret_pid)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return errno;
    }
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code == 0) {
        code = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
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

static plim_status ask(char *const *argv, plim_text *answer, plim_error *err)
{
    int output = -1;
    pid_t pid = 0;
    const int code = spawn(argv, &output, &pid);
    if (code != 0) {
        return plim_fail_errno(err, code, "%s: cannot be run", argv[0]);
    }
    read_to_end(output, answer);
    (void)close(output);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) {
        return plim_fail(err, PLIM_IO, "%s: cannot list its packages (it ended with %d)", argv[0],
                         WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) + 128);
    }
    return plim_text_status(answer, "asking Python what it has", err);
}

/* The next part of a version, 0 at its end, and the place after it and its dot. */
static uint32_t next_part(const char **text)
{
    char *end = NULL;
    const unsigned long part = strtoul(*text, &end, 10);
    *text = *end == '.' ? end + 1 : end;
    return part < 10000 ? (uint32_t)part : 0;
}

/* "9.19.0.56" with 10000 and 100 is 91900, "13.2" with 1000 and 10 is 13020. */
static uint32_t number_of_version(const char *text, uint32_t major_unit, uint32_t minor_unit)
{
    if (text == NULL) {
        return 0;
    }
    const uint32_t major = next_part(&text);
    const uint32_t minor = next_part(&text);
    const uint32_t patch = next_part(&text);
    return major * major_unit + minor * minor_unit + (minor_unit == 100 ? patch : 0);
}

static plim_status understand(yajl_val answer, plim_arena *arena, plim_discovery *ret,
                              plim_error *err)
{
    plim_json_keeper keeper = { .arena = arena };
    ret->torch = plim_json_get_string(answer, "torch", &keeper);
    ret->cuda_version = number_of_version(plim_json_get_string(answer, "cuda", &keeper), 1000, 10);
    ret->cudnn_version =
        number_of_version(plim_json_get_string(answer, "cudnn", &keeper), 10000, 100);
    ret->nccl_version =
        number_of_version(plim_json_get_string(answer, "nccl", &keeper), 10000, 100);
    if (!plim_json_get_strings(answer, "objects", &keeper, &ret->objects, &ret->object_count) ||
        keeper.is_out_of_memory) {
        return plim_fail_memory(err, "listing what wants CUDA");
    }
    return PLIM_OK;
}

plim_status plim_discover(const char *python, const char *home, plim_arena *arena,
                          plim_discovery *ret, plim_error *err)
{
    char script[PLIM_PATH_BYTES];
    PLIM_TRY(plim_folder_join(script, sizeof(script), home, PLIM_HOME_DISCOVER, err));
    char *const argv[] = { plim_arena_copy(arena, python, strlen(python)), (char[]){ "-B" }, script,
                           NULL };
    if (argv[0] == NULL) {
        return plim_fail_memory(err, "asking Python what it has");
    }
    plim_text answer;
    plim_text_init(&answer, NULL, ANSWER_BYTES_MAX);
    plim_status status = ask(argv, &answer, err);
    yajl_val document = NULL;
    if (status == PLIM_OK) {
        status = plim_json_read_text(python, plim_text_string(&answer), &document, err);
    }
    if (status == PLIM_OK) {
        status = understand(document, arena, ret, err);
    }
    yajl_tree_free(document);
    plim_text_deinit(&answer);
    return status;
}
