#!/usr/bin/env python3
"""The tests of the callbacks with the packages of tools/callbacks-requirements.txt, then with older
releases of the trainers in their place.

    check_callbacks.py PLIMSOLL

PLIM_TORCH_PYTHON names a Python that has PyTorch. The older releases come from PyPI once, into
${XDG_CACHE_HOME:-~/.cache}/plimsoll/older (350 MB), without what they ask for: the rest is there.
"""

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
OLDER = {
    "TrainerTest": [
        "transformers==4.57.6 tokenizers==0.22.1 huggingface_hub==0.36.0",
        "transformers==4.40.2 tokenizers==0.19.1 huggingface_hub==0.23.5 numpy==1.26.4"],
    "LightningTest": ["lightning==2.1.4 pytorch-lightning==2.1.4 setuptools==69.5.1"],
}


def folder_of(packages):
    """They lie in a folder of their own, which comes before all others."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = pathlib.Path(cache, "plimsoll", "older", packages.replace("==", "-").replace(" ", "_"))
    if not (folder / "installed").exists():
        shutil.rmtree(folder, ignore_errors=True)
        done = subprocess.run(
            [os.environ["PLIM_TORCH_PYTHON"], "-m", "pip", "install", "--quiet", "--no-deps",
             "--disable-pip-version-check", "--target", str(folder), *packages.split()],
            check=False)
        if done.returncode != 0:
            print(f"skipped: cannot install from PyPI: {packages}")
            sys.exit(SKIPPED)
        (folder / "installed").touch()
    return str(folder)


def run(plimsoll, tests, folder=None):
    path = [folder] if folder else []
    path += [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    done = subprocess.run(
        [sys.executable, HERE / "test_callbacks_with_torch.py", plimsoll, *tests], check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)})
    if done.returncode != 0:
        print(done.stdout)
        sys.exit(done.returncode)


def main():
    plimsoll = os.path.abspath(sys.argv[1])
    run(plimsoll, [])
    print("passed: the packages of tools/callbacks-requirements.txt")
    for test, releases in OLDER.items():
        for packages in releases:
            run(plimsoll, [test], folder_of(packages))
            print(f"passed: {packages}")


if __name__ == "__main__":
    main()
