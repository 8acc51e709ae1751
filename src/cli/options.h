/*
 * options.h - a command's options as rows that carry their destination.
 *
 * A row names an option, says in one line what it does, and where its value goes in the command's
 * own struct; reading, help and usage follow from the rows. Wrong usage ends the program with one
 * line and PLIM_EXIT_USAGE.
 */
#ifndef PLIMSOLL_CLI_OPTIONS_H
#define PLIMSOLL_CLI_OPTIONS_H

#include "report/term/style.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum plim_option_kind {
    PLIM_OPTION_FLAG,   /* a bool becomes true; no argument */
    PLIM_OPTION_NUMBER, /* a uint32_t from `least` to `most` */
    PLIM_OPTION_COUNT,  /* a uint64_t likewise */
    PLIM_OPTION_SIZE,   /* a uint64_t of bytes, written as 80GiB; never 0 */
    PLIM_OPTION_TEXT,   /* a const char *, of the command line */
    PLIM_OPTION_TAKEN,  /* take() puts it where it belongs */
} plim_option_kind;

/* `arguments` is the struct of the row's group; `text` is NULL where no argument was given. */
typedef void plim_option_take(struct argp_state *state, void *arguments, char *text);

typedef struct plim_option {
    const char *name;
    const char *argument; /* as help shows it, "SIZE"; NULL: none */
    const char *purpose;
    plim_option_kind kind;
    size_t place; /* of the destination in the struct */
    long least;
    long most;
    plim_option_take *take;
    char letter;      /* a short name, or 0 */
    bool is_optional; /* the argument is */
    bool is_hidden;   /* from help */
} plim_option;

/* The place of a member, which has to be of the row's type. */
#define PLIM_PLACE(type, member, expected) \
    _Generic(((type *)0)->member, expected : offsetof(type, member))

#define PLIM_FLAG(option, type, member, words)                          \
    {                                                                   \
        .name = (option), .purpose = (words), .kind = PLIM_OPTION_FLAG, \
        .place = PLIM_PLACE(type, member, bool)                         \
    }
#define PLIM_NUMBER(option, type, member, from, to, words)                                 \
    {                                                                                      \
        .name = (option), .argument = "N", .purpose = (words), .kind = PLIM_OPTION_NUMBER, \
        .place = PLIM_PLACE(type, member, uint32_t), .least = (from), .most = (to)         \
    }
#define PLIM_COUNT(option, type, member, from, to, words)                                 \
    {                                                                                     \
        .name = (option), .argument = "N", .purpose = (words), .kind = PLIM_OPTION_COUNT, \
        .place = PLIM_PLACE(type, member, uint64_t), .least = (from), .most = (to)        \
    }
#define PLIM_SIZE(option, type, member, words)                                              \
    {                                                                                       \
        .name = (option), .argument = "SIZE", .purpose = (words), .kind = PLIM_OPTION_SIZE, \
        .place = PLIM_PLACE(type, member, uint64_t)                                         \
    }
#define PLIM_TEXT(option, shown, type, member, words)                                        \
    {                                                                                        \
        .name = (option), .argument = (shown), .purpose = (words), .kind = PLIM_OPTION_TEXT, \
        .place = PLIM_PLACE(type, member, const char *)                                      \
    }
#define PLIM_TAKEN(option, shown, taker, words)                                               \
    {                                                                                         \
        .name = (option), .argument = (shown), .purpose = (words), .kind = PLIM_OPTION_TAKEN, \
        .take = (taker)                                                                       \
    }

/* Rows whose places are in a struct that lies at `offset` of the command's own. */
typedef struct plim_option_group {
    const plim_option *rows;
    size_t count;
    size_t offset;
} plim_option_group;

#define PLIM_OPTION_GROUP(table, start)                                               \
    {                                                                                 \
        .rows = (table), .count = sizeof(table) / sizeof(table)[0], .offset = (start) \
    }

/* Options of every command, and the words of its command line beside options. */
typedef struct plim_asked {
    plim_color_choice color;
    uint32_t width;
    bool as_json;         /* the document is printed in place of the page */
    const char *document; /* a file for it, or NULL */
    const char *page;     /* a file for the page, or NULL */
    bool wants_help;
    bool wants_usage;
    char **files;
    size_t file_count;
    char **command; /* what stands after "--", where the command takes one; else NULL */
} plim_asked;

/* The help of a command; strings are constants. */
typedef struct plim_usage {
    const char *arguments; /* "FILE..." */
    const char *purpose;   /* a sentence or two */
    const plim_option_group *groups;
    size_t group_count;
    size_t asked;                /* where the plim_asked lies in the command's struct */
    const char *json;            /* what --json does */
    const char *const *examples; /* pairs: the command line, what it gives; then NULL */
    const char *closing;         /* exit statuses and such */
    bool takes_command;
    /* Ends the program where what was given does not do; not called before help. */
    void (*check)(struct argp_state *state, void *arguments);
} plim_usage;

/**
 * Read a command line into `arguments`, the command's struct.
 *
 * returns     false where there is nothing more to do: help was printed, or host memory is out
 * ret_status  the exit status then
 */
bool plim_options_read(const plim_usage *usage, int argc, char **argv, void *arguments,
                       int *ret_status);

/* --- for take() --- */

/** A whole number between two others, both included. */
long plim_option_number(struct argp_state *state, const char *option, const char *text, long least,
                        long most);
/** Seconds, above 0: "30", "30s", "500ms", "5min", "1h". */
double plim_option_seconds(struct argp_state *state, const char *option, const char *text);

#endif
