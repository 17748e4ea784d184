"""Checks the structure of GLB files as Galley writes them, independently of Galley's own code.

Written from the Khronos glTF 2.0 specification, for tests: header and chunks, buffer views within the buffer, accessors within their views
and aligned, indices of nodes, meshes, materials and accessors, extensions declared. Khronos' own validator says much more, but comes from
npm (tests/content/validate --interop). Only Python's standard library.

    problems = check(path)      sentences; empty: all is as specified
"""
import json
import struct

JSON_CHUNK, BINARY_CHUNK = 0x4E4F534A, 0x004E4942
COMPONENT_BYTES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
# Type -> columns and rows: each column of a matrix begins at a multiple of 4 bytes.
TYPES = {"SCALAR": (1, 1), "VEC2": (1, 2), "VEC3": (1, 3), "VEC4": (1, 4), "MAT2": (2, 2), "MAT3": (3, 3), "MAT4": (4, 4)}
INDEX_TYPES = (5121, 5123, 5125)


def read_glb(data):
    """(document, binary chunk). ValueError: no GLB 2.0 as specified."""
    if len(data) < 20 or data[:4] != b"glTF":
        raise ValueError("no GLB file")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2 or length != len(data):
        raise ValueError(f"the header says version {version} and {length} bytes; expected 2 and {len(data)}")
    chunks, at = [], 12
    while at < len(data):
        if at + 8 > len(data):
            raise ValueError("a chunk's header is cut off")
        size, kind = struct.unpack_from("<II", data, at)
        if size % 4 or at + 8 + size > len(data):
            raise ValueError(f"the chunk at {at} has {size} bytes")
        chunks.append((kind, data[at + 8:at + 8 + size]))
        at += 8 + size
    if [kind for kind, _ in chunks] not in ([JSON_CHUNK], [JSON_CHUNK, BINARY_CHUNK]):
        raise ValueError(f"chunks of kinds {[hex(kind) for kind, _ in chunks]}; expected JSON, then BIN")
    return json.loads(chunks[0][1].decode("utf-8")), chunks[1][1] if len(chunks) == 2 else b""


def element_bytes(accessor):
    columns, rows = TYPES[accessor["type"]]
    column = rows * COMPONENT_BYTES[accessor["componentType"]]
    return columns * (column if columns == 1 else -(-column // 4) * 4)


def extensions_within(value):
    """Names of all extensions that some object of the document has."""
    if isinstance(value, list):
        return set().union(*map(extensions_within, value))
    if not isinstance(value, dict):
        return set()
    names = set(value.get("extensions", {}))
    return names.union(*(extensions_within(member) for key, member in value.items() if key != "extras"))


def check_views(document, binary):
    buffers = document.get("buffers", [])
    if len(buffers) > 1 or bool(buffers) != bool(binary) or any("uri" in buffer for buffer in buffers):
        yield f"{len(buffers)} buffers and {len(binary)} bytes in the file; expected one buffer, in the file"
        return
    if buffers and not 0 <= len(binary) - buffers[0]["byteLength"] < 4:
        yield f"the buffer has {buffers[0]['byteLength']} bytes, its chunk {len(binary)}"
    for i, view in enumerate(document.get("bufferViews", [])):
        end = view.get("byteOffset", 0) + view["byteLength"]
        if view["buffer"] != 0 or not buffers or view["byteLength"] < 1 or end > buffers[0]["byteLength"]:
            yield f"buffer view {i} ends at {end}, outside of the buffer"
        stride = view.get("byteStride", 4)
        if stride % 4 or not 4 <= stride <= 252:
            yield f"buffer view {i} has a stride of {stride}"


def check_accessors(document):
    views = document.get("bufferViews", [])
    for i, accessor in enumerate(document.get("accessors", [])):
        if accessor["type"] not in TYPES or accessor["componentType"] not in COMPONENT_BYTES or accessor["count"] < 1:
            yield f"accessor {i} is {accessor['count']} times {accessor['type']} of {accessor['componentType']}"
            continue
        parts = [(accessor, accessor["count"], element_bytes(accessor))] if "bufferView" in accessor else []
        if "sparse" in accessor:
            sparse = accessor["sparse"]
            parts.append((sparse["values"], sparse["count"], element_bytes(accessor)))
            parts.append((sparse["indices"], sparse["count"], COMPONENT_BYTES[sparse["indices"]["componentType"]]))
        for part, count, size in parts:
            if not 0 <= part["bufferView"] < len(views):
                yield f"accessor {i} names buffer view {part['bufferView']} of {len(views)}"
                continue
            view, offset = views[part["bufferView"]], part.get("byteOffset", 0)
            stride = view.get("byteStride", size)
            if offset + stride * (count - 1) + size > view["byteLength"]:
                yield f"accessor {i} reaches beyond buffer view {part['bufferView']}"
            component = COMPONENT_BYTES[part.get("componentType", accessor["componentType"])]
            if (view.get("byteOffset", 0) + offset) % component or stride % component:
                yield f"accessor {i} is not aligned to {component} bytes"


def named(document):
    """(where, array, index) of each index that nodes, meshes, skins and animations hold."""
    for i, node in enumerate(document.get("nodes", [])):
        for key, array in (("mesh", "meshes"), ("skin", "skins"), ("camera", "cameras")):
            if key in node:
                yield f"node {i}", array, node[key]
        yield from ((f"node {i}", "nodes", child) for child in node.get("children", []))
    for i, scene in enumerate(document.get("scenes", [])):
        yield from ((f"scene {i}", "nodes", node) for node in scene.get("nodes", []))
    if "scene" in document:
        yield "the document", "scenes", document["scene"]
    for i, mesh in enumerate(document.get("meshes", [])):
        for primitive in mesh["primitives"]:
            attributes = [*primitive["attributes"].values(), *(a for target in primitive.get("targets", []) for a in target.values())]
            attributes += [primitive["indices"]] if "indices" in primitive else []
            yield from ((f"mesh {i}", "accessors", accessor) for accessor in attributes)
            if "material" in primitive:
                yield f"mesh {i}", "materials", primitive["material"]
    for i, skin in enumerate(document.get("skins", [])):
        yield from ((f"skin {i}", "nodes", joint) for joint in skin["joints"])
        if "inverseBindMatrices" in skin:
            yield f"skin {i}", "accessors", skin["inverseBindMatrices"]
    for i, animation in enumerate(document.get("animations", [])):
        for sampler in animation["samplers"]:
            yield from ((f"animation {i}", "accessors", sampler[key]) for key in ("input", "output"))
        for channel in animation["channels"]:
            if not 0 <= channel["sampler"] < len(animation["samplers"]):
                yield f"animation {i}", "samplers", channel["sampler"]
            if "node" in channel["target"]:
                yield f"animation {i}", "nodes", channel["target"]["node"]


def largest_index(document, binary, accessor):
    view = document["bufferViews"][accessor["bufferView"]]
    at = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    code = {5121: "B", 5123: "H", 5125: "I"}[accessor["componentType"]]
    return max(struct.unpack_from(f"<{accessor['count']}{code}", binary, at))


def check_primitives(document, binary):
    accessors = document.get("accessors", [])
    for i, mesh in enumerate(document.get("meshes", [])):
        for primitive in mesh["primitives"]:
            attributes = [*primitive["attributes"].values(), *(a for target in primitive.get("targets", []) for a in target.values())]
            counts = {accessors[attribute]["count"] for attribute in attributes}
            if len(counts) != 1:
                yield f"mesh {i}: attributes of {sorted(counts)} vertices"
                continue
            if "indices" not in primitive:
                continue
            indices = accessors[primitive["indices"]]
            if indices["type"] != "SCALAR" or indices["componentType"] not in INDEX_TYPES or "bufferView" not in indices:
                yield f"mesh {i}: accessor {primitive['indices']} holds no indices"
            elif (largest := largest_index(document, binary, indices)) >= min(counts):
                yield f"mesh {i}: index {largest}, and there are {min(counts)} vertices"


def check_document(document, binary):
    if document.get("asset", {}).get("version") != "2.0":
        yield f"asset {document.get('asset')}; expected version 2.0"
    used, required = set(document.get("extensionsUsed", [])), set(document.get("extensionsRequired", []))
    within = extensions_within(document)
    if not within <= used or not required <= used:
        yield f"extensions {sorted((within | required) - used)} are not in extensionsUsed"
    problems = [*check_views(document, binary), *check_accessors(document)]
    for where, array, index in named(document):
        if not 0 <= index < len(document.get(array, [])):
            problems.append(f"{where} names {array} {index} of {len(document.get(array, []))}")
    yield from problems or check_primitives(document, binary)


def check(path):
    with open(path, "rb") as file:
        data = file.read()
    try:
        return list(check_document(*read_glb(data)))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, struct.error) as error:
        return [f"{type(error).__name__}: {error}"]
