/*
 * prose.c - telling errors from sentences about them, by the words on both sides.
 */
#include "oomtext/prose.h"

#include "oomtext/clause.h"
#include "oomtext/table.h"

#include <string.h>

#define WORDS_BEFORE 9u   /* of a sentence that may turn it into a supposition */
#define INDENT_CHARS 4u   /* of a line that is the rest of the one before */
#define LINE_CHARS   160u /* to both sides, where an error leaves other traces */

/* A word of the text, read from full. */
typedef struct word {
    size_t begin, end; /* index in full */
} word;

typedef enum part { WHOLE, HEAD, TAIL } part;

/*
 * How long that one of a list is, its texts parted by bars, which a text is, or begins or ends
 * with; 0: none of them.
 */
static size_t one_of(const char *list, const char *text, size_t bytes, part which)
{
    while (*list != '\0') {
        size_t length = 0;
        while (list[length] != '\0' && list[length] != '|') {
            length++;
        }
        if (which == WHOLE ? length == bytes : length <= bytes) {
            const char *const place = which == TAIL ? text + bytes - length : text;
            if (place[0] == list[0] && memcmp(place, list, length) == 0) {
                return length;
            }
        }
        list += length + (list[length] == '|' ? 1 : 0);
    }
    return 0;
}

/* The same with a list of words.tsv. */
static size_t one_of_list(plim_word_list list, const char *text, size_t bytes, part which)
{
    size_t length = 0;
    const char *const *const rows = plim_message_tables()->words[list];
    for (size_t i = 0; rows[i] != NULL && length == 0; i++) {
        length = one_of(rows[i], text, bytes, which);
    }
    return length;
}

static bool is_one_of(const plim_flat *flat, word w, const char *list)
{
    return one_of(list, flat->full + w.begin, w.end - w.begin, WHOLE) > 0;
}

static bool is_listed(const plim_flat *flat, word w, plim_word_list list)
{
    return one_of_list(list, flat->full + w.begin, w.end - w.begin, WHOLE) > 0;
}

/* The word that begins at full[i]. */
static word word_from(const plim_flat *flat, size_t i)
{
    word w = { i, i };
    while (w.end < flat->count && plim_is_word_char(flat->full[w.end]) &&
           (w.end == i || flat->gap[w.end] == 0)) {
        w.end++;
    }
    return w;
}

/* True if full[i], the first of its line, may go on with what the line before began. */
static bool may_continue(const plim_flat *flat, size_t i)
{
    return plim_is_lower(flat->text[flat->at[i]]);
}

/* A line as deep as this is the rest of the one before: columns of help, wrapped items. */
static bool is_indented(const plim_flat *flat, size_t i)
{
    size_t blanks = 0;
    for (size_t at = flat->at[i]; at > 0 && flat->text[at - 1] == ' '; at--) {
        blanks++;
    }
    return blanks >= INDENT_CHARS && may_continue(flat, i);
}

/* The word that ends before full[end]; empty at a sentence's begin: a line, a point, a colon.
 * `across`: on to the line before, if this one may go on with it. */
static word word_before(const plim_flat *flat, size_t end, bool across)
{
    size_t i = end;
    const word none = { end, end };
    if (end < flat->count && (flat->gap[end] & PLIM_GAP_LINE) != 0 &&
        !(across ? may_continue(flat, end) : is_indented(flat, end))) {
        return none;
    }
    while (i > 0 && !plim_is_word_char(flat->full[i - 1])) {
        const char c = flat->full[i - 1];
        const bool is_blank_behind = i < flat->count && flat->gap[i] != 0;
        if ((flat->gap[i - 1] & PLIM_GAP_LINE) != 0 || c == ';' || c == '!' || c == '?' ||
            ((c == ':' || c == '.') && is_blank_behind)) {
            return none;
        }
        i--;
    }
    if (i > 0 && i < end && (flat->gap[i] & PLIM_GAP_LINE) != 0) {
        return none;
    }
    word w = { i, i };
    while (w.begin > 0 && plim_is_word_char(flat->full[w.begin - 1]) &&
           (w.begin == i || flat->gap[w.begin] == 0)) {
        w.begin--;
    }
    return w;
}

static bool supposes(const plim_flat *flat, size_t begin)
{
    size_t i = flat->word_at[begin];
    for (size_t n = 0; n < WORDS_BEFORE; n++) {
        const word w = word_before(flat, i, true);
        if (w.begin == w.end) {
            return false;
        }
        if (is_listed(flat, w, PLIM_WORDS_SUPPOSING)) {
            return true;
        }
        i = w.begin;
    }
    return false;
}

/* "OutOfMemoryEr" and "ror" on two lines: the rest of the name was wrapped. */
static bool ends_wrapped_name(const plim_flat *flat, size_t i)
{
    static const char error[] = "error";
    bool is_wrapped = false;
    size_t k = 0;
    while (k < sizeof error - 1 && i + k < flat->count && flat->full[i + k] == error[k] &&
           (flat->gap[i + k] == 0 || flat->gap[i + k] == PLIM_GAP_LINE)) {
        is_wrapped |= flat->gap[i + k++] != 0;
    }
    return is_wrapped && k == sizeof error - 1 && flat->text[flat->at[i]] == 'E' &&
           flat->gap[i] == 0;
}

bool plim_prose_is_class_name(const plim_flat *flat, size_t end)
{
    const size_t i = flat->word_at[end - 1] + 1u;
    const word w = word_from(flat, i);
    return i < flat->count && flat->gap[i] == 0 &&
           (is_one_of(flat, w, "error") || is_one_of(flat, w, "exception") ||
            ends_wrapped_name(flat, i));
}

#define WORDS_AFTER 9u

static bool is_taken_back(const plim_flat *flat, size_t i)
{
    for (size_t n = 0; n < WORDS_AFTER; n++) {
        while (i < flat->count && !plim_is_word_char(flat->full[i]) &&
               (flat->gap[i] & PLIM_GAP_LINE) == 0) {
            if (flat->full[i] == '.' || flat->full[i] == ';') {
                return false;
            }
            i++;
        }
        const word w = word_from(flat, i);
        if (w.begin == w.end || (flat->gap[i] & PLIM_GAP_LINE) != 0) {
            return false;
        }
        if (is_listed(flat, w, PLIM_WORDS_TAKING_BACK)) {
            return true;
        }
        i = w.end;
    }
    return false;
}

/* After the words, and after "Error" if they are the name of an exception. */
static size_t after_words(const plim_flat *flat, size_t end)
{
    const size_t i = flat->word_at[end - 1] + 1u;
    return plim_prose_is_class_name(flat, end) ? word_from(flat, i).end : i;
}

/* A word that the end of a line cut: its rest is unknown. */
static bool is_wrapped(const plim_flat *flat, word w)
{
    return w.end < flat->count && flat->gap[w.end] == PLIM_GAP_LINE && w.end > w.begin &&
           plim_is_lower(flat->text[flat->at[w.end]]);
}

/* What follows fits a failure: an end, punctuation, or words that go on from one. */
static bool goes_on(const plim_flat *flat, size_t end)
{
    const size_t i = after_words(flat, end);
    if (i >= flat->count || (flat->gap[i] & PLIM_GAP_LINE) != 0) {
        return true;
    }
    if (flat->full[i] == '_' && is_one_of(flat, word_from(flat, i + 1), "error")) {
        return true;
    }
    if (flat->full[i] == ':' && is_one_of(flat, word_from(flat, i + 1), "false")) {
        return false; /* "OOMKilled": false */
    }
    if (!plim_is_word_char(flat->full[i])) {
        return flat->full[i] != '_' && flat->full[i] != '=' && flat->full[i] != '/';
    }
    if (flat->gap[i] == 0) {
        return false; /* glued: a longer name */
    }
    const word w = word_from(flat, i);
    if (is_one_of(flat, w, "errors") || is_one_of(flat, w, "exceptions")) {
        return false; /* in general */
    }
    return is_listed(flat, w, PLIM_WORDS_GOING_ON) || plim_is_digit(flat->full[i]) ||
           is_wrapped(flat, w);
}

/* "GPUassert: out of memory mean.cu 7": the place in a source follows at once. */
static bool names_source(const plim_flat *flat, size_t end)
{
    const size_t i = after_words(flat, end);
    const size_t dot = word_from(flat, i).end;
    return i < flat->count && flat->gap[i] == PLIM_GAP_BLANK && dot + 1 < flat->count &&
           flat->full[dot] == '.' && flat->gap[dot] == 0 && flat->gap[dot + 1] == 0;
}

/* Between two bars, with nothing but words before it: a cell of a Markdown table. */
static bool is_table_cell(const plim_flat *flat, size_t begin, size_t after)
{
    size_t at = flat->at[begin];
    const size_t least = at > LINE_CHARS ? at - LINE_CHARS : 0;
    while (at > least && flat->text[at - 1] != '|' && flat->text[at - 1] != '\n' &&
           flat->text[at - 1] != ':') {
        at--;
    }
    return at > 0 && flat->text[at - 1] == '|' && after < flat->count && flat->full[after] == '|';
}

/* In a web address, a path, a row of a Markdown table, or the bare name of a class in quotes. */
static bool is_mentioned(const plim_flat *flat, size_t begin, size_t end)
{
    const size_t i = flat->word_at[begin];
    for (size_t k = i; k > 0 && flat->gap[k] == 0 && i - k < LINE_CHARS; k--) {
        if (flat->full[k - 1] == '/' || flat->full[k - 1] == '#') {
            return true;
        }
    }
    const size_t after = after_words(flat, end);
    const bool is_class = plim_prose_is_class_name(flat, end);
    const bool is_quoted = (flat->gap[i] & PLIM_GAP_OTHER) != 0 && after < flat->count &&
                           (flat->gap[after] & PLIM_GAP_OTHER) != 0;
    if (is_class && (is_quoted || is_one_of(flat, word_before(flat, i, false), "an") ||
                     is_one_of(flat, word_before(flat, i, false), "a"))) {
        return true;
    }
    const bool is_aside = i > 0 && after < flat->count && flat->full[i - 1] == ',' &&
                          flat->full[after] == ','; /* "the computer, out of memory, must" */
    return is_aside || is_table_cell(flat, i, after);
}

/* A name in humps: "hipErrorOutOfMemory" says it happened, "ExitOnOutOfMemoryError" what if. */
static bool is_other_name(const plim_flat *flat, size_t begin)
{
    const size_t i = flat->word_at[begin];
    if (i == 0 || flat->gap[i] != 0 || flat->full[i - 1] < 'a' || flat->full[i - 1] > 'z') {
        return false;
    }
    if (one_of_list(PLIM_WORDS_NAME_HEADS, flat->full, i, TAIL) > 0) {
        return false;
    }
    return flat->text[flat->at[i]] == 'O';
}

/* A line of a program: log.warning("… out of memory …"), not OutOfMemoryError('…'). */
static bool is_source_line(const plim_flat *flat, size_t begin)
{
    size_t i = flat->word_at[begin];
    while (i > 0 && (flat->gap[i] & PLIM_GAP_LINE) == 0 && flat->full[i - 1] != ')') {
        i--;
        const size_t length =
            flat->full[i] == '(' ? one_of_list(PLIM_WORDS_CALLS, flat->full, i + 1, TAIL) : 0;
        if (length > 0 && flat->text[flat->at[i] + 1 - length] >= 'a') {
            return true;
        }
    }
    return false;
}

/* A point, a semicolon with a blank after. */
static bool ends_sentence(const plim_flat *flat, size_t i)
{
    const char c = flat->full[i];
    return (c == '.' || c == ';' || c == '!' || c == '?') && i + 1 < flat->count &&
           flat->gap[i + 1] != 0;
}

/* True if the sentence has other traces of a failure. */
static bool has_traces(const plim_flat *flat, size_t begin, size_t end)
{
    size_t from = flat->word_at[begin];
    size_t to = flat->word_at[end - 1] + 1u;
    while (from > 0 && (flat->gap[from] & PLIM_GAP_LINE) == 0 && !ends_sentence(flat, from - 1) &&
           flat->word_at[begin] - from < LINE_CHARS) {
        from--;
    }
    while (to < flat->count && (flat->gap[to] & PLIM_GAP_LINE) == 0 && !ends_sentence(flat, to) &&
           to - flat->word_at[end - 1] < LINE_CHARS) {
        to++;
    }
    size_t own_end = after_words(flat, end);
    if (is_one_of(flat, word_from(flat, own_end), "error")) {
        own_end = word_from(flat, own_end).end; /* "an out of memory error" */
    }
    for (size_t i = from; i < to; i++) {
        const bool is_own = i >= flat->word_at[begin] && i < own_end && begin != own_end;
        if (is_own || (i > 0 && flat->gap[i] == 0 && plim_is_lower(flat->full[i - 1]))) {
            continue; /* the words themselves, or within a word: "ship" */
        }
        if (one_of_list(PLIM_WORDS_TRACES, flat->full + i, to - i, HEAD) > 0) {
            return true;
        }
    }
    return false;
}

bool plim_prose_states_error(const plim_flat *flat, size_t begin, size_t end)
{
    if (supposes(flat, begin) || is_mentioned(flat, begin, end) || is_other_name(flat, begin) ||
        is_source_line(flat, begin) || is_taken_back(flat, after_words(flat, end))) {
        return false;
    }
    const word before = word_before(flat, flat->word_at[begin], false);
    const size_t i = flat->word_at[begin];
    const bool is_column = (flat->gap[i] & PLIM_GAP_LINE) != 0 && is_indented(flat, i);
    const bool begins_sentence = before.begin == before.end && !is_column;
    if (!goes_on(flat, end)) {
        return begins_sentence && names_source(flat, end);
    }
    return begins_sentence || has_traces(flat, begin, end);
}

bool plim_prose_begins_line(const plim_flat *flat, size_t begin)
{
    size_t i = flat->word_at[begin];
    return (flat->gap[i] & PLIM_GAP_LINE) != 0 ||
           (i > 0 &&
            (flat->full[i - 1] == ':' || flat->full[i - 1] == ']' || flat->full[i - 1] == '.'));
}

/* Nothing but a signal's number ends the line: "Killed", "Killed: 9", "Killed (core dumped)". */
static bool ends_shell_line(const plim_flat *flat, size_t i)
{
    while (i < flat->count && (flat->gap[i] & PLIM_GAP_LINE) == 0 &&
           strchr(":.9*_", flat->full[i]) != NULL) {
        i++;
    }
    return i >= flat->count || (flat->gap[i] & PLIM_GAP_LINE) != 0;
}

bool plim_prose_is_shell_line(const plim_flat *flat, size_t begin, size_t end)
{
    size_t i = flat->word_at[begin];
    const size_t after = flat->word_at[end - 1] + 1u;
    if ((flat->gap[i] & PLIM_GAP_LINE) != 0) {
        return ends_shell_line(flat, after);
    }
    if (i > 0 && flat->gap[i] == 0 && (flat->full[i - 1] == ']' || flat->full[i - 1] == '%')) {
        return ends_shell_line(flat, after); /* after a progress bar */
    }
    /* "run.sh: line 3: 4711 Killed python train.py", "[1]+ 4711 killed python", "zsh: killed" */
    size_t digits = 0;
    while (i > 0 && plim_is_digit(flat->full[i - 1]) && (flat->gap[i] & PLIM_GAP_LINE) == 0) {
        i--;
        digits++;
    }
    if (digits == 0 && i > 1 && (flat->full[i - 1] == '+' || flat->full[i - 1] == '-') &&
        flat->full[i - 2] == ']') {
        return true; /* "[1]+  Killed  python" */
    }
    if (digits > 0 && flat->gap[flat->word_at[begin]] == PLIM_GAP_BLANK && i > 0) {
        return (flat->full[i - 1] == ':' || flat->full[i - 1] == '+' || flat->full[i - 1] == ']' ||
                flat->full[i - 1] == '-') &&
               flat->gap[i] != 0;
    }
    return digits == 0 && one_of_list(PLIM_WORDS_SHELLS, flat->full, i, TAIL) > 0;
}

bool plim_prose_is_signal(const plim_flat *flat, size_t end)
{
    size_t i = flat->word_at[end - 1];
    const char last = flat->full[i];
    while (i > 0 && plim_is_digit(flat->full[i - 1]) && flat->gap[i] == 0) {
        i--;
    }
    if (last == '7' || plim_is_lower(last)) {
        return true; /* 137, or a name */
    }
    size_t w = 0;
    return (i > 0 && flat->full[i - 1] == '-') ||
           (end >= 8 && plim_phrase_at(flat, end - 8, "sigkill", &w));
}

plim_prose_count plim_prose_counts(const plim_flat *flat, size_t end)
{
    size_t i = flat->word_at[end - 1] + 1u;
    while (i < flat->count && strchr(":=|,)", flat->full[i]) != NULL) {
        i++;
    }
    const bool is_negative = i < flat->count && flat->full[i] == '-';
    const size_t begin = i + (is_negative ? 1 : 0);
    bool is_some = false;
    for (i = begin; i < flat->count && (plim_is_digit(flat->full[i]) || flat->full[i] == '.');
         i++) {
        if (i > begin && flat->gap[i] != 0) {
            break; /* another number */
        }
        is_some = is_some || (flat->full[i] >= '1' && flat->full[i] <= '9');
    }
    return i == begin                ? PLIM_COUNT_UNSAID
           : is_some && !is_negative ? PLIM_COUNT_SOME
                                     : PLIM_COUNT_NONE;
}

static bool contains_one_of(const char *text, size_t bytes, plim_word_list list)
{
    for (size_t i = 0; i < bytes; i++) {
        if (one_of_list(list, text + i, bytes - i, HEAD) > 0) {
            return true;
        }
    }
    return false;
}

/* printf("… */
static bool has_call(const char *text, size_t bytes)
{
    const char *at = text;
    while (bytes > 1 && (at = memchr(at, '(', (size_t)(text + bytes - 1 - at))) != NULL) {
        if (*++at == '"') {
            return true;
        }
    }
    return false;
}

/* A line without its indentation and what ends it. */
typedef struct source_line {
    const char *text;
    size_t bytes;
    size_t indent;
} source_line;

static source_line line_around(const char *text, size_t bytes, size_t offset)
{
    size_t begin = offset;
    size_t end = offset;
    while (begin > 0 && offset - begin < LINE_CHARS && text[begin - 1] != '\n') {
        begin--;
    }
    while (end < bytes && end - offset < LINE_CHARS && text[end] != '\n') {
        end++;
    }
    size_t first = begin;
    while (first < end && strchr(" \t+-", text[first]) != NULL) {
        first++;
    }
    while (end > first && (text[end - 1] == ' ' || text[end - 1] == '\r')) {
        end--;
    }
    return (source_line){ text + first, end - first, first - begin };
}

bool plim_prose_is_source(const char *text, size_t bytes, size_t offset)
{
    const source_line line = line_around(text, bytes, offset);
    if (one_of_list(PLIM_WORDS_SOURCE_HEADS, line.text, line.bytes, HEAD) > 0 ||
        contains_one_of(line.text, line.bytes, PLIM_WORDS_SOURCE_MARKS)) {
        return true;
    }
    const char last = line.bytes > 0 ? line.text[line.bytes - 1] : ' ';
    const bool is_literal = line.indent >= INDENT_CHARS && line.text[0] == '"' &&
                            (last == '"' || last == ',' || last == '[');
    return is_literal || last == '{' || (last == ';' && has_call(line.text, line.bytes));
}
