/*
 * heading.h - what a series is called: words of the log, made fit to be printed.
 */
#ifndef PLIMSOLL_SERIES_HEADING_H
#define PLIMSOLL_SERIES_HEADING_H

#include "series/tracks.h"

/** Append words: without quotes, blanks in a row as one, up to PLIM_SERIES_NAME_MAX. */
void plim_series_name_add(plim_series_heading *heading, const char *text, size_t length);

/** Append one of those whose figure it is: " [rank 0" first, then ", gpu 1". */
void plim_series_name_add_who(plim_series_heading *heading, bool is_first, const char *word,
                              size_t word_length, const char *number, size_t number_length);

/** Leave out a verb at the end: "Max memory allocated was". */
void plim_series_name_drop_verbs(plim_series_heading *heading);

/** Make it UTF-8, whatever it was: names are printed and written as JSON. */
void plim_series_name_mend(plim_series_heading *heading);

#endif
