/*
 * bisect.c - the release with which a program's memory grew. See plimsoll/upgrade.h.
 *
 * The oldest release that can be rehearsed is the measure; the newest says whether there is
 * anything to find. Between them each half is tried in its middle, as git bisect does. At any time
 * two rehearsals are kept whole, those of the neighbours so far: their histories are the evidence.
 */
#include "base/error.h"
#include "base/text.h"
#include "rehearse/rehearsal.h"
#include "rehearse/signals.h"
#include "rehearse/upgrade.h"

#include <stdio.h>
#include <string.h>

#define WHY_BYTES 1024u

/* A release that was rehearsed. */
typedef struct held {
    plim_environment *environment;
    plim_rehearsed rehearsed;
} held;

struct plim_bisection {
    plim_arena arena;
    const char *const *argv;
    const plim_bisect_options *options;
    plim_rehearse_options rehearse;
    plim_release_try *tries;
    size_t count;
    held low; /* at last_good */
    held high;
};

static void let_go(held *one)
{
    plim_rehearsed_deinit(&one->rehearsed);
    plim_environment_close(one->environment);
    *one = (held){ 0 };
}

static bool is_untried(const plim_release_try *tries, size_t index, size_t low, size_t high)
{
    return index > low && index < high && tries[index].state == PLIM_RELEASE_UNTRIED;
}

size_t plim_upgrade_next(const plim_release_try *tries, size_t low, size_t high)
{
    const size_t middle = low + (high - low) / 2;
    for (size_t away = 0; away <= high - low; away++) {
        if (away <= middle && is_untried(tries, middle - away, low, high)) {
            return middle - away;
        }
        if (is_untried(tries, middle + away, low, high)) {
            return middle + away;
        }
    }
    return PLIM_RELEASE_NONE;
}

/* ---- the releases ---------------------------------------------------------------------------- */

/* Those without a wheel go to the end of the list: they have no place between neighbours. */
static plim_status keep_releases(struct plim_bisection *self, yajl_val answer, plim_error *err)
{
    plim_json_copier copier = { .arena = &self->arena };
    const char *const *usable = NULL;
    const char *const *without = NULL;
    size_t usable_count = 0;
    size_t without_count = 0;
    const bool is_kept =
        plim_json_get_strings(answer, "releases", &copier, &usable, &usable_count) &&
        plim_json_get_strings(answer, "without_wheel", &copier, &without, &without_count) &&
        !copier.is_out_of_memory;
    const size_t count = usable_count + without_count;
    self->tries =
        is_kept ? plim_arena_alloc(&self->arena, (count + 1) * sizeof(*self->tries)) : NULL;
    if (self->tries == NULL) {
        return plim_fail_memory(err, "listing releases");
    }
    for (size_t i = 0; i < count; i++) {
        const bool is_usable = i < usable_count;
        self->tries[i] = (plim_release_try){
            .release = is_usable ? usable[i] : without[i - usable_count],
            .state = is_usable ? PLIM_RELEASE_UNTRIED : PLIM_RELEASE_NO_WHEEL,
        };
    }
    self->count = usable_count;
    return PLIM_OK;
}

static plim_status list_releases(struct plim_bisection *self, plim_bisected *ret, plim_error *err)
{
    const plim_bisect_options *const options = self->options;
    plim_own_python own;
    yajl_val answer = NULL;
    PLIM_TRY(plim_own_python_find(self->argv, &options->environment, &own, err));
    const char *const words[] = { "releases",       options->takes_pre_releases ? "all" : "stable",
                                  options->package, options->from,
                                  options->to,      NULL };
    PLIM_TRY(plim_environments_ask(&own, words, &answer, err));
    const plim_status status = keep_releases(self, answer, err);
    const size_t without = plim_json_length(plim_json_get(answer, "without_wheel"));
    yajl_tree_free(answer);
    if (status == PLIM_OK) {
        ret->tries = self->tries;
        ret->try_count = self->count + without;
    }
    return status;
}

/* ---- one release ----------------------------------------------------------------------------- */

static bool has_answer(plim_rehearsed_verdict verdict)
{
    return verdict != PLIM_REHEARSED_FAILED && verdict != PLIM_REHEARSED_UNANSWERED;
}

static plim_status skip(struct plim_bisection *self, plim_release_try *one, const char *why,
                        plim_error *err)
{
    one->state = PLIM_RELEASE_SKIPPED;
    one->why = plim_arena_copy(&self->arena, why, strlen(why));
    return one->why != NULL ? PLIM_OK : plim_fail_memory(err, "skipping a release");
}

/* Why no other release would do better. */
static bool ends_search(plim_status status)
{
    return status == PLIM_OUT_OF_HOST_MEMORY || status == PLIM_CANCELLED ||
           status == PLIM_INVALID_ARGUMENT || status == PLIM_IO;
}

static plim_status why_unanswered(struct plim_bisection *self, plim_release_try *one,
                                  const plim_rehearsed *rehearsed, plim_error *err)
{
    char why[WHY_BYTES];
    const plim_rehearsal_outcome *outcome = rehearsed->outcome;
    (void)snprintf(why, sizeof(why), "%s",
                   rehearsed->reason.text != NULL ? rehearsed->reason.text : "it failed");
    for (size_t i = 0; i < outcome->call_count && outcome->unanswered_count > 0; i++) {
        const plim_rehearsed_call *call = &outcome->calls[i];
        if (strcmp(call->kind, "unknown") == 0 || strcmp(call->kind, "refused") == 0) {
            (void)snprintf(why, sizeof(why), "it called %s, which has no stand-in", call->name);
            break;
        }
    }
    return skip(self, one, why, err);
}

static plim_status rehearse(struct plim_bisection *self, held *ret, plim_error *err)
{
    static const int nowhere[PLIM_LAUNCH_STREAMS] = { -1, -1 };
    const plim_launch_options launch = { .outputs = nowhere };
    self->rehearse.in_python = ret->environment->python;
    PLIM_TRY(plim_rehearse(self->argv, &self->rehearse, &launch, &ret->rehearsed, err));
    return plim_signals_ended(ret->rehearsed.exit_status)
               ? plim_fail(err, PLIM_CANCELLED, "interrupted")
               : PLIM_OK;
}

/* ret is filled if the release has an answer. */
static plim_status try_release(struct plim_bisection *self, size_t index, held *ret,
                               plim_error *err)
{
    plim_release_try *const one = &self->tries[index];
    plim_text requirement;
    plim_text_init(&requirement, NULL, WHY_BYTES);
    plim_text_append_format(&requirement, "%s==%s", self->options->package, one->release);
    plim_status status = plim_text_status(&requirement, "naming a release", err);
    plim_error failure = { .offset = PLIM_NO_OFFSET };
    if (status == PLIM_OK) {
        status = plim_environment_open(self->argv, plim_text_string(&requirement),
                                       &self->options->environment, &ret->environment, &failure);
        status = status == PLIM_OK ? rehearse(self, ret, &failure) : status;
    }
    plim_text_deinit(&requirement);
    if (ends_search(status)) {
        *err = failure;
    } else if (status != PLIM_OK) {
        status = skip(self, one, failure.message, err);
    } else if (!has_answer(plim_rehearsed_judge(&ret->rehearsed))) {
        status = why_unanswered(self, one, &ret->rehearsed, err);
    } else {
        one->verdict = plim_rehearsed_judge(&ret->rehearsed);
        one->peak = plim_rehearsed_find_peak(ret->rehearsed.outcome);
        one->compared_bytes = plim_upgrade_peak(&ret->rehearsed);
        one->seconds = ret->rehearsed.launched.seconds;
    }
    if (status != PLIM_OK || one->state == PLIM_RELEASE_SKIPPED) {
        let_go(ret);
    }
    return status;
}

/* ---- the search ------------------------------------------------------------------------------ */

static void report(const struct plim_bisection *self, size_t index)
{
    if (self->options->tried != NULL) {
        self->options->tried(self->options->tried_ctx, &self->tries[index]);
    }
}

/* The first in a direction that can be rehearsed. PLIM_UNSUPPORTED without one. */
static plim_status find_end(struct plim_bisection *self, size_t from, size_t to, held *ret,
                            size_t *ret_index, plim_error *err)
{
    const bool goes_up = from <= to;
    for (size_t i = from;; i = goes_up ? i + 1 : i - 1) {
        PLIM_TRY(try_release(self, i, ret, err));
        if (self->tries[i].state != PLIM_RELEASE_SKIPPED) {
            *ret_index = i;
            return PLIM_OK;
        }
        report(self, i);
        if (i == to) {
            return plim_fail(err, PLIM_UNSUPPORTED,
                             "of %s, fewer than two releases from %s to %s could be rehearsed",
                             self->options->package, self->options->from, self->options->to);
        }
    }
}

static plim_status narrow(struct plim_bisection *self, const plim_rehearsed *first,
                          plim_bisected *ret, plim_error *err)
{
    for (;;) {
        const size_t index = plim_upgrade_next(self->tries, ret->last_good, ret->first_grown);
        if (index == PLIM_RELEASE_NONE) {
            return PLIM_OK;
        }
        held one = { 0 };
        PLIM_TRY(try_release(self, index, &one, err));
        if (self->tries[index].state != PLIM_RELEASE_SKIPPED) {
            const bool grew = plim_upgrade_grew(first, &one.rehearsed, &self->options->limit);
            held *const kept = grew ? &self->high : &self->low;
            self->tries[index].state = grew ? PLIM_RELEASE_GREW : PLIM_RELEASE_GOOD;
            *(grew ? &ret->first_grown : &ret->last_good) = index;
            if (kept->environment != NULL) {
                let_go(kept);
            }
            *kept = one;
        }
        report(self, index);
    }
}

/* `first` stays the measure: growth in small steps counts where it exceeds the limit in all. */
static plim_status search(struct plim_bisection *self, plim_bisected *ret, plim_error *err)
{
    held first = { 0 };
    PLIM_TRY(list_releases(self, ret, err));
    if (self->tries == NULL || self->count < 2) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "%s has %zu release%s from %s to %s for this Python; two are the least",
                         self->options->package, self->count, self->count == 1 ? "" : "s",
                         self->options->from, self->options->to);
    }
    PLIM_TRY(find_end(self, 0, self->count - 2, &first, &ret->last_good, err));
    self->tries[ret->last_good].state = PLIM_RELEASE_GOOD;
    report(self, ret->last_good);
    plim_status status =
        find_end(self, self->count - 1, ret->last_good + 1, &self->high, &ret->first_grown, err);
    if (status == PLIM_OK) {
        ret->grew =
            plim_upgrade_grew(&first.rehearsed, &self->high.rehearsed, &self->options->limit);
        self->tries[ret->first_grown].state = ret->grew ? PLIM_RELEASE_GREW : PLIM_RELEASE_GOOD;
        report(self, ret->first_grown);
    }
    if (status == PLIM_OK && ret->grew) {
        status = narrow(self, &first.rehearsed, ret, err);
    }
    ret->is_complete = status == PLIM_OK;
    if (self->low.environment == NULL) {
        self->low = first;
    } else {
        let_go(&first);
    }
    return status;
}

plim_status plim_rehearse_bisect(const char *const *argv, const plim_bisect_options *options,
                                 plim_bisected *ret, plim_error *err)
{
    *ret = (plim_bisected){ 0 };
    if (options->rehearse.record_path != NULL) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "a search records nothing");
    }
    const plim_mem *mem = plim_mem_or_heap(options->rehearse.mem);
    struct plim_bisection *self = plim_mem_alloc_zeroed(mem, 1, sizeof(*self));
    if (self == NULL) {
        return plim_fail_memory(err, "searching for a release");
    }
    plim_arena_init(&self->arena, mem);
    self->argv = argv;
    self->options = options;
    self->rehearse = options->rehearse;
    self->rehearse.keeps_snapshots = true;
    ret->owner = self;
    const plim_status status = search(self, ret, err);
    ret->before = self->low.rehearsed;
    ret->after = self->high.rehearsed;
    ret->before_environment = self->low.environment;
    ret->after_environment = self->high.environment;
    self->options = NULL;
    return status;
}

void plim_bisected_deinit(plim_bisected *bisected)
{
    struct plim_bisection *const self = bisected->owner;
    if (self != NULL) {
        const plim_mem *mem = self->arena.mem;
        let_go(&self->low);
        let_go(&self->high);
        plim_arena_deinit(&self->arena);
        plim_mem_free(mem, self, 1, sizeof(*self));
    }
    *bisected = (plim_bisected){ 0 };
}
