/*
 * json_out.h - writing JSON, a value at a time, onto a sink.
 *
 *     plim_json json;
 *     plim_json_init(&json, plim_sink_to_file(stdout), PLIM_JSON_PRETTY);
 *     plim_json_begin_object(&json);
 *     plim_json_key(&json, "bytes");
 *     plim_json_u64(&json, 512);
 *     plim_json_end_object(&json);
 *     if (!plim_json_finish(&json)) { … }
 *
 * The output is valid JSON (RFC 8259) in UTF-8 for any input; calls in an impossible order
 * are our mistake and assert. Nothing is allocated. A sink that fails makes the writer silent,
 * and plim_json_finish() reports it. Integers are written exactly, also those above 2^53 that a
 * reader in JavaScript would round.
 */
#ifndef PLIMSOLL_BASE_JSON_OUT_H
#define PLIMSOLL_BASE_JSON_OUT_H

#include "base/sink.h"

#define PLIM_JSON_DEPTH_MAX    64
#define PLIM_JSON_BUFFER_BYTES 4096

typedef enum plim_json_style {
    PLIM_JSON_COMPACT = 0,
    /* Two spaces a level; arrays of numbers stay on their line. */
    PLIM_JSON_PRETTY = 1,
    /* '<', '>' and '&' in strings escaped, for documents that stand within HTML. */
    PLIM_JSON_HTML = 2,
} plim_json_style; /* may be or-ed */

typedef struct plim_json_level {
    bool is_object;
    bool has_items;
    bool is_broken; /* pretty: an item began on a line of its own */
} plim_json_level;

typedef struct plim_json {
    plim_sink sink;
    unsigned style;
    bool failed;
    bool has_key; /* the last call was plim_json_key() */
    size_t depth;
    size_t depth_least;                              /* of the document's top */
    plim_json_level levels[PLIM_JSON_DEPTH_MAX + 1]; /* levels[depth_least] holds the document */
    size_t pending;
    char buffer[PLIM_JSON_BUFFER_BYTES];
} plim_json;

void plim_json_init(plim_json *json, plim_sink sink, unsigned style);

/*
 * A value of its own that is to stand in another document, at so many levels below its top: made
 * by another thread, say. It is indented as it will be there, and finished by the next call, which
 * is false when the sink failed; plim_json_raw() puts it there.
 */
void plim_json_init_within(plim_json *json, plim_sink sink, unsigned style, size_t depth);
PLIM_MUST_USE bool plim_json_finish_within(plim_json *json);
void plim_json_raw(plim_json *json, const char *value, size_t bytes);

void plim_json_begin_object(plim_json *json);
void plim_json_end_object(plim_json *json);
void plim_json_begin_array(plim_json *json);
void plim_json_end_array(plim_json *json);

/* In an object, before each value. Keys are strings like others. */
void plim_json_key(plim_json *json, const char *key);

/*
 * Bytes that are not UTF-8 become U+FFFD, one for each broken piece (Unicode 15, §3.9, "maximal
 * subparts"). Control characters, U+2028 and U+2029 are escaped.
 */
void plim_json_string(plim_json *json, const char *string);
void plim_json_string_bytes(plim_json *json, const char *data, size_t bytes);
void plim_json_u64(plim_json *json, uint64_t value);
void plim_json_i64(plim_json *json, int64_t value);
/* The shortest digits that read back as the same number; NaN and infinities are null. */
void plim_json_double(plim_json *json, double value);
void plim_json_bool(plim_json *json, bool value);
void plim_json_null(plim_json *json);

/* A key and its value. */
void plim_json_member_string(plim_json *json, const char *key, const char *string);
/* null for NULL and "". */
void plim_json_member_optional_string(plim_json *json, const char *key, const char *string);
void plim_json_member_u64(plim_json *json, const char *key, uint64_t value);
void plim_json_member_i64(plim_json *json, const char *key, int64_t value);
void plim_json_member_double(plim_json *json, const char *key, double value);
void plim_json_member_bool(plim_json *json, const char *key, bool value);

/* null where the value is not known. */
void plim_json_member_known_u64(plim_json *json, const char *key, bool is_known, uint64_t value);
void plim_json_member_known_i64(plim_json *json, const char *key, bool is_known, int64_t value);
void plim_json_member_known_double(plim_json *json, const char *key, bool is_known, double value);
void plim_json_member_known_bool(plim_json *json, const char *key, bool is_known, bool value);
/* A key, and its value begins. */
void plim_json_member_array(plim_json *json, const char *key);
void plim_json_member_object(plim_json *json, const char *key);

/* After the one value: a newline, and all to the sink. False when the sink failed, then or before.
 */
PLIM_MUST_USE bool plim_json_finish(plim_json *json);

#endif
