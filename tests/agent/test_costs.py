#!/usr/bin/env python3
"""Tests the counting of a step's work, on nodes as PyTorch's execution trace observer writes them."""

import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src" / "agent"))

from plimsoll_agent import flops, trace, traced  # noqa: E402

KINDS = {"float": 4, "c10::BFloat16": 2, "c10::Half": 2, "double": 8, "long int": 8}


def _written(node):
    place, within, name, schema, sides = node
    inputs, outputs = (json.dumps(sides[side], separators=(",", ":")) for side in sides)
    return f"""
      {{
        "id": {place}, "name": {json.dumps(name)}, "ctrl_deps": {within},
        "inputs": {inputs},
        "outputs": {outputs},
        "attrs": [{{"name": "tid", "type": "uint64", "value": 1}},\
{{"name": "op_schema", "type": "string", "value": {json.dumps(schema)}}}]
      }}""".encode()


class Trace:
    """Makes nodes."""

    def __init__(self):
        self.nodes = []
        self._storages = 100

    def tensor(self, shape, kind="float", device="cuda:0", strides=None):
        """(value, shape, type, strides) of memory of its own."""
        self._storages += 1
        size = 1
        for one in shape:
            size *= one
        value = [self._storages, self._storages, 0, size, KINDS[kind], device]
        return value, shape, f"Tensor({kind})", strides or [1] * len(shape)

    def node(self, name, schema="", inputs=(), outputs=(), within=2):
        place = 10 + len(self.nodes)

        def side(columns):
            columns = [one if isinstance(one, tuple) else (one, [], "Int", []) for one in columns]
            return dict(zip(("values", "shapes", "types", "strides"),
                            map(list, zip(*columns)) if columns else ([], [], [], [])))

        self.nodes.append((place, within, name, schema,
                           {"inputs": side(inputs), "outputs": side(outputs)}))
        return place

    def written(self):
        """Bytes of a file, in the lines of the observer."""
        return b"{\n  \"nodes\": [" + b",".join(map(_written, self.nodes)) + b"\n  ]\n}\n"

    def mm(self, first, second, kind="float", within=2):
        a, b = self.tensor(first, kind), self.tensor(second, kind)
        return self.node("aten::mm", "aten::mm(Tensor self, Tensor mat2) -> Tensor", (a, b),
                         (self.tensor([first[0], second[1]], kind),), within)

    def mark(self, name):
        return self.node(name)

    def sum(self, **allowed):
        nodes = list(trace.Reader(**allowed).nodes(self.written()))
        return trace.Adder(lambda place: True).add(nodes)

    def call(self):
        return traced.Call(*self.nodes[-1][2:])


class Flops(unittest.TestCase):
    def of(self, name, arguments, *shapes, outputs=(), values=()):
        made = Trace()
        schema = f"{name}({arguments}) -> Tensor"
        made.node(name, schema, [*map(made.tensor, shapes), *values], map(made.tensor, outputs))
        return flops.of(made.call())

    def test_products(self):
        two = "Tensor a, Tensor b"
        three = "Tensor c, Tensor a, Tensor b"
        self.assertEqual(self.of("aten::mm", two, [8, 64], [64, 32]), 2 * 8 * 64 * 32)
        self.assertEqual(self.of("aten::bmm", two, [3, 8, 64], [3, 64, 32]), 3 * 2 * 8 * 64 * 32)
        self.assertEqual(self.of("aten::mv", two, [8, 64], [64]), 2 * 8 * 64)
        self.assertEqual(self.of("aten::addmm", three, [32], [8, 64], [64, 32]), 2 * 8 * 64 * 32)
        self.assertEqual(self.of("aten::baddbmm", three, [1], [3, 8, 64], [3, 64, 32]),
                         3 * 2 * 8 * 64 * 32)

    def test_convolutions(self):
        forward = 2 * (2 * 16 * 10 * 10) * (8 * 3 * 3)
        self.assertEqual(self.of("aten::cudnn_convolution", "Tensor self, Tensor weight",
                                 [2, 8, 12, 12], [16, 8, 3, 3], outputs=[[2, 16, 10, 10]]), forward)
        self.assertEqual(self.of("aten::cudnn_convolution", "Tensor self, Tensor weight",
                                 [2, 16, 12, 12], [16, 1, 3, 3], outputs=[[2, 16, 10, 10]]),
                         2 * (2 * 16 * 10 * 10) * 9)
        backward = ("Tensor grad_output, Tensor input, Tensor weight, bool transposed, "
                    "bool[3] output_mask")
        shapes = [2, 16, 10, 10], [2, 8, 12, 12], [16, 8, 3, 3]
        for mask, factor in ([True, True, True], 2), ([False, True, False], 1):
            self.assertEqual(self.of("aten::convolution_backward", backward, *shapes,
                                     values=(False, mask)), factor * forward)

    def test_attention(self):
        arguments = "Tensor query, Tensor key, Tensor value, float dropout_p=0.0, bool is_causal"
        shapes = [2, 12, 1024, 64], [2, 12, 512, 64], [2, 12, 512, 64]
        full = 4 * 2 * 12 * 1024 * 512 * 64
        name = "aten::_scaled_dot_product_flash_attention"
        self.assertEqual(self.of(name, arguments, *shapes, values=(0.0, False)), full)
        self.assertEqual(self.of(name, arguments, *shapes, values=(0.0, True)), full // 2)
        self.assertEqual(self.of(name + "_backward", "Tensor grad_out, " + arguments, shapes[0],
                                 *shapes, values=(0.0, False)), full * 5 // 2)
        turned = [2, 1024, 12, 64], [2, 512, 12, 64], [2, 512, 12, 64]
        self.assertEqual(self.of("flash_attn::_flash_attn_forward",
                                 "Tensor q, Tensor k, Tensor v, bool causal", *turned,
                                 values=(False,)), full)

    def test_what_has_no_formula_or_strange_shapes(self):
        self.assertIsNone(self.of("aten::add", "Tensor self, Tensor other", [8], [8]))
        self.assertIsNone(self.of("aten::mm", "Tensor self"))


class Bytes(unittest.TestCase):
    def setUp(self):
        self.trace = Trace()

    def test_inputs_and_outputs(self):
        self.trace.mm([8, 64], [64, 32])
        self.assertEqual(self.trace.call().bytes(), 4 * (8 * 64 + 64 * 32 + 8 * 32))

    def test_changed_in_place_is_read_and_written(self):
        a, b = self.trace.tensor([100]), self.trace.tensor([100])
        self.trace.node("aten::add_", "aten::add_.Tensor(Tensor(a!) self, Tensor other) -> "
                        "Tensor(a!)", (a, b), (a,))
        self.assertEqual(self.trace.call().bytes(), 3 * 400)

    def test_a_copy_does_not_read_its_target(self):
        a, b = self.trace.tensor([100], "c10::BFloat16"), self.trace.tensor([100])
        self.trace.node("aten::copy_", "aten::copy_(Tensor(a!) self, Tensor src, bool "
                        "non_blocking=False) -> Tensor(a!)", (a, b, False), (a,))
        self.assertEqual(self.trace.call().bytes(), 200 + 400)

    def test_lists_and_expanded_ones(self):
        parts = [self.trace.tensor([100]), self.trace.tensor([1, 50], strides=[0, 1])]
        whole = tuple(map(list, zip(*parts)))
        kind = "GenericList[" + ",".join(whole[2]) + "]"
        self.trace.node("aten::_foreach_mul_", "aten::_foreach_mul_.Scalar(Tensor(a!)[] self, "
                        "Scalar scalar) -> ()", ((whole[0], whole[1], kind, whole[3]), 0.5))
        self.assertEqual(self.trace.call().bytes(), 2 * 4 * 150)

    def test_an_embedding_reads_the_rows_that_it_takes(self):
        weight = self.trace.tensor([50257, 768])
        places = self.trace.tensor([8, 16], "long int")
        self.trace.node("aten::embedding", "aten::embedding(Tensor weight, Tensor indices) -> "
                        "Tensor", (weight, places), (self.trace.tensor([8, 16, 768]),))
        self.assertEqual(self.trace.call().bytes(), 2 * 4 * 8 * 16 * 768 + 8 * 8 * 16)


class Steps(unittest.TestCase):
    def test_an_operation_within_which_others_work_is_not_counted(self):
        made = Trace()
        linear = made.node("aten::linear", "aten::linear(Tensor input, Tensor weight) -> Tensor",
                           (made.tensor([8, 64]), made.tensor([32, 64])), (made.tensor([8, 32]),))
        made.mm([8, 64], [64, 32], within=linear)
        self.assertEqual([row["name"] for row in made.sum().as_result()], ["aten::mm"])

    def test_views_and_empty_memory_are_no_work(self):
        made = Trace()
        a = made.tensor([8, 8])
        made.node("aten::t", "aten::t(Tensor(a) self) -> Tensor(a)", (a,), (a,))
        made.node("aten::_unsafe_view", "aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor",
                  (a,), (a,))
        made.node("aten::empty", "aten::empty.memory_format(SymInt[] size) -> Tensor", (),
                  (made.tensor([8]),))
        self.assertEqual(made.sum().as_result(), [])
        self.assertEqual(made.sum().launches, 0)

    def test_precisions(self):
        made = Trace()
        made.mm([8, 8], [8, 8])
        made.mm([8, 8], [8, 8], "c10::BFloat16")
        self.assertEqual({row["precision"] for row in made.sum(tf32=True).as_result()},
                         {"tf32", "bfloat16"})
        self.assertEqual({row["precision"] for row in made.sum(tf32=False).as_result()},
                         {"float32", "bfloat16"})

    def test_equal_operations_are_one_row(self):
        made = Trace()
        for _ in range(3):
            made.mm([8, 64], [64, 32])
        row, = made.sum().as_result()
        self.assertEqual((row["count"], row["flops"]), (3, 2 * 8 * 64 * 32))

    def test_the_second_step_and_what_its_optimizer_does_on_the_host(self):
        made = Trace()

        def host_add():
            a = made.tensor([100], device="cpu")
            made.node("aten::add_", "aten::add_.Tensor(Tensor(a!) self, Tensor other) -> "
                      "Tensor(a!)", (a, made.tensor([100], device="cpu")), (a,))

        made.mm([2, 2], [2, 2])
        made.mark("plimsoll: step")
        made.mm([4, 4], [4, 4])
        made.mark("plimsoll: backward")
        made.mark("plimsoll: optimizer")
        made.mark("plimsoll: step")
        host_add()
        made.mm([8, 8], [8, 8])
        made.mark("plimsoll: backward")
        host_add()
        made.mark("plimsoll: optimizer")
        for marks, step, side in (2, 1, 4), (3, 2, 8):
            if marks == 3:
                made.mark("plimsoll: step")
                made.mm([16, 16], [16, 16])
            with tempfile.NamedTemporaryFile(suffix=".json") as file:
                file.write(made.written())
                file.flush()
                found, total = trace.read(file.name, False, True)
            self.assertEqual(found, step)
            self.assertEqual([row["flops"] for row in total.as_result()], [2 * side ** 3])
        self.assertEqual(total.host_bytes, 3 * 400)

    def test_other_storages_change_nothing_but_shared_ones_do(self):
        made = Trace()
        schema = "aten::add(Tensor self, Tensor other) -> Tensor"
        for _ in range(2):
            a, b = made.tensor([100]), made.tensor([100])
            made.node("aten::add", schema, (a, b), (made.tensor([100]),))
        made.node("aten::add", schema, (a, a), (made.tensor([100]),))
        self.assertEqual([(row["bytes"], row["count"]) for row in made.sum().as_result()],
                         [(800, 1), (1200, 2)])

    def test_schemas_may_have_quotes_in_them(self):
        made = Trace()
        made.node("aten::gelu", 'aten::gelu(Tensor self, *, str approximate="none") -> Tensor',
                  (made.tensor([100]), "none"), (made.tensor([100]),))
        self.assertEqual([row["bytes"] for row in made.sum().as_result()], [800])

    def test_another_layout_is_an_error(self):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            file.write(b'{"nodes": [{"id": 1}]}')
            file.flush()
            self.assertRaises(ValueError, trace.read, file.name, False, True)

    def test_too_many_rows_become_means(self):
        total = trace.Sum()
        for size in range(trace.ROWS_MAX + 10):
            total.add("aten::add", "", 0, 2 * size)
        row, = total.as_result()
        self.assertEqual((row["count"], row["bytes"]), (trace.ROWS_MAX + 10, trace.ROWS_MAX + 9))


if __name__ == "__main__":
    unittest.main()
