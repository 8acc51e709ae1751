/*
 * books.c - who has how much of which device. See stage.h.
 */
#include "base/numbers.h"
#include "base/process.h"
#include "stage/page.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static uint64_t sum(const plim_stage_figures *figures)
{
    uint64_t all = 0;
    for (int use = 0; use < PLIM_STAGE_USES; use++) {
        all += figures->used_bytes[use];
    }
    return all;
}

static void note_peak(plim_stage_figures *figures)
{
    const uint64_t now = sum(figures);
    const uint64_t before = figures->peak_bytes;
    if (now > before) {
        figures->peak_bytes = now;
        memcpy(figures->at_peak_bytes, figures->used_bytes, sizeof(figures->used_bytes));
        /* What would have led beyond the former peak leads less far beyond this one. */
        const uint64_t rise = now - before;
        figures->modelled_above_bytes -=
            rise < figures->modelled_above_bytes ? rise : figures->modelled_above_bytes;
    }
}

/* Totals from the places. The lock is held. */
static void add_up(plim_stage_page *page)
{
    for (uint32_t device = 0; device < page->settings.device_count; device++) {
        plim_stage_figures *total = &page->devices[device];
        memset(total->used_bytes, 0, sizeof(total->used_bytes));
        for (uint32_t i = 0; i < page->place_count; i++) {
            for (int use = 0; use < PLIM_STAGE_USES; use++) {
                total->used_bytes[use] += page->places[i].devices[device].used_bytes[use];
            }
        }
        note_peak(total);
    }
    page->host_bytes = 0;
    for (uint32_t i = 0; i < page->place_count; i++) {
        page->host_bytes += page->places[i].host_bytes;
    }
}

/* The lock, and totals that are right. */
static void lock_books(const plim_stage *stage)
{
    plim_stage_lock(stage);
    if (stage->page->is_torn) {
        add_up(stage->page);
        stage->page->is_torn = false;
    }
}

/* A zombie has ended too: its memory is gone, only its parent has not asked yet. */
static bool is_alive(pid_t pid)
{
    if (kill(pid, 0) != 0 && errno == ESRCH) {
        return false;
    }
    plim_process process = { 0 };
    return !plim_process_read(pid, &process) || process.state != 'Z'; /* no /proc: see above */
}

static void end_place(plim_stage_place *place)
{
    place->has_ended = true;
    place->host_bytes = 0;
    for (size_t i = 0; i < PLIM_STAGE_DEVICES_MAX; i++) {
        memset(place->devices[i].used_bytes, 0, sizeof(place->devices[i].used_bytes));
    }
}

/* Clears those who ended without a word. Returns whether there were any. The lock is held. */
static bool clear_the_ended(plim_stage_page *page)
{
    bool found = false;
    for (uint32_t i = 0; i < page->place_count; i++) {
        plim_stage_place *place = &page->places[i];
        if (!place->has_ended && !is_alive(place->pid)) {
            end_place(place);
            found = true;
        }
    }
    if (found) {
        add_up(page);
    }
    return found;
}

/* This process's place, or NULL when all are taken. The lock is held. */
static plim_stage_place *my_place(plim_stage *stage)
{
    plim_stage_page *page = stage->page;
    const pid_t me = getpid();
    if (stage->place == PLIM_STAGE_NOBODY || stage->owner != me) {
        if (page->place_count == PLIM_STAGE_PROCESSES_MAX) {
            return NULL;
        }
        stage->owner = me;
        stage->place = (int)page->place_count;
        page->places[page->place_count].pid = me;
        page->place_count++;
    }
    return &page->places[stage->place];
}

static bool is_full(const plim_stage_page *page, uint32_t device, uint64_t bytes)
{
    const uint64_t used = sum(&page->devices[device]);
    return used > page->settings.capacity_bytes || bytes > page->settings.capacity_bytes - used;
}

bool plim_stage_take(plim_stage *stage, uint32_t device, plim_stage_use use, uint64_t bytes)
{
    plim_stage_page *page = stage->page;
    lock_books(stage);
    plim_stage_place *place = my_place(stage);
    const bool fits = place != NULL && (!is_full(page, device, bytes) ||
                                        (clear_the_ended(page) && !is_full(page, device, bytes)));
    if (fits) {
        place->devices[device].used_bytes[use] += bytes;
        note_peak(&place->devices[device]);
        page->devices[device].used_bytes[use] += bytes;
        note_peak(&page->devices[device]);
    }
    plim_stage_unlock(stage);
    return fits;
}

static void subtract(plim_stage_figures *figures, plim_stage_use use, uint64_t bytes)
{
    figures->used_bytes[use] -= bytes < figures->used_bytes[use] ? bytes : figures->used_bytes[use];
}

void plim_stage_give(plim_stage *stage, uint32_t device, plim_stage_use use, uint64_t bytes)
{
    lock_books(stage);
    if (stage->place != PLIM_STAGE_NOBODY && stage->owner == getpid()) {
        subtract(&stage->page->places[stage->place].devices[device], use, bytes);
        subtract(&stage->page->devices[device], use, bytes);
    }
    plim_stage_unlock(stage);
}

static void note_range(plim_stage_figures *figures, uint64_t below, uint64_t above)
{
    const uint64_t spare = figures->peak_bytes - sum(figures); /* of the peak, at this moment */
    const uint64_t beyond = above > spare ? above - spare : 0;
    if (below > figures->modelled_below_bytes) {
        figures->modelled_below_bytes = below;
    }
    if (beyond > figures->modelled_above_bytes) {
        figures->modelled_above_bytes = beyond;
    }
}

void plim_stage_note_range(plim_stage *stage, uint32_t device, uint64_t below_bytes,
                           uint64_t above_bytes)
{
    plim_stage_page *page = stage->page;
    lock_books(stage);
    plim_stage_place *place = my_place(stage);
    if (place != NULL && device < page->settings.device_count) {
        note_range(&place->devices[device], below_bytes, above_bytes);
        note_range(&page->devices[device], below_bytes, above_bytes);
    }
    plim_stage_unlock(stage);
}

void plim_stage_note_wait(plim_stage *stage, uint32_t device, uint64_t at_once,
                          uint64_t largest_bytes)
{
    plim_stage_page *page = stage->page;
    lock_books(stage);
    plim_stage_place *place = my_place(stage);
    if (place != NULL && device < page->settings.device_count) {
        plim_stage_figures *const mine = &place->devices[device];
        plim_stage_figures *const all = &page->devices[device];
        const uint64_t each = plim_min(largest_bytes, mine->peak_bytes);
        const uint64_t bytes =
            each > 0 && at_once > UINT64_MAX / each ? UINT64_MAX : at_once * each;
        mine->wait_count++;
        all->wait_count++;
        if (bytes > mine->waiting_bytes) { /* processes wait at the same time, if they do */
            all->waiting_bytes = plim_plus(all->waiting_bytes, bytes - mine->waiting_bytes);
            mine->waiting_bytes = bytes;
        }
    }
    plim_stage_unlock(stage);
}

void plim_stage_pin_host(plim_stage *stage, uint64_t bytes)
{
    lock_books(stage);
    (void)clear_the_ended(stage->page);
    plim_stage_place *const place = my_place(stage);
    if (place != NULL) {
        place->host_bytes = plim_plus(place->host_bytes, bytes);
        stage->page->host_bytes = plim_plus(stage->page->host_bytes, bytes);
        stage->page->host_peak_bytes =
            plim_max(stage->page->host_peak_bytes, stage->page->host_bytes);
    }
    plim_stage_unlock(stage);
}

void plim_stage_unpin_host(plim_stage *stage, uint64_t bytes)
{
    lock_books(stage);
    if (stage->place != PLIM_STAGE_NOBODY && stage->owner == getpid()) {
        plim_stage_place *const place = &stage->page->places[stage->place];
        place->host_bytes = plim_minus(place->host_bytes, bytes);
        stage->page->host_bytes = plim_minus(stage->page->host_bytes, bytes);
    }
    plim_stage_unlock(stage);
}

uint64_t plim_stage_host_peak(const plim_stage *stage)
{
    lock_books(stage);
    const uint64_t bytes = stage->page->host_peak_bytes;
    plim_stage_unlock(stage);
    return bytes;
}

uint64_t plim_stage_free_bytes(plim_stage *stage, uint32_t device)
{
    plim_stage_page *page = stage->page;
    lock_books(stage);
    (void)clear_the_ended(page);
    const uint64_t used = sum(&page->devices[device]);
    const uint64_t capacity = page->settings.capacity_bytes;
    plim_stage_unlock(stage);
    return used < capacity ? capacity - used : 0;
}

void plim_stage_leave(plim_stage *stage)
{
    lock_books(stage);
    if (stage->place != PLIM_STAGE_NOBODY && stage->owner == getpid()) {
        end_place(&stage->page->places[stage->place]);
        add_up(stage->page);
    }
    stage->place = PLIM_STAGE_NOBODY; /* a fork child has only forgotten its parent's */
    plim_stage_unlock(stage);
}

void plim_stage_device_figures(const plim_stage *stage, uint32_t device, plim_stage_figures *ret)
{
    lock_books(stage);
    *ret = stage->page->devices[device];
    plim_stage_unlock(stage);
}

bool plim_stage_process_figures(const plim_stage *stage, size_t index, uint32_t device,
                                int32_t *ret_pid, plim_stage_figures *ret)
{
    lock_books(stage);
    const bool is_there = index < stage->page->place_count;
    if (is_there) {
        *ret_pid = (int32_t)stage->page->places[index].pid;
        *ret = stage->page->places[index].devices[device];
    }
    plim_stage_unlock(stage);
    return is_there;
}
