#!/usr/bin/env python3
"""Tests of switches/pieces.py: which rows of a call's arguments go into which piece."""
import collections
import dataclasses
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src" / "agent"))

from plimsoll_agent.switches import pieces  # noqa: E402
from plimsoll_agent.switches.switch import Refusal  # noqa: E402


class Rows:
    """A tensor by its shape, and by which rows it was cut to."""

    grad_fn = None

    def __init__(self, *shape, floating=False, graded=False, cut=None):
        self.shape, self.cut, self.requires_grad = shape, cut, graded
        self._floating = floating

    def __getitem__(self, rows):
        return Rows(rows.stop - rows.start, *self.shape[1:], cut=(rows.start, rows.stop))

    def is_floating_point(self):
        return self._floating

    def numel(self):
        size = 1
        for one in self.shape:
            size *= one
        return size


@dataclasses.dataclass
class Record:
    tokens: object
    name: str = "x"


Named = collections.namedtuple("Named", "one other")


class Pieces(unittest.TestCase):
    def test_rows_are_those_of_the_first_wide_tensor(self):
        self.assertEqual(pieces.rows_of((Rows(), Rows(5)), {"x": Rows(8, 3)}), 8)
        self.assertEqual(pieces.rows_of((Rows(1, 7), Rows(4, 7)), {}), 4)
        self.assertEqual(pieces.rows_of((Rows(5),), {}), 5)
        self.assertIsNone(pieces.rows_of((3, "text"), {}))

    def test_longer_pieces_come_first(self):
        self.assertEqual(pieces.bounds_of(10, 4), [(0, 3), (3, 6), (6, 8), (8, 10)])
        self.assertEqual(pieces.bounds_of(8, 2), [(0, 4), (4, 8)])

    def test_containers_keep_their_types_and_are_not_changed(self):
        given = {"a": [Rows(8, 2), Rows(1, 2)], "b": (Rows(8), None, 3),
                 "c": Record(Rows(8, 4)), "d": Named(Rows(8), Rows(3, 8)),
                 "e": collections.OrderedDict(k=Rows(8)), "f": collections.UserDict(k=Rows(8))}
        cut = pieces.piece_of(given, 8, (2, 5))
        self.assertEqual([tensor.cut for tensor in pieces.tensors_of(cut)],
                         [(2, 5), None, (2, 5), (2, 5), (2, 5), None, (2, 5), (2, 5)])
        self.assertEqual([type(cut[key]) for key in cut], [type(given[key]) for key in given])
        self.assertTrue(all(tensor.cut is None for tensor in pieces.tensors_of(given)))
        self.assertEqual((cut["b"][2], cut["c"].name), (3, "x"))

    def test_a_loss_is_the_one_scalar_with_a_gradient(self):
        loss = Rows(graded=True)
        self.assertIs(pieces.loss_of((Rows(4, 2, graded=True), loss)), loss)
        self.assertIsNone(pieces.loss_of(Rows(4, graded=True)))
        self.assertIsNone(pieces.loss_of((Rows(4, graded=True), Rows())))
        with self.assertRaises(Refusal):
            pieces.loss_of([loss, Rows(graded=True)])

    def test_targets_are_whole_numbers_under_their_names(self):
        labels = Rows(8, 4)
        self.assertIs(pieces.targets_of({"x": Rows(8, 4), "labels": labels}), labels)
        self.assertIs(pieces.targets_of({"x": 1, "kwargs": {"labels": labels}}), labels)
        self.assertIsNone(pieces.targets_of({"y": Rows(8, 4, floating=True)}))


if __name__ == "__main__":
    unittest.main()
