"""Take the bytes of an accumulator apart into header and arrays, and put them together with a valid checksum."""

import hashlib
import json

import numpy as np

from fastmetrics.engine.state_format import FORMAT
from support.states.accumulator_states import PREFIX

# Fields of a file, and of the parts of a task. All others are fields of a task.
OF_FILES = ("library", "arrays", "evaluation", "sources")
OF_PARTS = {
    "types", "seen", "minus_one_rows", "n_classes", "float_keys", "sums", "histograms", "exchange", "units", "blocks",
    "unit_blocks", "key_texts", "counts",
}  # fmt: skip


def take_apart(data):
    """Header and arrays, read by the documented layout. The fields of a task with one part stand side by side."""
    _, _, header_length, _, _ = PREFIX.unpack_from(data)
    header = json.loads(data[PREFIX.size : PREFIX.size + header_length])
    place = PREFIX.size + header_length
    arrays = []
    for kind, shape in header["arrays"]:
        arrays.append(np.frombuffer(data, kind, int(np.prod(shape)), place).reshape(shape).copy())
        place += -(-arrays[-1].nbytes // 8) * 8
    assert place == len(data)
    return side_by_side(header), arrays


def side_by_side(header):
    tasks = header["tasks"]
    if len(tasks) != 1 or len(tasks[0]["parts"]) != 1:
        return header
    task = dict(tasks[0])
    (part,) = task.pop("parts")
    assert part.keys() <= OF_PARTS
    return {name: header[name] for name in OF_FILES} | task | part


def nested(header):
    if "tasks" in header:
        return header
    part = {name: own for name, own in header.items() if name in OF_PARTS}
    task = {name: own for name, own in header.items() if name not in OF_PARTS.union(OF_FILES)} | {"parts": [part]}
    return {name: header[name] for name in ("library", "evaluation", "sources") if name in header} | {"tasks": [task]}


def encoded(header):
    text = json.dumps(header).encode()
    return text + b" " * (-len(text) % 8)


def body_of(arrays):
    return b"".join(array.tobytes() + bytes(-array.nbytes % 8) for array in arrays)


def shapes_of(arrays):
    return [[array.dtype.str, list(array.shape)] for array in arrays]


def seal(text, body):
    digest = hashlib.blake2b(text + body, digest_size=16).digest()
    return PREFIX.pack(b"FMSTATE\n", FORMAT, len(text), len(body), digest) + text + body


def put_together(header, arrays):
    return seal(encoded(nested(header) | {"arrays": shapes_of(arrays)}), body_of(arrays))
