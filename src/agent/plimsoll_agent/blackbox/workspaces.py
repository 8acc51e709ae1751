"""Memory that cuBLAS works in, which PyTorch takes from its allocator: no Python object holds it.

PyTorch 2.11, aten/src/ATen/cuda/CublasHandlePool.cpp: one of parseChosenWorkspaceSize() for each
thread and stream that multiplies (a backward pass has a thread of its own), one of cuBLASLt. They are
known by their sizes alone, among the blocks that nothing else holds.
"""

import re

_KIB, _MIB = 1 << 10, 1 << 20
_LARGE = 32 * _MIB                              # capability 9.0 and 10.0: :4096:8
_SMALL = 2 * 4096 * _KIB + 8 * 16 * _KIB        # others: :4096:2:16:8
_LT = 1024 * _KIB
_TEXT = "workspaces of cuBLAS (by their sizes)"


def sizes(environment):
    """Bytes that a workspace may have."""
    chosen = re.findall(r":(\d{1,7}):(\d{1,4})", environment.get("CUBLAS_WORKSPACE_CONFIG", ""))
    whole = {sum(int(size) * int(count) for size, count in chosen) * _KIB} if chosen else {
        _LARGE, _SMALL}
    lt = environment.get("CUBLASLT_WORKSPACE_SIZE", "")
    return whole | {int(lt) * _KIB if re.fullmatch(r"\d{1,7}", lt) else _LT}


def add(document, snapshot, environment):
    """Adds a holder for each device to holders/1, of a search that found all that there is.

    snapshot  of the same moment; its blocks are enough
    """
    if not document["is_complete"]:
        return
    wanted = sizes(environment)
    held = {block[0] for one in document["holders"] for block in one["blocks"]}
    found = {}
    for segment in snapshot["segments"]:
        address = segment["address"]
        for block in segment["blocks"]:
            size = block.get("requested_size", block["size"])
            start = block.get("address", address)
            address += block["size"]
            if size in wanted and block["state"] == "active_allocated" and start not in held:
                found.setdefault(segment["device"], []).append([start, block["size"], ""])
    for device in document["devices"]:
        blocks = found.get(device["device"])
        left = device["live_bytes"] - device["held_bytes"] - device["graph_bytes"]
        if blocks and sum(block[1] for block in blocks) <= left:
            document["holders"].append(_holder(len(document["holders"]), device["device"], blocks))
            size = document["holders"][-1]["bytes"]
            device["held_bytes"] += size
            device["engine_bytes"] = max(device["engine_bytes"] - size, 0)
    _sort(document["holders"])


def _sort(holders):
    """The largest first, numbered anew."""
    holders.sort(key=lambda one: -one["bytes"])
    numbers = {one["id"]: number for number, one in enumerate(holders)}
    for one in holders:
        one["id"] = numbers[one["id"]]
        one["also"] = sorted(numbers[other] for other in one["also"])


def _holder(number, device, blocks):
    nothing = dict.fromkeys(("name", "type", "file", "line", "function", "made_file", "made_line",
                             "made_function"))
    return {"id": number, "kind": "library", "text": _TEXT, **nothing, "path": [],
            "tensors": len(blocks), "bytes": sum(block[1] for block in blocks), "device": device,
            "also": [], "blocks": blocks}
