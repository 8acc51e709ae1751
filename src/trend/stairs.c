/*
 * stairs.c - plateaus and stairs.
 *
 * Two ways to see stairs. Stairs that stand out of the noise are changepoints. Regular
 * stairs that do not stand out are still seen in all of them together: what is left
 * over of a line is then a saw of one period, and its height is the line's slope times that.
 */
#include "trend/stairs.h"

#include <math.h>

#define LEVELS_PER_PLATEAU_MIN 3
#define JUMP_SHARE_MIN         0.7  /* of the rise; a curve split into pieces has hardly any */
#define QUANTA_MIN             1.6  /* a stair of one printed unit is a slope */
#define LAST_PLATEAU_MIN       0.3  /* of the run, and twice the longest other, is settled */
#define RISE_MIDDLE_MIN        0.3  /* of the run; of stairs that go on it is a half */
#define RISE_MIDDLE_BENT_MIN   0.42 /* the same where a settling curve fits better than a line */
#define BENT_SQUARES_MAX       0.6
#define COMB_NUMBERS           4.4  /* base, height, and period and phase, which are searched for */
#define PHASES                 8    /* of a period, when it is folded */
#define PLATEAU_SLOPE_MAX      0.35 /* of the growth, on plateaus of regular stairs */

/* --- stairs that stand out --- */

/* The level between two plateaus that has the stair inside, and says by its value where. */
static bool holds_stair(const plim_trend_levels *levels, const plim_trend_parts *plateaus, size_t i)
{
    const plim_trend_part *const part = &plateaus->items[i];
    if (i == 0 || i + 1 == plateaus->count || part->end - part->begin > 1 ||
        levels->size[part->begin] < 2) {
        return false;
    }
    return part[-1].mean < part->mean && part->mean < part[1].mean &&
           part[-1].end - part[-1].begin > 1 && part[1].end - part[1].begin > 1;
}

static void list_stairs(plim_trend_stairs *stairs, const plim_trend_levels *levels,
                        const plim_trend_parts *plateaus)
{
    size_t count = 0;
    stairs->plateau[0] = plateaus->items[0].mean;
    for (size_t i = 1; i < plateaus->count; i++) {
        const plim_trend_part *const part = &plateaus->items[i];
        const size_t place = part->begin;
        double at = (levels->at[place - 1] + levels->at[place]) / 2;
        if (holds_stair(levels, plateaus, i)) {
            const double low = (levels->at[place - 1] + levels->at[place]) / 2;
            const double high = (levels->at[place] + levels->at[place + 1]) / 2;
            const double share = (part[1].mean - part->mean) / (part[1].mean - part[-1].mean);
            at = low + share * (high - low);
            i++;
        }
        stairs->at[count] = at;
        stairs->plateau[++count] = plateaus->items[i].mean;
    }
    stairs->stair_count = count;
}

static double up_jumps(const plim_trend_parts *parts)
{
    double sum = 0;
    for (size_t i = 1; i < parts->count; i++) {
        sum += plim_trend_parts_jump(parts, i);
    }
    return sum;
}

static bool all_go_up(const plim_trend_stairs *stairs, double least)
{
    for (size_t i = 0; i < stairs->stair_count; i++) {
        if (!(stairs->plateau[i + 1] - stairs->plateau[i] > least)) {
            return false;
        }
    }
    return true;
}

/* --- regular stairs in noise --- */

typedef struct comb {
    double period;
    double phase; /* of stairs: at (phase + i) * period */
    double base;
    double height;
    double rss;
} comb;

/* Stairs passed at x; a level that holds one counts it in part. */
static double passed(const comb *trial, double x, double width)
{
    const double stairs = x / trial->period - trial->phase;
    const double below = floor(stairs + 0.5);
    const double share = (stairs - below) * trial->period / fmax(width, 1e-12) + 0.5;
    return below + fmax(0, fmin(share, 1));
}

/* The share of the run that a level covers; 0 of single points. */
static double level_width(const plim_trend_levels *levels)
{
    const double last = (double)(levels->count - 1);
    return levels->size[0] > 1 ? (levels->at[levels->count - 1] - levels->at[0]) / last : 0;
}

static void fit_comb(comb *trial, const plim_trend_levels *levels, double width)
{
    double sums[6] = { 0 };
    const double offset = levels->value[0];
    for (size_t i = 0; i < levels->count; i++) {
        const double w = levels->weight[i];
        const double x = passed(trial, levels->at[i], width);
        const double y = levels->value[i] - offset;
        const double terms[6] = { w, w * x, w * y, w * x * x, w * x * y, w * y * y };
        for (int k = 0; k < 6; k++) {
            sums[k] += terms[k];
        }
    }
    const double xx = sums[3] - sums[1] * sums[1] / sums[0];
    const double xy = sums[4] - sums[1] * sums[2] / sums[0];
    const double yy = sums[5] - sums[2] * sums[2] / sums[0];
    trial->height = xx > 0 ? xy / xx : 0;
    trial->base = (sums[2] - trial->height * sums[1]) / sums[0] + offset;
    trial->rss = xx > 0 ? fmax(yy - xy * xy / xx, 0) : INFINITY;
}

static void keep_better(comb *best, const comb *trial)
{
    if (trial->rss < best->rss) {
        *best = *trial;
    }
}

/* The power of so many periods in the residuals of a line. */
static double power_of(const plim_trend_levels *levels, const plim_trend_model *line,
                       double periods)
{
    double along = 0;
    double across = 0;
    const double turn = 6.283185307179586 * periods;
    for (size_t i = 0; i < levels->count; i++) {
        const double off =
            levels->weight[i] * (levels->value[i] - plim_trend_model_at(line, levels->at[i]));
        along += off * cos(turn * levels->at[i]);
        across += off * sin(turn * levels->at[i]);
    }
    return along * along + across * across;
}

static comb find_comb(const plim_trend_levels *levels, const plim_trend_model *line)
{
    const double width = level_width(levels);
    double strongest[3] = { 0 };
    double periods[3] = { 0 };
    const size_t periods_max = levels->count / 6 < 60 ? levels->count / 6 : 60;
    for (size_t fifths = 10; fifths <= 5 * periods_max; fifths++) {
        const double n = (double)fifths / 5;
        const double power = power_of(levels, line, n);
        for (int k = 0; k < 3; k++) {
            if (power > strongest[k]) {
                for (int j = 2; j > k; j--) {
                    strongest[j] = strongest[j - 1];
                    periods[j] = periods[j - 1];
                }
                strongest[k] = power;
                periods[k] = n;
                break;
            }
        }
    }
    comb best = { .rss = INFINITY };
    for (int k = 0; k < 3 && periods[k] > 0; k++) {
        for (int i = 0; i < 24; i++) {
            for (int j = -2; j <= 2; j++) {
                comb trial = { .period = 1 / (periods[k] + 0.1 * j), .phase = i / 24.0 };
                fit_comb(&trial, levels, width);
                keep_better(&best, &trial);
            }
        }
    }
    double step = 0.05;
    for (int i = 0; i < 14 && best.rss < INFINITY; i++) {
        const double before = best.rss;
        for (int k = 0; k < 4; k++) {
            const double sign = k % 2 == 0 ? step : -step;
            comb trial = best;
            if (k < 2) {
                trial.phase += sign;
            } else {
                /* Keeping the stair in the middle where it is. */
                trial.period *= 1 + sign * best.period;
                trial.phase = 0.5 / trial.period - (0.5 / best.period - best.phase);
            }
            fit_comb(&trial, levels, width);
            keep_better(&best, &trial);
        }
        step = best.rss < before ? step : step / 2;
    }
    return best;
}

/* True if plateaus are level: any other rhythm on a slope fits a comb in part. */
static bool plateaus_are_level(const comb *regular, const plim_trend_levels *levels, double width)
{
    double matrix[6][6] = { { 0 } };
    double right[6] = { 0 };
    for (size_t i = 0; i < levels->count; i++) {
        const double row[3] = { 1, levels->at[i], passed(regular, levels->at[i], width) };
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++) {
                matrix[j][k] += levels->weight[i] * row[j] * row[k];
            }
            right[j] += levels->weight[i] * row[j] * (levels->value[i] - regular->base);
        }
    }
    return plim_trend_solve(matrix, right, 3) &&
           fabs(right[1]) < PLATEAU_SLOPE_MAX * regular->height / regular->period;
}

/*
 * True if no rhythm is left beside the comb: of peaks or sawtooths that it caught in
 * part there is, within its period or within two or three of them.
 */
static bool nothing_is_left(const comb *regular, const plim_trend_levels *levels)
{
    const double variance = regular->rss / (double)levels->count;
    const double width = level_width(levels);
    for (int periods = 1; periods <= 3; periods++) {
        double offs[3 * PHASES] = { 0 };
        double weights[3 * PHASES] = { 0 };
        const int phases = periods * PHASES;
        for (size_t i = 0; i < levels->count; i++) {
            const double turns =
                (levels->at[i] / regular->period - regular->phase) / (double)periods;
            const int phase = (int)((turns - floor(turns)) * phases) % phases;
            const double off = levels->value[i] - regular->base -
                               regular->height * passed(regular, levels->at[i], width);
            offs[phase] += levels->weight[i] * off;
            weights[phase] += levels->weight[i];
        }
        double left = 0;
        for (int i = 0; i < phases; i++) {
            left += weights[i] > 0 ? offs[i] * offs[i] / weights[i] : 0;
        }
        if (left > (phases + 5 * sqrt(2.0 * phases)) * variance) {
            return false;
        }
    }
    return true;
}

static void use_comb(plim_trend_stairs *stairs, const comb *regular)
{
    size_t count = 0;
    double stair = ceil(1e-9 - regular->phase);
    double at = (stair + regular->phase) * regular->period;
    stairs->plateau[0] = regular->base + regular->height * (stair - 1);
    for (; at < 1 && count < PLIM_TREND_LEVELS_MAX; count++) {
        stairs->at[count] = at;
        stairs->plateau[count + 1] = regular->base + regular->height * stair;
        stair += 1;
        at = (stair + regular->phase) * regular->period;
    }
    stairs->stair_count = count;
}

/* --- what they say --- */

/* The line through the middles of the stairs. */
static void measure(plim_trend_stairs *stairs, double noise)
{
    const size_t count = stairs->stair_count;
    double room[PLIM_TREND_LEVELS_MAX];
    double x = 0;
    double y = 0;
    for (size_t i = 0; i < count; i++) {
        room[i] = stairs->plateau[i + 1] - stairs->plateau[i];
        x += stairs->at[i] / (double)count;
        y += (stairs->plateau[i + 1] + stairs->plateau[i]) / 2 / (double)count;
    }
    stairs->height = plim_trend_median(room, count);
    double xx = 0;
    double xy = 0;
    double yy = 0;
    for (size_t i = 0; i < count; i++) {
        const double off = (stairs->plateau[i + 1] + stairs->plateau[i]) / 2 - y;
        xx += (stairs->at[i] - x) * (stairs->at[i] - x);
        xy += (stairs->at[i] - x) * off;
        yy += off * off;
        if (i > 0) {
            room[i - 1] = stairs->at[i] - stairs->at[i - 1];
        }
    }
    stairs->period = plim_trend_median(room, count - 1);
    stairs->growth = count > 1 ? xy / xx : 0;
    stairs->freedom = count > 2 ? (double)count - 2 : 1;
    const double squares = count > 2 ? fmax(yy - xy * xy / xx, 0) / stairs->freedom : 0;
    stairs->growth_error = count > 1 ? sqrt(fmax(squares, noise * noise) / xx) : 0;
}

/* High-water marks of noise rise by ever rarer and smaller stairs: along a logarithm. */
static bool is_bent(const plim_trend_models *models)
{
    const double curve =
        fmin(models->items[PLIM_MODEL_SATURATE].rss, models->items[PLIM_MODEL_LOG].rss);
    return curve < BENT_SQUARES_MAX * models->items[PLIM_MODEL_LINE].rss;
}

/* Two stairs are stairs only if they look like the third is due. */
static bool pair_is_regular(const plim_trend_stairs *stairs)
{
    const double *const at = stairs->at;
    const double *const plateau = stairs->plateau;
    const double gap = at[1] - at[0];
    const double heights = (plateau[2] - plateau[1]) / (plateau[1] - plateau[0]);
    return fabs(log(heights)) < log(1.5) && fabs(log(gap / at[0])) < log(2) &&
           fabs(log(gap / (1 - at[1]))) < log(2);
}

static bool is_settled(const plim_trend_stairs *stairs, const plim_trend_models *models)
{
    const size_t count = stairs->stair_count;
    if (count < 2 || (count == 2 && !pair_is_regular(stairs))) {
        return true;
    }
    double longest = stairs->at[0];
    for (size_t i = 1; i < count; i++) {
        longest = fmax(longest, stairs->at[i] - stairs->at[i - 1]);
    }
    const double last = 1 - stairs->at[count - 1];
    const double rise = stairs->plateau[count] - stairs->plateau[0];
    double middle = 0; /* place of the rise, on average */
    for (size_t i = 0; i < count; i++) {
        middle += stairs->at[i] * (stairs->plateau[i + 1] - stairs->plateau[i]) / rise;
    }
    return (last > LAST_PLATEAU_MIN && last > 2 * longest) ||
           middle < (is_bent(models) ? RISE_MIDDLE_BENT_MIN : RISE_MIDDLE_MIN);
}

double plim_trend_stairs_at(const plim_trend_stairs *stairs, double at)
{
    size_t low = 0;
    size_t high = stairs->stair_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (stairs->at[middle] <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return stairs->plateau[low];
}

void plim_trend_stairs_find(plim_trend_stairs *stairs, const plim_trend_levels *levels,
                            const plim_trend_parts *parts, const plim_trend_parts *plateaus,
                            const plim_trend_models *models, double quantum)
{
    *stairs = (plim_trend_stairs){ .rss = INFINITY };
    const double penalty = plim_trend_number_cost(levels->count);
    const double rise = plateaus->items[plateaus->count - 1].mean - plateaus->items[0].mean;
    list_stairs(stairs, levels, plateaus);
    stairs->penalty = 2 * penalty * (double)plateaus->count;
    stairs->rss = plateaus->cost - stairs->penalty;
    stairs->are_stairs =
        stairs->stair_count > 0 && levels->count / plateaus->count >= LEVELS_PER_PLATEAU_MIN &&
        up_jumps(parts) > JUMP_SHARE_MIN * rise && all_go_up(stairs, QUANTA_MIN * quantum);
    const plim_trend_model *const line = &models->items[PLIM_MODEL_LINE];
    const double slope = line->coefficients[1];
    if (levels->count >= 40 && slope > 0) {
        const comb regular = find_comb(levels, line);
        const double cost = regular.rss + COMB_NUMBERS * penalty;
        const bool holds = regular.rss < INFINITY && regular.height > QUANTA_MIN * quantum &&
                           plateaus_are_level(&regular, levels, level_width(levels)) &&
                           nothing_is_left(&regular, levels);
        if (holds && (!stairs->are_stairs || cost < plateaus->cost)) {
            plim_trend_stairs found = { .are_stairs = true,
                                        .rss = regular.rss,
                                        .penalty = COMB_NUMBERS * penalty };
            use_comb(&found, &regular);
            if (found.stair_count > 1) {
                *stairs = found;
            }
        }
    }
    if (stairs->are_stairs) {
        measure(stairs,
                levels->noise / sqrt((double)levels->count / (double)(stairs->stair_count + 1)));
        stairs->settled = is_settled(stairs, models);
    }
}
