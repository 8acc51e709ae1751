/*
 * table.h - the fixes of fixes.txt, and how its records are read.
 *
 * tools/fixes/make_table.c reads fixes.txt as the library is built and writes it as a constant
 * table, so that it costs nothing at the start, and a record that is not as docs/formats/fixes.md
 * describes ends the build with its line. Strings of the table are the text's own; nothing here
 * needs a heap.
 */
#ifndef PLIMSOLL_ADVICE_TABLE_H
#define PLIMSOLL_ADVICE_TABLE_H

#include "plimsoll/status.h"
#include "plimsoll/verdict.h"

#define PLIM_FIXES_MAX          400
#define PLIM_FIX_WORDINGS_MAX   1200
#define PLIM_FIX_CONDITIONS_MAX 256
#define PLIM_FIX_GROUPS_MAX     64
#define PLIM_FIX_WORDS_MAX      16

#define PLIM_VERDICT_BIT(verdict) ((uint64_t)1 << (verdict))
#define PLIM_TOPIC_BIT(topic)     ((uint64_t)1 << (topic))

/* Kinds of names. A record has a set of names of each, one bit per name; 0 matches all. */
typedef enum plim_fix_kind {
    PLIM_FIX_VERDICT,
    PLIM_FIX_PROGRAM,
    PLIM_FIX_TOPIC,
    PLIM_FIX_REASON,
    PLIM_FIX_SETTING, /* groups only: a record has `unless` and `with` */
    PLIM_FIX_PLACE,   /* no group */
    PLIM_FIX_KINDS
} plim_fix_kind;

typedef enum plim_fix_place {
    PLIM_FIX_IN_ORDER,
    PLIM_FIX_LEADING, /* before all others: the figures say that it would have been enough */
    PLIM_FIX_CLOSING, /* the last one, and a place is kept for it */
    PLIM_FIX_RESORT,  /* only where nothing else applies */
} plim_fix_place;

/* One text or command: of several, the first that suits and whose values are known is taken. */
typedef struct plim_fix_wording {
    uint64_t programs; /* that it is for; 0: all */
    uint64_t with;     /* settings that must be in force */
    uint32_t line;     /* index of its first line, */
    uint32_t begin;    /* and where its words begin there; other lines begin with two blanks */
    uint32_t line_count;
} plim_fix_wording;

/* "[not] left [>= right / divisor]": false when a value of it is unknown, and `not` turns that. */
typedef struct plim_fix_condition {
    bool is_negated;
    char relation[3]; /* ">=", ">", "<=", "<"; "": the left value is known */
    size_t left;      /* values of values.h; */
    size_t right;     /* PLIM_FIX_VALUE_NONE: `number` itself, else it is the divisor */
    uint64_t number;
} plim_fix_condition;

/* A run of rows of the table. */
typedef struct plim_fix_run {
    size_t first, count;
} plim_fix_run;

typedef struct plim_fix {
    const char *id;
    const char *finding; /* NULL: a failed request */
    uint64_t masks[PLIM_FIX_SETTING];
    uint64_t maybe;  /* verdicts: the verdict or an alternative is one of them */
    uint64_t unless; /* settings: none of them may be in force, */
    uint64_t with;   /* and all of these must be */
    plim_fix_place place;
    const char *not_beside; /* id of a fix that makes this one superfluous, or NULL */
    plim_fix_run conditions;
    plim_fix_run texts;
    plim_fix_run commands;
    const char *source;
} plim_fix;

/* A name for several others of its kind. */
typedef struct plim_fix_group {
    const char *name;
    plim_fix_kind kind;
    uint64_t mask;
} plim_fix_group;

/* A word that differs among programs: each wording is for some of them. */
typedef struct plim_fix_word {
    const char *name;
    plim_fix_run wordings;
} plim_fix_word;

typedef struct plim_fix_table {
    const char *const *lines; /* of the text */
    plim_fix fixes[PLIM_FIXES_MAX];
    plim_fix_wording wordings[PLIM_FIX_WORDINGS_MAX];
    plim_fix_condition conditions[PLIM_FIX_CONDITIONS_MAX];
    plim_fix_group groups[PLIM_FIX_GROUPS_MAX];
    plim_fix_word words[PLIM_FIX_WORDS_MAX];
    size_t count, wording_count, condition_count, group_count, word_count;
} plim_fix_table;

/* The lines of fixes.txt without their ends, NULL after the last: a generated file. */
extern const char *const plim_fixes_lines[];

/*
 * Reads lines into a table that is all zeros. PLIM_CORRUPT with the number of the line for anything
 * that docs/formats/fixes.md does not allow, but for what plim_fix_table_check() looks for.
 */
PLIM_MUST_USE plim_status plim_fix_table_read(const char *const *lines, plim_fix_table *table,
                                              plim_error *err);
/*
 * PLIM_CORRUPT for an id that stands twice, a `not beside` without a fix above, an
 * unknown placeholder, and a fix without a last text that suits every case.
 */
PLIM_MUST_USE plim_status plim_fix_table_check(const plim_fix_table *table, plim_error *err);
/* fixes.txt: a generated file. */
extern const plim_fix_table plim_fixes;

/*
 * The placeholder at `*at`, and past it: "{name}", in small letters and underscores. False, and
 * nothing changes: there is none, and a brace stands for itself.
 */
bool plim_fix_placeholder(const char **at, const char **ret_name, size_t *ret_bytes);
/* A line of a wording; those after the first begin with one blank. */
const char *plim_fix_line(const plim_fix_table *table, const plim_fix_wording *wording,
                          size_t index);
/* The word of that name, or NULL. */
const plim_fix_word *plim_fix_word_find(const plim_fix_table *table, const char *name,
                                        size_t bytes);

#endif
