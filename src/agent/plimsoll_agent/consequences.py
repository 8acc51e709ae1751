"""Sizes and ways of the program that hang on what was read.

An operation that makes a size of values always matters. Of every other read the flow of the value
is followed: in the function that reads, and where that returns it, in its callers.
docs/design/values.md.
"""

import ast
import os

from plimsoll_agent import flow, operations, sources, trees
from plimsoll_agent.flow import FLOAT, TRUTH, UNKNOWN, WHOLE

FRAMES_MAX = 8  # callers looked at

_MANY = "how many elements it selects was not computed"
# Operations whose result, or a temporary tensor, is as large as values say.
MAKE_SIZES = {
    operations.MASK: _MANY,
    operations.SLICE: "where the slice ends was not computed",
    "masked_select": _MANY,
    "masked_scatter": _MANY,
    "masked_scatter_": _MANY,
    "nonzero": _MANY,
    "argwhere": _MANY,
    "where": _MANY,
    "index_put_": _MANY,
    "unique": "how many different values there are was not computed",
    "unique_consecutive": "how many different values there are was not computed",
    "_unique2": "how many different values there are was not computed",
    "unique_dim": "how many different values there are was not computed",
    "_unique": "how many different values there are was not computed",
    "repeat_interleave": "how often it repeats was not computed",
    "bincount": "the largest value was not computed",
    "one_hot": "the largest value was not computed",
    "ctc_loss": "the longest target was not computed",
    "nms": "how many boxes it keeps was not computed",
    "batched_nms": "how many boxes it keeps was not computed",
    "coalesce": "how many elements it has was not computed",
    "to_sparse": "how many elements it has was not computed",
    "to_sparse_csr": "how many elements it has was not computed",
    "to_sparse_coo": "how many elements it has was not computed",
    "to_padded_tensor": "the longest sequence was not computed",
    "pad_packed_sequence": "the longest sequence was not computed",
    "_pack_padded_sequence": "the lengths of sequences were not computed",
    "pack_padded_sequence": "the lengths of sequences were not computed",
    "nested_tensor_from_jagged": "the lengths of sequences were not computed",
    "_nested_tensor_from_mask": "the lengths of sequences were not computed",
    "_unpad_input": _MANY,
}
# Parts of PyTorch whose reads decide neither sizes nor ways; the first that fits a path.
_HARMLESS_IN_TORCH = (
    "_tensor_str.py",  # print
    "amp/",  # GradScaler: a step is skipped for infinite gradients, which finds nothing
    "optim/",  # counts of steps, scalars of Adam and schedulers
    "nn/utils/clip_grad.py",  # raises for infinite norms, if at all
    "nn/modules/module.py",  # to() and cpu() look at kinds of tensors, not at values
    "nn/modules/transformer.py",  # looks for a causal mask; one that is found takes less memory
    "nn/parallel/",  # models are compared between ranks; buckets follow shapes
    "distributed/",  # shapes and objects of ranks, which the agent answers
    "distributions/distribution.py",  # checks of arguments, which pass
    "distributions/constraints.py",
    "utils/checkpoint.py",
    "random.py",  # states of generators
    "cuda/random.py",
    "serialization.py",
    "storage.py",
    "_utils.py",
    "multiprocessing/",
    "profiler/",
    "_dynamo/",
    "_inductor/",
    "_functorch/",
    "autograd/gradcheck.py",
    "testing/",
    "utils/tensorboard/",
)
# The same of other libraries: saving weights; Lightning's moving of batches, results and states,
# and its warnings of empty loaders.
_HARMLESS_ELSEWHERE = ("/safetensors/torch.py", "/lightning/fabric/utilities/",
                       "/lightning/pytorch/utilities/data.py",
                       "/lightning_utilities/core/apply_func.py")
# Functions that look for infinite values, by words of their names: a step that has some is left
# out, and where nothing is computed it has none, as in a healthy one.
_LOOKS_FOR_INFINITE = ("overflow", "finite", "invalid_grad", "isnan", "isinf", "inf_or_nan",
                       "nan_or_inf", "has_nan", "has_inf")
# Files of other packages in which a made-up value, false, leads the way that needs no less: a mask
# that might be left out is kept.
_KEEPS_MORE = ("/transformers/masking_utils.py", "/transformers/modeling_attn_mask_utils.py")
# Frames of PyTorch that pass a call on: the operation is that of their caller.
_FORWARDERS = ("utils/_device.py", "_ops.py", "overrides.py", "utils/_contextlib.py",
               "_jit_internal.py", "autograd/grad_mode.py")

# Calls whose result is what was read; other calls read for themselves.
_GIVE_TO_HOST = flow.PASSING | {
    operations.ITEM, operations.TRUTH_VALUE, operations.COPY_TO_HOST, "equal", "allclose",
    "is_nonzero", "__contains__", "index", "__int__", "__float__",
}
_FLOATING = frozenset(
    "mean norm std var softmax log_softmax sigmoid exp log sqrt float double half cross_entropy"
    " mse_loss l1_loss nll_loss binary_cross_entropy binary_cross_entropy_with_logits vector_norm"
    " clip_grad_norm_ loss criterion loss_fn loss_function compute_loss rsqrt tanh grad_norm".split()
)
_WHOLE = frozenset("argmax argmin int long count_nonzero numel bincount argsort size".split())
_TRUE = frozenset("any all isnan isinf isfinite eq ne lt gt le ge bool equal allclose".split())


class Decision:
    """The consequence of a read.

    why    half a sentence, or None if nothing hangs on it
    place  where it decides: "transformers/generation/utils.py:3229"
    depth  of the frame with the loop whose end hangs on it, counted from the innermost; -1: none
    line   of that loop
    """

    def __init__(self, why=None, place="", depth=-1, line=0):
        self.why = why
        self.place = place
        self.depth = depth
        self.line = line


class Consequences:
    """Judges reads by the source."""

    def __init__(self, torch, places):
        self._torch = torch
        self._places = places
        self._folder = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
        self.sources = sources.Sources()

    def _in_torch(self, frame):
        """The path of a frame's file within PyTorch, or "" """
        name = frame.f_code.co_filename
        return name[len(self._folder):] if name.startswith(self._folder) else ""

    def working_frame(self, frame):
        """The innermost frame that does more than pass a call on."""
        while frame.f_back is not None and self._in_torch(frame).startswith(_FORWARDERS):
            frame = frame.f_back
        return frame

    def operation(self, frame):
        """The operation that a frame is at."""
        if frame.f_code.co_filename.endswith("_tensor_str.py"):
            return operations.Operation("print")
        return operations.of(frame, self.sources)

    def decide(self, frame, operation):
        """The decision on a read by an operation of a frame."""
        own = self._in_torch(frame)
        if operation.name == "print" or own and own.startswith(_HARMLESS_IN_TORCH):
            return Decision()
        if operation.name in MAKE_SIZES:
            return Decision(MAKE_SIZES[operation.name], self._places.short(frame))
        code = frame.f_code
        if any(word in code.co_name.lower() for word in _LOOKS_FOR_INFINITE) \
                or any(part in code.co_filename for part in _HARMLESS_ELSEWHERE + _KEEPS_MORE):
            return Decision()
        if operation.node is None:
            return self._unseen(frame, operation)
        return self._follow(frame, operation)

    def _unseen(self, frame, operation):
        """Without a source to look at."""
        if operation.name == operations.TRUTH_VALUE:
            return Decision("a branch hangs on it, and its source is not there",
                            self._places.short(frame))
        return Decision()

    def _follow(self, inner, operation):
        frame = inner
        node, function = operation.node, operation.function
        value = self._value(inner, operation)
        fate = self._fate_of_size(function, node, operation) or function.follow(node, value)
        for depth in range(FRAMES_MAX):
            if fate.why or fate.returned is None:
                break
            caller = _caller(frame)
            if caller is None:
                return Decision()
            own = self._in_torch(caller)
            if own and own.startswith(_HARMLESS_IN_TORCH):
                return Decision()
            frame = caller
            if own.startswith(_FORWARDERS):
                continue
            node, function = operations.expression_of(frame, self.sources)
            if node is None:
                return Decision()
            fate = function.follow(node, fate.returned)
        if fate.why is None:
            return Decision()
        return Decision(fate.why, self._places.short(frame),
                        _depth(inner, frame) if fate.loop else -1, fate.loop)

    @staticmethod
    def _fate_of_size(function, node, operation):
        """For a tensor that is given where a size is wanted: zeros(n)."""
        if not isinstance(node, ast.Call):
            return None
        if operation.name == "range":
            return function.as_range(node)
        if operation.name in flow.SIZES and operation.name not in ("full", "new_full", "pad",
                                                                   "multinomial"):
            return flow.Fate(f"a size is made of it: {operation.name}()")
        return None if operation.name in _GIVE_TO_HOST else flow.HARMLESS

    def _value(self, frame, operation):
        """The value that was read, as far as it is known."""
        name, node = operation.name, operation.node
        if name in (operations.TRUTH_VALUE, "equal", "allclose", "is_nonzero"):
            return flow.Value(TRUTH, False if name == operations.TRUTH_VALUE else None)
        called = trees.name_of(node) if isinstance(node, ast.Call) else ""
        if name == operations.ITEM:
            kind = {"float": FLOAT, "__float__": FLOAT, "int": WHOLE, "__index__": WHOLE}.get(called)
            if kind is None and isinstance(node, ast.Call):
                kind = self._kind(trees.receiver(node), frame)
            if isinstance(node, ast.Subscript):
                return flow.Value(UNKNOWN, None, True)
            return flow.Value(kind or UNKNOWN, flow.MADE_UP)
        if name == operations.COPY_TO_HOST and isinstance(node, ast.Call):
            return flow.Value(self._kind(trees.receiver(node), frame), None, True)
        return flow.Value(UNKNOWN, None, True)

    def _kind(self, node, frame, depth=0):
        """Of an expression's elements."""
        if node is None or depth > 6:
            return UNKNOWN
        dtype = getattr(operations.value_of(node, frame), "dtype", None)
        if isinstance(dtype, self._torch.dtype):
            if dtype == self._torch.bool:
                return TRUTH
            return FLOAT if dtype.is_floating_point else WHOLE
        if isinstance(node, ast.Call):
            return self._kind_of_call(node, frame, depth)
        if isinstance(node, ast.Compare):
            return TRUTH
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Div):
                return FLOAT
            kinds = {self._kind(side, frame, depth + 1) for side in (node.left, node.right)}
            return FLOAT if FLOAT in kinds else WHOLE if WHOLE in kinds else UNKNOWN
        if isinstance(node, ast.Subscript):
            return self._kind(node.value, frame, depth + 1)
        return UNKNOWN

    def _kind_of_call(self, node, frame, depth):
        name = trees.name_of(node)
        for names, kind in ((_FLOATING, FLOAT), (_WHOLE, WHOLE), (_TRUE, TRUTH)):
            if name in names or kind == FLOAT and name.endswith("loss"):
                return kind
        owner = trees.receiver(node)
        if isinstance(owner, ast.Name) and owner.id in ("torch", "F") and node.args:
            owner = node.args[0]
        kind = self._kind(owner, frame, depth + 1)
        return WHOLE if kind == TRUTH and name == "sum" else kind


def _caller(frame):
    """The calling frame of the program's. A comprehension's tree is that of its function."""
    while frame.f_code.co_name in flow.INNER and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_back


def _depth(inner, outer):
    depth = 0
    while inner is not outer:
        inner = inner.f_back
        depth += 1
    return depth
