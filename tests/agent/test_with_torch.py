#!/usr/bin/env python3
"""The agent in real PyTorch programs: what it finds, and that they do not notice.

    test_with_torch.py PLIMSOLL

runs itself as a rehearsal, with the Python that PLIM_TORCH_PYTHON names and that has PyTorch;
without one it is skipped. `test_with_torch.py --here` takes the stand-ins that are in the
environment already. Programs run twice, without and with the agent, and must do the same.
"""

import importlib.util
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

AGENT = os.path.join(os.path.dirname(__file__), "..", "..", "src", "agent")
SKIPPED = 77
KIB, MIB = 1 << 10, 1 << 20
TRAIN = """
import torch
def model(width=256):
    layers = torch.nn.Linear(width, 4 * width), torch.nn.ReLU(), torch.nn.Linear(4 * width, width)
    return torch.nn.Sequential(*layers).cuda()
def batch(rows=64, width=256):
    return torch.randn(rows, width, device="cuda")
def loss_of(net):
    return net(batch()).square().mean()
"""


class Run:
    """A program's end and what the agent wrote about it."""

    def __init__(self, process, folder):
        self.status = process.returncode
        self.stdout = process.stdout
        self.stderr = process.stderr
        self.results = []
        self.folder = os.path.join(folder, "results")
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".json"):
                with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                    self.results.append(json.load(file))

    def snapshot(self):
        with open(os.path.join(self.folder, self.results[0]["snapshot"]), "rb") as file:
            return pickle.load(file)


class Program:
    """A program in a folder of its own."""

    def __init__(self, test, source):
        self.folder = tempfile.mkdtemp()
        test.addCleanup(subprocess.run, ["rm", "-rf", self.folder], check=True)
        self.script = self.add("train.py", TRAIN + textwrap.dedent(source))

    def add(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def environment(self, with_agent, run, settings):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("PLIMSOLL_") or name == "PLIMSOLL_STAGE"}
        paths = [os.path.abspath(AGENT)] if with_agent else []
        paths += [os.path.join(self.folder, "own")]
        outer = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        paths += [path for path in outer if path and os.path.basename(path) != "agent"]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
        environment["PYTHONHASHSEED"] = "0"
        if with_agent:
            environment["PLIMSOLL_REHEARSAL"] = run
            environment.update(settings)
        return environment

    def run(self, with_agent=True, options=(), **settings):
        run = tempfile.mkdtemp(dir=self.folder)
        os.mkdir(os.path.join(run, "results"))
        process = subprocess.run(
            [sys.executable, *options, self.script], cwd=self.folder, capture_output=True,
            text=True, timeout=300, env=self.environment(with_agent, run, settings))
        return Run(process, run)


class AgentTest(unittest.TestCase):
    maxDiff = None

    def both(self, source, options=(), prepare=None, **settings):
        """Runs a program without and with the agent; it must do the same. The one with."""
        program = Program(self, source)
        if prepare:
            prepare(program)
        without = program.run(with_agent=False, options=options)
        with_agent = program.run(options=options, **settings)
        self.assertEqual(with_agent.stdout, without.stdout)
        self.assertNotIn("plimsoll_agent", with_agent.stderr)
        self.assertEqual(without_own_lines(with_agent.stderr), without_own_lines(without.stderr))
        self.assertEqual(with_agent.status, without.status)
        return with_agent

    def one(self, run):
        self.assertEqual(len(run.results), 1, run.stderr)
        result = run.results[0]
        self.assertEqual([w for w in result["warnings"] if "could not" in w], [])
        return result


def without_own_lines(text):
    """Of a traceback, without the agent's frames, object addresses and the like."""
    lines = text.splitlines()
    kept = []
    skip = False
    for line in lines:
        if line.lstrip().startswith("File "):
            skip = "plimsoll_agent" in line
        elif skip and not line.startswith("    "):
            skip = False
        if not skip and "process has" not in line and "[W" not in line:
            kept.append(line)
    return kept


class Training(AgentTest):
    def test_steps_and_phases(self):
        result = self.one(self.both("""
            net = model()
            optimizer = torch.optim.AdamW(net.parameters())
            for _ in range(3):
                for _ in range(2):
                    loss_of(net).backward()
                torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            print(torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved())
            """))
        self.assertEqual((result["steps"], result["ended"], result["exit_status"]), (3, "exit", 0))
        (device,) = result["devices"]
        phases = {phase["phase"]: phase for phase in device["phases"]}
        self.assertEqual(list(phases), ["setup", "forward", "backward", "optimizer"])
        weights = 4 * (2 * 256 * 1024) + 4 * 1024 + 4 * 256
        first_batch = 64 * KIB  # made before the first call of a module
        self.assertEqual(phases["setup"]["peak_allocated_bytes"], weights + first_batch)
        self.assertEqual([step["step"] for step in device["steps"]], [1, 2, 3])
        self.assertEqual(device["peak_allocated_bytes"],
                         max(phase["peak_allocated_bytes"] for phase in device["phases"]))
        self.assertEqual(device["peak_allocated_bytes"],
                         max(step["peak_allocated_bytes"] for step in device["steps"]))
        self.assertGreaterEqual(device["peak_reserved_bytes"], device["peak_active_bytes"])
        self.assertEqual(result["value_reads"], [])

    def test_peak_is_in_the_right_phase_and_step(self):
        result = self.one(self.both("""
            net = model()
            optimizer = torch.optim.SGD(net.parameters())
            for step in range(3):
                loss = loss_of(net)
                if step == 1:
                    extra = torch.empty(64 << 20, device="cuda", dtype=torch.uint8)
                    del extra
                loss.backward()
                optimizer.step()
            """))
        (device,) = result["devices"]
        self.assertEqual((device["peak_step"], device["peak_phase"]), (2, "forward"))

    def test_programs_own_statistics(self):
        self.one(self.both("""
            net = model()
            optimizer = torch.optim.AdamW(net.parameters())
            def look():
                stats = torch.cuda.memory_stats()
                print(sorted((k, v) for k, v in stats.items() if "peak" in k))
                print(torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
                if hasattr(torch, "accelerator") and hasattr(torch.accelerator, "memory_stats"):
                    print(torch.accelerator.max_memory_allocated())
            for step in range(5):
                loss_of(net).backward()
                look()
                optimizer.step()
                look()
                if step == 1:
                    torch.cuda.reset_peak_memory_stats()
                    look()
                if step == 2 and hasattr(getattr(torch, "accelerator", None), "memory_stats"):
                    torch.accelerator.reset_peak_memory_stats()
                    look()
                if step == 3:
                    torch.cuda.reset_accumulated_memory_stats()
                optimizer.zero_grad()
            print(torch.cuda.memory_summary())
            """))

    def test_own_peak_across_the_programs_resets(self):
        result = self.one(self.both("""
            big = torch.empty(256 << 20, device="cuda", dtype=torch.uint8)
            del big
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            net = model()
            loss_of(net).backward()
            print(torch.cuda.max_memory_allocated() < 256 << 20)
            """))
        (device,) = result["devices"]
        self.assertEqual(device["peak_allocated_bytes"], 256 * MIB)
        self.assertEqual((device["peak_step"], device["peak_phase"]), (0, "setup"))

    def test_two_optimizers_in_one_step(self):
        result = self.one(self.both("""
            net, other = model(), model()
            first = torch.optim.AdamW(net.parameters())
            second = torch.optim.SGD(other.parameters(), momentum=0.9)
            for _ in range(3):
                (loss_of(net) + loss_of(other)).backward()
                first.step()
                second.step()
            """))
        self.assertEqual(result["steps"], 3)
        self.assertEqual([s["step"] for s in result["devices"][0]["steps"]], [1, 2, 3])

    def test_stop_after_steps_with_two_optimizers(self):
        result = self.one(Program(self, """
            net, other = model(), model()
            first = torch.optim.AdamW(net.parameters())
            second = torch.optim.SGD(other.parameters(), momentum=0.9)
            while True:
                loss_of(net).backward()
                first.step()
                loss_of(other).backward()
                second.step()
                print(len(second.state), flush=True)
            """).run(PLIMSOLL_STEPS="1"))
        self.assertEqual((result["steps"], result["ended"]), (1, "steps"))
        self.assertEqual([s["step"] for s in result["devices"][0]["steps"]], [1])

    def test_stop_after_steps(self):
        run = Program(self, """
            import atexit
            atexit.register(print, "never")
            net = model()
            optimizer = torch.optim.AdamW(net.parameters())
            for _ in range(10):
                loss_of(net).backward()
                print("step", end=" ")
                optimizer.step()
            """).run(PLIMSOLL_STEPS="2")
        result = self.one(run)
        self.assertEqual((run.stdout, run.status), ("step step ", 0))
        self.assertEqual((result["steps"], result["ended"]), (2, "steps"))
        self.assertEqual(len(result["devices"][0]["steps"]), 2)

    def test_stop_waits_for_the_end_of_backward(self):
        result = self.one(Program(self, """
            net = model()
            optimizers = {p: torch.optim.AdamW([p]) for p in net.parameters()}
            def step(parameter):
                optimizers[parameter].step()
                parameter.grad = None
            for parameter in net.parameters():
                parameter.register_post_accumulate_grad_hook(step)
            while True:
                loss_of(net).backward()
            """).run(PLIMSOLL_STEPS="2"))
        self.assertEqual((result["steps"], result["ended"]), (2, "steps"))
        self.assertEqual([s["step"] for s in result["devices"][0]["steps"]], [1, 2])

    def test_closures(self):
        result = self.one(self.both("""
            net = model()
            optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)
            def closure():
                optimizer.zero_grad()
                loss = loss_of(net)
                loss.backward()
                return loss
            for _ in range(2):
                optimizer.step(closure)
            optimizer = torch.optim.Adam(net.parameters())
            optimizer.step(closure)
            """))
        self.assertEqual(result["steps"], 3)
        names = [phase["phase"] for phase in result["devices"][0]["phases"]]
        self.assertEqual(sorted(names), ["backward", "forward", "optimizer", "setup"])

    def test_checkpointing_autocast_and_scaler(self):
        result = self.one(self.both("""
            from torch.utils.checkpoint import checkpoint
            net = model()
            optimizer = torch.optim.AdamW(net.parameters(), fused=True)
            scaler = torch.amp.GradScaler("cuda")
            for reentrant in (False, True, True):
                with torch.autocast("cuda", dtype=torch.float16):
                    rows = batch().requires_grad_()
                    loss = checkpoint(net, rows, use_reentrant=reentrant).square().mean()
                scaler.scale(loss).backward()
                scaler.unscale_(optimizer)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
            print(torch.cuda.max_memory_allocated())
            """))
        self.assertEqual(result["steps"], 3)
        names = {phase["phase"] for phase in result["devices"][0]["phases"]}
        self.assertEqual(names, {"setup", "forward", "backward", "optimizer"})

    def test_inference_is_forward(self):
        result = self.one(self.both("""
            net = model()
            with torch.inference_mode():
                net(batch())
            """))
        self.assertEqual(result["devices"][0]["peak_phase"], "forward")


class Reads(AgentTest):
    def reads(self, source):
        result = self.one(self.both(source))
        return [(read["where"].split(":")[0], read["what"], read["count"])
                for read in result["value_reads"]]

    def test_kinds(self):
        reads = self.reads("""
            net = model()
            x = batch()
            for _ in range(3):
                value = x.sum().item()
            x.nonzero()
            x[x > 0]
            x[0].tolist()
            if (x > 0).any():
                pass
            float(x[0, 0])
            torch.masked_select(x, x > 0)
            x.cpu()
            x[0].cpu().numpy()
            y = x.to("cpu")
            y.copy_(x)
            """)
        self.assertEqual(reads, [
            ("train.py", "item", 3), ("train.py", "nonzero", 1), ("train.py", "boolean mask", 1),
            ("train.py", "copy to host", 1), ("train.py", "truth value", 1),
            ("train.py", "item", 1), ("train.py", "masked_select", 1),
            ("train.py", "copy to host", 1), ("train.py", "copy to host", 1),
            ("train.py", "copy to host", 1), ("train.py", "copy to host", 1)])

    def test_copies_to_the_device_are_none(self):
        self.assertEqual(self.reads("""
            device = torch.device("cuda")
            class Owner:
                pass
            owner = Owner()
            owner.device = device
            x = torch.randn(1000)
            x.to(device)
            x.to(device=owner.device)
            x.cuda()
            torch.tensor([1, 2, 3], device=device)
            y = torch.empty(1000, device=device)
            y.copy_(x)
            torch.cuda.synchronize()
            torch.cuda.current_stream().synchronize()
            net = torch.nn.Linear(100, 100).to(device)
            """), [])

    def test_warnings_stay_the_programs(self):
        self.reads("""
            import warnings
            x = batch()
            x.sum().item()
            warnings.simplefilter("error")
            x.sum().item()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                x.sum().item()
                warnings.warn("own")
                print([str(w.message) for w in caught])
            warnings.resetwarnings()
            x.sum().item()
            warnings.filters = []
            x.sum().item()
            warnings.warn("seen")
            """)

    def test_the_programs_own_debug_mode(self):
        self.reads("""
            x = batch()
            print(torch.cuda.get_sync_debug_mode())
            import warnings
            warnings.simplefilter("ignore")
            torch.cuda.set_sync_debug_mode("warn")
            print(torch.cuda.get_sync_debug_mode())
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                x.sum().item()
                print(len(caught))
            torch.cuda.set_sync_debug_mode("error")
            try:
                x.sum().item()
            except RuntimeError as error:
                print(error)
            torch.cuda.set_sync_debug_mode(0)
            print(torch.cuda.get_sync_debug_mode())
            x.sum().item()
            """)

    def test_reads_in_backward_and_libraries(self):
        reads = self.reads("""
            class Look(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return x * 2
                @staticmethod
                def backward(ctx, grad):
                    grad.sum().item()
                    return grad
            x = batch().requires_grad_()
            Look.apply(x).sum().backward()
            print(x[:1, :2])
            """)
        self.assertEqual([what for _, what, _ in reads], ["item", "print"])


class Values(AgentTest):
    """Which reads matter, and loops without an end."""

    MODEL = """
        from transformers import {0}Config as Config, {0}ForCausalLM as Model
        config = Config(hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                        num_attention_heads=4, num_key_value_heads=4, vocab_size=1000)
        with torch.device("cuda"):
            net = Model(config).bfloat16()
        ids = torch.randint(1000, (2, 16)).cuda()
    """

    def whys(self, source):
        """The end, and what matters."""
        result = self.one(Program(self, source).run())
        return result, [(read["what"], read["why"]) for read in result["value_reads"]
                        if read["why"]]

    def with_transformers(self, name, source):
        if importlib.util.find_spec("transformers") is None:
            self.skipTest("transformers is not installed")
        return self.whys(textwrap.dedent(self.MODEL.format(name)) + textwrap.dedent(source))

    def test_masks_and_branches(self):
        result, whys = self.whys("""
            x = batch()
            kept = x[x > 0]
            if x.isnan().any():
                print("odd")
            print(x.sum().item(), (x > 0).sum().item())
            n = int((x > 0).sum())
            y = torch.zeros(n + 1, device="cuda")
            host = torch.tensor([1, 2, 3], device="cuda")
            z = torch.zeros(int(host[:1]), device="cuda")
            """)
        self.assertEqual([what for what, _ in whys], ["boolean mask", "item"])
        self.assertIn("zeros", whys[1][1])

    def test_a_loop_without_an_end(self):
        result, whys = self.whys("""
            x = batch()
            while not (x[-1] > 3).any():
                x = torch.cat((x[-9000:], batch(1)))
            print("done")
            """)
        self.assertEqual((result["ended"], result["stop_reason"], result["exit_status"]),
                         ("stopped", "endless_loop", 0))
        self.assertIn("memory grew", result["stop_text"])

    def test_generation_is_stopped(self):
        result, _ = self.with_transformers("Llama", "net.generate(ids, max_new_tokens=4)")
        if result["ended"] == "exit":
            self.skipTest("this version of transformers stops on the host")
        self.assertEqual(result["stop_reason"], "endless_loop")
        self.assertIn("21 tokens, where max_length is 20", result["stop_text"])

    def test_beams_hang_on_values(self):
        result, whys = self.with_transformers(
            "Llama", "net.generate(ids, max_new_tokens=4, num_beams=2)")
        self.assertTrue(whys)

    def test_experts_hang_on_values(self):
        result, whys = self.with_transformers("Mixtral", """
            net.set_experts_implementation("eager")
            net(ids, labels=ids).loss.backward()
            """)
        self.assertIn("nonzero", [what for what, _ in whys])


class Ooms(AgentTest):
    HUGE = "torch.empty(1 << 44, dtype=torch.uint8, device='cuda')"

    def test_uncaught(self):
        run = self.both(f"""
            def main():
                net = model()
                loss_of(net).backward()
                {self.HUGE}
            main()
            """, PLIMSOLL_HISTORY="all")
        result = self.one(run)
        self.assertEqual((result["ended"], result["exit_status"]), ("oom", 1))
        self.assertTrue(result["exception"].startswith("torch.OutOfMemoryError: CUDA out of"))
        (oom,) = result["ooms"]
        self.assertEqual((oom["requested_bytes"], oom["device"]), (1 << 44, 0))
        self.assertIn(oom["text"].splitlines()[0], run.stderr)
        self.assertTrue(oom["stack"][0].startswith("train.py:"))
        self.assertTrue(oom["stack"][0].endswith(" main"))
        self.assertEqual(result["snapshot"], f"{result['pid']}.oom.pickle")
        snapshot = run.snapshot()
        (actions,) = [[e["action"] for e in t] for t in snapshot["device_traces"] if t]
        self.assertIn("oom", actions)
        self.assertGreater(sum(s["allocated_size"] for s in snapshot["segments"]), 0)

    def test_caught_and_retried(self):
        run = self.both(f"""
            net = model()
            optimizer = torch.optim.AdamW(net.parameters())
            for step in range(2):
                try:
                    {self.HUGE}
                except torch.cuda.OutOfMemoryError:
                    print("retry")
                loss_of(net).backward()
                optimizer.step()
            print(torch.cuda.memory_stats()["num_ooms"])
            """, PLIMSOLL_HISTORY="all", PLIMSOLL_SNAPSHOT="1")
        result = self.one(run)
        self.assertEqual((result["ended"], result["steps"], len(result["ooms"])), ("exit", 2, 2))
        self.assertEqual((result["oom_count"], result["oom_places"][0]["count"]), (2, 2))
        self.assertIn("Tried to allocate", result["ooms"][1]["text"])
        self.assertEqual(result["devices"][0]["ooms"], 2)
        self.assertEqual(result["snapshot"], f"{result['pid']}.pickle")

    def test_in_backward(self):
        result = self.one(self.both(f"""
            class Huge(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return x * 2
                @staticmethod
                def backward(ctx, grad):
                    return {self.HUGE}
            Huge.apply(batch().requires_grad_()).sum().backward()
            """))
        self.assertEqual((result["ended"], result["ooms"][0]["phase"]), ("oom", "backward"))
        self.assertTrue(result["ooms"][0]["stack"][0].startswith("train.py:"))

    def test_handled_and_left(self):
        result = self.one(self.both(f"""
            import sys
            try:
                {self.HUGE}
            except RuntimeError as error:
                print("no memory")
            sys.exit(4)
            """))
        self.assertEqual((result["ended"], result["exit_status"]), ("oom", 4))


class Ends(AgentTest):
    def end_of(self, source, **settings):
        result = self.one(self.both("batch()\n" + textwrap.dedent(source), **settings))
        return result["ended"], result["exception"], result["exit_status"]

    def test_exception(self):
        self.assertEqual(self.end_of("raise KeyError('x')"), ("error", "KeyError: 'x'", 1))

    def test_exception_by_a_value(self):
        result = self.one(self.both("""
            def check(loss):
                assert loss.item() > 0
            check(loss_of(model()))
            """))
        self.assertEqual(result["ended"], "error")
        self.assertTrue(any("check reads a value" in line for line in result["warnings"]))

    def test_sys_exit(self):
        self.assertEqual(self.end_of("import sys; sys.exit(3)"), ("exit", None, 3))

    def test_os_exit(self):
        self.assertEqual(self.end_of("import os; os._exit(5)"), ("exit", None, 5))

    def test_keyboard_interrupt(self):
        source = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
        self.assertEqual(self.end_of(source), ("error", "KeyboardInterrupt", 130))

    def test_sigterm(self):
        source = "import os, signal, time; os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)"
        self.assertEqual(self.end_of(source), ("error", "terminated by SIGTERM", 143))

    def test_kill(self):
        program = Program(self, """
            import os, time
            kept = batch()
            time.sleep(7)
            os.kill(os.getpid(), 9)
            """)
        run = program.run()
        result = self.one(run)
        self.assertEqual((run.status, result["ended"]), (-signal.SIGKILL, "running"))
        self.assertEqual(result["devices"][0]["allocated_bytes"], 64 * KIB)

    def test_no_torch(self):
        program = Program(self, "")
        program.script = program.add("plain.py", "print('hello')\n")
        run = program.run()
        self.assertEqual((run.stdout, run.results), ("hello\n", []))

    def test_no_cuda(self):
        result = self.one(self.both("print(torch.ones(3).sum())"))
        self.assertEqual(result["devices"], [])


class Processes(AgentTest):
    LOADER = """
        class Rows(torch.utils.data.Dataset):
            def __len__(self):
                return 64
            def __getitem__(self, index):
                return torch.full((256,), float(index))
        if __name__ == "__main__":
            net = model()
            optimizer = torch.optim.AdamW(net.parameters())
            loader = torch.utils.data.DataLoader(
                Rows(), batch_size=8, num_workers=2, multiprocessing_context=METHOD,
                pin_memory=True)
            for rows in loader:
                net(rows.cuda(non_blocking=True)).square().mean().backward()
                optimizer.step()
            print("done")
        """

    def test_forked_workers(self):
        result = self.one(self.both(self.LOADER.replace("METHOD", "'fork'")))
        self.assertEqual((result["steps"], result["value_reads"]), (8, []))

    def test_spawned_workers(self):
        result = self.one(self.both(self.LOADER.replace("METHOD", "'spawn'")))
        self.assertEqual(result["steps"], 8)

    def test_stop_with_workers(self):
        run = Program(self, self.LOADER.replace("METHOD", "'fork'")).run(PLIMSOLL_STEPS="2")
        result = self.one(run)
        self.assertEqual((result["ended"], run.status, run.stdout, run.stderr),
                         ("steps", 0, "", ""))

    def test_ranks(self):
        run = self.both("""
            import os
            import torch.multiprocessing as mp
            def work(rank):
                os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2")
                kept = batch()
                if rank == 1:
                    os._exit(0)
            if __name__ == "__main__":
                mp.spawn(work, nprocs=2)
            """)
        using = [result for result in run.results if result["devices"]]
        self.assertEqual(sorted(result["rank"] for result in using), [0, 1])
        self.assertEqual({result["world_size"] for result in using}, {2})
        self.assertEqual(len(run.results), 3)

    def test_out_of_memory_in_a_rank(self):
        run = Program(self, f"""
            import torch.multiprocessing as mp
            def work(rank):
                {Ooms.HUGE}
            if __name__ == "__main__":
                mp.spawn(work, nprocs=1)
            """).run()
        ended = {result["ended"] for result in run.results if result["ooms"]}
        self.assertEqual(ended, {"oom"})


class TheProgramsOwn(AgentTest):
    def test_sitecustomize_and_path(self):
        def prepare(program):
            program.add("own/sitecustomize.py", "import sys; sys.own = True\n")

        self.one(self.both("""
            import sys, sitecustomize
            print(sys.own, sitecustomize.__file__, [p for p in sys.path if "agent" in p])
            """, prepare=prepare))

    def test_history(self):
        run = self.both("""
            import pickle
            torch.cuda.memory._record_memory_history(max_entries=1000)
            kept = batch()
            torch.cuda.memory._dump_snapshot("own.pickle")
            with open("own.pickle", "rb") as file:
                traces = pickle.load(file)["device_traces"]
            print([[entry["action"] for entry in trace] for trace in traces])
            """, PLIMSOLL_HISTORY="all")
        result = self.one(run)
        self.assertEqual(len(result["warnings"]), 1)
        self.assertIn("_record_memory_history", result["warnings"][0])

    def test_history_from_half_way(self):
        """With --record too, the program's snapshot has nothing from before its own start."""
        self.one(self.both("""
            before = [batch() for _ in range(5)]
            torch.cuda.memory._record_memory_history(max_entries=1000)
            kept = batch()
            torch.cuda.memory._dump_snapshot("own.pickle")
            import pickle
            with open("own.pickle", "rb") as file:
                traces = pickle.load(file)["device_traces"]
            print([[entry["action"] for entry in trace] for trace in traces])
            """, PLIMSOLL_HISTORY="all"))

    def test_history_of_a_failure(self):
        """Without --record: no event of ours, in what the program records until it runs out."""
        self.one(self.both(f"""
            before = batch()
            torch.cuda.memory._record_memory_history(max_entries=1000)
            net = model()
            loss_of(net).backward()
            try:
                {Ooms.HUGE}
            except torch.cuda.OutOfMemoryError:
                torch.cuda.memory._dump_snapshot("own.pickle")
            import pickle
            with open("own.pickle", "rb") as file:
                traces = pickle.load(file)["device_traces"]
            print([[entry["action"] for entry in trace] for trace in traces])
            """))

    def test_tracebacks(self):
        """None of our frames, wherever an exception comes through."""
        self.one(self.both("""
            import traceback
            from torch.utils.checkpoint import checkpoint
            class Fails(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return x * 2
                @staticmethod
                def backward(ctx, gradient):
                    raise ValueError("in backward")
            def fail(*args):
                raise KeyError("in a hook")
            net = model()
            x = batch().requires_grad_()
            for reentrant in (False, True):
                try:
                    checkpoint(lambda y: Fails.apply(net(y)), x, use_reentrant=reentrant
                               ).sum().backward()
                except ValueError:
                    traceback.print_exc()
            optimizer = torch.optim.SGD(net.parameters())
            optimizer.register_step_pre_hook(fail)
            handle = net.register_forward_hook(fail)
            for call in (lambda: net(x), optimizer.step):
                try:
                    call()
                except KeyError:
                    traceback.print_exc()
            handle.remove()
            net(x).sum().backward()
            """))

    def test_steps_by_hand(self):
        program = Program(self, """
            net = model()
            for step in range(9):
                loss_of(net).backward()
                with torch.no_grad():
                    for p in net.parameters():
                        p -= 0.1 * p.grad
                        p.grad = None
            print("not reached")
            """)
        run = program.run(PLIMSOLL_STEPS="3")
        result = self.one(run)
        self.assertEqual((result["ended"], result["steps"], run.stdout), ("steps", 3, ""))
        self.assertEqual(len(result["devices"][0]["steps"]), 3)

    def test_hooks_and_threads(self):
        self.one(self.both("""
            import sys, threading
            def hook(*args):
                print("own hook", args[0].__name__)
            sys.excepthook = hook
            def work():
                raise ValueError("in a thread")
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            batch()
            print(threading.active_count(), torch.nn.Module.__call__.__qualname__)
            raise KeyError("x")
            """))

    def test_import_by_others(self):
        self.one(self.both("""
            import importlib.util, pkgutil
            print(type(torch.__loader__), type(torch.__spec__.loader))
            print(importlib.util.find_spec("torch").origin == torch.__file__)
            """))


# A few, for those who cannot wait four minutes: PLIM_TORCH_SHORT=1.
SHORT = ["Training.test_steps_and_phases", "Reads.test_kinds", "Ooms.test_uncaught"]


def run_tests(script, short):
    """The tests of a script, as a rehearsal; without a Python that has PyTorch they are skipped.

    short  those that PLIM_TORCH_SHORT=1 asks for
    """
    if sys.argv[1:2] != ["--here"]:
        python = os.environ.get("PLIM_TORCH_PYTHON")
        if not python:
            print("skipped: PLIM_TORCH_PYTHON does not name a Python that has PyTorch")
            sys.exit(SKIPPED)
        command = [sys.argv[1], "rehearse", "--", python, os.path.abspath(script), "--here"]
        sys.exit(subprocess.run(command + sys.argv[2:], check=False).returncode)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2,
                  defaultTest=short if os.environ.get("PLIM_TORCH_SHORT") else None)


if __name__ == "__main__":
    run_tests(__file__, SHORT)
