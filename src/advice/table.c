/*
 * table.c - reading fixes.txt: records of "key: value" lines; docs/formats/fixes.md.
 */
#include "advice/table.h"

#include "advice/values.h"
#include "base/ascii.h"
#include "base/error.h"
#include "base/size.h"
#include "base/tsv.h"
#include "verdict/names.h"

#include <string.h>

typedef enum fix_record {
    FIX_RECORD_NONE,
    FIX_RECORD_GROUP,
    FIX_RECORD_WORD,
    FIX_RECORD_FIX
} fix_record;

typedef struct fix_reader {
    plim_fix_table *table;
    const char *const *lines;
    unsigned line;                             /* from 1 */
    fix_record record;                         /* that is open: the last of its kind in the table */
    bool may_continue;                         /* the last line was a text or a command */
    plim_tsv_field last_names[PLIM_FIX_KINDS]; /* fixes beside each other often name the same */
    uint64_t last_masks[PLIM_FIX_KINDS];
    plim_error *err;
} fix_reader;

#define FAIL(r, ...) plim_fail((r)->err, PLIM_CORRUPT, "fixes.txt:%u: " __VA_ARGS__)

static const char *const place_names[] = { "in order", "leading", "closing", "resort" };

static const struct {
    const char *key;
    const plim_names *names;
} kinds[PLIM_FIX_KINDS] = {
    [PLIM_FIX_VERDICT] = { "verdict", &plim_names_of_verdicts },
    [PLIM_FIX_PROGRAM] = { "program", &plim_names_of_families },
    [PLIM_FIX_TOPIC] = { "topic", &plim_names_of_topics },
    [PLIM_FIX_REASON] = { "reason", &plim_names_of_reasons },
    [PLIM_FIX_SETTING] = { "setting", &plim_names_in_force },
    [PLIM_FIX_PLACE] = { "place", &(const plim_names){ place_names, 4 } },
};

_Static_assert(PLIM_FAMILY_COUNT <= 64 && PLIM_TOPIC_COUNT <= 64, "a mask has 64 bits");

/* As plim_tsv_is(), and most often decided by the first byte: thousands are compared at the start.
 */
static inline bool is(plim_tsv_field field, const char *text)
{
    return field.text[0] == text[0] && plim_tsv_is(field, text);
}

/* Takes the next word from the front of `rest`; false without one. */
static bool next_word(plim_tsv_field *rest, plim_tsv_field *ret_word)
{
    const char *const end = rest->text + rest->bytes;
    const char *at = rest->text;
    while (at < end && *at == ' ') {
        at++;
    }
    ret_word->text = at;
    while (at < end && *at != ' ') {
        at++;
    }
    ret_word->bytes = (size_t)(at - ret_word->text);
    *rest = (plim_tsv_field){ at, (size_t)(end - at) };
    return ret_word->bytes > 0;
}

/* --- sets of names --- */

static uint64_t mask_of_name(const fix_reader *r, plim_fix_kind kind, plim_tsv_field name)
{
    for (size_t i = 0; i < r->table->group_count; i++) {
        const plim_fix_group *const group = &r->table->groups[i];
        if (group->kind == kind && is(name, group->name)) {
            return group->mask;
        }
    }
    const size_t at = plim_names_find(kinds[kind].names, name.text, name.bytes);
    return at == SIZE_MAX ? 0 : (uint64_t)1 << at;
}

/* "a b c": these; "not a b c": all others. */
static plim_status read_names(fix_reader *r, plim_fix_kind kind, plim_tsv_field rest,
                              uint64_t *ret_mask)
{
    const uint64_t all = UINT64_MAX >> (64 - kinds[kind].names->count);
    const plim_tsv_field list = rest;
    const plim_tsv_field last = r->last_names[kind];
    uint64_t mask = 0;
    bool is_negated = false;
    plim_tsv_field word;
    if (last.bytes > 0 && list.bytes == last.bytes &&
        memcmp(list.text, last.text, last.bytes) == 0) {
        *ret_mask = r->last_masks[kind];
        return PLIM_OK;
    }
    while (next_word(&rest, &word)) {
        const uint64_t bits = mask_of_name(r, kind, word);
        if (is(word, "not") && mask == 0 && !is_negated) {
            is_negated = true;
        } else if (bits == 0) {
            return FAIL(r, "no %s is called '%.*s'", r->line, kinds[kind].key, (int)word.bytes,
                        word.text);
        }
        mask |= bits;
    }
    if (mask == 0) {
        return FAIL(r, "no %s is named", r->line, kinds[kind].key);
    }
    *ret_mask = is_negated ? all & ~mask : mask;
    r->last_names[kind] = list;
    r->last_masks[kind] = *ret_mask;
    return PLIM_OK;
}

/* --- conditions --- */

static plim_status read_operand(const fix_reader *r, plim_tsv_field word, plim_fix_condition *ret)
{
    char text[32];
    ret->right = plim_fix_value_find(word.text, word.bytes);
    ret->number = 1;
    if (ret->right != PLIM_FIX_VALUE_NONE) {
        return PLIM_OK;
    }
    if (word.bytes == 1 && plim_is_digit(word.text[0])) {
        ret->number = (uint64_t)(word.text[0] - '0'); /* a count */
        return PLIM_OK;
    }
    if (word.bytes < sizeof text) {
        memcpy(text, word.text, word.bytes);
        text[word.bytes] = '\0';
        if (plim_size_parse(text, &ret->number, NULL) == PLIM_OK) {
            return PLIM_OK;
        }
    }
    return FAIL(r, "'%.*s' is neither a figure nor a size", r->line, (int)word.bytes, word.text);
}

static plim_status read_relation(const fix_reader *r, plim_tsv_field rest, plim_fix_condition *ret)
{
    static const char *const relations[] = { ">=", "<=", ">", "<" };
    plim_tsv_field word;
    if (!next_word(&rest, &word)) {
        return PLIM_OK; /* "figure": it is known */
    }
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        if (is(word, relations[i])) {
            memcpy(ret->relation, relations[i], strlen(relations[i]) + 1);
        }
    }
    if (ret->relation[0] == '\0' || !next_word(&rest, &word)) {
        return FAIL(r, "a condition is '[not] figure [>= figure [/ digit]]'", r->line);
    }
    PLIM_TRY(read_operand(r, word, ret));
    if (!next_word(&rest, &word)) {
        return PLIM_OK;
    }
    plim_tsv_field divisor;
    if (!is(word, "/") || !next_word(&rest, &divisor) || ret->right == PLIM_FIX_VALUE_NONE ||
        divisor.bytes != 1 || divisor.text[0] < '2' || divisor.text[0] > '9' ||
        next_word(&rest, &word)) {
        return FAIL(r, "a figure is divided by one digit, and that ends the condition", r->line);
    }
    ret->number = (uint64_t)(divisor.text[0] - '0');
    return PLIM_OK;
}

static plim_status read_condition(const fix_reader *r, plim_tsv_field rest)
{
    plim_fix_table *const table = r->table;
    plim_fix_condition condition = { .right = PLIM_FIX_VALUE_NONE };
    plim_tsv_field word;
    (void)next_word(&rest, &word);
    if (is(word, "not")) {
        condition.is_negated = true;
        (void)next_word(&rest, &word);
    }
    condition.left = plim_fix_value_find(word.text, word.bytes);
    if (condition.left == PLIM_FIX_VALUE_NONE) {
        return FAIL(r, "no figure is called '%.*s'", r->line, (int)word.bytes, word.text);
    }
    PLIM_TRY(read_relation(r, rest, &condition));
    if (table->condition_count == PLIM_FIX_CONDITIONS_MAX) {
        return FAIL(r, "more than %d conditions", r->line, PLIM_FIX_CONDITIONS_MAX);
    }
    table->conditions[table->condition_count++] = condition;
    table->fixes[table->count - 1].conditions.count++;
    return PLIM_OK;
}

/* --- texts, commands, words --- */

bool plim_fix_placeholder(const char **at, const char **ret_name, size_t *ret_bytes)
{
    const char *end = *at + 1;
    if (**at != '{') {
        return false;
    }
    while (plim_is_lower(*end) || *end == '_') {
        end++;
    }
    if (*end != '}' || end == *at + 1) {
        return false;
    }
    *ret_name = *at + 1;
    *ret_bytes = (size_t)(end - *at - 1);
    *at = end + 1;
    return true;
}

const char *plim_fix_line(const plim_fix_table *table, const plim_fix_wording *wording,
                          size_t index)
{
    return table->lines[wording->line + index] + (index == 0 ? wording->begin : 1);
}

const plim_fix_word *plim_fix_word_find(const plim_fix_table *table, const char *name, size_t bytes)
{
    for (size_t i = 0; i < table->word_count; i++) {
        if (is((plim_tsv_field){ name, bytes }, table->words[i].name)) {
            return &table->words[i];
        }
    }
    return NULL;
}

/* The rest of a key, after "text", "command" or nothing: "for <programs>", "with <settings>". */
static plim_status read_qualifier(fix_reader *r, plim_tsv_field rest, plim_fix_wording *wording)
{
    plim_tsv_field word;
    if (!next_word(&rest, &word)) {
        return PLIM_OK;
    }
    if (is(word, "for")) {
        return read_names(r, PLIM_FIX_PROGRAM, rest, &wording->programs);
    }
    if (is(word, "with")) {
        return read_names(r, PLIM_FIX_SETTING, rest, &wording->with);
    }
    return FAIL(r, "no key is called so", r->line);
}

static plim_status add_wording(fix_reader *r, plim_tsv_field qualifier, plim_tsv_field value,
                               plim_fix_run *run)
{
    plim_fix_table *const table = r->table;
    const uint32_t line = r->line - 1;
    plim_fix_wording wording = { .line = line,
                                 .begin = (uint32_t)(value.text - r->lines[line]),
                                 .line_count = 1 };
    PLIM_TRY(read_qualifier(r, qualifier, &wording));
    if (table->wording_count == PLIM_FIX_WORDINGS_MAX) {
        return FAIL(r, "more than %d texts and commands", r->line, PLIM_FIX_WORDINGS_MAX);
    }
    if (run->count > 0 && run->first + run->count != table->wording_count) {
        return FAIL(r, "texts stand together, and so do commands", r->line);
    }
    run->first = run->count == 0 ? table->wording_count : run->first;
    run->count++;
    table->wordings[table->wording_count++] = wording;
    r->may_continue = true;
    return PLIM_OK;
}

static plim_status continue_wording(fix_reader *r)
{
    if (!r->may_continue) {
        return FAIL(r, "only a text and a command go on in the next line", r->line);
    }
    r->table->wordings[r->table->wording_count - 1].line_count++;
    return PLIM_OK;
}

/* --- records --- */

static plim_status read_group_line(fix_reader *r, plim_tsv_field key, plim_tsv_field value)
{
    plim_fix_group *const group = &r->table->groups[r->table->group_count - 1];
    for (plim_fix_kind kind = 0; kind < PLIM_FIX_PLACE; kind++) {
        if (is(key, kinds[kind].key) && group->mask == 0) {
            group->kind = kind;
            return read_names(r, kind, value, &group->mask);
        }
    }
    return FAIL(r, "a group has one line more: program, topic, setting, verdict or reason",
                r->line);
}

static plim_status read_place(fix_reader *r, plim_tsv_field value, plim_fix *fix)
{
    uint64_t mask = 0;
    PLIM_TRY(read_names(r, PLIM_FIX_PLACE, value, &mask));
    while (mask > 1) {
        mask >>= 1;
        fix->place++;
    }
    return PLIM_OK;
}

static plim_status read_fix_line(fix_reader *r, plim_tsv_field key, plim_tsv_field value)
{
    plim_fix *const fix = &r->table->fixes[r->table->count - 1];
    plim_tsv_field qualifier = key;
    plim_tsv_field first;
    (void)next_word(&qualifier, &first);
    if (is(first, "text")) {
        return add_wording(r, qualifier, value, &fix->texts);
    }
    if (is(first, "command")) {
        return add_wording(r, qualifier, value, &fix->commands);
    }
    for (plim_fix_kind kind = 0; kind < PLIM_FIX_SETTING; kind++) {
        if (is(key, kinds[kind].key)) {
            return read_names(r, kind, value, &fix->masks[kind]);
        }
    }
    if (is(key, "if")) {
        return read_condition(r, value);
    } else if (is(key, "maybe")) {
        return read_names(r, PLIM_FIX_VERDICT, value, &fix->maybe);
    } else if (is(key, "unless")) {
        return read_names(r, PLIM_FIX_SETTING, value, &fix->unless);
    } else if (is(key, "with")) {
        return read_names(r, PLIM_FIX_SETTING, value, &fix->with);
    } else if (is(key, "place")) {
        return read_place(r, value, fix);
    } else if (is(key, "finding")) {
        fix->finding = value.text;
    } else if (is(key, "not beside")) {
        fix->not_beside = value.text;
    } else if (is(key, "source")) {
        fix->source = value.text;
    } else {
        return FAIL(r, "no key is called '%.*s'", r->line, (int)key.bytes, key.text);
    }
    return PLIM_OK;
}

static plim_status open_fix(fix_reader *r, const char *id)
{
    plim_fix_table *const table = r->table;
    if (table->count == PLIM_FIXES_MAX) {
        return FAIL(r, "more than %d fixes", r->line, PLIM_FIXES_MAX);
    }
    table->fixes[table->count++] =
        (plim_fix){ .id = id, .conditions = { table->condition_count, 0 } };
    r->record = FIX_RECORD_FIX;
    return PLIM_OK;
}

static plim_status open_record(fix_reader *r, plim_tsv_field key, const char *name)
{
    plim_fix_table *const table = r->table;
    if (is(key, "fix")) {
        return open_fix(r, name);
    }
    if (is(key, "group") && table->group_count < PLIM_FIX_GROUPS_MAX) {
        table->groups[table->group_count++] = (plim_fix_group){ .name = name };
        r->record = FIX_RECORD_GROUP;
        return PLIM_OK;
    }
    if (is(key, "word") && table->word_count < PLIM_FIX_WORDS_MAX) {
        table->words[table->word_count++] = (plim_fix_word){ .name = name };
        r->record = FIX_RECORD_WORD;
        return PLIM_OK;
    }
    return FAIL(r, "a record begins with fix, group or word, and not '%.*s'", r->line,
                (int)key.bytes, key.text);
}

static plim_status check_fix(const fix_reader *r, const plim_fix *fix)
{
    if (fix->source == NULL || fix->texts.count == 0) {
        return FAIL(r, "fix '%s' has no %s", r->line, fix->id,
                    fix->source == NULL ? "source" : "text");
    }
    if ((fix->unless & fix->with) != 0) {
        return FAIL(r, "fix '%s' wants a setting and its absence", r->line, fix->id);
    }
    return PLIM_OK;
}

static plim_status close_record(fix_reader *r)
{
    const fix_record closed = r->record;
    r->record = FIX_RECORD_NONE;
    r->may_continue = false;
    if (closed == FIX_RECORD_FIX) {
        return check_fix(r, &r->table->fixes[r->table->count - 1]);
    }
    if (closed == FIX_RECORD_GROUP && r->table->groups[r->table->group_count - 1].mask == 0) {
        return FAIL(r, "a group names nothing", r->line);
    }
    return PLIM_OK;
}

static plim_status read_line(fix_reader *r, const char *line)
{
    if (line[0] == '\0') {
        return close_record(r);
    }
    if (line[0] == '#') {
        return PLIM_OK;
    }
    if (line[0] == ' ' && line[1] == ' ') {
        return continue_wording(r);
    }
    const char *const colon = strchr(line, ':');
    if (colon == NULL || colon[1] != ' ' || colon[2] == '\0') {
        return FAIL(r, "a line is 'key: value'", r->line);
    }
    const plim_tsv_field key = { line, (size_t)(colon - line) };
    const plim_tsv_field value = { colon + 2, strlen(colon + 2) };
    r->may_continue = false;
    switch (r->record) {
    case FIX_RECORD_GROUP:
        return read_group_line(r, key, value);
    case FIX_RECORD_WORD:
        return add_wording(r, key, value, &r->table->words[r->table->word_count - 1].wordings);
    case FIX_RECORD_FIX:
        return read_fix_line(r, key, value);
    case FIX_RECORD_NONE:
        break;
    }
    return open_record(r, key, value.text);
}

plim_status plim_fix_table_read(const char *const *lines, plim_fix_table *table, plim_error *err)
{
    fix_reader r = { .table = table, .lines = lines, .err = err };
    table->lines = lines;
    while (lines[r.line] != NULL) {
        const char *const line = lines[r.line++];
        PLIM_TRY(read_line(&r, line));
    }
    return close_record(&r);
}

/* --- the whole table --- */

#define FAULT(fix, err, ...) plim_fail(err, PLIM_CORRUPT, "fixes.txt: fix '%s' " __VA_ARGS__)

/* Counts the figures of a line, whose placeholders must all be known. */
static plim_status check_line(const plim_fix_table *table, const plim_fix *fix, const char *line,
                              size_t *figures, plim_error *err)
{
    const char *name = NULL;
    size_t bytes = 0;
    while (*line != '\0') {
        if (!plim_fix_placeholder(&line, &name, &bytes)) {
            line++;
        } else if (plim_fix_value_find(name, bytes) != PLIM_FIX_VALUE_NONE) {
            ++*figures;
        } else if (plim_fix_word_find(table, name, bytes) == NULL) {
            return FAULT(fix, err, "names {%.*s}, which is neither figure nor word", fix->id,
                         (int)bytes, name);
        }
    }
    return PLIM_OK;
}

static plim_status check_wordings(const plim_fix_table *table, const plim_fix *fix,
                                  plim_fix_run run, size_t *ret_figures, plim_error *err)
{
    for (size_t i = 0; i < run.count; i++) {
        const plim_fix_wording *const wording = &table->wordings[run.first + i];
        *ret_figures = 0; /* of the last */
        for (size_t k = 0; k < wording->line_count; k++) {
            const char *const line = plim_fix_line(table, wording, k);
            PLIM_TRY(check_line(table, fix, line, ret_figures, err));
        }
    }
    return PLIM_OK;
}

static const plim_fix *find_before(const plim_fix_table *table, size_t end, const char *id)
{
    for (size_t i = 0; i < end; i++) {
        if (strcmp(table->fixes[i].id, id) == 0) {
            return &table->fixes[i];
        }
    }
    return NULL;
}

plim_status plim_fix_table_check(const plim_fix_table *table, plim_error *err)
{
    for (size_t i = 0; i < table->count; i++) {
        const plim_fix *const fix = &table->fixes[i];
        const plim_fix_wording *const last =
            &table->wordings[fix->texts.first + fix->texts.count - 1];
        size_t figures = 0;
        if (find_before(table, i, fix->id) != NULL) {
            return FAULT(fix, err, "stands twice", fix->id);
        }
        if (fix->not_beside != NULL && find_before(table, i, fix->not_beside) == NULL) {
            return FAULT(fix, err, "is not beside '%s', which is not above", fix->id,
                         fix->not_beside);
        }
        PLIM_TRY(check_wordings(table, fix, fix->commands, &figures, err));
        PLIM_TRY(check_wordings(table, fix, fix->texts, &figures, err));
        if (figures > 0 || last->programs != 0 || last->with != 0) {
            return FAULT(fix, err, "needs a last text for all cases, without figures", fix->id);
        }
    }
    return PLIM_OK;
}
