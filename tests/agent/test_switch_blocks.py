#!/usr/bin/env python3
"""test_switch_blocks.py - repeated blocks of models by their structure, without PyTorch."""

import os
import sys
import types
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "src", "agent"))

from plimsoll_agent.switches import compiling
from plimsoll_agent.switches.blocks import Finder
from plimsoll_agent.switches.checkpoint import is_chosen
from plimsoll_agent.switches.host_copies import rounded
from plimsoll_agent.switches.lazy_logits import pieces_for


class Parameter:
    def __init__(self, count):
        self.count = count

    def numel(self):
        return self.count


class Module:
    """As much of nn.Module as is looked at."""

    def __init__(self, size=0, **children):
        self._modules = dict(children)
        self._parameters = {"weight": Parameter(size)} if size else {}
        self._buffers = {}

    def forward(self, x):
        return x

    def named_modules(self, path=""):
        yield path, self
        for name, child in self._modules.items():
            yield from child.named_modules(f"{path}.{name}" if path else name)

    def modules(self):
        return (module for _, module in self.named_modules())

    def parameters(self):
        return (value for module in self.modules() for value in module._parameters.values())


class Listed(Module):
    def __init__(self, *members):
        super().__init__(**{str(index): member for index, member in enumerate(members)})


class ModuleList(Listed):
    pass


class Sequential(Listed):
    pass


class Block(Module):
    def __init__(self, width=1, **children):
        super().__init__(norm=Module(width), linear=Module(width), **children)


class Stage(Module):
    def __init__(self, width, count):
        super().__init__(blocks=ModuleList(*(Block(width) for _ in range(count))),
                         down=Module(width))


class Shrink(Module):
    def __init__(self):
        super().__init__(convolution=Module(3))


class Counting(Block):
    def forward(self, x):
        self.calls = x
        return x


TORCH = types.SimpleNamespace(nn=types.SimpleNamespace(
    Sequential=Sequential, ModuleList=ModuleList, ModuleDict=type("ModuleDict", (Module,), {})))


def found(model):
    return [(sequence.path, len(sequence.blocks)) for sequence in Finder(TORCH).sequences(model)]


class BlocksTest(unittest.TestCase):
    def test_a_list_of_blocks_within_an_objective(self):
        model = Module(model=Module(tokens=Module(9), blocks=ModuleList(*map(Block, [1] * 12)),
                                    head=Module(9)))
        self.assertEqual(found(model), [("model.blocks", 12)])

    def test_an_encoder_and_a_decoder_of_one_class(self):
        model = Module(encoder=Stage(2, 6), decoder=Stage(2, 6))
        self.assertEqual(found(model), [("encoder.blocks", 6), ("decoder.blocks", 6)])

    def test_lists_within_a_list_are_stages(self):
        model = Module(stem=Module(3), layer1=Sequential(Block(1), Block(1), Block(1)),
                       layer2=Sequential(Block(2), Block(2)))
        self.assertEqual(found(model), [("layer1", 3), ("layer2", 2)])

    def test_members_of_unequal_sizes_with_lists_are_stages(self):
        model = Module(stages=ModuleList(Stage(1, 2), Stage(2, 6), Stage(4, 2)))
        self.assertEqual([count for _, count in found(model)], [2, 6, 2])

    def test_equal_blocks_with_experts_are_blocks(self):
        layers = [Block(experts=ModuleList(*(Block(3) for _ in range(8)))) for _ in range(4)]
        self.assertEqual(found(Module(layers=ModuleList(*layers))), [("layers", 4)])

    def test_blocks_of_differing_shapes_and_the_middle_of_a_u_net(self):
        model = Module(down=ModuleList(Block(1), Shrink(), Block(9), Shrink()), middle=Block(9),
                       up=ModuleList(Block(9), Block(1)))
        self.assertEqual(found(model), [("down", 2), ("up", 2), ("middle", 1)])

    def test_wrappers_are_looked_through(self):
        wrapped = [Module(_fsdp_wrapped_module=Block()) for _ in range(3)]
        self.assertEqual(found(Module(_orig_mod=Module(h=ModuleList(*wrapped)))), [("h", 3)])

    def test_a_perceptron_has_none(self):
        self.assertEqual(found(Sequential(Module(3), Module(), Module(3))), [])


class ValuesTest(unittest.TestCase):
    def test_which_blocks(self):
        def chosen(value, count=8):
            return [index for index in range(count) if is_chosen(value, index)]
        self.assertEqual(chosen(""), list(range(8)))
        self.assertEqual(chosen("every:3"), [0, 3, 6])
        self.assertEqual(chosen("fraction:0.5"), [0, 2, 4, 6])
        self.assertEqual(len(chosen("fraction:0.3", 10)), 3)
        self.assertEqual(chosen("fraction:1.0"), list(range(8)))

    def test_pieces_follow_the_sizes(self):
        self.assertEqual(pieces_for(8192, 768, 50257), 32)
        self.assertEqual(pieces_for(8192, 2048, 8192), 4)
        self.assertEqual(pieces_for(100, 768, 50257), 1)

    def test_pinned_blocks_are_powers_of_two(self):
        self.assertEqual([rounded(size) for size in (1, 2, 3, 4096, 4097)], [1, 2, 4, 4096, 8192])

    def test_blocks_that_change_state_are_named(self):
        self.assertIsNone(compiling.changes_state(Block()))
        self.assertEqual(compiling.changes_state(Counting()), "Counting")


if __name__ == "__main__":
    unittest.main()
