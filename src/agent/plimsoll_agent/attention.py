"""Which attention ran: by the kernels that were launched.

Names are those of PyTorch's kernels (ATen/native/transformers/cuda, SoftMax.cu), of the packages
flash-attn and xFormers, and of Inductor's templates; cuDNN's graphs are counted by the stand-in.
"""

import re

DECIDES, TECHNIQUE = "decides", "technique"
NOT_FUSED, MATH = "not fused", "math"

_FAMILIES = (  # the first that matches
    ("cuDNN", re.compile(r"^cudnn attention (forward|backward)$")),
    ("flash", re.compile(r"pytorch_flash.*flash_(?:(fwd)(?:_splitkv)?_kernel|(bwd)_dq_dk_dv_loop)")),
    ("flash-attn package",
     re.compile(r"flash_(?:(fwd)(?:_splitkv)?_kernel|(bwd)_dq_dk_dv_loop)|FlashAttn(Fwd|Bwd)Sm")),
    ("memory-efficient", re.compile(r"fmha_cutlass([FB])_.*PyTorchMemEffAttention")),
    ("xFormers", re.compile(r"fmha_cutlass([FB])_")),
    ("flex", re.compile(r"triton_tem_fused.*flex_attention(_backward|)")),
)
_BACKWARD = ("backward", "bwd", "Bwd", "B", "_backward")
_SOFTMAX = re.compile(r"softmax_warp_forwardI.*?Li\d+ELb0|\d22SoftMaxForwardEpilogue")
_SAFE = re.compile(r"reduce_kernel.*and_kernel_cuda")  # of _safe_softmax(), from PyTorch 2.5 on


class Attention:
    """What ran, in launches.

    forward   {family: launches}
    backward  the same
    softmax   of the forward, but for those of losses
    is_math   scaled_dot_product_attention() took its way without a kernel of its own
    """

    def __init__(self, tally):
        self.forward, self.backward = {}, {}
        self.softmax = 0
        checks = 0
        for name, count in tally.items():
            if _SOFTMAX.search(name):
                self.softmax += count
            elif _SAFE.search(name):
                checks += count
            else:
                self._add(name, count)
        self.is_math = checks >= self.softmax > 0

    def _add(self, name, count):
        for family, pattern in _FAMILIES:
            found = pattern.search(name)
            if found:
                pass_ = next((group for group in found.groups() if group), "")
                counts = self.backward if pass_ in _BACKWARD else self.forward
                counts[family] = counts.get(family, 0) + count
                return

    def fused(self):
        """Families of both passes."""
        return list(dict.fromkeys([*self.forward, *self.backward]))

    def value(self):
        """ "flash", or "flash × 24, memory-efficient × 2"."""
        families = self.fused()
        if len(families) == 1:
            return families[0]
        if families:
            return _counts(self.forward or self.backward)
        return MATH if self.is_math else NOT_FUSED

    def evidence(self):
        if not self.fused():
            how = "scaled_dot_product_attention took its way of matmul and softmax"
            return (f"No fused attention kernel ran; softmax ran {_times(self.softmax)}"
                    + (f": {how}." if self.is_math else "."))
        passes = [f"{name}: {_counts(counts)}"
                  for name, counts in (("forward", self.forward), ("backward", self.backward))
                  if counts]
        return "Kernels launched, " + "; ".join(passes) + "."


def _times(count):
    return "once" if count == 1 else f"{count} times"


def _counts(counts):
    return ", ".join(f"{family} × {count}" for family, count in counts.items())


def wanted(modules):
    """What models of transformers are set to: "sdpa", "flash_attention_2", "eager"; or None."""
    for module in modules:
        config = module.__dict__.get("config")
        found = getattr(config, "_attn_implementation", None) if config is not None else None
        if isinstance(found, str):
            return found
    return None


def note(facts, tally, inventory):
    """Both facts: which attention, and whether a fused one that was wanted ran."""
    attention = Attention(tally)
    fused = attention.fused()
    has_some = any("ttention" in type(module).__name__ for module in inventory.modules)
    if not fused and (attention.softmax == 0 or not (has_some or attention.is_math)):
        return
    facts.add(DECIDES, "attention", attention.value(), evidence=attention.evidence())
    setting = wanted(inventory.modules)
    if fused:
        facts.add(TECHNIQUE, "flash attention", attention.value(), "yes", attention.evidence())
    elif attention.is_math or (setting and setting != "eager"):
        by = f"The model's attention is set to {setting}, but no" if setting else "No"
        facts.add(TECHNIQUE, "flash attention", setting or "scaled_dot_product_attention", "no",
                  f"{by} fused kernel ran: a mask, the type, the head's size or a setting of "
                  "torch.backends.cuda rules them out.")
