/*
 * figures.c - see figures.h. The thresholds are argued in docs/design/diagnose.md.
 */
#include "diagnose/leaks/figures.h"

#include "base/error.h"
#include "diagnose/roots/leak.h"
#include "trend/model.h"

#include <math.h>
#include <stdlib.h>

/* Gaps of which so many are alike make a period of whole steps. */
#define ALIKE_SHARE 0.8
/* Rises of which a leak has this many at least. */
#define RISES_MIN    3
#define ENOUGH_RISES 5
/* … and this many where the longest distance of two is more than so many times the shortest. */
#define ODD_RISES_MIN 4
#define ODD_SIZES_MIN 6 /* without stacks */
#define EVEN_TIMES    2
/* Births of which so many bring the same, but for SAME_SHARE, are regular, and the slope through
 * all of them is no further off than NEAR_SHARE. */
#define MOST_SHARE 0.6
#define SAME_SHARE 0.02
#define NEAR_SHARE 0.1
/* The floors of the device show at least this share of a leak. */
#define SHOWING_MIN 0.5
/* Growth below it in a million steps is named without alarm. */
#define CALM_BYTES_PER_STEP 1024.0
/* A leak that fills the device within so many steps will lose the program a request. */
#define SOON_STEPS 100000.0

/* One leak while it is reported. */
typedef struct leak_report {
    plim_case *one;
    const plim_levels *levels;
    const plim_clusters *clusters;
    const plim_growers *growers;
    size_t at;
    const plim_cluster *cluster;
    plim_rises rises; /* the cluster's, or all but the first; borrowed */
    uint64_t *ids;    /* in order of birth */
    size_t id_count;
    uint64_t kept_bytes;
    bool has_stacks;     /* any of them */
    double blocks_share; /* bytes of blocks over requested ones */
    plim_leak leak;
    double low, high; /* of its growth */
    bool is_regular;  /* one period of whole steps */
} leak_report;

static int compare_ids(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* --- allocations --- */

/* Live allocations at the end, of groups in which none stays: one walk. */
static void collect_live(leak_report *report, const bool *is_wanted)
{
    const plim_levels *const levels = report->levels;
    const uint8_t *const actions = levels->one->device->events.action;
    for (uint64_t i = levels->axis.first_events[0]; i < levels->end_event; i++) {
        if (actions[i] == PLIM_ALLOC && plim_levels_stays(levels, i) &&
            is_wanted[plim_levels_group(levels, i)]) {
            report->ids[report->id_count++] =
                plim_timeline_recorded_id(&levels->one->view.timeline, i);
        }
    }
}

/* Sums of what is collected. */
static void add_up_ids(leak_report *report)
{
    double blocks = 0;
    double requested = 0;
    for (size_t i = 0; i < report->id_count; i++) {
        const plim_allocation kept =
            plim_timeline_allocation(&report->one->view.timeline, report->ids[i]);
        blocks += (double)kept.block_bytes;
        requested += (double)kept.requested_bytes;
        report->kept_bytes += kept.requested_bytes;
        report->has_stacks = report->has_stacks || kept.stack != PLIM_NONE;
    }
    report->blocks_share = requested > 0 && blocks > requested ? blocks / requested : 1;
}

static size_t room_for(const leak_report *report)
{
    size_t room = 0;
    for (size_t i = 0; i < report->growers->count; i++) {
        const plim_grower *const grower = &report->growers->items[i];
        if (grower->cluster == report->at && !grower->is_innocent) {
            room += grower->by_count ? grower->kept_count
                                     : report->levels->groups.items[grower->group].count;
        }
    }
    return room;
}

static bool collect_ids(leak_report *report)
{
    const plim_mem *const mem = report->one->mem;
    const size_t groups = report->levels->groups.count;
    bool *const is_wanted = plim_mem_alloc_zeroed(mem, groups, sizeof *is_wanted);
    report->ids = plim_arena_alloc(report->one->arena, room_for(report) * sizeof *report->ids);
    if (is_wanted == NULL || report->ids == NULL) {
        plim_mem_free(mem, is_wanted, groups, sizeof *is_wanted);
        return false;
    }
    bool has_turnover = false;
    for (size_t i = 0; i < report->growers->count; i++) {
        const plim_grower *const grower = &report->growers->items[i];
        if (grower->cluster != report->at || grower->is_innocent) {
            continue;
        }
        is_wanted[grower->group] = !grower->by_count;
        has_turnover = has_turnover || !grower->by_count;
        for (size_t j = 0; grower->by_count && j < grower->kept_count; j++) {
            const plim_kept *const kept = &report->clusters->kept[grower->kept_first + j];
            report->ids[report->id_count++] =
                plim_timeline_recorded_id(&report->one->view.timeline, kept->event);
        }
    }
    if (has_turnover) {
        collect_live(report, is_wanted);
    }
    plim_mem_free(mem, is_wanted, groups, sizeof *is_wanted);
    if (report->id_count > 1) {
        qsort(report->ids, report->id_count, sizeof *report->ids, compare_ids);
    }
    add_up_ids(report);
    return true;
}

/* --- growth --- */

static int compare_gaps(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The period: the distance of births where most are alike, else their mean one. False: no memory.
 */
static bool find_period(leak_report *report)
{
    const plim_rises *const rises = &report->rises;
    const size_t count = rises->count - 1;
    uint32_t *const gaps = plim_mem_alloc(report->one->mem, count, sizeof *gaps);
    if (gaps == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        gaps[i] = rises->items[i + 1].step - rises->items[i].step;
    }
    qsort(gaps, count, sizeof *gaps, compare_gaps);
    const uint32_t median = gaps[count / 2];
    size_t alike = 0;
    for (size_t i = 0; i < count; i++) {
        alike += gaps[i] == median ? 1u : 0u;
    }
    plim_mem_free(report->one->mem, gaps, count, sizeof *gaps);
    report->is_regular = (double)alike >= ALIKE_SHARE * (double)count;
    report->leak.period_steps =
        report->is_regular
            ? (double)median
            : (double)(rises->items[count].step - rises->items[0].step) / (double)count;
    if (report->is_regular && count > 2 && rises->items[1].step - rises->items[0].step != median) {
        report->rises.items++; /* what is made once, at the beginning */
        report->rises.count--;
    }
    return true;
}

/* The slope of the level over the steps of births, by least squares: a birth that shows a step
 * early or late moves it little. */
static double slope_of(const plim_rises *rises, size_t count)
{
    double mean_step = 0;
    double mean_level = 0;
    double level = 0;
    for (size_t i = 0; i < count; i++) {
        level += i > 0 ? (double)rises->items[i].amount : 0;
        mean_step += (double)(rises->items[i].step - rises->items[0].step) / (double)count;
        mean_level += level / (double)count;
    }
    double squares = 0;
    double products = 0;
    level = 0;
    for (size_t i = 0; i < count; i++) {
        const double step = (double)(rises->items[i].step - rises->items[0].step) - mean_step;
        level += i > 0 ? (double)rises->items[i].amount : 0;
        squares += step * step;
        products += step * (level - mean_level);
    }
    return products / squares;
}

static int compare_amounts(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/*
 * The slope where most births bring the same once in a period: then that is the growth, as long as
 * the rest makes up for it: two in one step, and none in the next. False: no memory.
 */
static bool correct_slope(const leak_report *report, double *slope)
{
    const plim_rises *const rises = &report->rises;
    uint64_t *const amounts = plim_mem_alloc(report->one->mem, rises->count, sizeof *amounts);
    if (amounts == NULL) {
        return false;
    }
    for (size_t i = 0; i < rises->count; i++) {
        amounts[i] = rises->items[i].amount;
    }
    qsort(amounts, rises->count, sizeof *amounts, compare_amounts);
    const size_t middle = rises->count / 2;
    const double median = (double)amounts[middle];
    size_t alike = 0;
    for (size_t i = 0; i < rises->count; i++) {
        alike += fabs((double)amounts[i] - median) <= SAME_SHARE * median ? 1u : 0u;
    }
    plim_mem_free(report->one->mem, amounts, rises->count, sizeof *amounts);
    const double regular = median / report->leak.period_steps;
    if (report->is_regular && (double)alike >= MOST_SHARE * (double)rises->count &&
        fabs(*slope - regular) <= NEAR_SHARE * regular) {
        *slope = regular;
    }
    return true;
}

/*
 * Growth per step: what is born after the first birth, over the steps since. Births are a renewal
 * process: the error is that of what each brings beyond its distance from the one before. Of enough
 * births the last one is left out if no later floor shows what of it is in use.
 */
static bool find_growth(leak_report *report)
{
    const plim_rises *const rises = &report->rises;
    const bool is_last = rises->items[rises->count - 1].step + 2 >= report->levels->axis.count;
    const size_t count = rises->count - (is_last && rises->count >= ENOUGH_RISES ? 2 : 1);
    const double span = (double)(rises->items[count].step - rises->items[0].step);
    double growth = slope_of(rises, count + 1);
    if (!correct_slope(report, &growth)) {
        return false;
    }
    double squares = 0;
    for (size_t i = 1; i <= count; i++) {
        const double gap = (double)(rises->items[i].step - rises->items[i - 1].step);
        const double off = (double)rises->items[i].amount - growth * gap;
        squares += off * off;
    }
    const double freedom = count > 1 ? (double)(count - 1) : 1;
    const double error = sqrt(squares / freedom * (double)count) / span;
    const double reach = error * plim_trend_student(freedom);
    report->leak.growth_bytes_per_step = growth;
    report->low = growth > reach ? growth - reach : 0;
    report->high = growth + reach;
    return true;
}

/* The step of the last floor that counts: in the very last step, the program's end frees. */
static uint32_t last_floor_step(const leak_report *report)
{
    const uint32_t last = report->rises.items[report->rises.count - 1].step + 1;
    const uint32_t most = (uint32_t)report->levels->axis.count - 2;
    return last < most ? last : most;
}

/* True if the device's floors of steps [first, last] range over what the leak adds in them. */
static bool do_floors_show(const leak_report *report, uint32_t first, uint32_t last)
{
    const plim_axis *const axis = &report->levels->axis;
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    for (uint32_t i = first; i <= last; i++) {
        const uint64_t floor = axis->facts[i].least_requested_bytes;
        least = floor < least ? floor : least;
        most = floor > most ? floor : most;
    }
    const double expected = report->leak.growth_bytes_per_step * ((double)last - (double)first);
    return last <= first || (most > least && (double)(most - least) >= SHOWING_MIN * expected);
}

/* True if the floors show the leak, and still do in its last third: else something else shrinks
 * with it, frees of what was live before the recording make up for it, or the history contradicts
 * itself. */
static bool is_shown(const leak_report *report)
{
    const uint32_t first = report->rises.items[0].step + 1;
    const uint32_t last = last_floor_step(report);
    const uint32_t span = last > first ? last - first : 0;
    const uint32_t third = span / 3;
    const double periods = 2 * report->leak.period_steps;
    const uint32_t late = (double)third > periods ? third : (uint32_t)periods + 1;
    return do_floors_show(report, first, last) &&
           (late >= span || do_floors_show(report, last - late, last));
}

/*
 * True if rises are enough for a leak. The first floor shows all that the first step makes at once,
 * and counts only if it is like the others; rises at odd distances must be more.
 */
static bool is_enough(const leak_report *report)
{
    const plim_rises *const rises = &report->rises;
    const double first = (double)rises->items[0].amount;
    const double second = (double)rises->items[1].amount;
    const bool is_alike = fabs(first - second) <= NEAR_SHARE * second;
    const size_t count = rises->count - (rises->items[0].step == 0 && !is_alike ? 1 : 0);
    uint32_t shortest = UINT32_MAX;
    uint32_t longest = 0;
    for (size_t i = rises->count - count + 1; i < rises->count; i++) {
        const uint32_t gap = rises->items[i].step - rises->items[i - 1].step;
        shortest = gap < shortest ? gap : shortest;
        longest = gap > longest ? gap : longest;
    }
    const bool is_even = longest <= EVEN_TIMES * (uint64_t)shortest;
    const size_t odd = report->has_stacks ? ODD_RISES_MIN : ODD_SIZES_MIN;
    return count >= (is_even ? RISES_MIN : odd);
}

/* The highest moment of the last half of the steps, as it would be at the last step's level. */
static double usual_peak(const leak_report *report)
{
    const plim_axis *const axis = &report->levels->axis;
    const size_t count = axis->count;
    double highest = 0;
    for (size_t i = count / 2; i < count; i++) {
        const double later = (double)(count - 1 - i) * report->leak.growth_bytes_per_step;
        const double peak = (double)axis->facts[i].peak_requested_bytes + later;
        highest = peak > highest ? peak : highest;
    }
    return highest;
}

/* The step in which the device is full: requests are rounded up to blocks. */
static void find_full(const leak_report *report, plim_diagnosis_finding *finding)
{
    const plim_case *const one = report->one;
    const double growth = report->leak.growth_bytes_per_step * report->blocks_share;
    if (one->capacity_bytes == 0 || growth <= 0) {
        return;
    }
    const double rounding =
        one->facts->peak.allocated_bytes > one->facts->peak.requested_bytes
            ? (double)(one->facts->peak.allocated_bytes - one->facts->peak.requested_bytes)
            : 0;
    const double left = (double)one->capacity_bytes - usual_peak(report) - rounding;
    finding->has_full_step = true;
    finding->full_at_step =
        (double)(report->levels->axis.count - 1) + (left > 0 ? left / growth : 0);
}

/* --- the finding --- */

static double confidence_of(const leak_report *report)
{
    const size_t rises = report->rises.count;
    double confidence = rises >= 8 ? 0.97 : rises >= 5 ? 0.9 : 0.75;
    confidence *= report->is_regular ? 1 : 0.95;
    confidence *= report->cluster->by_count ? 1 : 0.9;
    confidence *= report->cluster->is_saw || report->cluster->is_rest ? 0.85 : 1;
    return confidence * (report->has_stacks ? 1 : 0.9);
}

static plim_severity severity_of(const leak_report *report, const plim_diagnosis_finding *finding)
{
    const double growth = report->leak.growth_bytes_per_step * report->blocks_share;
    if (growth <= CALM_BYTES_PER_STEP) {
        return PLIM_SEVERITY_NOTE;
    }
    return finding->has_full_step &&
                   finding->full_at_step < (double)report->levels->axis.count + SOON_STEPS
               ? PLIM_SEVERITY_FAILURE
               : PLIM_SEVERITY_WARNING;
}

static bool say_kept(leak_report *report, plim_diagnosis_finding *finding)
{
    const plim_evidence_line line = {
        .id = "kept",
        .text = report->cluster->by_count
                    ? "{} in {} allocations made in steps {} to {} are still live at the end"
                    : "{} in {} allocations are live at the end; from step {} to step {} each new "
                      "one was larger than the one whose place it took",
        .figures = { plim_say_bytes("kept_bytes", report->kept_bytes),
                     plim_say_amount("kept_count", report->id_count),
                     plim_say_step("first_step", finding->first_step),
                     plim_say_step("last_step", finding->last_step) },
        .figure_count = 4
    };
    return plim_case_say(report->one, finding, &line);
}

static plim_evidence_figure say_growth(const char *name, double growth)
{
    return (plim_evidence_figure){ name, PLIM_FIGURE_BYTES_PER_STEP, growth, NULL };
}

static bool say_rate(leak_report *report, plim_diagnosis_finding *finding)
{
    const plim_evidence_line line = {
        .id = "growth",
        .text = "live memory grows by {} (95 % interval {} to {}), in {} of the steps",
        .figures = { say_growth("growth", finding->growth_bytes_per_step),
                     say_growth("growth_low", finding->growth_low_bytes_per_step),
                     say_growth("growth_high", finding->growth_high_bytes_per_step),
                     plim_say_amount("steps_with_growth", report->cluster->rises.count) },
        .figure_count = 4
    };
    return plim_case_say(report->one, finding, &line);
}

static bool say_floors(leak_report *report, plim_diagnosis_finding *finding)
{
    const plim_axis *const axis = &report->levels->axis;
    const uint32_t last = last_floor_step(report);
    const plim_evidence_line line = {
        .id = "floor",
        .text = "the least that was live in a step went from {} in step {} to {} in step {}",
        .figures = { plim_say_bytes("first_floor_bytes",
                                    axis->facts[finding->first_step].least_requested_bytes),
                     plim_say_step("first_step", finding->first_step),
                     plim_say_bytes("last_floor_bytes", axis->facts[last].least_requested_bytes),
                     plim_say_step("last_step", last) },
        .figure_count = 4
    };
    return plim_case_say(report->one, finding, &line);
}

static bool say_turns(leak_report *report, plim_diagnosis_finding *finding)
{
    const plim_evidence_line line = {
        .id = "turns",
        .text = "no steps were found: a step here is one of the {} turns of a loop, each from one "
                "request of the same kind to the next",
        .figures = { plim_say_amount("turns", report->levels->axis.count) },
        .figure_count = 1
    };
    return !report->levels->axis.is_turns || plim_case_say(report->one, finding, &line);
}

static bool say_no_stacks(leak_report *report, plim_diagnosis_finding *finding)
{
    const plim_evidence_line line = {
        .id = "no_stacks",
        .text = "these allocations were recorded without stacks: they are grouped by size, and the "
                "line that makes them cannot be known",
    };
    return report->has_stacks || plim_case_say(report->one, finding, &line);
}

static plim_status add_finding(leak_report *report, plim_error *err)
{
    plim_case *const one = report->one;
    plim_diagnosis_finding *const finding = plim_case_add(one, PLIM_VERDICT_LEAK, PLIM_CAUSE_KEPT);
    if (finding == NULL) {
        return plim_fail_memory(err, "reporting a leak");
    }
    const plim_rises *const rises = &report->rises;
    report->leak.ids = report->ids;
    report->leak.id_count = report->id_count;
    report->leak.first_step = rises->items[0].step;
    report->leak.last_step = rises->items[rises->count - 1].step;
    finding->decides = true;
    finding->bytes = report->kept_bytes;
    finding->growth_bytes_per_step = report->leak.growth_bytes_per_step;
    finding->growth_low_bytes_per_step = report->low;
    finding->growth_high_bytes_per_step = report->high;
    finding->period_steps = report->leak.period_steps;
    finding->first_step = report->leak.first_step;
    finding->last_step = report->leak.last_step;
    finding->confidence = confidence_of(report);
    find_full(report, finding);
    finding->finding.severity = severity_of(report, finding);
    finding->finding.certainty = plim_certainty_of(finding->confidence, false);
    if (!say_kept(report, finding) || !say_rate(report, finding) || !say_floors(report, finding) ||
        !say_turns(report, finding) || !say_no_stacks(report, finding)) {
        return plim_fail_memory(err, "reporting a leak");
    }
    return plim_leak_explain(one, &report->leak, finding, err);
}

plim_status plim_report_leak(plim_case *one, const plim_levels *levels,
                             const plim_clusters *clusters, const plim_growers *growers,
                             size_t cluster, plim_error *err)
{
    leak_report report = { .one = one,
                           .levels = levels,
                           .clusters = clusters,
                           .growers = growers,
                           .at = cluster,
                           .cluster = &clusters->list.items[cluster],
                           .rises = clusters->list.items[cluster].rises };
    if (report.rises.count < RISES_MIN) {
        return PLIM_OK;
    }
    if (!collect_ids(&report) || !find_period(&report) || !find_growth(&report)) {
        return plim_fail_memory(err, "reporting a leak");
    }
    return is_shown(&report) && report.id_count > 0 && is_enough(&report)
               ? add_finding(&report, err)
               : PLIM_OK;
}
