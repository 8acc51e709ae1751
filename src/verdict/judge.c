/*
 * judge.c - the order of tests that leads from figures to a verdict.
 */
#include "verdict/judge.h"

plim_judgement plim_judge(const plim_oom_case *oom)
{
    (void)oom;
    return (plim_judgement){ .verdict = PLIM_VERDICT_UNKNOWN };
}
