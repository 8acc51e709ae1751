/*
 * page.h - what a page says, worked out once; report/term draws it, report/json writes it.
 *
 *   page ── item ── item ── item        in the order of reading
 *           text     table   chart      a text is finished words and the figures they rest on,
 *                    rows of cells      and so is a cell
 *
 * The renderer chooses lines, columns, characters and colours, and adds no words. Texts are
 * UTF-8; what comes from files is as untrusted as they are, and is cleaned where it is drawn.
 * All lies in the arena of the page. As in base/text.h a failure sticks, and is checked once.
 */
#ifndef PLIMSOLL_REPORT_MODEL_PAGE_H
#define PLIMSOLL_REPORT_MODEL_PAGE_H

#include "base/arena.h"

#include "plimsoll/status.h"

#define PLIM_PAGE_BYTES_MAX ((size_t)1 << 30) /* a page has a screen or a few */

/* Meaning, not colour: a page reads the same without any. */
typedef enum plim_tone {
    PLIM_TONE_PLAIN,
    PLIM_TONE_HEADING, /* headings, and the figures that matter */
    PLIM_TONE_FAINT,   /* context: library frames, units, hints */
    PLIM_TONE_USER,    /* the user's own code, and lines to paste */
    PLIM_TONE_WARN,    /* the recording lacks something */
    PLIM_TONE_BAD,     /* a request failed */
    PLIM_TONE_IN_USE,  /* memory in use; an answer that is good news */
    PLIM_TONE_UNUSED,  /* reserved, and free */
    PLIM_TONE_COUNT
} plim_tone;

/* ---- facts ---------------------------------------------------------------------------------- */

typedef enum plim_unit {
    PLIM_UNIT_WORDS, /* no figure: a name, a part of a sentence */
    PLIM_UNIT_BYTES,
    PLIM_UNIT_COUNT,
    PLIM_UNIT_SHARE,   /* of one */
    PLIM_UNIT_US,      /* microseconds */
    PLIM_UNIT_PLAIN,   /* a whole number without separators: a step, a rank */
    PLIM_UNIT_ID,      /* the same, perhaps below 0: a device */
    PLIM_UNIT_RATIO,   /* "1.23×" */
    PLIM_UNIT_NUMBER,  /* "3,400", "12.5" */
    PLIM_UNIT_PERCENT, /* of a hundred, where the amount is not known */
    PLIM_UNIT_LEVEL,   /* bytes that were computed: perhaps below 0 */
    PLIM_UNIT_END,     /* closes a list of facts */
} plim_unit;

/* One thing that is known, and how it is to be said. */
typedef struct plim_fact {
    plim_unit unit;
    plim_tone tone;    /* PLAIN: that of the text */
    const char *name;  /* of a figure, literal; NULL: its unit says enough */
    const char *noun;  /* COUNT: what is counted, literal, or NULL */
    uint64_t value;    /* BYTES, COUNT, US, PLAIN; of an ID the int64_t */
    double real;       /* all others */
    const char *words; /* WORDS: copied where it is said */
    size_t length;
    bool is_apart; /* WORDS: a span of its own, for FIT and COPY */
} plim_fact;

plim_fact plim_words(const char *words);
plim_fact plim_words_of(const char *data, size_t length); /* any bytes */
plim_fact plim_bytes(const char *name, uint64_t bytes);
plim_fact plim_count(const char *name, uint64_t count);
/** "1 event", "41,203 events" */
plim_fact plim_count_of(const char *name, uint64_t count, const char *noun);
/** "12.3%"; "-" where it is not a number or negative: a contradiction, no share */
plim_fact plim_percent(const char *name, double share);
plim_fact plim_duration(const char *name, uint64_t us);
plim_fact plim_plain(const char *name, uint64_t number);
plim_fact plim_id(const char *name, int64_t id);
plim_fact plim_ratio(const char *name, double ratio);
plim_fact plim_number(const char *name, double number);
plim_fact plim_real(plim_unit unit, const char *name, double real);
/** The same fact in a tone of its own. */
plim_fact plim_toned(plim_tone tone, plim_fact fact);

plim_fact plim_apart(plim_fact fact);

/** A list of facts, for the holes of a text. */
#define PLIM_FACTS(...)           \
    (const plim_fact[])           \
    {                             \
        __VA_ARGS__, (plim_fact)  \
        {                         \
            .unit = PLIM_UNIT_END \
        }                         \
    }

#define PLIM_PAGE_COMMAND_INDENT 6u /* columns before a command to copy */

/* ---- what a page is made of ----------------------------------------------------------------- */

typedef struct plim_page_span {
    plim_tone tone;
    bool is_apart;
    const char *data;
    size_t length;
} plim_page_span;

/* Words, and the figures in them. */
typedef struct plim_page_phrase {
    const char *text; /* all of it; any bytes, and a zero after them */
    size_t length;
    plim_page_span *spans; /* the same, where the tone changes */
    size_t span_count;
    plim_fact *figures;
    size_t figure_count;
} plim_page_phrase;

typedef enum plim_layout {
    PLIM_LAYOUT_WRAP, /* as many lines as it takes */
    PLIM_LAYOUT_CUT,  /* one line, cut at its end */
    PLIM_LAYOUT_PATH, /* one line, cut at its beginning: names differ at their end */
    PLIM_LAYOUT_FIT,  /* one line; spans that do not fit whole are left out, but the first */
    PLIM_LAYOUT_COPY, /* never cut and never wrapped: it is there to be copied */
} plim_layout;

/* The place of a text in its column, and what becomes of it where it does not fit. */
typedef enum plim_align {
    PLIM_ALIGN_LEFT,  /* cut at the end */
    PLIM_ALIGN_RIGHT, /* likewise */
    PLIM_ALIGN_PATH,  /* to the left; cut at the beginning */
    PLIM_ALIGN_COPY,  /* the last column: goes on below, to be copied whole */
    PLIM_ALIGN_BAR,   /* a bar: cells of plim_page_cell_bar() */
    PLIM_ALIGN_REST,  /* the last column: cut at the end of the page, and no other makes room */
} plim_align;

typedef struct plim_column {
    const char *title; /* literal, or in the arena */
    plim_align align;
    uint8_t leaves; /* on narrow pages: 1 is left out first, 2 next; 0 stays */
    uint8_t least;  /* columns it has at least, so that tables line up; of a bar, at most */
} plim_column;

typedef struct plim_cell {
    plim_tone tone;
    plim_page_phrase phrase;
    uint64_t bar_bytes; /* of a bar, out of: */
    uint64_t bar_total_bytes;
} plim_cell;

typedef struct plim_row {
    plim_cell *cells;        /* one for each column */
    struct plim_item *below; /* lines that belong to it */
    struct plim_item *below_last;
    struct plim_row *next;
} plim_row;

typedef struct plim_table_item {
    const plim_column *columns;
    uint32_t column_count;
    uint32_t filled; /* cells of the last row */
    bool hides_titles;
    plim_row *rows;
    plim_row *last;
} plim_table_item;

/* Memory over time or over steps. */
typedef struct plim_chart_point {
    double x; /* 0 … 1: of a range where it is, else where it ends */
    double low_bytes;
    double high_bytes;
} plim_chart_point;

typedef struct plim_chart_mark {
    double x;
    const char *name;
    bool is_failure;
} plim_chart_mark;

typedef struct plim_chart {
    const char *title; /* with what the two heights are; NULL: there is no legend */
    const char *low_name;
    const char *high_name;
    bool is_range;                  /* low is the least of a run of points, not the most */
    const plim_chart_point *points; /* by x */
    size_t point_count;
    const plim_chart_mark *marks;
    size_t mark_count;
    double foot_bytes;
    double top_bytes;
    const char *top; /* the labels of the axes */
    const char *foot;
    const char *from;
    const char *to;
} plim_chart;

/* A device as one bar, and the request that failed below it. */
typedef struct plim_bar_part {
    const char *words; /* NULL: the legend does not name it */
    uint64_t bytes;
} plim_bar_part;

typedef struct plim_bar_mark {
    const char *words;
    uint64_t at_bytes;
} plim_bar_mark;

enum { PLIM_BAR_ELSEWHERE, PLIM_BAR_LIVE, PLIM_BAR_CACHED, PLIM_BAR_FREE, PLIM_BAR_PARTS };

typedef struct plim_device_bar {
    plim_bar_part parts[PLIM_BAR_PARTS]; /* in this order */
    uint64_t end_bytes;                  /* where it ends, */
    const char *end;                     /* in words */
    const char *request;                 /* NULL: not known */
    uint64_t request_bytes;
    bool is_request_placed; /* it begins where the cached part does; else its place is not known */
    plim_bar_mark marks[2];
    size_t mark_count;
} plim_device_bar;

typedef enum plim_item_kind {
    PLIM_ITEM_TEXT,
    PLIM_ITEM_TABLE,
    PLIM_ITEM_CHART,
    PLIM_ITEM_BAR,
} plim_item_kind;

typedef struct plim_item {
    plim_item_kind kind;
    const char *id;  /* stable, literal */
    bool after_gap;  /* an empty line stands before it */
    uint32_t indent; /* PLIM_INDENT_LAST: where the last column of its table begins */
    /* TEXT */
    plim_layout layout;
    plim_tone tone;
    const char *lead; /* stands before the words, which hang after it; "" */
    uint32_t hang;    /* columns of the lead, if it has fewer */
    plim_page_phrase phrase;
    /* TABLE, CHART, BAR */
    plim_table_item table;
    plim_chart chart;
    plim_device_bar *bar;
    struct plim_item *next;
} plim_item;

#define PLIM_INDENT_LAST UINT32_MAX

typedef struct plim_page {
    plim_arena arena;
    plim_status status;
    plim_item *first;
    plim_item *last;
    bool wants_gap;
    plim_item spare; /* what is written to after a failure */
} plim_page;

/* ---- making one ----------------------------------------------------------------------------- */

void plim_page_init(plim_page *page, const plim_mem *mem);
/* A zeroed one is allowed. */
void plim_page_deinit(plim_page *page);
/** PLIM_OK if the page is complete; else the failure, "… while making the page". */
PLIM_MUST_USE plim_status plim_page_status(const plim_page *page, plim_error *err);
/** Memory of the page, zeroed; NULL if out of memory: the page has then failed. */
void *plim_page_alloc(plim_page *page, size_t count, size_t item_bytes);
/** A copy that lies in the page, with a zero after it. */
const char *plim_page_copy(plim_page *page, const char *data, size_t length);
/** A text that lies in the page: for titles and labels. */
const char *plim_page_text(plim_page *page, const char *text, const plim_fact *facts);

/** An empty line before the next item. */
void plim_page_gap(plim_page *page);
void plim_page_heading(plim_page *page, const char *text, const plim_fact *facts);

/**
 * Say a sentence.
 *
 * id       stable: documents name the sentence by it
 * text     a literal; each {} in it takes one of the facts
 * facts    PLIM_FACTS(…), or NULL where there is no hole
 * returns  the item, whose layout the caller may change; never NULL
 */
plim_item *plim_page_say(plim_page *page, const char *id, plim_tone tone, const char *text,
                         const plim_fact *facts);
/** The file that a page is about: a line that is cut at its beginning. path  "-" is standard input
 */
void plim_page_file(plim_page *page, const char *path);
/** Go on with the text that was said last: sentences whose parts depend on what is known. */
void plim_page_more(plim_page *page, const char *text, const plim_fact *facts);
/** The same as plim_page_say(), indented: it belongs to what stands before it. */
plim_item *plim_page_note(plim_page *page, const char *id, plim_tone tone, const char *text,
                          const plim_fact *facts);
/** The same, with a mark: what is below it lacks something. */
plim_item *plim_page_warn(plim_page *page, const char *id, const char *text,
                          const plim_fact *facts);

/** "'" where a shell would not take a word for one word as it is, else "". */
const char *plim_page_quote(const char *word);

/** Begin a table. columns is static, or in the page. */
plim_item *plim_page_table(plim_page *page, const char *id, const plim_column *columns,
                           uint32_t count);
/** The next cell, row by row. */
void plim_page_cell(plim_page *page, plim_tone tone, plim_fact fact);
void plim_page_cell_text(plim_page *page, plim_tone tone, const char *text, const plim_fact *facts);
void plim_page_cell_bar(plim_page *page, plim_tone tone, uint64_t bytes, uint64_t total_bytes);
/** A line below the last row. */
plim_item *plim_page_below(plim_page *page, plim_tone tone, const char *text,
                           const plim_fact *facts);

/** bar  in the page */
void plim_page_bar(plim_page *page, const char *id, plim_device_bar *bar);
plim_chart *plim_page_chart(plim_page *page, const char *id);

#endif
