/*
 * recorded_rule.h - how the allocator of a recording cut blocks, by the settings in force then.
 */
#ifndef PLIMSOLL_INSPECT_RECORDED_RULE_H
#define PLIMSOLL_INSPECT_RECORDED_RULE_H

#include "settings/rounding.h"

#include "plimsoll/settings.h"
#include "plimsoll/timeline.h"

typedef struct plim_recorded_rule {
    plim_settings settings;
    plim_rounding rounding; /* of these */
    bool is_other_allocator;
} plim_recorded_rule;

plim_recorded_rule plim_recorded_rule_of(const plim_history *history);

/* The rule as a timeline takes it, which points to `recorded`. */
plim_block_rule plim_recorded_block_rule(const plim_recorded_rule *recorded);

#endif
