/*
 * context.c - see context.h.
 */
#include "standin/library/context.h"

#include "base/memory.h"
#include "standin/work/work.h"

int plim_standin_context_create(bool has_room, int no_memory, int execution_failed,
                                plim_standin_context **ret_context)
{
    plim_standin_context *made =
        has_room ? plim_mem_alloc_zeroed(&plim_mem_heap, 1, sizeof(*made)) : NULL;
    if (made == NULL) {
        return no_memory;
    }
    made->execution_failed = execution_failed;
    *ret_context = made;
    return 0;
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
