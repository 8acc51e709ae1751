"""pytest-xdist: a simulated GPU of its own for each process of tests.

All processes share the books of one rehearsal, as processes on one machine share its GPUs. If they
shared a GPU, a test would run out of memory or not by what runs beside it at that moment. So there
are as many GPUs as all processes need together, and CUDA_VISIBLE_DEVICES gives each process its own:
a suite that passes alone passes with -n 8. A process that takes the place of one that crashed gets the
same ones.
"""

from __future__ import annotations

import os
from typing import Any, Sequence

DEVICES_MOST = 64  # of a rehearsal: PLIM_STAGE_DEVICES_MAX
_VISIBLE = "CUDA_VISIBLE_DEVICES"


def is_worker() -> bool:
    """True in a process that pytest-xdist started for tests."""
    return "PYTEST_XDIST_WORKER" in os.environ


def _count_workers(words: Any) -> int:
    """As many processes as there can be; what `auto` will be is not known yet."""
    processes = getattr(words, "numprocesses", None)
    if isinstance(processes, str):
        given = os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS", "")
        processes = int(given) if given.isdigit() else os.cpu_count()
    count = processes or 0
    for spec in getattr(words, "tx", None) or ():  # "3*popen"
        times, star, _ = spec.partition("*")
        count += int(times) if star and times.isdigit() else 1
    return count


def count_devices(words: Any, each: int) -> int:
    """The GPUs to simulate, where each process is to have some of its own.

    words  the options, those of pytest-xdist among them where it is there
    """
    workers = max(_count_workers(words), 1)
    return each * max(min(workers, DEVICES_MOST // max(each, 1)), 1)


def share_out(specs: Sequence[Any], each: int, total: int) -> None:
    """Gives each process its GPUs; where there are too few processes share them in turn.

    specs  of execnet, before its processes start
    each, total  GPUs of a process, and all
    """
    if os.environ.get(_VISIBLE):
        return  # the user chose
    groups = max(total // each, 1)
    for number, spec in enumerate(specs):
        first = number % groups * each
        spec.env.setdefault(_VISIBLE, ",".join(str(first + i) for i in range(each)))
