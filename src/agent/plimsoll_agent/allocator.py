"""The settings that PyTorch's allocator has, as it says itself.

Its environment variables say what is wanted. Some releases do not read one of them (2.9.1 and
PYTORCH_ALLOC_CONF), and none reads them once the allocator has begun.
"""

import os
import sys

from plimsoll_agent.inductor import without_inductor

NAMES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
MIB = 1 << 20
WITHOUT_TRACES = (0, 0, False)  # no pool in particular, and no history, which takes seconds


def asked():
    """(variable, settings) of the environment, or (None, "")."""
    return next(((name, os.environ[name]) for name in NAMES if os.environ.get(name)), (None, ""))


def parse(text):
    """{name: value} of settings as they are written."""
    pairs = (item.split(":", 1) for item in _split(text) if ":" in item)
    return {name.strip(): value.strip() for name, value in pairs}


def _split(text):
    """At the commas, but for those within brackets."""
    items, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            items.append("")
        else:
            items[-1] += letter
    return items


def _shown(settings, backend):
    """{name: value} of what is not PyTorch's default, as one would write it."""
    shown = {}
    if backend and backend != "native":
        shown["backend"] = backend
    if settings.get("expandable_segments"):
        shown["expandable_segments"] = "True"
    if (settings.get("max_split_size") or -1) > 0:
        shown["max_split_size_mb"] = str(settings["max_split_size"] // MIB)
    if (settings.get("garbage_collection_threshold") or 0) > 0:
        shown["garbage_collection_threshold"] = f"{settings['garbage_collection_threshold']:g}"
    divisions = settings.get("roundup_power2_divisions") or {}
    if any(divisions.values()):
        kinds = set(divisions.values())
        pairs = ",".join(f"{size}:{count}" for size, count in divisions.items() if count)
        shown["roundup_power2_divisions"] = str(kinds.pop()) if len(kinds) == 1 else f"[{pairs}]"
    for name in ("graph_capture_record_stream_reuse", "pinned_use_cuda_host_register"):
        if settings.get(name):
            shown[name] = "True"
    return shown


class Segments:
    """What the allocator holds.

    reserved_bytes    of all
    expandable_bytes  in segments that grow
    pool_bytes        in pools of CUDA graphs and torch.cuda.MemPool
    """

    def __init__(self, segments):
        def total(of):
            return sum(segment.get("total_size", 0) for segment in segments if of(segment))

        self.reserved_bytes = total(lambda segment: True)
        self.expandable_bytes = total(lambda segment: segment.get("is_expandable"))
        self.pool_bytes = total(
            lambda segment: tuple(segment.get("segment_pool_id") or (0, 0)) != (0, 0))


class Allocator:
    """Its settings at the last look."""

    def __init__(self, torch):
        self._torch = torch
        self.settings = None  # {name: value} but for defaults; None: it has not said
        self.segments = None  # as of the last look, where a look is cheap

    def begin(self):
        """CUDA is there and nothing is allocated: a snapshot is small."""
        snapshot = self._torch._C._cuda_memorySnapshot
        with without_inductor(self._torch):
            try:
                found = snapshot(None)
            except TypeError:  # before PyTorch 2.7 it took nothing
                found = snapshot()
        self.take(found)

    def look(self):
        """Looks again, where this PyTorch can leave out the history.

        For the frames of what is allocated it asks Inductor, which takes a second to import: only
        where the program has done so.
        """
        if "torch._inductor.codecache" not in sys.modules:
            return
        try:
            found = self._torch._C._cuda_memorySnapshot(WITHOUT_TRACES)
        except Exception:  # an older one, which cannot; each release objects in its own way
            return
        self.take(found)
        self.segments = Segments(found.get("segments") or [])

    def take(self, snapshot):
        """The settings of a snapshot that was taken for something else."""
        settings = snapshot.get("allocator_settings")
        if settings is not None:
            backend = getattr(self._torch._C, "_cuda_getAllocatorBackend", lambda: "native")()
            self.settings = _shown(settings, backend)

    def describe(self):
        """(settings in effect, a sentence on what is wanted and not in effect, or None)."""
        if self.settings is None:
            return "unknown", None
        text = ",".join(f"{name}:{value}" for name, value in self.settings.items()) or "defaults"
        variable, wanted = asked()
        ignored = [f"{name}:{value}" for name, value in parse(wanted).items()
                   if name in ("expandable_segments", "max_split_size_mb", "backend",
                               "garbage_collection_threshold")
                   and not _is_in_force(name, value, self.settings)]
        if not ignored:
            return text, None
        return text, f"{variable} asks for {', '.join(ignored)}, and the allocator does not have it."


def _is_in_force(name, value, settings):
    has = settings.get(name)
    if value in ("False", "native", "0", "0.0"):
        return has is None
    if name == "garbage_collection_threshold":
        return has is not None and float(has) == float(value)
    return has == value
