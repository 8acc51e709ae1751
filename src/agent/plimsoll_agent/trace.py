"""Operations of a step, from the file of PyTorch's execution trace observer.

The file is JSON: a node for each operation that was dispatched, with the shapes, types and storages
of its tensors, its schema and the node within which it ran (PyTorch 2.11,
torch/csrc/profiler/standalone/execution_trace_observer.cpp). An operation that called others which
do the work, such as aten::linear, is not counted itself.

A step of a large model has hundreds of thousands of nodes, in hundreds of MiB. They are read by the
lines in which the observer writes them, and few are parsed: blocks and pieces of a batch repeat the
same operations on other storages, and such a text is equal to an earlier one once storages are
numbered anew.
"""

import bisect
import collections
import gc
import json
import mmap
import re

from plimsoll_agent import flops, traced

STEP, PHASE = "plimsoll: step", "plimsoll: "  # marks: a step begins, a phase has ended
ROWS_MAX = 4000

_STRING = rb'"(?:[^"\\]|\\.)*"'
_NODE = re.compile(
    rb'\n\s*"id": (\d+), "name": (' + _STRING + rb'), "ctrl_deps": (\d+),'
    rb'\n\s*("inputs": .*\n\s*"outputs": .*),\n\s*"attrs": \[(.*)\]\n')
_SCHEMA = re.compile(rb'"op_schema", "type": "string", "value": (' + _STRING + rb')')
# A tensor's value: its id, storage, offset, elements, bytes of an element, device.
_TENSOR = re.compile(rb'\[\d+,(\d+)(,\d+,\d+,\d+,")')

# A node; without work if it makes no kernel run itself.
Node = collections.namedtuple("Node", "id name within work")
# flops: None without a formula; operations within it may then do the work.
Work = collections.namedtuple("Work", "name flops bytes devices precision")


class Sum:
    """What the operations of a step come to.

    rows  {(name, precision, flops, bytes): count}, of operations on the device
    """

    def __init__(self):
        self.rows = {}
        self.launches = 0
        self.host_bytes = 0

    def add(self, name, precision, operations, size):
        key = (name, precision, operations, size)
        self.rows[key] = self.rows.get(key, 0) + 1

    def as_result(self):
        rows = sorted(self.rows.items())
        if len(rows) > ROWS_MAX:
            rows = _merged(rows)
        return [dict(zip(("name", "precision", "flops", "bytes"), key), count=count)
                for key, count in rows]


def _merged(rows):
    """One row for each name and precision, of the mean."""
    sums = {}
    for (name, precision, operations, size), count in rows:
        found = sums.setdefault((name, precision), [0, 0, 0])
        found[0] += operations * count
        found[1] += size * count
        found[2] += count
    return [((*key, operations // count, size // count), count)
            for key, (operations, size, count) in sorted(sums.items())]


class _Texts(dict):
    """Strings of JSON, by their bytes."""

    def __missing__(self, written):
        self[written] = json.loads(written)
        return self[written]


class Reader:
    """Reads nodes.

    tf32, convolutions_tf32  those of 32 bits may compute in TF32
    """

    def __init__(self, tf32=False, convolutions_tf32=True):
        self._tf32 = (tf32, convolutions_tf32)
        self._texts = _Texts()
        self._works = {}  # by name, schema, and text with storages numbered anew

    def nodes(self, data):
        """Of the bytes of a file, one after another."""
        for found in _NODE.finditer(data):
            place, name, within, sides, attributes = found.groups()
            schema = _SCHEMA.search(attributes)
            yield Node(int(place), self._texts[name], int(within),
                       self._work(name, schema[1] if schema else b'""', sides))

    def _work(self, name, schema, sides):
        if schema == b'""':
            return None
        numbers = {}
        sides = _TENSOR.sub(
            lambda found: b"[0,%d%b" % (numbers.setdefault(found[1], len(numbers)), found[2]), sides)
        key = (name, schema, sides)
        if key not in self._works:
            call = traced.Call(self._texts[name], self._texts[schema],
                               json.loads(b"{%b}" % sides))
            self._works[key] = self._work_of(call) if call.is_work() else None
        return self._works[key]

    def _work_of(self, call):
        operations = flops.of(call)
        precision = call.precision(*self._tf32) if operations else ""
        return Work(call.name, operations, call.bytes(), call.devices(), precision)


class Adder:
    """Adds up what the nodes of a step come to.

    is_optimizer  is_optimizer(id): it is of an optimizer's phase
    """

    def __init__(self, is_optimizer):
        self._is_optimizer = is_optimizer
        self._within = {}
        self.sum = Sum()

    def add(self, nodes):
        places = {node.id for node in nodes}
        for node in nodes:
            self._within.setdefault(node.within, []).append(node)
        for node in nodes:
            if node.within not in places or node.within == node.id:
                self._visit(node)
        return self.sum

    def _visit(self, node):
        """Returns whether it does work, or one within it."""
        work = node.work
        has_worked = False
        if work is None or work.flops is None:
            for inner in self._within.get(node.id, ()):
                if inner is not node:
                    has_worked |= self._visit(inner)
        if work is not None and not has_worked:
            self._take(node.id, work)
            has_worked = True
        return has_worked

    def _take(self, place, work):
        if "cuda" not in work.devices:
            if self._is_optimizer(place):
                self.sum.host_bytes += work.bytes
            return
        self.sum.launches += 1
        if work.name == "aten::copy_" and "cpu" in work.devices:
            return  # over the link, where the stand-ins count it
        self.sum.add(work.name, work.precision, work.flops or 0, work.bytes)


def _step_of(nodes):
    """(number, first id, last id) of the step to read: the last of those that are whole.

    0 for one that is not: it ends with the program.
    """
    marks = sorted(node.id for node in nodes if node.name == STEP)
    if len(marks) < 2:
        return 0, marks[0] if marks else 0, float("inf")
    return len(marks) - 1, marks[-2], marks[-1]


def _phase_ends(nodes):
    """[(id, name)] of the phases' ends."""
    return sorted((node.id, node.name[len(PHASE):]) for node in nodes
                  if node.name.startswith(PHASE) and node.name != STEP)


def read(path, tf32, convolutions_tf32):
    """(step, Sum) of a trace, counted from the first that it has; see _step_of().

    Python's collector would look at every node again and again, and finds no cycle.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return _read(path, tf32, convolutions_tf32)
    finally:
        if was_enabled:
            gc.enable()


def _read(path, tf32, convolutions_tf32):
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        nodes = list(Reader(tf32, convolutions_tf32).nodes(data))
    if not nodes:
        raise ValueError("another layout of the execution trace")
    step, first, last = _step_of(nodes)
    ends = _phase_ends(nodes)
    places = [place for place, _ in ends]

    def is_optimizer(place):
        index = bisect.bisect_left(places, place)
        return index < len(ends) and ends[index][1] == "optimizer"

    return step, Adder(is_optimizer).add([node for node in nodes if first < node.id < last])
