/*
 * inspect_kinds.c - memory at a moment by category; allocations that are live at the end, and
 * those of them that the recording saw made and never freed.
 */
#include "report/model/inspect_parts.h"

#include "plimsoll/phases.h"

double plim_inspected_share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* ---- categories ----------------------------------------------------------------------------- */

static void add_category(const plim_inspected *self, const plim_moment *moment,
                         plim_category category)
{
    plim_page *const page = self->page;
    const plim_category_total *const total = &moment->categories[category];
    plim_page_cell(page, PLIM_TONE_HEADING, plim_bytes(NULL, total->bytes));
    plim_page_cell(page, PLIM_TONE_PLAIN,
                   plim_percent(NULL, plim_inspected_share(total->bytes, moment->grouped_bytes)));
    plim_page_cell_bar(page, PLIM_TONE_IN_USE, total->bytes, moment->grouped_bytes);
    plim_page_cell_text(page, PLIM_TONE_FAINT, "{}×", PLIM_FACTS(plim_count(NULL, total->count)));
    plim_page_cell(page, PLIM_TONE_HEADING, plim_words(plim_category_name(category)));
    plim_page_cell(page, PLIM_TONE_FAINT, plim_words(plim_category_text(category)));
}

void plim_inspected_categories(const plim_inspected *self, const plim_moment *moment,
                               const char *when)
{
    static const plim_column columns[] = {
        { "size", PLIM_ALIGN_RIGHT, 0, 8 },    { "share", PLIM_ALIGN_RIGHT, 0, 5 },
        { "bar", PLIM_ALIGN_BAR, 0, 16 },      { "times", PLIM_ALIGN_RIGHT, 0, 3 },
        { "category", PLIM_ALIGN_LEFT, 0, 0 }, { "what", PLIM_ALIGN_REST, 1, 0 },
    };
    if (!self->view->categories || moment->categories == NULL || moment->grouped_count == 0) {
        return;
    }
    plim_page_heading(
        self->page, "{}, {} by category",
        PLIM_FACTS(plim_words(when), plim_bytes("grouped_bytes", moment->grouped_bytes)));
    plim_page_table(self->page, "categories", columns, sizeof columns / sizeof columns[0])
        ->table.hides_titles = true;
    bool is_shown[PLIM_CATEGORY_COUNT] = { false };
    for (size_t n = 0; n < PLIM_CATEGORY_COUNT; n++) {
        size_t most = PLIM_CATEGORY_COUNT;
        for (size_t i = 0; i < PLIM_CATEGORY_COUNT; i++) {
            if (!is_shown[i] && moment->categories[i].count > 0 &&
                (most == PLIM_CATEGORY_COUNT ||
                 moment->categories[i].bytes > moment->categories[most].bytes)) {
                most = i;
            }
        }
        if (most == PLIM_CATEGORY_COUNT) {
            return;
        }
        is_shown[most] = true;
        add_category(self, moment, (plim_category)most);
    }
}

/* ---- the end -------------------------------------------------------------------------------- */

void plim_inspected_end(const plim_inspected *self, const plim_device_inspection *device)
{
    const plim_moment *const end = &device->end_live;
    const plim_never_freed *const kept = &device->never_freed;
    plim_page *const page = self->page;
    if (device->events == 0 || end->grouped_count == 0) {
        return;
    }
    plim_page_say(
        page, "end_live", PLIM_TONE_PLAIN,
        end->is_filtered ? "Of these live at the end: {} in {}" : "Live at the end: {} in {}",
        PLIM_FACTS(plim_toned(PLIM_TONE_HEADING, plim_bytes("end_live_bytes", end->grouped_bytes)),
                   plim_count_of("end_live_count", end->grouped_count, "allocation")));
    if (kept->count == 0) {
        plim_page_more(page, ", all older than the recording", NULL);
    } else if (kept->before_count == 0) {
        plim_page_more(page, ", all allocated in the recording", NULL);
    } else {
        plim_page_more(page, ", {} of it allocated in the recording",
                       PLIM_FACTS(plim_bytes("never_freed_bytes", kept->bytes)));
    }
    if (kept->count > 0 && !self->view->never_freed) {
        plim_page_more(page, "{}",
                       PLIM_FACTS(plim_toned(PLIM_TONE_FAINT, plim_words(" (see --never-freed)"))));
    }
}

void plim_inspected_never_freed(const plim_inspected *self, const plim_device_inspection *device)
{
    const plim_never_freed *const kept = &device->never_freed;
    if (!self->view->never_freed) {
        return;
    }
    if (kept->count == 0) {
        plim_page_heading(self->page,
                          "Never freed: nothing that was allocated within the recording", NULL);
        return;
    }
    plim_page_heading(self->page, "Never freed within the recording: {} in {}",
                      PLIM_FACTS(plim_bytes("never_freed_bytes", kept->bytes),
                                 plim_count_of("never_freed_count", kept->count, "allocation")));
    const plim_moment all = { .event = device->end_live.event,
                              .requested_bytes = kept->bytes,
                              .allocated_bytes = kept->bytes,
                              .active_bytes = kept->bytes,
                              .live_count = kept->count,
                              .groups = kept->groups,
                              .group_count = kept->group_count };
    plim_inspected_births(self, device, &all);
    if (kept->before_count > 0) {
        plim_page_note(self->page, "never_freed_before", PLIM_TONE_FAINT,
                       "Not counted: {} in {} from before the recording, live at the end too.",
                       PLIM_FACTS(plim_bytes("before_bytes", kept->before_bytes),
                                  plim_count_of("before_count", kept->before_count, "allocation")));
    }
}
