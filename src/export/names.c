/*
 * names.c - names of frames, of any bytes, made fit for a line of text; and of devices.
 */
#include "export/names.h"

#include "base/utf8.h"
#include "inspect/frame_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES_MAX ((size_t)1 << 30)

plim_export_device_text plim_export_device_name(int32_t device)
{
    plim_export_device_text name;
    if (device == PLIM_HOST_DEVICE) {
        (void)snprintf(name.text, sizeof name.text, "pinned host memory");
    } else {
        (void)snprintf(name.text, sizeof name.text, "GPU %" PRId32, device);
    }
    return name;
}

/* The C1 controls, and the two characters at which some readers end a line. */
static bool ends_lines(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

void plim_clean_text_add(plim_text *out, const char *data, size_t bytes, char separator)
{
    size_t plain = 0; /* where a run begins that goes as it is */
    for (size_t i = 0; i < bytes;) {
        const plim_utf8 one = plim_utf8_next(data + i, bytes - i);
        const char *instead = NULL;
        if (one.code == PLIM_UTF8_INVALID) {
            instead = PLIM_UTF8_REPLACEMENT;
        } else if (ends_lines(one.code)) {
            instead = " ";
        } else if (one.code == (unsigned char)separator) {
            instead = ":";
        }
        if (instead != NULL) {
            plim_text_append(out, data + plain, i - plain);
            plim_text_append_string(out, instead);
            plain = i + one.bytes;
        }
        i += one.bytes;
    }
    plim_text_append(out, data + plain, bytes - plain);
}

bool plim_frame_has_file(const plim_history *history, const plim_frame *frame)
{
    const char *const file = plim_history_string(history, frame->filename, NULL);
    return file[0] != '\0' && strcmp(file, "??") != 0;
}

void plim_frame_namer_init(plim_frame_namer *namer, const plim_history *history, char separator,
                           const plim_mem *mem)
{
    *namer = (plim_frame_namer){ .history = history, .separator = separator };
    plim_text_init(&namer->scratch, mem, NAME_BYTES_MAX);
}

void plim_frame_namer_deinit(plim_frame_namer *namer)
{
    plim_text_deinit(&namer->scratch);
}

void plim_frame_name_add(plim_frame_namer *namer, plim_text *out, uint32_t frame)
{
    plim_text *const name = &namer->scratch;
    const plim_frame *const row = plim_history_frame(namer->history, frame);
    size_t name_bytes = 0;
    (void)plim_history_string(namer->history, row->name, &name_bytes);
    if (name_bytes == 0 && !plim_frame_has_file(namer->history, row)) {
        plim_text_append_string(out, PLIM_EXPORT_UNNAMED);
        return;
    }
    plim_text_reset(name);
    plim_frame_text_add(name, namer->history, frame, namer->full_paths);
    if (name->status != PLIM_OK) {
        out->status = name->status;
        return;
    }
    plim_clean_text_add(out, plim_text_string(name), name->length, namer->separator);
}
