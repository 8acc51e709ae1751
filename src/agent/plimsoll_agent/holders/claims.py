"""Which storage is whose: claims gathered into holders."""

import types

from plimsoll_agent.holders import anchors as anchoring, kinds, walk as walking
from plimsoll_agent.holders.edges import is_cache

_OF_OBJECTS = ("parameters", "buffers", "optimizer_states")
_CLOSURE, _TRACEBACK, _GENERATOR, _CACHE = 1, 2, 4, 8


class Holder:
    """
    anchor  see anchors
    kind    as in the document
    root    where its way begins
    claims  [(storage, claim)] that it holds
    others  keys of holders that hold some of the same
    """

    __slots__ = ("key", "anchor", "kind", "root", "device", "claims", "others", "bytes")

    def __init__(self, key, anchor, kind, root, device):
        self.key = key
        self.anchor = anchor
        self.kind = kind
        self.root = root
        self.device = device
        self.claims = []
        self.others = set()
        self.bytes = 0


class Claims:
    """Of one search.

    holders  {key: Holder}
    """

    def __init__(self, walk, graphs, edges):
        self._walk = walk
        self._graphs = graphs
        self._anchors = anchoring.Anchors(walk, edges)
        self._tops = {}      # {node: its root's node}
        self._flags = {}     # {node: what its way leads through}
        self._of_graph = {}  # {ordinal: (anchor, kind, root)}
        self.holders = {}

    def gather(self):
        """[Holder] that hold something, the largest first."""
        for storage in self._walk.storages.values():
            if not storage.claims:
                continue
            ranked = sorted(enumerate(storage.claims), key=lambda one: (one[1][0], one[0]))
            claims = [claim for _, claim in ranked]
            first = self._holder(claims[0], storage.device)
            first.claims.append((storage, claims[0]))
            first.bytes += storage.bytes
            for claim in claims[1:]:
                other = self._holder(claim, storage.device)
                if other is not first and len(first.others) < walking.CLAIMS_MAX:
                    first.others.add(other.key)
        found = [one for one in self.holders.values() if one.claims]
        return sorted(found, key=lambda one: -one.bytes)

    def of_graphs(self, ordinals, device):
        """The holder of some graphs, where it is one; else None."""
        found = {}
        for ordinal in ordinals:
            anchor, kind, root = self._whose_graph(ordinal)
            holder = self._made(anchor, kind, root, device)
            found[holder.key] = holder
        return next(iter(found.values())) if len(found) == 1 else None

    def _holder(self, claim, device):
        return self._made(*self._whose(claim), device)

    def _made(self, anchor, kind, root, device):
        key = (anchor.key(), kind, device)
        found = self.holders.get(key)
        if found is None:
            found = self.holders[key] = Holder(key, anchor, kind, root, device)
        return found

    def _whose(self, claim):
        _, kind, (parent, thing), _ = claim
        top = self._top(parent)
        root = self._walk.roots.get(top)
        if root is not None and root.kind == "graph":
            return self._whose_graph(root.note)
        if root is not None and root.is_whole:
            return anchoring.Anchor(top), root.kind, root
        of_object = kind in _OF_OBJECTS or (
            kind == "gradients" and self._walk.kind(self._walk.objects[parent]) == kinds.MODULE)
        anchor = self._anchors.of_node(parent) if of_object else self._anchors.of(parent, thing)
        return anchor, kind or self._kind(parent, anchor, root), root

    def _whose_graph(self, ordinal):
        """A graph is whose its root is; of a graph within a graph, of the outer one."""
        found = self._of_graph.get(ordinal)
        if found is not None:
            return found
        outer = ordinal
        while True:
            parent, thing = self._graphs.roots[outer][1]
            root = self._walk.roots.get(self._top(parent))
            if root is None or root.kind != "graph":
                break
            outer = root.note  # it was found before: this ends
        if root is not None and root.is_whole:
            kind = "graph" if root.kind == "local" else root.kind
            found = anchoring.Anchor(self._top(parent)), kind, root
            self._of_graph[ordinal] = found
            return found
        found = self._anchors.of(parent, thing), "graph", root
        self._of_graph[ordinal] = found
        return found

    def _top(self, node):
        return self._memo(node, self._tops, lambda one: one, lambda above, _: above)

    def _memo(self, node, known, first, following):
        """A value of each node of a way, worked out from the root down."""
        way = []
        while node not in known:
            above = self._walk.parents[node]
            if above < 0:
                known[node] = first(node)
                break
            way.append(node)
            node = above
        value = known[node]
        for one in reversed(way):
            value = known[one] = following(value, one)
        return value

    def _kind(self, node, anchor, root):
        """By what the way leads through; else by where it begins."""
        if root is not None and root.kind not in ("local", "global", "attribute"):
            return root.kind
        flags = self._memo(node, self._flags, lambda _: 0, self._flag)
        for flag, kind in ((_TRACEBACK, "traceback"), (_CACHE, "cache"),
                           (_GENERATOR, "generator"), (_CLOSURE, "closure")):
            if flags & flag:
                return kind
        above = self._walk.parents[anchor.node]
        if anchor.thing is None and above >= 0 and self._is_kept_by_class(anchor.node):
            return "cache"
        is_direct = above < 0 or (self._walk.parents[above] < 0 and anchor.thing is None)
        return root.kind if is_direct and root is not None else "attribute"

    def _flag(self, flags, node):
        thing = self._walk.objects[node]
        kind = type(thing)
        if kind is types.TracebackType:
            return flags | _TRACEBACK
        if kind in (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType):
            return flags | _GENERATOR
        if kind is types.CellType:
            return flags | _CLOSURE
        if is_cache(thing):
            return flags | _CACHE
        return flags

    def _is_kept_by_class(self, node):
        """Whether a dict is an attribute of a class, or of a model."""
        parents, objects = self._walk.parents, self._walk.objects
        above = objects[parents[node]]
        if self._walk.kind(objects[node]) != kinds.DICT or above is None:
            return False
        if self._walk.kind(above) == kinds.MODULE:
            return True
        over = parents[parents[node]]
        return type(above) is dict and over >= 0 and (
            self._walk.kind(objects[over]) == kinds.CLASS)
