"""test_against_python.py TOOL [ROUNDS] - our reader and writer against CPython's.

Values are made at random (PLIM_SEED repeats a run) and by hand at the boundaries of the format,
pickled by CPython in every protocol, and sent through the tool (pickle_tool.c). Then

    the text of what we read      equals the text of the value, computed here
    what we write                 equals what CPython wrote, byte for byte, in protocol 4
                                  loads into an equal value, in the others
    what we write for the viewer  is the same, of opcodes that it knows, or refused
"""

import math
import os
import pickle
import pickletools
import random
import struct
import subprocess
import sys
import threading

FRAME = 64 * 1024

# What PyTorch's MemoryViz.js reads .
VIEWER_OPCODES = set(
    """PROTO FRAME STOP MARK EMPTY_DICT EMPTY_LIST EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 LIST DICT
    APPEND APPENDS SETITEM SETITEMS BININT BININT1 BININT2 LONG1 BINFLOAT NEWTRUE NEWFALSE NONE
    BINUNICODE SHORT_BINUNICODE BINPUT LONG_BINPUT BINGET LONG_BINGET MEMOIZE""".split()
)


class Text:
    """A value as dump.h writes it."""

    SHOWN = [chr(c) if 32 <= c <= 126 and c not in b"'\\" else f"\\x{c:02x}" for c in range(256)]

    def __init__(self):
        self.seen = {}
        self.parts = []

    def quoted(self, prefix, data):
        self.parts.append(f"{prefix}'{''.join(map(self.SHOWN.__getitem__, data))}'")

    def items(self, begin, values, end):
        self.parts.append(begin)
        for index, value in enumerate(values):
            self.parts.append(", " if index else "")
            self.add(value)
        self.parts.append(end)

    def pairs(self, value):
        self.parts.append("{")
        for index, (key, item) in enumerate(value.items()):
            self.parts.append(", " if index else "")
            self.add(key)
            self.parts.append(": ")
            self.add(item)
        self.parts.append("}")

    def container(self, value):
        if not (isinstance(value, (tuple, frozenset)) and not value):
            if id(value) in self.seen:
                self.parts.append(f"&{self.seen[id(value)]}")
                return
            self.seen[id(value)] = len(self.seen)
        if isinstance(value, dict):
            self.pairs(value)
        elif isinstance(value, list):
            self.items("[", value, "]")
        elif isinstance(value, tuple):
            self.items("(", value, ")")
        else:
            self.items("set{" if isinstance(value, set) else "frozenset{", value, "}")

    def add(self, value):
        if value is None or isinstance(value, bool):
            self.parts.append(str(value))
        elif isinstance(value, int):
            if -(1 << 63) <= value < 1 << 63:
                self.parts.append(str(value))
            else:
                length = (value + (value < 0)).bit_length() // 8 + 1
                self.parts.append("0x" + value.to_bytes(length, "big", signed=True).hex())
        elif isinstance(value, float):
            self.parts.append("f" + struct.pack(">d", value).hex())
        elif isinstance(value, str):
            self.quoted("", value.encode("utf-8", "surrogatepass"))
        elif isinstance(value, bytes):
            self.quoted("b", value)
        elif isinstance(value, bytearray):
            self.quoted("B", value)
        else:
            self.container(value)


def text_of(value):
    text = Text()
    text.add(value)
    return "".join(text.parts)


# --- Values at random --------------------------------------------------------------------------


class Maker:
    """Makes values that `protocol` can hold without calls, some parts of them several times."""

    def __init__(self, rng, protocol):
        self.rng = rng
        self.protocol = protocol
        self.made = []
        self.open = []

    def integer(self):
        bits = self.rng.choice((1, 7, 8, 9, 15, 16, 17, 31, 32, 40, 60, 61, 62, 63, 64, 65, 128))
        near = (1 << bits) + self.rng.randint(-2, 2)
        return self.rng.choice((1, -1)) * self.rng.choice((near, self.rng.getrandbits(bits)))

    def real(self):
        if self.rng.random() < 0.3:
            return self.rng.choice((0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1.7e308, 0.1))
        return self.rng.uniform(-1, 1) * 10.0 ** self.rng.randint(-300, 300)

    def string(self):
        length = self.rng.choice((0, 1, 2, 5, 20, 60, 254, 255, 256, 300))
        alphabets = "abc", "'\"\\\n\r\t\0\x1a", "é\xff\x80", "中文字", "😀a", "\ud800\udfffx"
        alphabet = self.rng.choice(alphabets)
        return "".join(self.rng.choice(alphabet) for _ in range(length))

    def data(self):
        return bytes(self.rng.getrandbits(8) for _ in range(self.rng.choice((0, 1, 30, 255, 256))))

    def scalar(self):
        word = self.rng.choice((None, True, False))
        choices = [lambda: word, self.integer, self.real, self.string]
        if self.protocol >= 3:
            choices.append(self.data)
        if self.protocol >= 5:
            choices.append(lambda: bytearray(self.data()))
        return self.rng.choice(choices)()

    def key(self):
        value = self.rng.choice((self.string, self.integer, lambda: None))()
        return (value, self.integer()) if self.rng.random() < 0.1 else value

    def keys(self, count):
        return [self.key() for _ in range(count)]

    def container(self, depth):
        count = self.rng.choice((0, 1, 1, 2, 3, 4, 7))
        kind = self.rng.choice(("list", "list", "dict", "dict", "tuple", "set", "frozenset"))
        if kind == "set" or kind == "frozenset":
            if self.protocol < 4:
                return self.container(depth)
            return (set if kind == "set" else frozenset)(self.keys(count))
        if kind == "tuple":
            return tuple(self.value(depth - 1) for _ in range(count))
        result = [] if kind == "list" else {}
        self.open.append(result)
        for _ in range(count):
            if kind == "list":
                result.append(self.value(depth - 1))
            else:
                result[self.key()] = self.value(depth - 1)
        self.open.pop()
        return result

    def value(self, depth):
        roll = self.rng.random()
        if self.made and roll < 0.15:
            return self.rng.choice(self.made)
        if self.open and roll < 0.18:
            return self.rng.choice(self.open)  # a value that contains itself
        result = self.container(depth) if depth > 0 and roll < 0.75 else self.scalar()
        self.made.append(result)
        return result


# --- Values at the boundaries ------------------------------------------------------------------


def recursive_values():
    itself = []
    itself.append(itself)
    yield "a list in itself", itself
    table = {}
    table["self"] = table
    yield "a dict in itself", table
    for length in (1, 2, 3, 4, 5):
        inner = []
        outer = (inner,) + tuple(range(length - 1))
        inner.append(outer)
        yield f"a tuple of {length} in its own list", outer
        yield f"a list in its own tuple of {length}", inner
    first, second = [], []
    pair = (first, "x" * 10, second, 4)
    first.append(pair)
    second.append(pair)
    yield "a tuple on two cycles", pair


def boundary_values(protocol):
    for bits in (8, 16, 31, 32, 60, 61, 62, 63, 64, 127, 128, 2032, 2040, 2048):
        near = [(1 << bits) + delta for delta in (-2, -1, 0, 1, 2)]
        yield f"integers at 2^{bits}", near + [-value for value in near]
    for count in (0, 1, 2, 3, 4, 999, 1000, 1001, 1999, 2000, 2001, 3000):
        yield f"list of {count}", list(range(count))
        yield f"tuple of {count}", tuple(range(count))
        yield f"dict of {count}", {index: None for index in range(count)}
        yield f"lists of {count}", [[index] for index in range(count)]
        if protocol >= 4:
            yield f"set of {count}", set(range(count))
            yield f"frozenset of {count}", frozenset(range(count))
    for length in (0, 1, 255, 256, FRAME - 20, FRAME - 1, FRAME, FRAME + 1, 3 * FRAME):
        yield f"string of {length}", "x" * length
        yield f"strings of {length}", ["x" * length, 1, "y" * length, "z", ["x" * length]]
        if protocol >= 3:
            yield f"bytes of {length}", b"x" * length
            yield f"bytes of {length} among others", {"a": b"x" * length, "b": [b"y" * length, 0]}
    if protocol >= 4:
        for start in range(FRAME - 60, FRAME + 20, 3):
            strings = ["f" * (start // 2), "g" * (start // 2)]
            yield f"a frame full at {start}", [strings, list(range(40)), ("h", 1.5)]
        records = [{"name": str(i), "at": [i, i / 3, None], "t": (i, i)} for i in range(6000)]
        yield "many frames", records
    yield "many shared", [[f"n{i}" for i in range(300)] * 3 for _ in range(3)]
    yield "closing many at once", nested(400)
    yield "single values", None
    yield "a shared empty tuple", [(), (), [()]]
    yield from recursive_values()


def nested(depth):
    value = "inmost"
    for index in range(depth):
        value = ([value], {"k": value}, (value,), (0, 1, 2, value))[index % 4]
    return value


# --- The comparison ----------------------------------------------------------------------------


class Tool:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def piece(self):
        length = struct.unpack("<I", self.process.stdout.read(4))[0]
        return self.process.stdout.read(length)

    def ask(self, data):
        """The text, the pickle written again, that for the viewer, the message of what failed."""
        send = threading.Thread(target=self.send, args=(data,))
        send.start()
        answer = self.piece().decode("ascii"), self.piece(), self.piece(), self.piece().decode()
        send.join()
        return answer

    def send(self, data):
        self.process.stdin.write(struct.pack("<I", len(data)) + data)
        self.process.stdin.flush()

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def complaint_about_viewer(written, for_viewer):
    """For the viewer the same bytes are written, exactly where it knows all their opcodes."""
    opcodes = {opcode.name for opcode, _, _ in pickletools.genops(written)}
    if opcodes <= VIEWER_OPCODES:
        return None if for_viewer == written else "not written for the viewer"
    return f"the viewer does not know {opcodes - VIEWER_OPCODES}" if for_viewer else None


def complaint_about(tool, value, protocol):
    data = pickle.dumps(value, protocol)
    text, written, for_viewer, message = tool.ask(data)
    if text != text_of(value):
        return f"read as {text[:200]} instead of {text_of(value)[:200]} ({message})"
    if protocol == 5 and b"\x96" in data and "bytearray" in message:
        return None  # protocol 4 cannot say it
    if message:
        return message
    if protocol == 4:
        if written != data:
            at = next(i for i, (a, b) in enumerate(zip(written + b"?", data + b"!")) if a != b)
            ours, theirs = written[at - 8 : at + 8], data[at - 8 : at + 8]
            return f"written otherwise from byte {at}: {ours} for {theirs}"
        return complaint_about_viewer(written, for_viewer)
    again_text, again, _, message = tool.ask(written)
    if (again_text, again) != (text, written):
        return f"not the same when written twice ({message})"
    if "set{" not in text and text_of(pickle.loads(written)) != text:
        return "loads into another value"
    return None


def main():
    tool = Tool(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    seed = int(os.environ.get("PLIM_SEED", random.randrange(1 << 32)))
    rng = random.Random(seed)
    cases = 0
    complaints = []
    sys.setrecursionlimit(10000)
    for protocol in range(6):
        values = list(boundary_values(protocol))
        values += [(f"random value {i}", Maker(rng, protocol).value(5)) for i in range(rounds)]
        for name, value in values:
            what = complaint_about(tool, value, protocol)
            cases += 1
            if what:
                complaints.append(f"protocol {protocol}, {name}: {what}")
    if tool.close() != 0:
        complaints.append("the tool failed")
    print("\n".join(complaints[:20]))
    print(f"{cases} pickles, {len(complaints)} complaints; PLIM_SEED={seed} repeats this run")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
