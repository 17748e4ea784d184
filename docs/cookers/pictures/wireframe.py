"""Draws the triangles of a cooked GLB with their edges, for `make`."""
import math, struct

import glb
from canvas import WHITE, Picture


def elements(document, binary, number):
    accessor = document["accessors"][number]
    view = document["bufferViews"][accessor["bufferView"]]
    width = glb.TYPES[accessor["type"]][1]
    form = "<%d%s" % (width, {5121: "B", 5123: "H", 5125: "I", 5126: "f"}[accessor["componentType"]])
    stride = view.get("byteStride", struct.calcsize(form))
    at = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    return [struct.unpack_from(form, binary, at + i * stride) for i in range(accessor["count"])]


def triangles(path):
    """Corners of all triangles as drawn: nodes here move and scale only."""
    with open(path, "rb") as file:
        document, binary = glb.read_glb(file.read())
    found = []

    def visit(number, move, scale):
        node = document["nodes"][number]
        move = [m + s * t for m, s, t in zip(move, scale, node.get("translation", (0, 0, 0)))]
        scale = [a * b for a, b in zip(scale, node.get("scale", (1, 1, 1)))]
        for primitive in document["meshes"][node["mesh"]]["primitives"] if "mesh" in node else []:
            points = [tuple(m + s * c for m, s, c in zip(move, scale, point))
                      for point in elements(document, binary, primitive["attributes"]["POSITION"])]
            corners = [points[i] for (i,) in elements(document, binary, primitive["indices"])]
            found.extend(zip(corners[::3], corners[1::3], corners[2::3]))
        for child in node.get("children", []):
            visit(child, move, scale)
    for root in document["scenes"][document.get("scene", 0)]["nodes"]:
        visit(root, (0, 0, 0), (1, 1, 1))
    return found


def drawn(found, size):
    """The triangles with their edges, hidden ones hidden, seen from the front and a little above, without perspective."""
    tilt, turn = 0.35, 0.2
    depth, texels = [-math.inf] * (size * size), [WHITE] * (size * size)

    def project(point):
        x, y, z = point
        x, z = x * math.cos(turn) + z * math.sin(turn), z * math.cos(turn) - x * math.sin(turn)
        y, z = y * math.cos(tilt) - z * math.sin(tilt), z * math.cos(tilt) + y * math.sin(tilt)
        return (size / 2 + x * size * 0.42, size / 2 - y * size * 0.42, z)
    for corners in found:
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = map(project, corners)
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if abs(area) < 1e-9:
            continue
        u, v = [b - a for a, b in zip(*corners[:2])], [b - a for a, b in zip(corners[0], corners[2])]
        n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
        facing = abs(0.5 * n[0] - 0.4 * n[1] - 0.77 * n[2]) / (math.sqrt(sum(c * c for c in n)) or 1)
        shade = 150 + 16 * int(6 * facing)
        sides = [math.hypot(cx - bx, cy - by), math.hypot(ax - cx, ay - cy), math.hypot(bx - ax, by - ay)]
        for y in range(max(0, math.floor(min(ay, by, cy))), min(size, math.ceil(max(ay, by, cy)) + 1)):
            for x in range(max(0, math.floor(min(ax, bx, cx))), min(size, math.ceil(max(ax, bx, cx)) + 1)):
                p, q = x + 0.5, y + 0.5
                parts = [((bx - p) * (cy - q) - (cx - p) * (by - q)) / area, ((cx - p) * (ay - q) - (ax - p) * (cy - q)) / area]
                parts.append(1 - sum(parts))
                if min(parts) < 0:
                    continue
                z = parts[0] * az + parts[1] * bz + parts[2] * cz
                if z <= depth[y * size + x]:
                    continue
                depth[y * size + x] = z
                is_edge = any(part * abs(area) / side < 0.55 for part, side in zip(parts, sides))
                texels[y * size + x] = (40, 50, 90) if is_edge else (shade, shade, shade)
    return Picture(size, size, texels)
