"""What `galley query` answers, compared with a program that shares no code with it, before and after edits; and what it says of wrong queries.

GALLEY_LONG=1 asks 200 projects, one in four of more than 10,000 packages."""
import json, os, random, sys, unittest

import query_model
from harness import E2ETest

IS_LONG = bool(os.environ.get("GALLEY_LONG"))


class QueryTest(E2ETest):
    def setUp(self):
        super().setUp()
        seed = os.environ.get("GALLEY_SEED") or str(random.SystemRandom().randrange(1 << 32))
        self.random = random.Random(seed)
        print(f"GALLEY_SEED={seed}", end=" ", file=sys.stderr, flush=True)

    def query(self, project, *args, expect=0):
        done = self.galley("query", "--project", project, *args)
        self.assertEqual(done.returncode, expect, (args, done.stdout[-2000:], done.stderr[-2000:]))
        return done

    def ask(self, project, text, *args):
        """(rows by name, the last line)"""
        lines = [json.loads(line) for line in self.query(project, text, "--json", *args).stdout.splitlines()]
        return {row["package"]: row for row in lines[:-1]}, lines[-1]

    def model(self, name, packages):
        def write(path, text, mode):
            self.write(f"{name}/{path}", text, mode)

        model = query_model.Model(self.random, write, lambda path: os.remove(self.path(name, path)), packages)
        model.source_size = lambda package: os.path.getsize(self.path(name, "content", package.removeprefix("/Game/")))
        project = self.project({}, query_model.RULES, name=name, platforms=[f'name = "{one}"' for one in query_model.PLATFORMS], extra=model.toml())
        return model, project

    def cook_model(self, model, project):
        self.cook(project, "--workers", "2", "--quiet")
        model.cooked(lambda platform, path: os.path.getsize(os.path.join(project, ".galley/cooked", platform, path)))

    def compare(self, model, project, queries):
        self.compared += 0 if model.unsure else 1
        for _ in range(0 if model.unsure else queries):
            is_all, platform = self.random.random() < 0.3, self.random.choice([None, None, "pc"])
            scope = model.scope(is_all, platform)
            text, expected = scope.query()
            args = [*(["--all"] if is_all else []), *(["--platform", platform] if platform else [])]
            if text.startswith(("paths(", "path_between(")):
                text = f"({text}) and all()"  # as a set
            rows, end = self.ask(project, text, *args)
            self.assertEqual(sorted(rows), sorted(expected), (text, args))
            self.assertEqual(list(rows), sorted(rows, key=str.encode))
            for name, row in rows.items():
                self.assertEqual(row["looked_at"], scope.is_looked_at(name), (text, args, name))
                self.assertEqual(row["size"], scope.size(name), (text, args, name))
                targets = {one["package"]: one["kinds"] for one in row["references"] or []}
                self.assertEqual(sorted(targets), sorted(scope.targets(name)), (args, name))
            for name in self.random.sample(sorted(rows), min(5, len(rows))):
                self.assertEqual(rows[name]["users"], sum(name in scope.targets(user) for user in scope.universe), (text, args, name))
            self.assertEqual((end["packages"], end["not_looked_at"]), (len(expected), scope.not_looked_at()), (text, args))

    def compare_paths(self, model, project):
        scope = model.scope()
        names = sorted(scope.universe)
        for _ in range(4):
            start, end = model.maps[0], self.random.choice(names)
            found = json.loads(self.query(project, f'path_between("{start}", "{end}")', "--json").stdout.splitlines()[0])
            self.assertEqual(found["path"], scope.path_between({start}, {end}))
            graph = json.loads(self.query(project, f'paths("{start}", "{end}")', "--json").stdout.splitlines()[0])
            between = scope.reached({start}) & scope.reached({end}, back=True)
            self.assertEqual(sorted(graph["packages"]), sorted(between))
            self.assertEqual(sorted((edge["from"], edge["to"]) for edge in graph["references"]),
                             sorted((name, target) for name in between for target in scope.targets(name) & between))
        if len(names) < 400 and not model.unsure:
            rows, _ = self.ask(project, "all()", "--columns", "retained")
            self.assertEqual({name: row["retained"] for name, row in rows.items()}, scope.retained(set(model.maps)))

    def test_answers_are_those_of_another_program_before_and_after_edits(self):
        self.compared, numbers = 0, 200 if IS_LONG else 4
        for number in range(numbers):
            packages = self.random.randrange(10_001, 11_000) if IS_LONG and number % 4 == 0 else self.random.randrange(5, 150)
            with self.subTest(number=number, packages=packages):
                model, project = self.model(f"game{number}", packages)
                self.compare(model, project, 2)  # nothing was cooked
                for _ in range(3):
                    self.cook_model(model, project)
                    self.compare(model, project, 12)
                    self.compare_paths(model, project)
                    model.edit()
        self.assertGreater(self.compared, 2 * numbers, "before the first cook, and after more than one of three")

    def small(self):
        files = {"town.json": '{"uses": [{"$ref": "house.json"}, {"$editor": "dev/notes.txt"}]}', "house.json": '{"$soft": "a b/brick.txt"}',
                 "a b/brick.txt": "brick", "dev/notes.txt": "notes", "alone.txt": "alone"}
        return self.project(files, query_model.RULES, extra='[cook]\nmaps = ["/Game/town.json"]\nnever = ["/Game/dev/**"]')

    def test_a_table_says_what_is_known(self):
        game = self.small()
        done = self.query(game, "all()")
        self.assertEqual([line.split() for line in done.stdout.splitlines()][1], ["/Game/a", "b/brick.txt", "copy", "0", "5", "B"])
        self.assertRegex(done.stderr, r"^4 packages, 100 B, as of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ; 4 packages not looked at\n$")
        rows, end = self.ask(game, "/Game/town.json")
        self.assertEqual((rows["/Game/town.json"]["references"], rows["/Game/town.json"]["tags"], end["not_looked_at"]), (None, None, 4), "not known")
        self.cook(game)
        rows, end = self.ask(game, "/Game/town.json")
        self.assertEqual(rows["/Game/town.json"]["references"], [{"package": "/Game/house.json", "kinds": ["hard"]}])
        self.assertEqual((rows["/Game/town.json"]["in_cook"], end["not_looked_at"]), (["pc"], 1))
        self.assertEqual(self.ask(game, "not in_cook()")[0].keys(), {"/Game/alone.txt"})
        self.assertEqual(self.ask(game, "deps(/Game/town.json)", "--all")[0].keys(), {"/Game/house.json", "/Game/dev/notes.txt"})
        done = self.query(game, "all()", "--sort", "retained", "--columns", "retained,users", "--limit", "1")
        self.assertEqual(done.stdout.splitlines()[0].split(), ["PACKAGE", "CLASS", "RETAINED", "USERS"])
        self.assertTrue(done.stdout.splitlines()[1].startswith("/Game/town.json "), done.stdout)
        self.assertIn("note: the first 1 of 4 packages are shown\n", done.stderr)
        self.assertEqual(self.query(game, "all()", "--quiet").stderr, "")

    def test_paths_are_lines_json_and_dot(self):
        game = self.small()
        self.cook(game)
        path = "/Game/town.json -> /Game/house.json -> /Game/a b/brick.txt\n"
        self.assertEqual(self.query(game, "path_between(/Game/town.json, class(copy))").stdout, path)
        self.assertEqual(self.query(game, "paths(/Game/town.json, /Game/a b/brick.txt)").stdout, path)
        done = self.query(game, "paths(class(copy), /Game/town.json)")
        self.assertEqual((done.stdout, done.stderr.splitlines()[0]), ("", "note: there is no path"))
        self.assertEqual(self.query(game, "closure(/Game/house.json)", "--dot").stdout.splitlines(),
                         ["digraph galley {", '  "/Game/a b/brick.txt";', '  "/Game/house.json";',
                          '  "/Game/house.json" -> "/Game/a b/brick.txt" [style=dashed, label="soft"];', "}"])

    def test_wrong_queries_are_pointed_at(self):
        game = self.small()
        for text, said in (("all() and clas(x)", "column 11: `clas` is none of the functions all, "), ("all(", "column 5: expected a word here"),
                           ("deps(/Game/hose.json)", "column 6: there is no package /Game/hose.json; did you mean /Game/house.json?"),
                           ("/Game/dev/notes.txt", "column 1: /Game/dev/notes.txt is never cooked; --all takes it in"),
                           ("in_cook(ios)", "column 1: there is no platform ios: pc"), ("path(/Game/[)", "column 1: path(/Game/[): ")):
            done = self.query(game, text, expect=2)
            self.assertIn(said, done.stderr)
            self.assertIn(f"\n  {text}\n  ", done.stderr)
            self.assertEqual(done.stdout, "")
        self.assertIn("--platform ios: there is no such platform: pc", self.query(game, "all()", "--platform", "ios", expect=2).stderr)
        self.assertIn("note: no package has the class textrue\n", self.query(game, "class(textrue)").stderr)

    def test_what_was_made_by_a_package_that_is_gone_is_gone(self):
        made = '{"items": [{"position": [5, 0, 5]}]}'
        rules = ['match = "/Game/*.town"\ncooker = "command"\nsettings = { argv = ["tools/make", "{input}", "{output:.out}", "{result}"], '
                 'outputs = [".out"] }', 'match = "/**/*.level"\ncooker = "data"\nsettings = { cell_size = 10 }']
        game = self.project({"a.town": made}, rules)
        self.write("game/tools/make", '#!/bin/sh\ncp "$1" "$2"; [ -s "$1" ] || exit 0; cp "$1" made.level\n'
                   'echo \'{"generated": [{"name": "_gen/b.level", "file": "made.level"}]}\' > "$3"\n', 0o755)
        self.cook(game)
        level = "/Game/a.town/_gen/b.level"
        self.assertEqual(self.ask(game, "all()")[0].keys(), {"/Game/a.town", level, level + "/_gen/cell_0_0.level"})
        self.assertEqual(self.ask(game, "closure(/Game/a.town, kind(generated))")[0].keys(), self.ask(game, "all()")[0].keys())
        self.write("game/content/a.town", "")
        self.cook(game)
        self.assertEqual(self.ask(game, "all()")[0].keys(), {"/Game/a.town"})

    def test_a_damaged_or_stale_registry_is_made_anew(self):
        game = self.small()
        for i in range(1_500):  # more than one block of the table
            self.write(f"game/content/many/a name that is somewhat longer than others {i}.txt", str(i))
        self.write("game/content/town.json", json.dumps({"uses": [{"$ref": "house.json"}, {"$ref": "many/a name that is somewhat longer than others 7.txt"}]}))
        self.cook(game)
        expected = self.query(game, "all()", "--all", "--columns", "users,size,retained").stdout
        table = os.path.join(game, ".galley/state/registry/table")
        with open(table, "rb") as file:
            right = file.read()
        self.assertGreater(len(right), 2 << 16)
        for at in [*range(0, 400, 13), *range(400, len(right), 5_003)]:
            with open(table, "wb") as file:
                file.write(right[:at] + bytes([right[at] ^ 1]) + right[at + 1:])
            self.assertEqual(self.query(game, "all()", "--all", "--columns", "users,size,retained").stdout, expected, at)
        for wrong in (b"", right[:-1], b"x" * 1000):
            with open(table, "wb") as file:
                file.write(wrong)
            self.assertEqual(self.query(game, "all()", "--all", "--columns", "users,size,retained").stdout, expected)
        self.write("game/content/new.txt", "new")  # a cook looks at it, and no package refers to it
        self.cook(game)
        self.assertIn("/Game/new.txt", self.ask(game, "all()")[0])
        self.write("game/galley.toml", self.read("game/galley.toml").decode().replace("/Game/dev/**", "/Game/new.txt"))
        self.assertEqual(self.ask(game, "all()")[0].keys() & {"/Game/new.txt", "/Game/dev/notes.txt"}, {"/Game/dev/notes.txt"})


if __name__ == "__main__":
    unittest.main()
