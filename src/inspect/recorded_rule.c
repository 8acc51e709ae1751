/*
 * recorded_rule.c - settings of a history, read for what they say of blocks.
 */
#include "inspect/recorded_rule.h"

#include "history/setting_words.h"
#include "settings/recorded.h"

plim_recorded_rule plim_recorded_rule_of(const plim_history *history)
{
    plim_recorded_settings recorded = { .conf = "" };
    plim_setting_words_each(history, plim_recorded_setting_add, &recorded);
    plim_recorded_rule rule = { .settings = plim_recorded_settings_in_force(&recorded) };
    rule.rounding = plim_rounding_of(&rule.settings);
    rule.is_other_allocator = plim_recorded_settings_name_other(&recorded) ||
                              rule.settings.backend != PLIM_BACKEND_NATIVE;
    return rule;
}

static uint64_t round_with(const void *rounding, uint64_t requested_bytes)
{
    return plim_round(rounding, requested_bytes);
}

plim_block_rule plim_recorded_block_rule(const plim_recorded_rule *recorded)
{
    return (plim_block_rule){ .round = recorded->rounding.has_divisions ? round_with : NULL,
                              .ctx = &recorded->rounding,
                              .max_split_bytes = recorded->settings.max_split_bytes,
                              .is_other = recorded->is_other_allocator };
}
