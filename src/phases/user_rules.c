/*
 * user_rules.c - see user_rules.h.
 */
#include "phases/user_rules.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"

#include <stdlib.h>
#include <string.h>

/* A line that is read. */
typedef struct rule_text {
    const char *at;
    const char *end;
    size_t line;
    plim_error *err;
} rule_text;

/* --- words --- */

static void skip_blanks(rule_text *text)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\t' || *text->at == '\r')) {
        text->at++;
    }
}

static bool is_word(char c)
{
    return plim_is_letter(c) || plim_is_digit(c) || c == '_' || c == '.';
}

/* The next word; "" where none begins. False: it is too long. */
static bool read_word(rule_text *text, char *word, size_t size)
{
    skip_blanks(text);
    size_t count = 0;
    while (text->at < text->end && is_word(*text->at)) {
        if (count + 1 == size) {
            return false;
        }
        word[count++] = *text->at++;
    }
    word[count] = '\0';
    return true;
}

static bool take(rule_text *text, char c)
{
    skip_blanks(text);
    const bool is_there = text->at < text->end && *text->at == c;
    text->at += is_there ? 1 : 0;
    return is_there;
}

static plim_status refuse(const rule_text *text, const char *wanted)
{
    return plim_fail_at(text->err, PLIM_INVALID_ARGUMENT, text->line, "%s expected", wanted);
}

/* --- conditions --- */

static plim_status read_pattern(rule_text *text, char pattern[PLIM_USER_RULE_PATTERN_SIZE])
{
    if (pattern[0] != '\0' || !take(text, '"')) {
        return refuse(text, "one pattern in quotes");
    }
    size_t count = 0;
    while (text->at < text->end && *text->at != '"') {
        if (count + 1 == PLIM_USER_RULE_PATTERN_SIZE || *text->at == '\0') {
            return refuse(text, "a pattern below 256 bytes");
        }
        pattern[count++] = *text->at++;
    }
    pattern[count] = '\0';
    return take(text, '"') && count > 0 ? PLIM_OK : refuse(text, "a closing quote");
}

static plim_status read_size(rule_text *text, plim_user_rule *rule)
{
    const bool is_least = take(text, '>');
    if (!is_least && !take(text, '<')) {
        return refuse(text, ">= or <=");
    }
    char word[PLIM_USER_RULE_NAME_BYTES];
    uint64_t bytes = 0;
    if (!take(text, '=') || !read_word(text, word, sizeof word) ||
        plim_size_parse(word, &bytes, NULL) != PLIM_OK) {
        return refuse(text, "= and a size such as 1MiB");
    }
    *(is_least ? &rule->bytes_min : &rule->bytes_max) = bytes;
    return PLIM_OK;
}

static plim_status read_stream(rule_text *text, plim_user_rule *rule)
{
    char word[PLIM_USER_RULE_NAME_BYTES];
    if (!read_word(text, word, sizeof word) || !plim_is_digit(word[0])) {
        return refuse(text, "a stream's handle");
    }
    char *end = NULL;
    rule->stream = strtoull(word, &end, 0);
    rule->has_stream = *end == '\0';
    return rule->has_stream ? PLIM_OK : refuse(text, "a stream's handle");
}

static plim_status read_category(rule_text *text, plim_user_rule *rule)
{
    char word[PLIM_USER_RULE_NAME_BYTES];
    rule->has_category =
        read_word(text, word, sizeof word) && plim_category_find(word, &rule->category);
    return rule->has_category ? PLIM_OK : refuse(text, "a category's name");
}

static plim_status read_condition(rule_text *text, plim_user_rule *rule)
{
    char word[PLIM_USER_RULE_NAME_BYTES];
    if (!read_word(text, word, sizeof word)) {
        return refuse(text, "file, function, size, stream or is");
    }
    if (strcmp(word, "file") == 0) {
        return read_pattern(text, rule->file);
    }
    if (strcmp(word, "function") == 0) {
        return read_pattern(text, rule->function);
    }
    if (strcmp(word, "size") == 0) {
        return read_size(text, rule);
    }
    if (strcmp(word, "stream") == 0) {
        return read_stream(text, rule);
    }
    if (strcmp(word, "is") == 0) {
        return read_category(text, rule);
    }
    return refuse(text, "file, function, size, stream or is");
}

/* --- lines --- */

static plim_status read_line(rule_text *text, plim_user_rules *rules)
{
    skip_blanks(text);
    if (text->at == text->end || *text->at == '#') {
        return PLIM_OK;
    }
    plim_user_rule rule = { .bytes_max = UINT64_MAX };
    char word[PLIM_USER_RULE_NAME_BYTES];
    if (!read_word(text, word, sizeof word) || strcmp(word, "category") != 0) {
        return refuse(text, "category NAME:");
    }
    if (!read_word(text, rule.name, sizeof rule.name) || rule.name[0] == '\0' || !take(text, ':')) {
        return refuse(text, "a name below 32 bytes, and a colon");
    }
    do {
        PLIM_TRY(read_condition(text, &rule));
    } while (take(text, ','));
    skip_blanks(text);
    if (text->at < text->end && *text->at != '#') {
        return refuse(text, "a comma or the end of the line");
    }
    if (rules->list.count == PLIM_USER_RULES_MAX) {
        return refuse(text, "at most 64 rules");
    }
    return PLIM_VEC_PUSH(rules->mem, &rules->list, rule)
               ? PLIM_OK
               : plim_fail_memory(text->err, "reading rules");
}

plim_status plim_user_rules_parse(const char *text, size_t bytes, const plim_mem *mem,
                                  plim_user_rules *ret_rules, plim_error *err)
{
    *ret_rules = (plim_user_rules){ .mem = plim_mem_or_heap(mem) };
    size_t at = 0;
    for (size_t line = 1; at < bytes; line++) {
        const char *const newline = memchr(text + at, '\n', bytes - at);
        const size_t end = newline != NULL ? (size_t)(newline - text) : bytes;
        rule_text one = { .at = text + at, .end = text + end, .line = line, .err = err };
        const plim_status status = read_line(&one, ret_rules);
        if (status != PLIM_OK) {
            plim_user_rules_deinit(ret_rules);
            return status;
        }
        at = end + 1;
    }
    return PLIM_OK;
}

void plim_user_rules_deinit(plim_user_rules *rules)
{
    if (rules->mem == NULL) {
        return;
    }
    PLIM_VEC_FREE(rules->mem, &rules->list);
    plim_mem_free(rules->mem, rules->of_stack, rules->stack_count + 1, sizeof(uint64_t));
    *rules = (plim_user_rules){ 0 };
}

/* --- stacks --- */

/* `*` is any text, `?` any byte. Time: the product of both lengths at most. */
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL; /* after the last one, */
    const char *from = NULL; /* and how much of the text it has taken */
    while (*text != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}

/* One frame meets both patterns. */
static bool meets(const plim_user_rule *rule, const plim_history *history, uint32_t frame)
{
    const plim_frame *const row = plim_history_frame(history, frame);
    return (rule->file[0] == '\0' ||
            matches(rule->file, plim_history_string(history, row->filename, NULL))) &&
           (rule->function[0] == '\0' ||
            matches(rule->function, plim_history_string(history, row->name, NULL)));
}

static void bind_rule(plim_user_rules *rules, const plim_history *history, size_t index,
                      uint8_t *is_met)
{
    const plim_user_rule *const rule = &rules->list.items[index];
    const bool is_of_any = rule->file[0] == '\0' && rule->function[0] == '\0';
    const uint32_t frames = plim_history_frame_count(history);
    for (uint32_t i = 0; i < frames && !is_of_any; i++) {
        is_met[i] = meets(rule, history, i);
    }
    for (size_t i = 0; i < rules->stack_count; i++) {
        const plim_stack stack = plim_history_stack(history, (uint32_t)i);
        bool has_frame = is_of_any;
        for (uint32_t f = 0; f < stack.frame_count && !has_frame; f++) {
            has_frame = is_met[stack.frames[f]] != 0;
        }
        rules->of_stack[i] |= has_frame ? UINT64_C(1) << index : 0;
    }
    /* The last row is that of no stack. */
    rules->of_stack[rules->stack_count] |= is_of_any ? UINT64_C(1) << index : 0;
}

bool plim_user_rules_bind(plim_user_rules *rules, const plim_history *history)
{
    const uint32_t frames = plim_history_frame_count(history);
    uint8_t *const is_met = plim_mem_alloc_zeroed(rules->mem, (size_t)frames + 1, 1);
    rules->stack_count = plim_history_stack_count(history);
    rules->of_stack =
        plim_mem_alloc_zeroed(rules->mem, rules->stack_count + 1, sizeof *rules->of_stack);
    const bool is_done = is_met != NULL && rules->of_stack != NULL;
    for (size_t i = 0; i < rules->list.count && is_done; i++) {
        bind_rule(rules, history, i, is_met);
    }
    plim_mem_free(rules->mem, is_met, (size_t)frames + 1, 1);
    return is_done;
}

size_t plim_user_rules_judge(const plim_user_rules *rules, uint32_t stack, uint64_t stream,
                             uint64_t bytes, plim_category category)
{
    const size_t row = stack < rules->stack_count ? stack : rules->stack_count;
    for (size_t i = 0; i < rules->list.count; i++) {
        const plim_user_rule *const rule = &rules->list.items[i];
        if ((rules->of_stack[row] >> i & 1u) != 0 && bytes >= rule->bytes_min &&
            bytes <= rule->bytes_max && (!rule->has_stream || rule->stream == stream) &&
            (!rule->has_category || rule->category == category)) {
            return i;
        }
    }
    return rules->list.count;
}
