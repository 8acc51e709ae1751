/*
 * inspect_moments.c - memory over time, and the moments that matter in one table: start, peak,
 * each failure, end.
 */
#include "base/numbers.h"
#include "report/model/inspect_parts.h"

#define OOM_ROWS_SHOWN 8u

/* ---- over time ------------------------------------------------------------------------------ */

/* The place of an event on the chart: all bins have one width, whatever they hold. */
static double place_of(const plim_device_inspection *device, uint64_t event)
{
    size_t bin = 0;
    while (bin + 1 < device->timeline_count && device->timeline[bin + 1].event_first <= event) {
        bin++;
    }
    return (double)(bin + 1) / (double)device->timeline_count;
}

static void add_marks(const plim_inspected *self, const plim_device_inspection *device,
                      plim_chart *chart)
{
    plim_chart_mark *marks = plim_page_alloc(self->page, device->oom_count + 1, sizeof marks[0]);
    size_t count = 0;
    if (marks == NULL) {
        return;
    }
    if (device->peak.event >= 0) {
        marks[count++] = (plim_chart_mark){ .x = place_of(device, (uint64_t)device->peak.event),
                                            .name = "peak" };
    }
    for (size_t i = 0; i < device->oom_count; i++) {
        marks[count++] = (plim_chart_mark){ .x = place_of(device, device->ooms[i].event),
                                            .name = "out of memory",
                                            .is_failure = true };
    }
    chart->marks = marks;
    chart->mark_count = count;
}

void plim_inspected_chart(const plim_inspected *self, const plim_device_inspection *device)
{
    uint64_t most = 0;
    const size_t count = device->timeline_count;
    for (size_t i = 0; i < count; i++) {
        const plim_timeline_bin *bin = &device->timeline[i];
        most = plim_max(most, plim_max(bin->reserved_bytes_max, bin->allocated_bytes_max));
    }
    plim_chart_point *points = plim_page_alloc(self->page, count > 0 ? count : 1, sizeof points[0]);
    if (device->events < 2 || most == 0 || points == NULL) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        points[i] = (plim_chart_point){ (double)(i + 1) / (double)count,
                                        (double)device->timeline[i].allocated_bytes_max,
                                        (double)device->timeline[i].reserved_bytes_max };
    }
    plim_page_gap(self->page);
    plim_chart *chart = plim_page_chart(self->page, "over_time");
    *chart = (plim_chart){
        .title = "Over time",
        .low_name = "allocated",
        .high_name = "reserved, not in use",
        .points = points,
        .point_count = count,
        .top_bytes = (double)most,
        .top = plim_page_text(self->page, "{}", PLIM_FACTS(plim_bytes(NULL, most))),
        .foot = "0",
        .from = "",
        .to = plim_page_text(self->page, " {}",
                             PLIM_FACTS(plim_count_of(NULL, device->events, "event"))),
    };
    add_marks(self, device, chart);
}

/* ---- the table ------------------------------------------------------------------------------ */

/* The five cells that most rows have. */
typedef struct moment_figures {
    uint64_t requested_bytes;
    uint64_t allocated_bytes;
    uint64_t reserved_bytes;
    double fragmentation;
    bool is_estimate; /* the sizes of some blocks are not certain */
} moment_figures;

static void add_figures(const plim_inspected *self, const moment_figures *figures)
{
    plim_page *page = self->page;
    const bool is_much = figures->fragmentation >= PLIM_MUCH_UNUSED;
    plim_page_cell(page, PLIM_TONE_HEADING, plim_bytes(NULL, figures->requested_bytes));
    plim_page_cell_text(page, PLIM_TONE_PLAIN, figures->is_estimate ? "about {}" : "{}",
                        PLIM_FACTS(plim_bytes(NULL, figures->allocated_bytes)));
    if (figures->reserved_bytes == 0 && figures->allocated_bytes > 0) { /* without segments */
        for (int i = 0; i < 3; i++) {
            plim_page_cell_text(page, PLIM_TONE_FAINT, "-", NULL);
        }
        return;
    }
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, figures->reserved_bytes));
    /* Reserved minus allocated, and its share, the fragmentation. */
    plim_page_cell(page, PLIM_TONE_PLAIN,
                   plim_bytes(NULL, plim_minus(figures->reserved_bytes, figures->allocated_bytes)));
    plim_page_cell(page, is_much ? PLIM_TONE_WARN : PLIM_TONE_PLAIN,
                   plim_percent(NULL, figures->fragmentation));
}

static void add_moment(const plim_inspected *self, const plim_device_inspection *device,
                       const char *name, const plim_moment *moment)
{
    plim_page *page = self->page;
    plim_page_cell_text(page, PLIM_TONE_PLAIN, "{}", PLIM_FACTS(plim_words(name)));
    add_figures(self, &(moment_figures){ moment->requested_bytes, moment->allocated_bytes,
                                         moment->reserved_bytes, moment->fragmentation,
                                         moment->allocated_slack_bytes > 0 });
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_count(NULL, moment->live_count));
    if (moment->event >= 0) {
        plim_page_cell(page, PLIM_TONE_FAINT,
                       plim_words(plim_inspected_event(
                           self, device->device, (uint64_t)moment->event, moment->time_us, "")));
    } else {
        plim_page_cell_text(page, PLIM_TONE_FAINT,
                            device->events > 0 ? "before the first event" : "as the file has it",
                            NULL);
    }
}

static void add_start(const plim_inspected *self, const plim_device_inspection *device)
{
    plim_page *page = self->page;
    if (device->events == 0 ||
        (device->start_live_count == 0 && device->start_reserved_bytes == 0)) {
        return;
    }
    plim_page_cell_text(page, PLIM_TONE_PLAIN, "start", NULL);
    plim_page_cell(page, PLIM_TONE_HEADING, plim_bytes(NULL, device->start_requested_bytes));
    plim_page_cell_text(page, PLIM_TONE_FAINT, "-", NULL);
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, device->start_reserved_bytes));
    plim_page_cell_text(page, PLIM_TONE_FAINT, "-", NULL);
    plim_page_cell_text(page, PLIM_TONE_FAINT, "-", NULL);
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_count(NULL, device->start_live_count));
    plim_page_cell_text(page, PLIM_TONE_FAINT, "before the first event", NULL);
}

static void add_end(const plim_inspected *self, const plim_end_state *end)
{
    plim_page_cell_text(self->page, PLIM_TONE_PLAIN, "end", NULL);
    add_figures(self, &(moment_figures){ end->requested_bytes, end->allocated_bytes,
                                         end->reserved_bytes, end->fragmentation, false });
    plim_page_cell_text(self->page, PLIM_TONE_FAINT, "-", NULL);
    plim_page_cell_text(self->page, PLIM_TONE_FAINT, "{}, {}",
                        PLIM_FACTS(plim_count_of("segments", end->segments, "segment"),
                                   plim_count_of("blocks", end->blocks, "block")));
}

void plim_inspected_moments(const plim_inspected *self, const plim_device_inspection *device)
{
    static const plim_column columns[] = {
        { "", PLIM_ALIGN_LEFT, 0, 0 },           { "requested", PLIM_ALIGN_RIGHT, 0, 0 },
        { "allocated", PLIM_ALIGN_RIGHT, 0, 0 }, { "reserved", PLIM_ALIGN_RIGHT, 0, 0 },
        { "unused", PLIM_ALIGN_RIGHT, 0, 0 },    { "fragm.", PLIM_ALIGN_RIGHT, 0, 0 },
        { "live", PLIM_ALIGN_RIGHT, 0, 0 },      { "when", PLIM_ALIGN_LEFT, 0, 0 },
    };
    plim_page_heading(self->page, "Moments", NULL);
    plim_page_table(self->page, "moments", columns, sizeof columns / sizeof columns[0]);
    add_start(self, device);
    if (device->events > 0) {
        add_moment(self, device, "peak", &device->peak);
    }
    if (device->has_chosen) {
        add_moment(self, device, self->view->at, &device->chosen);
    }
    /* The last ones: the first failures are often retried, the last ended the program. */
    const size_t first =
        device->oom_count > OOM_ROWS_SHOWN ? device->oom_count - OOM_ROWS_SHOWN : 0;
    for (size_t i = first; i < device->oom_count; i++) {
        const char *name =
            device->oom_count > 1
                ? plim_page_text(self->page, "OOM {}", PLIM_FACTS(plim_count(NULL, i + 1)))
                : "OOM";
        add_moment(self, device, name, &device->ooms[i].moment);
    }
    /* Of a file without segments nothing is known of the end but what its events leave. */
    if (device->end.segments > 0 || device->peak.reserved_bytes > 0 || device->events == 0) {
        add_end(self, &device->end);
    }
}
