/*
 * diagnose_parts.c - what parts of the page share. See diagnose_parts.h.
 */
#include "report/model/diagnose_parts.h"

#include "report/model/frame_text.h"

plim_fact plim_diagnose_frame(const plim_diagnose_part *self, uint32_t frame)
{
    return plim_frame_words(self->page, "", self->history, frame, self->view->full_paths);
}

size_t plim_diagnose_rows(const plim_diagnose_part *self, size_t count)
{
    const size_t most = self->view->top > 0 ? self->view->top : PLIM_DIAGNOSE_TOP;
    return count < most ? count : most;
}
