/*
 * workers.c - rehearsals, some at a time, each in a process of its own.
 *
 * plim_launch() waits for signals and children of its whole process, so that one process can run
 * one program at a time. A worker is a fork of this one: it rehearses, leaves the sample in memory
 * that both share, and ends.
 *
 *   this process ── fork ──► worker ── fork, exec ──► python train.py
 *        │  signals that would end it are held here and passed on; workers end their programs,
 *        │  remove their folders, and say that they were interrupted
 *        ├── a worker whose parent is killed gets SIGTERM, and does the same
 *        ├── what a program started and left running is the worker's from then on: ending.c
 *        └── a worker that is killed takes its program along; its folder is removed here
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/units.h"
#include "fit/ending.h"
#include "fit/search.h"
#include "rehearse/folder.h"
#include "rehearse/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS  20000000L
#define GRACE_NS UINT64_C(5000000000) /* after a signal, for programs that ignore it */

typedef struct worker {
    pid_t pid; /* 0: none, or it has ended */
} worker;

/* The program's own input is read once, if at all; here it runs often. */
static void take_no_input(void)
{
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) {
        (void)dup2(nothing, STDIN_FILENO);
        (void)close(nothing);
    }
}

/* Programs that take more memory than the machine has end before anything else of the user does. */
static void be_killed_first(void)
{
    static const char most[] = "1000";
    const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        (void)!write(file, most, sizeof(most) - 1);
        (void)close(file);
    }
}

_Noreturn static void be_worker(const plim_fit_workers *workers, const plim_fit_request *request,
                                plim_held_signals signals, pid_t parent, plim_fit_sample *ret)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        _exit(EXIT_FAILURE);
    }
    plim_fit_adopt_orphans();
    be_killed_first();
    take_no_input();
    plim_signals_release(signals);
    plim_fit_rehearse(workers, request, ret);
    _exit(EXIT_SUCCESS);
}

static size_t count_running(const worker *all, size_t count)
{
    size_t running = 0;
    for (size_t i = 0; i < count; i++) {
        running += all[i].pid > 0;
    }
    return running;
}

static void collect(worker *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int status = 0;
        const pid_t mine = all[i].pid;
        if (mine > 0) {
            const pid_t pid = waitpid(mine, &status, WNOHANG);
            /* ECHILD: SIGCHLD is ignored in this process; it has ended, too. */
            all[i].pid = pid == mine || (pid < 0 && errno == ECHILD) ? 0 : mine;
        }
        if (mine > 0 && all[i].pid == 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
            plim_folder_remove_of(mine);
        }
    }
}

/* Waits a tick, or for a signal, which workers get too unless a terminal signalled them itself. */
static bool wait_for_signal(const worker *all, size_t count)
{
    static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    const struct timespec tick = { .tv_nsec = TICK_NS };
    sigset_t set;
    sigset_t blocked;
    sigemptyset(&set);
    (void)sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
        if (sigismember(&blocked, deadly[i]) == 1) {
            (void)sigaddset(&set, deadly[i]);
        }
    }
    siginfo_t info = { 0 };
    const int signal = sigtimedwait(&set, &info, &tick);
    for (size_t i = 0; signal > 0 && info.si_code != SI_KERNEL && i < count; i++) {
        if (all[i].pid > 0) {
            (void)kill(all[i].pid, signal);
        }
    }
    return signal > 0;
}

/* A program that goes on after a signal gets SIGTERM, and later SIGKILL; its worker then ends. */
static void press(const worker *all, size_t count, uint64_t since_ns)
{
    const uint64_t passed_ns = plim_clock_now_ns(&plim_clock_system) - since_ns;
    for (size_t i = 0; i < count && passed_ns > GRACE_NS; i++) {
        if (all[i].pid > 0) {
            plim_fit_signal_children(all[i].pid, passed_ns > 2 * GRACE_NS ? SIGKILL : SIGTERM);
        }
    }
}

typedef struct round {
    const plim_fit_workers *workers;
    const plim_fit_request *requests;
    size_t count;
    plim_fit_sample *samples; /* shared */
    worker all[PLIM_FIT_ROUND_MAX];
} round;

static bool may_start(const round *self, size_t next)
{
    return count_running(self->all, next) < self->workers->parallel;
}

/* Samples stand in the order of the requests, not of ends. False: interrupted. */
static bool run_all(round *self, plim_held_signals signals, int *ret_errno)
{
    const pid_t parent = getpid();
    size_t started = 0;
    bool is_interrupted = false;
    uint64_t since_ns = 0;
    while (started < self->count || count_running(self->all, started) > 0) {
        collect(self->all, started);
        while (started < self->count && !is_interrupted && may_start(self, started)) {
            const pid_t pid = fork();
            if (pid == 0) {
                be_worker(self->workers, &self->requests[started], signals, parent,
                          &self->samples[started]);
            }
            if (pid < 0) {
                *ret_errno = errno;
                is_interrupted = true; /* of what runs the end is awaited */
                break;
            }
            self->all[started++].pid = pid;
        }
        if (is_interrupted && count_running(self->all, started) == 0) {
            return false;
        }
        const bool is_signalled = wait_for_signal(self->all, started);
        is_interrupted = is_signalled || is_interrupted;
        if (is_signalled && since_ns == 0) {
            since_ns = plim_clock_now_ns(&plim_clock_system);
        } else if (since_ns > 0) {
            press(self->all, started, since_ns);
        }
    }
    return !is_interrupted;
}

/* Rehearses all; false: interrupted. */
static bool run_round(round *self, int *ret_errno)
{
    const plim_held_signals signals = plim_signals_hold();
    bool is_whole = run_all(self, signals, ret_errno);
    is_whole = !plim_signals_drop(signals) && is_whole;
    plim_signals_release(signals);
    for (size_t i = 0; i < self->count; i++) {
        is_whole = is_whole && !self->samples[i].is_interrupted;
    }
    return is_whole;
}

/* Those that failed because two ran at a time, one after the other; so do all from then on. */
static bool run_again_alone(plim_fit_workers *workers, const round *all, int *ret_errno)
{
    bool is_whole = true;
    for (size_t i = 0; i < all->count && is_whole; i++) {
        if (all->samples[i].is_in_the_way) {
            workers->parallel = 1;
            round one = { .workers = workers,
                          .requests = &all->requests[i],
                          .count = 1,
                          .samples = &all->samples[i] };
            memset(one.samples, 0, sizeof(*one.samples));
            is_whole = run_round(&one, ret_errno);
        }
    }
    return is_whole;
}

plim_status plim_fit_workers_run(void *ctx, const plim_fit_request *requests, size_t count,
                                 plim_fit_sample *ret, plim_error *err)
{
    plim_fit_workers *const workers = ctx;
    const bool is_parallel = workers->parallel > 1 && count > 1;
    const size_t bytes = count * sizeof(*ret);
    void *const shared =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return plim_fail_errno(err, errno, "cannot share memory with workers");
    }
    round self = { .workers = workers, .requests = requests, .count = count, .samples = shared };
    int code = 0;
    bool is_whole = run_round(&self, &code);
    if (is_whole && is_parallel) {
        is_whole = run_again_alone(workers, &self, &code);
    }
    memcpy(ret, shared, bytes);
    (void)munmap(shared, bytes);
    if (code != 0) {
        return plim_fail_errno(err, code, "cannot start a worker");
    }
    return is_whole ? PLIM_OK : plim_fail(err, PLIM_CANCELLED, "interrupted");
}
