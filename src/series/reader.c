/*
 * reader.c - memory that a log prints again and again.
 *
 *   pieces ──► lines ──► like the last one? ──────────────► points
 *                          │ no                              ▲
 *                          └► a hint of memory? ──► parse ───┘   (and remember the shape)
 *
 * Text without a hint of memory is not even split into lines: the filter runs over it in one go.
 * The result depends on the lines alone, never on how the text came in pieces.
 */
#include "series/reader.h"

#include "series/bare.h"
#include "series/hints.h"
#include "series/plan.h"
#include "series/result.h"
#include "series/shape.h"
#include "series/table.h"

#include "base/error.h"
#include "base/plain.h"

#include <math.h>
#include <string.h>

/* After so many lines without a figure, the filter takes over again. */
#define HOT_LINES 64u

struct plim_series_reader {
    const plim_mem *mem;
    plim_series_tracks tracks;
    plim_series_parser parser;
    plim_shapes shapes;
    plim_series_table table;
    plim_series_bare bare;
    plim_series_clock clock;
    bool wants_clock;   /* the last figures had neither a step nor a time in their line */
    bool after_heading; /* no lines yet, or one that speaks of memory without a number */
    uint64_t line_feeds;
    uint64_t row;       /* lines that were parsed */
    uint32_t hot_lines; /* how many lines more are looked at one by one */
    size_t carried;     /* bytes of a line that is not at its end */
    char carry[PLIM_SERIES_LINE_MAX];
    char plain[PLIM_SERIES_LINE_MAX]; /* a line without colours */
    plim_series_span numbers[PLIM_SERIES_NUMBERS_MAX];
};

_Static_assert(PLIM_SERIES_NUMBERS_MAX < PLIM_SERIES_NO_NUMBER, "numbers are counted in 16 bits");

plim_status plim_series_reader_create(const plim_mem *mem, plim_series_reader **ret,
                                      plim_error *err)
{
    mem = plim_mem_or_heap(mem);
    plim_series_reader *const reader = plim_mem_alloc(mem, 1, sizeof *reader);
    if (reader == NULL) {
        return plim_fail_memory(err, "reading a log");
    }
    reader->mem = mem;
    plim_series_tracks_init(&reader->tracks, mem);
    reader->parser = (plim_series_parser){ .tracks = &reader->tracks };
    plim_shapes_init(&reader->shapes, mem);
    reader->table = (plim_series_table){ 0 };
    reader->line_feeds = 0;
    reader->row = 0;
    reader->bare = (plim_series_bare){ 0 };
    reader->clock = (plim_series_clock)PLIM_SERIES_CLOCK_NONE;
    reader->wants_clock = true;
    reader->after_heading = true;
    reader->hot_lines = HOT_LINES; /* a time may stand in the first line */
    reader->carried = 0;
    *ret = reader;
    return PLIM_OK;
}

void plim_series_reader_destroy(plim_series_reader *reader)
{
    if (reader != NULL) {
        plim_series_tracks_deinit(&reader->tracks);
        plim_shapes_deinit(&reader->shapes);
        plim_mem_free(reader->mem, reader, 1, sizeof *reader);
    }
}

/* --- a line --- */

/* The line with blanks in place of escape sequences (colours), or itself if there are none. */
static const char *without_colours(plim_series_reader *reader, const char *line, size_t length)
{
    if (memchr(line, 0x1b, length) == NULL) {
        return line;
    }
    memcpy(reader->plain, line, length);
    plim_plain_blank(reader->plain, length, length);
    return reader->plain;
}

static plim_status do_plan(plim_series_reader *reader, const plim_series_plan *plan,
                           const char *line, const plim_series_span *numbers, plim_error *err)
{
    if (plan->figure_count > 0) {
        reader->hot_lines = HOT_LINES;
        reader->wants_clock = plan->stamp.kind == PLIM_STAMP_NONE && plan->step_name == NULL;
    } else if (plan->stamp.kind == PLIM_STAMP_NONE || !reader->wants_clock) {
        return PLIM_OK;
    }
    if (!plim_series_plan_do(plan, &reader->tracks, &reader->clock, line, numbers,
                             reader->line_feeds + 1)) {
        return plim_fail_memory(err, "reading a log");
    }
    return PLIM_OK;
}

/* A line that is not like the one that was expected: if its shape is new, it has a plan. */
static plim_status learn(plim_series_reader *reader, const plim_series_line *line,
                         const plim_series_plan *plan, plim_error *err)
{
    plim_shapes_follow(&reader->shapes, reader->tracks.generation);
    if (!plim_shapes_learn(&reader->shapes, line, plan)) {
        return plim_fail_memory(err, "reading a log");
    }
    return do_plan(reader, plan, line->text, line->numbers, err);
}

static plim_status read_words(plim_series_reader *reader, plim_series_line *line, plim_error *err)
{
    line->number_count =
        plim_series_numbers(line->plain, line->length, line->numbers, PLIM_SERIES_NUMBERS_MAX);
    const plim_shape_match match = plim_shapes_find(&reader->shapes, line);
    if (match.plan != NULL) {
        return do_plan(reader, match.plan, line->text, match.numbers, err);
    }
    if (plim_series_table_begin(&reader->table, line)) {
        return PLIM_OK;
    }
    reader->after_heading = line->number_count == 0;
    plim_series_plan plan;
    PLIM_TRY(plim_series_parse(&reader->parser, line, ++reader->row, &plan, err));
    return learn(reader, line, &plan, err);
}

/* A header without a hint of memory: TensorBoard's, at the beginning; vmstat's, below a heading. */
static bool begin_table(plim_series_reader *reader, plim_series_line *line)
{
    line->plain = without_colours(reader, line->text, line->length);
    line->number_count =
        plim_series_numbers(line->plain, line->length, line->numbers, PLIM_SERIES_NUMBERS_MAX);
    const bool is_header = plim_series_table_begin(&reader->table, line);
    reader->table.is_lasting = is_header;
    return is_header;
}

static plim_status read_known(plim_series_reader *reader, const char *text, size_t length,
                              plim_error *err)
{
    reader->hot_lines -= reader->hot_lines > 0 ? 1 : 0;
    const bool in_table = reader->table.separator != '\0';
    const uint32_t section = plim_series_sections_id(&reader->parser.sections);
    const plim_shape_match match =
        plim_shapes_guess(&reader->shapes, text, length, in_table ? reader->table.serial : section);
    if (match.plan != NULL) {
        reader->table.missed = 0;
        return do_plan(reader, match.plan, text, match.numbers, err);
    }
    plim_series_line line = { .text = text, .length = length, .numbers = reader->numbers };
    if (in_table) {
        line.plain = without_colours(reader, text, length);
        plim_series_plan plan;
        PLIM_TRY(plim_series_table_row(&reader->table, &reader->tracks, &line, ++reader->row, &plan,
                                       err));
        if (line.table != 0) {
            return learn(reader, &line, &plan, err);
        }
    }
    const bool after_heading = reader->after_heading;
    reader->after_heading = false;
    if (plim_series_filter(text, length) == length && text[0] != '#') {
        if (after_heading && begin_table(reader, &line)) {
            return PLIM_OK;
        }
        if (reader->wants_clock) {
            plim_series_sections_look(&reader->parser.sections, text, length);
            plim_series_clock_look(&reader->clock, text, length);
        }
        return PLIM_OK;
    }
    line.plain = without_colours(reader, text, length);
    plim_series_sections_look(&reader->parser.sections, line.plain, length);
    line.table = plim_series_sections_id(&reader->parser.sections);
    return read_words(reader, &line, err);
}

/* The first rows of a log without words, once it is known what they are. */
static plim_status end_bare(plim_series_reader *reader, plim_error *err)
{
    plim_series_bare *const bare = &reader->bare;
    const uint64_t line_feeds = reader->line_feeds;
    bare->is_over = true;
    (void)plim_series_bare_begin(bare, &reader->table);
    for (uint32_t i = 0; i < bare->count; i++) {
        reader->line_feeds = bare->rows[i].line_feeds;
        PLIM_TRY(read_known(reader, bare->rows[i].text, bare->rows[i].length, err));
    }
    reader->line_feeds = line_feeds;
    return PLIM_OK;
}

static plim_status read_line(plim_series_reader *reader, const char *text, size_t length,
                             plim_error *err)
{
    length = length < PLIM_SERIES_LINE_MAX ? length : PLIM_SERIES_LINE_MAX;
    if (length == 0) {
        return PLIM_OK;
    }
    if (!reader->bare.is_over) {
        if (plim_series_bare_keep(&reader->bare, text, length, reader->line_feeds)) {
            return PLIM_OK;
        }
        PLIM_TRY(end_bare(reader, err));
    }
    return read_known(reader, text, length, err);
}

/* --- lines --- */

/* A place in a piece, and the ends of lines that are known to come. */
typedef struct text_cursor {
    const char *at;
    const char *end;
    const char *feed;     /* the next '\n', or end; known if not before `at` */
    const char *carriage; /* the next '\r' */
} text_cursor;

static const char *find(const char *at, const char *end, char c)
{
    const char *const found = memchr(at, c, (size_t)(end - at));
    return found != NULL ? found : end;
}

/* The end of the line: at '\n', '\r', or the end of the piece. */
static const char *line_end(text_cursor *text)
{
    if (text->feed < text->at) {
        text->feed = find(text->at, text->end, '\n');
    }
    if (text->carriage < text->at) {
        text->carriage = find(text->at, text->end, '\r');
    }
    return text->feed < text->carriage ? text->feed : text->carriage;
}

/* Go past the end of a line. */
static void pass(plim_series_reader *reader, text_cursor *text, const char *end)
{
    reader->line_feeds += *end == '\n' ? 1 : 0;
    text->at = end + 1;
}

/* Pass over lines that do not hint at memory; the last one may go on in the next piece. */
static void skip_cold(plim_series_reader *reader, text_cursor *text)
{
    const size_t length = (size_t)(text->end - text->at);
    const char *begin = text->at + plim_series_filter(text->at, length);
    while (begin > text->at && begin[-1] != '\n' && begin[-1] != '\r') {
        begin--;
    }
    reader->line_feeds += plim_plain_line_count(text->at, (size_t)(begin - text->at));
    text->at = begin;
}

static void carry(plim_series_reader *reader, const char *at, const char *end)
{
    const size_t room = sizeof reader->carry - reader->carried;
    const size_t some = (size_t)(end - at) < room ? (size_t)(end - at) : room;
    memcpy(reader->carry + reader->carried, at, some);
    reader->carried += some;
}

static plim_status read_carried(plim_series_reader *reader, plim_error *err)
{
    const size_t length = reader->carried;
    reader->carried = 0;
    return read_line(reader, reader->carry, length, err);
}

plim_status plim_series_reader_feed(plim_series_reader *reader, const char *data, size_t bytes,
                                    plim_error *err)
{
    if (bytes == 0) {
        return PLIM_OK;
    }
    text_cursor text = { .at = data, .end = data + bytes };
    text.feed = find(data, text.end, '\n');
    text.carriage = find(data, text.end, '\r');
    if (reader->carried > 0) {
        const char *const end = line_end(&text);
        carry(reader, data, end);
        if (end == text.end) {
            return PLIM_OK;
        }
        PLIM_TRY(read_carried(reader, err));
        pass(reader, &text, end);
    }
    while (text.at < text.end) {
        if (reader->hot_lines == 0 && reader->bare.is_over && reader->table.separator == '\0') {
            skip_cold(reader, &text);
        }
        const char *const end = line_end(&text);
        if (end == text.end) {
            carry(reader, text.at, end);
            return PLIM_OK;
        }
        PLIM_TRY(read_line(reader, text.at, (size_t)(end - text.at), err));
        pass(reader, &text, end);
    }
    return PLIM_OK;
}

plim_status plim_series_reader_finish(plim_series_reader *reader,
                                      const plim_series_capacity *capacity, plim_arena *arena,
                                      const plim_series **ret, size_t *ret_count, plim_error *err)
{
    PLIM_TRY(read_carried(reader, err));
    if (!reader->bare.is_over) {
        PLIM_TRY(end_bare(reader, err));
    }
    reader->tracks.first_time = reader->clock.first;
    return plim_series_results(&reader->tracks, capacity, arena, ret, ret_count, err);
}
