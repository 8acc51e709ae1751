/*
 * opcodes_text.c - the opcodes of protocol 0, whose operands are lines of text.
 *
 *   I42\n  I01\n (true)  L42L\n  F1.5\n  S'quoted\x41'\n  Vraw\u0041\n  p7\n  g7\n
 *
 * PyTorch writes none of them; snapshots passed through old tools have them. The forms are those
 * of Python's pickletools.py.
 */
#include "pickle/machine.h"

#include "base/error.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Python's own limit on the digits of an integer read from text (sys.int_info). */
#define LONG_DIGITS_MAX 4300
#define FLOAT_BYTES_MAX 512

/* A line of at most `max` bytes as a C string. */
static plim_status take_short_line(plim_machine *machine, char *buffer, size_t max,
                                   size_t *ret_bytes, plim_error *err)
{
    const char *line = NULL;
    size_t bytes = 0;
    PLIM_TRY(plim_machine_line(machine, &line, &bytes, err));
    if (bytes > max || memchr(line, '\0', bytes) != NULL) {
        return plim_machine_corrupt(machine, err, "a number in text is too long or not text");
    }
    memcpy(buffer, line, bytes);
    buffer[bytes] = '\0';
    *ret_bytes = bytes;
    return PLIM_OK;
}

/* Decimal digits to two's complement bytes; *ret_count of them. `bytes` has room for all. */
static bool decimal_to_bytes(const char *digits, size_t count, bool is_negative, uint8_t *bytes,
                             size_t *ret_count)
{
    size_t used = 1;
    bytes[0] = 0;
    for (size_t i = 0; i < count; i++) {
        if (digits[i] < '0' || digits[i] > '9') {
            return false;
        }
        unsigned carry = (unsigned)(digits[i] - '0');
        for (size_t j = 0; j < used; j++) {
            carry += bytes[j] * 10u;
            bytes[j] = (uint8_t)carry;
            carry >>= 8;
        }
        if (carry > 0) {
            bytes[used++] = (uint8_t)carry;
        }
    }
    bytes[used++] = 0; /* the sign */
    unsigned borrow = 1;
    for (size_t j = 0; is_negative && j < used; j++) {
        borrow += (uint8_t)~bytes[j];
        bytes[j] = (uint8_t)borrow;
        borrow >>= 8;
    }
    *ret_count = used;
    return count > 0;
}

static plim_status push_decimal(plim_machine *machine, const char *text, size_t bytes,
                                plim_error *err)
{
    const bool has_sign = bytes > 0 && (text[0] == '-' || text[0] == '+');
    uint8_t binary[LONG_DIGITS_MAX / 2 + 2]; /* log2(10)/8 < 1/2 byte a digit */
    size_t count = 0;
    if (bytes > LONG_DIGITS_MAX || !decimal_to_bytes(text + has_sign, bytes - has_sign,
                                                     has_sign && text[0] == '-', binary, &count)) {
        return plim_machine_corrupt(machine, err, "\"%.40s\" is no integer", text);
    }
    plim_value value = PLIM_VALUE_ABSENT;
    const bool made = plim_make_long(machine->builder, binary, count, &value);
    return plim_machine_push_made(machine, made, value, err);
}

static plim_status op_int(plim_machine *machine, plim_error *err)
{
    char text[LONG_DIGITS_MAX + 1];
    size_t bytes = 0;
    PLIM_TRY(take_short_line(machine, text, LONG_DIGITS_MAX, &bytes, err));
    if (bytes == 2 && memcmp(text, "00", 2) == 0) {
        return plim_machine_push(machine, PLIM_VALUE_FALSE, err);
    }
    if (bytes == 2 && memcmp(text, "01", 2) == 0) {
        return plim_machine_push(machine, PLIM_VALUE_TRUE, err);
    }
    return push_decimal(machine, text, bytes, err);
}

static plim_status op_long(plim_machine *machine, plim_error *err)
{
    char text[LONG_DIGITS_MAX + 1];
    size_t bytes = 0;
    PLIM_TRY(take_short_line(machine, text, LONG_DIGITS_MAX, &bytes, err));
    if (bytes > 0 && text[bytes - 1] == 'L') {
        bytes--;
    }
    return push_decimal(machine, text, bytes, err);
}

static plim_status op_float(plim_machine *machine, plim_error *err)
{
    char text[FLOAT_BYTES_MAX + 1];
    size_t bytes = 0;
    PLIM_TRY(take_short_line(machine, text, FLOAT_BYTES_MAX, &bytes, err));
    char *end = NULL;
    const double real = strtod(text, &end);
    if (bytes == 0 || *end != '\0') {
        return plim_machine_corrupt(machine, err, "\"%.40s\" is no float", text);
    }
    plim_value value = PLIM_VALUE_ABSENT;
    const bool made = plim_make_real(machine->builder, real, &value);
    return plim_machine_push_made(machine, made, value, err);
}

/* `count` hexadecimal digits at text; false when there are fewer. */
static bool hex_value(const char *text, const char *end, int count, uint32_t *ret)
{
    uint32_t value = 0;
    for (int i = 0; i < count; i++) {
        static const char digits[] = "0123456789abcdef";
        const char lower = text + i < end ? (char)(text[i] | 0x20) : '\0';
        const char *digit = lower == '\0' ? NULL : strchr(digits, lower);
        if (digit == NULL || (text[i] < '0')) {
            return false;
        }
        value = value << 4 | (uint32_t)(digit - digits);
    }
    *ret = value;
    return true;
}

/* A code point as UTF-8; lone surrogates too, as Python's "surrogatepass" has them. */
static char *append_utf8(char *to, uint32_t point)
{
    if (point < 0x80) {
        *to++ = (char)point;
    } else if (point < 0x800) {
        *to++ = (char)(0xc0 | point >> 6);
        *to++ = (char)(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        *to++ = (char)(0xe0 | point >> 12);
        *to++ = (char)(0x80 | (point >> 6 & 0x3f));
        *to++ = (char)(0x80 | (point & 0x3f));
    } else {
        *to++ = (char)(0xf0 | (point >> 18 & 0x07));
        *to++ = (char)(0x80 | (point >> 12 & 0x3f));
        *to++ = (char)(0x80 | (point >> 6 & 0x3f));
        *to++ = (char)(0x80 | (point & 0x3f));
    }
    return to;
}

/* Python's repr() escapes: \n, \t, \\, \', \xhh, octal. What is no escape stands for itself. */
static char *decode_repr(const char *text, const char *end, char *to)
{
    static const char names[] = "abfnrtv\\'\"";
    static const char codes[] = "\a\b\f\n\r\t\v\\'\"";
    while (text < end) {
        uint32_t value = 0;
        if (*text != '\\' || text + 1 == end) {
            *to++ = *text++;
            continue;
        }
        const char *name = text[1] == '\0' ? NULL : strchr(names, text[1]);
        if (name != NULL) {
            *to++ = codes[name - names];
            text += 2;
        } else if (text[1] == 'x' && hex_value(text + 2, end, 2, &value)) {
            *to++ = (char)value;
            text += 4;
        } else if (text[1] >= '0' && text[1] <= '7') {
            text++;
            for (int i = 0; i < 3 && text < end && *text >= '0' && *text <= '7'; i++) {
                value = value * 8 + (uint32_t)(*text++ - '0');
            }
            *to++ = (char)value;
        } else {
            *to++ = *text++;
        }
    }
    return to;
}

/* Raw Unicode escapes: \uXXXX and \UXXXXXXXX; every other byte is a Latin-1 character. */
static char *decode_raw_unicode(const char *text, const char *end, char *to)
{
    while (text < end) {
        uint32_t point = 0;
        if (end - text >= 6 && text[0] == '\\' && text[1] == 'u' &&
            hex_value(text + 2, end, 4, &point)) {
            text += 6;
        } else if (end - text >= 10 && text[0] == '\\' && text[1] == 'U' &&
                   hex_value(text + 2, end, 8, &point)) {
            text += 10;
        } else {
            point = (unsigned char)*text++;
        }
        to = append_utf8(to, point);
    }
    return to;
}

typedef char *decoder(const char *text, const char *end, char *to);

static plim_status push_decoded(plim_machine *machine, const char *text, size_t bytes,
                                decoder *decode, plim_error *err)
{
    /* No escape decodes to more than twice the bytes it is written in. */
    const plim_mem *mem = machine->builder->mem;
    const size_t room = 2 * bytes + 1;
    char *buffer = plim_mem_alloc(mem, room, 1);
    if (buffer == NULL) {
        return plim_fail_memory(err, "reading the pickle");
    }
    const char *end = decode(text, text + bytes, buffer);
    plim_value value = PLIM_VALUE_ABSENT;
    const bool made = plim_make_string(machine->builder, buffer, (size_t)(end - buffer), &value);
    plim_mem_free(mem, buffer, room, 1);
    return plim_machine_push_made(machine, made, value, err);
}

static plim_status op_string(plim_machine *machine, plim_error *err)
{
    const char *line = NULL;
    size_t bytes = 0;
    PLIM_TRY(plim_machine_line(machine, &line, &bytes, err));
    if (bytes < 2 || (line[0] != '\'' && line[0] != '"') || line[bytes - 1] != line[0]) {
        return plim_machine_corrupt(machine, err, "a string in text has no quotes around it");
    }
    return push_decoded(machine, line + 1, bytes - 2, decode_repr, err);
}

static plim_status op_unicode(plim_machine *machine, plim_error *err)
{
    const char *line = NULL;
    size_t bytes = 0;
    PLIM_TRY(plim_machine_line(machine, &line, &bytes, err));
    return push_decoded(machine, line, bytes, decode_raw_unicode, err);
}

static plim_status take_number(plim_machine *machine, uint64_t *ret, plim_error *err)
{
    char text[24];
    size_t bytes = 0;
    PLIM_TRY(take_short_line(machine, text, sizeof text - 1, &bytes, err));
    char *end = NULL;
    errno = 0;
    *ret = strtoull(text, &end, 10);
    if (bytes == 0 || *end != '\0' || text[0] < '0' || text[0] > '9' || errno != 0 ||
        *ret > UINT32_MAX) {
        return plim_machine_corrupt(machine, err, "\"%.24s\" is no memo number", text);
    }
    return PLIM_OK;
}

static plim_status op_put(plim_machine *machine, plim_error *err)
{
    uint64_t number = 0;
    PLIM_TRY(take_number(machine, &number, err));
    return plim_machine_put(machine, number, err);
}

static plim_status op_get(plim_machine *machine, plim_error *err)
{
    uint64_t number = 0;
    PLIM_TRY(take_number(machine, &number, err));
    return plim_machine_get(machine, number, err);
}

plim_opcode_function *plim_text_opcode_of(uint8_t code)
{
    static plim_opcode_function *const functions[256] = {
        [PLIM_PICKLE_OP_INT] = op_int,         [PLIM_PICKLE_OP_LONG] = op_long,
        [PLIM_PICKLE_OP_FLOAT] = op_float,     [PLIM_PICKLE_OP_STRING] = op_string,
        [PLIM_PICKLE_OP_UNICODE] = op_unicode, [PLIM_PICKLE_OP_PUT] = op_put,
        [PLIM_PICKLE_OP_GET] = op_get,
    };
    return functions[code];
}
