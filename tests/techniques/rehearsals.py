"""What the tests of techniques share: programs of examples/rehearse, rehearsed with techniques.

Tests skip themselves where PLIM_TORCH_PYTHON names no Python with PyTorch.
"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "examples" / "rehearse"
PYTHON = os.environ.get("PLIM_TORCH_PYTHON")
IS_SHORT = bool(os.environ.get("PLIM_TORCH_SHORT"))
SKIPPED = 77


def skip_without_torch():
    if not PYTHON:
        print("skipped: PLIM_TORCH_PYTHON names no Python with PyTorch")
        sys.exit(SKIPPED)


class Rehearsed:
    """One rehearsal of "train_gpt.py --batch 4", with techniques.

    allocated, reserved  bytes, the highest of all processes and devices
    """

    def __init__(self, plimsoll, command, techniques=(), gpu="h100", environment=None):
        with tempfile.TemporaryDirectory() as scratch:
            document = os.path.join(scratch, "rehearse.json")
            words = shlex.split(command)
            path = PROGRAMS / words[0] if not os.path.isabs(words[0]) else words[0]
            result = subprocess.run(
                [plimsoll, "rehearse", f"--gpu={gpu}", "--no-retry", f"--document={document}",
                 *(f"--with={technique}" for technique in techniques),
                 "--", PYTHON, str(path), *words[1:]],
                capture_output=True, text=True, cwd=PROGRAMS, check=False,
                env={**os.environ, **(environment or {})})
            self.output, self.errors = result.stdout, result.stderr
            with open(document, encoding="utf-8") as file:
                self.document = json.load(file)
        devices = [device for process in self.document["processes"]
                   for device in process["devices"]]
        self.verdict = self.document["verdict"]
        self.allocated = max((one["peak_allocated_bytes"] for one in devices), default=0)
        self.reserved = max((one["peak_reserved_bytes"] for one in devices), default=0)
