/*
 * test_oom_advice.c - what would have satisfied a request: every step, every ending, and that
 * nothing is said that the figures do not carry.
 */
#include "harness.h"

#include "base/units.h"
#include "plimsoll/allocator.h"
#include "plimsoll/settings.h"
#include "plimsoll/stats.h"

static char text[PLIM_OOM_ADVICE_BYTES];

/* What comes after the judge's two sentences; those are the first, to the character. */
static const char *advice_of(const plim_oom_facts *facts)
{
    char why[PLIM_WHY_BYTES];
    plim_process_figure processes[PLIM_OOM_PROCESSES_MAX];
    const plim_failed_request request = plim_oom_facts_request(facts, processes);
    const plim_judgement judgement = plim_judge(&request);
    const size_t before = plim_judgement_why(&request, &judgement, why, sizeof why);
    const size_t length = plim_oom_advice(facts, text, sizeof text);
    T_EQ_U64(length, strlen(text));
    T_EQ_MEM(text, why, before);
    return text[before] == ' ' ? text + before + 1 : text + before;
}

/* 1 GiB is wanted of a full device of 24; 20 GiB are live, and the 3 GiB cached are split. */
static plim_oom_facts full(void)
{
    return (plim_oom_facts){
        .requested_bytes = GIB - 100,
        .rounded_bytes = GIB,
        .segment_bytes = GIB,
        .device_total_bytes = 24 * GIB,
        .device_free_bytes = 512 * MIB,
        .allowed_bytes = PLIM_UNLIMITED,
        .allocated_bytes = 20 * GIB,
        .reserved_bytes = 23 * GIB,
        .free_bytes = 3 * GIB,
        .free_own_bytes = 3 * GIB,
        .largest_hole_bytes = 700 * MIB,
        .largest_hole_anywhere_bytes = 700 * MIB,
        .expandable_reserved_bytes = 20 * GIB + 200 * MIB,
        .pid = 4711,
    };
}

#define NEED "The request needs one free range of 1.00 GiB; the device has 512 MiB left."
#define HOLE " Its pool and stream have 3.00 GiB free, but the largest range is 700 MiB."
#define ALL \
    " All that is free, 3.50 GiB, would hold the request, but not in one place that it may take."

/* --- steps that are enough --- */

static void expandable_segments_would_have_joined_the_pieces(void)
{
    plim_oom_facts facts = full();
    facts.pinned_by_split_bytes = 3 * GIB;
    T_EQ_STR(advice_of(&facts),
             NEED HOLE " In all, 3.00 GiB is free in segments that are partly used and cannot go "
                       "back. With expandable_segments:True what is live would keep 20.2 GiB "
                       "reserved and leave 3.30 GiB for one range: the request would have fit.");
}

static void expandable_segments_are_not_advised_where_they_are_on(void)
{
    plim_oom_facts facts = full();
    facts.has_expandable_segments = true;
    T_EQ_STR(advice_of(&facts), NEED HOLE ALL);
}

static void expandable_segments_map_whole_pages(void)
{
    plim_oom_facts facts = full();
    facts.expandable_reserved_bytes = facts.reserved_bytes - 512 * MIB; /* leaves just 1 GiB */
    T_EQ_STR(advice_of(&facts),
             NEED HOLE " With expandable_segments:True what is live would keep 22.5 GiB reserved "
                       "and leave 1.00 GiB for one range: not enough either." ALL);
    facts.expandable_reserved_bytes -= 16 * MIB; /* 1 GiB is 51.2 pages of 20 MiB */
    T_NOT_NULL(strstr(advice_of(&facts), "the request would have fit"));
    facts.expandable_reserved_bytes += 16 * MIB;
    facts.is_small = true; /* and 512 of 2 MiB */
    T_NOT_NULL(strstr(advice_of(&facts), "the request would have fit"));
}

static void a_limit_alone_is_in_the_way(void)
{
    plim_oom_facts facts = full();
    facts.device_free_bytes = 8 * GIB;
    facts.device_total_bytes = 40 * GIB;
    facts.allowed_bytes = 23 * GIB + 512 * MIB;
    facts.has_expandable_segments = true;
    T_EQ_STR(advice_of(&facts),
             "The request needs one free range of 1.00 GiB; the device has 8.00 GiB left." HOLE
             " Only the limit of this process, 23.5 GiB, is in the way: at 24.0 GiB or more the "
             "request would have fit.");
}

static void the_limit_that_would_do_is_rounded_up(void)
{
    plim_oom_facts facts = full();
    facts.device_free_bytes = 8 * GIB;
    facts.device_total_bytes = 40 * GIB;
    facts.allowed_bytes = 23 * GIB;
    facts.rounded_bytes = facts.segment_bytes = GIB + 512; /* 24.0000005 GiB in all */
    T_NOT_NULL(strstr(advice_of(&facts), "at 24.1 GiB or more the request would have fit."));
}

static void wholly_free_segments_can_go_back(void)
{
    plim_oom_facts facts = full();
    facts.releasable_bytes = 600 * MIB;
    facts.has_expandable_segments = true;
    T_EQ_STR(advice_of(&facts), NEED HOLE
             " Wholly free segments hold 600 MiB; releasing them (empty_cache) would have made "
             "room.");
    facts.releasable_bytes = 500 * MIB;
    T_EQ_STR(advice_of(&facts), NEED HOLE
             " Wholly free segments hold 500 MiB; releasing them (empty_cache) would not have "
             "been enough." ALL);
}

static void releasing_has_to_satisfy_the_limit_too(void)
{
    plim_oom_facts facts = full();
    facts.has_expandable_segments = true;
    facts.releasable_bytes = 600 * MIB;
    facts.allowed_bytes = 23 * GIB; /* 23 GiB - 600 MiB + 1 GiB is more */
    T_NOT_NULL(strstr(advice_of(&facts), "would not have been enough"));
    facts.releasable_bytes = GIB;
    T_NOT_NULL(strstr(advice_of(&facts), "would have made room"));
}

static void blocks_that_wait_may_be_enough(void)
{
    plim_oom_facts facts = full();
    facts.has_expandable_segments = true;
    facts.free_own_bytes = 300 * MIB;
    facts.largest_hole_bytes = 300 * MIB;
    facts.largest_hole_anywhere_bytes = 300 * MIB;
    facts.pending_bytes = 800 * MIB;
    T_EQ_STR(advice_of(&facts),
             NEED " Its pool and stream have 300 MiB free, but the largest range is 300 MiB. "
                  "Freed blocks of 800 MiB wait for other streams: a synchronize would free them, "
                  "which may be enough.");
    facts.pending_bytes = 100 * MIB;
    T_EQ_STR(advice_of(&facts),
             NEED " Its pool and stream have 300 MiB free, but the largest range is 300 MiB. "
                  "Freed blocks of 100 MiB wait for other streams: a synchronize would free them, "
                  "which is not enough." ALL);
}

static void another_stream_has_a_range(void)
{
    plim_oom_facts facts = full();
    facts.has_expandable_segments = true;
    facts.free_own_bytes = 0;
    facts.largest_hole_bytes = 0;
    facts.free_other_stream_bytes = 3 * GIB;
    facts.largest_hole_anywhere_bytes = 2 * GIB;
    T_EQ_STR(advice_of(&facts),
             NEED " Nothing is free in its pool and stream. Another stream or pool has a free "
                  "range of 2.00 GiB: allocated there, the request may have fit.");
}

static void what_is_free_elsewhere_is_told_of(void)
{
    plim_oom_facts facts = full();
    facts.has_expandable_segments = true;
    facts.free_own_bytes = facts.largest_hole_bytes = 0;
    facts.largest_hole_anywhere_bytes = 400 * MIB;
    facts.free_other_stream_bytes = 2 * GIB;
    T_EQ_STR(advice_of(&facts), NEED " Nothing is free in its pool and stream. Free but not for "
                                     "this request is 2.00 GiB of other streams." ALL);
    facts.private_pools_free_bytes = GIB;
    T_EQ_STR(advice_of(&facts),
             NEED " Nothing is free in its pool and stream. Free but not for this request is 2.00 "
                  "GiB of other streams and 1.00 GiB in private pools." ALL);
    facts.free_other_stream_bytes = 0;
    T_EQ_STR(advice_of(&facts), NEED " Nothing is free in its pool and stream. Free but not for "
                                     "this request is 1.00 GiB in private pools." ALL);
    facts.pool.b = 7; /* the request's own pool is one of them */
    T_EQ_STR(advice_of(&facts), NEED " Nothing is free in its pool and stream." ALL);
}

static void other_processes_are_in_the_way(void)
{
    plim_oom_facts facts = full();
    facts.reserved_bytes = facts.allocated_bytes = 10 * GIB;
    facts.free_own_bytes = facts.largest_hole_bytes = facts.largest_hole_anywhere_bytes = 0;
    facts.processes[0] = (plim_device_process){ 1, 12 * GIB };
    facts.processes[1] = (plim_device_process){ 4711, 11 * GIB };
    facts.processes[2] = (plim_device_process){ 2, PLIM_USED_UNKNOWN };
    facts.process_count = 3;
    T_EQ_STR(advice_of(&facts),
             NEED " Nothing is free in its pool and stream. Other processes hold 12.0 GiB of the "
                  "device; without them the request would have fit.");
    facts.processes[0].used_bytes = 100 * MIB;
    T_EQ_STR(advice_of(&facts),
             NEED " Nothing is free in its pool and stream. Other processes hold 100 MiB of the "
                  "device. Even with all that is cached the request is 512 MiB short: so much "
                  "less has to be live.");
}

static void without_our_own_process_in_the_list_nobody_is_accused(void)
{
    plim_oom_facts facts = full();
    facts.reserved_bytes = facts.allocated_bytes = 10 * GIB;
    facts.free_own_bytes = facts.largest_hole_bytes = facts.largest_hole_anywhere_bytes = 0;
    facts.processes[0] = (plim_device_process){ 1, 12 * GIB }; /* may be us, by another number */
    facts.process_count = 1;
    T_EQ_STR(advice_of(&facts),
             NEED " Nothing is free in its pool and stream. Outside this allocator 13.5 GiB of "
                  "the device is taken: contexts, libraries, perhaps other processes. Even with "
                  "all that is cached the request is 512 MiB short: so much less has to be live.");
}

static void a_device_that_refuses_what_it_has(void)
{
    plim_oom_facts facts = full();
    facts.has_expandable_segments = true;
    facts.device_free_bytes = GIB;
    T_EQ_STR(advice_of(&facts),
             "The request needs one free range of 1.00 GiB; the device has 1.00 GiB left." HOLE
             " The device has enough and refused all the same: others may have held it for a "
             "moment, and a second try may do.");
}

/* 1 GiB is 51.2 pages of 20 MiB: 52 are 1040 MiB. */
static void a_device_has_to_have_whole_pages(void)
{
    plim_oom_facts facts = full();
    facts.has_expandable_segments = true;
    facts.handle_bytes = 20 * MIB;
    facts.device_free_bytes = 1039 * MIB;
    facts.reserved_bytes -= GIB;
    T_EQ_STR(advice_of(&facts),
             "The request needs one free range of 1.00 GiB or 1.02 GiB of new pages; the device "
             "has 1.01 GiB left. Its pool and stream have 2.00 GiB free, but the largest range is "
             "700 MiB. What the device has left would hold the request, but memory is mapped in "
             "whole pages of 20.0 MiB.");
    facts.device_free_bytes = 1040 * MIB;
    T_NOT_NULL(strstr(advice_of(&facts), "a second try may do"));
    facts.handle_bytes = 64 * MIB; /* large_segment_size_mb:64, and 1 GiB is 16 of them */
    facts.device_free_bytes = GIB;
    T_NOT_NULL(strstr(advice_of(&facts), "a second try may do"));
    facts.device_free_bytes = GIB - 1;
    T_NULL(strstr(advice_of(&facts), "a second try may do"));
    facts.has_expandable_segments = false; /* the size of pages says nothing about segments */
    facts.handle_bytes = 3 * GIB;
    facts.device_free_bytes = GIB;
    T_NOT_NULL(strstr(advice_of(&facts), "a second try may do"));
}

/* 25 MiB are two pages of 20, and the device has 30; of 64 MiB it has none. */
static void an_allocator_says_how_large_its_pages_are(void)
{
    static const struct {
        const char *settings;
        uint64_t handle_bytes;
        const char *words;
    } cases[] = {
        { "expandable_segments:True", 20 * MIB, "mapped in whole pages of 20.0 MiB" },
        { "expandable_segments:True,large_segment_size_mb:64", 64 * MIB,
          "mapped in whole pages of 64.0 MiB" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].settings);
        plim_device device;
        const plim_sim_options sim = { .total_bytes = 30 * MIB };
        T_EQ_U64(plim_sim_create(&sim, &device, NULL), PLIM_OK);
        plim_settings settings = plim_settings_default();
        T_EQ_U64(plim_settings_parse(cases[i].settings, &settings, NULL), PLIM_OK);
        const plim_allocator_options options = { .devices = &device,
                                                 .device_count = 1,
                                                 .settings = &settings };
        plim_allocator *allocator = NULL;
        T_EQ_U64(plim_allocator_create(&options, &allocator, NULL), PLIM_OK);
        plim_addr addr = 0;
        T_EQ_U64(plim_malloc(allocator, 0, 25 * MIB, 0, &addr, NULL), PLIM_OUT_OF_DEVICE_MEMORY);
        plim_oom_facts facts;
        T_TRUE(plim_allocator_last_oom(allocator, 0, &facts));
        T_EQ_U64(facts.handle_bytes, cases[i].handle_bytes);
        T_NOT_NULL(strstr(advice_of(&facts), cases[i].words));
        plim_allocator_destroy(allocator);
        plim_device_destroy(&device);
    }
}

static void pages_that_go_back_have_to_be_whole_too(void)
{
    plim_oom_facts facts = full();
    facts.has_expandable_segments = true;
    facts.handle_bytes = 20 * MIB;
    facts.releasable_bytes = 527 * MIB; /* and 512: one MiB short, */
    facts.largest_hole_bytes = 0;
    T_NOT_NULL(strstr(advice_of(&facts), "would not have been enough"));
    facts.largest_hole_bytes = MIB; /* unless it lies where new pages would */
    T_NULL(strstr(advice_of(&facts), "empty_cache"));
    facts.releasable_bytes = 528 * MIB;
    T_NOT_NULL(strstr(advice_of(&facts), "would have made room"));
}

static void expandable_segments_are_judged_by_the_pages_they_would_have(void)
{
    plim_oom_facts facts = full();
    facts.expandable_reserved_bytes = facts.reserved_bytes - 512 * MIB; /* leaves just 1 GiB */
    facts.handle_bytes = 64 * MIB;
    T_NOT_NULL(strstr(advice_of(&facts), "the request would have fit"));
    facts.handle_bytes = 20 * MIB;
    T_NOT_NULL(strstr(advice_of(&facts), "not enough either"));
}

static void a_refusal_without_asking(void)
{
    plim_oom_facts facts = full();
    facts.is_rejection = true;
    facts.pinned_by_split_bytes = GIB;
    facts.device_free_bytes = GIB;
    T_EQ_STR(advice_of(&facts),
             "The request needs one free range of 1.00 GiB; the device has 1.00 GiB left. It was "
             "refused without asking the device (throw_on_cudamalloc_oom)." HOLE
             " Without that setting the device would have been asked, and it has enough. With "
             "expandable_segments:True what is live would keep 20.2 GiB reserved and leave 3.80 "
             "GiB for one range: the request would have fit.");
}

static void no_more_than_two_steps_are_told(void)
{
    plim_oom_facts facts = full();
    facts.releasable_bytes = GIB;
    facts.pending_bytes = GIB;
    T_NOT_NULL(strstr(advice_of(&facts), "empty_cache"));
    T_NOT_NULL(strstr(advice_of(&facts), "synchronize"));
    T_NULL(strstr(advice_of(&facts), "expandable"));
}

/* --- endings --- */

static void the_device_is_simply_short(void)
{
    plim_oom_facts facts = full();
    facts.reserved_bytes = 20 * GIB + 100 * MIB;
    facts.free_own_bytes = 100 * MIB;
    facts.largest_hole_bytes = facts.largest_hole_anywhere_bytes = 60 * MIB;
    facts.expandable_reserved_bytes = facts.reserved_bytes;
    facts.device_total_bytes = 21 * GIB;
    T_EQ_STR(advice_of(&facts),
             NEED " Its pool and stream have 100 MiB free, but the largest range is 60.0 MiB. "
                  "Even with all that is cached the request is 412 MiB short: so much less has to "
                  "be live.");
    facts.allowed_bytes = 20 * GIB + 200 * MIB;
    T_EQ_STR(advice_of(&facts),
             NEED " Its pool and stream have 100 MiB free, but the largest range is 60.0 MiB. "
                  "Even with all that is cached, under the limit of 20.2 GiB, the request is 824 "
                  "MiB short: so much less has to be live.");
}

static void a_request_larger_than_the_device(void)
{
    plim_oom_facts facts = full();
    facts.requested_bytes = facts.rounded_bytes = facts.segment_bytes = 25 * GIB;
    T_EQ_STR(advice_of(&facts),
             "The request needs one free range of 25.0 GiB; the device has 512 MiB left. That is "
             "more than the whole device, 24.0 GiB: only a smaller request can succeed.");
}

static void a_new_segment_may_be_larger_than_the_request(void)
{
    plim_oom_facts facts = full();
    facts.requested_bytes = facts.rounded_bytes = 5 * MIB;
    facts.segment_bytes = 20 * MIB;
    facts.device_free_bytes = 10 * MIB;
    facts.largest_hole_bytes = facts.largest_hole_anywhere_bytes = 4 * MIB;
    facts.has_expandable_segments = true;
    T_EQ_STR(advice_of(&facts),
             "The request needs one free range of 5.00 MiB or a new segment of 20.0 MiB; the "
             "device has 10.0 MiB left. Its pool and stream have 3.00 GiB free, but the largest "
             "range is 4.00 MiB. All that is free, 3.01 GiB, would hold the request, but not in "
             "one place that it may take.");
}

static void a_range_that_settings_withhold(void)
{
    plim_oom_facts facts = full();
    facts.has_expandable_segments = true;
    facts.largest_hole_bytes = facts.largest_hole_anywhere_bytes = 2 * GIB;
    T_EQ_STR(advice_of(&facts),
             NEED " A free range of 2.00 GiB is large enough, but settings such as "
                  "max_split_size_mb may keep it for other sizes.");
}

/* --- figures that are not there, or cannot be --- */

static void nothing_is_advised_where_nothing_is_known(void)
{
    const plim_oom_facts facts = { 0 };
    T_EQ_STR(advice_of(&facts), "");
}

static void a_device_that_tells_nothing(void)
{
    const plim_oom_facts facts = { .requested_bytes = MIB, .allowed_bytes = PLIM_UNLIMITED };
    T_EQ_STR(advice_of(&facts), "The request needs one free range of 1.00 MiB. Nothing is free in "
                                "its pool and stream.");
}

static void nothing_left_and_nothing_live(void)
{
    plim_oom_facts facts = full();
    facts.device_free_bytes = 0;
    facts.allocated_bytes = facts.expandable_reserved_bytes = 0;
    T_EQ_STR(advice_of(&facts),
             "The request needs one free range of 1.00 GiB; the device has nothing left." HOLE
             " With expandable_segments:True what is live would keep nothing reserved and leave "
             "23.0 GiB for one range: the request would have fit.");
}

static void less_reserved_than_live_is_no_advice(void)
{
    plim_oom_facts facts = full();
    facts.expandable_reserved_bytes = 10 * GIB; /* below what is live: it was not worked out */
    T_NULL(strstr(advice_of(&facts), "expandable"));
    facts.reserved_bytes = 10 * GIB; /* below what is live: nothing can be cached */
    facts.releasable_bytes = facts.pending_bytes = facts.pinned_by_split_bytes = GIB;
    facts.device_total_bytes = 11 * GIB;
    T_EQ_STR(advice_of(&facts),
             NEED " Nothing is free in its pool and stream. Even with all that is cached the "
                  "request is 512 MiB short: so much less has to be live.");
}

static uint64_t any_bytes(void)
{
    switch (t_random_between(0, 5)) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX - t_random_between(0, 2);
    case 2:
        return t_random();
    default:
        return t_random_bytes(1, 100 * GIB);
    }
}

static plim_oom_facts any_facts(void)
{
    plim_oom_facts facts = {
        .pool = { .b = t_random_between(0, 1) },
        .is_small = t_random_between(0, 1) == 1,
        .is_rejection = t_random_between(0, 7) == 0,
        .has_expandable_segments = t_random_between(0, 1) == 1,
        .handle_bytes = any_bytes(),
        .requested_bytes = any_bytes(),
        .rounded_bytes = any_bytes(),
        .segment_bytes = any_bytes(),
        .device_total_bytes = any_bytes(),
        .device_free_bytes = any_bytes(),
        .allowed_bytes = t_random_between(0, 1) == 1 ? PLIM_UNLIMITED : any_bytes(),
        .allocated_bytes = any_bytes(),
        .reserved_bytes = any_bytes(),
        .private_pools_free_bytes = any_bytes(),
        .pid = 1,
        .process_count = t_random_between(0, PLIM_OOM_PROCESSES_MAX),
        .free_bytes = any_bytes(),
        .free_own_bytes = any_bytes(),
        .free_other_stream_bytes = any_bytes(),
        .largest_hole_bytes = any_bytes(),
        .largest_hole_anywhere_bytes = any_bytes(),
        .releasable_bytes = any_bytes(),
        .pending_bytes = any_bytes(),
        .pinned_by_split_bytes = any_bytes(),
        .expandable_reserved_bytes = any_bytes(),
    };
    for (size_t i = 0; i < facts.process_count; i++) {
        facts.processes[i] = (plim_device_process){ (int64_t)t_random_between(1, 40), any_bytes() };
    }
    return facts;
}

static size_t sentences_of(const char *paragraph)
{
    size_t count = 0;
    for (const char *at = paragraph; (at = strstr(at, ".")) != NULL; at++) {
        count += at[1] == ' ' || at[1] == '\0' ? 1 : 0;
    }
    return count;
}

/* Whatever the figures are, what is said follows from them. */
static void nothing_is_said_that_the_figures_do_not_carry(void)
{
    for (int i = 0; i < 50000; i++) {
        const plim_oom_facts facts = any_facts();
        const char *const advice = advice_of(&facts);
        const size_t length = strlen(advice);
        T_CASE("%.150s", advice);
        const uint64_t sizes = facts.requested_bytes | facts.rounded_bytes | facts.segment_bytes;
        T_TRUE(length < 1000 && (length > 0) == (sizes > 0));
        T_TRUE(length == 0 || advice[length - 1] == '.');
        T_TRUE(sentences_of(advice) <= 6);
        T_TRUE(facts.allowed_bytes == 0 || strstr(advice, " 0 B") == NULL);
        T_NULL(strchr(advice, '-'));
        if (strstr(advice, "expandable_segments") != NULL) {
            T_FALSE(facts.has_expandable_segments);
            T_TRUE(facts.expandable_reserved_bytes >= facts.allocated_bytes);
            T_TRUE(facts.expandable_reserved_bytes < facts.reserved_bytes);
        }
        if (strstr(advice, "empty_cache") != NULL) {
            T_TRUE(facts.releasable_bytes > 0 && facts.reserved_bytes > facts.allocated_bytes);
        }
        if (strstr(advice, "synchronize") != NULL) {
            T_TRUE(facts.pending_bytes > 0);
        }
        if (strstr(advice, "limit") != NULL) {
            T_TRUE(facts.allowed_bytes != PLIM_UNLIMITED);
        }
        if (strstr(advice, "short") != NULL) {
            T_NULL(strstr(advice, "would have fit"));
            T_NULL(strstr(advice, "may be enough"));
            T_NULL(strstr(advice, "made room"));
        }
    }
}

static void a_small_room_is_never_left(void)
{
    plim_oom_facts facts = full();
    char whole[PLIM_OOM_ADVICE_BYTES];
    const size_t length = plim_oom_advice(&facts, whole, sizeof whole);
    T_EQ_U64(plim_oom_advice(&facts, NULL, 0), length);
    for (size_t bytes = 1; bytes <= length + 1; bytes++) {
        char *const exact = malloc(bytes);
        T_NOT_NULL(exact);
        T_EQ_U64(plim_oom_advice(&facts, exact, bytes), length);
        T_EQ_U64(strlen(exact), bytes - 1);
        T_EQ_MEM(exact, whole, bytes - 1);
        free(exact);
    }
}

T_MAIN(T_TEST(expandable_segments_would_have_joined_the_pieces),
       T_TEST(expandable_segments_are_not_advised_where_they_are_on),
       T_TEST(expandable_segments_map_whole_pages), T_TEST(a_limit_alone_is_in_the_way),
       T_TEST(the_limit_that_would_do_is_rounded_up), T_TEST(wholly_free_segments_can_go_back),
       T_TEST(releasing_has_to_satisfy_the_limit_too), T_TEST(blocks_that_wait_may_be_enough),
       T_TEST(another_stream_has_a_range), T_TEST(what_is_free_elsewhere_is_told_of),
       T_TEST(other_processes_are_in_the_way),
       T_TEST(without_our_own_process_in_the_list_nobody_is_accused),
       T_TEST(a_device_that_refuses_what_it_has), T_TEST(a_device_has_to_have_whole_pages),
       T_TEST(an_allocator_says_how_large_its_pages_are),
       T_TEST(pages_that_go_back_have_to_be_whole_too),
       T_TEST(expandable_segments_are_judged_by_the_pages_they_would_have),
       T_TEST(a_refusal_without_asking), T_TEST(no_more_than_two_steps_are_told),
       T_TEST(the_device_is_simply_short), T_TEST(a_request_larger_than_the_device),
       T_TEST(a_new_segment_may_be_larger_than_the_request), T_TEST(a_range_that_settings_withhold),
       T_TEST(nothing_is_advised_where_nothing_is_known), T_TEST(a_device_that_tells_nothing),
       T_TEST(nothing_left_and_nothing_live), T_TEST(less_reserved_than_live_is_no_advice),
       T_TEST(nothing_is_said_that_the_figures_do_not_carry), T_TEST(a_small_room_is_never_left))
