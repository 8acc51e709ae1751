/*
 * rehearse_upgrade.c - one program in two environments, or with many releases of a package. See
 * rehearse_upgrade.h.
 */
#include "report/model/rehearse_upgrade.h"

#include "base/numbers.h"
#include "report/model/diff_parts.h"
#include "report/model/rehearse_parts.h"

#include <string.h>

#define PACKAGES_SHOWN  6u
#define PACKAGES_SUMMED 64u

static const char *const phase_names[] = { "setup", "forward", "backward", "optimizer" };

/* ---- the pair -------------------------------------------------------------------------------- */

const char *plim_pair_answer_name(plim_pair_answer answer)
{
    static const char *const names[] = {
#define PLIM_PAIR_ANSWER_NAME(code, name) [code] = (name),
        PLIM_PAIR_ANSWER_LIST(PLIM_PAIR_ANSWER_NAME)
#undef PLIM_PAIR_ANSWER_NAME
    };
    return names[answer];
}

static bool has_answer(const plim_rehearsed *rehearsed)
{
    const plim_rehearsed_verdict verdict = plim_rehearsed_judge(rehearsed);
    return verdict != PLIM_REHEARSED_FAILED && verdict != PLIM_REHEARSED_UNANSWERED;
}

plim_pair_answer plim_rehearsed_pair_judge(const plim_rehearsed_pair *pair)
{
    if (!has_answer(pair->before) || !has_answer(pair->after)) {
        return PLIM_PAIR_FAILED;
    }
    if (plim_upgrade_grew(pair->before, pair->after, &pair->limit)) {
        return PLIM_PAIR_GREW;
    }
    return plim_upgrade_grew(pair->after, pair->before, &pair->limit) ? PLIM_PAIR_SHRANK
                                                                      : PLIM_PAIR_SAME;
}

static const plim_package_change *find_change(const plim_environment *environment, const char *name)
{
    for (size_t i = 0; environment != NULL && i < environment->change_count; i++) {
        if (strcmp(environment->changes[i].name, name) == 0) {
            return &environment->changes[i];
        }
    }
    return NULL;
}

/* Of a package that is in the changes of one environment at least: `known` are those. */
static const char *version_in(const plim_environment *environment, const plim_package_change *known)
{
    const plim_package_change *change = find_change(environment, known->name);
    return change != NULL ? change->other_version : known->own_version;
}

static bool is_equal(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static size_t add_changes(const plim_rehearsed_pair *pair, const plim_environment *of,
                          const plim_environment *but_not_of, plim_pair_change *list, size_t count)
{
    for (size_t i = 0; of != NULL && i < of->change_count; i++) {
        const plim_package_change *known = &of->changes[i];
        const plim_pair_change change = {
            .name = known->name,
            .before = version_in(pair->before_environment, known),
            .after = version_in(pair->after_environment, known),
        };
        if (find_change(but_not_of, known->name) == NULL &&
            !is_equal(change.before, change.after)) {
            list[count++] = change;
        }
    }
    return count;
}

const plim_pair_change *
plim_rehearsed_pair_changes(plim_page *page, const plim_rehearsed_pair *pair, size_t *ret_count)
{
    const plim_environment *before = pair->before_environment;
    const plim_environment *after = pair->after_environment;
    const size_t most =
        (before != NULL ? before->change_count : 0) + (after != NULL ? after->change_count : 0);
    plim_pair_change *list = plim_page_alloc(page, most + 1, sizeof(*list));
    *ret_count = 0;
    if (list != NULL) {
        *ret_count = add_changes(pair, after, NULL, list, 0);
        *ret_count = add_changes(pair, before, after, list, *ret_count);
    }
    return list;
}

const char *plim_rehearsed_pair_name(plim_page *page, const plim_rehearsed_pair *pair,
                                     bool is_after)
{
    size_t count = 0;
    const plim_pair_change *changes = plim_rehearsed_pair_changes(page, pair, &count);
    const char *version = count == 0 ? NULL : is_after ? changes[0].after : changes[0].before;
    if (version != NULL) {
        return plim_page_text(page, "{} {}",
                              PLIM_FACTS(plim_words(changes[0].name), plim_words(version)));
    }
    const plim_environment *environment =
        is_after ? pair->after_environment : pair->before_environment;
    const plim_environment *other = is_after ? pair->before_environment : pair->after_environment;
    if (environment == NULL && other == NULL) {
        return "";
    }
    const char *python = environment != NULL ? environment->python : other->own_python;
    return plim_page_copy(page, python, strlen(python));
}

/* ---- a page of two --------------------------------------------------------------------------- */

static void say_row(plim_page *page, const char *label, uint64_t before, uint64_t after)
{
    if (before == 0 && after == 0) {
        return;
    }
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(label));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, before));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, after));
    plim_diff_change_cell(page, plim_diff_change(before, after));
}

/* The highest of all processes and devices. */
static uint64_t peak_of_phase(const plim_rehearsal_outcome *outcome, const char *name)
{
    uint64_t peak = 0;
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *process = &outcome->processes[i];
        for (size_t j = 0; j < process->device_count; j++) {
            const plim_rehearsed_device *device = &process->devices[j];
            for (size_t k = 0; k < device->phase_count; k++) {
                if (strcmp(device->phases[k].name, name) == 0) {
                    peak = plim_max(peak, device->phases[k].peak_allocated_bytes);
                }
            }
        }
    }
    return peak;
}

static void say_figures(plim_page *page, const plim_rehearsed_pair *pair)
{
    plim_column *columns = plim_page_alloc(page, 4, sizeof(*columns));
    if (columns == NULL) {
        return;
    }
    columns[0] = (plim_column){ "", PLIM_ALIGN_LEFT, 0, 20 };
    columns[1] =
        (plim_column){ plim_rehearsed_pair_name(page, pair, false), PLIM_ALIGN_RIGHT, 0, 12 };
    columns[2] =
        (plim_column){ plim_rehearsed_pair_name(page, pair, true), PLIM_ALIGN_RIGHT, 0, 12 };
    columns[3] = (plim_column){ "change", PLIM_ALIGN_RIGHT, 0, 10 };
    const plim_rehearsed_peak before = plim_rehearsed_find_peak(pair->before->outcome);
    const plim_rehearsed_peak after = plim_rehearsed_find_peak(pair->after->outcome);
    plim_page_heading(page, "Peaks", NULL);
    plim_page_table(page, "pair", columns, 4);
    say_row(page, "allocated", before.allocated_bytes, after.allocated_bytes);
    for (size_t i = 0; i < sizeof(phase_names) / sizeof(phase_names[0]); i++) {
        say_row(page, plim_page_text(page, "  in {}", PLIM_FACTS(plim_words(phase_names[i]))),
                peak_of_phase(pair->before->outcome, phase_names[i]),
                peak_of_phase(pair->after->outcome, phase_names[i]));
    }
    say_row(page, "reserved", before.reserved_bytes, after.reserved_bytes);
    say_row(page, "device use", before.device_bytes, after.device_bytes);
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_words("answer"));
    plim_page_cell(page, PLIM_TONE_PLAIN,
                   plim_words(plim_rehearsed_verdict_text(plim_rehearsed_judge(pair->before))));
    plim_page_cell(page, PLIM_TONE_PLAIN,
                   plim_words(plim_rehearsed_verdict_text(plim_rehearsed_judge(pair->after))));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(""));
}

/* "torch 2.9.1 → 2.10.0, triton 3.5.1 → 3.6.0, certifi 1.0 new" */
static void say_packages(plim_page *page, const plim_rehearsed_pair *pair)
{
    size_t count = 0;
    const plim_pair_change *changes = plim_rehearsed_pair_changes(page, pair, &count);
    if (count == 0) {
        plim_page_say(page, "packages", PLIM_TONE_FAINT, "The two have the same packages.", NULL);
        return;
    }
    plim_page_say(page, "packages", PLIM_TONE_FAINT, "Packages that differ: ", NULL);
    const size_t shown = plim_min(count, PACKAGES_SHOWN);
    for (size_t i = 0; i < shown; i++) {
        const plim_pair_change *one = &changes[i];
        plim_page_more(page, "{}{} {} → {}",
                       PLIM_FACTS(plim_words(i > 0 ? ", " : ""), plim_words(one->name),
                                  plim_words(one->before != NULL ? one->before : "none"),
                                  plim_words(one->after != NULL ? one->after : "none")));
    }
    if (count > shown) {
        plim_page_more(page, " and {}",
                       PLIM_FACTS(plim_count_of("packages_left_out", count - shown, "other")));
    }
}

static void say_warnings(plim_page *page, const plim_environment *environment)
{
    for (size_t i = 0; environment != NULL && i < environment->warning_count; i++) {
        plim_page_warn(page, "warning", "{}", PLIM_FACTS(plim_words(environment->warnings[i])));
    }
}

static void say_why_failed(plim_page *page, const plim_rehearsed_pair *pair, bool is_after)
{
    const plim_rehearsed *rehearsed = is_after ? pair->after : pair->before;
    if (has_answer(rehearsed)) {
        return;
    }
    const char *why = rehearsed->reason.text;
    if (why == NULL) {
        why = plim_rehearsed_judge(rehearsed) == PLIM_REHEARSED_UNANSWERED
                  ? "it called functions that have no stand-in"
                  : "it failed";
    }
    plim_page_note(
        page, "why", PLIM_TONE_BAD, "with {}: {}",
        PLIM_FACTS(plim_words(plim_rehearsed_pair_name(page, pair, is_after)), plim_words(why)));
}

static void say_change(plim_page *page, const plim_rehearsed_pair *pair, plim_pair_answer answer)
{
    const uint64_t before = plim_upgrade_peak(pair->before);
    const uint64_t after = plim_upgrade_peak(pair->after);
    const uint64_t change = plim_max(before, after) - plim_min(before, after);
    const plim_fact names[] = { plim_words(plim_rehearsed_pair_name(page, pair, false)),
                                plim_words(plim_rehearsed_pair_name(page, pair, true)) };
    if (before == after) {
        plim_page_say(page, "same", PLIM_TONE_IN_USE, "Peak memory is {} with {} and with {}.",
                      PLIM_FACTS(plim_bytes("peak_bytes", after), names[0], names[1]));
        return;
    }
    plim_page_say(
        page, after > before ? "grew" : "shrank",
        answer == PLIM_PAIR_GREW ? PLIM_TONE_BAD : PLIM_TONE_IN_USE,
        "Peak memory {} by {} ({}{}) from {} to {}: {} before, {} after.",
        PLIM_FACTS(plim_words(after > before ? "grew" : "fell"), plim_bytes("change_bytes", change),
                   plim_words(after > before ? "+" : "-"),
                   plim_percent("change", (double)change / (double)before), names[0], names[1],
                   plim_bytes("before_bytes", before), plim_bytes("after_bytes", after)));
    if (answer == PLIM_PAIR_SAME) {
        plim_page_more(page, " That is within the limit (--by).", NULL);
    }
}

/* Figures of a run that ended where memory did, and those that hang on values. */
static void say_bounds(plim_page *page, const plim_rehearsed_pair *pair)
{
    const plim_rehearsed *const both[] = { pair->before, pair->after };
    for (size_t i = 0; i < 2; i++) {
        const plim_rehearsed_need *need = both[i]->need;
        const bool is_cut = both[i]->ran_out && (need == NULL || need->why_unknown != NULL);
        const char *name = plim_rehearsed_pair_name(page, pair, i == 1);
        if (both[i]->ran_out) {
            plim_page_note(
                page, "out_of_memory", PLIM_TONE_BAD, "with {}, it runs out of memory{}",
                PLIM_FACTS(plim_words(name), plim_words(is_cut ? ": its figures end there" : "")));
        }
        if (plim_rehearsed_judge(both[i]) == PLIM_REHEARSED_AT_LEAST) {
            plim_page_note(page, "at_least", PLIM_TONE_WARN,
                           "with {}, at least so much: sizes hang on values that were not computed",
                           PLIM_FACTS(plim_words(name)));
        }
    }
}

/* ---- where it grew --------------------------------------------------------------------------- */

/* Growth at the peak of one device, in memory that a package requested. */
typedef struct package_change {
    const char *name;
    int64_t bytes;
} package_change;

/* The changes of a moment's groups by package, the largest growth first. Returns their number. */
static size_t sum_packages(const plim_diff_moment *moment, package_change *list)
{
    size_t count = 0;
    for (size_t i = 0; i < moment->group_count; i++) {
        const plim_diff_group *group = &moment->groups[i];
        const char *name = group->package != NULL ? group->package : "";
        size_t at = 0;
        while (at < count && strcmp(list[at].name, name) != 0) {
            at++;
        }
        if (at == PACKAGES_SUMMED) {
            continue;
        }
        if (at == count) {
            list[count++] = (package_change){ .name = name };
        }
        list[at].bytes += group->change_bytes;
    }
    for (size_t i = 1; i < count; i++) {
        for (size_t j = i; j > 0 && list[j].bytes > list[j - 1].bytes; j--) {
            const package_change moved = list[j];
            list[j] = list[j - 1];
            list[j - 1] = moved;
        }
    }
    return count;
}

/* "It grew at conv3d.py:14 in forward; torch requested 4.99 GiB more." */
static void say_cause(plim_page *page, const plim_diffed_rank *rank, const plim_diff_device *device)
{
    package_change changes[PACKAGES_SUMMED];
    const size_t count = sum_packages(&device->moments[PLIM_DIFF_PEAK], changes);
    if (count == 0 || changes[0].bytes <= 0) {
        return;
    }
    if (rank->where[0] != '\0') {
        plim_page_more(page, " It grew most at {}.",
                       PLIM_FACTS(plim_toned(
                           PLIM_TONE_USER,
                           plim_words(plim_page_copy(page, rank->where, strlen(rank->where))))));
    }
    plim_page_more(
        page, " {} requested {} more.",
        PLIM_FACTS(plim_words(changes[0].name[0] != '\0' ? changes[0].name : "The program itself"),
                   plim_bytes("package_bytes", (uint64_t)changes[0].bytes)));
}

/* The rank and device whose peak grew most: the evidence that is shown. False without any. */
static bool find_worst(plim_page *page, const plim_rehearsed_pair *pair, size_t *ret_diff,
                       plim_diffed_rank *ret_rank, const plim_diff_device **ret_device)
{
    bool is_found = false;
    int64_t most = 0;
    for (size_t i = 0; i < pair->diff_count; i++) {
        const plim_diff_result *result = pair->diffs[i].diffed->result;
        for (size_t j = 0; j < plim_diff_device_count(result); j++) {
            const plim_diff_device *device = plim_diff_device_at(result, j);
            const plim_diff_moment *peak = &device->moments[PLIM_DIFF_PEAK];
            const int64_t change =
                plim_diff_change(peak->before.requested_bytes, peak->after.requested_bytes);
            plim_diffed_rank rank;
            if (!peak->is_known || (is_found && change <= most)) {
                continue;
            }
            if (plim_diffed_rank_of(pair->diffs[i].diffed, device, &rank, NULL) != PLIM_OK) {
                page->status = PLIM_OUT_OF_HOST_MEMORY;
                return false;
            }
            is_found = true;
            most = change;
            *ret_diff = i;
            *ret_rank = rank;
            *ret_device = device;
        }
    }
    return is_found;
}

static void say_pair(plim_page *page, const plim_rehearsed_pair *pair)
{
    const plim_pair_answer answer = plim_rehearsed_pair_judge(pair);
    const plim_diff_device *device = NULL;
    plim_diffed_rank rank;
    size_t worst = 0;
    const bool has_evidence = find_worst(page, pair, &worst, &rank, &device);
    if (answer == PLIM_PAIR_FAILED) {
        plim_page_say(page, "failed", PLIM_TONE_BAD,
                      "It could not be compared: the program has no answer in both environments.",
                      NULL);
        say_why_failed(page, pair, false);
        say_why_failed(page, pair, true);
    } else {
        say_change(page, pair, answer);
        if (answer == PLIM_PAIR_GREW && has_evidence) {
            say_cause(page, &rank, device);
        }
        say_bounds(page, pair);
        say_figures(page, pair);
    }
    plim_page_gap(page);
    say_packages(page, pair);
    say_warnings(page, pair->before_environment);
    say_warnings(page, pair->after_environment);
    if (has_evidence && answer != PLIM_PAIR_FAILED) {
        static const plim_diff_view view = { .no_next = true };
        plim_page_gap(page);
        if (pair->diff_count > 1) {
            plim_page_heading(page, "Rank {}, which changed most",
                              PLIM_FACTS(plim_plain("rank", pair->diffs[worst].rank)));
        }
        plim_diff_page(page, &view, pair->diffs[worst].diffed);
    }
}

void plim_rehearse_against_page(plim_page *page, const plim_rehearsed_pair *pair)
{
    plim_rehearse_page_command(page, pair->after);
    plim_page_gap(page);
    say_pair(page, pair);
}

/* ---- a page of many -------------------------------------------------------------------------- */

static const char *text_of_try(const plim_release_try *one)
{
    switch (one->state) {
    case PLIM_RELEASE_GREW:
        return "grew";
    case PLIM_RELEASE_GOOD:
        return "good";
    case PLIM_RELEASE_SKIPPED:
        return one->why;
    case PLIM_RELEASE_NO_WHEEL:
        return "no wheel for this Python";
    case PLIM_RELEASE_UNTRIED:
    case PLIM_RELEASE_STATE_COUNT:
        break;
    }
    return "not tried";
}

static void say_tries(plim_page *page, const plim_bisected *bisected)
{
    static const plim_column columns[] = {
        { "release", PLIM_ALIGN_LEFT, 0, 8 },
        { "allocated", PLIM_ALIGN_RIGHT, 0, 10 },
        { "device use", PLIM_ALIGN_RIGHT, 0, 10 },
        { "", PLIM_ALIGN_REST, 0, 0 },
    };
    plim_page_heading(page, "Releases", NULL);
    plim_page_table(page, "releases", columns, 4);
    for (size_t i = 0; i < bisected->try_count; i++) {
        const plim_release_try *one = &bisected->tries[i];
        const bool is_tried = one->state == PLIM_RELEASE_GOOD || one->state == PLIM_RELEASE_GREW;
        if (one->state == PLIM_RELEASE_UNTRIED) {
            continue;
        }
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(one->release));
        plim_page_cell(page, PLIM_TONE_PLAIN,
                       is_tried ? plim_bytes(NULL, one->peak.allocated_bytes) : plim_words("-"));
        plim_page_cell(page, PLIM_TONE_PLAIN,
                       is_tried ? plim_bytes(NULL, one->peak.device_bytes) : plim_words("-"));
        plim_page_cell(page, one->state == PLIM_RELEASE_GREW ? PLIM_TONE_BAD : PLIM_TONE_FAINT,
                       plim_words(text_of_try(one)));
    }
}

static void say_release(plim_page *page, const char *package, const plim_bisected *bisected)
{
    const char *first = bisected->tries[bisected->first_grown].release;
    const char *last = bisected->tries[bisected->last_good].release;
    if (!bisected->grew) {
        plim_page_say(page, "no_growth", PLIM_TONE_IN_USE,
                      "Peak memory does not grow from {} {} to {}.",
                      PLIM_FACTS(plim_words(package), plim_words(last), plim_words(first)));
    } else if (bisected->first_grown == bisected->last_good + 1) {
        plim_page_say(page, "release", PLIM_TONE_BAD, "Memory grew with {} {}.",
                      PLIM_FACTS(plim_words(package), plim_words(first)));
    } else {
        plim_page_say(page, "releases", PLIM_TONE_BAD,
                      "Memory grew after {} {}, with {} at the latest: the releases between could "
                      "not be rehearsed.",
                      PLIM_FACTS(plim_words(package), plim_words(last), plim_words(first)));
    }
}

void plim_rehearse_bisect_page(plim_page *page, const char *package, const plim_bisected *bisected,
                               const plim_rehearsed_pair *pair)
{
    if (bisected->is_complete) {
        plim_rehearse_page_command(page, pair->after);
        plim_page_gap(page);
        say_release(page, package, bisected);
        say_pair(page, pair);
        plim_page_gap(page);
    } else {
        plim_page_say(page, "incomplete", PLIM_TONE_BAD,
                      "The search did not end, so the release is not known.", NULL);
    }
    say_tries(page, bisected);
}
