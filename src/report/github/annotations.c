/*
 * annotations.c - see annotations.h.
 */
#include "report/github/annotations.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

#define DELETE 0x7f

/* Percent signs and line ends are encoded, in properties colons and commas too; other control
 * characters, which a recording may have in its names, are question marks. */
static void add(plim_text *out, const char *data, size_t bytes, bool is_property)
{
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)data[i];
        const bool is_encoded =
            c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','));
        if (is_encoded) {
            plim_text_append_format(out, "%%%02X", (unsigned)c);
        } else {
            plim_text_append_char(out, c < ' ' || c == DELETE ? '?' : (char)c);
        }
    }
}

static void add_words(plim_text *out, const char *words, bool is_property)
{
    add(out, words, strlen(words), is_property);
}

static void add_place(plim_text *out, const plim_history *history, uint32_t index)
{
    if (index == PLIM_NONE) {
        return;
    }
    const plim_frame *const frame = plim_history_frame(history, index);
    size_t bytes = 0;
    const char *const name = plim_history_string(history, frame->filename, &bytes);
    plim_text_append_string(out, "file=");
    add(out, name, bytes, true);
    plim_text_append_format(out, ",line=%" PRIu64 ",", (uint64_t)frame->line);
}

void plim_annotation_add(plim_text *out, const plim_history *history, uint32_t frame,
                         const char *level, const char *title, const char *words)
{
    plim_text_append_format(out, "::%s ", level);
    add_place(out, history, frame);
    plim_text_append_string(out, "title=");
    add_words(out, title, true);
    plim_text_append_string(out, "::");
    add_words(out, words, false);
    plim_text_append_char(out, '\n');
}

static void annotate(plim_text *out, const plim_diagnosed *file,
                     const plim_diagnosis_finding *finding, const char *const *sentences)
{
    static const char *const levels[] = { [PLIM_SEVERITY_NOTE] = "notice",
                                          [PLIM_SEVERITY_WARNING] = "warning",
                                          [PLIM_SEVERITY_FAILURE] = "error" };
    plim_text_append_format(out, "::%s ", levels[finding->finding.severity]);
    add_place(out, file->history, finding->root.frame);
    plim_text_append_string(out, "title=");
    add_words(out, "plimsoll: ", true);
    add_words(out, finding->finding.id, true);
    plim_text_append_string(out, "::");
    add_words(out, plim_finding_cause_text(finding), false);
    add_words(out, " (", false);
    add_words(out, plim_certainty_name(finding->finding.certainty), false);
    add_words(out, ")", false);
    for (size_t i = 0; i < finding->evidence_count; i++) {
        add_words(out, "\n", false);
        add_words(out, sentences[i], false);
    }
    plim_text_append_char(out, '\n');
}

static void annotate_all(plim_text *out, const plim_diagnosed *file)
{
    const char *const *sentences = file->sentences;
    for (size_t d = 0; d < plim_diagnosis_device_count(file->diagnosis); d++) {
        const plim_device_diagnosis *const device = plim_diagnosis_device(file->diagnosis, d);
        for (size_t i = 0; i < device->finding_count; i++) {
            const plim_diagnosis_finding *const finding = &device->findings[i];
            if (finding->decides || finding->finding.severity != PLIM_SEVERITY_NOTE) {
                annotate(out, file, finding, sentences);
            }
            sentences += finding->evidence_count;
        }
    }
}

plim_status plim_diagnose_annotate(plim_diagnosed *file, plim_text *ret_text, plim_error *err)
{
    plim_page page;
    plim_page_init(&page, NULL);
    const bool are_made_here = file->sentences == NULL;
    plim_diagnose_sentences(&page, file);
    plim_status status = plim_page_status(&page, err);
    if (status == PLIM_OK) {
        plim_text_init(ret_text, NULL, PLIM_PAGE_BYTES_MAX);
        annotate_all(ret_text, file);
        status = plim_text_status(ret_text, "writing annotations", err);
        if (status != PLIM_OK) {
            plim_text_deinit(ret_text);
        }
    }
    if (are_made_here) {
        file->sentences = NULL; /* they lie in the page */
    }
    plim_page_deinit(&page);
    return status;
}
