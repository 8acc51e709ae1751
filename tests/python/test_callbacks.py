#!/usr/bin/env python3
"""test_callbacks.py - the callbacks in trainers of our own that call them as the real ones do.

The real ones: test_callbacks_with_torch.py.
"""

import contextlib
import copy
import importlib
import os
import pickle
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

from session import ROOT

from plimsoll import _watch
from plimsoll.callbacks import _bases, accelerate, lightning, transformers

PEAK = "memory/peak_allocated_bytes"
EVENTS = ("init_end", "train_begin", "train_end", "epoch_begin", "epoch_end", "step_begin",
          "step_end", "substep_end", "evaluate", "predict", "save", "log", "prediction_step")


class FakeWatch:
    """What the tests say of memory, in the form of plimsoll.watch()."""

    made = []

    def __init__(self):
        self.allocated, self.peak = 100, 0
        self.steps, self.phases, self.open = [], {}, []
        self.warnings, self.dumps = [], []
        self.closed = None
        self.failure = None
        FakeWatch.made.append(self)

    def use(self, count):
        self.peak = max(self.peak, count)
        for phase in self.open:
            phase.peak = max(phase.peak, count)

    def figures(self):
        return {"memory/allocated_bytes": self.allocated, PEAK: self.peak,
                **{f"memory/phase/{name}/peak_allocated_bytes": peak
                   for name, peak in self.phases.items()}}

    def step(self, number):
        if self.failure:
            raise self.failure
        self.steps.append(number)
        found = self.figures()
        self.peak, self.phases = self.allocated, {}
        return found

    def phase(self, name):
        watch = self

        class Phase:
            peak = 0

            def __init__(self):
                self.name = name

            def __enter__(self):
                watch.open.append(self)
                return self

            def __exit__(self, *_):
                watch.open.remove(self)
                watch.phases[self.name] = max(watch.phases.get(self.name, 0), self.peak)

        return Phase()

    def close(self, error=None):
        self.closed = error or True


class CallbackTest(unittest.TestCase):
    def setUp(self):
        FakeWatch.made = []
        for patch in (mock.patch.object(_watch, "Watch", FakeWatch),
                      mock.patch.dict(sys.modules, self.modules())):
            patch.start()
            self.addCleanup(patch.stop)

    def modules(self):
        return {}

    @property
    def watch(self):
        return FakeWatch.made[-1]

    @contextlib.contextmanager
    def standard_error(self):
        """Gets what is written there, past sys.stderr."""
        kept, said = os.dup(2), []
        with tempfile.TemporaryFile("w+") as file:
            os.dup2(file.fileno(), 2)
            try:
                yield said
            finally:
                os.dup2(kept, 2)
                os.close(kept)
            file.seek(0)
            said.extend(file)


# ---- transformers --------------------------------------------------------------------------------

class Base:
    """transformers.TrainerCallback."""


for event in EVENTS:
    setattr(Base, f"on_{event}", lambda self, args, state, control, **named: None)


class DefaultFlowCallback(Base):
    """Decides by the step's number."""

    def on_step_end(self, args, state, control, **_):
        control.should_evaluate = state.global_step in args.evaluate_at
        control.should_save = state.global_step in args.save_at


class Reporter(Base):
    """As TensorBoard's: copies what an entry has when its turn comes."""

    def __init__(self):
        self.entries = []

    def on_log(self, args, state, control, logs=None, **_):
        self.entries.append(dict(logs))


class Handler:
    def __init__(self, callbacks):
        self.callbacks = callbacks

    def call(self, event, *args, **named):
        return self.call_event(f"on_{event}", *args, **named)

    def call_event(self, event, args, state, control, **named):
        for callback in self.callbacks:
            getattr(callback, event)(args, state, control, model=None, **named)


class Trainer:
    """The order of events is that of transformers.Trainer."""

    def __init__(self, *callbacks, every=1, evaluate_at=(), save_at=()):
        self.reporter, self.after = Reporter(), Reporter()
        self.handler = Handler([DefaultFlowCallback(), self.reporter, *callbacks, self.after])
        self.args = types.SimpleNamespace(evaluate_at=evaluate_at, save_at=save_at)
        self.every = every
        self.state = types.SimpleNamespace(global_step=0, log_history=[])
        self.control = types.SimpleNamespace(should_evaluate=False, should_save=False)
        self.evaluated = []
        self.event("init_end")

    def event(self, name, **named):
        self.handler.call(name, self.args, self.state, self.control, **named)

    def log(self, logs):
        logs["epoch"] = 1.0
        self.state.log_history.append({**logs, "step": self.state.global_step})
        self.event("log", logs=logs)

    def evaluate(self, peak=0):
        metrics = {"eval_loss": 1.0}
        FakeWatch.made[-1].use(peak) if FakeWatch.made else None
        for _ in range(2):
            self.event("prediction_step")
        self.log(metrics)
        self.control.should_evaluate = False
        self.event("evaluate", metrics=metrics)
        self.evaluated.append(metrics)
        return metrics

    def train(self, peaks, accumulate=1, evaluation_peak=0):
        self.event("train_begin")
        for peak in peaks:
            self.event("step_begin")
            for _ in range(accumulate - 1):
                self.event("substep_end")
            FakeWatch.made[-1].use(peak)
            self.state.global_step += 1
            self.event("step_end")
            if self.state.global_step % self.every == 0:
                self.log({"loss": 1.0})
            if self.control.should_evaluate:
                self.evaluate(evaluation_peak)
            if self.control.should_save:
                FakeWatch.made[-1].use(7)
                self.event("save")
                self.control.should_save = False
        self.event("epoch_end")
        metrics = {"train_runtime": 1.0}
        self.log(metrics)
        self.event("train_end")
        return metrics


class TransformersTest(CallbackTest):
    def modules(self):
        module = types.ModuleType("transformers")
        module.TrainerCallback = Base
        return {"transformers": module}

    def test_every_reporter_gets_the_figures(self):
        """Also those that come before the callback in the caller's order."""
        callback = transformers.MemoryCallback()
        trainer = Trainer(callback)
        trainer.train([200, 300])
        entry = {"loss": 1.0, "epoch": 1.0, "memory/allocated_bytes": 100, PEAK: 300}
        self.assertEqual(trainer.reporter.entries[1], entry)
        self.assertEqual(trainer.after.entries[1], entry)
        self.assertEqual(trainer.state.log_history[1], {**entry, "step": 2})
        self.assertIs(trainer.handler.callbacks[1], callback)

    def test_one_that_is_added_later(self):
        trainer = Trainer()
        trainer.handler.callbacks.append(transformers.MemoryCallback())
        with mock.patch.object(trainer.after, "on_train_begin") as called:
            trainer.train([200])
        called.assert_called_once()
        self.assertEqual(trainer.reporter.entries[0][PEAK], 200)
        self.assertEqual(len(trainer.handler.callbacks), 4)

    def test_a_step_is_an_optimizers(self):
        trainer = Trainer(transformers.MemoryCallback())
        trainer.train([200, 300], accumulate=4)
        self.assertEqual(self.watch.steps, [1, 2])

    def test_an_entry_has_the_highest_since_the_one_before(self):
        trainer = Trainer(transformers.MemoryCallback(), every=3)
        trainer.train([200, 900, 300, 400, 500, 250])
        self.assertEqual([entry.get(PEAK) for entry in trainer.reporter.entries], [900, 500, None])

    def test_phases(self):
        trainer = Trainer(transformers.MemoryCallback(), evaluate_at=(1, 3), save_at=(2, 3))
        trainer.train([200, 200, 200], evaluation_peak=700)
        entries = trainer.reporter.entries
        self.assertEqual([sorted(name for name in entry if "/phase/" in name) for entry in entries],
                         [[], ["memory/phase/evaluate/peak_allocated_bytes"], [],
                          ["memory/phase/checkpoint/peak_allocated_bytes"],
                          ["memory/phase/evaluate/peak_allocated_bytes"],
                          ["memory/phase/checkpoint/peak_allocated_bytes"]])
        self.assertEqual(entries[1]["memory/phase/evaluate/peak_allocated_bytes"], 700)
        self.assertEqual(entries[3]["memory/phase/checkpoint/peak_allocated_bytes"], 7)

    def test_a_phase_of_the_programs_own(self):
        callback = transformers.MemoryCallback()
        with callback.memory.phase("before"):
            pass
        trainer = Trainer(callback, every=2)
        trainer.event("train_begin")
        with callback.memory.phase("generate"):
            self.watch.use(5)
        for trainer.state.global_step in (1, 2):
            trainer.event("step_end")
        trainer.log({})
        self.assertEqual(
            trainer.reporter.entries[0]["memory/phase/generate/peak_allocated_bytes"], 5)

    def test_what_trainer_returns_is_as_without(self):
        trainer = Trainer(transformers.MemoryCallback(), evaluate_at=(1,))
        self.assertEqual(trainer.train([200]), {"train_runtime": 1.0, "epoch": 1.0})
        self.assertEqual(trainer.evaluated, [{"eval_loss": 1.0, "epoch": 1.0}])

    def test_an_evaluation_alone(self):
        callback = transformers.MemoryCallback()
        trainer = Trainer(callback)
        self.assertEqual(trainer.evaluate(), {"eval_loss": 1.0, "epoch": 1.0})
        self.assertIn("memory/phase/evaluate/peak_allocated_bytes", trainer.reporter.entries[0])
        self.assertTrue(self.watch.closed)
        trainer.event("prediction_step")
        trainer.event("predict", metrics={})
        self.assertIsNone(callback.memory.watch)
        self.assertEqual(list(self.watch.phases), ["predict"])

    def test_a_warning_is_in_the_log_once(self):
        trainer = Trainer(transformers.MemoryCallback())
        trainer.event("train_begin")
        for trainer.state.global_step in (1, 2, 3):
            if trainer.state.global_step == 2:
                self.watch.warnings.append("it grows")
            trainer.event("step_end")
            trainer.log({})
        self.assertEqual([entry.get("memory/warning") for entry in trainer.reporter.entries],
                         [None, "it grows", None])

    def test_each_dump_is_a_line(self):
        """Where a training that died is begun again, smaller."""
        trainer = Trainer(transformers.MemoryCallback())
        trainer.event("train_begin")
        self.watch.dumps += ["/a b/001-oom.pickle", "/a b/002-oom.json"]
        with self.standard_error() as said:
            trainer.train([1])
        self.assertEqual(said, ["plimsoll: memory ran out; the whole account: "
                                "plimsoll diagnose '/a b/001-oom.pickle'\n",
                                "plimsoll: memory ran out; figures and holders: "
                                "/a b/002-oom.json\n"])

    def test_a_failure_of_ours_is_one_line(self):
        trainer = Trainer(transformers.MemoryCallback())
        trainer.event("train_begin")
        self.watch.failure = OSError("no")
        with self.standard_error() as said:
            for _ in range(3):
                trainer.event("step_end")
                trainer.log({})
        self.assertEqual(said, ["plimsoll: memory is not logged: OSError: no\n"])
        self.assertEqual(trainer.reporter.entries[0], {"epoch": 1.0})

    def test_a_value_of_the_programs_own_stays(self):
        trainer = Trainer(transformers.MemoryCallback())
        trainer.event("train_begin")
        trainer.event("step_end")
        trainer.log({PEAK: "mine"})
        self.assertEqual(trainer.reporter.entries[0][PEAK], "mine")

    def test_a_log_of_another_kind(self):
        """A Trainer of another's that keeps no history, or another entry."""
        trainer = Trainer(transformers.MemoryCallback())
        trainer.event("train_begin")
        trainer.event("step_end")
        trainer.event("log", logs={"loss": 1.0})
        self.assertEqual(trainer.reporter.entries[0]["memory/allocated_bytes"], 100)
        self.assertEqual(trainer.state.log_history, [])

    def test_it_is_a_callback_of_the_framework(self):
        made = transformers.MemoryCallback()
        self.assertIsInstance(made, Base)
        self.assertIsInstance(made, transformers.MemoryCallback)
        self.assertEqual(type(made).__name__, "MemoryCallback")
        made.memory.begin()
        for other in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
            self.assertIs(type(other), type(made))
            self.assertIsNone(other.memory.watch)

        class Mine(transformers.MemoryCallback):
            pass

        self.assertIsInstance(Mine(), Base)


# ---- Lightning -----------------------------------------------------------------------------------

class Logger:
    def __init__(self):
        self.entries = []
        self.experiment = types.SimpleNamespace()

    def log_metrics(self, metrics, step=None):
        self.entries.append((step, dict(metrics)))


class LightningTrainer:
    """As much of it as a callback reads."""

    def __init__(self):
        self.loggers = [Logger()]
        self.global_step = 0
        self.sanity_checking = self.fast_dev_run = False
        self.log_every_n_steps = 1
        self._logger_connector = types.SimpleNamespace(should_update_logs=True)
        self.fit_loop = types.SimpleNamespace(
            epoch_loop=types.SimpleNamespace(_batches_that_stepped=0))

    def step(self, callback, batches=1):
        for batch in range(batches):
            self.global_step += batch == batches - 1
            callback.on_train_batch_end(self, None, None, None, batch)
        self.fit_loop.epoch_loop._batches_that_stepped += 1

    @property
    def entries(self):
        return self.loggers[0].entries


class LightningTest(CallbackTest):
    def modules(self):
        made = {}
        for name in ("lightning", "lightning.pytorch", "pytorch_lightning"):
            made[name] = types.ModuleType(name)
            made[name].Callback = type("Callback", (), {})
        return made

    def setUp(self):
        super().setUp()
        self.trainer = LightningTrainer()
        self.callback = lightning.MemoryCallback()
        self.callback.setup(self.trainer, None, "fit")

    def test_it_is_of_both_packages(self):
        for name in ("lightning.pytorch", "pytorch_lightning"):
            self.assertIsInstance(self.callback, sys.modules[name].Callback)

    def test_entries_have_the_loss_steps(self):
        self.watch.use(300)
        self.trainer.step(self.callback)
        self.trainer.step(self.callback)
        self.assertEqual(self.trainer.entries, [(0, {"memory/allocated_bytes": 100, PEAK: 300}),
                                                (1, {"memory/allocated_bytes": 100, PEAK: 100})])

    def test_a_step_is_an_optimizers(self):
        self.trainer.step(self.callback, batches=3)
        self.trainer.step(self.callback, batches=2)
        self.assertEqual(self.watch.steps, [1, 2])

    def test_entries_come_when_the_trainers_do(self):
        self.trainer._logger_connector.should_update_logs = False
        for _ in range(3):
            self.trainer.step(self.callback)
        self.assertEqual(self.trainer.entries, [])
        self.trainer._logger_connector = None  # of another release
        self.trainer.log_every_n_steps = 2
        self.trainer.step(self.callback)
        self.assertEqual(len(self.trainer.entries), 1)

    def test_phases(self):
        self.trainer.sanity_checking = True
        self.callback.on_sanity_check_start(self.trainer, None)
        self.callback.on_validation_start(self.trainer, None)
        self.callback.on_validation_end(self.trainer, None)
        self.callback.on_sanity_check_end(self.trainer, None)
        self.trainer.sanity_checking = False
        self.trainer.step(self.callback)
        self.callback.on_validation_start(self.trainer, None)
        self.watch.use(500)
        self.callback.on_validation_end(self.trainer, None)
        self.trainer.step(self.callback)
        name = "memory/phase/{}/peak_allocated_bytes".format
        entries = [entry for _, entry in self.trainer.entries]
        self.assertEqual(entries[0][name("sanity_check")], 0)
        self.assertEqual(entries[1], {name("validate"): 500})
        self.assertEqual(entries[2], {"memory/allocated_bytes": 100, PEAK: 500})
        for phase in ("test", "predict"):
            getattr(self.callback, f"on_{phase}_start")(self.trainer, None)
            getattr(self.callback, f"on_{phase}_end")(self.trainer, None)
            self.assertIn(name(phase), self.trainer.entries[-1][1])

    def test_a_warning_is_text(self):
        texts = []
        board = Logger()
        board.experiment.add_text = lambda *text: texts.append(text)
        self.trainer.loggers.append(board)
        self.watch.warnings.append("it grows")
        self.trainer.step(self.callback)
        self.trainer.step(self.callback)
        self.assertEqual(texts, [("memory/warning", "it grows", 0)])
        self.assertEqual(self.trainer.entries[1], (0, {"memory/warning": "it grows"}))
        self.assertEqual(len(board.entries), 2)

    def test_a_failure_ends_it(self):
        self.watch.dumps.append("/run/001-oom.pickle")
        failure = MemoryError()
        with self.standard_error() as said:
            self.callback.on_exception(self.trainer, None, failure)
            self.callback.teardown(self.trainer, None, "fit")
        self.assertIs(self.watch.closed, failure)
        self.assertEqual(len(said), 1)
        self.assertIn("plimsoll diagnose /run/001-oom.pickle\n", said[0])

    def test_without_a_logger(self):
        self.trainer.loggers = []
        self.trainer.step(self.callback)
        self.assertEqual(self.callback.memory.figures["memory/allocated_bytes"], 100)


# ---- accelerate ----------------------------------------------------------------------------------

class AccelerateTest(CallbackTest):
    def setUp(self):
        super().setUp()
        self.entries = []
        self.accelerator = types.SimpleNamespace(
            sync_gradients=True,
            log=lambda values, step=None: self.entries.append((step, dict(values))))

    def test_entries(self):
        with accelerate.MemoryLog(self.accelerator, every=2, steps=10) as memory:
            for sync in (False, True, False, True):
                self.accelerator.sync_gradients = sync
                memory.step({"loss": 1.0})
            with memory.phase("evaluate"):
                self.watch.use(50)
            memory.log({"eval_loss": 2.0})
        self.assertEqual(self.watch.steps, [11, 12])
        self.assertEqual(self.entries, [
            (12, {"memory/allocated_bytes": 100, PEAK: 100, "loss": 1.0}),
            (12, {"memory/phase/evaluate/peak_allocated_bytes": 50, "eval_loss": 2.0})])
        self.assertTrue(self.watch.closed)

    def test_the_programs_failure_is_its_own(self):
        failure = MemoryError()
        with self.assertRaises(MemoryError):
            with accelerate.MemoryLog(self.accelerator):
                raise failure
        self.assertIs(self.watch.closed, failure)

    def test_without_figures_the_values_are_logged(self):
        memory = accelerate.MemoryLog(self.accelerator)  # it was not entered
        memory.step({"loss": 1.0})
        memory.step()
        self.assertEqual(self.entries, [(1, {"loss": 1.0})])


class ImportTest(unittest.TestCase):
    def test_a_framework_that_is_not_there_is_one_line(self):
        source = ("import sys\nfrom plimsoll.callbacks import accelerate, lightning, transformers\n"
                  "print(sorted({'torch', 'transformers', 'lightning', 'accelerate'}\n"
                  "             & set(sys.modules)))\n"
                  "for module in (transformers, lightning):\n"
                  "    try:\n        module.MemoryCallback()\n"
                  "    except ImportError as error:\n        print(error)\n")
        done = subprocess.run(
            [sys.executable, "-S", "-c", source], capture_output=True, text=True, timeout=60,
            check=False, env={"PYTHONPATH": os.path.join(ROOT, "python")})
        self.assertEqual(done.stdout, (
            "[]\nthe callback needs transformers: pip install transformers\n"
            "the callback needs lightning or pytorch_lightning: pip install lightning\n"))
        self.assertEqual(done.stderr, "")

    def test_a_framework_that_is_broken_says_why(self):
        with mock.patch.object(importlib, "import_module",
                               side_effect=ModuleNotFoundError("no numpy", name="numpy")):
            with self.assertRaisesRegex(ModuleNotFoundError, "no numpy"):
                _bases.made_of(accelerate.MemoryLog, "not_there", base="Callback")


if __name__ == "__main__":
    unittest.main()
