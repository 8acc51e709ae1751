"""`--plimsoll-gpu`: the same pytest again, over the stand-ins for a GPU.

They must be there before torch is imported, and a conftest may import it. So the process that pytest
began in becomes `plimsoll run --gpu=…` (execve) before any conftest is loaded and before output is
captured, and that starts the command line of this process once more: its interpreter, options,
`coverage run`, script of an IDE. The number of the process, its terminal, input, signals and exit
status are what they were. docs/design/pytest.md has the reasons.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, List, NamedTuple, NoReturn, Optional

import pytest

from plimsoll.pytest_plugin import xdist

_MARK = "PLIMSOLL_PYTEST_DEVICES"  # from here to the process that comes of it
_sessions: List[pytest.Config] = []  # of pytest that run in this process


class Simulated(NamedTuple):
    """The GPUs that tests run on.

    gpu      as it was given; None: those of a rehearsal around pytest
    devices  of each process of tests
    total    that there are
    """

    gpu: Optional[str]
    devices: int
    total: int


SIMULATED = pytest.StashKey[Simulated]()


def add(parser: pytest.Parser) -> None:
    """Of pytest_addoption."""
    group = parser.getgroup("plimsoll", "GPU memory (plimsoll)")
    group.addoption("--plimsoll-gpu", metavar="NAME", default=None,
                    help="run the tests without a GPU, over stand-ins for that one: h100, rtx4090 … "
                         "(plimsoll rehearse --list-gpus)")
    group.addoption("--plimsoll-devices", metavar="N", type=int, default=None,
                    help="number of such GPUs, for each process of pytest-xdist (1)")
    group.addoption("--plimsoll-capacity", metavar="SIZE", default=None,
                    help="memory of each such GPU, as 24GiB (that of the GPU)")
    parser.addini("plimsoll_gpu", "as --plimsoll-gpu", default="")


def _wanted(config: pytest.Config, words: Any) -> Optional[str]:
    """The GPU of the command line, PYTEST_ADDOPTS or the ini file; None: the machine's own.

    words  the options, as far as they are read
    """
    given = getattr(words, "plimsoll_gpu", None)
    chosen = given if given is not None else config.getini("plimsoll_gpu")
    return str(chosen) or None


def _is_only_asked(words: Any) -> bool:
    """True if no test is to run: --help, --version."""
    return bool(words.help or words.version)


def begin(config: pytest.Config) -> None:
    """Before any conftest: starts pytest again where it has to be over the stand-ins.

    errors  pytest.UsageError: this process cannot be started again
    """
    words = config.known_args_namespace
    gpu = _wanted(config, words)
    total = os.environ.pop(_MARK, "")
    if total.isdigit():  # this is the process that came of it
        config.stash[SIMULATED] = Simulated(gpu, words.plimsoll_devices or 1, int(total))
    elif os.environ.get("PLIMSOLL_REHEARSAL"):  # of `plimsoll rehearse`, or a worker's controller
        if not xdist.is_worker():
            config.stash[SIMULATED] = Simulated(None, 0, 0)
    elif gpu is not None and not _is_only_asked(words):
        _check(gpu)
        _start(gpu, config)


def entered(config: pytest.Config) -> None:
    """Of pytest_configure.

    errors  pytest.UsageError: the plug-in came too late, from a conftest
    """
    is_over = bool(os.environ.get("PLIMSOLL_REHEARSAL")) or _is_only_asked(config.option)
    if not is_over and _wanted(config, config.option) is not None:
        raise pytest.UsageError("--plimsoll-gpu: the plug-in is loaded by a conftest, and so too late "
                                "for the stand-ins; load it by -p plimsoll.pytest_plugin")
    _sessions.append(config)


def left(config: pytest.Config) -> None:
    """Of pytest_unconfigure."""
    if config in _sessions:
        _sessions.remove(config)


def header(config: pytest.Config) -> List[str]:
    """Lines under pytest's own first ones."""
    over = config.stash.get(SIMULATED, None)
    if over is None:
        return []
    if over.gpu is None:
        asked = _wanted(config, config.option)
        without = f"; --plimsoll-gpu={asked} has no effect" if asked else ""
        return [f"plimsoll: over the stand-ins that pytest was started with{without}"]
    each = "" if over.total == over.devices else f", {over.devices} for each process of tests"
    return [f"plimsoll: over stand-ins for {over.total} {over.gpu}{each}; nothing is computed"]


# ---- can this process be started again? ----------------------------------------------------------


def _command_line() -> List[str]:
    """Of this process, with the options of its interpreter; [] where it is not known."""
    words = getattr(sys, "orig_argv", None)  # since 3.10
    if words is None:
        try:
            with open("/proc/self/cmdline", "rb") as file:
                words = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
        except OSError:
            words = []
    return list(words)


def _is_pytests_own() -> bool:
    """True if pytest is the program, and not called by one."""
    folder, name = os.path.split(sys.argv[0] if sys.argv else "")
    return name in ("pytest", "py.test") or (name == "__main__.py" and
                                             os.path.basename(folder) == "pytest")


def _obstacle() -> Optional[str]:
    """The reason that this process cannot be started again; None: it can."""
    processes = sys.modules.get("multiprocessing.process")
    if _sessions:
        return "it is called in a process in which pytest runs already"
    if sys.flags.interactive or hasattr(sys, "ps1") or "ipykernel" in sys.modules:
        return "it is called in an interactive session, which would be lost"
    if threading.current_thread() is not threading.main_thread():
        return "it is called in a thread, and the others would be lost"
    if processes is not None and processes.parent_process() is not None:
        return "it is called in a process of multiprocessing"
    if not sys.executable or len(_command_line()) < 2:
        return "the command line of this process is not known"
    if "torch" in sys.modules and not _is_pytests_own():
        return "the program that calls pytest.main() has imported torch already, without them"
    return None


def _check(gpu: str) -> None:
    obstacle = _obstacle()
    if obstacle is not None:
        raise pytest.UsageError(
            f"--plimsoll-gpu={gpu}: pytest cannot be started again over the stand-ins: {obstacle}; "
            f"start the program so: plimsoll run --gpu={gpu} --no-recorder -- python …")


# ---- the start -----------------------------------------------------------------------------------


def _again(config: pytest.Config) -> List[str]:
    """The words of the command that runs these tests."""
    if "RUN_TEST_IDS_PIPE" in os.environ:  # VS Code's script reads the names of tests from it, once
        return [sys.executable, "-m", "pytest", *map(str, config.invocation_params.args)]
    return [sys.executable, *_command_line()[1:]]


def _start(gpu: str, config: pytest.Config) -> NoReturn:
    from plimsoll import _home

    command = _home.command()
    if command is None:
        raise pytest.UsageError("--plimsoll-gpu: the command `plimsoll` is missing: install Plimsoll "
                                "again")
    words = config.known_args_namespace
    devices = xdist.count_devices(words, words.plimsoll_devices or 1)
    full = [command, "run", f"--gpu={gpu}", f"--devices={devices}", "--no-recorder", "--quiet",
            f"--python={sys.executable}"]
    if words.plimsoll_capacity:
        full.append(f"--capacity={words.plimsoll_capacity}")
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execve(command, [*full, "--", *_again(config)], {**os.environ, _MARK: str(devices)})
    except OSError as error:
        raise pytest.UsageError(f"--plimsoll-gpu: {command}: {error.strerror}") from None
