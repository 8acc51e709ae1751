/*
 * failure.c - judging and wording a failed request. See failure.h.
 */
#include "report/model/failure.h"

plim_failure plim_failure_of(const plim_failed_request *request)
{
    plim_failure failure = { .request = *request, .judgement = plim_judge(request) };
    (void)plim_judgement_why(request, &failure.judgement, failure.why, sizeof failure.why);
    return failure;
}
