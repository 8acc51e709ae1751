/*
 * test_page.c - a live page: every field, and nothing believed that is wrong.
 */
#include "harness.h"

#include "live/made_page.h"
#include "live/page.h"

#include <math.h>

static void reads_every_field(void)
{
    t_page page;
    plim_live_page live;
    t_page_make(&page, 12, 34, 56);
    T_EQ_U64(plim_live_page_sequence(page.bytes), 12);
    T_EQ_U64(plim_live_page_read(page.bytes, &live, NULL), PLIM_LIVE_WHOLE);
    T_EQ_U64(live.request, 5);
    T_EQ_U64(live.answered, 4);
    T_EQ_U64(live.updated_ns, 1000000007);
    T_EQ_U64(live.start, 34);
    T_EQ_U64(live.namespace_id, 56);
    T_EQ_I64(live.pid, 12);
    T_EQ_I64(live.rank, 3);
    T_TRUE(live.is_dumping);
    T_TRUE(live.handles_sigusr1);
    T_EQ_U64(live.step_count, 99);
    T_EQ_U64(live.limit_bytes, 7000);
    T_EQ_U64(live.period_ms, 100);
    T_EQ_U64(live.device_count, 1);
    T_EQ_U64(live.devices_left_out, 2);
    T_EQ_U64(live.dump_count, 3);
    T_EQ_STR(live.last_dump, "003-request");
    T_EQ_STR(live.plimsoll, "0.1.0");
    T_EQ_STR(live.torch, "2.11.0+cu130");
    T_EQ_STR(live.folder, "/runs/one/12");
    T_EQ_STR(live.path, "");
}

static void reads_every_field_of_a_device(void)
{
    t_page page;
    plim_live_page live;
    t_page_make(&page, 12, 34, 56);
    T_EQ_U64(plim_live_page_read(page.bytes, &live, NULL), PLIM_LIVE_WHOLE);
    const plim_live_device *const device = &live.devices[0];
    T_EQ_I64(device->device, 4);
    T_EQ_STR(device->name, "NVIDIA H100 80GB HBM3");
    T_EQ_U64(device->total_bytes, 100);
    T_EQ_U64(device->allocated_bytes, 101);
    T_EQ_U64(device->reserved_bytes, 102);
    T_EQ_U64(device->active_bytes, 103);
    T_EQ_U64(device->inactive_split_bytes, 104);
    T_EQ_U64(device->peak_allocated_bytes, 105);
    T_EQ_U64(device->peak_reserved_bytes, 106);
    T_EQ_U64(device->retry_count, 107);
    T_EQ_U64(device->oom_count, 108);
    T_EQ_U64(device->step_bytes, 77);
    T_TRUE(device->grows);
    T_TRUE(device->growth_bytes_per_step == 12.5);
    T_EQ_U64(device->growth_since_step, 40);
    T_EQ_U64(device->full_at_step, 3100);
}

/* Growth that is not sure has no figures; one that is no number is not sure. */
static void growth_is_a_number_or_is_absent(void)
{
    static const struct {
        uint32_t flags;
        double growth;
    } cases[] = { { 0, 12.5 }, { 1, 0 }, { 1, -1 }, { 1, NAN }, { 1, INFINITY } };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%zu", i);
        t_page page;
        plim_live_page live;
        t_page_make(&page, 12, 34, 56);
        t_page_u32(&page, T_DEVICE_AT + 4, cases[i].flags);
        t_page_double(&page, T_DEVICE_AT + 80, cases[i].growth);
        t_page_seal(&page);
        T_EQ_U64(plim_live_page_read(page.bytes, &live, NULL), PLIM_LIVE_WHOLE);
        T_FALSE(live.devices[0].grows);
        T_TRUE(live.devices[0].growth_bytes_per_step == 0);
        T_EQ_U64(live.devices[0].full_at_step, 0);
    }
}

static void an_update_under_way_is_seen(void)
{
    t_page page;
    plim_live_page live;
    t_page_make(&page, 12, 34, 56);
    t_page_u64(&page, 32, 13);
    T_EQ_U64(plim_live_page_read(page.bytes, &live, NULL), PLIM_LIVE_TORN);
    for (size_t at = 64; at < 3840; at += 61) {
        T_CASE("byte %zu", at);
        t_page_make(&page, 12, 34, 56);
        page.bytes[at] ^= 0x40;
        T_EQ_U64(plim_live_page_read(page.bytes, &live, NULL), PLIM_LIVE_TORN);
    }
}

static void refuses_what_is_no_page(void)
{
    static const struct {
        size_t at;
        uint32_t value;
        plim_status status;
        const char *says;
    } cases[] = {
        { 0, 7, PLIM_CORRUPT, "it does not begin with" },
        { 8, 2, PLIM_UNSUPPORTED, "version 2; this release reads version 1" },
        { 12, 8192, PLIM_CORRUPT, "its sizes" },
        { 40, 4, PLIM_CORRUPT, "its sizes" },
        { 40, UINT32_MAX, PLIM_CORRUPT, "its sizes" },
        { 88, 0, PLIM_CORRUPT, "it has no process" },
        { 88, UINT32_MAX, PLIM_CORRUPT, "it has no process" },
        { 124, 17, PLIM_CORRUPT, "more devices" },
        { 124, UINT32_MAX, PLIM_CORRUPT, "more devices" },
        { 136, 0x2f2e2e, PLIM_CORRUPT, "its names" }, /* "../" */
        { 264, 0x61, PLIM_CORRUPT, "its names" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%zu", i);
        t_page page;
        plim_live_page live;
        plim_error err = { 0 };
        t_page_make(&page, 12, 34, 56);
        t_page_u32(&page, cases[i].at, cases[i].value);
        t_page_seal(&page);
        T_EQ_U64(plim_live_page_read(page.bytes, &live, &err), PLIM_LIVE_WRONG);
        T_EQ_U64(err.status, cases[i].status);
        T_NOT_NULL(strstr(err.message, cases[i].says));
    }
}

static void texts_without_an_end_are_cut(void)
{
    t_page page;
    plim_live_page live;
    t_page_make(&page, 12, 34, 56);
    memset(&page.bytes[136], 'a', 64);
    memset(&page.bytes[200], 0x80, 64);
    memset(&page.bytes[264], '/', 1016);
    memset(&page.bytes[T_DEVICE_AT + 112], '\n', 48);
    t_page_seal(&page);
    T_EQ_U64(plim_live_page_read(page.bytes, &live, NULL), PLIM_LIVE_WHOLE);
    T_EQ_U64(strlen(live.last_dump), 63);
    T_EQ_U64(strlen(live.plimsoll), 31);
    T_EQ_U64(strlen(live.torch), 31);
    T_EQ_U64(strlen(live.folder), 1015);
    T_EQ_U64(strlen(live.devices[0].name), 47);
}

T_MAIN(T_TEST(reads_every_field), T_TEST(reads_every_field_of_a_device),
       T_TEST(growth_is_a_number_or_is_absent), T_TEST(an_update_under_way_is_seen),
       T_TEST(refuses_what_is_no_page), T_TEST(texts_without_an_end_are_cut))
