"""What autograd's graphs keep for a backward pass.

Python's collector sees nothing of a graph. The way is down from the tensors that have a history,
by next_functions. A saved tensor is read as it lies there (SavedTensor.data, in PyTorch since
about 2.7): nothing is unpacked, so that no hook of checkpointing or of offloading runs. In older
releases a saved tensor cannot be read without its hooks, and is left.
"""

import gc

from plimsoll_agent.holders import kinds, walk as walking

CHECKED = 32


class _Type:
    """How nodes of a type are read.

    next     gives next_functions
    saved    [(name, getter)] of what is saved, as it lies there
    variable gives the leaf that gradients are added to, or None
    is_python  its attributes are Python's
    """

    __slots__ = ("next", "saved", "variable", "is_python", "name")

    def __init__(self, kind, function_class):
        self.next = self.variable = None
        self.saved = []
        self.name = kinds.name_of(kind)
        bases = kinds.mro_of(kind)
        self.is_python = function_class in bases
        for base in bases:
            names = kinds.names_of(base)
            if self.is_python and base is not function_class:
                continue  # what the program defines is not run
            for name, getter in names.items():
                if name == "next_functions" and self.next is None:
                    self.next = getter.__get__
                elif name == "variable" and not self.is_python:
                    self.variable = getter.__get__
                elif name.startswith("_raw_saved_"):
                    self.saved.append((name[len("_raw_saved_"):], getter.__get__))


class Graphs:
    """Of one search.

    unread   {ordinal of a root: tensors of its graph that could not be read}
    roots    [(node, where)]: in the order in which they are gone into
    shared   {(ordinal, ordinal)}: graphs that have a part in common
    """

    def __init__(self, torch, walk, clock, may_read):
        self._walk = walk
        self._clock = clock
        self._may_read = may_read
        self._types = {}
        self._seen = {}   # {id of a node: (node, ordinal)}
        saved = getattr(getattr(torch._C, "_autograd", None), "SavedTensor", None)
        self._can_read = hasattr(saved, "data") and hasattr(saved, "unpack_hook")
        self._data = saved.data.__get__ if self._can_read else None
        self._hook = saved.unpack_hook.__get__ if self._can_read else None
        self.roots = []
        self.bases = []   # the walk's node of each root
        self.shared = set()
        self.unread = {}

    def run(self):
        """Goes into the graphs that the walk has found since. False: time is up."""
        while self._walk.graphs:
            found, self._walk.graphs = self._walk.graphs, []
            found.sort(key=self._age)
            for node, where in found:
                if not self._descend(node, where):
                    return False
            self._walk.rank, before = walking.GRAPH, self._walk.rank
            is_done = self._walk.run()
            self._walk.rank = before
            if not is_done:
                return False
        return True

    def _age(self, found):
        """The oldest first: a graph belongs to the root that has it without the others."""
        try:
            return found[0]._sequence_nr()
        except Exception:
            return 0

    def _type(self, node):
        kind = type(node)
        found = self._types.get(kind)
        if found is None:
            found = self._types[kind] = _Type(kind, self._walk.tensors.function_class)
        return found

    def _descend(self, top, where):
        if id(top) in self._seen:
            return True
        ordinal = len(self.roots)
        self.roots.append((top, where))
        base = self._walk.bare_root(walking.Root("graph", "", "", note=ordinal))
        self.bases.append(base)
        stack, left = [top], CHECKED
        while stack:
            left -= 1
            if left <= 0:
                left = CHECKED
                if self._clock.is_up():
                    return False
            node = stack.pop()
            kind = self._type(node)
            known = self._seen.get(id(node))
            if known is not None:
                if known[1] != ordinal and kind.variable is None and len(self.shared) < 10_000:
                    self.shared.add((ordinal, known[1]))
                continue
            self._seen[id(node)] = (node, ordinal)
            try:
                following = kind.next(node)
            except Exception:
                following = ()
            self._saved(node, kind, base, ordinal)
            for following_node, _ in following:
                if following_node is not None:
                    stack.append(following_node)
        return True

    def _saved(self, node, kind, base, ordinal):
        walk = self._walk
        if kind.variable is not None:
            tensor = kind.variable(node)
            if tensor is not None and walk.kind(tensor) == kinds.TENSOR:
                walk.tensor(tensor, base, "graph", "a leaf", walking.GRAPH)
            return
        if self._may_read:
            for name, getter in kind.saved:
                self._read(node, f"{kind.name}.{name}", getter, base, ordinal)
        if kind.is_python:
            for other in gc.get_referents(node):
                if walk.kind(other) not in (kinds.CLASS, kinds.SKIP):
                    walk.reach(other, base)

    def _read(self, node, label, getter, base, ordinal):
        try:
            found = getter(node)
        except Exception:  # it was given back already
            return
        for saved in found if type(found) is tuple else (found,):
            if saved is None:
                continue
            if not self._can_read:
                self.unread[ordinal] = self.unread.get(ordinal, 0) + 1
                continue
            try:
                hook, data = self._hook(saved), self._data(saved)
            except Exception:
                continue
            walk = self._walk
            if hook is not None:
                walk.reach(hook, base)
            if data is None:
                continue
            if walk.kind(data) == kinds.TENSOR:
                walk.tensor(data, base, "graph", label, walking.GRAPH)
            else:
                walk.reach(data, base)
