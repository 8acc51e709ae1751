#!/usr/bin/env python3
"""Runs the steps of docs/python/github-actions.yml, as GitHub would, in a small project.

    check_actions.py WHEEL

Needs PyPI, and the Python with PyTorch that PLIM_TORCH_PYTHON names: the virtual environment lies over
it, so that the step that installs PyTorch finds it there. `pip` takes Plimsoll from WHEEL.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / "docs" / "python" / "github-actions.yml"
SECONDS = 1200

NET = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(1024, 4096)
        self.down = torch.nn.Linear(4096, 1024)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))
"""
TESTS = """
import pytest
import torch
from net import Net


@pytest.fixture(scope="module")
def net():
    return Net().cuda()


@pytest.mark.gpu_memory(limit="200MiB")
@pytest.mark.parametrize("batch", (256, 4096))
def test_forward(net, batch):
    assert net(torch.ones(batch, 1024, device="cuda")).shape == (batch, 1024)


def test_backward(net):
    net(torch.ones(256, 1024, device="cuda")).mean().backward()
    assert net.up.weight.grad is not None
"""


def give_up(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def read_workflow(python):
    """The document, by PyYAML, which is beside PyTorch."""
    code = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))"
    done = subprocess.run([python, "-c", code, WORKFLOW], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"check_actions: {WORKFLOW}: {done.stderr.splitlines()[-1]}")
    return json.loads(done.stdout)


def make_environment(python, folder):
    """A virtual environment over the one with PyTorch; its folder of programs."""
    packages = "import sysconfig; print(sysconfig.get_path('purelib'))"
    below = subprocess.check_output([python, "-c", packages], text=True).strip()
    if subprocess.run([python, "-m", "venv", folder], check=False).returncode != 0:
        give_up(f"{python} cannot make a virtual environment: install python3-venv")
    own = subprocess.check_output([folder / "bin" / "python", "-c", packages], text=True).strip()
    pathlib.Path(own, "zz_below.pth").write_text(f"import site; site.addsitedir({below!r})\n")
    return folder / "bin"


class Job:
    """A project, and the environment that its steps run in."""

    def __init__(self, place, programs, wheel):
        self.project = place / "my project"
        (self.project / "tests").mkdir(parents=True)
        (self.project / "net.py").write_text(NET)
        (self.project / "tests" / "test_net.py").write_text(TESTS)
        clean = {key: value for key, value in os.environ.items()
                 if not key.startswith(("PLIMSOLL_", "PYTHON", "PYTEST_", "CUDA_", "VIRTUAL_ENV"))}
        self.environment = {**clean, "PATH": f"{programs}:{os.environ['PATH']}", "CI": "true",
                            "PIP_FIND_LINKS": str(wheel.parent), "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                            "XDG_STATE_HOME": str(place / "state")}

    def run(self, name, script, status=0):
        """A step, as GitHub's runner starts it."""
        print(f"== {name}", flush=True)
        done = subprocess.run(["bash", "-e", "-c", script], cwd=self.project, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=SECONDS, check=False)
        print(done.stdout, flush=True)
        if done.returncode != status:
            if "No matching distribution" in done.stdout or "Connection" in done.stdout:
                give_up("PyPI cannot be reached")
            sys.exit(f"check_actions: {name}: exit status {done.returncode}, not {status}")
        return done.stdout


def main():
    python = os.environ.get("PLIM_TORCH_PYTHON")
    if not python:
        give_up("PLIM_TORCH_PYTHON names no Python with PyTorch (tools/torch-python)")
    wheel = pathlib.Path(sys.argv[1]).resolve(strict=True)
    job, = read_workflow(python)["jobs"].values()
    steps = [step for step in job["steps"] if "run" in step]
    with tempfile.TemporaryDirectory(prefix="plim actions ") as folder:
        place = pathlib.Path(folder)
        runs = Job(place, make_environment(python, place / "venv"), wheel)
        *installs, test = steps
        for step in installs:
            runs.run(step["name"], step["run"])
        assert "is not there" in runs.run(f"{test['name']}: no lock", test["run"], status=4)
        update, = [line[1:].strip() for line in WORKFLOW.read_text().splitlines()
                   if line.startswith("#") and "--plimsoll-lock-update" in line]
        assert "3 tests locked" in runs.run("the lock is made", f"python -m {update}")
        assert "3 tests within plimsoll.lock, 0 above" in runs.run(test["name"], test["run"])
        (runs.project / "net.py").write_text(NET.replace("torch.relu(self.up(x))",
                                                         "torch.nn.functional.gelu(self.up(x)) * 2"))
        said = runs.run(f"{test['name']}: memory grew", test["run"], status=1)
        assert "net.py:12 in forward grew by 4.00 MiB" in said
        assert "217 MiB allocated at the peak, above the limit of 200MiB" in said
    print("the workflow works as it stands")


if __name__ == "__main__":
    main()
