#!/usr/bin/env python3
"""foreach=off, fused and set_to_none on optimizers that are not PyTorch's: what each does to options."""

import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src" / "agent"))

from plimsoll_agent.switches.foreach import Foreach
from plimsoll_agent.switches.fused import Fused
from plimsoll_agent.switches.program import Program
from plimsoll_agent.switches.report import Entry


class Tensor:
    is_sparse = False

    def __init__(self, device="cuda", is_floating=True):
        self.device = types.SimpleNamespace(type=device)
        self.grad = None
        self._is_floating = is_floating

    def is_floating_point(self):
        return self._is_floating


class Adam:
    def __init__(self, tensors, **options):
        self.defaults = {"lr": 1e-3, "foreach": None, "fused": None, **options}
        self.param_groups = [{"params": tensors, **self.defaults}]


class Plain(Adam):
    def __init__(self, tensors):
        super().__init__(tensors)
        for options in (self.defaults, self.param_groups[0]):
            del options["foreach"], options["fused"]


class Seams(Program):
    """Of which a test is the program."""

    def __init__(self):
        optim = types.SimpleNamespace(Adam=Adam, SGD=Plain, Adagrad=Plain)
        self.torch = types.SimpleNamespace(optim=optim)

    def around_optimizer(self, wrapper):
        self.make = lambda optimizer: wrapper(lambda *_: None, optimizer, [], {})

    def on_step(self, before=None, after=None):
        self.step = before

    def place(self):
        return "train.py", 12


class Stepping(unittest.TestCase):
    def switched(self, kind, optimizer, steps=1):
        seams = Seams()
        self.entry = Entry(kind.name, "")
        self.switch = kind("", seams, self.entry)
        self.switch.install()
        seams.make(optimizer)
        for _ in range(steps):
            seams.step(optimizer)
        return optimizer.param_groups[0]

    def test_foreach_off(self):
        self.assertIs(self.switched(Foreach, Adam([Tensor()]))["foreach"], False)
        self.assertEqual(self.entry.state, "applied")
        self.assertEqual(self.entry.places,
                         [{"what": "optimizer", "file": "train.py", "line": 12}])

    def test_foreach_off_without_effect(self):
        for optimizer in (Adam([Tensor("cpu")]), Adam([Tensor()], foreach=False),
                          Adam([Tensor()], fused=True)):
            self.switched(Foreach, optimizer)
            self.assertEqual(self.entry.state, "no_effect", self.entry.text)
        self.assertIs(optimizer.param_groups[0]["fused"], True)

    def test_fused(self):
        optimizer = Adam([Tensor()], foreach=True)
        group = self.switched(Fused, optimizer)
        self.assertEqual((group["fused"], group["foreach"]), (True, None))
        self.assertTrue(optimizer._step_supports_amp_scaling)
        self.assertEqual(self.entry.state, "applied")

    def test_fused_already(self):
        self.switched(Fused, Adam([Tensor()], fused=True))
        self.assertEqual(self.entry.state, "no_effect")

    def test_what_cannot_is_refused_and_left(self):
        for optimizer, reason in ((Plain([Tensor()]), "no fused kernel"),
                                  (Adam([Tensor()], differentiable=True), "differentiable"),
                                  (Adam([Tensor(is_floating=False)]), "floating-point")):
            before = dict(optimizer.param_groups[0])
            self.switched(Fused, optimizer)
            self.assertEqual((self.entry.state, optimizer.param_groups[0]), ("refused", before))
            self.assertIn(reason, self.entry.text)

    def test_a_sparse_gradient_puts_the_options_back(self):
        tensor = Tensor()
        optimizer = Adam([tensor], foreach=True)
        self.switched(Fused, optimizer, steps=0)
        tensor.grad = types.SimpleNamespace(is_sparse=True)
        self.switch._step(optimizer)
        group = optimizer.param_groups[0]
        self.assertEqual((self.entry.state, group["fused"], group["foreach"]),
                         ("refused", None, True))
        self.assertFalse(hasattr(optimizer, "_step_supports_amp_scaling"))

    def test_a_group_that_a_checkpoint_brought_is_changed_again(self):
        optimizer = Adam([Tensor()])
        self.switched(Foreach, optimizer)
        optimizer.param_groups = [{"params": [Tensor()], "foreach": None, "fused": None}]
        self.switch._step(optimizer)
        self.assertIs(optimizer.param_groups[0]["foreach"], False)


if __name__ == "__main__":
    unittest.main()
