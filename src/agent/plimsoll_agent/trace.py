"""Operations of a step, from the file of PyTorch's execution trace observer.

The file is JSON: a node for each operation that was dispatched, with the shapes, types and storages
of its tensors, its schema and the node within which it ran (PyTorch 2.11,
torch/csrc/profiler/standalone/execution_trace_observer.cpp). An operation that called others which
do the work, such as aten::linear, is not counted itself.
"""

import bisect
import gc
import json
import math
import re

from plimsoll_agent import flops

STEP, PHASE = "plimsoll: step", "plimsoll: "  # marks: a step begins, a phase has ended
ROWS_MAX = 4000

# Make no kernel run: memory is given out, or looked at.
_IDLE = re.compile(r"aten::(empty|new_empty|_empty|resize_|set_|detach|lift|item$|_local_scalar_dense"
                   r"|result_type|record_stream|is_pinned|pin_memory|_pin_memory|_reshape_alias"
                   r"|view|as_strided|unsafe_split|_version|is_nonzero)")
# Write what they are given without reading it.
_WRITING = re.compile(r"aten::(_foreach_)?(copy_|fill_|zero_|normal_|uniform_|random_|bernoulli_"
                      r"|exponential_|arange|eye|ones|zeros)")
# Read as much of their first tensor as they put out.
_PICKING = re.compile(r"aten::(embedding|embedding_renorm_|index|index_select|gather|take|nll_loss"
                      r"|nll_loss2d|nll_loss_forward|nll_loss2d_forward)$")
_PRECISIONS = {"float": "float32", "double": "float64", "c10::BFloat16": "bfloat16",
               "c10::Half": "float16", "signed char": "int8",
               "c10::Float8_e4m3fn": "float8_e4m3fn", "c10::Float8_e5m2": "float8_e5m2"}


class Tensor:
    """An argument.

    place  (storage, offset) that tells memory apart
    bytes  that it covers: an expanded one covers less than its shape says
    """

    __slots__ = ("shape", "type", "device", "place", "bytes")

    def __init__(self, value, shape, kind, strides):
        _, storage, offset, _, item_bytes, self.device = value
        self.shape = shape
        self.type = kind[len("Tensor("):-1]
        self.place = (storage, offset)
        if len(strides) == len(shape):
            shape = [size for size, stride in zip(shape, strides) if stride != 0]
        self.bytes = math.prod(shape) * item_bytes


def _tensors_in(value, shape, kind, strides):
    """Those of an argument: one, or those of a list."""
    if kind.startswith("Tensor(") and isinstance(value, list) and len(value) == 6:
        yield Tensor(value, shape, kind, strides)
    elif kind.startswith("GenericList[Tensor"):
        for one in zip(value, shape, kind[len("GenericList["):-1].split(","), strides):
            yield from _tensors_in(*one)


def _columns(side):
    values, shapes, kinds = side["values"], side["shapes"], side["types"]
    return zip(values, shapes, kinds, side.get("strides") or [[]] * len(values))


class Call:
    """A node of the trace.

    inputs   lists of tensors, one for each argument
    outputs  tensors
    """

    def __init__(self, node):
        attributes = {one["name"]: one["value"] for one in node["attrs"]}
        self.id = node["id"]
        self.within = node["ctrl_deps"]
        self.name = node["name"]
        self.schema = attributes.get("op_schema") or ""
        self._node = node
        if self.schema:
            self.values = node["inputs"]["values"]
            self.inputs = [list(_tensors_in(*one)) for one in _columns(node["inputs"])]
            self.outputs = [tensor for one in _columns(node["outputs"])
                            for tensor in _tensors_in(*one)]

    def shape(self, index):
        """Of an argument that is a tensor."""
        return self.inputs[index][0].shape

    def arguments(self):
        """The texts of the schema's arguments: "Tensor(a!) self", …"""
        inside = self.schema.split(") -> ")[0].partition("(")[2]
        return [one.strip() for one in re.split(r",\s*(?![^\[(]*[\])])", inside)
                if one.strip() != "*"]

    def argument(self, name):
        """The value of a named argument; None without one."""
        for text, value in zip(self.arguments(), self.values):
            if text.partition("=")[0].split(" ")[-1] == name:
                return value
        return None

    def tensors(self):
        return [*(tensor for one in self.inputs for tensor in one), *self.outputs]

    def devices(self):
        return {tensor.device.partition(":")[0] for tensor in self.tensors()} - {""}

    def is_work(self):
        """True of an operation that makes a kernel run, unless others within it do."""
        if not self.schema or _IDLE.match(self.name) or not self.tensors():
            return False
        return "!" in self.schema or not self._is_view()

    def _is_view(self):
        """True if it gives out memory that it was given: the schema of _unsafe_view hides it."""
        storages = {tensor.place[0] for one in self.inputs for tensor in one}
        return bool(self.outputs) and all(one.place[0] in storages for one in self.outputs)

    def bytes(self):
        """Read and written: each tensor once, and once more where it is changed in place."""
        is_writing = _WRITING.match(self.name) is not None
        written = {tensor.place: tensor.bytes for tensor in self.outputs}
        read = {}
        for text, tensors in zip(self.arguments(), self.inputs):
            for tensor in tensors:
                if "!" in text.partition(" ")[0]:
                    written[tensor.place] = tensor.bytes
                    if is_writing:
                        continue
                read[tensor.place] = max(read.get(tensor.place, 0), tensor.bytes)
        if _PICKING.match(self.name) and self.inputs[0]:
            place = self.inputs[0][0].place
            read[place] = min(read[place], sum(written.values()))
        return sum(read.values()) + sum(written.values())

    def precision(self, tf32, convolutions_tf32):
        """In which its product is computed."""
        kinds = [tensor.type for one in self.inputs[:3] for tensor in one]
        name = _PRECISIONS.get(kinds[0] if kinds else "", kinds[0] if kinds else "")
        is_allowed = convolutions_tf32 if self.name in flops.CONVOLUTIONS else tf32
        return "tf32" if name == "float32" and is_allowed else name


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


class Reader:
    """Adds the operations of some nodes up.

    tf32, convolutions_tf32  those of 32 bits may compute in TF32
    """

    def __init__(self, tf32=False, convolutions_tf32=True):
        self._tf32 = (tf32, convolutions_tf32)
        self._within = {}
        self.sum = Sum()

    def add(self, nodes, is_optimizer):
        """
        is_optimizer  is_optimizer(id): it is of an optimizer's phase
        """
        calls = {node["id"]: Call(node) for node in nodes}
        for call in calls.values():
            self._within.setdefault(call.within, []).append(call)
        for call in calls.values():
            if call.within not in calls or call.within == call.id:
                self._visit(call, is_optimizer)
        return self.sum

    def _visit(self, call, is_optimizer):
        """Returns whether it does work, or one within it."""
        is_work = call.is_work()
        operations = flops.of(call) if is_work else None
        has_worked = False
        if operations is None:
            for inner in self._within.get(call.id, ()):
                if inner is not call:
                    has_worked |= self._visit(inner, is_optimizer)
        if is_work and not has_worked:
            self._take(call, operations or 0, is_optimizer)
            has_worked = True
        return has_worked

    def _take(self, call, operations, is_optimizer):
        devices = call.devices()
        if "cuda" not in devices:
            if is_optimizer(call.id):
                self.sum.host_bytes += call.bytes()
            return
        self.sum.launches += 1
        if call.name == "aten::copy_" and "cpu" in devices:
            return  # over the link, where the stand-ins count it
        precision = call.precision(*self._tf32) if operations else ""
        self.sum.add(call.name, precision, operations, call.bytes())


def _step_of(nodes):
    """(number, first id, last id) of the step to read: the last of those that are whole.

    0 for one that is not: it ends with the program.
    """
    marks = sorted(node["id"] for node in nodes if node["name"] == STEP)
    if len(marks) < 2:
        return 0, marks[0] if marks else 0, float("inf")
    return len(marks) - 1, marks[-2], marks[-1]


def _phase_ends(nodes):
    """[(id, name)] of the phases' ends."""
    return sorted((node["id"], node["name"][len(PHASE):]) for node in nodes
                  if node["name"].startswith(PHASE) and node["name"] != STEP)


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
    with open(path, encoding="utf-8") as file:
        nodes = json.load(file)["nodes"]
    step, first, last = _step_of(nodes)
    ends = _phase_ends(nodes)
    places = [place for place, _ in ends]

    def is_optimizer(place):
        index = bisect.bisect_left(places, place)
        return index < len(ends) and ends[index][1] == "optimizer"

    chosen = [node for node in nodes if first < node["id"] < last]
    return step, Reader(tf32, convolutions_tf32).add(chosen, is_optimizer)
