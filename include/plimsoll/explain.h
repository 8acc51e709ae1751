/*
 * plimsoll/explain.h - out-of-memory texts become figures, a verdict, and the next thing to do.
 *
 * Any text goes in: an error message, a traceback, a whole training log. Every out-of-memory
 * message in it, of every framework in the table of forms (src/oomtext/forms.tsv), comes out with
 * the figures that it prints and nothing else: what a text does not say is PLIM_BYTES_UNKNOWN.
 * Memory that a log prints step by step comes out as series, with their trends.
 */
#ifndef PLIMSOLL_EXPLAIN_H
#define PLIMSOLL_EXPLAIN_H

#include "plimsoll/advice.h"
#include "plimsoll/mem.h"
#include "plimsoll/series.h"
#include "plimsoll/status.h"
#include "plimsoll/verdict.h"

PLIM_BEGIN_DECLS

/* One message. */
typedef struct plim_oom_message {
    uint64_t line;         /* where it begins, from 1 */
    uint64_t offset;       /* in the (decompressed) input */
    uint64_t length;       /* bytes up to the last thing that was read from it */
    uint64_t count;        /* how often the input says exactly this; the first place is kept */
    const char *framework; /* who printed it: "pytorch" */
    const char *form;      /* "pytorch-2.x-this-process" */
    const char *versions;  /* of the framework, "2.2 and later"; "" where that says nothing */
    const char *excerpt;   /* its first words, without colours and line ends */
    plim_failed_request request; /* the figures that the text prints */
    plim_judgement judgement;
    const char *why;           /* two sentences with the figures in them */
    const plim_advice *advice; /* best first */
    size_t advice_count;
    bool is_follower; /* came after another failure of memory, and probably because of it */
} plim_oom_message;

typedef struct plim_explain_options {
    const plim_mem *mem;   /* NULL is the heap; borrowed as long as the explanation */
    double capacity_bytes; /* for trends; 0: what the text says, if it does */
    bool without_series;   /* do not look for series */
    /* Called now and then with what is done of total (0: unknown); NULL: not. */
    void (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
} plim_explain_options;

typedef struct plim_explainer plim_explainer;     /* takes text piece by piece */
typedef struct plim_explanation plim_explanation; /* what was found */

/**
 * Begin; feed any number of pieces, cut anywhere; then finish or destroy.
 *
 * options  NULL is all zero; copied
 * errors   PLIM_OUT_OF_HOST_MEMORY. After an error of feed, only destroy is allowed
 * memory   bounded: some MiB, whatever is fed
 * threads  one at a time
 */
PLIM_API PLIM_MUST_USE plim_status plim_explainer_create(const plim_explain_options *options,
                                                         plim_explainer **ret, plim_error *err);
PLIM_API PLIM_MUST_USE plim_status plim_explainer_feed(plim_explainer *explainer, const void *data,
                                                       size_t bytes, plim_error *err);
/** Ends the text and destroys the explainer, also on failure. */
PLIM_API PLIM_MUST_USE plim_status plim_explainer_finish(plim_explainer *explainer,
                                                         plim_explanation **ret, plim_error *err);
/** NULL is allowed. */
PLIM_API void plim_explainer_destroy(plim_explainer *explainer);

/** All of a text at once. */
PLIM_API PLIM_MUST_USE plim_status plim_explain_text(const char *text, size_t bytes,
                                                     const plim_explain_options *options,
                                                     plim_explanation **ret, plim_error *err);

/**
 * All of a file, plain or compressed (gzip, zstd, xz, bzip2), UTF-8 or UTF-16; "-" is standard
 * input.
 *
 * errors  PLIM_IO, PLIM_CORRUPT (damaged compressed data), PLIM_LIMIT, PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_API PLIM_MUST_USE plim_status plim_explain_file(const char *path,
                                                     const plim_explain_options *options,
                                                     plim_explanation **ret, plim_error *err);

/* Messages of an input that are kept; beyond, they are counted. */
#define PLIM_EXPLAIN_MESSAGES_MAX 1000

/** Messages in the order of the input, series by trend, the worst first; valid until destroy. */
PLIM_API size_t plim_explanation_message_count(const plim_explanation *explanation);
PLIM_API const plim_oom_message *plim_explanation_message(const plim_explanation *explanation,
                                                          size_t index);
/** The message that answers for all: the first failure of memory that says most; NULL if none. */
PLIM_API const plim_oom_message *plim_explanation_main(const plim_explanation *explanation);
/** Messages found beyond PLIM_EXPLAIN_MESSAGES_MAX. */
PLIM_API uint64_t plim_explanation_unkept_count(const plim_explanation *explanation);
PLIM_API size_t plim_explanation_series_count(const plim_explanation *explanation);
PLIM_API const plim_series *plim_explanation_series(const plim_explanation *explanation,
                                                    size_t index);
/** Fixes for a leak, when the first series has one; else none. */
PLIM_API size_t plim_explanation_leak_advice(const plim_explanation *explanation,
                                             const plim_advice **ret);
PLIM_API uint64_t plim_explanation_byte_count(const plim_explanation *explanation);
PLIM_API uint64_t plim_explanation_line_count(const plim_explanation *explanation);

/** NULL is allowed. */
PLIM_API void plim_explanation_destroy(plim_explanation *explanation);

PLIM_END_DECLS

#endif
