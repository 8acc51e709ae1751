#!/usr/bin/env python3
"""test_frames.py - finished frames are cleared; what runs, and what waits, is not touched."""

import gc
import sys
import threading
import unittest

import session  # noqa: F401 (puts the package into sys.path)
from plimsoll import _frames


class Thing:
    """Says when it is gone."""

    alive = 0

    def __init__(self):
        Thing.alive += 1

    def __del__(self):
        Thing.alive -= 1


def fail(depth=0):
    held = Thing()
    if depth > 0:
        fail(depth - 1)
    raise ValueError("failed")


def caught(call):
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError("it did not fail")


class FramesTest(unittest.TestCase):
    def setUp(self):
        gc.collect()
        Thing.alive = 0

    def test_locals_of_a_failed_call_go(self):
        error = caught(lambda: fail(3))
        self.assertEqual(Thing.alive, 4)
        self.assertGreaterEqual(_frames.clear_finished(set()), 4)
        self.assertEqual(Thing.alive, 0)
        self.assertEqual(str(error), "failed")
        self.assertIsNotNone(error.__traceback__)

    def test_locals_that_were_looked_at_go_too(self):
        """As IPython's traceback does: before Python 3.13 that makes a copy, which stays."""
        error = caught(fail)
        trace = error.__traceback__
        while trace is not None:
            self.assertIsNotNone(dict(trace.tb_frame.f_locals))
            trace = trace.tb_next
        _frames.clear_finished(set())
        self.assertEqual(Thing.alive, 0)

    def test_a_running_function_keeps_its_locals(self):
        held = Thing()
        _frames.clear_finished(set())
        self.assertIsInstance(held, Thing)

    def test_another_threads_function_keeps_its_locals(self):
        started, done, found = threading.Event(), threading.Event(), []

        def work():
            held = Thing()
            started.set()
            done.wait(60)
            found.append(held)

        thread = threading.Thread(target=work)
        thread.start()
        started.wait(60)
        sys._current_frames()[thread.ident]  # a frame object is made of it
        _frames.clear_finished(set())
        done.set()
        thread.join()
        self.assertIsInstance(found[0], Thing)

    def test_a_suspended_generator_goes_on(self):
        def produce():
            held = Thing()
            for number in range(3):
                yield number, held

        generator = produce()
        next(generator)
        self.assertIsNotNone(generator.gi_frame)
        _frames.clear_finished(set())
        number, held = next(generator)
        self.assertEqual((number, type(held)), (1, Thing))

    def test_a_generator_that_waits_after_a_failure_goes_on(self):
        """Its frame stands in the traceback, and is alive."""

        def produce():
            held = Thing()
            try:
                fail()
            except ValueError as error:
                yield error
                yield held

        generator = produce()
        error = next(generator)
        self.assertEqual(Thing.alive, 2)
        _frames.clear_finished(set())
        self.assertEqual(Thing.alive, 1)
        self.assertIsInstance(next(generator), Thing)
        self.assertEqual(str(error), "failed")

    def test_a_suspended_coroutine_goes_on(self):
        class Pause:
            def __await__(self):
                yield

        async def work():
            held = Thing()
            await Pause()
            return held

        coroutine = work()
        coroutine.send(None)
        self.assertIsNotNone(coroutine.cr_frame)
        _frames.clear_finished(set())
        with self.assertRaises(StopIteration) as end:
            coroutine.send(None)
        self.assertIsInstance(end.exception.value, Thing)

    def test_spared_frames_stay(self):
        kept, other = caught(fail), caught(fail)
        _frames.clear_finished({id(frame) for frame in _frames.of_error(kept)})
        self.assertEqual(Thing.alive, 1)
        del other

    def test_a_chain_is_followed_once(self):
        def causes():
            try:
                fail()
            except ValueError as error:
                raise KeyError("x") from error

        error = caught(causes)
        self.assertEqual([type(one) for one in _frames.chain(error)], [KeyError, ValueError])
        error.__cause__.__cause__ = error  # a circle
        self.assertEqual(len(list(_frames.chain(error))), 2)
        names = [frame.f_code.co_name for frame in _frames.of_error(error)]
        self.assertIn("fail", names)
        self.assertIn("causes", names)

    @unittest.skipIf(sys.version_info < (3, 11), "exception groups came with Python 3.11")
    def test_parts_of_a_group_are_followed(self):
        group = ExceptionGroup("two", [caught(fail), caught(fail)])  # noqa: F821
        self.assertEqual(len(list(_frames.chain(group))), 3)
        _frames.clear_finished(set())
        self.assertEqual(Thing.alive, 0)


if __name__ == "__main__":
    unittest.main()
