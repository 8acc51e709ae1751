#!/usr/bin/env python3
"""test_changes.py - changes written into programs of many shapes, without PyTorch.

Lines of a program end in "#: model" or "#: backward" where a rehearsal would have seen that place.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest

AGENT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "src", "agent"))
sys.path.insert(0, AGENT)

from plimsoll_agent.changes.answer import answer  # noqa: E402
from plimsoll_agent.changes.source import LINE  # noqa: E402
from plimsoll_agent.changes.table import TABLE  # noqa: E402
from plimsoll_agent.places import Places  # noqa: E402
from plimsoll_agent.switches import anatomy  # noqa: E402

CLASSES = {"optimizer": "AdamW", "step": "AdamW", "model": "Net", "eval": "Net"}

PLAIN = '''\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):  #: blocks
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def main():
    model = Net().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)  #: optimizer
    criterion = nn.CrossEntropyLoss()
    loader = torch.utils.data.DataLoader(data, batch_size=64)  #: loader
    for epoch in range(2):
        for x, y in loader:
            x, y = x.cuda(), y.cuda()
            out = model(x)  #: model
            # the loss
            loss = criterion(out, y)
            optimizer.zero_grad(set_to_none=False)  #: zero_grad
            loss.backward()  #: backward
            optimizer.step()  #: step
        with torch.no_grad():
            print(model(x).sum())  #: eval


if __name__ == "__main__":
    main()
'''


class Case:
    """A program in a file of its own, and the answer about it."""

    def __init__(self, text, *techniques, facts=None, details=None, **request):
        self.folder = tempfile.mkdtemp()
        path = os.path.join(self.folder, "train.py")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        self.text = text
        report = {"program": {"places": self._places(text), "facts": facts or {}},
                  "techniques": [self._entry(one, text, details) for one in techniques]}
        owner = Places("/nowhere/torch/__init__.py")
        try:
            self.answer = answer({"techniques": techniques, "reports": [report],
                                  "folder": self.folder, "argv": ["python", "train.py"],
                                  **request}, owner)
            self.changes = self.answer["techniques"]
            self.diff = self.changes[0]["diff"]
            self.note = self.changes[0]["note"]
            self.after = self._patched(path, self.diff) if self.diff else None
            self.stack = self._patched(path, self.answer["diff"]) if self.answer["diff"] else None
        finally:
            shutil.rmtree(self.folder)

    def _places(self, text):
        places = []
        for number, line in enumerate(LINE.findall(text), 1):
            for what in re.findall(r"#: (\w+)", line):
                place = {"what": what, "file": "train.py", "line": number}
                if what in CLASSES:
                    place["class"] = CLASSES[what]
                if what == "blocks":
                    place.update({"class": "Net", "attribute": "blocks", "count": 6})
                if what != "zero_grad":
                    places.append(place)
        return places

    def _entry(self, technique, text, details):
        name, _, value = technique.partition("=")
        places = [{"what": "zero_grad", "file": "train.py", "line": number}
                  for number, line in enumerate(LINE.findall(text), 1) if "#: zero_grad" in line]
        return {"name": name, "value": value, "state": "applied", "places": places,
                "facts": details or {}}

    def _patched(self, path, diff):
        """As patch(1) makes it; it must apply to the letter, and parse."""
        copy = path + ".new"
        shutil.copy(path, copy)
        patch = subprocess.run(["patch", "--binary", "-p1", "--fuzz=0", copy],
                               input=(diff + "\n").encode(), capture_output=True, check=False)
        if patch.returncode != 0:
            raise AssertionError(patch.stdout.decode() + diff)
        with open(copy, encoding="utf-8", newline="") as file:
            text = file.read()
        ast.parse(text)
        return text


def dedented(text):
    return textwrap.dedent(text).strip("\n")


class Shapes(unittest.TestCase):
    """Each technique in one program, and one technique in programs of many shapes."""

    maxDiff = None

    def assertHas(self, case, wanted, indent=""):
        self.assertIsNotNone(case.after, case.note)
        wanted = textwrap.indent(dedented(wanted), indent)
        self.assertIn(wanted, case.after.replace("\r\n", "\n"))

    def test_autocast(self):
        case = Case(PLAIN, "autocast=bf16")
        self.assertHas(case, """
            with torch.autocast("cuda", dtype=torch.bfloat16):
                out = model(x)  #: model
                # the loss
                loss = criterion(out, y)
            optimizer.zero_grad(set_to_none=False)  #: zero_grad
            loss.backward()  #: backward
            """, " " * 12)
        self.assertHas(case, """
            with torch.autocast("cuda", dtype=torch.bfloat16):
                print(model(x).sum())  #: eval
            """, " " * 12)

    def test_autocast_with_a_scaler(self):
        text = PLAIN.replace("            optimizer.step()",
                             "            nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
                             "            optimizer.step()")
        case = Case(text, "autocast=fp16")
        self.assertHas(case, """
            scaler.scale(loss).backward()  #: backward
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)  #: step
            scaler.update()
            """, " " * 12)
        self.assertHas(case, 'scaler = torch.amp.GradScaler("cuda")', "    ")

    def test_checkpoint(self):
        case = Case(PLAIN, "checkpoint")
        self.assertHas(case, "x = checkpoint(block, x, use_reentrant=False)", " " * 12)
        self.assertHas(case, "from torch.utils.checkpoint import checkpoint")
        self.assertIsNone(case.note)

    def test_checkpoint_of_every_second_block(self):
        case = Case(PLAIN, "checkpoint=every:2")
        self.assertHas(case, """
            for index, block in enumerate(self.blocks):
                x = checkpoint(block, x, use_reentrant=False) if index % 2 == 0 else block(x)
            """, " " * 8)

    def test_checkpoint_with_an_index(self):
        text = PLAIN.replace("for block in self.blocks", "for i, block in enumerate(self.blocks)")
        self.assertHas(Case(text, "checkpoint=every:3"),
                       "x = checkpoint(block, x, use_reentrant=False) if i % 3 == 0 else block(x)")

    def test_checkpoint_by_the_models_own_switch(self):
        text = PLAIN.replace("#: blocks", "")
        case = Case(text, "checkpoint", facts={"own_checkpointing": "set_grad_checkpointing"})
        self.assertHas(case, """
            model = Net().cuda()
            model.set_grad_checkpointing()
            """, "    ")

    def test_accumulate(self):
        case = Case(PLAIN.replace("print(model(x).sum())", "print(model(z).sum())"),
                    "accumulate=4")
        self.assertHas(case, """
            x, y = x.cuda(), y.cuda()
            optimizer.zero_grad(set_to_none=False)
            for x, y in zip(x.chunk(4), y.chunk(4)):
                out = model(x)  #: model
                # the loss
                loss = criterion(out, y)
                (loss / 4).backward()  #: backward
            optimizer.step()  #: step
            """, " " * 12)

    def test_accumulate_keeps_names_that_are_used_later(self):
        self.assertHas(Case(PLAIN, "accumulate=4"), """
            for x_piece, y_piece in zip(x.chunk(4), y.chunk(4)):
                out = model(x_piece)  #: model
                # the loss
                loss = criterion(out, y_piece)
            """, " " * 12)

    def test_accumulate_of_a_dictionary_has_a_reason(self):
        text = PLAIN.replace("for x, y in loader", "for batch in loader").replace(
            "            x, y = x.cuda(), y.cuda()\n", "").replace(
            "out = model(x)", "out = model(**batch)").replace("(out, y)", "(out, batch['y'])")
        case = Case(text, "accumulate=4")
        self.assertIsNone(case.diff)
        self.assertIn("divide the batch_size of the loader", case.note)

    def test_accumulate_of_a_loss_that_is_divided(self):
        text = PLAIN.replace("loss.backward()", "(loss / 2).backward()")
        self.assertHas(Case(text, "accumulate=4"), "(loss / 2 / 4).backward()")

    def test_optimizers(self):
        case = Case(PLAIN, "optimizer=8bit")
        self.assertHas(case, "bitsandbytes.optim.AdamW8bit(model.parameters(), lr=1e-4)")
        self.assertHas(case, "import bitsandbytes")
        self.assertHas(Case(PLAIN, "optimizer=sgd"), "torch.optim.SGD(model.parameters(), lr=1e-4)")
        text = PLAIN.replace("lr=1e-4", "lr=1e-4, betas=(0.9, 0.95), fused=True, weight_decay=0.1")
        self.assertHas(Case(text, "optimizer=adafactor"),
                       "torch.optim.Adafactor(model.parameters(), lr=1e-4, weight_decay=0.1)")

    def test_an_optimizer_without_a_rate_gets_the_one_it_had(self):
        text = PLAIN.replace(", lr=1e-4", "")
        case = Case(text, "optimizer=sgd", details={"lr": 0.001, "weight_decay": 0.01})
        self.assertHas(case, "torch.optim.SGD(model.parameters(), lr=0.001, weight_decay=0.01)")

    def test_in_backward(self):
        case = Case(PLAIN, "optimizer=in_backward")
        self.assertIn("register_post_accumulate_grad_hook(step_in_backward)", case.after)
        self.assertNotIn("optimizer.step()", case.after)
        self.assertNotIn("optimizer.zero_grad", case.after)

    def test_in_backward_with_a_schedule_has_a_reason(self):
        text = PLAIN.replace("    criterion =", "    plan = Schedule(optimizer)\n    criterion =")
        case = Case(text, "optimizer=in_backward")
        self.assertIsNone(case.diff)
        self.assertIn("uses optimizer for something else", case.note)

    def test_options_of_the_optimizer(self):
        self.assertHas(Case(PLAIN, "fused"), "lr=1e-4, fused=True)")
        self.assertHas(Case(PLAIN, "foreach=off"), "lr=1e-4, foreach=False)")
        text = PLAIN.replace("lr=1e-4", "lr=(1e-4), foreach=True,")
        self.assertHas(Case(text, "fused"), "lr=(1e-4), fused=True,)")

    def test_small_ones(self):
        self.assertHas(Case(PLAIN, "set_to_none"), "zero_grad(set_to_none=True)")
        self.assertHas(Case(PLAIN, "inference_mode"), "with torch.inference_mode():")
        self.assertHas(Case(PLAIN, "batch=16"), "DataLoader(data, batch_size=16)")
        self.assertHas(Case(PLAIN, "weights=bf16"), "model.to(torch.bfloat16)")
        self.assertIn("eval_loader", Case(PLAIN, "batch=eval:8").changes[0]["pytorch"].replace(
            "evaluation", "eval"))
        self.assertHas(Case(PLAIN, "empty_cache"), "torch.cuda.empty_cache()")
        self.assertHas(Case(PLAIN, "conf=expandable_segments:True"),
                       'import os\nos.environ["PYTORCH_CUDA_ALLOC_CONF"] = '
                       '"expandable_segments:True"\n\nimport torch')
        self.assertHas(Case(PLAIN, "offload=all_saved"),
                       "with torch.autograd.graph.save_on_cpu(pin_memory=True):")
        self.assertHas(Case(PLAIN, "offload=layer_inputs"), """
            with torch.autograd.graph.save_on_cpu(pin_memory=True):
                x = checkpoint(block, x, use_reentrant=False)
            """, " " * 12)

    def test_a_decorated_evaluation(self):
        text = PLAIN + "\n\n@torch.no_grad()\ndef check(model, x):\n    return model(x)  #: eval\n"
        case = Case(text, "inference_mode")
        self.assertHas(case, "@torch.inference_mode()\ndef check")

    def test_every_technique_has_lines_and_a_diff_or_a_reason(self):
        values = {"autocast": "=fp16", "accumulate": "=2", "batch": "=2", "conf": "=a:b",
                  "optimizer": "=sgd", "kv": "=window:9", "weights": "=bf16", "foreach": "=off",
                  "loss": "=chunked:4", "attention": "=flash"}
        for text in ("", "import torch\n", PLAIN, "def (:\n"):
            for key, _ in TABLE:
                case = Case(text, key + values.get(key, ""))
                self.assertTrue(case.changes[0]["pytorch"], key)
                self.assertTrue(case.diff or case.note.startswith("no diff: "), key)


class Texts(unittest.TestCase):
    """The text round an edit stays as it is."""

    maxDiff = None
    LOOP = '''\
import torch
model = make()
optimizer = torch.optim.SGD(model.parameters())
for x in batches:
    loss = model(x).mean()  #: model
    loss.backward()  #: backward
    optimizer.step()  #: step
'''

    def after(self, text, technique="autocast=bf16"):
        case = Case(text, technique)
        self.assertIsNotNone(case.after, case.note)
        return case.after

    def test_tabs(self):
        text = self.LOOP.replace("    ", "\t")
        self.assertIn('\twith torch.autocast("cuda", dtype=torch.bfloat16):\n\t\tloss = model(x)',
                      self.after(text))

    def test_two_blanks(self):
        self.assertIn("\n    loss = model(x)", self.after(self.LOOP.replace("    ", "  ")))

    def test_line_ends_of_windows(self):
        after = self.after(self.LOOP.replace("\n", "\r\n"))
        self.assertEqual(after.count("\r\n"), after.count("\n"))

    def test_no_line_end_at_the_end(self):
        text = self.LOOP.rstrip("\n").replace("    optimizer.step()  #: step", "    pass")
        self.assertFalse(self.after(text).endswith("\n"))
        text = self.LOOP.rstrip("\n")
        self.assertTrue(self.after(text, "empty_cache").endswith("torch.cuda.empty_cache()"))

    def test_characters_of_several_bytes(self):
        text = PLAIN.replace("optimizer = torch.optim", "optimizer = naïve('Größe'), torch.optim")
        self.assertIn("naïve('Größe'), torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)",
                      self.after(text, "fused"))

    def test_a_call_over_several_lines(self):
        text = self.LOOP.replace("loss = model(x).mean()  #: model",
                                 "loss = model(  #: model\n        x,\n    ).mean()")
        self.assertIn("        loss = model(  #: model\n            x,\n        ).mean()\n    loss",
                      self.after(text))

    def test_strings_over_several_lines_keep_their_text(self):
        text = self.LOOP.replace("    loss.backward()",
                                 '    loss = loss + len("""\n  a\n""")\n    loss.backward()')
        self.assertIn('        loss = loss + len("""\n  a\n""")\n    loss.backward()',
                      self.after(text))

    def test_one_line(self):
        text = self.LOOP.replace("    loss = model(x).mean()  #: model\n    loss.backward()",
                                 "    model(x).mean().backward()  #: model")
        self.assertIn("        loss = model(x).mean()\n    loss.backward()", self.after(text))

    def test_statements_on_one_line_are_left(self):
        text = self.LOOP.replace("loss = model(x).mean()  #: model\n    loss.backward()",
                                 "loss = model(x).mean(); loss.backward()  #: model")
        case = Case(text, "autocast=bf16")
        self.assertIsNone(case.diff)
        self.assertIn("no diff", case.note)

    def test_in_a_method(self):
        lines = "".join("    " + line + "\n" for line in self.LOOP.splitlines()[1:])
        text = "import torch\nclass T:\n  def fit(self):\n" + lines
        self.assertIn("with torch.autocast", self.after(text))

    def test_through_a_function(self):
        text = '''\
import torch

def objective(model, x):
    return model(x).mean()  #: model

def train(model, batches):
    for x in batches:
        loss = objective(model, x)
        loss.backward()  #: backward
'''
        self.assertIn("        with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
                      "            loss = objective(model, x)\n        loss.backward()",
                      self.after(text))

    def test_a_region_in_a_with_block(self):
        text = self.LOOP.replace("    loss = model(x).mean()  #: model",
                                 "    with timer():\n        loss = model(x).mean()  #: model")
        self.assertIn("        with timer():\n            loss = model(x).mean()",
                      self.after(text))

    def test_what_is_there_already(self):
        text = self.LOOP.replace("    loss = model(x).mean()  #: model",
                                 "    with torch.autocast('cuda'):\n        loss = model(x).mean()")
        case = Case(text, "autocast=bf16")
        self.assertIn("line 5 has autocast already", case.note)

    def test_a_future_and_a_docstring_stay_first(self):
        text = '"""Doc."""\nfrom __future__ import annotations\n' + self.LOOP
        self.assertTrue(self.after(text, "conf=a:b").startswith(
            '"""Doc."""\nfrom __future__ import annotations\nimport os\n'))


class Refused(unittest.TestCase):
    """No diff, and the reason."""

    def reason(self, text, technique="autocast=bf16", **more):
        case = Case(text, technique, **more)
        self.assertIsNone(case.diff)
        return case.note

    def test_several_backward_passes(self):
        self.assertIn("2 places of the backward",
                      self.reason(PLAIN + "    z.backward()  #: backward\n"))

    def test_a_file_that_changed(self):
        self.assertIn("has changed since", self.reason(PLAIN, since=1000))

    def test_a_large_file(self):
        self.assertIn("larger than 1 MiB", self.reason(PLAIN + "#" * (1 << 20)))

    def test_a_scaler_that_is_there(self):
        text = PLAIN.replace("loss.backward()", "scaler.scale(loss).backward()")
        self.assertIn("has a scaler", self.reason(text, "autocast=fp16"))

    def test_a_scaler_with_the_optimizer_elsewhere(self):
        text = PLAIN.replace("optimizer = torch", "other = torch").replace(
            "    criterion =", "    train(model, other)\ndef train(model, optimizer):\n"
            "    criterion =")
        self.assertIn("in another function", self.reason(text, "autocast=fp16"))

    def test_a_loop_of_a_library(self):
        self.assertIn("the step is Lightning's", self.reason(
            PLAIN, "empty_cache", facts={"framework": "Lightning"}))

    def test_a_checkpoint_of_its_own(self):
        self.assertIn("a checkpoint of its own",
                      self.reason(PLAIN + "\ndef checkpoint():\n    pass\n", "checkpoint"))


class Stacks(unittest.TestCase):
    """Several techniques in one file."""

    def test_a_stack(self):
        case = Case(PLAIN, "autocast=fp16", "checkpoint", "accumulate=4", "set_to_none",
                    "conf=a:b", "inference_mode", "foreach=off", "empty_cache")
        self.assertEqual(case.answer["left_out"], [])
        self.assertIn('''\
            optimizer.zero_grad(set_to_none=True)
            for x_piece, y_piece in zip(x.chunk(4), y.chunk(4)):
                with torch.autocast("cuda", dtype=torch.float16):
                    out = model(x_piece)  #: model
                    # the loss
                    loss = criterion(out, y_piece)
                torch.cuda.empty_cache()
                scaler.scale(loss / 4).backward()  #: backward
            torch.cuda.empty_cache()
            scaler.step(optimizer)  #: step
            scaler.update()
            torch.cuda.empty_cache()
''', case.stack)

    def test_one_that_cannot_be_written_leaves_the_others(self):
        case = Case(PLAIN, "loss=chunked", "autocast=bf16")
        self.assertEqual(case.answer["left_out"], ["loss=chunked"])
        self.assertIn("torch.autocast", case.stack)


class Frameworks(unittest.TestCase):
    """Arguments instead of lines."""

    TRAINER = '''\
from transformers import Trainer, TrainingArguments

arguments = TrainingArguments(
    "out",
    per_device_train_batch_size=8,
    gradient_accumulation_steps=2,
)
Trainer(model, arguments, train_dataset=data).train()  #: backward #: model
'''

    def test_training_arguments(self):
        facts = {"framework": "Trainer"}
        case = Case(self.TRAINER, "autocast=bf16", "checkpoint", "accumulate=4", facts=facts)
        self.assertEqual(case.answer["left_out"], [])
        self.assertIn('''\
    per_device_train_batch_size=2,
    gradient_accumulation_steps=2 * 4, gradient_checkpointing=True, bf16=True,
)''', case.stack)
        self.assertEqual(case.changes[0]["arguments"], "bf16=True")
        self.assertIn("gradient_accumulation_steps=4", case.changes[2]["arguments"])
        self.assertIn("output = model(inputs)", case.changes[0]["pytorch"])

    def test_a_class_on_the_line_of_the_loop_is_not_its_model(self):
        case = Case("Trainer(model, train_dataset=Data()).train()  #: backward #: model\n",
                    "autocast=bf16", facts={"framework": "Trainer"})
        self.assertIn("output = model(inputs)", case.changes[0]["pytorch"])

    def test_the_outermost_framework_owns_the_loop(self):
        def framework(*files):
            frame = None
            for file in files:
                code = types.SimpleNamespace(co_filename=f"/site-packages/{file}.py")
                frame = types.SimpleNamespace(f_code=code, f_back=frame)
            return anatomy.framework_of(frame)

        accelerate, deepspeed = "accelerate/accelerator", "deepspeed/runtime/engine"
        self.assertEqual(framework("transformers/trainer", accelerate), "Trainer")
        self.assertEqual(framework("transformers/trainer", accelerate, deepspeed), "Trainer")
        self.assertEqual(framework("train", accelerate), "accelerate")
        self.assertEqual(framework("train", accelerate, deepspeed), "DeepSpeed")
        self.assertEqual(framework("train"), "")

    def test_arguments_of_a_command_line(self):
        case = Case("trainer.train()  #: backward\n", "autocast=bf16",
                    facts={"framework": "Trainer"})
        self.assertIsNone(case.diff)
        self.assertEqual(case.changes[0]["arguments"], "bf16=True")

    def test_lightning(self):
        text = '''\
import lightning as L
loader = DataLoader(data, batch_size=16)  #: loader
trainer = L.Trainer(max_steps=2)
trainer.fit(model, loader)  #: backward #: model
'''
        case = Case(text, "accumulate=4", "autocast=fp16", facts={"framework": "Lightning"})
        self.assertIn("batch_size=4", case.stack)
        self.assertIn('L.Trainer(max_steps=2, accumulate_grad_batches=4, precision="16-mixed")',
                      case.stack)
        self.assertEqual(case.changes[1]["framework"], 'Trainer(precision="16-mixed")')

    def test_accelerate(self):
        text = '''\
accelerator = Accelerator()
for x in loader:
    loss = model(x)  #: model
    accelerator.backward(loss)  #: backward
    optimizer.step()  #: step
'''
        facts = {"framework": "accelerate"}
        case = Case(text, "autocast=bf16", facts=facts)
        self.assertIn('Accelerator(mixed_precision="bf16")', case.after)
        case = Case(text, "accumulate=2", facts=facts)
        self.assertIn("for x in x.chunk(2):\n        loss = model(x)", case.after)
        self.assertIn("        accelerator.backward(loss / 2)", case.after)


if __name__ == "__main__":
    unittest.main()
