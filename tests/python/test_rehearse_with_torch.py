#!/usr/bin/env python3
"""test_rehearse_with_torch.py PLIMSOLL - rehearse() with a real PyTorch, that of PLIM_TORCH_PYTHON."""

import os
import pathlib
import sys
import tempfile
import unittest

PLIMSOLL = os.path.abspath(sys.argv.pop(1))
TORCH = os.environ.get("PLIM_TORCH_PYTHON")
if not TORCH:
    print("PLIM_TORCH_PYTHON names no Python with PyTorch: nothing is rehearsed")
    sys.exit(77)
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(HERE)), "python"), HERE]
os.environ["PLIMSOLL_COMMAND"] = PLIMSOLL

import declared  # noqa: E402
import plimsoll  # noqa: E402

PROGRAM = """
import sys, torch
model = torch.nn.Linear(1024, 1024, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    inputs = torch.ones(int(sys.argv[1]) * 1024, 1024, device="cuda")
    model(inputs).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("done")
"""


class RehearseTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="plimsoll rehearse é ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program = self.folder / "train.py"
        self.program.write_text(PROGRAM)

    def rehearse(self, size, **options):
        found = plimsoll.rehearse([TORCH, self.program, size], gpu="rtx4090", **options)
        self.assertEqual(declared.faults(type(found), found.to_dict()), [])
        return found

    def test_what_fits(self):
        found = self.rehearse("1", steps=2)
        self.assertTrue(found.fits)
        self.assertEqual((found.status, found.gpu.key, found.exit_status), (0, "rtx4090", 0))
        device = found.processes[0].devices[0]
        self.assertEqual([step.step for step in device.steps], [1, 2])
        self.assertEqual([row["peak_allocated_bytes"] for row in found.to_rows("steps")],
                         [step.peak_allocated_bytes for step in device.steps])
        self.assertIn("It fits", str(found))

    def test_what_does_not_fit_and_what_fails_are_verdicts(self):
        found = self.rehearse("300", capacity=1 << 30, no_retry=True)
        self.assertEqual((found.verdict, found.fits, found.status), ("out_of_memory", False, 1))
        self.assertTrue(found.processes[0].ooms[0].why)
        found = self.rehearse("many")
        self.assertEqual((found.verdict, found.reason.word, found.status), ("failed", "program", 3))
        self.assertIn("ValueError", found.processes[0].exception)

    @unittest.skipIf(os.environ.get("PLIM_TORCH_SHORT"), "two rehearsals more")
    def test_a_search(self):
        found = self.rehearse("{}", sweep=[1, 2], steps=1)
        self.assertEqual((found.best, found.complete), (2, True))
        self.assertEqual([row["value"] for row in found.to_rows()], [1, 2])

    def test_an_answer_whose_lock_cannot_be_written_is_not_lost(self):
        with self.assertRaises(plimsoll.errors.InputError) as caught:
            self.rehearse("1", steps=1, lock="/nowhere/a.lock")
        self.assertTrue(caught.exception.found.fits)
        self.assertIn("/nowhere/a.lock", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
