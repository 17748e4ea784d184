"""The library for games (common/vfs) on other systems than this one: compiled here, and run under an emulator. scripts/test --devices runs it.

A System says which programs it takes, and which packages of Debian 12 have them. Nothing is installed: where something is missing the system is left out.
"""
import os, re, shutil, subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMIT_S = 600  # of what runs under an emulator
BY_PROCESSOR = "Sha256Test.TheProcessorsInstructionsGiveTheSame"


class System:
    def __init__(self, name, toolchain, programs, packages, suffix=""):
        self.name, self.toolchain, self.programs, self.packages, self.suffix = name, toolchain, programs, packages, suffix
        self.folder = os.path.join(ROOT, "build-devices", toolchain)

    def lacks(self):
        """The programs that are not here, as far as they are needed."""
        return [name for name in ("cmake", "ninja", *self.programs) if not which(name)]

    def program(self, name):
        return os.path.join(self.folder, name + self.suffix)

    def emulator(self):
        raise NotImplementedError

    def environment(self):
        return {}

    def must_use(self):
        """The tests that must not be skipped there."""
        return []

    def end(self):
        """Ends what goes on when the programs have ended."""

    def commands(self):
        """What builds vfs_test and read_file, each with what it does."""
        yield "configuration", ["cmake", "-G", "Ninja", "-S", "common/vfs", "-B", self.folder, "--toolchain", f"{ROOT}/cmake/toolchains/{self.toolchain}.cmake",
                                "-DGALLEY_TESTS=ON", "-DCMAKE_BUILD_TYPE=Dev", "-DCMAKE_C_FLAGS_DEV=-O1", "-DCMAKE_CXX_FLAGS_DEV=-O1"]
        yield "build", ["ninja", "-C", self.folder, "galley_vfs", "vfs_test", "read_file"]


class Arm(System):
    def __init__(self):
        super().__init__("aarch64", "aarch64-linux-gnu", ["aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "qemu-aarch64"],
                         ["g++-aarch64-linux-gnu", "qemu-user"])

    def emulator(self):
        return [which("qemu-aarch64"), "-L", "/usr/aarch64-linux-gnu"]

    def must_use(self):
        return [BY_PROCESSOR]  # qemu has all instructions


class Windows(System):
    def __init__(self):
        super().__init__("Windows", "x86_64-w64-mingw32", ["x86_64-w64-mingw32-gcc-posix", "x86_64-w64-mingw32-g++-posix", "wine64", "wineserver"],
                         ["g++-mingw-w64-x86-64", "wine64"], ".exe")

    def emulator(self):
        return [which("wine64")]

    def environment(self):
        # A folder of its own, no word of its own, no window, and nothing that it would have to download.
        return {"WINEPREFIX": os.path.join(self.folder, "wine"), "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml=", "DISPLAY": ""}

    def must_use(self):
        with open("/proc/cpuinfo") as file:
            return [BY_PROCESSOR] if re.search(r"\bsha_ni\b", file.read()) else []

    def end(self):
        if os.path.isdir(self.environment()["WINEPREFIX"]):
            subprocess.run([which("wineserver"), "-k"], env={**os.environ, **self.environment()}, timeout=60)


SYSTEMS = [Arm(), Windows()]


def which(program):
    """Debian has wine64 in no folder of PATH."""
    return shutil.which(program) or shutil.which(program, path="/usr/lib/wine")


def limited(argv):
    """argv, ended when it takes too long."""
    return ["timeout", "--kill-after=10", str(LIMIT_S), *argv]


def skipped(output):
    """The names of the tests that GoogleTest says it skipped."""
    return sorted(set(re.findall(r"^\[  SKIPPED \] (\w+\.\w+) \(", output, re.M)))
