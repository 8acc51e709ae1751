"""The search, from its roots to the document."""

import gc
import sys
import threading

from plimsoll_agent.alone import alone
from plimsoll_agent.holders import claims, clock as clocks, document, edges, graphs, leftover
from plimsoll_agent.holders import libraries, roots, tensors as adapters, walk as walking
from plimsoll_agent.places import Places, callers_frame

WALK_SHARE = 0.75    # of the time; the rest is for words
ACCOUNTED = 0.999    # of the bytes: enough to do without the collector's objects
COLLECTOR_SECONDS = 0.3  # that a look at them may take, which cannot be broken off


class _Search:
    """One search. It is dropped whole when it is over, with all that it refers to."""

    def __init__(self, torch, seconds, moment, extra_roots, tensors=None):
        self.torch = torch
        self.moment = moment
        self.extra_roots = extra_roots
        self.clock = clocks.Clock(seconds)
        self.clock.part(WALK_SHARE)
        self.tensors = tensors or adapters.Tensors(torch)
        self.places = Places(torch.__file__)
        self.modules = roots.Modules(self.places)
        self.walk = walking.Walk(self.tensors, self.clock, self.modules.is_own_class)
        self.frames = roots.running(self.places)
        self.is_in_backward, is_elsewhere = _backward(self.frames)
        self.graphs = graphs.Graphs(torch, self.walk, self.clock, not is_elsewhere)
        self.here = self._here()
        self.left = leftover.Leftover(self.walk, self.graphs, self.modules, self.clock,
                                      self.here)
        self.edges = edges.Edges(self.walk)
        self.live = self.tensors.devices()
        self.libraries = {}  # {device: bytes}
        self.is_walked = False  # down from all roots, and down all graphs
        self.whys = []
        if is_elsewhere:
            self.whys.append("another thread runs a backward pass: its graph was not read")

    def _here(self):
        """The root of what has no name, likely that of an expression: where this thread is."""
        frame = callers_frame()
        frame = self.places.users_frame(frame) if frame is not None else None
        if frame is None or not self.places.is_users(frame.f_code):
            return walking.Root("unknown", "", "", is_whole=True)
        code = frame.f_code
        return walking.Root("local", "an expression", "", code.co_filename, frame.f_lineno,
                            code.co_name, is_whole=True)

    def run(self):
        """Goes through it all. The reason for which it is not complete, or None."""
        walk = self.walk
        for names in self.modules.namespaces.values():
            walk.pass_over(names[1])
        late = self._begin()
        if not walk.run():
            return self._late("objects")
        if not self.graphs.run():
            return self._late("autograd's graphs")
        walk.rank = walking.LIBRARY
        for root, value in late:
            walk.root(root, value)
        if not (walk.run() and self.graphs.run()):
            return self._late("the locals of packages' functions")
        self.is_walked = not self.whys
        if self.clock.left() < COLLECTOR_SECONDS:
            return None if self._is_accounted() else (
                "the time was too short for what Python's collector knows besides")
        with alone():
            is_done = self.left.run()
        if not is_done:
            return self._late("what Python's collector knows besides")
        return self.whys[0] if self.whys else None

    def _is_accounted(self):
        """Whether nearly every byte has a claim."""
        claimed = sum(one.bytes for one in self.walk.storages.values() if one.claims)
        return claimed >= ACCOUNTED * sum(self.live.values())

    def _late(self, what):
        """What was found so far counts; graphs of it are looked at with the time that is left."""
        self.walk.forget_queue()
        self.clock.part(1 - (1 - WALK_SHARE) / 2)
        self.graphs.run()
        return f"the time was up within {what}"

    def _begin(self):
        """Starts at the program's own names; returns those of packages, [(root, value)]."""
        walk, late = self.walk, []
        notebook = roots.notebook_names()
        for *kind, label, value in self.extra_roots:
            walk.root(_given(kind[0] if kind else None, str(label)), value)
        frames = self.frames + roots.of_exceptions()
        for one in frames:
            code = one.frame.f_code
            is_users = self.places.is_users(code)
            names = roots.locals_of(one.frame)
            if code.co_name == "<module>":
                continue
            for name, value in names:
                root = walking.Root(one.kind, f"local {name}", name, code.co_filename, one.line,
                                    code.co_name, one.note)
                if is_users:
                    walk.root(root, value)
                else:
                    late.append((root, value))
        for name, names, file in self.modules.own:
            is_notebook = notebook is names
            for key, value in sorted(
                    ((key, value) for key, value in list(names.items()) if type(key) is str),
                    key=lambda one: one[0] != "Out"):
                walk.root(roots.of_global(name, key, file, is_notebook), value)
        return late

    def forget(self):
        """Drops all that it refers to: it may have met itself."""
        for part in (self.walk, self.graphs, self.left, self.edges, self.modules, self):
            part.__dict__.clear()

    def document(self, why):
        self.clock.part(1)
        gathered = claims.Claims(self.walk, self.graphs, self.edges)
        found = gathered.gather()
        garbage = self.left.finish(found)
        warnings = list(dict.fromkeys(self.walk.whys))
        devices = self._devices(found)
        excluded = [one for one in (self._by_exclusion(device, gathered) for device in devices)
                    if one is not None]
        found.extend(one for one in excluded if one not in found)
        found.sort(key=lambda one: -one.bytes)
        if len(found) > document.HOLDERS_MAX:
            size = sum(one.bytes for one in found[document.HOLDERS_MAX:])
            warnings.append(f"{len(found) - document.HOLDERS_MAX} smaller holders, of {size} "
                            "bytes together, are not listed")
        shown = document.Writer(self.walk, self.edges, self.places, self.clock, excluded).holders(
            found[:document.HOLDERS_MAX])
        for device in devices:
            if device["engine_bytes"]:
                shown.append(document.nameless(len(shown), "engine", device["engine_bytes"], device,
                                               f"{self._engine()}, {document.AT_MOST}"))
            size = self.libraries.get(device["device"], 0)
            if size:
                shown.append(document.nameless(len(shown), "library", size, device,
                                               libraries.WORDS))
        return document.whole(self.torch, self.moment, {
            "seconds": round(self.clock.seconds(), 4),
            "is_complete": why is None,
            "why_incomplete": why,
            "devices": devices,
            "holders": document.numbered(shown),
            "garbage": garbage,
            "warnings": warnings,
        })

    def _engine(self):
        """Of PyTorch's code in C++ that runs, in words; None: none does, or too little was seen."""
        if not self.is_walked:
            return None
        if self.is_in_backward:
            return "a running backward pass"
        if self.moment == "failure" and self.here.kind == "local":
            return f"likely the operation that runs{document.where(self.places, self.here)}"
        return None

    def _devices(self, found):
        sums = {device: {"held": 0, "graph": 0, "unknown": 0} for device in self.live}
        counts = dict.fromkeys(sums, 0)
        for one in found:
            if one.device in sums:
                counts[one.device] += len(one.claims)
                part = one.kind if one.kind in ("graph", "unknown") else "held"
                sums[one.device][part] += one.bytes
        devices = []
        for device, live in self.live.items():
            of = sums[device]
            rest = live - sum(of.values())
            if self.is_walked and rest > 0:
                size = self._workspaces(device, rest, counts[device])
                self.libraries[device] = size
                # Blocks are larger than what was requested: that belongs to those that hold them.
                beyond = rest - size if size else min(self.tensors.slack.get(device, 0), rest)
                of["held"] += size + beyond
                rest -= size + beyond
            rest = rest if self._engine() else 0
            devices.append({"device": device, "live_bytes": live, "held_bytes": of["held"],
                            "graph_bytes": of["graph"], "engine_bytes": max(rest, 0)})
        return devices

    def _workspaces(self, device, rest, count):
        """Bytes of a library's workspaces in what is left beside so many storages; else 0.

        By what was requested: that of storages is known but for their last 512 bytes each.
        """
        slack = self.tensors.slack.get(device, 0)
        unsure = adapters.BYTES_MIN * count if slack else 0
        size = libraries.workspaces(rest - slack + unsure, unsure)
        return size if size <= rest else 0

    def _by_exclusion(self, device, gathered):
        """Gives what is left to the one graph whose saved tensors could not be read."""
        if self._engine() or not self.graphs.unread:
            return None
        holder = gathered.of_graphs(self.graphs.unread, device["device"])
        rest = device["live_bytes"] - device["held_bytes"] - device["graph_bytes"]
        if holder is None or rest <= 0:
            return None
        holder.bytes += rest
        device["graph_bytes"] += rest
        for other in gathered.holders.values():
            if other.kind == "unknown" and other.device == holder.device:
                holder.claims.extend(other.claims)
                other.claims, other.bytes = [], 0
        return holder


def _given(kind, label):
    """The root of an object that the caller gives."""
    is_output = label.split("[", maxsplit=1)[0] in ("Out", "_", "__", "___")
    return walking.Root(kind or ("notebook_output" if is_output else "global"), label, label)


def _backward(frames):
    """(whether a backward pass runs, whether in another thread while this one does otherwise)."""
    mine = threading.get_ident()
    running, own_thread_has = False, False
    for thread, frame in list(sys._current_frames().items()):
        is_innermost = True
        while frame is not None:
            if frame.f_code.co_name == "_engine_run_backward":
                running = True
                if thread == mine:
                    own_thread_has = True
            frame = frame.f_back
            is_innermost = False
    del frame, is_innermost
    return running, running and not own_thread_has and threading.get_ident() in threading._active


def find(torch, seconds, moment="dump", extra_roots=(), tensors=None):
    """The document holders/1 of this moment. Never raises.

    seconds      that it may take
    moment       "failure" or "dump"
    extra_roots  [(label, object)] or [(kind, label, object)] to begin at besides
    tensors      what a tensor is; PyTorch's, unless a test says otherwise
    """
    was_enabled = gc.isenabled()
    gc.disable()  # a collection now would run finalizers within ours, and change the answer
    search = None
    try:
        search = _Search(torch, seconds, moment, extra_roots, tensors)
        with search.tensors.quiet():
            return search.document(search.run())
    except Exception as error:
        return document.failed(torch, moment, error)
    finally:
        if search is not None:
            search.forget()
        if was_enabled:
            gc.enable()
