/*
 * plimsoll/finding.h - one conclusion about memory: what it is, how sure, and from which figures.
 *
 * Judges and detectors produce findings, pages and documents show them, and advice is chosen by
 * their id (advice.h). The verdict on a failed request is one: "oom.fragmented" (verdict.h).
 */
#ifndef PLIMSOLL_FINDING_H
#define PLIMSOLL_FINDING_H

#include "plimsoll/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PLIM_BEGIN_DECLS

#define PLIM_SEVERITY_LIST(X)           \
    X(PLIM_SEVERITY_NOTE, "note")       \
    X(PLIM_SEVERITY_WARNING, "warning") \
    X(PLIM_SEVERITY_FAILURE, "failure") /* the program lost a request, or will */

typedef enum plim_severity {
#define PLIM_SEVERITY_ENUM(code, name) code,
    PLIM_SEVERITY_LIST(PLIM_SEVERITY_ENUM)
#undef PLIM_SEVERITY_ENUM
} plim_severity;

#define PLIM_CERTAINTY_LIST(X)                                              \
    X(PLIM_CERTAINTY_POSSIBLE, "possible") /* too little is known */        \
    X(PLIM_CERTAINTY_LIKELY, "likely")     /* the figures point this way */ \
    X(PLIM_CERTAINTY_CERTAIN, "certain")   /* the figures allow nothing else */

typedef enum plim_certainty {
#define PLIM_CERTAINTY_ENUM(code, name) code,
    PLIM_CERTAINTY_LIST(PLIM_CERTAINTY_ENUM)
#undef PLIM_CERTAINTY_ENUM
} plim_certainty;

/** From a confidence of 0 … 1; nothing is certain that has an alternative. */
PLIM_API plim_certainty plim_certainty_of(double confidence, bool has_alternative);

/** "failure", …; "certain", …; constant strings, never NULL. */
PLIM_API const char *plim_severity_name(plim_severity severity);
PLIM_API const char *plim_certainty_name(plim_certainty certainty);

#define PLIM_DEVICE_UNKNOWN (-1)
#define PLIM_STACK_UNKNOWN  UINT32_MAX /* equals PLIM_NONE of history.h */

typedef enum plim_subject_kind {
    PLIM_SUBJECT_NONE, /* the whole input */
    PLIM_SUBJECT_STACK,
    PLIM_SUBJECT_STEPS,
    PLIM_SUBJECT_POOL,
    PLIM_SUBJECT_EVENT,
    PLIM_SUBJECT_TENSOR,
} plim_subject_kind;

/* The subject of a finding. Members that the kind does not name are filled where they are known. */
typedef struct plim_subject {
    plim_subject_kind kind;
    int32_t device;     /* PyTorch's index, or PLIM_DEVICE_UNKNOWN */
    uint32_t stack;     /* index into the history's stacks, or PLIM_STACK_UNKNOWN */
    uint64_t first;     /* EVENT: its index in the device's trace; STEPS: the first step, */
    uint64_t last;      /* and the last one; EVENT: the same as first */
    uint64_t pool[2];   /* POOL: {0,0} is the default pool, */
    uint64_t stream;    /* and its stream's handle */
    const char *tensor; /* TENSOR: its name, borrowed; else NULL */
} plim_subject;

/* "unused_bytes" is 3 GiB. */
typedef struct plim_measure {
    const char *name; /* a constant string; that of bytes ends in "_bytes" */
    uint64_t value;   /* bytes, or a count */
} plim_measure;

#define PLIM_MEASURES_MAX 32

typedef enum plim_evidence_kind {
    PLIM_EVIDENCE_TEXT,   /* bytes of an input: [first, first + count) */
    PLIM_EVIDENCE_EVENTS, /* events of the subject's device: [first, first + count) */
} plim_evidence_kind;

typedef struct plim_evidence {
    plim_evidence_kind kind;
    uint64_t first;
    uint64_t count;
} plim_evidence;

/* A finding owns nothing: it is copied by assignment. */
typedef struct plim_finding {
    const char *id; /* stable: "oom.fragmented"; a constant string */
    plim_severity severity;
    plim_certainty certainty;
    plim_subject subject;
    plim_measure figures[PLIM_MEASURES_MAX]; /* those that are known */
    size_t figure_count;
    const plim_evidence *evidence; /* borrowed from what the finding was returned with */
    size_t evidence_count;
} plim_finding;

/** Nothing is known of it yet. */
PLIM_API plim_subject plim_subject_unknown(void);
/** Adds a figure. It is left out when the finding is full or `value` is UINT64_MAX (unknown). */
PLIM_API void plim_finding_add(plim_finding *finding, const char *name, uint64_t value);
/** The figure of a name, or UINT64_MAX. */
PLIM_API uint64_t plim_finding_figure(const plim_finding *finding, const char *name);

PLIM_END_DECLS

#endif
