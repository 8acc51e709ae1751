/*
 * trend.c - the class of a series of points, in the units of the log.
 *
 *   points ──► peaks marked ──► at most 512 levels ──► class and course ──► level and peaks of
 *   (points)     (peaks)           (levels)              (classify)          all points (here)
 */
#include "plimsoll/trend.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "trend/classify.h"

#include <math.h>

#define POINTS_MIN           8 /* fewer are too short, */
#define POINTS_MIN_NOISELESS 5 /* unless they are exactly a line */
#define NOISELESS_RISE_MIN   0.02
#define NOISELESS_SHARE      0.01
#define USUAL_PEAK_PERCENT   95

const char *plim_trend_name(plim_trend_class kind)
{
    static const char *const names[] = {
#define PLIM_TREND_NAME(code, name) name,
        PLIM_TREND_LIST(PLIM_TREND_NAME)
#undef PLIM_TREND_NAME
    };
    return (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : "too_short";
}

static double course_at(const plim_trend_work *work, const plim_trend_finding *finding, double at)
{
    return finding->on_stairs ? plim_trend_stairs_at(&work->stairs, at)
                              : plim_trend_model_at(&finding->model, at);
}

/* Points less the course into the room; returns it. */
static double *leftovers(plim_trend_work *work, const plim_trend_finding *finding)
{
    double *const room = &work->points.room[0].at;
    for (size_t i = 0; i < work->points.count; i++) {
        room[i] = work->points.items[i].value - course_at(work, finding, work->points.items[i].at);
    }
    return room;
}

/* Height of a usual peak above the model: evaluations too, if there are some. */
static double usual_peak(plim_trend_work *work, const plim_trend_finding *finding)
{
    const size_t count = work->points.count;
    double *room = leftovers(work, finding);
    size_t peaks = 0;
    for (size_t i = 0; i < count; i++) {
        if (work->points.is_peak[i] != 0 && room[i] > 0) {
            room[peaks++] = room[i];
        }
    }
    const double evaluation = peaks >= 3 ? plim_trend_median(room, peaks) : 0;
    room = leftovers(work, finding);
    const size_t rank = (count - 1) * USUAL_PEAK_PERCENT / 100;
    return fmax(evaluation, fmax(plim_trend_select(room, count, rank), 0));
}

static void say_exhaustion(plim_trend_work *work, const plim_trend_finding *finding,
                           double capacity_bytes, plim_trend *ret)
{
    if (!(capacity_bytes > 0) || !isfinite(capacity_bytes) || !(finding->growth > 0)) {
        return;
    }
    const double capacity = capacity_bytes / work->points.scale;
    const double now = course_at(work, finding, 1) + usual_peak(work, finding);
    const double at = 1 + fmax(capacity - now, 0) / finding->growth;
    const double step = plim_trend_step_at(&work->points, at);
    if (isfinite(step)) {
        ret->has_exhaustion = true;
        ret->exhaustion_step = step;
    }
}

/* The course where it begins or ends; the line through stairs may leave their lowest and highest.
 */
static double level_at(const plim_trend_work *work, const plim_trend_finding *finding, double at)
{
    const plim_trend_points *const points = &work->points;
    const double bytes = course_at(work, finding, at) * points->scale;
    return fmin(fmax(bytes, points->min_bytes), points->max_bytes);
}

/* The finding in steps and bytes, and what all points say around it. */
static void say(plim_trend_work *work, plim_trend_finding *finding, double capacity_bytes,
                plim_trend *ret)
{
    const plim_trend_points *const points = &work->points;
    if (!finding->on_stairs) {
        double *const room = leftovers(work, finding);
        finding->model.coefficients[0] += plim_trend_median(room, points->count);
    }
    const double scale = points->scale;
    const double span = points->last_step - points->first_step;
    const double per_step = span > 0 ? scale / span : 0;
    ret->kind = finding->kind;
    ret->confidence = fmax(0, fmin(finding->confidence, 0.99));
    ret->first_bytes = level_at(work, finding, 0);
    ret->last_bytes = level_at(work, finding, 1);
    const double spread = plim_trend_spread(leftovers(work, finding), points->count, 0);
    const double level = fabs(course_at(work, finding, 0.5));
    ret->noise_share = level > 0 ? spread / level : 0;
    ret->growth_bytes_per_step = finding->growth * per_step;
    ret->growth_low_bytes_per_step = finding->growth_low * per_step;
    ret->growth_high_bytes_per_step = finding->growth_high * per_step;
    ret->onset_step = plim_trend_step_at(points, finding->onset);
    if (finding->kind == PLIM_TREND_STAIRCASE) {
        ret->stair_count = work->stairs.stair_count;
        ret->stair_bytes = work->stairs.height * scale;
        ret->stair_period_steps = work->stairs.period * span;
    }
    say_exhaustion(work, finding, capacity_bytes, ret);
}

/*
 * Five to seven points say something only if there is no noise at all: a line that grows by a
 * fiftieth or more and that no point leaves, or the same figure every time.
 */
static bool classify_few(plim_trend_work *work, plim_trend_finding *ret)
{
    const plim_trend_points *const points = &work->points;
    if (points->count < POINTS_MIN_NOISELESS) {
        return false;
    }
    plim_trend_levels_make(&work->levels, points, work->level_max);
    plim_trend_levels_weigh(&work->levels, points->quantum, &points->room[0].at);
    plim_trend_models_fit(&work->models, &work->levels);
    *ret = (plim_trend_finding){ .kind = PLIM_TREND_FLAT, .confidence = 0.3 };
    ret->model = work->models.items[PLIM_MODEL_LINE];
    const double rise = ret->model.coefficients[1];
    double furthest = 0;
    for (size_t i = 0; i < points->count; i++) {
        const double off =
            points->items[i].value - plim_trend_model_at(&ret->model, points->items[i].at);
        furthest = fmax(furthest, fabs(off));
    }
    if (rise > 0 && furthest <= NOISELESS_SHARE * rise &&
        rise >= NOISELESS_RISE_MIN * fabs(plim_trend_model_at(&ret->model, 0))) {
        ret->kind = PLIM_TREND_LEAK;
        ret->growth = rise;
        ret->growth_low = rise - 4 * furthest;
        ret->growth_high = rise + 4 * furthest;
        return true;
    }
    ret->model = work->models.items[PLIM_MODEL_LEVEL];
    return furthest <= 1e-12 && fabs(rise) <= 1e-12;
}

static void describe_points(const plim_trend_points *points, plim_trend *ret)
{
    ret->point_count = points->read_count;
    if (points->count == 0) {
        return;
    }
    ret->first_step = points->first_step;
    ret->last_step = points->last_step;
    ret->onset_step = points->first_step;
    ret->min_bytes = points->min_bytes;
    ret->max_bytes = points->max_bytes;
    ret->first_bytes = points->items[0].value * points->scale;
    ret->last_bytes = points->items[points->count - 1].value * points->scale;
}

static plim_status look(size_t level_max, const plim_trend_input *input, const plim_mem *mem,
                        plim_trend *ret, plim_error *err)
{
    PLIM_ASSERT(input->bytes != NULL || input->count == 0);
    const plim_mem *const heap = plim_mem_or_heap(mem);
    plim_trend_work *const work = plim_mem_alloc(heap, 1, sizeof *work);
    if (work == NULL) {
        return plim_fail_memory(err, "looking for a trend");
    }
    work->level_max = level_max;
    plim_status status = PLIM_OK;
    plim_trend_finding finding;
    plim_trend result = { .kind = PLIM_TREND_TOO_SHORT };
    if (!plim_trend_points_read(&work->points, input->steps, input->bytes, input->count, mem)) {
        status = plim_fail_memory(err, "looking for a trend");
        goto free_points;
    }
    describe_points(&work->points, &result);
    bool said = false;
    if (work->points.count < POINTS_MIN) {
        said = classify_few(work, &finding);
    } else {
        plim_trend_points_mark_peaks(&work->points);
        plim_trend_classify(work, &finding);
        said = true;
    }
    if (said) {
        say(work, &finding, level_max < PLIM_TREND_LEVELS_MAX ? 0 : input->capacity_bytes, &result);
    }
    *ret = result;

free_points:
    plim_trend_points_free(&work->points);
    plim_mem_free(heap, work, 1, sizeof *work);
    return status;
}

plim_status plim_trend_of(const plim_trend_input *input, const plim_mem *mem, plim_trend *ret,
                          plim_error *err)
{
    return look(PLIM_TREND_LEVELS_MAX, input, mem, ret, err);
}

plim_status plim_trend_screen(const plim_trend_input *input, const plim_mem *mem, plim_trend *ret,
                              plim_error *err)
{
    return look(PLIM_TREND_LEVELS_SCREEN, input, mem, ret, err);
}
