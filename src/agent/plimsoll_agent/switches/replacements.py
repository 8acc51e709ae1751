"""Optimizers that need less than Adam, and how its options become theirs."""

import importlib

from plimsoll_agent.switches.sharding import is_sharded
from plimsoll_agent.switches.switch import Refusal


class Replacement:
    """One optimizer.

    name           of its class
    knows_scalers  its fused step unscales gradients, as Adam's does
    knows_shards   it steps DTensors
    remark         what else the user should know: the end of a sentence
    """

    name = ""
    knows_scalers = False
    knows_shards = False
    remark = ""
    never = ()  # options of Adam that it has no equivalent of

    def __init__(self, torch):
        self.torch = torch

    def kind(self):
        """The class."""
        found = getattr(self.torch.optim, self.name, None)
        if found is None:
            raise Refusal(f"PyTorch {self.torch.__version__} has no torch.optim.{self.name}")
        return found

    def check(self, defaults, tensors):
        for option in self.never:
            if defaults.get(option):
                raise Refusal(f"the program's optimizer has {option}=True, which {self.name} "
                              "has not")
        if not self.knows_shards and any(is_sharded(tensor) for tensor in tensors):
            raise Refusal(f"the weights are sharded by FSDP, which {self.name} does not take")
        if any(tensor.is_complex() for tensor in tensors):
            raise Refusal("some parameters are complex")

    def options(self, defaults):
        """Arguments of its constructor, of Adam's defaults."""
        return {key: defaults[key] for key in ("lr", "weight_decay", "foreach", "maximize")
                if key in defaults}

    def group(self, group):
        """A group of parameters, with Adam's options, as one of its own."""
        return group


class Sgd(Replacement):
    """Without momentum: it keeps nothing."""

    name = "SGD"
    knows_scalers = True
    knows_shards = True
    remark = ", which is usually too low for it; without momentum"

    def options(self, defaults):
        options = super().options(defaults)
        if "fused" in defaults:
            options["fused"] = defaults["fused"]
        return options

    def check(self, defaults, tensors):
        super().check(defaults, tensors)
        if defaults.get("differentiable"):
            raise Refusal("the program's optimizer is differentiable")


class Adafactor(Replacement):
    """That of PyTorch 2.5 and later."""

    name = "Adafactor"
    never = ("capturable", "differentiable")

    def group(self, group):
        group.pop("eps", None)
        return group


class EightBit(Replacement):
    """bitsandbytes' AdamW8bit. Its Adam8bit has the same kernels: decay apart from gradients.

    A state of 4096 elements or more has one byte for each and a scale for each block of 256.
    """

    name = "AdamW8bit"
    never = ("capturable", "differentiable", "amsgrad", "maximize")

    def kind(self):
        try:
            package = importlib.import_module("bitsandbytes")
        except ImportError as error:
            if getattr(error, "name", None) == "bitsandbytes":
                raise Refusal("the program's Python has no bitsandbytes: pip install "
                              "bitsandbytes") from None
            raise Refusal(f"bitsandbytes cannot be imported: {error}") from None
        return package.optim.AdamW8bit

    def check(self, defaults, tensors):
        super().check(defaults, tensors)
        for group_value in (defaults["lr"], *defaults["betas"]):
            if isinstance(group_value, self.torch.Tensor):
                raise Refusal("the learning rate or the betas are a tensor, which bitsandbytes "
                              "does not take")

    def options(self, defaults):
        return {key: defaults[key] for key in ("lr", "betas", "eps", "weight_decay")}


REPLACEMENTS = {"sgd": Sgd, "adafactor": Adafactor, "8bit": EightBit}
