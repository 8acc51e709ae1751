/*
 * fit_cards.c - what the program needs on cards of 8 to 141 GB, on the page of `plimsoll fit`.
 */
#include "report/model/fit_parts.h"

#include "base/units.h"

static void put_rows(plim_page *page, const plim_fit_row *row)
{
    if (row->rows == 0 || row->trial == NULL) {
        plim_page_cell(page, PLIM_TONE_FAINT, plim_words("-"));
    } else if (row->rows_most == 0) {
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_plain("rows", row->rows));
    } else {
        plim_page_cell_text(
            page, PLIM_TONE_PLAIN, "{} of {}",
            PLIM_FACTS(plim_plain("rows", row->rows), plim_plain("rows_most", row->rows_most)));
    }
}

static void put_ratio(plim_page *page, double slowdown)
{
    if (slowdown > 0) {
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_ratio("slowdown", slowdown));
    } else {
        plim_page_cell(page, PLIM_TONE_FAINT, plim_words("-"));
    }
}

static void put_card(plim_page *page, const plim_fit_row *row)
{
    plim_page_cell_text(page, PLIM_TONE_PLAIN, "{} GB",
                        PLIM_FACTS(plim_plain("nominal", row->nominal_bytes / GIB)));
    plim_page_cell(page, PLIM_TONE_FAINT, plim_words(row->gpu->key));
    put_rows(page, row);
    put_ratio(page, row->slowdown);
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes("device_bytes", row->device_bytes));
    if (row->trial != NULL) {
        plim_page_cell(page, PLIM_TONE_IN_USE, plim_words(plim_fit_stack_text(page, row->trial)));
    } else {
        plim_page_cell_text(page, PLIM_TONE_BAD, "{} missing",
                            PLIM_FACTS(plim_bytes("missing_bytes", row->missing_bytes)));
    }
}

void plim_fit_say_cards(plim_page *page, const plim_fitted *fitted)
{
    static const plim_column columns[] = {
        { "memory", PLIM_ALIGN_RIGHT, 0, 0 },     { "for one", PLIM_ALIGN_LEFT, 1, 0 },
        { "batch", PLIM_ALIGN_RIGHT, 0, 0 },      { "time", PLIM_ALIGN_RIGHT, 0, 0 },
        { "device use", PLIM_ALIGN_RIGHT, 2, 0 }, { "needs", PLIM_ALIGN_LEFT, 0, 0 },
    };
    if (fitted->row_count == 0) {
        return;
    }
    plim_page_heading(page, "By card", NULL);
    plim_page_table(page, "cards", columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < fitted->row_count; i++) {
        put_card(page, &fitted->rows[i]);
    }
    plim_page_note(page, "cards_meaning", PLIM_TONE_FAINT,
                   "Rehearsed for {}, and judged for each card by the peak. Batch: rows at a time, "
                   "of those that a line through two rehearsals leaves room for. Time: beside the "
                   "program as it is on that card, by the model.",
                   PLIM_FACTS(plim_words(fitted->gpu->name)));
}
