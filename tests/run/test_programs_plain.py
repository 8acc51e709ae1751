#!/usr/bin/env python3
"""Pythons without PyTorch that a run starts: they do not notice the recorder that waits in them."""

import glob
import os
import subprocess
import sys
import unittest
import zipfile

from together import Together

SEE = """
import sys
print(sys.argv[1:], sys.flags, sys.path[1:])
print(sorted(name for name in sys.modules if "plimsoll" not in name))
print(sys.excepthook is sys.__excepthook__, sys.gettrace(), sys.getprofile())
try:
    import sitecustomize
    print(sitecustomize.__file__, sitecustomize.__name__)
except ImportError as error:
    print(type(error), error)
"""
OTHERS = (sorted(glob.glob("/usr/bin/python[23].[0-9]") + glob.glob("/usr/bin/python3.[0-9][0-9]"))
          + sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python"))))


class Plain(Together):
    def test_ways_to_start(self):
        script = self.write("see.py", SEE)
        self.write("package/__init__.py", "")
        self.write("package/__main__.py", SEE)
        archive = os.path.join(self.folder, "program.pyz")
        with zipfile.ZipFile(archive, "w") as file:
            file.write(script, "__main__.py")
        for words in ([script, "-x", "a b"], ["-c", SEE], ["-E", script],
                      ["-I", script], ["-B", "-O", script], ["-u", "-X", "dev", script], [archive],
                      ["-W", "error", "-X", "utf8", script]):
            with self.subTest(words[:2]):
                self.assertEqual(self.both(None, *words).files(), [])
        with self.subTest("-m"):
            self.both(None, "-m", "package",
                      variables={"PYTHONPATH": self.variables("", {})["PYTHONPATH"]
                                 + os.pathsep + self.folder})

    def test_from_standard_input(self):
        for armed in (False, True):
            path = self.write("see.py", SEE)
            with open(path, encoding="utf-8") as file:
                ended = self.one(["-"], armed, stdin=file)
            if not armed:
                without = ended
        self.assertEqual((ended.out, ended.err, ended.status), (without.out, without.err, 0))

    def test_own_sitecustomize(self):
        self.write("own/sitecustomize.py", "import sys\nsys.stderr.write('mine %s' % __name__)\n")
        ended = self.both(SEE)
        self.assertIn("own/sitecustomize.py", ended.out)
        self.assertEqual(ended.err, "mine sitecustomize")

    def test_own_sitecustomize_that_fails(self):
        self.write("own/sitecustomize.py", "import no_such_module\n")
        self.assertIn("no_such_module", self.both(SEE, is_same=without_our_lines).err)

    def test_other_pythons(self):
        """Those without PyTorch, of any age: they have nothing to report and nothing changes."""
        script = self.write("see.py", SEE)
        for python in OTHERS:
            for has_own in (False, True):
                if has_own:
                    self.write("own/sitecustomize.py", "mine = 1\n")
                elif os.path.exists(os.path.join(self.folder, "own", "sitecustomize.py")):
                    os.remove(os.path.join(self.folder, "own", "sitecustomize.py"))
                with self.subTest(python=python, has_own=has_own):
                    self.python = python
                    self.assertEqual(self.both(None, script).files(), [])

    def test_programs_that_become_others(self):
        other = self.write("other.py", "import sys\nprint('other', sys.argv, sys.path[1:])\n")
        self.both(f"""
            import os, subprocess, sys
            for options in ([], ["-E"], ["-I"], ["-S", "-E"]):
                subprocess.run([sys.executable, *options, {other!r}], check=True)
            subprocess.run([sys.executable, {other!r}], env={{}}, check=True)
            subprocess.run(["env", "-i", sys.executable, {other!r}], check=True)
            if os.fork() == 0:
                print("child", flush=True)
                os._exit(3)
            print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
            os.execv(sys.executable, [sys.executable, {other!r}, "last"])
            """)


def without_our_lines(text):
    """A traceback of the program's own sitecustomize, without the frames that lead to it."""
    return "\n".join(line for line in text.splitlines() if "Error" in line or "Set" in line)


class Folders(Together):
    def test_the_folder_of_the_run(self):
        """It may be missing, a file, or not be said: Pythons without PyTorch do not look."""
        for folder in (os.path.join(self.folder, "no", "such"), __file__, "\n", "/dev/null"):
            with self.subTest(folder):
                self.both(SEE, variables={"PLIMSOLL_RUN": folder})


if __name__ == "__main__":
    unittest.main()
