/*
 * frame_text.c - a frame's text as words of a page.
 */
#include "report/model/frame_text.h"

#define WORDS_BYTES_MAX ((size_t)1 << 20)

plim_fact plim_frame_words(plim_page *page, const char *lead, const plim_history *history,
                           uint32_t frame, bool full)
{
    plim_text text;
    plim_text_init(&text, page->arena.mem, WORDS_BYTES_MAX);
    plim_text_append_string(&text, lead);
    plim_frame_text_add(&text, history, frame, full);
    if (text.status == PLIM_OUT_OF_HOST_MEMORY) { /* PLIM_LIMIT: no line is that long */
        page->status = PLIM_OUT_OF_HOST_MEMORY;
    }
    const char *words = plim_page_copy(page, plim_text_string(&text), text.length);
    const plim_fact fact = plim_words_of(words, page->status == PLIM_OK ? text.length : 0);
    plim_text_deinit(&text);
    return fact;
}
