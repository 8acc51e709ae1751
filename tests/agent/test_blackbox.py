#!/usr/bin/env python3
"""test_blackbox.py - the recorder in programs with a fake PyTorch: what it writes, and when.

Each test is a program of its own process, run as `plimsoll run` runs it.
"""

import json
import os
import pickle
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = os.path.join(HERE, "..", "..", "src", "agent")
FILES_OF_OURS = os.path.join("agent", "plimsoll_agent")


class Run:
    """A program's end, and the folders that its processes left."""

    def __init__(self, done, folder):
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.folder = folder
        self.processes = []
        for pid in sorted(os.listdir(folder), key=int):
            if os.path.exists(os.path.join(folder, pid, "process.json")):
                self.processes.append(Process(os.path.join(folder, pid)))

    @property
    def one(self):
        assert len(self.processes) == 1, (self.processes, self.err)
        return self.processes[0]


class Process:
    """What one process left."""

    def __init__(self, folder):
        self.folder = folder
        self.told = self.read("process.json")
        self.dumps = [self.read(f"{name}.json") for name in self.told["dumps"]]

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return json.load(file)

    def snapshot(self, dump):
        with open(os.path.join(self.folder, dump["snapshot"]), "rb") as file:
            return pickle.load(file)

    @property
    def reasons(self):
        return [dump["reason"] for dump in self.dumps]

    @property
    def end(self):
        return self.told["ended"], self.told["exit_status"]


class BlackBoxTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="plim run ")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_program(self, source, prepare=None, **environment):
        """Runs a program as the launcher would. Its script is program.py."""
        run = tempfile.mkdtemp(dir=self.folder, prefix="run ")
        with open(os.path.join(self.folder, "program.py"), "w", encoding="utf-8") as file:
            file.write("import os, signal, sys, threading\nimport torch\n"
                       + textwrap.dedent(source))
        variables = {name: value for name, value in os.environ.items()
                     if not name.startswith(("PLIMSOLL_", "PYTORCH_"))}
        variables.update(  # Python 3.12 warns of forks where there are threads, as CUDA has some
            environment, PLIMSOLL_RUN=run, PLIMSOLL_LIVE="off",
            PYTHONWARNINGS="ignore::DeprecationWarning",
            PYTHONPATH=os.pathsep.join([os.path.abspath(AGENT), os.path.join(HERE, "fakes")]))
        done = subprocess.run([sys.executable, "program.py"], cwd=self.folder, env=variables,
                              capture_output=True, text=True, timeout=60, check=False,
                              preexec_fn=prepare)
        self.assertNotIn(FILES_OF_OURS, done.stderr)
        return Run(done, run)


class Ends(BlackBoxTest):
    def test_a_healthy_program(self):
        run = self.run_program("kept = torch.take(100)\nprint('fine')\n")
        self.assertEqual((run.out, run.err, run.status), ("fine\n", "", 0))
        process = run.one
        self.assertEqual((process.end, process.reasons), (("exit", 0), ["exit"]))
        (dump,) = process.dumps
        self.assertFalse(dump["ends_program"])
        self.assertEqual((dump["error"], dump["failure"], dump["where"]), (None, None, None))
        self.assertEqual(process.snapshot(dump)["device_traces"],
                         [[{"action": "alloc", "size": 100}]])
        self.assertEqual(process.told["warnings"], [])

    def test_without_cuda_there_is_nothing(self):
        run = self.run_program("print('fine')")
        self.assertEqual((run.out, run.err, os.listdir(run.folder)), ("fine\n", "", []))

    def test_out_of_memory(self):
        run = self.run_program("""
            def train():
                kept = torch.take(600)
                torch.take(500)
            torch.Optimizer = torch.optim.Optimizer
            torch.optim.Optimizer().step()
            train()
            """)
        self.assertEqual(run.status, 1)
        self.assertIn("OutOfMemoryError: CUDA out of memory", run.err)
        process = run.one
        self.assertEqual((process.end, process.reasons), (("oom", 1), ["oom"]))
        self.assertIn("OutOfMemoryError: CUDA out of memory", process.told["exception"])
        (dump,) = process.dumps
        self.assertTrue(dump["ends_program"])
        self.assertEqual(dump["error"], "CUDA out of memory. Tried to allocate 500 bytes.")
        self.assertEqual(dump["where"], "program.py:6 train")
        self.assertEqual(dump["stack"][-1], "program.py:9 <module>")
        self.assertEqual(dump["failure"], {
            "device": 0, "requested_bytes": 500, "device_total_bytes": 1000,
            "device_free_bytes": 400, "allocated_bytes": 600, "reserved_bytes": 600})
        self.assertEqual(process.told["ooms"], [{"where": "program.py:6 train", "count": 1}])
        self.assertEqual((dump["devices"][0]["ooms"], dump["devices"][0]["name"]), (1, "Fake GPU"))
        self.assertEqual(dump["settings"], "expandable_segments:True")
        self.assertTrue(dump["collector"]["is_enabled"])
        self.assertGreater(dump["host"]["resident_bytes"], 0)
        self.assertEqual((dump["snapshot"], dump["why_no_snapshot"]), ("001-oom.pickle", None))

    def test_caught_failures(self):
        """The first three from each line, in brief; the rest is counted."""
        process = self.run_program("""
            for _ in range(5):
                try:
                    torch.take(2000)
                except torch.OutOfMemoryError:
                    torch.take(1)
            """, PLIMSOLL_DUMPS="9").one
        self.assertEqual((process.end, process.reasons), (("exit", 0), ["oom"] * 3 + ["exit"]))
        self.assertEqual(process.told["oom_count"], 5)
        for dump in process.dumps[:3]:
            self.assertFalse(dump["ends_program"])
            self.assertIsNone(dump["snapshot"])
            self.assertIn("may handle", dump["why_no_snapshot"])
            self.assertIn("Tried to allocate 2000", dump["error"])

    def test_the_fourth_from_a_line_may_be_the_last(self):
        process = self.run_program("""
            for turn in range(5):
                try:
                    torch.take(2000)
                except torch.OutOfMemoryError:
                    torch.take(1)
                    if turn == 4:
                        raise
            """, PLIMSOLL_DUMPS="9").one
        self.assertEqual((process.end, process.reasons), (("oom", 1), ["oom"] * 4))
        self.assertEqual([dump["ends_program"] for dump in process.dumps], [False] * 3 + [True])
        self.assertIsNotNone(process.dumps[3]["snapshot"])

    def test_one_that_comes_of_another(self):
        process = self.run_program("""
            try:
                torch.take(2000)
            except torch.OutOfMemoryError as error:
                raise ValueError("no") from error
            """).one
        self.assertEqual((process.end, process.reasons), (("oom", 1), ["oom"]))
        self.assertEqual(process.told["exception"], "ValueError: no")
        self.assertTrue(process.dumps[0]["ends_program"])

    def test_sys_exit_for_a_failure(self):
        process = self.run_program("""
            try:
                torch.take(2000)
            except torch.OutOfMemoryError:
                sys.exit(3)
            """).one
        self.assertEqual((process.end, process.reasons), (("oom", 3), ["oom"]))
        self.assertTrue(process.dumps[0]["ends_program"])
        self.assertIsNotNone(process.dumps[0]["snapshot"])

    def test_exit_for_a_failure(self):
        run = self.run_program("""
            try:
                torch.take(2000)
            except torch.OutOfMemoryError:
                exit(3)
            """)
        self.assertEqual((run.status, run.err, run.one.end), (3, "", ("oom", 3)))
        self.assertIsNotNone(run.one.dumps[0]["snapshot"])

    def test_sys_exit_that_is_caught(self):
        run = self.run_program("""
            try:
                try:
                    torch.take(2000)
                except torch.OutOfMemoryError:
                    sys.exit(3)
            except SystemExit:
                torch.take(1)
            """)
        self.assertEqual((run.status, run.one.end), (0, ("exit", 0)))
        self.assertEqual(run.one.reasons, ["oom", "exit"])
        self.assertFalse(run.one.dumps[0]["ends_program"])

    def test_sys_exit_stands_in_no_traceback(self):
        run = self.run_program("""
            import traceback
            torch.take(1)
            try:
                sys.exit("bye")
            except SystemExit as error:
                print(error.code, len(traceback.extract_tb(error.__traceback__)))
            """)
        self.assertEqual(run.out, "bye 1\n")

    def test_os_exit_after_a_failure(self):
        process = self.run_program("""
            try:
                torch.take(2000)
            except torch.OutOfMemoryError:
                pass
            os._exit(7)
            """).one
        self.assertEqual((process.end, process.reasons), (("oom", 7), ["oom"]))
        self.assertIsNotNone(process.dumps[0]["snapshot"])

    def test_other_exceptions(self):
        run = self.run_program("torch.take(1)\nraise KeyError('x')\n")
        process = run.one
        self.assertEqual((process.end, process.reasons), (("error", 1), ["exit"]))
        self.assertEqual(process.told["exception"], "KeyError: 'x'")
        self.assertTrue(process.dumps[0]["ends_program"])
        self.assertEqual(process.dumps[0]["where"], "program.py:4 <module>")

    def test_keyboard_interrupt(self):
        run = self.run_program("torch.take(1)\nos.kill(os.getpid(), signal.SIGINT)\n"
                               "import time; time.sleep(9)\n")
        self.assertEqual(run.one.end, ("signal", 130))
        self.assertEqual(run.status, -signal.SIGINT)

    def test_a_thread(self):
        run = self.run_program("""
            def work():
                torch.take(2000)
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            torch.take(1)
            """)
        process = run.one
        self.assertIn("Exception in thread", run.err)
        self.assertEqual((process.end, process.reasons), (("exit", 0), ["oom", "exit"]))
        self.assertFalse(process.dumps[0]["ends_program"])
        self.assertIsNotNone(process.dumps[0]["snapshot"])

    def test_hooks_of_the_programs_own(self):
        for before in (True, False):
            hook = "sys.excepthook = lambda kind, error, trace: print('mine', kind.__name__)\n"
            run = self.run_program(("torch.init()\n" * (not before)) + hook + "torch.take(2000)\n")
            self.assertEqual((run.out, run.err), ("mine OutOfMemoryError\n", ""))
            self.assertEqual(run.one.end, ("oom", 1))
            self.assertTrue(run.one.dumps[0]["ends_program"])

    def test_no_exception_is_kept_alive(self):
        """With it everything would be that its frames hold."""
        run = self.run_program("""
            import weakref
            class Held:
                pass
            alive = []
            def fail(how):
                held = Held()
                alive.append(weakref.ref(held))
                try:
                    torch.take(2000)
                except torch.OutOfMemoryError:
                    if how:
                        sys.exit(3)
            def work():
                held = Held()
                alive.append(weakref.ref(held))
                torch.take(2000)
            for how in range(2):
                try:
                    fail(how)
                except SystemExit:
                    pass
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            del thread
            print(len(alive), [one() for one in alive])
            """)
        self.assertEqual(run.out, "3 [None, None, None]\n")

    def test_a_session_goes_on(self):
        """Where a person types, an exception ends nothing."""
        process = self.run_program("""
            import code
            console = code.InteractiveConsole()
            torch.init()
            console.push("import torch")
            console.push("torch.take(2000)")
            torch.take(1)
            """).one
        self.assertEqual(process.end[0], "exit")
        self.assertFalse(process.dumps[0]["ends_program"])
        self.assertIsNotNone(process.dumps[0]["snapshot"])

    def test_another_program_in_the_same_process(self):
        process = self.run_program("""
            torch.take(1)
            from plimsoll_agent import blackbox
            if len(sys.argv) == 1:
                blackbox.current().dump("request")
                os.execv(sys.executable, [sys.executable, __file__, "again"])
            """).one
        self.assertEqual((process.end, process.reasons), (("exit", 0), ["request", "exit"]))
        self.assertEqual([dump["number"] for dump in process.dumps], [1, 2])

    def test_stop(self):
        run = self.run_program("""
            torch.take(1)
            from plimsoll_agent import blackbox
            blackbox.current().stopping("leak")
            raise KeyboardInterrupt
            """)
        self.assertEqual(run.out, "")
        self.assertEqual((run.one.end, run.one.told["stopped_on"]), (("stopped", 130), "leak"))
        self.assertEqual(run.one.reasons, ["stop"])


class Forks(BlackBoxTest):
    def test_a_child_with_cuda_has_a_folder_of_its_own(self):
        run = self.run_program("""
            def fail():
                pid = os.fork()
                if pid == 0:
                    try:
                        torch.take(2000)
                    except torch.OutOfMemoryError:
                        os._exit(1)
                print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            fail()
            """)
        self.assertEqual((run.out, run.err), ("1\n", ""))
        self.assertEqual(run.one.end, ("oom", 1))

    def test_a_child_of_one_with_cuda_is_left_alone(self):
        run = self.run_program("""
            torch.take(1)
            for how in (lambda: os._exit(3), lambda: os.kill(os.getpid(), signal.SIGUSR1),
                        lambda: sys.exit(5)):
                pid = os.fork()
                if pid == 0:
                    how()
                print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            """)
        self.assertEqual((run.out, run.err), (f"3\n{-signal.SIGUSR1}\n5\n", ""))
        self.assertEqual((run.one.end, run.one.reasons), (("exit", 0), ["exit"]))


class Signals(BlackBoxTest):
    def test_dumps_and_goes_on(self):
        run = self.run_program("""
            def train():
                kept = torch.take(5)
                os.kill(os.getpid(), signal.SIGUSR1)
                print("on")
            train()
            """)
        self.assertEqual((run.out, run.err, run.status), ("on\n", "", 0))
        self.assertEqual(run.one.reasons, ["signal", "exit"])
        self.assertEqual(run.one.dumps[0]["where"], "program.py:6 train")

    def test_the_program_does_not_see_it(self):
        run = self.run_program("""
            torch.take(5)
            print(signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL)
            before = signal.signal(signal.SIGUSR1, lambda *_: print("mine"))
            print(before is signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGUSR1)
            """)
        self.assertEqual(run.out, "True\nTrue\nmine\n")
        self.assertEqual(run.one.reasons, ["exit"])

    def test_the_programs_own_rules(self):
        run = self.run_program("""
            signal.signal(signal.SIGUSR1, lambda *_: print("mine"))
            torch.take(5)
            os.kill(os.getpid(), signal.SIGUSR1)
            """)
        self.assertEqual(run.out, "mine\n")


    def test_a_handler_of_c_rules(self):
        run = self.run_program("""
            import faulthandler
            faulthandler.register(signal.SIGUSR1, all_threads=False)
            torch.take(5)
            os.kill(os.getpid(), signal.SIGUSR1)
            """)
        self.assertIn("program.py", run.err)
        self.assertEqual(run.one.reasons, ["exit"])

    def test_sigterm(self):
        run = self.run_program("""
            import time
            def train():
                torch.take(5)
                print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, signal.set_wakeup_fd(-1),
                      threading.active_count(), flush=True)
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(9)
            train()
            """)
        self.assertEqual((run.out, run.err, run.status), ("True -1 1\n", "", -signal.SIGTERM))
        self.assertEqual((run.one.end, run.one.reasons), (("signal", 143), ["signal"]))
        self.assertTrue(run.one.dumps[0]["ends_program"])
        self.assertEqual(run.one.dumps[0]["where"], "program.py:9 train")

    def test_sigterm_while_the_main_thread_waits_in_c(self):
        """It ends all the same: a lock that Python waits for without running handlers."""
        run = self.run_program("""
            import ctypes
            torch.take(5)
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
            mutex = ctypes.create_string_buffer(64)
            for _ in range(2):
                ctypes.CDLL(None).pthread_mutex_lock(mutex)
            """)
        self.assertEqual(run.status, -signal.SIGTERM)
        self.assertEqual((run.one.end, run.one.reasons), (("signal", 143), ["signal"]))

    def test_sigterm_of_the_programs_own(self):
        run = self.run_program("""
            torch.take(5)
            signal.signal(signal.SIGTERM, lambda *_: print("mine"))
            os.kill(os.getpid(), signal.SIGTERM)
            import time
            time.sleep(1.5)
            """)
        self.assertEqual((run.out, run.status, run.one.end), ("mine\n", 0, ("exit", 0)))

    def test_sigterm_to_a_child(self):
        run = self.run_program("""
            import time
            torch.take(5)
            pid = os.fork()
            if pid == 0:
                time.sleep(9)
            time.sleep(0.3)
            os.kill(pid, signal.SIGTERM)
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            time.sleep(1.3)
            print("on")
            """)
        self.assertEqual((run.out, run.one.end), (f"{-signal.SIGTERM}\non\n", ("exit", 0)))


class Trouble(BlackBoxTest):
    """What fails in the recorder is never the program's problem."""

    PROGRAM = "torch.take(600)\ntorch.take(500)\n"

    def check(self, run, said=""):
        lines = run.err.splitlines()
        self.assertEqual([line for line in lines if line.startswith("plimsoll: ")][1:], [])
        self.assertEqual(lines[0][:9] if said else lines[0], "plimsoll:" if said else lines[0])
        self.assertIn("OutOfMemoryError: CUDA out of memory. Tried", run.err)
        self.assertIn(said, run.err)
        self.assertEqual(run.status, 1)

    def test_no_memory_for_the_history(self):
        run = self.run_program(self.PROGRAM, FAKE_NO_MEMORY="history")
        self.assertEqual(run.one.dumps[0]["snapshot"], "001-oom.pickle")
        self.assertEqual(run.one.dumps[0]["why_no_history"], "MemoryError")
        self.assertEqual(run.one.snapshot(run.one.dumps[0])["device_traces"], [])

    def test_no_memory_for_a_snapshot(self):
        run = self.run_program(self.PROGRAM, FAKE_NO_MEMORY="all")
        dump = run.one.dumps[0]
        self.assertEqual((dump["snapshot"], dump["why_no_snapshot"]), (None, "MemoryError"))
        self.assertEqual(dump["failure"]["requested_bytes"], 500)
        self.assertEqual(run.one.end, ("oom", 1))

    def test_little_memory_is_seen_before(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (200 << 20, resource.RLIM_INFINITY))

        run = self.run_program("""
            ballast = bytearray(120 << 20)
            torch.take(600)
            torch.take(500)
            """, prepare=limit)
        self.assertRegex(run.one.dumps[0]["why_no_history"], "only [0-9]+ MiB of memory left")

    def test_a_folder_that_is_removed(self):
        run = self.run_program("""
            import shutil
            torch.take(600)
            shutil.rmtree(os.environ["PLIMSOLL_RUN"])
            torch.take(500)
            """)
        self.assertEqual(run.one.end, ("oom", 1))
        self.assertEqual(run.one.reasons, ["oom"])

    def test_a_folder_that_cannot_be_made(self):
        run = self.run_program("""
            from plimsoll_agent import blackbox
            blackbox.current().files.path = "/dev/null/run"
            torch.take(600)
            torch.take(500)
            """)
        self.check(run, "could not write into /dev/null/run")

    def test_a_full_disk(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))

        run = self.run_program(self.PROGRAM, prepare=limit)
        self.check(run, "could not write into")
        self.assertEqual(run.processes, [])
        quiet = self.run_program(self.PROGRAM, prepare=limit, PLIMSOLL_QUIET="1")
        self.check(quiet)

    def test_nothing_half_is_left_by_a_full_disk(self):
        run = self.run_program("""
            import resource
            torch.take(600)
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))
            torch.take(500)
            """)
        self.check(run, "could not write into")
        self.assertEqual(os.listdir(run.one.folder), ["process.json"])

    def test_a_device_that_does_not_answer(self):
        run = self.run_program("""
            torch.take(1)
            def broken(*_):
                raise RuntimeError("CUDA error: device-side assert triggered")
            torch._C._cuda_memoryStats = broken
            torch.cuda.mem_get_info = broken
            torch.cuda.memory._snapshot = broken
            """)
        self.assertEqual((run.err, run.status), ("", 0))
        (dump,) = run.one.dumps
        self.assertEqual(dump["devices"], [])
        self.assertIn("statistics", " ".join(run.one.told["warnings"]))


class Choices(BlackBoxTest):
    def test_record_off(self):
        process = self.run_program("torch.take(1)", PLIMSOLL_RECORD="off").one
        self.assertEqual(process.dumps[0]["why_no_history"], "nothing was recorded")
        self.assertEqual(process.snapshot(process.dumps[0])["device_traces"][0], [])

    def test_a_history_of_the_programs_own(self):
        process = self.run_program("""
            torch.take(1)
            torch.cuda.memory._record_memory_history(max_entries=7)
            print(torch._state["entries"])
            """).one
        self.assertTrue(process.told["history_is_programs"])
        self.assertIsNotNone(process.dumps[-1]["snapshot"])

    def test_rotation_keeps_the_first_failure_and_the_last_dump(self):
        process = self.run_program("""
            from plimsoll_agent import blackbox
            torch.take(1)
            blackbox.current().dump("request")
            try:
                torch.take(2000)
            except torch.OutOfMemoryError:
                pass
            for _ in range(5):
                blackbox.current().dump("request")
            """, PLIMSOLL_DUMPS="3").one
        self.assertEqual(process.told["dumps"], ["002-oom", "007-request", "008-exit"])
        self.assertEqual(sorted(os.listdir(process.folder)),
                         ["002-oom.holders.json", "002-oom.json", "007-request.holders.json",
                          "007-request.json", "007-request.pickle",
                          "008-exit.json", "008-exit.pickle", "process.json"])

    def test_files_are_their_users_alone(self):
        process = self.run_program("os.umask(0)\ntorch.take(1)\n").one
        self.assertEqual(stat.S_IMODE(os.stat(process.folder).st_mode), 0o700)
        for name in os.listdir(process.folder):
            mode = os.stat(os.path.join(process.folder, name)).st_mode
            self.assertEqual(stat.S_IMODE(mode), 0o600)

    def test_limit(self):
        program = "kept = torch.take(300)\ntorch.take(300)\n"
        self.assertEqual(self.run_program(program).status, 0)
        run = self.run_program(program, PLIMSOLL_LIMIT="500")
        self.assertEqual((run.one.end, run.one.told["limit_bytes"]), (("oom", 1), 500))
        self.assertEqual(self.run_program(program, PLIMSOLL_LIMIT="5000").status, 0)

    def test_of_two_limits_the_smaller_one_holds(self):
        program = """
            torch.init()
            torch._C._cuda_setMemoryFraction(SHARE, 0)
            print(torch._state["share"])
            """
        for share, held in (("0.9", "0.5"), ("0.3", "0.3")):
            run = self.run_program(program.replace("SHARE", share), PLIMSOLL_LIMIT="500")
            self.assertEqual(run.out, f"{held}\n")

    def test_settings_and_versions(self):
        told = self.run_program("torch.take(1)\ntorch.optim.Optimizer().step()\n",
                                PYTORCH_CUDA_ALLOC_CONF="max_split_size_mb:32").one.told
        self.assertEqual((told["schema"], told["torch"], told["cuda"]),
                         ("run-process/1", "2.11.0+fake", "13.0"))
        self.assertEqual((told["settings_requested"], told["settings"]),
                         ("max_split_size_mb:32", "expandable_segments:True"))
        self.assertIn("does not have it", told["warnings"][0])
        self.assertEqual((told["steps"], told["record"], told["events"]), (1, "ring", 100000))
        self.assertEqual(told["argv"], ["program.py"])
        self.assertGreater(told["agent_seconds"], 0)


if __name__ == "__main__":
    unittest.main()
