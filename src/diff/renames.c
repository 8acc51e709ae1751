/*
 * renames.c - which function is which under another name.
 */
#include "diff/renames.h"

bool plim_diff_renames_init(plim_diff_renames *renames, size_t functions, const plim_mem *mem)
{
    *renames = (plim_diff_renames){ .mem = mem, .count = functions };
    if (functions == 0) {
        return true;
    }
    renames->to = plim_mem_alloc(mem, functions, sizeof *renames->to);
    renames->known = plim_mem_alloc_zeroed(mem, functions, sizeof *renames->known);
    if (renames->to == NULL || renames->known == NULL) {
        return false;
    }
    for (size_t i = 0; i < functions; i++) {
        renames->to[i] = (uint32_t)i;
    }
    return true;
}

void plim_diff_renames_deinit(plim_diff_renames *renames)
{
    if (renames->mem == NULL) {
        return;
    }
    plim_mem_free(renames->mem, renames->to, renames->count, sizeof *renames->to);
    plim_mem_free(renames->mem, renames->known, renames->count, sizeof *renames->known);
    *renames = (plim_diff_renames){ 0 };
}
