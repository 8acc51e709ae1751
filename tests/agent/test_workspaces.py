#!/usr/bin/env python3
"""test_workspaces.py - cuBLAS's workspaces among the holders of memory."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "src", "agent"))
from plimsoll_agent.blackbox import workspaces  # noqa: E402

MIB = 1 << 20
SMALL = 8 * MIB + 128 * 1024


def document(live, held, is_complete=True, engine=0):
    """Two holders, the second with what the first has."""
    holders = [{"id": number, "kind": "local", "bytes": size, "also": [1 - number],
                "blocks": [[number * 100 * MIB, size, ""]]} for number, size in enumerate((held, held // 2))]
    return {"is_complete": is_complete, "holders": holders,
            "devices": [{"device": 0, "live_bytes": live, "held_bytes": held, "graph_bytes": 0,
                         "engine_bytes": engine}]}


def snapshot(*sizes, state="active_allocated"):
    """Blocks after the first, which is held."""
    blocks = [{"size": 16 * MIB, "requested_size": 16 * MIB, "state": "active_allocated"}]
    blocks += [{"size": size + 512, "requested_size": size, "state": state} for size in sizes]
    return {"segments": [{"device": 0, "address": 0, "blocks": blocks}]}


class Workspaces(unittest.TestCase):
    def test_what_has_their_size_and_no_holder(self):
        for size in (32 * MIB, SMALL):
            found = document(16 * MIB + 2 * (size + 512), 16 * MIB)
            workspaces.add(found, snapshot(size, size), {})
            (library,) = [one for one in found["holders"] if one["kind"] == "library"]
            self.assertEqual((library["bytes"], library["tensors"]), (2 * (size + 512), 2))
            self.assertEqual(library["blocks"][0][:2], [16 * MIB, size + 512])
            self.assertEqual(found["devices"][0]["held_bytes"], found["devices"][0]["live_bytes"])

    def test_holders_stay_in_order(self):
        found = document(100 * MIB, 16 * MIB)
        workspaces.add(found, snapshot(32 * MIB), {})
        self.assertEqual([(one["id"], one["kind"], one["also"]) for one in found["holders"]],
                         [(0, "library", []), (1, "local", [2]), (2, "local", [1])])

    def test_others_are_left_alone(self):
        for blocks in (snapshot(31 * MIB), snapshot(32 * MIB, state="inactive")):
            found = document(100 * MIB, 16 * MIB)
            workspaces.add(found, blocks, {})
            self.assertEqual(len(found["holders"]), 2)

    def test_what_is_held_is_the_holders(self):
        found = document(132 * MIB, 100 * MIB)
        found["holders"][0]["blocks"].append([16 * MIB, 32 * MIB, "[0]"])
        workspaces.add(found, snapshot(32 * MIB), {})
        self.assertEqual(len(found["holders"]), 2)

    def test_no_more_than_is_live(self):
        found = document(20 * MIB, 16 * MIB)
        workspaces.add(found, snapshot(32 * MIB), {})
        self.assertEqual(len(found["holders"]), 2)

    def test_a_search_that_was_cut_short_proves_nothing(self):
        found = document(100 * MIB, 16 * MIB, is_complete=False)
        workspaces.add(found, snapshot(32 * MIB), {})
        self.assertEqual(len(found["holders"]), 2)

    def test_of_a_running_backward_pass_they_are_no_part(self):
        found = document(100 * MIB, 16 * MIB, engine=84 * MIB)
        workspaces.add(found, snapshot(32 * MIB), {})
        self.assertEqual(found["devices"][0]["engine_bytes"], 52 * MIB - 512)

    def test_sizes_that_the_program_chose(self):
        for chosen, lt, expected in ((":16:8", "2048", {16 * 8 * 1024, 2 * MIB}),
                                     ("x", "-1", {32 * MIB, SMALL, MIB})):
            self.assertEqual(workspaces.sizes({"CUBLAS_WORKSPACE_CONFIG": chosen,
                                               "CUBLASLT_WORKSPACE_SIZE": lt}), expected)


if __name__ == "__main__":
    unittest.main()
