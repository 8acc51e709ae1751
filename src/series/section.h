/*
 * section.h - lines that say of what the lines below them are, which are indented further.
 *
 *   GPU 00000000:01:00.0                      whose the figures are
 *       FB Memory Usage                       what they are of
 *           Used          : 5000 MiB          FB Memory Usage Used [gpu 00000000:01:00.0]
 */
#ifndef PLIMSOLL_SERIES_SECTION_H
#define PLIMSOLL_SERIES_SECTION_H

#include "series/words.h"

#define PLIM_SERIES_SECTIONS_MAX      4u
#define PLIM_SERIES_SECTION_BYTES_MAX 48u

typedef struct plim_series_section {
    uint32_t indent;
    uint32_t length;
    uint32_t word_length; /* of an owner: "GPU", … */
    uint32_t number_at;   /* … and where its number stands; 0: what the figures are of */
    uint32_t says;        /* of the latter: PLIM_WORD_ bits */
    char text[PLIM_SERIES_SECTION_BYTES_MAX];
} plim_series_section;

/* Those that are open, the outermost first. */
typedef struct plim_series_sections {
    plim_series_section items[PLIM_SERIES_SECTIONS_MAX];
    uint32_t count;
} plim_series_sections;

/** Take note of a line: it may open a section, or end some. */
void plim_series_sections_look(plim_series_sections *sections, const char *line, size_t length);

/** The innermost one of an owner, or of words; else NULL. */
const plim_series_section *plim_series_sections_find(const plim_series_sections *sections,
                                                     bool is_owner);

/** A number for what is open, 0 where nothing is: lines of two sections are not alike. */
uint32_t plim_series_sections_id(const plim_series_sections *sections);

#endif
