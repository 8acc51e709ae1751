#!/usr/bin/env python3
"""record.py [SCRIPT...] - records PyTorch's own allocator afresh, and says what changed.

Fetches PyTorch from PyPI once (0.5 GB, of which two libraries and their headers are kept in
${XDG_CACHE_HOME:-~/.cache}/plimsoll/oracle), builds the recorder over the stand-in of the CUDA
runtime, plays every script under every setting and writes tests/data/oracle. Where PyPI cannot be
reached it says so and leaves everything as it is.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

import records

HERE = records.HERE
ROOT = records.ROOT
KEPT = ("torch/lib/libc10.so", "torch/lib/libc10_cuda.so", "torch/include/c10/",
        "torch/include/torch/headeronly/")
SHARED = ("play", "script", "text", "text_stats")  # with run.c
LENIENT = ["-Wall", "-Wextra"]  # what is exported here is declared in headers of others
STRICT = LENIENT + ["-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "plimsoll" / "oracle" / f"torch-{records.TORCH}"


def fetch():
    """PyTorch's two libraries and their headers, in the cache. Returns why not, or None."""
    if (cache() / "fetched").exists():
        return None
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache()) as folder:
        print(f"oracle: fetching torch {records.TORCH} from PyPI, 0.5 GB", file=sys.stderr)
        pip = [sys.executable, "-m", "pip", "download", "--progress-bar=off", "--no-deps",
               "--disable-pip-version-check", "--only-binary=:all:", "--implementation=cp",
               "--python-version=3.11", "--abi=cp311", "--platform=manylinux_2_28_x86_64",
               f"--dest={folder}", f"torch=={records.TORCH}"]
        done = subprocess.run(pip, capture_output=True, text=True)
        wheels = list(pathlib.Path(folder).glob("torch-*.whl"))
        if done.returncode != 0 or not wheels:
            said = done.stderr.strip().splitlines() or ["pip gave no wheel"]
            return " … ".join(dict.fromkeys([said[0], said[-1]]))
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(cache(), [n for n in wheel.namelist() if n.startswith(KEPT)])
    (cache() / "fetched").touch()
    return None


def run(*command):
    subprocess.run([str(part) for part in command], check=True)


def build():
    """The recorder and the stand-ins beside PyTorch's libraries. Returns the recorder."""
    out = cache() / "build"
    out.mkdir(exist_ok=True)
    for name in ("libc10.so", "libc10_cuda.so"):
        shutil.copy(cache() / "torch" / "lib" / name, out)
    ours = ["-O2", "-g", "-I", ROOT / "include", "-I", HERE]
    c = [os.environ.get("CC", "cc"), "-std=c17", "-D_GNU_SOURCE", *ours]
    shared = [*c, *LENIENT, "-I", ROOT / "src", "-fPIC", "-shared"]
    run(*shared, "-o", out / "libnvidia-ml.so.1", "-Wl,-soname,libnvidia-ml.so.1",
        HERE / "runtime" / "nvml.c")
    run(*shared, "-Wno-cast-function-type", "-o", out / "libcudart.so.13",
        "-Wl,-soname,libcudart.so.13",
        f"-Wl,--version-script,{HERE / 'runtime' / 'libcudart.map'}",
        *sorted((HERE / "runtime").glob("[!n]*.c")))
    for name in SHARED:
        run(*c, *STRICT, "-c", "-o", out / f"{name}.o", HERE / f"{name}.c")
    run(os.environ.get("CXX", "c++"), "-std=c++17", *ours, *LENIENT, "-I", HERE / "shim",
        "-isystem", cache() / "torch" / "include", "-o", out / "record", HERE / "record.cc",
        *(out / f"{name}.o" for name in SHARED), "-L", out, "-lc10_cuda",
        "-lc10", "-l:libcudart.so.13", "-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined")
    return out / "record"


def play(recorder, script, setting):
    """The record of one case, from a process of its own."""
    environment = {"PYTORCH_CUDA_ALLOC_CONF": records.SETTINGS[setting]}
    done = subprocess.run([recorder, script], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise RuntimeError(f"{script} under {setting} ended with {done.returncode}: "
                           f"{done.stderr.strip()[:400]}")
    return done.stdout


def record_script(recorder, folder, name, text):
    """Records a script under every setting. Returns whether the golden file changed."""
    path = pathlib.Path(folder) / f"{name}.txt"
    path.write_text(text)
    fresh = {setting: play(recorder, path, setting) for setting in records.SETTINGS}
    file = records.GOLDEN / f"{name}.xz"
    if file.exists():
        head, before = records.unpack(file.read_bytes())
        if before == fresh and records.digest(text) in head and records.TORCH in head:
            return False
    file.write_bytes(records.pack(text, fresh))
    return True


def main(names):
    why = fetch()
    if why is not None:
        print(f"oracle: nothing recorded, PyTorch cannot be had: {why}", file=sys.stderr)
        return 0
    recorder = build()
    records.GOLDEN.mkdir(parents=True, exist_ok=True)
    texts = {name: text for name, text in records.scripts().items() if not names or name in names}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        changed = [name for name, is_new in zip(texts, pool.map(
            lambda name: record_script(recorder, folder, name, texts[name]), texts)) if is_new]
    stale = [path for path in records.GOLDEN.glob("*.xz") if path.stem not in records.scripts()]
    for path in stale:
        path.unlink()
    for name in changed:
        print(f"oracle: {name} changed")
    print(f"oracle: torch {records.TORCH}, {len(texts)} scripts under {len(records.SETTINGS)} "
          f"settings recorded; {len(changed)} files changed, {len(stale)} removed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
