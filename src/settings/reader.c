/*
 * reader.c - cuts a settings string into tokens, and looks at words; no memory is taken.
 */
#include "settings/reader.h"

#include "base/ascii.h"
#include "base/assert.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define QUOTE_LENGTH_MAX 48 /* more of a word does not help */

static bool is_sign(char c)
{
    return c == ',' || c == ':' || c == '[' || c == ']';
}

static size_t skip_space(const char *text, size_t at)
{
    while (plim_is_space(text[at])) {
        at++;
    }
    return at;
}

void plim_settings_reader_init(plim_settings_reader *reader, const char *source, const char *text,
                               plim_error *err)
{
    *reader = (plim_settings_reader){ .source = source, .text = text, .err = err };
    plim_settings_advance(reader);
}

void plim_settings_advance(plim_settings_reader *reader)
{
    const char *const text = reader->text;
    plim_settings_token *const token = &reader->token;
    size_t at = skip_space(text, reader->next);
    token->offset = at;
    token->length = 0;
    if (text[at] == '\0' || is_sign(text[at])) {
        token->kind = text[at];
        at += text[at] != '\0';
    } else {
        token->kind = 'w';
        while (text[at] != '\0' && !is_sign(text[at])) {
            if (token->length < PLIM_SETTINGS_WORD_BYTES - 1) {
                token->word[token->length] = text[at];
            }
            token->length++;
            at = skip_space(text, at + 1);
        }
    }
    const size_t kept =
        token->length < PLIM_SETTINGS_WORD_BYTES ? token->length : PLIM_SETTINGS_WORD_BYTES - 1;
    token->word[kept] = '\0';
    reader->next = at;
    PLIM_ASSERT_DEBUG(token->kind == '\0' || reader->next > token->offset);
}

bool plim_settings_at_word(const plim_settings_reader *reader, const char *word)
{
    return reader->token.kind == 'w' && reader->token.length < PLIM_SETTINGS_WORD_BYTES &&
           strcmp(reader->token.word, word) == 0;
}

plim_status plim_settings_expect(plim_settings_reader *reader, char kind, const char *after)
{
    if (reader->token.kind != kind) {
        return plim_settings_fail(reader, PLIM_CORRUPT, 0, "expected '%c' after %s, not %s", kind,
                                  after, plim_settings_quoted(reader).text);
    }
    plim_settings_advance(reader);
    return PLIM_OK;
}

plim_status plim_settings_fail(const plim_settings_reader *reader, plim_status status, size_t index,
                               const char *format, ...)
{
    char message[PLIM_ERROR_MESSAGE_BYTES];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);

    size_t offset = reader->token.offset;
    for (size_t i = 0; i < index && reader->text[offset] != '\0'; i++) {
        offset = skip_space(reader->text, offset + 1);
    }
    return plim_fail_at(reader->err, status, offset, "%s: character %zu: %s", reader->source,
                        offset + 1, message);
}

plim_settings_quote plim_settings_quoted(const plim_settings_reader *reader)
{
    const plim_settings_token *const token = &reader->token;
    plim_settings_quote quote;
    if (token->kind == '\0') {
        snprintf(quote.text, sizeof quote.text, "the end");
        return quote;
    }
    if (token->kind != 'w') {
        snprintf(quote.text, sizeof quote.text, "'%c'", token->kind);
        return quote;
    }
    size_t length = 0;
    quote.text[length++] = '\'';
    for (size_t i = 0; i < token->length && i < QUOTE_LENGTH_MAX; i++) {
        const char c = token->word[i];
        quote.text[length++] = (char)(c > ' ' && c <= '~' ? c : '?');
    }
    snprintf(quote.text + length, sizeof quote.text - length, "%s'",
             token->length > QUOTE_LENGTH_MAX ? "..." : "");
    return quote;
}

/* --- values --- */

plim_status plim_settings_fail_word(const plim_settings_reader *reader, plim_status status,
                                    size_t index, const char *what)
{
    return plim_settings_fail(reader, status, index, "%s %s (%s)",
                              plim_settings_quoted(reader).text, what, reader->key);
}

plim_status plim_settings_check_word(const plim_settings_reader *reader, const char *what,
                                     const char *of)
{
    return reader->token.kind == 'w'
               ? PLIM_OK
               : plim_settings_fail(reader, PLIM_CORRUPT, 0, "expected %s%s, not %s", what, of,
                                    plim_settings_quoted(reader).text);
}

plim_status plim_settings_check_value(const plim_settings_reader *reader)
{
    PLIM_TRY(plim_settings_check_word(reader, "a value of ", reader->key));
    return reader->token.length < PLIM_SETTINGS_WORD_BYTES
               ? PLIM_OK
               : plim_settings_fail_word(reader, PLIM_CORRUPT, 0, "is too long for a value");
}

plim_status plim_settings_peek_whole(const plim_settings_reader *reader, uint64_t *ret_value)
{
    PLIM_TRY(plim_settings_check_value(reader));
    const char *const word = reader->token.word;
    uint64_t value = 0;
    bool fits = true;
    for (size_t i = 0; i < reader->token.length; i++) {
        if (word[i] < '0' || word[i] > '9') {
            return plim_settings_fail_word(reader, PLIM_CORRUPT, i, "is not a whole number");
        }
        const uint64_t digit = (uint64_t)(word[i] - '0');
        fits = fits && value <= (UINT64_MAX - digit) / 10;
        value = fits ? value * 10 + digit : value;
    }
    if (!fits) {
        return plim_settings_fail_word(reader, PLIM_INVALID_ARGUMENT, 0,
                                       "is too large, must be < 2^64");
    }
    *ret_value = value;
    return PLIM_OK;
}

plim_status plim_settings_read_power(plim_settings_reader *reader, const char *what, bool with_zero,
                                     uint64_t max, uint64_t *ret_value)
{
    uint64_t value = 0;
    PLIM_TRY(plim_settings_peek_whole(reader, &value));
    const bool is_power = value != 0 && (value & (value - 1)) == 0;
    if (!is_power && !(with_zero && value == 0)) {
        return plim_settings_fail(reader, PLIM_INVALID_ARGUMENT, 0,
                                  "%s must be a power of 2%s, like 4, not %" PRIu64 " (%s)", what,
                                  with_zero ? " or 0 to disable rounding" : "", value, reader->key);
    }
    if (value > max) {
        return plim_settings_fail(reader, PLIM_INVALID_ARGUMENT, 0,
                                  "%s must be at most %" PRIu64 ", not %" PRIu64 " (%s)", what, max,
                                  value, reader->key);
    }
    plim_settings_advance(reader);
    *ret_value = value;
    return PLIM_OK;
}
