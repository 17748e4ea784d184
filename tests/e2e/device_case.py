"""What tests of devices share: the tree of a session as a client reads it, requests that no client library would send, and figures of processes."""
import hashlib, http.client, os, posixpath, random, socket, struct, sys, urllib.parse, zlib

from harness import BIN, read_file
from http_case import Answer, HttpTest
from reapi_folder import Folder

IS_LONG = bool(os.environ.get("GALLEY_LONG"))
IS_SANITIZED = "build-asan" in BIN or "build-tsan" in BIN
DATA = 'match = "/Game/**/*.json"\ncooker = "data"'
LEVEL = 'match = "/Game/**/*.level"\ncooker = "data"\nsettings = { cell_size = 100 }'
# A raw connection that brings nothing for so long has hung.
RAW_LIMIT_S = 60


def digest_of(data):
    return f"{hashlib.sha256(data).hexdigest()}/{len(data)}"


def quoted(path):
    """A path of the tree, as it stands in a URL."""
    return urllib.parse.quote(path)


def png(pixel, side=4):
    """A picture of one colour."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(pixel) * side for _ in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


# ------------------------------------------------------------------ trees

class SessionTree:
    """Trees of sessions as a client reads them (docs/formats.md, "What devices see"): folder by folder from /v1/blob/. A folder that several
    trees share is fetched once."""

    def __init__(self, client):
        self.client, self.folders = client, {}

    def blob(self, digest):
        answer = self.client.get(f"/v1/blob/{digest}")
        assert answer.status == 200, (digest, answer)
        assert digest_of(answer.body) == digest, (digest, answer)
        return answer.body

    def folder(self, digest):
        if digest not in self.folders:
            self.folders[digest] = Folder(self.blob(digest))
        return self.folders[digest]

    def listed(self, root):
        """({path: (digest, is_executable)}, {path: target}): all files and links below the root."""
        files, links, left = {}, {}, [("", root)]
        while left:
            at, digest = left.pop()
            folder = self.folder(digest)
            files.update({at + name: file for name, file in folder.files.items()})
            links.update({at + name: target for name, target in folder.links.items()})
            left += [(f"{at}{name}/", below) for name, below in folder.folders.items()]
        return files, links

    def cooked(self, root):
        """{path in the cooked tree: (digest, is_executable)}: where a client gets that follows all links, and all lists of generated packages."""
        files, links = self.listed(root)
        found, nodes = {}, {}  # nodes: folder of the node -> {path in it: file}
        for path, file in files.items():
            if path.startswith("static/"):
                found[path.removeprefix("static/")] = file
            elif path.startswith("resource/"):
                parts = path.split("/", 4)
                nodes.setdefault("/".join(parts[:4]), {})[parts[4]] = file
        for path, target in links.items():
            end = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)).split("/", 4)
            assert path.startswith("static/") and end[0] == "resource" and len(end) == 5, (path, target)
            if path.endswith("/_gen"):
                continue  # leads to the list of what is generated
            for name, file in nodes.get("/".join(end[:4]), {}).items():
                if name == end[4] or name.startswith(end[4] + "/"):
                    found[path.removeprefix("static/") + name.removeprefix(end[4])] = file
        for node in nodes.values():
            found.update(self.generated(node, nodes))
        return found

    def generated(self, node, nodes):
        """The files of the packages that a node lists, by their paths in the cooked tree."""
        found = {}
        for name in ("_gen", ".generated"):
            text = self.blob(node[name][0]).decode(errors="replace") if name in node else ""
            if not text.startswith("galley-generated 1\n"):
                continue  # no list, or an output of this name
            for line in text.splitlines()[1:]:
                key, path = line.split(" ", 1)
                for inner, file in nodes.get(f"resource/{key[:2]}/{key[2:4]}/{key}", {}).items():
                    if inner.startswith(posixpath.basename(path)):
                        found[posixpath.join(posixpath.dirname(path), inner)] = file
        return found


# ------------------------------------------------------------------ raw connections

def connect_raw(client, limit_s=RAW_LIMIT_S):
    host, port = client.host.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=limit_s)


def send_raw(client, data, limit_s=RAW_LIMIT_S):
    """All that the server says to these bytes until it closes. TimeoutError: it neither answers nor closes."""
    with connect_raw(client, limit_s) as connection:
        try:
            connection.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has answered, and takes no more
        return read_to_end(connection)


def answer_raw(client, data, method="GET", limit_s=RAW_LIMIT_S):
    """The first answer to these bytes, whatever becomes of the connection."""
    with connect_raw(client, limit_s) as connection:
        try:
            connection.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has answered, and takes no more
        response = http.client.HTTPResponse(connection, method=method)
        response.begin()
        return Answer(response, response.read())


def read_to_end(connection):
    said = b""
    try:
        while piece := connection.recv(1 << 16):
            said += piece
    except ConnectionResetError:
        pass
    return said


def status_of(said):
    """The status of the first answer; None: there is none."""
    return int(said[9:12]) if said.startswith(b"HTTP/1.1 ") else None


# ------------------------------------------------------------------ processes

def descriptors(process):
    return len(os.listdir(f"/proc/{process}/fd"))


def threads(process):
    return len(os.listdir(f"/proc/{process}/task"))


def resident_bytes(process):
    text = read_file(f"/proc/{process}/status").decode()
    return int(text.split("VmRSS:")[1].split()[0]) << 10


class DeviceCase(HttpTest):
    def seed(self):
        """Printed, so that GALLEY_SEED=<seed> draws the same again."""
        seed = os.environ.get("GALLEY_SEED") or str(random.SystemRandom().randrange(1 << 32))
        print(f"GALLEY_SEED={seed}", end=" ", file=sys.stderr, flush=True)
        return seed

    def stop(self, project):
        done = self.galley("serve", "--stop", "--project", project)
        self.assertEqual(done.returncode, 0, done.stderr)
