"""Takes the memory out of a model file that a shipped model has, too: share_memory.py IN.safetensors OUT.safetensors OWNER

Both have to have the same memory, byte for byte. `formulanet` then reads OWNER's.
"""

import json
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        return header, file.read()


def main(source, target, owner):
    header, data = read(source)
    others, other_data = read(f"models/{owner}/model.safetensors")
    name = "attached.seen"
    begin, end = header.pop(name)["data_offsets"]
    other_begin, other_end = others[name]["data_offsets"]
    if data[begin:end] != other_data[other_begin:other_end]:
        sys.exit(f"{owner} has another memory")
    for tensor, entry in header.items():
        if tensor != "__metadata__" and entry["data_offsets"][0] >= end:
            entry["data_offsets"] = [offset - (end - begin) for offset in entry["data_offsets"]]
    parts = json.loads(header["__metadata__"]["formulanet"])
    parts["origin"] = json.dumps(json.loads(parts["origin"]) | {"memory_of": owner})
    # `formulanet seal OUT` makes another.
    parts.pop("checksum", None)
    header["__metadata__"]["formulanet"] = json.dumps(parts)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(target, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data[:begin] + data[end:])


main(*sys.argv[1:])
