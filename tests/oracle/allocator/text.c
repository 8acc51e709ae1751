/* text.c - addresses and calls as text. See text.h. */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_BASE  UINT64_C(0x7a0000000000)
#define PLAIN_BYTES (UINT64_C(256) << 30)

/* --- addresses --- */

static plim_addr ranges_base[SCRIPT_DEVICES_MAX]; /* of each device's first reservation, or 0 */

void text_addr(plim_addr addr)
{
    if (addr == 0) {
        (void)printf("-");
        return;
    }
    if (addr - PLAIN_BASE < SCRIPT_DEVICES_MAX * PLAIN_BYTES) {
        (void)printf("p%" PRIu64 "+%" PRIx64, (addr - PLAIN_BASE) / PLAIN_BYTES,
                     (addr - PLAIN_BASE) % PLAIN_BYTES);
        return;
    }
    int best = -1;
    for (int i = 0; i < SCRIPT_DEVICES_MAX; i++) {
        if (ranges_base[i] != 0 && ranges_base[i] <= addr &&
            (best < 0 || ranges_base[i] > ranges_base[best])) {
            best = i;
        }
    }
    if (best < 0 || addr >= PLAIN_BASE) {
        (void)printf("0x%" PRIx64, addr);
        return;
    }
    (void)printf("x%d+%" PRIx64, best, addr - ranges_base[best]);
}

/* --- calls --- */

/* An event is named by what it was recorded for last: the nth record on a stream. */
typedef struct event_name {
    plim_fence fence;
    plim_stream stream;
    int32_t ordinal;
    uint64_t number;
} event_name;

typedef struct call {
    plim_device_record record;
    event_name event;
    uint64_t handle; /* its number */
    size_t index;    /* among the calls of the operation */
    plim_addr chunk; /* what sorts calls that give memory back; see is_any_release */
} call;

/* A handle is named by how many were created before it. */
typedef struct handle_name {
    plim_handle handle;
    int32_t ordinal;
    uint64_t number;
} handle_name;

#define EVENTS_MAX  8192
#define STREAMS_MAX 256
#define HANDLES_MAX 65536

static call *calls;
static size_t call_count;
static size_t call_capacity;
static event_name events[EVENTS_MAX];
static size_t event_count;
static event_name streams[STREAMS_MAX]; /* number: records so far */
static size_t stream_count;
static handle_name handles[HANDLES_MAX]; /* that are not released */
static size_t handle_count;
static uint64_t handles_created;
static bool is_any_release; /* give-backs are sorted by address */

static event_name *event_of(const plim_device_record *record)
{
    for (size_t i = 0; i < event_count; i++) {
        if (events[i].fence == record->fence && events[i].ordinal == record->ordinal) {
            return &events[i];
        }
    }
    if (event_count == EVENTS_MAX) {
        abort();
    }
    events[event_count] = (event_name){ .fence = record->fence, .ordinal = record->ordinal };
    return &events[event_count++];
}

static uint64_t next_number(const plim_device_record *record)
{
    for (size_t i = 0; i < stream_count; i++) {
        if (streams[i].stream == record->stream && streams[i].ordinal == record->ordinal) {
            return ++streams[i].number;
        }
    }
    if (stream_count == STREAMS_MAX) {
        abort();
    }
    streams[stream_count++] =
        (event_name){ .stream = record->stream, .ordinal = record->ordinal, .number = 1 };
    return 1;
}

static handle_name *handle_of(const plim_device_record *record)
{
    for (size_t i = handle_count; i > 0; i--) {
        if (handles[i - 1].handle == record->handle && handles[i - 1].ordinal == record->ordinal) {
            return &handles[i - 1];
        }
    }
    return NULL;
}

/* The number of the handle a call is about, or 0. */
static uint64_t name_handle(const plim_device_record *record)
{
    if (record->call == PLIM_CALL_HANDLE_CREATE && record->status == PLIM_OK) {
        if (handle_count == HANDLES_MAX) {
            abort();
        }
        handles[handle_count++] =
            (handle_name){ record->handle, record->ordinal, ++handles_created };
        return handles_created;
    }
    handle_name *const name = handle_of(record);
    const uint64_t number = name != NULL ? name->number : 0;
    if (name != NULL && record->call == PLIM_CALL_HANDLE_RELEASE && record->status == PLIM_OK) {
        *name = handles[--handle_count];
    }
    return number;
}

void text_call_begin(const plim_device_record *record)
{
    if (call_count == call_capacity) {
        call_capacity = call_capacity == 0 ? 256 : call_capacity * 2;
        calls = realloc(calls, call_capacity * sizeof(*calls));
        if (calls == NULL) {
            abort();
        }
    }
    call *const c = &calls[call_count];
    *c = (call){ .record = *record, .index = call_count };
    call_count++;
    if (record->status == PLIM_OK && record->call == PLIM_CALL_RANGE_RESERVE &&
        ranges_base[record->ordinal] == 0) {
        ranges_base[record->ordinal] = record->addr;
    }
    if (record->handle != 0) {
        c->handle = name_handle(record);
    }
    if (record->call == PLIM_CALL_FENCE_RECORD || record->call == PLIM_CALL_FENCE_QUERY ||
        record->call == PLIM_CALL_FENCE_SYNC) {
        event_name *const event = event_of(record);
        if (record->call == PLIM_CALL_FENCE_RECORD) {
            event->stream = record->stream;
            event->number = next_number(record);
        }
        c->event = *event;
    }
}

/* Calls that follow each other and whose order says nothing share a family; 0: the order counts. */
static int family_of(const call *c)
{
    switch ((int)c->record.call) {
    case PLIM_CALL_FENCE_CREATE:
    case PLIM_CALL_FENCE_RECORD:
        return 1;
    case PLIM_CALL_FENCE_QUERY:
        return 2;
    case PLIM_CALL_FENCE_SYNC:
        return 3;
    case PLIM_CALL_MEMORY_FREE:
    case PLIM_CALL_STREAM_SYNC:
    case PLIM_CALL_UNMAP:
    case PLIM_CALL_HANDLE_RELEASE:
    case PLIM_CALL_RANGE_FREE:
        return is_any_release ? 4 : 0;
    default:
        return 0;
    }
}

/* What gives back one segment or one block of a range stays together: a free, or all from a
 * stream_sync to before the next. */
static void cut_chunks(call *first, size_t count)
{
    plim_addr chunk = 0;
    for (size_t i = count; i > 0; i--) {
        call *const c = &first[i - 1];
        if (c->record.call == PLIM_CALL_MEMORY_FREE) {
            c->chunk = c->record.addr;
        } else if (c->record.call == PLIM_CALL_STREAM_SYNC) {
            c->chunk = chunk;
        } else if (c->record.call == PLIM_CALL_UNMAP) {
            chunk = c->record.addr; /* the first of the chunk is met last */
        }
    }
    for (size_t i = 0; i < count; i++) {
        call *const c = &first[i];
        if (c->record.call == PLIM_CALL_MEMORY_FREE || c->record.call == PLIM_CALL_STREAM_SYNC) {
            chunk = c->chunk;
        }
        c->chunk = chunk;
    }
}

void text_any_release_order(void)
{
    is_any_release = true;
}

static int compare(const void *left, const void *right)
{
    const call *const a = left;
    const call *const b = right;
    const uint64_t keys[][2] = {
        { a->chunk, b->chunk },
        { a->record.call != PLIM_CALL_FENCE_CREATE, b->record.call != PLIM_CALL_FENCE_CREATE },
        { (uint64_t)a->event.ordinal, (uint64_t)b->event.ordinal },
        { a->event.stream, b->event.stream },
        { a->index, b->index },
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

static void write_operands(const call *c)
{
    const plim_device_record *const r = &c->record;
    switch ((int)r->call) {
    case PLIM_CALL_MEMORY_ALLOC:
    case PLIM_CALL_RANGE_RESERVE:
    case PLIM_CALL_RANGE_FREE:
    case PLIM_CALL_UNMAP:
        (void)printf(" ");
        text_addr(r->addr);
        (void)printf(" %" PRIu64, r->bytes);
        break;
    case PLIM_CALL_MEMORY_FREE:
        (void)printf(" ");
        text_addr(r->addr);
        break;
    case PLIM_CALL_HANDLE_CREATE:
        (void)printf(" #%" PRIu64 " %" PRIu64, c->handle, r->bytes);
        break;
    case PLIM_CALL_HANDLE_RELEASE:
    case PLIM_CALL_HANDLE_EXPORT:
        (void)printf(" #%" PRIu64, c->handle);
        break;
    case PLIM_CALL_MAP:
        (void)printf(" ");
        text_addr(r->addr);
        (void)printf(" %" PRIu64 " #%" PRIu64, r->bytes, c->handle);
        break;
    case PLIM_CALL_SET_ACCESS:
        (void)printf(" ");
        text_addr(r->addr);
        (void)printf(" %" PRIu64 " %d", r->bytes, r->accessor);
        break;
    case PLIM_CALL_STREAM_SYNC:
        (void)printf(" %" PRIu64, r->stream);
        break;
    case PLIM_CALL_FENCE_RECORD:
    case PLIM_CALL_FENCE_SYNC:
        (void)printf(" %" PRIu64 "@%" PRIu64, c->event.stream, c->event.number);
        break;
    case PLIM_CALL_FENCE_QUERY:
        (void)printf(" %" PRIu64 "@%" PRIu64 " %s", c->event.stream, c->event.number,
                     r->is_complete ? "yes" : "no");
        break;
    default:
        break;
    }
}

void text_calls_write(void)
{
    static const char *const names[] = {
#define TEXT_CALL(code, name) [code] = (name),
        PLIM_DEVICE_CALL_LIST(TEXT_CALL)
#undef TEXT_CALL
    };
    for (size_t i = 0; i < call_count;) {
        size_t end = i + 1;
        while (end < call_count && family_of(&calls[i]) != 0 &&
               family_of(&calls[end]) == family_of(&calls[i])) {
            end++;
        }
        if (family_of(&calls[i]) == 4) {
            cut_chunks(&calls[i], end - i);
        }
        qsort(&calls[i], end - i, sizeof(*calls), compare);
        i = end;
    }
    for (size_t i = 0; i < call_count; i++) {
        const plim_device_record *const r = &calls[i].record;
        (void)printf("%s", names[r->call]);
        write_operands(&calls[i]);
        if (r->ordinal != 0 && r->call != PLIM_CALL_STREAM_SYNC) {
            (void)printf(" on %d", r->ordinal);
        }
        (void)printf("%s\n", r->status == PLIM_OK                     ? ""
                             : r->status == PLIM_OUT_OF_DEVICE_MEMORY ? " oom"
                                                                      : " error");
    }
    call_count = 0;
}
