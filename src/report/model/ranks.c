/*
 * ranks.c - the rank that a file is of, by its name; comparing the peaks of ranks, and the page
 * that says so.
 */
#include "report/model/ranks.h"

#include "base/ascii.h"
#include "base/vec.h"
#include "report/model/inspect_parts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RANK_DIGITS_MAX 9u /* more digits are a date or a job, not a rank */

/* ---- the rank in a name --------------------------------------------------------------------- */

/* Digits at `text`, not more than a rank has. */
static bool read_number(const char *text, const char *end, uint64_t *ret)
{
    uint64_t value = 0;
    uint32_t digits = 0;
    for (; text < end && plim_is_digit(*text); text++) {
        value = value * 10 + (uint64_t)(*text - '0');
        if (++digits > RANK_DIGITS_MAX) {
            return false;
        }
    }
    if (digits == 0) {
        return false;
    }
    *ret = value;
    return true;
}

/* rank3, rank_3, rank-12, Rank.0; but not frank3. */
static bool read_rank_word(const char *begin, const char *at, const char *end, uint64_t *ret)
{
    if (end - at < 5 || strncasecmp(at, "rank", 4) != 0 || (at > begin && plim_is_letter(at[-1]))) {
        return false;
    }
    at += 4;
    at += at < end && strchr("_-.=", *at) != NULL && *at != '\0';
    return read_number(at, end, ret);
}

/* _r3, -r3, .r3, not followed by a letter. */
static bool read_rank_letter(const char *begin, const char *at, const char *end, uint64_t *ret)
{
    if (end - at < 2 || (*at != 'r' && *at != 'R') ||
        (at > begin && strchr("_-.", at[-1]) == NULL)) {
        return false;
    }
    const char *after = at + 1;
    while (after < end && plim_is_digit(*after)) {
        after++;
    }
    return (after == end || !plim_is_letter(*after)) && read_number(at + 1, end, ret);
}

static bool rank_of_part(const char *begin, const char *end, uint64_t *ret)
{
    for (const char *at = begin; at < end; at++) {
        if (read_rank_word(begin, at, end, ret)) {
            return true;
        }
    }
    for (const char *at = begin; at < end; at++) {
        if (read_rank_letter(begin, at, end, ret)) {
            return true;
        }
    }
    return false;
}

bool plim_rank_of_path(const char *path, uint64_t *ret_rank)
{
    const char *end = path + strlen(path);
    while (end > path) {
        const char *begin = end;
        while (begin > path && begin[-1] != '/') {
            begin--;
        }
        if (rank_of_part(begin, end, ret_rank)) {
            return true;
        }
        end = begin > path ? begin - 1 : path;
    }
    return false;
}

/* ---- comparing ------------------------------------------------------------------------------ */

static int compare_rows(const void *a, const void *b)
{
    const plim_rank_row *left = a;
    const plim_rank_row *right = b;
    if (left->rank != right->rank) {
        return left->rank < right->rank ? -1 : 1;
    }
    if (left->file != right->file) { /* all of one array: in the order of the command line */
        return left->file < right->file ? -1 : 1;
    }
    return left->device->device < right->device->device
               ? -1
               : left->device->device > right->device->device;
}

bool plim_ranks_init(const plim_mem *mem, const plim_inspect_view *view,
                     const plim_inspect_file *files, size_t count, plim_ranks *ret)
{
    mem = plim_mem_or_heap(mem);
    PLIM_VEC(plim_rank_row) rows = { 0 };
    for (size_t i = 0; i < count; i++) {
        uint64_t rank = i;
        (void)plim_rank_of_path(files[i].path, &rank);
        for (size_t j = 0; files[i].history != NULL && j < files[i].device_count; j++) {
            const plim_device_inspection *device = files[i].devices[j];
            if (device->device == PLIM_HOST_DEVICE || !plim_inspect_has_memory(device) ||
                !plim_inspect_shows(view, device)) {
                continue;
            }
            const plim_rank_row row = { .rank = rank, .file = &files[i], .device = device };
            if (!PLIM_VEC_PUSH(mem, &rows, row)) {
                PLIM_VEC_FREE(mem, &rows);
                return false;
            }
        }
    }
    if (rows.count > 1) {
        qsort(rows.items, rows.count, sizeof rows.items[0], compare_rows);
    }
    *ret = (plim_ranks){
        .rows = rows.items, .row_count = rows.count, .row_capacity = rows.capacity, .mem = mem
    };
    return true;
}

void plim_ranks_deinit(plim_ranks *ranks)
{
    if (ranks->rows != NULL) {
        plim_mem_free(ranks->mem, ranks->rows, ranks->row_capacity, sizeof ranks->rows[0]);
    }
    *ranks = (plim_ranks){ 0 };
}

/* The moment that ranks are compared at; NULL: the device has no events. */
static const plim_moment *moment_of(const plim_device_inspection *device)
{
    return device->has_chosen ? &device->chosen : device->events > 0 ? &device->peak : NULL;
}

uint64_t plim_rank_requested(const plim_rank_row *row)
{
    const plim_moment *const moment = moment_of(row->device);
    return moment != NULL ? moment->requested_bytes : row->device->end.requested_bytes;
}

uint64_t plim_rank_reserved(const plim_rank_row *row)
{
    const plim_moment *const moment = moment_of(row->device);
    return moment != NULL ? moment->reserved_bytes : row->device->end.reserved_bytes;
}

plim_rank_spread plim_ranks_spread(const plim_ranks *ranks,
                                   uint64_t (*bytes)(const plim_rank_row *row))
{
    plim_rank_spread spread = { .max_over_mean = 1.0 };
    if (ranks->row_count == 0) {
        return spread;
    }
    spread.min_bytes = UINT64_MAX;
    double sum = 0.0;
    for (size_t i = 0; i < ranks->row_count; i++) {
        const uint64_t value = bytes(&ranks->rows[i]);
        sum += (double)value;
        if (value > spread.max_bytes) {
            spread.max_bytes = value;
            spread.max_row = i;
        }
        if (value < spread.min_bytes) {
            spread.min_bytes = value;
            spread.min_row = i;
        }
    }
    spread.spread_bytes = spread.max_bytes - spread.min_bytes;
    spread.mean_bytes = sum / (double)ranks->row_count;
    spread.max_over_mean = sum > 0.0 ? (double)spread.max_bytes / spread.mean_bytes : 1.0;
    return spread;
}

/* ---- the page ------------------------------------------------------------------------------- */

static const char *caveat_of(const plim_device_inspection *device)
{
    if (device->events == 0) {
        return "no events";
    }
    if (device->no_chosen_because != NULL) {
        return "at its peak";
    }
    return device->truncated ? "truncated" : device->late_start ? "late start" : "";
}

static void add_row(plim_page *page, const plim_rank_row *row)
{
    const plim_device_inspection *device = row->device;
    const plim_moment *const moment = moment_of(device);
    const bool has_failed = device->oom_count > 0;
    plim_page_cell(page, PLIM_TONE_HEADING, plim_plain("rank", row->rank));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(row->file->path));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_id("device", device->device));
    plim_page_cell(page, PLIM_TONE_HEADING, plim_bytes(NULL, plim_rank_requested(row)));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, plim_rank_reserved(row)));
    plim_page_cell(
        page, PLIM_TONE_PLAIN,
        plim_percent(NULL, moment != NULL ? moment->fragmentation : device->end.fragmentation));
    plim_page_cell(page, has_failed ? PLIM_TONE_BAD : PLIM_TONE_FAINT,
                   plim_count(NULL, device->oom_count));
    plim_page_cell(page, PLIM_TONE_WARN, plim_words(caveat_of(device)));
}

static void say_table(const plim_inspected *self, const plim_ranks *ranks)
{
    plim_page *const page = self->page;
    static const plim_column columns[] = {
        { "rank", PLIM_ALIGN_RIGHT, 0, 0 },     { "file", PLIM_ALIGN_PATH, 0, 0 },
        { "GPU", PLIM_ALIGN_RIGHT, 0, 0 },      { "requested", PLIM_ALIGN_RIGHT, 0, 0 },
        { "reserved", PLIM_ALIGN_RIGHT, 0, 0 }, { "fragm.", PLIM_ALIGN_RIGHT, 0, 0 },
        { "OOM", PLIM_ALIGN_RIGHT, 0, 0 },      { "", PLIM_ALIGN_LEFT, 0, 0 },
    };
    if (self->view->at != NULL) {
        plim_page_heading(page, "Ranks at {}", PLIM_FACTS(plim_words(plim_inspected_at(self))));
    } else {
        plim_page_heading(page, "Ranks at their peak", NULL);
    }
    plim_page_table(page, "ranks", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < ranks->row_count; i++) {
        add_row(page, &ranks->rows[i]);
    }
}

static void say_skew(plim_page *page, const plim_ranks *ranks, const char *name,
                     const plim_rank_spread *spread)
{
    const plim_fact skew =
        plim_toned(PLIM_TONE_HEADING, plim_ratio("max_over_mean", spread->max_over_mean));
    if (spread->spread_bytes == 0) {
        plim_page_note(page, "skew", PLIM_TONE_PLAIN, "{} {} the mean: all equal",
                       PLIM_FACTS(plim_words(name), skew));
        return;
    }
    plim_page_note(page, "skew", PLIM_TONE_PLAIN,
                   "{} {} the mean: rank {} has {}, rank {} {}, {} less",
                   PLIM_FACTS(plim_words(name), skew,
                              plim_plain("rank_of_max", ranks->rows[spread->max_row].rank),
                              plim_bytes("max_bytes", spread->max_bytes),
                              plim_plain("rank_of_min", ranks->rows[spread->min_row].rank),
                              plim_bytes("min_bytes", spread->min_bytes),
                              plim_bytes("spread_bytes", spread->spread_bytes)));
}

static void say_largest(const plim_inspected *self, const plim_rank_row *largest)
{
    plim_inspected at_file = *self;
    at_file.file = largest->file;
    const bool is_chosen = largest->device->has_chosen;
    const plim_moment *const moment = is_chosen ? &largest->device->chosen : &largest->device->peak;
    const char *const when =
        plim_page_text(self->page, "At {} of rank {}",
                       PLIM_FACTS(plim_words(is_chosen ? plim_inspected_at(self) : "the peak"),
                                  plim_plain("rank", largest->rank)));
    plim_inspected_parts(&at_file, moment, when);
    plim_inspected_categories(&at_file, moment, when);
    plim_page_gap(self->page);
    plim_page_say(self->page, "next", PLIM_TONE_FAINT,
                  "Next: plimsoll inspect {}; plimsoll diagnose gives all ranks one verdict",
                  PLIM_FACTS(plim_words(largest->file->path)));
}

static void say_ranks(const plim_inspected *self, const plim_ranks *ranks)
{
    const plim_rank_spread requested = plim_ranks_spread(ranks, plim_rank_requested);
    const plim_rank_spread reserved = plim_ranks_spread(ranks, plim_rank_reserved);
    if (ranks->row_count == 0) {
        plim_page_say(self->page, "empty", PLIM_TONE_WARN, "Nothing is recorded in any of them.",
                      NULL);
        return;
    }
    say_table(self, ranks);
    plim_page_heading(self->page, "Skew", NULL);
    say_skew(self->page, ranks, "requested", &requested);
    say_skew(self->page, ranks, "reserved", &reserved);
    say_largest(self, &ranks->rows[requested.max_row]);
}

void plim_inspected_ranks(const plim_inspected *self, const plim_inspect_file *files, size_t count)
{
    plim_ranks ranks;
    if (!plim_ranks_init(self->page->arena.mem, self->view, files, count, &ranks)) {
        self->page->status = PLIM_OUT_OF_HOST_MEMORY;
        return;
    }
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        failed += files[i].history == NULL;
    }
    const plim_fact all = plim_toned(PLIM_TONE_HEADING, plim_count_of("files", count, "file"));
    if (failed > 0) {
        plim_page_say(self->page, "files", PLIM_TONE_WARN, "{}, {} could not be read",
                      PLIM_FACTS(all, plim_count("files_failed", failed)));
    } else {
        plim_page_say(self->page, "files", PLIM_TONE_HEADING, "{}", PLIM_FACTS(all));
    }
    say_ranks(self, &ranks);
    plim_ranks_deinit(&ranks);
}
