/*
 * test_folder.c - the folder of a run is made where it can be, and goes with all that is in it.
 */
#include "harness.h"

#include "rehearse/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES 3000

static const char *const inside[] = { "lib", "results", NULL };

static void make(char *path)
{
    T_EQ_I64(plim_folder_make(path, PLIM_PATH_BYTES, inside, NULL), PLIM_OK);
}

/* A new file in a folder: its name, and a number after it. */
static void touch(const char *folder, const char *name, int number)
{
    char path[PLIM_PATH_BYTES];
    char numbered[64];
    snprintf(numbered, sizeof(numbered), "%s%d", name, number);
    T_EQ_I64(plim_folder_join(path, sizeof(path), folder, numbered, NULL), PLIM_OK);
    const int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    T_TRUE(file >= 0);
    close(file);
}

static bool is_there(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

static void it_is_made_for_the_user_alone_and_removed(void)
{
    char path[PLIM_PATH_BYTES];
    struct stat about;
    make(path);
    T_EQ_I64(stat(path, &about), 0);
    T_EQ_U64(about.st_mode & 0777, 0700);
    plim_folder_remove(path);
    T_FALSE(is_there(path));
    plim_folder_remove(path); /* once more is no harm, nor is none at all */
    plim_folder_remove("");
}

static void whatever_a_program_left_goes_too(void)
{
    char path[PLIM_PATH_BYTES];
    char deep[PLIM_PATH_BYTES];
    make(path);
    for (int i = 0; i < FILES; i++) {
        touch(path, "results/a-name-of-some-length-", i);
    }
    T_EQ_I64(plim_folder_join(deep, sizeof(deep), path, "lib", NULL), PLIM_OK);
    for (int i = 0; i < 40; i++) {
        const size_t length = strlen(deep);
        snprintf(deep + length, sizeof(deep) - length, "/d");
        T_EQ_I64(mkdir(deep, 0700), 0);
        touch(deep, "file", i);
    }
    T_EQ_I64(chmod(deep, 0500), 0); /* read-only */
    plim_folder_remove(path);
    T_FALSE(is_there(path));
}

static void links_are_not_followed(void)
{
    char path[PLIM_PATH_BYTES];
    char other[PLIM_PATH_BYTES];
    char link[PLIM_PATH_BYTES];
    make(path);
    make(other);
    touch(other, "results/", 1);
    T_EQ_I64(plim_folder_join(link, sizeof(link), path, "results/link", NULL), PLIM_OK);
    T_EQ_I64(symlink(other, link), 0);
    plim_folder_remove(path);
    T_FALSE(is_there(path));
    T_EQ_I64(plim_folder_join(link, sizeof(link), other, "results/1", NULL), PLIM_OK);
    T_TRUE(is_there(link));
    plim_folder_remove(other);
}

static void folders_of_another_process_go_and_no_others(void)
{
    char own[PLIM_PATH_BYTES];
    char others[2][PLIM_PATH_BYTES];
    int tube[2];
    make(own);
    T_EQ_I64(pipe(tube), 0);
    const pid_t maker = fork();
    T_TRUE(maker >= 0);
    for (size_t i = 0; maker == 0 && i < 2; i++) {
        make(others[i]);
        touch(others[i], "results/file", 1);
    }
    if (maker == 0) {
        _exit(write(tube[1], others, sizeof(others)) != (ssize_t)sizeof(others));
    }
    T_EQ_I64(waitpid(maker, NULL, 0), maker);
    T_EQ_I64(read(tube[0], others, sizeof(others)), sizeof(others));
    T_TRUE(is_there(others[0]) && is_there(others[1]));
    plim_folder_remove_of(maker);
    T_FALSE(is_there(others[0]) || is_there(others[1]));
    T_TRUE(is_there(own));
    plim_folder_remove(own);
    T_EQ_I64(close(tube[0]) + close(tube[1]), 0);
}

/* LD_PRELOAD takes no blanks and no colons; and a relative TMPDIR would move with the program. */
static void where_it_cannot_be_used_it_is_not_made(void)
{
    static const char *const rows[] = { "/tmp/with blank", "/tmp/with:colon", "relative", "" };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        char path[PLIM_PATH_BYTES];
        T_CASE("%s", rows[i]);
        T_EQ_I64(setenv("TMPDIR", rows[i], 1), 0);
        make(path);
        T_TRUE(strncmp(path, "/tmp/plimsoll-rehearsal-", 24) == 0);
        plim_folder_remove(path);
    }
    unsetenv("TMPDIR");
}

static void a_place_that_is_not_there_is_said_so(void)
{
    char path[PLIM_PATH_BYTES];
    plim_error err = { 0 };
    T_EQ_I64(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
    T_EQ_I64(plim_folder_make(path, sizeof(path), inside, &err), PLIM_IO);
    T_NOT_NULL(strstr(err.message, "/nowhere/at/all"));
    T_NOT_NULL(strstr(err.message, "TMPDIR"));
    T_EQ_STR(path, ""); /* nothing to remove */
    unsetenv("TMPDIR");
}

static void paths_have_an_end(void)
{
    char path[16];
    plim_error err = { 0 };
    T_EQ_I64(plim_folder_join(path, sizeof(path), "/a", "b", &err), PLIM_OK);
    T_EQ_STR(path, "/a/b");
    T_EQ_I64(plim_folder_join(path, sizeof(path), "/1234567890", "123", &err), PLIM_OK);
    T_EQ_I64(plim_folder_join(path, sizeof(path), "/1234567890", "1234", &err), PLIM_LIMIT);
}

T_MAIN(T_TEST(it_is_made_for_the_user_alone_and_removed), T_TEST(whatever_a_program_left_goes_too),
       T_TEST(links_are_not_followed), T_TEST(folders_of_another_process_go_and_no_others),
       T_TEST(where_it_cannot_be_used_it_is_not_made), T_TEST(a_place_that_is_not_there_is_said_so),
       T_TEST(paths_have_an_end))
