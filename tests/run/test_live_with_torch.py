#!/usr/bin/env python3
"""While real PyTorch programs run over the stand-ins: figures, growth, dumps on request, --stop-on.

    test_live_with_torch.py PLIMSOLL

with the Python that PLIM_TORCH_PYTHON names and that has PyTorch; without one it is skipped.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = sys.argv.pop(1)
PYTHON = os.environ.get("PLIM_TORCH_PYTHON")
SKIPPED = 77

TRAIN = """
import sys, time, torch
model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(4)]).cuda()
optimizer = torch.optim.Adam(model.parameters())
kept = []
def step():
    model(torch.randn(64, 256, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
try:
    for number in range(int(sys.argv[1])):
        step()
        if "leak" in sys.argv:
            kept.append(torch.empty(16 << 20, device="cuda", dtype=torch.uint8))
        if "wait" in sys.argv and number == 20:
            print("ready", flush=True)
            sys.stdin.readline()
        if "slow" in sys.argv:
            time.sleep(0.02)
finally:
    print("finally", flush=True)
"""


class LiveTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="plimsoll live ")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "train.py").write_text(TRAIN)
        self.environment = {**os.environ, "PLIMSOLL_LIVE": str(self.folder / "pages")}

    def command(self, options, *words):
        return [PLIMSOLL, "run", f"--output={self.folder / 'run'}", "--gpu=h100",
                "--capacity=6GiB", *options, "--", PYTHON, "train.py", *words]

    def run_program(self, options, *words):
        return subprocess.run(self.command(options, *words), cwd=self.folder, text=True,
                              env=self.environment, capture_output=True, timeout=200, check=False)

    def process(self):
        path, = (self.folder / "run").glob("*/process.json")
        return json.loads(path.read_text())

    def test_growth_is_said_once_with_its_line(self):
        done = self.run_program([], "130", "leak")
        lines = [line for line in done.stderr.splitlines() if line.startswith("plimsoll: ")]
        self.assertEqual(len(lines), 1, done.stderr)
        found = re.fullmatch(r"plimsoll: allocated memory of GPU 0 grows 16 MiB a step since step "
                             r"\d+, at train\.py:14; full at about step (\d+)", lines[0])
        self.assertIsNotNone(found, lines[0])
        self.assertTrue(300 < int(found[1]) < 400, lines[0])  # 6 GiB less the context's
        growth, = self.process()["growth"]
        self.assertEqual((growth["bytes_per_step"], growth["where"]),
                         (16 << 20, "train.py:14 <module>"))
        self.assertEqual(self.process()["warnings"], [])

    def test_a_healthy_program_is_left_alone(self):
        done = self.run_program(["--stop-on=leak,reserved>95%"], "200")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "finally\n", ""))

    def test_stops_on_a_leak(self):
        done = self.run_program(["--stop-on=leak"], "370", "leak", "slow")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout, "finally\n")
        self.assertIn("KeyboardInterrupt", done.stderr)
        self.assertNotIn("plimsoll_agent", done.stderr)
        process = self.process()
        self.assertEqual((process["ended"], process["stopped_on"], process["dumps"]),
                         ("stopped", "leak", ["001-stop"]))

    def test_dumps_on_request(self):
        program = subprocess.Popen(self.command([], "30", "wait"), cwd=self.folder, text=True,
                                   env=self.environment, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(program.stdout.readline(), "ready\n")
        done = subprocess.run([PLIMSOLL, "dump", "--json", "--all", str(program.pid)], text=True,
                              env=self.environment, capture_output=True, timeout=100, check=False)
        out, err = program.communicate("go on\n", timeout=100)
        self.assertEqual((program.returncode, out, err), (0, "finally\n", ""))
        dump, = json.loads(done.stdout)["dumps"]
        self.assertEqual((done.returncode, dump["outcome"], dump["steps"]), (0, "done", 21))
        for member in ("snapshot", "holders", "document"):
            self.assertTrue(os.path.getsize(dump[member]) > 0)
        self.assertEqual(json.loads(pathlib.Path(dump["document"]).read_text())["reason"],
                         "request")
        self.assertEqual(os.listdir(self.folder / "pages"), [])


if __name__ == "__main__":
    if not PYTHON:
        print("skipped: PLIM_TORCH_PYTHON names no Python with PyTorch")
        sys.exit(SKIPPED)
    unittest.main()
