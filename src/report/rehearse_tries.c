/*
 * rehearse_tries.c - the table of a search or a sweep. See rehearse_text.h.
 */
#include "report/rehearse_text.h"

#include "base/size.h"
#include "report/table.h"
#include "report/term/paragraph.h"

#include <inttypes.h>

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
