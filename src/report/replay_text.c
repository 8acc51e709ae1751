/*
 * replay_text.c - the page of a replay. See replay_text.h.
 *
 * How far to believe it comes first, what the device has next, and then what was asked: the
 * recording, the settings it had, the settings it might have had.
 */
#include "report/replay_text.h"

#include "base/size.h"
#include "report/counted.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"

#include <stdio.h>

/* Only the recorded settings can have the start as it was. */
static void write_start_note(const plim_replay_page *page, size_t count)
{
    bool has_start = false;
    for (size_t i = 0; i < page->input->device_count; i++) {
        has_start = has_start || page->input->facts[i].start_allocations > 0;
    }
    if (has_start && count > 1) {
        plim_paragraph_write(page->out, page->style, 2, PLIM_TONE_FAINT, "",
                             "What stood before the first event lies as recorded under the "
                             "recorded settings and is requested anew under others, which may "
                             "save some by itself: plimsoll tune compares on equal terms.");
    }
}

/* Of several devices each has a row in what follows; the table above has the one that fares
 * worst. */
static void write_devices(const plim_replay_page *page, const plim_replay_row *row)
{
    if (row->results == NULL || page->input->device_count < 2) {
        return;
    }
    plim_replay_blank(page);
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_HEADING, plim_replay_conf_words(row->conf));
    plim_line_add(&line, PLIM_TONE_FAINT, row->is_recorded ? " (as recorded)" : "");
    plim_line_end(&line);
    for (size_t i = 0; i < page->input->device_count; i++) {
        const plim_run_result *result = &row->results[i];
        char fate[64] = "survives";
        if (!result->survives && plim_replay_is_capacity_bound(page->input)) {
            (void)snprintf(fate, sizeof fate, "may survive");
        } else if (!result->survives) {
            (void)snprintf(fate, sizeof fate, "dies at event %s",
                           plim_format_count(result->failed_event).text);
        }
        plim_paragraph_format(
            page->out, page->style, 2, result->survives ? PLIM_TONE_PLAIN : PLIM_TONE_BAD,
            "GPU %d: %s%s%s reserved at most, %s allocated, %s", (int)result->device,
            page->input->capacity_bytes != PLIM_UNLIMITED ? fate : "",
            page->input->capacity_bytes != PLIM_UNLIMITED ? ", " : "",
            plim_format_bytes(result->peak_reserved_bytes).text,
            plim_format_bytes(result->peak_allocated_bytes).text,
            plim_counted(plim_replay_memory_calls(result), "driver call").text);
    }
}

void plim_replay_text_write(plim_text *out, const plim_style *style, const plim_replay_view *view,
                            const plim_replay_input *input, const plim_replay_row *rows,
                            size_t count)
{
    const plim_replay_page page = { .out = out, .style = style, .input = input };
    plim_replay_head_write(&page);
    if (view->shows_fidelity_whole) {
        plim_replay_fidelity_write_whole(&page);
    } else {
        plim_replay_fidelity_write(&page);
    }
    plim_replay_blank(&page);
    plim_replay_limits_write(&page);
    if (plim_replay_floor_bytes(input) > input->capacity_bytes &&
        !plim_replay_is_capacity_bound(input)) {
        plim_paragraph_write(out, style, 0, PLIM_TONE_BAD, "",
                             "More is live than the device has: no allocator setting can help.");
    }
    plim_replay_blank(&page);
    plim_replay_rows_write(&page, rows, count, true);
    write_start_note(&page, count);
    for (size_t i = 0; i < count; i++) {
        write_devices(&page, &rows[i]);
        plim_replay_row_write_fate(&page, &rows[i]);
    }
    if (view->predicted_path != NULL) {
        plim_replay_blank(&page);
        plim_line line = plim_line_begin(out, style, 0);
        plim_line_add(&line, PLIM_TONE_FAINT, "The predicted history: ");
        plim_line_add_path(&line, PLIM_TONE_FAINT, view->predicted_path);
        plim_line_end(&line);
    }
}
