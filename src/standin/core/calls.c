/* calls.c - see calls.h. */
#include "standin/core/calls.h"

#include "standin/core/attach.h"
#include "standin/core/kinds.h"
#include "standin/core/libraries.h"
#include "standin/core/stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PAUSE_NS UINT64_C(100000000) /* between two flushes */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t computing_flushed; /* calls that are no longer in the facades' counts */

/* The facades count with one instruction, at any moment. */
static uint64_t read_count(plim_facade_entry *entry)
{
    return __atomic_load_n(&entry->count, __ATOMIC_RELAXED);
}

static uint64_t take_count(plim_facade_entry *entry)
{
    return __atomic_exchange_n(&entry->count, 0, __ATOMIC_RELAXED);
}

static void flush_table(plim_facade_table *table)
{
    const bool computes = plim_standin_vendor_of(table->soname)->computes;
    for (uint32_t i = 0; i < table->entry_count; i++) {
        plim_facade_entry *entry = &table->entries[i];
        if (read_count(entry) == 0) {
            continue;
        }
        const uint64_t times = take_count(entry);
        computing_flushed += computes ? times : 0;
        const plim_standin_kind kind = plim_standin_kind_of(entry->name);
        plim_stage_count_call(plim_standin_stage(), entry->name, kind.kind, kind.note, times);
        if (plim_standin_settings()->prints_calls && plim_standin_is_first_time(entry->name)) {
            (void)fprintf(stderr, "plimsoll: called: %s (%s)\n", entry->name, table->soname);
        }
    }
}

void plim_standin_calls_flush(void)
{
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < plim_standin_table_count(); i++) {
        flush_table(plim_standin_table_at(i));
    }
    (void)pthread_mutex_unlock(&lock);
}

void plim_standin_calls_flush_now_and_then(void)
{
    static atomic_uint_fast64_t next_ns;
    struct timespec now = { 0 };
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    uint_fast64_t due_ns = atomic_load(&next_ns);
    if (now_ns >= due_ns && atomic_compare_exchange_strong(&next_ns, &due_ns, now_ns + PAUSE_NS)) {
        plim_standin_calls_flush();
    }
}

uint64_t plim_standin_calls_computing(void)
{
    (void)pthread_mutex_lock(&lock);
    uint64_t calls = computing_flushed;
    for (size_t i = 0; i < plim_standin_table_count(); i++) {
        plim_facade_table *table = plim_standin_table_at(i);
        if (!plim_standin_vendor_of(table->soname)->computes) {
            continue;
        }
        for (uint32_t k = 0; k < table->entry_count; k++) {
            calls += read_count(&table->entries[k]);
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return calls;
}

void plim_standin_calls_forget(void)
{
    (void)pthread_mutex_init(&lock, NULL);
    for (size_t i = 0; i < plim_standin_table_count(); i++) {
        plim_facade_table *table = plim_standin_table_at(i);
        for (uint32_t k = 0; k < table->entry_count; k++) {
            (void)take_count(&table->entries[k]);
        }
    }
}

static bool was_called(void)
{
    for (size_t i = 0; i < plim_standin_table_count(); i++) {
        plim_facade_table *table = plim_standin_table_at(i);
        for (uint32_t k = 0; k < table->entry_count; k++) {
            if (read_count(&table->entries[k]) > 0) {
                return true;
            }
        }
    }
    return false;
}

/* Processes that only carry the preloaded stand-ins along have called nothing, and have no stage.
 */
__attribute__((destructor)) static void finish(void)
{
    if (getenv(PLIM_STAGE_VARIABLE) != NULL && was_called()) {
        plim_standin_calls_flush();
        plim_stage_leave(plim_standin_stage());
    }
}
