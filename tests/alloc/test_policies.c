/*
 * test_policies.c - scripts for each policy, worked out by hand from docs/design/policies.md:
 * where blocks lie, what is requested of the driver, and which stream may have what.
 */
#include "base/units.h"
#include "harness.h"
#include "plimsoll/allocator.h"

/* Where a sim device puts its first plain memory, and its first range. */
#define PLAIN ((plim_addr)0x7a0000000000)
#define RANGE ((plim_addr)0x700000000000)

#define A ((plim_stream)0)
#define B ((plim_stream)0x40)

#define LOG_BYTES 1024

typedef struct world {
    plim_device device;
    plim_allocator *allocator;
    char log[LOG_BYTES]; /* of events and calls that the test watches */
    size_t logged;
} world;

static world now;

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static void
note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(now.log + now.logged, LOG_BYTES - now.logged, format, args);
    va_end(args);
    T_TRUE(n > 0 && (size_t)n < LOG_BYTES - now.logged);
    now.logged += (size_t)n;
}

/* What was noted since the last time is this. */
static void expect_log(const char *text)
{
    T_EQ_STR(now.log, text);
    now.logged = 0;
    now.log[0] = '\0';
}

static const char *letter_of(plim_stream stream)
{
    return stream == A ? "A" : "B";
}

static void on_event(void *ctx, const plim_event *event)
{
    static const char *const segment_words[] = {
        [PLIM_SEGMENT_ALLOC] = "+seg",
        [PLIM_SEGMENT_FREE] = "-seg",
        [PLIM_SEGMENT_MAP] = "map",
        [PLIM_SEGMENT_UNMAP] = "unmap",
    };
    static const char *const block_words[] = {
        [PLIM_ALLOC] = "alloc",
        [PLIM_FREE_REQUESTED] = "free",
        [PLIM_FREE_COMPLETED] = "done",
    };
    (void)ctx;
    const size_t action = (size_t)event->action;
    if (action < T_COUNT(block_words) && block_words[action] != NULL) {
        note("%s %s; ", block_words[action], letter_of(event->stream));
    } else if (action < T_COUNT(segment_words) && segment_words[action] != NULL) {
        note("%s %" PRIu64 "K; ", segment_words[action], event->bytes / KIB);
    } else {
        note("%s; ", event->action == PLIM_OOM ? "oom" : "?");
    }
}

typedef struct setup {
    plim_policy_kind policy;
    uint64_t device_bytes;
    uint64_t release_threshold_bytes;
    const char *settings;
    bool has_manual_fences;
} setup;

static void begin(setup how)
{
    plim_error err;
    plim_settings settings = plim_settings_default();
    memset(&now, 0, sizeof now);
    if (how.settings != NULL) {
        T_EQ_U64(plim_settings_parse(how.settings, &settings, &err), PLIM_OK);
    }
    const plim_sim_options sim = { .total_bytes = how.device_bytes,
                                   .has_manual_fences = how.has_manual_fences };
    T_EQ_U64(plim_sim_create(&sim, &now.device, &err), PLIM_OK);
    const plim_allocator_options options = { .devices = &now.device,
                                             .device_count = 1,
                                             .settings = &settings,
                                             .policy = how.policy,
                                             .release_threshold_bytes =
                                                 how.release_threshold_bytes };
    T_EQ_U64(plim_allocator_create(&options, &now.allocator, &err), PLIM_OK);
    const plim_event_sink sink = { .event = on_event, .ctx = &now };
    T_EQ_U64(plim_add_event_sink(now.allocator, &sink, &err), PLIM_OK);
}

static void check(void)
{
    plim_error err;
    if (plim_allocator_check(now.allocator, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
}

static void end(void)
{
    check();
    plim_allocator_destroy(now.allocator);
    T_EQ_U64(plim_sim_taken_bytes(&now.device), 0);
    plim_device_destroy(&now.device);
}

/* 0: out of memory. */
static plim_addr get(uint64_t bytes, plim_stream stream)
{
    plim_error err;
    plim_addr addr = 0;
    const plim_status status = plim_malloc(now.allocator, 0, bytes, stream, &addr, &err);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_DEVICE_MEMORY);
    check();
    return addr;
}

static void give(plim_addr addr)
{
    plim_error err;
    T_EQ_U64(plim_free(now.allocator, addr, &err), PLIM_OK);
    check();
}

static void use(plim_addr addr, plim_stream stream)
{
    plim_error err;
    T_EQ_U64(plim_record_stream(now.allocator, addr, stream, &err), PLIM_OK);
}

static void empty_cache(void)
{
    plim_error err;
    T_EQ_U64(plim_empty_cache(now.allocator, NULL, &err), PLIM_OK);
    check();
}

static uint64_t block_bytes(plim_addr addr)
{
    uint64_t bytes = 0;
    plim_error err;
    T_EQ_U64(plim_block_bytes(now.allocator, addr, &bytes, NULL, &err), PLIM_OK);
    return bytes;
}

static plim_device_stats stats(void)
{
    plim_device_stats stats;
    plim_error err;
    T_EQ_U64(plim_allocator_stats(now.allocator, 0, &stats, &err), PLIM_OK);
    return stats;
}

static uint64_t reserved(void)
{
    return (uint64_t)stats().families[PLIM_STAT_RESERVED_BYTES][PLIM_SLOT_ALL].current;
}

static uint64_t calls(plim_device_call call)
{
    return plim_sim_calls(&now.device, call);
}

/* --- naive --- */

static void naive_asks_the_driver_each_time(void)
{
    begin((setup){ .policy = PLIM_POLICY_NAIVE, .device_bytes = 8 * MIB });
    const plim_addr one = get(1, A);
    const plim_addr two = get(2 * MIB + 1, A);
    T_EQ_U64(one, PLAIN);
    T_EQ_U64(two, PLAIN + 2 * MIB);
    T_EQ_U64(block_bytes(one), 2 * MIB);
    T_EQ_U64(block_bytes(two), 4 * MIB);
    T_EQ_U64(reserved(), plim_sim_taken_bytes(&now.device));
    give(one);
    T_EQ_U64(reserved(), 4 * MIB);
    T_EQ_U64(get(1, A), PLAIN);
    expect_log("+seg 2048K; alloc A; +seg 4096K; alloc A; free A; done A; -seg 2048K; "
               "+seg 2048K; alloc A; ");
    T_EQ_U64(calls(PLIM_CALL_MEMORY_ALLOC), 3);
    T_EQ_U64(calls(PLIM_CALL_MEMORY_FREE), 1);
    end();
}

static void naive_gives_back_what_other_streams_are_done_with(void)
{
    begin(
        (setup){ .policy = PLIM_POLICY_NAIVE, .device_bytes = 4 * MIB, .has_manual_fences = true });
    const plim_addr one = get(4 * MIB, A);
    use(one, B);
    give(one);
    expect_log("+seg 4096K; alloc A; free A; ");
    T_EQ_U64(reserved(), 4 * MIB);
    /* Nothing else is left: the request waits for stream B. */
    T_EQ_U64(get(MIB, A), PLAIN);
    expect_log("done A; -seg 4096K; +seg 2048K; alloc A; ");
    T_EQ_U64(stats().num_alloc_retries, 1);
    T_EQ_U64(get(4 * MIB, A), 0);
    expect_log("oom; ");
    end();
}

static void naive_obeys_the_limit(void)
{
    plim_error err;
    begin((setup){ .policy = PLIM_POLICY_NAIVE, .device_bytes = 8 * MIB });
    T_EQ_U64(plim_set_memory_fraction(now.allocator, 0, 0.5, &err), PLIM_OK);
    T_EQ_U64(get(4 * MIB, A), PLAIN);
    T_EQ_U64(get(1, A), 0);
    T_EQ_U64(plim_set_memory_fraction(now.allocator, 0, 1.0, &err), PLIM_OK);
    T_EQ_U64(get(1, A), PLAIN + 4 * MIB);
    end();
}

/* --- bfc --- */

static void bfc_doubles_its_regions(void)
{
    begin((setup){ .policy = PLIM_POLICY_BFC, .device_bytes = 1024 * MIB });
    T_EQ_U64(get(100, A), PLAIN); /* the first region: 2 MiB */
    T_EQ_U64(get(300, A), PLAIN + 256);
    T_EQ_U64(get(1, A), PLAIN + 768);
    expect_log("+seg 2048K; alloc A; alloc A; alloc A; ");
    const plim_addr three = get(3 * MIB, A);
    T_EQ_U64(three, PLAIN + 2 * MIB);
    T_EQ_U64(block_bytes(three), 4 * MIB); /* its turn is 4 MiB: not twice the request, no split */
    T_EQ_U64(get(20 * MIB, A), PLAIN + 6 * MIB); /* 8 MiB is doubled to 32 */
    expect_log("+seg 4096K; alloc A; +seg 32768K; alloc A; ");
    T_EQ_U64(get(13 * MIB, A), PLAIN + 38 * MIB); /* 32 MiB again, twice the request: split */
    expect_log("+seg 32768K; alloc A; ");
    T_EQ_U64(reserved(), 70 * MIB);
    end();
}

static void bfc_splits_where_two_pieces_are_reasonable(void)
{
    begin((setup){ .policy = PLIM_POLICY_BFC, .device_bytes = 1024 * MIB });
    const plim_addr all = get(200 * MIB, A); /* a region of 256 MiB: 56 MiB more than requested */
    T_EQ_U64(block_bytes(all), 256 * MIB);
    give(all);
    const plim_addr half = get(128 * MIB, A); /* twice the request: split */
    T_EQ_U64(half, all);
    T_EQ_U64(block_bytes(half), 128 * MIB);
    const plim_addr rest = get(128 * MIB - 255, A);
    T_EQ_U64(rest, all + 128 * MIB);
    give(half);
    give(rest);
    const plim_addr most = get(128 * MIB + 1, A); /* waste of 128 MiB - 256: kept together */
    T_EQ_U64(block_bytes(most), 256 * MIB);
    give(most);
    end();
    begin((setup){ .policy = PLIM_POLICY_BFC, .device_bytes = 1024 * MIB });
    const plim_addr large = get(400 * MIB, A);
    T_EQ_U64(block_bytes(large), 512 * MIB);
    give(large);
    const plim_addr lesser = get(384 * MIB, A); /* waste of 128 MiB: split though not twice */
    T_EQ_U64(block_bytes(lesser), 384 * MIB);
    end();
}

static void bfc_takes_the_best_fit_and_coalesces(void)
{
    plim_addr at[6];
    begin((setup){ .policy = PLIM_POLICY_BFC, .device_bytes = 64 * MIB });
    const uint64_t sizes[] = { 64 * KIB, 256, 32 * KIB, 256, 16 * KIB, 256 };
    for (size_t i = 0; i < T_COUNT(at); i++) {
        at[i] = get(sizes[i], A);
    }
    give(at[0]);
    give(at[2]);
    give(at[4]);
    T_EQ_U64(get(20 * KIB, A), at[2]); /* of 16, 32, 64 and the rest: 32 */
    T_EQ_U64(block_bytes(at[2]), 32 * KIB);
    give(at[2]);
    give(at[1]);
    give(at[3]); /* 0 to 4 are one: 64 + 32 + 16 KiB and 512 bytes */
    T_EQ_U64(get(112 * KIB + 512, A), at[0]);
    T_EQ_U64(block_bytes(at[0]), 112 * KIB + 512);
    end();
}

static void bfc_backs_off_where_the_driver_refuses(void)
{
    begin((setup){ .policy = PLIM_POLICY_BFC, .device_bytes = 64 * MIB });
    plim_sim_set_used(&now.device, 40 * MIB);
    /* 32 MiB, then nine tenths of it and again, in whole chunks, until it fits 24 MiB. */
    T_EQ_U64(get(20 * MIB, A), PLAIN);
    T_EQ_U64(calls(PLIM_CALL_MEMORY_ALLOC), 4);
    T_EQ_U64(reserved(), 24461568);
    T_EQ_U64(get(20 * MIB, A), 0);
    end();
}

static void bfc_collects_free_regions_only_where_asked(void)
{
    for (int collects = 0; collects < 2; collects++) {
        begin((setup){ .policy = PLIM_POLICY_BFC,
                       .device_bytes = 16 * MIB,
                       .settings = collects == 1 ? "garbage_collection_threshold:0.9" : NULL });
        const plim_addr small = get(2 * MIB, A);
        const plim_addr four = get(4 * MIB, A);
        give(small);
        give(four);
        empty_cache(); /* it keeps what it has */
        T_EQ_U64(reserved(), 6 * MIB);
        T_EQ_U64(get(12 * MIB, A), collects == 1 ? PLAIN : 0);
        T_EQ_U64(calls(PLIM_CALL_MEMORY_FREE), collects == 1 ? 2 : 0);
        end();
    }
}

static void bfc_shares_between_streams_what_is_done(void)
{
    begin(
        (setup){ .policy = PLIM_POLICY_BFC, .device_bytes = 64 * MIB, .has_manual_fences = true });
    const plim_addr one = get(MIB, A);
    give(one);
    T_EQ_U64(calls(PLIM_CALL_FENCE_RECORD), 0); /* one stream: no need to ask */
    T_EQ_U64(get(MIB, B), one);
    T_EQ_U64(calls(PLIM_CALL_STREAM_SYNC), 1); /* now there are two: A is waited for, once */
    expect_log("+seg 2048K; alloc A; free A; done A; alloc B; ");
    give(one);
    expect_log("free B; ");
    T_EQ_U64(get(MIB, A), one + MIB); /* B still uses the lower half */
    plim_sim_complete(&now.device, B);
    T_EQ_U64(get(MIB, A), one);
    expect_log("alloc A; done B; alloc A; ");
    end();
}

/* --- async --- */

static void async_lets_small_requests_share_pages(void)
{
    begin((setup){ .policy = PLIM_POLICY_ASYNC, .device_bytes = 64 * MIB });
    const plim_addr one = get(1, A);
    T_EQ_U64(one, RANGE);
    T_EQ_U64(get(600, A), RANGE + 512);
    T_EQ_U64(reserved(), 2 * MIB);
    give(one);
    T_EQ_U64(get(512, A), one); /* at once: the same stream */
    expect_log("map 2048K; alloc A; alloc A; free A; done A; alloc A; ");
    T_EQ_U64(calls(PLIM_CALL_HANDLE_CREATE), 1);
    end();
}

static void async_moves_free_pages_where_they_are_needed(void)
{
    plim_addr at[4];
    begin((setup){ .policy = PLIM_POLICY_ASYNC,
                   .device_bytes = 32 * MIB,
                   .release_threshold_bytes = PLIM_UNLIMITED });
    plim_sim_set_used(&now.device, 16 * MIB);
    for (size_t i = 0; i < T_COUNT(at); i++) {
        at[i] = get(4 * MIB, A);
    }
    give(at[0]);
    give(at[2]);
    expect_log("map 4096K; alloc A; map 4096K; alloc A; map 4096K; alloc A; map 4096K; alloc A; "
               "free A; done A; free A; done A; ");
    /* The device is full; 8 MiB are free in two places. */
    const plim_addr moved = get(7 * MIB, A);
    T_EQ_U64(moved, at[3] + 4 * MIB);
    expect_log("unmap 4096K; unmap 4096K; map 8192K; alloc A; ");
    T_EQ_U64(calls(PLIM_CALL_HANDLE_CREATE), 8);
    T_EQ_U64(calls(PLIM_CALL_HANDLE_RELEASE), 0);
    T_EQ_U64(calls(PLIM_CALL_UNMAP), 4);
    T_EQ_U64(stats().num_alloc_retries, 0);
    T_EQ_U64(reserved(), 16 * MIB);
    T_EQ_U64(get(2 * MIB, A), 0); /* 1 MiB is left, in a page that is used */
    T_EQ_U64(get(MIB + 1, A), 0);
    expect_log("oom; oom; ");
    end();
}

static void async_refuses_what_no_range_holds(void)
{
    begin((setup){ .policy = PLIM_POLICY_ASYNC, .device_bytes = 8 * MIB });
    T_EQ_U64(get(100 * MIB, A), 0);
    T_EQ_U64(get(8 * MIB, A), RANGE);
    end();
}

static void async_lends_to_another_stream_what_is_done(void)
{
    begin((setup){
        .policy = PLIM_POLICY_ASYNC, .device_bytes = 64 * MIB, .has_manual_fences = true });
    const plim_addr one = get(4 * MIB, A);
    give(one);
    const plim_addr two = get(4 * MIB, B); /* A is not done: new memory */
    T_TRUE(two != one);
    T_EQ_U64(reserved(), 8 * MIB);
    plim_sim_complete(&now.device, A);
    const plim_addr three = get(4 * MIB, B);
    T_EQ_U64(three, one);
    expect_log("map 4096K; alloc A; free A; done A; map 4096K; alloc B; alloc B; ");
    give(three); /* back to A's range, when B is done with it */
    T_TRUE(get(4 * MIB, A) != one);
    plim_sim_complete(&now.device, B);
    T_EQ_U64(get(4 * MIB, A), one);
    expect_log("free B; map 4096K; alloc A; done B; alloc A; ");
    end();
}

static void async_trims_when_work_is_seen_to_be_done(void)
{
    static const struct {
        uint64_t threshold;
        uint64_t kept;
    } rows[] = { { 0, 2 }, { 6 * MIB, 6 }, { 7 * MIB, 6 }, { PLIM_UNLIMITED, 8 } };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("threshold %" PRIu64, rows[i].threshold);
        begin((setup){ .policy = PLIM_POLICY_ASYNC,
                       .device_bytes = 64 * MIB,
                       .release_threshold_bytes = rows[i].threshold });
        const plim_addr one = get(8 * MIB, A);
        use(one, B);
        give(one);
        T_EQ_U64(reserved(), 8 * MIB);
        T_TRUE(get(1, A) != 0); /* B's event is seen, and the pool trimmed; then a page is moved */
        T_EQ_U64(reserved() / MIB, rows[i].kept);
        empty_cache(); /* trims to nothing, whatever the threshold */
        T_EQ_U64(reserved(), 2 * MIB);
        end();
    }
}

static void async_needs_a_device_that_maps(void)
{
    plim_error err;
    plim_addr addr = 0;
    const plim_sim_options sim = { .total_bytes = 64 * MIB, .cannot_map = true };
    T_EQ_U64(plim_sim_create(&sim, &now.device, &err), PLIM_OK);
    const plim_settings settings = plim_settings_default();
    const plim_allocator_options options = { .devices = &now.device,
                                             .device_count = 1,
                                             .settings = &settings,
                                             .policy = PLIM_POLICY_ASYNC };
    T_EQ_U64(plim_allocator_create(&options, &now.allocator, &err), PLIM_OK);
    T_EQ_U64(plim_malloc(now.allocator, 0, 1, A, &addr, &err), PLIM_UNSUPPORTED);
    plim_allocator_destroy(now.allocator);
    plim_device_destroy(&now.device);
}

/* --- arena --- */

static void arena_gives_each_stream_superblocks(void)
{
    begin((setup){ .policy = PLIM_POLICY_ARENA, .device_bytes = 64 * MIB });
    const plim_addr one = get(100, A);
    T_EQ_U64(one, RANGE); /* a superblock of 1 MiB, of a page of 2 */
    T_EQ_U64(get(1, A), RANGE + 256);
    T_EQ_U64(get(1, B), RANGE + MIB); /* its own superblock */
    T_EQ_U64(get(1, A), RANGE + 512);
    expect_log("map 2048K; alloc A; alloc A; alloc B; alloc A; ");
    T_EQ_U64(get(MIB + 1, A), RANGE + 2 * MIB); /* of the global arena: as large as it is */
    T_EQ_U64(block_bytes(RANGE + 2 * MIB), MIB + 256);
    T_EQ_U64(get(2 * MIB, B), RANGE + 3 * MIB + 256);
    expect_log("map 2048K; alloc A; map 2048K; alloc B; ");
    T_EQ_U64(reserved(), 6 * MIB);
    give(one);
    T_EQ_U64(calls(PLIM_CALL_STREAM_SYNC), 0); /* in its own arena */
    T_EQ_U64(get(257, A), RANGE + 768);        /* 256 bytes are too few: the next that fit */
    T_EQ_U64(get(256, A), one);
    end();
}

static void arena_waits_for_the_stream_of_what_is_large(void)
{
    begin((setup){
        .policy = PLIM_POLICY_ARENA, .device_bytes = 64 * MIB, .has_manual_fences = true });
    const plim_addr one = get(4 * MIB, A);
    const plim_addr two = get(4 * MIB, A);
    T_EQ_U64(two, one + 4 * MIB);
    give(one);
    T_EQ_U64(calls(PLIM_CALL_STREAM_SYNC), 1);
    T_EQ_U64(get(2 * MIB, B), one); /* the head of an empty superblock */
    T_EQ_U64(get(1, B), one + 2 * MIB);
    T_EQ_U64(get(2 * MIB, B),
             two + 4 * MIB); /* 1 MiB is left in front, and was left in one piece */
    T_EQ_U64(get(MIB, B), one + 3 * MIB);
    empty_cache(); /* it keeps what it has */
    T_EQ_U64(reserved(), 10 * MIB);
    end();
}

static void arena_coalesces_empty_superblocks(void)
{
    begin((setup){ .policy = PLIM_POLICY_ARENA, .device_bytes = 64 * MIB });
    const plim_addr one = get(2 * MIB, A);
    const plim_addr two = get(2 * MIB, A);
    const plim_addr three = get(2 * MIB, A);
    give(one);
    give(three);
    give(two);
    T_EQ_U64(get(6 * MIB, A), one);
    T_EQ_U64(reserved(), 6 * MIB);
    T_EQ_U64(stats().num_device_alloc, 3);
    end();
}

static void arena_collects_superblocks_before_it_fails(void)
{
    plim_addr at[4];
    begin((setup){ .policy = PLIM_POLICY_ARENA, .device_bytes = 8 * MIB });
    for (size_t i = 0; i < T_COUNT(at); i++) {
        at[i] = get(600 * KIB, A); /* a superblock each */
    }
    T_EQ_U64(at[3], RANGE + 3 * MIB);
    T_EQ_U64(get(4 * MIB, B), RANGE + 4 * MIB);
    for (size_t i = 0; i < T_COUNT(at); i++) {
        give(at[i]);
    }
    T_EQ_U64(calls(PLIM_CALL_DEVICE_SYNC), 0);
    T_EQ_U64(get(3 * MIB, B), RANGE); /* out of A's arena */
    T_EQ_U64(calls(PLIM_CALL_DEVICE_SYNC), 1);
    T_EQ_U64(stats().num_alloc_retries, 1);
    T_EQ_U64(get(2 * MIB, B), 0);
    T_EQ_U64(get(MIB, A), RANGE + 3 * MIB);
    end();
}

static void arena_collects_however_many_superblocks_there_are(void)
{
    plim_addr at[30];
    begin((setup){ .policy = PLIM_POLICY_ARENA, .device_bytes = 36 * MIB });
    for (size_t i = 0; i < T_COUNT(at); i++) {
        at[i] = get(600 * KIB, A);
    }
    for (size_t i = 0; i < T_COUNT(at); i += 2) { /* no two of them join */
        give(at[i]);
    }
    T_EQ_U64(get(20 * MIB, B), 0);
    T_EQ_U64(stats().num_alloc_retries, 1);
    end();
}

/* --- all of them --- */

static void private_pools_are_as_pytorchs(void)
{
    for (int policy = 1; policy < PLIM_POLICY_COUNT; policy++) {
        plim_error err;
        T_CASE("%s", plim_policy_name((plim_policy_kind)policy));
        begin((setup){ .policy = (plim_policy_kind)policy, .device_bytes = 256 * MIB });
        const plim_pool_id pool = plim_new_pool_id(now.allocator, true);
        T_EQ_U64(plim_pool_begin(now.allocator, 0, pool, NULL, NULL, &err), PLIM_OK);
        const plim_addr one = get(100, A);
        T_EQ_U64(block_bytes(one), 512);
        give(one);
        T_EQ_U64(get(512, A), one); /* it is still there, and at the same place */
        T_EQ_U64(plim_pool_end(now.allocator, 0, pool, &err), PLIM_OK);
        expect_log("+seg 2048K; alloc A; free A; done A; alloc A; ");
        const plim_addr other = get(100, A);
        T_TRUE(other < one || other >= one + 2 * MIB);
        give(other);
        give(one);
        T_EQ_U64(plim_pool_release(now.allocator, 0, pool, &err), PLIM_OK);
        empty_cache();
        end();
    }
}

static void there_is_no_other_policy(void)
{
    plim_error err;
    const plim_sim_options sim = { .total_bytes = 64 * MIB };
    T_EQ_U64(plim_sim_create(&sim, &now.device, &err), PLIM_OK);
    const plim_allocator_options options = { .devices = &now.device,
                                             .device_count = 1,
                                             .policy = PLIM_POLICY_COUNT };
    T_EQ_U64(plim_allocator_create(&options, &now.allocator, &err), PLIM_INVALID_ARGUMENT);
    plim_device_destroy(&now.device);
}

T_MAIN(T_TEST(naive_asks_the_driver_each_time),
       T_TEST(naive_gives_back_what_other_streams_are_done_with), T_TEST(naive_obeys_the_limit),
       T_TEST(bfc_doubles_its_regions), T_TEST(bfc_splits_where_two_pieces_are_reasonable),
       T_TEST(bfc_takes_the_best_fit_and_coalesces), T_TEST(bfc_backs_off_where_the_driver_refuses),
       T_TEST(bfc_collects_free_regions_only_where_asked),
       T_TEST(bfc_shares_between_streams_what_is_done),
       T_TEST(async_lets_small_requests_share_pages),
       T_TEST(async_moves_free_pages_where_they_are_needed),
       T_TEST(async_refuses_what_no_range_holds),
       T_TEST(async_lends_to_another_stream_what_is_done),
       T_TEST(async_trims_when_work_is_seen_to_be_done), T_TEST(async_needs_a_device_that_maps),
       T_TEST(arena_gives_each_stream_superblocks),
       T_TEST(arena_waits_for_the_stream_of_what_is_large),
       T_TEST(arena_coalesces_empty_superblocks),
       T_TEST(arena_collects_superblocks_before_it_fails),
       T_TEST(arena_collects_however_many_superblocks_there_are),
       T_TEST(private_pools_are_as_pytorchs), T_TEST(there_is_no_other_policy))
