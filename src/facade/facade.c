/* facade.c - writes the facades to files. See facade.h; what is in one: layout.h. */
#include "facade/facade.h"

#include "base/error.h"
#include "facade/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define PATH_BYTES_MAX 4096

static plim_status write_file(const char *path, const unsigned char *data, size_t bytes,
                              plim_error *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    if (fd < 0) {
        return plim_fail_errno(err, errno, "%s: cannot be written", path);
    }
    while (bytes > 0) {
        const ssize_t written = write(fd, data, bytes);
        if (written < 0 && errno != EINTR) {
            const int why = errno;
            (void)close(fd);
            return plim_fail_errno(err, why, "%s: cannot be written", path);
        }
        if (written > 0) {
            data += written;
            bytes -= (size_t)written;
        }
    }
    if (close(fd) != 0) {
        return plim_fail_errno(err, errno, "%s: cannot be written", path);
    }
    return PLIM_OK;
}

static plim_status write_image(const plim_facade_layout *layout, const char *path, plim_error *err)
{
    const size_t bytes = (size_t)plim_layout_file_bytes(layout);
    unsigned char *const image = plim_mem_alloc_zeroed(layout->mem, bytes, 1);
    if (image == NULL) {
        return plim_fail_memory(err, "writing a facade");
    }
    plim_layout_emit(layout, image);
    const plim_status status = write_file(path, image, bytes, err);
    plim_mem_free(layout->mem, image, bytes, 1);
    return status;
}

static plim_status write_facade(const plim_wants *wants, const plim_wants_library *library,
                                const char *folder, plim_error *err)
{
    plim_text path;
    plim_text_init(&path, wants->mem, PATH_BYTES_MAX);
    plim_text_append_format(&path, "%s/%s", folder, library->soname);
    plim_status status = plim_text_status(&path, "naming a facade", err);
    plim_facade_layout layout = { 0 };
    if (status == PLIM_OK) {
        status = plim_layout_init(&layout, wants, library, err);
        if (status == PLIM_OK) {
            status = write_image(&layout, plim_text_string(&path), err);
        }
        plim_layout_deinit(&layout);
    }
    plim_text_deinit(&path);
    return status;
}

plim_status plim_facades_write(const plim_wants *wants, const char *folder, plim_error *err)
{
    for (size_t i = 0; i < wants->libraries.count; i++) {
        PLIM_TRY(write_facade(wants, &wants->libraries.items[i], folder, err));
    }
    return PLIM_OK;
}
