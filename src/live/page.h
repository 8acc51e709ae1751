/*
 * page.h - the bytes of a live page, as docs/formats/live-page.md lays them out.
 */
#ifndef PLIMSOLL_LIVE_PAGE_H
#define PLIMSOLL_LIVE_PAGE_H

#include "plimsoll/live.h"

#define PLIM_LIVE_PAGE_BYTES  4096u
#define PLIM_LIVE_REQUEST_AT  16
#define PLIM_LIVE_SEQUENCE_AT 32

typedef enum plim_live_fit {
    PLIM_LIVE_WHOLE,
    PLIM_LIVE_TORN, /* an update was under way */
    PLIM_LIVE_WRONG,
} plim_live_fit;

/*
 * page     PLIM_LIVE_PAGE_BYTES of them
 * returns  WHOLE: *ret is set, but for its path; WRONG: err says why
 */
plim_live_fit plim_live_page_read(const unsigned char *page, plim_live_page *ret, plim_error *err);
/* Its sequence; odd: an update is under way. */
uint64_t plim_live_page_sequence(const unsigned char *page);

#endif
