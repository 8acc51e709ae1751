/*
 * json_out.c - commas, indentation, escapes and numbers of JSON.
 */
#include "base/json_out.h"

#include "base/assert.h"
#include "base/decimal.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- bytes --- */

static void flush(plim_json *json)
{
    if (json->pending > 0 && !json->failed) {
        json->failed = !json->sink.write(json->sink.ctx, json->buffer, json->pending);
    }
    json->pending = 0;
}

static void put(plim_json *json, const char *data, size_t bytes)
{
    while (bytes > 0) {
        if (json->pending == PLIM_JSON_BUFFER_BYTES) {
            flush(json);
        }
        const size_t room = PLIM_JSON_BUFFER_BYTES - json->pending;
        const size_t piece = bytes < room ? bytes : room;
        memcpy(json->buffer + json->pending, data, piece);
        json->pending += piece;
        data += piece;
        bytes -= piece;
    }
}

static inline void put_byte(plim_json *json, char byte)
{
    if (json->pending == PLIM_JSON_BUFFER_BYTES) {
        flush(json);
    }
    json->buffer[json->pending++] = byte;
}

static void put_string(plim_json *json, const char *string)
{
    put(json, string, strlen(string));
}

static void put_line_break(plim_json *json)
{
    const size_t bytes = 1 + 2 * json->depth;
    _Static_assert(1 + 2 * PLIM_JSON_DEPTH_MAX <= PLIM_JSON_BUFFER_BYTES, "a line's begin fits");
    if (bytes > PLIM_JSON_BUFFER_BYTES - json->pending) {
        flush(json);
    }
    json->buffer[json->pending] = '\n';
    memset(json->buffer + json->pending + 1, ' ', bytes - 1);
    json->pending += bytes;
}

/* --- structure --- */

void plim_json_init(plim_json *json, plim_sink sink, unsigned style)
{
    plim_json_init_within(json, sink, style, 0);
}

void plim_json_init_within(plim_json *json, plim_sink sink, unsigned style, size_t depth)
{
    PLIM_ASSERT(sink.write != NULL);
    PLIM_ASSERT(depth < PLIM_JSON_DEPTH_MAX);

    json->sink = sink;
    json->style = style;
    json->failed = false;
    json->has_key = false;
    json->depth = depth;
    json->depth_least = depth;
    json->levels[depth] = (plim_json_level){ 0 };
    json->pending = 0;
}

/* The comma and the space before an item. `breaks`: pretty output gives it a line of its own. */
static void separate(plim_json *json, bool breaks)
{
    plim_json_level *level = &json->levels[json->depth];
    if (level->has_items) {
        put_byte(json, ',');
    }
    if ((json->style & PLIM_JSON_PRETTY) != 0 && json->depth > json->depth_least) {
        if (breaks || level->is_broken) {
            level->is_broken = true;
            put_line_break(json);
        } else if (level->has_items) {
            put_byte(json, ' ');
        }
    }
    level->has_items = true;
}

/* Writes the comma and layout before a value; in an object its key has done that. */
static void begin_value(plim_json *json, bool breaks)
{
    const plim_json_level *level = &json->levels[json->depth];
    PLIM_ASSERT(json->has_key == level->is_object);
    PLIM_ASSERT(json->depth > json->depth_least || !level->has_items);

    if (json->has_key) {
        json->has_key = false;
        return;
    }
    separate(json, breaks);
}

static void begin_level(plim_json *json, bool is_object, char bracket)
{
    begin_value(json, true);
    PLIM_ASSERT(json->depth < PLIM_JSON_DEPTH_MAX);

    json->depth++;
    json->levels[json->depth] = (plim_json_level){ .is_object = is_object };
    put_byte(json, bracket);
}

static void end_level(plim_json *json, bool is_object, char bracket)
{
    PLIM_ASSERT(json->depth > json->depth_least);
    PLIM_ASSERT(json->levels[json->depth].is_object == is_object);
    PLIM_ASSERT(!json->has_key);

    const bool is_broken = json->levels[json->depth].is_broken;
    json->depth--;
    if (is_broken) {
        put_line_break(json);
    }
    put_byte(json, bracket);
}

void plim_json_begin_object(plim_json *json)
{
    begin_level(json, true, '{');
}

void plim_json_end_object(plim_json *json)
{
    end_level(json, true, '}');
}

void plim_json_begin_array(plim_json *json)
{
    begin_level(json, false, '[');
}

void plim_json_end_array(plim_json *json)
{
    end_level(json, false, ']');
}

/* --- strings --- */

static void put_escape(plim_json *json, unsigned code)
{
    static const char digits[] = "0123456789abcdef";
    const char text[6] = { '\\',
                           'u',
                           digits[code >> 12 & 15],
                           digits[code >> 8 & 15],
                           digits[code >> 4 & 15],
                           digits[code & 15] };
    put(json, text, sizeof text);
}

static void put_ascii_escape(plim_json *json, unsigned char c)
{
    switch (c) {
    case '"':
        put(json, "\\\"", 2);
        break;
    case '\\':
        put(json, "\\\\", 2);
        break;
    case '\n':
        put(json, "\\n", 2);
        break;
    case '\r':
        put(json, "\\r", 2);
        break;
    case '\t':
        put(json, "\\t", 2);
        break;
    default:
        put_escape(json, c);
        break;
    }
}

/* 2: the byte stands for itself in a string; 1: but for PLIM_JSON_HTML; 0: it does not. */
static const uint8_t plainness[256] = {
    /* clang-format off */
    [0x20] = 2, 2, 0, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, /* " & */
             2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 2, 1, 2, /* < > */
             2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
             2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 2, 2, 2, /* \ */
             2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
             2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0,
    /* clang-format on */
};

static void put_quoted(plim_json *json, const char *data, size_t bytes)
{
    const unsigned char *p = (const unsigned char *)data;
    const uint8_t plain = (json->style & PLIM_JSON_HTML) == 0 ? 1 : 2;
    put_byte(json, '"');
    size_t i = 0;
    while (i < bytes) {
        size_t end = i;
        while (end < bytes && plainness[p[end]] >= plain) {
            end++;
        }
        put(json, data + i, end - i);
        i = end;
        if (i == bytes) {
            break;
        }
        if (p[i] < 0x80) {
            put_ascii_escape(json, p[i]);
            i++;
            continue;
        }
        const plim_utf8 next = plim_utf8_next(data + i, bytes - i);
        if (next.code == PLIM_UTF8_INVALID) {
            put_string(json, PLIM_UTF8_REPLACEMENT);
        } else if (next.code == 0x2028 || next.code == 0x2029) {
            put_escape(json, next.code); /* line ends to JavaScript */
        } else {
            put(json, data + i, next.bytes);
        }
        i += next.bytes;
    }
    put_byte(json, '"');
}

void plim_json_key(plim_json *json, const char *key)
{
    PLIM_ASSERT(json->levels[json->depth].is_object);
    PLIM_ASSERT(!json->has_key);

    separate(json, true);
    put_quoted(json, key, strlen(key));
    put_byte(json, ':');
    if ((json->style & PLIM_JSON_PRETTY) != 0) {
        put_byte(json, ' ');
    }
    json->has_key = true;
}

void plim_json_string_bytes(plim_json *json, const char *data, size_t bytes)
{
    begin_value(json, true);
    put_quoted(json, data, bytes);
}

void plim_json_string(plim_json *json, const char *string)
{
    plim_json_string_bytes(json, string, strlen(string));
}

/* --- numbers and words --- */

void plim_json_u64(plim_json *json, uint64_t value)
{
    char digits[24];
    size_t i = sizeof digits;
    do {
        digits[--i] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    begin_value(json, false);
    put(json, digits + i, sizeof digits - i);
}

void plim_json_i64(plim_json *json, int64_t value)
{
    char text[24];
    const int length = snprintf(text, sizeof text, "%" PRId64, value);
    begin_value(json, false);
    put(json, text, (size_t)length);
}

void plim_json_double(plim_json *json, double value)
{
    if (!isfinite(value)) {
        plim_json_null(json);
        return;
    }
    begin_value(json, false);
    put_string(json, plim_format_decimal(value).text);
}

void plim_json_bool(plim_json *json, bool value)
{
    begin_value(json, false);
    put_string(json, value ? "true" : "false");
}

void plim_json_null(plim_json *json)
{
    begin_value(json, false);
    put_string(json, "null");
}

/* --- members, and the end --- */

void plim_json_member_string(plim_json *json, const char *key, const char *string)
{
    plim_json_key(json, key);
    plim_json_string(json, string);
}

void plim_json_member_optional_string(plim_json *json, const char *key, const char *string)
{
    plim_json_key(json, key);
    if (string == NULL || string[0] == '\0') {
        plim_json_null(json);
    } else {
        plim_json_string(json, string);
    }
}

void plim_json_member_u64(plim_json *json, const char *key, uint64_t value)
{
    plim_json_key(json, key);
    plim_json_u64(json, value);
}

void plim_json_member_i64(plim_json *json, const char *key, int64_t value)
{
    plim_json_key(json, key);
    plim_json_i64(json, value);
}

void plim_json_member_double(plim_json *json, const char *key, double value)
{
    plim_json_key(json, key);
    plim_json_double(json, value);
}

void plim_json_member_bool(plim_json *json, const char *key, bool value)
{
    plim_json_key(json, key);
    plim_json_bool(json, value);
}

void plim_json_member_array(plim_json *json, const char *key)
{
    plim_json_key(json, key);
    plim_json_begin_array(json);
}

void plim_json_member_object(plim_json *json, const char *key)
{
    plim_json_key(json, key);
    plim_json_begin_object(json);
}

/* Writes the key, and null where that is its value. */
static bool key_of(plim_json *json, const char *key, bool is_known)
{
    plim_json_key(json, key);
    if (!is_known) {
        plim_json_null(json);
    }
    return is_known;
}

void plim_json_member_known_u64(plim_json *json, const char *key, bool is_known, uint64_t value)
{
    if (key_of(json, key, is_known)) {
        plim_json_u64(json, value);
    }
}

void plim_json_member_known_i64(plim_json *json, const char *key, bool is_known, int64_t value)
{
    if (key_of(json, key, is_known)) {
        plim_json_i64(json, value);
    }
}

void plim_json_member_known_double(plim_json *json, const char *key, bool is_known, double value)
{
    if (key_of(json, key, is_known)) {
        plim_json_double(json, value);
    }
}

void plim_json_member_known_bool(plim_json *json, const char *key, bool is_known, bool value)
{
    if (key_of(json, key, is_known)) {
        plim_json_bool(json, value);
    }
}

void plim_json_raw(plim_json *json, const char *value, size_t bytes)
{
    PLIM_ASSERT(bytes > 0);
    begin_value(json, true);
    put(json, value, bytes);
}

bool plim_json_finish_within(plim_json *json)
{
    PLIM_ASSERT(json->depth == json->depth_least);
    PLIM_ASSERT(json->levels[json->depth].has_items);

    flush(json);
    return !json->failed;
}

bool plim_json_finish(plim_json *json)
{
    put_byte(json, '\n');
    return plim_json_finish_within(json);
}
