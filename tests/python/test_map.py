#!/usr/bin/env python3
"""test_map.py PLIMSOLL - a function over many files: order, errors, lost processes, bounds, the end."""

import functools
import os
import signal
import sys
import tempfile
import threading
import time
import unittest

if __name__ == "__main__":
    os.environ["PLIMSOLL_COMMAND"] = os.path.abspath(sys.argv.pop(1))
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RECORDINGS = os.path.join(ROOT, "tests", "data", "recordings")
sys.path[:0] = [os.path.join(ROOT, "python"), HERE]

import plimsoll  # noqa: E402
from plimsoll import _map, errors  # noqa: E402

PATHS = [os.path.join(RECORDINGS, name) for name in (
    "out_of_memory.pickle", "accumulate.pickle.zst", "streams.pickle", "two_devices.pickle.gz")]
MISSING = os.path.join(RECORDINGS, "no such file.pickle")


def length(path, more=0):
    """What a user's function may do to its process."""
    name = os.path.basename(path)
    if name == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "leaves":
        os._exit(5)
    if name == "lambda":
        return lambda: None
    return len(name) + more


def own_process(_path):
    return os.getpid()


class OurFunctions(unittest.TestCase):
    def test_results_stand_in_the_order_of_the_paths(self):
        found = list(plimsoll.map(plimsoll.diagnose, PATHS, 3))
        self.assertEqual([one.path for one in found], PATHS)
        self.assertEqual([one.get() for one in found],
                         [plimsoll.diagnose(path) for path in PATHS])

    def test_an_unreadable_file_is_a_value(self):
        found = list(plimsoll.map(plimsoll.inspect, [PATHS[0], MISSING, PATHS[1]]))
        self.assertEqual([one.error is None for one in found], [True, False, True])
        self.assertIsInstance(found[1].error, errors.InputError)
        self.assertEqual(found[1].error.file, MISSING)
        with self.assertRaises(errors.InputError):
            found[1].get()

    def test_results_as_they_are_ready(self):
        found = plimsoll.map(plimsoll.inspect, PATHS, in_order=False)
        self.assertEqual(sorted(one.path for one in found), sorted(PATHS))

    def test_ranks_of_a_job_are_one_item(self):
        found = list(plimsoll.map(plimsoll.diagnose, [PATHS[:2], PATHS[2:]]))
        self.assertEqual([len(one.get().devices) for one in found], [2, 3])

    def test_options_go_to_each_call(self):
        for one in plimsoll.map(plimsoll.diagnose, PATHS[:1], fail_on="exhausted"):
            self.assertEqual(one.get().status, 1)
        partial = functools.partial(plimsoll.diagnose, fail_on="exhausted")
        self.assertEqual([one.get().status for one in plimsoll.map(partial, PATHS[:1])], [1])

    def test_what_is_wrong_for_all_files_is_raised(self):
        with self.assertRaisesRegex(errors.UsageError, "fail-on"):
            list(plimsoll.map(plimsoll.diagnose, PATHS, fail_on="nothing"))
        with self.assertRaisesRegex(TypeError, "failon"):
            plimsoll.map(plimsoll.diagnose, PATHS, failon="any")
        with self.assertRaisesRegex(errors.UsageError, "several paths"):
            plimsoll.map(plimsoll.diagnose, PATHS[0])
        with self.assertRaisesRegex(errors.UsageError, "at least 1"):
            plimsoll.map(plimsoll.diagnose, PATHS, 0)
        with self.assertRaisesRegex(errors.UsageError, "'local'.*'ray'"):
            plimsoll.map(plimsoll.diagnose, PATHS, on="dask")

    def test_no_files_no_results(self):
        self.assertEqual(list(plimsoll.map(plimsoll.diagnose, [])), [])

    def test_rows(self):
        rows = plimsoll.map(plimsoll.diagnose, [PATHS[0], MISSING]).to_rows()
        self.assertEqual(rows[0]["path"], PATHS[0])
        self.assertEqual(rows[0]["verdict"], "exhausted")
        self.assertEqual(rows[1]["path"], MISSING)
        self.assertIn("No such file", rows[1]["error"])
        devices = plimsoll.map(plimsoll.inspect, PATHS[2:]).to_rows("devices")
        self.assertEqual([(row["path"], row["device"]) for row in devices],
                         [(PATHS[2], 0), (PATHS[3], 0), (PATHS[3], 1)])


class TheirFunctions(unittest.TestCase):
    def test_each_runs_in_a_process_of_its_own(self):
        found = {one.get() for one in plimsoll.map(own_process, range(4), 2)}
        self.assertNotIn(os.getpid(), found)
        self.assertLessEqual(len(found), 2)

    def test_a_lost_process_costs_its_file_alone(self):
        found = list(plimsoll.map(length, ["ab", "dies", "abc", "leaves", "abcd"], 2, more=1))
        self.assertEqual([one.value for one in found], [3, None, 4, None, 5])
        self.assertRegex(str(found[1].error), "SIGKILL")
        self.assertRegex(str(found[3].error), "exit status 5")

    def test_an_answer_that_cannot_be_sent_is_an_error_of_its_file(self):
        found = list(plimsoll.map(length, ["lambda", "ab"], 1))
        self.assertRegex(str(found[0].error), "cannot be sent")
        self.assertEqual(found[1].value, 2)

    def test_a_function_that_no_process_knows_runs_in_threads(self):
        with self.assertRaisesRegex(errors.UsageError, "threads=True"):
            plimsoll.map(lambda path: path, ["a"])
        found = plimsoll.map(lambda path: path * 2, ["a", "b"], threads=True)
        self.assertEqual([one.value for one in found], ["aa", "bb"])


class Bounds(unittest.TestCase):
    def test_paths_are_read_as_results_are_taken(self):
        read = []

        def paths():
            for number in range(1000):
                read.append(number)
                yield number

        with plimsoll.map(lambda path: path, paths(), 3, threads=True) as found:
            for taken, one in enumerate(found):
                self.assertEqual(one.value, taken)
                self.assertLessEqual(len(read), taken + _map.AHEAD * 3)
                if taken == 500:
                    break
        self.assertLess(len(read), 510)

    def test_no_more_at_once_than_processes(self):
        lock = threading.Lock()
        counts = {"now": 0, "most": 0}

        def count(_path):
            with lock:
                counts["now"] += 1
                counts["most"] = max(counts["most"], counts["now"])
            time.sleep(0.001)
            with lock:
                counts["now"] -= 1

        list(plimsoll.map(count, range(50), 4, threads=True))
        self.assertLessEqual(counts["most"], 4)


class Ends(unittest.TestCase):
    def wait_for(self, path):
        while not os.path.exists(path):
            time.sleep(0.01)

    def test_closing_ends_commands_under_way(self):
        with tempfile.TemporaryDirectory(prefix="a b ") as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            found = plimsoll.map(plimsoll.inspect, [PATHS[0], pipe], 2)
            self.assertIsNone(next(found).error)
            with open(pipe, "wb"):  # the command waits for its bytes
                found.close()
            self.assertRaises(StopIteration, next, found)

    def test_closing_ends_processes_under_way(self):
        with tempfile.TemporaryDirectory() as folder:
            begun = os.path.join(folder, "begun")
            found = plimsoll.map(sleep, [begun + "0", begun], 2)
            self.assertIsNone(next(found).error)
            self.wait_for(begun)
            found.close()
            with open(begun) as file:
                pid = int(file.read())
            self.assertFalse(os.path.exists(f"/proc/{pid}/cmdline") and command_of(pid))


def sleep(path):
    """Says which process it is in, and works for an hour unless its name ends in 0."""
    with open(path + ".part", "w") as file:
        file.write(str(os.getpid()))
    os.rename(path + ".part", path)
    if not path.endswith("0"):
        time.sleep(3600)


def command_of(pid):
    """The words of a process; empty once it has ended."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
