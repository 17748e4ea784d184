"""A cooker that is not deterministic: of two outcomes of the very same inputs neither is used, until somebody says so."""
import json, os, shutil, unittest

from harness import E2ETest

RULE = 'match = "/Game/**/*.txt"\ncooker = "command"\nsettings = { argv = ["tools/random", "{output:.out}"], outputs = [".out"] }\n'


class DisputeTest(E2ETest):
    def game(self, name="game", files=None, extra=""):
        game = self.project(files or {"a.txt": "a", "sane.json": "{}"}, [RULE, 'match = "/Game/**/*.json"\ncooker = "data"\n'], name=name, extra=extra)
        self.write(f"{name}/tools/random", '#!/bin/sh\ncat /proc/sys/kernel/random/uuid > "$1"\n', 0o755)
        return game

    def assert_disputed(self, cook, *packages):
        self.assertEqual(cook.code, 1, cook)
        self.assertEqual({f["package"] for f in cook.summary["failures"]}, set(packages), cook)
        for failure in cook.summary["failures"]:
            self.assertIn("neither is used", failure["error"])

    def test_neither_of_two_outcomes_is_used_until_the_package_is_cleaned(self):
        game = self.game()
        first = self.cook(game)
        forced = self.cook(game, "--force", expect=1)
        self.assert_disputed(forced, "/Game/a.txt")
        self.assertEqual(list(self.tree(game, "pc")), ["Game/sane.json.cbor"], "nobody can tell which of the two is right")
        # It is remembered, by the store as well as by the journal.
        again = self.cook(game, expect=1)
        self.assert_disputed(again, "/Game/a.txt")
        self.assertEqual(again.cooked, 0, again)
        shutil.rmtree(os.path.join(game, ".galley/state"))
        self.assert_disputed(self.cook(game, expect=1), "/Game/a.txt")
        self.assert_disputed(self.cook(game, "--retry-failed", expect=1), "/Game/a.txt")
        self.assert_disputed(self.cook(game, "--force", expect=1), "/Game/a.txt")
        clean = self.galley("clean", "--project", game, "/Game/a.txt")
        self.assertEqual(clean.returncode, 0, clean.stderr)
        last = self.cook(game)
        self.assertEqual(sorted(self.tree(game, "pc")), ["Game/a.txt.out", "Game/sane.json.cbor"])
        self.assertNotEqual(last.roots, first.roots)

    def test_who_shares_the_store_does_not_find_it_either(self):
        store = f'[store]\ndir = "{self.path("store")}"\n'
        game, other = self.game(extra=store), self.game("other", extra=store)
        self.cook(game)
        self.assertEqual(self.cook(other).results["cached"], 2)
        self.cook(game, "--force", expect=1)
        # Though its own journal knows the first one to be up to date.
        cook = self.cook(other, expect=1)
        self.assert_disputed(cook, "/Game/a.txt")
        self.assertEqual((cook.cooked, cook.results["up_to_date"]), (0, 1), cook)
        shutil.rmtree(os.path.join(other, ".galley"))
        cook = self.cook(other, expect=1)
        self.assert_disputed(cook, "/Game/a.txt")
        self.assertEqual((cook.cooked, cook.results["cached"]), (0, 1), cook)
        # No collection makes it believe the next one.
        self.assertEqual(self.galley("store", "gc", "--max-size", "0", "--project", game).returncode, 0)
        self.assert_disputed(self.cook(other, expect=1), "/Game/a.txt")
        # Who ends it ends it for all.
        self.assertEqual(self.galley("clean", "--project", game, "/Game/a.txt").returncode, 0)
        roots = self.cook(game).roots
        cook = self.cook(other)
        self.assertEqual((cook.roots, cook.cooked), (roots, 0), cook)

    def test_a_store_without_a_project_forgets_by_key(self):
        game = self.game()
        self.cook(game)
        self.cook(game, "--force", expect=1)
        store = os.path.join(game, ".galley/store")
        key = self.records(game, "/Game/a.txt")["platforms"]["pc"]["action_key"]
        self.assertEqual(self.galley("store", "forget", "x", "--store", store).returncode, 2)
        forget = self.galley("store", "forget", key, "--store", store)
        self.assertEqual((forget.returncode, forget.stdout), (0, f"forgot the dispute of {key}\n"), forget.stderr)
        self.assertEqual(self.cook(game).code, 0)
        forget = self.galley("store", "forget", key, "--store", store, "--json")
        self.assertEqual(json.loads(forget.stdout), {"key": key, "forgot": "result"})
        # Who mistypes it is told.
        wrong = self.galley("store", "forget", key, "--store", store)
        self.assertEqual((wrong.returncode, wrong.stdout), (1, ""), wrong)
        self.assertIn(f"has no result of the key {key}: nothing was forgotten", wrong.stderr)

    def records(self, game, package):
        records = self.galley("records", package, "--project", game, "--json")
        self.assertEqual(records.returncode, 0, records.stderr)
        return json.loads(records.stdout)


if __name__ == "__main__":
    unittest.main()
