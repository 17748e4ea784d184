#!/usr/bin/env python3
"""Two hundred clients read, wait, leave and listen while workers and the director are killed: no wrong byte, no request that hangs, nothing left.

A plain run lasts some seconds; `--long` (or GALLEY_LONG=1) a minute, and GALLEY_CHAOS_SECONDS says otherwise. A seed is printed;
GALLEY_SEED=<seed> draws the same requests again, though not the same interleaving.
"""
import collections, contextlib, http.client, json, os, random, shutil, socket, struct, sys, threading, time, unittest

if "--long" in sys.argv:
    sys.argv.remove("--long")
    os.environ["GALLEY_LONG"] = "1"

from device_case import DATA, IS_LONG, IS_SANITIZED, DeviceCase, connect_raw, descriptors, digest_of, read_to_end, status_of, threads
from edited_project import cbor
from harness import BIN, is_running, kill, parent_of, processes_below, wait_until

SECONDS = float(os.environ.get("GALLEY_CHAOS_SECONDS") or (60 if IS_LONG else 10))
CLIENTS = 200
PAUSE_S = 0.6  # at most, between two requests of a client
NOTES = 3000 if IS_LONG else 200
RECORDS = 1000 if IS_LONG else 200
# A request says that it waits for 20 s. One that is not answered long after that has hung.
WAIT_S = 20
HANG_S = 180 if IS_SANITIZED else 60
# Jobs are short and kills rare, so that no package is met three times by accident and quarantined, nearly always.
KILL_EVERY_S, DIRECTOR_EVERY_S = 0.5, 3.5
NOTE = 'match = "/Game/**/*.note"\ncooker = "command"\nsettings = { argv = ["/bin/sh", "-c", "sleep 0.02; cp $0 $1", "{input}", "{output:.out}"], ' \
       'outputs = [".out"] }'
COPIED = 'match = "/Game/**/*.{txt,bin}"\ncooker = "copy"'
# Not ready; in time; a session of an older world; machines that failed.
NO_FILE = (503, 504, 409, 500)


def quiet_port(rng):
    """A free port that no client is given by chance, so that it is free for the next director, too."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        first = int(file.read().split()[0])
    while True:
        port = rng.randrange(5_000, min(first, 32_000))
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue


class Crowd:
    """What the clients share."""

    def __init__(self, http, files, seed):
        self.http, self.files, self.seed = http, files, seed
        self.paths = sorted(files)
        self.over = threading.Event()
        self.times_down = 0  # odd: the director is being killed and started again
        self.wrong, self.counts, self.quarantined = [], collections.Counter(), set()
        self.tags = {}  # path -> the last tag that somebody was told; shared, so that some are known in a short run

    def was_up_since(self, times_down):
        return times_down == self.times_down and times_down % 2 == 0


class Client(threading.Thread):
    """One client: a request after the other, each of a kind at random."""

    KINDS = {"read_present": 8, "read_in_session": 8, "read_range": 2, "read_known": 2, "read_root": 2, "read_blob": 2, "read_on_one_connection": 2,
             "leave": 6, "listen": 2, "close_session": 1}

    def __init__(self, crowd, number):
        super().__init__(name=f"client {number}", daemon=True)
        self.crowd, self.http, self.rng = crowd, crowd.http, random.Random(f"{crowd.seed} {number}")
        self.session, self.root = None, None

    def run(self):
        while not self.crowd.over.wait(self.rng.uniform(0, PAUSE_S)):
            kind = self.rng.choices(list(self.KINDS), self.KINDS.values())[0]
            times_down, begun = self.crowd.times_down, time.monotonic()
            try:
                getattr(self, kind)()
            except TimeoutError as error:
                self.tell(f"{kind} hung: {error}")
            except (OSError, http.client.HTTPException) as error:
                self.crowd.counts["cut off"] += 1
                if self.crowd.was_up_since(times_down):
                    self.tell(f"{kind} was cut off though the director lived: {type(error).__name__}: {error}")
            except Exception as error:
                self.tell(f"{kind}: {type(error).__name__}: {error}")
            if time.monotonic() - begun > HANG_S:
                self.tell(f"{kind} took {time.monotonic() - begun:.0f} s")

    def tell(self, text):
        self.crowd.wrong.append(f"{self.name}: {text}")

    def ask(self, method, path, body=None, connection=None, **fields):
        """The answer (status, fields, body), with a limit of time that the other tests' client does not have."""
        own = connection or http.client.HTTPConnection(self.http.host, timeout=HANG_S)
        try:
            own.request(method, path, body, {"Prefer": f"wait={WAIT_S}", **{name.replace("_", "-"): value for name, value in fields.items()}})
            response = own.getresponse()
            return response.status, response.headers, response.read()
        finally:
            if connection is None:
                own.close()

    def some_path(self):
        return self.rng.choice(self.crowd.paths)

    def check(self, url, path, answer):
        """True: the whole file came, and is right. False: there is a reason why it did not come."""
        status, fields, body = answer
        self.crowd.counts[status] += 1
        if status == 200:
            assert body == self.crowd.files[path], f"{url}: wrong bytes: {digest_of(body)}, expected {digest_of(self.crowd.files[path])}"
            return True
        if status == 422 and json.loads(body).get("cause") == "package":
            self.crowd.quarantined.add(path)  # its executor was killed again and again
            return False
        assert status in NO_FILE, f"{url}: {status} {body[:500]!r}"
        assert status != 503 or fields["Retry-After"], f"{url}: 503 without Retry-After: {body[:500]!r}"
        return False

    def open_session(self):
        """False: there is none now."""
        if self.session is None:
            status, _, body = self.ask("POST", "/v1/sessions", b'{"platform": "pc"}', Content_Type="application/json")
            assert status in (201, 503), (status, body)
            self.session = json.loads(body)["session"] if status == 201 else None
        return self.session is not None

    # --- kinds of requests

    def read_present(self):
        path = self.some_path()
        self.check(path, path, self.ask("GET", f"/v1/pc/{path}"))

    def read_in_session(self):
        """A session outlives its director, so its files are never absent."""
        if not self.open_session():
            return
        path = self.some_path()
        url = f"/v1/sessions/{self.session}/{path}"
        answer = self.ask("GET", url)
        if self.check(url, path, answer):
            self.root = answer[1]["Galley-Root"], path

    def read_range(self):
        path = self.some_path()
        data = self.crowd.files[path]
        first = self.rng.randrange(len(data))
        last = self.rng.randrange(first, len(data) + 100)
        answer = self.ask("GET", f"/v1/pc/{path}", Range=f"bytes={first}-{last}")
        if answer[0] != 206:
            return self.check(path, path, answer)
        self.crowd.counts[206] += 1
        assert answer[2] == data[first:last + 1], f"{path} {first}-{last}: wrong bytes: {len(answer[2])} of them"

    def read_known(self):
        path = self.some_path()
        status, fields, body = self.ask("GET", f"/v1/pc/{path}", If_None_Match=self.crowd.tags.get(path, '"none"'))
        if status == 304:
            self.crowd.counts[304] += 1
            assert path in self.crowd.tags and body == b"", path
        elif self.check(path, path, (status, fields, body)):
            self.crowd.tags[path] = fields["ETag"]

    def read_root(self):
        if self.root is not None:
            root, path = self.root
            url = f"/v1/root/{root}/static/{path}"
            answer = self.ask("GET", url)
            # What the cache had for a session of an older world is not in its root.
            if answer[0] != 404 or b"not cooked yet in the root" not in answer[2]:
                self.check(url, path, answer)

    def read_blob(self):
        path = self.some_path()
        answer = self.ask("GET", f"/v1/blob/{digest_of(self.crowd.files[path])}")
        if answer[0] != 404:  # it was not cooked yet
            self.check(f"the blob of {path}", path, answer)

    def read_on_one_connection(self):
        with contextlib.closing(http.client.HTTPConnection(self.http.host, timeout=HANG_S)) as connection:
            for path in (self.some_path(), self.some_path(), self.some_path()):
                self.check(path, path, self.ask("GET", f"/v1/pc/{path}", connection=connection))

    def leave(self):
        """Somebody who asks, and does not wait for the answer, in all the ways in which connections end."""
        how = self.rng.choice(["close", "reset", "half-closed", "half a request"])
        path = self.some_path()
        request = f"GET /v1/pc/{path} HTTP/1.1\r\nHost: localhost\r\nPrefer: wait={WAIT_S}\r\n\r\n".encode()
        with connect_raw(self.http, HANG_S) as connection:
            connection.sendall(request[:len(request) // 2] if how == "half a request" else request)
            self.crowd.over.wait(self.rng.uniform(0, 0.05))
            if how == "half-closed":
                connection.shutdown(socket.SHUT_WR)
                said = read_to_end(connection)  # nothing, or the answer that was under way
                if status_of(said) == 200:
                    body = said.partition(b"\r\n\r\n")[2]
                    assert self.crowd.files[path].startswith(body), f"{path}: wrong bytes behind a half-closed connection"
            elif how == "reset":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.crowd.counts[how] += 1

    def listen(self):
        if not self.open_session():
            return
        request = f"GET /v1/sessions/{self.session}/changes HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        with connect_raw(self.http, HANG_S) as connection:
            connection.sendall(request)
            status = status_of(connection.recv(1 << 16))
            assert status in (200, 503, None), f"{self.session}: a stream of changes is {status}"
            self.crowd.counts["listened"] += status == 200
            self.crowd.over.wait(self.rng.uniform(0, 1))

    def close_session(self):
        if self.session is None:
            return
        # Where the answer is cut off, nobody knows whether it is closed.
        session, self.session, self.root = self.session, None, None
        status, _, body = self.ask("DELETE", f"/v1/sessions/{session}")
        assert status in (204, 503), (session, status, body)
        if status == 503:
            self.session = session


class DeviceChaosTest(DeviceCase):
    def setUp(self):
        super().setUp()
        # Programs of its own, so that its processes can be told from all others.
        self.bin = self.path("bin")
        os.mkdir(self.bin)
        for name in ("galley", "galley-worker"):
            shutil.copy(os.path.join(BIN, name), self.bin)
        self.addCleanup(lambda: [kill(pid) for pid in processes_below(self.dir)])

    def world(self, rng):
        """The project, and {path: bytes} of all that devices ask for. The files below edited/ change all the time; nobody asks for them."""
        files, cooked = {}, {}
        for number in range(NOTES):
            files[f"note{number}.note"] = cooked[f"Game/note{number}.note.out"] = rng.randbytes(rng.choice([10, 3_000, 40_000]))
        for number in range(RECORDS):
            files[f"record{number}.json"], cooked[f"Game/record{number}.json.cbor"] = f'{{"v": {number}}}', cbor(number)
        for name, size in (("small.txt", 500), ("large.bin", 3 << 20)):
            files[name] = cooked[f"Game/{name}"] = rng.randbytes(size)
        files["edited/0.txt"] = "0"
        return self.project(files, [NOTE, DATA, COPIED]), cooked

    # --- what is killed

    def of_role(self, role):
        return sorted(pid for pid, command in processes_below(self.bin).items() if role in command[1:2])

    def victims(self, role):
        """Executors, or workers that have one: where five workers in a row die before they attach, no further one would start for a while."""
        executors = self.of_role("executor")
        at_work = {parent_of(pid) for pid in executors}
        return executors if role == "executor" else [pid for pid in self.of_role(role) if pid in at_work]

    def restart(self, crowd, project, address):
        """The director is killed, and another one takes its place at the same address."""
        crowd.times_down += 1
        kill(self.process)
        wait_until(lambda: not is_running(self.process), "the director to be gone")
        self.serve_http(project, "--workers", "2", address=address)
        self.get_ready(crowd.http, "/v1/pc/Game/small.txt")
        crowd.times_down += 1

    def kill_and_edit(self, crowd, project, address, rng):
        """Until the time is over. Returns how many of each kind were killed."""
        killed, begun, turn = collections.Counter(), time.monotonic(), 0
        next_director = begun + DIRECTOR_EVERY_S
        while time.monotonic() < begun + SECONDS and not crowd.wrong:
            crowd.over.wait(KILL_EVERY_S)
            turn += 1
            self.write(f"game/content/edited/{turn % 5}.txt", f"{turn}")
            role = ("executor", "session")[turn % 2]
            victims = self.victims(role)
            if victims:
                kill(rng.choice(victims))
                killed[role] += 1
            if time.monotonic() > next_director:
                self.restart(crowd, project, address)
                killed["director"] += 1
                next_director = time.monotonic() + DIRECTOR_EVERY_S
        return killed

    # --- what must be so at the end

    def expect_all_files(self, crowd, project):
        """A package that was quarantined is tried again when its file changes."""
        for path in sorted(crowd.quarantined):
            name = path.removeprefix("Game/").removesuffix(".out").removesuffix(".cbor")
            crowd.files[path] += b"" if name.endswith(".json") else b"changed"
            self.write(f"game/content/{name}", f" {self.read(f'game/content/{name}').decode()}" if name.endswith(".json") else crowd.files[path])
        for path, data in crowd.files.items():
            def is_there():
                answer = crowd.http.get(f"/v1/pc/{path}")
                return answer.status == 200 and answer.body == data
            wait_until(is_there, f"{path} to be there when nobody is killed any more", 60)

    def idle(self, project):
        """Nobody is connected, and no worker has a job."""
        status = self.status(project)
        return (status["devices"]["connections"], status["devices"]["streams"], sum(worker["jobs"] for worker in status["workers"]), len(status["cooks"]))

    def wait_for_idle(self, project):
        try:
            wait_until(lambda: self.idle(project) == (0, 0, 0, 0), "nothing to be left", 60)
        except AssertionError:
            self.fail(f"connections, streams, jobs and cooks that are left: {self.idle(project)}\n{self.status(project)}")

    def wait_for_size(self, had):
        """Each worker that was killed leaves a segment of the store, which may be open; a leak would be one for each of the requests."""
        def now():
            return descriptors(self.process), threads(self.process)
        try:
            wait_until(lambda: now()[0] <= had[0] + 64 and now()[1] <= had[1] + 16, "descriptors and threads to go", 30)
        except AssertionError:
            self.fail(f"descriptors and threads: {now()}, and {had} before")

    def wait_for_end(self):
        """Workers whom no director takes end by themselves after 20 s."""
        try:
            wait_until(lambda: not processes_below(self.dir), "all processes to end", 40)
        except AssertionError:
            self.fail(f"processes that are left: {processes_below(self.dir)}")

    def test_two_hundred_clients_while_everything_dies(self):
        seed = self.seed()
        rng = random.Random(seed)
        project, cooked = self.world(rng)
        address = f"127.0.0.1:{quiet_port(rng)}"
        http_client = self.serve_http(project, "--workers", "2", address=address)
        session = self.session(http_client, platform="pc")["session"]
        for face in ("/v1/pc/", f"/v1/sessions/{session}/"):
            for path in ("Game/large.bin", "Game/small.txt", "Game/record0.json.cbor"):
                self.assertEqual(self.get_ready(http_client, face + path).body, cooked[path])
        self.wait_for_idle(project)
        had = descriptors(self.process), threads(self.process)

        crowd = Crowd(http_client, cooked, seed)
        clients = [Client(crowd, number) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        try:
            killed = self.kill_and_edit(crowd, project, address, rng)
        finally:
            crowd.over.set()
            until = time.monotonic() + 2 * HANG_S
            for client in clients:
                client.join(max(0, until - time.monotonic()))
        told = f"seed {seed}, killed {dict(killed)}, answers {dict(crowd.counts)}, quarantined {sorted(crowd.quarantined)}"
        print(told, end=" ", file=sys.stderr, flush=True)
        self.assertEqual([client.name for client in clients if client.is_alive()], [], f"they hang; {told}")
        self.assertEqual(crowd.wrong[:5], [], f"{len(crowd.wrong)} are wrong; {told}")
        for what in (200, 206, 304, "close", "reset", "half-closed", "half a request", "listened"):
            self.assertGreater(crowd.counts[what], 0, f"nobody met {what}: the test says little; {told}")
        for what in ("executor", "session", "director"):
            self.assertGreater(killed[what], 0, told)

        self.expect_all_files(crowd, project)
        for client in clients:
            client.close_session()
        self.assertEqual(http_client.ask("DELETE", f"/v1/sessions/{session}").status, 204)
        self.wait_for_idle(project)
        self.wait_for_size(had)
        self.stop(project)
        self.wait_for_end()


if __name__ == "__main__":
    unittest.main()
