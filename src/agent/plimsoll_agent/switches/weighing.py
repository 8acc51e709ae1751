"""What the loss of a piece weighs in that of the batch, as the graph that made it shows.

    cross_entropy(…)                          its own count of targets that are not ignored
    (each * mask).sum() / mask.sum()          the sum that it is divided by
    each.mean(), mse_loss(…), sum / len(x)    the elements that it is a mean of
    cross_entropy(…, reduction="sum")         1: sums add up

A loss whose terms are of several kinds, or that comes of anything else, is weighed as well as can
be: `doubt` says so.
"""

import math

from plimsoll_agent.switches import pieces

_PASSED = ("ToCopyBackward0", "ViewBackward0", "ReshapeAliasBackward0", "UnsafeViewBackward0",
           "SqueezeBackward0", "SqueezeBackward1", "UnsqueezeBackward0", "CloneBackward0",
           "AliasBackward0", "NegBackward0")
_ADDED = ("AddBackward0", "SubBackward0")
_TIMES = ("MulBackward0", "MulBackward1")  # by a tensor, by a number
_DIVIDED = ("DivBackward0", "DivBackward1")
_MEANS = ("MeanBackward0", "MeanBackward1")
_SUMS = ("SumBackward0", "SumBackward1")
_MEAN = 1  # of torch.nn.functional's reductions, in graphs: none, mean, sum
NODES_MAX = 400
SUM, ROWS = "sum", "rows"
WORDS = {SUM: "sums, which are added", "targets": "the targets that their losses count",
         "divisor": "the sums that their losses are divided by",
         "elements": "the elements that their losses are means of", ROWS: "their rows"}


class Opaque(Exception):
    """The loss comes of a function that cannot be looked into; its name."""


class Strange(Exception):
    """The loss comes of an operation under which pieces cannot be put together; its name."""


class Term:
    """A part of a loss that is added to others.

    kind    of WORDS
    count   what it is a mean of: a number, or a tensor without dimensions; 1 of a sum
    most    a number that the count is near to, or below
    """

    def __init__(self, kind, count, most):
        self.kind, self.count, self.most = kind, count, most


def _elements(shape):
    return math.prod(int(one) for one in shape)


def _input_shape(node):
    """Of the tensor that a node's function was given first."""
    child, index = node.next_functions[0]
    return child._input_metadata[index].shape


class Reader:
    """Of one loss.

    counts  numbers of elements of a piece that a program may divide a sum by
    given   addresses of tensors that the call was given whole
    """

    def __init__(self, torch, counts, given):
        self._torch = torch
        self._counts = counts
        self._given = given
        self._nodes = 0

    def terms(self, node):
        """Of the loss that a node gives; [] of one that no batch has a part in."""
        self._nodes += 1
        if self._nodes > NODES_MAX:
            raise Strange("hundreds of operations")
        name = type(node).__name__
        if isinstance(node, self._torch._C._FunctionBase):
            raise Opaque(name.removesuffix("Backward") if hasattr(name, "removesuffix") else name)
        if name == "AccumulateGrad":
            return []
        if name in _PASSED:
            return self._of_children(node)
        if name in _ADDED:
            return self._smoothed(node) or self._of_children(node)
        if name in _TIMES or name in _DIVIDED:
            return self._scaled(node, name in _DIVIDED)
        if name in _MEANS or name in _SUMS:
            return self._reduced(node, name in _MEANS)
        if hasattr(node, "_saved_reduction"):
            return [self._of_loss(node)]
        if self._is_constant(node):
            return []
        raise Strange(name)

    def _of_children(self, node):
        return [term for child, _ in node.next_functions if child is not None
                for term in self.terms(child)]

    def _is_constant(self, node):
        """It comes of single parameters only, as the logarithm of a temperature."""
        left, seen = [node], 0
        while left:
            one = left.pop()
            seen += 1
            if type(one).__name__ == "AccumulateGrad":
                if one.variable.numel() > 1:
                    return False
            elif not one.next_functions or seen > 50:
                return False
            left += [child for child, _ in one.next_functions if child is not None]
        return True

    # ---- means and sums --------------------------------------------------------------------------

    def _of_loss(self, node):
        """A function of torch.nn.functional with a reduction."""
        shape = _input_shape(node)
        if node._saved_reduction != _MEAN:
            return Term(SUM, 1.0, 1.0)
        if hasattr(node, "_saved_total_weight"):
            targets = _elements(shape) // int(shape[1]) if len(shape) > 1 else 1
            return Term("targets", node._saved_total_weight, max(1, targets))
        return Term("elements", float(_elements(shape)), float(_elements(shape)))

    def _reduced(self, node, is_mean):
        child = node.next_functions[0][0]
        if type(child).__name__ == "StackBackward0" and len(_input_shape(node)) == 1:
            return self._of_children(child)  # torch.stack(losses).sum()
        if self._is_of_parameters(child):
            return []
        if not is_mean:
            return [Term(SUM, 1.0, 1.0)]
        count = float(_elements(_input_shape(node)))
        return [Term("elements", count, count)]

    def _is_of_parameters(self, node):
        """A penalty on a weight: the batch has no part in it."""
        for _ in range(4):
            if type(node).__name__ == "AccumulateGrad":
                return True
            children = [child for child, _ in node.next_functions if child is not None]
            if len(children) != 1:
                return False
            node = children[0]
        return False

    def _smoothed(self, node):
        """cross_entropy with label smoothing: (1 - s) · the loss + s / classes · another mean."""
        children = [child for child, _ in node.next_functions if child is not None]
        if len(children) != 2 or any(type(one).__name__ != "MulBackward1" for one in children):
            return None
        first = children[0].next_functions[0][0]
        if not hasattr(first, "_saved_total_weight"):
            return None
        shape = _input_shape(first)
        classes = int(shape[1] if len(shape) > 1 else shape[0])
        whole = children[0]._saved_other + children[1]._saved_other * classes
        return [self._of_loss(first)] if abs(whole - 1) < 1e-6 else None

    # ---- factors ---------------------------------------------------------------------------------

    def _scaled(self, node, is_divided):
        children = [child for child, _ in node.next_functions]
        terms = [self.terms(child) for child in children if child is not None]
        if len(terms) == 2 and all(terms):
            raise Strange(type(node).__name__[:3].lower() + " of two losses")
        if is_divided and len(terms) == 2 and terms[1]:
            raise Strange("a number divided by a loss")
        found = [term for some in terms for term in some]
        if len(terms) == 2 or not found or any(term.kind != SUM for term in found):
            return found
        divisor = self._divisor(node, is_divided)
        return [divisor or term for term in found]

    def _divisor(self, node, is_divided):
        """The count by which a sum becomes a mean; None: a constant."""
        torch = self._torch
        other = getattr(node, "_saved_other", None)
        if other is None:
            return None
        if isinstance(other, torch.Tensor) and not self._is_number(other):
            if not is_divided or other.dim() > 0 or other.data_ptr() in self._given:
                return None
            return Term("divisor", other, None)
        number = float(other)
        number = number if is_divided or number == 0 else 1 / number
        count = next((one for one in self._counts
                      if one > 1 and abs(number - one) < 1e-6 * one), None)
        return None if count is None else Term("elements", float(count), float(count))

    def _is_number(self, tensor):
        """Made of one of Python's, which gives its type to no result."""
        torch = self._torch
        if tensor.device.type != "cpu" or tensor.dim() > 0:
            return False
        narrow = torch.float16 if tensor.is_floating_point() else torch.int8
        return torch.result_type(torch.zeros((), dtype=narrow), tensor) is narrow


class Weighing:
    """Of one call: weigh() each piece's loss in turn.

    found  how: the end of "weighed by …"
    doubt  why the weights may not be those of the whole batch; None
    total  by which all that was weighed is to be divided in the end
    """

    def __init__(self, torch, shares, by_shares, count):
        """shares, by_shares: for losses that cannot be looked into; count: of pieces."""
        self._torch = torch
        self._shares = shares
        self._by_shares = by_shares
        self._pieces = count
        self._is_seen = True
        self._is_sum = False
        self._most = 1
        self._numbers = None  # counts of the first piece's terms
        self.found = self.doubt = None
        self.total = 0.0

    def weigh(self, number, loss, counts, given):
        """The weight of a piece: a number, or a tensor without dimensions."""
        weight = self._weight(number, loss, counts, given)
        self.total = 1.0 if self._is_sum else self.total + weight
        return weight

    def _weight(self, number, loss, counts, given):
        terms = self._terms(loss, counts, given) if self._is_seen else []
        if not terms:
            if number == 0 or not self._is_seen:
                self._is_seen = False
                self.found = self._by_shares
                return self._shares[number]
            raise RuntimeError("the loss of a piece has another form than that of the first")
        term = next((one for one in terms if not isinstance(one.count, float)), terms[0])
        if number == 0:
            self._begin(terms, term)
        elif self._numbers is not None and self.doubt is None:
            ratios = {one.count / first for one, first in zip(terms, self._numbers)}
            if max(ratios) - min(ratios) > 1e-9:
                self.doubt = "its loss adds means over different counts"
        return 1.0 if self._is_sum else term.count / (self._most * self._pieces)

    def _begin(self, terms, term):
        kinds = {one.kind for one in terms}
        self.found = WORDS[term.kind]
        self._is_sum = term.kind == SUM
        self._most = term.most or max(1, self._largest)
        measured = [one for one in terms if not isinstance(one.count, float)]
        if len(kinds) > 1 or len(measured) > 1:
            self.doubt = "its loss adds terms that would be weighed in different ways"
        elif not measured and term.kind != SUM:
            self._numbers = [one.count for one in terms]

    def _terms(self, loss, counts, given):
        self._largest = max(counts)
        try:
            terms = Reader(self._torch, counts, given).terms(loss.grad_fn)
            return list({id(one): one for one in terms}.values())  # parts of one sum
        except Opaque as function:
            self.doubt = f"its loss comes of {function}, which cannot be looked into"
        except Strange as name:
            self.doubt = f"its loss is no mean and no sum over rows ({name})"
        except (AttributeError, IndexError, TypeError) as error:  # another PyTorch's graphs
            self.doubt = f"its loss cannot be looked into ({type(error).__name__}: {error})"
        return []


def counts_of(value, rows, size):
    """Of a piece of that size: the numbers of elements that a mean over it may be of."""
    found = [size]
    for tensor in pieces.tensors_of(value):
        if len(tensor.shape) == 0 or tensor.shape[0] != rows:
            continue
        count = size
        for dimension in tensor.shape[1:]:
            found += [count * int(dimension), count * (int(dimension) - 1)]
            count *= int(dimension)
    return list(dict.fromkeys(found))


def addresses_of(value):
    """Of the tensors without dimensions in a call's arguments."""
    return {tensor.data_ptr() for tensor in pieces.tensors_of(value) if len(tensor.shape) == 0}
