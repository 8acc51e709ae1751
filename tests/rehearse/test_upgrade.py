#!/usr/bin/env python3
"""test_upgrade.py PLIMSOLL CUDA_PROGRAM - one program in two environments, and with many releases.

Everything comes from a folder of wheels that the test makes: no network. The program asks a package
of ours how much memory to take, and becomes a program of CUDA that takes it. With a Python in
PLIM_TORCH_PYTHON the same is done with the real PyTorch.
"""
import base64
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

PLIMSOLL, PROGRAM = sys.argv[1:3]
TORCH_PYTHON = os.environ.get("PLIM_TORCH_PYTHON", "")
MIB = 1 << 20

TRAIN = f"""
import os
import hungry
program = {PROGRAM!r}
os.execv(program, [program, "alloc", str(hungry.amount())])
"""

REAL_TRAIN = """
import hungry
import torch
model = torch.nn.Linear(1024, 1024, bias=False, device="cuda")
optimizer = torch.optim.SGD(model.parameters())
for step in range(2):
    hungry.loss(model(torch.zeros(1024, 1024, device="cuda"))).backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def amount(mib):
    return f"def amount():\n    return {mib}\n"


def loss(copies):
    return f"def loss(x):\n    held = [x.clone() for _ in range({copies})]\n    return x.sum()\n"


def record(text):
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
    return f"sha256={digest.decode()},{len(text.encode())}"


def make_wheel(folder, name, version, code, requires=(), tag="py3-none-any"):
    about = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {line}\n" for line in requires)
    kind = f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n"
    files = {f"{name}/__init__.py": code, f"{about}/METADATA": metadata, f"{about}/WHEEL": kind}
    lines = [f"{place},{record(text)}" for place, text in files.items()]
    files[f"{about}/RECORD"] = "\n".join([*lines, f"{about}/RECORD,,"]) + "\n"
    with zipfile.ZipFile(pathlib.Path(folder, f"{name}-{version}-{tag}.whl"), "w") as wheel:
        for place, text in files.items():
            wheel.writestr(place, text)


def install_by_hand(site, name, version, code, requires=()):
    with tempfile.TemporaryDirectory() as folder:
        make_wheel(folder, name, version, code, requires)
        with zipfile.ZipFile(next(pathlib.Path(folder).iterdir())) as wheel:
            wheel.extractall(site)


def tree(folder):
    return sorted((str(place), place.stat().st_mtime_ns) for place in pathlib.Path(folder).rglob("*")
                  if "__pycache__" not in str(place))


class World:
    """An environment of the user's own, a folder of wheels and a place for environments: made once,
    as pip takes its time."""

    def __init__(self):
        self.holder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.holder.name)
        self.own = self.folder / "own"
        done = subprocess.run([sys.executable, "-m", "venv", self.own], capture_output=True)
        if done.returncode != 0:
            self.holder.cleanup()
            raise unittest.SkipTest("no venv with pip: install python3-venv")
        self.python = self.own / "bin" / "python"
        site = next((self.own / "lib").iterdir()) / "site-packages"
        (site / "torch" / "lib").mkdir(parents=True)
        (site / "torch" / "version.py").write_text("__version__ = '2.11.0'\ncuda = '13.0'\n")
        shutil.copy(PROGRAM, site / "torch" / "lib" / "libtorch_cuda.so")
        install_by_hand(site, "hungry", "1.4", amount(300), ["fork>=1"])
        install_by_hand(site, "fork", "1.0", "")
        install_by_hand(site, "knife", "1.0", "", ["hungry==1.4"])
        self.wheels = self.folder / "wheels"
        self.wheels.mkdir()
        for version, mib in (("1.0", 100), ("1.1", 100), ("1.2", 100), ("1.3", 300), ("1.4", 300)):
            make_wheel(self.wheels, "hungry", version, amount(mib), ["fork>=1"])
        make_wheel(self.wheels, "hungry", "2.0", amount(900), ["fork>=2", "nvidia-plate==7"])
        make_wheel(self.wheels, "fork", "1.5", "")
        make_wheel(self.wheels, "fork", "2.5", "")
        self.train = self.folder / "train.py"
        self.train.write_text(TRAIN)
        self.cache = self.folder / "cache"


class Upgrade(unittest.TestCase):
    world = None

    @classmethod
    def setUpClass(cls):
        if Upgrade.world is None:
            Upgrade.world = World()
        for name, value in vars(Upgrade.world).items():
            setattr(cls, name, value)

    def environment(self, **more):
        ours = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels), "PIP_CONFIG_FILE": os.devnull,
                "XDG_CACHE_HOME": str(self.cache), "PIP_CACHE_DIR": str(self.folder / "pip")}
        return {**os.environ, **ours, **more}

    def rehearse(self, *words, program=(), **more):
        command = [PLIMSOLL, "rehearse", "--color=never", *map(str, words), "--",
                   *map(str, program or (self.python, self.train))]
        return subprocess.run(command, capture_output=True, text=True, timeout=300,
                              env=self.environment(**more))

    def document(self, *words, **how):
        done = self.rehearse("--json", *words, **how)
        return done, json.loads(done.stdout) if done.stdout else None

    def in_cache(self, ending=""):
        folder = self.cache / "plimsoll" / "environments"
        return sorted(place.name for place in folder.iterdir() if place.name.endswith(ending))

    def forget(self):
        """The environments that other tests made."""
        if self.cache.exists():
            shutil.rmtree(self.cache)


class Against(Upgrade):
    def test_growth_since_an_older_release(self):
        before = tree(self.own)
        done, said = self.document("--against=hungry==1.2")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(said["comparison"], "grew")
        self.assertEqual((said["before"]["name"], said["after"]["name"]), ("hungry 1.2", "hungry 1.4"))
        grown = said["after"]["compared_bytes"] - said["before"]["compared_bytes"]
        self.assertEqual(grown, 200 * MIB)
        self.assertEqual(said["packages"], [{"name": "hungry", "before": "1.2", "after": "1.4"}])
        self.assertEqual(tree(self.own), before, "the user's own environment is as it was")
        self.assertIn("knife 1.0 asks for hungry==1.4", done.stdout)
        self.assertTrue(said["before"]["python"].startswith(str(self.cache)))
        self.assertEqual(said["after"]["python"], str(self.python))

    def test_a_newer_release_is_the_one_after_with_all_that_it_asks_for(self):
        done, said = self.document("--against", "hungry==2.0")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(said["packages"], [{"name": "hungry", "before": "1.4", "after": "2.0"},
                                            {"name": "fork", "before": "1.0", "after": "2.5"}])
        self.assertNotIn("nvidia", done.stdout + done.stderr)

    def test_no_growth_and_less(self):
        done, said = self.document("--against=hungry==1.3")
        self.assertEqual((done.returncode, said["comparison"]), (0, "same"), done.stderr)
        done, said = self.document("--against=hungry==1.2", "--by=1GiB")
        self.assertEqual((done.returncode, said["comparison"]), (0, "same"), done.stderr)
        done, said = self.document("--against=hungry==1.2", "--by", "300%")
        self.assertEqual((done.returncode, said["comparison"]), (0, "same"), done.stderr)

    def test_another_python(self):
        self.forget()
        self.rehearse("--against=hungry==1.2")
        folder = self.cache / "plimsoll" / "environments" / self.in_cache()[0]
        done, said = self.document(f"--against={folder}/bin/python")
        self.assertEqual((done.returncode, said["comparison"]), (1, "grew"), done.stderr)
        self.assertEqual(said["before"]["name"], "hungry 1.2")
        relative = os.path.relpath(f"{folder}/bin/python")
        done, said = self.document("--against", relative)
        self.assertEqual((done.returncode, said["comparison"]), (1, "grew"), done.stderr)

    def test_scripts_and_wrappers_run_in_the_other_environment(self):
        script = self.own / "bin" / "serve"
        script.write_text(f"#!{self.python}\n{TRAIN}")
        script.chmod(0o755)
        for program in ([script], ["env", "A=b", self.python, self.train], ["env", script]):
            done, said = self.document("--against=hungry==1.2", program=program)
            self.assertEqual((done.returncode, said["comparison"]), (1, "grew"), done.stderr)
        self.assertEqual(self.rehearse("--against=hungry==1.2", "--python", self.python,
                                       program=["/bin/sh", "-c", "python " + str(self.train)],
                                       PATH=f"{self.own}/bin:{os.environ['PATH']}").returncode, 1)

    def test_an_environment_is_made_once(self):
        self.forget()
        first = self.rehearse("--against=hungry==1.2")
        self.assertIn("installing hungry==1.2", first.stderr)
        again = self.rehearse("--against=hungry==1.2")
        self.assertNotIn("installing", again.stderr)
        self.assertEqual(first.stdout, again.stdout)
        offline = self.rehearse("--against=hungry==1.2", "--offline")
        self.assertEqual(offline.returncode, 1, offline.stderr)
        other = self.rehearse("--against=hungry==1.1", "--offline")
        self.assertEqual(other.returncode, 3)
        self.assertIn("no environment was made for it yet", other.stderr)

    def test_what_was_interrupted_is_made_anew(self):
        self.forget()
        self.rehearse("--against=hungry==1.2")
        name = self.in_cache("lock")[0][:-len(".lock")]
        folder = self.cache / "plimsoll" / "environments"
        (folder / name / "installed").unlink()
        (folder / (name + ".part")).mkdir()
        done = self.rehearse("--against=hungry==1.2")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.in_cache(), [name, name + ".lock"])

    def test_two_runs_at_once_make_one_environment(self):
        self.forget()
        command = [PLIMSOLL, "rehearse", "--json", "--against=hungry==1.2", "--", str(self.python),
                   str(self.train)]
        runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env=self.environment()) for _ in range(2)]
        said = [run.communicate(timeout=300) for run in runs]
        self.assertEqual([run.returncode for run in runs], [1, 1], said)
        self.assertEqual(sum("installing hungry" in err for _, err in said), 1, said)

    def test_what_cannot_be_had_is_one_clear_line(self):
        for text, status, part in (
                ("hungry==9.9", 3, "there is no such release"), ("absent==1.0", 3, "no such package"),
                ("hungry=1.2", 2, "neither a Python nor a requirement"),
                ("nvidia-cudnn-cu13==9.1", 2, "stood in for"), ("/no/python", 2, "cannot find")):
            done = self.rehearse("--against", text)
            self.assertEqual(done.returncode, status, done.stderr)
            last = done.stderr.splitlines()[-1]
            self.assertTrue(last.startswith("plimsoll rehearse: --against: "), done.stderr)
            self.assertIn(part, last)
        self.assertEqual(self.in_cache("part"), [])

    def test_a_wheel_that_is_broken_or_of_another_python(self):
        broken = self.wheels / "hungry-3.0-py3-none-any.whl"
        broken.write_bytes(b"no zip")
        make_wheel(self.wheels, "hungry", "3.1", "", tag="cp38-none-any")
        try:
            done = self.rehearse("--against=hungry==3.0")
            other = self.rehearse("--against=hungry==3.1")
        finally:
            broken.unlink()
            (self.wheels / "hungry-3.1-cp38-none-any.whl").unlink()
        self.assertEqual((done.returncode, other.returncode), (3, 3))
        self.assertIn("cannot be installed", done.stderr)
        self.assertIn("it has some for Python 3.8", other.stderr)
        self.assertEqual(self.in_cache("part"), [])

    def test_an_index_that_cannot_be_reached(self):
        self.forget()
        done = self.rehearse("--against=hungry==1.2", PIP_NO_INDEX="0", PIP_FIND_LINKS="",
                             PIP_INDEX_URL="http://127.0.0.1:9/simple")
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot be reached", done.stderr.splitlines()[-1])

    def test_a_program_that_fails_in_one_of_them(self):
        make_wheel(self.wheels, "hungry", "0.5", "raise RuntimeError('not today')\n")
        try:
            done, said = self.document("--against=hungry==0.5")
        finally:
            (self.wheels / "hungry-0.5-py3-none-any.whl").unlink()
        self.assertEqual((done.returncode, said["comparison"]), (3, "failed"))
        self.assertIn("not today", said["before"]["reason"]["text"])

    def test_running_out_is_growth(self):
        done, said = self.document("--against=hungry==1.2", "--gpu=h100", "--capacity=750MiB")
        self.assertEqual((done.returncode, said["comparison"]), (1, "grew"), done.stderr)
        self.assertEqual(said["after"]["verdict"], "out_of_memory")

    def test_wrong_usage(self):
        for words, part in ((["--against=x==1", "--sweep=1,2"], "one at a time"),
                            (["--against=x==1", "--diagnose"], "take one environment"),
                            (["--bisect=x"], "takes a package and two releases"),
                            (["--bisect=x", "1.0"], "takes a package and two releases"),
                            (["--against=x==1", "--by=lots"], "--by takes")):
            done = self.rehearse(*words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(part, done.stderr)


class Bisect(Upgrade):
    def test_the_release_with_which_it_grew(self):
        done, said = self.document("--bisect", "hungry", "1.0..1.4")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual((said["last_good"], said["first_grown"]), ("1.2", "1.3"))
        self.assertEqual((said["before"]["name"], said["after"]["name"]), ("hungry 1.2", "hungry 1.3"))
        states = {one["release"]: one["state"] for one in said["releases"]}
        self.assertEqual(states, {"1.0": "good", "1.1": "untried", "1.2": "good", "1.3": "grew",
                                  "1.4": "grew"})
        again, same = self.document("--bisect", "hungry", "1.0..1.4")
        self.assertNotIn("installing", again.stderr)
        self.assertEqual(same["first_grown"], "1.3")

    def test_no_growth(self):
        done, said = self.document("--bisect", "hungry", "1.0..1.2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(said["complete"])
        self.assertIsNone(said["first_grown"])
        self.assertIn("does not grow from hungry 1.0 to 1.2", json.dumps(said["says"]))

    def test_releases_that_fail_are_skipped_and_named(self):
        wheels = [("moody", "1.0", amount(100)), ("moody", "1.1", "raise RuntimeError('no')\n"),
                  ("moody", "1.2", amount(100)), ("moody", "1.3", "raise RuntimeError('no')\n"),
                  ("moody", "1.4", amount(200)), ("moody", "1.5rc1", amount(900))]
        for name, version, code in wheels:
            make_wheel(self.wheels, name, version, code)
        train = self.folder / "train_moody.py"
        train.write_text(TRAIN.replace("hungry", "moody"))
        (self.wheels / "moody-1.35-py3-none-any.whl").write_bytes(b"no zip")
        done, said = self.document("--bisect", "moody", "1..1.9", program=(self.python, train))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual((said["last_good"], said["first_grown"]), ("1.2", "1.4"))
        states = {one["release"]: one["state"] for one in said["releases"]}
        self.assertEqual(states["1.3"], "skipped")
        self.assertNotIn("1.5rc1", states)

    def test_all_fail(self):
        for version in ("1.0", "1.1"):
            make_wheel(self.wheels, "bitter", version, "raise RuntimeError('no')\n")
        train = self.folder / "train_bitter.py"
        train.write_text(TRAIN.replace("hungry", "bitter"))
        done, said = self.document("--bisect", "bitter", "1.0..1.1", program=(self.python, train))
        self.assertEqual(done.returncode, 3)
        self.assertIn("fewer than two releases", done.stderr)
        self.assertFalse(said["complete"])

    def test_ranges_that_hold_nothing(self):
        for words, status, part in ((("hungry", "7..8"), 3, "has no release from 7 to 8"),
                                    (("absent", "1..2"), 3, "no such package"),
                                    (("hungry", "1.4..1.0"), 2, "the older release stands first"),
                                    (("hungry", "a..b"), 2, "Invalid version")):
            done = self.rehearse("--bisect", *words)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(part, done.stderr.splitlines()[-1])


@unittest.skipUnless(TORCH_PYTHON, "no PyTorch: PLIM_TORCH_PYTHON")
class WithTorch(unittest.TestCase):
    def test_the_release_and_the_stack_of_real_pytorch(self):
        with tempfile.TemporaryDirectory() as folder:
            wheels = pathlib.Path(folder, "wheels")
            wheels.mkdir()
            for version, copies in (("1.0", 8), ("1.1", 8), ("1.2", 12), ("1.3", 12), ("1.4", 12)):
                make_wheel(wheels, "hungry", version, loss(copies))
            train = pathlib.Path(folder, "train.py")
            train.write_text(REAL_TRAIN)
            done = subprocess.run(
                [PLIMSOLL, "rehearse", "--json", "--bisect", "hungry", "1.0..1.4", "--",
                 TORCH_PYTHON, str(train)], capture_output=True, text=True, timeout=600,
                env={**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels),
                     "PIP_CONFIG_FILE": os.devnull, "XDG_CACHE_HOME": folder})
            self.assertEqual(done.returncode, 1, done.stderr)
            said = json.loads(done.stdout)
            self.assertEqual((said["last_good"], said["first_grown"]), ("1.1", "1.2"))
            grown = said["after"]["compared_bytes"] - said["before"]["compared_bytes"]
            self.assertEqual(grown, 16 * MIB, "four copies of 1024 × 1024 floats")
            (rank,) = said["ranks"]
            self.assertEqual(rank["rank"], 0)
            self.assertIn("train.py:7", json.dumps(said["says"]), "the line that calls it")
            self.assertIn("hungry requested 16.0 MiB more", json.dumps(said["says"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
