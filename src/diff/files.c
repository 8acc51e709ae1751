/*
 * files.c - paths sorted from their ends: those with the longest common end are neighbours.
 */
#include "diff/files.h"

#include <stdbool.h>
#include <stdlib.h>

static bool is_separator(char c)
{
    return c == '/' || c == '\\';
}

static char from_end(const plim_diff_file *file, size_t at)
{
    const char c = file->path[file->bytes - 1 - at];
    return c == '\\' ? '/' : c;
}

/* Bytes of the common end, in whole names of folders and the file; 0: the files' names differ. */
static size_t common_end(const plim_diff_file *a, const plim_diff_file *b)
{
    size_t whole = 0;
    size_t i = 0;
    for (; i < a->bytes && i < b->bytes && from_end(a, i) == from_end(b, i); i++) {
        whole = is_separator(from_end(a, i)) ? i : whole;
    }
    const bool ends_a = i == a->bytes || is_separator(from_end(a, i));
    const bool ends_b = i == b->bytes || is_separator(from_end(b, i));
    return ends_a && ends_b ? i : whole;
}

static int compare_from_end(const void *left, const void *right)
{
    const plim_diff_file *const a = left;
    const plim_diff_file *const b = right;
    for (size_t i = 0; i < a->bytes && i < b->bytes; i++) {
        if (from_end(a, i) != from_end(b, i)) {
            return (unsigned char)from_end(a, i) < (unsigned char)from_end(b, i) ? -1 : 1;
        }
    }
    return a->bytes != b->bytes ? a->bytes < b->bytes ? -1 : 1
                                : (a->kind > b->kind) - (a->kind < b->kind);
}

/* The nearest file of the other side above or below, by the longer end; two that are equally near
 * are no answer. Returns `count` for none. */
static size_t nearest(const plim_diff_file *files, size_t count, size_t at)
{
    enum { FAR = 16 }; /* neighbours of its own side to look past */
    size_t below = at;
    size_t above = at;
    for (size_t i = 0; i < FAR && below > 0 && (below == at || files[below].kind == files[at].kind);
         i++) {
        below--;
    }
    for (size_t i = 0;
         i < FAR && above + 1 < count && (above == at || files[above].kind == files[at].kind);
         i++) {
        above++;
    }
    const size_t end_below =
        files[below].kind != files[at].kind ? common_end(&files[at], &files[below]) : 0;
    const size_t end_above =
        files[above].kind != files[at].kind ? common_end(&files[at], &files[above]) : 0;
    if (end_below == end_above) {
        return count;
    }
    return end_below > end_above ? below : above;
}

void plim_diff_pair_files(plim_diff_file *files, size_t count, uint32_t *ret_same)
{
    if (count == 0) {
        return;
    }
    qsort(files, count, sizeof *files, compare_from_end);
    for (size_t i = 0; i < count; i++) {
        const size_t other = files[i].kind != 0 ? nearest(files, count, i) : count;
        if (other < count && nearest(files, count, other) == i) {
            ret_same[files[i].text] = files[other].text;
        }
    }
}
