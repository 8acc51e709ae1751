/*
 * page.c - the bytes of a live page to what they mean, with nothing believed: counts, texts and
 * numbers may be anything.
 */
#include "live/page.h"

#include "base/crc32.h"
#include "base/error.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define VERSION         1u
#define BODY_AT         64u
#define BODY_BYTES      3776u
#define STATE_DUMPING   1u
#define HANDLES_SIGUSR1 1u
#define GROWS           1u

static const char magic[8] = { 'p', 'l', 'i', 'm', 'l', 'i', 'v', 'e' };

typedef struct page_device {
    int32_t device;
    uint32_t flags;
    uint64_t total;
    uint64_t allocated;
    uint64_t reserved;
    uint64_t active;
    uint64_t inactive_split;
    uint64_t peak_allocated;
    uint64_t peak_reserved;
    uint64_t retries;
    uint64_t ooms;
    double growth;
    uint64_t since_step;
    uint64_t full_at_step;
    uint64_t step_allocated;
    char name[48];
} page_device;

typedef struct page_layout {
    char magic[8];
    uint32_t version;
    uint32_t page_bytes;
    uint64_t request;
    uint64_t answered;
    uint64_t sequence;
    uint32_t body_bytes;
    uint32_t checksum;
    char none[16];
    uint64_t updated;
    uint64_t start;
    uint64_t namespace_id;
    int32_t pid;
    int32_t rank;
    uint32_t state;
    uint32_t flags;
    uint64_t step;
    uint64_t limit;
    uint32_t period_ms;
    uint32_t device_count;
    uint32_t devices_left_out;
    uint32_t dump_count;
    char last_dump[PLIM_LIVE_NAME_BYTES];
    char plimsoll[32];
    char torch[32];
    char folder[PLIM_LIVE_FOLDER_BYTES];
    page_device devices[PLIM_LIVE_DEVICES_MAX];
    char rest[256];
} page_layout;

static_assert(sizeof(page_device) == 160, "as the format has it");
static_assert(offsetof(page_layout, updated) == BODY_AT, "as the format has it");
static_assert(offsetof(page_layout, devices) == 1280, "as the format has it");
static_assert(sizeof(page_layout) == PLIM_LIVE_PAGE_BYTES, "as the format has it");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the page's numbers are this machine's");

uint64_t plim_live_page_sequence(const unsigned char *page)
{
    uint64_t sequence;
    memcpy(&sequence, page + PLIM_LIVE_SEQUENCE_AT, sizeof sequence);
    return sequence;
}

/* A text of a page may lack its zero. */
static void copy_text(char *ret, const char *text, size_t bytes)
{
    memcpy(ret, text, bytes);
    ret[bytes - 1] = '\0';
    const size_t length = strlen(ret);
    memset(ret + length, 0, bytes - length);
}

static void read_device(const page_device *from, plim_live_device *to)
{
    *to = (plim_live_device){
        .device = from->device,
        .total_bytes = from->total,
        .allocated_bytes = from->allocated,
        .reserved_bytes = from->reserved,
        .active_bytes = from->active,
        .inactive_split_bytes = from->inactive_split,
        .peak_allocated_bytes = from->peak_allocated,
        .peak_reserved_bytes = from->peak_reserved,
        .retry_count = from->retries,
        .oom_count = from->ooms,
        .step_bytes = from->step_allocated,
        .grows = (from->flags & GROWS) != 0 && isfinite(from->growth) && from->growth > 0,
    };
    if (to->grows) {
        to->growth_bytes_per_step = from->growth;
        to->growth_since_step = from->since_step;
        to->full_at_step = from->full_at_step;
    }
    copy_text(to->name, from->name, sizeof to->name);
}

/* Paths are made of it. */
static bool is_dump_name(const char *name)
{
    return strspn(name, "0123456789abcdefghijklmnopqrstuvwxyz-") == strlen(name);
}

static void read_process(const page_layout *from, plim_live_page *to)
{
    to->updated_ns = from->updated;
    to->start = from->start;
    to->namespace_id = from->namespace_id;
    to->pid = from->pid;
    to->rank = from->rank < 0 ? -1 : from->rank;
    to->is_dumping = from->state == STATE_DUMPING;
    to->handles_sigusr1 = (from->flags & HANDLES_SIGUSR1) != 0;
    to->step_count = from->step;
    to->limit_bytes = from->limit;
    to->period_ms = from->period_ms;
    to->device_count = from->device_count;
    to->devices_left_out = from->devices_left_out;
    to->dump_count = from->dump_count;
    to->request = from->request;
    to->answered = from->answered;
    copy_text(to->last_dump, from->last_dump, sizeof to->last_dump);
    copy_text(to->plimsoll, from->plimsoll, sizeof to->plimsoll);
    copy_text(to->torch, from->torch, sizeof to->torch);
    copy_text(to->folder, from->folder, sizeof to->folder);
    for (uint32_t i = 0; i < to->device_count; i++) {
        read_device(&from->devices[i], &to->devices[i]);
    }
}

static plim_live_fit wrong(plim_error *err, const char *why)
{
    (void)plim_fail(err, PLIM_CORRUPT, "not a live page: %s", why);
    return PLIM_LIVE_WRONG;
}

plim_live_fit plim_live_page_read(const unsigned char *page, plim_live_page *ret, plim_error *err)
{
    page_layout layout;
    memcpy(&layout, page, sizeof layout);
    if (memcmp(layout.magic, magic, sizeof magic) != 0) {
        return wrong(err, "it does not begin with \"plimlive\"");
    }
    if (layout.version != VERSION) {
        (void)plim_fail(err, PLIM_UNSUPPORTED,
                        "a live page of version %u; this release reads version %u", layout.version,
                        VERSION);
        return PLIM_LIVE_WRONG;
    }
    if (layout.page_bytes != PLIM_LIVE_PAGE_BYTES || layout.body_bytes != BODY_BYTES) {
        return wrong(err, "its sizes are not those of version 1");
    }
    if (layout.sequence % 2 != 0 || plim_crc32(page + BODY_AT, BODY_BYTES) != layout.checksum) {
        return PLIM_LIVE_TORN;
    }
    if (layout.device_count > PLIM_LIVE_DEVICES_MAX) {
        return wrong(err, "it has more devices than there is room for");
    }
    *ret = (plim_live_page){ 0 };
    read_process(&layout, ret);
    if (ret->pid <= 0) {
        return wrong(err, "it has no process");
    }
    if (!is_dump_name(ret->last_dump) || (ret->folder[0] != '\0' && ret->folder[0] != '/')) {
        return wrong(err, "its names are not those of a run");
    }
    return PLIM_LIVE_WHOLE;
}
