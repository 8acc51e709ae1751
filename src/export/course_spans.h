/*
 * course_spans.h - segments and annotations as spans of a course: for course.c.
 */
#ifndef PLIMSOLL_EXPORT_COURSE_SPANS_H
#define PLIMSOLL_EXPORT_COURSE_SPANS_H

#include "export/course.h"

/* All are false when there is no memory. */

/* Follows an event, if it is that of a segment. Expandable segments are left out: pieces of them
 * are mapped and unmapped across each other, and their sum is the counter of reserved bytes. */
bool plim_course_segment(plim_course *course, uint64_t event);
/* After the last event: segments that are still there, and those that always were. */
bool plim_course_rest_of_segments(plim_course *course);
/* The program's own spans, by name: an end closes what began last under its name. Those without a
 * time are left out, and all of them where events have no times. */
bool plim_course_annotations(plim_course *course);

#endif
