/*
 * diagnose_verdict.c - the verdict on a device in one sentence, as sure as its confidence, and the
 * evidence for it. Of a healthy one the sentence has the figures that it rests on.
 */
#include "report/model/diagnose_parts.h"

#include "base/numbers.h"

#include "report/model/inspect_parts.h"

#define SMALL_GROWTH_BYTES ((double)(1 << 20)) /* a step: it takes long to matter */
#define GIB_BYTES          ((double)(1 << 30))
#define ALWAYS             1.05 /* steps: it grows in each */

/* By certainty, with a hole for the device. */
static const char *const headlines[PLIM_VERDICT_COUNT][3] = {
    [PLIM_VERDICT_UNKNOWN] = { "It is not known what is wrong with {}",
                               "It is not known what is wrong with {}",
                               "It is not known what is wrong with {}" },
    [PLIM_VERDICT_EXHAUSTED] = { "{} may be exhausted", "{} is probably exhausted",
                                 "{} is exhausted" },
    [PLIM_VERDICT_FRAGMENTED] = { "{} may be fragmented", "{} is probably fragmented",
                                  "{} is fragmented" },
    [PLIM_VERDICT_OTHER_PROCESS] = { "Other processes may hold {}",
                                     "Other processes probably hold {}",
                                     "Other processes hold {}" },
    [PLIM_VERDICT_CAPPED] = { "A limit, not {} itself, may bound its memory",
                              "A limit, not {} itself, probably bounds its memory",
                              "A limit, not {} itself, bounds its memory" },
    [PLIM_VERDICT_OVERSIZED] = { "One request may exceed {}", "One request probably exceeds {}",
                                 "One request exceeds {}" },
    [PLIM_VERDICT_HOST] = { "{}: host memory may be what runs out",
                            "{}: host memory is probably what runs out",
                            "{}: host memory is what runs out" },
    [PLIM_VERDICT_NOT_OOM] = { "{} may not have run out of memory",
                               "{} has probably not run out of memory",
                               "{} has not run out of memory" },
    [PLIM_VERDICT_LEAK] = { "Memory may leak on {}", "Memory probably leaks on {}",
                            "Memory leaks on {}" },
    [PLIM_VERDICT_SPIKE] = { "A short burst may set the peak of {}",
                             "A short burst probably sets the peak of {}",
                             "A short burst sets the peak of {}" },
    [PLIM_VERDICT_FIRST_STEP_GROWTH] = { "The first steps may be what fills {}",
                                         "The first steps are probably what fills {}",
                                         "The first steps are what fills {}" },
    [PLIM_VERDICT_HEALTHY] = { "Nothing wrong is recorded of {}, but little is known of it",
                               "Nothing seems wrong with the memory of {}",
                               "Nothing is wrong with the memory of {}" },
};

static const plim_diagnosis_finding *deciding(const plim_device_diagnosis *device)
{
    return device->finding_count > 0 && device->findings[0].decides ? &device->findings[0] : NULL;
}

static plim_tone tone_of(const plim_device_diagnosis *device, const plim_diagnosis_finding *decides)
{
    if (device->verdict == PLIM_VERDICT_HEALTHY) {
        return PLIM_TONE_IN_USE;
    }
    return decides != NULL && decides->finding.severity == PLIM_SEVERITY_NOTE ? PLIM_TONE_HEADING
                                                                              : PLIM_TONE_BAD;
}

/* The figures of a healthy device, or of one of which only the end is known. */
static void say_figures(const plim_diagnose_part *self)
{
    plim_page *const page = self->page;
    const plim_device_inspection *const facts = self->device->facts;
    if (!self->device->has_events) {
        plim_page_more(page, ": at the end {} of {} reserved are allocated.",
                       PLIM_FACTS(plim_bytes("end_allocated_bytes", facts->end.allocated_bytes),
                                  plim_bytes("end_reserved_bytes", facts->end.reserved_bytes)));
        return;
    }
    plim_page_more(page, ": the peak is {} requested",
                   PLIM_FACTS(plim_bytes("peak_requested_bytes", facts->peak.requested_bytes)));
    if (facts->peak.reserved_bytes > 0 || facts->peak.allocated_bytes == 0) {
        plim_page_more(page, " and {} reserved",
                       PLIM_FACTS(plim_bytes("peak_reserved_bytes", facts->peak.reserved_bytes)));
    }
    if (self->device->capacity_bytes > 0) {
        plim_page_more(page, " of {}",
                       PLIM_FACTS(plim_bytes("capacity_bytes", self->device->capacity_bytes)));
    }
    if (facts->oom_count > 0) {
        plim_page_more(page, "; {} failed",
                       PLIM_FACTS(plim_count_of("ooms", facts->oom_count, "request")));
    } else {
        plim_page_more(page, ", no request failed", NULL);
    }
    if (self->device->step_count > 1) {
        plim_page_more(page, ", and no leak was found over {}",
                       PLIM_FACTS(plim_count_of("steps", self->device->step_count, "step")));
    }
    plim_page_more(page, ".", NULL);
}

static void say_growth(const plim_diagnose_part *self, const plim_diagnosis_finding *finding)
{
    plim_page *const page = self->page;
    const double growth = finding->growth_bytes_per_step;
    if (!(growth >= 1)) {
        return;
    }
    plim_page_note(page, "growth", PLIM_TONE_PLAIN, "It grows by {} a step",
                   PLIM_FACTS(plim_toned(PLIM_TONE_HEADING,
                                         plim_bytes("growth_bytes_per_step", plim_whole(growth)))));
    if (finding->period_steps > ALWAYS) {
        plim_page_more(page, " on average, {} at once in {} steps",
                       PLIM_FACTS(plim_bytes("growth_bytes_per_period",
                                             plim_whole(growth * finding->period_steps)),
                                  plim_number("period_steps", finding->period_steps)));
    }
    const bool has_failed = self->device->facts->oom_count > 0; /* that is the fact */
    if (finding->has_full_step && !has_failed) {
        plim_page_more(page, "; GPU memory is full near step {}",
                       PLIM_FACTS(plim_count("full_at_step", plim_whole(finding->full_at_step))));
    } else if (growth < SMALL_GROWTH_BYTES && !has_failed) {
        plim_page_more(page, "; at that rate 1 GiB takes {} steps",
                       PLIM_FACTS(plim_count("steps_to_gib", plim_whole(GIB_BYTES / growth))));
    }
    plim_page_more(page, ".", NULL);
}

static void say_places(const plim_diagnose_part *self, const plim_diagnosis_finding *finding)
{
    static const char *const kept[] = { "It is possibly kept by {}.", "It is probably kept by {}.",
                                        "It is kept by {}." };
    if (finding->root.frame != PLIM_NONE) {
        plim_page_note(
            self->page, "root", PLIM_TONE_PLAIN, "Requested by {}.",
            PLIM_FACTS(plim_toned(PLIM_TONE_USER, plim_diagnose_frame(self, finding->root.frame))));
    }
    if (finding->holder_count == 0 && /* else the evidence says it */
        finding->keeper.frame != PLIM_NONE && finding->keeper.frame != finding->root.frame) {
        plim_page_note(self->page, "keeper", PLIM_TONE_PLAIN,
                       kept[plim_certainty_of(finding->keeper_confidence, false)],
                       PLIM_FACTS(plim_toned(PLIM_TONE_USER,
                                             plim_diagnose_frame(self, finding->keeper.frame))));
    }
}

void plim_diagnose_verdict(const plim_diagnose_part *self)
{
    const plim_device_diagnosis *const device = self->device;
    const plim_diagnosis_finding *const decides = deciding(device);
    const plim_certainty certainty = plim_certainty_of(device->confidence, false);
    const char *const name = plim_device_name(self->page, device->device);
    plim_page_gap(self->page);
    plim_page_say(self->page, "verdict", tone_of(device, decides),
                  headlines[device->verdict][certainty], PLIM_FACTS(plim_words(name)));
    if (decides == NULL) {
        if (device->verdict == PLIM_VERDICT_HEALTHY) {
            say_figures(self);
        } else {
            plim_page_more(self->page, ".", NULL);
        }
        return;
    }
    plim_page_more(self->page, certainty == PLIM_CERTAINTY_POSSIBLE ? ": perhaps {}." : ": {}.",
                   PLIM_FACTS(plim_words(plim_finding_cause_text(decides))));
    if (device->facts->oom_count > 0) {
        plim_page_more(self->page, " {} failed.",
                       PLIM_FACTS(plim_count_of("ooms", device->facts->oom_count, "request")));
    }
    for (size_t i = 0; i < decides->evidence_count && i < PLIM_DIAGNOSE_LINES_SHOWN; i++) {
        plim_page_note(self->page, "evidence", PLIM_TONE_PLAIN, "{}",
                       PLIM_FACTS(plim_words(self->sentences[i])))
            ->lead = "-";
    }
    say_growth(self, decides);
    say_places(self, decides);
}
