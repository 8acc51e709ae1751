/*
 * plan.h - what to read from a line: which numbers are figures of which series, and which
 * say the step. Found once by its words, then done again on every line of the same shape.
 */
#ifndef PLIMSOLL_SERIES_PLAN_H
#define PLIMSOLL_SERIES_PLAN_H

#include "series/section.h"
#include "series/tracks.h"

#define PLIM_SERIES_NUMBERS_MAX 4096u /* of a line; those after are not read */
#define PLIM_SERIES_FIGURES_MAX 64u   /* of a line: eight GPUs with eight figures each */
#define PLIM_SERIES_PINS_MAX    32u
#define PLIM_SERIES_NO_NUMBER   UINT16_MAX

/* A line, taken apart. */
typedef struct plim_series_line {
    const char *text;  /* as it is */
    const char *plain; /* the same without colours; numbers were found in it */
    size_t length;
    plim_series_span *numbers; /* room for PLIM_SERIES_NUMBERS_MAX */
    size_t number_count;
    uint32_t table; /* 0, or the table whose row it is: rows of two tables are not alike */
} plim_series_line;

/* Numbers are counted along the line. */
typedef struct plim_series_figure {
    uint16_t number;
    uint16_t track;
    uint16_t total;    /* the capacity that the line gives for it, or PLIM_SERIES_NO_NUMBER */
    int8_t log2;       /* of the unit beside it, or PLIM_UNIT_NONE */
    int8_t total_log2; /* likewise */
} plim_series_figure;

typedef struct plim_series_plan {
    plim_series_figure figures[PLIM_SERIES_FIGURES_MAX];
    uint32_t figure_count;
    uint16_t step;
    uint16_t step_total;   /* of an epoch: step is epoch * total + step */
    uint16_t epoch;        /* the three are PLIM_SERIES_NO_NUMBER where a line has none */
    const char *step_name; /* NULL: the line has no step */
    plim_series_stamp stamp;
    /* Numbers that are part of names: lines of one shape have them alike. */
    uint16_t pins[PLIM_SERIES_PINS_MAX];
    uint32_t pin_count;
    bool is_repeatable; /* whether it holds for another line of the same shape */
} plim_series_plan;

/* The state of parsing between lines. */
typedef struct plim_series_parser {
    plim_series_tracks *tracks;
    plim_series_sections sections;
    uint32_t smi_gpu; /* nvidia-smi's table names its GPUs on other lines: they are counted */
} plim_series_parser;

/** A plan of nothing. */
plim_series_plan plim_series_plan_none(void);

/** A number is part of a name. */
void plim_series_plan_pin(plim_series_plan *plan, size_t number);

/** A number is a figure; a name that a line says twice counts once, the first time. */
void plim_series_plan_add(plim_series_plan *plan, const plim_series_figure *figure);

/**
 * Find out what a line has to say.
 *
 * row     as for plim_series_tracks_find()
 * errors  PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_series_parse(plim_series_parser *parser,
                                            const plim_series_line *line, uint64_t row,
                                            plim_series_plan *ret, plim_error *err);

/**
 * Add the points of a line to their tracks, at its step or, where it has none, at the time that
 * the line or one before it says. Numbers stand where they stood when the plan was made, counted
 * along the line.
 *
 * returns  false: no memory
 */
bool plim_series_plan_do(const plim_series_plan *plan, plim_series_tracks *tracks,
                         plim_series_clock *clock, const char *line,
                         const plim_series_span *numbers, uint64_t line_number);

#endif
