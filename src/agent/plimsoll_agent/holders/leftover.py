"""Tensors that the pass down from the roots did not find, though Python's collector knows them.

From all of these at once, the collector's objects are searched for what refers to them, level by
level. Where that ends in something that was seen, or in a module, a way down was missed and is
taken now. What is left is alive by code in C or by a running expression, or it is garbage: objects
that hold each other, of which every reference is accounted for. No collection is run for that.
"""

import gc
import sys

from plimsoll_agent.holders import kinds
from plimsoll_agent.holders.walk import CHUNK, LIBRARY, LOOSE, Root

LEVELS_MAX = 12
OBJECTS_MAX = 200_000
FEW = 32
_MUTE = (kinds.SKIP, kinds.CLASS, kinds.PYMODULE)
NAMES_MAX = 4
_HOLDING = 3  # references of ours to an object of the group: its list, a variable, the call


LIKELY = ("objects that no root leads to, likely cycles that wait for Python's collector")


class _Referrers:
    """The collector's objects that refer to some.

    gc.get_referrers() compares each reference of each object with each that it is given: that is
    for a few. For more, the objects that the walk has not seen are gone through here.
    """

    def __init__(self, walk, clock):
        self._walk = walk
        self._clock = clock
        self._things = None

    def of(self, level):
        """A list; None: time was up."""
        if len(level) <= FEW:
            return gc.get_referrers(*level)
        if self._things is None:
            of, seen = self._walk.kinds.of, self._walk.seen
            self._things = [one for one in gc.get_objects()
                            if of.get(type(one), kinds.PLAIN) not in _MUTE and id(one) not in seen]
        is_apart, found = set(map(id, level)).isdisjoint, []
        for start in range(0, len(self._things), CHUNK):
            if self._clock.is_up():
                return None
            found.extend(one for one in self._things[start:start + CHUNK]
                         if not is_apart(map(id, gc.get_referents(one))))
        return found

    def forget(self):
        """Drops the references: they would count as the program's."""
        self._things = None


def _running():
    """The ids of the frames of all threads."""
    found = set()
    for frame in list(sys._current_frames().values()):
        while frame is not None:
            found.add(id(frame))
            frame = frame.f_back
    return found


class Leftover:
    """Of one search."""

    def __init__(self, walk, graphs, modules, clock, here):
        self._here = here    # root of what an expression that runs holds
        self._walk = walk
        self._graphs = graphs
        self._modules = modules
        self._clock = clock
        self._entries = []   # [(root, value)]: names of modules that lead to them
        self._missed = []    # [(node, object)]: edges that the walk did not take
        self._names = []     # of classes among the garbage
        self._count = None   # objects that are garbage; None: that is not known

    def run(self):
        """False: time was up."""
        loose = self._loose()
        if loose is None:
            return False
        if not loose:
            self._count = 0
            return True
        around = self._around(loose)
        if around is None:
            self._give_up(loose)
            return False
        self._walk.rank = LIBRARY
        self._walk.wanted = frozenset(around)
        for root, value in self._entries:
            self._walk.root(root, value)
        self._entries = []
        for parent, child in self._missed:
            self._walk.reach(child, parent)
        self._missed = []
        if not (self._walk.run() and self._graphs.run()):
            return False
        loose = [one for one in loose if not self._walk.has_seen(one)]
        if not loose:
            self._count = 0
            return True
        if not self._judge(loose, around):
            self._give_up(loose)
            return False
        return True

    def _loose(self):
        """Tensors with memory of their own, or a history, that the walk has not seen."""
        walk, found = self._walk, []
        tensor, of = kinds.TENSOR, walk.kinds.of
        things = gc.get_objects()
        wanted = {kind for kind in set(map(type, things))
                  if (of[kind] if kind in of else walk.kinds.look(kind)) == tensor}
        candidates = [one for one in things if type(one) in wanted]
        del things
        for count, one in enumerate(candidates):
            if count % 64 == 0 and self._clock.is_up():
                return None
            if walk.has_seen(one):
                continue
            storage = walk.storage_of(one)
            is_alone = storage is not None and not storage.claims
            if is_alone or walk.tensors.grad_fn(one) is not None:
                found.append(one)
        return found

    def _around(self, loose):
        """{id: object} of all that leads to them; None: time was up."""
        around = {id(one): one for one in loose}
        level = list(loose)
        referrers = _Referrers(self._walk, self._clock)
        ours = {id(loose), id(around), id(self._walk.objects), id(self.__dict__)}
        ours.update(_running())
        try:
            for _ in range(LEVELS_MAX):
                if self._clock.is_up() or len(around) > OBJECTS_MAX:
                    return None
                ids = set(map(id, level))
                ours.add(id(level))
                found = referrers.of(level)
                if found is None:
                    return None
                ours.add(id(found))
                above = []
                for one in found:
                    self._above(one, ids, ours, around, above)
                del found
                if not above:
                    break
                level = above
            return around
        finally:
            referrers.forget()

    def _above(self, one, ids, ours, around, above):
        key = id(one)
        kind = self._walk.kind(one)
        if key in around or key in ours or kind == kinds.PYMODULE:
            return
        if kind == kinds.FRAME and self._modules.is_own_code(one.f_code):
            return
        space = self._modules.namespaces.get(key)
        if space is not None:
            name, names, file = space
            for label, value in list(dict.items(names)):
                if id(value) in ids and type(label) is str:
                    self._entries.append(
                        (Root("global", f"global {label}", label, file, None, name), value))
            return
        node = self._walk.seen.get(key)
        if node is not None:
            if kind != kinds.SKIP:
                self._missed.extend((node, child) for child in gc.get_referents(one)
                                    if id(child) in ids)
            return
        if type(one) is tuple and one is not None and self._is_call(one, ids):
            return
        around[key] = one
        above.append(one)

    @staticmethod
    def _is_call(one, ids):
        """Whether it is the tuple of the arguments of get_referrers() itself."""
        return len(one) == len(ids) and all(id(each) in ids for each in one)

    def _judge(self, loose, around):
        """Which of them are garbage, by their references."""
        group = list(around.values())
        around.clear()
        inside = dict.fromkeys(map(id, group), 0)
        for count, one in enumerate(group):
            if count % 256 == 0 and self._clock.is_up():
                return False
            for other in gc.get_referents(one):
                if id(other) in inside:
                    inside[id(other)] += 1
        other = None  # or it would count as one more reference
        loose_ids = set(map(id, loose))
        alive = []
        for one in group:
            ours = _HOLDING + (id(one) in loose_ids)
            if sys.getrefcount(one) - ours > inside[id(one)]:
                alive.append((one, self._is_nameless(one)))
        kept = {}  # {id of what is alive: whether an expression may hold it}
        while alive:
            one, is_nameless = alive.pop()
            if id(one) in kept:
                continue
            kept[id(one)] = is_nameless
            alive.extend((other, is_nameless) for other in gc.get_referents(one)
                         if id(other) in inside and id(other) not in kept)
        self._claim(loose, kept, group)
        self._graphs.run()
        return True

    def _is_nameless(self, one):
        """Whether an expression that runs may hold it: no C code keeps such objects for long."""
        kind = self._walk.kind(one)
        if kind == kinds.TENSOR:
            return self._walk.tensors.is_passing(one)
        return kind in (kinds.LIST, kinds.DICT, kinds.SET)

    def _claim(self, loose, kept, group):
        walk = self._walk
        walk.rank = LOOSE
        garbage = walk.bare_root(Root("garbage", "", "", is_whole=True))
        unknown = walk.bare_root(Root("unknown", "", "", is_whole=True))
        expression = walk.bare_root(self._here)
        self._names = sorted({
            kinds.name_of(type(one)) for one in group if id(one) not in kept
            and walk.kind(one) in (kinds.PLAIN, kinds.MODULE)
            and "__dict__" in kinds.names_of(type(one))})[:NAMES_MAX]
        self._count = sum(id(one) not in kept for one in group)
        for one in loose:
            if id(one) in kept:
                root = expression if kept[id(one)] else unknown
                walk.tensor(one, root, None, None, LOOSE)
            else:
                walk.tensor(one, garbage, None, None, LOOSE)

    def _give_up(self, loose):
        """Time was up: what no root leads to is likely garbage, and said to be no more than that."""
        walk = self._walk
        walk.rank = LOOSE
        root = walk.bare_root(Root("garbage", "", "", note=LIKELY, is_whole=True))
        self._count = 0
        for one in loose:
            if not walk.has_seen(one):
                walk.tensor(one, root, None, None, LOOSE)

    def finish(self, holders):
        """The figures, of the holders that were made of it; None: that was not searched."""
        if self._count is None:
            return None
        mine = [one for one in holders if one.kind == "garbage"]
        of = f" ({', '.join(f'`{name}`' for name in self._names)})" if self._names else ""
        if any(one.root.note == LIKELY for one in mine):
            return {"bytes": sum(one.bytes for one in mine),
                    "tensors": sum(len(one.claims) for one in mine), "objects": 0,
                    "text": f"{LIKELY}: there was no time to be sure"}
        text = (f"objects that hold each other{of} and that nothing else refers to: one "
                "collection of Python's would give back about that much" if mine else
                "one collection of Python's would give back no tensor that is known")
        return {"bytes": sum(one.bytes for one in mine),
                "tensors": sum(len(one.claims) for one in mine),
                "objects": self._count, "text": text}
