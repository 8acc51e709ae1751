/*
 * diagnose_ranks.c - see diagnose_ranks.h.
 */
#include "report/model/diagnose_ranks.h"

#include "report/model/frame_text.h"
#include "report/model/ranks.h"

#include <stdio.h>

#define ROWS_FIRST 16u /* ranks shown on the first screen */

/* --- what is kept --- */

static void keep_root(plim_diagnosed_rank *rank, const plim_history *history, uint32_t frame)
{
    if (frame == PLIM_NONE) {
        return;
    }
    plim_text text;
    plim_text_init(&text, NULL, sizeof rank->root);
    plim_frame_text_add(&text, history, frame, false);
    snprintf(rank->root, sizeof rank->root, "%.*s", (int)text.length, text.data);
    plim_text_deinit(&text);
}

static void keep_findings(plim_diagnosed_rank *rank, const plim_device_diagnosis *device)
{
    for (size_t i = 0; i < device->finding_count; i++) {
        const plim_diagnosis_finding *const finding = &device->findings[i];
        rank->kinds |= finding->decides ? UINT32_C(1) << finding->kind : 0;
        if (finding->kind == PLIM_VERDICT_LEAK &&
            finding->growth_bytes_per_step > rank->leak_bytes_per_step) {
            rank->leak_bytes_per_step = finding->growth_bytes_per_step;
        }
    }
}

plim_diagnosed_rank plim_diagnosed_rank_of(const plim_diagnosed *file, size_t index, size_t device)
{
    const plim_device_diagnosis *const found = plim_diagnosis_device(file->diagnosis, device);
    const plim_device_inspection *const facts = found->facts;
    plim_diagnosed_rank rank = { .file = index,
                                 .rank = index,
                                 .device = found->device,
                                 .verdict = found->verdict,
                                 .confidence = found->confidence,
                                 .cause = PLIM_CAUSE_NONE,
                                 .peak_requested_bytes = facts->peak.requested_bytes,
                                 .peak_reserved_bytes = facts->peak.reserved_bytes,
                                 .fragmentation = facts->peak.fragmentation,
                                 .ooms = facts->oom_count,
                                 .first_oom_us = PLIM_TIME_UNKNOWN };
    if (!found->has_events) {
        rank.peak_requested_bytes = facts->end.requested_bytes;
        rank.peak_reserved_bytes = facts->end.reserved_bytes;
        rank.fragmentation = facts->end.fragmentation;
    }
    keep_findings(&rank, found);
    rank.has_rank = plim_rank_of_path(file->path, &rank.rank);
    if (facts->oom_count > 0) {
        rank.first_oom_us = facts->ooms[0].moment.time_us;
    }
    if (found->finding_count > 0 && found->findings[0].decides) {
        const plim_diagnosis_finding *const first = &found->findings[0];
        rank.cause = first->cause;
        rank.bytes = first->bytes;
        rank.growth_bytes_per_step = first->growth_bytes_per_step;
        keep_root(&rank, file->history, first->root.frame);
    }
    return rank;
}

/* --- comparing --- */

/* True if `left` is worse. */
static bool is_worse(const plim_diagnosed_rank *left, const plim_diagnosed_rank *right)
{
    if (left->verdict != right->verdict) {
        return plim_verdict_precedes(left->verdict, right->verdict);
    }
    if ((left->ooms > 0) != (right->ooms > 0)) {
        return left->ooms > 0;
    }
    if (left->ooms > 0 && left->first_oom_us != right->first_oom_us &&
        left->first_oom_us != PLIM_TIME_UNKNOWN && right->first_oom_us != PLIM_TIME_UNKNOWN) {
        return left->first_oom_us < right->first_oom_us;
    }
    if (left->growth_bytes_per_step > right->growth_bytes_per_step ||
        left->growth_bytes_per_step < right->growth_bytes_per_step) {
        return left->growth_bytes_per_step > right->growth_bytes_per_step;
    }
    return left->peak_reserved_bytes > right->peak_reserved_bytes;
}

size_t plim_diagnosed_rank_worst(const plim_diagnosed_rank *ranks, size_t count)
{
    size_t worst = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (worst == SIZE_MAX || is_worse(&ranks[i], &ranks[worst])) {
            worst = i;
        }
    }
    return worst;
}

plim_diagnosed_skew plim_diagnosed_skew_of(const plim_diagnosed_rank *ranks, size_t count)
{
    plim_diagnosed_skew skew = { 0 };
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t bytes = ranks[i].peak_reserved_bytes;
        skew.max_bytes = bytes > skew.max_bytes ? bytes : skew.max_bytes;
        skew.min_bytes = i == 0 || bytes < skew.min_bytes ? bytes : skew.min_bytes;
        sum += (double)bytes;
    }
    skew.mean_bytes = count > 0 ? sum / (double)count : 0;
    skew.max_over_mean = skew.mean_bytes > 0 ? (double)skew.max_bytes / skew.mean_bytes
                         : count > 0         ? 1
                                             : 0;
    return skew;
}

/* --- the page --- */

static size_t count_of(const plim_diagnosed_rank *ranks, size_t count, plim_verdict verdict)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found += ranks[i].verdict == verdict;
    }
    return found;
}

static void say_worst(plim_page *page, const plim_diagnosed_rank *ranks, size_t count,
                      const plim_diagnosed_rank *worst)
{
    const size_t alike = count_of(ranks, count, worst->verdict);
    plim_page_say(page, "verdict", PLIM_TONE_HEADING, "{}: {} of {}",
                  PLIM_FACTS(plim_words(plim_verdict_name(worst->verdict)),
                             plim_count("ranks_alike", alike),
                             plim_count_of("ranks", count, "rank")));
    if (worst->verdict == PLIM_VERDICT_HEALTHY) {
        plim_page_note(page, "worst", PLIM_TONE_PLAIN, "Rank {} needs most: {} reserved.",
                       PLIM_FACTS(plim_plain("rank", worst->rank),
                                  plim_bytes("peak_reserved_bytes", worst->peak_reserved_bytes)));
        return;
    }
    plim_page_note(
        page, "worst", PLIM_TONE_PLAIN, "Rank {} is the worst: {}.",
        PLIM_FACTS(plim_plain("rank", worst->rank), plim_words(plim_cause_text(worst->cause))));
    if (worst->root[0] != '\0') {
        plim_page_more(page, " Its line: {}.", PLIM_FACTS(plim_words(worst->root)));
    }
}

static void say_table(plim_page *page, const plim_diagnosed_rank *ranks, size_t count,
                      char *const *paths)
{
    static const plim_column columns[] = {
        { "rank", PLIM_ALIGN_RIGHT, 0, 0 },     { "file", PLIM_ALIGN_PATH, 1, 0 },
        { "GPU", PLIM_ALIGN_RIGHT, 2, 0 },      { "requested", PLIM_ALIGN_RIGHT, 0, 0 },
        { "reserved", PLIM_ALIGN_RIGHT, 0, 0 }, { "OOM", PLIM_ALIGN_RIGHT, 0, 0 },
        { "verdict", PLIM_ALIGN_LEFT, 0, 0 },
    };
    plim_page_table(page, "ranks", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < count; i++) {
        const plim_diagnosed_rank *const rank = &ranks[i];
        const bool is_bad = rank->verdict != PLIM_VERDICT_HEALTHY;
        plim_page_cell(page, PLIM_TONE_HEADING, plim_plain("rank", rank->rank));
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(paths[rank->file]));
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_id("device", rank->device));
        plim_page_cell(page, PLIM_TONE_PLAIN,
                       plim_bytes("peak_requested_bytes", rank->peak_requested_bytes));
        plim_page_cell(page, PLIM_TONE_PLAIN,
                       plim_bytes("peak_reserved_bytes", rank->peak_reserved_bytes));
        plim_page_cell(page, rank->ooms > 0 ? PLIM_TONE_BAD : PLIM_TONE_PLAIN,
                       plim_count("ooms", rank->ooms));
        plim_page_cell(page, is_bad ? PLIM_TONE_BAD : PLIM_TONE_PLAIN,
                       plim_words(plim_verdict_name(rank->verdict)));
    }
}

/* Ranks that no file is of, where files name theirs: "rank 2 and 3 more". */
static void say_missing(plim_page *page, const plim_diagnosed_rank *ranks, size_t count)
{
    uint64_t missing = 0;
    uint64_t first = 0;
    uint64_t next = 0; /* the rank that would come now: they are in order */
    for (size_t i = 0; i < count; i++) {
        if (!ranks[i].has_rank) {
            return;
        }
        if (ranks[i].rank > next) {
            first = missing == 0 ? next : first;
            missing += ranks[i].rank - next;
        }
        next = ranks[i].rank + 1;
    }
    if (missing == 1) {
        plim_page_warn(page, "rank_missing", "No file of rank {}: it may be the worst.",
                       PLIM_FACTS(plim_plain("rank", first)));
    } else if (missing > 0) {
        plim_page_warn(
            page, "ranks_missing", "No file of rank {} and {} more: one of them may be the worst.",
            PLIM_FACTS(plim_plain("rank", first), plim_count("more_ranks_missing", missing - 1)));
    }
}

void plim_diagnose_ranks_page(plim_page *page, const plim_diagnose_view *view,
                              const plim_diagnosed_rank *ranks, size_t count, char *const *paths)
{
    const size_t worst = plim_diagnosed_rank_worst(ranks, count);
    if (worst == SIZE_MAX) {
        plim_page_say(page, "empty", PLIM_TONE_WARN, "Nothing is recorded in any of them.", NULL);
        return;
    }
    say_worst(page, ranks, count, &ranks[worst]);
    const plim_diagnosed_skew skew = plim_diagnosed_skew_of(ranks, count);
    plim_page_note(
        page, "skew", PLIM_TONE_PLAIN, "Reserved at the peak: {} to {}; the most is {} the mean.",
        PLIM_FACTS(plim_bytes("min_bytes", skew.min_bytes), plim_bytes("max_bytes", skew.max_bytes),
                   plim_ratio("max_over_mean", skew.max_over_mean)));
    say_missing(page, ranks, count);
    const size_t shown = view->all || count <= ROWS_FIRST ? count : ROWS_FIRST;
    plim_page_gap(page);
    say_table(page, ranks, shown, paths);
    if (shown < count) {
        plim_page_note(page, "more", PLIM_TONE_FAINT, "{} more: --all shows them.",
                       PLIM_FACTS(plim_count_of("ranks_left", count - shown, "rank")));
    }
    plim_page_gap(page);
}
