/*
 * kills.c - finding and reading the counter of out-of-memory kills that is nearest to us.
 *
 * Three places, the most specific first:
 *
 *   control groups, version 1   <group>/memory.oom_control  "oom_kill 3"    Linux 4.13
 *   control groups, version 2   <group>/memory.events       "oom_kill 3"    Linux 4.13
 *   the whole machine           /proc/vmstat                "oom_kill 3"    Linux 4.13
 *
 * /proc/self/cgroup names our group, /proc/self/mountinfo where groups are mounted (proc(5),
 * cgroups(7), Documentation/admin-guide/cgroup-v2.rst). A version 2 group without the memory
 * controller has no such file: then the first group above that has it counts, since it includes
 * those below. The kernel counts before it kills, so a process that has waited for a victim reads
 * a count that includes it (Linux, mm/oom_kill.c, `__oom_kill_process()`).
 */
#include "launch/kills.h"

#include "base/ascii.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KILL_LINE_BYTES 8192u /* two paths of 4096 at most; longer lines are cut */

/* The mounts of one version of control groups, and the file that counts. */
typedef struct group_version {
    const char *controller; /* in /proc/self/cgroup, among commas; "" for version 2 */
    const char *fs_type;
    const char *fs_option; /* among the options of the mount; NULL: any */
    const char *file;
} group_version;

static const group_version versions[] = {
    { "memory", "cgroup", "memory", "memory.oom_control" },
    { "", "cgroup2", NULL, "memory.events" },
};

/* A path put together from pieces; false when it does not fit. */
static bool join(char *path, const char *root, const char *folder, const char *rest)
{
    const int length = snprintf(path, PLIM_LAUNCH_KILLS_PATH_BYTES, "%s%s%s", root, folder, rest);
    return length >= 0 && (size_t)length < PLIM_LAUNCH_KILLS_PATH_BYTES;
}

static FILE *open_file(const char *root, const char *name)
{
    char path[PLIM_LAUNCH_KILLS_PATH_BYTES];
    return join(path, root, name, "") ? fopen(path, "re") : NULL;
}

/* The "oom_kill" line of a file. */
static bool read_count(const char *path, uint64_t *ret)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    static const char name[] = "oom_kill ";
    const size_t length = sizeof name - 1;
    char line[256];
    bool is_found = false;
    while (!is_found && fgets(line, sizeof line, file) != NULL) {
        is_found = strncmp(line, name, length) == 0 && plim_is_digit(line[length]);
    }
    fclose(file);
    if (is_found) {
        *ret = strtoull(line + length, NULL, 10);
    }
    return is_found;
}

/* True if `word` is one of the comma-separated words in `list`. */
static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list;; at++) {
        const size_t here = strcspn(at, ",");
        if (here == length && strncmp(at, word, length) == 0) {
            return true;
        }
        at += here;
        if (*at == '\0') {
            return false;
        }
    }
}

/* The path of our group: lines are "4:cpu,memory:/path"; version 2 is "0::/path". */
static bool find_group(const char *root, const group_version *version, char *group)
{
    FILE *file = open_file(root, "/proc/self/cgroup");
    if (file == NULL) {
        return false;
    }
    char line[KILL_LINE_BYTES];
    bool is_found = false;
    while (!is_found && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (path != NULL) {
            *path = '\0';
            is_found =
                has_word(controllers + 1, version->controller) && join(group, path + 1, "", "");
        }
    }
    fclose(file);
    return is_found;
}

/* mountinfo writes blanks and backslashes in paths as "\040". */
static void unescape(char *path)
{
    const char *from = path;
    char *to = path;
    while (*from != '\0') {
        if (from[0] == '\\' && plim_is_digit(from[1]) && plim_is_digit(from[2]) &&
            plim_is_digit(from[3])) {
            *to++ = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

typedef struct mount_line {
    char *root;  /* what of the file system stands there */
    char *point; /* where */
} mount_line;

/* "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory" */
static bool read_mount(char *line, const group_version *version, mount_line *ret)
{
    char *fields[5] = { NULL };
    char *type = strstr(line, " - ");
    if (type == NULL) {
        return false;
    }
    *type = '\0';
    char *rest = line;
    for (size_t i = 0; i < 5; i++) {
        fields[i] = strtok_r(rest, " ", &rest);
        if (fields[i] == NULL) {
            return false;
        }
    }
    char *after = NULL;
    const char *fs_type = strtok_r(type + 3, " \n", &after);
    const char *source = strtok_r(NULL, " \n", &after);
    const char *fs_options = strtok_r(NULL, " \n", &after);
    if (fs_type == NULL || source == NULL || strcmp(fs_type, version->fs_type) != 0) {
        return false;
    }
    if (version->fs_option != NULL &&
        (fs_options == NULL || !has_word(fs_options, version->fs_option))) {
        return false;
    }
    *ret = (mount_line){ .root = fields[3], .point = fields[4] };
    unescape(ret->root);
    unescape(ret->point);
    return true;
}

/*
 * The part of the group's path below what is mounted. A container without a namespace of its own
 * sees "/docker/1234" both as its path and as the root of the mount. A path that is not below
 * is of another namespace: then what is mounted is all that can be seen.
 */
static const char *below_mount(const char *group, const char *mount_root)
{
    const size_t length = strcmp(mount_root, "/") == 0 ? 0 : strlen(mount_root);
    if (strncmp(group, mount_root, length) != 0 || strncmp(group, "/..", 3) == 0) {
        return "";
    }
    const char *below = group + length;
    return *below == '/' && below[1] != '\0' ? below : "";
}

/* Looks for the counter in the group's folder, then in those above, up to the mount. */
static bool search_up(plim_launch_kills *kills, const char *mount, char *below, const char *file)
{
    char name[64];
    snprintf(name, sizeof name, "/%s", file);
    for (;;) {
        if (join(kills->path, mount, below, name) && read_count(kills->path, &kills->before)) {
            return true;
        }
        char *last = strrchr(below, '/');
        if (last == NULL) {
            return false;
        }
        *last = '\0';
    }
}

static bool find_in_group(plim_launch_kills *kills, const char *root, const group_version *version)
{
    char group[PLIM_LAUNCH_KILLS_PATH_BYTES];
    FILE *file = open_file(root, "/proc/self/mountinfo");
    if (file == NULL) {
        return false;
    }
    bool is_found = false;
    if (find_group(root, version, group)) {
        char line[KILL_LINE_BYTES];
        while (!is_found && fgets(line, sizeof line, file) != NULL) {
            char mount[PLIM_LAUNCH_KILLS_PATH_BYTES];
            char below[PLIM_LAUNCH_KILLS_PATH_BYTES];
            mount_line at;
            is_found = read_mount(line, version, &at) &&
                       join(below, below_mount(group, at.root), "", "") &&
                       join(mount, root, at.point, "") &&
                       search_up(kills, mount, below, version->file);
        }
    }
    fclose(file);
    return is_found;
}

void plim_launch_kills_begin(plim_launch_kills *kills, const char *root)
{
    kills->before = 0;
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        if (find_in_group(kills, root, &versions[i])) {
            kills->scope = PLIM_LAUNCH_KILLS_CGROUP;
            return;
        }
    }
    if (join(kills->path, root, "/proc/vmstat", "") && read_count(kills->path, &kills->before)) {
        kills->scope = PLIM_LAUNCH_KILLS_MACHINE;
        return;
    }
    kills->scope = PLIM_LAUNCH_KILLS_UNKNOWN;
    kills->path[0] = '\0';
}

uint64_t plim_launch_kills_since(const plim_launch_kills *kills)
{
    uint64_t now = 0;
    if (kills->scope == PLIM_LAUNCH_KILLS_UNKNOWN || !read_count(kills->path, &now)) {
        return 0;
    }
    return now > kills->before ? now - kills->before : 0;
}
