/*
 * locking.c - see locking.h.
 */
#include "cli/locking.h"

#include "base/error.h"
#include "base/save_file.h"
#include "cli/command.h"
#include "cli/output.h"
#include "report/model/rehearse_lock.h"

#include <stdlib.h>
#include <string.h>

#define ANNOTATION_BYTES_MAX ((size_t)1 << 20)

void plim_locking_check_options(struct argp_state *state, const plim_locking *locking,
                                bool is_search)
{
    const bool is_asked = locking->lock != NULL || locking->check != NULL;
    if (locking->lock != NULL && locking->check != NULL) {
        argp_error(state, "--lock cannot be combined with --check: one writes the file, the other "
                          "holds to it");
    }
    if (is_asked && is_search) {
        argp_error(state, "--lock and --check cannot be combined with a search: lock each value by "
                          "itself, the file keeps them all");
    }
    if (locking->annotates && locking->check == NULL) {
        argp_error(state, "--format=github goes with --check");
    }
}

int plim_locking_begin(const char *who, const plim_locking *options, plim_upgrade_limit limit,
                       plim_locking_work *work)
{
    const char *const path = options->check != NULL ? options->check : options->lock;
    plim_error err = { 0 };
    *work = (plim_locking_work){ .options = options, .limit = limit };
    plim_text_init(&work->annotation, NULL, ANNOTATION_BYTES_MAX);
    if (path == NULL) {
        return PLIM_EXIT_OK;
    }
    const bool is_read = options->check != NULL || plim_save_file_exists(path);
    const plim_status status = is_read ? plim_lock_read(path, NULL, &work->lock, &err)
                                       : plim_lock_create(NULL, &work->lock, &err);
    if (status != PLIM_OK) {
        plim_say(who, "%s%s", err.message,
                 status == PLIM_IO && options->check != NULL ? "; --lock writes it" : "");
        return PLIM_EXIT_FAILED;
    }
    return PLIM_EXIT_OK;
}

static int write_lock(const char *who, plim_locking_work *work, const plim_lock_entry *now,
                      plim_page *page, int status)
{
    const char *const path = work->options->lock;
    plim_error err = { 0 };
    if (plim_lock_put(work->lock, now, &err) != PLIM_OK ||
        plim_lock_write(work->lock, path, &err) != PLIM_OK) {
        plim_say(who, "%s", err.message);
        return PLIM_EXIT_FAILED;
    }
    plim_rehearse_locked_page(page, path, now);
    return status;
}

static int check_lock(const char *who, plim_locking_work *work, const plim_lock_entry *now,
                      plim_page *page, int status)
{
    const plim_locking *const options = work->options;
    plim_error err = { 0 };
    plim_rehearse_check check = { .path = options->check,
                                  .locked = plim_lock_find(work->lock, now),
                                  .now = now,
                                  .comparison = &work->comparison,
                                  .limit = work->limit };
    if (check.locked == NULL) {
        plim_say(who,
                 "%s has no entry for \"%s\" on %s with these options: write it with --lock=%s",
                 options->check, now->command, now->gpu, options->check);
        return PLIM_EXIT_FAILED;
    }
    if (plim_lock_compare(check.locked, now, &check.limit, NULL, &work->comparison, &err) !=
        PLIM_OK) {
        plim_say(who, "%s", err.message);
        return PLIM_EXIT_FAILED;
    }
    plim_rehearse_check_page(page, &check, options->annotates ? &work->annotation : NULL);
    return status == PLIM_EXIT_OK && work->comparison.is_exceeded ? PLIM_EXIT_FOUND : status;
}

int plim_locking_end(const char *who, plim_locking_work *work, const plim_rehearsed *rehearsed,
                     const plim_rehearse_options *how, plim_page *page, int status)
{
    const plim_rehearsed_verdict verdict = plim_rehearsed_judge(rehearsed);
    plim_error err = { 0 };
    if (work->lock == NULL) {
        return status;
    }
    if (verdict != PLIM_REHEARSED_FITS && verdict != PLIM_REHEARSED_TIGHT &&
        verdict != PLIM_REHEARSED_AT_LEAST) {
        plim_say(who, "%s: the program did not end well, so its peaks are not %s",
                 work->options->check != NULL ? work->options->check : work->options->lock,
                 work->options->check != NULL ? "compared" : "locked");
        return status;
    }
    if (plim_lock_of(rehearsed, how, NULL, &work->now, &err) != PLIM_OK) {
        plim_say(who, "%s", err.message);
        return PLIM_EXIT_FAILED;
    }
    const plim_lock_entry *const now = plim_lock_at(work->now, 0);
    return work->options->check != NULL ? check_lock(who, work, now, page, status)
                                        : write_lock(who, work, now, page, status);
}

void plim_locking_deinit(plim_locking_work *work)
{
    plim_lock_comparison_deinit(&work->comparison);
    plim_lock_destroy(work->lock);
    plim_lock_destroy(work->now);
    plim_text_deinit(&work->annotation);
    *work = (plim_locking_work){ 0 };
}
