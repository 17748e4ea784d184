"""Workers behind bad links: whatever happens on the way, the roots are those of a local cook, or the cook ends with a clear failure."""
import os, random, shutil, sys, time, unittest

from farm.farm_test import FarmCase
from harness import kill, wait_until
from link import Link
from slurm_cluster import free_ports


class LinksTest(FarmCase):
    WORKERS = 2

    def setUp(self):
        super().setUp()
        self.game = self.farm_sample(with_tools=False)
        self.links = []

    def start(self, workers=WORKERS):
        """A cook whose workers have a link each."""
        cook = self.start_cook(self.game)
        address = self.address_of(self.game)
        self.far = []
        for i in range(workers):
            link = Link(address)
            self.addCleanup(link.end)
            self.links.append(link)
            self.far.append(self.worker(self.game, f"far-{i}", cache=f"cache-{i}", address=link.address))
        return cook

    def attached(self, count=1):
        log = lambda: self.read("game/.galley/state/logs/director.log").decode()
        wait_until(lambda: log().count(" attached machine=") >= count, "a worker")
        return log

    def check(self, cook):
        begun = time.time()
        done = self.finish_cook(self.game, cook)
        self.assertEqual(done.code, 0, done)
        self.assertEqual(done.roots, self.local_roots(self.game), done)
        print(f"[{time.time() - begun:.1f} s]", end=" ", file=sys.stderr, flush=True)
        return done

    def test_connections_that_are_reset(self):
        cook = self.start()
        self.attached()
        for i in range(20):
            if cook.poll() is not None:
                break
            self.links[i % self.WORKERS].reset()
            time.sleep(0.1)
        self.check(cook)

    def test_a_link_that_falls_silent_and_comes_back(self):
        for up, down, seconds in ((True, True, 8), (True, False, 1), (False, True, 8)):
            with self.subTest(up=up, down=down, seconds=seconds):
                cook = self.start()
                self.attached(self.WORKERS)
                for link in self.links:
                    link.hold(up, down)
                time.sleep(seconds)
                for link in self.links:
                    link.heal()
                self.check(cook)
                for one in self.far:
                    one.kill()
                shutil.rmtree(self.game)
                self.game = self.farm_sample(with_tools=False)
                self.links = []

    def test_one_link_that_never_comes_back(self):
        cook = self.start()
        self.attached(self.WORKERS)
        self.links[0].hold()
        self.links[0].refuses = True
        self.check(cook)

    def test_a_link_that_is_far_and_one_that_is_slow(self):
        cook = self.start()
        self.links[0].delay_s = 0.02
        self.links[1].bytes_per_s = 2e6
        self.check(cook)

    def test_a_link_that_becomes_slow_while_bytes_fill_it(self):
        cook = self.start()
        self.attached(self.WORKERS)
        self.links[0].bytes_per_s = 50e3
        done = self.check(cook)
        self.assertEqual(done.failures, [])

    def test_a_director_that_is_away_and_comes_back(self):
        self.write("game/galley.toml", self.read("game/galley.toml").decode().replace('"127.0.0.1:0"', f'"127.0.0.1:{free_ports(1)}"'))
        process = self.serve(self.game)
        cook = self.start()
        self.attached(self.WORKERS)
        kill(process)
        cook.wait()
        wait_until(lambda: not os.path.exists(f"/proc/{process}"), "the director's end")
        self.serve(self.game)
        self.check(self.start_cook(self.game))
        self.assertTrue(all(one.poll() is None for one in self.far), "its workers came to the next one")

    def test_random_faults(self):
        seed = int(os.environ.get("GALLEY_SEED", random.SystemRandom().randrange(1 << 32)))
        print(f"GALLEY_SEED={seed}", end=" ", file=sys.stderr, flush=True)
        rng = random.Random(seed)
        cook = self.start()
        for _ in range(60):
            if cook.poll() is not None:
                break
            link = rng.choice(self.links)
            what = rng.choice(["reset", "hold", "up", "down", "slow", "far", "refuse", "heal", "heal"])
            if what == "reset":
                link.reset()
            elif what == "slow":
                link.bytes_per_s = rng.choice([20e3, 1e6])
            elif what == "far":
                link.delay_s = rng.choice([0.005, 0.1])
            elif what == "refuse":
                link.refuses = True
            elif what == "heal":
                link.heal()
            else:
                link.hold(what != "down", what != "up")
            time.sleep(rng.choice([0.02, 0.1, 0.5]))
        for link in self.links:
            link.heal()
        self.check(cook)


if __name__ == "__main__":
    unittest.main()
