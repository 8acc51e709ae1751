/*
 * contract.c - one function for each promise.
 */
#include "device/contract.h"

#include "base/units.h"
#include "harness.h"

/* Shorter calls; an operation is a member of the table. */
#define CALL(subject, operation, ...) \
    ((subject)->device.ops->operation((subject)->device.self, __VA_ARGS__))
#define DONE(subject, operation, ...) done(CALL(subject, operation, __VA_ARGS__, &failure))

static plim_error failure;

static void done(plim_status status)
{
    if (status != PLIM_OK) {
        fail_msg("%s: %s", plim_status_name(status), failure.message);
    }
}

static void refused(plim_status status)
{
    T_TRUE(status != PLIM_OK);
    T_TRUE(status != PLIM_OUT_OF_DEVICE_MEMORY);
    T_TRUE(status != PLIM_OUT_OF_HOST_MEMORY);
    T_EQ_I64(failure.status, status);
    T_TRUE(failure.message[0] != '\0');
}

static uint64_t free_bytes(const contract_subject *subject)
{
    uint64_t free_now = 0;
    uint64_t total = 0;
    DONE(subject, info, &free_now, &total);
    T_TRUE(free_now <= total);
    return free_now;
}

static plim_device_properties properties_of(const contract_subject *subject)
{
    plim_device_properties properties;
    subject->device.ops->properties(subject->device.self, &properties);
    return properties;
}

/* What plain memory is taken in, also where nothing can be mapped. */
static uint64_t granule_of(const contract_subject *subject)
{
    const uint64_t granularity = properties_of(subject).granularity_bytes;
    return granularity == 0 ? 2 * MIB : granularity;
}

static void it_says_what_it_is(const contract_subject *subject)
{
    const plim_device_properties properties = properties_of(subject);
    T_TRUE(properties.name[0] != '\0');
    T_TRUE(properties.total_bytes >= 64 * MIB);
    T_EQ_U64(properties.granularity_bytes & (properties.granularity_bytes - 1), 0);
    T_TRUE((properties.granularity_bytes == 0) == (subject->device.ops->map == NULL));
}

static void plain_memory_is_taken_and_given_back(const contract_subject *subject)
{
    const uint64_t before = free_bytes(subject);
    plim_addr a = 0;
    plim_addr b = 0;
    DONE(subject, memory_alloc, 3 * MIB, &a);
    DONE(subject, memory_alloc, 3 * MIB, &b);
    T_TRUE(a != 0);
    T_TRUE(b != 0);
    T_EQ_U64(a % 512, 0);
    T_EQ_U64(b % 512, 0);
    T_TRUE(a < b ? b - a >= 3 * MIB : a - b >= 3 * MIB);
    if (subject->is_ours) {
        T_TRUE(before - free_bytes(subject) >= 6 * MIB);
    }
    done(CALL(subject, memory_free, a, &failure));
    if (subject->is_ours) {
        refused(CALL(subject, memory_free, a, &failure));
        refused(CALL(subject, memory_free, b + 512, &failure));
    }
    done(CALL(subject, memory_free, b, &failure));
    if (subject->is_ours) {
        T_EQ_U64(free_bytes(subject), before);
    }
}

static void too_much_plain_memory_is_an_ordinary_answer(const contract_subject *subject)
{
    const uint64_t before = free_bytes(subject);
    const uint64_t granule = granule_of(subject);
    plim_addr addr = 77;
    const uint64_t much = (before / granule + 1) * granule;
    T_EQ_I64(CALL(subject, memory_alloc, much, &addr, &failure), PLIM_OUT_OF_DEVICE_MEMORY);
    T_EQ_I64(failure.status, PLIM_OUT_OF_DEVICE_MEMORY);
    T_EQ_U64(addr, 77);
    T_EQ_I64(CALL(subject, memory_alloc, much, &addr, NULL), PLIM_OUT_OF_DEVICE_MEMORY);
    if (!subject->is_ours) {
        return;
    }
    T_EQ_U64(free_bytes(subject), before);
    /* And it can be filled to the brim. */
    const uint64_t all = before / granule * granule;
    DONE(subject, memory_alloc, all, &addr);
    T_EQ_U64(free_bytes(subject), before - all);
    plim_addr more = 0;
    T_EQ_I64(CALL(subject, memory_alloc, granule, &more, &failure), PLIM_OUT_OF_DEVICE_MEMORY);
    done(CALL(subject, memory_free, addr, &failure));
    T_EQ_U64(free_bytes(subject), before);
}

static void too_large_a_handle_is_an_ordinary_answer(const contract_subject *subject)
{
    const uint64_t before = free_bytes(subject);
    const uint64_t granule = granule_of(subject);
    plim_handle handle = 77;
    T_EQ_I64(CALL(subject, handle_create, (before / granule + 1) * granule, PLIM_SHARE_NONE,
                  &handle, &failure),
             PLIM_OUT_OF_DEVICE_MEMORY);
    T_EQ_U64(handle, 77);
    if (subject->is_ours) {
        T_EQ_U64(free_bytes(subject), before);
    }
}

static void memory_is_mapped_and_unmapped(const contract_subject *subject)
{
    const uint64_t granule = granule_of(subject);
    const int32_t ordinal = properties_of(subject).ordinal;
    const uint64_t before = free_bytes(subject);
    plim_addr range = 0;
    plim_handle handles[2] = { 0 };
    DONE(subject, range_reserve, 8 * granule, &range);
    T_EQ_U64(range % granule, 0);
    for (int i = 0; i < 2; i++) {
        DONE(subject, handle_create, 2 * granule, PLIM_SHARE_NONE, &handles[i]);
        T_TRUE(handles[i] != 0);
        DONE(subject, map, range + (uint64_t)(2 + 2 * i) * granule, 2 * granule, handles[i]);
    }
    DONE(subject, set_access, range + 2 * granule, 4 * granule, ordinal);
    if (subject->is_ours) {
        T_EQ_U64(before - free_bytes(subject), 4 * granule);
    }
    /* What is mapped outlives its handle. */
    DONE(subject, handle_release, handles[0]);
    if (subject->is_ours) {
        T_EQ_U64(before - free_bytes(subject), 4 * granule);
    }
    DONE(subject, unmap, range + 2 * granule, 4 * granule); /* two mappings in one call */
    if (subject->is_ours) {
        T_EQ_U64(before - free_bytes(subject), 2 * granule);
    }
    DONE(subject, handle_release, handles[1]);
    if (subject->is_ours) {
        T_EQ_U64(free_bytes(subject), before);
    }
    DONE(subject, range_free, range, 8 * granule);
}

static void senseless_mappings_are_refused(const contract_subject *subject)
{
    const uint64_t granule = granule_of(subject);
    plim_addr range = 0;
    plim_handle handle = 0;
    plim_handle gone = 0;
    refused(CALL(subject, range_reserve, granule + 1, &range, &failure));
    refused(CALL(subject, range_reserve, 0, &range, &failure));
    DONE(subject, range_reserve, 4 * granule, &range);
    refused(CALL(subject, handle_create, granule / 2, PLIM_SHARE_NONE, &handle, &failure));
    DONE(subject, handle_create, 2 * granule, PLIM_SHARE_NONE, &handle);
    DONE(subject, handle_create, 2 * granule, PLIM_SHARE_NONE, &gone);
    DONE(subject, handle_release, gone);
    refused(CALL(subject, handle_release, gone, &failure));
    refused(CALL(subject, map, range, 2 * granule, gone, &failure));
    refused(CALL(subject, map, range, granule, handle, &failure));
    refused(CALL(subject, map, range + 3 * granule, 2 * granule, handle, &failure));
    refused(CALL(subject, map, range + granule / 2, 2 * granule, handle, &failure));
    refused(CALL(subject, map, range + 64 * granule, 2 * granule, handle, &failure));
    refused(CALL(subject, set_access, range, 2 * granule, 0, &failure));
    refused(CALL(subject, unmap, range, 2 * granule, &failure));

    DONE(subject, map, range, 2 * granule, handle);
    refused(CALL(subject, map, range + granule, 2 * granule, handle, &failure));
    refused(CALL(subject, unmap, range, granule, &failure));
    refused(CALL(subject, unmap, range, 3 * granule, &failure));
    refused(CALL(subject, range_free, range, 4 * granule, &failure));
    /* One handle can be seen in two places. */
    DONE(subject, map, range + 2 * granule, 2 * granule, handle);
    DONE(subject, unmap, range, 4 * granule);
    refused(CALL(subject, unmap, range, 2 * granule, &failure));
    refused(CALL(subject, range_free, range, 2 * granule, &failure));
    refused(CALL(subject, range_free, range + granule, 4 * granule, &failure));
    DONE(subject, handle_release, handle);
    DONE(subject, range_free, range, 4 * granule);
    refused(CALL(subject, range_free, range, 4 * granule, &failure));
}

static void streams_and_fences_go_their_way(const contract_subject *subject)
{
    const plim_device_ops *const ops = subject->device.ops;
    plim_stream stream = 0;
    plim_fence fence = 0;
    bool is_complete = false;
    DONE(subject, stream_create, &stream);
    T_TRUE(stream != 0);
    T_FALSE(ops->stream_is_capturing != NULL &&
            ops->stream_is_capturing(subject->device.self, stream));
    done(CALL(subject, fence_create, &fence, &failure));
    DONE(subject, fence_query, fence, &is_complete);
    T_TRUE(is_complete); /* never recorded */
    for (int i = 0; i < 2; i++) {
        DONE(subject, fence_record, fence, i == 0 ? stream : 0);
        done(CALL(subject, fence_synchronize, fence, &failure));
        is_complete = false;
        DONE(subject, fence_query, fence, &is_complete);
        T_TRUE(is_complete);
    }
    DONE(subject, fence_record, fence, stream);
    done(CALL(subject, stream_synchronize, stream, &failure));
    is_complete = false;
    DONE(subject, fence_query, fence, &is_complete);
    T_TRUE(is_complete);
    done(ops->synchronize(subject->device.self, &failure));
    done(CALL(subject, fence_destroy, fence, &failure));
    done(CALL(subject, stream_destroy, stream, &failure));
    if (subject->is_ours) {
        refused(CALL(subject, fence_query, fence, &is_complete, &failure));
        refused(CALL(subject, fence_destroy, fence, &failure));
        refused(CALL(subject, stream_destroy, stream, &failure));
    }
}

static void contents_are_kept(const contract_subject *subject)
{
    plim_addr a = 0;
    plim_addr b = 0;
    uint8_t bytes[64];
    DONE(subject, memory_alloc, MIB, &a);
    DONE(subject, memory_alloc, MIB, &b);
    DONE(subject, fill, a, 0xa5, 4096, 0);
    DONE(subject, write, a + 100, "under the line", 14);
    DONE(subject, copy, b + 7, a + 90, 40, 0);
    DONE(subject, read, bytes, b + 7, 40);
    for (int i = 0; i < 40; i++) {
        const uint8_t wanted = i >= 10 && i < 24 ? (uint8_t) "under the line"[i - 10] : 0xa5;
        T_EQ_U64(bytes[i], subject->keeps_contents ? wanted : 0);
    }
    DONE(subject, fill, a, 0, 0, 0); /* nothing is allowed */
    done(CALL(subject, memory_free, a, &failure));
    done(CALL(subject, memory_free, b, &failure));
}

/* Contents belong to the handle, wherever it is mapped. */
static void contents_move_with_their_handle(const contract_subject *subject)
{
    const uint64_t granule = granule_of(subject);
    const int32_t ordinal = properties_of(subject).ordinal;
    plim_addr range = 0;
    plim_handle handles[2] = { 0 };
    uint8_t byte = 0;
    DONE(subject, range_reserve, 2 * granule, &range);
    for (uint64_t i = 0; i < 2; i++) {
        DONE(subject, handle_create, granule, PLIM_SHARE_NONE, &handles[i]);
        DONE(subject, map, range + i * granule, granule, handles[i]);
    }
    if (subject->is_ours) {
        refused(CALL(subject, read, &byte, range, 1, &failure)); /* no access yet */
    }
    DONE(subject, set_access, range, 2 * granule, ordinal);
    DONE(subject, fill, range, 1, granule, 0);
    DONE(subject, fill, range + granule, 2, granule, 0);
    /* Across the border between two handles, too. */
    uint8_t both[2] = { 0 };
    DONE(subject, read, both, range + granule - 1, 2);
    T_EQ_U64(both[0], subject->keeps_contents ? 1 : 0);
    T_EQ_U64(both[1], subject->keeps_contents ? 2 : 0);
    done(subject->device.ops->synchronize(subject->device.self, &failure));
    DONE(subject, unmap, range, 2 * granule);
    if (subject->is_ours) {
        refused(CALL(subject, read, &byte, range, 1, &failure));
    }
    for (uint64_t i = 0; i < 2; i++) {
        DONE(subject, map, range + i * granule, granule, handles[1 - i]);
    }
    DONE(subject, set_access, range, 2 * granule, ordinal);
    DONE(subject, read, &byte, range, 1);
    T_EQ_U64(byte, subject->keeps_contents ? 2 : 0);
    DONE(subject, read, &byte, range + 2 * granule - 1, 1);
    T_EQ_U64(byte, subject->keeps_contents ? 1 : 0);
    DONE(subject, unmap, range, 2 * granule);
    DONE(subject, handle_release, handles[0]);
    DONE(subject, handle_release, handles[1]);
    DONE(subject, range_free, range, 2 * granule);
}

static void senseless_addresses_are_refused(const contract_subject *subject)
{
    plim_addr addr = 0;
    uint8_t byte = 0;
    DONE(subject, memory_alloc, MIB, &addr);
    const uint64_t much = 512 * MIB;
    refused(CALL(subject, fill, 4096, 1, 1, 0, &failure));
    refused(CALL(subject, read, &byte, UINT64_MAX, 1, &failure));
    refused(CALL(subject, write, 4096, &byte, 1, &failure));
    refused(CALL(subject, copy, addr, 4096, 1, 0, &failure));
    refused(CALL(subject, copy, 4096, addr, 1, 0, &failure));
    refused(CALL(subject, fill, addr, 1, much, 0, &failure)); /* it ends before */
    refused(CALL(subject, fill, addr, 1, UINT64_MAX, 0, &failure));
    done(CALL(subject, memory_free, addr, &failure));
    refused(CALL(subject, read, &byte, addr, 1, &failure));
}

void contract_check(const contract_subject *subject)
{
    it_says_what_it_is(subject);
    plain_memory_is_taken_and_given_back(subject);
    too_much_plain_memory_is_an_ordinary_answer(subject);
    streams_and_fences_go_their_way(subject);
    contents_are_kept(subject);
    if (subject->device.ops->map != NULL) {
        too_large_a_handle_is_an_ordinary_answer(subject);
        memory_is_mapped_and_unmapped(subject);
        contents_move_with_their_handle(subject);
    }
    if (subject->is_ours) {
        if (subject->device.ops->map != NULL) {
            senseless_mappings_are_refused(subject);
        }
        senseless_addresses_are_refused(subject);
    }
}
