#!/usr/bin/env python3
"""The recorder in real PyTorch programs: they do not notice.

    test_programs.py PLIMSOLL

runs itself as a rehearsal, with the Python that PLIM_TORCH_PYTHON names and that has PyTorch;
without one it is skipped; `test_programs.py PLIMSOLL quick` runs a few. `test_programs.py --here`
takes the stand-ins that are in the environment already. Programs of others: programs/check.py.
"""

import os
import re
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "agent")]
from test_with_torch import run_tests  # noqa: E402
from together import Together, even  # noqa: E402

TRAIN = """
import atexit, gc, os, signal, sys, threading, time
import torch

def model():
    return torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.Linear(1024, 256)).cuda()

def train(steps=3):
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(steps):
        net(torch.randn(64, 256, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return net

def run_out():
    return torch.empty(200 << 30, dtype=torch.uint8, device="cuda")
"""

BREAK_AT = (1, 20)


def sorted_lines(text):
    """Of processes that print in no order."""
    return "\n".join(sorted(even(text).splitlines()))


class Visible(Together):
    def test_interpreter(self):
        """All that a program can look at is as it is without the recorder."""
        ended = self.both(TRAIN + """
from look import look
look("imported")
atexit.register(lambda: print("atexit, the program's first", gc.isenabled(),
                              [thread.name for thread in threading.enumerate()]))
net = model()
look("CUDA")
train()
look("trained")
try:
    run_out()
except torch.OutOfMemoryError as error:
    print(error, error.__traceback__.tb_next.tb_next, error.__context__, error.__notes__
          if hasattr(error, "__notes__") else None)
look("ran out")
import copy, io, pickle
file = io.BytesIO()
torch.save(copy.deepcopy(net), file)
print(len(file.getvalue()), len(pickle.dumps(net)), gc.collect() >= 0, len(gc.garbage))
""")
        self.fine(ended)


class Ends(Together):
    def test_uncaught(self):
        """The traceback of a failure, through an excepthook of the program's and without."""
        source = TRAIN + """
def inner(size):
    keep = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    try:
        {}
    except ValueError as error:
        raise RuntimeError("second") from error
    finally:
        print("finally")
def hook(kind, error, trace):
    print("hook", kind, error, file=sys.stderr)
if {}:
    sys.excepthook = hook
train()
inner(3)
"""
        self.fine(self.both(source.format("run_out()", False), status=1))
        self.fine(self.both(source.format("int('x')", True), status=1))

    def test_ways_to_end(self):
        """Its exit status is the program's, however it ends; several children in one program."""
        self.both(TRAIN + """
import subprocess
def end(how):
    torch.zeros(1, device="cuda")
    atexit.register(print, "atexit", how)
    if how == "text":
        sys.exit("words")
    if how == "now":
        os._exit(5)
    if how == "abort":
        os.abort()
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "terminate":
        os.kill(os.getpid(), signal.SIGTERM)
    if how == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
    if how == "thread":
        thread = threading.Thread(target=sys.exit, args=(4,))
        thread.start()
        thread.join()
        threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
        failing = threading.Thread(target=int, args=("x",), name="failing")
        failing.start()
        failing.join()
        sys.exit(6)
    if how == "echo":
        os.execvp("echo", ["echo", "became another"])
    if how == "segfault":
        import faulthandler
        faulthandler.enable()
        faulthandler._sigsegv()
    raise SystemExit(7)
if len(sys.argv) > 1:
    end(sys.argv[1])
os.environ["PYTHONFAULTHANDLER"] = ""
children = [subprocess.Popen([sys.executable, __file__, how], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True) for how in
            "text now abort kill terminate interrupt thread echo segfault else".split()]
for child in children:
    out, _ = child.communicate()
    print(child.args[-1], child.returncode, out)
""", is_same=without_our_thread)


def without_our_thread(text):
    """faulthandler lists all threads, ours too."""
    return re.sub(r"Thread 0x… \(most recent call first\):\n"
                  r"(  <no Python frame>\n|  File [^\n]*plimsoll_agent[^\n]*\n)+\n", "", even(text))


class Signals(Together):
    def test_handlers_of_the_program(self):
        """Its own, as for Slurm's requeueing; from which threads; restored by it; all in effect."""
        ended = self.both(TRAIN + """
def handler(number, frame):
    print("handled", signal.Signals(number).name, frame is not None, flush=True)
signal.signal(signal.SIGTERM, handler)
train(1)
before = signal.signal(signal.SIGUSR1, handler)
print(before)
signal.signal(signal.SIGUSR2, handler)
for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGUSR2, signal.SIGUSR1):
    os.kill(os.getpid(), number)
def other():
    try:
        signal.signal(signal.SIGUSR1, handler)
    except ValueError as error:
        print(error)
thread = threading.Thread(target=other)
thread.start()
thread.join()
print([signal.getsignal(number) is handler for number in
       (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM)])
for number in (signal.SIGUSR1, signal.SIGTERM):
    print(signal.signal(number, signal.SIG_IGN) is handler)
    os.kill(os.getpid(), number)
    print(signal.signal(number, signal.SIG_DFL))
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.set_wakeup_fd(-1))
""", is_same=drop_default)
        self.fine(ended)

    def test_interrupted_in_a_step(self):
        """KeyboardInterrupt comes where it would, and out of a handler's own exception."""
        self.both(TRAIN + """
class Stop(Exception):
    pass
def stop(number, frame):
    raise Stop
signal.signal(signal.SIGALRM, stop)
for number, kind in ((signal.SIGINT, KeyboardInterrupt), (signal.SIGALRM, Stop)):
    net = model()
    net.register_full_backward_pre_hook(lambda *_: signal.raise_signal(number))
    try:
        net(torch.randn(8, 256, device="cuda")).sum().backward()
        print("not interrupted")
    except kind as error:
        print(type(error))
train(1)
signal.raise_signal(signal.SIGINT)
""", status=-signal.SIGINT)


def drop_default(text):
    """The handler that was there before the program's is ours."""
    return re.sub(r"<(bound method|function) .*>|Handlers.SIG_DFL", "default", text)


class Processes(Together):
    def test_forks_and_multiprocessing(self):
        """Children of every kind, those that use CUDA and those that do not."""
        ended = self.both(TRAIN + """
import multiprocessing

def child(how):
    torch.zeros(4)
    if "cuda" in how:
        train(1)
    print(how, [thread.name for thread in threading.enumerate()][:1], flush=True)
    if "fails" in how:
        raise ValueError("in a child")
    if "runs out" in how:
        run_out()

if __name__ == "__main__":
    if os.fork() == 0:
        child("os.fork cuda")
        os._exit(9)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
    processes = []
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        for how in (" cuda", " cuda runs out", " host fails"):
            processes.append(context.Process(target=child, args=(method + how,)))
            processes[-1].start()
    for process in processes:
        process.join()
        print(process.exitcode, flush=True)
    print("parent used CUDA", torch.cuda.is_initialized())
""", is_same=of_children)
        # os.fork's, and two of each method's
        self.assertEqual(len(self.fine(ended, 7)), 7)

    def test_data_loaders(self):
        """Workers of a parent that uses CUDA leave nothing, by fork, spawn and persistent ones."""
        ended = self.both(TRAIN + """
parent = os.getpid()
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 16
    def __getitem__(self, index):
        return torch.full((4,), float(index)), os.getpid() == parent

if __name__ == "__main__":
    train(1)
    for method in ("fork", "spawn"):
        loader = torch.utils.data.DataLoader(Rows(), batch_size=4, num_workers=2,
                                             multiprocessing_context=method,
                                             persistent_workers=method == "fork")
        for _ in range(2):
            for rows, in_parent in loader:
                print(rows.sum().item(), in_parent.tolist())
                rows.cuda()
    train(1)
""")
        self.fine(ended, 1)

    def test_spawned_child_runs_out(self):
        """torch.multiprocessing says whose failure it was."""
        ended = self.both(TRAIN + """
import torch.multiprocessing
def child(rank):
    train(1)
    if rank == 1:
        run_out()
    time.sleep(30)
if __name__ == "__main__":
    torch.multiprocessing.spawn(child, nprocs=2)
""", status=1, is_same=of_children)
        processes = ended.processes()
        self.assertEqual(sum(process["ended"] == "oom" for process in processes), 1)


def of_children(text):
    """Lines of several processes, in no order; a resource tracker's and empty ones are not."""
    text = re.sub(r"Process-\d+|Process \w+-\d+|pid …", "Process", even(text))
    return sorted_lines(re.sub(r"(GPU 0 has a total).*(Of the allocated)", r"\1 … \2", text))


class Surroundings(Together):
    def test_a_changed_process(self):
        """It changes its folder, environment and streams, and gives up its rights."""
        self.both(TRAIN + """
train()
os.environ.clear()
os.chdir("/")
sys.stderr = open(os.devnull, "w")
os.setuid(65534)
held = torch.zeros(1 << 20, device="cuda")
print(os.getuid(), os.getcwd())
try:
    run_out()
except torch.OutOfMemoryError:
    print("ran out")
sys.stdout.flush()
os.closerange(2, 3)
""", says=True)

    def test_homes_and_handles(self):
        """No home to write to, no file may be made larger, none may be opened: it goes on."""
        self.both(TRAIN + """
import resource
train(1)
resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
train(1)
try:
    run_out()
except torch.OutOfMemoryError:
    print("ran out")
resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
train(1)
print("done")
""", variables={"HOME": "/nonexistent", "XDG_RUNTIME_DIR": "/nonexistent",
                "XDG_STATE_HOME": "/nonexistent", "TMPDIR": "/nonexistent"}, says=True)


class Recovering(Together):
    def test_halves_its_batch(self):
        """A program that catches its failures goes on as it would."""
        ended = self.both(TRAIN + """
def find_executable_batch_size(train, size):
    while size:
        try:
            return train(size)
        except torch.OutOfMemoryError as error:
            print(size, str(error).splitlines()[0])
            error = None
            gc.collect()
            torch.cuda.empty_cache()
            size //= 2
def step(size):
    kept = []
    for _ in range(4):
        kept.append(torch.empty(size << 20, dtype=torch.uint8, device="cuda"))
    return size, torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()
train()
print(find_executable_batch_size(step, 1 << 20))
train()
""")
        (process,) = self.fine(ended)
        self.assertEqual(process["ended"], "exit")
        self.assertGreaterEqual(process["oom_count"], 4)

    def test_compiled(self):
        """As many graphs, breaks and compilations as without, the optimizer compiled too."""
        self.both(TRAIN + """
import torch._dynamo
from torch._dynamo.utils import counters
net = model()
optimizer = torch.optim.AdamW(net.parameters())
@torch.compile(backend="eager")
def forward(x):
    y = net(x)
    print("a break")
    return y.square().mean()
@torch.compile(backend="eager")
def step():
    optimizer.step()
for rows in (8, 8, 16, 24):
    forward(torch.randn(rows, 256, device="cuda")).backward()
    step()
    optimizer.zero_grad()
try:
    torch.compile(lambda: torch.empty(200 << 30, dtype=torch.uint8, device="cuda"),
                  backend="eager")()
except torch.OutOfMemoryError:
    print("ran out")
for name in ("stats", "graph_break", "recompiles", "unimplemented"):
    print(name, sorted(counters[name].items()))
""")


class Failing(Together):
    """Parts of the recorder fail."""

    def test_each_folder(self):
        """The run's folder is missing, a file, or removed: the program's results are the same."""
        source = TRAIN + """
train()
if os.environ.get("REMOVED"):
    import shutil
    shutil.rmtree(os.environ["REMOVED"])
try:
    run_out()
except torch.OutOfMemoryError as error:
    print("ran out")
train()
sys.exit(3)
"""
        for folder in ("/proc/no/such", __file__, "/dev/full"):
            with self.subTest(folder):
                self.both(source, status=3, says=True, variables={"PLIMSOLL_RUN": folder})
        removed = os.path.join(self.folder, "removed")
        os.makedirs(removed)
        self.both(source, status=3, variables={"PLIMSOLL_RUN": removed, "REMOVED": removed},
                  prepare=lambda _: os.makedirs(removed, exist_ok=True), says=True)

    def test_each_part(self):
        """Everything of the recorder's raises."""
        self.write("own/sitecustomize.py", "import os\nif os.environ.get('PLIMSOLL_RUN'):\n"
                                           "    import breaking\n")
        source = TRAIN + """
train()
try:
    run_out()
except torch.OutOfMemoryError as error:
    print("ran out")
train()
sys.exit(3)
"""
        for at in BREAK_AT:
            with self.subTest(at):
                self.both(source, status=3, variables={"BREAK_AT": str(at), "BREAK_ALL": "1"})


# Those of `make test`, 70 s of processor time, of which PLIM_TORCH_SHORT takes three; make
# check-programs runs all.
QUICK = ["Visible", "Ends.test_uncaught", "Failing.test_each_part",
         "Recovering.test_halves_its_batch", "Processes.test_data_loaders",
         "Signals.test_handlers_of_the_program"]
if __name__ == "__main__":
    if sys.argv[2:] == ["quick"]:
        sys.argv[2:] = QUICK[:3] if os.environ.get("PLIM_TORCH_SHORT") else QUICK
    run_tests(__file__, QUICK[:1])
