"""A worker and clients that mean harm, frame by frame: what they send is refused, and the cook that runs beside comes to its root."""
import json, os, re, socket, ssl, subprocess, unittest

from farm.farm_test import DATA, LISTEN, FarmCase
from harness import COPY, SLOW, SOURCE, wait_until
from raw_grpc import DATA as DATA_FRAME
from raw_grpc import Client, digest_of, field, fields_of, frame

with open(f"{SOURCE}/common/wire/worker_protocol.h") as header:
    PROTOCOL = int(re.search(r"kWorkerProtocol = (\d+);", header.read())[1])
DIRECTOR, RESIDENT = "/galley.v1.Director/", "/galley.v1.Resident/"
CALLS = [DIRECTOR + name for name in ("Attach", "Ask", "Fetch", "FindMissing", "Upload", "Enroll", "Renew")] + \
        [RESIDENT + name for name in ("Hello", "Cook", "Follow", "Cancel", "Status", "Drain", "Clean", "Stop")]
GARBAGE = [b"\xff" * 100, b"\x0a\xff\xff\xff\xff\x0f", os.urandom(4096), b"\x0a" * 50_000, field(3, field(3, b"\xff\xfe")), b""]


def hello(token, name, cookers=b"[]", slots=1, machine="evil", session=1):
    said = field(1, PROTOCOL) + field(2, token) + field(3, name) + field(4, machine) + field(5, slots) + field(6, 1) + field(7, cookers) + field(10, 1) + field(11, session)
    return field(1, 1) + field(3, said)


class HostileWorkerTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.game = self.project({f"{i}.json": json.dumps({"x": i}) for i in range(8)} | {"c.txt": "text"}, [DATA, COPY], extra=LISTEN)
        self.write("game/.env", "secret")
        self.serve(self.game)
        self.begun = self.start_cook(self.game)
        host, port = self.address_of(self.game).split(":")
        self.address = (host, int(port))
        self.token = self.read("game/.galley/state/farm-token").decode().strip()
        self.cookers = subprocess.run([os.path.join(self.bin, "galley-worker"), "describe"], capture_output=True, check=True).stdout.strip()

    def finish(self):
        """A worker that means well comes, and the cook is as it should be."""
        self.worker(self.game, "far-1")
        done = self.finish_cook(self.game, self.begun)
        self.assertEqual((done.code, done.results["failed"]), (0, 0), done)
        self.assertEqual(done.roots, self.local_roots(self.game))

    def client(self):
        client = Client(self.address)
        self.addCleanup(client.close)
        return client

    def caller(self, name="evil", token=None):
        return field(1, field(1, name) + field(2, self.token if token is None else token))

    def attach(self, name="evil", **how):
        """(client, stream, messages) of a worker that is attached; None: it was refused."""
        client = self.client()
        stream = client.open(DIRECTOR + "Attach")
        client.send(stream, hello(self.token, name, **({"cookers": self.cookers} | how)))
        messages = client.messages(stream)
        first = next(messages, None)
        if first is None:
            return None
        self.assertIn(3, dict(fields_of(first)), "the welcome")
        return client, stream, messages

    def job(self, messages):
        """The attempt of its next job."""
        for message in messages:
            for number, value in fields_of(message):
                if number == 5:
                    return dict(fields_of(value))[1]
        self.fail("no job came")

    def test_names_that_are_not_its_own_are_refused(self):
        for name in ("local-1", "../x", "a b", "x" * 300, "", "evil\nworker=far-1 attached", "a@b"):
            self.assertIsNone(self.attach(name), name)
        for slots in (0, 4_000_000_000):
            self.assertIsNone(self.attach(slots=slots), slots)
        self.assertIsNone(self.attach(cookers=b"{" * 100_000))
        self.assertIsNotNone(self.attach())
        self.finish()

    def test_what_is_not_its_own_is_neither_given_nor_taken(self):
        client, stream, messages = self.attach()
        attempt = self.job(messages)
        other = attempt + 1_000_000  # (The next ones may be its own.)
        log = os.path.join(self.game, ".galley/state/logs/director.log")
        # Files that are none of the mounts, or hidden, and attempts of others: not a byte.
        for of, what in ((attempt, field(1, "/etc/passwd")), (attempt, field(1, "/Game/../.env")), (attempt, field(7, ".env")),
                         (attempt, field(7, "/etc/shadow")), (attempt, field(3, "../farm-token")), (other, field(1, "/Game/1.json")),
                         (attempt, field(2, digest_of(b"secret")))):
            answer = self.client().call(DIRECTOR + "Fetch", self.caller() + field(2, what + field(4, of) + field(6, 1 << 40)))
            self.assertIsNotNone(answer, what)
            said = dict(fields_of(answer))
            self.assertNotIn(2, said, (what, said))
            self.assertIn(6, said, "an error")
        # Blobs whose bytes are others, or that come from nobody.
        lie = field(2, digest_of(b"right")) + field(3, b"wrong")
        for caller in (self.caller(), self.caller("far-1"), self.caller(token="none"), self.caller("local-1")):
            self.assertIsNone(self.client().call(DIRECTOR + "Upload", caller + lie))
        missing = self.client().call(DIRECTOR + "FindMissing", self.caller() + field(2, digest_of(b"right")))
        self.assertEqual(missing, field(1, digest_of(b"right")), "nothing was kept")
        # Results for attempts of others, and for keys of others: dropped.
        for i, of in enumerate((other, other + 1, 1, (1 << 63))):
            client.send(stream, field(1, 2 + i) + field(4, field(1, 1 + i) + field(2, of) + field(8, b"")))
        client.send(stream, field(1, 6) + field(4, field(1, 5) + field(2, attempt) + field(4, field(1, 31) + field(4, b"no result"))))
        client.send(stream, field(1, 7) + field(4, field(1, 6) + field(2, attempt) + field(7, field(1, "/etc/passwd"))))
        client.close()
        self.finish()
        self.assertNotIn("secret", open(log).read())

    def test_three_results_that_are_refused_end_a_worker(self):
        client, stream, messages = self.attach()
        log = os.path.join(self.game, ".galley/state/logs/director.log")
        sent = 0
        for message in messages:  # until the director ends the stream
            for number, value in fields_of(message):
                if number == 5 and sent < 9:
                    sent += 1
                    attempt = dict(fields_of(value))[1]
                    wrong = field(4, field(1, 0) + field(4, b"no result"))
                    client.send(stream, field(1, 1 + sent) + field(4, field(1, sent) + field(2, attempt) + wrong))
        with open(log) as file:
            said = file.read()
        self.assertGreaterEqual(len(re.findall(r"worker=evil attempt=\d+ refused: result of /Game/", said)), 3, said)
        self.assertEqual(len(re.findall(r"worker=evil is ended: it broke the protocol 3 times, the last: result of /Game/", said)), 1, said)
        self.assertIsNone(self.attach(), "the same process")
        self.assertIsNotNone(self.attach(session=2), "another one; it waits for jobs")
        self.worker(self.game, "far-1")
        done = self.finish_cook(self.game, self.begun)
        self.assertEqual((done.code, done.results["failed"]), (0, 0), done)
        told = [w["text"] for w in done.summary["warnings"] if "evil" in w["text"]]
        self.assertEqual(len([text for text in told if "was ended: it broke the protocol" in text]), 1, told)

    def test_garbage_and_floods_harm_nobody(self):
        before = self.status(self.game)["process"]
        for call in CALLS:
            for message in GARBAGE:
                self.client().call(call, message)
        # A length that nobody has memory for; a message that is cut off; bytes that are no gRPC.
        for data in (b"\0\xff\xff\xff\xff", b"\0\0\0\x10\0abc", os.urandom(1000)):
            client = self.client()
            stream = client.open(DIRECTOR + "Attach")
            client.socket.sendall(frame(DATA_FRAME, data, stream=stream))
            client.close()
        # Messages as fast as they go, far beyond what may be under way: of who is attached, and of who is not.
        for is_attached in (True, False):
            client, stream, _ = self.attach("flood") if is_attached else (self.client(), None, None)
            stream = stream if stream is not None else client.open(DIRECTOR + "Attach")
            client.socket.settimeout(5)
            try:
                for i in range(20_000):
                    client.send(stream, field(1, 2 + i) + field(4, field(1, 1 + i) + field(2, 1 << 62) + field(8, b"")))
            except (ConnectionError, socket.timeout):
                pass  # (nobody takes more)
            client.close()
        # Streams that say nothing, of many.
        silent = [self.client() for _ in range(20)]
        for client in silent:
            for _ in range(30):
                client.open(DIRECTOR + "Attach")
        self.assertEqual(self.status(self.game)["process"], before)
        self.finish()


class HostileClientTest(FarmCase):
    def begin(self, files, rules):
        self.certs = self.certificates()
        subprocess.run([os.path.join(SOURCE, "deploy/dev-certs"), self.certs, "client=anna", "reader=wall"], check=True, capture_output=True)
        tls = "".join(f'tls_{what} = "{self.certs}/{file}"\n' for what, file in (("ca", "ca.pem"), ("cert", "director.pem"), ("key", "director.key")))
        self.game = self.project(files, rules, extra="[farm]\nworkers = 1\n" + tls)
        self.process = self.serve(self.game, "--listen", "127.0.0.1:0")
        host, port = self.read("game/.galley/state/client-address").decode().strip().split(":")
        self.address = (host, int(port))

    def client(self, who="anna"):
        context = ssl.create_default_context(cafile=f"{self.certs}/ca.pem")
        context.check_hostname = False
        context.load_cert_chain(f"{self.certs}/{who}.pem", f"{self.certs}/{who}.key")
        context.set_alpn_protocols(["h2"])
        client = Client(self.address, wrap=lambda one: context.wrap_socket(one))
        self.addCleanup(client.close)
        return client

    def check(self):
        """It lives, and cooks."""
        self.assertEqual(self.status(self.game)["process"], self.process)
        self.write("game/content/a.json", json.dumps({"x": os.urandom(4).hex()}))
        done = self.cook(self.game)
        self.assertEqual((done.code, done.results["failed"]), (0, 0), done)

    def test_garbage_oversize_and_calls_of_other_roles(self):
        self.begin({"a.json": '{"x": 1}', "c.txt": "text"}, [DATA, COPY])
        self.assertIsNotNone(self.client().call(RESIDENT + "Hello"))
        for who in ("anna", "wall", "worker"):
            for call in CALLS:
                client = self.client(who)
                for message in GARBAGE:
                    try:
                        client.call(call, message)
                    except ConnectionError:
                        client = self.client(who)
        for who in ("anna", "wall"):
            for call in ("Stop", "Drain", "Clean", "Cancel"):
                self.assertIsNone(self.client(who).call(RESIDENT + call), (who, call))
        client = self.client()
        stream = client.open(RESIDENT + "Cook")
        try:
            client.send(stream, b"\x1a" + b"\xff" * (20 << 20))
        except (ConnectionError, socket.timeout, ssl.SSLError):
            pass
        self.check()

    def test_a_thousand_sessions(self):
        """Of clients that say nothing, and of such that follow a cook: the director's own user is not concerned, and others find room again."""
        self.begin({f"{i}.slow": f"{i}" for i in range(60)}, [SLOW])
        cook = self.start_cook(self.game)
        wait_until(lambda: self.status(self.game)["cooks"], "the cook")
        number = self.status(self.game)["cooks"][0]["cook"]
        held = []
        for i in range(40):
            client = self.client("anna")
            for _ in range(30):
                if i % 4 == 0:
                    client.open(RESIDENT + "Cook")  # an ask that never comes
                else:
                    client.begin(RESIDENT + "Follow", field(1, number))
            held.append(client)
        self.assertEqual(self.status(self.game)["process"], self.process)
        self.assertEqual(self.galley("cancel", str(number), "--project", self.game).returncode, 0)
        self.assertEqual(self.finish_cook(self.game, cook).code, 130)
        for client in held:
            client.close()
        wait_until(lambda: self.client("wall").call(RESIDENT + "Hello") is not None, "room for others")
        self.assertEqual(self.status(self.game)["process"], self.process)


if __name__ == "__main__":
    unittest.main()
