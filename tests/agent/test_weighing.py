#!/usr/bin/env python3
"""Tests of switches/weighing.py: weights of pieces, read from graphs of nodes made here."""
import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src" / "agent"))

from plimsoll_agent.switches import weighing  # noqa: E402

TORCH = types.SimpleNamespace(_C=types.SimpleNamespace(_FunctionBase=type("Own", (), {})),
                              Tensor=type("Tensor", (), {}))


def node(name, *children, shape=(), **saved):
    """A node of a graph, whose function gave a tensor of that shape."""
    made = type(name, (), {})()
    made.next_functions = tuple((child, 0) for child in children)
    made._input_metadata = [types.SimpleNamespace(shape=shape)]
    for key, value in saved.items():
        setattr(made, "_saved_" + key, value)
    return made


def outputs(rows, classes=7):
    return node("LogSoftmaxBackward0", shape=(rows, classes))


def cross_entropy(rows, total, reduction=1):
    return node("NllLossBackward0", outputs(rows), reduction=reduction, total_weight=total)


def weights(*graphs, counts=(3, 24)):
    """(weights, total, Weighing) of a call whose pieces have these graphs."""
    made = weighing.Weighing(TORCH, [0.5] * len(graphs), "their rows", len(graphs))
    found = [made.weigh(number, types.SimpleNamespace(grad_fn=graph), list(counts), set())
             for number, graph in enumerate(graphs)]
    return found, made.total, made


class Weights(unittest.TestCase):
    def test_means_weigh_as_much_as_they_are_of(self):
        found, total, made = weights(cross_entropy(24, 20.0), cross_entropy(24, 4.0))
        self.assertAlmostEqual(found[0] / total, 20 / 24)
        self.assertEqual((made.found, made.doubt), (weighing.WORDS["targets"], None))
        mean = [node("MeanBackward0", outputs(rows)) for rows in (4, 2)]
        found, total, _ = weights(*mean)
        self.assertAlmostEqual(found[0] / total, 4 / 6)

    def test_sums_add_up_unless_a_count_divides_them(self):
        def divided(by):
            return node("DivBackward0", cross_entropy(3, 0.0, reduction=2), other=by)
        found, total, made = weights(divided(5.0), divided(5.0))
        self.assertEqual((found, total), ([1.0, 1.0], 1.0))
        found, total, made = weights(divided(24), divided(24))
        self.assertEqual((found[0] / total, made.found), (0.5, weighing.WORDS["elements"]))

    def test_constants_are_passed_over(self):
        weight = node("AccumulateGrad")
        weight.variable = types.SimpleNamespace(numel=lambda: 100)
        penalty = node("MulBackward0", node("SumBackward0", node("PowBackward0", weight)), other=.1)
        found, total, made = weights(*[node("AddBackward0", cross_entropy(24, one), penalty)
                                       for one in (6.0, 18.0)])
        self.assertAlmostEqual(found[0] / total, 0.25)
        self.assertIsNone(made.doubt)

    def test_smoothed_labels_are_one_loss(self):
        graph = node("AddBackward0", node("MulBackward1", cross_entropy(24, 6.0), other=0.9),
                     node("MulBackward1", node("MeanBackward0", outputs(6)), other=0.1 / 7))
        self.assertIsNone(weights(graph, graph)[2].doubt)

    def test_doubts(self):
        two = node("AddBackward0", cross_entropy(24, 6.0), node("MeanBackward0", outputs(3)))
        self.assertIn("different ways", weights(two, two)[2].doubt)
        uneven = [node("AddBackward0", node("MeanBackward0", outputs(3)),
                       node("MeanBackward0", outputs(rows))) for rows in (3, 2)]
        self.assertIn("different counts", weights(*uneven)[2].doubt)
        root = node("SqrtBackward0", cross_entropy(24, 6.0))
        found, total, made = weights(root, root)
        self.assertEqual((found, total, made.found), ([0.5, 0.5], 1.0, "their rows"))
        self.assertIn("SqrtBackward0", made.doubt)
        own = type("FusedLossBackward", (TORCH._C._FunctionBase,), {})()
        self.assertIn("comes of FusedLoss", weights(own, own)[2].doubt)


if __name__ == "__main__":
    unittest.main()
