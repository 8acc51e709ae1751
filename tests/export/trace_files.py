"""trace_files.py - Perfetto traces, pprof profiles and Chrome traces read back, each held to the rules
of its format."""

import collections
import gzip
import json

from wire import fields, message, only, varints

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
STATE_CLEARED, STATE_NEEDED = 1, 2


class Device:
    """One process of a trace. `counters`: [(time, value)] by name, in order of the file; `spans`: [(begin,
    end, name, facts)] by track; `marks`: [(time, name, facts, counters as they stood)]."""

    def __init__(self, name):
        self.name = name
        self.counters = collections.defaultdict(list)
        self.spans = collections.defaultdict(list)
        self.marks = []

    def now(self):
        return {name: points[-1][1] for name, points in self.counters.items()}


def require(condition, *what):
    if not condition:
        raise AssertionError(*what)


def in_order(points):
    require(all(a[0] <= b[0] for a, b in zip(points, points[1:])), "a counter's time steps back")
    require(all(a[1] != b[1] for a, b in zip(points, points[1:])), "a counter's value is repeated")


class Perfetto:
    def __init__(self, data):
        self.sequences = {}  # Device
        self.texts = collections.defaultdict(dict)  # by sequence: {(kind, iid): text}
        self.tracks = {}  # (sequence, name, is a counter)
        self.open = {}  # by track: (time, name, facts)
        self.last = collections.defaultdict(int)  # by track: the end of its last span
        for number, packet in fields(data):
            require(number == 1, "not a packet")
            self.take(message(packet))
        require(not self.open, "spans that do not end")
        for device in self.sequences.values():
            for points in device.counters.values():
                in_order(points)

    def take(self, packet):
        sequence = only(packet, 10)
        flags = only(packet, 13, 0)
        if sequence not in self.sequences:
            require(flags & STATE_CLEARED, "a sequence does not begin with a cleared state")
            self.sequences[sequence] = Device(None)
        else:
            require(not flags & STATE_CLEARED, "the state is cleared twice")
        if 12 in packet:
            require(flags & STATE_NEEDED, "texts without state")
            self.take_texts(sequence, message(only(packet, 12)))
        if 60 in packet:
            self.take_track(sequence, message(only(packet, 60)))
        if 11 in packet:
            self.take_event(sequence, only(packet, 8), message(only(packet, 11)), flags)

    def take_texts(self, sequence, texts):
        for kind, rows in texts.items():
            for row in map(message, rows):
                key = (kind, only(row, 1))
                require(key[1] > 0 and key not in self.texts[sequence], "a text is numbered twice", key)
                self.texts[sequence][key] = only(row, 2).decode("utf-8")

    def take_track(self, sequence, track):
        require(only(track, 1) not in self.tracks, "a track is described twice")
        if 3 in track:
            self.sequences[sequence].name = only(message(only(track, 3)), 6).decode("utf-8")
            name = None
        else:
            name = only(track, 2).decode("utf-8")
            require(only(track, 5) in self.tracks, "a track without its parent")
        if 8 in track:
            require(only(message(only(track, 8)), 3) == 3, "a counter that is not of bytes")
        self.tracks[only(track, 1)] = (sequence, name, 8 in track)

    def facts(self, sequence, event):
        found = {}
        for row in map(message, event.get(4, [])):
            if 17 in row:
                value = self.texts[sequence][29, only(row, 17)]
            else:
                value = only(row, 3) if 3 in row else only(row, 6).decode("utf-8")
            found[only(row, 10).decode("utf-8")] = value
        return found

    def take_event(self, sequence, time, event, flags):
        track = only(event, 11)
        owner, track_name, is_counter = self.tracks[track]
        require(owner == sequence, "an event on another device's track")
        device = self.sequences[sequence]
        kind = only(event, 9)
        require(is_counter == (kind == COUNTER), "a counter's track has other events")
        if kind == COUNTER:
            device.counters[track_name].append((time, only(event, 30)))
            return
        require(flags & STATE_NEEDED, "an event that needs no state")
        name = self.texts[sequence][2, only(event, 10)] if 10 in event else \
            only(event, 23, b"").decode("utf-8")
        facts = self.facts(sequence, event)
        if kind == BEGIN:
            require(track not in self.open and time >= self.last[track], "spans of a lane overlap")
            self.open[track] = (time, name, facts)
        elif kind == END:
            begin, name, facts = self.open.pop(track)
            require(time >= begin, "a span ends before it begins")
            self.last[track] = time
            device.spans[track_name].append((begin, time, name, facts))
        else:
            require(kind == INSTANT)
            device.marks.append((time, name, facts, device.now()))


class Chrome:
    def __init__(self, data):
        document = json.loads(data)
        require(set(document) == {"displayTimeUnit", "otherData", "traceEvents"})
        self.devices = {}
        self.open = {}
        self.last = collections.defaultdict(int)  # by process and thread
        for event in document["traceEvents"]:
            device = self.devices.setdefault(event["pid"], Device(None))
            getattr(self, "take_" + event["ph"])(device, event)
        require(not self.open, "b without e")
        for device in self.devices.values():
            for points in device.counters.values():
                in_order(points)

    def take_M(self, device, event):
        require(event["name"] in ("process_name", "thread_name"))
        if event["name"] == "process_name":
            device.name = event["args"]["name"]

    def take_C(self, device, event):
        require(set(event["args"]) == {"bytes"})
        device.counters[event["name"]].append((event["ts"], event["args"]["bytes"]))

    def take_X(self, device, event):
        place = event["pid"], event["tid"]
        require(event["dur"] >= 0 and event["ts"] >= self.last[place], "spans of a thread overlap")
        self.last[place] = event["ts"] + event["dur"]
        device.spans[event["cat"]].append((event["ts"], event["ts"] + event["dur"], event["name"],
                                           event["args"]))

    def take_b(self, _, event):
        key = event["cat"], event["id"]
        require(key not in self.open)
        self.open[key] = event

    def take_e(self, device, event):
        begin = self.open.pop((event["cat"], event["id"]))
        require(begin["ts"] <= event["ts"] and begin["name"] == event["name"] and begin["pid"] == event["pid"])
        device.spans[event["cat"]].append((begin["ts"], event["ts"], event["name"], begin["args"]))

    def take_i(self, device, event):
        require(event["s"] == "p")
        device.marks.append((event["ts"], event["name"], event["args"], device.now()))


class Pprof:
    """`samples`: [(locations as (function, file, line), {type: value}, {label: text})]."""

    def __init__(self, data):
        profile = message(gzip.decompress(data))
        self.strings = [one.decode("utf-8") for one in profile[6]]
        require(self.strings[0] == "", "the first string is not empty")
        self.types = [(self.strings[only(row, 1)], self.strings[only(row, 2)])
                      for row in map(message, profile[1])]
        self.default = self.strings[only(profile, 14)]
        require(self.default in [name for name, _ in self.types])
        self.comments = [self.strings[one] for row in profile[13] for one in varints(row)]
        functions = self.by_id(profile[5])
        require([only(message(row), 1) for row in profile[3]] == [1], "one mapping")
        self.locations = {}
        for number, row in self.by_id(profile[4]).items():
            require(only(row, 2) == 1)
            line = message(only(row, 4))
            function = functions[only(line, 1)]
            self.locations[number] = (self.strings[only(function, 2)],
                                      self.strings[only(function, 4, 0)], only(line, 2, 0))
        self.samples = [self.sample(message(row)) for row in profile.get(2, [])]

    @staticmethod
    def by_id(rows):
        found = {}
        for row in map(message, rows):
            require(only(row, 1) not in found and only(row, 1) > 0, "an id is there twice")
            found[only(row, 1)] = row
        return found

    def sample(self, row):
        values = varints(only(row, 2))
        require(len(values) == len(self.types))
        labels = {self.strings[only(one, 1)]: self.strings[only(one, 2)] for one in map(message, row[3])}
        return ([self.locations[one] for one in varints(only(row, 1))],
                dict(zip([name for name, _ in self.types], values)), labels)

    def total(self, name, **labels):
        return sum(values[name] for _, values, its in self.samples
                   if all(its.get(key) == value for key, value in labels.items()))
