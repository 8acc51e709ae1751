/*
 * advise.c - see advise.h.
 *
 * A message says what its text says. A rehearsal also knows the program: the allocator's settings,
 * the techniques that the agent saw, whether anything is trained, what the whole would need.
 */
#include "rehearse/advise.h"

#include "advice/advice.h"
#include "base/error.h"
#include "base/numbers.h"
#include "rehearse/rehearsal.h"

#include "plimsoll/settings.h"

#include <string.h>

/* Techniques by the names that the agent gives them. */
static const struct {
    const char *name;
    plim_in_force what;
} techniques[] = {
    { "autocast", PLIM_IN_FORCE_MIXED_PRECISION },
    { "gradient checkpointing", PLIM_IN_FORCE_CHECKPOINTING },
    { "8-bit optimizer", PLIM_IN_FORCE_8BIT_OPTIMIZER },
    { "LoRA", PLIM_IN_FORCE_LORA },
    { "activation offloading", PLIM_IN_FORCE_OFFLOAD },
    { "sharding", PLIM_IN_FORCE_SHARDED },
    { "flash attention", PLIM_IN_FORCE_FLASH_ATTENTION },
    { "expandable segments", PLIM_IN_FORCE_EXPANDABLE_SEGMENTS },
};

static uint32_t in_force_by_settings(const char *text)
{
    plim_settings settings = plim_settings_default();
    const plim_settings plain = settings;
    uint32_t bits = 0;
    if (text[0] == '\0' || plim_settings_parse(text, &settings, NULL) != PLIM_OK) {
        return 0;
    }
    if (settings.expandable_segments) {
        bits |= PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_EXPANDABLE_SEGMENTS);
    }
    if (settings.max_split_bytes != plain.max_split_bytes) {
        bits |= PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_MAX_SPLIT_SIZE);
    }
    if (settings.garbage_collection_threshold > 0) {
        bits |= PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_GC_THRESHOLD);
    }
    if (settings.backend != plain.backend) {
        bits |= PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_CUDA_MALLOC_ASYNC);
    }
    return bits;
}

/* True if every parameter has 16 bits: there is no float32 to compute with. */
static bool is_half(const plim_rehearsed_fact *fact)
{
    return strcmp(fact->kind, "decides") == 0 && strcmp(fact->name, "dtype") == 0 &&
           strstr(fact->value, "float16") != NULL && strstr(fact->value, "float32") == NULL;
}

static uint32_t in_force_by_facts(const plim_rehearsed_process *process)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < process->fact_count; i++) {
        const plim_rehearsed_fact *fact = &process->facts[i];
        bits |= is_half(fact) ? PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_MIXED_PRECISION) : 0;
        for (size_t j = 0; j < sizeof(techniques) / sizeof(techniques[0]); j++) {
            if (strcmp(fact->kind, "technique") == 0 &&
                strcmp(fact->name, techniques[j].name) == 0) {
                bits |= PLIM_IN_FORCE_BIT(techniques[j].what);
            }
        }
    }
    return bits;
}

/* By the second run; of a program that it did not see whole, only what it has. */
static void add_need(const plim_rehearsed_need *need, plim_failed_request *request)
{
    if (need == NULL || need->why_unknown != NULL || need->why_at_least != NULL) {
        return;
    }
    request->in_force |= need->has_backward ? 0 : PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_NO_BACKWARD);
    request->in_force |= need->has_optimizer ? 0 : PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_NO_OPTIMIZER);
    request->need_bytes = need->peak.allocated_bytes;
    const uint64_t *const bytes = need->category_bytes;
    if (need->has_categories) {
        request->need_kept_bytes =
            plim_plus(plim_plus(bytes[PLIM_CATEGORY_PARAMETERS], bytes[PLIM_CATEGORY_GRADIENTS]),
                      bytes[PLIM_CATEGORY_OPTIMIZER_STATE]);
    }
}

plim_status plim_rehearsal_advise(plim_rehearsed *rehearsed, plim_error *err)
{
    if (rehearsed->message == NULL || !rehearsed->ran_out) {
        return PLIM_OK;
    }
    plim_arena *arena = &rehearsed->rehearsal->arena;
    plim_oom_message *message = plim_arena_alloc(arena, sizeof(*message));
    if (message == NULL) {
        return plim_fail_memory(err, "choosing advice");
    }
    *message = *rehearsed->message;
    for (size_t i = 0; i < rehearsed->outcome->process_count; i++) {
        const plim_rehearsed_process *process = &rehearsed->outcome->processes[i];
        message->request.in_force |=
            in_force_by_settings(process->settings) | in_force_by_facts(process);
    }
    add_need(rehearsed->need, &message->request);
    PLIM_TRY(plim_advise(&message->request, &message->judgement, arena, &message->advice,
                         &message->advice_count, err));
    rehearsed->message = message;
    return PLIM_OK;
}
