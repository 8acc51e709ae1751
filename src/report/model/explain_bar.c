/*
 * explain_bar.c - the device as one bar, and the request that failed below it.
 *
 *   |▒▒▒▒▒████████████████████████████████░░░░░░      | 23.7 GiB
 *                     requested 4.00 GiB  ━━━━━━━━━━━━━━━━━━
 *
 *   elsewhere, allocated, cached, free: in this order, so that what the request could have had, if
 *   all of it were one piece, is one stretch. The request begins where it begins; what reaches
 *   beyond the bar is what was missing.
 *
 * Nothing is shown that the text does not say: without a size of the device (or of a limit in its
 * place) there is no bar, only the figures.
 */
#include "base/numbers.h"
#include "report/model/explain_parts.h"

/* Bytes that have a name. */
typedef struct bar_part {
    const char *name; /* NULL: absent */
    uint64_t bytes;
} bar_part;

typedef struct device_bar {
    bar_part parts[PLIM_BAR_PARTS];
    uint64_t total_bytes;   /* of the device, or of the limit that takes its place */
    uint64_t request_bytes; /* PLIM_BYTES_UNKNOWN: not known */
    uint64_t limit_bytes;   /* below the device; or PLIM_BYTES_UNKNOWN */
    bool is_limit;          /* the bar is a limit, not a device */
    bool is_free_known;
} device_bar;

static bool has(const plim_oom_message *message, plim_figure_id id)
{
    return message->request.figures[id].bytes != PLIM_BYTES_UNKNOWN;
}

static uint64_t figure(const plim_oom_message *message, plim_figure_id id)
{
    return message->request.figures[id].bytes;
}

/* ---- what the parts are --------------------------------------------------------------------- */

/* Memory of the allocator: live and cached, as far as the text has figures. */
static void fill_held(const plim_oom_message *message, device_bar *bar)
{
    bar_part *live = &bar->parts[PLIM_BAR_LIVE];
    bar_part *cached = &bar->parts[PLIM_BAR_CACHED];
    const uint64_t reserved = figure(message, PLIM_FIGURE_RESERVED);
    const uint64_t unused = figure(message, PLIM_FIGURE_RESERVED_UNALLOCATED);
    if (has(message, PLIM_FIGURE_ALLOCATED)) {
        *live = (bar_part){ .name = "allocated", .bytes = figure(message, PLIM_FIGURE_ALLOCATED) };
    } else if (reserved != PLIM_BYTES_UNKNOWN && unused != PLIM_BYTES_UNKNOWN) {
        *live = (bar_part){ .name = "allocated", .bytes = plim_minus(reserved, unused) };
    } else if (reserved != PLIM_BYTES_UNKNOWN) {
        *live = (bar_part){ .name = "reserved", .bytes = reserved };
        return;
    } else if (has(message, PLIM_FIGURE_PROCESS)) {
        *live = (bar_part){ .name = "this process", .bytes = figure(message, PLIM_FIGURE_PROCESS) };
        return;
    }
    if (unused != PLIM_BYTES_UNKNOWN) {
        *cached = (bar_part){ .name = "cached, unused", .bytes = unused };
    } else if (reserved != PLIM_BYTES_UNKNOWN) {
        *cached =
            (bar_part){ .name = "cached, unused", .bytes = plim_minus(reserved, live->bytes) };
    }
}

/* Other processes that the text names, without the one that is this very process. */
static uint64_t sum_of_others(const plim_oom_message *message)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < message->request.process_count; i++) {
        const plim_process_figure *process = &message->request.processes[i];
        if (!process->is_this && process->bytes != PLIM_BYTES_UNKNOWN) {
            sum = plim_plus(sum, process->bytes);
        }
    }
    return sum;
}

/* "other processes" if they hold most of it, and not this one's context and libraries. */
static const char *name_elsewhere(const plim_oom_message *message, uint64_t elsewhere,
                                  uint64_t held)
{
    const double named = (double)sum_of_others(message);
    double others = named;
    if (has(message, PLIM_FIGURE_PROCESS)) {
        const uint64_t outside = plim_minus(figure(message, PLIM_FIGURE_PROCESS), held);
        const double derived = (double)plim_minus(elsewhere, outside);
        others = derived > named ? derived : named;
    }
    return others >= 0.75 * (double)elsewhere ? "other processes" : "elsewhere";
}

/* Memory that is neither held here nor free. */
static void fill_elsewhere(const plim_oom_message *message, device_bar *bar)
{
    const uint64_t held =
        plim_plus(bar->parts[PLIM_BAR_LIVE].bytes, bar->parts[PLIM_BAR_CACHED].bytes);
    const uint64_t others = sum_of_others(message);
    bar_part *elsewhere = &bar->parts[PLIM_BAR_ELSEWHERE];
    if (has(message, PLIM_FIGURE_OTHER_ALLOCATIONS)) {
        *elsewhere = (bar_part){ .name = "other allocations",
                                 .bytes = figure(message, PLIM_FIGURE_OTHER_ALLOCATIONS) };
    } else if (bar->is_free_known && !bar->is_limit) {
        const uint64_t free_bytes = bar->parts[PLIM_BAR_FREE].bytes;
        elsewhere->bytes = plim_minus(plim_minus(bar->total_bytes, free_bytes), held);
        elsewhere->name = bar->parts[PLIM_BAR_LIVE].name == NULL
                              ? "in use"
                              : name_elsewhere(message, elsewhere->bytes, held);
    } else if (others > 0 && !bar->is_limit) {
        *elsewhere = (bar_part){ .name = "other processes", .bytes = others };
    }
}

static void fill_free(const plim_oom_message *message, device_bar *bar)
{
    bar_part *rest = &bar->parts[PLIM_BAR_FREE];
    bar->is_free_known = has(message, PLIM_FIGURE_FREE);
    if (bar->is_free_known) {
        *rest = (bar_part){ .name = "free", .bytes = figure(message, PLIM_FIGURE_FREE) };
    }
}

/* The rest of a device is free or held elsewhere; the rest of a limit was left of it. */
static void fill_rest(device_bar *bar)
{
    if (bar->is_free_known) {
        return;
    }
    uint64_t used = 0;
    for (int i = 0; i < PLIM_BAR_FREE; i++) {
        used = plim_plus(used, bar->parts[i].bytes);
    }
    bar->parts[PLIM_BAR_FREE] = (bar_part){ .name = bar->is_limit ? "left" : "free or elsewhere",
                                            .bytes = plim_minus(bar->total_bytes, used) };
    bar->is_free_known = bar->is_limit;
}

static bool fill(const plim_oom_message *message, device_bar *bar)
{
    *bar = (device_bar){ .limit_bytes = PLIM_BYTES_UNKNOWN };
    bar->is_limit = !has(message, PLIM_FIGURE_TOTAL);
    bar->total_bytes = figure(message, bar->is_limit ? PLIM_FIGURE_LIMIT : PLIM_FIGURE_TOTAL);
    if (bar->total_bytes == PLIM_BYTES_UNKNOWN || bar->total_bytes == 0) {
        return false;
    }
    if (!bar->is_limit && figure(message, PLIM_FIGURE_LIMIT) < bar->total_bytes) {
        bar->limit_bytes = figure(message, PLIM_FIGURE_LIMIT);
    }
    bar->request_bytes =
        figure(message, has(message, PLIM_FIGURE_REQUESTED) ? PLIM_FIGURE_REQUESTED
                                                            : PLIM_FIGURE_REQUESTED_FROM_SHAPE);
    fill_held(message, bar);
    fill_free(message, bar);
    fill_elsewhere(message, bar);
    fill_rest(bar);
    bool is_anything_known = bar->is_free_known || bar->request_bytes != PLIM_BYTES_UNKNOWN;
    for (int i = 0; i < PLIM_BAR_FREE; i++) {
        is_anything_known = is_anything_known || bar->parts[i].name != NULL;
    }
    return is_anything_known;
}

/* ---- words ---------------------------------------------------------------------------------- */

static void add_mark(plim_page *page, plim_device_bar *to, uint64_t at_bytes, const char *text,
                     uint64_t bytes)
{
    to->marks[to->mark_count++] = (plim_bar_mark){
        .words = plim_page_text(page, text, PLIM_FACTS(plim_bytes(NULL, bytes))),
        .at_bytes = at_bytes,
    };
}

/* A limit below the device: how far this process might have gone. And where a device that spilled
 * into the host's memory ends. */
static void add_marks(plim_page *page, const device_bar *bar, plim_device_bar *to)
{
    if (bar->limit_bytes != PLIM_BYTES_UNKNOWN) {
        add_mark(page, to, plim_plus(bar->parts[PLIM_BAR_ELSEWHERE].bytes, bar->limit_bytes),
                 "limit {}", bar->limit_bytes);
    }
    if (to->end_bytes - bar->total_bytes > bar->total_bytes / 100) { /* not for rounding */
        add_mark(page, to, bar->total_bytes,
                 bar->is_limit ? "the limit ends: {}" : "the device ends: {}", bar->total_bytes);
    }
}

static void add_parts(plim_page *page, const device_bar *bar, plim_device_bar *to)
{
    uint64_t sum = 0;
    for (int i = 0; i < PLIM_BAR_PARTS; i++) {
        const bar_part *part = &bar->parts[i];
        const bool is_said = part->bytes > 0 || i == PLIM_BAR_FREE || i == PLIM_BAR_LIVE;
        sum = plim_plus(sum, part->bytes);
        to->parts[i].bytes = part->bytes;
        if (part->name != NULL && is_said) {
            to->parts[i].words = plim_page_text(
                page, "{} {}", PLIM_FACTS(plim_words(part->name), plim_bytes(NULL, part->bytes)));
        }
    }
    to->end_bytes = plim_max(sum, bar->total_bytes);
}

/* "The text says: requested 512 MiB, free 3.20 GiB." */
static void say_figures(plim_page *page, const plim_oom_message *message)
{
    plim_page_note(page, "figures", PLIM_TONE_PLAIN, "The text says:", NULL);
    bool is_first = true;
    for (int i = 0; i < PLIM_FIGURE_PRINTED_COUNT; i++) {
        if (has(message, (plim_figure_id)i)) {
            plim_page_more(page, is_first ? " {} {}" : ", {} {}",
                           PLIM_FACTS(plim_words(plim_explain_figure((plim_figure_id)i)),
                                      plim_bytes(plim_figure_name((plim_figure_id)i),
                                                 figure(message, (plim_figure_id)i))));
            is_first = false;
        }
    }
}

static bool knows_figures(const plim_oom_message *message)
{
    for (int i = 0; i < PLIM_FIGURE_PRINTED_COUNT; i++) {
        if (has(message, (plim_figure_id)i)) {
            return true;
        }
    }
    return false;
}

bool plim_explained_bar(plim_page *page, const plim_oom_message *message)
{
    device_bar bar;
    if (!fill(message, &bar)) {
        if (knows_figures(message)) {
            say_figures(page, message);
        }
        return knows_figures(message);
    }
    plim_device_bar *to = plim_page_alloc(page, 1, sizeof *to);
    if (to == NULL) {
        return false;
    }
    add_parts(page, &bar, to);
    add_marks(page, &bar, to);
    to->end = plim_page_text(page, bar.is_limit ? "{} limit" : "{}",
                             PLIM_FACTS(plim_bytes(NULL, to->end_bytes)));
    if (bar.request_bytes != PLIM_BYTES_UNKNOWN) {
        to->request =
            plim_page_text(page, "requested {}", PLIM_FACTS(plim_bytes(NULL, bar.request_bytes)));
        to->request_bytes = bar.request_bytes;
    }
    to->is_request_placed = bar.is_free_known;
    plim_page_bar(page, "device", to);
    return true;
}
