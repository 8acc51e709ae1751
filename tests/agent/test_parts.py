#!/usr/bin/env python3
"""test_parts.py - the agent's parts, each without PyTorch."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import threading
import traceback
import types
import unittest
import unittest.mock
import warnings

AGENT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "src", "agent"))
sys.path.insert(0, AGENT)

from fake_torch import FakeTorch  # noqa: E402
from plimsoll_agent import endings, frameless, importing, kernels, operations, sources  # noqa: E402
from plimsoll_agent import settings, silence  # noqa: E402
from plimsoll_agent.host import SECONDS_MIN, Host  # noqa: E402
from plimsoll_agent.journal import Journal  # noqa: E402
from plimsoll_agent.ooms import Ooms  # noqa: E402
from plimsoll_agent.peaks import Peaks  # noqa: E402
from plimsoll_agent.phases import Phases  # noqa: E402
from plimsoll_agent.places import Places  # noqa: E402
from plimsoll_agent.steps import LOOKS_MAX, Steps  # noqa: E402


class Watched:
    """A fake torch with the agent's parts for phases and steps around it."""

    def __init__(self, steps=None, is_before_2_3=False):
        self.torch = FakeTorch(is_before_2_3)
        self.journal = Journal()
        self.peaks = Peaks(self.torch, self.journal)
        self.peaks.cover()
        self.phases = Phases(self.torch, self.peaks, self.journal)
        self.phases.watch_backward(self.torch, self.journal)
        self.stops = 0
        self.steps = Steps(self.torch.Optimizer, steps, self.phases)
        self.steps.watch(self.journal)
        self.steps.enough = self._enough
        self.peaks.begin()
        self.phases.begin(1)
        self.module = self.torch.nn.Module()

    def _enough(self):
        self.stops += 1

    def use(self, count):
        """A need of memory that comes and goes."""
        self.torch.allocate(count)
        self.torch.free(count)

    def optimizer(self, need):
        return self.torch.Optimizer(lambda: self.use(need))

    def device(self):
        self.phases.close()
        return self.phases.ledgers[0].as_result(self.steps.done)

    def phase_peaks(self):
        return {p["phase"]: p["peak_allocated_bytes"] for p in self.device()["phases"]}

    def step_peaks(self):
        return [(s["step"], s["peak_allocated_bytes"]) for s in self.device()["steps"]]


class PhasesTest(unittest.TestCase):
    def test_one_step(self):
        watched = Watched()
        watched.use(1)
        watched.module()
        watched.use(2)
        watched.torch.backward(lambda: watched.use(3))
        watched.optimizer(4).step()
        self.assertEqual(watched.phase_peaks(),
                         {"setup": 1, "forward": 2, "backward": 3, "optimizer": 4})
        device = watched.device()
        self.assertEqual((device["peak_step"], device["peak_phase"]), (1, "optimizer"))
        self.assertEqual(watched.journal.lines, [])

    def test_the_engine_of_before_2_3(self):
        watched = Watched(is_before_2_3=True)
        watched.module()
        watched.torch.backward(lambda: watched.use(3))
        watched.optimizer(4).step()
        self.assertEqual(watched.phase_peaks(),
                         {"setup": 0, "forward": 0, "backward": 3, "optimizer": 4})
        called = []
        engine = watched.torch.autograd.Variable._execution_engine
        engine.queue_callback(lambda: called.append(1))
        self.assertEqual(called, [1])

    def test_what_lies_between_backward_and_optimizer(self):
        watched = Watched()
        watched.module()
        watched.torch.backward(lambda: None)
        watched.use(7)  # the forward of a second batch
        watched.torch.backward(lambda: None)
        watched.use(9)  # clipping
        watched.optimizer(1).step()
        peaks = watched.phase_peaks()
        self.assertEqual((peaks["forward"], peaks["backward"], peaks["optimizer"]), (7, 0, 9))

    def test_backward_within_backward(self):
        watched = Watched()
        watched.module()

        def recompute():
            watched.module()
            watched.use(5)
            watched.torch.backward(lambda: watched.use(6))
            watched.use(8)

        watched.torch.backward(recompute)
        self.assertEqual(watched.phase_peaks()["backward"], 8)

    def test_a_backward_that_fails(self):
        watched = Watched()
        watched.module()

        def fail():
            raise RuntimeError("in the engine")

        with self.assertRaises(RuntimeError):
            watched.torch.backward(fail)
        watched.use(3)
        watched.torch.backward(lambda: None)
        self.assertEqual(watched.phase_peaks(), {"setup": 0, "forward": 3, "backward": 0})

    def test_closure(self):
        watched = Watched()

        def closure():
            watched.module()
            watched.use(5)
            watched.torch.backward(lambda: watched.use(6))

        optimizer = watched.optimizer(2)
        watched.use(1)
        optimizer.step(closure)
        self.assertEqual(watched.phase_peaks(),
                         {"setup": 1, "optimizer": 2, "forward": 5, "backward": 6})
        self.assertEqual(watched.steps.done, 1)

    def test_optimizers_in_turn(self):
        watched = Watched()
        first, second = watched.optimizer(1), watched.optimizer(2)
        for need in (10, 20):
            watched.module()
            watched.torch.backward(lambda need=need: watched.use(need))
            first.step()
            watched.torch.backward(lambda need=need: watched.use(need + 5))
            second.step()
        self.assertEqual(watched.step_peaks(), [(1, 15), (2, 25)])
        self.assertEqual(watched.device()["peak_step"], 2)

    def test_optimizers_within_backward(self):
        watched = Watched(steps=1)
        optimizers = [watched.optimizer(n) for n in (1, 2)]
        watched.module()
        watched.torch.backward(lambda: [optimizer.step() for optimizer in optimizers])
        self.assertEqual((watched.steps.done, watched.stops), (1, 1))
        self.assertEqual(watched.step_peaks(), [(1, 2)])

    def test_a_step_that_fails(self):
        watched = Watched()

        def fail():
            raise RuntimeError("no memory")

        optimizer = watched.torch.Optimizer(fail)
        watched.module()
        with self.assertRaises(RuntimeError):
            optimizer.step()
        watched.phases.oom()
        watched.module()
        watched.use(4)
        watched.torch.backward(lambda: None)
        optimizer.work = None
        optimizer.step()
        self.assertEqual(watched.phase_peaks()["forward"], 4)
        self.assertEqual(watched.step_peaks(), [(1, 4)])

    def test_many_steps(self):
        watched = Watched()
        optimizer = watched.optimizer(1)
        watched.module()
        for step in range(1, 1501):
            watched.use(5000 if step == 1300 else step)
            optimizer.step()
        device = watched.device()
        self.assertEqual((len(device["steps"]), device["peak_step"]), (1000, 1300))
        self.assertEqual(watched.steps.done, 1500)

    def test_the_tap_is_gone_after_the_first_call(self):
        watched = Watched()
        module = watched.torch.nn.Module
        plain = module.__call__
        self.assertEqual(watched.module(5), 5)
        self.assertIs(module.__dict__["__call__"], plain)


class StepsTest(unittest.TestCase):
    def test_waits_for_the_other_optimizer(self):
        watched = Watched(steps=1)
        first, second = watched.optimizer(1), watched.optimizer(1)
        first.step()
        self.assertEqual(watched.stops, 0)
        second.step()
        self.assertEqual(watched.stops, 1)

    def test_does_not_wait_for_one_that_never_steps(self):
        watched = Watched(steps=2)
        first, _idle = watched.optimizer(1), watched.optimizer(1)
        first.step()
        first.step()
        self.assertEqual(watched.stops, 0)
        first.step()
        self.assertGreaterEqual(watched.stops, 1)

    def test_new_optimizers_go_on_counting(self):
        watched = Watched()
        for _ in range(3):
            watched.optimizer(1).step()
        self.assertEqual(watched.steps.done, 3)


class ByHandTest(unittest.TestCase):
    """Programs that change their weights without an optimizer."""

    def pass_over(self, watched, need=1):
        watched.module()
        watched.torch.backward(lambda: watched.use(need))

    def test_a_step_ends_with_the_next_forward(self):
        watched = Watched(steps=2)
        for step in (1, 2):
            self.pass_over(watched)
            watched.use(step + 6)  # the update
            self.assertEqual((watched.steps.done, watched.stops), (step - 1, 0))
        watched.module()
        self.assertEqual((watched.steps.done, watched.stops), (2, 1))
        self.assertEqual(watched.step_peaks(), [(1, 7), (2, 8)])
        self.assertEqual(watched.phase_peaks()["optimizer"], 8)

    def test_or_with_the_next_backward_or_the_end(self):
        watched = Watched(steps=9)
        for _ in range(3):
            watched.torch.backward(lambda: None)
        watched.steps.finish(watched.journal)
        self.assertEqual((watched.steps.done, watched.journal.lines), (3, []))

    def test_accumulation_before_an_optimizers_first_step_counts_nothing(self):
        watched = Watched(steps=2)
        optimizer = watched.optimizer(1)
        for _ in range(LOOKS_MAX + 2):
            self.pass_over(watched)
        optimizer.step()
        self.pass_over(watched)
        self.pass_over(watched)
        watched.steps.finish(watched.journal)
        self.assertEqual((watched.steps.done, watched.stops), (1, 0))

    def test_without_a_limit_nothing_is_counted(self):
        watched = Watched()
        for _ in range(3):
            self.pass_over(watched)
        watched.steps.finish(watched.journal)
        self.assertEqual((watched.steps.done, watched.journal.lines), (0, []))

    def test_a_limit_without_any_step_is_noted(self):
        watched = Watched(steps=2)
        watched.module()
        watched.steps.finish(watched.journal)
        self.assertEqual(len(watched.journal.lines), 1)
        self.assertIn("no step", watched.journal.lines[0])


class FramelessTest(unittest.TestCase):
    def test_no_frame_of_ours_while_it_runs_or_fails(self):
        seen = []

        def work(fails):
            seen.append(sys._getframe(1).f_code.co_name)
            if fails:
                raise KeyError("x")
            return 7

        watched = frameless.Watched(work, lambda: seen.append("began"),
                                    lambda: seen.append("ended"))
        self.assertEqual(watched(False), 7)
        name = sys._getframe().f_code.co_name
        self.assertEqual(seen, ["began", name, "ended"])
        try:
            watched(fails=True)
        except KeyError as error:
            self.assertEqual(seen[3:], ["began", name, "ended"])
            names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
            self.assertEqual(names, [name, "work"])
        self.assertEqual(watched.__name__, "work")


class KernelsTest(unittest.TestCase):
    def test_what_runs_on_what(self):
        for arch, yes, no in [
            ("sm_80", [(8, 0), (8, 6), (8, 9)], [(7, 5), (9, 0)]),
            ("sm_86", [(8, 6), (8, 9)], [(8, 0)]),
            ("sm_90a", [(9, 0)], [(8, 9), (9, 1), (10, 0)]),
            ("sm_100f", [(10, 0), (10, 3)], [(11, 0), (9, 0)]),
            ("sm_120", [(12, 0), (12, 1)], [(10, 0)]),
            ("compute_90", [(9, 0), (10, 0), (12, 1)], [(8, 9)]),
            ("compute_90a", [(9, 0)], [(10, 0)]),
            ("gfx90a", [(7, 0)], []),
        ]:
            for capability in yes:
                self.assertTrue(kernels.runs_on(arch, capability), (arch, capability))
            for capability in no:
                self.assertFalse(kernels.runs_on(arch, capability), (arch, capability))

    def torch(self, archs, major, minor, cuda="13.0"):
        about = types.SimpleNamespace(name="GPU X", major=major, minor=minor)
        return types.SimpleNamespace(
            __version__="2.11.0", version=types.SimpleNamespace(cuda=cuda),
            _C=types.SimpleNamespace(_cuda_getArchFlags=lambda: archs),
            cuda=types.SimpleNamespace(device_count=lambda: 1,
                                       get_device_properties=lambda _: about))

    def test_why_there_are_none(self):
        text = kernels.why_none(self.torch("sm_75 sm_80", 7, 0))
        for part in ("GPU X", "7.0", "sm_75 sm_80", "cu126 or cu128"):
            self.assertIn(part, text)
        self.assertIn("from source", kernels.why_none(self.torch("sm_75", 3, 5)))
        self.assertIsNone(kernels.why_none(self.torch("sm_75", 7, 5)))
        self.assertIsNone(kernels.why_none(self.torch("", 7, 0)))
        self.assertIsNone(kernels.why_none(self.torch("sm_75", 7, 0, cuda=None)))

    def test_why_none_was_used(self):
        self.assertIn("without CUDA", kernels.why_unused(self.torch("", 7, 0, cuda=None)))
        self.assertIn("--device cuda", kernels.why_unused(self.torch("sm_75", 7, 5)))


class PeaksTest(unittest.TestCase):
    def test_the_program_sees_its_own(self):
        watched = Watched()
        core, torch = watched.torch._C, watched.torch
        torch.allocate(100)
        torch.free(60)
        watched.peaks.take()
        stats = core._cuda_memoryStats(0)
        self.assertEqual(stats["allocated_bytes"]["all"], {"current": 40, "peak": 100})
        self.assertEqual(stats["oversize_allocations"], {"current": 40, "peak": 100})
        core._cuda_resetPeakMemoryStats(0)
        self.assertEqual(core._cuda_memoryStats(0)["active_bytes"]["small_pool"]["peak"], 40)
        torch.allocate(10)
        self.assertEqual(core._cuda_memoryStats(0)["allocated_bytes"]["all"]["peak"], 50)

    def test_private_pools_of_2_15(self):
        watched = Watched()
        watched.torch.device.private_pools = 2
        watched.module()
        watched.torch.backward(lambda: watched.use(100))
        watched.optimizer(4).step()
        watched.torch.device.private_pools = 1  # one was freed
        pools = watched.torch._C._cuda_memoryStats(0)["reserved_bytes_by_private_pools"]
        self.assertEqual(pools, {(1, 0): {pool: {"current": 0, "peak": 100}
                                          for pool in ("all", "small_pool")}})
        self.assertEqual(watched.phase_peaks(),
                         {"setup": 0, "forward": 0, "backward": 100, "optimizer": 4})
        self.assertEqual(watched.journal.lines, [])

    def test_the_programs_reset_hides_nothing_from_us(self):
        watched = Watched()
        watched.use(100)
        watched.torch._C._cuda_resetPeakMemoryStats(0)
        (reading,) = watched.peaks.glance()
        self.assertEqual(reading.peaks["allocated_bytes"], 100)
        (reading,) = watched.peaks.take()
        self.assertEqual(reading.peaks["allocated_bytes"], 100)
        (reading,) = watched.peaks.take()
        self.assertEqual(reading.peaks["allocated_bytes"], 0)

    def test_counts_go_on(self):
        watched = Watched()
        watched.torch.device.ooms = 2
        watched.torch._C._cuda_resetAccumulatedMemoryStats(0)
        watched.torch.device.ooms = 1
        self.assertEqual(watched.peaks.counts(0)["num_ooms"], 3)


class SilenceTest(unittest.TestCase):
    def setUp(self):
        self.before = warnings.filters, warnings._showwarnmsg
        self.heard = []

        def hear(text):
            self.heard.append(text)
            return True

        silence.listen("plim test", hear)

    def tearDown(self):
        warnings.filters, warnings._showwarnmsg = self.before

    def warn(self):
        warnings.warn("plim test warning", stacklevel=1)

    def test_each_is_heard_and_none_is_shown(self):
        with contextlib.redirect_stderr(io.StringIO()) as screen:
            for _ in range(3):
                self.warn()
        self.assertEqual((len(self.heard), screen.getvalue()), (3, ""))

    def test_whatever_the_program_does(self):
        def own_filter():
            warnings.filters.insert(0, ("error", None, Warning, None, 0))

        changes = [lambda: warnings.simplefilter("error"), warnings.resetwarnings, own_filter,
                   lambda: warnings.filters.pop(0), lambda: warnings.filters.clear(),
                   lambda: warnings.filters.__setitem__(0, ("error", None, Warning, None, 0)),
                   lambda: warnings.filters.sort(key=str), lambda: warnings.filters.reverse()]
        for change in changes:
            with warnings.catch_warnings():
                change()
                self.warn()
        self.assertEqual(len(self.heard), len(changes))

    def test_recorded_ones_are_not_ours(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.warn()
            warnings.warn("another")
        self.assertEqual([str(w.message) for w in caught], ["another"])
        self.assertEqual(len(self.heard), 1)

    def test_a_list_of_the_programs_own(self):
        warnings.filters = [("always", None, Warning, None, 0)]
        with contextlib.redirect_stderr(io.StringIO()) as screen:
            self.warn()
        self.assertEqual((len(self.heard), screen.getvalue()), (1, ""))


class ImportingTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        sys.path.insert(0, self.folder.name)
        self.finders = list(sys.meta_path)
        self.told = []
        importing.when_imported("plim_thing", lambda module, seconds: self.told.append(module))

    def tearDown(self):
        sys.path.remove(self.folder.name)
        sys.meta_path[:] = self.finders
        sys.modules.pop("plim_thing", None)
        sys.path_importer_cache.pop(self.folder.name, None)

    def write(self, text):
        with open(os.path.join(self.folder.name, "plim_thing.py"), "w", encoding="utf-8") as file:
            file.write(text)
        sys.path_importer_cache.pop(self.folder.name, None)

    def test_tells_when_it_is_there(self):
        self.write("import json\nvalue = 1\n")
        self.assertEqual(self.told, [])
        import plim_thing

        self.assertEqual(self.told, [plim_thing])
        self.assertEqual(plim_thing.value, 1)
        self.assertEqual(type(plim_thing.__loader__).__name__, "SourceFileLoader")
        self.assertIs(plim_thing.__spec__.loader, plim_thing.__loader__)
        self.assertEqual(sys.meta_path, self.finders)

    def test_a_failed_import_may_be_tried_again(self):
        self.write("raise ValueError('no')\n")
        with self.assertRaises(ValueError):
            import plim_thing
        self.write("value = 22\n")
        import plim_thing

        self.assertEqual((plim_thing.value, len(self.told)), (22, 1))

    def test_absent(self):
        with self.assertRaises(ModuleNotFoundError):
            import plim_thing  # noqa: F401
        self.assertEqual(self.told, [])


class OperationsTest(unittest.TestCase):
    """What a line does, seen from a function that it calls."""

    class Value:
        SOURCES = sources.Sources()

        def __init__(self, seen):
            self.seen = seen

        def look(self, *args, **kwargs):
            self.seen.append(operations.of(sys._getframe(1), self.SOURCES).name)
            return True

        item = nonzero = to = cpu = tolist = __getitem__ = __bool__ = __gt__ = look

        def __setitem__(self, key, value):
            self.seen.append(operations.of(sys._getframe(1), self.SOURCES).name)

        def __float__(self):
            self.seen.append(operations.of(sys._getframe(1), self.SOURCES).name)
            return 1.0

    def test_names(self):
        seen = []
        x = self.Value(seen)
        x.item()
        print(end="", sep=str(x.item()))
        x.nonzero()
        x.cpu()
        x.to("cpu")
        _ = x[None]
        float(x)
        self.assertEqual(seen, ["item", "item", "nonzero", "copy to host",
                                "copy to host", "boolean mask", "item"])

    @unittest.skipIf(sys.version_info < (3, 11), "older Pythons know no columns")
    def test_names_that_need_columns(self):
        seen = []
        x = self.Value(seen)
        if x:
            pass
        _ = not x
        x[None] = 3
        _ = [x.tolist(), x.item(
        )]
        self.assertEqual(seen, ["truth value", "truth value", "boolean mask", "copy to host",
                                "item"])

    def test_no_source(self):
        seen = []
        exec("x.item()", {"x": self.Value(seen)})
        self.assertEqual(seen, ["value"])


class HostTest(unittest.TestCase):
    def setUp(self):
        self.host = Host(types.SimpleNamespace(done=0), Journal())

    def build(self, seconds, on_terminal):
        """Looks so often while weights are initialised; returns what is written meanwhile."""
        written = []

        def reset_parameters():
            for _ in range(seconds):
                self.host.look()

        with unittest.mock.patch("os.isatty", lambda descriptor: on_terminal), \
                unittest.mock.patch("os.write", lambda _, data: written.append(data.decode())), \
                unittest.mock.patch.dict(os.environ, LOCAL_RANK="0"):
            reset_parameters()
        return written

    def test_says_once_that_the_model_is_built_on_the_cpu(self):
        written = self.build(3 * SECONDS_MIN, on_terminal=True)
        self.assertEqual(len(written), 1)
        self.assertIn("is being built on the CPU", written[0])
        self.assertIn(f"took {3 * SECONDS_MIN} s", self.host.as_lines()[0])

    def test_prints_nothing_where_there_is_no_terminal(self):
        self.assertEqual(self.build(SECONDS_MIN, on_terminal=False), [])
        self.assertEqual(len(self.host.as_lines()), 1)

    def test_short_ones_are_not_worth_a_word(self):
        self.assertEqual(self.build(SECONDS_MIN - 1, on_terminal=True), [])
        self.assertEqual(self.host.as_lines(), [])

    def test_other_work_is_not_building(self):
        for _ in range(2 * SECONDS_MIN):
            self.host.look()
        self.assertEqual(self.host.as_lines(), [])


class SmallPartsTest(unittest.TestCase):
    def test_settings(self):
        read = settings.from_environment
        plain = read("/run", {})
        self.assertEqual((plain.steps, plain.history, plain.snapshot), (None, 0, False))
        full = read("/run", {"PLIMSOLL_STEPS": "3", "PLIMSOLL_HISTORY": "100",
                             "PLIMSOLL_SNAPSHOT": "1"})
        self.assertEqual((full.steps, full.history, full.snapshot), (3, 100, True))
        self.assertEqual(full.results, os.path.join("/run", "results"))
        odd = read("/run", {"PLIMSOLL_STEPS": "x", "PLIMSOLL_HISTORY": "all"})
        self.assertEqual((odd.steps, odd.history), (None, sys.maxsize))

    def test_journal_swallows(self):
        journal = Journal()

        @journal.guard("divide")
        def fail(by):
            return 1 // by

        self.assertEqual((fail(1), fail(0), fail(0)), (1, None, None))
        self.assertEqual(len(journal.lines), 1)
        self.assertIn("could not divide: ZeroDivisionError", journal.lines[0])

    def test_journal_lets_interrupts_through(self):
        def interrupt():
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            Journal().attempt("go on", interrupt)

    def test_endings(self):
        self.assertEqual([endings.status_of(code) for code in (None, 3, 256 + 4, -1, "text")],
                         [0, 3, 4, 255, 1])
        self.assertEqual(endings.describe(KeyError("x")), "KeyError: 'x'")
        self.assertEqual(endings.describe(subprocess.SubprocessError("a\nb")),
                         "subprocess.SubprocessError: a")
        self.assertEqual(endings.describe(KeyboardInterrupt()), "KeyboardInterrupt")

    def test_ooms_in_chains(self):
        ooms = Ooms(None, None, None, None)
        first = RuntimeError("CUDA out of memory. Tried")
        second = ValueError("a wrapper")
        second.__context__ = first
        self.assertTrue(ooms.is_one_in(first))
        self.assertTrue(ooms.is_one_in(second))
        first.__context__ = second  # a circle
        self.assertFalse(ooms.is_one_in(KeyError("out of memory")))

    def test_places(self):
        places = Places(os.path.join(os.path.dirname(unittest.__file__), "__init__.py"))
        frame = sys._getframe()
        stack = places.stack(frame)
        self.assertTrue(stack[0].endswith(" test_places"))
        self.assertIs(places.users_frame(frame), frame)
        self.assertTrue(places.is_torchs(frame.f_back.f_code))

    def test_guards_are_for_all_threads(self):
        watched = Watched()
        watched.module()
        threads = [threading.Thread(target=watched.torch.backward, args=(lambda: None,))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertFalse(watched.phases.is_in_backward())
        self.assertEqual(watched.journal.lines, [])


if __name__ == "__main__":
    unittest.main()
