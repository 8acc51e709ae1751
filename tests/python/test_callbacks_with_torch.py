#!/usr/bin/env python3
"""The callbacks in trainings by transformers, Lightning and accelerate, over the stand-ins.

    test_callbacks_with_torch.py PLIMSOLL [quick | TEST ...]

runs itself over the stand-ins, with the Python that tools/programs-python makes of the one that
PLIM_TORCH_PYTHON names; without PyTorch, or where the packages cannot be had, it is skipped. The
figures are read back from what TensorBoard, Weights & Biases and the trainers themselves wrote.
"""

import contextlib
import csv
import glob
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
MIB, GIB = 1 << 20, 1 << 30
CURRENT = ("allocated_bytes", "reserved_bytes", "inactive_split_bytes")
LEAK = 1 * GIB  # each step, of 80
GROWN = (r"GPU 0 has grown by 1\.02e\+03 MiB a step since step \d+, at .*_torch\.py:\d+, "
         r"held by list `self\.kept` in test_a_leak")


def figures_now():
    """As the program reads them; its own peaks begin anew."""
    import torch

    stats = torch.cuda.memory_stats()
    torch.cuda.reset_peak_memory_stats()
    return {**{f"memory/{name}": stats[f"{name}.all.current"] for name in CURRENT},
            **{f"memory/peak_{name}": stats[f"{name}.all.peak"] for name in CURRENT[:2]}}


def of_board(folder):
    """{step: {name: value}} of TensorBoard's event files."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = {}
    for path in glob.glob(os.path.join(folder, "**", "events.out.*"), recursive=True):
        events = EventAccumulator(path)
        events.Reload()
        for name in events.Tags()["scalars"]:
            if "memory/" in name:
                for event in events.Scalars(name):
                    found.setdefault(event.step, {})[name[name.index("memory/"):]] = event.value
        for name in events.Tags()["tensors"]:
            if name.removesuffix("/text_summary").endswith("memory/warning"):
                for event in events.Tensors(name):
                    text = event.tensor_proto.string_val[0].decode()
                    found.setdefault(event.step, {})["memory/warning"] = text
    return found


def of_offline_run(folder, step_name):
    """The same of a run of Weights & Biases."""
    from wandb.proto import wandb_internal_pb2
    from wandb.sdk.internal.datastore import DataStore

    found = {}
    (path,) = glob.glob(os.path.join(folder, "run-*.wandb"))
    store = DataStore()
    store.open_for_scan(path)
    while (data := store.scan_data()) is not None:
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        items = {item.key or "/".join(item.nested_key): json.loads(item.value_json)
                 for item in record.history.item}
        for name, value in items.items():
            if "memory/" in name:
                found.setdefault(items[step_name], {})[name[name.index("memory/"):]] = value
    store.close()
    return found


class OfflineRuns:
    """Those of all tests, which are read once the service has ended: until then it may write."""

    def __init__(self):
        self.runs = []

    def finish(self, step_name, check):
        import wandb

        self.runs.append((os.path.dirname(wandb.run.dir), step_name, check))
        wandb.finish()

    def check(self):
        import wandb

        wandb.teardown()
        for folder, step_name, check in self.runs:
            check(of_offline_run(folder, step_name))


offline_runs = OfflineRuns()


def tearDownModule():
    offline_runs.check()


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a blank ")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.environ["TENSORBOARD_LOGGING_DIR"] = os.path.join(self.folder, "board")
        self.kept = []

    def tearDown(self):
        import torch

        self.kept.clear()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()

    def leak(self, count):
        import torch

        self.kept.append(torch.empty(count, dtype=torch.uint8, device="cuda"))

    def assert_same(self, read, logged, rounded=False):
        """read  {step: figures}

        rounded  TensorBoard's values are 32-bit floats
        """
        import numpy

        self.assertGreater(len(read), 3)
        self.assertLessEqual(set(read), set(logged), rounded)
        for step, figures in read.items():
            for name, value in figures.items():
                expected = float(numpy.float32(value)) if rounded else value
                self.assertEqual(logged[step].get(name), expected, (step, name))

    @contextlib.contextmanager
    def standard_error(self):
        """Gets the lines of the callbacks that go there."""
        kept, said = os.dup(2), []
        with tempfile.TemporaryFile("w+") as file:
            sys.stderr.flush()
            os.dup2(file.fileno(), 2)
            try:
                yield said
            finally:
                sys.stderr.flush()
                os.dup2(kept, 2)
                os.close(kept)
            file.seek(0)
            said.extend(line for line in file
                        if re.search("plimsoll: .*(has grown|grows|ran out|logged)", line))


class TrainerTest(Folder):
    def trainer(self, callbacks, in_forward=lambda: None, **arguments):
        import torch
        from transformers import PretrainedConfig, PreTrainedModel, Trainer, TrainingArguments

        class Model(PreTrainedModel):
            config_class = PretrainedConfig

            def __init__(self, config):
                super().__init__(config)
                self.line = torch.nn.Linear(256, 256)

            def forward(self, rows, labels=None):
                if self.training:
                    in_forward()
                answer = self.line(rows)
                return {"loss": answer.square().mean(), "logits": answer}

        rows = [{"rows": torch.zeros(256), "labels": 0} for _ in range(64)]
        if "evaluation_strategy" in TrainingArguments.__dataclass_fields__:  # before 4.41
            arguments = {name.replace("eval_strategy", "evaluation_strategy"): value
                         for name, value in arguments.items()}
        arguments = {"max_steps": 6, "logging_steps": 1, "report_to": "none",
                     "per_device_train_batch_size": 2, "disable_tqdm": True,
                     "save_strategy": "no", **arguments}
        return Trainer(Model(PretrainedConfig()), train_dataset=rows, eval_dataset=rows[:4],
                       callbacks=callbacks,
                       args=TrainingArguments(output_dir=self.folder, **arguments))

    def test_figures(self):
        from plimsoll.callbacks.transformers import MemoryCallback
        from transformers import TrainerCallback

        read = {}

        class Reader(TrainerCallback):
            def on_step_end(self, args, state, control, **_):
                read[state.global_step] = figures_now()

            def on_train_begin(self, args, state, control, **_):
                figures_now()

        trainer = self.trainer([Reader(), MemoryCallback()], report_to=["tensorboard", "wandb"],
                               gradient_accumulation_steps=2, eval_strategy="steps", eval_steps=2,
                               save_strategy="steps", save_steps=3)
        done = trainer.train()
        self.assertFalse(any("memory" in name for name in done.metrics))
        self.assertFalse(any("memory" in name for name in trainer.evaluate()))
        def check(logged, rounded=False):
            self.assert_same(read, logged, rounded)
            self.assertIn("memory/phase/evaluate/peak_allocated_bytes", logged[2])
            self.assertIn("memory/phase/checkpoint/peak_allocated_bytes", logged[4])

        history = {}
        path = os.path.join(self.folder, "checkpoint-6", "trainer_state.json")
        with open(path, encoding="utf-8") as file:
            for entry in json.load(file)["log_history"]:
                history.setdefault(entry["step"], {}).update(entry)
        check(history)
        check(of_board(self.folder), rounded=True)
        offline_runs.finish("train/global_step", check)

    def test_nothing_changes(self):
        """Random numbers, history of the log, what is allocated: as without the callback."""
        import torch
        from plimsoll.callbacks.transformers import MemoryCallback

        seen = []
        for callbacks in ([], [MemoryCallback()]):
            trainer = self.trainer(callbacks)
            done = trainer.train()
            history = [{name: value for name, value in entry.items()
                        if "memory" not in name and "second" not in name and "time" not in name}
                       for entry in trainer.state.log_history]
            seen.append((torch.get_rng_state().tolist(), torch.cuda.get_rng_state().tolist(),
                         history, sorted(done.metrics), torch.cuda.memory_allocated()))
            del trainer
            torch.cuda.empty_cache()
        self.assertEqual(seen[0], seen[1])

    def test_a_leak(self):
        from plimsoll.callbacks.transformers import MemoryCallback

        with self.standard_error() as said:
            trainer = self.trainer([MemoryCallback()], lambda: self.leak(LEAK), max_steps=20)
            trainer.train()
        warned = [entry for entry in trainer.state.log_history if "memory/warning" in entry]
        self.assertEqual(len(warned), 1)
        self.assertLessEqual(warned[0]["step"], 10)
        self.assertRegex(warned[0]["memory/warning"], GROWN)
        self.assertEqual(len(said), 1, said)


class LightningTest(Folder):
    def fit(self, name, callbacks, in_step=lambda module: None, **arguments):
        package = importlib.import_module(name)
        boring = importlib.import_module(f"{name}.demos.boring_classes")

        class Model(boring.BoringModel):
            def training_step(self, batch, index):
                in_step(self)
                return super().training_step(batch, index)

        made = [callback(package.Callback) for callback in callbacks]
        trainer = package.Trainer(**{
            "max_steps": 6, "accelerator": "gpu", "devices": 1, "default_root_dir": self.folder,
            "enable_progress_bar": False, "enable_model_summary": False, "log_every_n_steps": 1,
            "enable_checkpointing": False, "callbacks": made, "logger": False, **arguments})
        trainer.fit(Model())
        return trainer

    def figures(self, name):
        from plimsoll.callbacks.lightning import MemoryCallback

        read, at = {}, [0]

        def reader(base):
            class Reader(base):
                def on_train_batch_end(self, trainer, *_):
                    if trainer.global_step > at[0]:
                        at[0] = trainer.global_step
                        read[at[0] - 1] = figures_now()

                def on_train_start(self, trainer, module):
                    figures_now()

            return Reader()

        loggers = importlib.import_module(f"{name}.loggers")
        self.fit(name, [lambda _: MemoryCallback(), reader], accumulate_grad_batches=2,
                 val_check_interval=4, limit_val_batches=2,
                 logger=[loggers.CSVLogger(self.folder), loggers.TensorBoardLogger(self.folder),
                         loggers.WandbLogger(save_dir=os.environ["WANDB_DIR"])])
        (path,) = glob.glob(os.path.join(self.folder, "lightning_logs", "*", "metrics.csv"))
        table = {}
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                table.setdefault(int(row["step"]), {}).update(
                    {name: int(value) for name, value in row.items()
                     if name.startswith("memory/") and value})
        del read[0]  # its peak is higher: the validation before the training counts

        def check(logged, rounded=False):
            self.assert_same(read, logged, rounded)
            self.assertIn("memory/phase/sanity_check/peak_allocated_bytes", logged[0])
            self.assertIn("memory/phase/validate/peak_allocated_bytes", logged[1])

        check(table)
        check(of_board(self.folder), rounded=True)
        offline_runs.finish("trainer/global_step", check)

    def test_figures(self):
        self.figures("lightning.pytorch")

    def test_figures_of_the_other_package(self):
        self.figures("pytorch_lightning")

    def test_a_leak(self):
        from lightning.pytorch.loggers import TensorBoardLogger

        from plimsoll.callbacks.lightning import MemoryCallback

        with self.standard_error() as said:
            trainer = self.fit("lightning.pytorch", [lambda _: MemoryCallback()],
                               lambda module: self.leak(LEAK), max_steps=20,
                               logger=TensorBoardLogger(self.folder))
        self.assertEqual(trainer.global_step, 20)
        texts = [(step, figures["memory/warning"]) for step, figures
                 in of_board(self.folder).items() if "memory/warning" in figures]
        self.assertEqual(len(texts), 1)
        self.assertLessEqual(texts[0][0], 10)
        self.assertRegex(texts[0][1], GROWN)
        self.assertEqual(len(said), 1, said)

    def test_out_of_memory(self):
        import torch
        from plimsoll.callbacks.lightning import MemoryCallback

        def in_step(module):
            if module.global_step == 2:
                self.leak(200 * GIB)

        with self.standard_error() as said:
            with self.assertRaises(torch.OutOfMemoryError):
                self.fit("lightning.pytorch", [lambda _: MemoryCallback()], in_step)
        self.assertEqual(len(said), 1, said)
        path = said[0].split("plimsoll diagnose ")[1].strip().strip("'")
        self.assertTrue(path.endswith("-oom.pickle"), path)
        self.assertTrue(os.path.exists(path), path)


class AccelerateTest(Folder):
    def test_figures(self):
        import torch
        from accelerate import Accelerator

        from plimsoll.callbacks.accelerate import MemoryLog

        accelerator = Accelerator(gradient_accumulation_steps=2, project_dir=self.folder,
                                  log_with=["tensorboard", "wandb"])
        accelerator.init_trackers("x")
        model = torch.nn.Linear(256, 256)
        rows = torch.utils.data.TensorDataset(torch.zeros(40, 256))
        model, optimizer, loader = accelerator.prepare(
            model, torch.optim.Adam(model.parameters()), torch.utils.data.DataLoader(rows, 4))
        read = {}
        with MemoryLog(accelerator) as memory:
            for (batch,) in loader:
                with accelerator.accumulate(model):
                    loss = model(batch).square().mean()
                    accelerator.backward(loss)
                    optimizer.step()
                    optimizer.zero_grad()
                memory.step({"loss": loss.item()})
                if accelerator.sync_gradients:
                    read[memory.steps] = figures_now()
            with memory.phase("evaluate"):
                model(batch)
            memory.log({"eval_loss": 0.0})
        del read[1]  # since before the watch began

        def check(logged, rounded=False):
            self.assert_same(read, logged, rounded)
            self.assertIn("memory/phase/evaluate/peak_allocated_bytes", logged[5])

        offline_runs.finish("_step", check)
        accelerator.end_training()
        check(of_board(self.folder), rounded=True)


QUICK = ["AccelerateTest", "LightningTest.test_figures", "LightningTest.test_out_of_memory",
         "TrainerTest.test_a_leak", "TrainerTest.test_figures"]


def run_here():
    names = QUICK if sys.argv[2:] == ["quick"] else sys.argv[2:]
    unittest.main(argv=[*sys.argv[:1], *names], verbosity=2)


def main():
    plimsoll = os.path.abspath(sys.argv[1])
    if not os.environ.get("PLIM_TORCH_PYTHON"):
        print("skipped: PLIM_TORCH_PYTHON does not name a Python that has PyTorch")
        sys.exit(SKIPPED)
    tools = HERE.parents[1] / "tools"
    found = subprocess.run(
        [tools / "programs-python", tools / "callbacks-requirements.txt"],
        stdout=subprocess.PIPE, text=True, check=False)
    if found.returncode != 0:
        print("skipped: the packages of tools/callbacks-requirements.txt cannot be had")
        sys.exit(SKIPPED)
    package = os.path.join(os.path.dirname(plimsoll), "rehearse", "python")
    with tempfile.TemporaryDirectory() as state:
        done = subprocess.run(
            [plimsoll, "run", "--gpu=h100", "--devices=1", "--output", os.path.join(state, "run"),
             "--", found.stdout.strip(), os.path.abspath(__file__), "--here", *sys.argv[2:]],
            check=False, env={
                **os.environ, "XDG_STATE_HOME": state, "WANDB_DIR": state, "WANDB_MODE": "offline",
                "WANDB_SILENT": "true", "PLIMSOLL_QUIET": "0",
                "PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])})
    sys.exit(done.returncode)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        run_here()
    else:
        main()
