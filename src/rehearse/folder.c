/*
 * folder.c - the folder of a run. See folder.h.
 */
#include "rehearse/folder.h"

#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLDER_MODE   0700
#define ENTRIES_BYTES 4096
#define BEGIN_BYTES   64
#define FOLDER_DEPTH_MAX                                                    \
    64 /* of folders that are removed: what a program puts there is its own \
        */

plim_status plim_folder_join(char *path, size_t path_bytes, const char *folder, const char *name,
                             plim_error *err)
{
    const int length = snprintf(path, path_bytes, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= path_bytes) {
        return plim_fail(err, PLIM_LIMIT, "%s/%s: the path is too long", folder, name);
    }
    return PLIM_OK;
}

static plim_status make_inside(const char *folder, const char *name, plim_error *err)
{
    char path[PLIM_PATH_BYTES];
    PLIM_TRY(plim_folder_join(path, sizeof(path), folder, name, err));
    if (mkdir(path, FOLDER_MODE) != 0) {
        return plim_fail_errno(err, errno, "%s: cannot be made", path);
    }
    return PLIM_OK;
}

/* LD_PRELOAD takes no path with blanks or colons in it (ld.so(8)). */
static const char *find_base(void)
{
    const char *const base = getenv("TMPDIR");
    return base != NULL && base[0] == '/' && strpbrk(base, " :") == NULL ? base : "/tmp";
}

/* Names of a process's folders begin so: should it be killed, another finds them. */
static void write_begin(char *name, size_t name_bytes, pid_t maker)
{
    (void)snprintf(name, name_bytes, "plimsoll-rehearsal-%ld-", (long)maker);
}

plim_status plim_folder_make(char *path, size_t path_bytes, const char *const *inside,
                             plim_error *err)
{
    char begin[BEGIN_BYTES];
    char name[BEGIN_BYTES + sizeof("XXXXXX")];
    const char *const base = find_base();
    write_begin(begin, sizeof(begin), getpid());
    (void)snprintf(name, sizeof(name), "%sXXXXXX", begin);
    PLIM_TRY(plim_folder_join(path, path_bytes, base, name, err));
    if (mkdtemp(path) == NULL) {
        const plim_status status = plim_fail_errno(
            err, errno, "%s: cannot make a folder for the rehearsal (TMPDIR says where)", base);
        path[0] = '\0';
        return status;
    }
    for (size_t i = 0; inside[i] != NULL; i++) {
        PLIM_TRY(make_inside(path, inside[i], err));
    }
    return PLIM_OK;
}

/* ---- removing -------------------------------------------------------------------------------- */

static void remove_folder(int at, const char *name, dev_t device, unsigned depth_left);

/*
 * All that is in a folder. Without allocations, unlike nftw() and opendir(): where memory has run
 * out there is most to tidy up.
 */
static void empty_folder(int folder, dev_t device, unsigned depth_left)
{
    _Alignas(struct dirent64) char entries[ENTRIES_BYTES];
    long got = 0; /* by its number: glibc has a function of it since 2.30 */
    while ((got = syscall(SYS_getdents64, folder, entries, sizeof(entries))) > 0) {
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (const void *)(entries + at);
            at += entry->d_reclen;
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                unlinkat(folder, entry->d_name, 0) != 0 && depth_left > 0) {
                remove_folder(folder, entry->d_name, device, depth_left - 1);
            }
        }
    }
}

/* Links are not followed, and other file systems, mounted by the program, are not entered. */
static void remove_folder(int at, const char *name, dev_t device, unsigned depth_left)
{
    const int folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat about;
    if (folder >= 0 && fstat(folder, &about) == 0 && about.st_dev == device) {
        (void)fchmod(folder, FOLDER_MODE); /* the program may have made it read-only */
        empty_folder(folder, device, depth_left);
    }
    if (folder >= 0) {
        (void)close(folder);
    }
    (void)unlinkat(at, name, AT_REMOVEDIR); /* what is left over lies among temporary files */
}

void plim_folder_remove(const char *path)
{
    struct stat about;
    if (path[0] != '\0' && lstat(path, &about) == 0) {
        remove_folder(AT_FDCWD, path, about.st_dev, FOLDER_DEPTH_MAX);
    }
}

void plim_folder_remove_of(pid_t maker)
{
    char begin[BEGIN_BYTES];
    DIR *const base = opendir(find_base());
    write_begin(begin, sizeof(begin), maker);
    for (const struct dirent *entry = base != NULL ? readdir(base) : NULL; entry != NULL;
         entry = readdir(base)) {
        struct stat about;
        if (strncmp(entry->d_name, begin, strlen(begin)) == 0 &&
            fstatat(dirfd(base), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            about.st_uid == geteuid()) {
            remove_folder(dirfd(base), entry->d_name, about.st_dev, FOLDER_DEPTH_MAX);
        }
    }
    if (base != NULL) {
        (void)closedir(base);
    }
}
