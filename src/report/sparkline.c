/*
 * sparkline.c - spreading bins over columns, and drawing one row of cells at a time.
 */
#include "report/sparkline.h"

#include "base/assert.h"
#include "base/numbers.h"
#include "report/term/bars.h"

void plim_spark_fill(plim_spark *spark, const plim_timeline_bin *bins, size_t count,
                     uint32_t columns)
{
    columns = columns > PLIM_SPARK_COLUMNS_MAX ? PLIM_SPARK_COLUMNS_MAX : columns;
    *spark = (plim_spark){ .columns = count == 0 ? 0 : columns };
    for (uint32_t x = 0; x < spark->columns; x++) {
        /* Fewer bins than columns: bins are repeated. More: each falls into one column. */
        const size_t first = (size_t)x * count / columns;
        const size_t behind = ((size_t)x + 1) * count / columns;
        for (size_t i = first; i < behind || i == first; i++) {
            spark->in_use_bytes[x] = plim_max(spark->in_use_bytes[x], bins[i].allocated_bytes_max);
            spark->reserved_bytes[x] =
                plim_max(spark->reserved_bytes[x], bins[i].reserved_bytes_max);
        }
        spark->reserved_bytes[x] = plim_max(spark->reserved_bytes[x], spark->in_use_bytes[x]);
        spark->bytes_max = plim_max(spark->bytes_max, spark->reserved_bytes[x]);
    }
}

uint32_t plim_spark_column(const plim_spark *spark, const plim_timeline_bin *bins, size_t count,
                           uint64_t event)
{
    if (spark->columns == 0) {
        return 0;
    }
    size_t bin = 0;
    while (bin + 1 < count && bins[bin + 1].event_first <= event) {
        bin++;
    }
    /* The first column that shows this bin: the least x with bin < (x + 1) * count / columns,
     * or, where bins are repeated, with x * count / columns == bin. */
    for (uint32_t x = 0; x < spark->columns; x++) {
        const size_t first = (size_t)x * count / spark->columns;
        const size_t behind = ((size_t)x + 1) * count / spark->columns;
        if (bin == first || (bin > first && bin < behind)) {
            return x;
        }
    }
    return spark->columns - 1;
}

/* How many of a cell's eighths are filled, seen from its foot. */
static uint32_t eighths_in_row(uint64_t bytes, uint64_t bytes_max, uint32_t row, uint32_t rows)
{
    const uint32_t filled = plim_bar_steps(bytes, bytes_max, rows * 8);
    const uint32_t below = row * 8;
    return filled <= below ? 0 : filled - below >= 8 ? 8 : filled - below;
}

void plim_spark_add_row(plim_line *line, const plim_spark *spark, uint32_t row, uint32_t rows)
{
    PLIM_ASSERT(row < rows);
    const plim_glyphs *glyphs = plim_style_glyphs(line->style);
    const uint32_t base = line->used;
    for (uint32_t x = 0; x < spark->columns;) {
        const uint32_t in_use = eighths_in_row(spark->in_use_bytes[x], spark->bytes_max, row, rows);
        const uint32_t reserved =
            eighths_in_row(spark->reserved_bytes[x], spark->bytes_max, row, rows);
        /* A shaded cell cannot be part full: half a cell decides. */
        const bool is_shade = in_use == 0 && reserved >= 4;
        const char *glyph = is_shade ? glyphs->shade : glyphs->levels[in_use];
        const plim_tone tone = is_shade ? PLIM_TONE_UNUSED : PLIM_TONE_IN_USE;
        /* Equal neighbours go out as one run: fewer escape sequences. */
        uint32_t run = 1;
        while (x + run < spark->columns &&
               eighths_in_row(spark->in_use_bytes[x + run], spark->bytes_max, row, rows) ==
                   in_use &&
               eighths_in_row(spark->reserved_bytes[x + run], spark->bytes_max, row, rows) ==
                   reserved) {
            run++;
        }
        if (is_shade || in_use > 0) { /* blanks only where something follows */
            plim_line_to(line, base + x);
            plim_line_repeat(line, tone, glyph, run);
        }
        x += run;
    }
}
