#!/usr/bin/env python3
"""Who holds it, without PyTorch: tensors are those of fake_tensors."""

import collections
import functools
import gc
import os
import sys
import threading
import time
import unittest
import unittest.mock
import weakref

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "src", "agent"))
sys.path.insert(0, HERE)

import fake_tensors  # noqa: E402
from fake_tensors import Module, Node, Optimizer, SavedTensor, Tensor  # noqa: E402
from plimsoll_agent import holders  # noqa: E402
from plimsoll_agent.holders import libraries  # noqa: E402

KIB = 1024
MIB = 1 << 20
_torch = fake_tensors.torch()

kept_globally = None


def find(seconds=20, live=0, **options):
    return holders.find(_torch, seconds, tensors=fake_tensors.Adapter(live), **options)


class HoldersCase(unittest.TestCase):
    def setUp(self):
        gc.collect()

    def one(self, document, **members):
        """The one holder that has these members."""
        found = [one for one in document["holders"]
                 if all(one[name] == value for name, value in members.items())]
        self.assertEqual(len(found), 1, [one["text"] for one in document["holders"]])
        return found[0]

    def complete(self, **options):
        document = find(**options)
        self.assertEqual((document["is_complete"], document["why_incomplete"]), (True, None))
        return document


class Names(HoldersCase):
    def test_a_list_in_a_local(self):
        losses = [Tensor(4096) for _ in range(5)]
        holder = self.one(self.complete(), name="losses")
        self.assertEqual(
            {name: holder[name] for name in ("kind", "type", "path", "tensors", "bytes", "device")},
            {"kind": "local", "type": "list", "path": ["local losses"], "tensors": 5,
             "bytes": 5 * 4096, "device": 0})
        self.assertEqual(holder["function"], "test_a_list_in_a_local")
        self.assertEqual(os.path.basename(holder["file"]), "test_holders.py")
        self.assertRegex(holder["text"],
                         r"^list `losses` in test_a_list_in_a_local \(.*test_holders.py:\d+\)$")
        self.assertEqual([block[2] for block in holder["blocks"]],
                         [f"[{index}]" for index in range(5)])
        self.assertEqual({block[0] for block in holder["blocks"]},
                         {one.memory[1] for one in losses})

    def test_a_tensor_of_its_own(self):
        kept = Tensor(MIB)
        holder = self.one(self.complete(), name="kept")
        self.assertEqual((holder["type"], holder["bytes"], holder["blocks"]),
                         ("Tensor", MIB, [[kept.memory[1], MIB, ""]]))

    def test_a_storage_counts_once(self):
        first = Tensor(MIB)
        views = [Tensor(of=first) for _ in range(3)]
        document = self.complete(live=MIB)
        self.assertEqual(document["devices"], [{
            "device": 0, "live_bytes": MIB, "held_bytes": MIB, "graph_bytes": 0,
            "engine_bytes": 0}])
        self.assertEqual(len(views), 3)

    def test_attributes_and_keys(self):
        class State:
            def __init__(self):
                self.cache = {"x": [Tensor(8192)], "y": 3}
                self.alone = Tensor(4096)

        state = State()
        document = self.complete()
        holder = self.one(document, name="state.cache['x']")
        self.assertEqual((holder["path"], holder["kind"], holder["type"]),
                         (["local state", ".cache", "['x']"], "attribute", "list"))
        self.assertEqual(self.one(document, name="state.alone")["kind"], "attribute")
        del state

    def test_elements_of_elements(self):
        kept = [(Tensor(4096), Tensor(512)) for _ in range(3)]
        holder = self.one(self.complete(), name="kept")
        self.assertEqual((holder["tensors"], holder["blocks"][0][2]), (6, "[0][0]"))
        del kept

    def test_objects_in_a_list(self):
        class Step:
            def __init__(self):
                self.logits = Tensor(4096)

        steps = [Step() for _ in range(4)]
        holder = self.one(self.complete(), name="steps")
        self.assertEqual((holder["tensors"], holder["blocks"][0][2]), (4, "[0].logits"))
        del steps

    def test_containers(self):
        by_name = collections.OrderedDict((index, Tensor()) for index in range(3))
        several = {Tensor(), Tensor()}
        ahead = collections.deque([Tensor(), Tensor(), Tensor()])
        document = self.complete()
        self.assertEqual([self.one(document, name=name)["tensors"]
                          for name in ("by_name", "several", "ahead")], [3, 2, 3])
        self.assertEqual(self.one(document, name="by_name")["blocks"][1][2], "[1]")
        del by_name, several, ahead

    def test_a_global(self):
        global kept_globally
        kept_globally = {"a": Tensor(), "b": Tensor()}
        try:
            holder = self.one(self.complete(), name="kept_globally")
        finally:
            kept_globally = None
        self.assertEqual((holder["kind"], holder["line"], holder["tensors"]), ("global", None, 2))
        self.assertIn(" of module __main__ (", holder["text"])

    def test_a_closure(self):
        def make():
            seen = [Tensor(), Tensor()]
            return lambda: seen

        hook = make()
        holder = self.one(self.complete(), name="seen")
        self.assertEqual((holder["kind"], holder["path"]),
                         ("closure", ["local hook", "closure seen"]))
        del hook

    def test_a_default_value(self):
        def collect(value=1, seen=[]):  # noqa: B006
            seen.append(value)

        collect(Tensor()), collect(Tensor())
        holder = self.one(self.complete(), name="seen")
        self.assertEqual(holder["path"], ["local collect", "default seen"])

    def test_a_thread_local(self):
        mine = threading.local()
        mine.buffers = [Tensor(), Tensor()]
        self.assertEqual(self.one(self.complete(), name="mine.buffers")["tensors"], 2)

    def test_a_cache_of_a_function(self):
        @functools.lru_cache(None)
        def table(size):
            return Tensor(size)

        table(512), table(1024)
        holder = self.one(self.complete(), kind="cache")
        self.assertEqual((holder["name"], holder["tensors"]), ("table", 2))

    def test_a_cache_of_a_class(self):
        class Model:
            tables = {}

        Model.tables[3] = Tensor()
        holder = self.one(self.complete(), kind="cache")
        self.assertEqual(holder["name"], "Model.tables")

    def test_a_generator(self):
        def batches():
            ahead = [Tensor(), Tensor()]
            yield ahead

        loader = batches()
        next(loader)
        holder = self.one(self.complete(), kind="generator")
        self.assertEqual((holder["name"], holder["tensors"]), ("ahead", 2))

    def test_collected_exceptions(self):
        def fail():
            logits = Tensor(4096)
            raise ValueError(str(logits.memory[2]))

        errors = []
        for _ in range(3):
            try:
                fail()
            except ValueError as error:
                errors.append(error)
        holder = self.one(self.complete(), name="errors")
        self.assertEqual((holder["kind"], holder["tensors"]), ("traceback", 3))
        self.assertIn("by tracebacks of exceptions", holder["text"])
        self.assertIn(".__traceback__", holder["blocks"][0][2])
        errors.clear()

    def test_the_last_exception(self):
        def fail():
            logits = Tensor(4096)
            raise ValueError(str(logits.memory[2]))

        for name in ("last_value", "last_exc"):
            for is_interactive in (False, True):
                with self.subTest(name=name, is_interactive=is_interactive):
                    try:
                        fail()
                    except ValueError as error:
                        setattr(sys, name, error)
                    if is_interactive:
                        sys.ps1 = ">>> "
                    try:
                        holder = self.one(self.complete(), name="logits")
                    finally:
                        delattr(sys, name)
                        if is_interactive:
                            del sys.ps1
                    self.assertEqual(holder["kind"], "traceback" if is_interactive else "local")
                    self.assertEqual(holder["function"], "fail")
                    self.assertEqual(f"sys.{name}" in holder["text"], is_interactive)

    def test_other_threads(self):
        go, there = threading.Event(), threading.Event()

        def load():
            batches = [Tensor(), Tensor()]
            there.set()
            go.wait()
            batches.clear()

        thread = threading.Thread(target=load)
        thread.start()
        there.wait()
        try:
            holder = self.one(self.complete(), name="batches")
        finally:
            go.set()
            thread.join()
        self.assertEqual((holder["function"], holder["tensors"]), ("load", 2))

    def test_given_roots(self):
        class Shell:
            outputs = None

        Shell.outputs = {3: Tensor()}
        outputs = weakref.ref(Shell)  # only a weak name is a local
        hidden = [Shell.outputs]
        for root in (("Out", hidden[0]), ("notebook_output", "Out", hidden[0])):
            holder = self.one(find(extra_roots=[root]), name="Out")
            self.assertEqual((holder["kind"], holder["blocks"][0][2]), ("notebook_output", "[3]"))
        del outputs

    def test_several_names(self):
        mine = Tensor(4096)
        also = [mine]
        document = self.complete()
        holder = self.one(document, name="mine")
        self.assertEqual(holder["tensors"], 1)
        self.assertEqual([one["name"] for one in document["holders"]].count("also"), 0)
        del also


class Models(HoldersCase):
    def model(self):
        layer = Module()
        layer._parameters["weight"] = Tensor(8192)
        layer._parameters["bias"] = None
        layer._buffers["mean"] = Tensor(512)
        block = Module()
        block._modules["0"] = layer
        top = Module()
        top._modules["layers"] = block
        top._parameters["scale"] = Tensor(1024)
        layer._parameters["weight"].grad = Tensor(8192)
        return top

    def test_parameters_by_name(self):
        model = self.model()
        first = model._modules["layers"]  # seen before the model, and within it
        document = self.complete()
        expected = {"parameters": {"layers.0.weight", "scale"}, "buffers": {"layers.0.mean"},
                    "gradients": {"grad of layers.0.weight"}}
        for kind, labels in expected.items():
            holder = self.one(document, kind=kind)
            self.assertEqual((holder["name"], holder["path"]), ("model", ["local model"]))
            self.assertEqual({block[2] for block in holder["blocks"]}, labels)
            self.assertTrue(holder["text"].startswith(f"{kind} of Module `model` in "))
        del first

    def test_states_by_parameter(self):
        model = self.model()
        optimizer = Optimizer([model._modules["layers"]._modules["0"]._parameters["weight"]])
        holder = self.one(self.complete(), kind="optimizer_states")
        self.assertEqual((holder["name"], holder["blocks"][0][2]),
                         ("optimizer", "exp_avg of layers.0.weight"))
        del optimizer

    def test_old_optimizers(self):
        model = self.model()
        old = [Optimizer([model._parameters["scale"]]) for _ in range(3)]
        holder = self.one(self.complete(), kind="optimizer_states")
        self.assertEqual((holder["name"], holder["tensors"]), ("old", 3))
        del old

    def test_a_module_that_keeps_others(self):
        model = self.model()
        model.seen = [Tensor(), Tensor()]
        model._modules["layers"].cache = {index: Tensor() for index in range(3)}
        document = self.complete()
        self.assertEqual(self.one(document, name="model.seen")["kind"], "attribute")
        self.assertEqual(self.one(document, name="model.layers.cache")["kind"], "cache")

    def test_modules_in_a_circle(self):
        model = self.model()
        model._modules["layers"]._modules["up"] = model
        self.assertEqual(self.one(self.complete(), kind="parameters")["tensors"], 2)

    def test_a_list_of_layers_before_their_model(self):
        layers = [self.model() for _ in range(3)]
        model = Module()
        model._modules.update((str(index), one) for index, one in enumerate(layers))
        layers[0].owner = [model]
        holder = self.one(self.complete(), kind="parameters")
        self.assertEqual((holder["tensors"], holder["name"]), (6, "model"))


    def test_a_wrapper_counts_as_what_is_in_it(self):
        model = Module()
        model._parameters["weight"] = Tensor(None)
        model._parameters["weight"].local = Tensor(8192)
        holder = self.one(self.complete(), kind="parameters")
        self.assertEqual((holder["bytes"], holder["blocks"][0][2]), (8192, "weight"))

    def test_a_hook(self):
        def watch():
            seen = [Tensor(), Tensor()]
            return lambda *_: seen

        model = self.model()
        model._modules["layers"]._forward_hooks = collections.OrderedDict({3: watch()})
        holder = self.one(self.complete(), name="seen")
        self.assertEqual((holder["kind"], holder["path"]), (
            "closure", ["local model", ".layers", "._forward_hooks", "[3]", "closure seen"]))

    def test_a_wrapper_of_a_model_that_has_a_name(self):
        model, wrapper = self.model(), Module()
        wrapper._modules["module"] = model
        holder = self.one(self.complete(), kind="parameters")
        self.assertEqual((holder["name"], {block[2] for block in holder["blocks"]}),
                         ("model", {"layers.0.weight", "scale"}))
        del wrapper


class Rest(HoldersCase):
    """What no object holds."""

    def test_workspaces(self):
        workspace, small = 32 * MIB, MIB
        for size, environment, expected in (
                (workspace, {}, True), (2 * workspace + small, {}, True),
                (8_519_680 + small, {}, True), (workspace + 2 * small, {}, False),
                (8 * MIB, {}, False), (0, {}, False),
                (16 * MIB, {"CUBLAS_WORKSPACE_CONFIG": ":4096:4"}, True),
                (workspace, {"CUBLAS_WORKSPACE_CONFIG": ":4096:4:x"}, True)):
            with self.subTest(size=size, environment=environment):
                found = libraries.workspaces(size, environment=environment)
                self.assertEqual(found, size if expected else 0)

    def test_workspaces_beside_blocks_larger_than_their_requests(self):
        workspace = 32 * MIB
        for rest, slack, expected in (
                (workspace + 5000, 5000, workspace), (workspace + 5000, 4999, 0),
                (workspace + MIB + 5000, 9000, workspace + MIB),
                (workspace - 512, 9000, 0), (MIB, 2 * MIB, 0)):
            with self.subTest(rest=rest, slack=slack):
                self.assertEqual(libraries.workspaces(rest, slack, {}), expected)

    def test_a_library_is_named(self):
        kept = [Tensor(4096)]
        document = self.complete(live=4096 + 32 * MIB)
        self.assertEqual(self.one(document, kind="library")["bytes"], 32 * MIB)
        self.assertEqual(document["devices"][0]["held_bytes"], 4096 + 32 * MIB)
        with unittest.mock.patch.object(fake_tensors.Adapter, "slack", {0: 600}):
            document = self.complete(live=4096 + 32 * MIB + 512)
        self.assertEqual(self.one(document, kind="library")["bytes"], 32 * MIB)
        self.assertEqual(document["devices"][0]["held_bytes"], 4096 + 32 * MIB + 512)
        del kept

    def test_the_operation_that_failed(self):
        document = self.complete(live=5000, moment="failure")
        holder = self.one(document, kind="engine")
        self.assertEqual(holder["bytes"], 5000)
        self.assertRegex(holder["text"], r"^likely the operation that runs in find \(.*at most")
        self.assertEqual([one["kind"] for one in self.complete(live=5000)["holders"]], [])

    def test_a_running_backward_pass(self):
        def _engine_run_backward():
            return self.complete(live=5000)

        holder = self.one(_engine_run_backward(), kind="engine")
        self.assertTrue(holder["text"].startswith("a running backward pass, at most"))


class Graphs(HoldersCase):
    def test_a_graph_by_its_root(self):
        total = Tensor(512, grad_fn=Node([Node(saved=SavedTensor(Tensor(8192)), number=1)],
                                         SavedTensor(Tensor(4096)), number=2))
        document = self.complete(live=512 + 8192 + 4096)
        holder = self.one(document, kind="graph")
        self.assertEqual((holder["name"], holder["bytes"], holder["tensors"]),
                         ("total", 12288, 2))
        self.assertTrue(holder["text"].startswith("the autograd graph of `total` in "))
        self.assertEqual(holder["blocks"][0][2], "Node.self")
        self.assertEqual(document["devices"][0]["graph_bytes"], 12288)
        self.assertEqual(document["devices"][0]["held_bytes"], 512)
        del total

    def test_the_oldest_root_has_what_two_share(self):
        state = Tensor(512, grad_fn=Node(saved=SavedTensor(Tensor(8192)), number=1))
        loss = Tensor(512, grad_fn=Node([state.grad_fn], SavedTensor(Tensor(1024)), number=2))
        document = self.complete()
        self.assertEqual(self.one(document, kind="graph", name="state")["bytes"], 8192)
        self.assertEqual(self.one(document, kind="graph", name="loss")["bytes"], 1024)
        del state, loss

    def test_graphs_of_a_list(self):
        losses = [Tensor(512, grad_fn=Node(saved=SavedTensor(Tensor(4096)))) for _ in range(4)]
        holder = self.one(self.complete(), kind="graph")
        self.assertEqual((holder["name"], holder["tensors"]), ("losses", 4))
        self.assertIn("graphs of list `losses`", holder["text"])
        del losses

    def test_a_long_graph(self):
        node = None
        for _ in range(100_000):
            node = Node([node] if node else [])
        loss = Tensor(512, grad_fn=node)
        self.complete()
        loss.grad_fn = None
        while node is not None:  # or Python itself would recurse
            edges = node.edges
            node.edges = None
            node = edges[0][0] if edges else None

    def test_packed_tensors_are_not_unpacked(self):
        unpacked = []

        def hook_with(inputs):
            return lambda data: unpacked.append((data, inputs))

        loss = Tensor(512, grad_fn=Node(
            saved=SavedTensor(("device", Tensor(4096)), hook_with(Tensor(1024)))))
        holder = self.one(self.complete(), kind="graph")
        self.assertEqual((unpacked, holder["bytes"]), ([], 4096 + 1024))
        del loss

    def test_no_reader_in_older_releases(self):
        torch = fake_tensors.torch()
        torch._C._autograd.SavedTensor = object
        loss = Tensor(512, grad_fn=Node(saved=SavedTensor(Tensor(4096))))
        document = holders.find(torch, 20, tensors=fake_tensors.Adapter(512 + 4096))
        self.assertEqual(self.one(document, kind="graph")["name"], "loss")
        self.assertIn("at most", self.one(document, kind="graph")["text"])
        self.assertEqual(document["devices"][0]["graph_bytes"], 4096)
        del loss


class Collector(HoldersCase):
    def test_garbage(self):
        class Step:
            def __init__(self, below):
                self.logits = Tensor(4096, grad_fn=below)
                self.done = self.finish

            def finish(self):
                pass

        gc.collect()
        gc.disable()
        try:
            for _ in range(3):
                Step(Node(saved=SavedTensor(Tensor(8192))))
            document = self.complete()
        finally:
            gc.enable()
        holder = self.one(document, kind="garbage")
        self.assertEqual(holder["bytes"], 3 * (4096 + 8192))
        self.assertEqual((document["garbage"]["bytes"], document["garbage"]["tensors"]),
                         (3 * (4096 + 8192), 6))
        self.assertIn("`Step`", document["garbage"]["text"])
        gc.collect()
        self.assertEqual(self.complete()["garbage"]["bytes"], 0)

    def test_garbage_of_an_exception(self):
        def fail():
            kept = Tensor(4096)
            try:
                raise ValueError(kept.memory[2])
            except ValueError as error:
                again = error  # its traceback has this function's frame, which has it
            return again is None

        gc.disable()
        try:
            fail()
            document = self.complete()
        finally:
            gc.enable()
        self.assertEqual(document["garbage"]["bytes"], 4096)

    def test_much_garbage(self):
        class Step:
            def __init__(self):
                self.kept = [Tensor(4096)]
                self.me = self

        gc.disable()
        try:
            for _ in range(5000):
                Step()
            document = self.complete()
        finally:
            gc.enable()
        self.assertEqual(document["garbage"]["bytes"], 5000 * 4096)
        self.assertLess(document["seconds"], 15)
        gc.collect()

    def test_what_only_c_holds_is_no_garbage(self):
        held = itertools_holding(Tensor(4096))
        document = self.complete()
        self.assertEqual(document["garbage"]["bytes"], 0)
        del held

    def test_a_name_of_a_package(self):
        import json

        json.kept_for_test = {"x": [Tensor(), Tensor()]}
        try:
            holder = self.one(self.complete(), name="kept_for_test['x']")
        finally:
            del json.kept_for_test
        self.assertEqual(holder["function"], "json")


def itertools_holding(thing):
    """An object that refers to a thing from C."""
    return functools.partial(print, thing)


class Hostile(HoldersCase):
    def test_no_code_of_the_programs_runs(self):
        ran = []

        class Meta(type):
            def __getattribute__(cls, name):
                ran.append(name)
                return super().__getattribute__(name)

            def __instancecheck__(cls, thing):
                ran.append("__instancecheck__")
                return False

        class Hostile(metaclass=Meta):
            def __init__(self):
                self.kept = [Tensor(4096)]
                self.others = {}

            def __getattribute__(self, name):
                ran.append(name)
                raise RuntimeError(name)

            def __getattr__(self, name):
                ran.append(name)
                raise RuntimeError(name)

            @property
            def __class__(self):
                ran.append("__class__")
                return Tensor

            @property
            def __dict__(self):
                ran.append("__dict__")
                raise RuntimeError

            def __len__(self):
                ran.append("__len__")
                raise RuntimeError

            def __hash__(self):
                ran.append("__hash__")
                raise RuntimeError

            __eq__ = __iter__ = __bool__ = __repr__ = __getitem__ = __len__

        class Mapping(dict):
            def __iter__(self):
                ran.append("__iter__")
                raise RuntimeError

            items = keys = values = __len__ = __getitem__ = get = __iter__

        class Sequence(list):
            def __iter__(self):
                ran.append("__iter__")
                raise RuntimeError

            __len__ = __getitem__ = __iter__

        mapping = Mapping({index: Tensor(512) for index in range(40)})
        sequence = Sequence([Tensor(512)] * 3)
        hostile = Hostile()
        ran.clear()
        document = self.complete()
        self.assertEqual(ran, [])
        self.assertEqual(self.one(document, name="mapping")["tensors"], 40)
        self.assertEqual(self.one(document, name="sequence")["tensors"], 1)
        self.assertEqual(sum(one["bytes"] for one in document["holders"]
                             if one["path"][:1] == ["local hostile"]), 4096)
        del hostile

    def test_dead_proxies(self):
        class Thing:
            pass

        thing = Thing()
        proxies = [weakref.proxy(thing), weakref.ref(thing)]
        del thing
        self.complete()
        del proxies

    def test_deep_nesting(self):
        deep = [Tensor(4096)]
        for _ in range(100_000):
            deep = [deep, 0]
        document = self.complete()
        self.assertEqual(sum(one["bytes"] for one in document["holders"]), 4096)

    def test_a_long_chain_of_objects(self):
        class Link:
            def __init__(self, after):
                self.after = after
                self.kept = Tensor(512)

        link = None
        for _ in range(50_000):
            link = Link(link)
        document = find(seconds=60)
        self.assertTrue(document["is_complete"])
        self.assertLess(len(document["holders"]), 60)
        self.assertEqual(sum(one["bytes"] for one in document["holders"]), 50_000 * 512)
        while link is not None:
            link = link.after

    def test_circles(self):
        circle = {"kept": [Tensor(4096)]}
        circle["self"] = [circle]
        self.assertEqual(sum(one["bytes"] for one in self.complete()["holders"]), 4096)
        circle.clear()

    def test_ten_million_numbers(self):
        numbers = list(range(10_000_000))
        kept = [Tensor(4096)]
        document = find(seconds=0.2)
        self.assertEqual(self.one(document, name="kept")["bytes"], 4096)
        self.assertLess(document["seconds"], 5)  # the machine may be slow, not ten times so
        del numbers, kept

    def test_no_time_at_all(self):
        kept = [Tensor(4096)]
        document = find(seconds=0)
        self.assertFalse(document["is_complete"])
        self.assertIn("the time was", document["why_incomplete"])
        del kept

    def test_changes_by_another_thread(self):
        things, go = {}, threading.Event()

        def change():
            index = 0
            while not go.is_set():
                index += 1
                things[index] = [Tensor(512)]
                things.pop(index - 30_000, None)
                if index % 100 == 0:
                    time.sleep(0.001)

        thread = threading.Thread(target=change)
        thread.start()
        try:
            for _ in range(3):
                document = find(seconds=0.5)
                self.assertNotIn("failed", document["why_incomplete"] or "")
        finally:
            go.set()
            thread.join()

    def test_it_never_raises(self):
        document = holders.find(None, 1)
        self.assertEqual((document["schema"], document["is_complete"]), ("holders/1", False))
        self.assertIn("the search failed", document["why_incomplete"])


class Traces(HoldersCase):
    """What a search leaves: nothing."""

    def test_nothing_is_kept_alive(self):
        kept = [Tensor(4096), Tensor(512, grad_fn=Node(saved=SavedTensor(Tensor())))]
        ghosts = [weakref.ref(one) for one in kept]
        gc.collect()
        gc.disable()
        try:
            document = find()
            kept.clear()
            self.assertEqual([ghost() for ghost in ghosts], [None, None])
        finally:
            gc.enable()
        self.assertTrue(document["holders"])

    def test_locals_of_a_frame_are_not_kept(self):
        ghosts = []

        def look():
            batch = Tensor()
            ghosts.append(weakref.ref(batch))
            find()
            del batch
            self.assertIsNone(ghosts[0]())

        look()

    def test_a_dict_of_locals_that_the_program_has(self):
        name = "kept"
        names = locals()
        find()
        self.assertEqual(names["name"], name)

    def test_the_collector_is_as_it_was(self):
        for was_enabled in (True, False):
            (gc.enable if was_enabled else gc.disable)()
            try:
                find()
                self.assertEqual(gc.isenabled(), was_enabled)
            finally:
                gc.enable()


if __name__ == "__main__":
    unittest.main()
