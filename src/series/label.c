/*
 * label.c - cutting the text between two numbers into chunks.
 *
 * Some characters tie a chunk to what follows (colon, equals sign, bar, open bracket, columns of
 * blanks), others cut it off (comma, semicolon, closing bracket). Braces nest, as in JSON and in
 * Python's dicts.
 */
#include "series/label.h"

#include <string.h>

/* A remark in brackets that stays part of a name: "memory (MB)", "Epoch(train)". */
#define REMARK_BYTES_MAX 16u
#define CONTEXT_WORDS    6u

typedef enum delimiter {
    TEXT,
    TIE,   /* the chunk before may name what comes after */
    CUT,   /* it does not */
    OPEN,  /* a brace */
    CLOSE, /* its end */
} delimiter;

/* Characters that trimmed chunks may not begin or end with. */
static bool is_edge(char c)
{
    return plim_is_blank(c) || c == '"' || c == '\'' || c == '_' || c == '-' || c == '*' ||
           c == '.' || c == '`';
}

static plim_series_span trim(const char *line, plim_series_span chunk)
{
    while (chunk.at < chunk.end && (is_edge(line[chunk.at]) || line[chunk.at] == '#')) {
        chunk.at++;
    }
    while (chunk.at < chunk.end && is_edge(line[chunk.end - 1])) {
        chunk.end--;
    }
    return chunk;
}

/* The end of a remark that opens at `at`; `at` if no remark does. */
static uint32_t skip_remark(const char *line, plim_series_span gap, uint32_t at)
{
    const char close = line[at] == '(' ? ')' : ']';
    uint32_t end = at + 1;
    while (end < gap.end && end - at < REMARK_BYTES_MAX &&
           (plim_is_alphabetic(line[end]) || line[end] == '_' || line[end] == '/')) {
        end++;
    }
    if (end == gap.end || line[end] != close) {
        return at;
    }
    /* In square brackets only units: "memory.used [MiB]", but not "[rank] memory". */
    const bool is_unit = plim_series_unit_of(line + at + 1, end - at - 1) >= 0;
    return close == ')' || is_unit ? end + 1 : at;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static delimiter delimiter_at(const char *line, plim_series_span gap, uint32_t at)
{
    const char c = line[at];
    if (plim_is_name(c) || c == '/') {
        return TEXT;
    }
    const char next = at + 1 < gap.end ? line[at + 1] : ' ';
    switch (c) {
    case ' ':
        return is_space(next) && at + 1 < gap.end ? TIE : TEXT;
    case '-':
        return at > gap.at && is_space(line[at - 1]) && is_space(next) ? TIE : TEXT;
    case '.': /* a sentence ends; but gpu.0.memory goes on with its number */
        return is_space(next) && at + 1 < gap.end ? CUT : TEXT;
    case '\t':
    case ':':
    case '=':
    case '|':
    case '(':
    case '[':
    case '<':
    case '>':
    case '~':
        return TIE;
    case '{':
        return OPEN;
    case '}':
        return CLOSE;
    case ',':
    case ';':
    case ')':
    case ']':
    case '%':
    case '@':
        return CUT;
    default:
        return (unsigned char)c < ' ' ? CUT : TEXT;
    }
}

/* The last chunk that was cut from a gap. */
typedef struct chunk {
    plim_series_span text;
    char end;     /* the character after it */
    bool is_tied; /* nothing has cut it off from what follows */
} chunk;

static void note_context(plim_label_walk *walk, const chunk *last)
{
    static const char ties[] = { ':', '|', '-', '(', '{', '=' };
    if (plim_series_span_is_empty(last->text) || memchr(ties, last->end, sizeof ties) == NULL) {
        return;
    }
    const plim_series_words words = plim_series_words_of(walk->line, last->text);
    if ((words.any & PLIM_WORD_MEMORY) != 0 && (words.any & PLIM_WORD_NEVER) == 0 &&
        words.count <= CONTEXT_WORDS) {
        walk->context = last->text;
    }
}

static void open_brace(plim_label_walk *walk, chunk *last)
{
    if (walk->depth < PLIM_LABEL_PARENTS_MAX) {
        walk->parents[walk->depth] = last->is_tied ? last->text : (plim_series_span){ 0 };
    }
    walk->depth++;
    *last = (chunk){ 0 };
}

static void end_chunk(plim_label_walk *walk, chunk *last, plim_series_span text, delimiter kind)
{
    const plim_series_span trimmed = trim(walk->line, text);
    if (!plim_series_span_is_empty(trimmed)) {
        note_context(walk, last);
        *last = (chunk){ .text = trimmed, .end = walk->line[text.end], .is_tied = true };
    } else if (last->end == ' ' || last->end == '\t') {
        last->end = walk->line[text.end]; /* "memory   :" ends in a colon */
    }
    if (kind == OPEN) {
        open_brace(walk, last);
    } else if (kind != TIE) {
        last->is_tied = false;
    }
    if (kind == CLOSE) {
        walk->depth -= walk->depth > 0 ? 1 : 0;
        walk->closed_to = walk->depth;
        walk->context = (plim_series_span){ 0 };
    }
}

/*
 * {"key": "system/gpu_0_memory_usage_megabytes", "value": 5000.1}: what stands in quotes before a
 * "value", if it speaks of memory; else the label.
 */
static plim_series_span label_of_value(const char *line, plim_series_span gap,
                                       plim_series_span label)
{
    if (!plim_series_span_is_folded(line, label, "value")) {
        return label;
    }
    plim_series_span found = label;
    plim_series_span quoted = { 0 };
    bool is_open = false;
    for (uint32_t at = gap.at; at < label.at; at++) {
        if (line[at] != '"') {
            continue;
        }
        quoted = is_open ? (plim_series_span){ quoted.at, at } : (plim_series_span){ at + 1, 0 };
        const uint32_t says = is_open ? plim_series_words_of(line, quoted).any : 0;
        found = (says & PLIM_WORD_MEMORY) != 0 ? quoted : found;
        is_open = !is_open;
    }
    return found;
}

void plim_label_walk_on(plim_label_walk *walk, plim_series_span gap)
{
    const char *const line = walk->line;
    chunk last = { 0 };
    uint32_t begin = gap.at;
    walk->closed_to = UINT32_MAX;
    uint32_t at = gap.at;
    while (at < gap.end) {
        if (line[at] == '(' || line[at] == '[') {
            const uint32_t after = skip_remark(line, gap, at);
            if (after > at) {
                at = after;
                continue;
            }
        }
        const delimiter kind = delimiter_at(line, gap, at);
        if (kind != TEXT) {
            end_chunk(walk, &last, (plim_series_span){ .at = begin, .end = at }, kind);
            begin = at + 1;
        }
        at++;
    }
    const plim_series_span tail = trim(line, (plim_series_span){ .at = begin, .end = gap.end });
    walk->is_slash = tail.end - tail.at == 1 && line[tail.at] == '/';
    walk->is_bare = plim_series_span_is_empty(tail) && plim_series_span_is_empty(last.text);
    if (!plim_series_span_is_empty(tail)) {
        note_context(walk, &last);
        walk->label = label_of_value(line, gap, tail);
    } else {
        walk->label = last.is_tied ? label_of_value(line, gap, last.text) : (plim_series_span){ 0 };
    }
}
