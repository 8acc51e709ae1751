#!/usr/bin/env python3
"""watch() and record() in real PyTorch programs, over the stand-ins.

    test_watch_with_torch.py PLIMSOLL

with the Python that PLIM_TORCH_PYTHON names and that has PyTorch; without one it is skipped.
"""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

SKIPPED = 77
PYTHON = os.environ.get("PLIM_TORCH_PYTHON", "")
PLIMSOLL = ""
TRAIN = """
import json, sys
import torch, plimsoll
def parts(device="cuda"):
    net = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(3)]).to(device)
    return net, torch.optim.AdamW(net.parameters())
def step(net, optimizer, device="cuda", batch=64):
    loss = net(torch.randn(batch, 512, device=device)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss
"""


class WatchTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="plim watch ")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_program(self, source, *words, status=0):
        """What a program prints as JSON, and its stderr."""
        with open(os.path.join(self.folder, "train.py"), "w", encoding="utf-8") as file:
            file.write(TRAIN + textwrap.dedent(source))
        package = os.path.join(os.path.dirname(PLIMSOLL), "rehearse", "python")
        done = subprocess.run(
            [PLIMSOLL, *words, "--", PYTHON, "train.py"], cwd=self.folder, capture_output=True,
            text=True, timeout=300, check=False,
            env={**os.environ, "PYTHONPATH": package, "PLIMSOLL_LIVE": "off",
                 "XDG_STATE_HOME": self.folder})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout), done.stderr

    def test_figures_are_pytorchs(self):
        """Of each step, with a reset of the program's own, in phases, on two devices."""
        found, _ = self.run_program("""
            net, optimizer = parts()
            other, further = parts("cuda:1")
            watch = plimsoll.watch()
            wrong = []
            def equal(figures, prefix, device, **more):
                stats = torch.cuda.memory_stats(device)
                wanted = {"allocated_bytes": stats["allocated_bytes.all.current"],
                          "reserved_bytes": stats["reserved_bytes.all.current"],
                          "inactive_split_bytes": stats["inactive_split_bytes.all.current"],
                          "num_alloc_retries": stats["num_alloc_retries"],
                          "num_ooms": stats["num_ooms"], **more}
                for name, value in wanted.items():
                    if figures[prefix + name] != value:
                        wrong.append([name, figures[prefix + name], value])
            highest = torch.cuda.max_memory_allocated()
            for turn in range(12):
                with watch.phase("train"):
                    step(net, optimizer, batch=64 * (1 + turn % 3))
                step(other, further, "cuda:1")
                highest = max(highest, torch.cuda.max_memory_allocated())
                peaks = [torch.cuda.max_memory_allocated(device) for device in (0, 1)]
                if turn >= 6:  # from here on the program resets its peaks with each step
                    phase = torch.cuda.max_memory_allocated()
                figures = watch.step()
                for device in (0, 1):
                    equal(figures, f"memory/gpu{device}/", device)
                equal(figures, "memory/", 0)
                if turn >= 6:
                    for device in (0, 1):
                        equal(figures, f"memory/gpu{device}/", device,
                              peak_allocated_bytes=peaks[device])
                    if figures["memory/phase/train/peak_allocated_bytes"] != phase:
                        wrong.append(["phase", figures, phase])
                elif torch.cuda.max_memory_allocated() != highest:  # it has not reset them
                    wrong.append(["highest", torch.cuda.max_memory_allocated(), highest])
                if turn >= 5:
                    for device in (0, 1):
                        torch.cuda.reset_peak_memory_stats(device)
            print(json.dumps([wrong, watch.warnings, repr(watch), sorted(figures)]))
            """, "run", "--gpu=h100", "--devices=2", "--quiet")
        wrong, warnings, shown, names = found
        self.assertEqual((wrong, warnings, shown), ([], [], "<plimsoll.watch: 12 steps>"))
        self.assertIn("memory/gpu1/phase/train/peak_reserved_bytes", names)

    def test_a_leak_is_said_within_ten_steps(self):
        found, said = self.run_program("""
            def main():
                net, optimizer = parts()
                losses = []
                watch = plimsoll.watch()
                for turn in range(1, 41):
                    step(net, optimizer)
                    if turn > 20:
                        losses.append(net(torch.randn(512, 512, device="cuda")))
                    watch.step(turn)
                    if watch.warnings:
                        break
                print(json.dumps([turn, watch.warnings, torch.cuda.is_initialized()]))
            main()
            """, "run", "--gpu=h100")
        turn, (warning,), _ = found
        self.assertLessEqual(turn, 30)
        self.assertRegex(warning, r"^allocated memory of GPU 0 has grown by \d\.?\d* MiB a step since "
                                  r"step (20|21), at train.py:21, held by .*`losses` in main "
                                  r"\(train.py:\d+\); full at about step [\d,]+, if that goes on$")
        self.assertIn(f"plimsoll: {warning}\n", said)

    def test_out_of_memory_leaves_a_dump(self):
        """Of a program that goes on, and was not started by the command's recorder."""
        found, _ = self.run_program("""
            kept = []
            def fill():
                mine = []
                while True:
                    mine.append(torch.empty(64 << 20, dtype=torch.uint8, device="cuda"))
            with plimsoll.watch(quiet=True) as watch:
                try:
                    with watch.phase("fill"), plimsoll.record("fill.pickle") as made:
                        fill()
                except torch.OutOfMemoryError:
                    pass
            brief = watch.dumps
            try:
                with plimsoll.watch(quiet=True) as watch:
                    fill()
            except torch.OutOfMemoryError:
                pass
            diagnosis = made.diagnose()
            print(json.dumps([brief, watch.dumps, made.path, made.holders_path, made.warnings,
                              diagnosis.verdict, diagnosis.to_dict()]))
            """, "run", "--gpu=h100", "--capacity=2GiB", "--quiet")
        brief, dumps, path, holders, warnings, verdict, document = found
        self.assertEqual((len(brief), len(dumps)), (1, 2))
        self.assertTrue(brief[0].endswith(".json"), brief)  # it was caught within the watch
        self.assertTrue(dumps[1].endswith(".pickle"), dumps)
        self.assertTrue(all(os.path.exists(file) for file in (*dumps, path, holders)))
        self.assertEqual(verdict, "exhausted")
        self.assertIn("`mine` in fill", json.dumps(document))
        self.assertEqual(len(warnings), 1)  # the command's recorder records already

    def test_in_a_rehearsal(self):
        """Which accounts for failures itself, and reads peaks of its own."""
        self.run_program("""
            net, optimizer = parts()
            watch = plimsoll.watch()
            wrong = []
            for turn in range(8):
                torch.cuda.reset_peak_memory_stats()
                step(net, optimizer)
                figures = watch.step()
                if figures["memory/peak_allocated_bytes"] != torch.cuda.max_memory_allocated():
                    wrong.append(figures)
            print(json.dumps([wrong, watch.dumps, repr(watch)]), file=open("found.json", "w"))
            """, "rehearse", "--gpu=h100", "--json")
        with open(os.path.join(self.folder, "found.json"), encoding="utf-8") as file:
            wrong, dumps, shown = json.load(file)
        self.assertEqual((wrong, dumps, shown), ([], [], "<plimsoll.watch: 8 steps>"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "plimsoll", "runs")))


if __name__ == "__main__":
    if not PYTHON:
        print("PLIM_TORCH_PYTHON names no Python that has PyTorch: skipped")
        sys.exit(SKIPPED)
    PLIMSOLL = os.path.abspath(sys.argv.pop(1))
    unittest.main()
