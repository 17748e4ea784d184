#!/usr/bin/env python3
"""Clients that write slowly, read slowly or do nothing: they are let go in time, cost little memory, and hold up nobody.

`--long` (or GALLEY_LONG=1) also waits for the limits that take longer than a minute.
"""
import contextlib, hashlib, os, random, resource, subprocess, sys, threading, time, unittest

if "--long" in sys.argv:
    sys.argv.remove("--long")
    os.environ["GALLEY_LONG"] = "1"

from device_case import IS_LONG, IS_SANITIZED, DeviceCase, connect_raw, descriptors, read_to_end, resident_bytes, status_of
from exposition import read_metrics
from harness import COPY, LIMIT_S, SLOW, read_file, wait_until
from http_case import Changes, Http

# A request must arrive within 20 s of its first byte; the rest is for a busy machine.
REQUEST_S, LATE_S = 20, 60
ANSWER_S = 18 if IS_SANITIZED else 12
DESCRIPTORS, FLOOD = 1024, 700
LARGE_BYTES = 64 << 20
STOPPED_READERS = 12
GET = b"GET /v1/pc/Game/a.txt HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20000\r\n\r\n"


def setUpModule():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class SlowClient(threading.Thread):
    """Sends `begin`, and then a piece each quarter of a second until the server says something or closes. `said` is all that it said."""

    def __init__(self, client, what, begin, piece, reads_first=False):
        super().__init__(daemon=True)
        self.client, self.what, self.begin, self.piece, self.reads_first = client, what, begin, piece, reads_first
        self.said, self.seconds = None, None

    def run(self):
        with connect_raw(self.client, 0.25) as connection:
            if self.reads_first:
                connection.sendall(GET + b"\r\n")
                connection.settimeout(LATE_S)
                connection.recv(1 << 16)
                connection.settimeout(0.25)
            begun = time.monotonic()
            connection.sendall(self.begin)
            while time.monotonic() - begun < 2 * LATE_S + 30:
                try:
                    self.said = connection.recv(1 << 16)
                    break
                except TimeoutError:
                    pass
                except ConnectionResetError:
                    self.said = b""
                    break
                with contextlib.suppress(OSError):
                    connection.sendall(self.piece)
            self.seconds = time.monotonic() - begun


class DeviceSlowTest(DeviceCase):
    def expect_answer(self, client):
        begun = time.monotonic()
        answer = client.get("/v1/pc/Game/a.txt")
        self.assertEqual((answer.status, answer.body), (200, b"a"), answer)
        self.assertLess(time.monotonic() - begun, ANSWER_S)

    def test_who_writes_slowly_is_told_and_let_go(self):
        client = self.serve_http(self.project({"a.txt": "a"}, [COPY]))
        self.get_ready(client, "/v1/pc/Game/a.txt")
        # (what it does, what it sends first, and then again and again, what is said to it in the end, after how many seconds)
        told = [(SlowClient(client, "a head byte by byte", b"GET /v1/pc/", b"x"), 408, REQUEST_S),
                (SlowClient(client, "a field without end", GET + b"X: ", b"y"), 408, REQUEST_S),
                (SlowClient(client, "a body byte by byte", POST, b" "), 408, REQUEST_S),
                (SlowClient(client, "a second request byte by byte", GET[:20], b"x", reads_first=True), 408, REQUEST_S),
                (SlowClient(client, "not a byte", b"", b""), None, REQUEST_S)]
        if IS_LONG:
            told.append((SlowClient(client, "nothing after an answer", b"", b"", reads_first=True), None, 75))
        for slow, _, _ in told:
            slow.start()
        for slow, _, _ in told:
            while slow.is_alive():
                self.expect_answer(client)
                slow.join(1)
        for slow, status, seconds in told:
            self.assertIsNotNone(slow.said, f"{slow.what}: it was never let go")
            self.assertEqual(status_of(slow.said), status, (slow.what, slow.said))
            self.assertGreater(slow.seconds, seconds - 5, slow.what)
            self.assertLess(slow.seconds, seconds + LATE_S, slow.what)
        self.expect_answer(client)

    def test_readers_that_stop_cost_no_memory(self):
        large = random.Random(1).randbytes(LARGE_BYTES)
        project = self.project({"large.txt": large, "a.txt": "a"}, [COPY])
        client = self.serve_http(project, "--metrics", "127.0.0.1:0")
        metrics = f"http://{read_file(os.path.join(project, '.galley/state/metrics-address')).decode().strip()}/metrics"
        session = self.session(client, platform="pc")["session"]
        faces = [f"/v1/sessions/{session}/Game/large.txt", "/v1/pc/Game/large.txt", f"/v1/blob/{hashlib.sha256(large).hexdigest()}/{len(large)}"]
        for face in faces:
            self.assertTrue(self.get_ready(client, face).body == large, face)
        self.expect_answer(client)
        had = descriptors(self.process), resident_bytes(self.process)
        connections = []
        for number in range(STOPPED_READERS):
            connection = connect_raw(client, LIMIT_S)
            self.addCleanup(connection.close)
            fields = b"Range: bytes=0-33554431,33554433-67108863\r\n" if number % 4 == 3 else b""
            connection.sendall(f"GET {faces[number % 3]} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n".encode() + fields + b"\r\n")
            connections.append((connection, connection.recv(1000)))

        def sent():
            return read_metrics(metrics).value("galley_http_sent_bytes_total")

        def has_stopped():
            before = sent()
            time.sleep(0.3)  # nothing says that a socket is full
            return sent() == before
        wait_until(has_stopped, "all that the sockets take to be sent", 30)
        self.expect_answer(client)
        if not IS_SANITIZED:
            self.assertLess(resident_bytes(self.process), had[1] + LARGE_BYTES // 2, f"{STOPPED_READERS} readers stopped; before: {had[1]}")
        connection, head = connections[0]
        said = head + read_to_end(connection)
        self.assertEqual(status_of(said), 200)
        self.assertTrue(said.partition(b"\r\n\r\n")[2] == large)
        if IS_LONG:
            wait_until(lambda: self.status(project)["devices"]["connections"] == 0, "readers to be let go that take nothing for a minute", 60 + LATE_S)
        for connection, _ in connections:
            connection.close()
        wait_until(lambda: self.status(project)["devices"]["connections"] == 0, "all connections to end", 30)
        wait_until(lambda: descriptors(self.process) <= had[0] + 4, f"{had[0]} descriptors, as before", 30)

    def serve_limited(self, project):
        """A director that may open few files."""
        command = ["sh", "-c", f'ulimit -n {DESCRIPTORS}; exec "$@"', "sh", os.path.join(self.bin, "galley"), "serve", "--detach", "--http",
                   "127.0.0.1:0", "--workers", "1", "--project", project]
        done = subprocess.run(command, cwd=self.dir, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=LIMIT_S)
        self.addCleanup(lambda: self.galley("serve", "--stop", "--project", project))
        self.assertEqual(done.returncode, 0, done.stderr)
        return Http(read_file(os.path.join(project, ".galley/state/http-url")).decode().strip())

    def test_idle_connections_make_room_for_others(self):
        project = self.project({"a.txt": "a", "0.slow": "slow"}, [SLOW.replace("sleep 1", "sleep 4"), COPY])
        client = self.serve_limited(project)
        session = self.session(client, platform="pc")["session"]
        self.get_ready(client, "/v1/pc/Game/a.txt")
        changes = Changes(client, session)
        self.addCleanup(changes.close)
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(client.get("/v1/pc/Game/0.slow.out")))
        waiting.start()
        self.wait_until(lambda: self.status(project)["devices"]["connections"] >= 2)
        idle = [connect_raw(client, LIMIT_S) for _ in range(FLOOD)]
        for connection in idle:
            connection.setblocking(False)
            self.addCleanup(connection.close)
        self.expect_answer(client)
        most = DESCRIPTORS // 2
        wait_until(lambda: sum(self.is_closed(connection) for connection in idle) >= FLOOD - most, f"all but {most} to be closed", 15)
        self.assertLessEqual(self.status(project)["devices"]["connections"], most)
        # Who waits for a cook, and who listens, is not idle.
        waiting.join(LIMIT_S)
        self.assertEqual([answer.status for answer in answers], [200], answers)
        self.write("game/content/a.txt", "b")
        changes.wait_for(lambda data: any(entry["path"] == "Game/a.txt" for entry in data.get("modified", [])), "the edit")
        for connection in idle:
            connection.close()
        changes.close()
        wait_until(lambda: self.status(project)["devices"]["connections"] == 0, "all connections to end", 30)

    @staticmethod
    def is_closed(connection):
        try:
            return connection.recv(1) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True


if __name__ == "__main__":
    unittest.main()
