#!/usr/bin/env python3
"""A notebook's kernel that runs out of memory, says who holds it, gets it back, and goes on.

    test_kernel_with_torch.py PLIMSOLL

runs itself as a rehearsal, with the Python that tools/notebook-python makes of the one that
PLIM_TORCH_PYTHON names; without PyTorch, or where the kernel's packages cannot be had, it is
skipped. The kernels are real ones, of ipykernel, which a client of Jupyter's runs cells in.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
SECONDS = 120
MIB, GIB = 1 << 20, 1 << 30
TRAIN = """
import plimsoll, torch
model = torch.nn.Linear(4096, 4096).cuda()
with torch.no_grad():
    model(torch.zeros(1, 4096, device="cuda"))  # cuBLAS takes its workspace

def train():
    losses = []
    inputs = torch.randn(1024, 4096, device="cuda")
    while True:
        losses.append(model(inputs).relu().square())
"""


class Kernel:
    """One, with cells run in it."""

    def __init__(self, state):
        from jupyter_client.kernelspec import KernelSpec
        from jupyter_client.manager import KernelManager

        class Manager(KernelManager):
            kernel_spec = KernelSpec(argv=[sys.executable, "-m", "ipykernel_launcher", "-f",
                                           "{connection_file}"])

        self.manager = Manager()
        package = os.path.join(os.environ["PLIM_REHEARSE_HOME"], "python")
        self.manager.start_kernel(stderr=subprocess.DEVNULL, env={
            **os.environ, "XDG_STATE_HOME": state, "IPYTHONDIR": state, "JUPYTER_DATA_DIR": state,
            "PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])})
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=SECONDS)
        self.shown = []  # of the last cell: by kind of output, then by kind of data

    def run(self, cell, answer=None):
        """(what it prints, its output, the name of its exception)"""
        said, output, failure = [], [], []
        self.shown = []

        def hear(message):
            kind, content = message["msg_type"], message["content"]
            if "data" in content:
                self.shown.append((kind, content["data"]))
            if kind == "stream":
                said.append(content["text"])
            elif kind == "execute_result":
                output.append(content["data"]["text/plain"])
            elif kind == "error":
                failure.append(content["ename"])
                said.append(re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(content["traceback"]) + "\n"))

        def reply(message):
            said.append(message["content"]["prompt"] + "\n")
            self.client.input(answer)

        self.client.execute_interactive(cell, timeout=SECONDS, output_hook=hear, stdin_hook=reply,
                                        allow_stdin=answer is not None)
        return ("".join(said), output[0] if output else None, failure[0] if failure else None)

    def end(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=False)
        self.manager.cleanup_resources()


class KernelTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        state = tempfile.TemporaryDirectory(prefix="plimsoll state ")
        self.addCleanup(state.cleanup)
        self.state = pathlib.Path(state.name)
        self.kernel = Kernel(state.name)
        self.addCleanup(self.kernel.end)

    def run_cell(self, cell, answer=None):
        said, output, failure = self.kernel.run(cell, answer)
        self.assertIsNone(failure, said)
        return said, output

    def memory(self):
        """(allocated, reserved)"""
        _, output = self.run_cell("torch.cuda.memory_allocated(), torch.cuda.memory_reserved()")
        return tuple(int(number) for number in output.strip("()").split(", "))

    def run_out(self, cell="train()"):
        said, _, failure = self.kernel.run(cell)
        self.assertEqual(failure, "OutOfMemoryError")
        return said

    def test_it_goes_on(self):
        said, _ = self.run_cell("%load_ext plimsoll")
        self.assertEqual(said, "")
        self.run_cell(TRAIN)
        before, _ = self.memory()
        said = self.run_out()
        traceback, page = said.split("GPU 0: ", 1)
        self.assertIn("losses.append(model(inputs).relu().square())", traceback)
        self.assertRegex(page, r"^\d\d\.\d GiB allocated, held by\n")
        self.assertIn("list `losses` in train", page)
        self.assertTrue(page.endswith(
            "plimsoll.recover() shows what can be dropped, and drops it.\n"))
        full, _ = self.memory()
        self.assertGreater(full, 20 * GIB)

        said, _ = self.run_cell("plimsoll.recover()", answer="n")
        # The question comes by another socket than the page: the client has them in any order.
        self.assertIn("Drop these? [y/N] ", said)
        self.assertIn("Nothing was dropped.\n", said)
        self.assertIn("parameters of Linear `model`, most of it `weight`, 2 tensors", said)
        self.assertEqual(self.memory()[0], full)

        said, output = self.run_cell("plimsoll.recover()", answer="y")
        self.assertIsNone(output)
        self.assertRegex(said, r"tracebacks +\d\d\.\d GiB  came back")
        after, reserved = self.memory()
        self.assertGreaterEqual((full - after) / (full - before), 0.99)
        self.assertLess(reserved, after + 64 * MIB)
        said, output = self.run_cell(
            "torch.randn(1 << 30, device='cuda').shape, model.weight.shape")
        self.assertIn("[1073741824]", output)

        self.run_out()  # it fails and is recovered as often as one likes
        self.run_cell("plimsoll.recover(confirm=True)")
        self.assertEqual(self.memory()[0], after)

    def test_the_estimate_is_what_comes_back(self):
        self.run_cell("%load_ext plimsoll\n" + TRAIN)
        self.run_out()
        _, output = self.run_cell(
            "_found = plimsoll.recover(confirm=True)\n"
            "import json; json.dumps([dict(_found.shown), dict(_found.dropped)])")
        shown, dropped = json.loads(output.strip("'"))
        self.assertGreaterEqual(shown["tracebacks"] / dropped["tracebacks"], 0.99)
        self.assertLessEqual(shown["tracebacks"], dropped["tracebacks"])

    def test_outputs_and_variables(self):
        self.run_cell("%load_ext plimsoll\nimport plimsoll, torch")
        self.run_cell("torch.zeros(1 << 28, device='cuda')")
        self.run_cell("losses = [torch.zeros(1 << 28, device='cuda') for _ in range(3)]")
        said, _ = self.run_cell("plimsoll.recover(confirm=False)")
        self.assertIn("Out[2]         1.00 GiB  output of a cell, Tensor", said)
        self.assertIn("plimsoll.recover('losses')", said)
        self.assertRegex(said, r"losses +3\.00 GiB  list `losses`, 3 tensors")
        self.run_cell("plimsoll.recover('outputs')")
        self.assertEqual(self.memory()[0], 3 * GIB)
        self.run_cell("plimsoll.recover('losses', 'cache')")
        self.assertEqual(self.memory(), (0, 0))

    def test_a_chain_a_magic_and_a_generator(self):
        self.run_cell("import plimsoll.auto  # which watches a kernel too\n" + TRAIN + """
def produce():
    kept = torch.zeros(1 << 20, device="cuda")
    try:
        train()
    except RuntimeError as error:
        yield error
        yield kept.numel()

def retry():
    try:
        train()
    except RuntimeError as error:
        raise ValueError("again") from error
""")
        before, _ = self.memory()
        said, _, failure = self.kernel.run("retry()")
        self.assertEqual(failure, "ValueError")
        self.assertIn("list `losses` in train", said.split("GPU 0: ")[1])
        self.run_cell("plimsoll.recover(confirm=True)")
        self.assertEqual(self.memory()[0], before)

        said, _, _ = self.kernel.run("%%time\ntrain()")
        self.assertIn("GPU 0: ", said)
        self.run_cell("plimsoll.recover(confirm=True)")
        self.assertEqual(self.memory()[0], before)

        self.run_cell("generator = produce(); isinstance(next(generator), RuntimeError)")
        self.run_cell("plimsoll.recover(confirm=True)")
        _, output = self.run_cell("next(generator)")
        self.assertEqual(output, str(1 << 20))

    def test_armed_late(self):
        """CUDA is in use before the extension is loaded: said, and recorded from then on."""
        self.run_cell("import torch, plimsoll\nheld = torch.zeros(1 << 28, device='cuda')")
        said, _ = self.run_cell("%load_ext plimsoll")
        self.assertEqual(said, "plimsoll: CUDA was in use already: the recording begins now, and "
                         "the 1.00 GiB allocated before have no stack\n")
        self.run_cell("more = torch.zeros(1 << 20, device='cuda')")
        _, output = self.run_cell("plimsoll.dump()")
        path = pathlib.Path(output.strip("'"))
        self.assertTrue(path.is_relative_to(self.state / "plimsoll" / "runs"))
        document = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual((document["schema"], document["reason"]), ("run-dump/1", "request"))
        self.assertTrue((path.parent / document["snapshot"]).exists())

    def test_unloaded(self):
        self.run_cell("%load_ext plimsoll\n" + TRAIN)
        self.run_cell("%unload_ext plimsoll")
        self.assertNotIn("held by", self.run_out())

    def test_a_history_of_the_sessions_own_stays_its_own(self):
        self.run_cell("import torch\ntorch.cuda.memory._record_memory_history(max_entries=77)\n"
                      "held = torch.zeros(1 << 20, device='cuda')")
        self.run_cell("%load_ext plimsoll")
        _, output = self.run_cell(
            "len(torch.cuda.memory._snapshot()['device_traces'][0]) > 0")
        self.assertEqual(output, "True")

    def use_command(self, body):
        """A script in place of the command, which may go on as the command."""
        script = self.state / "plimsoll"
        script.write_text(f"#!/bin/sh\ncommand='{os.environ['PLIM_COMMAND']}'\nfolder='{self.state}'\n{body}\n")
        script.chmod(0o700)
        self.run_cell(f"import os, plimsoll\nos.environ['PLIMSOLL_COMMAND'] = {str(script)!r}")

    def test_progress_goes_and_the_page_stays(self):
        self.use_command("""
            exec 9>/dev/fd/$PLIMSOLL_PROGRESS_FD
            echo '1 2 runs tuning <b>' >&9; sleep 0.5; echo >&9; exec 9>&-
            exec "$command" "$@" """)
        self.run_cell("plimsoll.explain('CUDA out of memory. Tried to allocate 2.00 GiB')")
        (first, step), (then, gone), (last, page) = self.kernel.shown
        self.assertEqual([first, then, last], ["display_data", "update_display_data", "execute_result"])
        self.assertEqual(step["text/plain"], "tuning <b>  50%  1 of 2 runs")
        self.assertIn("&lt;b&gt;", step["text/html"])
        self.assertEqual(gone, {"text/plain": "", "text/html": ""})
        self.assertIn('<pre class="plimsoll-page">', page["text/html"])
        self.assertNotIn("\033", page["text/plain"])

    def test_an_interrupt_ends_the_command(self):
        self.use_command('echo $$ >"$folder/new"; mv "$folder/new" "$folder/pid"; exec sleep 600')
        pid = self.state / "pid"

        def interrupt():
            while not pid.exists():
                time.sleep(0.02)
            self.kernel.manager.interrupt_kernel()

        thread = threading.Thread(target=interrupt)
        thread.start()
        self.assertEqual(self.kernel.run("plimsoll.explain('a text')")[2], "KeyboardInterrupt")
        thread.join()
        self.assertFalse(os.path.exists(f"/proc/{pid.read_text().strip()}"))


def run_here():
    """Within the rehearsal, whose own verdict is not the tests'."""
    short = "KernelTest.test_it_goes_on" if os.environ.get("PLIM_TORCH_SHORT") else None
    done = unittest.main(argv=sys.argv[:1] + sys.argv[2:], defaultTest=short, verbosity=2,
                         exit=False)
    if done.result.wasSuccessful():
        pathlib.Path(os.environ["PLIM_PASSED"]).touch()


def main():
    plimsoll = os.path.abspath(sys.argv[1])
    python = os.environ.get("PLIM_TORCH_PYTHON")
    if not python:
        print("skipped: PLIM_TORCH_PYTHON does not name a Python that has PyTorch")
        sys.exit(SKIPPED)
    tool = HERE.parents[1] / "tools" / "notebook-python"
    found = subprocess.run([tool, python], stdout=subprocess.PIPE, text=True, check=False)
    if found.returncode != 0:
        print("skipped: there is no kernel to run cells in")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        passed = pathlib.Path(folder, "passed")
        home = os.path.join(os.path.dirname(plimsoll), "rehearse")
        subprocess.run(
            [plimsoll, "rehearse", "--gpu", "rtx4090", "--devices", "1", "--",
             found.stdout.strip(), os.path.abspath(__file__), "--here", *sys.argv[2:]],
            stdout=subprocess.DEVNULL, check=False,
            env={**os.environ, "PLIM_PASSED": str(passed), "PLIM_REHEARSE_HOME": home,
                 "PLIM_COMMAND": plimsoll})
        sys.exit(0 if passed.exists() else 1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        run_here()
    else:
        main()
