/*
 * launch.c - starting the command, forwarding signals to it, waiting for its last output, and the
 * judgement.
 *
 * One thread and one poll(): signals come as data (signalfd), so there are no handlers and no
 * globals. The command stays in our process group and session, so the terminal's signals, stopping
 * and continuing reach it directly. docs/design/launch.md argues for each of this.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "launch/kills.h"
#include "launch/lines.h"
#include "launch/path.h"
#include "launch/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define ASK_PERSONALITY 0xffffffffUL /* personality(2): returns it, changes nothing */
/* After the command's end its children may still hold its streams: their output is awaited. */
#define QUIET_NS        UINT64_C(100000000)  /* until so long a silence */
#define TALK_NS         UINT64_C(1000000000) /* at most so long */
#define GRACE_NS        UINT64_C(5000000000) /* from SIGTERM to SIGKILL, where it takes too long */
#define PIPE_BYTES_MOST ((uint64_t)1 << 20)  /* what a pipe may hold: fs.pipe-max-size, pipe(7) */

#define HOST_CONFIDENCE_MIN 0.5 /* of a message: below, a failure of the host is only a guess */

typedef struct launch {
    char *const *argv;
    const plim_launch_options *options;
    plim_launch_stream streams[PLIM_LAUNCH_STREAMS];
    size_t stream_count;
    plim_launch_lines lines;
    sigset_t old_mask;
    struct sigaction old_child_action;
    int signals; /* signalfd */
    pid_t pid;
    bool has_exited;
    int wait_status;
    uint64_t start_ns;
    uint64_t exit_ns;
    uint64_t quiet_ns; /* the end of the silence that is waited for */
    uint64_t bytes_since_exit[PLIM_LAUNCH_STREAMS];
    uint64_t late_ns; /* from when on the command takes too long; UINT64_MAX: never */
    bool is_late;
    bool is_interrupted; /* by a signal after the command had ended */
} launch;

/* --- before and after --- */

static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

/* Signals become data. An inherited SIG_IGN for SIGCHLD would hide how the command ended. */
static bool take_signals(launch *run)
{
    sigset_t ours;
    sigemptyset(&ours);
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++) {
        sigaddset(&ours, forwarded[i]);
    }
    sigaddset(&ours, SIGCHLD);
    sigaddset(&ours, SIGWINCH);
    sigaddset(&ours, SIGCONT);
    run->signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    if (run->signals < 0) {
        return false;
    }
    const struct sigaction plain = { .sa_handler = SIG_DFL };
    sigaction(SIGCHLD, &plain, &run->old_child_action);
    sigprocmask(SIG_BLOCK, &ours, &run->old_mask);
    return true;
}

static void give_signals_back(launch *run)
{
    struct signalfd_siginfo info;
    while (read(run->signals, &info, sizeof info) > 0) {
        /* Signals for the command must not take effect here now. */
    }
    close(run->signals);
    sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
    sigaction(SIGCHLD, &run->old_child_action, NULL);
}

static bool put_streams_in_place(const launch *run)
{
    for (size_t i = 0; i < run->stream_count; i++) {
        if (!plim_launch_stream_take(&run->streams[i])) {
            return false;
        }
    }
    return true;
}

/* In the new process: become the command, or send errno through `report`. */
_Noreturn static void become_command(const launch *run, int report)
{
    if (put_streams_in_place(run)) {
        const struct sigaction plain = { .sa_handler = SIG_DFL };
        sigaction(SIGPIPE, &plain, NULL); /* ignored by the caller */
        sigaction(SIGCHLD, &run->old_child_action, NULL);
        sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
        if (run->options->ends_with_caller) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        }
        const int persona = personality(ASK_PERSONALITY);
        if (run->options->has_fixed_addresses && persona >= 0) {
            (void)personality((unsigned long)persona | ADDR_NO_RANDOMIZE);
        }
        char *const *environment = run->options->environment;
        execvpe(run->argv[0], run->argv, environment != NULL ? environment : environ);
    }
    const int code = errno;
    const ssize_t written = write(report, &code, sizeof code);
    _exit(written == (ssize_t)sizeof code ? PLIM_LAUNCH_NOT_FOUND : PLIM_LAUNCH_FAILED);
}

static bool start(launch *run, int *ret_code)
{
    int report[2]; /* closed by exec, or errno comes out of it */
    if (pipe2(report, O_CLOEXEC) != 0) {
        *ret_code = errno;
        return false;
    }
    run->start_ns = plim_clock_now_ns(&plim_clock_system);
    run->late_ns = run->options->seconds_max > 0
                       ? run->start_ns + (uint64_t)(run->options->seconds_max * (double)NS_PER_S)
                       : UINT64_MAX;
    run->pid = fork();
    if (run->pid == 0) {
        become_command(run, report[1]);
    }
    const int fork_code = errno;
    close(report[1]);
    for (size_t i = 0; i < run->stream_count; i++) {
        plim_launch_stream_let_go(&run->streams[i]);
    }
    int code = fork_code;
    ssize_t got = sizeof code;
    while (run->pid > 0 && (got = read(report[0], &code, sizeof code)) < 0 && errno == EINTR) {
    }
    close(report[0]);
    if (got == 0) {
        return true;
    }
    if (run->pid > 0) {
        waitpid(run->pid, NULL, 0);
    }
    *ret_code = code;
    return false;
}

/* The status that a shell would give, and why. */
static plim_status fail_to_start(const launch *run, int code, int *ret_exit_status, plim_error *err)
{
    const char *name = run->argv[0];
    if (run->pid <= 0) {
        *ret_exit_status = PLIM_LAUNCH_FAILED;
        return plim_fail_errno(err, code, "cannot start a process");
    }
    /* execvp() reports EACCES too for a folder of PATH that it may not search. */
    char path[4096];
    const bool is_searched = strchr(name, '/') == NULL;
    const bool is_missing = code == ENOENT || (code == EACCES && is_searched &&
                                               !plim_path_find(name, false, path, sizeof path));
    *ret_exit_status = is_missing ? PLIM_LAUNCH_NOT_FOUND : PLIM_LAUNCH_NOT_EXECUTABLE;
    return is_missing && is_searched ? plim_fail(err, PLIM_INVALID_ARGUMENT,
                                                 "cannot find the command \"%s\" in PATH", name)
                                     : plim_fail(err, PLIM_INVALID_ARGUMENT,
                                                 "cannot run \"%s\": %s", name, strerror(code));
}

/* --- while it runs --- */

static void collect(launch *run)
{
    int status = 0;
    pid_t pid = 0;
    /* Any: as the first process of a container we inherit the orphans of all others. */
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == run->pid) {
            run->has_exited = true;
            run->wait_status = status;
            run->exit_ns = plim_clock_now_ns(&plim_clock_system);
            run->quiet_ns = run->exit_ns + QUIET_NS;
        }
    }
}

static void resize(launch *run)
{
    bool is_changed = false;
    for (size_t i = 0; i < run->stream_count; i++) {
        is_changed = plim_launch_stream_resize(&run->streams[i]) || is_changed;
    }
    /* The kernel signalled the command before its own window had changed: so once more. */
    if (is_changed && !run->has_exited) {
        kill(run->pid, SIGWINCH);
    }
}

static void forward(launch *run, const struct signalfd_siginfo *info)
{
    if (run->has_exited) {
        run->is_interrupted =
            run->is_interrupted || (info->ssi_signo != SIGUSR1 && info->ssi_signo != SIGUSR2);
        return;
    }
    /* The terminal signals its whole foreground group; but a dropped line only the leader of the
     * session, which may be this process (ssh -t, docker run -t). */
    const bool has_it_too =
        info->ssi_code == SI_KERNEL && (info->ssi_signo != SIGHUP || getsid(0) != getpid());
    /* "kill 0" in a script is for its group, and we are in it. */
    const bool is_its_own = info->ssi_code == SI_USER && info->ssi_pid == (uint32_t)run->pid;
    if (!has_it_too && !is_its_own) {
        kill(run->pid, (int)info->ssi_signo);
    }
}

static void take_signal(launch *run)
{
    struct signalfd_siginfo info;
    while (read(run->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        switch (info.ssi_signo) {
        case SIGCHLD:
            collect(run);
            break;
        case SIGWINCH:
        case SIGCONT: /* a window may have changed while we were stopped */
            resize(run);
            break;
        default:
            forward(run, &info);
            break;
        }
    }
}

static void move_streams(launch *run, const struct pollfd *fds)
{
    for (size_t i = 0; i < run->stream_count; i++) {
        plim_launch_stream *stream = &run->streams[i];
        const plim_launch_piece piece =
            plim_launch_stream_move(stream, fds + i * PLIM_LAUNCH_STREAM_FDS, run->has_exited);
        if (piece.bytes == 0) {
            continue;
        }
        plim_launch_lines_feed(&run->lines, i, piece.data, piece.bytes);
        if (run->options->output != NULL) {
            run->options->output(run->options->output_ctx, stream->target - STDOUT_FILENO,
                                 piece.data, piece.bytes);
        }
        if (run->has_exited) {
            run->bytes_since_exit[i] += piece.bytes;
            run->quiet_ns = plim_clock_now_ns(&plim_clock_system) + QUIET_NS;
        }
    }
}

/* True once all output of the command itself is read: what follows is of its children. */
static bool has_all_words(const launch *run)
{
    for (size_t i = 0; i < run->stream_count; i++) {
        if (run->streams[i].source >= 0 && !run->streams[i].is_dry &&
            run->bytes_since_exit[i] < PIPE_BYTES_MOST) {
            return false;
        }
    }
    return true;
}

/* After the command's end: ends the streams after a silence. Returns poll()'s timeout until then.
 */
static int wait_for_silence(launch *run)
{
    if (!has_all_words(run)) {
        return 0;
    }
    const uint64_t now = plim_clock_now_ns(&plim_clock_system);
    const uint64_t talked_out = run->exit_ns + TALK_NS;
    const uint64_t until = run->quiet_ns < talked_out ? run->quiet_ns : talked_out;
    if (now < until) {
        return (int)((until - now) / 1000000u) + 1;
    }
    for (size_t i = 0; i < run->stream_count; i++) {
        plim_launch_stream_end(&run->streams[i]);
    }
    return -1;
}

/* Ends a command that takes too long. Returns poll()'s timeout until then. */
static int wait_for_time(launch *run)
{
    if (run->late_ns == UINT64_MAX) {
        return -1;
    }
    const uint64_t now = plim_clock_now_ns(&plim_clock_system);
    if (now >= run->late_ns) {
        kill(run->pid, run->is_late ? SIGKILL : SIGTERM);
        run->late_ns = run->is_late ? UINT64_MAX : now + GRACE_NS;
        run->is_late = true;
        return run->late_ns == UINT64_MAX ? -1 : (int)(GRACE_NS / 1000000u);
    }
    const uint64_t left_ms = (run->late_ns - now) / 1000000u + 1;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

static bool is_over(const launch *run)
{
    for (size_t i = 0; i < run->stream_count; i++) {
        if (!plim_launch_stream_is_over(&run->streams[i])) {
            return run->is_interrupted;
        }
    }
    return run->has_exited;
}

/* True while read bytes wait for an output that takes none. */
static bool waits_for_reader(const launch *run)
{
    for (size_t i = 0; i < run->stream_count; i++) {
        if (run->streams[i].begin < run->streams[i].end) {
            return true;
        }
    }
    return false;
}

static void watch(launch *run)
{
    while (!is_over(run)) {
        int patience = run->has_exited ? -1 : wait_for_time(run);
        if (run->has_exited) {
            patience = wait_for_silence(run);
            patience = waits_for_reader(run) ? -1 : patience;
        }
        struct pollfd fds[PLIM_LAUNCH_STREAMS * PLIM_LAUNCH_STREAM_FDS + 1];
        for (size_t i = 0; i < run->stream_count; i++) {
            plim_launch_stream_prepare(&run->streams[i], fds + i * PLIM_LAUNCH_STREAM_FDS);
        }
        const size_t count = run->stream_count * PLIM_LAUNCH_STREAM_FDS;
        fds[count] = (struct pollfd){ .fd = run->signals, .events = POLLIN };
        if (is_over(run) || poll(fds, (nfds_t)count + 1, patience) < 0) {
            continue; /* EINTR, by SIGSTOP and its like; nothing else can fail here */
        }
        if (fds[count].revents != 0) {
            take_signal(run);
        }
        move_streams(run, fds);
    }
}

/* --- what became of it --- */

static bool has_memory_message(const plim_explanation *explanation)
{
    const size_t count = explanation == NULL ? 0 : plim_explanation_message_count(explanation);
    for (size_t i = 0; i < count; i++) {
        const plim_oom_message *message = plim_explanation_message(explanation, i);
        const bool is_weak = message->judgement.verdict == PLIM_VERDICT_HOST &&
                             message->judgement.confidence < HOST_CONFIDENCE_MIN;
        if (message->judgement.verdict != PLIM_VERDICT_NOT_OOM && !is_weak) {
            return true;
        }
    }
    return false;
}

static void judge(const launch *run, const plim_launch_kills *kills, plim_launched *ret)
{
    const int status = run->wait_status;
    ret->seconds = (double)(run->exit_ns - run->start_ns) / (double)NS_PER_S;
    ret->timed_out = run->is_late;
    ret->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ret->exit_status =
        WIFSIGNALED(status) ? PLIM_LAUNCH_SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
    ret->was_killed = ret->exit_status == PLIM_LAUNCH_SIGNALLED + SIGKILL;
    ret->kill_scope = kills->scope;
    ret->kill_count = plim_launch_kills_since(kills);

    const bool has_failed = ret->exit_status != 0;
    /* A victim in our control group may be a worker whose parent then failed with a message of its
     * own; on the machine it may be any process, unless the command itself was killed. */
    ret->was_oom_killed = has_failed && ret->kill_count > 0 &&
                          (ret->was_killed || ret->kill_scope == PLIM_LAUNCH_KILLS_CGROUP);
    const bool has_message = has_failed && has_memory_message(ret->explanation);
    ret->died_of_memory = has_message || ret->was_oom_killed;
    ret->may_be_oom_killed =
        ret->was_killed && !ret->died_of_memory && ret->kill_scope == PLIM_LAUNCH_KILLS_UNKNOWN;
}

static void keep_write_errors(const launch *run, plim_launched *ret)
{
    for (size_t i = 0; i < run->stream_count; i++) {
        const plim_launch_stream *stream = &run->streams[i];
        ret->write_errno[stream->target - STDOUT_FILENO] = stream->write_errno;
    }
}

static plim_status run_started(launch *run, const plim_launch_kills *kills, plim_launched *ret,
                               plim_error *err)
{
    int code = 0;
    const bool is_started = start(run, &code);
    if (is_started) {
        watch(run);
    }
    give_signals_back(run);
    ret->explanation = plim_launch_lines_finish(&run->lines, &ret->explain_error);
    if (is_started) {
        keep_write_errors(run, ret);
        judge(run, kills, ret);
        return PLIM_OK;
    }
    plim_launched_deinit(ret);
    return fail_to_start(run, code, &ret->exit_status, err);
}

plim_status plim_launch(char *const *argv, const plim_launch_options *options, plim_launched *ret,
                        plim_error *err)
{
    static const plim_launch_options defaults;
    *ret = (plim_launched){ .exit_status = PLIM_LAUNCH_FAILED };
    launch run = { .argv = argv, .options = options != NULL ? options : &defaults, .signals = -1 };
    PLIM_TRY(plim_launch_streams_open(run.options->explain.mem, run.options->outputs, run.streams,
                                      &run.stream_count, err));
    plim_launch_kills kills;
    plim_launch_kills_begin(&kills, "");
    plim_status status = PLIM_OK;
    if (take_signals(&run)) {
        plim_launch_lines_begin(&run.lines, &run.options->explain, run.stream_count);
        status = run_started(&run, &kills, ret, err);
    } else {
        status = plim_fail_errno(err, errno, "cannot wait for signals");
    }
    for (size_t i = 0; i < run.stream_count; i++) {
        plim_launch_stream_close(&run.streams[i]);
    }
    return status;
}

void plim_launched_deinit(plim_launched *launched)
{
    plim_explanation_destroy(launched->explanation);
    launched->explanation = NULL;
}
