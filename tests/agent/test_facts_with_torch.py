#!/usr/bin/env python3
"""What decides memory and what is switched on, of real PyTorch programs.

    test_facts_with_torch.py PLIMSOLL

runs itself as a rehearsal, with the Python that PLIM_TORCH_PYTHON names and that has PyTorch;
without one it is skipped.
"""

from test_with_torch import AgentTest, Program, run_tests


class FactsCase(AgentTest):
    def facts(self, source, prepare=None):
        """{(kind, name): fact} of a program that ends well."""
        program = Program(self, source)
        if prepare:
            prepare(program)
        run = program.run()
        self.assertEqual(run.status, 0, run.stderr)
        result = self.one(run)
        return {(fact["kind"], fact["name"]): fact for fact in result["facts"]}

    def decides(self, facts):
        return {name: fact["value"] for (kind, name), fact in facts.items() if kind == "decides"}

    def technique(self, name, source, prepare=None):
        """The effect and the evidence; (None, None) where the technique is not found."""
        fact = self.facts(source, prepare=prepare).get(("technique", name), {})
        return fact.get("effect"), fact.get("evidence")


class Decides(FactsCase):
    def test_training(self):
        facts = self.facts("""
            torch.backends.cudnn.benchmark = True
            def main():
                net = model().to(torch.bfloat16)
                optimizer = torch.optim.AdamW(net.parameters())
                net(batch().to(torch.bfloat16)).square().mean().backward()
                optimizer.step()
            main()
        """)
        found = self.decides(facts)
        self.assertIn(", CUDA ", found.pop("PyTorch"))
        self.assertEqual(found, {
            "allocator settings": "defaults", "cuDNN benchmark": "on", "compile": "off",
            "dtype": "bfloat16", "optimizer": "AdamW", "backward": "yes"})
        self.assertEqual([name for kind, name in facts if kind == "technique"], [])

    def test_inference(self):
        program = """
            torch.set_float32_matmul_precision("high")
            def main():
                net = model().eval()
                {with_}:
                    net(batch())
            main()
        """
        facts = self.facts(program.format(with_="with torch.no_grad()"))
        found = self.decides(facts)
        self.assertEqual(found.pop("dtype"), "float32")
        self.assertEqual(found.pop("float32 matmul precision"), "high")
        self.assertNotIn("optimizer", found)
        self.assertNotIn("backward", found)
        name = ("technique", "inference without gradients")
        self.assertEqual((facts[name]["value"], facts[name]["effect"]), ("torch.no_grad", "yes"))
        facts = self.facts(program.format(with_="if True"))
        self.assertEqual((facts[name]["value"], facts[name]["effect"]), ("eval mode", "no"))

    def test_attention(self):
        found = self.facts("""
            from torch.nn import functional
            from torch.nn.attention import SDPBackend, sdpa_kernel
            import sys
            def attend(backend, type=torch.bfloat16, mask=None):
                q = torch.randn(2, 4, 128, 64, device="cuda", dtype=type, requires_grad=True)
                with sdpa_kernel(backend):
                    out = functional.scaled_dot_product_attention(q, q, q, attn_mask=mask)
                out.sum().backward()
            attend(SDPBackend.FLASH_ATTENTION)
            attend(SDPBackend.FLASH_ATTENTION)
            attend(SDPBackend.EFFICIENT_ATTENTION, torch.float32)
            attend(SDPBackend.CUDNN_ATTENTION)
        """)
        self.assertEqual(found["decides", "attention"]["value"],
                         "flash × 2, memory-efficient × 1, cuDNN × 1")
        self.assertEqual(found["technique", "flash attention"]["effect"], "yes")

    def test_attention_without_a_kernel_of_its_own(self):
        found = self.facts("""
            from torch.nn import functional
            from torch.nn.attention import SDPBackend, sdpa_kernel
            q = torch.randn(2, 4, 128, 64, device="cuda", requires_grad=True)
            with sdpa_kernel(SDPBackend.MATH):
                functional.scaled_dot_product_attention(q, q, q).sum().backward()
        """)
        self.assertEqual(found["decides", "attention"]["value"], "math")
        self.assertEqual(found["technique", "flash attention"]["effect"], "no")

    def test_no_attention(self):
        found = self.facts("""
            net = model()
            loss = torch.nn.functional.cross_entropy(net(batch()), torch.zeros(
                64, dtype=torch.long, device="cuda"))
            loss.backward()
        """)
        self.assertNotIn(("decides", "attention"), found)

    def test_out_of_memory_in_the_first_step(self):
        run = self.both("""
            net = model()
            def forward(x):
                with torch.autocast("cuda", dtype=torch.bfloat16):
                    return net(x)
            loss = forward(batch())
            torch.empty(1 << 40, device="cuda")
        """)
        facts = {fact["name"]: fact for fact in self.one(run)["facts"]}
        self.assertEqual(facts["dtype"]["value"], "float32")
        self.assertEqual(facts["autocast"]["effect"], "yes")
        self.assertNotIn("plimsoll_agent", run.stderr)


class Techniques(FactsCase):
    def test_autocast(self):
        program = """
            net = model().to(torch.{type})
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled={enabled}):
                loss = {loss}
            loss.backward()
        """
        loss = "net(batch().to(torch.{type})).square().mean()"
        for type_, enabled, wanted in (("float32", True, "yes"), ("bfloat16", True, "no"),
                                       ("float32", False, None)):
            source = program.format(type=type_, enabled=enabled, loss=loss.format(type=type_))
            self.assertEqual(self.technique("autocast", source)[0], wanted)

    def test_autocast_around_nothing(self):
        effect, evidence = self.technique("autocast", """
            net = model()
            with torch.autocast("cuda", dtype=torch.bfloat16):
                data = batch() + 1
            net(data).square().mean().backward()
        """)
        self.assertEqual(effect, "no")
        self.assertIn("no product ran in bfloat16", evidence)

    def test_an_error_within_autocast_has_no_frames_of_ours(self):
        run = self.both("""
            with torch.autocast("cuda"), torch.autograd.graph.save_on_cpu():
                raise ValueError("the program's own")
        """)
        self.assertNotIn("plimsoll_agent", run.stderr)

    def test_checkpointing(self):
        program = """
            from torch.utils.checkpoint import checkpoint
            net = model()
            x = batch().requires_grad_({grad})
            for _ in range(2):
                for layer in net:
                    x = checkpoint(layer, x, use_reentrant={reentrant})
                x.square().mean().backward()
                x = batch().requires_grad_({grad})
        """
        for reentrant in (False, True):
            facts = self.facts(program.format(grad=True, reentrant=reentrant))
            fact = facts["technique", "gradient checkpointing"]
            self.assertEqual((fact["value"], fact["effect"]), ("3 blocks", "yes"))
            self.assertIn("called 6 times, and 6 blocks were recomputed in 2 backward passes",
                          fact["evidence"])

    def test_checkpointing_without_effect(self):
        flagged = """
            class Model(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.net = model()
                    self.gradient_checkpointing = True
                def forward(self, x):
                    return self.net(x)
            net = Model()
        """
        name = "gradient checkpointing"
        effect, evidence = self.technique(name, flagged + """
            net(batch()).square().mean().backward()
        """)
        self.assertEqual(effect, "no")
        self.assertIn("no block was recomputed. torch.utils.checkpoint was not called", evidence)
        effect, evidence = self.technique(name, flagged + """
            net.eval()(batch()).square().mean().backward()
        """)
        self.assertEqual(effect, "no")
        self.assertIn("eval mode", evidence)
        effect, evidence = self.technique(name, """
            from torch.utils.checkpoint import checkpoint
            net, frozen = model(), model().requires_grad_(False)
            net(checkpoint(frozen, batch(), use_reentrant=False)).square().mean().backward()
        """)
        self.assertEqual(effect, "no")
        self.assertIn("did not require gradients", evidence)
        self.assertEqual(self.technique(name, "net = model()\nloss_of(net).backward()")[0], None)

    def test_an_error_within_a_checkpoint_has_no_frames_of_ours(self):
        for reentrant in (False, True):
            run = self.both(f"""
                from torch.utils.checkpoint import checkpoint
                calls = []
                def fails(x):
                    calls.append(x)
                    if len(calls) == 2:
                        raise ValueError("the program's own")
                    return x * x
                x = batch().requires_grad_()
                checkpoint(fails, x, use_reentrant={reentrant}).sum().backward()
            """)
            frames = [line for line in run.stderr.splitlines()
                      if "plimsoll_agent" in line and "phases.py" not in line]
            self.assertEqual(frames, [])

    def test_offloading(self):
        program = """
            net = model()
            {freeze}
            with torch.autograd.graph.save_on_cpu(pin_memory=True):
                loss = net(batch()).square().mean()
            {backward}
        """
        name = "activation offloading"
        effect, evidence = self.technique(name, program.format(freeze="",
                                                               backward="loss.backward()"))
        self.assertEqual(effect, "yes")
        self.assertIn("copied to the host", evidence)
        effect, _ = self.technique(name, program.format(freeze="net.requires_grad_(False)",
                                                        backward=""))
        self.assertEqual(effect, "no")
        effect, _ = self.technique(name, "loss_of(model()).backward()")
        self.assertEqual(effect, None)

    def test_low_bit_optimizers(self):
        program = """
            from bitsandbytes.optim import AdamW8bit
            net = model({width})
            optimizer = AdamW8bit(net.parameters())
            net(batch(width={width})).square().mean().backward()
            optimizer.step()
        """

        def prepare(program):
            program.add("bitsandbytes/__init__.py", "")
            program.add("bitsandbytes/optim.py", OPTIMIZER)

        name = "8-bit optimizer"
        self.assertEqual(self.technique(name, program.format(width=256), prepare)[0], "yes")
        effect, evidence = self.technique(name, program.format(width=16), prepare)
        self.assertEqual(effect, "no")
        self.assertIn("0 B packed", evidence)

    def test_others_that_have_an_effect(self):
        facts = self.facts("""
            net = model()
            for parameter in net.parameters():
                optimizer = torch.optim.SGD([parameter])
                def step(parameter, optimizer=optimizer):
                    optimizer.step()
                    optimizer.zero_grad()
                parameter.register_post_accumulate_grad_hook(step)
            loss_of(net).backward()
            x = batch()
            graph = torch.cuda.CUDAGraph()
            with torch.no_grad(), torch.cuda.graph(graph):
                y = net(x)
            graph.replay()
        """)
        self.assertEqual(facts["technique", "optimizer in backward"]["effect"], "yes")
        graphs = facts["technique", "CUDA graphs"]
        self.assertEqual((graphs["value"], graphs["effect"]), ("1 graph", "yes"))
        self.assertIn("1 graph captured, 1 replay", graphs["evidence"])

    def test_a_graph_that_is_never_replayed(self):
        effect, _ = self.technique("CUDA graphs", """
            x = batch()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                y = x * x
        """)
        self.assertEqual(effect, "no")

    def test_lora(self):
        program = """
            class Adapted(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.base_layer = torch.nn.Linear(256, 256).requires_grad_({trains})
                    self.lora_A = torch.nn.ModuleDict({{"default": torch.nn.Linear(256, 4)}})
                    self.lora_B = torch.nn.ModuleDict({{"default": torch.nn.Linear(4, 256)}})
                def forward(self, x):
                    low = self.lora_B["default"](self.lora_A["default"](x))
                    return self.base_layer(x) + low
            net = Adapted().cuda()
            net(batch()).square().mean().backward()
        """
        self.assertEqual(self.technique("LoRA", program.format(trains=False))[0], "yes")
        self.assertEqual(self.technique("LoRA", program.format(trains=True))[0], "no")

    def test_expandable_segments(self):
        name = "expandable segments"
        late = """
            batch()
            import os
            os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
            model()
        """
        effect, evidence = self.technique(name, late)
        self.assertEqual(effect, "no")
        self.assertIn("after CUDA had begun", evidence)
        early = """
            import os
            torch.cuda.memory._set_allocator_settings("expandable_segments:True")
            model()
        """
        self.assertEqual(self.technique(name, early)[0], "yes")
        self.assertEqual(self.technique(name, "model()")[0], None)


OPTIMIZER = """
import torch

class AdamW8bit(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                kind = torch.uint8 if parameter.numel() >= 4096 else torch.float32
                self.state[parameter]["state1"] = torch.zeros_like(parameter, dtype=kind)
"""

if __name__ == "__main__":
    run_tests(__file__, ["Decides.test_training"])
