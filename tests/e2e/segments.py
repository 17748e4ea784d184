"""A store's segments as docs/store.md has them, read without Galley: what lies where, so that a test can damage it and knows what was there."""
import collections, glob, hashlib, os, struct

from harness import read_file

HEADER_BYTES, RECORD_HEADER_BYTES, ALIGNMENT = 64, 80, 8
OWNER, WORKER = 1, 2
BLOB, ADOPTED, OBSERVATION_SET, RESULT, PUBLISHED = 1, 2, 3, 4, 5

Record = collections.namedtuple("Record", "offset size kind key payload")  # size: with header and padding


def digest_of(data):
    return f"{hashlib.sha256(data).hexdigest()}/{len(data)}"


def records_of(data):
    """Of a whole segment; stops where none begins."""
    at = HEADER_BYTES
    while data[at:at + 4] == b"GREC":
        kind, payload_bytes = data[at + 4], struct.unpack_from("<Q", data, at + 8)[0]
        key = f"{data[at + 24:at + 56].hex()}/{struct.unpack_from('<Q', data, at + 56)[0]}"
        end = at + RECORD_HEADER_BYTES + payload_bytes
        size = -(-(end - at) // ALIGNMENT) * ALIGNMENT
        yield Record(at, size, kind, key, data[at + RECORD_HEADER_BYTES:end])
        at += size


def writer_of(data):
    return struct.unpack_from("<I", data, 12)[0]


def adopted_ends(store):
    """Of workers' segments: where the last blob ends that the log tells of. What is behind it nobody knows."""
    ends = {}
    for path in glob.glob(os.path.join(store, "segments", "*.seg")):
        for record in records_of(read_file(path)):
            for at in range(0, len(record.payload) if record.kind == ADOPTED else 0, 56):
                size, segment, offset = struct.unpack_from("<QQQ", record.payload, at + 32)
                ends[segment] = max(ends.get(segment, 0), offset + RECORD_HEADER_BYTES + size)
    return ends


def asked(store):
    """What a whole store holds: lines of `store_driver read`, each once."""
    lines, results, sets = [], collections.defaultdict(set), collections.defaultdict(set)
    for path in sorted(glob.glob(os.path.join(store, "segments", "*.seg"))):
        for record in records_of(read_file(path)):
            if record.kind == BLOB:
                lines.append(f"blob {record.key}")
            elif record.kind in (RESULT, OBSERVATION_SET):
                (results if record.kind == RESULT else sets)[record.key].add(digest_of(record.payload))
    for path in sorted(glob.glob(os.path.join(store, "files", "*", "*"))):
        lines.append("blob " + os.path.basename(path).replace("-", "/"))
    for word, stored in ("result", results), ("set", sets):
        lines += [" ".join([word, key, *sorted(digests)]) for key, digests in sorted(stored.items())]
    return list(dict.fromkeys(lines))
