/*
 * user_rules.h - categories of a user's own, from a file of rules; docs/formats/rules.md.
 *
 *   text ──► plim_user_rules_parse() ──► plim_user_rules_bind() to a history ──► _judge()
 */
#ifndef PLIMSOLL_PHASES_USER_RULES_H
#define PLIMSOLL_PHASES_USER_RULES_H

#include "base/vec.h"
#include "plimsoll/phases.h"

#define PLIM_USER_RULES_MAX         64
#define PLIM_USER_RULE_NAME_BYTES   32
#define PLIM_USER_RULE_PATTERN_SIZE 256

/* One line: all of its conditions hold. */
typedef struct plim_user_rule {
    char name[PLIM_USER_RULE_NAME_BYTES];
    char file[PLIM_USER_RULE_PATTERN_SIZE]; /* "" in place of a condition that it does not have */
    char function[PLIM_USER_RULE_PATTERN_SIZE];
    uint64_t bytes_min;
    uint64_t bytes_max;
    uint64_t stream; /* handle */
    bool has_stream;
    bool has_category;
    plim_category category; /* what it is without rules */
} plim_user_rule;

typedef struct plim_user_rules {
    const plim_mem *mem;
    PLIM_VEC(plim_user_rule) list;
    uint64_t *of_stack; /* bit i: the frames of rule i are in it; NULL until bound */
    size_t stack_count;
} plim_user_rules;

/* Errors: PLIM_OUT_OF_HOST_MEMORY; PLIM_INVALID_ARGUMENT, its offset is the line from 1. Rules are
 * empty then. */
plim_status plim_user_rules_parse(const char *text, size_t bytes, const plim_mem *mem,
                                  plim_user_rules *ret_rules, plim_error *err);
/* Zeroed ones are allowed. */
void plim_user_rules_deinit(plim_user_rules *rules);

/* Looks at all stacks of a history: linear in rules and in frames. False: no memory. */
bool plim_user_rules_bind(plim_user_rules *rules, const plim_history *history);

/* The first rule that an allocation meets, or list.count. `category` is its own without rules. */
size_t plim_user_rules_judge(const plim_user_rules *rules, uint32_t stack, uint64_t stream,
                             uint64_t bytes, plim_category category);

#endif
