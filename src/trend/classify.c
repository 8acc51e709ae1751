/*
 * classify.c - from levels to a class.
 *
 *   levels, cut into parts ─┬─ parts that it comes back from ──► left out, cut again
 *                           ├─ drops that undo a climb ────────► the course of the floor
 *                           ├─ plateaus and stairs ──────────────► staircase, or ramp if settled
 *                           └─ else ───────────────────────────► the course that fits best
 *
 * docs/design/series.md argues for the thresholds.
 */
#include "trend/classify.h"

#include "base/assert.h"

#include <math.h>

#define GAIN_MIN           12.0  /* of a growing course over a level, in squares: 3.5 deviations */
#define SETTLED_SLOPE_MAX  0.4   /* slope at the end over the average: less is settling */
#define RAMP_RISE_MIN      0.005 /* of the level; less is flat */
#define LEAK_RISE_MIN      2e-6  /* of the level; less is rounding */
#define EXACT_SHARE        1e-4  /* of the growth; no log is more exact than that */
#define ONLY_STAIR_BY      0.9
#define STRAIGHT_LEAD      8.0 /* by which a line must beat curves that settle */
#define VALLEYS_FOR_COURSE 12
#define STRAY_NOISES       6.0
#define TURN_REACH         0.01 /* of the run: what grew before a turn is read off there, */
#define TURN_SLOPE_MAX     0.5  /* and is at most so much of the growth after it */

/* --- smooth courses --- */

typedef struct course_sense {
    double rise;  /* from the first to the last level */
    double slope; /* at the end */
    double error;
    double freedom;
} course_sense;

static course_sense sense_of(const plim_trend_model *model, const plim_trend_levels *levels)
{
    course_sense sense = {
        .rise = plim_trend_model_at(model, levels->at[levels->count - 1]) -
                plim_trend_model_at(model, levels->at[0]),
        .slope = plim_trend_model_slope(model),
    };
    sense.error = plim_trend_model_slope_error(model, levels, &sense.freedom);
    return sense;
}

static plim_trend_class settled_or_flat(double rise, const plim_trend_model *model)
{
    const double level = fabs(plim_trend_model_at(model, 1));
    return rise > RAMP_RISE_MIN * level ? PLIM_TREND_RAMP : PLIM_TREND_FLAT;
}

/* A curve that bends down: settling if little of its slope is left. */
static plim_trend_class class_of_curve(const plim_trend_model *model, const course_sense *sense)
{
    if (sense->rise <= 0) {
        return PLIM_TREND_FLAT;
    }
    return sense->slope < SETTLED_SLOPE_MAX * sense->rise ? settled_or_flat(sense->rise, model)
                                                          : PLIM_TREND_LEAK;
}

static plim_trend_class class_of_course(const plim_trend_models *models,
                                        const plim_trend_model *model, const course_sense *sense)
{
    const bool grows = sense->slope > 0 && sense->slope > 3.3 * sense->error;
    switch (model->form) {
    case PLIM_MODEL_LEVEL:
    case PLIM_MODEL_COUNT:
        return PLIM_TREND_FLAT;
    case PLIM_MODEL_LINE:
    case PLIM_MODEL_LATE:
    case PLIM_MODEL_COMPOUND:
        return sense->slope > 0 && sense->rise > 0 ? PLIM_TREND_LEAK : PLIM_TREND_FLAT;
    case PLIM_MODEL_SETTLE:
    case PLIM_MODEL_RAMP:
        return settled_or_flat(sense->rise, model);
    case PLIM_MODEL_SATURATE:
    case PLIM_MODEL_LOG:
        return class_of_curve(model, sense);
    case PLIM_MODEL_HINGE:
    case PLIM_MODEL_PAUSE:
    case PLIM_MODEL_THREE:
    case PLIM_MODEL_SATURATE_LINE:
        break;
    }
    if (!grows) {
        return settled_or_flat(sense->rise, model);
    }
    /* Straight at the end, or a curve that lines were laid along? */
    static const plim_trend_form curves[] = { PLIM_MODEL_SATURATE, PLIM_MODEL_LOG, PLIM_MODEL_RAMP,
                                              PLIM_MODEL_SETTLE };
    for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++) {
        const plim_trend_model *const curve = &models->items[curves[i]];
        const double slope = plim_trend_model_slope(curve);
        if (curve->cost < model->cost + STRAIGHT_LEAD && curve->coefficients[1] > 0 &&
            slope < SETTLED_SLOPE_MAX * sense->rise) {
            return settled_or_flat(sense->rise, model);
        }
    }
    return PLIM_TREND_LEAK;
}

/* The cheapest course that the series follows surely enough. */
static const plim_trend_model *choose_model(const plim_trend_models *models, double count)
{
    const plim_trend_model *const level = &models->items[PLIM_MODEL_LEVEL];
    const double gain = (level->rss - models->best->rss) / models->dispersion;
    /* The variance is known from the same few levels: Student's t has heavier tails. */
    return gain < GAIN_MIN * (1 + 8 / count + 400 / (count * count)) ? level : models->best;
}

/* The place at which a course of straight lines turned upwards; 0 if none has one. */
static double turn_of(const plim_trend_model *model)
{
    switch (model->form) {
    case PLIM_MODEL_LATE:
    case PLIM_MODEL_HINGE:
        return model->knots[0];
    case PLIM_MODEL_PAUSE:
        return model->knots[1];
    case PLIM_MODEL_THREE:
        return model->coefficients[2] > model->coefficients[3] ? model->knots[0] : model->knots[1];
    case PLIM_MODEL_LEVEL:
    case PLIM_MODEL_LINE:
    case PLIM_MODEL_SETTLE:
    case PLIM_MODEL_RAMP:
    case PLIM_MODEL_SATURATE:
    case PLIM_MODEL_LOG:
    case PLIM_MODEL_COMPOUND:
    case PLIM_MODEL_SATURATE_LINE:
    case PLIM_MODEL_COUNT:
        break;
    }
    return 0;
}

/* The place where a model that ends level became level, or one that ends rising began to rise. */
static double onset_of(const plim_trend_model *model, const plim_trend_levels *levels,
                       plim_trend_class kind)
{
    const double first = plim_trend_model_at(model, levels->at[0]);
    const double last = plim_trend_model_at(model, levels->at[levels->count - 1]);
    if (kind == PLIM_TREND_RAMP) {
        for (size_t i = 0; i < levels->count; i++) {
            if (plim_trend_model_at(model, levels->at[i]) - first >= 0.97 * (last - first)) {
                return levels->at[i];
            }
        }
        return 1;
    }
    if (kind != PLIM_TREND_LEAK) {
        return 0;
    }
    const double turn = turn_of(model);
    const double before =
        plim_trend_model_at(model, turn) - plim_trend_model_at(model, turn - TURN_REACH);
    /* A line bends a little where its figures are rounded: that is not where growth began. */
    return before < TURN_SLOPE_MAX * plim_trend_model_slope(model) * TURN_REACH ? turn : 0;
}

/* Confidence of the class, from the cost by which the best model of another class is dearer. */
static double confidence_of(const plim_trend_models *models, const plim_trend_levels *levels,
                            const plim_trend_model *chosen, plim_trend_class kind)
{
    double lead = 60;
    for (int i = 0; i < PLIM_MODEL_COUNT; i++) {
        const plim_trend_model *const model = &models->items[i];
        if (model->rss < INFINITY) {
            const course_sense sense = {
                .rise = plim_trend_model_at(model, levels->at[levels->count - 1]) -
                        plim_trend_model_at(model, levels->at[0]),
                .slope = plim_trend_model_slope(model),
            };
            if (class_of_course(models, model, &sense) != kind) {
                lead = fmin(lead, fmax(model->cost - chosen->cost, 0));
            }
        }
    }
    const double count = (double)levels->count;
    return (1 - 0.5 * exp(-lead / 8)) * count / (count + 4);
}

static void use_growth(plim_trend_finding *ret, double growth, double error, double freedom)
{
    const double reach = error < INFINITY
                             ? fmax(error * plim_trend_student(freedom), EXACT_SHARE * growth)
                             : fabs(growth);
    ret->growth = growth;
    ret->growth_low = growth - reach;
    ret->growth_high = growth + reach;
}

static void classify_course(const plim_trend_models *models, const plim_trend_levels *levels,
                            plim_trend_finding *ret)
{
    const plim_trend_model *const model = choose_model(models, (double)levels->count);
    const course_sense sense = sense_of(model, levels);
    plim_trend_class kind = class_of_course(models, model, &sense);
    const double level = fabs(plim_trend_model_at(model, 1));
    if (kind == PLIM_TREND_LEAK && !(sense.slope > LEAK_RISE_MIN * level)) {
        kind = PLIM_TREND_FLAT;
    }
    const double onset = onset_of(model, levels, kind);
    /* A few low points at the start are an allocator that was not warm yet. */
    if (kind == PLIM_TREND_RAMP) {
        size_t i = 0;
        double before = 0;
        double all = 0;
        for (; i < levels->count; i++) {
            before += levels->at[i] < onset ? levels->size[i] : 0;
            all += levels->size[i];
        }
        kind = before < 0.03 * all + 1.5 ? PLIM_TREND_FLAT : kind;
    }
    *ret = (plim_trend_finding){ .kind = kind, .model = *model };
    ret->confidence = confidence_of(models, levels, model, kind);
    ret->onset = kind == PLIM_TREND_FLAT ? 0 : onset;
    if (kind == PLIM_TREND_LEAK) {
        use_growth(ret, sense.slope, sense.error, sense.freedom);
    } else if (kind == PLIM_TREND_FLAT) {
        ret->model = models->items[PLIM_MODEL_LEVEL];
    }
}

/* --- saws --- */

/* The straight floor through few valleys. */
static void classify_few_valleys(plim_trend_work *work, plim_trend_finding *ret)
{
    const plim_trend_sawtooth *const sawtooth = &work->sawtooth;
    const plim_trend_levels *const valleys = &sawtooth->valleys;
    const size_t count = valleys->count;
    const size_t per_tooth = work->levels.count / (sawtooth->drop_count + 1);
    /* The left end of a line through n points: twice the error of their mean. */
    const double known = work->levels.noise * 2 / sqrt(fmax((double)per_tooth, 4));
    double at[VALLEYS_FOR_COURSE];
    double value[VALLEYS_FOR_COURSE];
    double x = 0;
    double y = 0;
    size_t used = 0;
    if (count == 1) {
        /* The series cannot begin below its floor. */
        at[used] = work->levels.at[0];
        value[used++] = sawtooth->first;
    }
    for (size_t i = 0; i < count; i++) {
        at[used] = valleys->at[i];
        value[used++] = valleys->value[i];
    }
    for (size_t i = 0; i < used; i++) {
        x += at[i] / (double)used;
        y += value[i] / (double)used;
    }
    double xx = 0;
    double xy = 0;
    double yy = 0;
    for (size_t i = 0; i < used; i++) {
        xx += (at[i] - x) * (at[i] - x);
        xy += (at[i] - x) * (value[i] - y);
        yy += (value[i] - y) * (value[i] - y);
    }
    PLIM_ASSERT(used >= 2);
    const double freedom = used > 2 ? (double)used - 2 : 1;
    const double slope = xy / xx;
    const double squares = used > 2 ? fmax(yy - xy * xy / xx, 0) / freedom : 0;
    const bool as_expected = squares < 4 * known * known;
    const double error = sqrt(fmax(squares, known * known) / xx);
    /* Scatter that was measured on few valleys may be small by chance. */
    const double wanted = as_expected ? 4.5 : 3.5 + 25 / (freedom * freedom);
    const double across = slope * (at[used - 1] - at[0]);
    const bool rises = slope > wanted * error && (used > 2 || across > 0.2 * sawtooth->height);
    *ret = (plim_trend_finding){ .kind = rises ? PLIM_TREND_LEAK : PLIM_TREND_FLAT };
    ret->model = work->models.items[PLIM_MODEL_LEVEL];
    ret->confidence = 0.5 + 0.4 * (1 - exp(-(double)count / 3));
    if (rises) {
        ret->model =
            (plim_trend_model){ .form = PLIM_MODEL_LINE, .coefficients = { y - slope * x, slope } };
        use_growth(ret, slope, error, as_expected ? 30 : freedom);
        ret->confidence *= 1 - 0.5 * exp(-slope / error / 6);
    }
}

/*
 * Leaves out what is far from its neighbours: a drop that fell between two points gives a valley
 * that is none.
 */
static void drop_strays(plim_trend_levels *floor, double *room)
{
    /* A slope is no stray: offsets are taken along the usual one. */
    for (size_t i = 1; i < floor->count; i++) {
        room[i - 1] = (floor->value[i] - floor->value[i - 1]) / (floor->at[i] - floor->at[i - 1]);
    }
    const double slope = plim_trend_median(room, floor->count - 1);
    for (size_t i = floor->count; i-- > 0 && floor->count > VALLEYS_FOR_COURSE - 4;) {
        const size_t count = floor->count;
        const size_t begin = i < 2 ? 0 : i + 3 > count ? count - 5 : i - 2;
        double near[5];
        for (size_t k = 0; k < 5; k++) {
            near[k] = floor->value[begin + k] - slope * (floor->at[begin + k] - floor->at[i]);
        }
        if (fabs(floor->value[i] - plim_trend_median(near, 5)) > STRAY_NOISES * floor->noise) {
            plim_trend_levels_drop(floor, i, 1);
        }
    }
}

static void classify_saw(plim_trend_work *work, plim_trend_finding *ret)
{
    plim_trend_sawtooth *const sawtooth = &work->sawtooth;
    if (sawtooth->valleys.count < VALLEYS_FOR_COURSE) {
        classify_few_valleys(work, ret);
        return;
    }
    double *const room = &work->points.room[0].at;
    plim_trend_levels_weigh(&sawtooth->valleys, 0, room);
    plim_trend_levels_weigh(&sawtooth->means, 0, room);
    const bool means = sawtooth->means.noise < sawtooth->valleys.noise;
    plim_trend_levels *const floor = means ? &sawtooth->means : &sawtooth->valleys;
    drop_strays(floor, room);
    plim_trend_models_fit(&work->models, floor);
    classify_course(&work->models, floor, ret);
}

/* --- all together --- */

static void classify_stairs(const plim_trend_work *work, plim_trend_finding *ret)
{
    const plim_trend_stairs *const stairs = &work->stairs;
    const double lead = work->models.best->rss - stairs->rss;
    const double first = stairs->plateau[0];
    const double last = stairs->plateau[stairs->stair_count];
    *ret = (plim_trend_finding){ .kind = PLIM_TREND_STAIRCASE, .on_stairs = true };
    ret->confidence = (1 - 0.5 * exp(-fmax(lead, 0) / 8)) *
                      (stairs->stair_count < 3 ? 0.6 : 1 - 0.5 / (double)stairs->stair_count);
    if (stairs->settled) {
        /* A single stair just before the end may as well be a peak that the log ends in. */
        const bool rose =
            last - first > RAMP_RISE_MIN * fabs(last) && stairs->at[0] < ONLY_STAIR_BY;
        ret->kind = rose ? PLIM_TREND_RAMP : PLIM_TREND_FLAT;
        ret->onset = rose ? stairs->at[stairs->stair_count - 1] : 0;
        return;
    }
    use_growth(ret, stairs->growth, stairs->growth_error, stairs->freedom);
}

/* True if plateaus explain more than models do, in the residual variance of the better of them. */
static bool stairs_win(const plim_trend_work *work)
{
    const plim_trend_stairs *const stairs = &work->stairs;
    const plim_trend_model *const best = work->models.best;
    const double penalty = best->cost - best->rss / work->models.dispersion;
    const double variance = stairs->rss / (double)work->levels.count;
    const double dispersion = fmax(1, fmin(variance, work->models.dispersion));
    return stairs->rss / dispersion + stairs->penalty < best->rss / dispersion + penalty;
}

/* True if all changepoints but the first go up, and there are some: the last plateau may be short.
 */
static bool climbs_in_steps(const plim_trend_levels *levels, const plim_trend_parts *parts)
{
    for (size_t i = 2; i < parts->count; i++) {
        if (plim_trend_parts_jump(parts, i) < 3 * levels->noise) {
            return false;
        }
    }
    return parts->count > 3;
}

/* Levels at the ends that stand apart: the first points of a run, or one that is off. */
static void trim_ends(plim_trend_levels *levels, const plim_trend_parts *parts)
{
    if (parts->count < 2 || levels->count < 12) {
        return;
    }
    const size_t few = (size_t)(0.03 * (double)levels->count + 1.5);
    size_t end = levels->count;
    if (!climbs_in_steps(levels, parts)) {
        for (size_t i = parts->count; i-- > 1 && parts->items[i].begin + few >= levels->count;) {
            end = parts->items[i].begin;
        }
    }
    plim_trend_levels_drop(levels, end, levels->count - end);
    size_t begin = 0;
    for (size_t i = 1; i < parts->count && parts->items[i].begin <= few; i++) {
        begin = parts->items[i].begin;
    }
    /* Points count, not levels: few of 512 levels may be many points, but then it is a share. */
    plim_trend_levels_drop(levels, 0, begin);
}

/* Leaves out what no model should follow, and finds the changepoints of the rest. */
static void find_changepoints(plim_trend_work *work)
{
    double *const room = &work->points.room[0].at;
    plim_trend_levels_weigh(&work->levels, work->points.quantum, room);
    plim_trend_parts_find(&work->parts, &work->levels, false);
    for (int round = 0; round < 4; round++) {
        const size_t before = work->levels.count;
        if (round == 0) {
            trim_ends(&work->levels, &work->parts);
        } else {
            plim_trend_sawtooth_drop_excursions(&work->levels, &work->parts);
        }
        if (work->levels.count < before) {
            plim_trend_levels_weigh(&work->levels, work->points.quantum, room);
            plim_trend_parts_find(&work->parts, &work->levels, false);
        } else if (round > 0) {
            break;
        }
    }
}

void plim_trend_classify(plim_trend_work *work, plim_trend_finding *ret)
{
    plim_trend_levels_make(&work->levels, &work->points, work->level_max);
    find_changepoints(work);
    const plim_trend_levels *const levels = &work->levels;
    plim_trend_models_fit(&work->models, levels);
    plim_trend_sawtooth_find(&work->sawtooth, levels, &work->parts);
    if (work->sawtooth.drop_count > 0) {
        classify_saw(work, ret);
        return;
    }
    plim_trend_parts_find(&work->plateaus, levels, true);
    plim_trend_stairs_find(&work->stairs, levels, &work->parts, &work->plateaus, &work->models,
                           work->points.quantum);
    if (work->stairs.are_stairs && stairs_win(work)) {
        classify_stairs(work, ret);
        return;
    }
    classify_course(&work->models, levels, ret);
}
