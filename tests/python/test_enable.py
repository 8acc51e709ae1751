#!/usr/bin/env python3
"""test_enable.py PLIMSOLL - `enable` and `disable` in virtual environments of their own.

The environment's path has a blank and a letter outside of ASCII in it. Its torch is a few lines.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import venv

PLIMSOLL = os.path.abspath(sys.argv.pop(1))
HOME = os.path.join(os.path.dirname(PLIMSOLL), "rehearse")
NAME = "plimsoll-enabled.pth"
TORCH = """
import types
__version__ = "2.11.0"
waiting, _C = [], types.SimpleNamespace()
class OutOfMemoryError(RuntimeError): pass
class nn: Module = object
class optim: Optimizer = object
cuda = types.SimpleNamespace(_lazy_call=waiting.append, is_initialized=lambda: False)
"""
SHOW = ("import sys, torch\n"
        "from plimsoll_agent import blackbox\n"
        "print(blackbox.run_folder())\n"
        "print(type(blackbox.current()).__name__,"
        " [type(one).__name__ for one in sys.meta_path[:1]])\n")


class EnableTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="plimsoll enable é ")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        venv.create(cls.folder / "env", with_pip=False)
        cls.python = str(cls.folder / "env" / "bin" / "python")
        (cls.site,) = (cls.folder / "env" / "lib").glob("python*/site-packages")
        (cls.site / "torch").mkdir()
        (cls.site / "torch" / "__init__.py").write_text(TORCH)
        cls.state = cls.folder / "state"

    def setUp(self):
        self.file = self.site / NAME
        if self.file.is_dir():
            self.file.rmdir()
        self.file.unlink(missing_ok=True)

    def environment(self, **more):
        mine = {name: value for name, value in os.environ.items()
                if not name.startswith(("PLIMSOLL_", "PYTHON", "VIRTUAL_ENV"))}
        return {**mine, "XDG_STATE_HOME": str(self.state), "LC_ALL": "C.UTF-8",
                "HOME": str(self.folder), **more}

    def run_command(self, *words, python=None, **more):
        return subprocess.run([PLIMSOLL, *words, f"--python={python or self.python}"],
                              capture_output=True, text=True, timeout=60, check=False,
                              env=self.environment(**more))

    def answer(self, *words, status=0, python=None, **more):
        done = self.run_command(*words, "--json", python=python, **more)
        self.assertEqual((done.returncode, done.stderr), (status, ""), done.stdout)
        document = json.loads(done.stdout)
        self.assertEqual(document["schema"], "enable/1")
        return document

    def files(self):
        return sorted(str(path) for path in self.site.rglob("*")
                      if "__pycache__" not in str(path))

    def place(self, *words, **more):
        return self.answer(*words, **more)["places"][0]

    def run_python(self, source, *options, **more):
        return subprocess.run([self.python, *options, "-c", source], capture_output=True,
                              text=True, timeout=60, check=False, env=self.environment(**more))

    def test_it_is_written_once_and_removed(self):
        before = self.files()
        self.assertEqual(self.place("enable", "--status")["state"], "absent")
        done = self.place("enable")
        self.assertEqual((done["path"], done["state"], done["done"]),
                         (str(self.file), "enabled", "written"))
        text = self.file.read_text(encoding="ascii")
        self.assertEqual(self.place("enable")["done"], "unchanged")
        self.assertEqual(self.file.read_text(encoding="ascii"), text)
        status = self.answer("enable", "--status")
        self.assertEqual((status["places"][0]["state"], status["places"][0]["done"]),
                         ("enabled", "nothing"))
        self.assertEqual((status["kind"], status["is_managed"], status["prefix"]),
                         ("venv", False, str(self.folder / "env")))
        self.assertEqual(self.place("disable")["done"], "removed")
        self.assertEqual(self.place("disable")["done"], "nothing")
        self.assertEqual(self.files(), before)

    def test_it_says_what_it_wrote(self):
        page = self.run_command("enable").stdout
        self.assertIn(f"wrote {self.file}\n", page)
        page = self.run_command("disable").stdout
        self.assertIn(f"removed {self.file}\n", page)
        self.assertIn("not enabled", self.run_command("disable").stdout)

    def test_programs_are_armed_when_they_import_torch(self):
        self.assertEqual(self.run_python("import torch; print(torch.waiting)").stdout, "[]\n")
        self.answer("enable")
        done = self.run_python(SHOW)
        self.assertEqual(done.stderr, "")
        folder, rest = done.stdout.splitlines()
        self.assertEqual(os.path.dirname(folder), str(self.state / "plimsoll" / "runs"))
        self.assertEqual(rest, "Recorder ['type']", "no finder is left")
        self.assertFalse(os.path.exists(folder), "CUDA was not used")

    def test_programs_without_torch_notice_nothing(self):
        self.answer("enable")
        done = self.run_python("import sys, json\n"
                               "print([name for name in sys.modules if 'plimsoll' in name])\n"
                               "import plimsoll; print('arm' in plimsoll.__all__)\n"
                               "print([name for name in sys.modules if 'plimsoll' in name])\n")
        self.assertEqual((done.stdout, done.stderr), ("[]\nTrue\n['plimsoll']\n", ""))

    def test_it_finds_torch_as_without_us(self):
        source = ("import importlib.util, sys\n"
                  "print(importlib.util.find_spec('torch').origin, 'torch' in sys.modules)\n"
                  "import torch; print(torch.__spec__.origin, type(torch.__loader__).__name__)\n")
        plain = self.run_python(source).stdout
        self.answer("enable")
        self.assertEqual(self.run_python(source).stdout, plain)

    def test_a_torch_that_is_missing_is_missing(self):
        self.answer("enable")
        (self.site / "torch").rename(self.site / "gone")
        try:
            done = self.run_python("try:\n import torch\nexcept ImportError as e:\n print(e)")
        finally:
            (self.site / "gone").rename(self.site / "torch")
        self.assertEqual((done.stdout, done.stderr), ("No module named 'torch'\n", ""))

    def test_under_a_launcher_it_is_armed_once(self):
        self.answer("enable")
        run = str(self.folder / "run")
        agent = os.path.join(HOME, "agent")
        for options, more in (((), {"PYTHONPATH": agent}), (("-I",), {})):
            done = self.run_python(SHOW.replace("from", "import plimsoll_agent\nfrom"), *options,
                                   PLIMSOLL_RUN=run, **more)
            self.assertEqual(done.stderr, "")
            self.assertEqual(done.stdout.splitlines()[0], run)
            self.assertEqual(done.stdout.splitlines()[1].split()[0], "Recorder")

    def test_a_rehearsal_is_left_alone(self):
        self.answer("enable")
        done = self.run_python("import sys, torch; print(torch.waiting)", PLIMSOLL_REHEARSAL="/x")
        self.assertEqual((done.stdout, done.stderr), ("[]\n", ""))

    def test_a_plimsoll_that_is_gone_breaks_nothing(self):
        copy = self.folder / "cöpy"
        shutil.copytree(HOME, copy, symlinks=True)
        script = str(copy / "agent" / "enabling.py")
        subprocess.run([self.python, "-B", script, "enable"], check=True, capture_output=True,
                       env=self.environment())
        self.assertTrue(self.run_python(SHOW).stdout)
        self.assertEqual(self.place("enable", "--status")["state"], "stale")
        self.assertEqual(self.place("enable", "--status")["leads_to"], str(copy / "python"))
        (copy / "agent" / "plimsoll_agent").rename(copy / "agent" / "moved")
        done = self.run_python("import torch; print('fine')")
        self.assertEqual(done.stdout, "fine\n")
        self.assertRegex(done.stderr, r"^plimsoll: nothing is recorded: ImportError: [^\n]*\n$")
        shutil.rmtree(copy)
        done = self.run_python("import sys, torch; print(torch.waiting, 'plimsoll' in sys.modules)")
        self.assertEqual((done.stdout, done.stderr), ("[] False\n", ""))
        self.assertEqual(self.place("enable")["done"], "replaced")
        self.assertEqual(self.place("enable", "--status")["state"], "enabled")

    def test_a_startup_file_that_fails_breaks_nothing(self):
        copy = self.folder / "broken"
        shutil.copytree(HOME, copy, symlinks=True)
        subprocess.run([self.python, "-B", str(copy / "agent" / "enabling.py"), "enable"],
                       check=True, capture_output=True, env=self.environment())
        for text in ("raise KeyError('x')", "def", "import sys; sys.nothing", ""):
            (copy / "python" / "plimsoll" / "_startup.py").write_text(text)
            done = self.run_python("print('fine')")
            self.assertEqual((done.stdout, done.stderr), ("fine\n", ""))
        shutil.rmtree(copy)

    def test_a_file_of_others_is_not_ours(self):
        for text in ("/some/where\n", "import sys; exec(1)\n", "import sys; exec('x', {})\n", ""):
            self.file.write_text(text)
            done = self.run_command("enable", "--status", "--json")  # site complains of some
            place = json.loads(done.stdout)["places"][0]
            self.assertEqual((place["state"], place["leads_to"]), ("stale", None))

    def test_a_folder_that_cannot_be_written_is_said(self):
        self.file.mkdir()
        answer = self.answer("enable", status=3)
        self.assertIn(f"{self.file} cannot be written: Is a directory", answer["refused"])
        self.assertEqual(answer["places"][0]["done"], "nothing")
        self.assertEqual([path for path in self.site.iterdir() if path.name.endswith(".part")], [])

    def test_an_environment_without_user_packages_refuses_user(self):
        answer = self.answer("enable", "--user", status=3)
        self.assertIn("leave out --user", answer["refused"])

    def test_the_users_own_folder(self):
        """Of an environment that has it: one with the system's packages."""
        venv.create(self.folder / "open", with_pip=False, system_site_packages=True)
        python = str(self.folder / "open" / "bin" / "python")
        answer = self.answer("enable", "--user", python=python)
        self.assertEqual([(one["is_user"], one["done"]) for one in answer["places"]],
                         [(False, "nothing"), (True, "written")])
        self.assertTrue(answer["places"][1]["path"].startswith(str(self.folder / ".local")))
        done = subprocess.run([python, "-c", "import plimsoll; print('fine')"],
                              capture_output=True, text=True, check=False, env=self.environment())
        self.assertEqual((done.stdout, done.stderr), ("fine\n", ""))
        answer = self.answer("disable", python=python)
        self.assertEqual([one["done"] for one in answer["places"]], ["nothing", "removed"])

    def test_a_python_of_the_systems_is_refused(self):
        """PEP 668: a file in the standard library's folder says that packages manage it."""
        root = self.folder / "system"
        (root / "bin").mkdir(parents=True)
        (root / "lib").mkdir()
        (root / "EXTERNALLY-MANAGED").write_text("")
        script = root / "bin" / "python3"
        real = os.path.realpath(sys.executable)
        script.write_text(f"""#!{real}
import runpy, sys, sysconfig
sys.prefix = sys.base_prefix
path = sysconfig.get_path
sysconfig.get_path = lambda name, *words: {str(root)!r} if name == "stdlib" else path(name, *words)
sys.argv[:] = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
""")
        script.chmod(0o755)
        answer = self.answer("enable", status=3, python=str(script))
        self.assertTrue(answer["is_managed"])
        self.assertIn("the system's packages manage this Python", answer["refused"])

    def test_what_is_no_python_is_said(self):
        done = self.run_command("enable", python=str(self.folder / "nothing"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot find the Python", done.stderr)
        done = self.run_command("enable", python="/bin/false")
        self.assertEqual(done.returncode, 3)
        script = self.folder / "liar"
        for text in ("{}", "[", '{"places": [{}]}'):
            script.write_text(f"#!/bin/sh\necho '{text}'\n")
            script.chmod(0o755)
            done = self.run_command("enable", python=str(script))
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertTrue(done.stderr.startswith("plimsoll enable: "), done.stderr)

    def test_it_takes_no_words(self):
        for command in ("enable", "disable"):
            done = self.run_command(command, "extra")
            self.assertEqual(done.returncode, 2)
            self.assertIn("--python=PATH", done.stderr)

    def test_a_start_imports_nothing(self):
        """The line itself, once more in a Python that is up: an import would cost milliseconds."""
        self.answer("enable")
        source = ("import sys\n"
                  f"line = open({str(self.file)!r}).read()\n"
                  "sys.meta_path.pop(); sys.meta_path.pop(0)\n"
                  "before = set(sys.modules)\n"
                  "exec(line)\n"
                  "print(sorted(set(sys.modules) - before))\n"
                  "print([type(sys.meta_path[at]).__name__ for at in (0, -1)])\n")
        imported, finders = self.run_python(source).stdout.splitlines()
        self.assertEqual(imported, "[]")
        self.assertEqual(finders, "['Waiting', 'Package']")

    def test_the_package_is_found_and_its_neighbours_are_not(self):
        self.answer("enable")
        done = self.run_python("import sys\nprint(sys.path)\nimport plimsoll.errors\n"
                               "print(plimsoll.__file__)\nimport plimsoll_agent")
        path, file = done.stdout.splitlines()
        self.assertNotIn(HOME, path)
        self.assertEqual(file, os.path.join(HOME, "python", "plimsoll", "__init__.py"))
        self.assertIn("No module named 'plimsoll_agent'", done.stderr)

    def wheel(self):
        """A folder of packages as a wheel leaves it: with a neighbour."""
        site = self.folder / "other site"
        package = site / "plimsoll"
        shutil.copytree(os.path.join(HOME, "python", "plimsoll"), package,
                        ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(HOME, package / "_native" / "rehearse",
                        ignore=shutil.ignore_patterns("__pycache__", "python"))
        (site / "neighbour.py").write_text("")
        self.addCleanup(shutil.rmtree, site)
        return site, package / "_native" / "rehearse" / "agent"

    def test_a_wheel_of_another_environment_is_left_as_it_is(self):
        site, agent = self.wheel()
        before = sorted(site.rglob("*"))
        subprocess.run([self.python, "-B", str(agent / "enabling.py"), "enable"], check=True,
                       capture_output=True, env=self.environment())
        self.assertEqual(self.place("enable", "--status")["leads_to"], str(site))
        done = self.run_python(SHOW + "import plimsoll, sys\nprint(plimsoll.__path__)\n"
                               "from plimsoll_agent.holders import walk\n"
                               "import neighbour\n")
        self.assertEqual(done.stdout.splitlines()[1:],
                         ["Recorder ['type']", str([str(site / "plimsoll")])])
        self.assertIn("No module named 'neighbour'", done.stderr)
        self.assertEqual(sorted(site.rglob("*")), before)
        run = str(self.folder / "run")
        done = self.run_python(SHOW, PYTHONPATH=str(agent), PLIMSOLL_RUN=run)
        self.assertEqual((done.stdout.splitlines(), done.stderr), ([run, "Recorder ['type']"], ""))
        self.assertEqual(sorted(site.rglob("*")), before)

    def test_an_environment_keeps_compiled_files_of_its_own_wheel(self):
        site, agent = self.wheel()
        source = (f"import sys; sys.prefix = {str(site.parent)!r}\n"
                  f"sys.path.insert(0, {str(agent)!r}); import sitecustomize\n")
        self.run_python(source, PLIMSOLL_RUN=str(self.folder / "run"))
        self.assertTrue(list(agent.glob("plimsoll_agent/__pycache__/*.pyc")))


if __name__ == "__main__":
    unittest.main()
