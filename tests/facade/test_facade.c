/*
 * test_facade.c - programs run over facades as over the vendor's libraries. See play/calls.h.
 *
 * The programs are processes of their own, because facades must be there before anything else.
 * The dynamic linker says on stderr what it does not like, so nothing may appear there.
 */
#include "harness.h"

#include "facade/facade.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_BYTES 512

static char folder[64];

static void path_in_folder(char *ret, const char *name)
{
    (void)snprintf(ret, PATH_BYTES, "%s/%s", folder, name);
}

static void make_folder(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/plimsoll-test-facade-XXXXXX");
    T_NOT_NULL(mkdtemp(folder));
}

static void remove_folder(const plim_wants *wants)
{
    char path[PATH_BYTES];
    for (size_t i = 0; i < plim_wants_count(wants); i++) {
        path_in_folder(path, plim_wants_soname(wants, i));
        T_EQ_I64(unlink(path), 0);
    }
    path_in_folder(path, "said");
    (void)unlink(path);
    T_EQ_I64(rmdir(folder), 0);
}

/* Wants of both consumers, as facades in a fresh folder. */
static plim_wants *make_facades(void)
{
    static const char *const objects[] = { PLAY_CONSUMER12,   PLAY_CONSUMER13, PLAY_LINKED,
                                           "/nowhere/at/all", "/dev/null",     "/" };
    make_folder();
    plim_wants *wants = NULL;
    plim_error err = { 0 };
    const plim_status status =
        plim_wants_collect(objects, T_COUNT(objects), PLAY_STANDIN, NULL, &wants, &err);
    T_EQ_STR(err.message, "");
    T_EQ_I64(status, PLIM_OK);
    T_EQ_I64(plim_facades_write(wants, folder, &err), PLIM_OK);
    return wants;
}

static void preload(const plim_wants *wants, char *ret, size_t bytes)
{
    size_t length = (size_t)snprintf(ret, bytes, "LD_PRELOAD=");
    for (size_t i = 0; i < plim_wants_count(wants); i++) {
        length += (size_t)snprintf(ret + length, bytes - length, "%s%s/%s", i == 0 ? "" : ":",
                                   folder, plim_wants_soname(wants, i));
        T_TRUE(length < bytes);
    }
}

/* Runs a program with what it says going to a file, and fails when it says anything. */
static void run(char *const *arguments, char *const *environment)
{
    char path[PATH_BYTES];
    path_in_folder(path, "said");
    posix_spawn_file_actions_t actions;
    T_EQ_I64(posix_spawn_file_actions_init(&actions), 0);
    T_EQ_I64(
        posix_spawn_file_actions_addopen(&actions, 2, path, O_WRONLY | O_CREAT | O_TRUNC, 0600), 0);
    T_EQ_I64(posix_spawn_file_actions_adddup2(&actions, 2, 1), 0);
    pid_t pid = 0;
    T_EQ_I64(posix_spawnp(&pid, arguments[0], &actions, NULL, arguments, environment), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    T_EQ_I64(waitpid(pid, &status, 0), pid);

    char said[1024] = "";
    FILE *const file = fopen(path, "r");
    T_NOT_NULL(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    T_EQ_I64(fclose(file), 0);
    T_EQ_STR(said, "");
    T_EQ_I64(status, 0);
}

static void programs_run_over_facades(void)
{
    static const struct {
        const char *name;
        char *setting;
    } ways[] = {
        { "functions are bound when they are called", "PLAIN=1" },
        { "functions are bound at once", "LD_BIND_NOW=1" },
        { "the vendor's library is on the path", "LD_LIBRARY_PATH=" PLAY_VENDOR13 },
    };
    plim_wants *const wants = make_facades();
    char preloaded[2048];
    preload(wants, preloaded, sizeof preloaded);
    for (size_t i = 0; i < T_COUNT(ways); i++) {
        T_CASE("%s", ways[i].name);
        char *const environment[] = { preloaded, ways[i].setting, NULL };
        run((char *[]){ PLAY_PLAYER, folder, PLAY_CONSUMER12, PLAY_CONSUMER13, NULL }, environment);
        run((char *[]){ PLAY_LINKED, NULL }, environment);
    }
    remove_folder(wants);
    plim_wants_destroy(wants);
}

static void libraries_are_listed_by_name(void)
{
    static const char *const expected[] = { "libcuda.so.1", "libcudart.so.12", "libcudart.so.13",
                                            "libnccl.so.2", "libnvidia-ml.so.1" };
    plim_wants *const wants = make_facades();
    T_EQ_U64(plim_wants_count(wants), T_COUNT(expected));
    for (size_t i = 0; i < T_COUNT(expected); i++) {
        T_EQ_STR(plim_wants_soname(wants, i), expected[i]);
    }
    remove_folder(wants);
    plim_wants_destroy(wants);
}

static void nothing_wanted_is_nothing_written(void)
{
    static const char *const objects[] = { PLAY_PLAYER, "/nowhere" };
    plim_wants *wants = NULL;
    plim_error err;
    T_EQ_I64(plim_wants_collect(objects, T_COUNT(objects), PLAY_STANDIN, NULL, &wants, &err),
             PLIM_OK);
    T_EQ_U64(plim_wants_count(wants), 0);
    make_folder();
    T_EQ_I64(plim_facades_write(wants, folder, &err), PLIM_OK);
    remove_folder(wants);
    plim_wants_destroy(wants);
}

/* What readers of object files say of one that is not as they expect. */
static void readelf_finds_nothing_odd(void)
{
    plim_wants *const wants = make_facades();
    char command[2 * PATH_BYTES];
    for (size_t i = 0; i < plim_wants_count(wants); i++) {
        T_CASE("%s", plim_wants_soname(wants, i));
        (void)snprintf(command, sizeof command,
                       "readelf -aW %s/%s 2>&1 | grep -iE 'warning|error|corrupt|<unknown'", folder,
                       plim_wants_soname(wants, i));
        char said[256] = "";
        FILE *const pipe = popen(command, "r"); /* NOLINT(cert-env33-c): the path is ours */
        T_NOT_NULL(pipe);
        said[fread(said, 1, sizeof said - 1, pipe)] = '\0';
        (void)pclose(pipe);
        T_EQ_STR(said, "");
    }
    remove_folder(wants);
    plim_wants_destroy(wants);
}

static size_t read_file(const char *path, unsigned char *ret, size_t most)
{
    FILE *const file = fopen(path, "rb");
    T_NOT_NULL(file);
    const size_t bytes = fread(ret, 1, most, file);
    T_EQ_I64(fclose(file), 0);
    return bytes;
}

static void the_same_wants_are_the_same_bytes(void)
{
    static unsigned char first[1 << 16];
    static unsigned char second[1 << 16];
    char path[PATH_BYTES];
    size_t bytes[2] = { 0, 0 };
    for (int i = 0; i < 2; i++) {
        plim_wants *const wants = make_facades();
        path_in_folder(path, "libcudart.so.13");
        bytes[i] = read_file(path, i == 0 ? first : second, sizeof first);
        remove_folder(wants);
        plim_wants_destroy(wants);
    }
    T_TRUE(bytes[0] > 0 && bytes[0] < sizeof first);
    T_EQ_U64(bytes[0], bytes[1]);
    T_EQ_MEM(first, second, bytes[0]);
}

static void stand_ins_that_cannot_be_led_to_are_refused(void)
{
    make_folder();
    char path[PATH_BYTES];
    path_in_folder(path, "libplim_standin.so");
    static unsigned char file[1 << 20];
    const size_t bytes = read_file(PLAY_STANDIN, file, sizeof file);
    const struct {
        const char *name;
        size_t bytes;
        unsigned char machine; /* low byte of e_machine */
        plim_status status;
        const char *message;
    } cases[] = {
        { "an empty file", 0, 62, PLIM_IO, "cannot be read" },
        { "no ELF header", 40, 62, PLIM_CORRUPT, "no shared object" },
        { "for another processor", bytes, 2, PLIM_UNSUPPORTED, "ELF machine 2" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        FILE *const out = fopen(path, "wb");
        T_NOT_NULL(out);
        file[18] = cases[i].machine;
        T_EQ_U64(fwrite(file, 1, cases[i].bytes, out), cases[i].bytes);
        T_EQ_I64(fclose(out), 0);
        plim_wants *wants = NULL;
        plim_error err = { 0 };
        T_EQ_I64(plim_wants_collect(NULL, 0, path, NULL, &wants, &err), cases[i].status);
        T_NULL(wants);
        T_NOT_NULL(strstr(err.message, cases[i].message));
        T_NOT_NULL(strstr(err.message, path));
    }
    T_EQ_I64(unlink(path), 0);
    T_EQ_I64(rmdir(folder), 0);
    plim_wants *wants = NULL;
    plim_error err = { 0 };
    T_EQ_I64(plim_wants_collect(NULL, 0, path, NULL, &wants, &err), PLIM_IO);
    T_NOT_NULL(strstr(err.message, "No such file"));
}

static void a_folder_that_is_not_there_is_said_so(void)
{
    plim_wants *const wants = make_facades();
    plim_error err = { 0 };
    T_EQ_I64(plim_facades_write(wants, "/nowhere/at/all", &err), PLIM_IO);
    T_EQ_STR(err.message, "/nowhere/at/all/libcuda.so.1: cannot be written: "
                          "No such file or directory");
    remove_folder(wants);
    plim_wants_destroy(wants);
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    static const char *const objects[] = { PLAY_CONSUMER13 };
    plim_wants *wants = NULL;
    plim_error err;
    plim_status status = plim_wants_collect(objects, 1, PLAY_STANDIN, mem, &wants, &err);
    if (status == PLIM_OK) {
        status = plim_facades_write(wants, folder, &err);
    }
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    plim_wants_destroy(wants);
    return status == PLIM_OK;
}

static void nothing_leaks_when_memory_runs_out(void)
{
    plim_wants *const wants = make_facades();
    t_fail_each_allocation(attempt, NULL);
    remove_folder(wants);
    plim_wants_destroy(wants);
}

T_MAIN(T_TEST(programs_run_over_facades), T_TEST(libraries_are_listed_by_name),
       T_TEST(nothing_wanted_is_nothing_written), T_TEST(readelf_finds_nothing_odd),
       T_TEST(the_same_wants_are_the_same_bytes),
       T_TEST(stand_ins_that_cannot_be_led_to_are_refused),
       T_TEST(a_folder_that_is_not_there_is_said_so), T_TEST(nothing_leaks_when_memory_runs_out))
