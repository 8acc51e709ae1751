/*
 * conf.c - see conf.h.
 */
#include "replay/conf.h"

bool plim_conf_equal(const plim_conf *a, const plim_conf *b)
{
    return a->policy == b->policy;
}
