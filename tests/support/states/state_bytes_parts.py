"""Take the bytes of an accumulator apart into header and arrays, and put them together with a valid checksum."""

import hashlib
import json

import numpy as np

from support.states.accumulator_states import PREFIX


def take_apart(data):
    """Header and arrays, read by the documented layout."""
    _, _, header_length, _, _ = PREFIX.unpack_from(data)
    header = json.loads(data[PREFIX.size : PREFIX.size + header_length])
    place = PREFIX.size + header_length
    arrays = []
    for kind, shape in header["arrays"]:
        arrays.append(np.frombuffer(data, kind, int(np.prod(shape)), place).reshape(shape).copy())
        place += -(-arrays[-1].nbytes // 8) * 8
    assert place == len(data)
    return header, arrays


def encoded(header):
    text = json.dumps(header).encode()
    return text + b" " * (-len(text) % 8)


def body_of(arrays):
    return b"".join(array.tobytes() + bytes(-array.nbytes % 8) for array in arrays)


def shapes_of(arrays):
    return [[array.dtype.str, list(array.shape)] for array in arrays]


def seal(text, body, version=1):
    digest = hashlib.blake2b(text + body, digest_size=16).digest()
    return PREFIX.pack(b"FMSTATE\n", version, len(text), len(body), digest) + text + body


def put_together(header, arrays):
    """States of several parts have format 2."""
    version = 2 if "parts" in header else 1
    return seal(encoded({**header, "arrays": shapes_of(arrays)}), body_of(arrays), version)
