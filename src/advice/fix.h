/*
 * fix.h - one row of the table of fixes, and the lists that make up the table.
 *
 * A row applies when all its masks and its test say so; a mask of zero does not ask. Rows of a
 * list stand in the order in which to try them, and lists in the order of advice.c. Adding a fix
 * is adding a row: docs/design/advice.md.
 */
#ifndef PLIMSOLL_ADVICE_FIX_H
#define PLIMSOLL_ADVICE_FIX_H

#include "base/text.h"
#include "verdict/request.h"

typedef bool plim_fix_test(const plim_failed_request *oom, const plim_judgement *judgement);
/* Appends, or leaves `out` as it is where the figures do not suffice. */
typedef void plim_fix_write(plim_text *out, const plim_failed_request *oom,
                            const plim_judgement *judgement);

typedef enum plim_fix_place {
    PLIM_FIX_IN_ORDER,
    PLIM_FIX_LEADING, /* before all others: the figures say that it would have been enough */
    PLIM_FIX_CLOSING, /* the last one, and a place is kept for it */
    PLIM_FIX_RESORT,  /* only where nothing else applies */
} plim_fix_place;

typedef struct plim_fix {
    const char *id;
    uint64_t verdicts;      /* PLIM_VERDICT_BIT of each that it is for */
    uint64_t families;      /* PLIM_FAMILY_BIT, */
    uint64_t topics;        /* PLIM_TOPIC_BIT likewise */
    uint32_t unless;        /* nothing of this may be in force, */
    uint32_t only_with;     /* and all of this must be */
    plim_fix_place place;   /* among those that apply */
    plim_fix_test *applies; /* what masks cannot say, or NULL */
    const char *text;
    plim_fix_write *write_text; /* a text with figures instead, or NULL */
    const char *command;        /* or NULL */
    plim_fix_write *write_command;
    const char *source;
} plim_fix;

typedef struct plim_fix_list {
    const plim_fix *fixes;
    size_t count;
} plim_fix_list;

#define PLIM_VERDICT_BIT(verdict) ((uint64_t)1 << (verdict))
#define PLIM_TOPIC_BIT(topic)     ((uint64_t)1 << (topic))

_Static_assert(PLIM_FAMILY_COUNT <= 64, "families fit a mask");
_Static_assert(PLIM_TOPIC_COUNT <= 64, "topics fit a mask");
_Static_assert(PLIM_IN_FORCE_COUNT <= 32, "what is in force fits a mask");

/* Every PyTorch with a caching allocator of its own kind. */
#define PLIM_FAMILIES_TORCH                                                                \
    (PLIM_FAMILY_BIT(PLIM_FAMILY_PYTORCH) | PLIM_FAMILY_BIT(PLIM_FAMILY_PYTORCH_ROCM) |    \
     PLIM_FAMILY_BIT(PLIM_FAMILY_PYTORCH_MPS) | PLIM_FAMILY_BIT(PLIM_FAMILY_PYTORCH_NPU) | \
     PLIM_FAMILY_BIT(PLIM_FAMILY_PYTORCH_XPU) | PLIM_FAMILY_BIT(PLIM_FAMILY_PYTORCH_ASYNC))

/* Programs on PyTorch that marks in the text make known: what PyTorch needs, most of them do too.
 */
#define PLIM_FAMILIES_TORCH_TRAINING                                                  \
    (PLIM_FAMILY_BIT(PLIM_FAMILY_TRAINER) | PLIM_FAMILY_BIT(PLIM_FAMILY_UNSLOTH) |    \
     PLIM_FAMILY_BIT(PLIM_FAMILY_DEEPSPEED) | PLIM_FAMILY_BIT(PLIM_FAMILY_MEGATRON) | \
     PLIM_FAMILY_BIT(PLIM_FAMILY_VERL))

/* Verdicts for which less memory in use helps. */
#define PLIM_VERDICTS_TOO_MUCH \
    (PLIM_VERDICT_BIT(PLIM_VERDICT_EXHAUSTED) | PLIM_VERDICT_BIT(PLIM_VERDICT_CAPPED))

extern const plim_fix_list plim_fixes_torch;      /* PyTorch, whatever the device */
extern const plim_fix_list plim_fixes_frameworks; /* other frameworks and libraries */
extern const plim_fix_list plim_fixes_serving;    /* inference servers */
extern const plim_fix_list plim_fixes_processes;  /* who else holds the device */
extern const plim_fix_list plim_fixes_host;       /* the host's memory */
extern const plim_fix_list plim_fixes_not_oom;    /* what it is instead */
extern const plim_fix_list plim_fixes_any;        /* what helps everywhere */
extern const plim_fix_list plim_fixes_leak;       /* memory that grows step by step */

/* The lists but that of leaks, in the order in which they are searched. */
size_t plim_fix_list_count(void);
const plim_fix_list *plim_fix_list_at(size_t index);

/* --- for tests and writers of rows --- */

/* part / whole in hundredths, rounded up or down; 0 when either is unknown or whole is 0. */
uint64_t plim_fix_percent(uint64_t part, uint64_t whole, bool up);
/* Whether the verdict, or one that the figures allow as well, is this one. */
bool plim_fix_may_be(const plim_judgement *judgement, plim_verdict verdict);

#endif
