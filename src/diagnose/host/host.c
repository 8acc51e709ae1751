/*
 * host.c - pinned host memory, and file cache in the memory of a device.
 */
#include "diagnose/case/case.h"

#include "base/error.h"
#include "base/numbers.h"
#include "base/units.h"

/* Pinned memory cannot be paged out: so much of one process, times the ranks of a machine, is a
 * good part of what it has. Loaders that pin batches keep some hundred MiB. */
#define LARGE_BYTES (4 * GIB)
/* Requests are rounded up to powers of two, by up to half of the block; a quarter is the mean. */
#define ROUNDED_SHARE     0.25
#define ROUNDED_BYTES_MIN (256 * MIB)
/* Memory that no process of a text's list holds, above what a driver and contexts take. */
#define UNOWNED_SHARE     0.20
#define UNOWNED_BYTES_MIN (4 * GIB)

static bool grows(const plim_case *one)
{
    for (size_t i = 0; i < one->findings.count; i++) {
        if (one->findings.items[i].kind == PLIM_VERDICT_LEAK) {
            return true;
        }
    }
    return false;
}

static bool say_pinned(plim_case *one, plim_diagnosis_finding *finding, uint64_t reserved_bytes,
                       uint64_t rounded_bytes)
{
    const plim_moment *const peak = &one->facts->peak;
    plim_evidence_line line = {
        .id = "pinned",
        .text = "{} of the machine's memory are pinned, {} of them in use at the peak",
        .figures = { plim_say_bytes("pinned_bytes", reserved_bytes),
                     plim_say_bytes("requested_bytes", peak->requested_bytes) },
        .figure_count = 2,
    };
    if (!plim_case_say(one, finding, &line)) {
        return false;
    }
    if (rounded_bytes >= ROUNDED_BYTES_MIN) {
        line = (plim_evidence_line){ .id = "rounded",
                                     .text = "{} of that is rounding: pinned requests are rounded "
                                             "up to powers of two",
                                     .figures = { plim_say_bytes("rounded_bytes", rounded_bytes) },
                                     .figure_count = 1 };
        return plim_case_say(one, finding, &line);
    }
    return true;
}

/* The row of pinned host memory: where it is large, grows, or is mostly rounding. */
static bool find_pinned(plim_case *one)
{
    const plim_moment *const peak = &one->facts->peak;
    const uint64_t held = plim_max(peak->reserved_bytes, one->facts->end.reserved_bytes);
    const uint64_t pinned = plim_max(held, peak->allocated_bytes);
    const uint64_t rounded = plim_minus(peak->allocated_bytes, peak->requested_bytes);
    const bool is_rounded = rounded >= ROUNDED_BYTES_MIN &&
                            (double)rounded >= ROUNDED_SHARE * (double)peak->allocated_bytes;
    const bool is_growing = grows(one);
    if (pinned < LARGE_BYTES && !is_rounded && !is_growing) {
        return true;
    }
    plim_diagnosis_finding *const finding =
        plim_case_add(one, PLIM_VERDICT_HOST, PLIM_CAUSE_PINNED_HOST);
    if (finding == NULL) {
        return false;
    }
    finding->finding.severity = is_growing ? PLIM_SEVERITY_WARNING : PLIM_SEVERITY_NOTE;
    finding->finding.certainty = PLIM_CERTAINTY_CERTAIN;
    finding->confidence = 1;
    finding->bytes = pinned;
    if (peak->group_count > 0) {
        finding->root = plim_case_place(one, peak->groups[0].stack);
    }
    return say_pinned(one, finding, pinned, rounded);
}

/*
 * A text that lists processes, and a device on which much is held that none of them holds. Where
 * GPU and CPU share memory (GB200, GB10) the kernel's file cache counts as used.
 */
static bool find_file_cache(plim_case *one, const plim_judgement *text)
{
    const plim_finding *const figures = &text->finding;
    const uint64_t others =
        plim_finding_figure(figures, plim_figure_name(PLIM_FIGURE_OTHER_PROCESSES));
    const uint64_t total = plim_finding_figure(figures, plim_figure_name(PLIM_FIGURE_TOTAL));
    const int32_t device = figures->subject.device;
    if ((device != PLIM_DEVICE_UNKNOWN && device != one->device->device) ||
        others == PLIM_BYTES_UNKNOWN || total == PLIM_BYTES_UNKNOWN ||
        text->elsewhere_bytes == PLIM_BYTES_UNKNOWN) {
        return true;
    }
    const uint64_t unowned = plim_minus(text->elsewhere_bytes, others);
    if (unowned < UNOWNED_BYTES_MIN || (double)unowned < UNOWNED_SHARE * (double)total) {
        return true;
    }
    plim_diagnosis_finding *const finding =
        plim_case_add(one, PLIM_VERDICT_OTHER_PROCESS, PLIM_CAUSE_FILE_CACHE);
    if (finding == NULL) {
        return false;
    }
    finding->finding.severity = PLIM_SEVERITY_NOTE;
    finding->finding.certainty = PLIM_CERTAINTY_POSSIBLE;
    finding->confidence = 0.4;
    finding->bytes = unowned;
    const plim_evidence_line line = {
        .id = "unowned",
        .text = "{} of the device's {} are used by no process that the error text lists: on "
                "machines whose GPU and CPU share memory that may be the kernel's file cache",
        .figures = { plim_say_bytes("unowned_bytes", unowned),
                     plim_say_bytes("total_bytes", total) },
        .figure_count = 2,
    };
    return plim_case_say(one, finding, &line);
}

plim_status plim_find_host(plim_case *one, plim_error *err)
{
    bool said = true;
    if (one->device->device == PLIM_HOST_DEVICE) {
        said = find_pinned(one);
    } else if (one->options->judgement_count > 0) {
        said = find_file_cache(one, &one->options->judgements[0]);
    }
    return said ? PLIM_OK : plim_fail_memory(err, "writing down host memory");
}
