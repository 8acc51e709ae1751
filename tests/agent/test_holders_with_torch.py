#!/usr/bin/env python3
"""Who holds it, in real PyTorch programs.

    test_holders_with_torch.py PLIMSOLL

runs itself as a rehearsal, with the Python that PLIM_TORCH_PYTHON names and that has PyTorch;
without one it is skipped.
"""

import json

from test_with_torch import AgentTest, Program, run_tests

FIND = """
import gc, json, weakref
from plimsoll_agent import holders
def find():
    return holders.find(torch, 30)
def show(document, **more):
    keep = ("kind", "name", "bytes", "tensors", "text", "type")
    shown = [{name: one[name] for name in keep} | {"labels": [b[2] for b in one["blocks"]]}
             for one in document["holders"]]
    print("FOUND " + json.dumps({"holders": shown, "why": document["why_incomplete"],
                                 "devices": document["devices"], **more}))
"""


class HoldersCase(AgentTest):
    def found(self, source):
        run = Program(self, FIND + source).run()
        self.assertEqual(run.status, 0, run.stderr)
        line = next(line for line in run.stdout.splitlines() if line.startswith("FOUND "))
        found = json.loads(line[len("FOUND "):])
        self.assertIsNone(found["why"])
        self.assertNotIn("Warning", run.stderr)
        return found

    def one(self, found, **members):
        some = [one for one in found["holders"]
                if all(one[name] == value for name, value in members.items())]
        self.assertEqual(len(some), 1, [one["text"] for one in found["holders"]])
        return some[0]


class Training(HoldersCase):
    def test_a_training_program(self):
        found = self.found("""
def main():
    net = model()
    optimizer = torch.optim.AdamW(net.parameters())
    losses = []
    for _ in range(3):
        loss = loss_of(net)
        loss.backward()
        optimizer.step()
        losses.append(net(batch()).square().mean())
    show(find())
main()
""")
        parameters = self.one(found, kind="parameters")
        self.assertEqual((parameters["name"], set(parameters["labels"])),
                         ("net", {"0.weight", "0.bias", "2.weight", "2.bias"}))
        self.assertEqual(self.one(found, kind="gradients")["tensors"], 4)
        self.assertIn("exp_avg of 0.weight", self.one(found, kind="optimizer_states")["labels"])
        self.assertEqual(self.one(found, kind="graph")["name"], "losses")
        device = found["devices"][0]
        named = device["held_bytes"] + device["graph_bytes"]
        self.assertEqual(named, device["live_bytes"])


class Hooks(HoldersCase):
    def test_a_checkpointed_block_is_not_run_again(self):
        for is_reentrant in (False, True):
            with self.subTest(is_reentrant=is_reentrant):
                found = self.found(f"""
from torch.utils.checkpoint import checkpoint
calls = []
def block(value):
    calls.append(1)
    return (value * 3).exp().tanh()
def main():
    start = torch.zeros(1024, 1024, device="cuda", requires_grad=True)
    out = checkpoint(block, start * 1, use_reentrant={is_reentrant})
    document = find()
    before = len(calls)
    out.sum().backward()
    show(document, calls=[before, len(calls)])
main()
""")
                self.assertEqual(found["calls"], [1, 2])
                self.assertGreaterEqual(self.one(found, kind="graph", name="out")["bytes"], 4 << 20)

    def test_offloaded_tensors_stay_on_the_host(self):
        found = self.found("""
def main():
    start = torch.zeros(1024, 1024, device="cuda", requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        out = (start * 3).exp()
    before = torch.cuda.memory_allocated()
    document = find()
    show(document, bytes=[before, torch.cuda.memory_allocated()])
main()
""")
        self.assertEqual(found["bytes"][0], found["bytes"][1])


class Traces(HoldersCase):
    def test_nothing_is_kept_alive(self):
        found = self.found("""
def main():
    net = model()
    loss = loss_of(net)
    ghosts = [weakref.ref(one) for one in (net, loss)]
    document = find()
    gc.disable()
    del net, loss
    show(document, alive=[ghost() is not None for ghost in ghosts],
         bytes=torch.cuda.memory_allocated())
main()
""")
        self.assertEqual(found["alive"], [False, False])


if __name__ == "__main__":
    run_tests(__file__, ["Hooks.test_a_checkpointed_block_is_not_run_again"])
