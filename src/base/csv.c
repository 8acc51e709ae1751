/*
 * csv.c - fields, and when they are quoted. See csv.h.
 */
#include "base/csv.h"

#include "base/decimal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void plim_csv_init(plim_csv *csv, plim_sink sink)
{
    *csv = (plim_csv){ .sink = sink };
}

static void put(plim_csv *csv, const char *data, size_t bytes)
{
    csv->failed = csv->failed || (bytes > 0 && !csv->sink.write(csv->sink.ctx, data, bytes));
}

static void begin_field(plim_csv *csv)
{
    if (csv->has_fields) {
        put(csv, ",", 1);
    }
    csv->has_fields = true;
}

static bool needs_quotes(const char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (data[i] == '"' || data[i] == ',' || data[i] == '\n' || data[i] == '\r') {
            return true;
        }
    }
    return bytes == 0 || data[0] == ' ' || data[bytes - 1] == ' ';
}

void plim_csv_text(plim_csv *csv, const char *data, size_t bytes)
{
    begin_field(csv);
    if (!needs_quotes(data, bytes)) {
        put(csv, data, bytes);
        return;
    }
    put(csv, "\"", 1);
    while (bytes > 0) { /* each quote twice: once with what is before it, once with the rest */
        const char *const quote = memchr(data, '"', bytes);
        const size_t length = quote != NULL ? (size_t)(quote - data) + 1 : bytes;
        put(csv, data, length);
        put(csv, "\"", quote != NULL);
        data += length;
        bytes -= length;
    }
    put(csv, "\"", 1);
}

void plim_csv_i64(plim_csv *csv, int64_t value)
{
    char text[24];
    begin_field(csv);
    put(csv, text, (size_t)snprintf(text, sizeof text, "%" PRId64, value));
}

void plim_csv_double(plim_csv *csv, double value)
{
    begin_field(csv);
    if (isfinite(value)) {
        const plim_decimal_text text = plim_format_decimal(value);
        put(csv, text.text, strlen(text.text));
    }
}

void plim_csv_hex(plim_csv *csv, const char *data, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    begin_field(csv);
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char byte = (unsigned char)data[i];
        const char pair[2] = { digits[byte >> 4], digits[byte & 15] };
        put(csv, pair, 2);
    }
}

void plim_csv_null(plim_csv *csv)
{
    begin_field(csv);
}

void plim_csv_end_line(plim_csv *csv)
{
    put(csv, "\n", 1);
    csv->has_fields = false;
}
