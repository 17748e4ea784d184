"""Workers in network namespaces of their own, which share no files and reach the director through TLS only. Needs root: scripts/test --farm."""
import os, re, shutil, signal, subprocess, sys, time, unittest

from farm.farm_test import FarmCase
from harness import wait_until
from farm.launchers_test import Queue

BRIDGE, NET, MACHINES = "galley0", "10.213.97", 3


def ip(*args):
    return subprocess.run(["ip", *map(str, args)], capture_output=True, text=True)


def can_make():
    if os.geteuid() != 0 or not shutil.which("ip"):
        return False
    made = ip("netns", "add", "galley-try").returncode == 0
    ip("netns", "del", "galley-try")
    return made


class Network:
    """A bridge, and a namespace for each machine with a link to it."""
    def __init__(self):
        self.end()
        self.do("link", "add", BRIDGE, "type", "bridge")
        self.do("addr", "add", f"{NET}.1/24", "dev", BRIDGE)
        self.do("link", "set", BRIDGE, "up")
        for i in range(MACHINES):
            self.do("netns", "add", f"galley{i}")
            self.do("link", "add", f"galley-v{i}", "type", "veth", "peer", "name", "eth0", "netns", f"galley{i}")
            self.do("link", "set", f"galley-v{i}", "master", BRIDGE)
            self.do("link", "set", f"galley-v{i}", "up")
            self.do("-n", f"galley{i}", "addr", "add", f"{NET}.{10 + i}/24", "dev", "eth0")
            for device in ("eth0", "lo"):
                self.do("-n", f"galley{i}", "link", "set", device, "up")

    @staticmethod
    def do(*args):
        done = ip(*args)
        if done.returncode != 0:
            raise RuntimeError(f"ip {args}: {done.stderr}")

    def cut(self, machine):
        self.do("link", "set", f"galley-v{machine}", "down")

    def mend(self, machine):
        self.do("link", "set", f"galley-v{machine}", "up")

    def end(self):
        for i in range(MACHINES):
            ip("netns", "del", f"galley{i}")
            ip("link", "del", f"galley-v{i}")
        ip("link", "del", BRIDGE)


class Machines(Queue):
    """The queue's workers run on the machines in turn, each with a cache of its own."""
    def hidden(self, index, command):
        command = [*command[:-1], self.test.path(f"cache-{index % MACHINES}")]
        return ["ip", "netns", "exec", f"galley{index % MACHINES}", "unshare", "-m", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', self.game, *command]


class NetnsCase(FarmCase):
    def setUp(self):
        super().setUp()
        self.network = Network()
        self.addCleanup(self.network.end)
        done = subprocess.run([os.path.join(os.environ["GALLEY_SOURCE_DIR"], "deploy/dev-certs"), self.path("certs"), f"{NET}.1"], capture_output=True)
        self.assertEqual(done.returncode, 0, done)
        self.game = self.make_game()
        self.queue = Machines(self, self.game)
        tls = "".join(f'tls_{what} = "{self.path("certs", file)}"\n' for what, file in (("ca", "ca.pem"), ("cert", "director.pem"), ("key", "director.key")))
        farm = self.queue.farm(f"workers = {MACHINES}\nworkers_min = {MACHINES}\n{tls}").replace("127.0.0.1:0", f"{NET}.1:0")
        self.write("game/galley.toml", self.read("game/galley.toml").decode() + farm)

    def make_game(self):
        return self.farm_sample(with_tools=True, farm="")

    def attached(self, count=MACHINES):
        path = os.path.join(self.game, ".galley/state/logs/director.log")
        wait_until(lambda: os.path.exists(path) and len(set(re.findall(rb"worker=(command-\d+) attached", self.read(path)))) >= count, "workers")

    def check(self, cook):
        done = self.finish_cook(self.game, cook)
        self.assertEqual(done.code, 0, done)
        self.assertEqual(done.roots, self.local_roots(self.game), done)
        return done


@unittest.skipUnless(can_make(), "needs root, and network namespaces: scripts/test --farm")
class NetnsTest(NetnsCase):
    def test_the_roots_are_those_of_a_local_cook(self):
        cook = self.start_cook(self.game)
        self.attached()
        self.check(cook)
        self.assertEqual(self.finish_cook(self.game, self.start_cook(self.game, "--force")).code, 0)

    def test_links_that_are_cut_and_mended_or_not(self):
        cook = self.start_cook(self.game)
        self.attached()
        self.network.cut(0)  # for ever
        self.network.cut(1)
        time.sleep(4)
        self.network.mend(1)
        begun = time.time()
        self.check(cook)
        print(f"[{time.time() - begun:.1f} s after it was mended]", end=" ", file=sys.stderr, flush=True)

    def test_the_director_ends_though_bytes_wait_for_machines_that_are_gone(self):
        # A write to a machine that is gone is under way for a quarter of an hour, if nobody ends it.
        for i in range(2 * MACHINES):
            self.write(f"game/content/large/{i}.txt", os.urandom(20 << 20))
        toml = self.read("game/galley.toml").decode()
        self.write("game/galley.toml", toml.replace("[[rule]]", '[[rule]]\nmatch = "/Game/large/*.txt"\ncooker = "copy"\n\n[[rule]]', 1))
        cook = self.start_cook(self.game, "--dir", "/Game/large")
        self.attached()
        time.sleep(0.1)
        for machine in range(MACHINES):
            self.network.cut(machine)
        time.sleep(0.5)
        begun = time.time()
        cook.send_signal(signal.SIGINT)
        self.assertEqual(self.finish_cook(self.game, cook).code, 130)
        self.assertLess(time.time() - begun, 30)

    def test_a_machine_that_falls_silent_is_noticed_and_its_work_done_elsewhere(self):
        cook = self.start_cook(self.game)
        self.attached()
        for machine in range(MACHINES):
            self.network.cut(machine)
        begun = time.time()
        log = os.path.join(self.game, ".galley/state/logs/director.log")
        wait_until(lambda: b"nothing was heard of it" in self.read(log), "the loss")
        print(f"[noticed after {time.time() - begun:.1f} s]", end=" ", file=sys.stderr, flush=True)
        for machine in range(MACHINES):
            self.network.mend(machine)
        self.check(cook)


@unittest.skipUnless(can_make(), "needs root, and network namespaces: scripts/test --farm")
class NetnsWithRealContentTest(NetnsCase):
    def make_game(self):
        return self.farm_t1("")

    def test_links_that_are_cut_and_mended_or_not(self):
        cook = self.start_cook(self.game)
        self.attached()
        self.network.cut(0)  # for ever
        self.network.cut(1)
        time.sleep(8)  # until they are taken for lost
        self.network.mend(1)
        self.check_t1(self.game, self.finish_cook(self.game, cook))


if __name__ == "__main__":
    unittest.main()
