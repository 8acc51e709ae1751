"""Which object of a way is the holder that a reader wants named.

Of `self.state.cache['x'][3][0]` it is the list in `self.state.cache['x']`: the first object from
the root that has tensors as its elements. What is reached by attributes and names alone is a
holder by itself. A chain of objects without an end is one holder from its DEPTH_MAX-th on.
"""

DEPTH_MAX = 40


class Anchor:
    """
    node    of the holder's object; of a tensor that is its own holder, the one that leads to it
    thing   that tensor, or None
    """

    __slots__ = ("node", "thing")

    def __init__(self, node, thing=None):
        self.node = node
        self.thing = thing

    def key(self):
        return self.node, id(self.thing) if self.thing is not None else None


class Anchors:
    """Of one search."""

    def __init__(self, walk, edges):
        self._walk = walk
        self._edges = edges
        self._known = {}  # {node: (node of the anchor or None where none is yet, depth)}

    def of(self, parent, thing):
        """Of a tensor, or another object that stands for its own, at a node."""
        found, _ = self._of_node(parent)
        if found is not None:
            return Anchor(found)
        above = self._walk.objects[parent]
        if above is not None and self._edges.is_element(parent, thing):
            return Anchor(parent)
        return Anchor(parent, thing)

    def of_node(self, node):
        """Of an object that is not a tensor, by itself: a model, an optimizer."""
        found, _ = self._of_node(node)
        return Anchor(node if found is None else found)

    def _of_node(self, node):
        walk, known = self._walk, self._known
        way = []
        while node not in known:
            way.append(node)
            above = walk.parents[node]
            if above < 0:
                known[node] = (None, 0)
                way.pop()
                break
            node = above
        found, depth = known[node]
        while way:
            above, node = node, way.pop()
            depth += 1
            if found is None:
                thing = walk.objects[node]
                if walk.objects[above] is not None and self._edges.is_element(above, thing):
                    found = above
                elif depth >= DEPTH_MAX:
                    found = node
            known[node] = (found, depth)
        return known[node]
