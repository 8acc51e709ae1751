"""How a scenario is run: PyTorch from PyPI over Plimsoll's stand-ins for CUDA."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
PLIMSOLL = ROOT / "build" / "release" / "plimsoll"
AGENT = PLIMSOLL.parent / "rehearse" / "agent"  # in stacks, where it is called from PyTorch


def python():
    """The Python that has PyTorch, installed when it is missing."""
    found = subprocess.run([ROOT / "tools" / "torch-python"], check=True, stdout=subprocess.PIPE,
                           text=True)
    return found.stdout.strip()


def build():
    subprocess.run(["make", "--silent", "-C", ROOT, "build"], check=True)


def rehearse(scenario, program, folder):
    """Run a scenario's program in a folder, where it leaves its snapshot."""
    command = [PLIMSOLL, "rehearse", f"--gpu={scenario.gpu}", f"--devices={scenario.devices}",
               f"--conf={scenario.settings}"]
    if scenario.capacity is not None:
        command.append(f"--capacity={scenario.capacity}B")
    done = subprocess.run([*command, "--", python(), program], cwd=folder)
    if done.returncode not in (0, 1):  # 1: it ran out of memory, as some are meant to
        raise subprocess.CalledProcessError(done.returncode, command)
