/*
 * rehearse_text.c - the page of a rehearsal. See rehearse_text.h.
 *
 * The order is that of the questions of somebody who is about to rent a GPU: does it fit, how
 * much is left, when does it peak, what else takes memory, and how far is this to be believed.
 */
#include "report/rehearse_text.h"

#include "base/size.h"
#include "report/bars.h"
#include "report/counted.h"
#include "report/line.h"
#include "report/paragraph.h"
#include "report/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NARROW_COLUMNS     80u
#define BAR_COLUMNS        24u
#define BAR_COLUMNS_LEAST  8u
#define RANKS_SHOWN        8u
#define READS_SHOWN        6u
#define WARNINGS_SHOWN     4u
#define STACK_SHOWN        3u
#define STEPS_SHOWN        6u
#define LABEL_COLUMNS      12u
#define MODELLED_BYTES_MAX ((size_t)1 << 20)
#define FIGURE_COLUMNS     10u
#define PERCENT_COLUMNS    8u

typedef struct rehearse_page {
    plim_text *out;
    const plim_style *style;
    const plim_rehearsed *rehearsed;
    const plim_rehearsal_outcome *outcome;
} rehearse_page;

static void write_blank(const rehearse_page *page)
{
    plim_text_append_char(page->out, '\n');
}

static void write_heading(const rehearse_page *page, const char *words)
{
    write_blank(page);
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_HEADING, words);
    plim_line_end(&line);
}

/* Of the memory of a device; that of a device without memory is nobody's: "-". */
static plim_short_text share(const rehearse_page *page, uint64_t bytes)
{
    const uint64_t capacity = page->outcome->capacity_bytes;
    return plim_format_percent(capacity > 0 ? (double)bytes / (double)capacity : (double)NAN);
}

/* "step 2, backward": what nobody noted is left out. */
typedef struct short_name {
    char text[96];
} short_name;

static short_name name_moment(uint64_t step, const char *phase)
{
    short_name name;
    (void)snprintf(name.text, sizeof(name.text), "step %" PRIu64 "%s%s", step,
                   phase[0] != '\0' ? ", " : "", phase);
    return name;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void write_command(const rehearse_page *page)
{
    plim_line line = plim_line_begin(page->out, page->style, 0);
    for (const char *const *word = page->rehearsed->argv; *word != NULL; word++) {
        const char *quote = **word == '\0' || strpbrk(*word, " \t\n") != NULL ? "'" : "";
        plim_line_format(&line, PLIM_TONE_HEADING, "%s%s%s%s",
                         word != page->rehearsed->argv ? " " : "", quote, *word, quote);
    }
    plim_line_end(&line);

    const char *dot = plim_style_glyphs(page->style)->dot;
    line = plim_line_begin(page->out, page->style, 0);
    if (page->outcome->process_count > 0) {
        plim_line_format(&line, PLIM_TONE_FAINT, "PyTorch %s %s ",
                         page->outcome->processes[0].torch, dot);
    }
    if (page->outcome->device_count > 1) {
        plim_line_format(&line, PLIM_TONE_FAINT, "%" PRIu32 " %s ", page->outcome->device_count,
                         plim_style_glyphs(page->style)->times);
    }
    plim_line_format(&line, PLIM_TONE_FAINT, "%s with %s", page->outcome->gpu->name,
                     plim_format_bytes(page->outcome->capacity_bytes).text);
    if (page->outcome->process_count == 1 && page->outcome->processes[0].world_size > 1) {
        plim_line_format(&line, PLIM_TONE_FAINT, " %s rank %" PRIu64 " of %" PRIu64, dot,
                         page->outcome->processes[0].rank, page->outcome->processes[0].world_size);
    }
    plim_line_end(&line);
}

/* What a process died of is its last failure; of those who lived on, the first one's. */
static const plim_rehearsed_oom *fatal_oom(const plim_rehearsal_outcome *outcome)
{
    const plim_rehearsed_process *found = NULL;
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *process = &outcome->processes[i];
        if (process->oom_count > 0 && strcmp(process->ended, "oom") == 0) {
            found = process;
            break;
        }
        found = found == NULL && process->oom_count > 0 ? process : found;
    }
    return found != NULL ? &found->ooms[found->oom_count - 1] : NULL;
}

/* Frames of the user's own code; where there are none, the innermost of any. */
static void write_stack(const rehearse_page *page, const plim_rehearsed_oom *oom)
{
    size_t own = 0;
    for (size_t i = 0; i < oom->stack_count; i++) {
        own += strstr(oom->stack[i], "/site-packages/") == NULL;
    }
    size_t shown = 0;
    for (size_t i = 0; i < oom->stack_count && shown < STACK_SHOWN; i++) {
        if (oom->stack[i][0] == '\0' ||
            (own > 0 && strstr(oom->stack[i], "/site-packages/") != NULL)) {
            continue;
        }
        plim_line line = plim_line_begin(page->out, page->style, 2);
        plim_line_format(&line, PLIM_TONE_USER, "%s ", plim_style_glyphs(page->style)->from);
        plim_line_add_path(&line, PLIM_TONE_USER, oom->stack[i]);
        plim_line_end(&line);
        shown++;
    }
}

static void write_out_of_memory(const rehearse_page *page)
{
    const plim_rehearsed_oom *oom = fatal_oom(page->outcome);
    if (oom == NULL) {
        plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_BAD, "",
                             "It runs out of memory.");
        return;
    }
    plim_paragraph_format(
        page->out, page->style, 0, PLIM_TONE_BAD,
        "It runs out of memory in %s: %s more on GPU %" PRIu32 ", which had %s free.",
        name_moment(oom->step, oom->phase).text, plim_format_bytes(oom->requested_bytes).text,
        oom->device, plim_format_bytes(oom->device_free_bytes).text);
    write_stack(page, oom);
}

static void write_failed(const rehearse_page *page)
{
    const char *exception = NULL;
    for (size_t i = 0; i < page->outcome->process_count && exception == NULL; i++) {
        exception = page->outcome->processes[i].exception;
    }
    plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_BAD,
                          "The program failed with exit status %d. The figures end there.",
                          page->rehearsed->exit_status);
    if (exception != NULL) {
        plim_paragraph_write(page->out, page->style, 2, PLIM_TONE_BAD, "", exception);
    }
}

static void write_unanswered(const rehearse_page *page)
{
    plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_BAD, "",
                         "The program called functions that are not stood in for. The figures are "
                         "not to be believed.");
    for (size_t i = 0; i < page->outcome->call_count; i++) {
        const plim_rehearsed_call *call = &page->outcome->calls[i];
        if (strcmp(call->kind, "unknown") == 0 || strcmp(call->kind, "refused") == 0) {
            plim_paragraph_format(page->out, page->style, 2, PLIM_TONE_WARN, "%s%s%s", call->name,
                                  call->note[0] != '\0' ? ": " : "", call->note);
        }
    }
}

static void write_fits(const rehearse_page *page)
{
    const uint64_t peak = plim_rehearsed_find_peak(page->outcome).device_bytes;
    const uint64_t capacity = page->outcome->capacity_bytes;
    const uint64_t spare = capacity > peak ? capacity - peak : 0;
    plim_paragraph_format(
        page->out, page->style, 0, PLIM_TONE_IN_USE, "It fits: %s at the peak, %s to spare (%s).",
        plim_format_bytes(peak).text, plim_format_bytes(spare).text, share(page, spare).text);
    const plim_rehearsed_oom *oom = fatal_oom(page->outcome);
    if (oom != NULL) {
        plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_WARN,
                              "It ran out of memory on the way, in %s (%s more on GPU %" PRIu32
                              "), and went on.",
                              name_moment(oom->step, oom->phase).text,
                              plim_format_bytes(oom->requested_bytes).text, oom->device);
        write_stack(page, oom);
    }
}

static void write_answer(const rehearse_page *page)
{
    write_blank(page);
    switch (plim_rehearsed_judge(page->rehearsed)) {
    case PLIM_REHEARSED_FITS:
        write_fits(page);
        break;
    case PLIM_REHEARSED_OUT_OF_MEMORY:
        write_out_of_memory(page);
        break;
    case PLIM_REHEARSED_FAILED:
        write_failed(page);
        break;
    case PLIM_REHEARSED_UNANSWERED:
        write_unanswered(page);
        break;
    }
}

/* ---- figures --------------------------------------------------------------------------------- */

/* On a narrow page bars make room for what stands behind them. */
static uint32_t bar_columns(const rehearse_page *page)
{
    const uint32_t width = plim_style_width(page->style);
    return width < NARROW_COLUMNS ? BAR_COLUMNS_LEAST : BAR_COLUMNS;
}

/* "reserved    33.0 GiB  ████████   41.7%  note" */
static void write_figure(const rehearse_page *page, const char *label, uint64_t bytes,
                         const char *note)
{
    plim_line line = plim_line_begin(page->out, page->style, 2);
    plim_line_add_cell(&line, PLIM_TONE_PLAIN, label, LABEL_COLUMNS, PLIM_ALIGN_LEFT);
    plim_line_add_cell(&line, PLIM_TONE_PLAIN, plim_format_bytes(bytes).text, FIGURE_COLUMNS,
                       PLIM_ALIGN_RIGHT);
    plim_line_add(&line, PLIM_TONE_PLAIN, "  ");
    plim_bar_add(&line, PLIM_BAR_SOLID, bytes, page->outcome->capacity_bytes, bar_columns(page));
    plim_line_add_cell(&line, PLIM_TONE_PLAIN, share(page, bytes).text, PERCENT_COLUMNS,
                       PLIM_ALIGN_RIGHT);
    if (note[0] != '\0') {
        plim_line_format(&line, PLIM_TONE_FAINT, "  %s", note);
    }
    plim_line_end(&line);
}

static void write_device(const rehearse_page *page, const plim_rehearsed_device *device)
{
    write_figure(page, "allocated", device->peak_allocated_bytes,
                 name_moment(device->peak_step, device->peak_phase).text);
    char retries[96] = "";
    if (device->alloc_retries > 0) {
        (void)snprintf(retries, sizeof(retries), "cache given back %s",
                       plim_counted(device->alloc_retries, "time").text);
    }
    write_figure(page, "reserved", device->peak_reserved_bytes, retries);
}

static void write_gpu(const rehearse_page *page, const char *label, uint32_t device)
{
    const plim_rehearsed_gpu *gpu = &page->outcome->gpus[device];
    write_figure(page, label, gpu->peak_bytes, "");
    char libraries[64] = "";
    if (gpu->libraries_bytes > 0) {
        (void)snprintf(libraries, sizeof(libraries), ", libraries %s",
                       plim_format_bytes(gpu->libraries_bytes).text);
    }
    plim_paragraph_format(page->out, page->style, 2 + LABEL_COLUMNS + FIGURE_COLUMNS + 2,
                          PLIM_TONE_FAINT, "asked for by the program %s, context %s%s",
                          plim_format_bytes(gpu->program_bytes).text,
                          plim_format_bytes(gpu->context_bytes).text, libraries);
}

static bool are_alike(const plim_rehearsal_outcome *outcome)
{
    for (uint32_t i = 1; i < outcome->device_count; i++) {
        if (memcmp(&outcome->gpus[i], &outcome->gpus[0], sizeof(outcome->gpus[0])) != 0) {
            return false;
        }
    }
    return outcome->device_count > 1;
}

static void write_gpus(const rehearse_page *page)
{
    write_heading(page, "Device use");
    if (are_alike(page->outcome)) {
        write_gpu(page, "each GPU", 0);
        return;
    }
    for (uint32_t i = 0; i < page->outcome->device_count && i < RANKS_SHOWN; i++) {
        char label[32];
        (void)snprintf(label, sizeof(label), "GPU %" PRIu32, i);
        write_gpu(page, label, i);
    }
    if (page->outcome->device_count > RANKS_SHOWN) {
        plim_paragraph_format(
            page->out, page->style, 2, PLIM_TONE_FAINT, "and %s more; %s at most",
            plim_format_count(page->outcome->device_count - RANKS_SHOWN).text,
            plim_format_bytes(plim_rehearsed_find_peak(page->outcome).device_bytes).text);
    }
}

/* One process: its devices in full. */
static void write_process(const rehearse_page *page, const plim_rehearsed_process *process)
{
    for (size_t i = 0; i < process->device_count; i++) {
        const plim_rehearsed_device *device = &process->devices[i];
        char title[64];
        (void)snprintf(title, sizeof(title), "Peaks of GPU %" PRIu32, device->device);
        write_heading(page, page->outcome->device_count > 1 ? title : "Peaks");
        write_device(page, device);
        if (device->device < page->outcome->device_count) {
            write_gpu(page, "device use", device->device);
        }
    }
}

static void add_rank(plim_table *table, const plim_rehearsed_process *process,
                     const plim_rehearsed_device *device)
{
    plim_table_format(table, PLIM_TONE_PLAIN, "%" PRIu64, process->rank);
    plim_table_format(table, PLIM_TONE_PLAIN, "%" PRIu32, device->device);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(device->peak_allocated_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(device->peak_reserved_bytes).text);
    plim_table_add(table, PLIM_TONE_FAINT, name_moment(device->peak_step, device->peak_phase).text);
    plim_table_format(table, PLIM_TONE_PLAIN, "%" PRIu64, process->steps);
    plim_table_add(table, PLIM_TONE_FAINT, process->ended);
}

/* Many: a row each. */
static void write_ranks(const rehearse_page *page)
{
    static const plim_table_column columns[] = {
        { "rank", PLIM_ALIGN_RIGHT },      { "GPU", PLIM_ALIGN_RIGHT },
        { "allocated", PLIM_ALIGN_RIGHT }, { "reserved", PLIM_ALIGN_RIGHT },
        { "peak in", PLIM_ALIGN_LEFT },    { "steps", PLIM_ALIGN_RIGHT },
        { "ended", PLIM_ALIGN_LEFT },
    };
    write_heading(page, "Peaks by process");
    plim_table table;
    plim_table_init(&table, page->out->mem, columns, sizeof(columns) / sizeof(columns[0]));
    size_t rows = 0;
    for (size_t i = 0; i < page->outcome->process_count; i++) {
        const plim_rehearsed_process *process = &page->outcome->processes[i];
        for (size_t j = 0; j < process->device_count; j++, rows++) {
            if (rows < RANKS_SHOWN) {
                add_rank(&table, process, &process->devices[j]);
            }
        }
    }
    plim_table_write(&table, page->out, page->style, 2);
    plim_table_deinit(&table);
    if (rows > RANKS_SHOWN) {
        plim_paragraph_format(
            page->out, page->style, 2, PLIM_TONE_FAINT, "and %s more; %s allocated at most",
            plim_format_count(rows - RANKS_SHOWN).text,
            plim_format_bytes(plim_rehearsed_find_peak(page->outcome).allocated_bytes).text);
    }
    write_gpus(page);
}

/* ---- over time ------------------------------------------------------------------------------- */

static const plim_rehearsed_device *busiest(const plim_rehearsal_outcome *outcome,
                                            const plim_rehearsed_process **ret_process)
{
    const plim_rehearsed_device *found = NULL;
    for (size_t i = 0; i < outcome->process_count; i++) {
        for (size_t j = 0; j < outcome->processes[i].device_count; j++) {
            const plim_rehearsed_device *device = &outcome->processes[i].devices[j];
            if (found == NULL || device->peak_allocated_bytes > found->peak_allocated_bytes) {
                found = device;
                *ret_process = &outcome->processes[i];
            }
        }
    }
    return found;
}

/* Whose course it is, where there are several. */
static short_name name_course(const rehearse_page *page, const plim_rehearsed_process *process,
                              const plim_rehearsed_device *device)
{
    short_name name = { "" };
    if (page->outcome->process_count > 1) {
        (void)snprintf(name.text, sizeof(name.text), " in rank %" PRIu64, process->rank);
    } else if (process->device_count > 1) {
        (void)snprintf(name.text, sizeof(name.text), " on GPU %" PRIu32, device->device);
    }
    return name;
}

static void write_phases(const rehearse_page *page, const plim_rehearsed_process *process,
                         const plim_rehearsed_device *device)
{
    char title[160];
    (void)snprintf(title, sizeof(title), "Peak allocated by phase%s",
                   name_course(page, process, device).text);
    write_heading(page, title);
    for (size_t i = 0; i < device->phase_count; i++) {
        write_figure(page, device->phases[i].name, device->phases[i].peak_allocated_bytes, "");
    }
}

static void write_steps(const rehearse_page *page, const plim_rehearsed_process *process,
                        const plim_rehearsed_device *device)
{
    char title[160];
    (void)snprintf(title, sizeof(title), "Peak allocated by step%s, of %" PRIu64,
                   name_course(page, process, device).text, process->steps);
    write_heading(page, title);
    const size_t shown = device->step_count < STEPS_SHOWN ? device->step_count : STEPS_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        const bool is_last = i + 1 == shown; /* the last one of all closes a list that is cut */
        const plim_rehearsed_step *step = &device->steps[is_last ? device->step_count - 1 : i];
        char label[32];
        char after[64];
        (void)snprintf(label, sizeof(label), "step %" PRIu64, step->step);
        (void)snprintf(after, sizeof(after), "%s after it",
                       plim_format_bytes(step->end_allocated_bytes).text);
        write_figure(page, label, step->peak_allocated_bytes, after);
    }
}

static void write_course(const rehearse_page *page)
{
    const plim_rehearsed_process *process = NULL;
    const plim_rehearsed_device *device = busiest(page->outcome, &process);
    if (device == NULL) {
        return;
    }
    if (device->phase_count > 1) {
        write_phases(page, process, device);
    }
    if (device->step_count > 1) {
        write_steps(page, process, device);
    }
}

/* ---- how far to believe it ------------------------------------------------------------------- */

static void write_reads(const rehearse_page *page)
{
    const plim_rehearsed_process *process =
        page->outcome->process_count > 0 ? &page->outcome->processes[0] : NULL;
    if (process == NULL || process->read_count == 0) {
        return;
    }
    write_heading(page, "Values read from the device, where nothing was computed");
    for (size_t i = 0; i < process->read_count && i < READS_SHOWN; i++) {
        const plim_rehearsed_read *read = &process->reads[i];
        plim_line line = plim_line_begin(page->out, page->style, 2);
        plim_line_format(&line, PLIM_TONE_USER, "%s ", read->where);
        plim_line_format(&line, PLIM_TONE_FAINT, "%s %s %" PRIu64, read->what,
                         plim_style_glyphs(page->style)->times, read->count);
        plim_line_end(&line);
    }
    if (process->read_count > READS_SHOWN) {
        plim_paragraph_format(page->out, page->style, 2, PLIM_TONE_FAINT, "and %s more",
                              plim_counted(process->read_count - READS_SHOWN, "place").text);
    }
    plim_paragraph_write(page->out, page->style, 2, PLIM_TONE_FAINT, "",
                         "Printing them is harmless. A program that decides by them decided by "
                         "made-up values here, and may take another way on a real GPU.");
}

static void write_modelled(const rehearse_page *page)
{
    size_t count = 0;
    plim_text words;
    plim_text_init(&words, page->out->mem, MODELLED_BYTES_MAX);
    for (size_t i = 0; i < page->outcome->call_count; i++) {
        const plim_rehearsed_call *call = &page->outcome->calls[i];
        if (strcmp(call->kind, "modelled") == 0) {
            plim_text_append_format(
                &words, "%s%.80s",
                count == 0 ? "Modelled: context and libraries, and what these answered: " : ", ",
                call->name);
            count++;
        }
    }
    plim_text_append_string(&words, count > 0 ? "."
                                              : "Modelled: what context and libraries take. "
                                                "Everything else is PyTorch's own doing.");
    plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_FAINT, "", plim_text_string(&words));
    if (words.status != PLIM_OK) { /* the page fails as if it had lost the words */
        page->out->status = page->out->status != PLIM_OK ? page->out->status : words.status;
    }
    plim_text_deinit(&words);
}

static void write_warnings(const rehearse_page *page, const char *const *warnings, size_t count)
{
    const char *mark = plim_style_glyphs(page->style)->warning;
    for (size_t i = 0; i < count && i < WARNINGS_SHOWN; i++) {
        plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_WARN, mark, warnings[i]);
    }
}

static void write_belief(const rehearse_page *page)
{
    write_blank(page);
    write_modelled(page);
    write_warnings(page, page->outcome->warnings, page->outcome->warning_count);
    for (size_t i = 0; i < page->outcome->process_count; i++) {
        const plim_rehearsed_process *process = &page->outcome->processes[i];
        write_warnings(page, process->warnings, process->warning_count);
        if (strcmp(process->ended, "running") == 0) {
            plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_WARN,
                                  "Process %" PRId64 " was killed; what it did in its last "
                                  "seconds is not in its figures.",
                                  process->pid);
        }
    }
    if (page->outcome->process_count == 0) {
        plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_WARN, "",
                             "No process told of PyTorch: it did not import it, started Python "
                             "with -I, -E or -S, or was killed early. Only the device's own "
                             "figures are known.");
    }
    for (size_t i = 0; i < page->rehearsed->recording_count; i++) {
        plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_FAINT,
                              "Recorded: plimsoll inspect %s", page->rehearsed->recordings[i]);
    }
}

static void write_calls(const rehearse_page *page)
{
    static const plim_table_column columns[] = { { "calls", PLIM_ALIGN_RIGHT },
                                                 { "function", PLIM_ALIGN_LEFT },
                                                 { "is", PLIM_ALIGN_LEFT },
                                                 { "", PLIM_ALIGN_LEFT } };
    write_heading(page, "What was called");
    plim_table table;
    plim_table_init(&table, page->out->mem, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < page->outcome->call_count; i++) {
        const plim_rehearsed_call *call = &page->outcome->calls[i];
        plim_table_add(&table, PLIM_TONE_PLAIN, plim_format_count(call->count).text);
        plim_table_add(&table, PLIM_TONE_PLAIN, call->name);
        plim_table_add(&table, PLIM_TONE_PLAIN, call->kind);
        plim_table_add(&table, PLIM_TONE_FAINT, call->note);
    }
    plim_table_write(&table, page->out, page->style, 2);
    plim_table_deinit(&table);
}

void plim_rehearse_text_write(plim_text *out, const plim_style *style,
                              const plim_rehearsed *rehearsed)
{
    const rehearse_page page = {
        .out = out, .style = style, .rehearsed = rehearsed, .outcome = rehearsed->outcome
    };
    write_command(&page);
    write_answer(&page);
    if (page.outcome->process_count == 1) {
        write_process(&page, &page.outcome->processes[0]);
    } else if (page.outcome->process_count > 1) {
        write_ranks(&page);
    } else {
        write_gpus(&page);
    }
    write_course(&page);
    write_reads(&page);
    write_belief(&page);
    if (rehearsed->lists_calls) {
        write_calls(&page);
    }
}

static const char *say_verdict(plim_rehearsed_verdict verdict)
{
    return verdict == PLIM_REHEARSED_OUT_OF_MEMORY ? "out of memory"
                                                   : plim_rehearsed_verdict_name(verdict);
}

void plim_rehearse_text_write_tries(plim_text *out, const plim_style *style,
                                    const plim_rehearse_tries *tries)
{
    static const plim_table_column columns[] = {
        { "value", PLIM_ALIGN_RIGHT },      { "", PLIM_ALIGN_LEFT },
        { "allocated", PLIM_ALIGN_RIGHT },  { "reserved", PLIM_ALIGN_RIGHT },
        { "device use", PLIM_ALIGN_RIGHT },
    };
    plim_table table;
    plim_table_init(&table, out->mem, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < tries->count; i++) {
        const plim_rehearse_try *one = &tries->items[i];
        const bool fits = one->verdict == PLIM_REHEARSED_FITS;
        plim_table_format(&table, PLIM_TONE_PLAIN, "%" PRIu64, one->value);
        plim_table_add(&table, fits ? PLIM_TONE_IN_USE : PLIM_TONE_BAD, say_verdict(one->verdict));
        plim_table_add(&table, PLIM_TONE_PLAIN, plim_format_bytes(one->peak.allocated_bytes).text);
        plim_table_add(&table, PLIM_TONE_PLAIN, plim_format_bytes(one->peak.reserved_bytes).text);
        plim_table_add(&table, PLIM_TONE_PLAIN, plim_format_bytes(one->peak.device_bytes).text);
    }
    plim_table_write(&table, out, style, 0);
    plim_table_deinit(&table);
    plim_text_append_char(out, '\n');
    if (tries->best > 0) {
        plim_paragraph_format(out, style, 0, PLIM_TONE_HEADING, "The largest that fits: %" PRIu64,
                              tries->best);
    } else {
        plim_paragraph_write(out, style, 0, PLIM_TONE_BAD, "", "None of them fits.");
    }
}
