#!/usr/bin/env python3
"""The pytest plug-in without PyTorch: pytest runs small suites over a fake torch, and without one.

    test_pytest_plugin.py PLIMSOLL

Skipped where this Python has no pytest.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKIPPED = 77
PACKAGE = ""  # the folder that the package lies in, with the agent beside it
FAKES = ROOT / "tests" / "agent" / "fakes"
FILL = """
import pytest, torch
kept = []

class Tensor:
    def __init__(self, count):
        self.count = count
        torch.take(count)
    def __del__(self, give=torch.give):
        give(self.count)

"""


class Suite:
    """A folder with tests."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def run(self, *words, has_torch=True, **environment):
        """(exit status, what pytest prints)"""
        path = [PACKAGE] + [str(FAKES)] * has_torch
        clean = {name: value for name, value in os.environ.items()
                 if not name.startswith(("PLIMSOLL", "PYTEST"))}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "plimsoll.pytest_plugin", "-p",
             "no:cacheprovider", "-q", *words], cwd=self.folder, check=False, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**clean, "PYTHONPATH": os.pathsep.join(path), "COLUMNS": "120",
                 "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                 "XDG_STATE_HOME": str(self.folder / "state"), **environment})
        return done.returncode, done.stdout


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="plimsoll a blank ")
        self.addCleanup(folder.cleanup)
        self.suite = Suite(folder.name)

    def ends(self, outcomes, status, *words, **how):
        """Runs, and holds the last line and the exit status to what is expected; what it prints."""
        found, said = self.suite.run(*words, **how)
        self.assertRegex(said.strip().splitlines()[-1], re.escape(outcomes), said)
        self.assertEqual(found, status, said)
        self.assertNotIn("could not", said)
        return said


class Limits(Case):
    def test_a_test_above_its_limit_fails_and_one_below_passes(self):
        self.suite.write("test_a.py", FILL + """
@pytest.mark.gpu_memory("300B")
def test_within(): x = Tensor(300)

@pytest.mark.gpu_memory(limit="300B")
def test_over(): x = Tensor(200); y = Tensor(101)

def test_unmarked(): x = Tensor(900)
""")
        said = self.ends("1 failed, 2 passed", 1)
        self.assertIn("GPU memory: 301 B allocated at the peak, above the limit of 300B", said)

    def test_own_fixtures_count_and_wider_ones_do_not(self):
        self.suite.write("test_a.py", FILL + """
@pytest.fixture(scope="session")
def model(): return Tensor(400)

@pytest.fixture
def batch(): return Tensor(100)

@pytest.fixture(scope="module")
def late(): x = Tensor(300); del x; return Tensor(50)

@pytest.mark.gpu_memory("150B")
def test_within(batch, model): x = Tensor(50)

@pytest.mark.gpu_memory("149B")
def test_over(batch, model): x = Tensor(50)

@pytest.mark.gpu_memory("150B")
def test_requested_late(batch, request): request.getfixturevalue("late"); x = Tensor(50)

@pytest.mark.gpu_memory("549B", counts="all")
def test_all(batch, model): x = Tensor(50)
""")
        said = self.ends("2 failed, 2 passed", 1)
        self.assertIn("150 B allocated at the peak, above the limit of 149B", said)
        self.assertIn("400 B were allocated before the test and are not counted.", said)
        self.assertIn("600 B allocated at the peak, with what was there before the test", said)

    def test_marks_of_modules_classes_and_parameters(self):
        self.suite.write("test_a.py", FILL + """
import unittest
pytestmark = pytest.mark.gpu_memory("100B")

def test_module(): x = Tensor(101)

@pytest.mark.gpu_memory("200B")
class TestClass:
    def test_class(self): x = Tensor(200)
    @pytest.mark.gpu_memory(limit=None)
    def test_lifted(self): x = Tensor(900)
    @pytest.mark.gpu_memory(left="0B")
    def test_merged(self): x = Tensor(201)

@pytest.mark.parametrize("n", [
    pytest.param(300, marks=pytest.mark.gpu_memory("300B")), 101])
def test_parameters(n): x = Tensor(n)

class TestUnit(unittest.TestCase):
    def setUp(self): self.x = Tensor(60)
    def test_over(self): y = Tensor(60)
    def test_within(self): y = Tensor(40)
    def test_fails(self): self.fail("by itself")
""")
        said = self.ends("5 failed, 4 passed", 1)
        for name in ("test_module", "TestClass::test_merged", "test_parameters[101]",
                     "TestUnit::test_over", "TestUnit::test_fails"):
            self.assertIn(f"FAILED test_a.py::{name}", said)
        self.assertIn("by itself", said)

    def test_a_default_and_its_filter(self):
        self.suite.write("test_a.py", FILL + """
def test_over(): x = Tensor(101)
def test_other(): x = Tensor(101)
@pytest.mark.gpu_memory("101B")
def test_marked(): x = Tensor(101)
""")
        self.ends("2 failed, 1 passed", 1, "--plimsoll-limit=100B")
        self.ends("1 failed, 2 passed", 1, "--plimsoll-limit=100B", "--plimsoll-only=*::test_over")
        self.suite.write("pytest.ini",
                         "[pytest]\nplimsoll_limit = 100B\nplimsoll_only =\n  *other\n")
        self.ends("1 failed, 2 passed", 1)

    def test_skip_xfail_and_tests_that_fail_by_themselves(self):
        self.suite.write("test_a.py", FILL + """
@pytest.mark.gpu_memory("100B")
class TestAll:
    def test_skips(self): pytest.skip("no reason")
    @pytest.mark.xfail(strict=True)
    def test_is_expected_to_exceed(self): x = Tensor(101)
    def test_fails(self): x = Tensor(101); assert 0, "by itself"
""")
        said = self.ends("1 failed, 1 skipped, 1 xfailed", 1)
        self.assertIn("by itself", said)
        self.assertNotIn("above the limit", said)

    def test_the_program_sees_its_own_peaks(self):
        self.suite.write("test_a.py", FILL + """
def peak(): return torch._C._cuda_memoryStats(0)["allocated_bytes"]["all"]["peak"]

@pytest.fixture(scope="session", autouse=True)
def model(): Tensor(400)

@pytest.mark.gpu_memory("100B")
def test_a(): assert peak() == 400; x = Tensor(50)

@pytest.mark.gpu_memory("100B")
def test_b(): x = Tensor(50); torch._C._cuda_resetPeakMemoryStats(0); del x; assert peak() == 50
@pytest.mark.gpu_memory("49B")
def test_c(): x = Tensor(50); del x; torch._C._cuda_resetPeakMemoryStats(0)
""")
        self.ends("1 failed, 2 passed", 1)


class Wrong(Case):
    def test_arguments_that_are_none(self):
        for words, reason in (
                ("2", 'limit=2: give a size with its unit, as "2GiB", "512MiB" or "0B"'),
                ("'2000000'", "limit='2000000': give a size with its unit"),
                ("'2iB'", "limit='2iB': give a size with its unit"),
                ("'1GiB', limit='1GiB'", "the limit is given twice"),
                ("'1GiB', '2GiB'", "only the limit goes without its name"),
                ("growth='0B'", "growth='0B': give a size per step or per run"),
                ("warmups=-1", "warmups=-1: give a whole number from 0 on"),
                ("steps=1", "steps=1: give a whole number from 2 on"),
                ("counts='some'", "counts='some': give \"own\" or \"all\""),
                ("filter_fn=3", "filter_fn=3: give a function"),
                ("limits='1GiB'", "there is no argument limits")):
            self.suite.write("test_a.py", "import pytest\n"
                             f"@pytest.mark.gpu_memory({words})\ndef test_a(): pass\n")
            said = self.ends(reason[:20], 4, has_torch=False)
            self.assertIn(f"ERROR: test_a.py::test_a: gpu_memory: {reason}", said)

    def test_options_that_are_none(self):
        self.suite.write("test_a.py", "def test_a(): pass\n")
        self.ends("--plimsoll-limit=12: give a size", 4, "--plimsoll-limit=12", has_torch=False)
        self.suite.write("pytest.ini", "[pytest]\nplimsoll_leaks = yes\n")
        self.ends("plimsoll_leaks = yes: give report, fail or off", 4, has_torch=False)


class Growth(Case):
    def test_a_body_that_is_run_again(self):
        self.suite.write("test_a.py", FILL + """
runs = []
@pytest.mark.gpu_memory(growth="0B/run", warmups=2, steps=4)
def test_grows(): kept.append(Tensor(20)); runs.append(1)

def test_runs(): assert len(runs) == 6

@pytest.mark.gpu_memory(growth="20B/step")
def test_is_allowed(): kept.append(Tensor(20))

cache = []
@pytest.mark.gpu_memory(growth="0B/step")
def test_warms_up():
    if not cache: cache.append(Tensor(100))

@pytest.mark.gpu_memory(growth="0B/step")
def test_fails_later(): assert not runs.append(1) and len(runs) < 8
""")
        said = self.ends("2 failed, 3 passed", 1)
        self.assertIn("GPU memory grows by 20 B a run, over 4 runs of the test, above 0B/run", said)
        self.assertIn("The test passed once and failed in run 2 of 4, which are made for its "
                      "growth.", said)

    def test_steps_of_an_optimizer(self):
        self.suite.write("test_a.py", FILL + """
runs = []
def train(work):
    optimizer = torch.optim.Optimizer(work)
    for _ in range(6): optimizer.step()

@pytest.mark.gpu_memory(growth="0B/step")
def test_grows():
    mine = []; runs.append(1)
    train(lambda: mine.append(Tensor(10)))

@pytest.mark.gpu_memory(growth="0B/step")
def test_does_not():
    mine = [Tensor(10)]; runs.append(1)
    train(lambda: mine.__setitem__(0, Tensor(10)))

def test_ran_once(): assert len(runs) == 2
""")
        said = self.ends("1 failed, 2 passed", 1)
        self.assertIn("GPU memory grows by 10 B a step, over 5 optimizer steps, above 0B/step",
                      said)


class Left(Case):
    def test_what_tests_leave(self):
        self.suite.write("test_a.py", FILL + """
@pytest.fixture
def batch(): return Tensor(10)
@pytest.fixture(scope="module")
def model(): return Tensor(20)

@pytest.mark.gpu_memory(left="0B")
def test_cleans_up(batch, model):
    x = [Tensor(30)]; x.append(x)

@pytest.mark.gpu_memory(left="0B")
def test_leaks(): kept.append(Tensor(40))

def test_unmarked(): kept.append(Tensor(50))
""")
        said = self.ends("3 passed, 1 error", 1)
        self.assertIn("ERROR test_a.py::test_leaks - Failed: GPU memory: the test left 40 B", said)
        self.ends("3 passed, 2 errors", 1, "--plimsoll-leaks-fail")
        said = self.ends("3 passed, 1 error", 1, "--plimsoll-leaks", "test_a.py")
        self.assertIn("test_a.py::test_unmarked left 50 B", said)

    def test_a_wider_fixture_that_ends(self):
        for name in ("test_a.py", "test_b.py"):
            self.suite.write(name, FILL + """
@pytest.fixture(scope="module", autouse=True)
def model():
    yield Tensor(300)

def test_one(): pass
def test_two(): pass
""")
        self.ends("4 passed", 0, "--plimsoll-leaks-fail")

    def test_who_was_there_before_a_failure(self):
        self.suite.write("test_a.py", FILL + """
def test_healthy(): x = Tensor(300)
def test_leaks(): kept.append(Tensor(400))
def test_between(): pass
def test_fails(): x = Tensor(700)
""")
        said = self.ends("1 failed, 3 passed", 1, "--plimsoll-leaks")
        self.assertIn("Tests before this one left memory that was still there\n"
                      "     400 B  test_a.py::test_leaks\n"
                      "The last test that began without it: test_a.py::test_leaks", said)
        self.assertRegex(said, r"The whole account: plimsoll diagnose '?/.*001-oom\.pickle")


class Without(Case):
    def test_torch_is_not_imported(self):
        self.suite.write("test_a.py", """import pytest, sys
@pytest.mark.gpu_memory("100B", growth="0B/step", left="0B")
def test_a(): assert "torch" not in sys.modules
def test_b(): pass
""")
        for has_torch in (False, True):
            said = self.ends("2 passed", 0, has_torch=has_torch)
            self.assertIn("1 test with a gpu_memory mark ran unguarded: CUDA was not in use. "
                          "Without a GPU: pytest --plimsoll-gpu=rtx4090", said)

    def test_torch_is_imported_late(self):
        self.suite.write("test_a.py", """import pytest
@pytest.mark.gpu_memory("100B")
def test_a():
    import torch
    torch.take(101)
""")
        self.ends("1 failed", 1)

    def test_nothing_is_touched_where_nothing_is_asked(self):
        self.suite.write("test_a.py", """import sys
def test_a(): pass
def test_b():
    assert not [name for name in sys.modules if name.startswith("plimsoll_agent")]
""")
        self.assertNotIn("GPU memory", self.ends("2 passed", 0))

    def test_a_failure_of_ours_fails_no_test(self):
        self.suite.write("conftest.py", "from plimsoll.pytest_plugin import gauge\n"
                         "def broken(*_): raise OSError('broken')\ngauge.Gauge.take = broken\n")
        self.suite.write("test_a.py", FILL + """
@pytest.mark.gpu_memory("100B")
def test_a(): x = Tensor(500)
""")
        status, said = self.suite.run("-W", "error")
        self.assertEqual(status, 0, said)
        self.assertIn("plimsoll could not measure a test: OSError: broken; the tests are not "
                      "affected", said)


if __name__ == "__main__":
    try:
        import pytest  # noqa: F401
    except ImportError:
        print(f"skipped: {sys.executable} has no pytest")
        sys.exit(SKIPPED)
    PACKAGE = os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "rehearse", "python")
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
