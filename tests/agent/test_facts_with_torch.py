#!/usr/bin/env python3
"""What decides memory and what is switched on, of real PyTorch programs.

    test_facts_with_torch.py PLIMSOLL

runs itself as a rehearsal, with the Python that PLIM_TORCH_PYTHON names and that has PyTorch;
without one it is skipped. Each program is run without and with the agent, and must do the same.
"""

import unittest

from test_with_torch import AgentTest, run_tests


class FactsCase(AgentTest):
    def facts(self, source, **settings):
        """{(kind, name): fact} of a program that ends well."""
        result = self.one(self.both(source, **settings))
        return {(fact["kind"], fact["name"]): fact for fact in result["facts"]}

    def decides(self, facts):
        return {name: fact["value"] for (kind, name), fact in facts.items() if kind == "decides"}


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

    def test_inference(self):
        found = self.decides(self.facts("""
            torch.set_float32_matmul_precision("high")
            def main():
                with torch.no_grad():
                    model()(batch())
            main()
        """))
        self.assertEqual(found.pop("dtype"), "float32")
        self.assertEqual(found.pop("float32 matmul precision"), "high")
        self.assertNotIn("optimizer", found)
        self.assertNotIn("backward", found)

    def test_autocast(self):
        program = """
            net = model().to(torch.{type})
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled={enabled}):
                loss = net(batch().to(torch.{type})).square().mean()
            loss.backward()
        """
        facts = self.facts(program.format(type="float32", enabled=True))
        self.assertEqual(facts["technique", "autocast"]["effect"], "yes")
        facts = self.facts(program.format(type="bfloat16", enabled=True))
        self.assertEqual(facts["technique", "autocast"]["effect"], "no")
        facts = self.facts(program.format(type="float32", enabled=False))
        self.assertNotIn(("technique", "autocast"), facts)

    def test_an_error_within_autocast_has_no_frames_of_ours(self):
        run = self.both("""
            with torch.autocast("cuda"):
                raise ValueError("the program's own")
        """)
        self.assertNotIn("plimsoll_agent", run.stderr)


if __name__ == "__main__":
    run_tests(__file__, ["Decides.test_training"])
