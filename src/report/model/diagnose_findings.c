/*
 * diagnose_findings.c - findings beside the verdict, and what is known of each.
 */
#include "report/model/diagnose_parts.h"

#include "base/numbers.h"

/* Without --all: the lines that a reader gains from, without the ones that only complete it. */
static bool is_worth(const plim_diagnosis_finding *finding)
{
    return finding->decides || finding->finding.severity != PLIM_SEVERITY_NOTE;
}

static void say_brief(const plim_diagnose_part *self, const plim_diagnosis_finding *finding)
{
    plim_page_note(self->page, "finding", PLIM_TONE_PLAIN, "{}",
                   PLIM_FACTS(plim_words(plim_finding_cause_text(finding))))
        ->lead = "-";
    if (finding->bytes > 0) {
        plim_page_more(self->page, ": {}", PLIM_FACTS(plim_bytes("bytes", finding->bytes)));
    }
    if (finding->root.frame != PLIM_NONE) {
        plim_page_more(
            self->page, ", {}",
            PLIM_FACTS(plim_toned(PLIM_TONE_USER, plim_diagnose_frame(self, finding->root.frame))));
    }
    plim_page_more(self->page, " ({}).",
                   PLIM_FACTS(plim_words(plim_certainty_name(finding->finding.certainty))));
}

static void say_some(const plim_diagnose_part *self)
{
    const plim_device_diagnosis *const device = self->device;
    size_t shown = 0;
    size_t left = 0;
    for (size_t i = device->finding_count > 0 && device->findings[0].decides ? 1 : 0;
         i < device->finding_count; i++) {
        if (!is_worth(&device->findings[i]) || shown == PLIM_DIAGNOSE_LINES_SHOWN) {
            left++;
            continue;
        }
        if (shown++ == 0) {
            plim_page_heading(self->page, "Also found", NULL);
        }
        say_brief(self, &device->findings[i]);
    }
    if (left > 0 && shown > 0) {
        plim_page_note(self->page, "more", PLIM_TONE_FAINT, "({} more: --all shows them)",
                       PLIM_FACTS(plim_count("findings_left_out", left)));
    }
}

/* --- in full --- */

static void say_steps(const plim_diagnose_part *self, const plim_diagnosis_finding *finding)
{
    if (finding->first_step != PLIM_NO_STEP && finding->first_step == finding->last_step) {
        plim_page_more(self->page, "; seen in step {}",
                       PLIM_FACTS(plim_plain("first_step", finding->first_step)));
    } else if (finding->first_step != PLIM_NO_STEP && finding->last_step != PLIM_NO_STEP) {
        plim_page_more(self->page, "; seen in steps {} to {}",
                       PLIM_FACTS(plim_plain("first_step", finding->first_step),
                                  plim_plain("last_step", finding->last_step)));
    }
    if (finding->growth_bytes_per_step >= 1) {
        const double low = finding->growth_low_bytes_per_step;
        plim_page_more(self->page, "; {} a step, {} to {} with 95% confidence",
                       PLIM_FACTS(plim_bytes("growth_bytes_per_step",
                                             plim_whole(finding->growth_bytes_per_step)),
                                  plim_bytes("growth_low_bytes_per_step", plim_whole(low)),
                                  plim_bytes("growth_high_bytes_per_step",
                                             finding->growth_high_bytes_per_step > 0
                                                 ? plim_whole(finding->growth_high_bytes_per_step)
                                                 : 0)));
    }
}

static void say_members(const plim_diagnose_part *self, const plim_diagnosis_finding *finding)
{
    static const plim_column columns[] = {
        { "held", PLIM_ALIGN_RIGHT, 0, 9 },
        { "allocations", PLIM_ALIGN_RIGHT, 1, 0 },
        { "requested by", PLIM_ALIGN_REST, 0, 0 },
    };
    const size_t shown = plim_diagnose_rows(self, finding->member_count);
    if (finding->member_count < 2) {
        return; /* it is the root */
    }
    plim_page_table(self->page, "members", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < shown; i++) {
        const plim_finding_member *const member = &finding->members[i];
        plim_page_cell(self->page, PLIM_TONE_PLAIN, plim_bytes("bytes", member->bytes));
        plim_page_cell(self->page, PLIM_TONE_PLAIN, plim_count("allocations", member->count));
        plim_page_cell(self->page, PLIM_TONE_USER,
                       member->place.frame != PLIM_NONE
                           ? plim_diagnose_frame(self, member->place.frame)
                           : plim_words("a stack that was not recorded"));
    }
    if (shown < finding->member_count) {
        plim_page_note(
            self->page, "more", PLIM_TONE_FAINT, "({} more: --top shows them)",
            PLIM_FACTS(plim_count_of("members_left_out", finding->member_count - shown, "stack")));
    }
}

static void say_in_full(const plim_diagnose_part *self, const plim_diagnosis_finding *finding,
                        const char *const *sentences, size_t number)
{
    plim_page *const page = self->page;
    plim_page_gap(page);
    plim_page_say(page, "finding", PLIM_TONE_PLAIN, "{}. {}: {} ({}, {}",
                  PLIM_FACTS(plim_plain("number", number),
                             plim_toned(PLIM_TONE_HEADING, plim_words(finding->finding.id)),
                             plim_words(plim_finding_cause_text(finding)),
                             plim_words(plim_certainty_name(finding->finding.certainty)),
                             plim_words(plim_severity_name(finding->finding.severity))));
    if (finding->bytes > 0) {
        plim_page_more(page, ", {}", PLIM_FACTS(plim_bytes("bytes", finding->bytes)));
    }
    say_steps(self, finding);
    plim_page_more(page, ")", NULL);
    for (size_t i = 0; i < finding->evidence_count; i++) {
        plim_page_note(page, "evidence", PLIM_TONE_PLAIN, "{}",
                       PLIM_FACTS(plim_words(sentences[i])))
            ->lead = "-";
    }
    if (finding->root.frame != PLIM_NONE) {
        plim_page_note(
            page, "root", PLIM_TONE_PLAIN, "Requested by {}.",
            PLIM_FACTS(plim_toned(PLIM_TONE_USER, plim_diagnose_frame(self, finding->root.frame))));
    }
    say_members(self, finding);
}

void plim_diagnose_findings(const plim_diagnose_part *self)
{
    const char *const *sentences = self->sentences;
    if (!self->view->all) {
        say_some(self);
        return;
    }
    if (self->device->finding_count > 0) {
        plim_page_heading(self->page, "All findings", NULL);
    }
    for (size_t i = 0; i < self->device->finding_count; i++) {
        say_in_full(self, &self->device->findings[i], sentences, i + 1);
        sentences += self->device->findings[i].evidence_count;
    }
}
