"""A small, honest model of PyTorch's caching allocator that writes snapshots and knows the truth.

One Device per GPU takes allocs, frees, stream completions and so on, keeps segments and blocks as
the real allocator does, and writes down every event. `moments` holds what was true after each
event, so that a snapshot cut out of the recording comes with figures that no reader computed.
"""

from collections import namedtuple

from inspect_oracle import rounded

KIB, MIB = 1 << 10, 1 << 20
SMALL_SEGMENT, LARGE_SEGMENT = 2 * MIB, 20 * MIB
VIRTUAL_RANGE = 1 << 32

Moment = namedtuple("Moment", "requested allocated active reserved live_count lives")


class Block:
    def __init__(self, segment, addr, size):
        self.segment = segment
        self.addr = addr
        self.size = size
        self.requested = 0
        self.life = None  # which allocation it holds, by number
        self.state = "inactive"
        self.frames = []
        self.history = []  # 2.0: newest first

    @property
    def end(self):
        return self.addr + self.size


class Segment:
    """A driver allocation, or one growing range of mapped memory."""

    def __init__(self, addr, size, stream, pool_id, is_small, is_expandable, frames):
        self.addr = addr
        self.stream = stream
        self.pool_id = pool_id
        self.is_small = is_small
        self.is_expandable = is_expandable
        self.frames = frames
        self.blocks = [Block(self, addr, size)] if size else []
        self.mapped_end = addr + size

    @property
    def key(self):
        return (self.stream, self.pool_id, self.is_small, self.is_expandable)

    def merge_free(self):
        """Free neighbours become one block; a gap of unmapped memory keeps them apart."""
        merged = []
        for block in self.blocks:
            before = merged[-1] if merged else None
            if before and before.state == block.state == "inactive" and before.end == block.addr:
                before.size += block.size
                before.history = (before.history + block.history)[:2]
            else:
                merged.append(block)
        self.blocks = merged

    def runs(self):
        """The blocks as maximal runs without gaps: what a snapshot calls segments."""
        runs = []
        for block in self.blocks:
            if runs and runs[-1][-1].end == block.addr:
                runs[-1].append(block)
            else:
                runs.append([block])
        return runs


class Device:
    def __init__(self, index, divisions=None, start_time_us=1_700_000_000_000_000, time_step=7):
        self.index = index
        self.divisions = divisions or [0] * 16
        self.segments = []
        self.live = {}  # address: block handed out
        self.pending = {}  # address: block whose free waits for a stream
        self.events = []
        self.next_addr = 0x7F0000000000 + index * 0x1000000000
        self.time_us = start_time_us
        self.time_step = time_step
        self.lives = 0
        self.moments = [self.moment()]  # moments[i + 1] holds after event i

    # --- what is true now

    def moment(self):
        blocks = [block for segment in self.segments for block in segment.blocks]
        return Moment(
            sum(block.requested for block in self.live.values()),
            sum(block.size for block in self.live.values()),
            sum(block.size for block in blocks if block.state != "inactive"),
            sum(block.size for block in blocks),
            len(self.live),
            [(block.life, block.requested, block.size) for block in self.live.values()],
        )

    def record(self, action, addr, size, stream=0, frames=None, pool_id=(0, 0), **more):
        self.time_us += 1 + (len(self.events) * self.time_step) % 23
        event = {
            "action": action,
            "addr": addr,
            "size": size,
            "stream": stream,
            "time_us": self.time_us,
            "pool_id": pool_id,
            "compile_context": "N/A",
            "user_metadata": "",
        }
        if frames is not None:
            event["frames"] = frames
        if action == "oom":
            del event["addr"]
        event.update(more)
        self.events.append(event)
        self.moments.append(self.moment())

    # --- what a program can do

    def alloc(self, size, frames, stream=0, pool_id=(0, 0), expandable=False, **more):
        need = rounded(size, self.divisions)
        is_small = need <= MIB
        key = (stream, pool_id, is_small, expandable)
        block = self.best_fit(key, need) or self.grow(key, need, frames)
        rest = block.size - need
        if rest >= 512 if is_small or expandable else rest > MIB:
            self.split(block, need)
        block.state, block.requested, block.frames = "active_allocated", size, frames
        block.life = self.lives
        self.lives += 1
        block.history = [{"addr": block.addr, "real_size": size, "frames": frames}] + block.history[
            :1
        ]
        self.live[block.addr] = block
        self.record("alloc", block.addr, size, stream, frames, pool_id, **more)
        return block.addr

    def free(self, addr, frames=None, wait=False):
        """Free a block; with `wait` another stream still uses it until complete(addr)."""
        block = self.live.pop(addr)
        block.state = "active_pending_free"
        self.record(
            "free_requested",
            addr,
            block.requested,
            block.segment.stream,
            frames,
            block.segment.pool_id,
        )
        self.pending[addr] = (block, frames)
        if not wait:
            self.complete(addr)
        return addr

    def complete(self, addr):
        block, frames = self.pending.pop(addr)
        block.state, block.frames = "inactive", []
        block.segment.merge_free()
        self.record(
            "free_completed",
            addr,
            block.requested,
            block.segment.stream,
            frames,
            block.segment.pool_id,
        )

    def empty_cache(self, frames=None):
        """Give wholly free segments and wholly free mapped pages back to the driver."""
        for segment in list(self.segments):
            if segment.is_expandable:
                self.unmap_free(segment, frames)
            elif all(block.state == "inactive" for block in segment.blocks):
                self.segments.remove(segment)
                self.record(
                    "segment_free",
                    segment.addr,
                    segment.mapped_end - segment.addr,
                    segment.stream,
                    frames,
                    segment.pool_id,
                )

    def oom(self, size, device_free, frames=None):
        self.record("oom", None, rounded(size, self.divisions), 0, frames, device_free=device_free)

    def snapshot(self):
        self.record("snapshot", 0, self.moments[-1].active)

    def annotate(self, addr, text):
        block = self.live[addr]
        self.record(
            "annotate",
            addr,
            block.requested,
            block.segment.stream,
            None,
            block.segment.pool_id,
            user_metadata=text,
        )

    # --- inside

    def best_fit(self, key, need):
        fits = [
            block
            for segment in self.segments
            if segment.key == key
            for block in segment.blocks
            if block.state == "inactive" and block.size >= need
        ]
        return min(fits, key=lambda block: (block.size, block.addr), default=None)

    def split(self, block, size):
        blocks = block.segment.blocks
        blocks.insert(
            blocks.index(block) + 1, Block(block.segment, block.addr + size, block.size - size)
        )
        block.size = size

    def grow(self, key, need, frames):
        stream, pool_id, is_small, is_expandable = key
        if is_expandable:
            return self.map_more(key, need, frames)
        size = SMALL_SEGMENT if is_small else LARGE_SEGMENT
        if need >= 10 * MIB:
            size = -(-need // SMALL_SEGMENT) * SMALL_SEGMENT
        segment = Segment(self.next_addr, size, stream, pool_id, is_small, False, frames)
        self.next_addr += size + SMALL_SEGMENT
        self.segments.append(segment)
        self.record("segment_alloc", segment.addr, size, stream, frames, pool_id)
        return segment.blocks[0]

    def map_more(self, key, need, frames):
        stream, pool_id, is_small, _ = key
        page = SMALL_SEGMENT if is_small else LARGE_SEGMENT
        segment = next((one for one in self.segments if one.key == key), None)
        if segment is None:
            segment = Segment(self.next_addr, 0, stream, pool_id, is_small, True, frames)
            self.next_addr += VIRTUAL_RANGE
            self.segments.append(segment)
        last = segment.blocks[-1] if segment.blocks else None
        grows_last = last and last.state == "inactive" and last.end == segment.mapped_end
        size = -(-(need - (last.size if grows_last else 0)) // page) * page
        block = Block(segment, segment.mapped_end, size)
        segment.blocks.append(block)
        segment.mapped_end += size
        segment.merge_free()
        self.record("segment_map", block.addr, size, stream, frames, pool_id)
        return segment.blocks[-1]

    def unmap_free(self, segment, frames):
        page = SMALL_SEGMENT if segment.is_small else LARGE_SEGMENT
        for block in [one for one in segment.blocks if one.state == "inactive"]:
            first = segment.addr + -(-(block.addr - segment.addr) // page) * page
            last = segment.addr + (block.end - segment.addr) // page * page
            if last <= first:
                continue
            pieces = [(block.addr, first), (last, block.end)]
            at = segment.blocks.index(block)
            segment.blocks[at : at + 1] = [Block(segment, a, b - a) for a, b in pieces if b > a]
            if segment.mapped_end == last:
                segment.mapped_end = first
            self.record(
                "segment_unmap", first, last - first, segment.stream, frames, segment.pool_id
            )
        if not segment.blocks:
            self.segments.remove(segment)

    # --- what a snapshot says

    def segment_records(self):
        records = []
        for segment in self.segments:
            for run in segment.runs():
                active = [block for block in run if block.state != "inactive"]
                records.append(
                    {
                        "device": self.index,
                        "address": run[0].addr,
                        "total_size": sum(block.size for block in run),
                        "allocated_size": sum(b.size for b in run if b.state == "active_allocated"),
                        "active_size": sum(block.size for block in active),
                        "requested_size": sum(block.requested for block in active),
                        "stream": segment.stream,
                        "segment_type": "small" if segment.is_small else "large",
                        "segment_pool_id": segment.pool_id,
                        "is_expandable": segment.is_expandable,
                        "frames": segment.frames,
                        "blocks": [
                            {
                                "address": b.addr,
                                "size": b.size,
                                "requested_size": b.requested,
                                "state": b.state,
                                "frames": b.frames,
                                "history": list(b.history),
                            }
                            for b in run
                        ],
                    }
                )
        return sorted(records, key=lambda record: record["address"])

    def truth(self, first_event=0):
        """What a reader must find in a trace whose earlier events were lost."""
        window = self.moments[first_event:]
        highest = max(moment.requested for moment in window)
        at = next(i for i, moment in enumerate(window) if moment.requested == highest)
        ooms = [
            (index - first_event, self.moments[index].requested)
            for index, event in enumerate(self.events)
            if event["action"] == "oom" and index >= first_event
        ]
        return {
            "start": window[0].requested,
            "peak": window[at],
            "event": at - 1,
            "end": window[-1],
            "ooms": ooms,
        }


def snapshot_of(devices, first_events=None, settings=None):
    """A snapshot in the newest schema with every field, and the truth by device."""
    first_events = first_events or [0] * len(devices)
    snapshot = {
        "segments": [record for device in devices for record in device.segment_records()],
        "device_traces": [device.events[first:] for device, first in zip(devices, first_events)],
        "allocator_settings": settings_record(
            settings, devices[0].divisions if devices else [0] * 16
        ),
        "external_annotations": [],
    }
    truth = {device.index: device.truth(first) for device, first in zip(devices, first_events)}
    return snapshot, truth


def settings_record(conf, divisions):
    return {
        "PYTORCH_CUDA_ALLOC_CONF": conf or "",
        "max_split_size": -1,
        "garbage_collection_threshold": 0.0,
        "expandable_segments": bool(conf and "expandable_segments:True" in conf),
        "pinned_num_register_threads": 1,
        "release_lock_on_cudamalloc": False,
        "pinned_use_cuda_host_register": False,
        "graph_capture_record_stream_reuse": False,
        "roundup_power2_divisions": {str(1 << i): division for i, division in enumerate(divisions)},
    }
