/*
 * folders.c - where live pages lie, which are those of living processes, and why one is missing.
 */
#include "live/page.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define READS_MAX         100 /* a millisecond apart */
#define NAMES_MAX         65536
#define FOLDERS_MAX       4
#define GENERATIONS_MAX   64
#define ENVIRONMENT_BYTES ((size_t)1 << 20)
#define SUFFIX            ".live"

/* ---- one page ---------------------------------------------------------------------------- */

static plim_status open_page(const char *path, int *ret_file, plim_error *err)
{
    /* not a pipe to wait for, nor what a link leads to */
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat found;
    if (file < 0 || fstat(file, &found) != 0) {
        const int why = errno;
        if (file >= 0) {
            (void)close(file);
        }
        return plim_fail_errno(err, why, "%s", path);
    }
    if (!S_ISREG(found.st_mode) || (found.st_uid != geteuid() && geteuid() != 0)) {
        (void)close(file);
        return plim_fail(err, PLIM_CORRUPT, "%s: not a file of this user", path);
    }
    *ret_file = file;
    return PLIM_OK;
}

static void sleep_a_millisecond(void)
{
    (void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static plim_status read_settled(int file, const char *path, plim_live_page *ret, plim_error *err)
{
    unsigned char page[PLIM_LIVE_PAGE_BYTES];
    for (int i = 0; i < READS_MAX; i++) {
        unsigned char again[sizeof(uint64_t)];
        const ssize_t got = pread(file, page, sizeof page, 0);
        if (got != (ssize_t)sizeof page ||
            pread(file, again, sizeof again, PLIM_LIVE_SEQUENCE_AT) != (ssize_t)sizeof again) {
            return plim_fail(err, PLIM_CORRUPT, "not a live page: it is shorter than %u bytes",
                             PLIM_LIVE_PAGE_BYTES);
        }
        if (memcmp(again, page + PLIM_LIVE_SEQUENCE_AT, sizeof again) == 0) {
            const plim_live_fit fit = plim_live_page_read(page, ret, err);
            if (fit == PLIM_LIVE_WHOLE) {
                const size_t length = strlen(path);
                memcpy(ret->path, path, length < sizeof ret->path ? length + 1 : 0);
                return PLIM_OK;
            }
            if (fit == PLIM_LIVE_WRONG) {
                return err != NULL ? err->status : PLIM_CORRUPT;
            }
        }
        sleep_a_millisecond();
    }
    return plim_fail(err, PLIM_CORRUPT,
                     "the live page %s does not settle: its process was stopped within an update",
                     path);
}

plim_status plim_live_read(const char *path, plim_live_page *ret, plim_error *err)
{
    int file = -1;
    plim_live_page live = { 0 };
    plim_error own = { 0 };
    if (strlen(path) >= PLIM_LIVE_PATH_BYTES) {
        return plim_fail(err, PLIM_LIMIT, "a path of more than %d bytes", PLIM_LIVE_PATH_BYTES - 1);
    }
    PLIM_TRY(open_page(path, &file, err));
    const plim_status status = read_settled(file, path, &live, &own);
    (void)close(file);
    if (status != PLIM_OK) {
        if (err != NULL) {
            *err = own;
        }
        return status;
    }
    *ret = live;
    return PLIM_OK;
}

double plim_live_age_seconds(const plim_live_page *live)
{
    const uint64_t now = plim_clock_now_ns(&plim_clock_system);
    return now > live->updated_ns ? (double)(now - live->updated_ns) / 1e9 : 0;
}

/* ---- living processes -------------------------------------------------------------------- */

static uint64_t our_namespace(void)
{
    struct stat found;
    return stat("/proc/self/ns/pid", &found) == 0 ? (uint64_t)found.st_ino : 0;
}

/* Of another namespace nothing is known but the age. */
static bool is_alive(const plim_live_page *live)
{
    plim_process process = { 0 };
    return live->namespace_id == our_namespace() && plim_process_read(live->pid, &process) &&
           process.start == live->start && process.state != 'Z';
}

bool plim_live_is_of(const plim_live_page *live, int32_t pid)
{
    int64_t at = live->pid;
    plim_process process = { 0 };
    for (int i = 0; i < GENERATIONS_MAX && at > 0; i++) {
        if (at == pid) {
            return true;
        }
        at = plim_process_read(at, &process) ? process.parent : 0;
    }
    return false;
}

/* ---- all pages --------------------------------------------------------------------------- */

typedef struct folder_name {
    char path[PLIM_LIVE_PATH_BYTES];
} folder_name;

static bool has_name(const folder_name *folders, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(folders[i].path, path) == 0) {
            return true;
        }
    }
    return false;
}

/*
 * A process may have been started with other variables than we: by a job manager, say. So all
 * folders are looked at that it would have found.
 */
static size_t folders_of(folder_name *folders)
{
    const char *const chosen = getenv("PLIMSOLL_LIVE");
    const char *const runtime = getenv("XDG_RUNTIME_DIR");
    const unsigned user = (unsigned)geteuid();
    folder_name next[FOLDERS_MAX] = { 0 };
    size_t count = 0;
    if (chosen != NULL && strcmp(chosen, "off") != 0) {
        (void)snprintf(next[0].path, sizeof next[0].path, "%s", chosen);
    }
    if (runtime != NULL && runtime[0] != '\0') {
        (void)snprintf(next[1].path, sizeof next[1].path, "%s/plimsoll", runtime);
    }
    (void)snprintf(next[2].path, sizeof next[2].path, "/run/user/%u/plimsoll", user);
    (void)snprintf(next[3].path, sizeof next[3].path, "/dev/shm/plimsoll-%u", user);
    for (size_t i = 0; i < FOLDERS_MAX; i++) {
        if (next[i].path[0] != '\0' && !has_name(folders, count, next[i].path)) {
            folders[count++] = next[i];
        }
    }
    return count;
}

static bool is_page_name(const char *name)
{
    const size_t length = strlen(name);
    return length > strlen(SUFFIX) && strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0;
}

static plim_status read_folder(const char *folder, plim_live_list *list, plim_error *err)
{
    DIR *const names = opendir(folder);
    if (names == NULL) {
        return PLIM_OK; /* there are no pages */
    }
    plim_status status = PLIM_OK;
    const struct dirent *entry = readdir(names); /* this stream is ours alone */
    for (int i = 0; i < NAMES_MAX && entry != NULL && status == PLIM_OK; i++) {
        char path[PLIM_LIVE_PATH_BYTES];
        plim_live_page live = { 0 };
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (is_page_name(entry->d_name) && length < (int)sizeof path &&
            plim_live_read(path, &live, NULL) == PLIM_OK && is_alive(&live) &&
            !PLIM_VEC_PUSH(list->mem, list, live)) {
            status = plim_fail_memory(err, "listing live pages");
        }
        entry = readdir(names);
    }
    (void)closedir(names);
    return status;
}

static int by_pid(const void *left, const void *right)
{
    const plim_live_page *const a = left;
    const plim_live_page *const b = right;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

plim_status plim_live_list_read(const plim_mem *mem, plim_live_list *ret, plim_error *err)
{
    static const size_t room = FOLDERS_MAX;
    plim_live_list list = { .mem = plim_mem_or_heap(mem) };
    folder_name *const folders = plim_mem_alloc_zeroed(list.mem, room, sizeof *folders);
    if (folders == NULL) {
        return plim_fail_memory(err, "listing live pages");
    }
    const size_t count = folders_of(folders);
    plim_status status = PLIM_OK;
    for (size_t i = 0; i < count && status == PLIM_OK; i++) {
        status = read_folder(folders[i].path, &list, err);
    }
    plim_mem_free(list.mem, folders, room, sizeof *folders);
    if (status != PLIM_OK) {
        plim_live_list_deinit(&list);
        return status;
    }
    if (list.count > 0) {
        qsort(list.items, list.count, sizeof *list.items, by_pid);
    }
    *ret = list;
    return PLIM_OK;
}

void plim_live_list_deinit(plim_live_list *list)
{
    PLIM_VEC_FREE(plim_mem_or_heap(list->mem), list);
}

/* ---- a page that is missing -------------------------------------------------------------- */

typedef struct environment {
    bool is_recorded; /* PLIMSOLL_RUN */
    bool is_off;      /* PLIMSOLL_LIVE=off */
} environment;

/* Of the process as it was started; what it changed since does not show. */
static bool read_environment(int32_t pid, environment *ret)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%" PRId32 "/environ", pid);
    FILE *const file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    size_t total = 0;
    if (file == NULL) {
        return false;
    }
    ssize_t length = getdelim(&line, &room, '\0', file);
    while (length > 0 && total < ENVIRONMENT_BYTES) {
        total += (size_t)length;
        ret->is_recorded = ret->is_recorded || strncmp(line, "PLIMSOLL_RUN=", 13) == 0;
        ret->is_off = ret->is_off || strcmp(line, "PLIMSOLL_LIVE=off") == 0;
        length = getdelim(&line, &room, '\0', file);
    }
    free(line);
    (void)fclose(file);
    return true;
}

plim_status plim_live_why_absent(int32_t pid, plim_error *err)
{
    char path[64];
    struct stat owner;
    environment found = { 0 };
    (void)snprintf(path, sizeof path, "/proc/%" PRId32, pid);
    if (kill(pid, 0) != 0 && errno == ESRCH) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "there is no process %" PRId32, pid);
    }
    if (stat(path, &owner) == 0 && owner.st_uid != geteuid() && geteuid() != 0) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "process %" PRId32 " is another user's (%u): only that user can request "
                         "a dump of it",
                         pid, (unsigned)owner.st_uid);
    }
    if (!read_environment(pid, &found)) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "process %" PRId32 " publishes no live page",
                         pid);
    }
    if (!found.is_recorded) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "process %" PRId32 " does not run under Plimsoll: start it with "
                         "\"plimsoll run -- PROGRAM\"",
                         pid);
    }
    return plim_fail(err, PLIM_INVALID_ARGUMENT, "process %" PRId32 " publishes no live page: %s",
                     pid,
                     found.is_off ? "it was started with PLIMSOLL_LIVE=off"
                                  : "it has not used CUDA yet, or has ended using it");
}
