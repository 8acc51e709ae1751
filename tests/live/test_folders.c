/*
 * test_folders.c - pages on disk: those of living processes are found, hostile files passed over,
 * and a page that is missing has a reason.
 */
#include "harness.h"

#include "base/process.h"
#include "live/made_page.h"

#include "plimsoll/live.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/plimsoll live XXXXXX");
    T_NOT_NULL(mkdtemp(folder));
    T_EQ_U64(setenv("PLIMSOLL_LIVE", folder, 1), 0);
    T_EQ_U64(unsetenv("XDG_RUNTIME_DIR"), 0);
}

static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *place)
{
    (void)found;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_folder(void)
{
    T_EQ_U64(nftw(folder, remove_one, 4, FTW_DEPTH | FTW_PHYS), 0);
}

static const char *path_of(const char *name)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const void *bytes, size_t count)
{
    FILE *const file = fopen(path_of(name), "wb");
    T_NOT_NULL(file);
    T_EQ_U64(fwrite(bytes, 1, count, file), count);
    T_EQ_U64(fclose(file), 0);
}

static uint64_t own_namespace(void)
{
    struct stat found = { 0 };
    (void)stat("/proc/self/ns/pid", &found);
    return found.st_ino;
}

static t_page page_of(int32_t pid)
{
    t_page page;
    plim_process process = { 0 };
    (void)plim_process_read(pid, &process);
    t_page_make(&page, pid, process.start, own_namespace());
    return page;
}

/* A process that sleeps until it is killed. */
static pid_t sleeper(void)
{
    const pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves it */
        (void)pause();
        _exit(0);
    }
    return child;
}

static void end(pid_t child)
{
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
}

static void reads_a_page(void)
{
    make_folder();
    const t_page page = page_of(getpid());
    plim_live_page live;
    plim_error err = { 0 };
    put("1.live", page.bytes, sizeof page.bytes);
    T_EQ_U64(plim_live_read(path_of("1.live"), &live, &err), PLIM_OK);
    T_EQ_I64(live.pid, getpid());
    T_EQ_STR(live.path, path_of("1.live"));
    T_TRUE(plim_live_age_seconds(&live) > 0);
    live.updated_ns = UINT64_MAX;
    T_TRUE(plim_live_age_seconds(&live) == 0);
    remove_folder();
}

static void bad_files_fail_with_a_reason(void)
{
    make_folder();
    t_page torn = page_of(getpid());
    plim_live_page live;
    plim_error err = { 0 };
    t_page_u64(&torn, 32, 13);
    put("torn.live", torn.bytes, sizeof torn.bytes);
    put("short.live", torn.bytes, 4095);
    put("empty.live", torn.bytes, 0);
    T_EQ_U64(mkfifo(path_of("pipe.live"), 0600), 0);
    T_EQ_U64(symlink("torn.live", path_of("link.live")), 0);
    T_EQ_U64(mkdir(path_of("folder.live"), 0700), 0);
    static const struct {
        const char *name;
        plim_status status;
        const char *says;
    } cases[] = {
        { "torn.live", PLIM_CORRUPT, "does not settle" },
        { "short.live", PLIM_CORRUPT, "shorter than 4096 bytes" },
        { "empty.live", PLIM_CORRUPT, "shorter than 4096 bytes" },
        { "pipe.live", PLIM_CORRUPT, "not a file of this user" },
        { "link.live", PLIM_IO, "link.live" },
        { "folder.live", PLIM_CORRUPT, "not a file of this user" },
        { "none.live", PLIM_IO, "none.live" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        T_EQ_U64(plim_live_read(path_of(cases[i].name), &live, &err), cases[i].status);
        T_NOT_NULL(strstr(err.message, cases[i].says));
        T_EQ_U64(plim_live_read(path_of(cases[i].name), &live, NULL), cases[i].status);
    }
    remove_folder();
}

/* Those of the folder: others of this machine may have pages elsewhere. Returns the last one's
 * process. */
static int32_t list_own(size_t *ret_count)
{
    plim_live_list list;
    int32_t last = 0;
    *ret_count = 0;
    T_EQ_U64(plim_live_list_read(NULL, &list, NULL), PLIM_OK);
    for (size_t i = 0; i < list.count; i++) {
        T_TRUE(i == 0 || list.items[i].pid >= list.items[i - 1].pid);
        if (strncmp(list.items[i].path, folder, strlen(folder)) == 0) {
            *ret_count += 1;
            last = list.items[i].pid;
        }
    }
    plim_live_list_deinit(&list);
    return last;
}

static void lists_the_living(void)
{
    make_folder();
    const pid_t living = sleeper();
    const pid_t dead = sleeper();
    const t_page own = page_of(getpid());
    const t_page of_living = page_of(living);
    const t_page of_dead = page_of(dead);
    t_page used_again = page_of(living);
    t_page elsewhere = page_of(living);
    t_page_u64(&used_again, 72, 1);
    t_page_seal(&used_again);
    t_page_u64(&elsewhere, 80, 1);
    t_page_seal(&elsewhere);
    end(dead);
    put("a.live", of_living.bytes, T_PAGE_BYTES);
    put("b.live", own.bytes, T_PAGE_BYTES);
    put("c.live", of_dead.bytes, T_PAGE_BYTES);
    put("d.live", used_again.bytes, T_PAGE_BYTES);
    put("e.live", elsewhere.bytes, T_PAGE_BYTES);
    put("f.live.part", own.bytes, T_PAGE_BYTES);
    put(".live", own.bytes, T_PAGE_BYTES);
    put("short.live", own.bytes, 100);
    size_t count = 0;
    T_EQ_I64(list_own(&count), getpid() < living ? living : getpid());
    T_EQ_U64(count, 2);
    end(living);
    T_EQ_I64(list_own(&count), getpid());
    T_EQ_U64(count, 1);
    remove_folder();
}

static void a_folder_that_is_missing_is_empty(void)
{
    plim_live_list list;
    T_EQ_U64(setenv("PLIMSOLL_LIVE", "/nowhere", 1), 0);
    T_EQ_U64(plim_live_list_read(NULL, &list, NULL), PLIM_OK);
    plim_live_list_deinit(&list);
    T_EQ_U64(setenv("PLIMSOLL_LIVE", "off", 1), 0);
    T_EQ_U64(plim_live_list_read(NULL, &list, NULL), PLIM_OK);
    plim_live_list_deinit(&list);
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_live_list list;
    plim_error err = { 0 };
    const plim_status status = plim_live_list_read(mem, &list, &err);
    if (status == PLIM_OK) {
        plim_live_list_deinit(&list);
    } else {
        T_EQ_U64(status, PLIM_OUT_OF_HOST_MEMORY);
    }
    return status == PLIM_OK;
}

static void survives_each_failed_allocation(void)
{
    make_folder();
    for (int i = 0; i < 5; i++) {
        const t_page page = page_of(getpid());
        char name[16];
        (void)snprintf(name, sizeof name, "%d.live", i);
        put(name, page.bytes, T_PAGE_BYTES);
    }
    t_fail_each_allocation(attempt, NULL);
    remove_folder();
}

static void a_process_is_of_its_ancestors(void)
{
    const pid_t child = sleeper();
    const plim_live_page live = { .pid = child };
    T_TRUE(plim_live_is_of(&live, child));
    T_TRUE(plim_live_is_of(&live, getpid()));
    T_TRUE(plim_live_is_of(&live, getppid()));
    T_FALSE(plim_live_is_of(&live, child + 1));
    T_FALSE(plim_live_is_of(&live, 0));
    end(child);
    T_FALSE(plim_live_is_of(&live, getpid()));
}

/* A process that was started with these variables. */
static pid_t started_with(const char *first, const char *second)
{
    int ready[2];
    T_EQ_U64(pipe2(ready, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
        char *const environment[] = { (char *)(uintptr_t)first, (char *)(uintptr_t)second, NULL };
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)execle("/bin/sleep", "sleep", "600", (char *)NULL, environment);
        _exit(127);
    }
    char byte;
    (void)close(ready[1]);
    T_EQ_I64(read(ready[0], &byte, 1), 0); /* its end closes where the program is exchanged */
    (void)close(ready[0]);
    return child;
}

static void says_why_a_page_is_missing(void)
{
    static const struct {
        const char *first;
        const char *second;
        const char *says;
    } cases[] = {
        { "A=1", "B=2", "does not run under Plimsoll" },
        { "PLIMSOLL_RUN=/x", "B=2", "it has not used CUDA yet" },
        { "PLIMSOLL_RUN=/x", "PLIMSOLL_LIVE=off", "it was started with PLIMSOLL_LIVE=off" },
    };
    plim_error err = { 0 };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s %s", cases[i].first, cases[i].second);
        const pid_t child = started_with(cases[i].first, cases[i].second);
        T_EQ_U64(plim_live_why_absent(child, &err), PLIM_INVALID_ARGUMENT);
        T_NOT_NULL(strstr(err.message, cases[i].says));
        end(child);
        T_EQ_U64(plim_live_why_absent(child, &err), PLIM_INVALID_ARGUMENT);
        T_NOT_NULL(strstr(err.message, "there is no process"));
    }
}

static void reads_a_process(void)
{
    static const char text[] =
        "12 (a) b ) (c) S 7 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 424242 22 23";
    plim_process process = { 0 };
    T_TRUE(plim_process_parse(text, &process));
    T_EQ_U64(process.state, 'S');
    T_EQ_I64(process.parent, 7);
    T_EQ_U64(process.start, 424242);
    T_FALSE(plim_process_parse("12 (a", &process));
    T_FALSE(plim_process_parse("12 (a) S 7 3", &process));
    T_FALSE(plim_process_read(-1, &process));
    T_TRUE(plim_process_read(getpid(), &process));
    T_EQ_I64(process.parent, getppid());
}

T_MAIN(T_TEST(reads_a_process), T_TEST(reads_a_page), T_TEST(bad_files_fail_with_a_reason),
       T_TEST(lists_the_living), T_TEST(a_folder_that_is_missing_is_empty),
       T_TEST(survives_each_failed_allocation), T_TEST(a_process_is_of_its_ancestors),
       T_TEST(says_why_a_page_is_missing))
