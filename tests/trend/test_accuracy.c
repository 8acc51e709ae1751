/*
 * test_accuracy.c - how often the class is right, and how near the growth comes.
 *
 * Logs are drawn from the families of made.c, always the same ones: PLIM_TREND_LOGS=<n> draws
 * more of each than 25, and prints a table (docs/design/series.md has one of 500).
 *
 * Growth has to be within 5% wherever anybody could get there: where the least standard error
 * that any unbiased estimate can have (Cramér and Rao) is 1.5% of the growth or less. And its
 * 95% interval has to hold the truth as often as it says, less what chance takes of few logs.
 */
#include "harness.h"

#include "trend/made.h"

#include <math.h>

#define LOGS_PER_FAMILY 25
#define ERROR_MAX       0.05
#define KNOWABLE_SHARE  0.015
#define COVERED_MIN     0.88 /* in all families of one kind together it is 95% and more */

static t_made made; /* too large for a stack */

typedef struct score {
    size_t right;
    size_t knowable; /* growth that can be known to 1.5%, */
    size_t within;   /* and was found to 5% */
    size_t bounded;  /* growth whose truth is exact, */
    size_t covered;  /* and lies in the interval */
    double furthest;
} score;

static size_t log_count(void)
{
    const char *const given = getenv("PLIM_TREND_LOGS");
    return given != NULL ? (size_t)strtoull(given, NULL, 10) : LOGS_PER_FAMILY;
}

static void judge(score *total, const t_family *family, const plim_trend *trend)
{
    const bool right = ((family->classes >> (unsigned)trend->kind) & 1u) != 0;
    total->right += right;
    if (!right || !(made.growth > 0) || made.growth_error == (double)INFINITY) {
        return;
    }
    total->bounded++;
    total->covered += trend->growth_low_bytes_per_step <= made.growth &&
                      made.growth <= trend->growth_high_bytes_per_step;
    if (made.growth_error <= KNOWABLE_SHARE * made.growth) {
        const double off = fabs(trend->growth_bytes_per_step / made.growth - 1);
        total->knowable++;
        total->within += off <= ERROR_MAX;
        total->furthest = fmax(total->furthest, off);
    }
}

static void classes_and_growth_are_right(void)
{
    const size_t logs = log_count();
    for (size_t f = 0; f < t_family_count; f++) {
        const t_family *const family = &t_families[f];
        score total = { .right = 0 };
        for (size_t i = 0; i < logs; i++) {
            t_made_seed(i * 1000 + f);
            family->make(&made);
            plim_trend trend;
            T_EQ_U64(plim_trend_of(&(plim_trend_input){ made.steps, made.bytes, made.count, 0 },
                                   NULL, &trend, NULL),
                     PLIM_OK);
            judge(&total, family, &trend);
        }
        T_CASE("%s: right %zu of %zu, growth within 5%% %zu of %zu, covered %zu of %zu",
               family->name, total.right, logs, total.within, total.knowable, total.covered,
               total.bounded);
        if (getenv("PLIM_TREND_LOGS") != NULL) {
            print_message("| %s | %.1f%% | %zu of %zu | %.1f%% | %.1f%% |\n", family->name,
                          100 * (double)total.right / (double)logs, total.within, total.knowable,
                          100 * total.furthest,
                          100 * (double)total.covered / fmax((double)total.bounded, 1));
        }
        /* Of few logs one may be the one in a hundred. */
        T_TRUE((double)total.right + (logs < 50) >= family->right_min * (double)logs);
        T_TRUE((double)total.within + (logs < 50) >= 0.98 * (double)total.knowable);
        T_TRUE((double)total.covered + (logs < 50) >= COVERED_MIN * (double)total.bounded);
    }
}

T_MAIN(T_TEST(classes_and_growth_are_right))
