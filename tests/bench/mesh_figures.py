"""What a GLB's geometry costs: bytes, and misses of a vertex cache. For scripts/bench; knows no extension but KHR_mesh_quantization."""
import json, struct

CACHE = 16  # entries, first in first out: what meshoptimizer's own analysis takes for old hardware
SIZES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack_from("<I", data, 12)[0]
    at = 20 + length
    return json.loads(data[20:at]), data[at + 8:] if at + 8 <= len(data) else b""


def indices_of(document, data, primitive):
    accessor = document["accessors"][primitive["indices"]]
    view = document["bufferViews"][accessor["bufferView"]]
    at = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    kind = {1: "B", 2: "H", 4: "I"}[SIZES[accessor["componentType"]]]
    return struct.unpack_from(f"<{accessor['count']}{kind}", data, at)


def figures(path):
    """(bytes of vertices and indices, triangles, cache misses)."""
    document, data = read(path)
    accessors, triangles, misses = set(), 0, 0
    for mesh in document.get("meshes", []):
        for primitive in mesh["primitives"]:
            accessors |= set(primitive["attributes"].values()) | {a for target in primitive.get("targets", []) for a in target.values()}
            if "indices" not in primitive:
                continue
            accessors.add(primitive["indices"])
            if primitive.get("mode", 4) != 4:
                continue
            indices, cache = indices_of(document, data, primitive), []
            triangles += len(indices) // 3
            for index in indices:
                if index not in cache:
                    misses += 1
                    cache = (cache + [index])[-CACHE:]
    views = {document["accessors"][a]["bufferView"] for a in accessors if "bufferView" in document["accessors"][a]}
    return sum(document["bufferViews"][view]["byteLength"] for view in views), triangles, misses
