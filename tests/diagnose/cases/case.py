"""A recording whose answer is known, because the problem was planted.

Each group of programs has a `catalogue.py` with CASES; record.py makes the recordings and writes
the labels.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Case:
    """`program` is the command line after `python`; its file lies in the group's folder.

    `blame` is a piece of the source line that allocates the root; `blame_also` are pieces of other
    lines that a fair judge accepts. The lines are found in the program's file.
    `growth` counts requested bytes; `growth_blocks` the same in blocks of 512 bytes, given where
    the two differ by more than 2 %.
    `leak` is given where the verdict does not say it; it is open where `also` leaves it open.
    `optimizer_steps` is how often optimizers step in one turn of the loop, where that is not once:
    a growth per step of the optimizer is accepted too.
    `strip` removes parts of the recording: "frames", "annotations"; `last` keeps only so many
    events, as a ring of that size does.
    """
    name: str
    program: str
    verdict: str
    cause: str
    why: str
    blame: str = None
    blame_also: tuple = ()
    also: tuple = ()
    leak: bool = None
    growth: float = None
    growth_blocks: float = None
    period: int = None
    first: int = None
    optimizer_steps: float = None
    gpu: str = "h100"
    capacity: str = None
    conf: str = None
    strip: tuple = ()
    last: int = None

    @property
    def file(self):
        return self.program.split()[0]

    @property
    def arguments(self):
        return self.program.split()[1:]

    @property
    def is_leak(self):
        """True, False, or None where a fair judge accepts both."""
        words = {self.verdict, *self.also}
        if self.leak is None and "leak" in words and (self.verdict != "leak" or "healthy" in words):
            return None
        return self.verdict == "leak" if self.leak is None else self.leak

    def options(self):
        options = ["--gpu", self.gpu, "--devices", "1"]
        if self.capacity:
            options += ["--capacity", self.capacity]
        if self.conf:
            options += ["--conf", self.conf]
        return options
