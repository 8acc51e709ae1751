/*
 * size.h - numbers as people read and write them: bytes, counts, shares, durations.
 *
 * KiB, MiB and GiB are powers of two, and so are KB, MB and GB in what users type, because
 * that is what PyTorch's settings mean by them.
 */
#ifndef PLIMSOLL_BASE_SIZE_H
#define PLIMSOLL_BASE_SIZE_H

#include "plimsoll/status.h"

#include <stdint.h>

/**
 * Read a size: 512B, 20MiB, 20 MB, 1.5GiB, 2G, 80g, 0.
 *
 * text       digits, perhaps a fraction, perhaps blanks, a unit: B, or one of K M G T P E with or
 *            without B or iB after it, in any case. Only 0 may lack the unit: a person who types 80
 *            hardly means 80 bytes
 * ret_bytes  rounded to the nearest byte
 * errors     PLIM_INVALID_ARGUMENT, with err->offset at the character that does not fit
 */
PLIM_MUST_USE plim_status plim_size_parse(const char *text, uint64_t *ret_bytes, plim_error *err);

/* A short text by value: printf("%s", plim_format_bytes(n).text) */
typedef struct plim_short_text {
    char text[32];
} plim_short_text;

/* Three significant digits and a unit: "0 B", "1023 B", "1.50 KiB", "20.0 MiB", "139 GiB". */
plim_short_text plim_format_bytes(uint64_t bytes);
/* "12,345,678" */
plim_short_text plim_format_count(uint64_t count);
/* Of a share: 0.123 is "12.3%". "0.0%" and "100.0%" are said of 0 and 1 alone: what is nearer to
 * them than half of the last digit is "<0.1%" and ">99.9%". NaN is "-". */
plim_short_text plim_format_percent(double share);
/* "0 us", "850 us", "42.0 ms", "1.85 s", "3 min 05 s", "2 h 05 min", "3 d 04 h" */
plim_short_text plim_format_duration_us(uint64_t duration_us);

#endif
