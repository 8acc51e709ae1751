"""What a snapshot says, and whether it agrees with itself.

A snapshot has two halves that must tell one story: the trace of events, and the segments
with their blocks at the end. Replaying the trace has to arrive at the blocks, unless its
beginning was overwritten; then the part that is left must at least not contradict them.
"""


def active_blocks(snapshot, device):
    """{address: requested bytes} of what was in use when the snapshot was taken."""
    return {
        block["address"]: block["requested_size"]
        for segment in snapshot["segments"]
        if segment["device"] == device
        for block in segment["blocks"]
        if block["state"] != "inactive"
    }


class Replay:
    """The events of one device, one after the other."""

    def __init__(self, trace):
        self.live = {}  # address -> requested bytes
        self.live_bytes = 0
        self.live_bytes_peak = 0
        self.reserved_bytes = 0
        self.reserved_bytes_peak = 0
        self.is_complete = True  # nothing was freed that this trace did not allocate
        for entry in trace:
            handler = getattr(self, "on_" + entry["action"], None)
            if handler:
                handler(entry)

    def on_alloc(self, entry):
        self.live[entry["addr"]] = entry["size"]
        self.live_bytes += entry["size"]
        self.live_bytes_peak = max(self.live_bytes_peak, self.live_bytes)

    def on_free_completed(self, entry):
        if self.live.pop(entry["addr"], None) is None:
            self.is_complete = False
        else:
            self.live_bytes -= entry["size"]

    def on_segment_alloc(self, entry):
        self.reserved_bytes += entry["size"]
        self.reserved_bytes_peak = max(self.reserved_bytes_peak, self.reserved_bytes)

    def on_segment_free(self, entry):
        self.reserved_bytes -= entry["size"]

    on_segment_map = on_segment_alloc
    on_segment_unmap = on_segment_free


def complaints_about_segment(segment):
    """Blocks must tile their segment, and the sums must be the sums."""
    where = f"segment {segment['address']:#x}"
    at = segment["address"]
    for block in segment["blocks"]:
        if block["address"] != at:
            yield f"{where}: block at {block['address']:#x}, expected at {at:#x}"
        at = block["address"] + block["size"]
    if at != segment["address"] + segment["total_size"]:
        yield f"{where}: its blocks end at {at:#x}"
    active = [block for block in segment["blocks"] if block["state"] != "inactive"]
    if sum(block["size"] for block in active) != segment["active_size"]:
        yield f"{where}: active_size is not the sum of its active blocks"
    if sum(block["requested_size"] for block in active) != segment["requested_size"]:
        yield f"{where}: requested_size is not the sum of its active blocks"


def complaints(snapshot):
    """Yield what is wrong, one sentence each; nothing if all agrees."""
    for segment in snapshot["segments"]:
        yield from complaints_about_segment(segment)
    for device, trace in enumerate(snapshot["device_traces"]):
        replay = Replay(trace)
        blocks = active_blocks(snapshot, device)
        reserved = sum(segment["total_size"] for segment in snapshot["segments"]
                       if segment["device"] == device)
        for address, size in replay.live.items():
            if blocks.get(address) != size:
                yield f"device {device}: {size} bytes at {address:#x} live only in the trace"
        if replay.is_complete:
            for address in blocks.keys() - replay.live.keys():
                yield f"device {device}: block at {address:#x} was never allocated"
            if replay.reserved_bytes != reserved:
                yield f"device {device}: {replay.reserved_bytes} reserved bytes, not {reserved}"


def facts(snapshot):
    """Numbers a reader of the recording can check, over all devices."""
    replays = [Replay(trace) for trace in snapshot["device_traces"]]
    actions = [entry["action"] for trace in snapshot["device_traces"] for entry in trace]
    is_complete = all(replay.is_complete for replay in replays)
    return {
        "events": [len(trace) for trace in snapshot["device_traces"]],
        "actions": {action: actions.count(action) for action in sorted(set(actions))},
        "segments": len(snapshot["segments"]),
        "is_complete": is_complete,
        "live_bytes": sum(sum(active_blocks(snapshot, device).values())
                          for device in range(len(replays))),
        # Of an incomplete trace a replay only sees part: no peak is better than a wrong one.
        "live_bytes_peak": [replay.live_bytes_peak if is_complete else None for replay in replays],
        "reserved_bytes_peak": [replay.reserved_bytes_peak if is_complete else None
                                for replay in replays],
    }


def live_bytes_by_line(snapshot, program):
    """{line of `program`: bytes it asked for that are still in use}, innermost frame counts."""
    result = {}
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            for frame in block["frames"]:
                if block["state"] != "inactive" and frame["filename"].endswith("/" + program):
                    line = frame["line"]
                    result[line] = result.get(line, 0) + block["requested_size"]
                    break
    return result
