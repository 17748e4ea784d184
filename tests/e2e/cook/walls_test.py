"""Programs of `command` cannot change the user's content, whatever path they take; and where the machine does not let Galley keep them from it,
that is said once, and what changed is named with them."""
import os, subprocess, unittest
import harness

# Each line tries to change something. It runs in the folder of the job; $P is the project, $X a mount outside of it, $S the store.
TRIES = """
echo x > Game/other.dat
echo x >> Game/sub/s.dat
rm Game/sub/s.dat
mv Game/other.dat Game/moved.dat
chmod 600 Game/other.dat
touch Game/other.dat
truncate -s 1 Game/other.dat
mkdir Game/new
ln -s x Game/sub/new
ln Game/other.dat Game/sub/hard
echo t > Game/a.obj.tmp
echo x > Ext/e.dat
rm Ext/e.dat
echo x > Over/o.dat
rm Over/o.dat
mv Over/o.dat Over/p.dat
echo x > Over/new.dat
echo x > $P/content/other.dat
rm $P/content/other.dat
echo x > $P/galley.toml
echo x > $P/new
echo x > /proc/self/root$P/content/other.dat
echo x > /proc/self/cwd/Game/other.dat
echo x > /proc/$PPID/root$P/content/other.dat
echo x > /proc/1/root$P/content/other.dat
echo x > $X/e.dat
echo x > $S/new
rm -r $S/segments
echo x > $P/.galley/state/new
echo x > $P/.galley/new
umount $P
mount -o remount,bind,rw $P
unshare -rm mount -o remount,bind,rw $P
echo x > ../../../new
rm -r ../../../view-*
""".strip().split("\n")


class WallsTest(harness.E2ETest):
    def the_project(self, script, extra="", more_rules=()):
        self.write("ext/e.dat", "ext")
        self.write("low/o.dat", "low")
        self.write("high/p.obj", "high")
        mounts = "".join(f'[[mount]]\npath = "{path}"\ndir = "../{folder}"\npriority = {priority}\n'
                         for path, folder, priority in (("/Ext", "ext", 0), ("/Over", "low", 0), ("/Over", "high", 5)))
        self.write("game/tools/run.sh", script)
        rule = """match = "/Game/*.obj"
cooker = "command"
settings = { argv = ["sh", "-c", ". \\"$P/tools/run.sh\\"", "sh", "{input}", "{output:.txt}"], outputs = [".txt"], env = { P = "PROJECT", X = "EXT", S = "STORE" } }"""
        rule = rule.replace("PROJECT", self.path("game")).replace("EXT", self.path("ext")).replace("STORE", self.path("store"))
        project = self.project({"a.obj": "a", "other.dat": "other", "sub/s.dat": "s"}, [rule, *more_rules],
                               extra=f'{extra}\n[farm]\nworkers = 1\n[store]\ndir = "../store"\n{mounts}')
        return project

    def content(self):
        """All that a program may not change, with its rights and times."""
        found = {}
        for top in ("game/content", "game/tools", "ext", "low", "high"):
            for folder, folders, files in os.walk(self.path(top)):
                for name in [*folders, *files]:
                    path = os.path.join(folder, name)
                    info = os.lstat(path)
                    found[path] = (info.st_mode, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
        return found

    def cook(self, project, *args, prefix=(), env=None):
        self.started += 1
        summary = f"{project}.{self.started}.summary.json"
        done = subprocess.run([*prefix, os.path.join(os.path.abspath(self.bin), "galley"), "cook", "--project", project, "--summary", summary, *args],
                              cwd=self.dir, text=True, errors="replace", capture_output=True, stdin=subprocess.DEVNULL, timeout=harness.LIMIT_S,
                              env={**os.environ, **(env or {})})
        return harness.Cook(done, self.read_summary(summary))

    # ---- what a program cannot do

    def tries_fail(self, prefix=()):
        # What succeeded is the output.
        script = "".join(f"( {line} ) 2>/dev/null && echo '{line}' >> $2\n" for line in TRIES) + "rm Over/o.dat 2>/dev/null; echo end >> $2\n"
        project = self.the_project(script)
        if prefix:
            for folder, folders, files in os.walk(self.dir):
                for path in [folder, *(os.path.join(folder, name) for name in files)]:
                    os.chown(path, 65534, 65534)
        before = self.content()
        cook = self.cook(project, prefix=prefix)
        self.assertEqual(cook.code, 0, cook)
        with open(self.path("game/.galley/cooked/pc/Game/a.obj.txt")) as file:
            self.assertEqual(file.read(), "end\n")
        self.assertEqual(self.content(), before)
        self.assertEqual(cook.summary["warnings"], [], cook)
        return project

    def test_no_path_leads_to_content_that_a_program_can_change(self):
        self.tries_fail()

    @unittest.skipUnless(os.geteuid() == 0, "the test above runs as an ordinary user")
    def test_nor_does_one_for_an_ordinary_user(self):
        self.tries_fail(prefix=("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "env", "HOME=" + self.dir))
        self.assertEqual(os.stat(self.path("game/.galley/cooked/pc/Game/a.obj.txt")).st_uid, 65534)

    @unittest.skipUnless(os.geteuid() == 0, "only root mounts")
    def test_what_is_mounted_in_the_content_is_read_only_too(self):
        project = self.the_project("echo x > Game/nested/n.dat || echo refused > $2\n")
        self.write("nested.sh", f"mkdir -p {project}/content/nested && mount -t tmpfs tmpfs {project}/content/nested && "
                                f"echo n > {project}/content/nested/n.dat && \"$@\" && cat {project}/content/nested/n.dat >&2")
        cook = self.cook(project, prefix=("unshare", "-m", "sh", self.path("nested.sh")))
        self.assertEqual(cook.code, 0, cook)
        self.assertEqual(self.read("game/.galley/cooked/pc/Game/a.obj.txt"), b"refused\n")
        self.assertTrue(cook.stderr.endswith("n\n"), cook)

    def test_a_converter_that_writes_beside_its_input_fails_with_what_to_do(self):
        project = self.the_project("echo t > $1.tmp && cp $1.tmp $2\n")
        cook = self.cook(project)
        self.assertEqual(cook.code, 1, cook)
        [error] = cook.errors_of("/Game/a.obj")
        self.assertIn("the project is read-only for programs", error)
        self.assertIn("{output:SUFFIX}", error)
        self.assertFalse(os.path.exists(os.path.join(project, "content/a.obj.tmp")))

    def test_what_one_job_leaves_no_other_finds(self):
        project = self.the_project("ls ../.. | grep -c left > $2; echo x > ../../left\n")
        self.write("game/content/b.obj", "b")
        cook = self.cook(project)
        self.assertEqual(cook.code, 0, cook)
        for name in "ab":
            self.assertEqual(self.read(f"game/.galley/cooked/pc/Game/{name}.obj.txt"), b"0\n")

    def test_an_action_that_is_run_by_hand_cannot_change_its_inputs(self):
        project = self.the_project("( echo x > $P/exported/input/new ) 2>/dev/null && echo wrote >> $2; echo end >> $2\n")
        self.assertEqual(self.cook(project).code, 0)
        exported = self.galley("records", "/Game/a.obj", "--project", project, "--export", self.path("game/exported"))
        self.assertEqual(exported.returncode, 0, exported)
        done = subprocess.run([os.path.join(self.bin, "galley-worker"), "exec-action", self.path("game/exported")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.read("game/exported/out/output.txt"), b"end\n")
        self.assertFalse(os.path.exists(self.path("game/exported/input/new")))

    # ---- where the machine does not let us

    # Root of a user namespace that makes no further ones, without the right to mount.
    REFUSED = ("unshare", "-r", "sh", "-c", "echo 0 > /proc/sys/user/max_user_namespaces && "
               "exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin \"$@\"", "sh")

    def test_where_the_machine_refuses_it_is_said_once_and_changes_are_named(self):
        project = self.the_project("case $1 in *a.obj) echo x > Game/other.dat; rm Game/sub/s.dat; echo t > $1.tmp;; esac; echo $1 > $2\n")
        for name in "bcd":
            self.write(f"game/content/{name}.obj", name)
        cook = self.cook(project, prefix=self.REFUSED)
        self.assertEqual(cook.code, 0, cook)
        texts = [w["text"] for w in cook.summary["warnings"]]
        missing = [w["text"] for w in cook.summary["warnings"] if w["kind"] == "walls-missing"]
        self.assertEqual(len(missing), 1, cook)
        self.assertIn("user.max_user_namespaces", missing[0])
        self.assertEqual(cook.stderr.count("walls-missing"), 1, cook)
        for path, what in (("/Game/other.dat", "changed"), ("/Game/sub/s.dat", "is gone"), ("/Game/a.obj.tmp", "is new")):
            [text] = [t for t in texts if f"{path} {what}" in t]
            self.assertIn("/Game/a.obj", text)
        doctor = subprocess.run([*self.REFUSED, os.path.join(os.path.abspath(self.bin), "galley"), "doctor", "--project", project], cwd=self.dir,
                                text=True, capture_output=True, timeout=harness.LIMIT_S)
        [line] = [line for line in doctor.stdout.split("\n") if " walls " in line]
        self.assertTrue(line.startswith("BAD"), line)
        self.assertIn("this process may not make a user namespace", line)
        self.assertIn("user.max_user_namespaces", line)
        again = self.cook(project, prefix=self.REFUSED)  # no program runs
        self.assertNotIn("walls-missing", again.stderr)

    def test_require_and_off(self):
        project = self.the_project("echo x > Game/other.dat; echo $1 > $2\n")
        refused = self.cook(project, prefix=self.REFUSED, env={"GALLEY_COOK_WALLS": "require"})
        self.assertEqual(refused.code, 3, refused)
        self.assertIn('walls = "require"', refused.stderr)
        off = self.cook(project, env={"GALLEY_COOK_WALLS": "off"})
        self.assertEqual(off.code, 0, off)
        self.assertEqual(self.read("game/content/other.dat"), b"x\n")
        [text] = [w["text"] for w in off.summary["warnings"]]
        self.assertIn("/Game/other.dat changed while the program of /Game/a.obj ran", text)
        wrong = self.cook(project, env={"GALLEY_COOK_WALLS": "some"})
        self.assertEqual(wrong.code, 2, wrong)


if __name__ == "__main__":
    unittest.main()
