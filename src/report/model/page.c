/*
 * page.c - filling the holes of texts, and stringing items together.
 */
#include "report/model/page.h"

#include "base/ascii.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/size.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NOTE_INDENT 2u
#define HOLES_MAX   12u

#define SHARE_SAID_MAX 99.99 /* files may contradict themselves without bounds */

/* ---- facts ---------------------------------------------------------------------------------- */

plim_fact plim_words_of(const char *data, size_t length)
{
    return (plim_fact){ .words = data, .length = length };
}

plim_fact plim_words(const char *words)
{
    return plim_words_of(words, strlen(words));
}

plim_fact plim_bytes(const char *name, uint64_t bytes)
{
    return (plim_fact){ .unit = PLIM_UNIT_BYTES, .name = name, .value = bytes };
}

plim_fact plim_count_of(const char *name, uint64_t count, const char *noun)
{
    return (plim_fact){ .unit = PLIM_UNIT_COUNT, .name = name, .value = count, .noun = noun };
}

plim_fact plim_count(const char *name, uint64_t count)
{
    return plim_count_of(name, count, NULL);
}

plim_fact plim_duration(const char *name, uint64_t us)
{
    return (plim_fact){ .unit = PLIM_UNIT_US, .name = name, .value = us };
}

plim_fact plim_plain(const char *name, uint64_t number)
{
    return (plim_fact){ .unit = PLIM_UNIT_PLAIN, .name = name, .value = number };
}

plim_fact plim_id(const char *name, int64_t id)
{
    return (plim_fact){ .unit = PLIM_UNIT_ID, .name = name, .value = (uint64_t)id };
}

plim_fact plim_real(plim_unit unit, const char *name, double real)
{
    return (plim_fact){ .unit = unit, .name = name, .real = real };
}

plim_fact plim_percent(const char *name, double share)
{
    return plim_real(PLIM_UNIT_SHARE, name, share);
}

plim_fact plim_ratio(const char *name, double ratio)
{
    return plim_real(PLIM_UNIT_RATIO, name, ratio);
}

plim_fact plim_number(const char *name, double number)
{
    return plim_real(PLIM_UNIT_NUMBER, name, number);
}

plim_fact plim_toned(plim_tone tone, plim_fact fact)
{
    fact.tone = tone;
    return fact;
}

plim_fact plim_apart(plim_fact fact)
{
    fact.is_apart = true;
    return fact;
}

/* Without decimals that say nothing: steps are whole. */
static plim_short_text format_number(double number)
{
    plim_short_text text;
    const double whole = number >= 100 ? round(number) : number;
    if (whole >= 0 && whole < 1e15 && whole == floor(whole)) {
        return plim_format_count((uint64_t)whole);
    }
    (void)snprintf(text.text, sizeof text.text, "%.6g", number);
    return text;
}

static plim_short_text format_level(double bytes)
{
    plim_short_text text;
    const double size = fmin(fabs(bytes), 9.0e18); /* what 64 bits hold, with a sign to spare */
    const uint64_t rounded = isfinite(bytes) ? (uint64_t)llround(size) : 0;
    (void)snprintf(text.text, sizeof text.text, "%s%.30s", bytes < 0 && rounded > 0 ? "-" : "",
                   plim_format_bytes(rounded).text);
    return text;
}

/* A figure in words. */
typedef struct number_text {
    char text[64];
} number_text;

static number_text format(const plim_fact *fact)
{
    number_text number = { "" };
    plim_short_text text = { "" };
    switch (fact->unit) {
    case PLIM_UNIT_BYTES:
        text = plim_format_bytes(fact->value);
        break;
    case PLIM_UNIT_COUNT:
        text = plim_format_count(fact->value);
        break;
    case PLIM_UNIT_SHARE:
        text = fact->real > SHARE_SAID_MAX
                   ? (plim_short_text){ ">9999%" }
                   : plim_format_percent(fact->real < 0 ? (double)NAN : fact->real);
        break;
    case PLIM_UNIT_US:
        text = plim_format_duration_us(fact->value);
        break;
    case PLIM_UNIT_PLAIN:
        (void)snprintf(text.text, sizeof text.text, "%" PRIu64, fact->value);
        break;
    case PLIM_UNIT_ID:
        (void)snprintf(text.text, sizeof text.text, "%" PRId64, (int64_t)fact->value);
        break;
    case PLIM_UNIT_RATIO:
        (void)snprintf(text.text, sizeof text.text, "%.2f×", fact->real);
        break;
    case PLIM_UNIT_NUMBER:
        text = format_number(fact->real);
        break;
    case PLIM_UNIT_PERCENT:
        (void)snprintf(text.text, sizeof text.text, "%.3g%%", fact->real);
        break;
    case PLIM_UNIT_LEVEL:
        text = format_level(fact->real);
        break;
    case PLIM_UNIT_WORDS:
    case PLIM_UNIT_END:
        break;
    }
    const bool has_noun = fact->noun != NULL;
    (void)snprintf(number.text, sizeof number.text, "%s%s%.24s%s", text.text, has_noun ? " " : "",
                   has_noun ? fact->noun : "", has_noun && fact->value != 1 ? "s" : "");
    return number;
}

/* ---- memory --------------------------------------------------------------------------------- */

void plim_page_init(plim_page *page, const plim_mem *mem)
{
    *page = (plim_page){ .status = PLIM_OK };
    plim_arena_init(&page->arena, plim_mem_or_heap(mem));
}

void plim_page_deinit(plim_page *page)
{
    plim_arena_deinit(&page->arena);
    *page = (plim_page){ .status = PLIM_OK };
}

plim_status plim_page_status(const plim_page *page, plim_error *err)
{
    if (page->status == PLIM_LIMIT) {
        return plim_fail(err, PLIM_LIMIT, "the page would be larger than %zu bytes",
                         PLIM_PAGE_BYTES_MAX);
    }
    return page->status == PLIM_OK ? PLIM_OK : plim_fail_memory(err, "making the page");
}

void *plim_page_alloc(plim_page *page, size_t count, size_t item_bytes)
{
    void *items = NULL;
    if (page->status == PLIM_OK && count > PLIM_PAGE_BYTES_MAX / item_bytes) {
        page->status = PLIM_LIMIT;
    }
    if (page->status == PLIM_OK) {
        items = plim_arena_alloc(&page->arena, count * item_bytes);
        page->status = items == NULL                                  ? PLIM_OUT_OF_HOST_MEMORY
                       : page->arena.used_bytes > PLIM_PAGE_BYTES_MAX ? PLIM_LIMIT
                                                                      : PLIM_OK;
    }
    if (items != NULL) {
        memset(items, 0, count * item_bytes);
    }
    return page->status == PLIM_OK ? items : NULL;
}

const char *plim_page_copy(plim_page *page, const char *data, size_t length)
{
    char *text = plim_page_alloc(page, length + 1, 1);
    if (text == NULL) {
        return "";
    }
    memcpy(text, data, length);
    return text;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static void add_span(plim_page_phrase *phrase, plim_page_span span)
{
    if (span.length > 0) {
        phrase->spans[phrase->span_count++] = span;
        phrase->length += span.length;
    }
}

/* One hole, filled. number  room for the words of a figure */
static void add_fact(plim_page_phrase *phrase, plim_tone tone, const plim_fact *fact,
                     number_text *number)
{
    const plim_tone own = fact->tone != PLIM_TONE_PLAIN ? fact->tone : tone;
    if (fact->unit == PLIM_UNIT_WORDS) {
        add_span(phrase, (plim_page_span){ own, fact->is_apart, fact->words, fact->length });
        return;
    }
    *number = format(fact);
    add_span(phrase, (plim_page_span){ own, false, number->text, strlen(number->text) });
    phrase->figures[phrase->figure_count] = *fact;
    phrase->figures[phrase->figure_count++].tone = own;
}

/* Copies all spans, one after the other, into the page; like ones become one. */
static void keep(plim_page *page, plim_page_phrase *phrase)
{
    char *text = plim_page_alloc(page, phrase->length + 1, 1);
    if (text == NULL) {
        *phrase = (plim_page_phrase){ .text = "" };
        return;
    }
    size_t count = 0;
    phrase->text = text;
    PLIM_ASSERT(phrase->spans != NULL);
    for (size_t i = 0; i < phrase->span_count; i++) {
        plim_page_span span = phrase->spans[i];
        plim_page_span *before = count > 0 ? &phrase->spans[count - 1] : NULL;
        memcpy(text, span.data, span.length);
        span.data = text;
        text += span.length;
        if (before != NULL && before->tone == span.tone && !before->is_apart && !span.is_apart) {
            before->length += span.length;
        } else {
            phrase->spans[count++] = span;
        }
    }
    phrase->span_count = count;
}

static plim_page_phrase phrase_of(plim_page *page, plim_tone tone, const char *text,
                                  const plim_fact *facts)
{
    number_text numbers[HOLES_MAX];
    size_t holes = 0;
    while (facts != NULL && facts[holes].unit != PLIM_UNIT_END) {
        holes++;
    }
    PLIM_ASSERT(holes <= HOLES_MAX);
    plim_page_phrase phrase = {
        .text = "",
        .spans = plim_page_alloc(page, 2 * holes + 1, sizeof(plim_page_span)),
        .figures = plim_page_alloc(page, holes, sizeof(plim_fact)),
    };
    if (phrase.spans == NULL || phrase.figures == NULL) {
        return (plim_page_phrase){ .text = "" };
    }
    for (size_t i = 0; i < holes; i++) {
        const char *hole = strstr(text, "{}");
        PLIM_ASSERT(hole != NULL);
        add_span(&phrase, (plim_page_span){ tone, false, text, (size_t)(hole - text) });
        add_fact(&phrase, tone, &facts[i], &numbers[i]);
        text = hole + 2;
    }
    add_span(&phrase, (plim_page_span){ tone, false, text, strlen(text) });
    keep(page, &phrase);
    return phrase;
}

const char *plim_page_text(plim_page *page, const char *text, const plim_fact *facts)
{
    return phrase_of(page, PLIM_TONE_PLAIN, text, facts).text;
}

/* ---- items ---------------------------------------------------------------------------------- */

static plim_item *make_item(plim_page *page, plim_item_kind kind, const char *id)
{
    plim_item *item = plim_page_alloc(page, 1, sizeof *item);
    item = item != NULL ? item : &page->spare;
    *item = (plim_item){ .kind = kind, .id = id, .lead = "" };
    return item;
}

static plim_item *add_item(plim_page *page, plim_item_kind kind, const char *id)
{
    plim_item *item = make_item(page, kind, id);
    item->after_gap = page->wants_gap;
    page->wants_gap = false;
    if (item != &page->spare) {
        *(page->last != NULL ? &page->last->next : &page->first) = item;
        page->last = item;
    }
    return item;
}

void plim_page_gap(plim_page *page)
{
    page->wants_gap = true;
}

plim_item *plim_page_say(plim_page *page, const char *id, plim_tone tone, const char *text,
                         const plim_fact *facts)
{
    plim_item *item = add_item(page, PLIM_ITEM_TEXT, id);
    item->tone = tone;
    item->phrase = phrase_of(page, tone, text, facts);
    return item;
}

void plim_page_more(plim_page *page, const char *text, const plim_fact *facts)
{
    plim_item *item = page->status == PLIM_OK ? page->last : &page->spare;
    const plim_page_phrase more = phrase_of(page, item->tone, text, facts);
    const plim_page_phrase said = item->phrase;
    plim_page_phrase whole = {
        .length = said.length + more.length,
        .spans = plim_page_alloc(page, said.span_count + more.span_count, sizeof(plim_page_span)),
        .span_count = said.span_count + more.span_count,
        .figures = plim_page_alloc(page, said.figure_count + more.figure_count, sizeof(plim_fact)),
        .figure_count = said.figure_count + more.figure_count,
    };
    if (whole.spans == NULL || whole.figures == NULL) {
        return;
    }
    for (size_t i = 0; i < whole.span_count; i++) {
        whole.spans[i] = i < said.span_count ? said.spans[i] : more.spans[i - said.span_count];
    }
    for (size_t i = 0; i < whole.figure_count; i++) {
        whole.figures[i] =
            i < said.figure_count ? said.figures[i] : more.figures[i - said.figure_count];
    }
    keep(page, &whole);
    item->phrase = whole;
}

plim_item *plim_page_note(plim_page *page, const char *id, plim_tone tone, const char *text,
                          const plim_fact *facts)
{
    plim_item *item = plim_page_say(page, id, tone, text, facts);
    item->indent = NOTE_INDENT;
    return item;
}

plim_item *plim_page_warn(plim_page *page, const char *id, const char *text, const plim_fact *facts)
{
    plim_item *item = plim_page_say(page, id, PLIM_TONE_WARN, text, facts);
    item->lead = "!";
    return item;
}

void plim_page_file(plim_page *page, const char *path)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    plim_page_say(page, "file", PLIM_TONE_HEADING, "{}", PLIM_FACTS(plim_words(name)))->layout =
        PLIM_LAYOUT_PATH;
}

void plim_page_heading(plim_page *page, const char *text, const plim_fact *facts)
{
    plim_page_gap(page);
    plim_page_say(page, "heading", PLIM_TONE_HEADING, text, facts);
}

/* ---- tables --------------------------------------------------------------------------------- */

plim_item *plim_page_table(plim_page *page, const char *id, const plim_column *columns,
                           uint32_t count)
{
    plim_item *item = add_item(page, PLIM_ITEM_TABLE, id);
    item->indent = NOTE_INDENT;
    item->table = (plim_table_item){ .columns = columns, .column_count = count };
    return item;
}

/* The next cell of the table that was begun last; NULL after a failure. */
static plim_cell *next_cell(plim_page *page)
{
    if (page->status != PLIM_OK) {
        return NULL;
    }
    PLIM_ASSERT(page->last != NULL);
    PLIM_ASSERT(page->last->kind == PLIM_ITEM_TABLE);
    plim_table_item *table = &page->last->table;
    if (table->last == NULL || table->filled == table->column_count) {
        plim_row *row = plim_page_alloc(page, 1, sizeof *row);
        plim_cell *cells = plim_page_alloc(page, table->column_count, sizeof *cells);
        if (row == NULL || cells == NULL) {
            return NULL;
        }
        row->cells = cells;
        *(table->last != NULL ? &table->last->next : &table->rows) = row;
        table->last = row;
        table->filled = 0;
    }
    return &table->last->cells[table->filled++];
}

void plim_page_cell_text(plim_page *page, plim_tone tone, const char *text, const plim_fact *facts)
{
    plim_cell *cell = next_cell(page);
    if (cell != NULL) {
        cell->tone = tone;
        cell->phrase = phrase_of(page, tone, text, facts);
    }
}

void plim_page_cell(plim_page *page, plim_tone tone, plim_fact fact)
{
    plim_page_cell_text(page, tone, "{}", PLIM_FACTS(fact));
}

void plim_page_cell_bar(plim_page *page, plim_tone tone, uint64_t bytes, uint64_t total_bytes)
{
    plim_cell *cell = next_cell(page);
    if (cell != NULL) {
        *cell = (plim_cell){ .tone = tone, .bar_bytes = bytes, .bar_total_bytes = total_bytes };
    }
}

plim_item *plim_page_below(plim_page *page, plim_tone tone, const char *text,
                           const plim_fact *facts)
{
    plim_item *item = make_item(page, PLIM_ITEM_TEXT, NULL);
    item->tone = tone;
    item->phrase = phrase_of(page, tone, text, facts);
    item->layout = PLIM_LAYOUT_CUT;
    if (page->status == PLIM_OK) {
        plim_row *row = page->last->table.last;
        PLIM_ASSERT(row != NULL);
        *(row->below_last != NULL ? &row->below_last->next : &row->below) = item;
        row->below_last = item;
    }
    return item;
}

plim_chart *plim_page_chart(plim_page *page, const char *id)
{
    return &add_item(page, PLIM_ITEM_CHART, id)->chart;
}

void plim_page_bar(plim_page *page, const char *id, plim_device_bar *bar)
{
    add_item(page, PLIM_ITEM_BAR, id)->bar = bar;
}

const char *plim_page_quote(const char *word)
{
    for (; *word != '\0'; word++) {
        if (!plim_is_letter(*word) && !plim_is_digit(*word) && strchr("_:,.+-/", *word) == NULL) {
            return "'";
        }
    }
    return "";
}
