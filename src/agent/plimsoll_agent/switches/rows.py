"""Is what a model returns and keeps made row by row? Its call with another number of rows shows it.

    logits: 3 × 10, then 2 × 10         rows
    scores: 3 × 3, then 2 × 2           pairs of rows: those of a batch have more
    states: 2 × 3 × 16, then 2 × 2 × 16 rows in another dimension
    count:  3, then 2                   a number of the whole batch
"""

from plimsoll_agent.switches.leaves import leaves
from plimsoll_agent.switches.switch import Refusal


def has_pairs(output, rows):
    return any(tuple(one.shape) == (rows, rows) for one in leaves(output) if hasattr(one, "shape"))


def is_doubtful(output, rows, loss):
    """True if one call does not show whether its outputs are made row by row.

    A second call takes memory that the program does not, so it is left out where it can be.
    """
    found = [one for one in leaves(output) if one is not loss]
    shapes = [tuple(one.shape) for one in found if hasattr(one, "shape")]
    if len(shapes) < len(found) or has_pairs(output, rows):
        return True
    return loss is None and any(shape[:1] != (rows,) or rows in shape[1:] for shape in shapes)


def check_output(name, output, other, sizes, loss):
    """Raises a Refusal where the outputs of pieces are not parts of that of a batch.

    name           of the model
    output, other  of two calls with as many rows as sizes has
    loss           the one among the first, None without one: nothing but it is put together then
    """
    if all(has_pairs(one, size) for one, size in zip((output, other), sizes)):
        raise Refusal("the loss compares the rows of a batch with each other")
    found = list(leaves(output)), list(leaves(other))
    if len(found[0]) != len(found[1]):
        raise Refusal(f"{name} returns {len(found[0])} values for {sizes[0]} rows, and "
                      f"{len(found[1])} for {sizes[1]}")
    for one, another in zip(*found):
        if not hasattr(one, "shape"):
            if one != another:
                raise Refusal(f"{name} returns the number {one:g}, which is of a piece and not of "
                              "its batch")
        elif loss is None and not _is_by_row(tuple(one.shape), tuple(another.shape), sizes):
            raise Refusal(f"an output of {name} has the shape {tuple(one.shape)}, without the rows "
                          "of its piece in the first dimension")


def _is_by_row(shape, other, sizes):
    return len(shape) > 0 and (shape[0], other[0]) == sizes and shape[1:] == other[1:]


def check_kept(first, second, loss):
    """Raises a Refusal where the program may read of a module what only the last piece left there.

    first, second  what each of two calls left in attributes: see State.kept()
    loss           a part of it is taken care of; None without one
    """
    left = [(key, tensors) for key, tensors in first.items() if key in second]
    nodes = _nodes_of(loss) if left and loss is not None else set()
    for (module, name), tensors in left:
        if loss is None or any(one.grad_fn not in nodes for one in tensors):
            raise Refusal(f"{type(module).__name__}.{name} keeps what a call computes: pieces "
                          "would leave there that of the last one")


def _nodes_of(tensor):
    """Of its graph."""
    found, left = set(), [tensor.grad_fn]
    while left:
        node = left.pop()
        if node is not None and node not in found:
            found.add(node)
            left += [child for child, _ in node.next_functions]
    return found
