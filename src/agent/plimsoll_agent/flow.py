"""Where a value goes in the source of a function: into a size, the program's way, or neither.

Nothing is run. From the expression that has the value the analysis climbs the syntax tree, follows
names, attributes of the same file and functions of the same file, and stops at the first place
that matters. A value whose end cannot be seen matters where it is an integer or a truth value that
goes into an unknown function, and does not where it is a float or a whole tensor on the host.

    Sources.of(code) ──► Function ──► find(position) ──► follow(expression, value) ──► Fate
"""

import ast
import copy
import operator

from plimsoll_agent.trees import (
    called,
    constant_returned,
    is_of_torch,
    is_on_host,
    is_text,
    is_true,
    leaves,
    name_of,
    names_host,
    receiver,
)

FLOAT, WHOLE, TRUTH, UNKNOWN = "float", "whole", "truth", "unknown"
DEPTH_MAX = 40
STEPS_MAX = 3000

# Functions and methods whose arguments are sizes, counts or indices of what they make.
SIZES = frozenset(
    "range zeros ones empty full rand randn randint arange linspace logspace eye new_zeros"
    " new_ones new_empty new_full view reshape expand repeat tile narrow split chunk unfold pad"
    " resize_ as_strided split_with_sizes tensor_split repeat_interleave one_hot unflatten"
    " broadcast_to pack_padded_sequence interpolate islice topk batched all_to_all_single randperm"
    " Size empty_strided set_ resize multinomial constant_pad_nd upsample".split()
)
# Arguments of those that are values of elements, by position and keyword.
_ELEMENTS = {
    "full": (1, "fill_value"),
    "new_full": (1, "fill_value"),
    "pad": (3, "value"),
    "constant_pad_nd": (2, "value"),
}
# Calls that print, log, keep or count, and allocate nothing on a device.
LIGHT = frozenset(
    "print format str repr ascii log info debug warning warning_once warn error critical exception"
    " add_scalar add_scalars add_text log_metrics log_dict log_metric append appendleft extend add"
    " insert discard remove pop popleft write writelines writerow set_description set_postfix"
    " set_postfix_str save save_pretrained save_state save_checkpoint dump dumps state_dict isinstance"
    " issubclass hasattr getattr setattr id type hash len int float bool round abs min max sum sorted"
    " item items keys values get setdefault join strip lower upper startswith endswith replace split"
    " time perf_counter monotonic sleep strftime datetime now total_seconds close flush zero_grad"
    " ValueError RuntimeError AssertionError Exception StopIteration is_nan isnan isinf isfinite"
    " enumerate zip tuple list dict set defaultdict partial tolist batch_decode decode"
    " makedirs path exists basename dirname numel size dim nelement"
    " any all isin argmax argmin allclose equal is_floating_point device is_main_process get_rank get_world_size barrier train eval refresh tick echo".split()
)
PASSING = frozenset(
    "float int bool round abs min max sum sorted list tuple zip enumerate map filter any all"
    " reversed dict set str_to_int sqrt exp log log2 log10 floor ceil isnan isinf isfinite pow"
    " array asarray mean median std argmax argmin cpu numpy item tolist flatten ravel clip squeeze"
    " astype get pop deepcopy copy next iter".split()
)
# Methods and functions of PyTorch for which a number is a value like those of elements.
_ELEMENTWISE = frozenset(
    "mul add sub div pow clamp clamp_min clamp_max eq ne lt gt le ge masked_fill fill maximum minimum"
    " lerp addcmul addcdiv true_divide remainder fmod scatter index_fill full_like isclose".split()
)
_OF_SHAPE = frozenset("size numel dim nelement ndimension stride element_size get_device".split())
_SELECTING = frozenset("nonzero where argwhere flatnonzero unique bincount compress".split())
_TO_DEVICE = frozenset("cuda to tensor as_tensor from_numpy tensor_like".split())
_AS_TEXT = frozenset("decode batch_decode print len str repr format".split())
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module, ast.ClassDef)
_COMPARED = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}
MADE_UP = 0  # what a scalar reads as
INNER = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")  # code within that of a function


class Value:
    """A value on its way, as far as it is known.

    kind      of its elements: FLOAT, WHOLE, TRUTH or UNKNOWN
    constant  what it is in a rehearsal, or None if that cannot be seen
    is_weak   it came by a container, a tensor on the host or a branch: only certain ends matter
    is_sized  its own size hangs on what was read
    is_here   it was read in this very expression
    index     in the tuple that a function returns, or None
    """

    def __init__(self, kind=UNKNOWN, constant=None, is_weak=False, is_sized=False):
        self.is_here = True
        self.index = None
        self.kind = kind
        self.constant = constant
        self.is_weak = is_weak
        self.is_sized = is_sized

    def with_(self, **changes):
        other = copy.copy(self)
        other.__dict__.update(changes)
        return other

    def is_soft(self):
        """True if an unknown end does not matter."""
        return not self.is_sized and (self.is_weak or self.kind in (FLOAT, UNKNOWN))


class Fate:
    """The end of a value's way.

    why       half a sentence: how a size or the program's way hangs on it; None: not that we see
    loop      the line of the loop whose end hangs on it, or 0
    returned  the function's result hangs on it: a Value, else None
    """

    def __init__(self, why=None, loop=0, returned=None):
        self.why = why
        self.loop = loop
        self.returned = returned


HARMLESS = Fate()


def _worse(one, other):
    if one.why or other.why:
        return one if one.why else other
    return one if one.returned else other


class Function:
    """The tree of a function, or of a file's own code, with what climbing needs."""

    def __init__(self, tree, code_name, file):
        self.tree = tree
        self.name = code_name
        self.file = file
        self._parents = {}
        self._loads = {}
        self._stores = {}
        self._places = None
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
            if isinstance(node, ast.Name):
                table = self._loads if isinstance(node.ctx, ast.Load) else self._stores
                table.setdefault(node.id, []).append(node)

    # ---- finding -------------------------------------------------------------------------------

    def find(self, position):
        """The expression at (line, end line, column, end column), or None."""
        if self._places is None:
            self._places = {}
            for node in ast.walk(self.tree):
                if isinstance(node, ast.expr):
                    place = (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
                    self._places.setdefault(place, node)
        return self._places.get(tuple(position))

    def find_line(self, line, words):
        """The calls of one of some names on a line: for Pythons without columns."""
        return [node for node in ast.walk(self.tree)
                if isinstance(node, ast.Call) and node.lineno <= line <= node.end_lineno
                and name_of(node) in words]

    def parent(self, node):
        return self._parents.get(node)

    def statement(self, node):
        while node is not None and not isinstance(node, ast.stmt):
            node = self.parent(node)
        return node

    # ---- climbing ------------------------------------------------------------------------------

    def follow(self, node, value, seen=None, depth=0):
        """The fate of an expression's value."""
        seen = set() if seen is None else seen
        key = (node, value.kind, value.constant, value.is_weak, value.is_sized)
        parent = self.parent(node)
        if key in seen or parent is None:
            return HARMLESS
        if depth > DEPTH_MAX or len(seen) > STEPS_MAX:
            return HARMLESS if value.is_soft() else Fate("its way is too long to follow")
        seen.add(key)
        handler = getattr(self, "_in_" + type(parent).__name__, None)
        if handler is None:
            return HARMLESS
        return handler(node, parent, value, seen, depth + 1)

    def _passes(self, node, parent, value, seen, depth):
        return self.follow(parent, value, seen, depth)

    _in_Starred = _in_Await = _passes

    def _in_Expr(self, node, parent, value, seen, depth):
        return HARMLESS

    _in_FormattedValue = _in_JoinedStr = _in_Assert = _in_Raise = _in_Delete = _in_Expr

    def _in_UnaryOp(self, node, parent, value, seen, depth):
        constant = value.constant
        if constant is not None and isinstance(parent.op, ast.Not):
            return self.follow(parent, value.with_(kind=TRUTH, constant=not constant), seen, depth)
        return self.follow(parent, value.with_(constant=None), seen, depth)

    def _in_BinOp(self, node, parent, value, seen, depth):
        if isinstance(parent.left, (ast.Constant, ast.JoinedStr)) \
                and isinstance(getattr(parent.left, "value", ""), str):
            return HARMLESS  # "…" % value
        kind = FLOAT if isinstance(parent.op, ast.Div) else value.kind
        return self.follow(parent, value.with_(kind=kind, constant=None), seen, depth)

    def _in_BoolOp(self, node, parent, value, seen, depth):
        constant = value.constant
        is_last = node is parent.values[-1] and value.is_here  # so those before did not decide
        if constant is not None and bool(constant) == isinstance(parent.op, ast.And) \
                and not is_last:
            constant = None  # the others decide
        after = parent.values[parent.values.index(node) + 1:]
        heavy = next(filter(None, map(self._heavy_call, after)), None)
        if heavy and constant is not None:
            return Fate(f"{name_of(heavy)}() runs or does not, as it says")
        return self.follow(parent, value.with_(kind=TRUTH, constant=constant), seen, depth)

    def _in_Compare(self, node, parent, value, seen, depth):
        constant = None
        if value.constant is not None and len(parent.ops) == 1:
            other = parent.comparators[0] if node is parent.left else parent.left
            compare = _COMPARED.get(type(parent.ops[0]))
            if compare and isinstance(other, ast.Constant) \
                    and isinstance(other.value, (int, float)):
                pair = (value.constant, other.value)
                constant = compare(*(pair if node is parent.left else pair[::-1]))
        if any(isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops):
            return HARMLESS
        return self.follow(parent, value.with_(kind=TRUTH, constant=constant, is_sized=False), seen,
                           depth)

    def _in_IfExp(self, node, parent, value, seen, depth):
        if node is not parent.test:
            return self.follow(parent, value, seen, depth)
        truth = value.constant
        missing = [parent.body, parent.orelse] if truth is None \
            else [parent.orelse if truth else parent.body]
        for part in missing:
            heavy = self._heavy_call(part)
            if heavy:
                return Fate(f"{name_of(heavy)}() runs or does not, as it says")
        return self.follow(parent, Value(UNKNOWN, None, True), seen, depth)

    def _in_container(self, node, parent, value, seen, depth):
        return self.follow(parent, value.with_(is_weak=True, constant=None), seen, depth)

    _in_List = _in_Set = _in_Dict = _in_container

    def _in_Tuple(self, node, parent, value, seen, depth):
        outer = self.parent(parent)
        if isinstance(outer, ast.Subscript) and outer.slice is parent:
            return self._as_index(outer, value, seen, depth)
        if isinstance(outer, ast.Assign) and isinstance(outer.targets[0], ast.Tuple) \
                and len(outer.targets[0].elts) == len(parent.elts):
            target = outer.targets[0].elts[parent.elts.index(node)]
            return self._stored(target, value, seen, depth)
        if isinstance(outer, ast.Return):
            index = parent.elts.index(node)
            return Fate(returned=value.with_(index=index, is_weak=True, constant=None))
        return self._in_container(node, parent, value, seen, depth)

    def _in_keyword(self, node, parent, value, seen, depth):
        return self._as_argument(self.parent(parent), None, parent.arg, value, seen, depth)

    def _in_Attribute(self, node, parent, value, seen, depth):
        outer = self.parent(parent)
        if isinstance(outer, ast.Call) and outer.func is parent:
            return self._asreceiver(outer, value, seen, depth)
        if parent.attr in ("shape", "dtype", "device", "ndim") and not value.is_sized:
            return HARMLESS
        return self.follow(parent, value.with_(constant=None), seen, depth)

    def _in_Subscript(self, node, parent, value, seen, depth):
        if node is parent.slice:
            return self._as_index(parent, value, seen, depth)
        if isinstance(parent.ctx, ast.Store):
            return HARMLESS
        return self.follow(parent, value.with_(constant=None), seen, depth)

    def _in_Slice(self, node, parent, value, seen, depth):
        subscript = self.parent(parent)
        while isinstance(subscript, (ast.Tuple, ast.Slice)):
            subscript = self.parent(subscript)
        if not isinstance(subscript, ast.Subscript) or isinstance(subscript.ctx, ast.Store):
            return HARMLESS
        if is_on_host(subscript.value) or self._becomes_text(subscript):
            return HARMLESS
        return Fate("a slice ends there")

    def _as_index(self, subscript, value, seen, depth):
        if isinstance(subscript.ctx, ast.Store):
            return HARMLESS
        if value.is_weak and value.kind in (TRUTH, UNKNOWN) and is_on_host(subscript.value):
            return self.follow(subscript, value.with_(is_sized=True), seen, depth)
        return self.follow(subscript, Value(UNKNOWN, None, True), seen, depth)

    def _becomes_text(self, node):
        """True if only the host sees this part of a tensor."""
        for _ in range(4):
            node = self.parent(node)
            if isinstance(node, ast.FormattedValue):
                return True
            if isinstance(node, ast.Call):
                if name_of(node) in _AS_TEXT or name_of(node) in ("tolist", "cpu", "numpy"):
                    return True
            elif not isinstance(node, (ast.Attribute, ast.Subscript, ast.Tuple, ast.keyword)):
                return False
        return False

    # ---- calls ---------------------------------------------------------------------------------

    def _asreceiver(self, call, value, seen, depth):
        """value.method(…)"""
        name = name_of(call)
        if name in _OF_SHAPE and not value.is_sized:
            return HARMLESS
        if name in ("item", "int", "long"):
            return self.follow(call, value.with_(is_weak=False), seen, depth)
        if name in ("mean", "std", "var", "norm", "float", "double"):
            return self.follow(call, value.with_(kind=FLOAT), seen, depth)
        if name in ("any", "all", "equal", "isnan", "isinf"):
            return self.follow(call, value.with_(kind=TRUTH), seen, depth)
        if name in _SELECTING:
            return self.follow(call, value.with_(is_sized=True, is_weak=True), seen, depth)
        if name in _TO_DEVICE and name != "to" or name == "to" and not names_host(call):
            return self._to_device(call, value)
        if name in ("format", "__format__", "append", "backward", "hex", "is_integer"):
            return HARMLESS
        return self.follow(call, value.with_(constant=None), seen, depth)

    def _to_device(self, call, value):
        if value.is_sized:
            return Fate(f"{name_of(call)}() takes as much to the device as it selects")
        return HARMLESS

    def _in_Call(self, node, parent, value, seen, depth):
        if node is parent.func:
            return self.follow(parent, Value(UNKNOWN, None, True), seen, depth)
        position = parent.args.index(node) if node in parent.args else None
        return self._as_argument(parent, position, None, value, seen, depth)

    def _as_argument(self, call, position, keyword, value, seen, depth):
        if not isinstance(call, ast.Call):  # bases of a class
            return HARMLESS
        name = name_of(call)
        if name in SIZES and not (name == "split" and is_text(receiver(call))):
            return self._as_size(call, name, position, keyword, value, seen, depth)
        if name in _SELECTING:
            return self.follow(call, value.with_(is_sized=True, is_weak=True), seen, depth)
        if name in _TO_DEVICE:
            return self._to_device(call, value)
        if name in ("append", "appendleft", "extend", "add", "insert", "update", "setdefault"):
            return self._stored_in(receiver(call), value, seen, depth)
        if name in PASSING:
            kind = {"float": FLOAT, "int": WHOLE, "bool": TRUTH, "any": TRUTH, "all": TRUTH,
                    "isnan": TRUTH, "isinf": TRUTH}.get(name, value.kind)
            constant = value.constant if name in ("float", "int", "bool", "round", "abs") else None
            is_weak = value.is_weak and name not in ("int", "bool", "max", "min", "sum", "len")
            return self.follow(call, value.with_(kind=kind, constant=constant, is_weak=is_weak),
                               seen, depth)
        if name in LIGHT or name in _ELEMENTWISE or name.endswith("_") and not name.endswith("__"):
            return HARMLESS
        return self._as_parameter(call, name, position, keyword, value, seen, depth)

    def _as_size(self, call, name, position, keyword, value, seen, depth):
        index, word = _ELEMENTS.get(name, (None, "fill_value"))
        if keyword == word or (index is not None and position == index):
            return HARMLESS
        if keyword in ("dtype", "device", "dim", "low", "high", "mode", "generator"):
            return HARMLESS
        if name == "randint" and position is not None and len(call.args) - position > 1:
            return HARMLESS  # the range of values
        if value.is_weak and name in ("topk", "multinomial", "pad", "interpolate") \
                and position == 0:
            return HARMLESS
        if value.kind == FLOAT and not value.is_sized and name not in ("range", "arange"):
            return HARMLESS
        if name == "range":
            return self.as_range(call)
        return Fate(f"a size is made of it: {name}()")

    def as_range(self, call):
        """The fate of an argument of range()."""
        loop = self.parent(call)
        while isinstance(loop, ast.Call):  # enumerate, tqdm
            loop = self.parent(loop)
        if isinstance(loop, _LOOPS) and not self._heavy_in(loop.body):
            return HARMLESS
        return Fate("a loop goes round as often as it says")

    def _as_parameter(self, call, name, position, keyword, value, seen, depth):
        """An argument of a function that may be the file's own."""
        fate = self.follow(call, value.with_(is_weak=True, constant=None, kind=UNKNOWN), seen, depth)
        if fate.why:
            return fate
        owner = receiver(call)
        own = owner is None or isinstance(owner, ast.Name) and owner.id in ("self", "cls")
        function = self.file.function(name) if own and self.file else None
        if function is not None:
            inner = function.follow_parameter(position, keyword, value, owner is not None, seen,
                                              depth)
            if inner.returned is not None:
                inner = self.follow(call, inner.returned, seen, depth)
            return _worse(inner, fate)
        if value.is_soft() or is_of_torch(call):
            return fate
        if value.is_sized and name in _AS_TEXT:
            return fate
        return Fate(f"{name or 'a function'}() gets it, and may size by it")

    def follow_parameter(self, position, keyword, value, is_method, seen, depth):
        arguments = getattr(self.tree, "args", None)
        if arguments is None:
            return HARMLESS
        names = [argument.arg for argument in arguments.posonlyargs + arguments.args]
        if is_method and names[:1] in (["self"], ["cls"]):
            names = names[1:]
        if keyword is None:
            if position is None or position >= len(names):
                return HARMLESS
            keyword = names[position]
        return self._follow_name(keyword, value, seen, depth)

    # ---- stores --------------------------------------------------------------------------------

    def _in_Assign(self, node, parent, value, seen, depth):
        fate = HARMLESS
        for target in parent.targets:
            if value.index is not None and isinstance(target, ast.Tuple) \
                    and value.index < len(target.elts):
                target = target.elts[value.index]
            fate = _worse(fate, self._stored(target, value, seen, depth))
        return fate

    def _in_AnnAssign(self, node, parent, value, seen, depth):
        return self._stored(parent.target, value, seen, depth)

    def _in_AugAssign(self, node, parent, value, seen, depth):
        kind = FLOAT if isinstance(parent.op, ast.Div) else value.kind
        return self._stored(parent.target, value.with_(constant=None, kind=kind), seen, depth)

    def _in_NamedExpr(self, node, parent, value, seen, depth):
        return _worse(self._stored(parent.target, value, seen, depth),
                      self.follow(parent, value, seen, depth))

    def _stored(self, target, value, seen, depth):
        value = value.with_(is_here=False, index=None)
        if isinstance(target, ast.Name):
            if len(self._stores.get(target.id, ())) > 1:
                value = value.with_(constant=None)
            return self._follow_name(target.id, value, seen, depth, since=self._reach(target))
        if isinstance(target, (ast.Tuple, ast.List)):
            fate = HARMLESS
            for part in target.elts:
                fate = _worse(fate, self._stored(part, value.with_(constant=None), seen, depth))
            return fate
        if isinstance(target, ast.Starred):
            return self._stored(target.value, value, seen, depth)
        if isinstance(target, ast.Subscript):
            return self._stored_in(target.value, value, seen, depth)
        if isinstance(target, ast.Attribute):
            return self._follow_attribute(target.attr, value, seen, depth)
        return HARMLESS

    def _stored_in(self, container, value, seen, depth):
        while isinstance(container, ast.Subscript):
            container = container.value
        weak = value.with_(is_weak=True, constant=None)
        if isinstance(container, ast.Name):
            return self._follow_name(container.id, weak, seen, depth,
                                     since=self._reach(container))
        if isinstance(container, ast.Attribute):
            return self._follow_attribute(container.attr, weak, seen, depth)
        return HARMLESS

    def _reach(self, target):
        """The first line at which a name may be read as it is set here: that of the outermost
        loop around, as code runs downwards otherwise."""
        line, node = target.lineno, self.parent(target)
        while node is not None:
            if isinstance(node, ast.While):
                line = node.lineno
            elif isinstance(node, _LOOPS):  # what it goes over was requested before
                line = node.body[0].lineno
            node = self.parent(node)
        return line

    def _is_inside(self, node):
        """True if it belongs to a function within this one, which may run whenever."""
        while node is not None and node is not self.tree:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                return True
            node = self.parent(node)
        return False

    def _follow_name(self, name, value, seen, depth, after=0, since=0):
        fate = HARMLESS
        for node in self._loads.get(name, ()):
            if node.lineno <= after or node.lineno < since and not self._is_inside(node):
                continue
            fate = _worse(fate, self.follow(node, value, seen, depth))
            if fate.why:
                break
        return fate

    def _follow_attribute(self, attribute, value, seen, depth):
        """Where the same file reads an attribute of that name: only certain ends matter."""
        if self.file is None or value.kind == FLOAT or depth > 12:
            return HARMLESS
        loads = self.file.attribute_loads(attribute) + self.attribute_loads(attribute)
        for function, node in loads:
            fate = function.follow(node, value.with_(is_weak=True, constant=None), seen, depth + 5)
            if fate.why:
                return fate
        return HARMLESS

    def attribute_loads(self, attribute):
        return [(self, node) for node in self._parents
                if isinstance(node, ast.Attribute) and node.attr == attribute
                and isinstance(node.ctx, ast.Load)]

    # ---- results, loops and branches -----------------------------------------------------------

    def _in_Return(self, node, parent, value, seen, depth):
        return Fate(returned=value)

    _in_Yield = _in_YieldFrom = _in_Lambda = _in_Return

    def _in_For(self, node, parent, value, seen, depth):
        if node is not parent.iter:
            return HARMLESS
        if value.is_sized and self._heavy_in(parent.body):
            return Fate("a loop goes round as often as it says")
        return self._stored(parent.target, value.with_(constant=None), seen, depth)

    def _in_comprehension(self, node, parent, value, seen, depth):
        whole = self.parent(parent)
        if node is parent.iter:
            if value.is_sized and self._heavy_call(whole):
                return Fate("a loop goes round as often as it says")
            return _worse(self._stored(parent.target, value.with_(constant=None), seen, depth),
                          self.follow(whole, value.with_(is_weak=True, constant=None), seen, depth)
                          if value.is_sized else HARMLESS)
        return self.follow(whole, Value(UNKNOWN, None, True, True), seen, depth)

    _in_ListComp = _in_SetComp = _in_GeneratorExp = _in_DictComp = _in_container

    def _in_While(self, node, parent, value, seen, depth):
        computes = any(isinstance(part, ast.BinOp) and not isinstance(part.right, ast.Constant)
                       for statement in parent.body for part in ast.walk(statement))
        if not computes and not self._heavy_in(parent.body):
            return HARMLESS
        return Fate(f"the loop of line {parent.lineno} goes on as it says", parent.lineno)

    def _in_Match(self, node, parent, value, seen, depth):
        for case in parent.cases:
            heavy = self._heavy_in(case.body)
            if heavy:
                return Fate(f"{name_of(heavy)}() runs or does not, as it says")
        return HARMLESS

    def _in_If(self, node, parent, value, seen, depth):
        truth = value.constant
        if truth is None:
            missing, taken = [parent.body, parent.orelse], [parent.body, parent.orelse]
        else:
            ways = [parent.orelse, parent.body]
            missing, taken = [ways[not truth]], [ways[bool(truth)]]
        for part in missing:
            heavy = self._heavy_in(part)
            if heavy:
                return Fate(f"{called(heavy)} runs or does not, as it says")
        for part in taken:
            fate = self._left_out(parent, part)
            if fate.why:
                return fate
        for part in missing:
            loop = self._loop_of(parent)
            if isinstance(loop, ast.While) and is_true(loop.test) \
                    and any(isinstance(leave, (ast.Break, ast.Return)) for leave in leaves(part)):
                return Fate(f"the loop of line {loop.lineno} ends when it says", loop.lineno)
        return self._implied(parent, seen, depth, truth)

    def _implied(self, branch, seen, depth, truth):
        """Follows names and results that branches set: they hang on the value too."""
        fate = HARMLESS
        for statement in branch.body + branch.orelse:
            for node in ast.walk(statement):
                if isinstance(node, (ast.Assign, ast.AugAssign)):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    for target in targets:
                        if isinstance(target, ast.Name):
                            fate = _worse(fate, self._follow_name(
                                target.id, Value(TRUTH, None, True), seen, depth,
                                branch.lineno))
                elif isinstance(node, ast.Return) and node.value is not None:
                    fate = _worse(fate, Fate(returned=self._returned(branch, truth)))
        return fate

    def _returned(self, branch, truth):
        """The result if a branch returns one: what matters is what it would be otherwise."""
        if truth is None:
            return Value(TRUTH, None, True)
        ways = [branch.orelse, branch.body]
        other = constant_returned(ways[not truth])
        if other is not None:
            return Value(TRUTH, not other, True)
        taken = ways[bool(truth)] or self._following(branch)[:1]
        return Value(TRUTH, constant_returned(taken), True)

    def _loop_of(self, node):
        while node is not None and not isinstance(node, _SCOPES):
            if isinstance(node, _LOOPS):
                return node
            node = self.parent(node)
        return None

    def _following(self, node):
        """The statements after one in its block."""
        parent = self.parent(node)
        for _, block in ast.iter_fields(parent) if parent is not None else ():
            if isinstance(block, list) and node in block:
                return block[block.index(node) + 1:]
        return []

    def _left_out(self, branch, taken):
        """The fate where a way leaves the block before work that it does not come to."""
        for leave in leaves(taken):
            if isinstance(leave, ast.Raise):
                continue
            node, rest = branch, []
            loop = self._loop_of(branch)
            while node is not None and not isinstance(node, _SCOPES):
                rest += self._following(node)
                if node is loop and not isinstance(leave, ast.Return):
                    break
                if isinstance(node, _LOOPS) and not isinstance(leave, ast.Continue):
                    rest += node.body
                node = self.parent(node)
                if node is loop and isinstance(leave, ast.Continue):
                    break
                if node is loop and isinstance(leave, ast.Break):
                    rest += node.body
                    break
            heavy = self._heavy_in(rest)
            if heavy:
                what = {ast.Break: "the loop ends", ast.Continue: "a pass of the loop ends",
                        ast.Return: "the function returns"}[type(leave)]
                return Fate(f"{what} in line {leave.lineno} or does not, as it says")
        return HARMLESS

    # ---- what may allocate ---------------------------------------------------------------------

    def _heavy_in(self, statements, depth=0):
        for statement in statements:
            if isinstance(statement, (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)):
                continue
            heavy = self._heavy_call(statement, depth)
            if heavy:
                return heavy
        return None

    def _heavy_call(self, tree, depth=0):
        """A call, or a product of matrices, that may allocate on a device; else None."""
        stack = [tree]
        while stack:
            node = stack.pop()
            if isinstance(node, (ast.Raise, ast.FunctionDef, ast.Lambda, ast.ClassDef)):
                continue
            if isinstance(node, ast.Call) and not self._is_light(node, depth):
                return node
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
                return node
            stack.extend(ast.iter_child_nodes(node))
        return None

    def _is_light(self, call, depth):
        name = name_of(call)
        if name in LIGHT or name.endswith(("Error", "Warning", "Exception")):
            return True
        owner = receiver(call)
        if isinstance(owner, ast.Name) and owner.id in ("math", "logging", "logger", "time", "os",
                                                        "sys", "json", "wandb", "warnings", "log"):
            return True
        is_own = owner is None or isinstance(owner, ast.Name) and owner.id in ("self", "cls")
        function = self.file.function(name) if is_own and self.file and depth < 3 else None
        body = getattr(function.tree, "body", None) if function is not None else None
        return isinstance(body, list) and function._heavy_in(body, depth + 1) is None
