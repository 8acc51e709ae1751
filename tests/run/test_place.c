/*
 * test_place.c - the folder of a run: its name, which others go for it, and which never do.
 */
#include "run/scratch.h"

#include "run/run.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

static plim_run run;

static plim_status make(const plim_run_choice *choice, plim_error *err)
{
    static const char *const argv[] = { "python", "-u", "train.py", NULL };
    run = (plim_run){ .lock = -1 };
    return plim_run_place(&run, argv, choice, err);
}

static void set_up(void)
{
    scratch_begin();
    T_EQ_I64(setenv("XDG_STATE_HOME", scratch, 1), 0);
    T_EQ_I64(setenv("TMPDIR", scratch, 1), 0);
}

static void tear_down(void)
{
    plim_run_leave(&run);
    T_EQ_I64(unsetenv("TMPDIR"), 0);
    scratch_end();
}

static size_t count_runs(void)
{
    DIR *const folder = opendir(scratch_path("plimsoll/runs"));
    size_t count = 0;
    T_NOT_NULL(folder);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(folder);
    return count;
}

static void make_runs(void)
{
    scratch_folder("plimsoll");
    scratch_folder("plimsoll/runs");
}

static void make_run_of_2020(const char *name)
{
    char inside[PLIM_PATH_BYTES];
    (void)snprintf(inside, sizeof inside, "plimsoll/runs/%s", name);
    scratch_folder(inside);
    (void)snprintf(inside, sizeof inside, "plimsoll/runs/%s/run.json", name);
    scratch_file(inside, "{}");
}

/* ---- names ----------------------------------------------------------------------------------- */

static void a_run_is_named_after_its_script(void)
{
    static const struct {
        const char *words[6];
        const char *name;
    } rows[] = {
        { { "python", "-u", "train.py", "--batch", "8" }, "train" },
        { { "torchrun", "--nproc-per-node=8", "/home/ada/my job/pre train.py" }, "pre_train" },
        { { "python", "-m", "package.train" }, "package.train" },
        { { "/usr/bin/vllm", "serve" }, "vllm" },
        { { "-m", "x" }, "_m" },
        { { "/" }, "_" },
        { { "" }, "" },
        { { "../\x1b[31m.py" }, "__31m" },
        { { "a_very_long_name_that_goes_on_and_on_and_on_and_on.py" },
          "a_very_long_name_that_goes_on_and_on_an" },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        char name[40];
        plim_run_name(rows[i].words, name, sizeof name);
        T_EQ_STR(name, rows[i].name);
    }
}

static void a_new_folder_is_for_its_user_alone(void)
{
    set_up();
    T_EQ_I64(make(&(plim_run_choice){ 0 }, NULL), PLIM_OK);
    struct stat about;
    T_EQ_I64(stat(run.folder, &about), 0);
    T_EQ_U64(about.st_mode & 0777, 0700);
    T_TRUE(strncmp(run.folder, scratch_path("plimsoll/runs/2"), strlen(scratch) + 16) == 0);
    T_NOT_NULL(strstr(run.folder, "-train-"));
    T_EQ_U64(count_runs(), 1);
    plim_run_give_up_place(&run);
    T_EQ_U64(count_runs(), 0);
    tear_down();
}

static void a_home_that_cannot_be_had_is_replaced_by_tmp(void)
{
    set_up();
    scratch_file("file", "");
    T_EQ_I64(setenv("XDG_STATE_HOME", scratch_path("file"), 1), 0);
    T_EQ_I64(make(&(plim_run_choice){ 0 }, NULL), PLIM_OK);
    T_TRUE(strncmp(run.folder, scratch_path("plimsoll-runs-"), strlen(scratch) + 15) == 0);
    plim_run_give_up_place(&run);
    tear_down();
}

static void a_folder_in_tmp_that_others_write_is_not_taken(void)
{
    char name[64];
    plim_error err = { 0 };
    set_up();
    scratch_file("file", "");
    T_EQ_I64(setenv("XDG_STATE_HOME", scratch_path("file"), 1), 0);
    (void)snprintf(name, sizeof name, "plimsoll-runs-%lu", (unsigned long)getuid());
    scratch_folder(name);
    T_EQ_I64(chmod(scratch_path(name), 0777), 0);
    T_EQ_I64(make(&(plim_run_choice){ 0 }, &err), PLIM_IO);
    T_NOT_NULL(strstr(err.message, "file/plimsoll")); /* where it should be */
    T_EQ_STR(run.folder, "");
    tear_down();
}

/* ---- rotation -------------------------------------------------------------------------------- */

static void the_oldest_goes(void)
{
    set_up();
    make_runs();
    make_run_of_2020("20200101-000000-a-1000000001");
    make_run_of_2020("20200102-000000-a-b-1000000002");
    make_run_of_2020("20200103-000000-a-1000000003");
    T_EQ_I64(make(&(plim_run_choice){ .runs_kept = 2 }, NULL), PLIM_OK);
    T_EQ_U64(count_runs(), 2);
    T_TRUE(scratch_has("plimsoll/runs/20200103-000000-a-1000000003"));
    tear_down();
}

static void what_is_no_run_stays(void)
{
    static const char *const names[] = { "mine",
                                         "2020",
                                         "20200101-000000-",
                                         "20200101-000000-a",
                                         "20200101-000000-a-",
                                         "20200101-000000-a-1x",
                                         "20200101_000000-a-1",
                                         "20200101-00000-a-1" };
    set_up();
    make_runs();
    for (size_t i = 0; i < T_COUNT(names); i++) {
        make_run_of_2020(names[i]);
    }
    T_EQ_I64(symlink(scratch, scratch_path("plimsoll/runs/20200101-000000-link-1")), 0);
    T_EQ_I64(make(&(plim_run_choice){ .runs_kept = 1 }, NULL), PLIM_OK);
    T_EQ_U64(count_runs(), T_COUNT(names) + 2);
    tear_down();
}

static void a_run_that_is_locked_stays(void)
{
    set_up();
    make_runs();
    make_run_of_2020("20200101-000000-a-1000000001");
    scratch_file("plimsoll/runs/20200101-000000-a-1000000001/lock", "");
    const int lock =
        open(scratch_path("plimsoll/runs/20200101-000000-a-1000000001/lock"), O_RDWR | O_CLOEXEC);
    T_TRUE(lock >= 0 && flock(lock, LOCK_EX) == 0);
    T_EQ_I64(make(&(plim_run_choice){ .runs_kept = 1 }, NULL), PLIM_OK);
    T_EQ_U64(count_runs(), 2);
    plim_run_leave(&run);
    T_EQ_I64(close(lock), 0);
    T_EQ_I64(make(&(plim_run_choice){ .runs_kept = 1 }, NULL), PLIM_OK);
    T_FALSE(scratch_has("plimsoll/runs/20200101-000000-a-1000000001"));
    tear_down();
}

static void a_run_with_a_living_process_stays(void)
{
    char name[128];
    set_up();
    make_runs();
    make_run_of_2020("20200101-000000-a-1000000001");
    (void)snprintf(name, sizeof name, "plimsoll/runs/20200101-000000-a-1000000001/%ld",
                   (long)getpid());
    scratch_folder(name);
    T_EQ_I64(make(&(plim_run_choice){ .runs_kept = 1 }, NULL), PLIM_OK);
    T_TRUE(scratch_has(name));
    tear_down();
}

/* ---- a folder that was chosen ---------------------------------------------------------------- */

static void a_chosen_folder_is_made_with_those_above(void)
{
    set_up();
    const plim_run_choice choice = { .folder = scratch_path("a/b c/d") };
    T_EQ_I64(make(&choice, NULL), PLIM_OK);
    T_EQ_STR(run.folder, choice.folder);
    T_TRUE(scratch_has("a/b c/d/lock"));
    plim_run_give_up_place(&run);
    T_TRUE(scratch_has("a/b c/d")); /* it is the user's */
    tear_down();
}

static void a_chosen_folder_of_an_earlier_run_is_emptied_of_it(void)
{
    set_up();
    scratch_folder("out");
    scratch_file("out/run.json", "{}");
    scratch_folder("out/4711");
    scratch_file("out/4711/process.json", "{}");
    scratch_file("out/notes.txt", "mine");
    scratch_folder("out/figures");
    const plim_run_choice choice = { .folder = scratch_path("out") };
    T_EQ_I64(make(&choice, NULL), PLIM_OK);
    T_FALSE(scratch_has("out/4711"));
    T_TRUE(scratch_has("out/notes.txt"));
    T_TRUE(scratch_has("out/figures"));
    tear_down();
}

static void a_chosen_folder_with_other_files_is_refused(void)
{
    plim_error err = { 0 };
    set_up();
    scratch_folder("out");
    scratch_folder("out/2024");
    const plim_run_choice choice = { .folder = scratch_path("out") };
    T_EQ_I64(make(&choice, &err), PLIM_IO);
    T_NOT_NULL(strstr(err.message, "out: has other files in it"));
    T_TRUE(scratch_has("out/2024"));
    T_EQ_STR(run.folder, "");
    tear_down();
}

static void a_chosen_folder_that_is_in_use_is_refused(void)
{
    plim_error err = { 0 };
    set_up();
    const plim_run_choice choice = { .folder = scratch_path("out") };
    T_EQ_I64(make(&choice, NULL), PLIM_OK);
    plim_run other = { .lock = -1 };
    static const char *const argv[] = { "true", NULL };
    T_EQ_I64(plim_run_place(&other, argv, &choice, &err), PLIM_IO);
    T_NOT_NULL(strstr(err.message, "another run writes to it"));
    tear_down();
}

static void a_chosen_file_is_refused(void)
{
    plim_error err = { 0 };
    set_up();
    scratch_file("out", "");
    const plim_run_choice choice = { .folder = scratch_path("out") };
    T_EQ_I64(make(&choice, &err), PLIM_IO);
    T_NOT_NULL(strstr(err.message, "is not a folder"));
    tear_down();
}

T_MAIN(T_TEST(a_run_is_named_after_its_script), T_TEST(a_new_folder_is_for_its_user_alone),
       T_TEST(a_home_that_cannot_be_had_is_replaced_by_tmp),
       T_TEST(a_folder_in_tmp_that_others_write_is_not_taken), T_TEST(the_oldest_goes),
       T_TEST(what_is_no_run_stays), T_TEST(a_run_that_is_locked_stays),
       T_TEST(a_run_with_a_living_process_stays), T_TEST(a_chosen_folder_is_made_with_those_above),
       T_TEST(a_chosen_folder_of_an_earlier_run_is_emptied_of_it),
       T_TEST(a_chosen_folder_with_other_files_is_refused),
       T_TEST(a_chosen_folder_that_is_in_use_is_refused), T_TEST(a_chosen_file_is_refused))
