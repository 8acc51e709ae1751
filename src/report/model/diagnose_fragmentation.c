/*
 * diagnose_fragmentation.c - reserved memory that is not live: lost to what, in which holes, and
 * the blocks that keep it from being given back.
 */
#include "report/model/diagnose_parts.h"

static void say_moment(const plim_diagnose_part *self, const plim_fragmentation_facts *facts)
{
    plim_page *const page = self->page;
    const uint64_t event = facts->event > 0 ? (uint64_t)facts->event : 0;
    plim_page_heading(page,
                      facts->is_oom      ? "Reserved and not live when a request failed (event {})"
                      : facts->event < 0 ? "Reserved and not live"
                                         : "Reserved and not live at event {}",
                      facts->event < 0 && !facts->is_oom ? NULL
                                                         : PLIM_FACTS(plim_count("event", event)));
    plim_page_note(page, "reserved", PLIM_TONE_PLAIN, "{} of {} reserved are allocated",
                   PLIM_FACTS(plim_bytes("allocated_bytes", facts->allocated_bytes),
                              plim_bytes("reserved_bytes", facts->reserved_bytes)));
    if (facts->request_bytes > 0) {
        plim_page_more(page, "; the request needed {}",
                       PLIM_FACTS(plim_bytes("request_bytes", facts->request_bytes)));
    }
    plim_page_more(page, "; the largest hole has {}.",
                   PLIM_FACTS(plim_bytes("largest_hole_bytes", facts->largest_hole_bytes)));
}

static void say_loss(const plim_diagnose_part *self, const plim_loss *loss)
{
    static const plim_column columns[] = {
        { "lost", PLIM_ALIGN_RIGHT, 0, 9 },
        { "to", PLIM_ALIGN_LEFT, 0, 0 },
    };
    const struct {
        const char *name;
        uint64_t bytes;
        const char *words;
    } rows[] = {
        { "split_bytes", loss->split_bytes, "free rests of segments that are partly used" },
        { "rounding_bytes", loss->rounding_bytes, "blocks larger than their requests" },
        { "other_stream_bytes", loss->other_stream_bytes, "pools of other streams" },
        { "private_pool_bytes", loss->private_pool_bytes, "private pools" },
        { "oversize_bytes", loss->oversize_bytes, "max_split_size: blocks too large to be split" },
        { "page_bytes", loss->page_bytes, "pages of expandable segments that small blocks keep" },
        { "pending_bytes", loss->pending_bytes, "blocks that wait for a stream" },
        { "free_segment_bytes", loss->free_segment_bytes,
          "nothing: wholly free segments, which can be given back" },
    };
    bool has_any = false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].bytes > 0) {
            if (!has_any) {
                plim_page_table(self->page, "loss", columns, sizeof columns / sizeof columns[0]);
                has_any = true;
            }
            plim_page_cell(self->page, PLIM_TONE_PLAIN, plim_bytes(rows[i].name, rows[i].bytes));
            plim_page_cell(self->page, PLIM_TONE_PLAIN, plim_words(rows[i].words));
        }
    }
}

static void say_holes(const plim_diagnose_part *self, const plim_fragmentation_facts *facts)
{
    static const plim_column columns[] = {
        { "in holes", PLIM_ALIGN_RIGHT, 0, 9 },
        { "holes", PLIM_ALIGN_RIGHT, 0, 0 },
        { "of", PLIM_ALIGN_LEFT, 0, 0 },
    };
    bool has_any = false;
    for (size_t i = PLIM_HOLE_CLASSES; i-- > 0;) {
        if (facts->hole_counts[i] == 0) {
            continue;
        }
        if (!has_any) {
            plim_page_gap(self->page);
            plim_page_table(self->page, "holes", columns, sizeof columns / sizeof columns[0]);
            has_any = true;
        }
        plim_page_cell(self->page, PLIM_TONE_PLAIN, plim_bytes("bytes", facts->hole_bytes[i]));
        plim_page_cell(self->page, PLIM_TONE_PLAIN, plim_count("holes", facts->hole_counts[i]));
        plim_page_cell_text(self->page, PLIM_TONE_PLAIN, "{} to {}",
                            PLIM_FACTS(plim_bytes("from_bytes", UINT64_C(1) << i),
                                       plim_bytes("below_bytes", UINT64_C(1) << (i + 1))));
    }
}

static void say_pins(const plim_diagnose_part *self, const plim_fragmentation_facts *facts)
{
    static const plim_column columns[] = {
        { "keeps", PLIM_ALIGN_RIGHT, 0, 9 },
        { "with", PLIM_ALIGN_RIGHT, 0, 0 },
        { "blocks", PLIM_ALIGN_RIGHT, 1, 0 },
        { "requested by", PLIM_ALIGN_REST, 0, 0 },
    };
    const size_t shown = plim_diagnose_rows(self, facts->pin_count);
    if (facts->pin_count == 0) {
        return;
    }
    plim_page_gap(self->page);
    plim_page_table(self->page, "pins", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < shown; i++) {
        const plim_pin *const pin = &facts->pins[i];
        plim_page_cell(self->page, PLIM_TONE_HEADING,
                       plim_bytes("blocked_bytes", pin->blocked_bytes));
        plim_page_cell(self->page, PLIM_TONE_PLAIN, plim_bytes("bytes", pin->bytes));
        plim_page_cell(self->page, PLIM_TONE_PLAIN, plim_count("blocks", pin->count));
        plim_page_cell(self->page, PLIM_TONE_USER,
                       pin->place.frame != PLIM_NONE ? plim_diagnose_frame(self, pin->place.frame)
                                                     : plim_words("a stack that was not recorded"));
    }
    if (shown < facts->pin_count) {
        plim_page_note(
            self->page, "more", PLIM_TONE_FAINT, "({} more: --top shows them)",
            PLIM_FACTS(plim_count_of("pins_left_out", facts->pin_count - shown, "place")));
    }
}

void plim_diagnose_fragmentation(const plim_diagnose_part *self)
{
    for (size_t i = 0; i < self->device->fragmentation_count; i++) {
        const plim_fragmentation_facts *const facts = &self->device->fragmentation[i];
        say_moment(self, facts);
        say_loss(self, &facts->loss);
        say_holes(self, facts);
        say_pins(self, facts);
    }
}
