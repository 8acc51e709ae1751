/*
 * clause.h - the pieces that messages are made of: a phrase, and the figures beside it.
 *
 * A message may be cut, wrapped, reworded: so it is not matched as a whole. Each clause is looked
 * for on its own, in any order, and yields what it has. A clause is a phrase, compared word
 * character by word character (blanks, punctuation and case do not count), a number that may
 * stand right before it, and a pattern for what follows:
 *
 *   {free}      a size with its unit        {free:b}  an integer of bytes, "bytes" may follow
 *   {free:a}    either                      {free:u}  a number that shares the next one's unit
 *   {device:i}  an integer                  {:s}      any number, not kept (also {:b} {:a} {:u})
 *   {shape}     [64,128] and its type       [abc]     may be there or not (figures too)
 *   ~           anything but digits         !         (first) all of it, or nothing counts
 *
 * Everything else stands for itself; blanks in a pattern mean nothing.
 */
#ifndef PLIMSOLL_OOMTEXT_CLAUSE_H
#define PLIMSOLL_OOMTEXT_CLAUSE_H

#include "oomtext/amount.h"

#include "plimsoll/verdict.h"

/* Families of clauses: a form names those that may be part of it. */
enum {
    PLIM_CLAUSES_TORCH = 1 << 0,
    PLIM_CLAUSES_MPS = 1 << 1,
    PLIM_CLAUSES_ASYNC = 1 << 2,
    PLIM_CLAUSES_PADDLE = 1 << 3,
    PLIM_CLAUSES_TF = 1 << 4,
    PLIM_CLAUSES_BFC = 1 << 5,
    PLIM_CLAUSES_XLA = 1 << 6,
    PLIM_CLAUSES_TPU = 1 << 7,
    PLIM_CLAUSES_CUPY = 1 << 8,
    PLIM_CLAUSES_RMM = 1 << 9,
    PLIM_CLAUSES_XGBOOST = 1 << 10,
    PLIM_CLAUSES_FAISS = 1 << 11,
    PLIM_CLAUSES_GGML = 1 << 12,
    PLIM_CLAUSES_OLLAMA = 1 << 13,
    PLIM_CLAUSES_METAL = 1 << 14,
    PLIM_CLAUSES_OPENCL = 1 << 15,
    PLIM_CLAUSES_MESA = 1 << 16,
    PLIM_CLAUSES_VLLM = 1 << 17,
    PLIM_CLAUSES_TENSORRT = 1 << 18,
    PLIM_CLAUSES_ORT = 1 << 19,
    PLIM_CLAUSES_THEANO = 1 << 20,
    PLIM_CLAUSES_DARKNET = 1 << 21,
    PLIM_CLAUSES_JULIA = 1 << 22,
    PLIM_CLAUSES_HOST = 1 << 23,
    PLIM_CLAUSES_KERNEL = 1 << 24,
    PLIM_CLAUSES_PLAIN = 1 << 25, /* words that any program might use */
    PLIM_CLAUSES_SUMMARY = 1 << 26,
    PLIM_CLAUSES_ASCEND = 1 << 27,
};

enum {
    PLIM_CLAUSE_KEY = 1,    /* seen again, it begins another message */
    PLIM_CLAUSE_EARLY = 2,  /* may stand before the words that gave the message away */
    PLIM_CLAUSE_LAST = 4,   /* nothing of the message follows it */
    PLIM_CLAUSE_GLUED = 16, /* the phrase is written as one word */
    PLIM_CLAUSE_EXACT = 8,  /* its figures replace what other clauses said */
};

typedef struct plim_clause {
    uint32_t sets;
    unsigned flags;
    const char *phrase; /* lower case; blanks mean nothing */
    const char *before; /* a pattern of one number, or NULL */
    const char *after;  /* a pattern, or NULL */
} plim_clause;

/* What the clauses of one message said. */
#define PLIM_PROCESSES_MAX 64u

typedef struct plim_said {
    plim_figure figures[PLIM_FIGURE_COUNT]; /* offsets count from the stretch */
    plim_process_figure processes[PLIM_PROCESSES_MAX];
    size_t process_count;
    int32_t device;
    size_t end;  /* index in full, behind the last thing that was read */
    size_t stop; /* index in words, where the next message begins or this one must end */
} plim_said;

typedef struct plim_clause_index plim_clause_index; /* the table, by first letters */

/* NULL when there is no memory. */
plim_clause_index *plim_clause_index_create(const plim_mem *mem);
void plim_clause_index_destroy(plim_clause_index *index, const plim_mem *mem);

/* Where to read, in words: from where the message may begin to where it must end. Before the
 * anchor, the words that gave it away, only EARLY clauses count, and of those the last ones. */
typedef struct plim_reach {
    size_t from, anchor, to;
} plim_reach;

/** Read the clauses of `sets` in a part of a flat text. */
void plim_clauses_read(const plim_clause_index *index, const plim_flat *flat, uint32_t sets,
                       plim_reach reach, plim_said *ret);

/** Whether words begin with a phrase (which may have blanks) at index w; *ret_end is behind it. */
bool plim_phrase_at(const plim_flat *flat, size_t w, const char *phrase, size_t *ret_end);

/** Whether the text has no letter glued to either side of words [begin, end). */
bool plim_phrase_stands_alone(const plim_flat *flat, size_t begin, size_t end);

#endif
