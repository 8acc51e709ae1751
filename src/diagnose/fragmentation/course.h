/*
 * course.h - how reserved memory grew: where it was highest, and which segments were taken though
 * as much lay free.
 */
#ifndef PLIMSOLL_DIAGNOSE_FRAGMENTATION_COURSE_H
#define PLIMSOLL_DIAGNOSE_FRAGMENTATION_COURSE_H

#include "diagnose/case/case.h"

typedef struct plim_reserved_course {
    uint64_t peak_allocated_bytes;
    uint64_t peak_reserved_bytes;
    uint64_t peak_event;   /* the request that made reserved memory highest, or PLIM_NO_EVENT_YET */
    uint32_t peak_stack;   /* of it */
    uint64_t forced_bytes; /* of segments taken though as much was free, after the warm-up */
    uint64_t forced_count; /* such segments */
    uint64_t forced_rounds; /* steps, or parts of the recording, in which that happened */
    uint64_t rounds;        /* there are, the warm-up left out */
    bool rounds_are_steps;
    uint64_t first_forced; /* event */
    uint64_t last_forced;
    uint64_t retries; /* requests for which cached memory was given back */
} plim_reserved_course;

#define PLIM_NO_EVENT_YET UINT64_MAX

/* One walk over the events. */
plim_reserved_course plim_reserved_course_of(const plim_case *one);

#endif
