"""A fresh Debian 12 below a folder, as root: made by mmdebstrap from where this machine's apt has its packages; commands in it, and its systemd."""
import os, subprocess

from harness import LIMIT_S, wait_until

# As containers have them: /proc/sys and /sys are read-only, so that nothing in there changes this machine; the network is its own loopback.
BOOT = """set -e
echo $$ > "$2/cgroup.procs"
exec unshare --mount --pid --fork --cgroup --ipc --uts --net --kill-child sh -e -c '
  mount --bind "$0" "$0"; cd "$0"
  mount -t proc proc proc; mount --bind proc/sys proc/sys; mount -o remount,bind,ro proc/sys
  mount -t sysfs -o ro sysfs sys; mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount -t tmpfs tmpfs run; mount -t tmpfs tmpfs tmp; mount -t tmpfs -o mode=755 tmpfs dev
  for name in null zero full random urandom tty; do touch dev/$name; mount --bind /dev/$name dev/$name; done
  mkdir dev/shm dev/pts; mount -t tmpfs tmpfs dev/shm; mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
  ln -s /proc/self/fd dev/fd; ln -s pts/ptmx dev/ptmx
  pivot_root . mnt; umount -l /mnt; mount --make-rshared /
  exec env -i container=unshare PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=multi-user.target --show-status=false' "$1"
"""
IN_ROOT = """set -e
mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"
exec chroot "$0" "$@"
"""


def sources():
    """Debian's own packages, as this machine's apt has them: lines for sources.list."""
    said = subprocess.run(["apt-get", "indextargets", "Created-By: Packages", "Origin: Debian", "--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)"],
                          text=True, stdout=subprocess.PIPE, check=True).stdout
    return sorted({line for line in said.splitlines() if " bookworm" in line})


def make_base(folder):
    """A minimal Debian 12 with apt, in this folder. RuntimeError: it cannot be made, with what mmdebstrap said."""
    done = subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "--skip=cleanup/apt/lists", "bookworm", folder, *sources()], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise RuntimeError(f"mmdebstrap cannot make a Debian 12: {done.stdout[-3000:]}")


class FreshSystem:
    """A copy of a base that costs nothing: what is written is in memory, and gone with the test."""

    def __init__(self, test, base, name="system"):
        self.root, layer = test.path(name), test.path(name + ".layer")
        os.makedirs(self.root)
        os.makedirs(layer)
        self.mount(test, "-t", "tmpfs", "tmpfs", layer)
        for part in ("upper", "work"):
            os.mkdir(os.path.join(layer, part))
        self.mount(test, "-t", "overlay", "overlay", "-o", f"lowerdir={base},upperdir={layer}/upper,workdir={layer}/work", self.root)
        self.test, self.systemd = test, None

    def mount(self, test, *options):
        subprocess.run(["mount", *options], check=True)
        test.addCleanup(lambda: subprocess.run(["umount", "--lazy", options[-1]], check=True))

    def path(self, path):
        return self.root + path

    def run(self, *command, user="root", env=None, code=0):
        """What it printed, of a command that ends with this code; None: with any. With a systemd, inside of it."""
        if user != "root":
            command = ("runuser", "-u", user, "--", *command)
        inside = ["nsenter", "--target", str(self.systemd), "--all"] if self.systemd else ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
                                                                                       IN_ROOT, self.root]
        done = subprocess.run([*inside, *command], text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              timeout=LIMIT_S * 3, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", **(env or {})})
        if code is not None:
            self.test.assertEqual(done.returncode, code, f"{' '.join(command)}: {done.stdout[-6000:]}")
        return done.stdout

    def start(self, *command):
        """In the background, inside of systemd's namespaces."""
        return subprocess.Popen(["nsenter", "--target", str(self.systemd), "--all", *command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                stdin=subprocess.DEVNULL, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})

    def install(self, *packages):
        self.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages)

    def boot(self):
        """systemd is process 1 from here on, until the test ends."""
        with open("/proc/mounts") as file:
            mounted = [line.split()[1] for line in file if line.split()[2] == "cgroup2"]
        group = os.path.join(mounted[0], f"galley-test-{os.getpid()}")
        os.mkdir(group)
        def is_removed():
            # (What was killed is in there until it is reaped.)
            try:
                for folder, _, _ in os.walk(group, topdown=False):
                    os.rmdir(folder)
            except OSError:
                return False
            return True
        self.test.addCleanup(lambda: wait_until(is_removed, "the end of all that ran there"))
        outer = subprocess.Popen(["sh", "-c", BOOT, "sh", self.root, group], stdin=subprocess.DEVNULL)
        self.test.addCleanup(lambda: (outer.kill(), outer.wait()))
        def began():
            self.test.assertIsNone(outer.poll(), "systemd has not begun")
            with open(f"/proc/{outer.pid}/task/{outer.pid}/children") as file:
                inner = file.read().split()
            return int(inner[0]) if inner and os.readlink(f"/proc/{inner[0]}/exe").endswith("/systemd") else None
        self.systemd = wait_until(began, "systemd")
        state = lambda: self.run("systemctl", "is-system-running", code=None).strip()
        wait_until(lambda: state() in ("running", "degraded"), "the system's services", LIMIT_S)
        self.test.assertEqual(state(), "running", self.run("systemctl", "--failed", "--no-pager", code=None))

    def state_of(self, unit, *names):
        """Properties of a unit, as systemd names them."""
        said = self.run("systemctl", "show", unit, *(f"--property={name}" for name in names))
        values = dict(line.split("=", 1) for line in said.splitlines())
        return tuple(values[name] for name in names)
