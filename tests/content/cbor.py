"""A CBOR reader (RFC 8949) that shares nothing with Galley's writer: raises ValueError on what is not well-formed or not in the core
deterministic encoding."""
import struct


def _head(data, at):
    kind, info = data[at] >> 5, data[at] & 31
    at += 1
    if info < 24:
        return kind, info, info, at
    if info > 27:
        raise ValueError(f"additional information {info} at {at - 1}")
    size = 1 << (info - 24)
    if at + size > len(data):
        raise ValueError("truncated")
    value = int.from_bytes(data[at:at + size], "big")
    if kind != 7 and value < (24 if size == 1 else 1 << (4 * size)):
        raise ValueError(f"{value} is not in its shortest form at {at - 1}")
    return kind, info, value, at + size


def _item(data, at, depth):
    if at >= len(data) or depth > 600:
        raise ValueError("truncated, or nested too deeply")
    kind, info, value, at = _head(data, at)
    if kind == 0:
        return value, at
    if kind == 1:
        return -1 - value, at
    if kind in (2, 3):
        if at + value > len(data):
            raise ValueError("truncated string")
        text = data[at:at + value]
        return (text if kind == 2 else text.decode("utf-8")), at + value
    if kind == 4:
        items = []
        for _ in range(value):
            item, at = _item(data, at, depth + 1)
            items.append(item)
        return items, at
    if kind == 5:
        items, before = {}, b""
        for _ in range(value):
            begin = at
            key, at = _item(data, at, depth + 1)
            if data[begin:at] <= before:
                raise ValueError(f"keys are not in bytewise order at {begin}")
            before = data[begin:at]
            items[key], at = _item(data, at, depth + 1)
        return items, at
    if kind == 7 and info in (20, 21, 22):
        return {20: False, 21: True, 22: None}[info], at
    if kind == 7 and info in (25, 26, 27):
        size = {25: 2, 26: 4, 27: 8}[info]
        return struct.unpack({2: ">e", 4: ">f", 8: ">d"}[size], data[at - size:at])[0], at
    raise ValueError(f"major type {kind}, {info} is not used by Galley")


def decode(data):
    item, at = _item(data, 0, 0)
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes follow the item")
    return item
