/*
 * stage.c - the file that a rehearsal's processes share: made, mapped, locked. See stage.h.
 */
#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "stage/page.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MODE 0600

static plim_status init_lock(pthread_mutex_t *lock, plim_error *err)
{
    pthread_mutexattr_t attributes;
    int code = pthread_mutexattr_init(&attributes);
    if (code == 0) {
        code = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        code = code != 0 ? code : pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        code = code != 0 ? code : pthread_mutex_init(lock, &attributes);
        (void)pthread_mutexattr_destroy(&attributes);
    }
    return code == 0 ? PLIM_OK : plim_fail_errno(err, code, "cannot make a lock to share");
}

/* Maps all of an open file; the mapping outlives the descriptor. */
static plim_status map(int file, const char *path, plim_stage **ret, plim_error *err)
{
    plim_stage *stage = plim_mem_alloc_zeroed(&plim_mem_heap, 1, sizeof(*stage));
    if (stage == NULL) {
        return plim_fail_memory(err, "opening the stage of a rehearsal");
    }
    void *page = mmap(NULL, sizeof(plim_stage_page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) {
        const int code = errno;
        plim_mem_free(&plim_mem_heap, stage, 1, sizeof(*stage));
        return plim_fail_errno(err, code, "%s: cannot be mapped", path);
    }
    *stage = (plim_stage){ .page = page, .place = PLIM_STAGE_NOBODY };
    *ret = stage;
    return PLIM_OK;
}

static plim_status prepare(int file, const char *path, const plim_stage_settings *settings,
                           plim_stage **ret, plim_error *err)
{
    if (ftruncate(file, (off_t)sizeof(plim_stage_page)) != 0) {
        return plim_fail_errno(err, errno, "%s: no room for it", path);
    }
    plim_stage *stage = NULL;
    PLIM_TRY(map(file, path, &stage, err));
    PLIM_ASSERT(stage != NULL);
    const plim_status status = init_lock(&stage->page->lock, err);
    if (status != PLIM_OK) {
        plim_stage_close(stage);
        return status;
    }
    stage->page->magic = PLIM_STAGE_MAGIC;
    stage->page->version = PLIM_STAGE_VERSION;
    stage->page->settings = *settings;
    *ret = stage;
    return PLIM_OK;
}

plim_status plim_stage_create(const char *path, const plim_stage_settings *settings,
                              plim_stage **ret, plim_error *err)
{
    if (settings->device_count == 0 || settings->device_count > PLIM_STAGE_DEVICES_MAX) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "%u devices: between 1 and %d can be had",
                         settings->device_count, PLIM_STAGE_DEVICES_MAX);
    }
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    if (file < 0) {
        return plim_fail_errno(err, errno, "%s: cannot be made", path);
    }
    const plim_status status = prepare(file, path, settings, ret, err);
    (void)close(file);
    if (status != PLIM_OK) {
        (void)unlink(path);
    }
    return status;
}

static plim_status check(int file, const char *path, plim_error *err)
{
    uint64_t head[2] = { 0 };
    struct stat about = { 0 };
    if (fstat(file, &about) != 0 || pread(file, head, sizeof(head), 0) < 0) {
        return plim_fail_errno(err, errno, "%s: cannot be read", path);
    }
    if (head[0] != PLIM_STAGE_MAGIC) {
        return plim_fail(err, PLIM_CORRUPT, "%s: is not the stage of a rehearsal", path);
    }
    if (head[1] != PLIM_STAGE_VERSION || about.st_size != (off_t)sizeof(plim_stage_page)) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "%s: is of another version of Plimsoll than these stand-ins", path);
    }
    return PLIM_OK;
}

plim_status plim_stage_open(const char *path, plim_stage **ret, plim_error *err)
{
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return plim_fail_errno(err, errno, "%s: cannot be opened", path);
    }
    plim_status status = check(file, path, err);
    if (status == PLIM_OK) {
        status = map(file, path, ret, err);
    }
    (void)close(file);
    return status;
}

void plim_stage_close(plim_stage *stage)
{
    if (stage != NULL) {
        (void)munmap(stage->page, sizeof(plim_stage_page));
        plim_mem_free(&plim_mem_heap, stage, 1, sizeof(*stage));
    }
}

const plim_stage_settings *plim_stage_get_settings(const plim_stage *stage)
{
    return &stage->page->settings;
}

void plim_stage_lock(const plim_stage *stage)
{
    if (pthread_mutex_lock(&stage->page->lock) == EOWNERDEAD) {
        stage->page->is_torn = true;
        (void)pthread_mutex_consistent(&stage->page->lock); /* fails only for a lock not ours */
    }
}

void plim_stage_unlock(const plim_stage *stage)
{
    (void)pthread_mutex_unlock(&stage->page->lock);
}
