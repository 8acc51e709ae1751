/*
 * rehearse_belief.c - how far a rehearsal is to be believed: values read, models, calls.
 */
#include "report/rehearse_parts.h"

#include "report/counted.h"
#include "report/table.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"

#include <inttypes.h>
#include <string.h>

#define READS_SHOWN        6u
#define WARNINGS_SHOWN     4u
#define MODELLED_BYTES_MAX ((size_t)1 << 20)

static void write_reads(const plim_rehearse_page *page)
{
    const plim_rehearsed_process *process =
        page->outcome->process_count > 0 ? &page->outcome->processes[0] : NULL;
    if (process == NULL || process->read_count == 0) {
        return;
    }
    plim_rehearse_heading(page, "Values read from the device, where nothing was computed");
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

static void write_modelled(const plim_rehearse_page *page)
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

static void write_warnings(const plim_rehearse_page *page, const char *const *warnings,
                           size_t count)
{
    const char *mark = plim_style_glyphs(page->style)->warning;
    for (size_t i = 0; i < count && i < WARNINGS_SHOWN; i++) {
        plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_WARN, mark, warnings[i]);
    }
}

static void write_belief(const plim_rehearse_page *page)
{
    plim_rehearse_blank(page);
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

static void write_calls(const plim_rehearse_page *page)
{
    static const plim_table_column columns[] = { { "calls", PLIM_ALIGN_RIGHT },
                                                 { "function", PLIM_ALIGN_LEFT },
                                                 { "is", PLIM_ALIGN_LEFT },
                                                 { "", PLIM_ALIGN_LEFT } };
    plim_rehearse_heading(page, "What was called");
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

void plim_rehearse_belief_write(const plim_rehearse_page *page)
{
    write_reads(page);
    write_belief(page);
    if (page->rehearsed->lists_calls) {
        write_calls(page);
    }
}
