/*
 * plimsoll/enable.h - the recorder for all programs of a Python environment, without a launcher:
 * a file in its site-packages that each of its Pythons reads at the start.
 *
 * docs/commands/enable.md describes the command, docs/notebooks.md the package.
 */
#ifndef PLIMSOLL_ENABLE_H
#define PLIMSOLL_ENABLE_H

#include "plimsoll/mem.h"
#include "plimsoll/status.h"

#include <stdbool.h>
#include <stddef.h>

PLIM_BEGIN_DECLS

typedef enum plim_enable_action {
    PLIM_ENABLE_STATUS, /* changes nothing */
    PLIM_ENABLE_ON,     /* write the file, unless it is there and the same */
    PLIM_ENABLE_OFF,    /* remove it */
} plim_enable_action;

/* All zero is valid. */
typedef struct plim_enable_choice {
    const plim_mem *mem;
    const char *python; /* a path or a name in PATH; NULL: python3 or python, as PATH has it */
    bool for_user;      /* the user's own site-packages in place of the environment's */
    const char *home;   /* folder of the agent; NULL: beside the library */
} plim_enable_choice;

/* In the list: enumerator, name. */
#define PLIM_ENABLE_STATE_LIST(X)                                \
    X(PLIM_ENABLE_STATE_ABSENT, "absent") /* there is no file */ \
    X(PLIM_ENABLE_STATE_ENABLED, "enabled")                      \
    X(PLIM_ENABLE_STATE_STALE, "stale") /* the file leads to another Plimsoll, or to none */

typedef enum plim_enable_state {
#define PLIM_ENABLE_STATE_ENUM(code, name) code,
    PLIM_ENABLE_STATE_LIST(PLIM_ENABLE_STATE_ENUM)
#undef PLIM_ENABLE_STATE_ENUM
        PLIM_ENABLE_STATE_COUNT
} plim_enable_state;

PLIM_API const char *plim_enable_state_name(plim_enable_state state);

/* In the list: enumerator, name. */
#define PLIM_ENABLE_DONE_LIST(X)                                     \
    X(PLIM_ENABLE_DONE_NOTHING, "nothing")                           \
    X(PLIM_ENABLE_DONE_WRITTEN, "written")                           \
    X(PLIM_ENABLE_DONE_REPLACED, "replaced")   /* a stale one */     \
    X(PLIM_ENABLE_DONE_UNCHANGED, "unchanged") /* it was the same */ \
    X(PLIM_ENABLE_DONE_REMOVED, "removed")

typedef enum plim_enable_done {
#define PLIM_ENABLE_DONE_ENUM(code, name) code,
    PLIM_ENABLE_DONE_LIST(PLIM_ENABLE_DONE_ENUM)
#undef PLIM_ENABLE_DONE_ENUM
        PLIM_ENABLE_DONE_COUNT
} plim_enable_done;

PLIM_API const char *plim_enable_done_name(plim_enable_done done);

/* A file that this Python may read at its start. */
typedef struct plim_enable_place {
    const char *path;
    bool is_users;
    plim_enable_state state; /* now */
    plim_enable_done done;   /* by this call */
    const char *leads_to;    /* the folder of the package; NULL: there is no file, or not of ours */
} plim_enable_place;

typedef struct plim_enabled {
    const char *python;  /* its path, as it knows it */
    const char *version; /* "3.11.7" */
    const char *prefix;  /* the environment's folder */
    const char *kind;    /* "venv", "conda" or "python" */
    bool is_managed;     /* by the system's packages */
    const char *package; /* the folder of this Plimsoll's package */
    const char *refused; /* why nothing was written or removed; NULL: it was, or was to be so */
    const plim_enable_place *places; /* the environment's first, then the user's, if it is read */
    size_t place_count;
    struct plim_enabling *owner;
} plim_enabled;

/**
 * Arm the recorder for an environment, disarm it, or look.
 *
 * choice  may be NULL
 * ret     always filled; the caller's, until plim_enabled_deinit()
 * errors  PLIM_INVALID_ARGUMENT: there is no such Python; PLIM_IO: it cannot be run;
 *         PLIM_CORRUPT: it answers something else; PLIM_CANCELLED; PLIM_LIMIT;
 *         PLIM_OUT_OF_HOST_MEMORY. A refusal is no error: see ret->refused
 */
PLIM_API PLIM_MUST_USE plim_status plim_enable(plim_enable_action action,
                                               const plim_enable_choice *choice, plim_enabled *ret,
                                               plim_error *err);

/** A zeroed one is allowed. */
PLIM_API void plim_enabled_deinit(plim_enabled *enabled);

PLIM_END_DECLS

#endif
