/*
 * dump.c - a dump on request: a number is raised in the page, and answered there.
 *
 * Eight bytes are written to the file, which lies in memory and is mapped by its process: no
 * mapping of ours, so that a file cut short is an error and no signal.
 */
#include "live/page.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static plim_status write_request(const char *path, uint64_t request, plim_error *err)
{
    const int file = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return plim_fail_errno(err, errno, "requesting a dump through %s", path);
    }
    const ssize_t wrote = pwrite(file, &request, sizeof request, PLIM_LIVE_REQUEST_AT);
    const int why = errno;
    (void)close(file);
    return wrote == (ssize_t)sizeof request
               ? PLIM_OK
               : plim_fail_errno(err, why, "requesting a dump through %s", path);
}

plim_status plim_live_dump_request(plim_live_dump *dump, plim_error *err)
{
    dump->number = plim_plus(plim_max(dump->live.request, dump->live.answered), 1);
    dump->is_done = dump->has_failed = dump->is_gone = dump->was_taken_up = false;
    dump->seconds = 0;
    dump->began_ns = plim_clock_now_ns(&plim_clock_system);
    return write_request(dump->live.path, dump->number, err);
}

static bool is_gone(const plim_live_page *live)
{
    plim_process process = { 0 };
    return !plim_process_read(live->pid, &process) || process.start != live->start ||
           process.state == 'Z';
}

bool plim_live_dump_look(plim_live_dump *dump)
{
    const uint32_t dumps_before = dump->live.dump_count;
    plim_live_page now;
    dump->seconds = (double)(plim_clock_now_ns(&plim_clock_system) - dump->began_ns) / 1e9;
    if (plim_live_read(dump->live.path, &now, NULL) != PLIM_OK) {
        dump->is_gone = is_gone(&dump->live);
        return dump->is_gone;
    }
    dump->was_taken_up = dump->was_taken_up || now.is_dumping;
    if (now.answered < dump->number) {
        dump->live.is_dumping = now.is_dumping;
        dump->live.updated_ns = now.updated_ns;
        dump->is_gone = is_gone(&dump->live);
        return dump->is_gone;
    }
    dump->live = now;
    dump->is_done = true;
    dump->has_failed = now.dump_count == dumps_before;
    return true;
}

void plim_live_dump_withdraw(const plim_live_dump *dump)
{
    plim_live_page now;
    if (plim_live_read(dump->live.path, &now, NULL) == PLIM_OK && !now.is_dumping &&
        now.request == dump->number && now.answered < dump->number) {
        (void)write_request(dump->live.path, now.answered, NULL);
    }
}
