/*
 * fields.c - splitting rows. See fields.h.
 */
#include "series/fields.h"

plim_series_span plim_series_bare_field(const char *line, plim_series_span field)
{
    plim_series_span bare = plim_series_span_trim(line, field);
    if (bare.end - bare.at >= 2 && line[bare.at] == line[bare.end - 1] &&
        (line[bare.at] == '"' || line[bare.at] == '\'')) {
        bare.at++;
        bare.end--;
        bare = plim_series_span_trim(line, bare);
    }
    return bare;
}

void plim_series_split_blanks(const char *line, size_t length, bool is_wide, uint32_t count_max,
                              plim_series_fields *ret)
{
    size_t at = 0;
    ret->count = 0;
    while (true) {
        while (at < length && plim_is_blank(line[at])) {
            at++;
        }
        if (at == length || ret->count == count_max) {
            break;
        }
        plim_series_span field = { .at = (uint32_t)at };
        while (at < length && !(plim_is_blank(line[at]) &&
                                (!is_wide || at + 1 == length || plim_is_blank(line[at + 1])))) {
            at++;
        }
        field.end = (uint32_t)at;
        ret->items[ret->count++] = field;
    }
    ret->count += at < length ? 1 : 0;
}

static void split_at(const char *line, size_t length, char separator, uint32_t count_max,
                     plim_series_fields *ret)
{
    uint32_t begin = 0;
    bool in_quotes = false;
    ret->count = 0;
    for (uint32_t at = 0; at <= length; at++) {
        const char c = at < length ? line[at] : separator;
        if (c == '"') {
            in_quotes = !in_quotes;
        }
        if (c != separator || (in_quotes && at < length)) {
            continue;
        }
        if (ret->count == count_max) {
            ret->count++;
            return;
        }
        ret->items[ret->count++] = (plim_series_span){ .at = begin, .end = at };
        begin = at + 1;
    }
}

void plim_series_split(const plim_series_table *table, const char *line, size_t length,
                       uint32_t count_max, plim_series_fields *ret)
{
    if (table->separator == ' ') {
        plim_series_split_blanks(line, length, table->is_wide, count_max, ret);
    } else {
        split_at(line, length, table->separator, count_max, ret);
    }
}

uint32_t plim_series_table_split(const plim_series_table *table, const char *line, size_t length,
                                 uint32_t count_max, plim_series_span *ret)
{
    plim_series_fields all;
    plim_series_split(table, line, length, count_max, &all);
    for (uint32_t i = 0; i < all.count && i < count_max; i++) {
        ret[i] = plim_series_bare_field(line, all.items[i]);
    }
    return all.count;
}
