"""wire.py - protobuf as it lies in a file: fields by number, without any description of theirs."""


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def varints(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def fields(data):
    """(number, value) of each field of a message, in order: integers, and bytes of what has a length."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            if at + length > len(data):
                raise ValueError("a field ends behind its message")
            value, at = data[at:at + length], at + length
        else:
            raise ValueError(f"wire type {key & 7} is not written")
        yield key >> 3, value


def message(data):
    """{number: [values]}"""
    found = {}
    for number, value in fields(data):
        found.setdefault(number, []).append(value)
    return found


def only(found, number, default=None):
    values = found.get(number, [default])
    if len(values) != 1:
        raise ValueError(f"field {number} is there {len(values)} times")
    return values[0]
