"""The power is cut while a store is written: what it acknowledged is there afterwards.

A cycle: an ext4 file system in a loop device; store_driver writes to a store on it, its acknowledgements go elsewhere; after a while
the ioctl EXT4_IOC_SHUTDOWN without a flush of the log takes everything that was not synced, renames too; the driver is killed, the
file system mounted again, and the driver asks the store for all that was acknowledged.

GALLEY_POWER_CYCLES: how many (`scripts/test --power`: 100). GALLEY_POWER_SEED: the first one.
"""
import fcntl, os, random, struct, subprocess, time, unittest

from harness import BIN, E2ETest, wait_until

DRIVER = os.path.join(BIN, "store_driver")
CYCLES = int(os.environ.get("GALLEY_POWER_CYCLES", 3))
SEED = int(os.environ.get("GALLEY_POWER_SEED", 1))
EXT4_IOC_SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2
IMAGE_BYTES = 256 << 20
CYCLES_OF_A_STORE = 4  # then another one: each finds what the ones before it left


def why_not():
    if os.geteuid() != 0:
        return "it takes root to mount"
    if not os.path.exists("/dev/loop-control"):
        return "there are no loop devices"
    free = subprocess.run(["losetup", "-f"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return None if free.returncode == 0 else f"there is no free loop device: {free.stdout.strip()}"


def run(*argv):
    done = subprocess.run(argv, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(argv)}: {done.stdout}")
    return done.stdout.strip()


class Disk:
    """An ext4 file system that is there while this is; its power can be cut."""

    def __init__(self, image, folder):
        self.image, self.folder, self.device, self.is_mounted = image, folder, None, False

    def __enter__(self):
        try:
            with open(self.image, "wb") as file:
                file.truncate(IMAGE_BYTES)
            run("mkfs.ext4", "-q", "-F", self.image)
            os.makedirs(self.folder, exist_ok=True)
            self.device = run("losetup", "-f", "--show", self.image)
            self.mount()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.unmount()
        finally:
            if self.device is not None:
                run("losetup", "-d", self.device)
                self.device = None

    def mount(self):
        run("mount", "-t", "ext4", self.device, self.folder)
        self.is_mounted = True

    def unmount(self):
        if self.is_mounted:
            run("umount", self.folder)
            self.is_mounted = False

    def cut(self):
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(folder, EXT4_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        finally:
            os.close(folder)


class PowerTest(E2ETest):
    def cycle(self, disk, seed, acknowledged):
        """One cut; True when something had been acknowledged before it."""
        rng = random.Random(seed)
        store = os.path.join(disk.folder, "store")
        before = os.path.getsize(acknowledged)
        drivers = []
        try:
            # The owner alone, or processes that share it.
            count, shared = rng.choice([(1, []), (1, ["--shared"]), (2, ["--shared"])])
            for number in range(count):
                with open(acknowledged, "ab") as output:
                    drivers.append(subprocess.Popen([DRIVER, "write", store, str(seed * 10 + number), "4", "0", *shared],
                                                    stdout=output, stderr=subprocess.DEVNULL))
            # Now and then the cut comes while it is opened.
            if rng.random() < 0.8:
                wait_until(lambda: os.path.getsize(acknowledged) > before or drivers[0].poll() is not None, "something acknowledged")
            time.sleep(rng.uniform(0.05, 0.4))
            disk.cut()
        finally:
            for driver in drivers:
                driver.kill()
                driver.wait()
        disk.unmount()
        disk.mount()
        check = subprocess.run([DRIVER, "check", store, acknowledged], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(check.returncode, 0, f"seed {seed}: {check.stdout[-4000:]}")
        return os.path.getsize(acknowledged) > before

    def test_what_was_acknowledged_survives_a_power_cut(self):
        why = why_not()
        if why:
            print(f"power: 0 cycles, skipped: {why}", flush=True)
            self.skipTest(why)
        effective, lines, began = 0, 0, time.monotonic()
        for first in range(0, CYCLES, CYCLES_OF_A_STORE):
            acknowledged = self.write(f"acknowledged-{first}", "")
            with Disk(self.path("image"), self.path("disk")) as disk:
                for number in range(first, min(first + CYCLES_OF_A_STORE, CYCLES)):
                    effective += self.cycle(disk, SEED + number, acknowledged)
            with open(acknowledged, "rb") as file:
                lines += len(file.readlines())
        print(f"power: {CYCLES} cycles, seeds {SEED} to {SEED + CYCLES - 1}, {lines} acknowledged, none lost, "
              f"{time.monotonic() - began:.0f} s", flush=True)
        # It is no test when nothing is written.
        self.assertGreater(effective, CYCLES // 2)


if __name__ == "__main__":
    unittest.main()
