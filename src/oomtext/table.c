/*
 * table.c - reading forms.tsv, clauses.tsv and words.tsv; docs/formats/forms.md.
 */
#include "oomtext/table.h"

#include "base/error.h"
#include "base/tsv.h"
#include "oomtext/fold.h"
#include "oomtext/pattern.h"
#include "oomtext/scan.h"
#include "verdict/names.h"

#include <string.h>

#define REACH_BYTES_MAX 4096 /* of a message, to each side of its phrase */

/* A row of any section. */
typedef struct message_row {
    plim_form form;
    plim_clause clause;
    plim_text_mark mark;
    plim_phrase_list list;
    uint32_t words; /* a plim_word_list */
} message_row;

/* --- fields --- */

/* Names parted by commas, to bits by their place in a list; NULL ends the list. */
static plim_status read_bits(plim_tsv *file, plim_tsv_field field, const char *const *names,
                             const char *what, uint32_t *ret)
{
    plim_tsv_field piece = { 0 };
    while (field.bytes > 0 && plim_tsv_cut(&field, ',', &piece)) {
        uint32_t i = 0;
        while (names[i] != NULL && !plim_tsv_is(piece, names[i])) {
            i++;
        }
        if (names[i] == NULL) {
            return plim_tsv_fail(file, "%s '%.*s' is unknown", what, (int)piece.bytes, piece.text);
        }
        *ret |= (uint32_t)1 << i;
    }
    return PLIM_OK;
}

static plim_status read_form_flags(plim_tsv *file, plim_tsv_field field)
{
    static const char *const names[] = { "plain",  "prose", "report", "glued", "line", "alone",
                                         "signal", "none",  "some",   "dump",  "head", NULL };
    return read_bits(file, field, names, "reads", &((message_row *)file->row)->form.flags);
}

static plim_status read_clause_flags(plim_tsv *file, plim_tsv_field field)
{
    static const char *const names[] = { "key", "early", "last", "glued", "exact", NULL };
    return read_bits(file, field, names, "reads", &((message_row *)file->row)->clause.flags);
}

static plim_status read_figures(plim_tsv *file, plim_tsv_field field, uint32_t *ret)
{
    plim_tsv_field piece = { 0 };
    while (field.bytes > 0 && plim_tsv_cut(&field, ',', &piece)) {
        const plim_figure_id id = plim_pattern_figure(piece.text, piece.bytes);
        if (id == PLIM_FIGURE_COUNT) {
            return plim_tsv_fail(file, "figure '%.*s' is unknown", (int)piece.bytes, piece.text);
        }
        *ret |= PLIM_SAYS(id);
    }
    return PLIM_OK;
}

static plim_status read_says(plim_tsv *file, plim_tsv_field field)
{
    return read_figures(file, field, &((message_row *)file->row)->form.says);
}

static plim_status read_lacks(plim_tsv *file, plim_tsv_field field)
{
    return read_figures(file, field, &((message_row *)file->row)->form.lacks);
}

/* Sets of clauses are whatever clauses.tsv, which is read first, calls them. */
static plim_status read_sets(plim_tsv *file, plim_tsv_field field, bool may_add, uint64_t *ret)
{
    plim_message_table *const table = file->ctx;
    plim_tsv_field piece = { 0 };
    while (field.bytes > 0 && plim_tsv_cut(&field, ',', &piece)) {
        size_t i = 0;
        while (i < table->set_count && !plim_tsv_is(piece, table->sets[i])) {
            i++;
        }
        if (i == table->set_count && (!may_add || i == PLIM_CLAUSE_SETS_MAX)) {
            return plim_tsv_fail(file, "no clause is of the set '%.*s'", (int)piece.bytes,
                                 piece.text);
        }
        if (i == table->set_count) {
            PLIM_TRY(plim_tsv_keep(file, piece, &table->sets[table->set_count++]));
        }
        *ret |= (uint64_t)1 << i;
    }
    return PLIM_OK;
}

static plim_status read_form_sets(plim_tsv *file, plim_tsv_field field)
{
    return read_sets(file, field, false, &((message_row *)file->row)->form.sets);
}

static plim_status read_clause_sets(plim_tsv *file, plim_tsv_field field)
{
    return read_sets(file, field, true, &((message_row *)file->row)->clause.sets);
}

static plim_status read_name(plim_tsv *file, plim_tsv_field field, const plim_names *names,
                             const char *what, size_t *ret)
{
    *ret = plim_names_find(names, field.text, field.bytes);
    return *ret != SIZE_MAX
               ? PLIM_OK
               : plim_tsv_fail(file, "%s '%.*s' is unknown", what, (int)field.bytes, field.text);
}

static plim_status read_family(plim_tsv *file, plim_tsv_field field)
{
    size_t value = 0;
    PLIM_TRY(read_name(file, field, &plim_names_of_families, "program", &value));
    ((message_row *)file->row)->form.family = (plim_oom_family)value;
    return PLIM_OK;
}

static plim_status read_topic(plim_tsv *file, plim_tsv_field field)
{
    size_t value = 0;
    PLIM_TRY(read_name(file, field, &plim_names_of_topics, "topic", &value));
    ((message_row *)file->row)->form.topic = (plim_oom_topic)value;
    return PLIM_OK;
}

static plim_status read_in_force(plim_tsv *file, plim_tsv_field field)
{
    size_t value = PLIM_IN_FORCE_COUNT;
    if (field.bytes > 0) {
        PLIM_TRY(read_name(file, field, &plim_names_in_force, "in_force", &value));
    }
    ((message_row *)file->row)->mark.what = (uint32_t)value;
    return PLIM_OK;
}

static plim_status read_mark_program(plim_tsv *file, plim_tsv_field field)
{
    size_t value = PLIM_FAMILY_ANY;
    if (field.bytes > 0) {
        PLIM_TRY(read_name(file, field, &plim_names_of_families, "program", &value));
    }
    ((message_row *)file->row)->mark.program = (uint32_t)value;
    return PLIM_OK;
}

/* --- rows --- */

bool plim_phrase_next(const char **list, char *ret, size_t ret_bytes)
{
    if (**list == '\0') {
        return false;
    }
    const char *end = strchr(*list, '|');
    const size_t length = end != NULL ? (size_t)(end - *list) : strlen(*list);
    const size_t kept = length < ret_bytes ? length : ret_bytes - 1;
    memcpy(ret, *list, kept);
    ret[kept] = '\0';
    *list += length + (end != NULL);
    return true;
}

/* Each phrase of a list has from `least` to PLIM_SCAN_PHRASE_BYTES_MAX letters and digits. */
static plim_status check_phrases(const plim_tsv *file, const char *list, size_t least)
{
    char phrase[PLIM_PHRASE_TEXT_BYTES];
    char folded[PLIM_PHRASE_TEXT_BYTES + PLIM_FOLD_SLACK_BYTES];
    while (plim_phrase_next(&list, phrase, sizeof phrase)) {
        const size_t bytes =
            plim_fold_plain(NULL, (const unsigned char *)phrase, strlen(phrase), folded);
        if (bytes < least || bytes > PLIM_SCAN_PHRASE_BYTES_MAX) {
            return plim_tsv_fail(file, "phrase '%s' has %zu letters and digits, not %zu to %u",
                                 phrase, bytes, least, PLIM_SCAN_PHRASE_BYTES_MAX);
        }
    }
    return PLIM_OK;
}

/* "@name" stands for the phrases of a list. */
static plim_status resolve(const plim_tsv *file, const char **phrases, size_t least)
{
    const plim_message_table *const table = file->ctx;
    if ((*phrases)[0] != '@') {
        return check_phrases(file, *phrases, least);
    }
    for (size_t i = 0; i < table->list_count; i++) {
        if (strcmp(table->lists[i].name, *phrases + 1) == 0) {
            *phrases = table->lists[i].phrases;
            return PLIM_OK;
        }
    }
    return plim_tsv_fail(file, "there is no list '%s' above", *phrases);
}

#define NEAR_BYTES_MIN 2u /* of a phrase that is only looked for near another */

static plim_status add_form(plim_tsv *file)
{
    plim_message_table *const table = file->ctx;
    plim_form *const form = &((message_row *)file->row)->form;
    PLIM_TRY(resolve(file, &form->phrases, PLIM_SCAN_PHRASE_BYTES_MIN));
    PLIM_TRY(resolve(file, &form->with, NEAR_BYTES_MIN));
    PLIM_TRY(resolve(file, &form->also, NEAR_BYTES_MIN));
    PLIM_TRY(resolve(file, &form->without, NEAR_BYTES_MIN));
    if (table->form_count == PLIM_FORMS_MAX) {
        return plim_tsv_fail(file, "more than %d forms", PLIM_FORMS_MAX);
    }
    table->forms[table->form_count++] = *form;
    return PLIM_OK;
}

static plim_status add_clause(plim_tsv *file)
{
    plim_message_table *const table = file->ctx;
    const plim_clause *const clause = &((message_row *)file->row)->clause;
    const char *wrong =
        clause->before[0] != '\0' && clause->before[0] != '{' ? clause->before : NULL;
    wrong = wrong == NULL ? plim_pattern_fault(clause->before) : wrong;
    wrong = wrong == NULL ? plim_pattern_fault(clause->after) : wrong;
    if (wrong != NULL) {
        return plim_tsv_fail(file, "the pattern has a fault at '%s'", wrong);
    }
    PLIM_TRY(check_phrases(file, clause->phrase, NEAR_BYTES_MIN));
    if (table->clause_count == PLIM_CLAUSES_MAX) {
        return plim_tsv_fail(file, "more than %d clauses", PLIM_CLAUSES_MAX);
    }
    table->clauses[table->clause_count++] = *clause;
    return PLIM_OK;
}

static plim_status add_mark(plim_tsv *file)
{
    plim_message_table *const table = file->ctx;
    const plim_text_mark *const mark = &((message_row *)file->row)->mark;
    PLIM_TRY(check_phrases(file, mark->phrase, PLIM_SCAN_PHRASE_BYTES_MIN));
    if (table->mark_count == PLIM_MARKS_MAX) {
        return plim_tsv_fail(file, "more than %d marks", PLIM_MARKS_MAX);
    }
    table->marks[table->mark_count++] = *mark;
    return PLIM_OK;
}

static plim_status add_list(plim_tsv *file)
{
    plim_message_table *const table = file->ctx;
    const plim_phrase_list *const list = &((message_row *)file->row)->list;
    PLIM_TRY(check_phrases(file, list->phrases, PLIM_SCAN_PHRASE_BYTES_MIN));
    if (table->list_count == PLIM_PHRASE_LISTS_MAX) {
        return plim_tsv_fail(file, "more than %d lists", PLIM_PHRASE_LISTS_MAX);
    }
    table->lists[table->list_count++] = *list;
    return PLIM_OK;
}

static plim_status add_words(plim_tsv *file)
{
    plim_message_table *const table = file->ctx;
    const message_row *const row = file->row;
    const char **const rows = table->words[row->words];
    size_t i = 0;
    while (rows[i] != NULL) {
        i++;
    }
    if (i == PLIM_WORD_ROWS_MAX) {
        return plim_tsv_fail(file, "more than %d rows of one list", PLIM_WORD_ROWS_MAX);
    }
    rows[i] = row->list.phrases;
    return PLIM_OK;
}

/* --- files --- */

#define TEXT(column, field, empty)                                    \
    {                                                                 \
        .name = column, .kind = PLIM_TSV_TEXT, .may_be_empty = empty, \
        .offset = offsetof(message_row, field)                        \
    }
#define READ(column, function, empty)                                                   \
    {                                                                                   \
        .name = column, .kind = PLIM_TSV_OTHER, .may_be_empty = empty, .read = function \
    }
#define BYTES(column, field)                                                        \
    {                                                                               \
        .name = column, .kind = PLIM_TSV_U32, .may_be_empty = true,                 \
        .offset = offsetof(message_row, field), .limit = REACH_BYTES_MAX, .unit = 1 \
    }

static const plim_tsv_column list_columns[] = {
    TEXT("name", list.name, false),
    TEXT("phrases", list.phrases, false),
};

static const plim_tsv_column form_columns[] = {
    TEXT("form", form.name, false),        TEXT("framework", form.framework, false),
    TEXT("versions", form.versions, true), READ("program", read_family, false),
    READ("topic", read_topic, false),      TEXT("phrases", form.phrases, false),
    TEXT("with", form.with, true),         TEXT("also", form.also, true),
    TEXT("without", form.without, true),   READ("clauses", read_form_sets, true),
    READ("says", read_says, true),         READ("lacks", read_lacks, true),
    BYTES("before", form.before),          BYTES("after", form.after),
    READ("reads", read_form_flags, true),
};

static const plim_tsv_column clause_columns[] = {
    READ("clauses", read_clause_sets, false), READ("reads", read_clause_flags, true),
    TEXT("phrase", clause.phrase, false),     TEXT("before", clause.before, true),
    TEXT("after", clause.after, true),
};

static const plim_tsv_column mark_columns[] = {
    TEXT("phrase", mark.phrase, false),
    READ("in_force", read_in_force, true),
    READ("program", read_mark_program, true),
    TEXT("follows", mark.follows, true),
};

#define WORDS_NAME(code, name) name,
static const char *const word_lists[] = { PLIM_WORD_LIST(WORDS_NAME) NULL };
#undef WORDS_NAME

static const plim_tsv_column word_columns[] = {
    { .name = "list",
      .kind = PLIM_TSV_WORD,
      .offset = offsetof(message_row, words),
      .words = word_lists },
    TEXT("words", list.phrases, false),
};

#define SECTION(title, columns, add)                                \
    {                                                               \
        title, columns, sizeof(columns) / sizeof((columns)[0]), add \
    }

plim_status plim_message_table_read(const plim_message_lines *lines, plim_message_table *table,
                                    char texts[PLIM_TABLE_TEXT_BYTES], plim_error *err)
{
    static const plim_tsv_section clauses[] = { SECTION(NULL, clause_columns, add_clause) };
    static const plim_tsv_section forms[] = { SECTION("[lists]", list_columns, add_list),
                                              SECTION("[forms]", form_columns, add_form) };
    static const plim_tsv_section words[] = { SECTION("[words]", word_columns, add_words),
                                              SECTION("[marks]", mark_columns, add_mark) };
    message_row row;
    plim_tsv file = { .name = "clauses.tsv",
                      .lines = lines->clauses,
                      .row = &row,
                      .row_bytes = sizeof row,
                      .texts = texts,
                      .texts_bytes = PLIM_TABLE_TEXT_BYTES,
                      .ctx = table,
                      .err = err };
    PLIM_TRY(plim_tsv_read(&file, clauses, 1));
    file.name = "forms.tsv";
    file.lines = lines->forms;
    PLIM_TRY(plim_tsv_read(&file, forms, 2));
    file.name = "words.tsv";
    file.lines = lines->words;
    return plim_tsv_read(&file, words, 2);
}

uint64_t plim_clause_sets(const plim_message_table *table, const char *names)
{
    plim_tsv_field field = { names, strlen(names) };
    plim_tsv_field piece = { 0 };
    uint64_t sets = 0;
    while (plim_tsv_cut(&field, ',', &piece)) {
        for (size_t i = 0; i < table->set_count; i++) {
            sets |= (uint64_t)plim_tsv_is(piece, table->sets[i]) << i;
        }
    }
    return sets;
}
