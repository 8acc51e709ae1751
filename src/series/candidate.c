/*
 * candidate.c - the name, the track and the total of a figure, when all of its line is known.
 */
#include "series/candidate.h"

#include "base/error.h"

#include <string.h>

bool plim_series_same_word(const char *line, plim_series_span a, plim_series_span b)
{
    return a.end - a.at == b.end - b.at && memcmp(line + a.at, line + b.at, a.end - a.at) == 0;
}

static void name_add_span(plim_series_heading *heading, const char *line, plim_series_span span)
{
    plim_series_name_add(heading, line + span.at, span.end - span.at);
}

/* The number of a process changes with each start: it says who only where nothing else does. */
static bool is_needed(const line_reading *all, const who *whose, uint32_t count, uint32_t index)
{
    return count == 1 || !plim_series_span_is_folded(all->line, whose[index].word, "pid");
}

static void name_whose(plim_series_heading *heading, const line_reading *all,
                       const number_candidate *one)
{
    /* "memory 12 GB on cuda:0": said after, for all of the line. */
    const bool is_after_line =
        one->whose_count == 0 && all->whose_count == 1 && all->whose[0].is_afterthought;
    const who *const whose = is_after_line ? all->whose : one->whose;
    const uint32_t count = is_after_line ? 1 : one->whose_count;
    uint32_t named = 0;
    for (uint32_t i = 0; i < count; i++) {
        const plim_series_span word = whose[i].word;
        const plim_series_span number = whose[i].number;
        if (is_needed(all, whose, count, i)) {
            plim_series_name_add_who(heading, named++ == 0, all->line + word.at, word.end - word.at,
                                     all->line + number.at, number.end - number.at);
        }
    }
    if (named > 0) {
        plim_series_name_add(heading, "]", 1);
    }
}

static void name_smi(plim_series_heading *heading, line_reading *all)
{
    plim_series_name_add(heading, PLIM_SERIES_SMI_NAME " [gpu ",
                         sizeof PLIM_SERIES_SMI_NAME " [gpu " - 1);
    if (all->line[0] == '[' && all->numbers[0].at == 1) { /* gpustat: "[0] NVIDIA …" */
        name_add_span(heading, all->line, all->numbers[0]);
        plim_series_plan_pin(all->plan, 0);
    } else {
        char digits[12];
        size_t at = sizeof digits;
        uint32_t rest = all->parser->smi_gpu++;
        do {
            digits[--at] = (char)('0' + rest % 10);
            rest /= 10;
        } while (rest > 0);
        plim_series_name_add(heading, digits + at, sizeof digits - at);
        all->plan->is_repeatable = false;
    }
    plim_series_name_add(heading, "]", 1);
}

static void name_candidate(plim_series_heading *heading, line_reading *all,
                           const number_candidate *one)
{
    if (one->is_smi) {
        name_smi(heading, all);
        return;
    }
    for (uint32_t i = 0; i < one->depth; i++) {
        if (!plim_series_span_is_empty(one->parents[i])) {
            name_add_span(heading, all->line, one->parents[i]);
            plim_series_name_add(heading, ".", 1);
        }
    }
    if (!plim_series_span_is_empty(one->context)) {
        name_add_span(heading, all->line, one->context);
        plim_series_name_add(heading, " ", 1);
    }
    const plim_series_section *const topic =
        plim_series_sections_find(&all->parser->sections, false);
    const plim_series_section *const owner =
        plim_series_sections_find(&all->parser->sections, true);
    if (one->is_of_section) {
        plim_series_name_add(heading, topic->text, topic->length);
        plim_series_name_add(heading, " ", 1);
    }
    name_add_span(heading, all->line, one->label);
    plim_series_name_drop_verbs(heading);
    if (one->suffix != NULL) {
        plim_series_name_add(heading, " ", 1);
        plim_series_name_add(heading, one->suffix, strlen(one->suffix));
    }
    if (owner != NULL && one->whose_count == 0) {
        plim_series_name_add_who(heading, true, owner->text, owner->word_length,
                                 owner->text + owner->number_at, owner->length - owner->number_at);
        plim_series_name_add(heading, "]", 1);
    } else {
        name_whose(heading, all, one);
    }
    plim_series_name_mend(heading);
}

static bool have_same_owner(const line_reading *all, const number_candidate *a,
                            const number_candidate *b)
{
    bool is_same = a->whose_count == b->whose_count;
    for (uint32_t i = 0; is_same && i < a->whose_count; i++) {
        is_same = plim_series_same_word(all->line, a->whose[i].word, b->whose[i].word) &&
                  plim_series_same_word(all->line, a->whose[i].number, b->whose[i].number);
    }
    return is_same && ((a->words ^ b->words) & PLIM_WORD_HOST) == 0;
}

/* The capacity of a figure: the only total in the line that is of the same device. */
static void find_total(const line_reading *all, number_candidate *one)
{
    const number_candidate *total = NULL;
    size_t count = 0;
    for (uint32_t i = 0; i < all->candidate_count; i++) {
        const number_candidate *const other = &all->candidates[i];
        if (plim_series_is_total(other->words) && have_same_owner(all, one, other)) {
            total = other;
            count++;
        }
    }
    if (one->figure.total == PLIM_SERIES_NO_NUMBER && count == 1 && total != one) {
        one->figure.total = total->figure.number;
        one->figure.total_log2 = total->unit.log2;
    }
}

plim_status plim_series_candidate_keep(line_reading *all, number_candidate *one, uint64_t row,
                                       plim_error *err)
{
    plim_series_heading heading = { .words = one->words,
                                    .unit_log2 = one->unit.log2,
                                    .unit = all->line + one->unit.text.at,
                                    .unit_length = one->unit.text.end - one->unit.text.at };
    name_candidate(&heading, all, one);
    uint32_t track = PLIM_SERIES_NO_TRACK;
    PLIM_TRY(plim_series_tracks_find(all->parser->tracks, &heading, row, &track, err));
    if (track != PLIM_SERIES_NO_TRACK) {
        find_total(all, one);
        one->figure.track = (uint16_t)track;
        plim_series_plan_add(all->plan, &one->figure);
    }
    return PLIM_OK;
}
