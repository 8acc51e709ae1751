"""kit.py - what the checks of exports share: recordings, exports, facts, and the tools of others.

Tools come from registries, into build/check-exports; a check that cannot get one is skipped and says why.
"""

import atexit
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CACHE = ROOT / "build" / "check-exports"
PLIMSOLL = str(pathlib.Path(sys.argv[1]).resolve())
RECORDINGS = [ROOT / "tests/data/recordings" / name
              for name in ("train_gpt.pickle", "leak.pickle.gz", "out_of_memory.pickle", "two_devices.pickle.gz",
                           "wrapped_history.pickle", "cpp_stacks.pickle.zst", "expandable_segments.pickle.zst")]
SKIPPED = 77
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="plimsoll-exports-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


class Skip(Exception):
    """Something that is needed cannot be had here."""


def call(words, why, **options):
    """The finished process; Skip where it fails."""
    try:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600,
                              check=False, **options)
    except OSError as error:
        raise Skip(f"{why}: {error}") from error
    if done.returncode != 0:
        raise Skip(f"{why}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
    return done


def inspect(source):
    """{device: its inspection}"""
    done = subprocess.run([PLIMSOLL, "inspect", "--json", source], capture_output=True, check=True)
    return {device["device"]: device for device in json.loads(done.stdout)["files"][0]["devices"]}


def export(source, name, *options):
    """The path, and the document `export/1`."""
    path = FOLDER / name
    done = subprocess.run([PLIMSOLL, "export", source, "-o", path, "--force", "--json", *options],
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return path, json.loads(done.stdout)


def npm(*packages):
    """A node_modules folder with packages of npm, without their install scripts."""
    modules = CACHE / "npm" / "node_modules"
    missing = [package for package in packages if not (modules / package).exists()]
    if missing:
        modules.parent.mkdir(parents=True, exist_ok=True)
        if not (modules.parent / "package.json").exists():
            (modules.parent / "package.json").write_text('{"private": true}\n')
        call(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *missing],
             f"npm does not install {' '.join(missing)}", cwd=modules.parent)
    return modules


def python_with(*packages):
    """A Python with packages of PyPI."""
    place = CACHE / "python"
    python = place / "bin" / "python"
    if not python.exists():
        call([sys.executable, "-m", "venv", place], "no virtual environment")
    done = subprocess.run([python, "-m", "pip", "show", "-q", *packages], capture_output=True, check=False)
    if done.returncode != 0:
        call([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages],
             f"pip does not install {' '.join(packages)}")
    return python


def run_python(packages, program, *arguments):
    """The output of a program that needs packages; AssertionError where it fails."""
    done = subprocess.run([str(word) for word in (python_with(*packages), "-c", program, *arguments)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def debian(package, path):
    """A file of a Debian package, which is unpacked and not installed."""
    place = CACHE / "debian" / package
    if not (place / path).exists():
        place.mkdir(parents=True, exist_ok=True)
        call(["apt-get", "download", package], f"apt-get does not download {package}", cwd=place)
        call(["dpkg", "-x", *place.glob("*.deb"), place], f"{package} cannot be unpacked")
    return place / path


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    raise Skip("there is no Chromium (apt-get install chromium)")


def main(check):
    """Runs a check: exit status 0, 1 with what is wrong, 77 with why it was skipped."""
    os.environ["LC_ALL"] = "C.UTF-8"
    try:
        check()
    except Skip as why:
        print(f"skipped: {why}")
        sys.exit(SKIPPED)
