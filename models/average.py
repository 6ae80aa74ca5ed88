#!/usr/bin/env python3
"""Writes a model whose weights are the mean of those of two models of one shape and one memory.

python3 models/average.py A.safetensors B.safetensors OUT.safetensors
"""

import json
import os
import struct
import sys

FORMATS = {"F16": "e", "F32": "f"}


def read(path):
    """The tensors of a file by name, its bytes up to the first of them, and the bytes after."""
    with open(path, "rb") as file:
        content = file.read()
    start = 8 + struct.unpack("<Q", content[:8])[0]
    tensors = json.loads(content[8:start])
    tensors.pop("__metadata__", None)
    return tensors, content[:start], bytearray(content[start:])


def mean(a, b, form):
    """The mean of two tensors."""
    numbers = (struct.iter_unpack("<" + form, data) for data in (a, b))
    means = [(x + y) / 2 for (x,), (y,) in zip(*numbers, strict=True)]
    return struct.pack(f"<{len(means)}{form}", *means)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    (tensors, head, data), (others, _, other_data) = map(read, sys.argv[1:3])
    for name, tensor in tensors.items():
        other = others.get(name, {})
        if any(tensor[key] != other.get(key) for key in ("dtype", "shape")):
            sys.exit(f"{sys.argv[2]}: expected `{name}` of the shape that {sys.argv[1]} has, found another")
        own, theirs = slice(*tensor["data_offsets"]), slice(*other["data_offsets"])
        form = FORMATS.get(tensor["dtype"])
        if form:
            data[own] = mean(data[own], other_data[theirs], form)
        elif data[own] != other_data[theirs]:
            sys.exit(f"{sys.argv[2]}: expected the `{name}` that {sys.argv[1]} has, found another")
    beside = sys.argv[3] + ".part"
    with open(beside, "wb") as file:
        file.write(head + data)
    os.replace(beside, sys.argv[3])


main()
