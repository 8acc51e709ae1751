"""What decides how much memory the program needs, and what it switched on: gathers the facts.

Looked up at a few moments, each time anew: when CUDA begins, at the first forward, after the first
optimizer step, at the first OOM and at the end. What is found later replaces what was found
earlier; what is gone then stays as it was.
"""

import sys

from plimsoll_agent import attention, ranks, tally, techniques
from plimsoll_agent.allocator import Allocator
from plimsoll_agent.amounts import share_text
from plimsoll_agent.autocast import Autocasts
from plimsoll_agent.checkpointing import Checkpointing
from plimsoll_agent.inventory import Finder
from plimsoll_agent.offloading import Offloading

DECIDES, TECHNIQUE = "decides", "technique"


def names_of(sums):
    """ "bfloat16 (97%), float32": of {name: bytes}, the largest first."""
    names = [str(name).replace("torch.", "") for name in sums]
    if len(names) < 2:
        return "".join(names)
    return f"{names[0]} ({share_text(next(iter(sums.values())), sum(sums.values()))}), " \
        + ", ".join(names[1:])


class Deciding:
    """Gathers into agent.facts."""

    def __init__(self, agent):
        self._agent = agent
        self._torch = agent.torch
        self._facts = agent.facts
        self._attempt = agent.journal.attempt
        self._way_of_forward = None  # gradients at the first forward pass
        self._finder = Finder(agent.torch)
        self.allocator = Allocator(agent.torch)
        self.autocasts = Autocasts(agent.torch)
        self.checkpointing = Checkpointing(agent.journal)
        self.offloading = Offloading(agent.torch, agent.journal)

    def install(self):
        """Before the program runs."""
        self._attempt("watch autocast", self.autocasts.watch)
        self._attempt("watch checkpointing", self.checkpointing.watch)
        self._attempt("watch offloading", self.offloading.watch)
        self._agent.phases.on_first_forward = self._first_forward
        self._agent.steps.on_first_step = self.look

    def begin(self):
        """CUDA is there."""
        if not self._agent.history.is_programs():  # a snapshot would be an event in it
            self._attempt("look at the allocator's settings", self.allocator.begin)
        self._attempt("look at PyTorch", self._torchs)
        self._attempt("look at the allocator", self._settings)

    def _first_forward(self, module):
        """What is known before it: a model within a function may be gone at the end."""
        inventory = self._attempt("look at a model", self._finder.of, module)
        if inventory is not None:
            self._attempt("look at types", self._types, inventory)
            self._attempt("look at gradients", self._gradients, inventory)

    def look(self, is_end=False):
        """Gathers what is known now."""
        if not self._agent.is_ready:
            return
        attempt = self._attempt
        if not self._agent.history.is_programs():
            attempt("look at the allocator", self.allocator.look)
        for what, note in (("PyTorch", self._torchs), ("the allocator", self._settings),
                           ("cuDNN", self._cudnn), ("the precision", self._precision),
                           ("compilation", self._compile), ("the steps", self._steps)):
            attempt(f"look at {what}", note)
        inventory = attempt("look for models", self._finder.find)
        if inventory is not None:
            attempt("look at types", self._types, inventory)
            self._look_at_techniques(inventory, attempt("read the tally", tally.read) or {}, is_end)

    def _look_at_techniques(self, inventory, counts, is_end):
        attempt, facts = self._attempt, self._facts
        moment = techniques.Moment(self._agent.phases.backwards_done, is_end, self._graphs() > 0)
        _, _, world_size = attempt("find its rank", ranks.current, self._torch) or (0, 0, 1)
        for what, note, *rest in (
            ("attention", attention.note, counts, inventory),
            ("autocast", self.autocasts.note, counts, inventory),
            ("checkpointing", self.checkpointing.note, inventory, moment),
            ("offloading", self.offloading.note, counts, moment),
            ("8-bit optimizers", techniques.low_bit_optimizer, inventory),
            ("optimizers in backward", techniques.optimizer_in_backward,
             self._agent.steps.classes),
            ("LoRA", techniques.lora, inventory),
            ("sharding", techniques.sharding, inventory, world_size),
            ("expandable segments", techniques.expandable_segments, self.allocator),
            ("CUDA graphs", techniques.cuda_graphs, counts, self.allocator),
        ):
            attempt(f"look at {what}", note, facts, *rest)
        if is_end:
            attempt("look at gradients", self._inference)

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

    @staticmethod
    def _counters():
        """Dynamo's; nothing where it was not imported."""
        return getattr(sys.modules.get("torch._dynamo.utils"), "counters", {})

    def _graphs(self):
        """Graphs of torch.compile."""
        counters = self._counters()
        return counters["stats"]["unique_graphs"] if "stats" in counters else 0

    def _compile(self):
        counters = self._counters()
        graphs = self._graphs()
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

    def _gradients(self, inventory):
        """Before the first forward pass: would it keep activations?"""
        torch = self._torch
        is_eval = bool(inventory.modules) and not any(one.training for one in inventory.modules)
        trains = any(parameter.requires_grad for parameter in inventory.parameters)
        if torch.is_inference_mode_enabled():
            self._way_of_forward = ("torch.inference_mode", "yes", "It was on at the first forward "
                                    "pass, and no backward pass ran.")
        elif not torch.is_grad_enabled():
            self._way_of_forward = ("torch.no_grad", "yes", "Gradients were off at the first "
                                    "forward pass, and no backward pass ran.")
        elif is_eval and trains:
            self._way_of_forward = ("eval mode", "no", "All modules are in eval mode and no "
                                    "backward pass ran, but gradients were on at the first forward "
                                    "pass, so it kept activations for one: use torch.no_grad.")

    def _inference(self):
        is_training = self._agent.phases.backwards_done > 0 or self._agent.steps.classes
        if self._way_of_forward is not None and not is_training:
            self._facts.add(TECHNIQUE, "inference without gradients", *self._way_of_forward)
