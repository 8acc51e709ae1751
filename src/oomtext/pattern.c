/*
 * pattern.c - the small language of forms.tsv's clauses. See pattern.h.
 */
#include "oomtext/pattern.h"

#include "oomtext/shape.h"

#include <string.h>

#define SKIP_CHARS_MAX 64u /* of what ~ passes over */
#define NAME_CHARS_MAX 31u

/* Where a {name} puts what it reads. */
static const struct {
    const char *name;
    plim_place where;
    plim_figure_id figure;
} slot_names[] = {
    { "requested", PLIM_PLACE_FIGURE, PLIM_FIGURE_REQUESTED },
    { "total", PLIM_PLACE_FIGURE, PLIM_FIGURE_TOTAL },
    { "free", PLIM_PLACE_FIGURE, PLIM_FIGURE_FREE },
    { "allocated", PLIM_PLACE_FIGURE, PLIM_FIGURE_ALLOCATED },
    { "reserved", PLIM_PLACE_FIGURE, PLIM_FIGURE_RESERVED },
    { "unallocated", PLIM_PLACE_FIGURE, PLIM_FIGURE_RESERVED_UNALLOCATED },
    { "process", PLIM_PLACE_FIGURE, PLIM_FIGURE_PROCESS },
    { "limit", PLIM_PLACE_FIGURE, PLIM_FIGURE_LIMIT },
    { "private", PLIM_PLACE_FIGURE, PLIM_FIGURE_PRIVATE_POOLS },
    { "allocated_peak", PLIM_PLACE_FIGURE, PLIM_FIGURE_ALLOCATED_PEAK },
    { "reserved_peak", PLIM_PLACE_FIGURE, PLIM_FIGURE_RESERVED_PEAK },
    { "active", PLIM_PLACE_FIGURE, PLIM_FIGURE_ACTIVE },
    { "inactive_split", PLIM_PLACE_FIGURE, PLIM_FIGURE_INACTIVE_SPLIT },
    { "other", PLIM_PLACE_FIGURE, PLIM_FIGURE_OTHER_ALLOCATIONS },
    { "shared_required", PLIM_PLACE_FIGURE, PLIM_FIGURE_SHARED_REQUIRED },
    { "shared_limit", PLIM_PLACE_FIGURE, PLIM_FIGURE_SHARED_LIMIT },
    { "device", PLIM_PLACE_DEVICE, PLIM_FIGURE_COUNT },
    { "pid", PLIM_PLACE_PID, PLIM_FIGURE_COUNT },
    { "process_n", PLIM_PLACE_PROCESS, PLIM_FIGURE_OTHER_PROCESSES },
    { "shape", PLIM_PLACE_SHAPE, PLIM_FIGURE_REQUESTED_FROM_SHAPE },
    { "host_process", PLIM_PLACE_FIGURE, PLIM_FIGURE_HOST_PROCESS },
    { "host_virtual", PLIM_PLACE_FIGURE, PLIM_FIGURE_HOST_VIRTUAL },
    { "host_used", PLIM_PLACE_FIGURE, PLIM_FIGURE_HOST_USED },
    { "host_limit", PLIM_PLACE_FIGURE, PLIM_FIGURE_HOST_LIMIT },
    { "host_available", PLIM_PLACE_FIGURE, PLIM_FIGURE_HOST_AVAILABLE },
    { "host_total", PLIM_PLACE_FIGURE, PLIM_FIGURE_HOST_TOTAL },
    { "victim", PLIM_PLACE_VICTIM, PLIM_FIGURE_COUNT },
    { "name", PLIM_PLACE_NAME, PLIM_FIGURE_COUNT },
    { "", PLIM_PLACE_NOWHERE, PLIM_FIGURE_COUNT },
};

static const struct {
    char letter;
    plim_amount_kind kind;
    int log2;
} kinds[] = {
    { 's', PLIM_AMOUNT_SIZED, 0 },    { 'b', PLIM_AMOUNT_BYTES, 0 },
    { 'a', PLIM_AMOUNT_ANY, 0 },      { 'i', PLIM_AMOUNT_INTEGER, 0 },
    { 'u', PLIM_AMOUNT_UNITLESS, 0 }, { 'k', PLIM_AMOUNT_SIZED, 10 },
    { 'm', PLIM_AMOUNT_SIZED, 20 },   { 'g', PLIM_AMOUNT_SIZED, 30 },
};

plim_pattern_piece plim_pattern_slot(const char **pattern)
{
    const char *name = *pattern + 1;
    const char *end = strchr(name, '}');
    const char *colon = memchr(name, ':', (size_t)(end - name));
    const size_t length = (size_t)((colon != NULL ? colon : end) - name);
    const char letter = colon != NULL ? colon[1] : 's';
    plim_pattern_piece s = { .figure = PLIM_FIGURE_COUNT };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].letter == letter) {
            s.kind = kinds[i].kind;
            s.log2 = kinds[i].log2;
        }
    }
    for (size_t i = 0; i < sizeof slot_names / sizeof slot_names[0]; i++) {
        if (strlen(slot_names[i].name) == length && memcmp(slot_names[i].name, name, length) == 0) {
            s.where = slot_names[i].where;
            s.figure = slot_names[i].figure;
        }
    }
    *pattern = end + 1;
    return s;
}

plim_figure_id plim_pattern_figure(const char *name, size_t bytes)
{
    for (size_t i = 0; i < sizeof slot_names / sizeof slot_names[0]; i++) {
        if (strlen(slot_names[i].name) == bytes && memcmp(slot_names[i].name, name, bytes) == 0) {
            return slot_names[i].figure;
        }
    }
    return PLIM_FIGURE_COUNT;
}

const char *plim_pattern_fault(const char *pattern)
{
    const char *open = NULL; /* bracket */
    for (const char *at = pattern; *at != '\0';) {
        if (*at == '[' || *at == ']') {
            if ((*at == '[') == (open != NULL)) {
                return at;
            }
            open = *at == '[' ? at : NULL;
        } else if (*at == '{') {
            const char *const slot = at;
            const char *const end = strchr(at, '}');
            const char *const colon = end != NULL ? memchr(at, ':', (size_t)(end - at)) : NULL;
            if (end == NULL || plim_pattern_slot(&at).where == PLIM_PLACE_NONE ||
                (colon != NULL && (end != colon + 2 || strchr("sbaiukmg", colon[1]) == NULL))) {
                return slot;
            }
            continue;
        }
        at++;
    }
    return open;
}

/* What was wrapped goes on in the very next line: after an empty one, something else begins. */
bool plim_pattern_continues(const plim_flat *flat, size_t i, size_t later)
{
    return later >= flat->count || flat->line[later] - flat->line[i] <= 1;
}

/*
 * "(python)", "=python,": to the bracket or comma; else to the first blank. A line may end within
 * it where `after`, the rest of the pattern, says what ends it. False: no name.
 */
static bool catch_name(plim_reading *r, plim_pattern_piece s, const char *after)
{
    const plim_flat *const flat = r->flat;
    const size_t begin = r->i;
    const bool is_bracketed = begin > 0 && strchr("([=", flat->full[begin - 1]) != NULL;
    const bool is_ended = *after == '(' || *after == ':' || plim_is_letter(*after);
    while (r->i < flat->count && r->i - begin < NAME_CHARS_MAX &&
           strchr("()[],;:", flat->full[r->i]) == NULL &&
           (r->i == begin || is_bracketed || flat->gap[r->i] == 0 ||
            (is_ended && flat->gap[r->i] == PLIM_GAP_LINE && flat->full[r->i] != *after))) {
        r->i++;
    }
    if (r->i == begin) {
        return false;
    }
    if (r->count < PLIM_CAUGHT_MAX) {
        r->caught[r->count++] = (plim_caught){ s, { .end = r->i }, begin };
    }
    return true;
}

/* A number with its unit, or one whose unit the text says elsewhere. */
static bool read_amount(const plim_flat *flat, size_t i, plim_pattern_piece s, plim_amount *ret)
{
    if (plim_amount_read(flat, i, s.kind, ret)) {
        return true;
    }
    if (s.log2 == 0 || !plim_amount_read(flat, i, PLIM_AMOUNT_UNITLESS, ret)) {
        return false;
    }
    plim_amount_share_unit(ret, &(plim_amount){ .log2 = s.log2 });
    return true;
}

static bool catch_piece(plim_reading *r, plim_pattern_piece s, const char *after)
{
    plim_amount amount = { 0 };
    const size_t begin = r->i;
    if (s.where == PLIM_PLACE_NAME) {
        return catch_name(r, s, after);
    }
    if (s.where == PLIM_PLACE_SHAPE) {
        if (!plim_shape_read(r->flat, begin, &amount)) {
            return false;
        }
    } else if ((begin > 0 && !plim_pattern_continues(r->flat, begin - 1, begin)) ||
               !read_amount(r->flat, begin, s, &amount)) {
        return false;
    }
    r->i = amount.end;
    if (r->count > 0 && r->caught[r->count - 1].in.kind == PLIM_AMOUNT_UNITLESS) {
        plim_amount_share_unit(&r->caught[r->count - 1].amount, &amount);
    }
    if (r->count < PLIM_CAUGHT_MAX) {
        r->caught[r->count++] = (plim_caught){ s, amount, begin };
    }
    return true;
}

static void skip_to_digit(plim_reading *r)
{
    const plim_flat *flat = r->flat;
    for (size_t n = 0; n < SKIP_CHARS_MAX && r->i < flat->count; n++, r->i++) {
        if (plim_is_digit(flat->full[r->i])) {
            return;
        }
    }
}

/* Match one pattern up to `end`; false when something of it is not there. */
static bool match(plim_reading *r, const char *pattern, const char *end)
{
    while (pattern < end) {
        if (*pattern == ' ') {
            pattern++;
        } else if (*pattern == '~') {
            skip_to_digit(r);
            pattern++;
        } else if (*pattern == '{') {
            const plim_pattern_piece piece = plim_pattern_slot(&pattern);
            if (!catch_piece(r, piece, pattern)) {
                return false;
            }
        } else if (r->i < r->flat->count && r->flat->full[r->i] == plim_lower(*pattern)) {
            r->i++;
            pattern++;
        } else {
            return false;
        }
    }
    return true;
}

/* The same with parts in brackets, which may be missing. They do not nest. */
bool plim_pattern_match(plim_reading *r, const char *pattern)
{
    while (*pattern != '\0') {
        const char *open = strchr(pattern, '[');
        const char *end = open != NULL ? open : pattern + strlen(pattern);
        if (!match(r, pattern, end)) {
            return false;
        }
        if (open == NULL) {
            return true;
        }
        const char *close = strchr(open, ']');
        const plim_reading before = *r;
        if (!match(r, open + 1, close)) {
            *r = before;
        }
        pattern = close + 1;
    }
    return true;
}
