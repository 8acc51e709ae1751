/*
 * parse.c - a line's numbers, one after the other: who, when, or how much.
 *
 * A number after "rank" or "GPU" says whose figures follow, one after "step" or "epoch" says
 * when, and one whose words speak of memory is a figure. Which words do is argued in
 * docs/design/series.md.
 */
#include "series/plan.h"

#include "series/candidate.h"

#include "base/error.h"

#include <string.h>

#define WHO_DIGITS_MAX  7u /* as many as the number of a process has */
#define LABEL_WORDS_MAX 10u
#define STEP_WORDS_MAX  6u
#define EXTENSION_MAX   4u
#define UNIT_MEBI       20

static char at_or_blank(const line_reading *all, size_t at)
{
    return at < all->length ? all->line[at] : ' ';
}

static size_t skip_blanks(const line_reading *all, size_t at)
{
    while (at < all->length && all->line[at] == ' ') {
        at++;
    }
    return at;
}

/* --- a number and its neighbours --- */

typedef struct number_view {
    size_t index;
    plim_series_span text;
    plim_series_unit unit;
    plim_series_words words; /* of the label */
    bool is_whole;
    bool has_total; /* "12/500": the next number is it */
} number_view;

static bool is_ascii_name(char c)
{
    return c == '_' || plim_is_letter(c);
}

/* Part of a name: stage2_mem, gpu_0_memory, but not rank0: or mem4. */
static bool is_inside_name(const line_reading *all, plim_series_span number)
{
    const char before = number.at == 0 ? ' ' : all->line[number.at - 1];
    const char after = at_or_blank(all, number.end);
    return is_ascii_name(before) && is_ascii_name(after);
}

static bool has_total(const line_reading *all, size_t index, const plim_series_unit *unit)
{
    const size_t slash = skip_blanks(all, unit->text.end);
    return index + 1 < all->number_count && at_or_blank(all, slash) == '/' &&
           skip_blanks(all, slash + 1) == all->numbers[index + 1].at;
}

static number_view view_of(const line_reading *all, size_t index)
{
    number_view view = { .index = index, .text = all->numbers[index] };
    view.unit = plim_series_unit_after(all->line, all->length, view.text);
    view.has_total = has_total(all, index, &view.unit);
    if (view.has_total && view.unit.log2 == PLIM_UNIT_NONE) {
        /* "12345 / 40960 MB" */
        const plim_series_span total = all->numbers[index + 1];
        const plim_series_unit unit = plim_series_unit_after(all->line, all->length, total);
        view.unit.log2 = unit.log2;
        view.unit.text = unit.log2 >= 0 ? unit.text : view.unit.text;
    }
    view.words = plim_series_words_of(all->line, all->walk.label);
    view.is_whole = plim_series_number_is_whole(all->line, view.text);
    return view;
}

/* --- who --- */

/* The last word of a label. */
static plim_series_span last_word(const char *line, plim_series_span label)
{
    plim_series_span word = { .at = label.end, .end = label.end };
    while (word.at > label.at && plim_is_alphabetic(line[word.at - 1])) {
        word.at--;
    }
    return word;
}

/* "on cuda", "for rank", "(GPU" */
static bool is_afterthought(const line_reading *all, plim_series_span word)
{
    static const char *const before[] = { "(", "on ", "for " };
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        const size_t length = strlen(before[i]);
        if (word.at >= length && memcmp(all->line + word.at - length, before[i], length) == 0) {
            return true;
        }
    }
    return false;
}

/* Braces that were closed end what was said of them. */
static bool has_left(const line_reading *all, const who *one)
{
    return one->depth > 0 && all->walk.closed_to != UINT32_MAX && all->walk.closed_to <= one->depth;
}

static void forget_whose(line_reading *all, bool of_keys)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->whose_count; i++) {
        const who *const one = &all->whose[i];
        if (of_keys ? !one->is_in_key : !has_left(all, one)) {
            all->whose[kept++] = *one;
        }
    }
    all->whose_count = kept;
}

static bool take_who(line_reading *all, const number_view *view)
{
    const bool fits = (view->words.last & PLIM_WORD_IDENTITY) != 0 && view->is_whole &&
                      view->unit.log2 == PLIM_UNIT_NONE && !view->has_total &&
                      view->text.end - view->text.at <= WHO_DIGITS_MAX &&
                      (view->words.any & PLIM_WORD_MEMORY) == 0;
    if (!fits) {
        return false;
    }
    plim_series_plan_pin(all->plan, view->index);
    all->who_label = all->walk.label;
    who one = { .word = last_word(all->line, all->walk.label),
                .number = view->text,
                .depth = all->walk.depth };
    one.is_afterthought = is_afterthought(all, one.word);
    const char after = at_or_blank(all, view->text.end);
    one.is_in_key = after == '.' || after == '/';
    for (uint32_t i = 0; i < all->whose_count; i++) {
        if (plim_series_same_word(all->line, all->whose[i].word, one.word)) {
            all->whose[i] = one;
            return true;
        }
    }
    if (all->whose_count < PLIM_SERIES_WHO_MAX) {
        all->whose[all->whose_count++] = one;
    }
    return true;
}

/* --- when --- */

static bool is_progress_bar(const line_reading *all, const number_view *view)
{
    if (!view->has_total) {
        return false;
    }
    const size_t bracket = skip_blanks(all, all->numbers[view->index + 1].end);
    return at_or_blank(all, bracket) == '[' && plim_is_digit(at_or_blank(all, bracket + 1));
}

/* "(after 10 iterations)" */
static bool is_after_steps(const line_reading *all, const number_view *view)
{
    const plim_series_span word = last_word(all->line, all->walk.label);
    if (word.end - word.at != 5 || memcmp(all->line + word.at, "after", 5) != 0) {
        return false;
    }
    plim_series_span after = { .at = (uint32_t)skip_blanks(all, view->text.end) };
    after.end = after.at;
    while (plim_is_alphabetic(at_or_blank(all, after.end))) {
        after.end++;
    }
    static const char iterations[] = "iterations";
    const size_t length = after.end - after.at;
    return (length >= 4 && length < sizeof iterations &&
            memcmp(all->line + after.at, iterations, 4) == 0) ||
           (length == 5 && memcmp(all->line + after.at, "steps", 5) == 0);
}

static step_rank rank_step(const line_reading *all, const number_view *view)
{
    const plim_series_words *const words = &view->words;
    if (!view->is_whole || words->count > STEP_WORDS_MAX) {
        return STEP_NONE;
    }
    if ((words->any & PLIM_WORD_STEP) != 0 && view->unit.log2 == PLIM_UNIT_NONE) {
        if ((words->last & PLIM_WORD_STEP) != 0 && (words->any & PLIM_WORD_GLOBAL) != 0) {
            return STEP_GLOBAL;
        }
        if ((words->any & PLIM_WORD_NO_STEP) == 0) {
            return words->step_name[0] == 'b' ? STEP_BATCH : STEP_NAMED;
        }
        return STEP_NONE;
    }
    /* "Epoch [3][120/500]", "epoch 001:    100 / 1000" */
    if (all->epoch_end > 0 && all->walk.is_bare && view->has_total) {
        return STEP_NAMED;
    }
    if (is_after_steps(all, view)) {
        return STEP_NAMED;
    }
    return is_progress_bar(all, view) ? STEP_BAR : STEP_NONE;
}

static bool take_step(line_reading *all, const number_view *view)
{
    plim_series_plan *const plan = all->plan;
    const bool is_epoch =
        (view->words.any & (PLIM_WORD_EPOCH | PLIM_WORD_NO_STEP)) == PLIM_WORD_EPOCH &&
        view->words.count <= STEP_WORDS_MAX && view->is_whole;
    if (is_epoch && plan->epoch == PLIM_SERIES_NO_NUMBER) {
        plan->epoch = (uint16_t)view->index;
        all->epoch_end = view->has_total ? all->numbers[view->index + 1].end : view->text.end;
        return true;
    }
    const step_rank rank = rank_step(all, view);
    if (rank <= all->step_rank) {
        return rank != STEP_NONE;
    }
    all->step_rank = rank;
    plan->step = (uint16_t)view->index;
    plan->step_total =
        view->has_total && rank < STEP_GLOBAL ? (uint16_t)(view->index + 1) : PLIM_SERIES_NO_NUMBER;
    plan->step_name = view->words.step_name != NULL ? view->words.step_name : "step";
    return true;
}

/* "_timestamp": 1767323045.25; after a figure of Prometheus, in thousandths and without words. */
static bool take_time(line_reading *all, const number_view *view)
{
    const bool is_said = (view->words.any & PLIM_WORD_TIME) != 0;
    const bool is_after = all->candidate_count > 0 && all->walk.is_bare;
    if ((!is_said && !is_after) || !plim_series_is_epoch(all->line, view->text, is_said)) {
        return false;
    }
    if (all->plan->stamp.kind == PLIM_STAMP_NONE) {
        all->plan->stamp =
            (plim_series_stamp){ .kind = PLIM_STAMP_EPOCH, .clock = (uint16_t)view->index };
    }
    return true;
}

static void settle_step(plim_series_plan *plan)
{
    if (plan->step == PLIM_SERIES_NO_NUMBER && plan->epoch != PLIM_SERIES_NO_NUMBER) {
        plan->step = plan->epoch;
        plan->step_name = "epoch";
        plan->step_total = PLIM_SERIES_NO_NUMBER;
    }
    if (plan->step_total == PLIM_SERIES_NO_NUMBER) {
        plan->epoch = PLIM_SERIES_NO_NUMBER;
    }
    if (plan->epoch == PLIM_SERIES_NO_NUMBER) {
        plan->step_total = PLIM_SERIES_NO_NUMBER;
    }
}

/* --- how much --- */

/* "memory.py:81" */
static bool is_place_in_code(const char *line, plim_series_span label)
{
    static const char extensions[][EXTENSION_MAX] = { "py", "cc", "cpp", "c", "cu",
                                                      "h",  "rs", "go",  "js" };
    const plim_series_span word = last_word(line, label);
    if (word.at == label.at || line[word.at - 1] != '.') {
        return false;
    }
    const size_t length = word.end - word.at;
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        if (length < EXTENSION_MAX && strlen(extensions[i]) == length &&
            memcmp(line + word.at, extensions[i], length) == 0) {
            return true;
        }
    }
    return false;
}

/* A sign in front (a difference), or something like a date, a version or a time after. */
static bool is_odd(const line_reading *all, plim_series_span number)
{
    const char before = number.at == 0 ? ' ' : all->line[number.at - 1];
    const char after = at_or_blank(all, number.end);
    const bool goes_on = after == ':' || after == '-' || after == '.';
    const plim_series_span label = all->walk.label;
    const bool is_sum =
        !plim_series_span_is_empty(label) && all->line[label.end - 1] == '+'; /* += */
    return is_sum || before == '-' || before == '+' || before == '.' || after == '_' ||
           (goes_on && plim_is_digit(at_or_blank(all, number.end + 1)));
}

/* nvidia-smi and gpustat: "|  12345MiB / 24576MiB |", the header far away. */
static bool is_smi(const line_reading *all, const number_view *view)
{
    size_t at = view->text.at;
    while (at > 0 && all->line[at - 1] == ' ') {
        at--;
    }
    return all->walk.is_bare && view->has_total && view->unit.log2 >= UNIT_MEBI && at > 0 &&
           all->line[at - 1] == '|';
}

static uint32_t words_of_parents(const line_reading *all)
{
    uint32_t any = 0;
    const uint32_t depth =
        all->walk.depth < PLIM_LABEL_PARENTS_MAX ? all->walk.depth : PLIM_LABEL_PARENTS_MAX;
    for (uint32_t i = 0; i < depth; i++) {
        any |= plim_series_words_of(all->line, all->walk.parents[i]).any;
    }
    return any;
}

/* "GPU 0: used=…": the figures after it are the device's. */
static bool is_of_device(const line_reading *all)
{
    for (uint32_t i = 0; i < all->whose_count; i++) {
        if ((plim_series_words_of(all->line, all->whose[i].word).any & PLIM_WORD_ACCELERATOR) !=
            0) {
            return true;
        }
    }
    return false;
}

/* True if the words speak of memory; the context is dropped if it is not needed for that. */
static bool is_memory(const line_reading *all, const number_view *view, number_candidate *ret)
{
    const plim_series_words *const own = &view->words;
    const plim_series_words context = plim_series_words_of(all->line, ret->context);
    const uint32_t parents = words_of_parents(all);
    ret->words = own->any | parents;
    ret->unit = view->unit.log2 >= 0 ? view->unit : own->unit;
    if (((own->any | parents) & PLIM_WORD_NEVER) != 0 || own->count > LABEL_WORDS_MAX) {
        return false;
    }
    const bool has_unit = ret->unit.log2 >= 0;
    const bool alone = (own->any & PLIM_WORD_MEMORY) != 0 ||
                       ((own->any & PLIM_WORD_HOLD) != 0 && has_unit) ||
                       ((own->any & PLIM_WORD_FREE) != 0 && own->count == 2 && has_unit &&
                        view->unit.log2 == PLIM_UNIT_NONE) || /* fairseq: gb_free */
                       ((own->any & PLIM_WORD_NAMED_DEVICE) != 0 && view->unit.log2 >= 0) ||
                       ((own->any & PLIM_WORD_AMOUNT) != 0 && own->count == 1 &&
                        view->unit.log2 >= 0 && is_of_device(all)) ||
                       ((parents & PLIM_WORD_MEMORY) != 0 &&
                        (own->any & (PLIM_WORD_HOLD | PLIM_WORD_AMOUNT)) != 0);
    const plim_series_section *const section =
        plim_series_sections_find(&all->parser->sections, false);
    if ((own->any & PLIM_WORD_MEMORY) != 0) {
        ret->context = (plim_series_span){ 0 };
        return true;
    }
    if ((context.any & PLIM_WORD_MEMORY) != 0 &&
        (own->any & (PLIM_WORD_HOLD | PLIM_WORD_AMOUNT)) != 0) {
        ret->words |= context.any;
        ret->unit = has_unit ? ret->unit : context.unit;
        return true;
    }
    ret->context = (plim_series_span){ 0 };
    if (!alone && section != NULL && has_unit &&
        (own->any & (PLIM_WORD_HOLD | PLIM_WORD_AMOUNT)) != 0) {
        ret->words |= section->says & ~(uint32_t)PLIM_WORD_USED; /* "Memory Usage": "Total" */
        ret->is_of_section = true;
    }
    return alone || ret->is_of_section;
}

/* A key that ends where `end` is, against a pattern in small letters: '#' is a number. */
static bool is_key(const line_reading *all, size_t end, const char *pattern)
{
    size_t at = end;
    for (size_t i = strlen(pattern); i > 0; i--) {
        const size_t before = at;
        if (pattern[i - 1] != '#') {
            at -= at > 0 && plim_lower(all->line[at - 1]) == pattern[i - 1] ? 1 : 0;
        } else {
            while (at > 0 && plim_is_digit(all->line[at - 1])) {
                at--;
            }
        }
        if (at == before) {
            return false;
        }
    }
    return at == 0 || !plim_is_name(all->line[at - 1]);
}

/* The row of a label in [keys], or NULL. */
static const plim_series_key *find_key(const line_reading *all, plim_series_span label)
{
    const plim_series_vocabulary *const known = plim_series_vocabulary_shared();
    const char last = label.end == 0 ? '\0' : all->line[label.end - 1];
    uint8_t row = plim_series_chain_of(&known->key_chains, last);
    for (; row != 0; row = known->key_chains.next[row - 1]) {
        if (is_key(all, label.end, known->keys[row - 1].text)) {
            return &known->keys[row - 1];
        }
    }
    return NULL;
}

/* "12345 / 40960 MB", "512MiB / 1.5GiB": what stands after the slash is what there is. */
static void take_total(const line_reading *all, const number_view *view, number_candidate *ret)
{
    const plim_series_span total = all->numbers[view->index + 1];
    const plim_series_unit unit = plim_series_unit_after(all->line, all->length, total);
    ret->figure.total = (uint16_t)(view->index + 1);
    ret->figure.total_log2 = unit.log2 >= 0 ? unit.log2 : ret->unit.log2;
}

static number_candidate new_candidate(const line_reading *all, size_t number, int8_t log2)
{
    number_candidate one = { .figure = { .number = (uint16_t)number,
                                         .total = PLIM_SERIES_NO_NUMBER,
                                         .log2 = log2,
                                         .total_log2 = log2 },
                             .label = all->walk.label,
                             .context = all->walk.context,
                             .depth = all->walk.depth < PLIM_LABEL_PARENTS_MAX
                                          ? all->walk.depth
                                          : PLIM_LABEL_PARENTS_MAX,
                             .whose_count = all->whose_count };
    memcpy(one.parents, all->walk.parents, sizeof one.parents);
    memcpy(one.whose, all->whose, sizeof one.whose);
    return one;
}

/* "Mem", "MiB Swap", at the beginning of its line */
static bool begins_row(const line_reading *all, const number_view *view)
{
    const plim_series_span label = all->walk.label;
    const plim_series_span word = last_word(all->line, label);
    return skip_blanks(all, 0) == label.at && view->words.count <= 2 &&
           (plim_series_span_is_folded(all->line, word, "mem") ||
            plim_series_span_is_folded(all->line, word, "swap")) &&
           at_or_blank(all, skip_blanks(all, label.end)) == ':';
}

/* The word that follows a number in top's row, or empty. */
static plim_series_span word_after(const line_reading *all, size_t at)
{
    plim_series_span word = { .at = (uint32_t)skip_blanks(all, at) };
    word.end = word.at;
    while (plim_is_letter(at_or_blank(all, word.end))) {
        word.end++;
    }
    return word;
}

/*
 * A row of the host's memory. The figures of free stand under a header (procps: total, used and
 * free come first in every release); those of top have their words after them:
 *
 *   Mem:          128000       20000      103000          12        5000      108000
 *   MiB Mem :  31998.2 total,  12345.6 free,  15000.0 used,   4652.3 buff/cache
 *
 * Returns how many of the line's numbers are read; 0 for any other line.
 */
static size_t take_row(line_reading *all, const number_view *view)
{
    static const struct {
        const char *name;
        uint32_t words;
    } columns[] = { { "total", PLIM_WORD_TOTAL },
                    { "used", PLIM_WORD_USED },
                    { "free", PLIM_WORD_FREE } };
    const size_t column_count = sizeof columns / sizeof *columns;
    number_candidate found[sizeof columns / sizeof *columns];
    size_t count = 0;
    size_t i = view->index;
    for (size_t end = view->text.at; i < all->number_count && count < column_count; i++) {
        const plim_series_span number = all->numbers[i];
        const plim_series_unit unit = plim_series_unit_after(all->line, all->length, number);
        const char between = at_or_blank(all, end);
        if (number.at != skip_blanks(all, end + (between == ',' ? 1 : 0))) {
            break;
        }
        const plim_series_span word = word_after(all, unit.log2 >= 0 ? unit.text.end : number.end);
        size_t column = count;
        for (size_t k = 0; k < column_count; k++) {
            column = plim_series_span_is_folded(all->line, word, columns[k].name) ? k : column;
        }
        found[count] = new_candidate(all, i, unit.log2 >= 0 ? unit.log2 : PLIM_UNIT_NONE);
        found[count].suffix = columns[column].name;
        found[count].words = PLIM_WORD_MEMORY | PLIM_WORD_HOST | columns[column].words;
        found[count].unit = unit.log2 >= 0 ? unit : view->words.unit;
        count++;
        end = word.end;
    }
    if (count < column_count || all->candidate_count + count > PLIM_SERIES_FIGURES_MAX) {
        return 0;
    }
    for (size_t k = 0; k < count; k++) {
        all->candidates[all->candidate_count++] = found[k];
    }
    return i - view->index;
}

/* "usage: 42.1%" */
static bool is_percent_sign(const line_reading *all, const plim_series_unit *unit)
{
    return unit->text.end > unit->text.at && all->line[unit->text.end - 1] == '%';
}

static bool take_figure(line_reading *all, const number_view *view)
{
    const plim_series_key *const key = find_key(all, all->walk.label);
    const uint32_t says = key != NULL ? key->says : 0;
    const bool is_percent = (says & PLIM_WORD_PERCENT) != 0 && is_percent_sign(all, &view->unit);
    if ((view->unit.log2 == PLIM_UNIT_ELSE && !is_percent) || is_odd(all, view->text) ||
        (says & PLIM_WORD_NEVER) != 0 || all->candidate_count == PLIM_SERIES_FIGURES_MAX) {
        return false;
    }
    number_candidate one =
        new_candidate(all, view->index, is_percent ? PLIM_UNIT_NONE : view->unit.log2);
    if (is_smi(all, view)) {
        one.is_smi = true;
        one.unit = view->unit;
        one.words = PLIM_WORD_MEMORY | PLIM_WORD_USED;
    } else if ((says & PLIM_WORD_MEMORY) != 0) {
        one.words = says;
        one.unit = view->unit.log2 >= 0 ? view->unit : view->words.unit;
        one.unit.log2 = is_percent ? PLIM_UNIT_NONE : one.unit.log2;
        one.context = (plim_series_span){ 0 };
    } else if (plim_series_span_is_empty(one.label) || is_place_in_code(all->line, one.label) ||
               !is_memory(all, view, &one)) {
        return false;
    }
    one.words |= says & PLIM_WORD_PERCENT;
    if (view->has_total) {
        take_total(all, view, &one);
    }
    all->candidates[all->candidate_count++] = one;
    return true;
}

/* --- the line --- */

/* True if a label of a metric says whose it is: one device at most, and what runs there. */
static bool is_owner_label(const line_reading *all, plim_series_span key, bool *has_device)
{
    static const char *const things[] = { "pod", "container", "name" };
    const uint32_t says = plim_series_words_of(all->line, key).any;
    const bool is_device = (says & (PLIM_WORD_ACCELERATOR | PLIM_WORD_IDENTITY)) != 0 ||
                           plim_series_span_is_folded(all->line, key, "minor") ||
                           plim_series_span_is_folded(all->line, key, "minor_number") ||
                           plim_series_span_is_folded(all->line, key, "index");
    if (is_device) {
        const bool is_first = !*has_device;
        *has_device = true;
        return is_first;
    }
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        if (plim_series_span_is_folded(all->line, key, things[i])) {
            return !*has_device; /* the name of a device's model */
        }
    }
    return false;
}

/* {gpu="0",modelName="Tesla T4"}: returns where the brace closes, 0 if it does not. */
static size_t take_metric_labels(line_reading *all, size_t at)
{
    bool has_device = false;
    while (at < all->length && all->line[at] != '}') {
        plim_series_span key = { .at = (uint32_t)at + 1 };
        const char *const equals = memchr(all->line + at, '=', all->length - at);
        if (equals == NULL || equals + 1 == all->line + all->length || equals[1] != '"') {
            return 0;
        }
        key.end = (uint32_t)(equals - all->line);
        plim_series_span value = { .at = key.end + 2 };
        const char *const quote = memchr(all->line + value.at, '"', all->length - value.at);
        if (quote == NULL) {
            return 0;
        }
        value.end = (uint32_t)(quote - all->line);
        at = value.end + 1;
        if (is_owner_label(all, key, &has_device) && all->whose_count < PLIM_SERIES_WHO_MAX) {
            all->whose[all->whose_count++] = (who){ .word = key, .number = value };
        }
    }
    return at < all->length ? at : 0;
}

/* A line of Prometheus: a name, labels in braces, a value, and perhaps the time of it. */
static bool take_metric(line_reading *all)
{
    uint32_t end = 0;
    while (end < all->length && (plim_is_name(all->line[end]) || all->line[end] == ':')) {
        end++;
    }
    const size_t close = end > 0 && at_or_blank(all, end) == '{' ? take_metric_labels(all, end) : 0;
    size_t value = 0;
    while (value < all->number_count && all->numbers[value].at < close) {
        plim_series_plan_pin(all->plan, value++);
    }
    if (close == 0 || value == all->number_count ||
        all->numbers[value].at != skip_blanks(all, close + 1)) {
        all->whose_count = 0;
        return false;
    }
    all->walk.label = (plim_series_span){ 0, end };
    const number_view view = view_of(all, value);
    (void)take_figure(all, &view);
    if (value + 1 < all->number_count &&
        plim_series_is_epoch(all->line, all->numbers[value + 1], false)) {
        all->plan->stamp =
            (plim_series_stamp){ .kind = PLIM_STAMP_EPOCH, .clock = (uint16_t)(value + 1) };
    }
    return true;
}

static void walk_numbers(line_reading *all)
{
    plim_series_span gap = { 0 };
    bool after_figure = false;
    for (size_t i = 0; i < all->number_count; i++) {
        if (is_inside_name(all, all->numbers[i])) {
            plim_series_plan_pin(all->plan, i);
            continue;
        }
        gap.end = all->numbers[i].at;
        if (!after_figure) {
            all->walk.context = (plim_series_span){ 0 };
        }
        plim_label_walk_on(&all->walk, gap);
        forget_whose(all, false);
        const bool may_be_who = plim_series_span_is_empty(all->walk.label);
        if (may_be_who) {
            all->walk.label = all->who_label; /* "GPU0: 1234MiB" */
        }
        number_view view = view_of(all, i);
        gap.at = view.unit.text.end > gap.end ? view.unit.text.end : view.text.end;
        if (gap.at > view.text.end && i + 1 < all->number_count &&
            gap.at > all->numbers[i + 1].at) {
            gap.at = view.text.end; /* the unit is that of the total after */
        }
        if (take_time(all, &view)) {
            all->who_label = (plim_series_span){ 0 };
            continue;
        }
        if (all->walk.is_slash) {
            all->who_label = (plim_series_span){ 0 };
            continue;
        }
        if (!may_be_who && take_who(all, &view)) {
            continue;
        }
        all->who_label = (plim_series_span){ 0 };
        const size_t row = begins_row(all, &view) ? take_row(all, &view) : 0;
        if (row > 0) {
            i += row - 1;
            gap.at = all->numbers[i].end;
            continue;
        }
        after_figure = !take_step(all, &view) && take_figure(all, &view);
        after_figure = after_figure || (view.words.any & PLIM_WORD_SHARE) != 0;
        forget_whose(all, true);
    }
}

/* The header of nvidia-smi's table. */
static bool says_smi(const char *line, size_t length)
{
    const size_t name_length = sizeof PLIM_SERIES_SMI_NAME - 1;
    const char *at = line;
    const char *const end = line + length;
    while (at < end && (at = memchr(at, PLIM_SERIES_SMI_NAME[0], (size_t)(end - at))) != NULL) {
        if ((size_t)(end - at) >= name_length &&
            memcmp(at, PLIM_SERIES_SMI_NAME, name_length) == 0) {
            return true;
        }
        at++;
    }
    return false;
}

plim_status plim_series_parse(plim_series_parser *parser, const plim_series_line *line,
                              uint64_t row, plim_series_plan *ret, plim_error *err)
{
    *ret = plim_series_plan_none();
    number_candidate candidates[PLIM_SERIES_FIGURES_MAX];
    line_reading all = { .parser = parser,
                         .line = line->plain,
                         .length = line->length,
                         .numbers = line->numbers,
                         .number_count = line->number_count,
                         .plan = ret,
                         .walk = { .line = line->plain },
                         .candidates = candidates };
    if (says_smi(line->plain, line->length)) {
        parser->smi_gpu = 0;
        ret->is_repeatable = false;
    }
    ret->stamp = plim_series_stamp_of(line->plain, line->length, line->numbers, line->number_count);
    if (line->number_count == 0 || plim_series_says_out_of_memory(line->plain, line->length)) {
        return PLIM_OK;
    }
    if (!take_metric(&all)) {
        walk_numbers(&all);
    }
    settle_step(ret);
    for (uint32_t i = 0; i < all.candidate_count; i++) {
        PLIM_TRY(plim_series_candidate_keep(&all, &candidates[i], row, err));
    }
    return PLIM_OK;
}
