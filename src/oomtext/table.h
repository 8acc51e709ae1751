/*
 * table.h - the data files of messages: forms.tsv, clauses.tsv and words.tsv.
 *
 * A program of the build reads them and writes a constant table, because reading them at each start
 * would cost a third of a short explain. docs/formats/forms.md describes the files.
 */
#ifndef PLIMSOLL_OOMTEXT_TABLE_H
#define PLIMSOLL_OOMTEXT_TABLE_H

#include "plimsoll/status.h"
#include "plimsoll/verdict.h"

enum {
    PLIM_FORMS_MAX = 384,
    PLIM_CLAUSES_MAX = 512,
    PLIM_MARKS_MAX = 256,
    PLIM_CLAUSE_SETS_MAX = 64,
    PLIM_PHRASE_LISTS_MAX = 16,
    PLIM_WORD_ROWS_MAX = 16, /* of one list */
    PLIM_TABLE_TEXT_BYTES = 128 << 10,
};

/* How a phrase has to stand, and what follows from it: the column "reads". */
enum {
    PLIM_FORM_PLAIN =
        1 << 0, /* words that any program might use: yields to every other form near */
    PLIM_FORM_PROSE = 1 << 1,  /* … and people too: only where it reads like an error */
    PLIM_FORM_REPORT = 1 << 2, /* no error: said only of a paste that has nothing else */
    PLIM_FORM_GLUED = 1 << 3,  /* the phrase is written as one word */
    PLIM_FORM_LINE = 1 << 4,   /* the phrase has to begin its line, prefixes apart */
    PLIM_FORM_ALONE = 1 << 5,  /* … and to be all of it */
    PLIM_FORM_SIGNAL = 1 << 6, /* the number at its end is a signal's: a minus before it, or 137 */
    PLIM_FORM_NONE = 1 << 7,   /* the number after the phrase is 0, or negative, */
    PLIM_FORM_SOME = 1 << 8,   /* or it is neither */
    PLIM_FORM_DUMP = 1 << 9,   /* belongs to the failure of the same pool before it */
    PLIM_FORM_HEAD = 1 << 10,  /* a status that heads messages: what follows it belongs to it */
};

typedef struct plim_form {
    const char *name;
    const char *framework;
    const char *versions; /* of the framework; "" where that says nothing */
    plim_oom_family family;
    plim_oom_topic topic;
    const char *phrases; /* by '|': any of them gives the form away */
    const char *with;    /* by '|': one of them has to be near; "": none */
    const char *also;    /* and one of these; "" */
    const char *without; /* none of these; "" */
    uint64_t sets;       /* of clauses that it may have: bits by the order in clauses.tsv */
    uint32_t says;       /* PLIM_SAYS() of figures that it has to say, */
    uint32_t lacks;      /* and must not */
    uint32_t before;     /* bytes before the phrase that may belong to it, */
    uint32_t after;      /* and after it */
    uint32_t flags;      /* PLIM_FORM_ */
} plim_form;

#define PLIM_SAYS(figure) ((uint32_t)1 << (figure))

_Static_assert(PLIM_FIGURE_PRINTED_COUNT <= 32, "figures fit a mask");

enum {
    PLIM_CLAUSE_KEY = 1 << 0,   /* seen again, it begins another message */
    PLIM_CLAUSE_EARLY = 1 << 1, /* may stand before the words that gave the message away */
    PLIM_CLAUSE_LAST = 1 << 2,  /* nothing of the message follows it */
    PLIM_CLAUSE_GLUED = 1 << 3, /* the phrase is written as one word */
    PLIM_CLAUSE_EXACT = 1 << 4, /* its figures replace what other clauses said */
};

typedef struct plim_clause {
    uint64_t sets;
    uint32_t flags;     /* PLIM_CLAUSE_ */
    const char *phrase; /* lower case; blanks mean nothing */
    const char *before; /* a pattern of one number, or "" */
    const char *after;  /* a pattern, or "" */
} plim_clause;

/* A phrase that shows what is in use, or which program runs the framework. */
typedef struct plim_text_mark {
    const char *phrase;
    uint32_t what;    /* a plim_in_force, or PLIM_IN_FORCE_COUNT */
    uint32_t program; /* a plim_oom_family, or PLIM_FAMILY_ANY */
    const char *follows;
} plim_text_mark;

#define PLIM_WORD_LIST(X)                      \
    X(PLIM_WORDS_SUPPOSING, "supposing")       \
    X(PLIM_WORDS_GOING_ON, "going_on")         \
    X(PLIM_WORDS_TAKING_BACK, "taking_back")   \
    X(PLIM_WORDS_TRACES, "traces")             \
    X(PLIM_WORDS_NAME_HEADS, "name_heads")     \
    X(PLIM_WORDS_CALLS, "calls")               \
    X(PLIM_WORDS_SOURCE_HEADS, "source_heads") \
    X(PLIM_WORDS_SOURCE_MARKS, "source_marks") \
    X(PLIM_WORDS_SHELLS, "shells")             \
    X(PLIM_WORDS_HINTS, "hints")

typedef enum plim_word_list {
#define PLIM_WORDS_ENUM(code, name) code,
    PLIM_WORD_LIST(PLIM_WORDS_ENUM)
#undef PLIM_WORDS_ENUM
        PLIM_WORDS_COUNT
} plim_word_list;

/* A list's rows, each of words parted by '|'; NULL after the last. */
typedef const char *plim_word_rows[PLIM_WORD_ROWS_MAX + 1];

typedef struct plim_phrase_list {
    const char *name;
    const char *phrases;
} plim_phrase_list;

typedef struct plim_message_table {
    plim_form forms[PLIM_FORMS_MAX]; /* the more telling form before the less telling one */
    size_t form_count;
    plim_clause clauses[PLIM_CLAUSES_MAX];
    size_t clause_count;
    plim_text_mark marks[PLIM_MARKS_MAX];
    size_t mark_count;
    plim_word_rows words[PLIM_WORDS_COUNT];
    plim_phrase_list lists[PLIM_PHRASE_LISTS_MAX];
    size_t list_count;
    const char *sets[PLIM_CLAUSE_SETS_MAX]; /* of clauses, as they are named first */
    size_t set_count;
} plim_message_table;

/* The lines of a file without their ends, NULL after the last: generated files. */
typedef struct plim_message_lines {
    const char *const *forms;
    const char *const *clauses;
    const char *const *words;
} plim_message_lines;

extern const char *const plim_forms_lines[];
extern const char *const plim_clauses_lines[];
extern const char *const plim_words_lines[];

/* Read into a table that is all zeros; texts are copied to `texts`. PLIM_CORRUPT with file, line
 * and what is wrong. */
PLIM_MUST_USE plim_status plim_message_table_read(const plim_message_lines *lines,
                                                  plim_message_table *table,
                                                  char texts[PLIM_TABLE_TEXT_BYTES],
                                                  plim_error *err);

/* The library's own table: written by tools/messages/make_table.c while building. */
extern const plim_message_table plim_own_messages;

static inline const plim_message_table *plim_message_tables(void)
{
    return &plim_own_messages;
}

/** The next phrase of a list "a|b|c", copied with its blanks; false at the end. */
bool plim_phrase_next(const char **list, char *ret, size_t ret_bytes);

/* Room for any phrase of the files, with the zero at its end. */
#define PLIM_PHRASE_TEXT_BYTES 128

/** The set of bits of sets "torch,host" by name; those that do not exist have none. */
uint64_t plim_clause_sets(const plim_message_table *table, const char *names);

#endif
