#!/usr/bin/env python3
"""check.py WHEEL TOOLS [PYTHON...] - the wheel, as people install it.

For each Python, by pip and by uv: a fresh virtual environment whose path has a blank, the wheel put into
it without an index, and a PATH that has no compiler. There the command answers, the package's tests
pass, programs are run and rehearsed, and an uninstall leaves nothing.

TOOLS is the Python of `tools/pypi-python wheel`, beside which uv lies. Without PYTHON, all Pythons from 3.9 on
are taken that PATH and ~/.pyenv have, one of each series. PLIM_TORCH_PYTHON names a Python with PyTorch:
its series rehearses with it, the others run what needs no PyTorch. Exit status: 0 all holds, 1 not.
"""

import dataclasses
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OLDEST = (3, 9)
SECONDS_MAX = 100
STARTS = 9
NOT_IN_PATH = re.compile(r"(.*-)?(cc|c\+\+|cpp|gcc|g\+\+|clang|tcc|ld|as|zig|python|pip|plimsoll)\b.*")
TESTS = ("arming", "frames", "recover", "watch", "page")  # of tests/python, without the command
TESTS_OF_COMMAND = ("command", "documents", "main")
PROGRAM = """
import torch
kept = [torch.empty(1 << 20, device="cuda") for _ in range(10)]
print(torch.cuda.memory_allocated())
"""
TOO_LARGE = "import torch\nkept = [torch.empty(1 << 28, device='cuda') for _ in range(4)]\n"
ARMED = """
from plimsoll_agent import blackbox
print(blackbox.run_folder())
raise SystemExit("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")
"""
ENABLED = """
import sys
print([type(one).__name__ for one in sys.meta_path if type(one).__module__.startswith("plimsoll")])
"""


class Failure(Exception):
    """Something that had to hold does not."""


def expect(condition, sentence):
    if not condition:
        raise Failure(sentence)


def ask(python, source):
    return subprocess.run([python, "-c", source], capture_output=True, text=True, check=True,
                          timeout=SECONDS_MAX).stdout.strip()


def series_of(python):
    """(3, 11), or None: that is no Python 3 that starts."""
    try:
        answer = ask(python, "import sys, ensurepip, venv; print(*sys.version_info[:2])")
        return tuple(int(word) for word in answer.split())
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def all_pythons():
    """One of each series, the oldest first."""
    names = [f"python3.{minor}" for minor in range(OLDEST[1], 20)] + ["python3"]
    paths = [shutil.which(name) for name in names]
    paths += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))
    found = {}
    for path in filter(None, paths):
        series = series_of(path)
        if series is not None and series >= OLDEST:
            found.setdefault(series, path)
    return [found[series] for series in sorted(found)]


@dataclasses.dataclass
class Site:
    """An environment of its own, and what is put into it."""

    folder: pathlib.Path
    wheel: pathlib.Path
    tools: pathlib.Path
    python: str
    installer: str

    def __post_init__(self):
        self.env = self.folder / "an env"
        self.own = str(self.env / "bin" / "python")
        self.plimsoll = str(self.env / "bin" / "plimsoll")
        self.path = self.folder / "bin"

    def environment(self, **more):
        """No compiler, nothing of the caller's Python."""
        kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        return {**kept, "LC_ALL": "C.UTF-8", "HOME": str(self.folder / "home"),
                "PATH": f"{self.env / 'bin'}:{self.path}", **more}

    def run(self, *words, status=0, **more):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                              cwd=self.folder, timeout=SECONDS_MAX, check=False,
                              env=self.environment(**more))
        expect(status is None or done.returncode == status,
               f"{' '.join(map(str, words))}: exit status {done.returncode}\n"
               f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def make(self):
        self.path.mkdir(parents=True)
        (self.folder / "home").mkdir()
        for tool in pathlib.Path("/usr/bin").iterdir():
            if not NOT_IN_PATH.fullmatch(tool.name):
                (self.path / tool.name).symlink_to(tool)
        if self.installer == "uv":
            self.uv("venv", "--python", self.python, self.env)
        else:
            subprocess.run([self.python, "-m", "venv", self.env], check=True, capture_output=True,
                           timeout=SECONDS_MAX)
        self.env = self.env.resolve()

    def uv(self, *words):
        self.run(self.tools.parent / "uv", "--offline", "--no-config", *words,
                 UV_CACHE_DIR=str(self.folder / "uv cache"))

    def install(self):
        if self.installer == "uv":
            self.uv("pip", "install", "--python", self.own, "--no-index", self.wheel)
        else:
            self.run(self.own, "-m", "pip", "install", "--no-index", self.wheel)

    def uninstall(self):
        if self.installer == "uv":
            self.uv("pip", "uninstall", "--python", self.own, "plimsoll")
        else:
            self.run(self.own, "-m", "pip", "uninstall", "--yes", "plimsoll")

    def files(self):
        """All in it but what pip has compiled of its own, and uv's lock."""
        names = (str(path.relative_to(self.env)) for path in self.env.rglob("*"))
        return {name for name in names
                if name != ".lock" and ("__pycache__" not in name or "plimsoll" in name)}

    def package(self):
        (found,) = self.env.glob("lib/python*/site-packages/plimsoll")
        return found


# ---- what has to hold ------------------------------------------------------------------------------


def check_command(site, version):
    for words in ([site.plimsoll], [site.own, "-m", "plimsoll"]):
        said = site.run(*words, "--version").stdout
        expect(said == f"plimsoll {version}\n", f"--version says {said!r}")
    text = site.folder / "a message.txt"
    text.write_text("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")
    answer = json.loads(site.run(site.plimsoll, "explain", "--json", text).stdout)
    expect(answer["schema"].startswith("explain/"), "explain writes no document")
    # As `pip install` may put it under another name of the folder.
    site.run(site.own, "-c", "import ctypes, os, plimsoll\n"
             "lib = os.path.join(os.path.dirname(plimsoll.__file__), '_native', 'lib')\n"
             "ctypes.CDLL(os.path.join(lib, 'libplimsoll.so')).plim_inspect\n")


def check_tests(site):
    """The package's tests, in a tree whose package and agent are those that are installed."""
    tree = site.folder / "a tree"
    package = site.package()
    links = {"python/plimsoll": package, "src/agent": package / "_native" / "rehearse" / "agent"}
    for folder in ("", "src", "tests"):
        (tree / folder).mkdir()
        for path in (ROOT / folder).iterdir():
            links.setdefault(str(path.relative_to(ROOT)), path)
    (tree / "python").mkdir()
    for name in ("python", "src", "tests", "tests/python", "tests/agent", "build", ".git"):
        links.pop(name, None)
    for name, path in links.items():
        (tree / name).symlink_to(path)
    for name in ("python", "agent"):  # which Python writes into
        shutil.copytree(ROOT / "tests" / name, tree / "tests" / name,
                        ignore=shutil.ignore_patterns("__pycache__"))
    command = package / "_native" / "plimsoll"
    failed = []
    for name in (*TESTS, *TESTS_OF_COMMAND):
        test = tree / "tests" / "python" / f"test_{name}.py"
        words = [command] if name in TESTS_OF_COMMAND else []
        done = subprocess.run([site.own, test, *words], cwd=tree, capture_output=True, text=True,
                              timeout=SECONDS_MAX, check=False, env=site.environment())
        if done.returncode not in (0, 77):
            failed.append(f"{test.name}:\n{done.stderr[-4000:]}")
    expect(not failed, "\n".join(failed))


def check_run(site, python):
    """A program under the recorder, with an error text; in another Python it leaves no trace."""
    program = site.folder / "a program.py"
    program.write_text(ARMED)
    run = site.folder / "a run"
    done = site.run(site.plimsoll, "run", f"--output={run}", "--", python, program, status=1)
    expect(done.stdout.splitlines()[:1] == [str(run)], f"run armed nothing: {done.stdout!r}")
    expect("2.00 GiB" in done.stderr, f"run explains nothing: {done.stderr!r}")
    shutil.rmtree(run, ignore_errors=True)


def check_enable(site):
    """Its own environment, by the script alone; undone without a trace."""
    before = site.files()
    site.run(site.plimsoll, "enable")
    said = site.run(site.own, "-c", ENABLED).stdout
    expect(said == "['Waiting', 'Package']\n", f"enable armed nothing: {said}")
    site.run(site.plimsoll, "disable")
    expect(site.files() == before, "disable leaves something")
    site.run(site.plimsoll, "enable")


def check_rehearsal(site, torch):
    """PyTorch's own allocations, over the stand-ins of the wheel."""
    (folder,) = site.env.glob("lib/python*/site-packages")
    packages = ask(torch, "import sysconfig; print(sysconfig.get_path('purelib'))")
    below = folder / "zz_below.pth"
    below.write_text(packages + "\n")
    program = site.folder / "a rehearsal.py"
    program.write_text(PROGRAM)
    said = site.folder / "a document.json"
    site.run(site.plimsoll, "rehearse", "--gpu=rtx4090", "--devices=1", f"--document={said}", "--",
             site.own, program)
    answer = json.loads(said.read_text())
    expect(answer["verdict"] == "fits", f"rehearse says {answer['verdict']}")
    program.write_text(TOO_LARGE)
    run = site.folder / "a full run"
    done = site.run(site.plimsoll, "run", "--gpu=rtx4090", "--capacity=3GiB", f"--output={run}", "--",
                    site.own, program, status=1)
    expect("GPU 0 is exhausted" in done.stderr, f"run says nothing:\n{done.stderr[-2000:]}")
    expect(list(run.rglob("*.json")), "run left no account")
    below.unlink()


def start_milliseconds(site):
    def median(*words):
        taken = []
        for _ in range(STARTS):
            began = time.perf_counter()
            site.run(*words)
            taken.append(time.perf_counter() - began)
        return statistics.median(taken) * 1000

    return (median(site.package() / "_native" / "plimsoll", "--version"),
            median(site.plimsoll, "--version"))


def check_site(site, version, torch, guest):
    site.make()
    before = site.files()
    site.install()
    check_command(site, version)
    check_tests(site)
    check_run(site, site.own)
    if guest is not None:
        check_run(site, guest)
    if torch is not None:
        check_rehearsal(site, torch)
    milliseconds = start_milliseconds(site)
    check_enable(site)
    site.uninstall()
    left = sorted(site.files() - before)
    expect(len(left) == 1 and left[0].endswith("plimsoll-enabled.pth"), f"uninstall leaves {left}")
    done = site.run(site.own, "-c", "print('fine')")
    expect((done.stdout, done.stderr) == ("fine\n", ""), f"what enable wrote harms: {done.stderr}")
    return milliseconds


def main(words):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it for background jobs
    wheel, tools = pathlib.Path(words[0]).resolve(), pathlib.Path(words[1])
    pythons = [shutil.which(name) or name for name in words[2:]] or all_pythons()
    torch = os.environ.get("PLIM_TORCH_PYTHON") or None
    version = wheel.name.split("-")[1]
    failed = 0
    for number, python in enumerate(pythons):
        series = series_of(python)
        if series is None or series < OLDEST:
            raise SystemExit(f"check: {python} is no Python from 3.9 on that can make environments")
        with_torch = torch if torch and series_of(torch) == series else None
        others = [one for one in pythons if series_of(one) != series]
        guest = others[number % len(others)] if others else None
        for installer in ("pip", "uv"):
            with tempfile.TemporaryDirectory(prefix="plimsoll wheel é ") as folder:
                site = Site(pathlib.Path(folder).resolve(), wheel, tools, python, installer)
                name = f"Python {series[0]}.{series[1]} by {installer}"
                try:
                    binary, script = check_site(site, version, with_torch, guest)
                except (Failure, subprocess.TimeoutExpired) as failure:
                    print(f"{name}: FAILED: {failure}", flush=True)
                    failed += 1
                    continue
                has = "with PyTorch" if with_torch else "without PyTorch"
                print(f"{name}: fine, {has}; starts in {script:.0f} ms, the command alone in"
                      f" {binary:.0f} ms", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit("usage: check.py WHEEL TOOLS [PYTHON...]")
    sys.exit(main(sys.argv[1:]))
