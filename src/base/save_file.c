/*
 * save_file.c - writing a file beside its name, and giving it the name at the end.
 */
#include "base/save_file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX 1000 /* of ours that may stand in a folder from runs that were killed */

static plim_status fail_to(const plim_save_file *file, const char *doing, int code, plim_error *err)
{
    return plim_fail_errno(err, code, "cannot %s \"%s\"", doing, file->path);
}

static int open_again(const char *path, int flags, mode_t mode)
{
    int fd = 0;
    do {
        fd = open(path, flags | O_WRONLY | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* A name in the folder of the target that no file has. The target's own name is no part of it: it
 * may be as long as names can be. */
static plim_status open_temporary(plim_save_file *file, mode_t mode, plim_error *err)
{
    const char *target = plim_text_string(&file->target);
    const char *slash = strrchr(target, '/');
    const size_t folder_bytes = slash == NULL ? 0 : (size_t)(slash - target) + 1;
    for (unsigned i = 0; i < NAMES_MAX; i++) {
        plim_text_reset(&file->temporary);
        plim_text_append(&file->temporary, target, folder_bytes);
        plim_text_append_format(&file->temporary, ".plimsoll-%ld-%u", (long)getpid(), i);
        PLIM_TRY(plim_text_status(&file->temporary, "writing a file", err));
        file->fd = open_again(plim_text_string(&file->temporary), O_CREAT | O_EXCL, mode);
        if (file->fd >= 0) {
            return PLIM_OK;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    return fail_to(file, "create", errno, err);
}

static plim_status open_file(plim_save_file *file, plim_error *err)
{
    if (strcmp(file->path, "-") == 0) {
        file->path = "standard output";
        file->fd = dup(STDOUT_FILENO);
        return file->fd >= 0 ? PLIM_OK : fail_to(file, "write to", errno, err);
    }
    struct stat facts;
    mode_t mode = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH; /* less umask */
    if (stat(file->path, &facts) == 0) {
        if (!S_ISREG(facts.st_mode)) {
            file->fd = open_again(file->path, 0, 0);
            return file->fd >= 0 ? PLIM_OK : fail_to(file, "write to", errno, err);
        }
        mode &= facts.st_mode;
        char resolved[PATH_MAX];
        if (realpath(file->path, resolved) == NULL) {
            return fail_to(file, "create", errno, err);
        }
        plim_text_append_string(&file->target, resolved);
    } else if (file->path[0] != '\0' && (errno == ENOENT || errno == EACCES || errno == ENOTDIR)) {
        plim_text_append_string(&file->target, file->path); /* creating it will fail */
    } else {
        return fail_to(file, "create", errno, err);
    }
    PLIM_TRY(plim_text_status(&file->target, "writing a file", err));
    return open_temporary(file, mode, err);
}

static void forget(plim_save_file *file)
{
    plim_text_deinit(&file->target);
    plim_text_deinit(&file->temporary);
}

plim_status plim_save_file_open(plim_save_file *file, const char *path, const plim_mem *mem,
                                plim_error *err)
{
    *file = (plim_save_file){ .path = path, .fd = -1 };
    plim_text_init(&file->target, mem, SIZE_MAX / 2 - 1);
    plim_text_init(&file->temporary, mem, SIZE_MAX / 2 - 1);
    const plim_status status = open_file(file, err);
    if (status != PLIM_OK) {
        forget(file);
    }
    return status;
}

static bool write_all(void *ctx, const void *data, size_t bytes)
{
    plim_save_file *file = ctx;
    const char *from = data;
    while (bytes > 0) {
        const ssize_t written = write(file->fd, from, bytes);
        if (written >= 0) {
            from += written;
            bytes -= (size_t)written;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            /* The caller's pipe is non-blocking: wait. */
            struct pollfd wait = { .fd = file->fd, .events = POLLOUT };
            (void)poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            file->failure = errno;
            return false;
        }
    }
    return true;
}

plim_sink plim_save_file_sink(plim_save_file *file)
{
    return (plim_sink){ .write = write_all, .ctx = file };
}

const char *plim_save_file_name(const plim_save_file *file)
{
    const char *const temporary = plim_text_string(&file->temporary);
    return temporary[0] != '\0' ? temporary : NULL;
}

uint64_t plim_save_file_bytes(const plim_save_file *file)
{
    struct stat facts;
    return fstat(file->fd, &facts) == 0 && S_ISREG(facts.st_mode) ? (uint64_t)facts.st_size : 0;
}

bool plim_save_file_exists(const char *path)
{
    struct stat facts;
    return strcmp(path, "-") != 0 && stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

plim_status plim_save_file_close(plim_save_file *file, plim_status status, plim_error *err)
{
    const char *const temporary = plim_save_file_name(file);
    if (close(file->fd) != 0 && file->failure == 0 && errno != EINTR) {
        file->failure = errno; /* some file systems say so late that a disk is full */
    }
    if (file->failure != 0) {
        status = fail_to(file, "write to", file->failure, err);
    }
    if (status == PLIM_OK && temporary != NULL &&
        rename(temporary, plim_text_string(&file->target)) != 0) {
        status = fail_to(file, "create", errno, err);
    }
    if (status != PLIM_OK && temporary != NULL) {
        (void)unlink(temporary);
    }
    forget(file);
    return status;
}
