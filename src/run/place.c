/*
 * place.c - the folder of a run among others. See run.h.
 */
#include "base/error.h"
#include "run/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_MODE       0600
#define FOLDER_MODE     0700
#define LOCK_NAME       "lock"
#define PROGRAM_BYTES   40u  /* of a program's name in that of a folder */
#define SAME_SECOND_MAX 999u /* runs of one process that begin in a second */
#define NAME_BYTES      256u
#define STAMP_BYTES     16u /* "20261123-080155" and a zero */

/* ---- names ----------------------------------------------------------------------------------- */

static const char *last_part(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text);
    const size_t end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

/* The first script or module of the command, else its program. */
static const char *find_program(const char *const *argv)
{
    for (size_t i = 0; argv[i] != NULL; i++) {
        if (strcmp(argv[i], "-m") == 0 && i > 0 && argv[i + 1] != NULL) {
            return argv[i + 1];
        }
        if (ends_in(argv[i], ".py")) {
            return last_part(argv[i]);
        }
    }
    return argv[0] != NULL ? last_part(argv[0]) : "";
}

void plim_run_name(const char *const *argv, char *name, size_t bytes)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
    const char *const program = find_program(argv);
    size_t length = strlen(program);
    length -= ends_in(program, ".py") ? 3 : 0;
    length = length < bytes ? length : bytes - 1;
    for (size_t i = 0; i < length; i++) {
        name[i] = strchr(plain, program[i]) != NULL ? program[i] : '_';
    }
    name[length] = '\0';
}

/* "20261123-080155-train-4711": what this file makes, and alone removes. */
static bool is_name_of_run(const char *name)
{
    const char *const last = strrchr(name, '-');
    return strspn(name, "0123456789") == 8 && name[8] == '-' &&
           strspn(name + 9, "0123456789") == 6 && name[15] == '-' && last > name + 15 &&
           last[1] != '\0' && last[1 + strspn(last + 1, "0123456789")] == '\0';
}

/* ---- the place of all ------------------------------------------------------------------------ */

static plim_status make_one(const char *path, plim_error *err)
{
    if (mkdir(path, FOLDER_MODE) == 0 || errno == EEXIST) {
        return PLIM_OK;
    }
    return plim_fail_errno(err, errno, "%s: cannot be made", path);
}

/* Each folder of an absolute path that is not there yet. */
static plim_status make_folders(const char *path, plim_error *err)
{
    char part[PLIM_PATH_BYTES];
    const size_t length = strlen(path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] == '/' || path[i] == '\0') {
            memcpy(part, path, i);
            part[i] = '\0';
            PLIM_TRY(make_one(part, err));
        }
    }
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) {
        return plim_fail(err, PLIM_IO, "%s: is not a folder", path);
    }
    return PLIM_OK;
}

static plim_status find_runs(char *path, size_t path_bytes, plim_error *err)
{
    const char *const state = getenv("XDG_STATE_HOME");
    const char *const home = getenv("HOME");
    if (state != NULL && state[0] == '/') {
        return plim_folder_join(path, path_bytes, state, "plimsoll/runs", err);
    }
    if (home == NULL || home[0] != '/') {
        return plim_fail(err, PLIM_IO, "HOME and XDG_STATE_HOME are not set");
    }
    return plim_folder_join(path, path_bytes, home, ".local/state/plimsoll/runs", err);
}

static plim_status make_runs(char *path, size_t path_bytes, plim_error *err)
{
    PLIM_TRY(find_runs(path, path_bytes, err));
    PLIM_TRY(make_folders(path, err));
    return access(path, W_OK) == 0 ? PLIM_OK
                                   : plim_fail_errno(err, errno, "%s: cannot be written", path);
}

/* Of a user without a home, or with one that cannot be written, as in many containers. Others may
 * write beside it: a folder that is not this user's alone is not taken. */
static plim_status make_runs_in_tmp(char *path, size_t path_bytes, plim_error *err)
{
    const char *const given = getenv("TMPDIR");
    char name[sizeof("plimsoll-runs-") + 16];
    struct stat about;
    (void)snprintf(name, sizeof(name), "plimsoll-runs-%lu", (unsigned long)getuid());
    PLIM_TRY(plim_folder_join(path, path_bytes, given != NULL && given[0] == '/' ? given : "/tmp",
                              name, err));
    PLIM_TRY(make_one(path, err));
    if (lstat(path, &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != getuid() ||
        (about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return plim_fail(err, PLIM_IO, "%s: is not a folder of this user alone", path);
    }
    return PLIM_OK;
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* The folder's lock, to be closed; -1: another holds it, or there is no file. A file system that
 * has no locks has them all free. */
static int take_lock(const char *folder)
{
    char path[PLIM_PATH_BYTES];
    if (plim_folder_join(path, sizeof(path), folder, LOCK_NAME, NULL) != PLIM_OK) {
        return -1;
    }
    const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        (void)close(lock);
        return -1;
    }
    return lock;
}

void plim_run_leave(plim_run *run)
{
    if (run->lock >= 0) {
        (void)close(run->lock);
        run->lock = -1;
    }
}

/* True for the folder of a process, which its number names. */
static bool is_name_of_process(const char *name)
{
    return name[0] != '\0' && name[strspn(name, "0123456789")] == '\0';
}

/* A process that has a folder in that of the run, and lives: its launcher was killed. */
static bool has_living_process(const char *folder)
{
    DIR *const entries = opendir(folder);
    bool lives = false;
    for (const struct dirent *entry = NULL;
         !lives && entries != NULL && (entry = readdir(entries)) != NULL;) {
        const pid_t pid =
            is_name_of_process(entry->d_name) ? (pid_t)strtol(entry->d_name, NULL, 10) : 0;
        lives = pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return lives;
}

static void remove_run(const char *runs, const char *name)
{
    char folder[PLIM_PATH_BYTES];
    if (plim_folder_join(folder, sizeof(folder), runs, name, NULL) != PLIM_OK) {
        return;
    }
    const int lock = take_lock(folder);
    if (lock >= 0) {
        if (!has_living_process(folder)) {
            plim_folder_remove(folder);
        }
        (void)close(lock);
    }
}

/* ---- rotation -------------------------------------------------------------------------------- */

static int is_run(const struct dirent *entry)
{
    return entry->d_type != DT_LNK && is_name_of_run(entry->d_name);
}

/* All but the newest: names sort by time. */
static void rotate(const char *runs, uint32_t kept)
{
    struct dirent **entries = NULL;
    const int count = scandir(runs, &entries, is_run, alphasort);
    for (int i = 0; i < count; i++) {
        if ((uint32_t)(count - i) > kept) {
            remove_run(runs, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
}

/* ---- the folder of this one ------------------------------------------------------------------ */

/* Under a name that is no run's until it is locked: no other launcher removes it before that. */
static plim_status make_named(plim_run *run, const char *runs, const char *name, plim_error *err)
{
    char made[PLIM_PATH_BYTES];
    char hidden[NAME_BYTES + 1];
    (void)snprintf(hidden, sizeof(hidden), ".%s", name);
    PLIM_TRY(plim_folder_join(made, sizeof(made), runs, hidden, err));
    PLIM_TRY(plim_folder_join(run->folder, sizeof(run->folder), runs, name, err));
    if (mkdir(made, FOLDER_MODE) != 0) {
        return plim_fail_errno(err, errno, "%s: cannot be made", made);
    }
    run->lock = take_lock(made);
    if (rename(made, run->folder) != 0) {
        const plim_status status = plim_fail_errno(err, errno, "%s: cannot be made", run->folder);
        plim_run_leave(run);
        plim_folder_remove(made);
        return status;
    }
    return PLIM_OK;
}

static plim_status make_in(plim_run *run, const char *runs, const char *const *argv, uint32_t kept,
                           plim_error *err)
{
    char program[PROGRAM_BYTES];
    char stamp[STAMP_BYTES] = "";
    char name[NAME_BYTES];
    const time_t now = time(NULL);
    struct tm parts = { 0 };
    plim_run_name(argv, program, sizeof(program));
    (void)strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &parts));
    (void)snprintf(name, sizeof(name), "%s-%s-%ld", stamp, program, (long)getpid());
    plim_status status = make_named(run, runs, name, err);
    for (unsigned i = 2; status != PLIM_OK && i <= SAME_SECOND_MAX; i++) {
        (void)snprintf(name, sizeof(name), "%s-%s.%u-%ld", stamp, program, i, (long)getpid());
        status = make_named(run, runs, name, err);
    }
    if (status == PLIM_OK) {
        rotate(runs, kept);
    }
    return status;
}

/* In the first place that can be had; the error is that of the place where it should be. */
static plim_status make_new(plim_run *run, const char *const *argv, uint32_t kept, plim_error *err)
{
    char runs[PLIM_PATH_BYTES] = "";
    const plim_status status = make_runs(runs, sizeof(runs), err);
    if (status == PLIM_OK && make_in(run, runs, argv, kept, err) == PLIM_OK) {
        return PLIM_OK;
    }
    if (make_runs_in_tmp(runs, sizeof(runs), NULL) == PLIM_OK &&
        make_in(run, runs, argv, kept, NULL) == PLIM_OK) {
        return PLIM_OK;
    }
    return PLIM_IO;
}

/* ---- a folder that was chosen ---------------------------------------------------------------- */

static bool has_run_file(const char *folder)
{
    char path[PLIM_PATH_BYTES];
    return plim_folder_join(path, sizeof(path), folder, PLIM_RUN_FILE, NULL) == PLIM_OK &&
           access(path, F_OK) == 0;
}

/* Empties the folder of an earlier run; one that has something else in it is not for us. */
static plim_status take_over(const char *folder, plim_error *err)
{
    const bool is_run_of_ours = has_run_file(folder);
    DIR *const entries = opendir(folder);
    plim_status status = PLIM_OK;
    for (const struct dirent *entry = NULL;
         status == PLIM_OK && entries != NULL && (entry = readdir(entries)) != NULL;) {
        char path[PLIM_PATH_BYTES];
        const bool is_ours =
            entry->d_name[0] == '.' || strcmp(entry->d_name, LOCK_NAME) == 0 || is_run_of_ours;
        if (!is_ours) {
            status = plim_fail(err, PLIM_IO,
                               "%s: has other files in it; choose a new folder, or that of an "
                               "earlier run",
                               folder);
        } else if (is_name_of_process(entry->d_name) &&
                   plim_folder_join(path, sizeof(path), folder, entry->d_name, NULL) == PLIM_OK) {
            plim_folder_remove(path);
        }
    }
    if (entries == NULL) {
        return plim_fail_errno(err, errno, "%s: cannot be read", folder);
    }
    (void)closedir(entries);
    return status;
}

static plim_status make_chosen(plim_run *run, const char *given, plim_error *err)
{
    char here[PLIM_PATH_BYTES];
    if (given[0] == '/') {
        PLIM_TRY(plim_folder_join(run->folder, sizeof(run->folder), "", given + 1, err));
    } else if (getcwd(here, sizeof(here)) == NULL) {
        return plim_fail_errno(err, errno, "%s: cannot be found from here", given);
    } else {
        PLIM_TRY(plim_folder_join(run->folder, sizeof(run->folder), here, given, err));
    }
    PLIM_TRY(make_folders(run->folder, err));
    if (access(run->folder, W_OK) != 0) {
        return plim_fail_errno(err, errno, "%s: cannot be written", given);
    }
    run->lock = take_lock(run->folder);
    if (run->lock < 0) {
        return plim_fail(err, PLIM_IO, "%s: another run writes to it", given);
    }
    return take_over(run->folder, err);
}

plim_status plim_run_place(plim_run *run, const char *const *argv, const plim_run_choice *choice,
                           plim_error *err)
{
    const uint32_t kept = choice->runs_kept > 0 ? choice->runs_kept : PLIM_RUN_KEPT_DEFAULT;
    run->is_own_folder = choice->folder == NULL;
    const plim_status status =
        run->is_own_folder ? make_new(run, argv, kept, err) : make_chosen(run, choice->folder, err);
    if (status != PLIM_OK) {
        run->folder[0] = '\0';
    }
    return status;
}

void plim_run_give_up_place(plim_run *run)
{
    plim_run_leave(run);
    if (run->is_own_folder) {
        plim_folder_remove(run->folder);
    }
    run->folder[0] = '\0';
}
