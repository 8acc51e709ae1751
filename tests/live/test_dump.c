/*
 * test_dump.c - a dump on request, with a process of our own that answers, fails or is held.
 */
#include "harness.h"

#include "base/process.h"
#include "live/made_page.h"

#include "plimsoll/live.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[64];

static void put(const t_page *page)
{
    const int file = open(path, O_WRONLY);
    T_TRUE(file >= 0);
    T_EQ_I64(pwrite(file, page->bytes, T_PAGE_BYTES, 0), T_PAGE_BYTES);
    (void)close(file);
}

/* A page of this process, and a request made through it. */
static t_page begin(plim_live_dump *dump)
{
    t_page page;
    plim_process process = { 0 };
    (void)snprintf(path, sizeof path, "/tmp/plimsoll dump XXXXXX");
    const int file = mkstemp(path);
    T_TRUE(file >= 0);
    (void)close(file);
    T_TRUE(plim_process_read(getpid(), &process));
    t_page_make(&page, getpid(), process.start, 1);
    t_page_u32(&page, 96, 0);
    t_page_seal(&page);
    put(&page);
    T_EQ_U64(plim_live_read(path, &dump->live, NULL), PLIM_OK);
    T_EQ_U64(plim_live_dump_request(dump, NULL), PLIM_OK);
    t_page_u64(&page, 16, dump->number);
    return page;
}

static uint64_t request_now(void)
{
    plim_live_page live;
    T_EQ_U64(plim_live_read(path, &live, NULL), PLIM_OK);
    return live.request;
}

static void a_request_is_above_all_before(void)
{
    plim_live_dump dump = { 0 };
    (void)begin(&dump);
    T_EQ_U64(dump.number, 6); /* 5 was requested */
    T_EQ_U64(request_now(), 6);
    T_FALSE(plim_live_dump_look(&dump));
    T_FALSE(dump.is_done);
    T_FALSE(dump.was_taken_up);
    (void)unlink(path);
}

static void a_dump_is_seen_at_work_and_done(void)
{
    plim_live_dump dump = { 0 };
    t_page page = begin(&dump);
    t_page_u32(&page, 96, 1);
    t_page_seal(&page);
    put(&page);
    T_FALSE(plim_live_dump_look(&dump));
    T_TRUE(dump.was_taken_up);
    T_TRUE(dump.live.is_dumping);
    t_page_u32(&page, 96, 0);
    t_page_u32(&page, 132, 4);
    t_page_text(&page, 136, "004-request");
    t_page_u64(&page, 24, dump.number);
    t_page_seal(&page);
    put(&page);
    T_TRUE(plim_live_dump_look(&dump));
    T_TRUE(dump.is_done);
    T_FALSE(dump.has_failed);
    T_EQ_STR(dump.live.last_dump, "004-request");
    (void)unlink(path);
}

static void an_answer_without_a_dump_is_a_failure(void)
{
    plim_live_dump dump = { 0 };
    t_page page = begin(&dump);
    t_page_u64(&page, 24, dump.number);
    put(&page);
    T_TRUE(plim_live_dump_look(&dump));
    T_TRUE(dump.is_done);
    T_TRUE(dump.has_failed);
    (void)unlink(path);
}

static void a_request_can_be_withdrawn(void)
{
    plim_live_dump dump = { 0 };
    t_page page = begin(&dump);
    plim_live_dump_withdraw(&dump);
    T_EQ_U64(request_now(), 4);
    t_page_u64(&page, 16, dump.number + 1); /* another reader's stays */
    put(&page);
    plim_live_dump_withdraw(&dump);
    T_EQ_U64(request_now(), dump.number + 1);
    (void)unlink(path);
}

static void a_process_that_ends_is_not_waited_for(void)
{
    plim_live_dump dump = { 0 };
    t_page page = begin(&dump);
    const pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves it */
        (void)pause();
        _exit(0);
    }
    plim_process process = { 0 };
    T_TRUE(plim_process_read(child, &process));
    t_page_u32(&page, 88, (uint32_t)child);
    t_page_u64(&page, 72, process.start);
    t_page_seal(&page);
    put(&page);
    dump.live.pid = child;
    dump.live.start = process.start;
    T_FALSE(plim_live_dump_look(&dump));
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    T_TRUE(plim_live_dump_look(&dump));
    T_TRUE(dump.is_gone);
    T_FALSE(dump.is_done);
    (void)unlink(path);
    T_TRUE(plim_live_dump_look(&dump));
}

static void a_page_that_cannot_be_written_is_an_error(void)
{
    plim_live_dump dump = { .live = { .path = "/nowhere/1.live" } };
    plim_error err = { 0 };
    T_EQ_U64(plim_live_dump_request(&dump, &err), PLIM_IO);
    T_NOT_NULL(strstr(err.message, "/nowhere/1.live"));
    plim_live_dump_withdraw(&dump);
}

T_MAIN(T_TEST(a_request_is_above_all_before), T_TEST(a_dump_is_seen_at_work_and_done),
       T_TEST(an_answer_without_a_dump_is_a_failure), T_TEST(a_request_can_be_withdrawn),
       T_TEST(a_process_that_ends_is_not_waited_for),
       T_TEST(a_page_that_cannot_be_written_is_an_error))
