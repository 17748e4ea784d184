#!/usr/bin/env python3
"""`galley device` against a real director: files, copies of the tree, changes; and a phone, which is another network namespace here: by its own
loopback, as `adb reverse` makes it, and by the network, with TLS and a token."""
import json, os, random, re, shutil, signal, subprocess, sys, threading, time, unittest

from device_case import digest_of
from device_tree_test import Everything, TreeCase
from harness import COPY, LIMIT_S, SLOW, SOURCE, read_file

PHONE, NET = "galley-phone", "10.213.98"
# Runs on both sides of a phone's cable: what connects to the first address is carried to the second one. A Unix socket crosses network namespaces.
CARRY = """
import socket, sys, threading

def opened(address, listens):
    kind = socket.AF_UNIX if address.startswith("/") else socket.AF_INET
    place = address if kind == socket.AF_UNIX else ("127.0.0.1", int(address))
    one = socket.socket(kind)
    if listens:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(place)
        one.listen(64)
    else:
        one.connect(place)
    return one

def carry(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for one in (source, target):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

listener = opened(sys.argv[1], True)
print("ready", flush=True)
while True:
    near, far = listener.accept()[0], opened(sys.argv[2], False)
    for source, target in ((near, far), (far, near)):
        threading.Thread(target=carry, args=(source, target), daemon=True).start()
"""


def ip(*args):
    return subprocess.run(["ip", *map(str, args)], capture_output=True, text=True)


def why_no_namespaces():
    """Empty: a phone can be made."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        return "needs root and iproute2, for a network namespace in place of a phone"
    made = ip("netns", "add", "galley-phone-try")
    ip("netns", "del", "galley-phone-try")
    return "" if made.returncode == 0 else f"no network namespace can be made in place of a phone: {made.stderr.strip()}"


class DeviceCommandCase(TreeCase):
    def setUp(self):
        super().setUp()
        self.inside = []  # a command before `galley device`

    def command(self, what, url, *args):
        return [*self.inside, os.path.join(self.bin, "galley"), "device", what, url, *map(str, args), "--cache", self.path("cache")]

    def device(self, what, url, *args, expect=0, env=None):
        """What is printed, as bytes; `said` has what was said on standard error."""
        done = subprocess.run(self.command(what, url, *args), capture_output=True, timeout=LIMIT_S, cwd=self.dir, env={**os.environ, **(env or {})})
        self.said = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, expect, (done.stdout[:2000], self.said))
        return done.stdout

    def sync(self, url, platform, *args, expect=0):
        """The report of a sync to `copy`."""
        lines = [json.loads(line) for line in self.device("sync", url, platform, self.path("copy"), *args, "--json", expect=expect).splitlines()]
        self.events = lines[:-1]
        self.assertEqual(lines[-1]["event"], "synced")
        return lines[-1]

    def told(self, kind):
        return sorted(event["path"] for event in self.events if event["event"] == kind)

    def files_copied(self):
        """Paths in the copy, also while a sync makes it."""
        found = {os.path.relpath(os.path.join(folder, name), self.path("copy")) for folder, _, names in os.walk(self.path("copy")) for name in names}
        return found - {".galley-sync"}

    def copied(self):
        """{path: digest} of the copy."""
        return {path: digest_of(read_file(self.path("copy", path))) for path in self.files_copied()}

    def small_project(self, **more):
        files = {"a.txt": "a", "b.txt": "b", "maps/c.txt": "c", "maps/d.txt": "d"}
        return self.project(files, [COPY, SLOW, 'match = "/Game/**/*.json"\ncooker = "data"'], **more)


class DeviceCommandTest(DeviceCommandCase):
    def test_a_copy_of_the_sample_is_its_tree(self):
        project = self.sample()
        expected = {path: file[0] for path, file in self.book(project, "deck")["deck"].items()}
        client = self.serve_http(project, "--workers", "2")
        report = self.sync(client.url, "deck")
        found = self.copied()  # and what no map of [cook] leads to
        self.assertEqual({path: found.get(path) for path in expected}, expected)
        self.assertEqual((report["files"], report["failed"]), (len(found), 0), self.events)
        path = next(path for path in sorted(expected) if path.endswith(".ktx2"))
        self.assertEqual(digest_of(self.device("get", client.url, "deck", path)), expected[path])
        listed = [json.loads(line) for line in self.device("ls", client.url, "deck", "--recursive", "--json").splitlines()]
        self.assertEqual({entry["path"] for entry in listed if not entry["folder"]}, set(found))
        again = self.sync(client.url, "deck")
        self.assertEqual((again["files"], again["written"], again["removed"], again["foreign"]), (len(found), 0, 0, 0))

    def test_a_copy_follows_the_edits_of_a_project_with_one_of_everything(self):
        rng = random.Random(self.seed())
        everything = Everything(self, rng)
        project = self.path("game")
        client = self.serve_http(project, "--workers", "2")
        self.sync(client.url, "pc")
        for round in range(3):
            if round == 1:  # a package goes, and its folder `.d` with it
                self.assertTrue(os.path.isdir(self.path("copy/Game/meshes/pillar.glb.d")))
                for name in ("pillar.glb", "pillar.glb.cook"):
                    os.remove(self.path(f"game/content/meshes/{name}"))
            names = [os.path.relpath(os.path.join(folder, name), project) for top in ("content", "dlc", "mod")
                     for folder, _, files in os.walk(os.path.join(project, top)) for name in files if name != "fence.png"]
            for name in rng.sample(sorted(names), 12):
                kind = name.rsplit(".", 1)[1]
                if not hasattr(everything, "make_" + kind):
                    continue
                rng.choice([lambda: everything.put(name, kind), lambda: os.remove(self.path(f"game/{name}")),
                            lambda: everything.add("content/" + rng.choice(["", "new/", "props/größe/"]), kind)])()
            # The inputs of generated packages differ, and their generator's list may not.
            for name in names:
                if name.endswith(".level") and os.path.exists(self.path(f"game/{name}")):
                    text = json.loads(self.read(f"game/{name}"))
                    self.write(f"game/{name}", json.dumps({"items": [item | {"item": round + 10} for item in text["items"]]}))
                    break
            self.write("game/content/last.txt", f"round {round}")
            self.wait_until(lambda: client.get("/v1/pc/Game/last.txt").body == f"round {round}".encode())
            report = self.sync(client.url, "pc")
            shutil.rmtree(self.path("book"), ignore_errors=True)
            expected = {path: file[0] for path, file in self.book(project, "pc")["pc"].items()}
            self.assertTrue(any("/_gen/" in path for path in expected))
            self.assertEqual(self.copied(), expected, self.events)
            self.assertEqual((report["files"], report["failed"], report["foreign"]), (len(expected), 0, 0))
            self.assertEqual(self.sync(client.url, "pc")["written"], 0)

    def test_files_and_folders_by_hand(self):
        project = self.small_project()
        self.write("game/content/bad.json", "{")
        url = self.serve_http(project, "--workers", "1").url
        self.assertEqual(self.device("get", url, "pc", "Game/a.txt"), b"a")
        self.assertEqual(self.device("get", url, "pc", "/Game/a.txt", "-o", "out"), b"")
        self.assertEqual(self.read("out"), b"a")
        self.device("get", url, "pc", "Game/b.txt", "-o", "/dev/null")
        self.assertFalse(os.path.isfile("/dev/null"))
        told = json.loads(self.device("get", url, "pc", "Game/a.txt", "-o", "out", "--json"))
        self.assertEqual(told, {"path": "Game/a.txt", "digest": digest_of(b"a"), "size": 1, "last_good": False, "file": self.path("out")})
        self.assertEqual(self.device("ls", url, "pc").split(), [b"Game/"])
        self.assertEqual(self.device("ls", url, "pc", "Game/maps/").split(), [b"Game/maps/c.txt", b"Game/maps/d.txt"])
        self.assertEqual(self.device("ls", url, "pc", "Game/a.txt", "--long").split(), [b"1", b"Game/a.txt"])
        self.assertIn(b"Game/maps/d.txt", self.device("ls", url, "pc", "--recursive").split())
        for args, code, said in ((("get", url, "pc", "Game/none"), 2, "Game/none: there is no such file"),
                                 (("get", url, "pc", "Game"), 2, "Game: it is a folder"),
                                 (("get", url, "pc", "Game/bad.json.cbor"), 1, "bad.json"),
                                 (("get", url, "mars", "Game/a.txt"), 2, "mars"),
                                 (("get", url, "pc", "Game/a.txt", "--json"), 2, "--json needs -o FILE"),
                                 (("get", "127.0.0.1:1", "pc", "Game/a.txt"), 2, "expected http://HOST:PORT"),
                                 (("get", url, "pc", "Game/a.txt", "--pin", "00"), 2, "--ca and --pin are for https://"),
                                 (("get", "https://127.0.0.1:1", "pc", "Game/a.txt", "--pin", "00"), 2, "64 hex digits"),
                                 (("get", url, "pc", "Game/a.txt", "--token-file", "none"), 2, "--token-file"),
                                 (("get", url, "pc", "Game/a.txt", "--cache-size", "much"), 2, "--cache-size much: expected a size"),
                                 (("ls", url, "pc", "Game/none"), 2, "Game/none: there is no such file or folder"),
                                 (("sync", url, "pc", "copy", "Game/none"), 2, "Game/none"),
                                 (("status", "http://127.0.0.1:1"), 3, "127.0.0.1:1")):
            self.device(*args, expect=code)
            self.assertIn(said, self.said, args)
        self.assertIn(f"{url} answers\n".encode(), self.device("status", url))
        status = json.loads(self.device("status", url, "pc", "--json"))
        self.assertTrue(status["answers"])
        self.assertRegex(status["root"], r"^[0-9a-f]{64}/\d+$")
        self.assertGreater(status["cache_files"], 0)

    def test_a_sync_brings_what_changed_and_takes_away_what_it_brought(self):
        project = self.small_project()
        url = self.serve_http(project, "--workers", "1").url
        files = {"Game/a.txt": b"a", "Game/b.txt": b"b", "Game/maps/c.txt": b"c", "Game/maps/d.txt": b"d"}
        self.assertEqual(self.sync(url, "pc")["written"], 4)
        self.assertEqual(self.copied(), {path: digest_of(data) for path, data in files.items()})
        report = self.sync(url, "pc")
        self.assertEqual((report["files"], report["written"], report["removed"]), (4, 0, 0))

        self.write("game/content/a.txt", "a, edited")
        self.write("game/content/new.txt", "new")
        os.remove(self.path("game/content/maps/c.txt"))
        os.remove(self.path("game/content/maps/d.txt"))
        self.write("copy/Game/mine.txt", "mine")
        self.write("copy/Game/maps/d.txt", "my d")
        self.wait_until(lambda: self.device("get", url, "pc", "Game/a.txt") == b"a, edited")
        self.wait_until(lambda: self.sync(url, "pc")["files"] == 3)
        report = self.sync(url, "pc")
        self.assertEqual((report["written"], report["removed"], report["foreign"]), (0, 0, 2))
        kept = {"Game/a.txt": b"a, edited", "Game/b.txt": b"b", "Game/new.txt": b"new", "Game/mine.txt": b"mine", "Game/maps/d.txt": b"my d"}
        self.assertEqual(self.copied(), {path: digest_of(data) for path, data in kept.items()})

        self.write("game/content/bad.json", "{")
        self.wait_until(lambda: b"bad.json.cbor" in self.device("ls", url, "pc", "Game"))
        self.assertEqual(self.sync(url, "pc", expect=1)["failed"], 1)
        self.assertEqual(self.told("failed"), ["Game/bad.json.cbor"])
        self.device("sync", url, "pc", self.path("copy"), expect=1)
        self.assertIn("failed  Game/bad.json.cbor: ", self.said)
        self.assertEqual(self.sync(url, "pc", "Game/b.txt", "Game/new.txt")["files"], 2)
        self.assertEqual(self.copied(), {path: digest_of(data) for path, data in kept.items()}, "what was not asked for stays")

    def test_a_sync_that_is_stopped_or_killed_is_gone_on_with(self):
        project = self.slow_project(40)
        self.write("game/content/a.txt", "a")
        url = self.serve_http(project, "--workers", "1").url
        self.assertEqual(self.sync(url, "pc", "Game/a.txt")["written"], 1)
        for stop, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 130)):
            had = len(self.copied())
            running = subprocess.Popen(self.command("sync", url, "pc", self.path("copy")), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.wait_until(lambda: len(self.files_copied()) > had + 1 or running.poll() is not None)
            running.send_signal(stop)
            said = running.communicate(timeout=LIMIT_S)[1]
            self.assertEqual(running.returncode, code, said)
            self.assertIn("Game/a.txt", self.copied(), "nothing is removed")
        self.assertEqual(self.sync(url, "pc")["files"], 41)
        self.assertEqual(self.copied(), {"Game/a.txt": digest_of(b"a"), **{f"Game/{i}.slow.out": digest_of(f"game {i}".encode()) for i in range(40)}})
        self.assertEqual([name for name in os.listdir(self.path("copy")) if name != "Game"], [".galley-sync"])
        self.assertEqual(self.sync(url, "pc")["written"], 0)

    def test_changes_are_printed_until_ctrl_c(self):
        project = self.small_project()
        url = self.serve_http(project, "--workers", "1").url
        self.device("get", url, "pc", "Game/a.txt")
        watching = subprocess.Popen(self.command("watch", url, "pc", "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(watching.kill)
        patience = threading.Timer(LIMIT_S, watching.kill)
        patience.start()
        self.addCleanup(patience.cancel)
        # It may not watch yet when it was started.
        edits = threading.Event()
        self.addCleanup(edits.set)

        def edit():
            count = 0
            while not edits.wait(0.5):
                count += 1
                self.write("game/content/a.txt", f"edit {count}")

        editing = threading.Thread(target=edit)
        editing.start()
        changes = []
        for line in watching.stdout:
            changes.append(json.loads(line))
            if changes[-1]["path"] == "Game/a.txt":
                break
        edits.set()
        editing.join()
        self.assertIn(changes[-1]["event"], ("modified", "stale"), changes)
        watching.send_signal(signal.SIGINT)
        out, said = watching.communicate(timeout=LIMIT_S)
        self.assertEqual(watching.returncode, 0, said)


@unittest.skipIf(why_no_namespaces(), why_no_namespaces())
class PhoneTest(DeviceCommandCase):
    def setUp(self):
        super().setUp()
        self.end()
        self.addCleanup(self.end)
        self.do("netns", "add", PHONE)
        self.do("link", "add", "galley-wifi", "type", "veth", "peer", "name", "wlan0", "netns", PHONE)
        self.do("addr", "add", f"{NET}.1/24", "dev", "galley-wifi")
        self.do("link", "set", "galley-wifi", "up")
        self.do("-n", PHONE, "addr", "add", f"{NET}.2/24", "dev", "wlan0")
        for device in ("wlan0", "lo"):
            self.do("-n", PHONE, "link", "set", device, "up")
        self.inside = ["ip", "netns", "exec", PHONE]

    def do(self, *args):
        done = ip(*args)
        self.assertEqual(done.returncode, 0, done.stderr)

    def end(self):
        ip("netns", "del", PHONE)
        ip("link", "del", "galley-wifi")

    def carry(self, source, target, inside=()):
        process = subprocess.Popen([*inside, sys.executable, "-c", CARRY, source, target], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")

    def test_by_its_cable(self):
        url = self.serve_http(self.small_project(), "--workers", "1").url
        port = url.rsplit(":", 1)[1]
        self.device("status", url, "pc", expect=3)  # the loopback of the phone is another one
        self.carry(self.path("cable"), port)  # adb's server
        self.carry("8080", self.path("cable"), self.inside)  # adbd, after `adb reverse tcp:8080 tcp:<port>`
        self.assertEqual(self.device("get", "http://127.0.0.1:8080", "pc", "Game/a.txt"), b"a")
        self.assertEqual(self.sync("http://127.0.0.1:8080", "pc")["written"], 4)

    def test_by_the_network(self):
        certs = self.path("certs")
        done = subprocess.run([os.path.join(SOURCE, "deploy/dev-certs"), certs, f"{NET}.1"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done)
        farm = f'[farm]\ntls_cert = "{certs}/director.pem"\ntls_key = "{certs}/director.key"\n'
        project = self.small_project(extra=farm)
        url = self.serve_http(project, "--workers", "1", address=f"{NET}.1:0").url
        token = os.path.join(project, ".galley/state/http-token")
        pin = subprocess.run(["openssl", "x509", "-in", f"{certs}/director.pem", "-noout", "-fingerprint", "-sha256"], capture_output=True, text=True).stdout
        pin = pin.strip().partition("=")[2]
        self.assertRegex(pin, r"^([0-9A-F]{2}:){31}[0-9A-F]{2}$")
        self.assertEqual(self.device("get", url, "pc", "Game/a.txt", "--pin", pin, "--token-file", token), b"a")
        self.assertEqual(self.device("get", url, "pc", "Game/b.txt", "--ca", f"{certs}/ca.pem", env={"GALLEY_DEVICE_TOKEN": read_file(token).decode().strip()}), b"b")
        self.assertEqual(self.sync(url, "pc", "--pin", pin, "--token-file", token)["written"], 4)
        self.assertEqual(len(self.copied()), 4)
        wrong = self.write("wrong", "x" * 40)
        for args, code, said in ((("--pin", pin), 2, "token"), (("--pin", pin, "--token-file", wrong), 2, "token"),
                                 (("--token-file", token), 3, "not of an authority that is trusted here"),
                                 (("--pin", pin.translate(str.maketrans("0123456789", "1234567890")), "--token-file", token), 3,
                                  "the certificate is not the pinned one: expected ")):
            self.device("status", url, "pc", *args, expect=code)
            self.assertIn(said, self.said, args)
        plain = url.replace("https://", "http://")
        self.device("status", plain, "pc", "--token-file", token, expect=3)
        self.assertNotIn(read_file(token).decode().strip(), self.said)


if __name__ == "__main__":
    unittest.main()
