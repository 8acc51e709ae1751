/*
 * test_program.c - which Python a program runs in, by its name, its first line, and PATH.
 */
#include "harness.h"

#include "launch/path.h"
#include "rehearse/folder.h"
#include "rehearse/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char folder[PLIM_PATH_BYTES];

static void write_program(const char *name, const char *text, mode_t mode)
{
    char path[PLIM_PATH_BYTES];
    T_EQ_I64(plim_folder_join(path, sizeof(path), folder, name, NULL), PLIM_OK);
    FILE *file = fopen(path, "we");
    T_NOT_NULL(file);
    T_TRUE(fputs(text, file) >= 0);
    T_EQ_I64(fclose(file), 0);
    T_EQ_I64(chmod(path, mode), 0);
}

static void set_up(void)
{
    static const char *const inside[] = { "other", NULL };
    T_EQ_I64(plim_folder_make(folder, sizeof(folder), inside, NULL), PLIM_OK);
    T_EQ_I64(setenv("PATH", folder, 1), 0);
    write_program("python3", "", 0700);
    write_program("python3.12", "", 0700);
    write_program("torchrun", "#!/usr/bin/env -S python3.12 -u\nimport torch\n", 0700);
    write_program("train.sh", "#!/bin/sh\npython train.py\n", 0700);
    write_program("binary", "\177ELF", 0700);
    write_program("data", "", 0600);
}

static void expect_python_of(const char *const *argv, const char *python)
{
    char found[PLIM_PATH_BYTES];
    char path[PLIM_PATH_BYTES];
    char expected[PLIM_PATH_BYTES];
    T_CASE("%s", argv[0]);
    T_TRUE(plim_path_find(argv[0], true, found, sizeof(found)));
    T_TRUE(plim_program_python(found, argv + 1, path, sizeof(path)));
    T_EQ_I64(plim_folder_join(expected, sizeof(expected), folder, python, NULL), PLIM_OK);
    T_EQ_STR(path, expected);
}

static void expect_python(const char *program, const char *python)
{
    const char *const argv[] = { program, NULL };
    expect_python_of(argv, python);
}

static void the_python_of_a_program_is_found(void)
{
    set_up();
    expect_python("python3.12", "python3.12");
    expect_python("torchrun", "python3.12");
    expect_python("train.sh", "python3");
    expect_python("binary", "python3");
    static const char *const timed[] = { "binary", "600", "data", "python3.12", "x", NULL };
    expect_python_of(timed, "python3.12");
    static const char *const ranks[] = { "binary", "-k", "torchrun", "python3", NULL };
    expect_python_of(ranks, "python3.12");
    plim_folder_remove(folder);
}

static void what_cannot_run_is_no_program(void)
{
    char path[PLIM_PATH_BYTES];
    set_up();
    T_FALSE(plim_path_find("data", true, path, sizeof(path)));
    T_FALSE(plim_path_find("other", true, path, sizeof(path)));
    T_FALSE(plim_path_find("nowhere", true, path, sizeof(path)));
    T_FALSE(plim_path_find("/nowhere/python3", true, path, sizeof(path)));
    T_FALSE(plim_path_find("python3", true, path, 4));
    T_EQ_I64(setenv("PATH", "/nowhere", 1), 0);
    static const char *const without[] = { NULL };
    T_FALSE(plim_program_python("/nowhere/binary", without, path, sizeof(path)));
    plim_folder_remove(folder);
}

static void expect_in_python(const char *const *argv, const char *const *expected)
{
    plim_arena arena;
    plim_arena_init(&arena, NULL);
    char other[PLIM_PATH_BYTES];
    const char *const *words = NULL;
    T_CASE("%s", argv[0]);
    T_EQ_I64(plim_folder_join(other, sizeof(other), folder, "other/python", NULL), PLIM_OK);
    T_EQ_I64(plim_program_in_python(&arena, argv, other, &words, NULL), PLIM_OK);
    size_t i = 0;
    for (; expected[i] != NULL; i++) {
        T_NOT_NULL(words[i]);
        const char *slash = strstr(words[i], folder); /* paths, from the folder on */
        T_EQ_STR(slash != NULL ? words[i] + strlen(folder) + 1 : words[i], expected[i]);
    }
    T_NULL(words[i]);
    plim_arena_deinit(&arena);
}

static void a_command_runs_in_another_python(void)
{
    set_up();
    write_program("other/python", "", 0700);
    write_program("other/accelerate", "#!/usr/bin/python3\n", 0700);
    write_program("accelerate", "#!/usr/bin/env python3\n", 0700);
    static const char *const commands[][4] = {
        { "python3", "train.py", "python3", NULL },
        { "torchrun", "train.py", NULL },
        { "accelerate", "launch", NULL },
        { "binary", "-k", "python3.12", NULL },
        { "train.sh", "data", NULL },
    };
    static const char *const expected[][5] = {
        { "other/python", "train.py", "python3", NULL },
        { "other/python", "torchrun", "train.py", NULL },
        { "other/accelerate", "launch", NULL },
        { "binary", "-k", "other/python", NULL },
        { "train.sh", "data", NULL },
    };
    for (size_t i = 0; i < T_COUNT(commands); i++) {
        expect_in_python(commands[i], expected[i]);
    }
    plim_folder_remove(folder);
}

static void a_folder_goes_with_all_that_is_in_it(void)
{
    char path[PLIM_PATH_BYTES];
    struct stat about;
    static const char *const inside[] = { "a", "a/b", NULL };
    T_EQ_I64(setenv("TMPDIR", "/nowhere with blanks", 1), 0); /* ld.so takes no such path */
    T_EQ_I64(plim_folder_make(path, sizeof(path), inside, NULL), PLIM_OK);
    T_EQ_I64(unsetenv("TMPDIR"), 0);
    T_EQ_I64(stat(path, &about), 0);
    T_EQ_U64(about.st_mode & 0777, 0700);
    plim_folder_remove(path);
    T_TRUE(stat(path, &about) != 0);
    plim_folder_remove("");
}

T_MAIN(T_TEST(the_python_of_a_program_is_found), T_TEST(what_cannot_run_is_no_program),
       T_TEST(a_command_runs_in_another_python), T_TEST(a_folder_goes_with_all_that_is_in_it))
