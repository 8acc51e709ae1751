/*
 * explain_words.h - verdicts, frameworks, devices and trends, as a page calls them.
 */
#ifndef PLIMSOLL_REPORT_EXPLAIN_WORDS_H
#define PLIMSOLL_REPORT_EXPLAIN_WORDS_H

#include "base/size.h"

#include "plimsoll/explain.h"

#include <stdbool.h>
#include <stddef.h>

/* A short text by value, for use in a call. */
typedef struct plim_explain_phrase {
    char text[160];
} plim_explain_phrase;

/** "PyTorch" for "pytorch"; what it does not know, it gives back. */
const char *plim_explain_framework(const char *framework);

/** "GPU 0"; "the device" where the text does not name it; "device 3" where it is no GPU. */
plim_short_text plim_explain_device(const plim_oom_message *message);

/** The answer in one line: "Out of memory: GPU 0 is fragmented". */
plim_explain_phrase plim_explain_headline(const plim_oom_message *message);

/** The verdict's word, for lists: "other process". */
plim_short_text plim_explain_verdict(plim_verdict verdict);

/** What a class of trend means: "grows for ever". */
const char *plim_explain_trend_words(plim_trend_class kind);

/** What a figure is called: "cached, not in use". */
const char *plim_explain_figure(plim_figure_id id);

/** What a step of a series is called: "step", or "point" where nothing counts them. */
const char *plim_explain_step(const plim_series *series);

/** A step without decimals that say nothing, "3,400" or "12.5". */
plim_short_text plim_explain_number(double number);

/** Bytes from a double: "12.4 MiB", "-1.50 GiB". */
plim_short_text plim_explain_bytes(double bytes);

/** The same of a series, which may be in per cent of a capacity that is not known: "12.4%". */
plim_short_text plim_explain_amount(const plim_series *series, double amount);

#endif
