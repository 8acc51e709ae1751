#!/usr/bin/env python3
"""check_perfetto.py PLIMSOLL - Perfetto's own messages (perfetto_trace_pb2 of PyPI's `perfetto`) know every
field of a trace, and its counters at the peak are those of `inspect`.
"""

import json

import kit

PROGRAM = """
import json, sys
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

def unknown(message):
    found = len(UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            many = value if hasattr(value, '__len__') else [value]
            found += sum(map(unknown, many))
    return found

trace = pb.Trace()
with open(sys.argv[1], 'rb') as file:
    trace.ParseFromString(file.read())
tracks, counters, peaks = {}, {}, {}
packets = unknowns = 0
for packet in trace.packet:
    packets += 1
    unknowns += unknown(packet)
    track = packet.track_descriptor
    if packet.HasField('track_descriptor'):
        if not track.HasField('process'):
            assert track.parent_uuid in tracks
        if track.HasField('counter'):
            assert track.counter.unit == pb.CounterDescriptor.UNIT_SIZE_BYTES
        tracks[track.uuid] = (packet.trusted_packet_sequence_id, track.name)
    event = packet.track_event
    if packet.HasField('track_event') and event.type == pb.TrackEvent.TYPE_COUNTER:
        counters[tracks[event.track_uuid]] = event.counter_value
    if packet.HasField('track_event') and event.type == pb.TrackEvent.TYPE_INSTANT and event.name == 'peak':
        sequence = packet.trusted_packet_sequence_id
        peaks[sequence] = {name: value for (its, name), value in counters.items() if its == sequence}
print(json.dumps({'packets': packets, 'unknown': unknowns, 'peaks': [peaks[one] for one in sorted(peaks)]}))
"""


def main():
    for source in kit.RECORDINGS:
        path, _ = kit.export(source, "run.pftrace", "--lives=4KiB")
        read = json.loads(kit.run_python(["perfetto", "protobuf"], PROGRAM, path))
        assert read["unknown"] == 0, read
        facts = [fact["peak"] for fact in kit.inspect(source).values()]
        assert len(facts) == len(read["peaks"])
        for fact, peak in zip(facts, read["peaks"]):
            for figure in ("requested", "allocated", "active", "reserved"):
                assert peak[figure] == fact[figure + "_bytes"], (source.name, figure, peak, fact)
        print(f"{source.name}: {read['packets']} packets, requested at the peak "
              f"{[peak['requested'] for peak in read['peaks']]}")


kit.main(main)
