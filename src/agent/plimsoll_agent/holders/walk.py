"""One pass down from the roots: which objects lead to tensors, and by which way.

Every object is visited once, breadth first, so that the way to it is a short one. All that is
kept of the way is the object before: labels are worked out later, for the few that are shown.
What an object refers to is what the collector would see of it; no method of the program's runs.

A tensor is claimed by each object that leads to it. Of the claims the one of the lowest rank
holds it, and of these the first.
"""

import gc
import itertools
import sys
from collections import deque

from plimsoll_agent.holders import kinds
from plimsoll_agent.holders.tensors import Storage

OWN = 0       # parameters, buffers, gradients and optimizer states: where they belong
NAMED = 1     # by the program's names
LIBRARY = 2   # by names in packages
GRAPH = 3     # saved for a backward pass
LOOSE = 4     # known to the collector alone

LARGE = 20_000   # elements of a container that is left until the others have been seen
CHUNK = 4096
CHECKED = 128    # objects between two looks at the clock
CLAIMS_MAX = 4


class Root:
    """Where a way begins.

    kind      as in the document
    label     "local losses"
    name      "losses"
    file, line, function  where it stands, or None
    note      what is to be said of it besides: "in the traceback of the last exception"
    is_whole  all that it leads to is one holder, which is the root itself
    """

    __slots__ = ("kind", "label", "name", "file", "line", "function", "note", "is_whole")

    def __init__(self, kind, label, name, file=None, line=None, function=None, note=None,
                 is_whole=False):
        self.kind = kind
        self.label = label
        self.name = name
        self.file = file
        self.line = line
        self.function = function
        self.note = note
        self.is_whole = is_whole


class Walk:
    """All that was seen.

    objects   of each node; None: a root, of which roots[node] says more
    parents   the node before; -1: a root
    names     {node: label of its edge}, where that is known: modules
    storages  {(device, address): Storage}
    graphs    [(node of the graph, (node, tensor))]: tensors that have a history, by an edge to them
    whys      reasons for which something was left out
    """

    def __init__(self, tensors, clock, is_own_class):
        self.tensors = tensors
        self.kinds = kinds.Kinds(tensors)
        self.objects = []
        self.parents = []
        self.roots = {}
        self.names = {}
        self.seen = {}
        self.storages = {}
        self.graphs = []
        self.whys = []
        self.rank = NAMED
        self.wanted = frozenset()  # ids of classes that are not to be passed over
        self.modules = frozenset(map(id, list(sys.modules.values())))
        self.parameters = {}       # {id of a parameter: its qualified name}
        self._clock = clock
        self._is_own_class = is_own_class
        self._storage_of = {}      # {id of a tensor: its Storage or None}
        self._wrapped = {}         # {id of a tensor without memory: Storages of those in it}
        self._queue = deque()
        self._large = deque()
        self._modules = []
        self._optimizers = []

    # --- nodes

    def root(self, root, value):
        """Begins at a value."""
        if self.kind(value) == kinds.SKIP:
            return
        node = self._node(None, -1)
        self.roots[node] = root
        self.reach(value, node)

    def bare_root(self, root):
        """A root whose values come later, by reach()."""
        node = self._node(None, -1)
        self.roots[node] = root
        return node

    def pass_over(self, thing):
        """An object that is not to be gone into."""
        if id(thing) not in self.seen:
            self.seen[id(thing)] = self._node(thing, -1)

    def kind(self, thing):
        found = self.kinds.of.get(type(thing))
        return self.kinds.look(type(thing)) if found is None else found

    def _node(self, thing, parent):
        self.objects.append(thing)
        self.parents.append(parent)
        return len(self.objects) - 1

    def reach(self, thing, parent):
        """An edge from a node to an object."""
        kind = self.kind(thing)
        if kind == kinds.SKIP:
            return
        if kind == kinds.TENSOR:
            self.tensor(thing, parent)
            return
        if kind == kinds.STORAGE:
            self._claim(self.tensors.of_storage(thing), None, parent, thing, None)
            return
        if kind == kinds.NODE:
            self.graphs.append((thing, (parent, thing)))
        if id(thing) in self.seen:
            return
        node = self.seen[id(thing)] = self._node(thing, parent)
        if kind == kinds.MODULE:
            self._modules.append(node)
        elif kind == kinds.OPTIMIZER:
            self._optimizers.append(node)
        else:
            self._queue.append(node)

    # --- tensors

    def tensor(self, tensor, parent, kind=None, label=None, rank=None):
        """An edge from a node to a tensor, which claims it.

        kind   where the edge says it: "parameters"; otherwise the way does
        label  its name within the holder, where that is known
        """
        key = id(tensor)
        is_new = key not in self._storage_of
        if is_new:
            self._storage_of[key] = self._record(self.tensors.storage(tensor))
        self._claim(self._storage_of[key], kind, parent, tensor, label, rank)
        if self._storage_of[key] is None:
            for storage in self._inner_of(tensor):
                self._claim(storage, kind, parent, tensor, label, rank)
        if is_new:
            node = self.seen[key] = self._node(tensor, parent)
            self._within(tensor, node, (parent, tensor))

    def _inner_of(self, tensor):
        """Storages of the tensors that a wrapper consists of: DTensor, quantised weights."""
        key = id(tensor)
        if key not in self._wrapped:
            found = [one for one in gc.get_referents(tensor) if self.kind(one) == kinds.TENSOR]
            own = kinds.dict_of(tensor) or {}
            found.extend(one for one in own.values() if self.kind(one) == kinds.TENSOR)
            found.extend(one for _, one in self.tensors.inner(tensor))
            storages = {id(one): self.storage_of(one) for one in found}
            self._wrapped[key] = [one for one in storages.values() if one is not None]
        return self._wrapped[key]

    def _within(self, tensor, node, where):
        for other in gc.get_referents(tensor):
            if self.kind(other) != kinds.CLASS:
                self.reach(other, node)
        for label, other in self.tensors.inner(tensor):
            self.tensor(other, node, None, label)
        gradient = self.tensors.grad(tensor)
        if gradient is not None:
            self.tensor(gradient, node, "gradients", "grad")
        node_of_graph = self.tensors.grad_fn(tensor)
        if node_of_graph is not None:
            self.graphs.append((node_of_graph, where))

    def has_seen(self, tensor):
        return id(tensor) in self._storage_of

    def storage_of(self, tensor):
        """Its Storage, whether or not anything claims it."""
        key = id(tensor)
        if key not in self._storage_of:
            return self._record(self.tensors.storage(tensor))
        return self._storage_of[key]

    def _record(self, found):
        if found is None:
            return None
        storage = self.storages.get(found[:2])
        if storage is None:
            storage = self.storages[found[:2]] = Storage(*found)
        elif found[2] > storage.bytes:
            storage.bytes = found[2]
        return storage

    def _claim(self, storage, kind, parent, thing, label, rank=None):
        if type(storage) is tuple:
            storage = self._record(storage)
        if storage is None or len(storage.claims) > 4 * CLAIMS_MAX:
            return
        storage.claims.append((self.rank if rank is None else rank, kind, (parent, thing), label))

    # --- the pass

    def run(self):
        """Goes on until nothing is left. False: time is up."""
        while True:
            if not self._drain(self._queue):
                return False
            if self._modules:
                self._expand_modules()
            elif self._optimizers:
                self._expand_optimizers()
            elif self._large:
                self._queue.append(self._large.popleft())
                if not self._drain(self._queue, is_last=True):
                    return False
            else:
                return True

    def forget_queue(self):
        """What was still to be visited stays unvisited."""
        self._queue.clear()
        self._large.clear()
        self._modules, self._optimizers = [], []

    def _drain(self, queue, is_last=False):
        objects, of, seen, look = self.objects, self.kinds.of, self.seen, self.kinds.look
        skip, plain_from = kinds.SKIP, kinds.FUNCTION
        left = CHECKED
        while queue:
            left -= 1
            if left <= 0:
                left = CHECKED
                if self._clock.is_up():
                    return False
            node = queue.popleft()
            thing = objects[node]
            kind = of[type(thing)]
            if kind >= plain_from:
                children = self._children(thing, kind, node, is_last)
                if children is None:
                    return False
            else:
                children = gc.get_referents(thing)
            for child in children:
                kind = of.get(type(child))
                if kind is None:
                    kind = look(type(child))
                if kind == skip:
                    continue
                if kind == kinds.PLAIN and id(child) in seen:
                    continue
                self.reach(child, node)
        return True

    def _children(self, thing, kind, node, is_last):
        """What one refers to, as far as it is to be gone into; None: time is up."""
        if kind == kinds.FUNCTION:
            return self._of_function(thing)
        if kind == kinds.CLASS:
            is_wanted = id(thing) in self.wanted or self._is_own_class(thing)
            return gc.get_referents(thing) if is_wanted else ()
        if kind == kinds.PYMODULE:
            return () if id(thing) in self.modules else gc.get_referents(thing)
        if kind == kinds.FRAME:
            return [one for one in gc.get_referents(thing) if type(one) is not type(thing)]
        if kind in (kinds.LIST, kinds.DICT, kinds.SET):
            count = _length(thing, kind)
            if count > LARGE:
                if not is_last:
                    self._large.append(node)
                    return ()
                return () if self._in_pieces(thing, kind, node) else None
        return gc.get_referents(thing)

    def _of_function(self, function):
        """Without the module that it stands in."""
        around = function.__globals__
        is_modules = id(around) in self.seen
        parts = function.__closure__ or (), function.__defaults__ or ()
        found = [one for one in gc.get_referents(function) if one is not parts[0]
                 and one is not parts[1] and (one is not around or not is_modules)]
        found.extend(itertools.chain(*parts))
        return found

    def _in_pieces(self, thing, kind, node):
        """Goes through a large container, with the clock in view. False: time is up."""
        parts = [_elements(thing, kind)]
        if kind == kinds.DICT:
            parts.append(dict.keys(thing))
        of = self.kinds.of
        for part in parts:
            try:
                iterator = iter(part)
                while True:
                    some = list(itertools.islice(iterator, CHUNK))
                    if not some:
                        break
                    new = {kind for kind in set(map(type, some))
                           if (self.kinds.look(kind) if kind not in of else of[kind])}
                    if new:
                        for one in some:
                            if type(one) in new:
                                self.reach(one, node)
                    if self._clock.is_up():
                        return False
            except RuntimeError:  # it changed its size in another thread
                self.whys.append("a large container changed while it was read")
        return True

    # --- models and optimizers

    def _expand_modules(self):
        """Models from their outermost module down, so that names are qualified."""
        nodes, self._modules = self._modules, []
        waiting = set(nodes)
        inner = {id(child) for node in nodes
                 for _, child in self._submodules(self.objects[node])}
        tops = [node for node in nodes if id(self.objects[node]) not in inner]
        tops = [self._unwrapped(node, waiting) for node in tops]
        for top in tops + nodes:
            stack = [(top, "")] if top in waiting else []
            while stack:
                node, prefix = stack.pop()
                if node not in waiting:
                    continue
                waiting.discard(node)
                module = self.objects[node]
                self._expand_module(module, node, top, prefix)
                for name, child in reversed(self._submodules(module)):
                    known = self._adopt(child, node, f".{name}", waiting)
                    if known is not None:
                        stack.append((known, f"{prefix}{name}."))

    def _unwrapped(self, node, waiting):
        """The model of a wrapper that has nothing else, where the program names that first."""
        while True:
            module = self.objects[node]
            below = self._submodules(module)
            own = kinds.dict_of(module) or {}
            inner = self.seen.get(id(below[0][1])) if len(below) == 1 else None
            if inner is None or inner not in waiting or inner > node or any(
                    self.kind(own.get(part)) == kinds.DICT and dict.__len__(own[part]) > 0
                    for part in ("_parameters", "_buffers")):
                return node
            node = inner

    def _adopt(self, child, node, label, waiting):
        """The node of a module's child, which is to be gone into; None: it has been."""
        known = self.seen.get(id(child))
        if known is None:
            known = self.seen[id(child)] = self._node(child, node)
            waiting.add(known)
        elif known not in waiting or self._is_above(known, node):
            return None
        self.parents[known] = node
        self.names[known] = label
        return known

    def _is_above(self, node, below):
        """Whether a node leads to another. A long way counts as one that does."""
        for _ in range(64):
            if below == node:
                return True
            if below < 0:
                return False
            below = self.parents[below]
        return True

    def _submodules(self, module):
        own = kinds.dict_of(module) or {}
        found = own.get("_modules")
        if self.kind(found) != kinds.DICT:
            return []
        return [(name, child) for name, child in list(dict.items(found))
                if type(name) is str and self.kind(child) == kinds.MODULE]

    def _expand_module(self, module, node, top, prefix):
        own = kinds.dict_of(module)
        if own is None:
            for other in gc.get_referents(module):
                self.reach(other, node)
            return
        self.pass_over(own)
        for part, kind in (("_parameters", "parameters"), ("_buffers", "buffers")):
            found = own.get(part)
            if self.kind(found) != kinds.DICT:
                continue
            self.pass_over(found)
            for name, tensor in list(dict.items(found)):
                if self.kind(tensor) != kinds.TENSOR:
                    continue
                label = f"{prefix}{name}"
                self.parameters.setdefault(id(tensor), label)
                self.tensor(tensor, top, kind, label, OWN)
                gradient = self.tensors.grad(tensor)
                if gradient is not None:
                    self.tensor(gradient, top, "gradients", f"grad of {label}", OWN)
        for name, value in list(own.items()):
            if name not in ("_parameters", "_buffers", "_modules"):
                self.reach(value, node)
        self.reach(type(module), node)

    def _expand_optimizers(self):
        """Their states by parameter; then all else of them."""
        nodes, self._optimizers = self._optimizers, []
        for node in nodes:
            optimizer = self.objects[node]
            own = kinds.dict_of(optimizer) or {}
            states = own.get("state")
            if self.kind(states) == kinds.DICT:
                for parameter, state in list(dict.items(states)):
                    if self.kind(state) != kinds.DICT:
                        continue
                    self.pass_over(state)
                    of = self.parameters.get(id(parameter)) or "a parameter"
                    for name, value in list(dict.items(state)):
                        if self.kind(value) == kinds.TENSOR:
                            self.tensor(value, node, "optimizer_states", f"{name} of {of}", OWN)
                        else:
                            self.reach(value, node)
            for other in gc.get_referents(optimizer):
                self.reach(other, node)


def _length(thing, kind):
    if kind == kinds.DICT:
        return dict.__len__(thing)
    for base in (list, tuple, set, frozenset, deque):
        if base in kinds.mro_of(type(thing)):
            return base.__len__(thing)
    return 0


def _elements(thing, kind):
    """Goes through a container by its base class's own iterator."""
    if kind == kinds.DICT:
        return dict.values(thing)
    for base in (list, tuple, set, frozenset, deque):
        if base in kinds.mro_of(type(thing)):
            return _Iterable(base, thing)
    return ()


class _Iterable:
    def __init__(self, base, thing):
        self._base = base
        self._thing = thing

    def __iter__(self):
        return self._base.__iter__(self._thing)
