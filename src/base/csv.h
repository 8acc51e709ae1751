/*
 * csv.h - writing comma-separated values, a field at a time, onto a sink.
 *
 * Fields are quoted where they have to be (RFC 4180); an empty text is "", so that what is not
 * known, an empty field, differs from it. Lines end in a line feed. A sink that fails makes the
 * writer silent.
 */
#ifndef PLIMSOLL_BASE_CSV_H
#define PLIMSOLL_BASE_CSV_H

#include "base/sink.h"

#include <stdint.h>

typedef struct plim_csv {
    plim_sink sink;
    bool failed;
    bool has_fields; /* of this line */
} plim_csv;

void plim_csv_init(plim_csv *csv, plim_sink sink);

/* Any bytes, as they are. */
void plim_csv_text(plim_csv *csv, const char *data, size_t bytes);
void plim_csv_i64(plim_csv *csv, int64_t value);
/* The shortest digits that read back as the same number; nothing for NaN and infinities. */
void plim_csv_double(plim_csv *csv, double value);
/* Bytes in hexadecimal. */
void plim_csv_hex(plim_csv *csv, const char *data, size_t bytes);
/* An empty field. */
void plim_csv_null(plim_csv *csv);
void plim_csv_end_line(plim_csv *csv);

#endif
