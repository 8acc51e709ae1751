/*
 * test_allocator_soak.c - a long churn over real memory: whatever was written is still there when
 * it is given back, and the allocator's own memory does not grow.
 *
 * $PLIM_SOAK_SECONDS says for how long in all; by default the churn is counted in steps, which is
 * short, and the same with the same seed.
 */
#include "base/units.h"
#include "harness.h"
#include "plimsoll/allocator.h"

#define LIVE  300
#define STEPS 36000 /* where no time is given */
#define LEAP  4000  /* steps between two looks at the allocator's memory */
/* For some hundred blocks; a byte lost in each step would show within two minutes. */
#define METADATA_MAX (2 * MIB)

typedef struct held {
    plim_addr addr;
    uint64_t bytes;
    uint64_t tag;
} held;

typedef struct churn {
    plim_device device;
    plim_allocator *allocator;
    held live[LIVE];
    size_t count;
} churn;

static churn now;

/* NOLINTBEGIN(performance-no-int-to-ptr): addresses of the host device are of this process */
static uint64_t *words_of(const held *block)
{
    return (uint64_t *)(uintptr_t)block->addr;
}
/* NOLINTEND(performance-no-int-to-ptr) */

/* A word in every page, and the last. */
static void for_each_word(const held *block, bool writes)
{
    uint64_t *words = words_of(block);
    const uint64_t count = block->bytes / sizeof *words;
    for (uint64_t i = 0; i < count; i += i + 512 < count || i + 1 == count ? 512 : count - 1 - i) {
        if (writes) {
            words[i] = block->tag + i;
        } else if (words[i] != block->tag + i) {
            fail_msg("word %" PRIu64 " of the block at 0x%" PRIx64 " was overwritten", i,
                     block->addr);
        }
    }
}

static void give(size_t at)
{
    plim_error err;
    for_each_word(&now.live[at], false);
    if (plim_free(now.allocator, now.live[at].addr, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    now.count--;
    now.live[at] = now.live[now.count];
}

static void step(void)
{
    if (now.count == LIVE || (now.count > 0 && t_random_between(0, 99) < 45)) {
        give((size_t)t_random_between(0, now.count - 1));
        return;
    }
    held *next = &now.live[now.count];
    *next = (held){ .bytes = t_random_bytes(8, 8 * MIB), .tag = t_random() };
    plim_error err;
    const plim_stream stream = 0x10 * t_random_between(0, 3);
    const plim_status status =
        plim_malloc(now.allocator, 0, next->bytes, stream, &next->addr, &err);
    if (status == PLIM_OUT_OF_DEVICE_MEMORY) {
        return;
    }
    if (status != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    for_each_word(next, true);
    now.count++;
    if (t_random_between(0, 9) == 0) {
        T_EQ_U64(plim_record_stream(now.allocator, next->addr, 0x10 * t_random_between(0, 3), NULL),
                 PLIM_OK);
    }
}

static void start(const char *settings, plim_hardening hardening)
{
    memset(&now, 0, sizeof now);
    const plim_host_options host = { .total_bytes = 512 * MIB };
    plim_settings parsed = plim_settings_default();
    T_EQ_U64(plim_settings_parse(settings, &parsed, NULL), PLIM_OK);
    T_EQ_U64(plim_host_create(&host, &now.device, NULL), PLIM_OK);
    const plim_allocator_options options = {
        .devices = &now.device, .device_count = 1, .settings = &parsed, .hardening = hardening
    };
    T_EQ_U64(plim_allocator_create(&options, &now.allocator, NULL), PLIM_OK);
}

static void stop(void)
{
    plim_error err;
    while (now.count > 0) {
        give(now.count - 1);
    }
    if (plim_allocator_check(now.allocator, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    plim_allocator_destroy(now.allocator);
    plim_device_destroy(&now.device);
}

/* Steps, then everything given back to the device: what the allocator then takes itself. */
static uint64_t bytes_after(uint64_t steps)
{
    for (uint64_t i = 0; i < steps; i++) {
        step();
        if (i % 512 == 0) {
            T_EQ_U64(plim_empty_cache(now.allocator, NULL, NULL), PLIM_OK);
        }
    }
    plim_metadata metadata;
    plim_allocator_metadata(now.allocator, &metadata);
    return metadata.total_bytes;
}

static uint64_t soak_seconds(void)
{
    const char *given = getenv("PLIM_SOAK_SECONDS");
    return given != NULL ? strtoull(given, NULL, 10) : 0;
}

static void soak(const char *settings, plim_hardening hardening, uint64_t share)
{
    const time_t end = time(NULL) + (time_t)(soak_seconds() / share);
    start(settings, hardening);
    for (uint64_t steps = 0; soak_seconds() > 0 ? time(NULL) < end : steps < STEPS; steps += LEAP) {
        const uint64_t bytes = bytes_after(LEAP);
        if (bytes > METADATA_MAX) {
            fail_msg("the allocator itself takes %" PRIu64 " bytes after %" PRIu64 " steps", bytes,
                     steps + LEAP);
        }
    }
    stop();
}

#define SHARES 4

static void plain_memory_is_kept(void)
{
    soak("", PLIM_HARDENING_NONE, SHARES);
}

static void expandable_memory_is_kept(void)
{
    soak("expandable_segments:True", PLIM_HARDENING_NONE, SHARES);
}

static void memory_is_kept_beside_canaries(void)
{
    soak("max_split_size_mb:64", PLIM_HARDENING_CANARIES, SHARES);
}

static void memory_is_kept_beside_poison(void)
{
    soak("expandable_segments:True", PLIM_HARDENING_POISON, SHARES);
}

T_MAIN(T_TEST(plain_memory_is_kept), T_TEST(expandable_memory_is_kept),
       T_TEST(memory_is_kept_beside_canaries), T_TEST(memory_is_kept_beside_poison))
