/*
 * model.c - smooth courses that a series may take.
 *
 * Each course is linear in up to four coefficients once its knots (places, or a decay) are fixed.
 * The knots are searched on a grid and then by ever smaller steps; the coefficients come from
 * weighted least squares. Models compete by their residuals, measured in the variance
 * that the best of them leaves, plus a penalty for each number.
 */
#include "trend/model.h"

#include "trend/parts.h"

#include <math.h>
#include <string.h>

#define FUNCTIONS_MAX 4

/* Of knots, while they are searched; finer makes no difference to the RSS. */
#define STEP_MIN 1e-6

/* A series that turned later than this has not shown that it settled, or where it goes; */
#define SETTLED_BY 0.85
/* and two knots closer than this are a jump, which no smooth course has. */
#define APART_MIN 0.02
/* Growth by more than a factor of e in this share of the run is one point that is off. */
#define COMPOUND_MIN 0.05
/* A series that was level before may begin to grow a little later. */
#define BEGUN_BY 0.95

/* The kind of knots of a model. */
typedef enum knot_kind { KNOT_NONE, KNOT_PLACE, KNOT_PLACES, KNOT_DECAY } knot_kind;

static const struct {
    unsigned functions;
    knot_kind knots;
} shapes[PLIM_MODEL_COUNT] = {
    [PLIM_MODEL_LEVEL] = { 1, KNOT_NONE },     [PLIM_MODEL_LINE] = { 2, KNOT_NONE },
    [PLIM_MODEL_LATE] = { 2, KNOT_PLACE },     [PLIM_MODEL_SETTLE] = { 2, KNOT_PLACE },
    [PLIM_MODEL_HINGE] = { 3, KNOT_PLACE },    [PLIM_MODEL_RAMP] = { 2, KNOT_PLACES },
    [PLIM_MODEL_PAUSE] = { 3, KNOT_PLACES },   [PLIM_MODEL_THREE] = { 4, KNOT_PLACES },
    [PLIM_MODEL_SATURATE] = { 2, KNOT_DECAY }, [PLIM_MODEL_LOG] = { 2, KNOT_DECAY },
    [PLIM_MODEL_COMPOUND] = { 2, KNOT_DECAY }, [PLIM_MODEL_SATURATE_LINE] = { 3, KNOT_DECAY },
};

static unsigned knot_count(plim_trend_form course)
{
    static const unsigned counts[] = {
        [KNOT_NONE] = 0, [KNOT_PLACE] = 1, [KNOT_PLACES] = 2, [KNOT_DECAY] = 1
    };
    return counts[shapes[course].knots];
}

/* A knot is searched for, which finds more in noise than a factor does. */
static double numbers(plim_trend_form course)
{
    return shapes[course].functions + 1.2 * knot_count(course);
}

/* --- the functions of a course --- */

static double past(double x, double knot)
{
    return x > knot ? x - knot : 0;
}

static double clamped(double x, const double *knots)
{
    return x < knots[0] ? 0 : fmin(x, knots[1]) - knots[0];
}

static void functions_at(plim_trend_form course, const double *knots, double x, double *ret)
{
    ret[0] = 1;
    switch (course) {
    case PLIM_MODEL_LEVEL:
    case PLIM_MODEL_COUNT:
        break;
    case PLIM_MODEL_LINE:
        ret[1] = x;
        break;
    case PLIM_MODEL_LATE:
        ret[1] = past(x, knots[0]);
        break;
    case PLIM_MODEL_SETTLE:
        ret[1] = fmin(x, knots[0]);
        break;
    case PLIM_MODEL_HINGE:
        ret[1] = x;
        ret[2] = past(x, knots[0]);
        break;
    case PLIM_MODEL_RAMP:
        ret[1] = clamped(x, knots);
        break;
    case PLIM_MODEL_PAUSE:
        ret[1] = fmin(x, knots[0]);
        ret[2] = past(x, knots[1]);
        break;
    case PLIM_MODEL_THREE:
        ret[1] = x;
        ret[2] = past(x, knots[0]);
        ret[3] = past(x, knots[1]);
        break;
    case PLIM_MODEL_SATURATE:
        ret[1] = -expm1(-x / knots[0]);
        break;
    case PLIM_MODEL_LOG:
        ret[1] = log1p(x / knots[0]);
        break;
    case PLIM_MODEL_COMPOUND:
        ret[1] = expm1(x / knots[0]) / expm1(1 / knots[0]);
        break;
    case PLIM_MODEL_SATURATE_LINE:
        ret[1] = -expm1(-x / knots[0]);
        ret[2] = x;
        break;
    }
}

double plim_trend_model_at(const plim_trend_model *model, double at)
{
    double functions[FUNCTIONS_MAX] = { 0 };
    functions_at(model->form, model->knots, at, functions);
    double sum = 0;
    for (unsigned i = 0; i < shapes[model->form].functions; i++) {
        sum += model->coefficients[i] * functions[i];
    }
    return sum;
}

double plim_trend_model_slope(const plim_trend_model *model)
{
    const double step = 1e-5;
    return (plim_trend_model_at(model, 1) - plim_trend_model_at(model, 1 - step)) / step;
}

/* --- least squares --- */

bool plim_trend_solve(double matrix[6][6], double *right, size_t n)
{
    double scale[6];
    for (size_t i = 0; i < n; i++) {
        scale[i] = matrix[i][i];
    }
    for (size_t i = 0; i < n; i++) {
        if (!(matrix[i][i] > 1e-11 * scale[i])) {
            return false;
        }
        for (size_t j = i + 1; j < n; j++) {
            const double factor = matrix[j][i] / matrix[i][i];
            for (size_t k = i; k < n; k++) {
                matrix[j][k] -= factor * matrix[i][k];
            }
            right[j] -= factor * right[i];
        }
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) {
            right[i] -= matrix[i][k] * right[k];
        }
        right[i] /= matrix[i][i];
    }
    return true;
}

/* Coefficients and RSS of a model whose knots are set; RSS is infinite without a solution. */
static void fit_factors(plim_trend_model *model, const plim_trend_levels *levels)
{
    const size_t n = shapes[model->form].functions;
    double matrix[6][6] = { { 0 } };
    double right[6] = { 0 };
    double solved[6];
    double rss = 0;
    const double offset = levels->value[levels->count / 2];
    for (size_t i = 0; i < levels->count; i++) {
        double functions[FUNCTIONS_MAX] = { 0 };
        functions_at(model->form, model->knots, levels->at[i], functions);
        const double off = levels->value[i] - offset;
        for (size_t j = 0; j < n; j++) {
            const double weighted = levels->weight[i] * functions[j];
            for (size_t k = 0; k <= j; k++) {
                matrix[j][k] += weighted * functions[k];
            }
            right[j] += weighted * off;
        }
        rss += levels->weight[i] * off * off;
    }
    for (size_t j = 0; j < n; j++) {
        for (size_t k = j + 1; k < n; k++) {
            matrix[j][k] = matrix[k][j];
        }
    }
    memcpy(solved, right, sizeof solved);
    model->rss = INFINITY;
    if (!plim_trend_solve(matrix, solved, n)) {
        return;
    }
    for (size_t j = 0; j < n; j++) {
        rss -= solved[j] * right[j];
    }
    memcpy(model->coefficients, solved, n * sizeof *solved);
    model->coefficients[0] += offset;
    model->rss = fmax(rss, 0);
}

/* --- knots --- */

/*
 * Knots leave some levels on either side: one level that is off, at an end, is no new course.
 * Only what settles may do so soon.
 */
static bool places_fit(plim_trend_form course, const plim_trend_levels *levels, double a, double b)
{
    const bool settles = course == PLIM_MODEL_SETTLE || course == PLIM_MODEL_RAMP;
    const size_t spare = levels->count < 12 ? 1 : settles ? 2 : 4;
    const double low = levels->at[course == PLIM_MODEL_RAMP ? 0 : spare];
    const double high = levels->at[levels->count - 1 - (levels->count < 12 ? 1 : 4)];
    const double last = shapes[course].knots == KNOT_PLACES ? b : a;
    return a >= low && last <= fmin(high, course == PLIM_MODEL_LATE ? BEGUN_BY : SETTLED_BY) &&
           b - a >= APART_MIN;
}

static void try_knots(plim_trend_model *best, const plim_trend_levels *levels, double a, double b)
{
    plim_trend_model model = { .form = best->form, .knots = { a, b } };
    const bool places = shapes[best->form].knots != KNOT_DECAY;
    if (places && !places_fit(best->form, levels, a, b)) {
        return;
    }
    const double fastest = best->form == PLIM_MODEL_COMPOUND ? COMPOUND_MIN : 1e-4;
    if (!places && !(a > fastest && a < 8)) {
        return;
    }
    fit_factors(&model, levels);
    if (model.rss < best->rss) {
        *best = model;
    }
}

/* A step from the best knots in each direction, halved when none helps. */
static void refine(plim_trend_model *best, const plim_trend_levels *levels, double step)
{
    const knot_kind kind = shapes[best->form].knots;
    for (int i = 0; i < 32 && step > STEP_MIN; i++) {
        const double before = best->rss;
        const double a = best->knots[0];
        const double b = best->knots[1];
        if (kind == KNOT_DECAY) {
            try_knots(best, levels, a * (1 + step), b);
            try_knots(best, levels, a / (1 + step), b);
        } else {
            try_knots(best, levels, a - step, b);
            try_knots(best, levels, a + step, b);
        }
        if (kind == KNOT_PLACES) {
            try_knots(best, levels, best->knots[0], b - step);
            try_knots(best, levels, best->knots[0], b + step);
        }
        if (!(best->rss < before)) {
            step /= 2;
        }
    }
}

static void fit_course(plim_trend_model *best, const plim_trend_levels *levels)
{
    best->rss = INFINITY;
    const knot_kind kind = shapes[best->form].knots;
    if (kind == KNOT_NONE) {
        fit_factors(best, levels);
    } else if (kind == KNOT_DECAY) {
        double decay = 0.003; /* … 3.5 */
        for (int i = 0; i < 22; i++) {
            try_knots(best, levels, decay, 2);
            decay *= 1.4;
        }
        refine(best, levels, 0.2);
    } else if (kind == KNOT_PLACE) {
        const size_t tries = levels->count < 64 ? levels->count : 64;
        for (size_t i = 1; i + 1 < tries; i++) {
            try_knots(best, levels, levels->at[i * (levels->count - 1) / (tries - 1)], 2);
        }
        refine(best, levels, 0.01);
    } else {
        const size_t tries = levels->count < 18 ? levels->count : 18;
        for (size_t i = 1; i + 1 < tries; i++) {
            for (size_t j = i + 1; j + 1 < tries; j++) {
                try_knots(best, levels, levels->at[i * (levels->count - 1) / (tries - 1)],
                          levels->at[j * (levels->count - 1) / (tries - 1)]);
            }
        }
        refine(best, levels, 0.02);
    }
}

/* --- comparing --- */

/*
 * The factor by which the leftovers of neighbours agree more than independent ones would, as a
 * factor on the variance of sums: 1 if they do not.
 */
static double correlation_factor(const plim_trend_model *model, const plim_trend_levels *levels)
{
    double products = 0;
    double rss = 0;
    double last = 0;
    for (size_t i = 0; i < levels->count; i++) {
        const double off = (levels->value[i] - plim_trend_model_at(model, levels->at[i])) *
                           sqrt(levels->weight[i]);
        products += off * last;
        rss += off * off;
        last = off;
    }
    const double correlation = rss > 0 ? products / rss : 0;
    if (correlation * sqrt((double)levels->count) < 2) {
        return 1;
    }
    return fmin((1 + correlation) / (1 - correlation), 20);
}

void plim_trend_models_fit(plim_trend_models *models, const plim_trend_levels *levels)
{
    const double penalty = plim_trend_number_cost(levels->count);
    const double count = (double)levels->count;
    double least = INFINITY;
    const plim_trend_model *richest = &models->items[0];
    for (int i = 0; i < PLIM_MODEL_COUNT; i++) {
        plim_trend_model *const model = &models->items[i];
        *model = (plim_trend_model){ .form = (plim_trend_form)i };
        fit_course(model, levels);
        const unsigned used = shapes[i].functions + knot_count(model->form);
        const double variance = model->rss / fmax(count - used, 1);
        if (variance < least) {
            least = variance;
            richest = model;
        }
    }
    models->dispersion = fmax(least * correlation_factor(richest, levels), 0.3);
    models->best = &models->items[0];
    for (int i = 0; i < PLIM_MODEL_COUNT; i++) {
        plim_trend_model *const model = &models->items[i];
        model->cost = model->rss / models->dispersion + penalty * numbers(model->form);
        if (model->cost < models->best->cost) {
            models->best = model;
        }
    }
}

/* --- the error of a slope --- */

#define NUMBERS_MAX (FUNCTIONS_MAX + 2)

/* The model with number i (coefficients first, then knots) moved by `by`. */
static plim_trend_model moved(const plim_trend_model *model, unsigned i, double by)
{
    plim_trend_model result = *model;
    const unsigned functions = shapes[model->form].functions;
    if (i < functions) {
        result.coefficients[i] += by;
    } else {
        result.knots[i - functions] += by;
    }
    return result;
}

/* The derivative of the model at `at` by each of its parameters. */
static void sensitivity(const plim_trend_model *model, unsigned n, double at, double *ret)
{
    functions_at(model->form, model->knots, at, ret);
    for (unsigned i = shapes[model->form].functions; i < n; i++) {
        const double by = 1e-4 * fmin(model->knots[i - shapes[model->form].functions], 1);
        const plim_trend_model up = moved(model, i, by);
        const plim_trend_model down = moved(model, i, -by);
        ret[i] = (plim_trend_model_at(&up, at) - plim_trend_model_at(&down, at)) / (2 * by);
    }
}

static void slope_sensitivity(const plim_trend_model *model, unsigned n, double *ret)
{
    for (unsigned i = 0; i < n; i++) {
        const bool is_factor = i < shapes[model->form].functions;
        const double by =
            is_factor ? 1 : 1e-4 * fmin(model->knots[i - shapes[model->form].functions], 1);
        const plim_trend_model up = moved(model, i, by);
        const plim_trend_model down = moved(model, i, -by);
        ret[i] = (plim_trend_model_slope(&up) - plim_trend_model_slope(&down)) / (2 * by);
    }
}

static size_t stretch_count(const plim_trend_levels *levels)
{
    return levels->count < 40 ? levels->count : 40;
}

/* With the first n numbers of the model free; infinite if they cannot be distinguished. */
static double error_of_slope(const plim_trend_model *model, const plim_trend_levels *levels,
                             unsigned n)
{
    double matrix[6][6] = { { 0 } };
    double gradient[6] = { 0 };
    for (size_t i = 0; i < levels->count; i++) {
        double row[NUMBERS_MAX] = { 0 };
        sensitivity(model, n, levels->at[i], row);
        for (unsigned j = 0; j < n; j++) {
            for (unsigned k = 0; k < n; k++) {
                matrix[j][k] += levels->weight[i] * row[j] * row[k];
            }
        }
    }
    slope_sensitivity(model, n, gradient);
    double direction[6];
    memcpy(direction, gradient, sizeof direction);
    if (!plim_trend_solve(matrix, direction, n)) {
        return INFINITY;
    }
    double plain = 0;
    for (unsigned j = 0; j < n; j++) {
        plain += gradient[j] * direction[j];
    }
    plain *= model->rss / fmax((double)levels->count - n, 1);
    /* The slope moves by `direction` times the scores; stretches of them add as independents. */
    const size_t stretches = stretch_count(levels);
    double clustered = 0;
    for (size_t k = 0; k < stretches; k++) {
        const size_t end = (k + 1) * levels->count / stretches;
        double score = 0;
        for (size_t i = k * levels->count / stretches; i < end; i++) {
            double row[NUMBERS_MAX] = { 0 };
            sensitivity(model, n, levels->at[i], row);
            double influence = 0;
            for (unsigned j = 0; j < n; j++) {
                influence += row[j] * direction[j];
            }
            score += levels->weight[i] * influence *
                     (levels->value[i] - plim_trend_model_at(model, levels->at[i]));
        }
        clustered += score * score;
    }
    clustered *= (double)stretches / fmax((double)stretches - n, 1);
    return sqrt(fmax(plain, clustered));
}

double plim_trend_model_slope_error(const plim_trend_model *model, const plim_trend_levels *levels,
                                    double *ret_freedom)
{
    const unsigned functions = shapes[model->form].functions;
    const unsigned numbers_free = functions + knot_count(model->form);
    *ret_freedom = fmax((double)stretch_count(levels) - numbers_free, 1);
    const double error = error_of_slope(model, levels, numbers_free);
    return error < INFINITY ? error : error_of_slope(model, levels, functions);
}

double plim_trend_student(double freedom)
{
    /* Within 2% of the 97.5% points of Student's t from 3 degrees of freedom on; 9% below. */
    return 1.96 + 2.37 / freedom + 2.82 / (freedom * freedom) + 5.5 / pow(freedom, 4);
}
