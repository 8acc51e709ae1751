/*
 * test_save_file.c - a snapshot's file is whole or is not there, and what stood there stays until
 * it is.
 */
#include "harness.h"

#include "plimsoll/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORDING "tests/data/recordings/train_gpt.pickle"

/* A folder of its own for each test; names in it. */
static char folder[64];

static const char *in_folder(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % T_COUNT(paths)];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/plimsoll-test-XXXXXX");
    T_NOT_NULL(mkdtemp(folder));
}

/* The number of files. */
static size_t count_files(void)
{
    DIR *const entries = opendir(folder);
    size_t count = 0;
    T_NOT_NULL(entries);
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(entries);
    return count;
}

static void remove_folder(void)
{
    DIR *const entries = opendir(folder);
    T_NOT_NULL(entries);
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        (void)unlink(in_folder(entry->d_name));
    }
    closedir(entries);
    T_EQ_I64(rmdir(folder), 0);
}

static plim_history *load_recording(void)
{
    plim_history *history = NULL;
    plim_error err = { .status = PLIM_OK };
    if (plim_snapshot_load(RECORDING, NULL, &history, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    return history;
}

static plim_status save_to(const char *path, plim_error *err)
{
    plim_history *history = load_recording();
    const plim_status status = plim_snapshot_save(history, path, NULL, err);
    plim_history_destroy(history);
    return status;
}

static bool is_whole(const char *path)
{
    plim_history *history = NULL;
    const bool loads = plim_snapshot_load(path, NULL, &history, NULL) == PLIM_OK &&
                       plim_history_device(history, 0)->events.count == 3030;
    plim_history_destroy(history);
    return loads;
}

static void make_file(const char *path, mode_t mode)
{
    const int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    T_TRUE(fd >= 0);
    T_EQ_I64(write(fd, "old", 3), 3);
    T_EQ_I64(fchmod(fd, mode), 0);
    close(fd);
}

static mode_t mode_of(const char *path)
{
    struct stat facts = { 0 };
    T_EQ_I64(stat(path, &facts), 0);
    return facts.st_mode & 07777;
}

static void a_file_is_created_or_replaced(void)
{
    make_folder();
    const mode_t mask = umask(022);
    T_EQ_U64(save_to(in_folder("new"), NULL), PLIM_OK);
    T_TRUE(is_whole(in_folder("new")));
    T_EQ_U64(mode_of(in_folder("new")), 0644);
    make_file(in_folder("old"), 0600);
    T_EQ_U64(save_to(in_folder("old"), NULL), PLIM_OK);
    T_TRUE(is_whole(in_folder("old")));
    T_EQ_U64(mode_of(in_folder("old")), 0600); /* it was nobody else's to read, and is not */
    T_EQ_U64(count_files(), 2);
    umask(mask);
    remove_folder();
}

static void a_name_may_be_as_long_as_names_can_be(void)
{
    char name[NAME_MAX + 1];
    memset(name, 'x', NAME_MAX);
    name[NAME_MAX] = '\0';
    make_folder();
    T_EQ_U64(save_to(in_folder(name), NULL), PLIM_OK);
    T_TRUE(is_whole(in_folder(name)));
    remove_folder();
}

static void a_link_stays_one(void)
{
    struct stat facts = { 0 };
    make_folder();
    make_file(in_folder("target"), 0644);
    T_EQ_I64(symlink("target", in_folder("link")), 0);
    T_EQ_U64(save_to(in_folder("link"), NULL), PLIM_OK);
    T_EQ_I64(lstat(in_folder("link"), &facts), 0);
    T_TRUE(S_ISLNK(facts.st_mode));
    T_TRUE(is_whole(in_folder("target")));
    T_EQ_U64(count_files(), 2);
    remove_folder();
}

static void a_name_of_ours_that_stands_there_is_left_alone(void)
{
    char name[64];
    make_folder();
    snprintf(name, sizeof name, ".plimsoll-%ld-0", (long)getpid());
    make_file(in_folder(name), 0644);
    T_EQ_U64(save_to(in_folder("new"), NULL), PLIM_OK);
    T_TRUE(is_whole(in_folder("new")));
    T_FALSE(is_whole(in_folder(name)));
    T_EQ_U64(count_files(), 2);
    remove_folder();
}

static void a_name_without_folder_is_in_the_present_one(void)
{
    char before[PATH_MAX];
    make_folder();
    plim_history *history = load_recording();
    T_NOT_NULL(getcwd(before, sizeof before));
    T_EQ_I64(chdir(folder), 0);
    const plim_status status = plim_snapshot_save(history, "here", NULL, NULL);
    T_EQ_I64(chdir(before), 0);
    T_EQ_U64(status, PLIM_OK);
    T_TRUE(is_whole(in_folder("here")));
    plim_history_destroy(history);
    remove_folder();
}

static void check_refused(const char *path, int native, const char *doing)
{
    char message[1024];
    plim_error err = { .status = PLIM_OK };
    T_EQ_U64(save_to(path, &err), PLIM_IO);
    T_EQ_U64(err.status, PLIM_IO);
    T_EQ_I64(err.native, native);
    snprintf(message, sizeof message, "cannot %s \"%s\": %s", doing, path, strerror(native));
    T_EQ_STR(err.message, message);
}

static void where_nothing_can_be_written_it_is_said(void)
{
    make_folder();
    make_file(in_folder("file"), 0644);
    check_refused(in_folder("none/file"), ENOENT, "create");
    check_refused(in_folder("file/file"), ENOTDIR, "create");
    check_refused("", ENOENT, "create");
    check_refused(folder, EISDIR, "write to");
    T_EQ_U64(count_files(), 1);
    remove_folder();
}

static void a_folder_that_may_not_be_written_is_left_alone(void)
{
    if (geteuid() == 0) {
        T_SKIP("root may write everywhere");
    }
    make_folder();
    make_file(in_folder("file"), 0644);
    T_EQ_I64(chmod(folder, 0555), 0);
    check_refused(in_folder("file"), EACCES, "create");
    check_refused(in_folder("new"), EACCES, "create");
    T_EQ_U64(count_files(), 1);
    T_EQ_I64(chmod(folder, 0755), 0);
    remove_folder();
}

static void a_device_is_written_not_replaced(void)
{
    struct stat facts = { 0 };
    check_refused("/dev/full", ENOSPC, "write to");
    T_EQ_I64(stat("/dev/full", &facts), 0);
    T_TRUE(S_ISCHR(facts.st_mode));
    T_EQ_U64(save_to("/dev/null", NULL), PLIM_OK);
    T_EQ_I64(stat("/dev/null", &facts), 0);
    T_TRUE(S_ISCHR(facts.st_mode));
}

/* Files may not get larger than this: what a full disk looks like to a regular file. */
static void what_did_not_fit_leaves_what_was_there(void)
{
    make_folder();
    make_file(in_folder("file"), 0644);
    struct rlimit before = { 0 };
    T_EQ_I64(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*const handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (rlim_t bytes = 0; bytes < 200000; bytes += 66000) {
        const struct rlimit limit = { bytes, before.rlim_max };
        plim_error err = { .status = PLIM_OK };
        plim_history *history = load_recording();
        T_EQ_I64(setrlimit(RLIMIT_FSIZE, &limit), 0);
        const plim_status replaced = plim_snapshot_save(history, in_folder("file"), NULL, &err);
        const plim_status created = plim_snapshot_save(history, in_folder("new"), NULL, NULL);
        T_EQ_I64(setrlimit(RLIMIT_FSIZE, &before), 0);
        T_EQ_U64(replaced, bytes > 160000 ? PLIM_OK : PLIM_IO);
        T_EQ_U64(created, replaced);
        T_EQ_I64(err.native, replaced == PLIM_OK ? 0 : EFBIG);
        T_EQ_U64(is_whole(in_folder("file")), replaced == PLIM_OK);
        T_EQ_U64(count_files(), replaced == PLIM_OK ? 2 : 1);
        plim_history_destroy(history);
    }
    (void)signal(SIGXFSZ, handler);
    remove_folder();
}

static bool save_in(const plim_mem *mem, void *ctx)
{
    const plim_snapshot_save_options options = { .mem = mem };
    const plim_status status = plim_snapshot_save(ctx, in_folder("file"), &options, NULL);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    T_EQ_U64(count_files(), 1);
    T_EQ_U64(is_whole(in_folder("file")), status == PLIM_OK);
    return status == PLIM_OK;
}

static void running_out_of_memory_anywhere_leaves_what_was_there(void)
{
    plim_history *history = load_recording();
    make_folder();
    make_file(in_folder("file"), 0644);
    t_fail_each_allocation(save_in, history);
    remove_folder();
    plim_history_destroy(history);
}

T_MAIN(T_TEST(a_file_is_created_or_replaced), T_TEST(a_name_may_be_as_long_as_names_can_be),
       T_TEST(a_link_stays_one), T_TEST(a_name_of_ours_that_stands_there_is_left_alone),
       T_TEST(a_name_without_folder_is_in_the_present_one),
       T_TEST(where_nothing_can_be_written_it_is_said),
       T_TEST(a_folder_that_may_not_be_written_is_left_alone),
       T_TEST(a_device_is_written_not_replaced), T_TEST(what_did_not_fit_leaves_what_was_there),
       T_TEST(running_out_of_memory_anywhere_leaves_what_was_there))
