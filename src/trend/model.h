/*
 * model.h - smooth courses that a series may take, fitted and compared.
 */
#ifndef PLIMSOLL_TREND_MODEL_H
#define PLIMSOLL_TREND_MODEL_H

#include "trend/levels.h"

typedef enum plim_trend_form {
    PLIM_MODEL_LEVEL,
    PLIM_MODEL_LINE,
    PLIM_MODEL_LATE,          /* level, then a line */
    PLIM_MODEL_SETTLE,        /* a line, then level */
    PLIM_MODEL_HINGE,         /* two lines */
    PLIM_MODEL_RAMP,          /* level, line, level */
    PLIM_MODEL_PAUSE,         /* line, level, line */
    PLIM_MODEL_THREE,         /* three lines */
    PLIM_MODEL_SATURATE,      /* 1 - exp(-x/k) */
    PLIM_MODEL_LOG,           /* log(1 + x/k) */
    PLIM_MODEL_COMPOUND,      /* exp(x/k) */
    PLIM_MODEL_SATURATE_LINE, /* 1 - exp(-x/k), and a line */
    PLIM_MODEL_COUNT
} plim_trend_form;

typedef struct plim_trend_model {
    plim_trend_form form;
    double coefficients[4]; /* of its functions */
    double knots[2];
    double rss;  /* residual sum of squares, weighted */
    double cost; /* RSS over the dispersion, and the penalty of its parameters */
} plim_trend_model;

typedef struct plim_trend_models {
    plim_trend_model items[PLIM_MODEL_COUNT];
    double dispersion; /* variance of the residuals over that of the weights */
    const plim_trend_model *best;
} plim_trend_models;

void plim_trend_models_fit(plim_trend_models *models, const plim_trend_levels *levels);

double plim_trend_model_at(const plim_trend_model *model, double at);
/* At the end of the series. */
double plim_trend_model_slope(const plim_trend_model *model);

/*
 * Standard error of that slope, knots as uncertain as they are and leftovers as correlated as
 * they are; *ret_freedom degrees of freedom.
 */
double plim_trend_model_slope_error(const plim_trend_model *model, const plim_trend_levels *levels,
                                    double *ret_freedom);

/* The factor on a standard error that makes a 95% interval. */
double plim_trend_student(double freedom);

/* Least squares: solves the symmetric n-by-n system in place, n <= 6; false if it has none. */
bool plim_trend_solve(double matrix[6][6], double *right, size_t n);

#endif
