/*
 * made.c - memory logs of our own making.
 */
#include "trend/made.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define GB        1e9
#define ONE(kind) (1u << (unsigned)(kind))

static uint64_t state;

void t_made_seed(uint64_t seed)
{
    state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

/* 0 … 1 (splitmix64: Steele, Lea, Flood 2014) */
static double uniform(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

double t_made_between(double low, double high)
{
    return low + (high - low) * uniform();
}

static double gaussian(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static size_t count_between(double low, double high)
{
    return (size_t)(exp(t_made_between(log(low), log(high))) + 0.5);
}

/* --- what most logs share --- */

/* What was drawn before the course of a log. */
typedef struct ground {
    size_t count;
    double base;     /* bytes */
    double noise;    /* standard deviation, share of the level */
    bool follows;    /* noise grows with the level */
    bool is_uniform; /* not Gaussian */
    double stride;   /* steps from point to point */
} ground;

static ground draw(t_made *made, double count_min, double count_max, double noise_max)
{
    static const double strides[] = { 1, 1, 1, 10, 50 };
    ground g = {
        .count = count_between(count_min, count_max),
        .base = exp(t_made_between(log(0.5 * GB), log(80 * GB))),
        .follows = uniform() < 0.5,
        .is_uniform = uniform() < 0.3,
        .stride = strides[(size_t)(uniform() * 5)],
    };
    const double kind = uniform();
    g.noise = kind < 0.2   ? 0
              : kind < 0.6 ? t_made_between(0, noise_max / 5)
                           : t_made_between(0, noise_max);
    made->count = g.count;
    made->growth = 0;
    made->growth_error = 0;
    made->onset = 0;
    snprintf(made->text, sizeof made->text, "n %zu noise %.3f%s%s stride %g", g.count, g.noise,
             g.follows ? " of level" : "", g.is_uniform ? " uniform" : "", g.stride);
    return g;
}

static void note(t_made *made, const char *name, double value)
{
    const size_t used = strlen(made->text);
    snprintf(made->text + used, sizeof made->text - used, ", %s %.4g", name, value);
}

/* Noise and steps onto levels that are shares of the base. */
static void finish(t_made *made, const ground *g)
{
    for (size_t i = 0; i < made->count; i++) {
        const double unit = g->is_uniform ? t_made_between(-1.7320508, 1.7320508) : gaussian();
        const double level = made->bytes[i];
        made->bytes[i] = g->base * (level + unit * g->noise * (g->follows ? level : 1));
        made->steps[i] = (double)i * g->stride;
    }
}

static void fill(t_made *made, double level)
{
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] = level;
    }
}

/* Points are lost, doubled and out of order. */
static void scramble(t_made *made)
{
    size_t kept = 0;
    for (size_t i = 0; i < made->count; i++) {
        if (uniform() > 0.15) {
            made->steps[kept] = made->steps[i];
            made->bytes[kept++] = made->bytes[i];
        }
    }
    made->count = kept;
    for (size_t i = 0; i < kept; i++) {
        const size_t j = (size_t)(uniform() * (double)kept);
        const double step = made->steps[i];
        const double bytes = made->bytes[i];
        made->steps[i] = made->steps[j];
        made->bytes[i] = made->bytes[j];
        made->steps[j] = step;
        made->bytes[j] = bytes;
    }
    for (size_t i = 0; i < kept / 20; i++) {
        made->steps[made->count] = made->steps[i];
        made->bytes[made->count++] = made->bytes[i];
    }
}

/* Growth of `rate` per point from `begin` on, and how well it can be known. */
static void leak(t_made *made, const ground *g, size_t begin, double rate)
{
    for (size_t i = begin; i < made->count; i++) {
        made->bytes[i] += rate * (double)(i - begin);
    }
    const double length = (double)(made->count - begin);
    const double level = g->follows ? 1 + rate * length / 2 : 1;
    made->growth = rate * g->base / g->stride;
    made->growth_error =
        g->noise * level * sqrt(12 / (length * length * length)) * g->base / g->stride;
    made->onset = (double)begin * g->stride;
}

/* A rate that rises above the noise by `deviations` at least, as a share of the base. */
static double clear_rate(const t_made *made, const ground *g, size_t begin, double deviations)
{
    const double length = (double)(made->count - begin);
    const double least = deviations * g->noise * sqrt(12 / length) / length;
    const double rate = exp(t_made_between(log(1e-5), log(1e-2)));
    return fmax(fmax(rate, least), 1e-4 / length);
}

/* --- families --- */

static void flat(t_made *made)
{
    const ground g = draw(made, 50, 60000, 0.1);
    fill(made, 1);
    finish(made, &g);
}

static void flat_outliers(t_made *made)
{
    const ground g = draw(made, 50, 20000, 0.05);
    fill(made, 1);
    finish(made, &g);
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] *= uniform() < 0.03 ? exp(gaussian()) : 1;
    }
}

static void flat_low_start(t_made *made)
{
    const ground g = draw(made, 50, 20000, 0.05);
    fill(made, 1);
    const size_t low = 1 + (size_t)(uniform() * (made->count < 200 ? 2 : 5));
    for (size_t i = 0; i < low; i++) {
        made->bytes[i] = t_made_between(0.1, 0.6);
    }
    note(made, "low", (double)low);
    finish(made, &g);
}

static void saw_onto(t_made *made, double height, double period, bool varies, double climb)
{
    double length = period;
    double tall = height;
    double phase = uniform() * period;
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] += tall * phase / length;
        phase += 1;
        if (phase >= length) {
            phase = 0;
            length = varies ? fmax(3, round(period * t_made_between(0.6, 1.4))) : period;
            tall = varies ? height * t_made_between(0.7, 1.3) : height;
            tall = climb > 0 && varies ? climb * length : tall;
        }
    }
}

static void saw(t_made *made)
{
    const ground g = draw(made, 100, 20000, 0.05);
    fill(made, 1);
    const double period = floor(exp(t_made_between(log(5), log(fmin(200, (double)g.count / 2.5)))));
    const double height = t_made_between(0.05, 0.5);
    const bool varies = uniform() < 0.5;
    saw_onto(made, height, period, varies, 0);
    note(made, "period", period);
    note(made, "height", height);
    note(made, "varies", varies);
    finish(made, &g);
}

static void saw_leak(t_made *made)
{
    ground g = draw(made, 300, 20000, 0.03);
    fill(made, 1);
    const double period = floor(exp(t_made_between(log(5), log(fmin(200, (double)g.count / 5)))));
    const double height = t_made_between(0.05, 0.5);
    const bool varies = uniform() < 0.5;
    leak(made, &g, 0, fmax(clear_rate(made, &g, 0, 30), height / (double)g.count));
    saw_onto(made, height, period, varies, 0);
    note(made, "period", period);
    note(made, "height", height);
    note(made, "varies", varies);
    note(made, "rate", made->growth * g.stride / g.base);
    finish(made, &g);
    /* Teeth that vary are noise of their own. */
    made->growth_error = fmax(made->growth_error, (varies ? 0.5 : 0.12) * height *
                                                      sqrt(12 * period / (double)g.count) /
                                                      (double)g.count * g.base / g.stride);
}

static void peaks_onto(t_made *made)
{
    const double every =
        floor(exp(t_made_between(log(5), log(fmin(500, (double)made->count / 4)))));
    const double width = 1 + floor(uniform() * fmin(6, every / 4));
    const double height = t_made_between(0.1, 0.8);
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] += fmod((double)i, every) >= every - width ? height : 0;
    }
    note(made, "every", every);
    note(made, "width", width);
    note(made, "height", height);
}

static void peaks(t_made *made)
{
    const ground g = draw(made, 60, 20000, 0.05);
    fill(made, 1);
    peaks_onto(made);
    finish(made, &g);
}

static void peaks_leak(t_made *made)
{
    const ground g = draw(made, 200, 20000, 0.05);
    fill(made, 1);
    leak(made, &g, 0, clear_rate(made, &g, 0, 15));
    note(made, "rate", made->growth * g.stride / g.base);
    peaks_onto(made);
    finish(made, &g);
}

static void leak_thousandth(t_made *made)
{
    ground g = draw(made, 150, 20000, 0.05);
    g.noise = 0.05;
    g.stride = 1;
    fill(made, 1);
    leak(made, &g, 0, 0.001);
    finish(made, &g);
}

static void leak_any(t_made *made)
{
    const ground g = draw(made, 50, 60000, 0.1);
    fill(made, 1);
    leak(made, &g, 0, clear_rate(made, &g, 0, 8));
    note(made, "rate", made->growth * g.stride / g.base);
    finish(made, &g);
}

static void leak_scrambled(t_made *made)
{
    leak_any(made);
    scramble(made);
    made->growth_error *= 1.15;
}

static void leak_late(t_made *made)
{
    const ground g = draw(made, 100, 20000, 0.05);
    fill(made, 1);
    const size_t begin = (size_t)(t_made_between(0.3, 0.8) * (double)g.count);
    leak(made, &g, begin, clear_rate(made, &g, begin, 8));
    note(made, "begin", (double)begin);
    note(made, "rate", made->growth * g.stride / g.base);
    finish(made, &g);
}

static void leak_compound(t_made *made)
{
    const ground g = draw(made, 150, 3000, 0.05);
    const double rate = t_made_between(0.0005, 0.0015);
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] = pow(1 + rate, (double)i);
    }
    finish(made, &g);
    made->growth = g.base * rate * pow(1 + rate, (double)made->count) / g.stride;
    made->growth_error = INFINITY; /* line or curve? not to be known of short ones */
}

static void leak_outliers(t_made *made)
{
    leak_any(made);
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] *= uniform() < 0.03 ? exp(gaussian()) : 1;
    }
    made->growth_error *= 1.3;
}

static void leak_warm(t_made *made)
{
    const ground g = draw(made, 300, 20000, 0.03);
    const double tau = t_made_between(0.005, 0.05) * (double)g.count;
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] = 1 - 0.5 * exp(-(double)i / tau);
    }
    leak(made, &g, 0, fmax(clear_rate(made, &g, 0, 25), 0.2 / (double)g.count));
    note(made, "tau", tau);
    note(made, "rate", made->growth * g.stride / g.base);
    finish(made, &g);
    made->growth_error *= 2;
}

static void leak_printed(t_made *made)
{
    const ground g = draw(made, 150, 20000, 0.02);
    fill(made, 1);
    /* From a tenth of a printed unit a point to some units, but several in all. */
    leak(made, &g, 0, fmax(clear_rate(made, &g, 0, 12), 0.15 / (double)g.count));
    note(made, "rate", made->growth * g.stride / g.base);
    finish(made, &g);
    const double unit = uniform() < 0.5 ? (g.base > 10 * GB ? 1e8 : 1e7) : 0x1p20;
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] = round(made->bytes[i] / unit) * unit;
    }
    note(made, "unit", unit);
}

static void ramp_line(t_made *made)
{
    const ground g = draw(made, 60, 20000, 0.05);
    const double length = t_made_between(0.05, 0.6) * (double)g.count;
    const double from = t_made_between(0.1, 0.75);
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] = from + (1 - from) * fmin((double)i / length, 1);
    }
    note(made, "length", length);
    note(made, "from", from);
    finish(made, &g);
}

static void ramp_saturates(t_made *made)
{
    const ground g = draw(made, 60, 20000, 0.05);
    const double tau = t_made_between(0.02, 0.25) * (double)g.count;
    const double from = t_made_between(0.1, 0.75);
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] = 1 - (1 - from) * exp(-(double)i / tau);
    }
    note(made, "tau", tau);
    note(made, "from", from);
    finish(made, &g);
}

static void ramp_log(t_made *made)
{
    const ground g = draw(made, 60, 20000, 0.03);
    const double from = t_made_between(0.1, 0.6);
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] = from + (1 - from) * log1p((double)i) / log((double)g.count);
    }
    note(made, "from", from);
    finish(made, &g);
}

static void ramp_peaks(t_made *made)
{
    const ground g = draw(made, 200, 20000, 0.03);
    const double length = t_made_between(0.05, 0.5) * (double)g.count;
    const double from = t_made_between(0.1, 0.7);
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] = from + (1 - from) * fmin((double)i / length, 1);
    }
    note(made, "length", length);
    peaks_onto(made);
    finish(made, &g);
}

static void stairs(t_made *made)
{
    ground g = draw(made, 100, 20000, 0.1);
    const double stairs = floor(t_made_between(3, fmin(51, (double)g.count / 12)));
    const double period = (double)g.count / (stairs + t_made_between(0.2, 0.99));
    const double height = t_made_between(0.02, 0.3);
    /* Each plateau must be known to a quarter of the height, or nobody sees stairs. */
    g.noise =
        fmin(g.noise, 0.25 * height * sqrt(period / 2) / (g.follows ? 1 + stairs * height / 2 : 1));
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] = 1 + height * floor(((double)i + 0.5) / period);
    }
    note(made, "stairs", stairs);
    note(made, "height", height);
    note(made, "noise", g.noise);
    made->growth = height / period * g.base / g.stride;
    made->growth_error = made->growth * 0.01;
    finish(made, &g);
}

static void stairs_uneven(t_made *made)
{
    ground g = draw(made, 150, 20000, 0.1);
    const double stairs = floor(t_made_between(3, fmin(30, (double)g.count / 20)));
    const double period = (double)g.count / (stairs + 1);
    const double height = t_made_between(0.03, 0.3);
    g.noise = fmin(g.noise, 0.15 * height / (g.follows ? 1 + stairs * height : 1));
    double next = period * t_made_between(0.5, 1.5);
    double level = 1;
    for (size_t i = 0; i < made->count; i++) {
        if ((double)i >= next) {
            level += height * t_made_between(0.5, 1.5);
            next += period * t_made_between(0.5, 1.5);
        }
        made->bytes[i] = level;
    }
    note(made, "stairs", stairs);
    note(made, "height", height);
    note(made, "noise", g.noise);
    made->growth_error = INFINITY; /* what is the growth of so few? */
    finish(made, &g);
}

static void stairs_settled(t_made *made)
{
    ground g = draw(made, 100, 20000, 0.02);
    const double stairs = floor(t_made_between(2, 7));
    const double period = 0.45 * (double)g.count / stairs;
    const double height = t_made_between(0.05, 0.3);
    g.noise = fmin(g.noise, 0.3 * height);
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] = 1 + height * fmin(floor((double)i / period), stairs - 1);
    }
    note(made, "stairs", stairs - 1);
    finish(made, &g);
}

static void one_stair(t_made *made)
{
    ground g = draw(made, 60, 20000, 0.05);
    const double at = t_made_between(0.2, 0.8) * (double)g.count;
    const double height = t_made_between(0.1, 0.6);
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] = 1 + ((double)i >= at ? height : 0);
    }
    note(made, "at", at);
    note(made, "height", height);
    finish(made, &g);
}

static void high_water(t_made *made)
{
    ground g = draw(made, 60, 20000, 0.05);
    g.noise = t_made_between(0.005, 0.08);
    fill(made, 1);
    finish(made, &g);
    for (size_t i = 1; i < made->count; i++) {
        made->bytes[i] = fmax(made->bytes[i], made->bytes[i - 1]);
    }
}

static void high_water_leak(t_made *made)
{
    ground g = draw(made, 200, 20000, 0.02);
    fill(made, 1);
    leak(made, &g, 0, fmax(clear_rate(made, &g, 0, 40), (6 * g.noise + 0.01) / (double)g.count));
    finish(made, &g);
    for (size_t i = 1; i < made->count; i++) {
        made->bytes[i] = fmax(made->bytes[i], made->bytes[i - 1]);
    }
    made->growth_error = INFINITY;
}

static void falls(t_made *made)
{
    ground g = draw(made, 60, 20000, 0.05);
    const double rate = t_made_between(0.05, 0.5) / (double)g.count;
    for (size_t i = 0; i < made->count; i++) {
        made->bytes[i] = 1 - rate * (double)i;
    }
    finish(made, &g);
}

#define FLAT  ONE(PLIM_TREND_FLAT)
#define RAMP  ONE(PLIM_TREND_RAMP)
#define STAIR ONE(PLIM_TREND_STAIRCASE)
#define LEAK  ONE(PLIM_TREND_LEAK)

const t_family t_families[] = {
    { "flat", flat, FLAT, 0.98 },
    { "flat, outliers", flat_outliers, FLAT, 0.98 },
    { "flat, low first points", flat_low_start, FLAT, 0.98 },
    { "falling", falls, FLAT, 0.98 },
    { "saw", saw, FLAT, 0.98 },
    { "saw on a leak", saw_leak, LEAK, 0.98 },
    { "peaks", peaks, FLAT, 0.98 },
    { "peaks on a leak", peaks_leak, LEAK, 0.98 },
    { "leak 0.1%, noise 5%", leak_thousandth, LEAK, 0.98 },
    { "leak", leak_any, LEAK, 0.98 },
    { "leak, scrambled", leak_scrambled, LEAK, 0.98 },
    { "leak, late", leak_late, LEAK, 0.98 },
    { "leak, compounding", leak_compound, LEAK, 0.98 },
    { "leak, outliers", leak_outliers, LEAK, 0.98 },
    { "leak after a warm-up", leak_warm, LEAK, 0.98 },
    { "leak, printed in units", leak_printed, LEAK, 0.98 },
    { "leak, high-water mark", high_water_leak, LEAK | STAIR, 0.98 },
    { "ramp, straight", ramp_line, RAMP, 0.98 },
    { "ramp, saturating", ramp_saturates, RAMP, 0.98 },
    { "ramp, logarithmic", ramp_log, RAMP, 0.98 },
    { "ramp with peaks", ramp_peaks, RAMP, 0.98 },
    { "staircase", stairs, STAIR, 0.98 },
    { "staircase, uneven", stairs_uneven, STAIR, 0.98 },
    { "staircase, settled", stairs_settled, RAMP, 0.98 },
    { "one stair", one_stair, RAMP, 0.98 },
    { "high-water mark of noise", high_water, RAMP | FLAT, 0.85 },
};
const size_t t_family_count = sizeof t_families / sizeof t_families[0];
