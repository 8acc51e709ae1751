/*
 * kinds.c - see kinds.h.
 */
#include "standin/core/kinds.h"

#include "base/assert.h"
#include "standin/core/attach.h"
#include "standin/core/calls.h"
#include "standin/core/stage.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#define SAID_MAX 1024

/* The bounds of section plim_kinds; the linker makes names like these for every section. */
extern const plim_standin_kind __start_plim_kinds[] __attribute__((visibility("hidden")));
extern const plim_standin_kind __stop_plim_kinds[] __attribute__((visibility("hidden")));

static const plim_standin_kind *sorted[PLIM_STANDIN_KINDS_MAX];
static size_t sorted_count;
static once_flag is_sorted = ONCE_FLAG_INIT;

static int compare(const void *a, const void *b)
{
    const plim_standin_kind *const *left = a;
    const plim_standin_kind *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

static void sort(void)
{
    sorted_count = (size_t)(__stop_plim_kinds - __start_plim_kinds);
    PLIM_ASSERT(sorted_count <= PLIM_STANDIN_KINDS_MAX);
    for (size_t i = 0; i < sorted_count; i++) {
        sorted[i] = &__start_plim_kinds[i];
    }
    qsort(sorted, sorted_count, sizeof(sorted[0]), compare);
}

plim_standin_kind plim_standin_kind_of(const char *name)
{
    call_once(&is_sorted, sort);
    const plim_standin_kind wanted = { .name = name, .note = "", .kind = PLIM_STAGE_ANSWERED };
    const plim_standin_kind *const key = &wanted;
    const plim_standin_kind *const *found =
        bsearch(&key, sorted, sorted_count, sizeof(sorted[0]), compare);
    if (found != NULL) {
        return **found;
    }
    if (plim_standin_find(name) != NULL) {
        return wanted;
    }
    return (plim_standin_kind){ .name = name, .note = "", .kind = PLIM_STAGE_UNKNOWN };
}

bool plim_standin_is_first_time(const void *thing)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const void *said[SAID_MAX];
    static size_t said_count;

    (void)pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < said_count && said[i] != thing) {
        i++;
    }
    const bool is_first = i == said_count && said_count < SAID_MAX;
    if (is_first) {
        said[said_count] = thing;
        said_count++;
    }
    (void)pthread_mutex_unlock(&lock);
    return is_first;
}

long plim_standin_refuse(const plim_standin_kind *kind, long status)
{
    if (plim_standin_is_first_time(kind)) {
        (void)fprintf(stderr,
                      "plimsoll: the program called %s, which is not stood in for (%s): this "
                      "rehearsal's figures are not to be believed; leave out what uses it\n",
                      kind->name, kind->note);
        plim_stage_count_call(plim_standin_stage(), kind->name, kind->kind, kind->note, 0);
        plim_standin_calls_flush();
    }
    return status;
}
