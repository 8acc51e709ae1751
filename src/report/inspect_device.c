/*
 * inspect_device.c - one device on the page: what was recorded, what is missing, how memory went
 * over time, what stood at the moments that matter, and the pools at the end.
 */
#include "base/size.h"
#include "report/counted.h"
#include "report/inspect_page.h"
#include "report/line.h"
#include "report/paragraph.h"
#include "report/sparkline.h"
#include "report/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CHART_ROWS     4u
#define AXIS_COLUMNS   10u /* "1023 MiB" and what is around it */
#define OOMS_SHOWN     3u  /* in words and as bars; the table of moments takes more */
#define OOM_TOP        5u
#define OOM_ROWS_SHOWN 8u
#define POOLS_SHOWN    12u

/* Shares of reserved memory: rounding and cut-offs always leave a little, a quarter is a loss. */
#define LITTLE_UNUSED 0.10
#define MUCH_UNUSED   0.25

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* ---- what was recorded ---------------------------------------------------------------------- */

/* "1,062 alloc, 970 free_requested, …", as the file names them. */
static void write_actions(const plim_page *page, const plim_device_inspection *device)
{
    char words[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < device->action_count && used + 80 < sizeof words; i++) {
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%s %.40s", i > 0 ? ", " : "",
                                 plim_format_count(device->actions[i].count).text,
                                 device->actions[i].action);
    }
    plim_paragraph_write(page->out, page->style, 2, PLIM_TONE_FAINT, "", words);
}

static void write_head(const plim_page *page, const plim_device_inspection *device)
{
    char name[48];
    plim_text_append_char(page->out, '\n');
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_HEADING,
                  plim_page_device_name(device->device, name, sizeof name));
    if (device->events == 0) {
        plim_line_add(&line, PLIM_TONE_PLAIN, ": no events, only the state at the end");
        plim_line_end(&line);
        return;
    }
    plim_line_format(&line, PLIM_TONE_PLAIN, ": %s", plim_counted(device->events, "event").text);
    if (device->has_times) {
        plim_line_format(&line, PLIM_TONE_PLAIN, " over %s",
                         plim_format_duration_us(device->duration_us).text);
    }
    plim_line_end(&line);
    write_actions(page, device);
}

/* What the share of reserved memory that is unused amounts to. */
static const char *judge(double unused)
{
    if (unused < 0.0) {
        return "the file contradicts itself";
    }
    return unused < LITTLE_UNUSED ? "hardly any unused"
           : unused < MUCH_UNUSED ? "some unused"
                                  : "much unused";
}

/* "18.6%"; nothing where contradictions make it negative. */
static plim_short_text share_text(double unused)
{
    return unused < 0.0 ? (plim_short_text){ "-" } : plim_format_percent(unused);
}

/* The answer in one sentence: how much, and how much more was reserved for it. */
static void write_answer(const plim_page *page, const plim_device_inspection *device)
{
    const bool has_peak = device->events > 0;
    const uint64_t requested_bytes =
        has_peak ? device->peak.requested_bytes : device->end.requested_bytes;
    const uint64_t reserved_bytes =
        has_peak ? device->peak.reserved_bytes : device->end.reserved_bytes;
    const double unused = has_peak ? device->peak.fragmentation : device->end.fragmentation;
    plim_text_append_char(page->out, '\n');
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_PLAIN, has_peak ? "Peak " : "In use ");
    plim_line_add(&line, PLIM_TONE_HEADING, plim_format_bytes(requested_bytes).text);
    if (has_peak) {
        plim_line_format(&line, PLIM_TONE_PLAIN, " in %s",
                         plim_counted(device->peak.live_count, "allocation").text);
    }
    if (reserved_bytes > 0) {
        const plim_tone tone =
            unused >= 0.0 && unused < MUCH_UNUSED ? PLIM_TONE_PLAIN : PLIM_TONE_WARN;
        plim_line_add(&line, PLIM_TONE_PLAIN, ", ");
        plim_line_add(&line, PLIM_TONE_HEADING, plim_format_bytes(reserved_bytes).text);
        plim_line_add(&line, PLIM_TONE_PLAIN, " reserved: ");
        plim_line_add(&line, tone, judge(unused));
        if (unused >= 0.0) {
            plim_line_format(&line, tone, " (%s)", plim_format_percent(unused).text);
        }
    } else {
        plim_line_add(&line, PLIM_TONE_WARN, "; the file has no segments");
    }
    plim_line_end(&line);
}

static void warn(const plim_page *page, const char *words)
{
    plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_WARN,
                         plim_style_glyphs(page->style)->warning, words);
}

static uint64_t count_stackable(const plim_device_inspection *device)
{
    static const char *const with_stack[] = { "alloc", "free", "free_requested", "free_completed" };
    uint64_t count = 0;
    for (size_t i = 0; i < device->action_count; i++) {
        for (size_t j = 0; j < sizeof with_stack / sizeof with_stack[0]; j++) {
            if (strcmp(device->actions[i].action, with_stack[j]) == 0) {
                count += device->actions[i].count;
            }
        }
    }
    return count;
}

static bool knows_any_stack(const plim_moment *moment)
{
    for (size_t i = 0; i < moment->group_count; i++) {
        if (moment->groups[i].stack != PLIM_NONE) {
            return true;
        }
    }
    return false;
}

/* What the recording lacks, and what that means for the figures below. */
static void write_missing(const plim_page *page, const plim_device_inspection *device)
{
    char words[512];
    if (device->truncated) {
        snprintf(words, sizeof words,
                 "Earlier events are lost: the recorder's buffer was full%s%.200s. Memory "
                 "allocated before has no history here.",
                 device->truncated_because != NULL ? "; " : "",
                 device->truncated_because != NULL ? device->truncated_because : "");
        warn(page, words);
    } else if (device->late_start) {
        snprintf(words, sizeof words,
                 "Recording began late: %s in %s were live before the first event.",
                 plim_format_bytes(device->start_requested_bytes).text,
                 plim_counted(device->start_live_count, "allocation").text);
        warn(page, words);
    }
    const uint64_t stackable = count_stackable(device);
    if (device->events_without_stack > 0 && device->events_without_stack >= stackable) {
        warn(page, knows_any_stack(&device->peak)
                       ? "No event has a stack; only blocks that stood at the end do."
                       : "No stacks were recorded: who allocated what cannot be told.");
    } else if (device->events_without_stack > 0) {
        snprintf(words, sizeof words, "%s of %s alloc and free events have no stack.",
                 plim_format_count(device->events_without_stack).text,
                 plim_format_count(stackable).text);
        warn(page, words);
    }
}

/* ---- over time ------------------------------------------------------------------------------ */

static void write_legend(const plim_page *page, const plim_device_inspection *device)
{
    const plim_glyphs *glyphs = plim_style_glyphs(page->style);
    plim_text_append_char(page->out, '\n');
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_HEADING, "Over time");
    plim_line_add(&line, PLIM_TONE_PLAIN, "  ");
    plim_line_add(&line, PLIM_TONE_IN_USE, glyphs->levels[8]);
    plim_line_add(&line, PLIM_TONE_FAINT, " allocated  ");
    plim_line_add(&line, PLIM_TONE_UNUSED, glyphs->shade);
    plim_line_add(&line, PLIM_TONE_FAINT, " reserved, not in use");
    if (device->peak.event >= 0) {
        plim_line_format(&line, PLIM_TONE_HEADING, "  %s", glyphs->marker);
        plim_line_add(&line, PLIM_TONE_FAINT, " peak");
    }
    if (device->oom_count > 0) {
        plim_line_add(&line, PLIM_TONE_BAD, "  x");
        plim_line_add(&line, PLIM_TONE_FAINT, " out of memory");
    }
    plim_line_end(&line);
}

static void write_axis(const plim_page *page, const plim_device_inspection *device)
{
    const plim_glyphs *glyphs = plim_style_glyphs(page->style);
    char label[80];
    snprintf(label, sizeof label, " %s", plim_counted(device->events, "event").text);
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add_cell(&line, PLIM_TONE_FAINT, "0", AXIS_COLUMNS - 1, PLIM_ALIGN_RIGHT);
    plim_line_to(&line, AXIS_COLUMNS);
    plim_line_add(&line, PLIM_TONE_FAINT, glyphs->corner);
    const uint32_t left = plim_line_left(&line);
    const uint32_t label_columns = (uint32_t)strlen(label);
    plim_line_repeat(&line, PLIM_TONE_FAINT, glyphs->rule,
                     left > label_columns ? left - label_columns : 0);
    plim_line_add(&line, PLIM_TONE_FAINT, label);
    plim_line_end(&line);
}

typedef struct chart_marks {
    bool is_oom[PLIM_SPARK_COLUMNS_MAX];
    uint32_t peak; /* column, or PLIM_NONE */
} chart_marks;

static void place_marks(const plim_device_inspection *device, const plim_spark *spark,
                        chart_marks *marks)
{
    *marks = (chart_marks){ .peak = PLIM_NONE };
    for (size_t i = 0; i < device->oom_count; i++) {
        marks->is_oom[plim_spark_column(spark, device->timeline, device->timeline_count,
                                        device->ooms[i].event)] = true;
    }
    if (device->peak.event >= 0) {
        marks->peak = plim_spark_column(spark, device->timeline, device->timeline_count,
                                        (uint64_t)device->peak.event);
    }
}

/* One line below the axis: where the peak was, and where requests failed. */
static void write_marks(const plim_page *page, const plim_device_inspection *device,
                        const plim_spark *spark)
{
    const plim_glyphs *glyphs = plim_style_glyphs(page->style);
    const uint32_t base = AXIS_COLUMNS + 1;
    chart_marks marks;
    place_marks(device, spark, &marks);
    plim_line line = plim_line_begin(page->out, page->style, 0);
    for (uint32_t x = 0; x < spark->columns; x++) {
        if (marks.is_oom[x] || x == marks.peak) {
            plim_line_to(&line, base + x);
            plim_line_add(&line, marks.is_oom[x] ? PLIM_TONE_BAD : PLIM_TONE_HEADING,
                          marks.is_oom[x] ? "x" : glyphs->marker);
        }
    }
    plim_line_end(&line);
}

static void write_chart(const plim_page *page, const plim_device_inspection *device)
{
    const plim_glyphs *glyphs = plim_style_glyphs(page->style);
    plim_spark spark;
    plim_spark_fill(&spark, device->timeline, device->timeline_count,
                    plim_style_width(page->style) - AXIS_COLUMNS - 1);
    if (device->events < 2 || spark.columns == 0 || spark.bytes_max == 0) {
        return;
    }
    write_legend(page, device);
    for (uint32_t row = CHART_ROWS; row > 0; row--) {
        plim_line line = plim_line_begin(page->out, page->style, 0);
        const bool is_top = row == CHART_ROWS;
        plim_line_add_cell(&line, PLIM_TONE_FAINT,
                           is_top ? plim_format_bytes(spark.bytes_max).text : "", AXIS_COLUMNS - 1,
                           PLIM_ALIGN_RIGHT);
        plim_line_to(&line, AXIS_COLUMNS);
        plim_line_add(&line, PLIM_TONE_FAINT, glyphs->axis);
        plim_spark_add_row(&line, &spark, row - 1, CHART_ROWS);
        plim_line_end(&line);
    }
    write_axis(page, device);
    write_marks(page, device, &spark);
}

/* ---- moments -------------------------------------------------------------------------------- */

/* "1.50 GiB (4.0%)": reserved and not allocated; the share is the fragmentation. */
static void add_unused(plim_table *table, uint64_t allocated_bytes, uint64_t reserved_bytes,
                       double fragmentation)
{
    plim_table_format(table, PLIM_TONE_PLAIN, "%s",
                      plim_format_bytes(minus(reserved_bytes, allocated_bytes)).text);
    plim_table_add(table, fragmentation >= MUCH_UNUSED ? PLIM_TONE_WARN : PLIM_TONE_PLAIN,
                   share_text(fragmentation).text);
}

static void add_moment(plim_table *table, const plim_page *page,
                       const plim_device_inspection *device, const char *name,
                       const plim_moment *moment)
{
    char when[64];
    plim_page_time(page->file, device->device, moment->time_us, when, sizeof when);
    plim_table_add(table, PLIM_TONE_PLAIN, name);
    plim_table_add(table, PLIM_TONE_HEADING, plim_format_bytes(moment->requested_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(moment->allocated_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(moment->reserved_bytes).text);
    add_unused(table, moment->allocated_bytes, moment->reserved_bytes, moment->fragmentation);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_count(moment->live_count).text);
    if (moment->event < 0) {
        plim_table_add(table, PLIM_TONE_FAINT,
                       device->events > 0 ? "before the first event" : "as the file has it");
    } else {
        plim_table_format(table, PLIM_TONE_FAINT, "event %s%s%s",
                          plim_format_count((uint64_t)moment->event).text,
                          when[0] != '\0' ? ", " : "", when);
    }
}

static void add_start(plim_table *table, const plim_device_inspection *device)
{
    if (device->events == 0 ||
        (device->start_live_count == 0 && device->start_reserved_bytes == 0)) {
        return;
    }
    plim_table_add(table, PLIM_TONE_PLAIN, "start");
    plim_table_add(table, PLIM_TONE_HEADING, plim_format_bytes(device->start_requested_bytes).text);
    plim_table_add(table, PLIM_TONE_FAINT, "-");
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(device->start_reserved_bytes).text);
    plim_table_add(table, PLIM_TONE_FAINT, "-");
    plim_table_add(table, PLIM_TONE_FAINT, "-");
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_count(device->start_live_count).text);
    plim_table_add(table, PLIM_TONE_FAINT, "before the first event");
}

static void add_end(plim_table *table, const plim_device_inspection *device)
{
    const plim_end_state *end = &device->end;
    plim_table_add(table, PLIM_TONE_PLAIN, "end");
    plim_table_add(table, PLIM_TONE_HEADING, plim_format_bytes(end->requested_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(end->allocated_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(end->reserved_bytes).text);
    add_unused(table, end->allocated_bytes, end->reserved_bytes, end->fragmentation);
    plim_table_add(table, PLIM_TONE_FAINT, "-");
    plim_table_format(table, PLIM_TONE_FAINT, "%s, %s", plim_counted(end->segments, "segment").text,
                      plim_counted(end->blocks, "block").text);
}

static void write_moments(const plim_page *page, const plim_device_inspection *device)
{
    static const plim_table_column columns[] = {
        { "", PLIM_ALIGN_LEFT },           { "requested", PLIM_ALIGN_RIGHT },
        { "allocated", PLIM_ALIGN_RIGHT }, { "reserved", PLIM_ALIGN_RIGHT },
        { "unused", PLIM_ALIGN_RIGHT },    { "fragm.", PLIM_ALIGN_RIGHT },
        { "live", PLIM_ALIGN_RIGHT },      { "when", PLIM_ALIGN_LEFT },
    };
    plim_table table;
    plim_table_init(&table, page->mem, columns, sizeof columns / sizeof columns[0]);
    add_start(&table, device);
    if (device->events > 0) {
        add_moment(&table, page, device, "peak", &device->peak);
    }
    /* The last ones: the first failures are often retried, the last ended the program. */
    const size_t first =
        device->oom_count > OOM_ROWS_SHOWN ? device->oom_count - OOM_ROWS_SHOWN : 0;
    for (size_t i = first; i < device->oom_count; i++) {
        char name[40];
        snprintf(name, sizeof name, "OOM %zu", i + 1);
        add_moment(&table, page, device, device->oom_count > 1 ? name : "OOM",
                   &device->ooms[i].moment);
    }
    add_end(&table, device);
    plim_page_heading(page, "Moments");
    plim_table_write(&table, page->out, page->style, 2);
    plim_table_deinit(&table);
}

/* ---- pools ---------------------------------------------------------------------------------- */

/* Streams that wait are rare: the column is there when one does. */
static void add_pool_figures(plim_table *table, const plim_end_state *state, bool shows_pending)
{
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_count(state->segments).text);
    plim_table_add(table, PLIM_TONE_HEADING, plim_format_bytes(state->reserved_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(state->allocated_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(state->inactive_split_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(state->releasable_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(state->largest_free_block_bytes).text);
    if (shows_pending) {
        plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(state->pending_free_bytes).text);
    }
}

static void add_pool(plim_table *table, const plim_pool_state *pool, bool shows_pending)
{
    if (pool->stream == 0) {
        plim_table_add(table, PLIM_TONE_PLAIN, "default");
    } else { /* handles are pointers, small ones are the driver's special streams */
        plim_table_format(table, PLIM_TONE_PLAIN, pool->stream < 1024 ? "%" PRIu64 : "%#" PRIx64,
                          pool->stream);
    }
    const char *name = pool->is_large        ? pool->is_expandable ? "large expandable" : "large"
                       : pool->is_expandable ? "small expandable"
                                             : "small";
    if (pool->pool[0] == 0 && pool->pool[1] == 0) {
        plim_table_add(table, PLIM_TONE_PLAIN, name);
    } else { /* a private pool, its id as PyTorch writes it */
        plim_table_format(table, PLIM_TONE_PLAIN, "%s (%" PRIu64 ",%" PRIu64 ")", name,
                          pool->pool[0], pool->pool[1]);
    }
    add_pool_figures(table, &pool->state, shows_pending);
}

static void write_pools(const plim_page *page, const plim_device_inspection *device)
{
    static const plim_table_column columns[] = {
        { "stream", PLIM_ALIGN_PATH },      { "pool", PLIM_ALIGN_LEFT },
        { "segments", PLIM_ALIGN_RIGHT },   { "reserved", PLIM_ALIGN_RIGHT },
        { "allocated", PLIM_ALIGN_RIGHT },  { "split", PLIM_ALIGN_RIGHT },
        { "releasable", PLIM_ALIGN_RIGHT }, { "largest", PLIM_ALIGN_RIGHT },
        { "pending", PLIM_ALIGN_RIGHT }, /* last, as it may be left out */
    };
    const uint32_t column_count = (uint32_t)(sizeof columns / sizeof columns[0]);
    const bool shows_pending = device->end.pending_free_bytes > 0;
    if (device->pool_count == 0) {
        return;
    }
    plim_table table;
    plim_table_init(&table, page->mem, columns, shows_pending ? column_count : column_count - 1);
    const size_t shown = device->pool_count < POOLS_SHOWN ? device->pool_count : POOLS_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        add_pool(&table, &device->pools[i], shows_pending);
    }
    if (device->pool_count > 1) {
        plim_table_add(&table, PLIM_TONE_PLAIN, "all");
        plim_table_add(&table, PLIM_TONE_PLAIN, "");
        add_pool_figures(&table, &device->end, shows_pending);
    }
    plim_page_heading(page, "Pools at the end, by stream");
    plim_table_write(&table, page->out, page->style, 2);
    plim_table_deinit(&table);
    if (shown < device->pool_count) {
        plim_line line = plim_line_begin(page->out, page->style, 2);
        plim_line_format(&line, PLIM_TONE_FAINT, "(%s more: --json has all)",
                         plim_counted(device->pool_count - shown, "pool").text);
        plim_line_end(&line);
    }
}

/* ---- the device ----------------------------------------------------------------------------- */

/* Two moments with the same live memory: one list of stacks tells both. */
static bool is_same_memory(const plim_moment *a, const plim_moment *b)
{
    return a->requested_bytes == b->requested_bytes && a->live_count == b->live_count &&
           a->reserved_bytes == b->reserved_bytes;
}

static void write_ooms(const plim_page *page, const plim_device_inspection *device, size_t first)
{
    if (first > 0) {
        plim_text_append_char(page->out, '\n');
        plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_BAD,
                              "%zu requests failed; the last %u:", device->oom_count, OOMS_SHOWN);
    }
    for (size_t i = first; i < device->oom_count; i++) {
        plim_text_append_char(page->out, '\n');
        plim_page_oom(page, device, &device->ooms[i]);
    }
}

/* The same bars at each failure, shorter: who called whom was said at the peak. */
static void write_oom_parts(const plim_page *page, const plim_device_inspection *device,
                            size_t first)
{
    plim_inspect_view view = *page->view;
    view.top = view.top != 0 ? view.top : OOM_TOP;
    view.no_callers = true;
    plim_page brief = *page;
    brief.view = &view;
    for (size_t i = first; i < device->oom_count; i++) {
        const plim_moment *moment = &device->ooms[i].moment;
        char when[64] = "When memory ran out";
        if (is_same_memory(&device->peak, moment) ||
            (moment->group_count == 0 && moment->live_count > 0)) { /* PLIM_OOM_GROUPS_MAX */
            continue;
        }
        if (device->oom_count > 1) {
            snprintf(when, sizeof when, "When memory ran out, OOM %zu", i + 1);
        }
        plim_page_parts(&brief, moment, when);
    }
}

void plim_page_device(const plim_page *page, const plim_device_inspection *device)
{
    const size_t first = device->oom_count > OOMS_SHOWN ? device->oom_count - OOMS_SHOWN : 0;
    write_head(page, device);
    write_missing(page, device);
    write_ooms(page, device, first);
    write_answer(page, device);
    write_chart(page, device);
    write_moments(page, device);
    plim_page_parts(page, &device->peak, device->events > 0 ? "At the peak" : "At the end");
    write_oom_parts(page, device, first);
    write_pools(page, device);
}
