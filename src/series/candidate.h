/*
 * candidate.h - a line while it is read, and the figures found in it so far.
 */
#ifndef PLIMSOLL_SERIES_CANDIDATE_H
#define PLIMSOLL_SERIES_CANDIDATE_H

#include "series/heading.h"
#include "series/label.h"
#include "series/plan.h"

#define PLIM_SERIES_WHO_MAX  3u
#define PLIM_SERIES_SMI_NAME "Memory-Usage"

/* "rank" and its number. */
typedef struct who {
    plim_series_span word;
    plim_series_span number;
    uint32_t depth;       /* of braces: it says so of what is in deeper ones, … */
    bool is_afterthought; /* "on cuda:0", "(rank 3)": … or of what was said before */
    bool is_in_key;       /* "gpu.0.memory": of the next figure alone */
} who;

/* A figure whose name is made when all of its line is known. */
typedef struct number_candidate {
    plim_series_figure figure;
    plim_series_span label;
    plim_series_span context;
    plim_series_span parents[PLIM_LABEL_PARENTS_MAX];
    uint32_t depth;
    who whose[PLIM_SERIES_WHO_MAX];
    uint32_t whose_count;
    uint32_t words;
    plim_series_unit unit;
    const char *suffix; /* of its name, or NULL */
    bool is_smi;
    bool is_of_section;
} number_candidate;

/* A score of the likeness of a number to the step, the more the better. */
typedef enum step_rank {
    STEP_NONE,
    STEP_BAR, /* 12/500 [00:10<… */
    STEP_BATCH,
    STEP_NAMED,
    STEP_GLOBAL,
} step_rank;

typedef struct line_reading {
    plim_series_parser *parser;
    const char *line;
    size_t length;
    const plim_series_span *numbers;
    size_t number_count;
    plim_series_plan *plan;
    plim_label_walk walk;
    number_candidate *candidates;
    uint32_t candidate_count;
    who whose[PLIM_SERIES_WHO_MAX];
    uint32_t whose_count;
    plim_series_span who_label; /* of the last number, if it said who */
    step_rank step_rank;
    uint32_t epoch_end; /* where the epoch ends, its total included; 0: none */
} line_reading;

/** True if two words of a line are equal, letter for letter. */
bool plim_series_same_word(const char *line, plim_series_span a, plim_series_span b);

/** Names a figure, finds its track and its total, and puts it into the line's plan. */
PLIM_MUST_USE plim_status plim_series_candidate_keep(line_reading *all, number_candidate *one,
                                                     uint64_t row, plim_error *err);

#endif
