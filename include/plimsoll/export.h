/*
 * plimsoll/export.h - a history in the formats of other tools.
 *
 * One table has the formats: their names, the endings of files that mean them, what each holds.
 * Stacks are weighed in requested bytes, as plimsoll/inspect.h has them: what a profile weighs in
 * all is what is live at its moment, to the byte.
 */
#ifndef PLIMSOLL_EXPORT_H
#define PLIMSOLL_EXPORT_H

#include "plimsoll/inspect.h"
#include "plimsoll/timeline.h"

PLIM_BEGIN_DECLS

/* The part of a history that a format can hold. */
typedef enum plim_export_scope {
    PLIM_EXPORT_WHOLE,   /* all of it: neither moments nor kinds of weights apply */
    PLIM_EXPORT_ONE,     /* stacks, at one moment */
    PLIM_EXPORT_SEVERAL, /* stacks, at any number of moments */
} plim_export_scope;

/* Gzip around a format. */
typedef enum plim_export_gzip {
    PLIM_EXPORT_GZIP_BY_NAME, /* where the file's name ends in ".gz" too */
    PLIM_EXPORT_GZIP_ALWAYS,  /* the format has it */
    PLIM_EXPORT_GZIP_NEVER,
} plim_export_gzip;

#define PLIM_EXPORT_ENDINGS_MAX 2

typedef struct plim_export_format {
    const char *name;                             /* "speedscope" */
    const char *endings[PLIM_EXPORT_ENDINGS_MAX]; /* ".speedscope.json"; NULL where there are fewer
                                                   */
    const char *holds;                            /* half a sentence */
    const char *opens; /* with what, half a sentence; "%s" stands for the file's name */
    bool opens_gzip;   /* that also reads the file compressed */
    plim_export_scope scope;
    plim_export_gzip gzip;
    bool has_differences; /* it has room for two figures a stack */
    bool has_lives;       /* it draws the lives of allocations, if asked */
    bool has_tables;      /* it holds one table */
} plim_export_format;

/** The formats, in the order of help; NULL after the last. */
PLIM_API const plim_export_format *plim_export_format_at(size_t index);
/** NULL: none bears the name. */
PLIM_API const plim_export_format *plim_export_format_named(const char *name);
/** By the longest ending that fits, ".gz" left aside; NULL: the name ends in none. */
PLIM_API const plim_export_format *plim_export_format_of(const char *path);

/* The weight of a stack. In the list: enumerator, name, meaning. */
#define PLIM_EXPORT_WHAT_LIST(X)                                                              \
    X(PLIM_EXPORT_LIVE, "live", "bytes that are live at the moment")                          \
    X(PLIM_EXPORT_GROWTH, "growth", "how much more is live at the end of a span than before") \
    X(PLIM_EXPORT_DIFFERENCE, "difference", "both moments of a span side by side")            \
    X(PLIM_EXPORT_CHURN, "churn", "all that is allocated in a span, freed since or not")      \
    X(PLIM_EXPORT_TEMPORARY, "temporary", "of that, what is freed soon after it is allocated")

typedef enum plim_export_what {
#define PLIM_EXPORT_WHAT_ENUM(code, name, text) code,
    PLIM_EXPORT_WHAT_LIST(PLIM_EXPORT_WHAT_ENUM)
#undef PLIM_EXPORT_WHAT_ENUM
        PLIM_EXPORT_WHAT_COUNT
} plim_export_what;

/** "growth", …; its meaning. Constant strings. */
PLIM_API const char *plim_export_what_name(plim_export_what what);
PLIM_API const char *plim_export_what_text(plim_export_what what);
/** returns  false: unknown name */
PLIM_API bool plim_export_what_find(const char *name, plim_export_what *ret_what);

/* All zero is a valid default. Pointers are borrowed during the call. */
typedef struct plim_export_options {
    const plim_mem *mem;              /* NULL: the C heap */
    const plim_export_format *format; /* NULL: by the name's ending */
    const char *title;                /* of what is exported, "run.pickle"; may be NULL */
    plim_export_what what;
    const plim_moment_choice *moments; /* of LIVE; none: the peak and, where several fit, the end */
    size_t moment_count;
    const plim_moment_choice *from;  /* the span of all others; NULL: the start */
    const plim_moment_choice *until; /* NULL: the end */
    const int32_t *device;           /* only this one; NULL: all */
    const char *table; /* of plimsoll query, for formats that hold one; NULL: allocations */
    bool full_paths;   /* in formats whose frames are one text */
    uint64_t
        lives_min_bytes; /* draw lives of allocations that requested at least so much; 0: none */
    bool replaces;       /* a file that stands under the name */
} plim_export_options;

/* One weighing of a device's stacks, as it was written. */
typedef struct plim_export_part {
    int32_t device;
    int64_t from;                 /* of a span: the event after which it begins; else as `event` */
    int64_t event;                /* the event after which it holds, or PLIM_AT_START */
    plim_moment_choice span_from; /* the names of both, as they were named */
    plim_moment_choice moment;
    uint64_t bytes;        /* all weights; of a difference, those of the span's end */
    uint64_t before_bytes; /* of a difference, those before */
    uint64_t shrunk_bytes; /* of GROWTH: by so much less is live in other stacks */
    uint64_t count;        /* allocations */
    uint64_t stacks;
} plim_export_part;

typedef struct plim_export_result {
    const plim_mem *mem;
    const plim_export_format *format;
    plim_export_part *parts; /* empty for formats that hold the whole history */
    size_t part_count;
    size_t part_room;       /* of the array */
    uint64_t written_bytes; /* of the file; 0 where it is not known */
} plim_export_result;

/**
 * Write a history in another format.
 *
 * path        created; what is written stands under another name until it is whole, and after a
 *             failure nothing of it is left. "-" is standard output, which some formats refuse
 * options     may be NULL
 * ret_result  the caller's, until plim_export_result_deinit()
 * errors      PLIM_INVALID_ARGUMENT (an ending or a moment that is not there, options that do not
 *             go together, a file that stands there already), PLIM_IO, PLIM_LIMIT,
 *             PLIM_OUT_OF_HOST_MEMORY
 * time        linear in events for each moment
 * memory      that of plim_inspect(), and 40 bytes for each stack of each moment
 */
PLIM_API PLIM_MUST_USE plim_status plim_history_export(const plim_history *history,
                                                       const char *path,
                                                       const plim_export_options *options,
                                                       plim_export_result *ret_result,
                                                       plim_error *err);
/** A zeroed one is allowed. */
PLIM_API void plim_export_result_deinit(plim_export_result *result);

PLIM_END_DECLS

#endif
