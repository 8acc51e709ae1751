/*
 * replay_arguments.h - what replay and tune both take as arguments.
 */
#ifndef PLIMSOLL_CLI_REPLAY_ARGUMENTS_H
#define PLIMSOLL_CLI_REPLAY_ARGUMENTS_H

#include "cli/help.h"
#include "report/term/style.h"

#include "plimsoll/gpu.h"
#include "plimsoll/replay.h"

#define PLIM_REPLAY_CONFS_MAX  64
#define PLIM_REPLAY_SCALES_MAX 32

/* An event as a user names it: its number, or the first one of a step. */
typedef struct plim_event_argument {
    bool is_given;
    bool is_step;
    uint64_t number; /* steps count from 1 */
} plim_event_argument;

/* All zero but `device` is a valid default; strings are the command line's. */
typedef struct plim_replay_arguments {
    const char *path;
    int32_t device; /* or PLIM_ALL_DEVICES */
    plim_event_argument from;
    plim_event_argument to; /* the first one that is not replayed */
    plim_scale scales[PLIM_REPLAY_SCALES_MAX];
    size_t scale_count;
    const char *confs[PLIM_REPLAY_CONFS_MAX];
    size_t conf_count;
    uint64_t capacity_bytes; /* 0: as the file says */
    uint64_t total_bytes;    /* 0: what the GPU has, else the capacity */
    const plim_gpu *gpu;     /* or NULL */
    plim_driver_costs costs;
    plim_color_choice color;
    uint32_t width;
    bool as_json;
    bool wants_help;
    bool wants_usage;
} plim_replay_arguments;

enum {
    PLIM_OPTION_CONF = PLIM_OPTION_FIRST,
    PLIM_OPTION_CAPACITY,
    PLIM_OPTION_GPU,
    PLIM_OPTION_TOTAL,
    PLIM_OPTION_DEVICE,
    PLIM_OPTION_FROM,
    PLIM_OPTION_TO,
    PLIM_OPTION_SCALE,
    PLIM_OPTION_COSTS,
    PLIM_OPTION_JSON,
    PLIM_OPTION_COLOR,
    PLIM_OPTION_WIDTH,
    PLIM_OPTION_REPLAY_NEXT, /* the first for a command's own */
};

/* For tables of options: what is run, and how it is shown. */
#define PLIM_REPLAY_OPTIONS_RUN                                                                \
    { "capacity",                                                                              \
      PLIM_OPTION_CAPACITY,                                                                    \
      "SIZE",                                                                                  \
      0,                                                                                       \
      "what the device has for the program, 24GiB (what the file tells)",                      \
      0 },                                                                                     \
        { "gpu",                                                                               \
          PLIM_OPTION_GPU,                                                                     \
          "NAME",                                                                              \
          0,                                                                                   \
          "what a GPU of that name has: h100, rtx4090, a100-80gb …",                           \
          0 },                                                                                 \
        { "total",                                                                             \
          PLIM_OPTION_TOTAL,                                                                   \
          "SIZE",                                                                              \
          0,                                                                                   \
          "memory of the whole device, which fractions are of (the GPU's, or the capacity)",   \
          0 },                                                                                 \
        { "device", PLIM_OPTION_DEVICE, "N", 0, "only GPU N, or all (all)", 0 },               \
        { "from",                                                                              \
          PLIM_OPTION_FROM,                                                                    \
          "EVENT",                                                                             \
          0,                                                                                   \
          "begin with that event, or with step:N; what stood before is the start",             \
          0 },                                                                                 \
        { "to", PLIM_OPTION_TO, "EVENT", 0, "end before that event, or before step:N", 0 },    \
        { "scale",                                                                             \
          PLIM_OPTION_SCALE,                                                                   \
          "WHAT=FACTOR",                                                                       \
          0,                                                                                   \
          "multiply requests: activations=2, all=1.5, stack:TEXT=0.5; may be repeated",        \
          0 },                                                                                 \
    {                                                                                          \
        "costs", PLIM_OPTION_COSTS, "CALL=US", 0,                                              \
            "what a driver call takes, and each MiB of it: malloc=300+1.5; may be repeated", 0 \
    }

#define PLIM_REPLAY_OPTIONS_SHOW(document)                                                          \
    {                                                                                               \
        "json", PLIM_OPTION_JSON, NULL, 0, "print everything as JSON, document \"" document "\"", 0 \
    },                                                                                              \
        { "color",                                                                                  \
          PLIM_OPTION_COLOR,                                                                        \
          "WHEN",                                                                                   \
          0,                                                                                        \
          "auto (on terminals, unless NO_COLOR is set), always, never",                             \
          0 },                                                                                      \
        { "width",                                                                                  \
          PLIM_OPTION_WIDTH,                                                                        \
          "N",                                                                                      \
          0,                                                                                        \
          "columns to fill (the terminal's, at most 100; else 96)",                                 \
          0 },                                                                                      \
        { "help", PLIM_OPTION_HELP, NULL, 0, "print this", 0 },                                     \
    {                                                                                               \
        "usage", PLIM_OPTION_USAGE, NULL, OPTION_HIDDEN, "print one line", 0                        \
    }

plim_replay_arguments plim_replay_arguments_default(void);

/** Take one of the options above, the file, or the end of all; ARGP_ERR_UNKNOWN for others.
 * What does not fit ends the program as any wrong usage does. */
error_t plim_replay_arguments_take(struct argp_state *state, plim_replay_arguments *arguments,
                                   int key, char *text);

#endif
