"""Pickles that pickle.dumps never writes: every opcode for plain values, hostile ones, bombs.

encode(value, rng, protocol)  one value with opcodes chosen at random among those allowed
plain_samples()               [(name, bytes, value)] small pickles that together use every opcode
hostile_pickles()             [Hostile] pickles that would import, call or ask for something
broken_pickles()              [(name, bytes, why)] pickles that end early or claim too much
"""

import math
import pickle
import struct
from collections import OrderedDict, namedtuple

# --- Plain values in every spelling -------------------------------------------


def uint(width, value):
    return value.to_bytes(width, "little")


def signed_bytes(value):
    length = (value + (value < 0)).bit_length() // 8 + 1 if value else 0
    return value.to_bytes(length, "little", signed=True)


def integer_forms(value, protocol):
    forms = [b"I%d\n" % value, b"L%dL\n" % value, b"L%d\n" % value]
    if protocol >= 1:
        if 0 <= value < 1 << 8:
            forms.append(b"K" + uint(1, value))
        if 0 <= value < 1 << 16:
            forms.append(b"M" + uint(2, value))
        if -(1 << 31) <= value < 1 << 31:
            forms.append(b"J" + struct.pack("<i", value))
    if protocol >= 2:
        data = signed_bytes(value)
        forms += [
            b"\x8b" + struct.pack("<i", len(data)) + data,
            b"\x8a" + uint(1, len(data)) + data,
        ]
        if value >= 0:  # more bytes than needed are allowed
            forms.append(b"\x8a" + uint(1, len(data) + 1) + data + b"\0")
    return forms


def text_forms(text, protocol):
    escaped = text
    for special in "\\\0\n\r\x1a":
        escaped = escaped.replace(special, f"\\u{ord(special):04x}")
    forms = [b"V" + escaped.encode("raw_unicode_escape") + b"\n"]
    utf8 = text.encode("utf-8", "surrogatepass")
    if text.isascii():
        forms.append(b"S" + repr(text).encode() + b"\n")
        if protocol >= 1:
            forms.append(b"T" + struct.pack("<i", len(utf8)) + utf8)
            if len(utf8) < 256:
                forms.append(b"U" + uint(1, len(utf8)) + utf8)
    if protocol >= 1:
        forms.append(b"X" + uint(4, len(utf8)) + utf8)
    if protocol >= 4:
        forms.append(b"\x8d" + uint(8, len(utf8)) + utf8)
        if len(utf8) < 256:
            forms.append(b"\x8c" + uint(1, len(utf8)) + utf8)
    return forms


class Encoder:
    """Writes one value; each container is memoised and shared when it comes again."""

    def __init__(self, rng, protocol):
        self.rng = rng
        self.protocol = protocol
        self.out = []
        self.memo = {}
        self.alive = []

    def put(self, key):
        index = len(self.memo)
        self.memo[key] = index
        forms = [b"p%d\n" % index]
        if self.protocol >= 1:
            forms.append(b"r" + uint(4, index))
            if index < 256:
                forms.append(b"q" + uint(1, index))
        if self.protocol >= 4:
            forms.append(b"\x94")
        self.out.append(self.rng.choice(forms))

    def get(self, key):
        index = self.memo[key]
        forms = [b"g%d\n" % index]
        if self.protocol >= 1:
            forms.append(b"j" + uint(4, index))
            if index < 256:
                forms.append(b"h" + uint(1, index))
        self.out.append(self.rng.choice(forms))

    def noise(self):
        """Opcodes that leave the stack as it was; never first, where they would hide a pickle."""
        if self.out and self.rng.random() < 0.03:
            self.out.append(self.rng.choice([b"N0", b"N200", b"(NN1", b"(1"]))

    def value(self, value):
        self.noise()
        key = value if isinstance(value, str) else id(value)
        if isinstance(value, (str, list, dict, tuple)) and key in self.memo:
            self.get(key)
        elif value is None:
            self.out.append(b"N")
        elif isinstance(value, bool):
            forms = [b"I01\n" if value else b"I00\n"]
            if self.protocol >= 2:
                forms.append(b"\x88" if value else b"\x89")
            self.out.append(self.rng.choice(forms))
        elif isinstance(value, int):
            self.out.append(self.rng.choice(integer_forms(value, self.protocol)))
        elif isinstance(value, float):
            forms = [b"F" + repr(value).encode() + b"\n"]
            if self.protocol >= 1:
                forms.append(b"G" + struct.pack(">d", value))
            self.out.append(self.rng.choice(forms))
        elif isinstance(value, str):
            self.out.append(self.rng.choice(text_forms(value, self.protocol)))
            if self.rng.random() < 0.7:
                self.put(value)
        elif isinstance(value, bytes):
            self.out.append(
                b"C" + uint(1, len(value)) + value
                if len(value) < 256
                else b"B" + uint(4, len(value)) + value
            )
        else:
            self.container(value)
            self.alive.append(value)
            if key not in self.memo:
                self.put(key)

    def container(self, value):
        if isinstance(value, dict):
            self.dictionary(value)
        elif isinstance(value, list):
            self.sequence(value)
        else:
            self.tuple(value)

    def tuple(self, items):
        short = self.protocol >= 2 and 1 <= len(items) <= 3 and self.rng.random() < 0.7
        if not items and self.protocol >= 1:
            self.out.append(b")")
            return
        self.out.append(b"" if short else b"(")
        for item in items:
            self.value(item)
        self.out.append(bytes([0x84 + len(items)]) if short else b"t")

    def sequence(self, items):
        form = self.rng.choice("lae" if self.protocol >= 1 else "la")
        if form == "l":
            self.out.append(b"(")
            for item in items:
                self.value(item)
            self.out.append(b"l")
            return
        self.out.append(b"]" if self.protocol >= 1 else b"(l")
        self.put(id(items))
        self.out.append(b"(" if form == "e" else b"")
        for item in items:
            self.value(item)
            self.out.append(b"a" if form == "a" else b"")
        self.out.append(b"e" if form == "e" else b"")

    def dictionary(self, items):
        form = self.rng.choice("dsu" if self.protocol >= 1 else "ds")
        if form == "d":
            self.out.append(b"(")
        else:
            self.out.append(b"}" if self.protocol >= 1 else b"(d")
            self.put(id(items))
            self.out.append(b"(" if form == "u" else b"")
        for key, value in items.items():
            self.value(key)
            self.value(value)
            self.out.append(b"s" if form == "s" else b"")
        self.out.append(b"" if form == "s" else form.encode())


def encode(value, rng, protocol):
    encoder = Encoder(rng, protocol)
    encoder.value(value)
    body = b"".join(encoder.out) + b"."
    if protocol >= 4 and rng.random() < 0.7:
        body = b"\x95" + uint(8, len(body)) + body
    return (b"\x80" + uint(1, protocol) if protocol >= 2 else b"") + body


def plain_samples():
    """Small pickles that together use every opcode which makes or moves plain values."""
    samples = [
        ("int-text", b"(I1\nI-7\nL12L\nL-3\nI01\nI00\nt.", (1, -7, 12, -3, True, False)),
        (
            "int-binary",
            b"(K\xffM\xff\xffJ\xff\xff\xff\xff\x8a\x01\x80\x8b\x02\0\0\0\0\1t.",
            (255, 65535, -1, -128, 256),
        ),
        ("long-empty", b"\x80\x02(\x8a\x00\x8b\0\0\0\0t.", (0, 0)),
        ("long-9-bytes", b"\x80\x02\x8a\x09\0\0\0\0\0\0\0\x80\0.", 1 << 63),
        ("float", b"(F1.5\nFinf\nG?\xf8\0\0\0\0\0\0t.", (1.5, math.inf, 1.5)),
        ("string-py2", b"(S'a\\x41\\n'\nT\x02\0\0\0hiU\x01xt.", ("aA\n", "hi", "x")),
        (
            "unicode",
            b"(V\\u00e9\nX\x02\0\0\0\xc3\xa9\x8c\x02\xc3\xa9\x8d\x02\0\0\0\0\0\0\0\xc3\xa9t.",
            ("é",) * 4,
        ),
        ("bytes", b"\x80\x04(B\x02\0\0\0abC\x01a\x8e\x01\0\0\0\0\0\0\0at.", (b"ab", b"a", b"a")),
        ("bytearray", b"\x80\x05\x96\x02\0\0\0\0\0\0\0ab.", bytearray(b"ab")),
        (
            "tuples",
            b"\x80\x02()N\x85NN\x86NNN\x87(NNNNtt.",
            ((), (None,), (None, None), (None,) * 3, (None,) * 4),
        ),
        ("lists", b"(](NNe]Na(NNl(lt.", ([None, None], [None], [None, None], [])),
        (
            "dicts",
            b"(}(K\x01NK\x02Nu}K\x03Ns(K\x04Nd(dt.",
            ({1: None, 2: None}, {3: None}, {4: None}, {}),
        ),
        ("sets", b"\x80\x04(\x8f(K\x01\x90(K\x01\x91t.", ({1}, frozenset({1}))),
        ("memo-text", b"(lp0\ng0\n\x86.", ([], [])),
        ("memo-binary", b"]q\x00]r\x01\x01\0\0h\x00j\x01\x01\0\0\x86\x87.", ([], [], ([], []))),
        ("memoize", b"\x80\x04]\x94h\x00\x86.", ([], [])),
        ("stack-moves", b"NN0(NN1K\x072\x86\x86.", (None, (7, 7))),
        ("frame", b"\x80\x04\x95\x02\0\0\0\0\0\0\0N.", None),
        ("two-frames", b"\x80\x04\x95\x01\0\0\0\0\0\0\0]\x95\x03\0\0\0\0\0\0\0Na.", [None]),
        ("booleans", b"\x80\x02\x88\x89\x86.", (True, False)),
        ("self-reference", b"]q\x00h\x00a.", None),
    ]
    for protocol in range(6):
        value = {"k": [1, -2, 3.5, None, True, "text", (1, 2)], "n": {"deep": [1 << 40]}}
        samples.append((f"protocol-{protocol}", pickle.dumps(value, protocol=protocol), value))
    return samples


# --- What must be refused -----------------------------------------------------

# names: words the one-line message must contain; offset: of the opcode that is refused.
Hostile = namedtuple("Hostile", "name data names offset why")


def after(prefix, rest, name, names, why):
    return Hostile(name, prefix + rest, names, len(prefix), why)


def string4(text):
    return b"\x8c" + uint(1, len(text)) + text


def hostile_pickles(snapshot):
    """`snapshot` is a well-formed one: some of these carry it, whole, around the evil part."""
    opened = b"\x80\x02}X\x08\0\0\0segments]sX\x0d\0\0\0device_traces"
    by_stack = b"\x80\x04" + string4(b"os") + string4(b"system")
    ordered = pickle.dumps(OrderedDict(segments=[], device_traces=[]), protocol=2)
    ordered4 = pickle.dumps(OrderedDict(segments=[], device_traces=[]), protocol=4)
    whole = pickle.dumps(snapshot, protocol=4)[:-1]
    latin = pickle.dumps({"segments": [], "device_traces": [], "x": b"\xff"}, protocol=2)
    escape = b"\x80\x04" + string4(b"o\x1b[31ms\nfake: fine") + string4(b"sys\0tem\r")
    long_name = b"\x80\x02"
    return [
        after(b"", b"cos\nsystem\n(S'true'\ntR.", "global", ["os", "system"], "GLOBAL"),
        after(
            b"\x80\x02",
            b"cposix\nsystem\nX\x04\0\0\0true\x85R.",
            "global-protocol-2",
            ["posix", "system"],
            "GLOBAL",
        ),
        after(
            opened,
            b"cbuiltins\neval\nX\x01\0\0\x001\x85Rs.",
            "global-inside-snapshot",
            ["builtins", "eval"],
            "GLOBAL where the traces would stand",
        ),
        after(
            by_stack, b"\x93\x8c\x04true\x85R.", "stack-global", ["os", "system"], "STACK_GLOBAL"
        ),
        after(
            b"\x80\x04" + string4(b"os") + b"\x940" + string4(b"system") + b"\x940h\x00h\x01",
            b"\x93)R.",
            "stack-global-through-memo",
            ["os", "system"],
            "STACK_GLOBAL",
        ),
        after(
            whole + b"0" + string4(b"os") + string4(b"system"),
            b"\x93\x8c\x04true\x85R.",
            "stack-global-after-snapshot",
            ["os", "system"],
            "a whole snapshot goes before it",
        ),
        after(b"(S'true'\n", b"ios\nsystem\n.", "inst", ["os", "system"], "INST"),
        after(b"(", b"cos\nsystem\nS'true'\no.", "obj", ["os", "system"], "OBJ of a GLOBAL"),
        after(b"(NS'true'\n", b"o.", "obj-without-class", [], "OBJ"),
        after(b"\x80\x02N)", b"R.", "reduce-without-global", [], "REDUCE"),
        after(
            b"\x80\x02",
            b"ccollections\nOrderedDict\n)\x81.",
            "newobj",
            ["collections", "OrderedDict"],
            "GLOBAL for NEWOBJ",
        ),
        after(b"\x80\x02N)", b"\x81.", "newobj-without-class", [], "NEWOBJ"),
        after(b"\x80\x04N)}", b"\x92.", "newobj-ex", [], "NEWOBJ_EX"),
        after(b"\x80\x02}}", b"b.", "build", [], "BUILD"),
        after(b"\x80\x02", b"Pmodel.0\n.", "persid", [], "PERSID"),
        after(b"\x80\x02X\x07\0\0\0storage", b"Q.", "binpersid", [], "BINPERSID"),
        after(b"\x80\x02", b"\x82\x01)R.", "ext1", [], "EXT1"),
        after(b"\x80\x02", b"\x83\x01\x02)R.", "ext2", [], "EXT2"),
        after(b"\x80\x02", b"\x84\x01\x02\x03\x04)R.", "ext4", [], "EXT4"),
        after(b"\x80\x05", b"\x97.", "next-buffer", [], "NEXT_BUFFER"),
        after(b"\x80\x05N", b"\x98.", "readonly-buffer", [], "READONLY_BUFFER"),
        Hostile(
            "ordered-dict-2",
            ordered,
            ["collections", "OrderedDict"],
            ordered.index(b"c"),
            "a dict subclass",
        ),
        Hostile(
            "ordered-dict-4",
            ordered4,
            ["collections", "OrderedDict"],
            ordered4.index(b"\x93"),
            "a dict subclass",
        ),
        Hostile(
            "bytes-protocol-2",
            latin,
            ["_codecs", "encode"],
            latin.index(b"c_codecs"),
            "bytes in protocol 2 are a call",
        ),
        after(
            b"\x80\x02",
            b"c__builtin__\neval\n.",
            "global-unused",
            ["__builtin__", "eval"],
            "imported, never called",
        ),
        after(escape, b"\x93.", "terminal-escape-in-name", [], "names that try to forge output"),
        after(
            long_name,
            b"c" + b"m" * 20000 + b"\n" + b"n" * 20000 + b"\n.",
            "long-name",
            [],
            "names of 20 KB",
        ),
        after(
            b"\x80\x02",
            b"c../../etc\npass wd%s%n\n.",
            "format-string-in-name",
            [],
            "names with printf directives",
        ),
        after(b"\x80\x02", b"c\n\n.", "empty-name", [], "empty names"),
    ]


# --- What is broken -----------------------------------------------------------


def doubled_list(levels, innermost=b"]"):
    """A list that holds the list below it twice, `levels` deep: 2**levels paths in a few bytes."""
    out = [b"\x80\x02", innermost, b"q\x00"]
    for level in range(levels):
        out.append(
            b"]q" + uint(1, level + 1) + b"(h" + uint(1, level) + b"h" + uint(1, level) + b"e"
        )
    return b"".join(out) + b"."


def broken_pickles():
    huge = [
        ("BINUNICODE", b"X\xff\xff\xff\xff"),
        ("BINUNICODE8", b"\x8d" + b"\xff" * 7 + b"\x7f"),
        ("BINUNICODE8-max", b"\x8d" + b"\xff" * 8),
        ("SHORT_BINUNICODE", b"\x8c\xff"),
        ("BINBYTES", b"B\xff\xff\xff\xff"),
        ("BINBYTES8", b"\x8e" + b"\xff" * 8),
        ("SHORT_BINBYTES", b"C\xff"),
        ("BYTEARRAY8", b"\x96" + b"\xff" * 7 + b"\x7f"),
        ("BINSTRING", b"T\xff\xff\xff\x7f"),
        ("BINSTRING-negative", b"T\xff\xff\xff\xff"),
        ("SHORT_BINSTRING", b"U\xff"),
        ("LONG1", b"\x8a\xff"),
        ("LONG4", b"\x8b\xff\xff\xff\x7f"),
        ("LONG4-negative", b"\x8b\xff\xff\xff\xff"),
        ("FRAME", b"\x95" + b"\xff" * 8),
    ]
    cases = [
        (
            f"claims-{name}",
            b"\x80\x04" + head + b"a" * 100 + b".",
            f"{name} claims more than the file holds",
        )
        for name, head in huge
    ]
    cases += [
        ("empty", b"", "no byte at all"),
        ("protocol-only", b"\x80\x04", "ends after PROTO"),
        ("protocol-9", b"\x80\x09N.", "no such protocol"),
        ("stop-only", b".", "STOP with an empty stack"),
        ("unknown-opcode", b"\x80\x02\xffN.", "no such opcode"),
        ("append-to-nothing", b"Na.", "stack underflow"),
        ("append-to-dict", b"}Na.", "APPEND to a dict"),
        ("appends-without-mark", b"]Ne.", "no MARK"),
        ("setitems-odd", b"}(NNNu.", "a key without a value"),
        ("setitem-on-list", b"]NNs.", "SETITEM on a list"),
        ("tuple-without-mark", b"NNt.", "no MARK"),
        ("tuple3-underflow", b"NN\x87.", "stack underflow"),
        ("dict-odd", b"(NNNd.", "a key without a value"),
        ("unhashable-key", b"}]Ns.", "a list as a key"),
        ("get-unknown", b"g7\n.", "GET of an empty slot"),
        ("binget-unknown", b"h\x07.", "BINGET of an empty slot"),
        ("long-binget-unknown", b"j\xff\xff\xff\xff.", "LONG_BINGET of an empty slot"),
        ("put-nothing", b"p0\n.", "PUT of an empty stack"),
        ("put-negative", b"Np-1\n.", "PUT below 0"),
        ("put-text", b"Npx\n.", "PUT of no number"),
        ("pop-empty", b"0.", "POP of an empty stack"),
        ("pop-mark-empty", b"1.", "POP_MARK without MARK"),
        ("dup-empty", b"2.", "DUP of an empty stack"),
        ("int-no-digits", b"Iseven\n.", "INT of no number"),
        ("int-empty", b"I\n.", "INT of nothing"),
        ("float-no-number", b"Fzero\n.", "FLOAT of no number"),
        ("string-unquoted", b"Sabc\n.", "STRING without quotes"),
        ("string-half-quoted", b"S'abc\n.", "STRING with one quote"),
        ("invalid-utf8", b"X\x02\0\0\0\xff\xfe.", "no UTF-8, and no snapshot"),
        ("not-a-snapshot-int", b"I1\n.", "an int"),
        ("not-a-snapshot-text", b"X\x02\0\0\0hi.", "a string"),
        ("not-a-snapshot-none", b"N.", "None"),
        ("frame-past-end", b"\x80\x04\x95\x00\x01\0\0\0\0\0\0N.", "FRAME longer than the file"),
        ("mark-on-top", b"N(.", "STOP with a MARK on top"),
        ("deep-list-open", b"]" * 1000000, "a million lists, no end"),
        ("deep-mark-open", b"(" * 1000000, "a million MARKs, no end"),
        ("deep-tuple", b")" + b"\x85" * 1000000 + b".", "tuples a million deep, and no snapshot"),
        ("deep-list", b"]" * 1000000 + b"a" * 999999 + b".", "lists a million deep"),
        ("long-digits", b"I" + b"9" * 1000000 + b"\n.", "a million digits"),
        (
            "long4-digits",
            b"\x80\x02\x8b\x40\x42\x0f\0" + b"\x7f" * 1000000 + b".",
            "an int of a million bytes",
        ),
        ("text-not-pickle", b"hello, this is no snapshot\n", "a text file"),
        ("zeros", bytes(4096), "zeros"),
        ("elf", b"\x7fELF\x02\x01\x01" + bytes(200), "a program"),
        ("zip", b"PK\x03\x04" + bytes(100), "torch.save() writes zip files"),
    ]
    return cases
