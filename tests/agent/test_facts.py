#!/usr/bin/env python3
"""test_facts.py - what decides memory and what is switched on, each part without PyTorch."""

import os
import sys
import types
import unittest
from unittest import mock

AGENT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "src", "agent"))
sys.path.insert(0, AGENT)

from plimsoll_agent import allocator, techniques  # noqa: E402
from plimsoll_agent.amounts import share_text, size_text  # noqa: E402
from plimsoll_agent.attention import Attention  # noqa: E402
from plimsoll_agent.deciding import names_of  # noqa: E402
from plimsoll_agent.facts import Facts  # noqa: E402


def fake_core(settings, takes=1, backend="native"):
    """torch._C of a release whose snapshot takes so many arguments."""

    def snapshot(*pool):
        if len(pool) != takes:
            raise TypeError("takes another number of arguments")
        return {"allocator_settings": settings, "segments": [
            {"total_size": 20, "is_expandable": True, "segment_pool_id": (0, 0)},
            {"total_size": 4, "is_expandable": False, "segment_pool_id": (0, 1)},
        ]}

    return types.SimpleNamespace(_cuda_memorySnapshot=snapshot,
                                 _cuda_getAllocatorBackend=lambda: backend)


def allocator_with(settings, **release):
    found = allocator.Allocator(types.SimpleNamespace(_C=fake_core(settings, **release)))
    found.begin()
    return found


class AllocatorTest(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.dict(os.environ)
        patch.start()
        self.addCleanup(patch.stop)
        for name in allocator.NAMES:
            os.environ.pop(name, None)

    def test_defaults(self):
        for takes in (0, 1):
            found = allocator_with({"expandable_segments": False, "max_split_size": -1,
                                    "garbage_collection_threshold": 0.0,
                                    "roundup_power2_divisions": {"1": 0, "2": 0}}, takes=takes)
            self.assertEqual(found.describe(), ("defaults", None))

    def test_settings_in_effect(self):
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True,max_split_size_mb:64"
        found = allocator_with({"expandable_segments": True, "max_split_size": 64 << 20,
                                "garbage_collection_threshold": 0.8,
                                "roundup_power2_divisions": {"1": 8, "2": 8}})
        self.assertEqual(found.describe(), (
            "expandable_segments:True,max_split_size_mb:64,garbage_collection_threshold:0.8,"
            "roundup_power2_divisions:8", None))

    def test_asked_for_and_ignored(self):
        os.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:True, max_split_size_mb:64"
        found = allocator_with({"expandable_segments": False, "max_split_size": 64 << 20})
        self.assertEqual(found.describe(), ("max_split_size_mb:64", (
            "PYTORCH_ALLOC_CONF asks for expandable_segments:True, and the allocator does not "
            "have it.")))

    def test_asked_for_what_is_the_default(self):
        os.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:False,backend:native"
        found = allocator_with({"expandable_segments": False})
        self.assertEqual(found.describe(), ("defaults", None))

    def test_another_backend(self):
        os.environ["PYTORCH_ALLOC_CONF"] = "backend:cudaMallocAsync"
        found = allocator_with({}, backend="cudaMallocAsync")
        self.assertEqual(found.describe(), ("backend:cudaMallocAsync", None))

    def test_brackets(self):
        self.assertEqual(allocator.parse("a:[256:1,512:2],b:3, c : 4"),
                         {"a": "[256:1,512:2]", "b": "3", "c": "4"})

    def test_segments(self):
        found = allocator_with({})
        found.look()
        self.assertIsNone(found.segments)  # it would import Inductor
        with mock.patch.dict(sys.modules, {"torch._inductor.codecache": types.ModuleType("c")}):
            found.look()
        self.assertEqual((found.segments.reserved_bytes, found.segments.expandable_bytes,
                          found.segments.pool_bytes), (24, 20, 4))

    def test_a_release_that_says_nothing(self):
        found = allocator.Allocator(types.SimpleNamespace(
            _C=types.SimpleNamespace(_cuda_memorySnapshot=lambda pool: {})))
        found.begin()
        self.assertEqual(found.describe(), ("unknown", None))


class FactsTest(unittest.TestCase):
    def test_the_last_word_counts(self):
        facts = Facts()
        facts.add("decides", "compile", "off")
        facts.add("decides", "compile", "1 graph", evidence="It was.")
        self.assertEqual(facts.as_result(), [{"kind": "decides", "name": "compile",
                                              "value": "1 graph", "effect": None,
                                              "evidence": "It was."}])

    def test_names_by_share(self):
        self.assertEqual(names_of({}), "")
        self.assertEqual(names_of({"torch.float32": 4}), "float32")
        self.assertEqual(names_of({"torch.bfloat16": 96, "torch.float32": 4}),
                         "bfloat16 (96%), float32")

    def test_amounts(self):
        self.assertEqual([size_text(count) for count in (0, 999, 1 << 20, 1536 << 20, 1 << 50)],
                         ["0 B", "999 B", "1.00 MiB", "1.50 GiB", "1024 TiB"])
        self.assertEqual([share_text(part, 1000) for part in (0, 3, 10, 970)],
                         ["0%", "0.3%", "1%", "97%"])
        self.assertEqual(share_text(0, 0), "0%")


SOFTMAX = "_ZN43_GLOBAL__N__b6de9c8c_10_SoftMax_cu_9f978f6320softmax_warp_forwardI"


class AttentionTest(unittest.TestCase):
    """Names as PyTorch 2.11 and the packages have them, shortened at their ends."""

    def value(self, *names):
        return Attention(dict.fromkeys(names, 4)).value()

    def test_families(self):
        for family, *names in (
            ("flash", "_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_traits",
             "_ZN13pytorch_flash44flash_bwd_dq_dk_dv_loop_seqk_parallel_kernelI23Flash"),
            ("flash", "_ZN13pytorch_flash24flash_fwd_splitkv_kernelI23Flash_fwd_kernel_traits"),
            ("flash-attn package", "_ZN5flash16flash_fwd_kernelI23Flash_fwd_kernel_traits"),
            ("flash-attn package", "_ZN7cutlass13device_kernelIN5flash19FlashAttnFwdSm90INS1_"),
            ("memory-efficient",
             "_Z40fmha_cutlassF_bf16_aligned_64x64_rf_sm80N22PyTorchMemEffAttention15Att",
             "_Z40fmha_cutlassB_f32_aligned_64x64_k64_sm80N22PyTorchMemEffAttention23Att"),
            ("xFormers", "_Z40fmha_cutlassF_bf16_aligned_64x64_rf_sm80N15AttentionKernel"),
            ("cuDNN", "cudnn attention forward", "cudnn attention backward"),
            ("flex", "triton_tem_fused_flex_attention_0"),
            ("math", SOFTMAX + "fffLi8ELb0ELb0EEEvPT0_PKT_iiiPKbib",
             "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIb15and_kernel_cudaER"),
            ("not fused", "_ZN22cunn_SoftMaxForwardRegIN3c108BFloat16EfS4_NS1_22SoftMaxForwardEp"
             "ilogueElLi4EEEvPT1_PKT_T3_"),
        ):
            self.assertEqual(self.value(*names), family)

    def test_what_is_none(self):
        attention = Attention(dict.fromkeys((
            "_ZN13pytorch_flash27flash_bwd_convert_dq_kernelI23Flash_bwd_kernel_traits",
            "_ZN19cunn_SoftMaxForwardILi4EfffNS1_25LogSoftMaxForwardEpilogueEEEvPT2_PKT0_i",
            SOFTMAX + "fffLi8ELb1ELb0EEEvPT0_PKT_iiiPKbib",
            "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIb15and_kernel_cudaER",
        ), 4))
        self.assertEqual((attention.fused(), attention.softmax, attention.is_math), ([], 0, False))

    def test_passes(self):
        attention = Attention({"cudnn attention forward": 24, "cudnn attention backward": 12,
                               "_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd": 2})
        self.assertEqual(attention.value(), "cuDNN × 24, flash × 2")
        self.assertEqual(attention.evidence(), "Kernels launched, forward: cuDNN × 24, flash × 2; "
                                               "backward: cuDNN × 12.")


class Parameter:
    """As one of DeepSpeed's, of FSDP's two kinds, or a plain one."""

    def __init__(self, count, **others):
        self._count = count
        vars(self).update(others)

    def numel(self):
        return self._count


class ShardingTest(unittest.TestCase):
    def effect(self, kind, parameters, world_size=4, **methods):
        facts = Facts()
        module = type(kind, (), methods)()
        inventory = types.SimpleNamespace(modules=[module], optimizers=[], parameters=parameters)
        techniques.sharding(facts, inventory, world_size)
        found = facts.as_result()
        return found[0]["effect"] if found else None

    def test_kinds(self):
        quarter = Parameter(25)
        flat = Parameter(25, _unpadded_unsharded_size=Parameter(100), _sharded_size=quarter)
        self.assertEqual(self.effect("FullyShardedDataParallel", [flat]), "yes")
        self.assertEqual(self.effect("FullyShardedDataParallel", [flat], world_size=1), "no")
        whole = Parameter(100, _unpadded_unsharded_size=Parameter(100),
                          _sharded_size=Parameter(100))
        self.assertEqual(self.effect("FullyShardedDataParallel", [whole]), "no")
        self.assertEqual(self.effect("FSDPModule", [Parameter(100, _local_tensor=quarter)]), "yes")
        self.assertEqual(self.effect("FSDPModule", [Parameter(100)]), "no")
        self.assertEqual(self.effect("Linear", [Parameter(100)]), None)

    def test_deepspeed(self):
        parameter = Parameter(0, ds_numel=100, ds_tensor=Parameter(25))
        for stage, wanted in ((0, "no"), (1, "yes"), (2, "yes"), (3, "yes")):
            self.assertEqual(self.effect("DeepSpeedEngine", [parameter],
                                         zero_optimization_stage=lambda self, s=stage: s), wanted)


if __name__ == "__main__":
    unittest.main(verbosity=2)
