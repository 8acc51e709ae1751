"""attention=flash: attention by a fused kernel, which never has the matrix of scores in memory.

    a model of transformers set to "eager"      set to "sdpa", by its own method
    scaled_dot_product_attention()              with the fused kernels that the program switched off
    nn.MultiheadAttention, need_weights=True    without them, where they are dropped at once
    products and softmax of the program's own   refused
"""

import functools

from plimsoll_agent.switches.compiling import tracing_test
from plimsoll_agent.switches.lazy_weights import drops_weights
from plimsoll_agent.switches.switch import IN_EXPECTATION, Switch

KERNELS = {1: "flash", 2: "memory-efficient", 3: "cuDNN", 4: "the device's own"}
SHAPES_MAX = 32
HEAD_MAX = 256
RANK_MIN = 3  # of scores: batch × queries × keys


def attends(module):
    """True if its class is named as attention is."""
    name = type(module).__name__.lower()
    return "attention" in name or "attn" in name


class Attention(Switch):
    """Takes hold of what calls attention in a way that can be replaced, and says of the rest why
    no fused kernel may run.
    """

    name = "attention"

    def install(self):
        self._configured = {}  # {class: its setting before}
        self._asked = set()  # classes whose configuration was looked at
        self._kernels = {}  # {kernel: shapes that it took already}
        self._opened = {}  # {kernel: shapes that it takes since}
        self._reasons = {}  # {why no fused kernel: shapes}
        self._seen = {}  # {shape: kernel that would run}
        self._weightless = 0
        self._softmaxes = 0
        self._has_attention = False
        self._has_dropout = False
        self._watch_attention()
        self._watch_softmax()
        self._watch_multihead()
        self.program.around_forward(self._forward)
        self.entry.waits("no attention was called outside of a compiled function")

    def _is_tracing(self):
        return tracing_test(self.torch)()

    # ---- models of transformers ------------------------------------------------------------------

    def _forward(self, call, module, args, kwargs):
        if id(module) not in self._asked:
            self._asked.add(id(module))
            self.program.guarded(self.entry, self._look, lambda _: None)(module)
        return call(module, args, kwargs)

    def _look(self, root):
        for module in root.modules():
            self._has_attention = self._has_attention or attends(module)
            config = module.__dict__.get("config")
            setting = getattr(config, "_attn_implementation", None) if config is not None else None
            if setting == "eager" and hasattr(module, "set_attn_implementation"):
                self._configure(module, config)

    def _configure(self, model, config):
        name = type(model).__name__
        if getattr(config, "output_attentions", False):
            self._reasons[f"{name} is asked for its attention weights (output_attentions)"] = 1
            return
        if getattr(model, "_supports_sdpa", False) is False:
            self._reasons[f"{name} has no other attention than eager"] = 1
            return
        model.set_attn_implementation("sdpa")
        if getattr(config, "_attn_implementation", None) == "sdpa":
            self._configured[name] = "eager"
            self.entry.facts["way"] = "config"
        else:
            self._reasons[f"{name} does not let its attention be set"] = 1

    # ---- scaled_dot_product_attention ------------------------------------------------------------

    def _watch_attention(self):
        functional = self.torch.nn.functional
        original = functional.scaled_dot_product_attention

        @functools.wraps(original)
        def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0,
                                         is_causal=False, **named):
            given = (query, key, value, attn_mask, dropout_p, is_causal)
            if self._is_tracing() or type(query) not in self._plain():
                return original(*given, **named)
            kernel, is_opened = self._kernel(given, named)
            if not is_opened:
                return original(*given, **named)
            with self._all_kernels():
                return original(*given, **named)

        functional.scaled_dot_product_attention = scaled_dot_product_attention

    def _plain(self):
        return self.torch.Tensor, self.torch.nn.Parameter

    def _all_kernels(self):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        return sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION,
                            SDPBackend.MATH])

    def _kernel(self, given, named):
        """(kernel or None, only since the program's own setting is passed over)."""
        query, key, _, mask, dropout, is_causal = given
        shape = (query.shape, key.shape, query.dtype, query.device.type, mask is None, is_causal,
                 dropout > 0, query.requires_grad and self.torch.is_grad_enabled(),
                 self.torch.is_autocast_enabled(query.device.type), *sorted(named.items()),
                 self.torch.backends.cuda.flash_sdp_enabled(),
                 self.torch.backends.cuda.mem_efficient_sdp_enabled())
        if shape not in self._seen:
            if len(self._seen) >= SHAPES_MAX:
                return None, False
            self._has_dropout = self._has_dropout or dropout > 0
            self._seen[shape] = self.program.guarded(
                self.entry, self._choose, lambda *_: (None, False))(given, named)
            self._note_place()
        return self._seen[shape]

    def _note_place(self):
        place = self.program.place()
        if place is not None:
            self.entry.place("attention", *place)

    def _choose(self, given, named):
        choice = self._chosen(given, named)
        if choice in KERNELS:
            self._kernels[choice] = self._kernels.get(choice, 0) + 1
            return choice, False
        with self._all_kernels():
            choice = self._chosen(given, named)
        if choice in KERNELS:
            self._opened[choice] = self._opened.get(choice, 0) + 1
            self.entry.facts.setdefault("way", "sdpa")
            return choice, True
        reason = self._reason(given, named)
        self._reasons[reason] = self._reasons.get(reason, 0) + 1
        return None, False

    def _chosen(self, given, named):
        """As PyTorch chooses within the call, after autocast."""
        device = given[0].device.type
        if self.torch.is_autocast_enabled(device):
            dtype = self.torch.get_autocast_dtype(device)
            given = tuple(one.to(dtype) if isinstance(one, self.torch.Tensor)
                          and one.dtype is self.torch.float32 else one for one in given)
        with self.torch.autocast(device, enabled=False):
            return self.torch._fused_sdp_choice(*given, **named)

    def _reason(self, given, named):
        """Half a sentence; the first that applies."""
        query, key, value, mask, dropout, _ = given
        if mask is not None and mask.requires_grad:
            return "the mask requires a gradient"
        if query.dim() != 4:
            return f"queries have {query.dim()} dimensions: fused kernels want 4"
        if named.get("enable_gqa") and query.shape[-3] != key.shape[-3]:
            return "heads share keys and values (enable_gqa), which flash takes in 16 bits only"
        if query.dtype is self.torch.float64 and query.is_cuda:
            return "queries are float64"
        if query.shape[-1] != value.shape[-1]:
            return f"heads of {query.shape[-1]} have values of {value.shape[-1]}"
        if query.shape[-1] > HEAD_MAX:
            return f"heads of {query.shape[-1]} are larger than {HEAD_MAX}"
        if dropout > 0 and not query.is_cuda:
            return "it drops weights at random, which no fused kernel of this device does"
        if mask is not None:
            return f"a mask of {name_of_shape(mask)} is given"
        return f"PyTorch has no fused kernel for queries of {name_of_shape(query)}"

    # ---- other ways ------------------------------------------------------------------------------

    def _watch_softmax(self):
        """Counts those over scores: of attention that is written out."""
        torch = self.torch

        def counted(original):
            @functools.wraps(original)
            def softmax(tensor, *args, **kwargs):
                if (not self._is_tracing() and isinstance(tensor, torch.Tensor)
                        and tensor.dim() >= RANK_MIN and self.program.is_in_forward()):
                    self._softmaxes += 1
                return original(tensor, *args, **kwargs)
            return softmax

        for owner in (torch, torch.nn.functional, torch.Tensor):
            owner.softmax = counted(owner.softmax)

    def _watch_multihead(self):
        kind = self.torch.nn.MultiheadAttention
        original = kind.forward

        @functools.wraps(original)
        def forward(module, query, key, value, key_padding_mask=None, need_weights=True,
                    *args, **kwargs):
            if need_weights and not self._is_tracing() and drops_weights():
                need_weights = False
                self._weightless += 1
                self.entry.facts.setdefault("way", "sdpa")
                self._note_place()
            return original(module, query, key, value, key_padding_mask, need_weights,
                            *args, **kwargs)

        kind.forward = forward

    # ---- the report ------------------------------------------------------------------------------

    def settle(self):
        taken = [f"{name} went from eager to sdpa" for name in self._configured]
        if self._opened:
            taken.append("scaled_dot_product_attention may use " + " and ".join(
                KERNELS[one] for one in sorted(self._opened)) + ", which the program had ruled out")
        if self._weightless:
            taken.append(f"{self._weightless} calls of nn.MultiheadAttention leave weights out "
                         "that are dropped at once")
        kernels = " and ".join(KERNELS[one] for one in sorted({**self._kernels, **self._opened}))
        reasons = "; ".join(self._reasons)
        if taken and self._has_dropout:
            self.entry.relabel(IN_EXPECTATION, "it drops weights at random, and another kernel "
                                               "draws others")
        if taken:
            self.entry.applied("; ".join(taken) + (f"; kernels: {kernels}" if kernels else "")
                               + (f"; not everywhere: {reasons}" if reasons else ""))
        elif self._reasons:
            self.entry.refuse(f"no fused kernel takes it: {reasons}")
        elif kernels:
            self.entry.no_effect(f"fused attention runs already: {kernels}")
        elif self._softmaxes and self._has_attention:
            self.entry.refuse("its attention is written out in products and softmax: nothing "
                              "outside can replace it")
        elif self._softmaxes:
            self.entry.refuse("softmax over scores runs, but no scaled_dot_product_attention: if "
                              "that is attention, it is written out")


def name_of_shape(tensor):
    """ "8 × 12 × 64 × 64 float32"."""
    return " × ".join(str(one) for one in tensor.shape) + " " + str(tensor.dtype)[len("torch."):]
