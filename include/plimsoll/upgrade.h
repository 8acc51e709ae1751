/*
 * plimsoll/upgrade.h - which upgrade made a program's memory grow: environments in which one
 * package is another release, and the search for the release.
 *
 *   the program's Python ──► plim_environment_open() ──► a Python that differs from it
 *                            (a venv of its own, made once; pip, run as a child, fills it)
 *   releases of a package ─► plim_rehearse_bisect() ───► the first with which the peak is higher
 *
 * The user's own environment is never changed. docs/design/rehearse.md, "Upgrades".
 */
#ifndef PLIMSOLL_UPGRADE_H
#define PLIMSOLL_UPGRADE_H

#include "plimsoll/rehearse.h"

PLIM_BEGIN_DECLS

/* ---- another environment --------------------------------------------------------------------- */

/* All zero is a valid default. */
typedef struct plim_environment_options {
    const plim_mem *mem;
    const char *python; /* the program's; NULL: found from the program */
    const char *home;   /* folder of the stand-ins; NULL: beside the library */
    /* of environments; NULL: plimsoll/environments in XDG_CACHE_HOME, or in ~/.cache */
    const char *folder;
    bool is_offline; /* take what was made before, and make nothing */
} plim_environment_options;

/* A package that one of two environments has in another release, or that only one has. */
typedef struct plim_package_change {
    const char *name;
    const char *own_version;   /* in the program's own environment; NULL: it is not there */
    const char *other_version; /* in the other */
} plim_package_change;

typedef struct plim_environment {
    const char *python; /* for plim_rehearse_options.in_python */
    const char *own_python;
    const plim_package_change *changes; /* that which was named first; of a path, torch */
    size_t change_count;
    bool is_older; /* the first of them is older here than in the program's own; or none differs */
    const char *const *warnings; /* packages that ask for other releases than these */
    size_t warning_count;
} plim_environment;

/**
 * An environment to run a program in: that of a Python, or one that is made of the program's own
 * with other releases of some packages.
 *
 * argv     the program, as for plim_rehearsal_prepare()
 * other    the path of a Python; or requirements, with blanks between: "torch==2.9.1"
 * ret      the caller's, until plim_environment_close()
 * errors   PLIM_INVALID_ARGUMENT: no such program, or `other` is neither; PLIM_UNSUPPORTED: there
 *          is no such release, or none for this Python, or it cannot be installed; PLIM_IO: the
 *          index cannot be reached, or Python cannot be run; PLIM_CANCELLED: INT, TERM, HUP or QUIT
 * ended it; PLIM_CORRUPT; PLIM_LIMIT; PLIM_OUT_OF_HOST_MEMORY threads  any number, and any number
 * of processes, may make the same environment prints   on standard error, a line for each step of
 * making it
 */
PLIM_API PLIM_MUST_USE plim_status plim_environment_open(const char *const *argv, const char *other,
                                                         const plim_environment_options *options,
                                                         plim_environment **ret, plim_error *err);
/** The environment itself stays. NULL is allowed. */
PLIM_API void plim_environment_close(plim_environment *environment);

/* ---- the figure that is compared ------------------------------------------------------------- */

/* Of two rehearsals of one program. */
typedef struct plim_upgrade_limit {
    double share;   /* growth by more than so much of the peak before counts, */
    uint64_t bytes; /* and by more than so many bytes */
} plim_upgrade_limit;

/** The highest peak of allocated bytes; of a program without PyTorch, of device use. Of one that
 * ran out of memory its need, where that is known. */
PLIM_API uint64_t plim_upgrade_peak(const plim_rehearsed *rehearsed);
/** True if the peak grew by more than the limit, or if memory ran out after and not before. */
PLIM_API bool plim_upgrade_grew(const plim_rehearsed *before, const plim_rehearsed *after,
                                const plim_upgrade_limit *limit);

/* ---- the release ----------------------------------------------------------------------------- */

/* In the list: enumerator, name. */
#define PLIM_RELEASE_STATE_LIST(X)                                           \
    X(PLIM_RELEASE_UNTRIED, "untried")   /* the search did not need it */    \
    X(PLIM_RELEASE_GOOD, "good")         /* the peak is that of the first */ \
    X(PLIM_RELEASE_GREW, "grew")         /* it is higher */                  \
    X(PLIM_RELEASE_SKIPPED, "skipped")   /* it has no answer, see why */     \
    X(PLIM_RELEASE_NO_WHEEL, "no_wheel") /* none for this Python */

typedef enum plim_release_state {
#define PLIM_RELEASE_STATE_ENUM(code, name) code,
    PLIM_RELEASE_STATE_LIST(PLIM_RELEASE_STATE_ENUM)
#undef PLIM_RELEASE_STATE_ENUM
        PLIM_RELEASE_STATE_COUNT
} plim_release_state;

PLIM_API const char *plim_release_state_name(plim_release_state state);

typedef struct plim_release_try {
    const char *release;
    plim_release_state state;
    plim_rehearsed_verdict verdict; /* of what is good or grew */
    plim_rehearsed_peak peak;       /* likewise */
    uint64_t compared_bytes;        /* plim_upgrade_peak() */
    double seconds;
    const char *why; /* it was skipped */
} plim_release_try;

typedef struct plim_bisect_options {
    plim_rehearse_options rehearse; /* without record_path */
    plim_environment_options environment;
    const char *package;
    const char *from; /* a release, or the beginning of one: "2.6" */
    const char *to;   /* likewise; all that begin with it are within */
    bool takes_pre_releases;
    plim_upgrade_limit limit;
    /* Called after each release that was tried; NULL: not. */
    void (*tried)(void *ctx, const plim_release_try *one);
    void *tried_ctx;
} plim_bisect_options;

/* The outcome of a search. */
typedef struct plim_bisected {
    const plim_release_try *tries; /* all releases of the range, the oldest first */
    size_t try_count;
    bool is_complete;      /* false: both ends were not had, or an interruption came */
    bool grew;             /* from the oldest that could be tried to the newest */
    size_t last_good;      /* index of the last release without growth before: */
    size_t first_grown;    /* the first with it. Those between were skipped */
    plim_rehearsed before; /* of those two, where it grew; else of the oldest and newest */
    plim_rehearsed after;
    const plim_environment *before_environment;
    const plim_environment *after_environment;
    struct plim_bisection *owner;
} plim_bisected;

/**
 * Rehearse a program with releases of a package, by halves, until two neighbours remain between
 * which the peak of memory grows. Releases that fail are skipped.
 *
 * argv    as for plim_rehearse(); borrowed until plim_bisected_deinit()
 * ret     always filled, after an error with the tries before it; the caller's, until
 *         plim_bisected_deinit()
 * errors  PLIM_UNSUPPORTED: there are no such releases, or fewer than two could be rehearsed;
 *         PLIM_CANCELLED; those of plim_environment_open() that no other release would be without
 */
PLIM_API PLIM_MUST_USE plim_status plim_rehearse_bisect(const char *const *argv,
                                                        const plim_bisect_options *options,
                                                        plim_bisected *ret, plim_error *err);
/** A zeroed one is allowed. */
PLIM_API void plim_bisected_deinit(plim_bisected *bisected);

PLIM_END_DECLS

#endif
