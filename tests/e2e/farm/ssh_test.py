"""Workers that real sshds start, on machines that share no files with the director. Needs root and sshd: scripts/test --farm."""
import os, pwd, re, shutil, signal, socket, subprocess, sys, time, unittest

from farm.farm_test import FarmCase
from harness import COPY, read_file, wait_until
from slurm_cluster import free_ports

SSHD = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
BUSYBOX = shutil.which("busybox")
CONFIG = """Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
"""
CLIENT = """Host *
  IdentityFile {folder}/key
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile {folder}/known_hosts
  LogLevel ERROR
"""


def sockets():
    return {name for name in os.listdir("/tmp") if re.fullmatch(r"galley-[0-9a-f]{16}\.sock", name)}


# What docs/farm.md asks of a machine that is given the programs.
APPLETS = "cat chmod head id mkdir mktemp mv rm sha256sum tail touch uname".split()
# Whoever logs in is in that root, and cannot leave it.
IN_ROOT = """set -e
mount -t tmpfs none "$0"
root=$1; shell=$2; shift 2
for folder in proc dev tmp; do mkdir -p "$root/$folder"; mount --rbind "/$folder" "$root/$folder"; done
mount --bind "$root.shell" "$shell"
exec "$@"
"""


def make_bare_root(folder):
    """A root with a shell, and not one library."""
    for name in ("bin", "root"):
        os.makedirs(os.path.join(folder, name))
    shutil.copy(BUSYBOX, os.path.join(folder, "bin/busybox"))
    for name in ["sh", *APPLETS]:
        os.symlink("busybox", os.path.join(folder, "bin", name))
    with open(folder + ".shell", "w") as file:
        file.write(f'#!/bin/sh\nPATH=/bin exec /usr/sbin/chroot {folder} /bin/sh "$@"\n')
    os.chmod(folder + ".shell", 0o755)
    return folder


class Machine:
    """A sshd in a mount namespace in which a folder is hidden; with a root, what it runs has that root and nothing else."""
    def __init__(self, folder, port, hidden, root=None):
        config = os.path.join(folder, f"sshd-{port}.conf")
        with open(config, "w") as file:
            file.write(CONFIG.format(folder=folder, port=port))
        self.port, self.log = port, os.path.join(folder, f"sshd-{port}.log")
        os.makedirs("/run/sshd", exist_ok=True)
        inside = ['mount -t tmpfs none "$0" && exec "$@"', hidden] if root is None else [IN_ROOT, hidden, root, pwd.getpwuid(0).pw_shell]
        self.process = subprocess.Popen(["unshare", "-m", "sh", "-c", *inside, SSHD, "-D", "-E", self.log, "-f", config],
                                        stdin=subprocess.DEVNULL, start_new_session=True)
        wait_until(self.is_up, "sshd")

    def is_up(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self):
        """With all that it runs, as when the machine goes."""
        below = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True).stdout
        parents = dict(map(int, line.split()) for line in below.splitlines())
        found = [self.process.pid]
        for one in found:
            found += [pid for pid, parent in parents.items() if parent == one]
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()


@unittest.skipUnless(SSHD and os.geteuid() == 0, "needs root and openssh-server: scripts/test --farm")
class SshTest(FarmCase):
    def machines(self, game, count=2, root=None):
        folder = self.path("ssh")
        os.makedirs(folder, exist_ok=True)
        for name in ("host_key", "key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(folder, name)], check=True)
        self.write("ssh/config", CLIENT.format(folder=folder))
        first = free_ports(count)
        machines = [Machine(folder, first + i, game, root) for i in range(count)]
        for machine in machines:
            self.addCleanup(machine.kill)
        self.write("game/farm.hosts", "".join(f"127.0.0.1:{machine.port} slots=1  # one of ours\n" for machine in machines))
        return machines

    def farm(self, extra="", listen="", with_tools=True, count=2, root=None):
        game = self.farm_sample(with_tools=with_tools, farm=f'[farm]\nlauncher = "ssh"\nprove = 0\nhosts = "farm.hosts"\narguments = ["-F", "{self.path("ssh/config")}"]\n'
                                f'{listen}{extra}')
        return game, self.machines(game, count, root)

    def log_of(self, game):
        path = os.path.join(game, ".galley/state/logs/director.log")
        return read_file(path).decode() if os.path.exists(path) else ""

    def attached(self, game, count):
        wait_until(lambda: len(set(re.findall(r"worker=(ssh-\d+) attached", self.log_of(game)))) >= count, f"{count} workers")

    def check(self, game, cook):
        done = self.finish_cook(game, cook)
        self.assertEqual(done.code, 0, done)
        self.assertEqual(done.roots, self.local_roots(game), done)
        return done

    def remote_workers(self):
        found = subprocess.run(["pgrep", "-f", "galley-worker session .*--id ssh-"], capture_output=True, text=True).stdout.split()
        return [int(pid) for pid in found]

    def test_the_roots_are_those_of_a_local_cook(self):
        before = sockets()  # of machines that went
        for listen in ("", 'listen = "127.0.0.1:0"\n'):  # through the connection; to a port
            with self.subTest(listen=listen):
                shutil.rmtree(self.path("game"), ignore_errors=True)
                shutil.rmtree(self.path("ssh"), ignore_errors=True)
                game, machines = self.farm("workers_min = 2\n", listen=listen)
                begun = time.time()
                cook = self.start_cook(game)
                self.attached(game, 2)
                print(f"[2 workers after {time.time() - begun:.1f} s]", end=" ", file=sys.stderr, flush=True)
                self.check(game, cook)
                wait_until(lambda: not self.remote_workers(), "the workers' end")
                self.assertEqual(sockets(), before)
                for machine in machines:
                    machine.kill()

    @unittest.skipUnless(BUSYBOX, "needs busybox-static: scripts/test --farm")
    def test_a_machine_that_has_nothing_of_galley_is_given_it_once(self):
        root = make_bare_root(self.path("root"))
        game, _ = self.farm('program = "bundle"\n', count=1, root=root)
        self.assertNotEqual(subprocess.run(["chroot", root, os.path.join("/bin/galley")], capture_output=True).returncode, 0)
        given = lambda: self.log_of(game).count("gets the programs (")
        self.check(game, self.start_cook(game))
        self.assertEqual(given(), 1)
        programs = os.path.join(root, "root/.cache/galley/programs")
        self.check(game, self.start_cook(game, "--force"))
        self.assertEqual(given(), 1)
        # It is looked at before it is run.
        library = os.path.join(programs, os.listdir(programs)[0], "lib/libstdc++.so.6")
        with open(library, "r+b") as file:
            file.write(b"damaged")
        self.check(game, self.start_cook(game, "--force"))
        self.assertEqual(given(), 2)
        self.assertEqual(len(os.listdir(programs)), 1)
        self.assertEqual(sorted(os.listdir(os.path.join(root, "bin"))), sorted(["busybox", "sh", *APPLETS]))

    def test_a_machine_that_goes_is_no_matter(self):
        game, machines = self.farm("workers_min = 2\n")
        cook = self.start_cook(game)
        self.attached(game, 2)
        machines[0].kill()
        self.check(game, cook)

    def test_real_content_though_a_machine_goes(self):
        game = self.farm_t1(f'[farm]\nlauncher = "ssh"\nhosts = "farm.hosts"\narguments = ["-F", "{self.path("ssh/config")}"]\nworkers_min = 2\n')
        machines = self.machines(game)
        cook = self.start_cook(game)
        self.attached(game, 2)
        time.sleep(5)  # so that it has something to do
        machines[0].kill()
        self.check_t1(game, self.finish_cook(game, cook))

    def test_workers_end_with_their_director(self):
        game, _ = self.farm("workers_min = 2\n")
        cook = self.start_cook(game)
        self.attached(game, 2)
        cook.kill()
        cook.wait()
        wait_until(lambda: not self.remote_workers(), "the workers' end", limit_s=30)

    def test_a_machine_that_cannot_be_reached_is_named_and_the_others_cook(self):
        game, machines = self.farm("workers_min = 2\n")
        machines[0].kill()
        done = self.check(game, self.start_cook(game))
        self.assertTrue(any('did not start, and the cook went on without' in w["text"] and f"port {machines[0].port}: Connection refused" in w["text"]
                            for w in done.summary["warnings"]), done)
        self.assertIn(f"127.0.0.1:{machines[0].port}: ssh failed (255); it said: ssh: connect to host 127.0.0.1 port {machines[0].port}: Connection refused",
                      self.log_of(game))
        machines[1].kill()
        none = self.finish_cook(game, self.start_cook(game, "--force"))
        self.assertEqual(none.code, 3, none)
        self.assertIn("no worker would start: 5 failures in a row, the last: it ended before it attached: 127.0.0.1:", none.stderr)
        self.assertIn("ssh failed (255); it said: ssh: connect to host 127.0.0.1 port ", none.stderr)

    def test_a_program_that_is_not_there_is_named(self):
        game, _ = self.farm('program = "/opt/nothing/galley"\n')
        done = self.finish_cook(game, self.start_cook(game))
        self.assertEqual(done.code, 3, done)
        self.assertIn("exit code 127; it said: ", done.stderr)
        self.assertIn("/opt/nothing/galley", done.stderr)

    def test_neither_arguments_nor_logs_hold_the_token(self):
        game, _ = self.farm("workers_min = 2\n")
        cook = self.start_cook(game)
        self.attached(game, 1)
        seen = subprocess.run(["ps", "-e", "-ww", "-o", "args="], capture_output=True, text=True).stdout
        environment = b"".join(read_file(f"/proc/{pid}/environ") for pid in self.remote_workers())
        self.check(game, cook)
        self.assertNotRegex(seen, r"[0-9a-f]{64}")
        self.assertNotRegex(environment, rb"[0-9a-f]{64}")
        self.assertNotRegex(self.log_of(game), r"token=|ticket")


if __name__ == "__main__":
    unittest.main()
