"""Programs of `command` on machines where nothing of the project is."""
import os, shutil, signal, subprocess, sys, tempfile, time, unittest

from farm.farm_test import LISTEN, FarmCase, can_hide
from harness import read_file, wait_until
from farm.launchers_test import Queue

FAR = LISTEN + "far_programs = true\n"

# Each rule has a program of another kind.
JOIN = ('match = "/Game/**/*.join"\ncooker = "command"\n'
        'settings = { argv = ["tools/join", "{input}", "{output:.joined}", "{depfile}", "{result}"], outputs = [".joined"] }')
SORT = 'match = "/Game/**/*.list"\ncooker = "command"\nsettings = { argv = ["sort", "-o", "{output:.sorted}", "{input}"], outputs = [".sorted"] }'
STAMP = ('match = "/Game/**/*.stamp"\ncooker = "command"\nsettings = { argv = ["content/bin/stamp", "{input}", "{output:.stamped}"], outputs = [".stamped"], '
         'env = { PYTHONDONTWRITEBYTECODE = "1" } }')
SUM = ('match = "/Game/**/*.sum"\ncooker = "command"\n'
       'settings = { argv = ["sh", "-c", "cksum < $0 > $1", "{cooked:/Game/a.list:.sorted}", "{output:.cksum}"], outputs = [".cksum"] }')
TWO = ('match = "/Game/**/*.two"\ncooker = "command"\n'
       'settings = { argv = ["sh", "-c", "echo small > $0; seq 50000 > $1", "{output:.small}", "{output:.large}"], outputs = [".small", ".large"] }')
PICK = ('match = "/Game/**/*.pick"\ncooker = "command"\n'
        'settings = { argv = ["sh", "-c", "cat $0 $1 > $2", "{cooked:/Game/a.two:.small}", "{input}", "{output:.picked}"], outputs = [".picked"] }')
PLAIN = 'match = "/Game/**/*.txt"\ncooker = "copy"'

# Reads what its input names, what lies beside it, and what a listing has; looks for what is not there.
JOIN_TOOL = """#!/bin/sh
set -eu
input=$1 output=$2 depfile=$3 result=$4 folder=${1%/*}
printf '%s:' "$output" > "$depfile"
while read -r name; do
  printf ' %s' "$folder/$name" >> "$depfile"
  cat "$folder/$name"
done < "$input" > "$output"
test -e "$folder/extra.inc" && cat "$folder/extra.inc" >> "$output"
for part in "$folder"/parts/*.part; do wc -c < "$part"; done >> "$output"
(cd "$folder/parts" && cat ../one.inc) >> "$output"
echo >> "$depfile"
echo '{"observations": [{"kind": "exists", "path": "Game/text/extra.inc"}, {"kind": "list", "path": "Game/text/parts"},' \\
  '{"kind": "glob", "path": "Game/text", "pattern": "**/*.part"}, {"kind": "file", "path": "Game/text/one.inc"},' \\
  '{"kind": "tool", "path": "/bin/cat"}]}' > "$result"
"""
STAMP_TOOL = """#!/usr/bin/env python3
import os, sys, threading
import common
out = []
def add(name):
    out.append(open(f"Game/text/{name}").read())
threads = [threading.Thread(target=add, args=(name,)) for name in ("one.inc", "two.inc")]
[t.start() for t in threads]; [t.join() for t in threads]
open(sys.argv[2], "w").write(common.stamp(open(sys.argv[1]).read() + "".join(sorted(out)) + str(sorted(os.listdir("Game/text")))))
"""


def files(count=3):
    made = {f"text/{i}.join": "one.inc\ntwo.inc\n" for i in range(count)} | {f"{i}.stamp": f"stamp {i} " for i in range(count)}
    return made | {"text/one.inc": "one\n", "text/two.inc": "two of the game\n", "text/parts/a.part": "12345", "text/parts/b.part": "1" * 70_000,
                   "text/unread.bin": "x" * 5_000_000, "a.list": "c\nb\na\n", "b.list": "2\n1\n", "x.sum": "of a.list", "plain.txt": "text",
                   "bin/stamp": STAMP_TOOL, "bin/common.py": "def stamp(text):\n    return 'stamped ' + text\n"}


class FarProgramsTest(FarmCase):
    def game(self, farm=FAR):
        game = self.project(files(), [JOIN, SORT, STAMP, SUM, PLAIN])
        os.chmod(self.path("game/content/bin/stamp"), 0o755)
        self.write("game/tools/join", JOIN_TOOL, mode=0o755)
        self.write("game/mod/text/two.inc", "two of the mod\n")
        toml = self.read("game/galley.toml").decode()
        self.write("game/galley.toml", toml + '[[mount]]\npath = "/Game"\ndir = "mod"\npriority = 10\n' + farm)
        return game

    def signals(self):
        """A folder through which a program and the test tell each other how far they are. (What lies below /dev no program is asked about.)"""
        folder = tempfile.mkdtemp(dir="/dev/shm")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def log_of(self, game):
        return read_file(os.path.join(game, ".galley/state/logs/director.log")).decode(errors="replace")

    def far_cook(self, game, *args, workers=2, cache="cache"):
        cook = self.start_cook(game, *args)
        far = [self.worker(game, f"far-{i}", cache=cache) for i in range(workers)]
        done = self.finish_cook(game, cook)
        return done, [self.end(one) for one in far]

    def elsewhere(self, game, name, *setup):
        """A worker on a machine that was changed before; `setup` is told to a shell."""
        log = open(self.path(f"{name}.log"), "w")
        self.addCleanup(log.close)
        address = self.address_of(game)
        token = self.path(f"{name}.token")
        shutil.copy(os.path.join(game, ".galley/state/farm-token"), token)
        command = ["unshare", "-rm", "sh", "-c", " && ".join(['mount -t tmpfs none "$0"', *setup, 'exec "$@"']), game,
                   os.path.join(self.bin, "galley"), "worker", "--director", address, "--token-file", token, "--name", name, "--slots", "1",
                   "--cache", self.path("cache-" + name)]
        process = subprocess.Popen(command, cwd=self.dir, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: (process.kill(), process.wait()))
        return process

    def test_the_roots_are_those_of_a_local_cook_and_no_helper_is_started(self):
        game = self.game()
        written = time.time()
        wait_until(lambda: time.time() > written + 2.1, "files of some age")
        cook, fetched = self.far_cook(game)
        self.assertEqual(cook.code, 0, cook)
        self.assertEqual(cook.roots, self.local_roots(game), cook)
        self.assertEqual(cook.summary["workers"]["jobs_retried"], 0, cook)
        self.assertNotIn("worker=local-", self.log_of(game))
        joined = self.read("game/.galley/cooked/pc/Game/text/0.join.joined").decode()
        self.assertEqual(joined, "one\ntwo of the mod\n5\n70000\none\n")
        # What no program opened was not fetched, whatever listings it was in.
        self.assertLess(sum(bytes for bytes, _ in fetched), 1_000_000, fetched)
        # Another cook begins with what the machine has.
        again, fetched = self.far_cook(game, "--force")
        self.assertEqual((again.code, again.roots), (0, cook.roots), again)
        self.assertEqual([bytes for bytes, _ in fetched], [0, 0], again)
        # Keys are the same: local workers find all of it.
        self.write("game/galley.toml", self.read("game/galley.toml").decode().replace(FAR, ""))
        self.forget_what_stands(game)
        local = self.finish_cook(game, self.start_cook(game, "--workers", "1"))
        self.assertEqual((local.code, local.cooked, local.roots), (0, 0, cook.roots), local)

    def test_of_cooked_inputs_no_output_is_fetched_that_nobody_reads(self):
        game = self.project({"a.two": "two", "x.pick": "x"}, [TWO, PICK], extra=FAR)
        cook, _ = self.far_cook(game, workers=1)
        self.assertEqual((cook.code, cook.roots), (0, self.local_roots(game)), cook)
        # By a machine that has nothing: what x.pick read the last time is known, of y.pick nothing is.
        self.write("game/content/x.pick", "other")
        self.write("game/content/y.pick", "y")
        again, fetched = self.far_cook(game, workers=1, cache="another")
        self.assertEqual((again.code, again.cooked, again.roots), (0, 2, self.local_roots(game)), again)
        self.assertEqual(fetched[0][0], len("small\n" "other" "y"), "the source of each, and one of two outputs")

    def test_what_was_looked_at_is_observed_as_by_a_local_cook(self):
        game = self.game()
        first, _ = self.far_cook(game, workers=1)
        self.assertEqual(first.code, 0, first)
        self.write("game/content/text/extra.inc", "extra\n")  # that was probed for
        second, _ = self.far_cook(game, workers=1)
        self.assertEqual((second.code, second.cooked), (0, 3), second)
        self.write("game/content/text/parts/c.part", "new")
        third, _ = self.far_cook(game, workers=1)
        self.assertEqual((third.code, third.cooked), (0, 3), third)
        self.write("game/tools/join", JOIN_TOOL + "echo more >> \"$output\"\n", mode=0o755)
        fourth, _ = self.far_cook(game, workers=1)
        self.assertEqual((fourth.code, fourth.cooked), (0, 3), fourth)
        self.local_roots(game)
        output = ".galley/cooked/pc/Game/text/0.join.joined"
        self.assertEqual(self.read("game", output), self.read("local", output))

    @unittest.skipUnless(can_hide(), "no mount namespaces here")
    def test_a_machine_with_another_tool_refuses_and_others_do_it(self):
        game = self.game()
        self.write("other-sort", "#!/bin/sh\nexit 0\n", mode=0o755)
        cook = self.start_cook(game)
        sort = shutil.which("sort", path="/usr/local/bin:/usr/bin:/bin")
        self.elsewhere(game, "differs", f"mount --bind {self.path('other-sort')} {sort}")
        wait_until(lambda: "differs" in self.log_of(game) and "this machine is another one" in self.log_of(game), "a refusal")
        self.assertRegex(self.log_of(game), rf"tool\({sort}\) on this machine is another one than the director's: wanted [0-9a-f]{{64}}/\d+, found [0-9a-f]{{64}}/17")
        self.worker(game, "same")
        done = self.finish_cook(game, cook)
        self.assertEqual((done.code, done.roots), (0, self.local_roots(game)), done)
        # (The scripts of the project, which do not run it, are not refused.)
        self.assertLessEqual(self.log_of(game).count("this machine is another one"), 4, self.log_of(game))

    @unittest.skipUnless(can_hide(), "no mount namespaces here")
    def test_where_no_machine_has_the_tool_the_package_fails_by_name_and_is_not_kept(self):
        game = self.game()
        cook = self.start_cook(game)
        sort = shutil.which("sort", path="/usr/local/bin:/usr/bin:/bin")
        self.write("none", "")
        self.elsewhere(game, "differs", f"mount --bind {self.path('none')} {sort}")
        done = self.finish_cook(game, cook)
        self.assertEqual(done.code, 1, done)
        for package in ("/Game/a.list", "/Game/b.list"):
            self.assertRegex(done.errors_of(package)[0], rf"the only worker that is attached does not have its tools .*tool\({sort}\).* wanted .*, found ")
        self.assertEqual(len(done.failures), 3, "and what reads one of them")
        again, _ = self.far_cook(game, workers=1)
        self.assertEqual((again.code, again.cooked), (0, 3), again)

    @unittest.skipUnless(can_hide(), "no mount namespaces here")
    def test_what_a_machine_of_the_farm_cannot_do_goes_to_a_helper(self):
        game = self.game(farm="")
        # Its folder lies in no mount: what is beside it does not travel.
        self.write("game/tools/join", '#!/bin/sh\n. "${0%/*}/library"\njoin_it "$@"\n', mode=0o755)
        self.write("game/tools/library", "join_it() {\n" + JOIN_TOOL.split("\n", 1)[1] + "}\n")
        self.write("other-sort", "#!/bin/sh\nexit 0\n", mode=0o755)
        sort = shutil.which("sort", path="/usr/local/bin:/usr/bin:/bin")
        other = self.path("other-sort")

        class Differs(Queue):
            def hidden(self, index, command):
                return ["unshare", "-rm", "sh", "-c", f'mount -t tmpfs none "$0" && mount --bind {other} {sort} && exec "$@"', self.game, *command]
        queue = Differs(self, game)
        self.write("game/galley.toml", self.read("game/galley.toml").decode() + queue.farm("workers = 1\nfar_programs = true\n"))
        done = self.finish_cook(game, self.start_cook(game))
        self.assertEqual((done.code, done.roots), (0, self.local_roots(game)), done)
        log = self.log_of(game)
        self.assertIn("worker=command-1 attached", log)
        self.assertIn("worker=local-1 attached", log)
        self.assertIn("this machine is another one", log)
        self.assertIn("library", log)

    @unittest.skipUnless(can_hide(), "no mount namespaces here")
    def test_a_machine_that_cannot_watch_programs_says_so_and_gets_none(self):
        game = self.game()
        # A filter that denies seccomp(2) to the worker.
        deny = self.write("deny.py", """
import ctypes, os, platform, struct, sys
number = {"x86_64": 317, "aarch64": 277}[platform.machine()]
code = b"".join(struct.pack("HBBI", *one) for one in ((0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)))
buffer = ctypes.create_string_buffer(code)
program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.c_char_p(program), 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
""")
        cook = self.start_cook(game)
        self.elsewhere(game, "cannot", f'exec {sys.executable} {deny} "$@"')
        wait_until(lambda: "worker=cannot lacks the cookers command" in self.log_of(game), "a worker that lacks it")
        self.assertIn("no jobs of `command` are taken: the calls of programs cannot be watched", self.read("cannot.log").decode())
        self.worker(game, "can")
        done = self.finish_cook(game, cook)
        self.assertEqual((done.code, done.roots), (0, self.local_roots(game)), done)

    def test_a_worker_that_is_killed_while_its_program_runs_is_no_matter(self):
        rule = 'match = "/Game/**/*.wait"\ncooker = "command"\nsettings = { argv = ["tools/wait", "{input}", "{output:.out}"], outputs = [".out"] }'
        game = self.project({"a.wait": "a", "b.txt": "b"}, [rule, PLAIN], extra=FAR)
        begun, hold = (os.path.join(self.signals(), name) for name in ("begun", "hold"))
        self.write("game/tools/wait", f'#!/bin/sh\ncat Game/b.txt > "$2"\necho $$ > {begun}.new\nmv {begun}.new {begun}\n'
                                      f'while [ -e {hold} ]; do sleep 0.05; done\ncat "$1" >> "$2"\n', mode=0o755)
        open(hold, "w").close()
        cook = self.start_cook(game)
        first = self.worker(game, "far-0")
        wait_until(lambda: os.path.exists(begun), "the program")
        program = int(read_file(begun))
        first.kill()
        wait_until(lambda: not os.path.exists(f"/proc/{program}"), "the end of its program")
        os.remove(begun)
        self.worker(game, "far-1")
        wait_until(lambda: os.path.exists(begun), "the program, again")
        os.remove(hold)
        done = self.finish_cook(game, cook)
        self.assertEqual((done.code, done.cooked), (0, 2), done)
        self.assertEqual(self.read("game/.galley/cooked/pc/Game/a.wait.out"), b"ba")

    def test_a_file_that_changes_while_a_program_runs_makes_its_attempt_stale(self):
        rule = 'match = "/Game/**/*.wait"\ncooker = "command"\nsettings = { argv = ["tools/wait", "{input}", "{output:.out}", "{depfile}"], outputs = [".out"] }'
        game = self.project({"a.wait": "a", "b.inc": "before"}, [rule], extra=FAR)
        begun, hold = (os.path.join(self.signals(), name) for name in ("begun", "hold"))
        self.write("game/tools/wait", f'#!/bin/sh\n: > {begun}\nwhile [ -e {hold} ]; do sleep 0.05; done\n'
                                      'cat Game/b.inc > "$2"\necho "$2: Game/b.inc" > "$3"\n', mode=0o755)
        open(hold, "w").close()
        cook = self.start_cook(game)
        self.worker(game, "far-0")
        wait_until(lambda: os.path.exists(begun), "the program")
        self.write("game/content/b.inc", "afterwards")
        os.remove(hold)
        done = self.finish_cook(game, cook)
        self.assertEqual(done.code, 0, done)
        self.assertEqual(self.read("game/.galley/cooked/pc/Game/a.wait.out"), b"afterwards")

    def one_program(self, script, files=None, argv='"tools/one", "{input}", "{output:.out}"', name="game"):
        """A project whose only package is made by a script of the project, in no mount."""
        rule = f'match = "/Game/**/*.one"\ncooker = "command"\nsettings = {{ argv = [{argv}], outputs = [".out"] }}'
        game = self.project({"a.one": "one\n"} | (files or {}), [rule], extra=FAR)
        self.write("game/tools/one", "#!/bin/sh\nset -eu\n" + script, mode=0o755)
        return game

    def far_error(self, game):
        """Nobody has the project's files: what needs them fails, and nothing of it is kept."""
        done, _ = self.far_cook(game, workers=1)
        self.assertEqual((done.code, done.cooked), (1, 0), done)
        return done.errors_of("/Game/a.one")[0]

    def test_what_a_program_reads_if_it_is_there_decides_where_it_runs(self):
        game = self.one_program('if [ -e "${0%/*}/one.conf" ]; then cat "${0%/*}/one.conf" > "$2"; else cat "$1" > "$2"; fi\n')
        done, _ = self.far_cook(game, workers=1)
        self.assertEqual((done.code, done.cooked, done.roots), (0, 1, self.local_roots(game)), done)
        # A file beside it, which does not travel.
        self.write("game/tools/one.conf", "configured\n")
        self.write("game/content/a.one", "another\n")
        self.assertIn("its program looks for tools/one.conf of the project", self.far_error(game))

    def test_names_that_no_table_has_are_missed(self):
        for what, script in (("content/b~", 'cat Game/b~ > "$2" 2> /dev/null || cat "$1" > "$2"\n'), ("content", 'ls Game/ > "$2"\n')):
            game = self.one_program(script, {"b~": "ignored\n"})
            error = self.far_error(game)
            self.assertRegex(error, rf"its program looks for {game}/{what} of the project")
            os.remove(os.path.join(game, "content/b~"))
            done, _ = self.far_cook(game, workers=1)
            self.assertEqual((done.code, done.roots), (0, self.local_roots(game)), done)
            shutil.rmtree(game)
            shutil.rmtree(self.path("local"), ignore_errors=True)

    def test_where_its_files_are_comes_into_no_output(self):
        for script, said in (('realpath Game/a.one > "$2"\n', "asks where the files of the project are"),
                             ('(cd Game && env pwd -P) > "$2"\n', "asks where the files of the project are"),
                             ('echo "made by $0" > "$2"\n', "writes where its files are")):
            game = self.one_program(script)
            self.assertIn(said, self.far_error(game), script)
            shutil.rmtree(game)

    @unittest.skipUnless(can_hide(), "no mount namespaces here")
    def test_files_of_the_system_that_nobody_declares_are_compared(self):
        other = self.write("other", "of another system\n")
        for change, path, script in (
                (f"mount --bind {other} /etc/os-release", "/etc/os-release", 'cat /etc/os-release > "$2"\n'),
                ("mount -t tmpfs none /usr/share/common-licenses", "/usr/share/common-licenses/GPL-3",
                 '[ ! -e /usr/share/common-licenses/GPL-3 ] || cat "$1" > "$2"; cat "$1" > "$2"\n')):
            game = self.one_program(script)
            cook = self.start_cook(game)
            differs = self.elsewhere(game, "differs", change)
            wait_until(lambda: "this machine is another one" in self.log_of(game), "a refusal")
            self.assertIn(f"tool({os.path.realpath(path)}) on this machine is another one", self.log_of(game))
            self.worker(game, "same")
            done = self.finish_cook(game, cook)
            self.assertEqual((done.code, done.roots), (0, self.local_roots(game)), done)
            differs.kill()
            shutil.rmtree(game)
            shutil.rmtree(self.path("local"), ignore_errors=True)

    def test_a_worker_elsewhere_names_no_program_that_would_run_on_the_directors_machine(self):
        evil = self.path("evil")
        script = f"""cp "$1" "$2"; echo x > part
cat > "$3" << 'END'
{{"generated": [{{"name": "_gen/x.part", "file": "part", "cooker": "command", "settings": {{"argv": ["sh", "-c", "touch {evil}; echo > $0", "{{output:.o}}"], "outputs": [".o"]}}}}]}}
END
"""
        game = self.one_program(script, argv='"tools/one", "{input}", "{output:.out}", "{result}"')
        error = self.far_error(game)
        self.assertIn("far-0 on another machine says of /Game/a.one that it generates /Game/a.one/_gen/x.part, for which a program of its choice would run", error)
        self.assertFalse(os.path.exists(evil))


if __name__ == "__main__":
    unittest.main()
