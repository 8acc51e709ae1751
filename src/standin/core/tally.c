/*
 * tally.c - see tally.h.
 */
#include "standin/core/tally.h"

#include "base/map.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct tallied {
    char *name;
    uint64_t count;
} tallied;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static plim_map indices; /* by key */
static PLIM_VEC(tallied) entries;

static void add(uint64_t key, const char *name, uint64_t count)
{
    if (indices.mem == NULL) {
        plim_map_init(&indices, &plim_mem_heap);
    }
    const tallied made = { .name = strdup(name), .count = count };
    if (made.name == NULL || !PLIM_VEC_PUSH(&plim_mem_heap, &entries, made)) {
        free(made.name);
        return;
    }
    if (!plim_map_put(&indices, key, entries.count - 1)) {
        entries.count--;
        free(made.name);
    }
}

void plim_standin_tally(const void *key, const char *name, uint64_t count)
{
    const uint64_t number = (uint64_t)(uintptr_t)key;
    (void)pthread_mutex_lock(&lock);
    const uint64_t index = indices.mem != NULL ? plim_map_get(&indices, number) : PLIM_MAP_ABSENT;
    if (index != PLIM_MAP_ABSENT) {
        entries.items[index].count += count;
    } else {
        add(number, name, count);
    }
    (void)pthread_mutex_unlock(&lock);
}

bool plim_standin_tally_at(size_t index, const char **ret_name, uint64_t *ret_count)
{
    (void)pthread_mutex_lock(&lock);
    const bool is_there = index < entries.count;
    if (is_there) {
        *ret_name = entries.items[index].name;
        *ret_count = entries.items[index].count;
    }
    (void)pthread_mutex_unlock(&lock);
    return is_there;
}

/* In a forked child: what was launched so far was its parent's. */
static void forget(void)
{
    (void)pthread_mutex_init(&lock, NULL);
    for (size_t i = 0; i < entries.count; i++) {
        entries.items[i].count = 0;
    }
}

__attribute__((constructor)) static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, forget); /* fails only without memory */
}
