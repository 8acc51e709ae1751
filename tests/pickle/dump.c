/*
 * dump.c - values as text; recursion is fine for what tests write down.
 */
#include "pickle/dump.h"

#include "base/map.h"

#include <inttypes.h>
#include <string.h>

typedef struct value_dumper {
    plim_text *text;
    plim_map seen; /* containers to their numbers */
    unsigned depth;
} value_dumper;

static void dump_any(value_dumper *dumper, plim_value value);

static void dump_bytes(value_dumper *dumper, const char *prefix, plim_value value)
{
    const plim_object *object = plim_value_object(value);
    const char *bytes = plim_object_bytes(object);
    plim_text_append_string(dumper->text, prefix);
    for (uint64_t i = 0; i < object->as.bytes; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        if (c >= ' ' && c <= '~' && c != '\'' && c != '\\') {
            plim_text_append_char(dumper->text, (char)c);
        } else {
            plim_text_append_format(dumper->text, "\\x%02x", c);
        }
    }
    plim_text_append_char(dumper->text, '\'');
}

static void dump_bigint(value_dumper *dumper, plim_value value)
{
    const plim_object *object = plim_value_object(value);
    plim_text_append_string(dumper->text, "0x");
    for (uint64_t i = object->as.bytes; i > 0; i--) {
        plim_text_append_format(dumper->text, "%02x",
                                (unsigned char)plim_object_bytes(object)[i - 1]);
    }
}

static void dump_float(value_dumper *dumper, plim_value value)
{
    double real = 0;
    uint64_t bits = 0;
    (void)plim_value_real(value, &real);
    memcpy(&bits, &real, sizeof bits);
    plim_text_append_format(dumper->text, "f%016" PRIx64, bits);
}

static void dump_items(value_dumper *dumper, plim_value value, const char *begin, const char *end)
{
    const uint64_t count = plim_value_count(value);
    plim_text_append_string(dumper->text, begin);
    for (uint64_t i = 0; i < count; i++) {
        plim_text_append_string(dumper->text, i == 0 ? "" : ", ");
        dump_any(dumper, plim_value_item(value, i));
    }
    plim_text_append_string(dumper->text, end);
}

static void dump_pairs(value_dumper *dumper, plim_value value)
{
    const uint64_t count = plim_value_pairs(value);
    plim_text_append_char(dumper->text, '{');
    for (uint64_t i = 0; i < count; i++) {
        plim_text_append_string(dumper->text, i == 0 ? "" : ", ");
        dump_any(dumper, plim_value_pair_key(value, i));
        plim_text_append_string(dumper->text, ": ");
        dump_any(dumper, plim_value_pair_value(value, i));
    }
    plim_text_append_char(dumper->text, '}');
}

/* True if a container was met before; its number is written then. */
static bool dump_again(value_dumper *dumper, plim_value value, plim_kind kind)
{
    if ((kind == PLIM_KIND_TUPLE || kind == PLIM_KIND_FROZENSET) && plim_value_count(value) == 0) {
        return false;
    }
    const uint64_t number = plim_map_get(&dumper->seen, value.bits);
    if (number == PLIM_MAP_ABSENT) {
        (void)plim_map_put(&dumper->seen, value.bits, dumper->seen.count);
        return false;
    }
    plim_text_append_format(dumper->text, "&%" PRIu64, number);
    return true;
}

static void dump_container(value_dumper *dumper, plim_value value, plim_kind kind)
{
    if (dump_again(dumper, value, kind)) {
        return;
    }
    if (dumper->depth >= DUMP_DEPTH_MAX) {
        plim_text_append_string(dumper->text, "...");
        return;
    }
    dumper->depth++;
    if (kind == PLIM_KIND_DICT) {
        dump_pairs(dumper, value);
    } else if (kind == PLIM_KIND_LIST) {
        dump_items(dumper, value, "[", "]");
    } else if (kind == PLIM_KIND_TUPLE) {
        dump_items(dumper, value, "(", ")");
    } else {
        dump_items(dumper, value, kind == PLIM_KIND_SET ? "set{" : "frozenset{", "}");
    }
    dumper->depth--;
}

static void dump_small(value_dumper *dumper, plim_value value, plim_kind kind)
{
    int64_t integer = 0;
    uint8_t row_class = 0;
    uint64_t row = 0;
    if (kind == PLIM_KIND_INT && plim_value_i64(value, &integer)) {
        plim_text_append_format(dumper->text, "%" PRId64, integer);
    } else if (kind == PLIM_KIND_BOOL) {
        plim_text_append_string(dumper->text,
                                value.bits == PLIM_VALUE_TRUE.bits ? "True" : "False");
    } else if (plim_value_row_of(value, &row_class, &row)) {
        plim_text_append_format(dumper->text, "<%u:%" PRIu64 ">", row_class, row);
    } else {
        plim_text_append_string(dumper->text, kind == PLIM_KIND_NONE ? "None" : "absent");
    }
}

static void dump_any(value_dumper *dumper, plim_value value)
{
    const plim_kind kind = plim_value_kind(value);
    switch (kind) {
    case PLIM_KIND_STRING:
        dump_bytes(dumper, "'", value);
        break;
    case PLIM_KIND_BYTES:
        dump_bytes(dumper, "b'", value);
        break;
    case PLIM_KIND_BYTEARRAY:
        dump_bytes(dumper, "B'", value);
        break;
    case PLIM_KIND_BIGINT:
        dump_bigint(dumper, value);
        break;
    case PLIM_KIND_FLOAT:
        dump_float(dumper, value);
        break;
    case PLIM_KIND_LIST:
    case PLIM_KIND_TUPLE:
    case PLIM_KIND_DICT:
    case PLIM_KIND_SET:
    case PLIM_KIND_FROZENSET:
        dump_container(dumper, value, kind);
        break;
    case PLIM_KIND_ABSENT:
    case PLIM_KIND_NONE:
    case PLIM_KIND_BOOL:
    case PLIM_KIND_INT:
    case PLIM_KIND_ROW:
        dump_small(dumper, value, kind);
        break;
    }
}

void dump_value(plim_value value, plim_text *text)
{
    value_dumper dumper = { .text = text };
    plim_map_init(&dumper.seen, text->mem);
    dump_any(&dumper, value);
    plim_map_deinit(&dumper.seen);
}
