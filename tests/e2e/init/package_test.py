"""The Debian package, installed in a fresh Debian 12: it brings all that a cook needs, its services run under a real systemd, and it leaves nothing behind.
Needs root, mmdebstrap and lintian: scripts/test --farm. The package is that of the build folder."""
import glob, os, re, shutil, subprocess, sys, tempfile, unittest

from farm.farm_test import FARM, TOOL
from fresh_system import FreshSystem, make_base
from harness import BIN, E2ETest, SAMPLE, SOURCE, read_file, wait_until

BUILD = os.path.dirname(os.path.abspath(BIN))
NEEDED = ["mmdebstrap", "lintian", "dpkg-shlibdeps", "openssl"]
FOR_SERVICES = ["systemd", "systemd-sysv", "dbus"]
LISTEN = """
[farm]
launcher = "none"
listen = "127.0.0.1:9010"
tls_ca = "/etc/galley/certs/ca.pem"
tls_cert = "/etc/galley/certs/director.pem"
tls_key = "/etc/galley/certs/director.key"
"""


def make_package(folder):
    """The path of the .deb."""
    subprocess.run(["cpack", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", folder], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    return glob.glob(os.path.join(folder, "galley_*.deb"))[0]


@unittest.skipUnless(os.geteuid() == 0 and all(map(shutil.which, NEEDED)), f"needs root and {', '.join(NEEDED)}: scripts/test --farm")
class PackageTest(E2ETest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="galley-package-")
        cls.addClassCleanup(lambda: shutil.rmtree(cls.folder, ignore_errors=True))
        cls.package = make_package(cls.folder)
        cls.base = os.path.join(cls.folder, "base")
        make_base(cls.base)

    def system(self):
        """A fresh system in which the package is."""
        system = FreshSystem(self, self.base)
        shutil.copy(self.package, system.path("/root"))
        system.install(f"/root/{os.path.basename(self.package)}")
        return system

    def files_of(self, system):
        """Of the whole system, but for what other programs keep of their own running."""
        found = {}
        for folder, folders, names in os.walk(system.root):
            for name in names + folders:
                path = os.path.join(folder, name)
                found[path.removeprefix(system.root)] = os.readlink(path) if os.path.islink(path) else os.path.getsize(path) if name in names else None
        return found

    # ------------------------------------------------------------ the package by itself

    def test_lintian_finds_nothing(self):
        done = subprocess.run(["lintian", "--fail-on", "error,warning", "--allow-root", "--tag-display-limit", "0", self.package], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stdout)

    def test_the_same_programs_make_the_same_package(self):
        with tempfile.TemporaryDirectory(prefix="galley-again-") as folder:
            self.assertEqual(read_file(make_package(folder)), read_file(self.package))

    # ------------------------------------------------------------ in a fresh system

    def test_a_person_cooks_with_it(self):
        system = self.system()
        system.run("useradd", "--create-home", "ann")
        version = subprocess.run([os.path.join(BIN, "galley"), "--version"], text=True, stdout=subprocess.PIPE, check=True).stdout
        for program in ("galley", "galley-director", "galley-worker", "galley-cook"):
            system.run(program, "--help", user="ann")
        self.assertEqual(system.run("galley", "--version", user="ann"), version)
        os.makedirs(system.path("/home/ann/own/art"))
        for name in ("content/textures/brick_albedo.png", "engine/shaders/unlit.frag"):
            shutil.copy(os.path.join(SAMPLE, name), system.path("/home/ann/own/art"))
        shutil.copytree(os.path.join(SAMPLE, "engine/shaders/include"), system.path("/home/ann/own/art/include"))
        system.run("chown", "-R", "ann:ann", "/home/ann/own")
        for command in ("init", "cook", "doctor"):
            said = system.run("sh", "-ec", f"cd /home/ann/own; galley {command}", user="ann")
        self.assertNotIn("BAD", said)
        self.assertTrue(os.path.exists(system.path("/home/ann/own/.galley/cooked/windows/Game/brick_albedo.png.ktx2")))

    def test_shells_and_man_find_what_belongs_to_them(self):
        system = self.system()
        system.install("man-db", "bash-completion", "zsh", "fish")
        for page in ("galley", "galley-director", "galley-worker", "galley-cook"):
            self.assertRegex(system.run("man", page), r"(?i)galley")
        words = system.run("bash", "-ec", ". /usr/share/bash-completion/bash_completion; _completion_loader galley || true; "
                           "COMP_WORDS=(galley coo); COMP_CWORD=1; COMP_LINE='galley coo'; COMP_POINT=10; "
                           "complete -p galley; $(complete -p galley | sed 's/.*-F \\([^ ]*\\).*/\\1/') galley coo galley; echo \"${COMPREPLY[@]}\"")
        self.assertRegex(words, r"(?m)^cook ?$")
        self.assertIn("cook", system.run("fish", "-c", "complete --do-complete 'galley coo'"))
        self.assertIn("_galley", system.run("zsh", "-fc", "autoload -Uz compinit; compinit -u -d /tmp/zcompdump; echo $_comps[galley]"))

    def test_what_it_brought_goes_with_it_and_nothing_else(self):
        system = FreshSystem(self, self.base)
        shutil.copy(self.package, system.path("/root"))
        package = f"/root/{os.path.basename(self.package)}"
        # (The libraries stay, and belong to others.)
        needed = re.findall(r"^Inst (\S+)", system.run("apt-get", "install", "-s", "-qq", "--no-install-recommends", package), re.M)
        system.install(*(name for name in needed if name != "galley"))
        before = self.files_of(system)
        system.install(package)
        added = set(self.files_of(system)) - set(before)
        self.assertIn("/usr/bin/galley", added)
        self.assertIn("/etc/galley/store.conf", added)
        system.run("sh", "-ec", "mkdir -p /etc/galley/workers/tower /var/lib/galley/store /var/cache/galley/worker; echo mine > /etc/galley/workers/tower/conf; "
                   "echo mine > /var/lib/galley/store/id; echo fetched > /var/cache/galley/worker/x; chown -R galley: /var/lib/galley")
        system.run("apt-get", "remove", "-y", "-qq", "galley")
        self.assertTrue(os.path.exists(system.path("/etc/galley/store.conf")), "a file of configuration stays until the purge")
        system.run("apt-get", "purge", "-y", "-qq", "galley")
        after = self.files_of(system)
        ours = lambda path: not path.startswith(("/var/lib/dpkg/", "/var/lib/apt/", "/var/cache/apt/", "/var/log/", "/tmp", "/run/", "/proc/", "/dev/", "/var/cache/debconf/"))
        kept = {path for path in set(after) - set(before) if ours(path)}
        self.assertEqual(kept, {"/etc/galley", "/etc/galley/workers", "/etc/galley/workers/tower", "/etc/galley/workers/tower/conf", "/var/lib/galley",
                                "/var/lib/galley/store", "/var/lib/galley/store/id"} | {path for path in kept if re.fullmatch(r"/etc/(passwd|group|g?shadow)-", path)})
        self.assertEqual({path for path in set(before) - set(after) if ours(path)}, set())
        self.assertEqual([path for path in before if ours(path) and after[path] != before[path] and not os.path.basename(path).startswith(
            ("passwd", "group", "shadow", "gshadow", ".pwd.lock", "ld.so.cache", "aux-cache"))], [])

    # ------------------------------------------------------------ images

    def buildah(self, *command):
        done = subprocess.run(["buildah", "--root", self.path("images"), "--runroot", self.path("images-run"), "--storage-driver", "vfs", *command], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, f"buildah {' '.join(command)}: {done.stdout[-6000:]}")
        return done.stdout.strip()

    @unittest.skipUnless(shutil.which("buildah"), "needs buildah: scripts/test --farm")
    def test_images_are_built_from_it(self):
        # (No registry is asked: the fresh system is the image that the file begins with. Without an OCI runtime, which wants control groups of its own.)
        base = self.buildah("from", "scratch")
        subprocess.run(["cp", "-a", self.base + "/.", self.buildah("mount", base)], check=True)
        self.buildah("commit", "--quiet", base, "debian:bookworm-slim")
        os.makedirs(self.path("context"))
        shutil.copy(self.package, self.path("context"))
        shutil.copytree(SAMPLE, self.path("sample"), ignore=shutil.ignore_patterns(".galley"))
        for target, programs in (("worker", ["galley"]), ("director", ["git", "ssh", "kubectl"])):
            self.buildah("bud", "--isolation", "chroot", "--pull-never", "--target", target, "--tag", f"galley-{target}", "--file",
                         os.path.join(SOURCE, "deploy/container/Containerfile"), self.path("context"))
            container = self.buildah("from", "--pull-never", f"localhost/galley-{target}")
            self.buildah("copy", "--chown", "1000:1000", container, self.path("sample"), "/project")
            in_it = lambda *command: self.buildah("run", "--isolation", "chroot", container, "--", *command)
            self.assertEqual(in_it("id", "-u"), "1000")
            for program in programs:
                in_it("sh", "-c", f"command -v {program}")
            self.assertRegex(in_it("galley", "cook", "--workers", "2"), r"[1-9]\d+ cooked, .* 0 failed results")
            self.buildah("rm", container)

    # ------------------------------------------------------------ its services

    def project(self, system):
        """The sample at /srv/tower, which the user galley owns, and certificates for its farm."""
        shutil.copytree(SAMPLE, system.path("/srv/tower"), symlinks=True, ignore=shutil.ignore_patterns(".galley"))
        with open(system.path("/srv/tower/galley.toml"), "r+") as file:
            toml = TOOL.sub('cooker = "copy"\n', FARM.sub("", file.read()))
            file.seek(0)
            file.truncate()
            file.write(toml + LISTEN)
        subprocess.run([os.path.join(SOURCE, "deploy/dev-certs"), system.path("/etc/galley/certs"), "127.0.0.1"], check=True, stderr=subprocess.DEVNULL)
        system.run("chown", "-R", "galley:galley", "/srv/tower", "/etc/galley/certs")

    def configure_worker(self, system, name, token):
        folder = f"/etc/galley/workers/{name}"
        os.makedirs(system.path(folder), mode=0o700)
        for file in ("ca.pem", "worker.pem", "worker.key"):
            shutil.copy(system.path(f"/etc/galley/certs/{file}"), system.path(folder))
        for file, text in (("conf", 'DIRECTOR=127.0.0.1:9010\nOPTIONS="--slots 2"\n'), ("token", token)):
            with open(system.path(f"{folder}/{file}"), "w") as opened:
                opened.write(text)
            os.chmod(system.path(f"{folder}/{file}"), 0o600)
        system.run("chown", "-R", "root:root", folder)

    def cook(self, system, *options):
        return system.start("runuser", "-u", "galley", "--", "galley", "cook", "--project", "/srv/tower", *options)

    def ended(self, cook):
        said, _ = cook.communicate(timeout=240)
        self.assertEqual(cook.returncode, 0, said)
        return said

    def attached(self, system, count):
        """So many workers, one after the other."""
        log = system.path("/srv/tower/.galley/state/logs/director.log")
        wait_until(lambda: read_file(log).count(b" attached machine=") >= count, f"{count} workers")

    def await_state(self, system, unit, names, *expected):
        def look():
            self.now = system.state_of(unit, *names)
            return self.now == expected
        try:
            wait_until(look, f"{unit}: {expected}")
        except AssertionError:
            self.fail(f"{unit} is {self.now} and not {expected}:\n" + system.run("journalctl", "-u", unit, "--no-pager", "-n", "50", code=None))

    def test_units_are_what_systemd_takes(self):
        system = self.system()
        system.install(*FOR_SERVICES, "man-db")
        units = [f"/lib/systemd/system/{name}" for name in ("galley-director@.service", "galley-worker@.service", "galley-store.service")]
        # An instance of a template: what its name stands for must be there.
        said = system.run("systemd-analyze", "verify", "--man=yes", *(unit.replace("@.", "@srv-tower.") for unit in units))
        self.assertEqual([line for line in said.splitlines() if "galley" in line], [])
        for unit in units:
            told = system.run("systemd-analyze", "security", "--offline=yes", "--no-pager", unit)
            print(f"[{os.path.basename(unit)}: {re.search(r'Overall exposure level.*: (.*)', told)[1]}]", end=" ", file=sys.stderr, flush=True)

    def test_a_store_is_served_on_loopback_until_somebody_says_otherwise(self):
        system = self.system()
        system.install(*FOR_SERVICES)
        system.boot()
        # `start` returns when it listens.
        system.run("systemctl", "start", "galley-store.service")
        said = system.run("journalctl", "-u", "galley-store", "--no-pager")
        self.assertIn("serving /var/lib/galley/store at grpc://127.0.0.1:8980", said)
        with open(system.path("/etc/galley/store.conf"), "a") as file:
            file.write('OPTIONS="--max-size 1GiB --listen 127.0.0.1:9999"\n')
        system.run("systemctl", "restart", "galley-store.service")
        self.assertIn("at grpc://127.0.0.1:9999", system.run("journalctl", "-u", "galley-store", "--no-pager"))
        system.run("systemctl", "stop", "galley-store.service")
        self.assertEqual(system.state_of("galley-store.service", "ActiveState", "Result"), ("inactive", "success"))
        # An option that is wrong: not again.
        with open(system.path("/etc/galley/store.conf"), "a") as file:
            file.write('OPTIONS="--listen 0.0.0.0:9999"\n')
        system.run("systemctl", "start", "galley-store.service", code=1)
        self.assertEqual(system.state_of("galley-store.service", "ActiveState", "ExecMainStatus", "NRestarts"), ("failed", "2", "0"))
        # What is removed runs no more.
        system.run("apt-get", "purge", "-y", "-qq", "galley")
        self.assertTrue(os.path.exists(system.path("/var/lib/galley/store")))

    def test_services_run_end_and_begin_again_as_their_exit_codes_say(self):
        system = self.system()
        system.install(*FOR_SERVICES)
        self.project(system)
        system.boot()

        # A director is started when it is ready; its cooks wait for workers.
        director = "galley-director@srv-tower.service"
        system.run("systemctl", "enable", "--now", director)
        system.run("galley", "status", "--project", "/srv/tower", user="galley")
        first = self.cook(system)
        token = system.path("/srv/tower/.galley/state/farm-token")
        wait_until(lambda: os.path.exists(token), "the token of the farm")
        self.configure_worker(system, "tower", read_file(token).decode())
        worker = "galley-worker@tower.service"
        system.run("systemctl", "enable", "--now", worker)
        self.assertRegex(self.ended(first), r"[1-9]\d+ cooked, .* 0 failed results")

        # Drained, by the director or by a signal that is not systemd's: another one is started.
        system.run("galley", "drain", "--project", "/srv/tower", user="galley")
        self.await_state(system, worker, ("NRestarts", "ActiveState", "SubState"), "1", "active", "running")
        self.assertIn("session ends: drained", system.run("journalctl", "-u", worker, "--no-pager"))
        self.attached(system, 2)
        system.run("systemctl", "kill", "--kill-whom=main", "--signal=TERM", worker)
        self.await_state(system, worker, ("NRestarts", "ActiveState", "SubState"), "2", "active", "running")
        self.assertIn("asked to terminate", system.run("journalctl", "-u", worker, "--no-pager"))
        self.assertRegex(self.ended(self.cook(system, "--force")), r"[1-9]\d+ cooked, .* 0 failed results")
        # What one that was killed had in hand is made by the next.
        self.attached(system, 3)
        forced = self.cook(system, "--force")
        system.run("systemctl", "kill", "--signal=KILL", worker)
        self.assertRegex(self.ended(forced), r" 0 failed results")
        self.await_state(system, worker, ("ActiveState", "SubState"), "active", "running")
        system.run("systemctl", "stop", worker)
        self.assertEqual(system.state_of(worker, "ActiveState", "Result"), ("inactive", "success"))

        # Unfit: not again.
        self.configure_worker(system, "stranger", "0" * 64)
        system.run("systemctl", "start", "galley-worker@stranger.service", code=None)
        unfit = self.cook(system, "--force")  # (from which on it listens)
        self.await_state(system, "galley-worker@stranger.service", ("ActiveState", "ExecMainStatus", "NRestarts"), "failed", "3", "0")

        # A restart of the director ends cooks, and keeps what is finished; the service is there again.
        system.run("systemctl", "restart", director)
        said, _ = unfit.communicate(timeout=240)
        self.assertEqual(unfit.returncode, 3, said)
        self.assertEqual(system.state_of(director, "ActiveState", "SubState"), ("active", "running"))
        system.run("systemctl", "start", worker)
        self.assertRegex(self.ended(self.cook(system)), r" 0 failed results")
        # A project file that is wrong: not again.
        with open(system.path("/srv/tower/galley.toml"), "a") as file:
            file.write("nonsense\n")
        system.run("systemctl", "restart", director, code=1)
        self.assertEqual(system.state_of(director, "ActiveState", "ExecMainStatus", "NRestarts"), ("failed", "2", "0"))


if __name__ == "__main__":
    unittest.main()
