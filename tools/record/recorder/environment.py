"""The cache outside the repository: a virtual environment and the built stand-ins.

    $XDG_CACHE_HOME/plimsoll/record/<key>/venv      PyTorch and what it imports
    $XDG_CACHE_HOME/plimsoll/record/<key>/stubs     generated defaults
    $XDG_CACHE_HOME/plimsoll/record/<key>/lib       the stand-in libraries

<key> names the requirements and the Python version, so that another PyTorch gets
another folder and an old one stays usable.
"""

import ctypes
import hashlib
import os
import pathlib
import subprocess
import sys

ROOM = pathlib.Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOM / "requirements.txt"


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    digest = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:8]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return pathlib.Path(base) / "plimsoll" / "record" / f"{version}-{digest}"


def python():
    return cache_folder() / "venv" / "bin" / "python"


def site_packages():
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return cache_folder() / "venv" / "lib" / version / "site-packages"


def run(*command, **options):
    subprocess.run([str(part) for part in command], check=True, **options)


def install():
    """Create the virtual environment, once. About 1.2 GB on disk, half of it downloaded."""
    done = cache_folder() / "installed"
    if done.exists():
        return
    venv = cache_folder() / "venv"
    print(f"record: installing PyTorch into {venv}", file=sys.stderr)
    run(sys.executable, "-m", "venv", "--clear", venv)
    run(python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
        "--requirement", REQUIREMENTS)
    done.touch()


def build():
    """Generate the defaults if there are none, and bring the libraries up to date."""
    stubs = cache_folder() / "stubs"
    script = ROOM / "generate_stubs.py"
    sonames = stubs / "sonames"
    if not sonames.exists() or sonames.stat().st_mtime < script.stat().st_mtime:
        run(python(), script, site_packages() / "torch" / "lib", stubs)
    run("make", "--silent", "-C", ROOM, f"STUBS={stubs}", f"OUT={libraries()}")


def libraries():
    return cache_folder() / "lib"


def variables(gpu, capacity, devices, trace):
    """The environment a recorded program runs in."""
    result = dict(os.environ)
    result["LD_LIBRARY_PATH"] = str(libraries())
    result["PLIM_STANDIN_GPU"] = gpu
    result["PLIM_STANDIN_CAPACITY"] = str(capacity) if capacity else ""
    result["PLIM_STANDIN_DEVICES"] = str(devices)
    result["PLIM_STANDIN_TRACE"] = "1" if trace else ""
    # cuDNN's graph interface is not modelled; without this, attention on capability 9.0
    # and 10.0 would go there first. With it, PyTorch's own flash attention runs.
    result.setdefault("TORCH_CUDNN_SDPA_DEPRIORITIZED", "1")
    # Two recordings of one program should agree; the order of sets decides who is freed first.
    result.setdefault("PYTHONHASHSEED", "0")
    # No byte code beside the scenarios.
    result["PYTHONDONTWRITEBYTECODE"] = "1"
    return result


ADDR_NO_RANDOMIZE = 0x0040000  # personality(2)


def steady():
    """Turn off address randomisation for this process and what it starts.

    PyTorch keeps sets of pointers, and frees what is in them in the order of addresses: the
    autocast cache, for one. Where this is not permitted, recordings differ in such details.
    """
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)
