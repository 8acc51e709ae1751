/*
 * names.h - devices and frames as texts, for formats that know nothing of GPUs, files and lines.
 */
#ifndef PLIMSOLL_EXPORT_NAMES_H
#define PLIMSOLL_EXPORT_NAMES_H

#include "base/text.h"

#include "plimsoll/history.h"

#define PLIM_EXPORT_UNNAMED "[unnamed frame]"

/* "GPU 0", "pinned host memory". */
typedef struct plim_export_device_text {
    char text[24];
} plim_export_device_text;
plim_export_device_text plim_export_device_name(int32_t device);

/* True if a frame's file is known: C++ frames have "??" there, or nothing. */
bool plim_frame_has_file(const plim_history *history, const plim_frame *frame);

/* Adds any bytes as UTF-8 in one line: each control character is a blank, the separator becomes ':'
 * and what is not UTF-8 U+FFFD. */
void plim_clean_text_add(plim_text *out, const char *data, size_t bytes, char separator);

/* The texts of frames, fit to be joined by a separator in a line. */
typedef struct plim_frame_namer {
    const plim_history *history;
    char separator;
    bool full_paths;
    plim_text scratch;
} plim_frame_namer;

void plim_frame_namer_init(plim_frame_namer *namer, const plim_history *history, char separator,
                           const plim_mem *mem);
void plim_frame_namer_deinit(plim_frame_namer *namer);

/*
 * Adds "train.py:42 in forward" (inspect/frame_text.h), cleaned. That there is no memory sticks in
 * `out`.
 */
void plim_frame_name_add(plim_frame_namer *namer, plim_text *out, uint32_t frame);

#endif
