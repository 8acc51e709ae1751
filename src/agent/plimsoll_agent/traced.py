"""One operation of a trace: its tensors, the bytes that it reads and writes, its precision."""

import math
import re

from plimsoll_agent import flops

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
    """An operation that was dispatched.

    sides    {"inputs": …, "outputs": …}, as the trace has them
    values   of the arguments
    inputs   lists of tensors, one for each argument
    outputs  tensors
    """

    def __init__(self, name, schema, sides):
        self.name = name
        self.schema = schema
        self.values = sides["inputs"]["values"]
        self.inputs = [list(_tensors_in(*one)) for one in _columns(sides["inputs"])]
        self.outputs = [tensor for one in _columns(sides["outputs"])
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
        if _IDLE.match(self.name) or not self.tensors():
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
