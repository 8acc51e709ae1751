/*
 * context.c - see context.h.
 */
#include "standin/library/context.h"

#include "base/memory.h"
#include "standin/work/work.h"

plim_standin_context *plim_standin_context_create(int execution_failed)
{
    plim_standin_context *context = plim_mem_alloc_zeroed(&plim_mem_heap, 1, sizeof(*context));
    if (context != NULL) {
        context->execution_failed = execution_failed;
    }
    return context;
}

void plim_standin_context_destroy(plim_standin_context *context)
{
    plim_mem_free(&plim_mem_heap, context, 1, sizeof(*context));
}

int plim_standin_context_launch(const plim_standin_context *context)
{
    if (context == NULL) {
        return PLIM_STANDIN_NOT_INITIALIZED;
    }
    return plim_standin_submit_kernel(context->stream) == 0 ? 0 : context->execution_failed;
}
