"""What decides how much memory the program needs, and what it switched on: gathers the facts.

Looked up at a few moments, each time anew: when CUDA begins, at the first forward, after the first
optimizer step, at the first OOM and at the end. What is found later replaces what was found
earlier; what is gone then stays as it was.
"""

import sys

from plimsoll_agent.allocator import Allocator
from plimsoll_agent.autocast import Autocasts
from plimsoll_agent.inventory import Inventory

DECIDES = "decides"


def share(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def names_of(sums):
    """ "bfloat16 (97 %), float32": of {name: bytes}, the largest first."""
    names = [str(name).replace("torch.", "") for name in sums]
    if len(names) < 2:
        return "".join(names)
    return f"{names[0]} ({share(next(iter(sums.values())), sum(sums.values()))}), " \
        + ", ".join(names[1:])


class Deciding:
    """Gathers into agent.facts."""

    def __init__(self, agent):
        self._agent = agent
        self._torch = agent.torch
        self._facts = agent.facts
        self._attempt = agent.journal.attempt
        self._has_looked = False
        self.allocator = Allocator(agent.torch)
        self.autocasts = Autocasts(agent.torch)

    def install(self):
        """Before the program runs."""
        self._attempt("watch autocast", self.autocasts.watch)
        self._agent.phases.on_first_forward = self.look
        self._agent.steps.on_first_step = self.look

    def begin(self):
        """CUDA is there."""
        if not self._agent.history.is_programs():  # a snapshot would be an event in it
            self._attempt("look at the allocator's settings", self.allocator.begin)

    def look(self):
        """Gathers what is known now."""
        if not self._agent.is_ready:
            return
        if not self._agent.history.is_programs():
            self._attempt("look at the allocator", self.allocator.look)
        for what, note in (("PyTorch", self._torchs), ("the allocator", self._settings),
                           ("cuDNN", self._cudnn), ("the precision", self._precision),
                           ("compilation", self._compile), ("the steps", self._steps)):
            self._attempt(f"look at {what}", note)
        inventory = self._attempt("look for models", Inventory, self._torch)
        if inventory is not None:
            self._attempt("look at types", self._types, inventory)
            self._attempt("look at autocast", self.autocasts.note, self._facts, inventory)

    def _decides(self, name, value, evidence=None):
        self._facts.add(DECIDES, name, value, evidence=evidence)

    def _torchs(self):
        version = getattr(self._torch, "version", None)
        cuda = getattr(version, "cuda", None)
        text = str(self._torch.__version__)
        self._decides("PyTorch", f"{text}, CUDA {cuda}" if cuda else text)

    def _settings(self):
        self._decides("allocator settings", *self.allocator.describe())

    def _cudnn(self):
        core = self._torch._C
        self._decides("cuDNN benchmark", "on" if core._get_cudnn_benchmark() else "off")
        if core._get_cudnn_deterministic():
            self._decides("cuDNN deterministic", "on")

    def _precision(self):
        precision = self._torch.get_float32_matmul_precision()
        if precision != "highest":
            self._decides("float32 matmul precision", precision)

    def _compile(self):
        dynamo = sys.modules.get("torch._dynamo.utils")
        counters = getattr(dynamo, "counters", {})
        graphs = counters["stats"]["unique_graphs"] if "stats" in counters else 0
        breaks = sum(counters["graph_break"].values()) if "graph_break" in counters else 0
        if graphs == 0:
            self._decides("compile", "off")
            return
        text = "1 graph" if graphs == 1 else f"{graphs} graphs"
        self._decides("compile", text, f"Dynamo captured {text}; graph breaks: {breaks}.")

    def _steps(self):
        if self._agent.steps.classes:
            self._decides("optimizer", ", ".join(self._agent.steps.classes))
        if self._agent.phases.backwards_done > 0:
            self._decides("backward", "yes")

    def _types(self, inventory):
        sums = inventory.bytes_by(lambda parameter: parameter.dtype)
        if sums:
            self._decides("dtype", names_of(sums))
