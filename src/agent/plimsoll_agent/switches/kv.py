"""kv=static|window:N: the cache of keys and values that transformers' generate() makes.

A program with a cache of its own cannot be helped from outside: nothing shows that its tensors are
one.
"""

import functools

from plimsoll_agent import importing
from plimsoll_agent.switches.switch import Switch

_UTILS, _CACHES = "transformers.generation.utils", "transformers.cache_utils"
_MAKER = "_prepare_cache_for_generation"


class KeyValues(Switch):
    """In the place of the method that makes a cache for one call of generate()."""

    name = "kv"

    def install(self):
        self._window = int(self.value.partition(":")[2] or 0)
        self._made = 0
        self._tokens = 0
        self._left_out = None  # why a call kept its cache
        self.entry.waits("transformers' generate() was not called; a cache of the program's own "
                         "cannot be seen from outside")
        importing.when_imported(_UTILS, lambda module, seconds: self._cover(module))

    def _cover(self, module):
        mixin = getattr(module, "GenerationMixin", None)
        original = getattr(mixin, _MAKER, None)
        if original is None:
            self.entry.refuse(f"this transformers has no GenerationMixin.{_MAKER}()")
            return

        @functools.wraps(original)
        def prepare(model, generation_config, model_kwargs, *args, **kwargs):
            go_on = functools.partial(original, model, generation_config, model_kwargs, *args,
                                      **kwargs)
            reason = self._reason(model, generation_config, model_kwargs)
            if reason is not None:
                self._left_out = reason
                return go_on()
            if self._window:
                result = go_on()
                self.program.journal.attempt("give a cache a window", self._narrow, model_kwargs)
                return result
            self._make_static(generation_config, model)
            return go_on()

        setattr(mixin, _MAKER, prepare)

    def _reason(self, model, config, arguments):
        """Why this call keeps the cache that it has; None: it need not."""
        if any(arguments.get(name) is not None for name in ("past_key_values", "cache_params")):
            return "the program gives generate() a cache of its own"
        if getattr(config, "use_cache", True) is False:
            return "the program generates without a cache"
        if getattr(config, "cache_implementation", None) not in (None, "dynamic"):
            return f"the program asks for cache_implementation=\"{config.cache_implementation}\""
        is_assisted = getattr(config, "is_assistant", False) or getattr(
            config, "prompt_lookup_num_tokens", None) or arguments.get("assistant_model")
        if is_assisted:
            return "assisted generation takes tokens back, which this cache cannot"
        if not self._window and getattr(model, "_can_compile_fullgraph", True) is False and \
                getattr(model, "_supports_static_cache", True) is False:
            return f"{type(model).__name__} has no static cache"
        return None

    def _note(self, model, way):
        self._made += 1
        self.entry.facts["way"] = way
        place = self.program.place()
        if place is not None:
            self.entry.place("generate", *place)

    def _make_static(self, config, model):
        config.cache_implementation = "static"  # a copy of generate()'s own
        if getattr(config, "compile_config", None) is None:
            config.disable_compile = True  # or a static cache has the model compiled
        self._note(model, "cache_implementation")

    def _narrow(self, arguments):
        """Layers that keep everything become layers that keep a window."""
        import sys

        caches = sys.modules[_CACHES]
        narrow = getattr(caches, "DynamicSlidingWindowLayer", None)
        cache = arguments.get("past_key_values")
        cache = getattr(cache, "self_attention_cache", cache)
        layers = getattr(cache, "layers", None)
        if narrow is None or not layers:
            self._left_out = "this transformers has no layers of a cache with a window"
            return
        wide = [at for at, layer in enumerate(layers) if type(layer) is caches.DynamicLayer]
        for at in wide:
            layers[at] = narrow(sliding_window=self._window)
        if wide:
            self._note(None, "sliding window")
        else:
            self._left_out = "its layers have windows or states of their own already"

    def settle(self):
        if self._made:
            kind = f"a window of {self._window} tokens" if self._window else "static caches"
            calls = "1 call" if self._made == 1 else f"{self._made} calls"
            self.entry.applied(f"{calls} of generate() had {kind}")
        elif self._left_out is not None:
            self.entry.refuse(self._left_out)
