/*
 * torch_rules.c - the rule about growing blocks. See torch_rules.h.
 */
#include "alloc/torch_rules.h"

plim_free_cursor plim_torch_skip(plim_free_cursor cursor, bool is_expandable)
{
    if (!is_expandable) {
        while (cursor.leaf != NULL && plim_block_is_expandable(plim_free_cursor_block(cursor))) {
            cursor = plim_free_cursor_next(cursor);
        }
        return cursor;
    }
    /* What borders on address space to grow into is used last. */
    while (plim_block_is_expandable(plim_free_cursor_block(cursor))) {
        const plim_free_cursor next = plim_free_cursor_next(cursor);
        if (next.leaf == NULL || plim_torch_grown(plim_free_cursor_block(next)) >=
                                     plim_torch_grown(plim_free_cursor_block(cursor))) {
            break;
        }
        cursor = next;
    }
    return cursor;
}
