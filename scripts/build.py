"""Configures and builds Galley, and says how far it is. scripts/quickstart, test and bench build by this.

usage: scripts/build.py PRESET FOLDER [TARGET ...]

FOLDER, below the repository's top, is configured by the CMake preset when that was not done yet, or when packages came or went since: what was not
installed then was left out of the configuration. On a terminal Ninja's own line shows the progress; elsewhere a line comes every 15 s.
"""
import hashlib, os, subprocess, sys, time

sys.dont_write_bytecode = True
from progress import NINJA_STATUS, PERIOD_S, Ninja, follow, has_terminal

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STAMP = "configured-with"  # in the build folder: the packages that were installed then, as a digest


def say(text):
    print(f"== {text}", flush=True)


def installed():
    """A digest of the names and versions of all packages that are installed."""
    listed = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version} ${db:Status-Status}\n"], stdout=subprocess.PIPE, check=True).stdout
    return hashlib.sha256(listed).hexdigest()


def is_configured(folder, packages):
    try:
        with open(os.path.join(folder, STAMP)) as file:
            return file.read().strip() == packages and os.path.exists(os.path.join(folder, "build.ninja"))
    except FileNotFoundError:
        return False


def configure(preset, folder):
    """Does nothing when the folder is configured, with the packages that are there. What was set by hand in its cache stays."""
    packages = installed()
    if is_configured(folder, packages):
        return 0
    say(f"configuring {os.path.relpath(folder, ROOT)}")
    code = subprocess.run(["cmake", "--preset", preset, "-B", folder], cwd=ROOT, stdout=subprocess.DEVNULL).returncode
    if code == 0:
        with open(os.path.join(folder, STAMP), "w") as file:
            file.write(packages + "\n")
    return code


def inputs_in(text):
    """What `ninja -t query` names as the inputs of what it was asked about."""
    inputs, is_input = [], False
    for line in text.splitlines():
        if line.startswith("    "):
            if is_input:
                inputs.append(line.strip().lstrip("| "))
        else:
            is_input = line.startswith("  input:")
    return inputs


def parts_of_all(folder):
    """What Ninja builds when it is told nothing, as targets. CMake has a target `<folder>/all` for each folder; these are taken apart."""
    # A change of a CMakeLists.txt comes first: the query alone would read the graph from before it.
    again = subprocess.run(["ninja", "-C", folder, "build.ninja"], text=True, stdout=subprocess.PIPE)
    if again.returncode != 0:
        print(again.stdout, end="", flush=True)  # what CMake said
        sys.exit(again.returncode)
    parts, groups = [], ["all"]
    while groups:
        listed = subprocess.run(["ninja", "-C", folder, "-t", "query", *groups], text=True, stdout=subprocess.PIPE, check=True).stdout
        inputs = inputs_in(listed)
        groups = [name for name in inputs if name.endswith("/all")]
        parts += [name for name in inputs if not name.endswith("/all")]
    return parts


def build(preset, directory, targets=(), period_s=PERIOD_S):
    """0, or the exit code of the first program that failed; that has said why."""
    began = time.monotonic()
    folder = os.path.join(ROOT, directory)
    code = configure(preset, folder)
    if code != 0:
        return code
    argv = ["ninja", "-C", folder, *targets]
    if has_terminal():
        code = subprocess.run(argv, env={**os.environ, "NINJA_STATUS": "built %f of %t, %e s: "}).returncode
    else:
        code = follow(argv, Ninja(), say, period_s, env={**os.environ, "NINJA_STATUS": NINJA_STATUS})
    if code == 0:
        say(f"built {directory} in {time.monotonic() - began:.0f} s")
    return code


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        sys.exit(build(sys.argv[1], sys.argv[2], sys.argv[3:]))
    except KeyboardInterrupt:
        print("interrupted; what is built is kept, and the same command goes on from there", file=sys.stderr)
        sys.exit(130)
