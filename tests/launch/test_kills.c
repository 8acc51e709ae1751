/*
 * test_kills.c - finding the kernel's counter, in folders that stand for the file system.
 */
#include "launch/kills.h"

#include "harness.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 6

typedef struct fake_file {
    const char *path;
    const char *text;
} fake_file;

static void write_file(const char *root, const char *path, const char *text)
{
    char name[1024];
    const int length = snprintf(name, sizeof name, "%s%s", root, path);
    T_TRUE(length > 0 && (size_t)length < sizeof name);
    for (char *at = name + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(name, 0700);
        *at = '/';
    }
    FILE *file = fopen(name, "wb");
    T_NOT_NULL(file);
    fputs(text, file);
    fclose(file);
}

static int remove_one(const char *path, const struct stat *about, int flag, struct FTW *place)
{
    (void)about;
    (void)flag;
    (void)place;
    return remove(path);
}

static void remove_tree(const char *root)
{
    T_EQ_I64(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

#define V1_MOUNT "35 31 0:29 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n"
#define V2_MOUNT "41 31 0:38 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"

static const struct {
    const char *name;
    plim_launch_kill_scope scope;
    uint64_t before;
    fake_file files[FILES_MAX];
} places[] = {
    { "nothing at all", PLIM_LAUNCH_KILLS_UNKNOWN, 0, { { NULL, NULL } } },
    { "machine",
      PLIM_LAUNCH_KILLS_MACHINE,
      7,
      { { "/proc/vmstat", "nr_free_pages 5\noom_kill 7\ndrop_pagecache 0\n" } } },
    { "vmstat of an old kernel",
      PLIM_LAUNCH_KILLS_UNKNOWN,
      0,
      { { "/proc/vmstat", "nr_free_pages 5\noom_killer 7\noom_kill x\n" } } },
    { "version 2",
      PLIM_LAUNCH_KILLS_CGROUP,
      3,
      { { "/proc/self/cgroup", "0::/job/step\n" },
        { "/proc/self/mountinfo", V2_MOUNT },
        { "/proc/vmstat", "oom_kill 99\n" },
        { "/sys/fs/cgroup/job/memory.events", "low 0\noom 4\noom_kill 50\n" },
        { "/sys/fs/cgroup/job/step/memory.events", "low 0\noom 4\noom_kill 3\n" } } },
    { "version 2, controller only above",
      PLIM_LAUNCH_KILLS_CGROUP,
      50,
      { { "/proc/self/cgroup", "0::/job/step/task\n" },
        { "/proc/self/mountinfo", V2_MOUNT },
        { "/sys/fs/cgroup/job/memory.events", "oom 4\noom_kill 50\noom_group_kill 1\n" } } },
    { "version 2, nowhere a controller",
      PLIM_LAUNCH_KILLS_MACHINE,
      9,
      { { "/proc/self/cgroup", "0::/job\n" },
        { "/proc/self/mountinfo", V2_MOUNT },
        { "/proc/vmstat", "oom_kill 9\n" } } },
    { "version 2, a namespace of its own",
      PLIM_LAUNCH_KILLS_CGROUP,
      2,
      { { "/proc/self/cgroup", "0::/\n" },
        { "/proc/self/mountinfo", V2_MOUNT },
        { "/sys/fs/cgroup/memory.events", "oom_kill 2\n" } } },
    { "version 2, in a container without one",
      PLIM_LAUNCH_KILLS_CGROUP,
      2,
      { { "/proc/self/cgroup", "0::/docker/1234/sub\n" },
        { "/proc/self/mountinfo",
          "41 31 0:38 /docker/1234 /sys/fs/cgroup ro - cgroup2 cgroup rw\n" },
        { "/sys/fs/cgroup/sub/memory.events", "oom_kill 2\n" } } },
    { "version 2, a path from outside",
      PLIM_LAUNCH_KILLS_CGROUP,
      2,
      { { "/proc/self/cgroup", "0::/../other\n" },
        { "/proc/self/mountinfo", V2_MOUNT },
        { "/sys/fs/cgroup/memory.events", "oom_kill 2\n" } } },
    { "version 1 before version 2",
      PLIM_LAUNCH_KILLS_CGROUP,
      1,
      { { "/proc/self/cgroup", "9:name=systemd:/x\n4:cpu,memory:/a\n0::/\n" },
        { "/proc/self/mountinfo", "30 1 0:1 / / rw - ext4 /dev/vda rw\n" V2_MOUNT V1_MOUNT },
        { "/sys/fs/cgroup/memory/a/memory.oom_control",
          "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n" },
        { "/sys/fs/cgroup/memory.events", "oom_kill 2\n" } } },
    { "a group and a mount with blanks",
      PLIM_LAUNCH_KILLS_CGROUP,
      6,
      { { "/proc/self/cgroup", "0::/my job:1\n" },
        { "/proc/self/mountinfo", "41 31 0:38 / /my\\040groups rw - cgroup2 cgroup2 rw\n" },
        { "/my groups/my job:1/memory.events", "oom_kill 6\n" } } },
    { "files that make no sense",
      PLIM_LAUNCH_KILLS_UNKNOWN,
      0,
      { { "/proc/self/cgroup", "\n:\n::\n0::\n:::::\nx\n4:memory" },
        { "/proc/self/mountinfo", "\n - \n - cgroup2\n1 2 3 4 5 - cgroup2 x\n1 - cgroup2 b c\n"
                                  "1 2 3 \\ \\0 x - cgroup2 x y\n" },
        { "/proc/vmstat", "" } } },
};

static void nearest_counter_is_found(void)
{
    for (size_t i = 0; i < T_COUNT(places); i++) {
        T_CASE("%s", places[i].name);
        char root[] = "/tmp/plim-kills-XXXXXX";
        T_NOT_NULL(mkdtemp(root));
        for (size_t j = 0; j < FILES_MAX && places[i].files[j].path != NULL; j++) {
            write_file(root, places[i].files[j].path, places[i].files[j].text);
        }
        plim_launch_kills kills;
        plim_launch_kills_begin(&kills, root);
        T_EQ_U64(kills.scope, places[i].scope);
        T_EQ_U64(kills.before, places[i].before);
        T_EQ_U64(plim_launch_kills_since(&kills), 0);
        remove_tree(root);
        T_EQ_U64(plim_launch_kills_since(&kills), 0); /* gone meanwhile */
    }
}

static void rise_is_told(void)
{
    static const struct {
        const char *now;
        uint64_t since;
    } cases[] = { { "oom_kill 3\n", 0 },
                  { "oom_kill 5\n", 2 },
                  { "oom_kill 2\n", 0 },
                  { "something 9\n", 0 },
                  { "oom_kill 18446744073709551615\n", UINT64_MAX - 3 } };
    char root[] = "/tmp/plim-kills-XXXXXX";
    T_NOT_NULL(mkdtemp(root));
    write_file(root, "/proc/vmstat", "oom_kill 3\n");
    plim_launch_kills kills;
    plim_launch_kills_begin(&kills, root);
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].now);
        write_file(root, "/proc/vmstat", cases[i].now);
        T_EQ_U64(plim_launch_kills_since(&kills), cases[i].since);
    }
    remove_tree(root);
}

static void this_machine_does_no_harm(void)
{
    plim_launch_kills kills;
    plim_launch_kills_begin(&kills, "");
    T_TRUE(kills.scope != PLIM_LAUNCH_KILLS_UNKNOWN || kills.path[0] == '\0');
    T_EQ_U64(plim_launch_kills_since(&kills), 0);
}

T_MAIN(T_TEST(nearest_counter_is_found), T_TEST(rise_is_told), T_TEST(this_machine_does_no_harm))
