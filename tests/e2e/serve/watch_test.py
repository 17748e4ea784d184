"""A resident director that watches the files: what changes is seen, however it changes."""
import json, os, random, shutil, signal, subprocess, time, unittest

from harness import COPY, E2ETest, ResidentTest

DATA = 'match = "/Game/**/*.json"\ncooker = "data"'


class WatchTest(ResidentTest):
    def game(self, count=40):
        files = {f"{i % 5}/{i}.json": json.dumps({"i": i}) for i in range(count)}
        files["0/readme.txt"] = "text"
        return self.project(files, [DATA, COPY])

    def look(self, game, expect=0):
        return E2ETest.cook(self, game, "--json", expect=expect)

    def stands(self, cook):
        events = [json.loads(line) for line in cook.stdout.splitlines()]
        return any(e["event"] == "stands" and not e["rest"] for e in events)

    def check_like_a_clean_cook(self, game, cook):
        """What a cook of the same files into an empty store, by no director, comes to."""
        self.clean = getattr(self, "clean", 0) + 1
        other = self.path(f"clean{self.clean}")
        os.mkdir(other)
        shutil.copytree(os.path.join(game, "content"), os.path.join(other, "content"), symlinks=True)
        shutil.copy(os.path.join(game, "galley.toml"), other)
        clean = E2ETest.cook(self, other, expect=None)
        self.assertEqual(cook.roots, clean.roots, (cook, clean))
        self.assertEqual(cook.code, clean.code)
        self.assertEqual(cook.summary["packages"]["in_cook"], clean.summary["packages"]["in_cook"])
        self.assertEqual(cook.summary["snapshot"], clean.summary["snapshot"])
        shutil.rmtree(other)

    def served(self, count=40):
        game = self.game(count)
        os.link(os.path.join(game, "content", "2", "2.json"), self.path("other name"))
        self.serve(game)
        self.look(game)
        self.assertTrue(self.stands(self.look(game)))
        self.assertIn("folders are watched", self.status(game)["watch"])
        return game

    def check_change(self, game, change):
        self.assertTrue(self.stands(self.look(game)))
        change()
        cook = self.look(game, expect=None)
        self.assertFalse(self.stands(cook), cook)
        self.check_like_a_clean_cook(game, cook)
        self.assertTrue(self.stands(self.look(game, expect=None)))

    def test_each_way_to_change_a_file_is_seen(self):
        game = self.served()
        content = lambda path: os.path.join(game, "content", path)

        def save_by_rename():
            with open(content("1/.1.json.swp"), "w") as file:
                file.write('{"saved": 1}')
            os.rename(content("1/.1.json.swp"), content("1/1.json"))

        def write_through_another_name():
            with open(self.path("other name"), "w") as file:
                file.write('{"linked": 1}')

        changes = {
            "written in place": lambda: self.write("game/content/0/0.json", '{"in": "place"}'),
            "an editor that saves by rename": save_by_rename,
            "a new file": lambda: self.write("game/content/3/new.json", "{}"),
            "a new folder": lambda: self.write("game/content/fresh/deep/new.json", "{}"),
            "below that folder": lambda: self.write("game/content/fresh/deep/more.json", "[]"),
            "a file that goes": lambda: os.remove(content("3/new.json")),
            "a folder that is moved out": lambda: os.rename(content("4"), self.path("moved")),
            "a folder that is moved in": lambda: os.rename(self.path("moved"), content("4")),
            "a folder in the place of another": lambda: (shutil.copytree(content("0"), self.path("copy")), os.rename(content("0"), self.path("was")),
                                                         os.rename(self.path("copy"), content("0")), self.write("game/content/0/5.json", '{"copied": 1}')),
            "through another name": write_through_another_name,
            "through a mapping": lambda: self.map_and_write(content("1/6.json")),
            "a file of the sandbox": lambda: self.write("game/.galley/cooked/pc/Game/0/readme.txt", "mine"),
        }
        for name, change in changes.items():
            with self.subTest(name):
                self.check_change(game, change)

    def map_and_write(self, path):
        import mmap
        with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
            mapped[6:7] = b"9"
            mapped.flush()

    def test_a_top_folder_that_is_another_one_is_seen(self):
        game = self.served()
        shutil.copytree(os.path.join(game, "content"), self.path("copy"))
        self.write("copy/0/0.json", '{"another": "top"}')
        def swap():
            os.rename(os.path.join(game, "content"), self.path("was"))
            os.rename(self.path("copy"), os.path.join(game, "content"))
        self.check_change(game, swap)
        self.write("was/0/5.json", '{"nobody": "looks"}')
        self.assertTrue(self.stands(self.look(game)))
        self.check_change(game, lambda: self.write("game/content/0/5.json", '{"after": 1}'))

    def test_a_checkout_of_another_branch(self):
        game = self.served()
        content = os.path.join(game, "content")
        git = lambda *args: subprocess.run(["git", "-C", content, "-c", "user.name=x", "-c", "user.email=x@x", *args], check=True, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "one")
        git("branch", "one")
        git("checkout", "-qb", "two")
        for i in range(0, 40, 3):
            self.write(f"game/content/{i % 5}/{i}.json", json.dumps({"two": i}))
        self.write("game/content/2/only.json", "{}")
        git("add", ".")
        git("commit", "-qm", "two")
        for branch in ("one", "two", "one"):
            git("checkout", "-q", branch)
            cook = self.look(game)
            self.check_like_a_clean_cook(game, cook)
        self.look(game)
        self.assertTrue(self.stands(self.look(game)))

    def test_a_storm_of_events_and_a_full_queue(self):
        game = self.served()
        director = self.status(game)["process"]
        # Nobody reads meanwhile: the queue of the kernel fills up, and the rest is lost.
        os.kill(director, signal.SIGSTOP)
        try:
            folder = os.path.join(game, "content", "1")
            for _ in range(25_000):  # two events each, and more
                os.rename(os.path.join(folder, "1.json"), os.path.join(folder, "x.json"))
                os.rename(os.path.join(folder, "x.json"), os.path.join(folder, "1.json"))
            self.write("game/content/4/4.json", '{"late": 1}')
        finally:
            os.kill(director, signal.SIGCONT)
        cook = self.look(game)
        self.assertFalse(self.stands(cook))
        self.check_like_a_clean_cook(game, cook)
        self.assertIn("events were lost", self.read("game/.galley/state/logs/director.log").decode())
        self.look(game)
        self.check_change(game, lambda: self.write("game/content/4/9.json", '{"after": 1}'))

    def test_random_edits_while_cooks_are_asked_for(self):
        game = self.served(20)
        seed = random.randrange(1 << 32)
        rng = random.Random(seed)
        with self.subTest(seed=seed):
            for _ in range(12):
                for _ in range(rng.randrange(3)):
                    i = rng.randrange(22)
                    self.write(f"game/content/{i % 5}/{i}.json", json.dumps({"v": rng.randrange(3)}))
                self.check_like_a_clean_cook(game, self.look(game, expect=None))


if __name__ == "__main__":
    unittest.main()
