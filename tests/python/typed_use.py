"""What users write, for `make check-python`: it is checked and not run.

A `type: ignore` marks what a checker has to refuse; one that is not needed is an error.
"""

import io
import pathlib
import sys
from typing import List, Optional

import plimsoll
from plimsoll.documents import Advice, BatchSearch, Comparison, Frame, Rehearsal, ReleaseSearch


def explained(error: Exception) -> None:
    found = plimsoll.explain(error)
    verdict: Optional[str] = found.verdict
    sizes: List[Optional[int]] = [one.requested_bytes for one in found.messages]
    plimsoll.explain(io.BytesIO(b""), all=True, capacity="24GiB", fail_on=["oom", "leak"])
    plimsoll.explain(path=["a.log", pathlib.Path("b.log")], capacity=1 << 30)
    plimsoll.explain(1)  # type: ignore[arg-type]
    print(verdict, sizes, found.messsages)  # type: ignore[attr-defined]


def diagnosed() -> None:
    found = plimsoll.diagnose("snapshot.pickle", budget=0.5, log="train.log")
    advice: List[Advice] = found.findings[0].advice
    root = found.findings[0].root
    frame: Optional[Frame] = root.frame if root is not None else None
    saved: Optional[int] = advice[0].saves_bytes
    plimsoll.diagnose("x", capacty=1)  # type: ignore[call-arg]
    plimsoll.diagnose("x", top="12")  # type: ignore[arg-type]
    print(frame, saved + 1)  # type: ignore[operator]


def inspected() -> None:
    found = plimsoll.inspect(pathlib.Path("a b.pickle"), at="step:7")
    bytes_of_first: int = found.devices[0].peak.by_stack[0].bytes
    print(bytes_of_first, found.to_frame("pools"), found.to_rows()[0]["bytes"])


def replayed() -> None:
    setting: str = plimsoll.tune("x.pickle", conf="backend:cudaMallocAsync").winner.conf
    survives: Optional[bool] = plimsoll.replay(b"", conf=["a:1"], scale={"all": 2}).survives
    print(setting, survives)


def rehearsed() -> None:
    one: Rehearsal = plimsoll.rehearse([sys.executable, "train.py"], gpu="rtx4090", steps=2)
    fits: bool = one.fits
    batch: BatchSearch = plimsoll.rehearse("python a.py {}", gpu="h100", find_batch=True)
    tries: BatchSearch = plimsoll.rehearse("python a.py {}", sweep=[1, 2])
    pair: Comparison = plimsoll.rehearse("python a.py", against="torch==2.9.1")
    release: ReleaseSearch = plimsoll.rehearse("python a.py", bisect=("torch", "2.6..2.15"))
    plimsoll.rehearse("python a.py", gpus="h100")  # type: ignore[call-overload]
    print(fits, batch.best, tries.tries[0].value, pair.after.name, release.first_grown)


def caught() -> Optional[int]:
    try:
        plimsoll.holders()
    except plimsoll.errors.InputError as error:
        return error.position
    return None
