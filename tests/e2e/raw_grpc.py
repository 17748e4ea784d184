"""A client of gRPC that can misbehave: HTTP/2 frame by frame (RFC 9113, 7541), messages of protobuf by hand."""
import hashlib, socket, struct, time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
REAPI = "/build.bazel.remote.execution.v2.ContentAddressableStorage/"


def frame(kind, payload=b"", flags=0, stream=0):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def headers_of(path):
    pairs = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost"), ("te", "trailers"),
             ("content-type", "application/grpc")]
    return b"".join(b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode() for name, value in pairs)


def varint(number):
    text = b""
    while number > 0x7F:
        text += bytes([number & 0x7F | 0x80])
        number >>= 7
    return text + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value if isinstance(value, bytes) else value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields_of(message):
    """The fields of a message as [(number, value)]: integers, and bytes."""
    found, at = [], 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(message):
        key = number()
        if key & 7 == 0:
            found.append((key >> 3, number()))
        elif key & 7 == 2:
            size = number()
            found.append((key >> 3, message[at:at + size]))
            at += size
        else:
            size = 8 if key & 7 == 1 else 4
            found.append((key >> 3, int.from_bytes(message[at:at + size], "little")))
            at += size
    return found


def digest_of(data):
    return field(1, hashlib.sha256(data).hexdigest()) + field(2, len(data))


def connect(address, timeout=20):
    """`address`: (host, port), or a socket's path."""
    one = socket.socket(socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX)
    one.settimeout(timeout)
    one.connect(address)
    return one


class Client:
    def __init__(self, address, window=None, wrap=lambda one: one):
        """`window`: how much it lets the server send on a stream; None: as usual."""
        self.socket = wrap(connect(address))
        self.next_stream, self.buffer = 1, b""
        settings = b"" if window is None else struct.pack(">HI", 4, window)
        self.socket.sendall(PREFACE + frame(SETTINGS, settings))

    def close(self):
        self.socket.close()

    def begin(self, path, message=b""):
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        self.socket.sendall(frame(HEADERS, headers_of(path), END_HEADERS, stream) +
                            frame(DATA, b"\0" + struct.pack(">I", len(message)) + message, END_STREAM, stream))
        return stream

    def open(self, path):
        """A stream on which more is sent (`send`)."""
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        self.socket.sendall(frame(HEADERS, headers_of(path), END_HEADERS, stream))
        return stream

    def send(self, stream, message, is_last=False):
        data = b"\0" + struct.pack(">I", len(message)) + message
        for at in range(0, len(data), 16_384):
            more = at + 16_384 < len(data)
            self.socket.sendall(frame(DATA, data[at:at + 16_384], END_STREAM if is_last and not more else 0, stream))

    def messages(self, stream):
        """The messages that come on the stream, until it ends. (What others get is dropped.)"""
        data = b""
        while True:
            one = self.next_frame()
            if one is None or one[0] == GOAWAY or (one[0] == RST_STREAM and one[2] == stream):
                return
            kind, flags, its_stream, payload = one
            if its_stream != stream:
                continue
            if kind == DATA:
                data += payload
                if payload:  # the server may send as much again
                    grant = struct.pack(">I", len(payload))
                    self.socket.sendall(frame(WINDOW_UPDATE, grant) + frame(WINDOW_UPDATE, grant, stream=stream))
                while len(data) >= 5 and len(data) >= 5 + int.from_bytes(data[1:5], "big"):
                    size = int.from_bytes(data[1:5], "big")
                    yield data[5:5 + size]
                    data = data[5 + size:]
            if flags & END_STREAM:
                return

    def next_frame(self):
        """(kind, flags, stream, payload); None: closed."""
        while len(self.buffer) < 9 or len(self.buffer) < 9 + int.from_bytes(self.buffer[:3], "big"):
            try:
                more = self.socket.recv(1 << 16)
            except ConnectionError:
                more = b""
            if not more:
                return None
            self.buffer += more
        size = int.from_bytes(self.buffer[:3], "big")
        kind, flags, stream = self.buffer[3], self.buffer[4], int.from_bytes(self.buffer[5:9], "big")
        payload, self.buffer = self.buffer[9:9 + size], self.buffer[9 + size:]
        if kind == SETTINGS and not flags & ACK:
            try:
                self.socket.sendall(frame(SETTINGS, flags=ACK))
            except ConnectionError:  # closed by now; what it said before is still read
                pass
        return kind, flags, stream, payload

    def call(self, path, message=b""):
        """The message that is answered; None: an error, or nothing."""
        stream, answer = self.begin(path, message), b""
        while True:
            one = self.next_frame()
            if one is None or one[0] == GOAWAY or (one[0] == RST_STREAM and one[2] == stream):
                return None
            kind, flags, its_stream, payload = one
            if its_stream != stream:
                continue
            if kind == DATA:
                answer += payload
            if flags & END_STREAM:
                return answer[5:] if answer else None

    def is_served(self):
        return self.call("/grpc.health.v1.Health/Check") == field(1, 1)

    def put(self, data):
        return self.call(REAPI + "BatchUpdateBlobs", field(2, field(1, digest_of(data)) + field(2, data)))

    def has(self, data):
        """Whether the server says that nothing is missing."""
        return self.call(REAPI + "FindMissingBlobs", field(2, digest_of(data))) == b""


def seconds_of(work):
    begin = time.monotonic()
    work()
    return time.monotonic() - begin
