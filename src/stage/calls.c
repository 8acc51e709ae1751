/*
 * calls.c - which functions were called, how often, and what they are. See stage.h.
 */
#include "base/hash.h"
#include "stage/page.h"

#include <stdio.h>
#include <string.h>

#define SHARED_KEY 0 /* all processes must agree; names come from us, not from files */

/* The call of that name, new if need be; NULL when there is no room. The lock is held. */
static plim_stage_call_count *find(plim_stage_page *page, const char *name)
{
    char cut[PLIM_STAGE_NAME_BYTES];
    (void)snprintf(cut, sizeof(cut), "%s", name);
    uint64_t bucket = plim_hash_bytes(cut, strlen(cut), SHARED_KEY) % PLIM_STAGE_BUCKETS;
    while (page->call_index[bucket] != 0) {
        plim_stage_call_count *call = &page->calls[page->call_index[bucket] - 1];
        if (strcmp(call->name, cut) == 0) {
            return call;
        }
        bucket = (bucket + 1) % PLIM_STAGE_BUCKETS;
    }
    if (page->call_count == PLIM_STAGE_CALLS_MAX) {
        return NULL;
    }
    plim_stage_call_count *call = &page->calls[page->call_count];
    memcpy(call->name, cut, sizeof(cut));
    page->call_count++;
    page->call_index[bucket] = (uint16_t)page->call_count;
    return call;
}

void plim_stage_count_call(plim_stage *stage, const char *name, plim_stage_call kind,
                           const char *note, uint64_t times)
{
    plim_stage_lock(stage);
    plim_stage_call_count *call = find(stage->page, name);
    if (call != NULL) {
        call->kind = kind;
        call->count += times;
        (void)snprintf(call->note, sizeof(call->note), "%s", note);
    }
    plim_stage_unlock(stage);
}

bool plim_stage_call_at(const plim_stage *stage, size_t index, plim_stage_call_count *ret)
{
    plim_stage_lock(stage);
    const bool is_there = index < stage->page->call_count;
    if (is_there) {
        *ret = stage->page->calls[index];
    }
    plim_stage_unlock(stage);
    return is_there;
}
