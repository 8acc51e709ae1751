#!/usr/bin/env python3
"""test_alone.py - a list of all objects harms no tuple that another thread builds."""

import gc
import os
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "src", "agent"))
from plimsoll_agent.alone import alone  # noqa: E402

LOOKS = 5


class Alone(unittest.TestCase):
    def test_tuples_of_generators(self):
        kept = [[index] for index in range(100_000)]  # to look through takes a while
        failed, is_over = [], threading.Event()

        def build():
            while not is_over.is_set():
                try:
                    tuple(number for number in range(2000))
                except SystemError as error:
                    failed.append(error)

        threads = [threading.Thread(target=build) for _ in range(2)]
        for thread in threads:
            thread.start()
        before = sys.getswitchinterval()
        for _ in range(LOOKS):
            with alone():
                found = [one for one in gc.get_objects() if type(one) is threading.Thread]
            self.assertGreaterEqual(len(found), 2)
        is_over.set()
        for thread in threads:
            thread.join()
        self.assertEqual((failed, sys.getswitchinterval(), len(kept)), ([], before, 100_000))

    def test_an_exception_goes_through(self):
        before = sys.getswitchinterval()
        with self.assertRaises(KeyError), alone():
            raise KeyError
        self.assertEqual(sys.getswitchinterval(), before)


if __name__ == "__main__":
    unittest.main()
