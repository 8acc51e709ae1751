#!/usr/bin/env python3
"""test_ranks.py - one rank of many, and objects between ranks, without PyTorch."""

import os
import sys
import threading
import types
import unittest

AGENT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "src", "agent"))
sys.path.insert(0, AGENT)

from plimsoll_agent import broadcasts, mail, ranks, rebinding, world  # noqa: E402
from plimsoll_agent.mail import Mail  # noqa: E402
from plimsoll_agent.objects import Objects  # noqa: E402


class FakeStore:
    """What several threads share, as ranks share a TCPStore; get() waits for a key."""

    def __init__(self):
        self.values = {}
        self._changed = threading.Condition()

    def set(self, key, value):
        with self._changed:
            self.values[key] = value if isinstance(value, bytes) else value.encode()
            self._changed.notify_all()

    def get(self, key):
        self.wait([key])
        return self.values[key]

    def add(self, key, amount):
        with self._changed:
            count = int(self.values.get(key, 0)) + amount
            self.values[key] = str(count).encode()
            self._changed.notify_all()
        return count

    def wait(self, keys, timeout=None):
        seconds = 20 if timeout is None else timeout.total_seconds()
        with self._changed:
            if not self._changed.wait_for(lambda: all(k in self.values for k in keys), seconds):
                raise RuntimeError("wait timeout")

    def delete_key(self, key):
        return self.values.pop(key, None) is not None


class FakeGroup:
    def __init__(self, rank, size, name="0"):
        self._rank, self._size, self.group_name = rank, size, name

    def rank(self):
        return self._rank

    def size(self):
        return self._size


def fake_c10d(group, store, device="cuda"):
    """As much of torch.distributed.distributed_c10d as the objects' way needs."""
    module = types.SimpleNamespace(
        __name__="torch.distributed.fake", ProcessGroup=FakeGroup,
        _world=types.SimpleNamespace(pg_map={group: ("nccl", store)}),
        _get_default_group=lambda: group, _rank_not_in_group=lambda g: False,
        _get_object_coll_device=lambda g: device, get_group_rank=lambda g, rank: rank,
        get_global_rank=lambda g, rank: rank, is_initialized=lambda: True,
        _validate_output_list_for_rank=lambda *args: None)
    for name in ("all_gather_object", "gather_object", "broadcast_object_list",
                 "scatter_object_list", "send_object_list", "recv_object_list", "barrier",
                 "destroy_process_group"):
        setattr(module, name, lambda *args, name=name, **kwargs: f"PyTorch's {name}")
    return module


class Ranks:
    """Runs a program in each of several ranks, which are threads."""

    def __init__(self, size):
        self.store = FakeStore()
        self.results = [None] * size
        self._modules = []
        for rank in range(size):
            module = fake_c10d(FakeGroup(rank, size), self.store)
            install(module, False, None)
            self._modules.append(module)

    def run(self, program):
        def play(rank):
            self.results[rank] = program(self._modules[rank], rank)

        threads = [threading.Thread(target=play, args=(rank,))
                   for rank in range(len(self._modules))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        return self.results


def install(module, is_alone, note):
    sys.modules[module.__name__] = module
    try:
        Objects(module, note, is_alone).install()
    finally:
        del sys.modules[module.__name__]


class ManyRanks(unittest.TestCase):
    def test_all_gather(self):
        def program(c10d, rank):
            found = [None] * 3
            for _ in range(2):
                c10d.all_gather_object(found, {"rank": rank})
            return found

        for found in Ranks(3).run(program):
            self.assertEqual(found, [{"rank": 0}, {"rank": 1}, {"rank": 2}])

    def test_gather(self):
        def program(c10d, rank):
            found = [None] * 3 if rank == 1 else None
            c10d.gather_object(rank * rank, found, dst=1)
            return found

        self.assertEqual(Ranks(3).run(program), [None, [0, 1, 4], None])

    def test_broadcast_and_scatter(self):
        def program(c10d, rank):
            objects = ["a", "b"] if rank == 2 else [None, None]
            c10d.broadcast_object_list(objects, src=2)
            own = [None]
            c10d.scatter_object_list(own, [10, 20, 30] if rank == 0 else None, src=0)
            return objects + own

        self.assertEqual(Ranks(3).run(program),
                         [["a", "b", 10], ["a", "b", 20], ["a", "b", 30]])

    def test_send_and_receive(self):
        def program(c10d, rank):
            if rank == 0:
                c10d.send_object_list(["first"], dst=1)
                return c10d.send_object_list(["second"], dst=1)
            objects = [None]
            sources = [c10d.recv_object_list(objects, src=0)]
            first = objects[0]
            sources.append(c10d.recv_object_list(objects, group_src=0))
            return [first, objects[0], sources]

        self.assertEqual(Ranks(2).run(program)[1], ["first", "second", [0, 0]])

    def test_objects_larger_than_a_value_of_the_store(self):
        size = 2 * mail.PIECE_BYTES + 17

        def program(c10d, rank):
            objects = [bytes(size)] if rank == 0 else [None]
            c10d.broadcast_object_list(objects, src=0)
            return len(objects[0])

        self.assertEqual(Ranks(2).run(program), [size, size])

    def test_leaves_nothing_in_the_store(self):
        ranks = Ranks(2)
        ranks.run(lambda c10d, rank: c10d.all_gather_object([None] * 2, rank))
        self.assertEqual(ranks.store.values, {})

    def test_barriers_wait(self):
        arrived = []

        def program(c10d, rank):
            if rank == 0:
                threading.Event().wait(0.2)
            arrived.append(rank)
            result = c10d.barrier()
            return result, len(arrived)

        self.assertEqual(Ranks(3).run(program), [("PyTorch's barrier", 3)] * 3)

    def test_a_barrier_that_some_never_reach_ends(self):
        post = Mail(FakeStore(), 0, 2)
        self.assertFalse(post.meet(0.05))

    def test_destroying_waits_for_all(self):
        results = Ranks(2).run(lambda c10d, rank: c10d.destroy_process_group())
        self.assertEqual(results, ["PyTorch's destroy_process_group"] * 2)

    def test_groups_that_carry_objects_themselves_are_left_alone(self):
        group = FakeGroup(0, 2)
        module = fake_c10d(group, FakeStore(), device="cpu")
        install(module, False, None)
        self.assertEqual(module.all_gather_object([None], 1), "PyTorch's all_gather_object")
        self.assertEqual(module.barrier(), "PyTorch's barrier")

    def test_groups_of_2_1_have_no_name(self):
        group = FakeGroup(0, 1)
        vars(group).pop("group_name", None)
        module = fake_c10d(group, FakeStore())
        module._world.pg_names = {group: "0"}
        install(module, False, None)
        found = [None]
        module.all_gather_object(found, "mine")
        self.assertEqual(found, ["mine"])

    def test_groups_of_before_2_5(self):
        group = FakeGroup(0, 2)
        module = fake_c10d(group, FakeStore(), device="cpu")
        module._get_pg_default_device = module._get_object_coll_device
        del module._get_object_coll_device
        install(module, False, None)
        self.assertEqual(module.all_gather_object([None], 1), "PyTorch's all_gather_object")


class OneRank(unittest.TestCase):
    def setUp(self):
        self.lines = []
        self.c10d = fake_c10d(FakeGroup(3, 8), FakeStore())
        install(self.c10d, True, self.lines.append)

    def test_others_say_the_same(self):
        found = [None] * 8
        self.c10d.all_gather_object(found, "own")
        self.assertEqual(found, ["own"] * 8)
        self.c10d.gather_object("mine", found, dst=3)
        self.assertEqual(found, ["mine"] * 8)
        self.assertEqual(self.lines, [])

    def test_what_it_sends_itself_stays(self):
        objects, own = ["a"], [None]
        self.c10d.broadcast_object_list(objects, src=3)
        self.c10d.scatter_object_list(own, list(range(8)), src=3)
        self.c10d.send_object_list(objects, dst=4)
        self.assertEqual((objects, own, self.lines), (["a"], [3], []))

    def test_what_others_alone_know_is_told(self):
        objects, own = ["a"], ["b"]
        self.c10d.broadcast_object_list(objects, src=0)
        self.c10d.scatter_object_list(own, None, src=0)
        self.c10d.recv_object_list(objects, src=0)
        self.assertEqual((objects, own), (["a"], ["b"]))
        self.assertEqual([line.split(":")[0] for line in self.lines],
                         ["broadcast_object_list", "scatter_object_list", "recv_object_list"])

    def test_deepspeed_disagrees_with_no_rank_that_is_not_there(self):
        def compare(numbers):
            raise RuntimeError("Detected a disagreement on list length" if numbers else "no room")

        module = types.SimpleNamespace(assert_ints_same_as_other_ranks=compare)
        broadcasts._let_agree(module)
        module.assert_ints_same_as_other_ranks([3, 4])
        with self.assertRaisesRegex(RuntimeError, "no room"):
            module.assert_ints_same_as_other_ranks([])


class WhichRank(unittest.TestCase):
    def setUp(self):
        self.before = dict(os.environ)
        for name in ("RANK", "WORLD_SIZE"):
            os.environ.pop(name, None)
        os.environ["LOCAL_RANK"] = "1"
        ranks._last[0] = None

    def tearDown(self):
        os.environ.clear()
        os.environ.update(self.before)
        ranks._last[0] = None

    def test_stays_known_when_the_group_is_gone(self):
        """Lightning's launcher leaves RANK unset, and destroys the group at the end."""
        distributed = types.SimpleNamespace(is_available=lambda: True, is_initialized=lambda: True,
                                            get_rank=lambda: 1, get_world_size=lambda: 2)
        torch = types.SimpleNamespace(distributed=distributed)
        self.assertEqual(ranks.current(torch), (1, 1, 2))
        distributed.is_initialized = lambda: False
        self.assertEqual(ranks.current(torch), (1, 1, 2))

    def test_without_a_group_as_the_environment_says(self):
        self.assertEqual(ranks.current(types.SimpleNamespace()), (0, 1, 1))


class TheWorld(unittest.TestCase):
    def test_gives_the_rank_its_environment(self):
        environment = {"PLIMSOLL_WORLD_SIZE": "64", "PLIMSOLL_RANK": "5", "MASTER_PORT": "1"}
        world.enter(environment)
        for name, value in {"RANK": "5", "WORLD_SIZE": "64", "LOCAL_RANK": "0",
                            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}.items():
            self.assertEqual(environment[name], value)

    def test_leaves_other_environments_alone(self):
        for given in ({}, {"PLIMSOLL_WORLD_SIZE": "x"}, {"PLIMSOLL_WORLD_SIZE": "0"},
                      {"PLIMSOLL_WORLD_SIZE": "2", "PLIMSOLL_RANK": "2"}):
            environment = dict(given)
            world.enter(environment)
            self.assertEqual(environment, given)

    def test_backends_that_look_for_others_are_faked(self):
        for asked, given in ((None, "cpu:fake,cuda:nccl"), ("nccl", "nccl"), ("NCCL", "nccl"),
                             ("gloo", "fake"), ("cpu:gloo,cuda:nccl", "cpu:fake,cuda:nccl"),
                             ("undefined", "cpu:fake,cuda:nccl")):
            self.assertEqual(world._over_stand_ins(asked), given)

    def test_a_store_in_which_all_others_have_come(self):
        distributed = types.SimpleNamespace(Store=object)
        store = world._make_store(distributed, 8)
        self.assertEqual(len(store.get("the id of rank 0")), world.ID_BYTES)
        self.assertEqual(store.add("barrier", 1), 8)
        store.wait(["what nobody sets"])
        store.set("key", "value")
        self.assertEqual(store.get("key"), b"value")
        self.assertTrue(store.check(["key"]))
        self.assertFalse(store.check(["another"]))
        self.assertTrue(store.delete_key("key"))
        self.assertEqual(store.num_keys(), 1)


class Rebinding(unittest.TestCase):
    def test_replaces_a_function_wherever_torch_has_it(self):
        first = types.SimpleNamespace(__name__="torch.distributed.first", f=lambda: 1)
        second = types.SimpleNamespace(__name__="torch.distributed.second", f=first.f)
        other = types.SimpleNamespace(__name__="program", f=first.f)
        modules = {module.__name__: module for module in (first, second, other)}
        sys.modules.update(modules)
        try:
            rebinding.rebind(first, "f", lambda original: lambda: original() + 1)
            rebinding.rebind(first, "not there", None)
        finally:
            for name in modules:
                del sys.modules[name]
        self.assertEqual((first.f(), second.f(), other.f()), (2, 2, 1))


if __name__ == "__main__":
    unittest.main(verbosity=0)
