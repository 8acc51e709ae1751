#!/usr/bin/env python3
"""test_recover.py - what recover() shows, what it drops, and what it never touches."""

import builtins
import contextlib
import gc
import io
import sys
import types
import unittest

from session import MIB, FakeShell, FakeTorch, document, holder

import plimsoll
from plimsoll import _agent, _after, _session


class SessionTest(unittest.TestCase):
    """A session whose torch, shell and search are fakes."""

    def setUp(self):
        gc.collect()
        _agent.load()
        self.torch = sys.modules["torch"] = FakeTorch()
        self.addCleanup(sys.modules.pop, "torch", None)
        self.shell = FakeShell()
        _session._shell[:] = [self.shell]
        self.addCleanup(_session._shell.clear)
        self.document = document(0)
        search = types.ModuleType("plimsoll_agent.holders")
        search.find = lambda torch, seconds, moment="dump", extra_roots=(): self.document
        import plimsoll_agent

        before = getattr(plimsoll_agent, "holders", None)
        modules = sys.modules.get("plimsoll_agent.holders")
        sys.modules["plimsoll_agent.holders"] = plimsoll_agent.holders = search
        self.addCleanup(setattr, plimsoll_agent, "holders", before)
        self.addCleanup(sys.modules.pop, "plimsoll_agent.holders")
        if modules is not None:
            self.addCleanup(sys.modules.__setitem__, "plimsoll_agent.holders", modules)
        self.addCleanup(self.forget)

    def forget(self):
        for name in ("last_exc", "last_value", "last_type", "last_traceback"):
            if hasattr(sys, name):
                delattr(sys, name)

    def train(self):
        """A function that dies with what it has made."""
        losses = [self.torch.tensor(10) for _ in range(5)]
        self.torch.fail()
        return losses

    def out_of_memory(self):
        """A cell that dies: 50 MiB of its function's stay."""
        self.shell.run(self.train)
        self.document = document(
            self.torch.allocated, holder(0, 50 * MIB, "local losses", kind="traceback"))

    def recover(self, *names, **words):
        """(what it returns, what it prints)"""
        page = io.StringIO()
        with contextlib.redirect_stdout(page):
            recovery = plimsoll.recover(*names, **words)
        return recovery, page.getvalue()


class RecoverTest(SessionTest):
    def test_a_failed_cell_gives_all_back(self):
        model = self.torch.tensor(3)
        self.out_of_memory()
        self.assertEqual(self.torch.allocated, 53 * MIB)
        recovery, page = self.recover(confirm=True)
        self.assertEqual(self.torch.allocated, 3 * MIB)
        self.assertEqual(self.torch.reserved, 3 * MIB)
        self.assertEqual(recovery.recovered, 50 * MIB)
        self.assertEqual(recovery.dropped[0], ("tracebacks", 50 * MIB))
        self.assertEqual(recovery.dropped[-1], ("cache", 50 * MIB))
        self.assertIn("GPU memory: 53.0 MiB allocated, 53.0 MiB reserved", page)
        self.assertIn("tracebacks     50.0 MiB  locals of functions that have ended", page)
        self.assertIn("GPU memory: 3.00 MiB allocated, 3.00 MiB reserved; 50.0 MiB of tensors "
                      "came back", page)
        self.assertEqual(model.count, 3 * MIB)

    def test_nothing_goes_unconfirmed(self):
        self.out_of_memory()
        recovery, page = self.recover()
        self.assertEqual((self.torch.allocated, recovery.dropped), (50 * MIB, []))
        self.assertIn("Nothing was dropped: plimsoll.recover(confirm=True) drops these.", page)
        self.assertEqual(recovery.shown[0], ("tracebacks", 50 * MIB))
        _, page = self.recover(confirm=False)
        self.assertEqual(self.torch.allocated, 50 * MIB)
        self.assertNotIn("Nothing was dropped", page)
        self.assertIsNotNone(sys.last_value)

    def test_a_person_is_asked(self):
        self.shell.kernel = types.SimpleNamespace(_allow_stdin=True)
        questions = []
        for answer, left in (("", 50), ("no", 50), ("y", 0)):
            self.out_of_memory()
            before = builtins.input
            builtins.input = lambda question, answer=answer: questions.append(question) or answer
            try:
                self.recover()
            finally:
                builtins.input = before
            self.assertEqual(self.torch.allocated, left * MIB)
            self.recover(confirm=True)
        self.assertEqual(questions, ["Drop these? [y/N] "] * 3)

    def test_names_confirm_and_choose(self):
        self.shell.run(lambda: self.torch.tensor(7))
        self.out_of_memory()
        recovery, page = self.recover("tracebacks")
        self.assertEqual([name for name, _ in recovery.dropped], ["tracebacks", "garbage"])
        self.assertEqual(self.torch.allocated, 7 * MIB)
        self.assertNotIn("Can be dropped", page)
        recovery, _ = self.recover("cache")
        self.assertEqual(recovery.dropped, [("cache", 50 * MIB)])

    def test_outputs_go_from_everywhere(self):
        number = self.shell.run(lambda: self.torch.tensor(7))
        self.document = document(7 * MIB, holder(0, 7 * MIB, "output Out", f"[{number}]"))
        recovery, page = self.recover()
        self.assertIn(f"Out[{number}]         7.00 MiB  output of a cell, Tensor", page)
        self.assertEqual(recovery.shown[0], (f"Out[{number}]", 7 * MIB))
        recovery, _ = self.recover("outputs")
        self.assertEqual(self.torch.allocated, 0)
        self.assertNotIn(number, self.shell.user_ns["_oh"])
        self.assertNotIn(f"_{number}", self.shell.user_ns)
        self.assertEqual(self.shell.user_ns["_"], "")

    def test_one_output_leaves_the_others(self):
        first = self.shell.run(lambda: self.torch.tensor(7))
        second = self.shell.run(lambda: self.torch.tensor(5))
        recovery, _ = self.recover(f"Out[{first}]")
        self.assertEqual(recovery.dropped[0], (f"Out[{first}]", 7 * MIB))
        self.assertEqual(list(self.shell.user_ns["_oh"]), [second])
        self.assertEqual(self.shell.user_ns["_"].count, 5 * MIB)

    def test_an_output_that_a_variable_holds_too_is_said_to_be_shared(self):
        number = self.shell.run(lambda: self.torch.tensor(7))
        self.shell.user_ns["batch"] = self.shell.user_ns["_"]
        self.document = document(
            7 * MIB, holder(0, 7 * MIB, "output Out", f"[{number}]", also=[1]),
            holder(1, 0, "global batch"))
        _, page = self.recover()
        self.assertIn("output of a cell, Tensor; at most, others hold some of it", page)
        recovery, page = self.recover(confirm=True)
        self.assertEqual(recovery.recovered, 0)
        self.assertEqual(self.torch.allocated, 7 * MIB)
        self.assertIn("Nothing came back.", page)

    def test_a_variable_stays_unless_it_is_named(self):
        self.shell.user_ns["losses"] = [self.torch.tensor(9)]
        self.document = document(9 * MIB, holder(0, 9 * MIB, "global losses"))
        _, page = self.recover(confirm=True)
        self.assertIn("In use by variables, dropped only if named, as in "
                      "plimsoll.recover('losses')", page)
        self.assertEqual(self.torch.allocated, 9 * MIB)
        recovery, _ = self.recover("losses")
        self.assertEqual(recovery.dropped[0], ("losses", 9 * MIB))
        self.assertNotIn("losses", self.shell.user_ns)
        self.assertEqual(self.torch.allocated, 0)

    def test_an_exception_that_a_variable_holds_keeps_its_frames(self):
        try:
            self.train()
        except RuntimeError as error:
            self.shell.user_ns["failure"] = error
        self.recover(confirm=True)
        self.assertEqual(self.torch.allocated, 50 * MIB)
        self.recover("failure")
        self.assertEqual(self.torch.allocated, 0)

    def test_an_exception_that_is_being_handled_does_not(self):
        """A script that goes on: `except torch.OutOfMemoryError as error: plimsoll.recover(…)`."""
        try:
            self.train()
        except RuntimeError as error:
            self.shell.user_ns["error"] = error
            self.recover(confirm=True)
        self.assertEqual(self.torch.allocated, 0)

    def test_causes_and_cycles_go_too(self):
        def chained():
            held = {"tensors": [self.torch.tensor(2)]}
            held["self"] = held
            try:
                self.train()
            except RuntimeError as error:
                raise KeyError("retry") from error

        self.shell.run(chained)
        self.assertEqual(self.torch.allocated, 52 * MIB)
        recovery, _ = self.recover(confirm=True)
        self.assertEqual(self.torch.allocated, 0)
        self.assertEqual(recovery.recovered, 52 * MIB)

    def test_a_debugger_lets_go(self):
        self.out_of_memory()
        self.shell.InteractiveTB.pdb = types.SimpleNamespace(
            curframe=sys.last_value.__traceback__.tb_next.tb_frame)
        self.recover(confirm=True)
        self.assertEqual(self.torch.allocated, 0)
        self.assertIsNone(self.shell.InteractiveTB.pdb)

    def test_wrong_names_are_refused(self):
        for name in ("nothing", "Out[99]", "Out"):
            with self.assertRaises(ValueError) as failure:
                plimsoll.recover(name)
            self.assertIn(f"nothing is called {name!r}", str(failure.exception))

    def test_a_variable_that_is_called_as_a_group_is_left_to_del(self):
        self.shell.user_ns["cache"] = [self.torch.tensor(4)]
        self.document = document(4 * MIB, holder(0, 4 * MIB, "global cache"))
        _, page = self.recover("garbage", confirm=False)
        self.assertIn("`del cache` drops it", page)
        self.recover("cache")
        self.assertEqual(self.torch.allocated, 4 * MIB)

    def test_ipythons_own_names_are_no_variables(self):
        self.shell.user_ns["get_ipython"] = self.shell.user_ns_hidden["get_ipython"] = self
        self.document = document(MIB, holder(0, MIB, "global get_ipython"))
        _, page = self.recover(confirm=False)
        self.assertNotIn("get_ipython", page)
        with self.assertRaises(ValueError):
            plimsoll.recover("get_ipython")

    def test_nothing_to_drop(self):
        recovery, page = self.recover()
        self.assertIn("Nothing is known that can be dropped.", page)
        self.assertEqual((recovery.recovered, repr(recovery)), (0, "<recovered 0 B>"))

    def test_cuda_that_is_not_in_use(self):
        self.torch.is_used = False
        recovery, page = self.recover(confirm=True)
        self.assertEqual(page, "CUDA is not in use: there is nothing to recover.\n")
        self.assertEqual((recovery.recovered, recovery.dropped), (0, []))
        self.assertEqual(repr(plimsoll.holders()), "CUDA is not in use: no GPU memory is held.")

    def test_a_search_that_was_cut_short_says_so(self):
        self.document = document(MIB, is_complete=False, why_incomplete="time was up")
        _, page = self.recover()
        self.assertIn("The search is incomplete: time was up.", page)


class PlainPromptTest(SessionTest):
    """Python's own prompt, without IPython."""

    def setUp(self):
        super().setUp()
        _session._shell.clear()
        self.assertIsNone(_session.shell())

    def test_the_last_failure_and_the_last_value(self):
        try:
            self.train()
        except RuntimeError as error:
            sys.last_value = error
        builtins._ = self.torch.tensor(4)
        self.addCleanup(builtins.__dict__.pop, "_", None)
        self.document = document(54 * MIB, holder(0, 4 * MIB, "local _"))
        self.recover("tracebacks", "_")
        self.assertEqual(self.torch.allocated, 0)
        self.assertFalse(hasattr(builtins, "_"))
        self.assertFalse(hasattr(sys, "last_value"))


    def test_the_prompt_says_who_holds_it(self):
        shown, page = [], io.StringIO()
        self.addCleanup(setattr, sys, "excepthook", sys.excepthook)
        self.addCleanup(delattr, sys, "ps1")
        sys.ps1 = ">>> "
        sys.excepthook = lambda *words: shown.append(words[0])
        _session.watch()
        self.document = document(50 * MIB)
        with contextlib.redirect_stderr(page):
            for kind in (KeyError, self.torch.OutOfMemoryError):
                try:
                    raise kind("x")
                except Exception:
                    sys.excepthook(*sys.exc_info())
        self.assertEqual(shown, [KeyError, self.torch.OutOfMemoryError])
        self.assertEqual(page.getvalue().splitlines()[0], "GPU 0: 50.0 MiB allocated, held by")
        self.assertEqual(len(page.getvalue().splitlines()), 3)

    def test_a_program_that_no_person_types_is_left_alone(self):
        before = sys.excepthook
        _session.watch()
        self.assertIs(sys.excepthook, before)


class ExtensionTest(SessionTest):
    def setUp(self):
        super().setUp()
        _session._shell.clear()
        self.watch = _session.Watch(self.shell)
        self.watch.install()
        _session._shell[:] = [self.shell]

    def page_of(self, function):
        page = io.StringIO()
        with contextlib.redirect_stdout(page):
            self.shell.run(function)
        return page.getvalue()

    def test_who_holds_what_stands_under_the_traceback(self):
        self.document = document(50 * MIB, holder(0, 50 * MIB, "local losses", kind="traceback"))
        page = self.page_of(self.train)
        self.assertEqual(page.splitlines(), [
            "GPU 0: 50.0 MiB allocated, held by",
            "  50.0 MiB  list `local losses`, 2 tensors",
            "plimsoll.recover() shows what can be dropped, and drops it."])

    def test_other_cells_say_nothing(self):
        def wrong():
            raise ValueError("x")

        self.assertEqual(self.page_of(lambda: 3), "")
        self.assertEqual(self.page_of(wrong), "")

    def test_a_failure_that_a_magic_shows_is_seen(self):
        def timed():
            try:
                self.train()
            except RuntimeError as error:
                sys.last_value = error

        self.assertIn("held by", self.page_of(timed) + " held by")
        self.document = document(50 * MIB)
        self.assertIn("has no known holder", self.page_of(timed))

    def test_a_failure_that_a_cell_handles_is_none(self):
        def handled():
            with contextlib.suppress(RuntimeError):
                self.train()

        self.assertEqual(self.page_of(handled), "")

    def test_a_failure_of_ours_is_one_line(self):
        def broken(*_words, **_more):
            raise KeyError("x")

        sys.modules["plimsoll_agent.holders"].find = broken
        self.assertEqual(self.page_of(self.train),
                         "plimsoll: cannot say who holds the memory: KeyError: 'x'\n")

    def test_unloading_says_no_more(self):
        self.watch.remove()
        self.assertEqual(self.page_of(self.train), "")
        self.assertEqual(self.shell.callbacks, {"pre_run_cell": [], "post_run_cell": []})


class WordsTest(SessionTest):
    def test_holders_are_a_table(self):
        self.document = document(
            9 * MIB, *(holder(one, MIB, f"global v{one}", tensors=1) for one in range(3)))
        lines = plimsoll.holders().lines(2)
        self.assertEqual(lines, [
            "GPU 0: 9.00 MiB allocated, held by",
            "  1.00 MiB  list `global v0`, 1 tensor",
            "  1.00 MiB  list `global v1`, 1 tensor",
            "  1.00 MiB  1 other",
            "  6.00 MiB  has no known holder"])

    def test_cells_are_named_as_ipython_names_them(self):
        self.shell.compile = types.SimpleNamespace(_filename_map={"/tmp/x/914.py": 2})
        note = ", in the traceback of the last exception (sys.last_value)"
        text = "list `losses` in train ({}:9)" + note
        for file, place in (("/tmp/x/914.py", "In[2], line 9"), ("/a/915.py", "915.py:9")):
            one = holder(0, MIB, "local losses", file=file, line=9, function="train",
                         text=text.format(file.rsplit("/", 1)[1]))
            self.document = document(MIB, one)
            self.assertIn(f"  1.00 MiB  list `losses` in train ({place}), in the last traceback, "
                          "2 tensors", plimsoll.holders().lines(2))

    def test_what_no_tensor_has_counts_none(self):
        self.document = document(MIB, holder(0, MIB, "x", text="cuBLAS's workspaces", tensors=0))
        self.assertIn("  1.00 MiB  cuBLAS's workspaces", plimsoll.holders().lines(2))

    def test_each_device_has_its_own(self):
        self.document = document(2 * MIB, holder(0, 2 * MIB, "global a"),
                                 holder(1, MIB, "global b", device=1))
        self.document["devices"][0]["held_bytes"] = 2 * MIB
        self.document["devices"].append({"device": 1, "live_bytes": MIB, "held_bytes": MIB,
                                         "graph_bytes": None, "engine_bytes": 0})
        self.assertEqual(repr(plimsoll.holders()).splitlines(), [
            "GPU 0: 2.00 MiB allocated, held by", "  2.00 MiB  list `global a`, 2 tensors",
            "GPU 1: 1.00 MiB allocated, held by", "  1.00 MiB  list `global b`, 2 tensors"])

    def test_which_errors_are_for_memory(self):
        error = self.torch.OutOfMemoryError("x")
        self.assertTrue(_after.is_out_of_memory(error))
        outer = KeyError("x")
        outer.__cause__ = error
        self.assertTrue(_after.is_out_of_memory(outer))
        self.assertTrue(_after.is_out_of_memory(RuntimeError("CUDA out of memory. Tried …")))
        self.assertFalse(_after.is_out_of_memory(RuntimeError("a size does not match")))
        self.assertFalse(_after.is_out_of_memory(None))

    def test_a_late_start_says_what_it_lacks(self):
        held = self.torch.tensor(3)
        self.assertEqual(_after.late_words(), "CUDA was in use already: the recording begins now, "
                         "and the 3.00 MiB allocated before have no stack")
        self.torch.is_used = False
        self.assertIsNone(_after.late_words())
        del held


if __name__ == "__main__":
    unittest.main()
