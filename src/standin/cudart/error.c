/*
 * error.c - the last error, and what a call begins with: a context, and leave to act.
 */
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/cudart/cudart.h"
#include "standin/work/work.h"

int cudaGetLastError(void)
{
    return plim_standin_current_error_take();
}

int cudaPeekAtLastError(void)
{
    return plim_standin_current_error_peek();
}

int plim_standin_require_context(void)
{
    if (plim_standin_footprint_is_orphan()) {
        return plim_standin_current_error_note(CUDA_INITIALIZATION_CODE);
    }
    const bool is_there = plim_standin_footprint_context(plim_standin_current_device());
    return is_there ? CUDA_SUCCESS_CODE : plim_standin_current_error_note(CUDA_OUT_OF_MEMORY_CODE);
}

int plim_standin_require_act(void)
{
    const int error = plim_standin_current_error_note(plim_standin_may_act());
    return error != CUDA_SUCCESS_CODE ? error : plim_standin_require_context();
}

int plim_standin_memory_error(plim_standin_memory_status status)
{
    switch (status) {
    case PLIM_STANDIN_MEMORY_OK:
        return CUDA_SUCCESS_CODE;
    case PLIM_STANDIN_MEMORY_OUT:
        return plim_standin_current_error_note(CUDA_OUT_OF_MEMORY_CODE);
    case PLIM_STANDIN_MEMORY_INVALID:
        break;
    }
    return plim_standin_current_error_note(CUDA_INVALID_VALUE_CODE);
}

int plim_standin_put(void *stream, const plim_standin_work *work)
{
    const int error = plim_standin_require_context();
    return error != CUDA_SUCCESS_CODE
               ? error
               : plim_standin_current_error_note(plim_standin_submit(stream, work));
}
