/*
 * rehearse_lock.c - the answer of a check against a lock, and the lines that grew.
 *
 * Both entries are made histories and given to the one comparison there is (plimsoll/diff.h): so
 * moved lines and renamed functions are matched here as in `plimsoll diff`.
 */
#include "report/model/rehearse_lock.h"

#include "report/github/annotations.h"
#include "report/model/frame_text.h"

#include "plimsoll/diff.h"

#include <string.h>

#define LINES_SHOWN 5u /* that grew, of each device */
#define PEAKS_SHOWN 4u /* devices whose lines are shown */
#define CALLERS     2u

/* ---- figures --------------------------------------------------------------------------------- */

static double growth_of(uint64_t locked, uint64_t now)
{
    return locked > 0 ? ((double)now - (double)locked) / (double)locked : 0;
}

static const char *figure_name(plim_page *page, const plim_lock_figure *figure, bool has_ranks)
{
    const char *name = "allocated";
    switch (figure->kind) {
    case PLIM_LOCK_DEVICE_USE:
        return "device use";
    case PLIM_LOCK_RESERVED:
        name = "reserved";
        break;
    case PLIM_LOCK_PHASE:
        name = plim_page_text(page, "allocated in {}", PLIM_FACTS(plim_words(figure->phase)));
        break;
    case PLIM_LOCK_ALLOCATED:
        break;
    }
    if (has_ranks) {
        return plim_page_text(page, "{}, rank {} on GPU {}",
                              PLIM_FACTS(plim_words(name), plim_plain(NULL, figure->rank),
                                         plim_plain(NULL, figure->device)));
    }
    return name;
}

static void add_figure(plim_page *page, const plim_lock_figure *figure, bool has_ranks)
{
    const bool is_more = figure->now_bytes > figure->locked_bytes;
    const uint64_t change = is_more ? figure->now_bytes - figure->locked_bytes
                                    : figure->locked_bytes - figure->now_bytes;
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(figure_name(page, figure, has_ranks)));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes("locked_bytes", figure->locked_bytes));
    plim_page_cell(page, PLIM_TONE_HEADING, plim_bytes("now_bytes", figure->now_bytes));
    plim_page_cell_text(page, figure->is_exceeded ? PLIM_TONE_BAD : PLIM_TONE_PLAIN,
                        is_more ? "+{}" : "-{}", PLIM_FACTS(plim_bytes("change_bytes", change)));
    plim_page_cell(page, PLIM_TONE_FAINT,
                   plim_words(figure->locked_bytes == 0 ? "not in the lock"
                              : figure->now_bytes == 0  ? "no more"
                                                        : ""));
}

/* The figures that changed by more than the limit. */
static void say_figures(plim_page *page, const plim_rehearse_check *check)
{
    static const plim_column columns[] = {
        { "peak", PLIM_ALIGN_LEFT, 0, 0 }, { "locked", PLIM_ALIGN_RIGHT, 0, 9 },
        { "now", PLIM_ALIGN_RIGHT, 0, 9 }, { "change", PLIM_ALIGN_RIGHT, 0, 9 },
        { "", PLIM_ALIGN_LEFT, 1, 0 },
    };
    const plim_lock_comparison *const all = check->comparison;
    const bool has_ranks = check->now->peak_count > 1 || check->locked->peak_count > 1;
    if (!all->is_exceeded && !all->is_lower) {
        return;
    }
    plim_page_gap(page);
    plim_page_table(page, "lock_figures", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < all->figure_count; i++) {
        if (all->figures[i].is_exceeded || all->figures[i].is_lower) {
            add_figure(page, &all->figures[i], has_ranks);
        }
    }
}

/* The figure that the answer names: device use where it is exceeded, else the first that is. */
static const plim_lock_figure *main_figure(const plim_lock_comparison *all)
{
    const plim_lock_figure *const use = &all->figures[all->figure_count - 1];
    for (size_t i = 0; i < all->figure_count && !use->is_exceeded; i++) {
        if (all->figures[i].is_exceeded) {
            return &all->figures[i];
        }
    }
    return use;
}

static void say_answer(plim_page *page, const plim_rehearse_check *check)
{
    const plim_lock_figure *const figure = main_figure(check->comparison);
    const plim_fact path = plim_words(check->path);
    const plim_fact name = plim_words(figure_name(page, figure, false));
    const plim_fact now = plim_bytes("now_bytes", figure->now_bytes);
    const plim_fact locked = plim_bytes("locked_bytes", figure->locked_bytes);
    if (check->comparison->is_exceeded && figure->locked_bytes == 0) {
        plim_page_say(page, "lock_exceeded", PLIM_TONE_BAD, "It exceeds {}: {} {}, which it lacks.",
                      PLIM_FACTS(path, name, now));
    } else if (check->comparison->is_exceeded) {
        plim_page_say(
            page, "lock_exceeded", PLIM_TONE_BAD, "It exceeds {}: {} {}, {} locked (+{}).",
            PLIM_FACTS(path, name, now, locked,
                       plim_percent("growth", growth_of(figure->locked_bytes, figure->now_bytes))));
    } else if (check->comparison->is_lower) {
        plim_page_say(page, "lock_lower", PLIM_TONE_IN_USE,
                      "It holds to {}, and needs less: --lock {} keeps the lower peaks.",
                      PLIM_FACTS(path, path));
    } else {
        plim_page_say(page, "lock_holds", PLIM_TONE_IN_USE,
                      "It holds to {}: {} {}, {} locked; {} more would do.",
                      PLIM_FACTS(path, name, now, locked,
                                 check->limit.bytes > 0
                                     ? plim_bytes("limit_bytes", check->limit.bytes)
                                     : plim_percent("limit_share", check->limit.share)));
    }
    if (strcmp(check->locked->torch, check->now->torch) != 0) {
        plim_page_note(page, "lock_torch", PLIM_TONE_FAINT, "Locked with PyTorch {}; this is {}.",
                       PLIM_FACTS(plim_words(check->locked->torch), plim_words(check->now->torch)));
    }
}

/* ---- the lines that grew --------------------------------------------------------------------- */

/* Two peaks as histories, and what is between them. */
typedef struct lock_diff {
    plim_page *page;
    plim_history *before;
    plim_history *after;
    plim_diff_result *result;
} lock_diff;

static void lock_diff_deinit(lock_diff *diff)
{
    plim_diff_destroy(diff->result);
    plim_history_destroy(diff->before);
    plim_history_destroy(diff->after);
}

/* False: no memory, and the page has failed. */
static bool lock_diff_init(lock_diff *diff, plim_page *page, const plim_lock_peak *locked,
                           const plim_lock_peak *now)
{
    const plim_diff_options options = { .mem = page->arena.mem };
    *diff = (lock_diff){ .page = page };
    if (plim_lock_history(locked, options.mem, &diff->before, NULL) == PLIM_OK &&
        plim_lock_history(now, options.mem, &diff->after, NULL) == PLIM_OK &&
        plim_diff(diff->before, diff->after, &options, &diff->result, NULL) == PLIM_OK) {
        return true;
    }
    page->status = PLIM_OUT_OF_HOST_MEMORY;
    lock_diff_deinit(diff);
    return false;
}

static void add_line(const lock_diff *diff, const plim_diff_group *group)
{
    plim_page *const page = diff->page;
    const plim_stack stack = plim_history_stack(diff->after, group->after.stack);
    const bool is_new = group->match == PLIM_DIFF_NEW;
    plim_page_cell_text(page, PLIM_TONE_BAD, "+{}",
                        PLIM_FACTS(plim_bytes("change_bytes", (uint64_t)group->change_bytes)));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes("locked_bytes", group->before.bytes));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes("now_bytes", group->after.bytes));
    if (stack.frame_count == 0) {
        plim_page_cell_text(page, PLIM_TONE_FAINT, "smaller lines, and what has no stack", NULL);
        return;
    }
    plim_page_cell_text(
        page, PLIM_TONE_FAINT, is_new ? "{} (new)" : "{}",
        PLIM_FACTS(plim_toned(PLIM_TONE_USER,
                              plim_frame_words(page, "", diff->after, stack.frames[0], true))));
    if (stack.frame_count > 1) {
        plim_fact callers[CALLERS] = { plim_words(""), plim_words("") };
        for (uint32_t i = 1; i <= CALLERS && i < stack.frame_count; i++) {
            callers[i - 1] = plim_apart(
                plim_frame_words(page, i > 1 ? " ← " : "← ", diff->after, stack.frames[i], true));
        }
        plim_item *const line =
            plim_page_below(page, PLIM_TONE_FAINT, "{}{}", PLIM_FACTS(callers[0], callers[1]));
        line->indent = PLIM_INDENT_LAST;
        line->layout = PLIM_LAYOUT_FIT;
    }
}

/* The most grown group of a peak that has a line, or NULL. */
static const plim_diff_group *most_grown(const lock_diff *diff, const plim_diff_moment *peak)
{
    for (size_t i = 0; i < peak->group_count && peak->groups[i].change_bytes > 0; i++) {
        if (plim_history_stack(diff->after, peak->groups[i].after.stack).frame_count > 0) {
            return &peak->groups[i];
        }
    }
    return NULL;
}

static void annotate(const lock_diff *diff, const plim_rehearse_check *check,
                     const plim_diff_group *group, plim_text *out)
{
    const plim_lock_figure *const figure = main_figure(check->comparison);
    const plim_stack stack = plim_history_stack(diff->after, group->after.stack);
    const char *const words = plim_page_text(
        diff->page, "{} {}, {} in {}. This line holds {} more at the peak: {}.",
        PLIM_FACTS(plim_words(figure_name(diff->page, figure, false)),
                   plim_bytes(NULL, figure->now_bytes), plim_bytes(NULL, figure->locked_bytes),
                   plim_words(check->path), plim_bytes(NULL, (uint64_t)group->change_bytes),
                   plim_frame_words(diff->page, "", diff->after, stack.frames[0], true)));
    plim_annotation_add(out, diff->after, stack.frames[0], "error",
                        "plimsoll: memory above the lock", words);
}

/* Of one rank's device. Returns false where nothing grew there. */
static bool say_lines(plim_page *page, const plim_rehearse_check *check, const plim_lock_peak *now,
                      plim_text *ret_annotation)
{
    static const plim_column columns[] = {
        { "change", PLIM_ALIGN_RIGHT, 0, 9 },
        { "locked", PLIM_ALIGN_RIGHT, 0, 9 },
        { "now", PLIM_ALIGN_RIGHT, 0, 9 },
        { "line", PLIM_ALIGN_REST, 0, 0 },
    };
    lock_diff diff;
    if (!lock_diff_init(&diff, page, plim_lock_peak_of(check->locked, now->rank, now->device),
                        now)) {
        return false;
    }
    bool has_grown = false;
    for (size_t d = 0; d < plim_diff_device_count(diff.result); d++) {
        const plim_diff_moment *const peak =
            &plim_diff_device_at(diff.result, d)->moments[PLIM_DIFF_PEAK];
        const plim_diff_group *const most = most_grown(&diff, peak);
        if (most == NULL) {
            continue;
        }
        if (check->now->peak_count > 1) {
            plim_page_heading(
                page, "What grew at the peak of rank {} on GPU {}",
                PLIM_FACTS(plim_plain("rank", now->rank), plim_plain("device", now->device)));
        } else {
            plim_page_heading(page, "What grew at the peak", NULL);
        }
        plim_page_table(page, "lock_lines", columns, sizeof columns / sizeof columns[0]);
        for (size_t i = 0; i < peak->group_count && i < LINES_SHOWN; i++) {
            if (peak->groups[i].change_bytes > 0) {
                add_line(&diff, &peak->groups[i]);
            }
        }
        if (!has_grown && ret_annotation != NULL && ret_annotation->length == 0) {
            annotate(&diff, check, most, ret_annotation);
        }
        has_grown = true;
    }
    lock_diff_deinit(&diff);
    return has_grown;
}

/* ---- the pages ------------------------------------------------------------------------------- */

void plim_rehearse_check_page(plim_page *page, const plim_rehearse_check *check,
                              plim_text *ret_annotation)
{
    say_answer(page, check);
    say_figures(page, check);
    if (!check->comparison->is_exceeded) {
        plim_page_gap(page);
        return;
    }
    size_t shown = 0;
    for (size_t i = 0; i < check->now->peak_count && shown < PEAKS_SHOWN; i++) {
        shown += say_lines(page, check, &check->now->peaks[i], ret_annotation);
    }
    plim_page_gap(page);
    if (shown == 0) {
        plim_page_say(page, "lock_no_line", PLIM_TONE_FAINT,
                      "No line holds more at the peak than is locked.", NULL);
        plim_page_gap(page);
    }
    plim_page_say(page, "lock_again", PLIM_TONE_FAINT,
                  "If that is meant, --lock {} instead of --check keeps the new peaks.",
                  PLIM_FACTS(plim_words(check->path)));
    plim_page_gap(page);
}

void plim_rehearse_locked_page(plim_page *page, const char *path, const plim_lock_entry *entry)
{
    plim_page_say(page, "locked", PLIM_TONE_IN_USE,
                  "Locked in {}: device use {}. --check {} holds later runs to it.",
                  PLIM_FACTS(plim_words(path),
                             plim_bytes("device_use_bytes", entry->device_use_bytes),
                             plim_words(path)));
    plim_page_gap(page);
}
