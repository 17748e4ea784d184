"""The sample's meshes: glTF and GLB by formula. Used by make_sample. No function of the machine's libm decides a byte."""
import base64, json, struct

FLOAT, USHORT, UINT, UBYTE = 5126, 5123, 5125, 5121
FORMATS = {FLOAT: "f", USHORT: "H", UINT: "I", UBYTE: "B"}
TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


class Document:
    """A glTF document under construction: add what is needed, then take it as .gltf with a buffer elsewhere or as .glb."""

    def __init__(self):
        self.json = {"asset": {"version": "2.0", "generator": "galley sample"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [],
                     "meshes": [], "buffers": [{}], "bufferViews": [], "accessors": []}
        self.data = bytearray()

    def add(self, key, value):
        self.json.setdefault(key, []).append(value)
        return len(self.json[key]) - 1

    def view(self, data):
        self.data += b"\0" * (-len(self.data) % 4)
        self.data += data
        return self.add("bufferViews", {"buffer": 0, "byteOffset": len(self.data) - len(data), "byteLength": len(data)})

    def accessor(self, rows, component=FLOAT, bounds=False, normalized=False):
        """`rows`: tuples of one length."""
        width = len(rows[0])
        data = b"".join(struct.pack("<%d%s" % (width, FORMATS[component]), *row) for row in rows)
        accessor = {"bufferView": self.view(data), "componentType": component, "count": len(rows), "type": TYPES[width]}
        if normalized:
            accessor["normalized"] = True
        if bounds:
            as_stored = [struct.unpack("<%df" % width, struct.pack("<%df" % width, *row)) for row in rows]
            accessor["min"] = [min(row[i] for row in as_stored) for i in range(width)]
            accessor["max"] = [max(row[i] for row in as_stored) for i in range(width)]
        return self.add("accessors", accessor)

    def sparse(self, count, changed):
        """Zeros but for `changed`: index -> VEC3."""
        indices = self.view(b"".join(struct.pack("<H", i) for i in sorted(changed)))
        values = self.view(b"".join(struct.pack("<3f", *changed[i]) for i in sorted(changed)))
        columns = list(zip(*changed.values())) if len(changed) == count else [(*column, 0.0) for column in zip(*changed.values())]
        return self.add("accessors", {
            "componentType": FLOAT, "count": count, "type": "VEC3", "min": [min(c) for c in columns], "max": [max(c) for c in columns],
            "sparse": {"count": len(changed), "indices": {"bufferView": indices, "componentType": USHORT}, "values": {"bufferView": values}}})

    def image(self, png, name):
        view = self.view(png)
        return self.add("images", {"bufferView": view, "mimeType": "image/png", "name": name})

    def gltf(self, uri=None):
        """(text, buffer): the buffer in a data URI unless `uri` names its file."""
        self.json["buffers"][0] = {"byteLength": len(self.data), "uri": uri or "data:application/octet-stream;base64," +
                                   base64.b64encode(bytes(self.data)).decode()}
        return json.dumps(self.json, indent=1) + "\n", bytes(self.data)

    def glb(self):
        data = bytes(self.data) + b"\0" * (-len(self.data) % 4)
        self.json["buffers"][0] = {"byteLength": len(data)}
        text = json.dumps(self.json, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        return struct.pack("<III", 0x46546C67, 2, 28 + len(text) + len(data)) + struct.pack("<II", len(text), 0x4E4F534A) + text + \
            struct.pack("<II", len(data), 0x004E4942) + data


def box(size):
    """Positions, normals, texture coordinates and indices of a box with hard edges."""
    positions, normals, uvs, indices = [], [], [], []
    for axis in range(3):
        for sign in (1, -1):
            first = len(positions)
            for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                point = [0.0, 0.0, 0.0]
                point[axis], point[(axis + 1) % 3], point[(axis + 2) % 3] = sign * size, u * sign * size, v * size
                positions.append(tuple(point))
                normal = [0.0, 0.0, 0.0]
                normal[axis] = float(sign)
                normals.append(tuple(normal))
                uvs.append(((u + 1) / 2, (v + 1) / 2))
            indices += [first, first + 1, first + 2, first, first + 2, first + 3]
    return positions, normals, uvs, indices


def add_box(document, size, material):
    positions, normals, uvs, indices = box(size)
    return {"attributes": {"POSITION": document.accessor(positions, bounds=True), "NORMAL": document.accessor(normals),
                           "TEXCOORD_0": document.accessor(uvs)},
            "indices": document.accessor([(i,) for i in indices], USHORT), "material": material}


def textures(document, *uris):
    sampler = document.add("samplers", {"magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497})
    return [document.add("textures", {"sampler": sampler, "source": document.add("images", {"uri": uri})}) for uri in uris]


def crate():
    """An external buffer and external images; a normal map and no tangents."""
    document = Document()
    albedo, normal, mask = textures(document, "../textures/wood_albedo.png", "../textures/wood_normal.png", "../textures/wood_mask.png")
    document.add("materials", {"name": "wood", "pbrMetallicRoughness": {"baseColorTexture": {"index": albedo}, "metallicFactor": 0.0,
                                                                          "metallicRoughnessTexture": {"index": mask}},
                                 "normalTexture": {"index": normal, "scale": 0.8}})
    document.add("meshes", {"name": "crate", "primitives": [add_box(document, 0.5, 0)]})
    document.add("nodes", {"name": "crate", "mesh": 0})
    return document.gltf("crate.buffer")


def chest(png):
    """One file: embedded images, several materials, several scenes, a camera."""
    document = Document()
    wood = document.add("textures", {"source": document.image(png("wood"), "chest wood")})
    bumps = document.add("textures", {"source": document.image(png("bumps"), "chest bumps")})
    document.add("materials", {"name": "boards", "pbrMetallicRoughness": {"baseColorTexture": {"index": wood}},
                                 "normalTexture": {"index": bumps}, "doubleSided": True})
    document.add("materials", {"name": "iron", "pbrMetallicRoughness": {"baseColorFactor": [0.3, 0.3, 0.35, 1.0], "roughnessFactor": 0.4}})
    document.add("meshes", {"name": "chest", "primitives": [add_box(document, 1.0, 0), add_box(document, 0.25, 1)]})
    camera = document.add("cameras", {"type": "perspective", "perspective": {"yfov": 0.8, "znear": 0.1}})
    document.add("nodes", {"name": "chest", "mesh": 0, "translation": [0, 1, 0]})
    document.add("nodes", {"name": "view", "camera": camera, "translation": [0, 1, 5]})
    document.json["scenes"] = [{"name": "chest", "nodes": [0]}, {"name": "with a camera", "nodes": [0, 1]}]
    return document.glb()


def pillar():
    """A skin of two joints, animated."""
    document = Document()
    positions, normals, joints, weights, indices = [], [], [], [], []
    ring = [(1.0, 0.0), (0.6, 0.8), (-0.6, 0.8), (-1.0, 0.0), (-0.6, -0.8), (0.6, -0.8)]
    for level in range(9):
        for x, z in ring:
            positions.append((x * 0.5, level * 0.5, z * 0.5))
            normals.append((x, 0.0, z))
            joints.append((0, 1, 0, 0))
            upper = level / 8
            weights.append((1 - upper, upper, 0.0, 0.0))
    for level in range(8):
        for i in range(6):
            a, b = level * 6 + i, level * 6 + (i + 1) % 6
            indices += [a, a + 6, b, b, a + 6, b + 6]
    document.add("materials", {"name": "bark", "pbrMetallicRoughness": {"baseColorFactor": [0.4, 0.3, 0.2, 1.0]}})
    document.add("meshes", {"name": "pillar", "primitives": [{
        "attributes": {"POSITION": document.accessor(positions, bounds=True), "NORMAL": document.accessor(normals),
                       "JOINTS_0": document.accessor(joints, USHORT), "WEIGHTS_0": document.accessor(weights)},
        "indices": document.accessor([(i,) for i in indices], USHORT), "material": 0}]})
    identity = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    inverse = [identity + (0.0, 0.0, 0.0, 1.0), identity + (0.0, -2.0, 0.0, 1.0)]
    document.add("skins", {"joints": [1, 2], "inverseBindMatrices": document.accessor(inverse)})
    document.add("nodes", {"name": "pillar", "mesh": 0, "skin": 0})
    document.add("nodes", {"name": "root", "children": [2]})
    document.add("nodes", {"name": "bend", "translation": [0, 2, 0]})
    document.json["scenes"] = [{"nodes": [0, 1]}]
    times = document.accessor([(0.0,), (1.0,), (2.0,)], bounds=True)
    turns = document.accessor([(0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.28, 0.96), (0.0, 0.0, 0.0, 1.0)])
    document.add("animations", {"name": "sway", "samplers": [{"input": times, "output": turns, "interpolation": "LINEAR"}],
                                  "channels": [{"sampler": 0, "target": {"node": 2, "path": "rotation"}}]})
    return document.glb()


def flag():
    """Morph targets, one of them sparse, animated weights; the buffer is a data URI."""
    document = Document()
    size = 8
    positions = [(x / size, y / size, 0.0) for y in range(size + 1) for x in range(size + 1)]
    uvs = [(x, 1 - y) for x, y, _ in positions]
    wave = [(0.0, 0.0, ((i % (size + 1)) % 4 - 1.5) * 0.125) for i in range(len(positions))]
    corner = {i: (0.0, -0.25, 0.125 * (i % 3)) for i in range(size, len(positions), size + 1)}
    indices = []
    for y in range(size):
        for x in range(size):
            a = y * (size + 1) + x
            indices += [a, a + 1, a + size + 1, a + 1, a + size + 2, a + size + 1]
    cloth, = textures(document, "../textures/fence.png")
    document.add("materials", {"name": "cloth", "alphaMode": "MASK", "doubleSided": True,
                                 "pbrMetallicRoughness": {"baseColorTexture": {"index": cloth}}})
    document.add("meshes", {"name": "flag", "weights": [0.5, 0.0], "primitives": [{
        "attributes": {"POSITION": document.accessor(positions, bounds=True), "TEXCOORD_0": document.accessor(uvs)},
        "targets": [{"POSITION": document.accessor(wave, bounds=True)}, {"POSITION": document.sparse(len(positions), corner)}],
        "indices": document.accessor([(i,) for i in indices], USHORT), "material": 0}]})
    document.add("nodes", {"name": "flag", "mesh": 0})
    times = document.accessor([(0.0,), (0.5,), (1.0,)], bounds=True)
    weights = document.accessor([(0.0,), (1.0,), (1.0,), (0.0,), (0.0,), (1.0,)])
    document.add("animations", {"name": "wave", "samplers": [{"input": times, "output": weights}],
                                  "channels": [{"sampler": 0, "target": {"node": 0, "path": "weights"}}]})
    return document.gltf()[0]


def terrain(height):
    """More vertices than 16 bits count, in triangle strips, with vertex colours."""
    document = Document()
    width, depth = 257, 257
    positions = [(x * 0.5, height(x, z) / 16, z * 0.5) for z in range(depth) for x in range(width)]
    colours = [(height(x, z), 160, 60, 255) for z in range(depth) for x in range(width)]
    strip = []
    for z in range(depth - 1):
        row, below = z * width, (z + 1) * width
        if strip:
            strip += [strip[-1], row]
        for x in range(width):
            strip += [row + x, below + x]
    document.add("materials", {"name": "ground", "pbrMetallicRoughness": {"roughnessFactor": 1.0, "metallicFactor": 0.0}})
    document.add("meshes", {"name": "terrain", "primitives": [{
        "attributes": {"POSITION": document.accessor(positions, bounds=True), "COLOR_0": document.accessor(colours, UBYTE, normalized=True)},
        "indices": document.accessor([(i,) for i in strip], UINT), "mode": 5, "material": 0}]})
    document.add("nodes", {"name": "terrain", "mesh": 0})
    return document.glb()
