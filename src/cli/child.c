/*
 * child.c - starting the command, living through its signals, outliving it, and the judgement.
 *
 * One thread and one poll(): signals come as data (signalfd), so there are no handlers and no
 * globals. The command stays in our process group and session: the terminal's signals, stopping
 * and continuing reach it without our doing. docs/design/child.md argues for each of this.
 */
#include "cli/child.h"

#include "base/clock.h"
#include "cli/child_kills.h"
#include "cli/child_stream.h"
#include "cli/child_text.h"
#include "cli/command.h"
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Once the command has ended, others may still hold its streams: we wait for their last words. */
#define QUIET_NS        UINT64_C(100000000)  /* silent for so long, and we go */
#define TALK_NS         UINT64_C(1000000000) /* and after so long even if they talk on */
#define PIPE_BYTES_MOST ((uint64_t)1 << 20)  /* what a pipe may hold: fs.pipe-max-size, pipe(7) */

#define HOST_CONFIDENCE_MIN 0.5 /* of a message: below, a failure of the host is only a guess */

typedef struct child_run {
    const char *who;
    char *const *argv;
    char *const *environment;
    plim_child_stream streams[PLIM_CHILD_STREAMS_MAX];
    size_t stream_count;
    plim_child_text text;
    sigset_t old_mask;
    struct sigaction old_child_action;
    int signals; /* signalfd */
    pid_t pid;
    bool has_exited;
    int wait_status;
    uint64_t exit_ns;
    uint64_t quiet_ns; /* when silence will have lasted long enough */
    uint64_t bytes_since_exit[PLIM_CHILD_STREAMS_MAX];
    bool is_interrupted; /* asked to go after the command had ended */
} child_run;

/* --- before and after --- */

static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

/* Signals become data. An inherited SIG_IGN for SIGCHLD would hide how the command ended. */
static bool take_signals(child_run *run)
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

static void give_signals_back(child_run *run)
{
    struct signalfd_siginfo info;
    while (read(run->signals, &info, sizeof info) > 0) {
        /* What was for the command must not strike us now. */
    }
    close(run->signals);
    sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
    sigaction(SIGCHLD, &run->old_child_action, NULL);
}

/* In the new process, which becomes the command or tells errno why not. */
_Noreturn static void become_command(const child_run *run, int report)
{
    bool is_ready = true;
    for (size_t i = 0; i < run->stream_count; i++) {
        is_ready = is_ready && plim_child_stream_take(&run->streams[i]);
    }
    if (is_ready) {
        const struct sigaction plain = { .sa_handler = SIG_DFL };
        sigaction(SIGPIPE, &plain, NULL); /* our main() ignores it */
        sigaction(SIGCHLD, &run->old_child_action, NULL);
        sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
        execvpe(run->argv[0], run->argv, run->environment);
    }
    const int code = errno;
    const ssize_t written = write(report, &code, sizeof code);
    _exit(written == (ssize_t)sizeof code ? PLIM_CHILD_NOT_FOUND : PLIM_EXIT_FAILED);
}

static bool start(child_run *run, int *ret_code)
{
    int report[2]; /* closed by exec, or errno comes out of it */
    if (pipe2(report, O_CLOEXEC) != 0) {
        *ret_code = errno;
        return false;
    }
    run->pid = fork();
    if (run->pid == 0) {
        become_command(run, report[1]);
    }
    const int fork_code = errno;
    close(report[1]);
    for (size_t i = 0; i < run->stream_count; i++) {
        plim_child_stream_let_go(&run->streams[i]);
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

/* The status a shell would give, and the line it would print. */
static int say_not_started(const child_run *run, int code)
{
    if (run->pid <= 0) {
        plim_say(run->who, "cannot start a process: %s", strerror(code));
        return PLIM_EXIT_FAILED;
    }
    if (code == ENOENT && strchr(run->argv[0], '/') == NULL) {
        plim_say(run->who, "cannot find the command \"%s\" in PATH", run->argv[0]);
        return PLIM_CHILD_NOT_FOUND;
    }
    plim_say(run->who, "cannot run \"%s\": %s", run->argv[0], strerror(code));
    return code == ENOENT ? PLIM_CHILD_NOT_FOUND : PLIM_CHILD_NOT_EXECUTABLE;
}

/* --- while it runs --- */

static void collect(child_run *run)
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

static void resize(child_run *run)
{
    bool is_changed = false;
    for (size_t i = 0; i < run->stream_count; i++) {
        is_changed = plim_child_stream_resize(&run->streams[i]) || is_changed;
    }
    /* The kernel told the command before its own window had changed: so once more. */
    if (is_changed && !run->has_exited) {
        kill(run->pid, SIGWINCH);
    }
}

static void forward(child_run *run, const struct signalfd_siginfo *info)
{
    if (run->has_exited) {
        run->is_interrupted =
            run->is_interrupted || (info->ssi_signo != SIGUSR1 && info->ssi_signo != SIGUSR2);
        return;
    }
    /* What the terminal sends goes to its whole foreground group; but that the line dropped is
     * told only to the leader of the session, and that may be us (ssh -t, docker run -t). */
    const bool has_it_too =
        info->ssi_code == SI_KERNEL && (info->ssi_signo != SIGHUP || getsid(0) != getpid());
    /* "kill 0" in a script is for its group, and we are in it. */
    const bool is_its_own = info->ssi_code == SI_USER && info->ssi_pid == (uint32_t)run->pid;
    if (!has_it_too && !is_its_own) {
        kill(run->pid, (int)info->ssi_signo);
    }
}

static void take_signal(child_run *run)
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

static void move_streams(child_run *run, const struct pollfd *fds)
{
    for (size_t i = 0; i < run->stream_count; i++) {
        plim_child_stream *stream = &run->streams[i];
        const plim_child_piece piece =
            plim_child_stream_move(stream, fds + i * PLIM_CHILD_STREAM_FDS, run->has_exited);
        if (piece.bytes == 0) {
            continue;
        }
        plim_child_text_feed(&run->text, i, piece.data, piece.bytes);
        if (run->has_exited) {
            run->bytes_since_exit[i] += piece.bytes;
            run->quiet_ns = plim_clock_now_ns(&plim_clock_system) + QUIET_NS;
        }
    }
}

/* Whether all that the command itself had written is read: what follows is from others. */
static bool has_all_words(const child_run *run)
{
    for (size_t i = 0; i < run->stream_count; i++) {
        if (run->streams[i].source >= 0 && !run->streams[i].is_dry &&
            run->bytes_since_exit[i] < PIPE_BYTES_MOST) {
            return false;
        }
    }
    return true;
}

/* After the command's end: stop when there is silence. Gives how long poll() may wait for it. */
static int wait_for_silence(child_run *run)
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
        plim_child_stream_end(&run->streams[i]);
    }
    return -1;
}

static bool is_over(const child_run *run)
{
    for (size_t i = 0; i < run->stream_count; i++) {
        if (!plim_child_stream_is_over(&run->streams[i])) {
            return run->is_interrupted;
        }
    }
    return run->has_exited;
}

/* Whether bytes wait for their reader, so that there is nothing to do before it takes them. */
static bool waits_for_reader(const child_run *run)
{
    for (size_t i = 0; i < run->stream_count; i++) {
        if (run->streams[i].begin < run->streams[i].end) {
            return true;
        }
    }
    return false;
}

static void watch(child_run *run)
{
    while (!is_over(run)) {
        int patience = -1;
        if (run->has_exited) {
            patience = wait_for_silence(run);
            patience = waits_for_reader(run) ? -1 : patience;
        }
        struct pollfd fds[PLIM_CHILD_STREAMS_MAX * PLIM_CHILD_STREAM_FDS + 1];
        for (size_t i = 0; i < run->stream_count; i++) {
            plim_child_stream_prepare(&run->streams[i], fds + i * PLIM_CHILD_STREAM_FDS);
        }
        const size_t count = run->stream_count * PLIM_CHILD_STREAM_FDS;
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

static bool tells_of_memory(const plim_explanation *explanation)
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

static void judge(const child_run *run, const plim_child_kills *kills, plim_child_result *ret)
{
    const int status = run->wait_status;
    ret->was_started = true;
    ret->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ret->exit_status =
        WIFSIGNALED(status) ? PLIM_CHILD_SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
    ret->was_killed = ret->exit_status == PLIM_CHILD_SIGNALLED + SIGKILL;
    ret->kill_scope = kills->scope;
    ret->kill_count = plim_child_kills_since(kills);

    const bool has_failed = ret->exit_status != 0;
    /* A victim in our own group may be a worker whose parent then failed in its own words; on
     * the machine at large it may be anybody's, unless the command was killed itself. */
    ret->was_oom_killed = has_failed && ret->kill_count > 0 &&
                          (ret->was_killed || ret->kill_scope == PLIM_CHILD_KILLS_CGROUP);
    const bool has_message = has_failed && tells_of_memory(ret->explanation);
    ret->died_of_memory = has_message || ret->was_oom_killed;
    ret->may_be_oom_killed =
        ret->was_killed && !ret->died_of_memory && ret->kill_scope == PLIM_CHILD_KILLS_UNKNOWN;
}

static void say_unwritten(const child_run *run)
{
    for (size_t i = 0; i < run->stream_count; i++) {
        const plim_child_stream *stream = &run->streams[i];
        if (stream->write_errno != 0 && stream->write_errno != EPIPE) {
            plim_say(run->who, "cannot write standard %s: %s",
                     stream->target == STDOUT_FILENO ? "output" : "error",
                     strerror(stream->write_errno));
        }
    }
}

static void run_started(child_run *run, const plim_child_kills *kills, plim_child_result *ret)
{
    int code = 0;
    const bool is_started = start(run, &code);
    if (is_started) {
        watch(run);
    }
    give_signals_back(run);
    ret->explanation = plim_child_text_finish(&run->text, &ret->explain_error);
    if (is_started) {
        say_unwritten(run);
        judge(run, kills, ret);
        return;
    }
    plim_explanation_destroy(ret->explanation);
    ret->explanation = NULL;
    ret->exit_status = say_not_started(run, code);
}

void plim_child_run(const char *who, const plim_child_command *command,
                    const plim_explain_options *options, plim_child_result *ret)
{
    *ret = (plim_child_result){ .exit_status = PLIM_EXIT_FAILED };
    child_run run = {
        .who = who,
        .argv = command->argv,
        .environment = command->environment != NULL ? command->environment : environ,
        .signals = -1,
    };
    plim_error err = { 0 };
    if (plim_child_streams_open(options == NULL ? NULL : options->mem, run.streams,
                                &run.stream_count, &err) != PLIM_OK) {
        plim_say(who, "%s", err.message);
        return;
    }
    plim_child_kills kills;
    plim_child_kills_begin(&kills, "");
    if (take_signals(&run)) {
        plim_child_text_begin(&run.text, options, run.stream_count);
        run_started(&run, &kills, ret);
    } else {
        plim_say(who, "cannot wait for signals: %s", strerror(errno));
    }
    for (size_t i = 0; i < run.stream_count; i++) {
        plim_child_stream_close(&run.streams[i]);
    }
}

void plim_child_result_deinit(plim_child_result *result)
{
    plim_explanation_destroy(result->explanation);
    result->explanation = NULL;
}
