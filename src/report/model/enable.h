/*
 * enable.h - which environment is armed, by which file, and what was written or removed.
 */
#ifndef PLIMSOLL_REPORT_MODEL_ENABLE_H
#define PLIMSOLL_REPORT_MODEL_ENABLE_H

#include "report/model/page.h"

#include "plimsoll/enable.h"

void plim_enable_page(plim_page *page, plim_enable_action action, const plim_enabled *enabled);

#endif
