#!/usr/bin/env python3
"""test_sitecustomize.py - how the agent gets into a Python, and what the program sees of it."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

AGENT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "src", "agent"))


class SitecustomizeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.run_folder = os.path.join(self.folder, "run")
        os.makedirs(os.path.join(self.run_folder, "results"))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def python(self, source, rehearses=True):
        self.write("program.py", source)
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join([AGENT, os.path.join(self.folder, "own")])
        environment.pop("PLIMSOLL_REHEARSAL", None)
        if rehearses:
            environment["PLIMSOLL_REHEARSAL"] = self.run_folder
        return subprocess.run([sys.executable, os.path.join(self.folder, "program.py")],
                              env=environment, capture_output=True, text=True, timeout=60,
                              check=False)

    def results(self):
        folder = os.path.join(self.run_folder, "results")
        documents = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                documents.append(json.load(file))
        return documents

    def test_without_a_rehearsal_there_is_no_agent(self):
        done = self.python("import sys\n"
                           "print([m for m in sys.modules if 'plimsoll' in m])\n"
                           "print(sys.meta_path[0])\n",
                           rehearses=False)
        self.assertIn("[]", done.stdout)
        self.assertNotIn("plimsoll", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_path_is_the_programs(self):
        for rehearses in (True, False):
            done = self.python("import sys, os\n"
                               "print([p for p in sys.path if p.endswith('agent')])\n"
                               "print('agent' in os.environ['PYTHONPATH'])\n", rehearses)
            self.assertEqual((done.stdout, done.stderr), ("[]\nTrue\n", ""))

    def test_no_torch_no_results(self):
        done = self.python("print('fine')")
        self.assertEqual((done.stdout, done.stderr, self.results()), ("fine\n", "", []))

    def test_the_users_own_is_run(self):
        self.write("own/sitecustomize.py", "import sys\nsys.own = __file__\n")
        done = self.python("import sys, sitecustomize\nprint(sys.own == sitecustomize.__file__)\n")
        self.assertEqual((done.stdout, done.stderr), ("True\n", ""))

    def test_the_users_own_fails_as_without_us(self):
        self.write("own/sitecustomize.py", "raise ValueError('mine')\n")
        done = self.python("print('goes on')")
        self.assertEqual(done.stdout, "goes on\n")
        self.assertIn("Error in sitecustomize", done.stderr)
        self.assertIn("ValueError: mine", done.stderr)

    def test_a_torch_that_is_none(self):
        """Each hook fails for itself, the program does not, and the results say so."""
        self.write("own/torch/__init__.py", "__version__ = '0'\n"
                   "class nn: Module = object\n"
                   "class optim: Optimizer = object\n")
        self.write("own/torch/other.py", "value = 3\n")
        done = self.python("import torch, torch.other\nprint(torch.other.value)\n")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("3\n", "", 0))

    def test_a_torch_that_fails(self):
        self.write("own/torch/__init__.py", "raise ImportError('libcuda.so.1: not found')\n")
        done = self.python("try:\n    import torch\n"
                           "except ImportError as error:\n    print(error)\n")
        self.assertEqual((done.stdout, done.stderr), ("libcuda.so.1: not found\n", ""))

    def test_a_run_folder_that_is_gone(self):
        self.run_folder = os.path.join(self.folder, "nowhere")
        done = self.python("print('fine')")
        self.assertEqual((done.stdout, done.stderr), ("fine\n", ""))


if __name__ == "__main__":
    unittest.main()
