#!/usr/bin/env python3
"""What a cook costs of which nothing, or one file, has changed, beside ninja, `git status` and a loop of fstatat in the same run. Prints a
line for each figure; asserts nothing.

usage: null_bench.py [--bin DIR] [--packages N[,N...]] [--base DIR]

The project: JSON files of 1 KB with 3.7 references each, 250 in a folder, cooked by `data`; every tenth refers to one that many refer to. ninja has a build edge for each file that depends on
it and on what it refers to, and everything is built (its outputs and log are made here, without running anything).

  cook      the first cook
  null      nothing changed, from start to exit, a process of its own
  resident  the same, asked of a director that stays
  touched   all files have new stamps and the bytes of before
  one       one file has other bytes
  new, gone a file comes, and goes again
  many      the file that a tenth of all refer to is written in another way, so that its output is the same
  rule      a rule that matches 1 % of the packages has another setting
  loss      nothing changed, but the store lost something else (a collection)
  since     one file has other bytes, and `--changed-since HEAD` asks git for it; `none, since`: no file has
  resident, 1000   a thousand files have other bytes
  version   `galley --version`
"""
import argparse, json, os, random, shutil, statistics, subprocess, sys, tempfile, time

IN_FOLDER = 250
REFERENCES = 3.7
NINJA_MAX = 200_000  # of more packages it takes half an hour to build for ninja
MANY = 7  # the file that many refer to
SETTING = 'settings = { cell_size = 0 }\n'


def make_project(root, count):
    rng = random.Random(count)
    content = os.path.join(root, "content")
    name = lambda i: f"{i // IN_FOLDER}/{i}.json"
    references = []
    for i in range(count):
        if i % IN_FOLDER == 0:
            os.makedirs(os.path.join(content, str(i // IN_FOLDER)))
        wanted = {rng.randrange(count) for _ in range(3 + (rng.random() < REFERENCES - 3))}
        wanted = sorted(wanted | ({MANY} if i % 10 == 0 else set()))
        references.append(wanted)
        text = json.dumps({"id": i, "refs": [{"$ref": f"/Game/{name(r)}"} for r in wanted]})
        with open(os.path.join(content, name(i)), "w") as file:
            file.write(text[:-1] + ', "pad": "' + "x" * max(0, 1000 - len(text)) + '"}')
    with open(os.path.join(root, "galley.toml"), "w") as file:
        file.write(f'[project]\nname = "null"\n[store]\ndir = "{root}/store"\n[[mount]]\npath = "/Game"\ndir = "content"\n'
                   '[[platform]]\nname = "pc"\n[[rule]]\nmatch = "/Game/**/*.json"\ncooker = "data"\n'
                   f'[[rule]]\nmatch = "/Game/{{{",".join(str(i) for i in range(max(1, count // IN_FOLDER // 100)))}}}/*.json"\n{SETTING}')
    return name, references


def make_ninja(root, name, references):
    """A finished ninja build of the same: all outputs are newer than all inputs, and the log says so."""
    folder = os.path.join(root, "ninja")
    os.makedirs(folder)
    with open(os.path.join(folder, "build.ninja"), "w") as file:
        file.write("rule cook\n  command = cp $in $out\n")
        for i, wanted in enumerate(references):
            implicit = " ".join(f"{root}/content/{name(r)}" for r in wanted)
            file.write(f"build out/{name(i)}: cook {root}/content/{name(i)} | {implicit}\n")
    # (-t restat writes the log for outputs that are there.)
    for i in range(len(references)):
        if i % IN_FOLDER == 0:
            os.makedirs(os.path.join(folder, "out", str(i // IN_FOLDER)))
        with open(os.path.join(folder, "out", name(i)), "w") as file:
            file.write("x" * 300)
    subprocess.run(["ninja", "-C", folder, "--quiet", "-t", "restat"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder, "--quiet", "-j2"], check=True, stdout=subprocess.DEVNULL)
    return folder


class StatLoop:
    """fstatat of each file by its folder: in C, one thread, so that it is the system's cost."""
    SOURCE = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <dirent.h>
static unsigned long look(int folder) {
  unsigned long n = 0;
  DIR* d = fdopendir(folder);
  for (struct dirent* e; (e = readdir(d));) {
    if (e->d_name[0] == '.') continue;
    struct stat s;
    if (fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW)) continue;
    ++n;
    if (S_ISDIR(s.st_mode)) n += look(openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY));
  }
  closedir(d);
  return n;
}
int main(int argc, char** argv) {
  unsigned long n = 0;
  for (int i = 1; i < argc; ++i) n += look(open(argv[i], O_RDONLY | O_DIRECTORY));
  return printf("%lu\n", n) < 0;
}
"""

    def __init__(self, base):
        self.program = os.path.join(base, "stat_loop")
        with open(self.program + ".c", "w") as file:
            file.write(self.SOURCE)
        subprocess.run(["cc", "-O2", "-o", self.program, self.program + ".c"], check=True)


def timed(argv, runs=5, expect=0, env=None, before=None):
    """(median seconds, peak MB)"""
    taken, peak = [], 0
    for _ in range(runs):
        if before:
            before()
        begin = time.perf_counter()
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        taken.append(time.perf_counter() - begin)
        peak = max(peak, usage.ru_maxrss / 1024)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != expect:
            sys.exit(f"{' '.join(argv)}: exit {process.returncode}\n{error.decode()}")
    return statistics.median(taken), peak


def line(what, seconds, peak, reference=None):
    ratio = "" if reference is None else f"  {seconds / reference[0]:6.2f} of ninja, {reference[0] / seconds:5.1f} times as fast"
    print(f"  {what:28} {seconds * 1000:9.1f} ms  {peak:7.0f} MB{ratio}", flush=True)


def bench(bin_directory, base, count):
    root = os.path.join(base, f"p{count}")
    print(f"{count} packages", flush=True)
    name, references = make_project(root, count)
    if count <= NINJA_MAX:
        make_ninja(root, name, references)
    env = dict(os.environ, HOME=base)
    env.pop("GALLEY_STORE_DIR", None)
    galley = [os.path.join(bin_directory, "galley"), "cook", "--project", root, "--quiet"]
    first = timed(galley, 1, env=env)
    line("cook", *first)
    ninja = timed(["ninja", "-C", root + "/ninja", "--quiet"]) if count <= NINJA_MAX else None
    if ninja:
        line("ninja, nothing changed", *ninja)
    sandbox = os.path.join(root, ".galley/cooked")
    loop = StatLoop(base)
    line("loop of fstatat, one core", *timed([loop.program, root + "/content", sandbox]))
    subprocess.run(["git", "init", "-q", root + "/content"], check=True)
    subprocess.run(["git", "-C", root + "/content", "add", "."], check=True)
    line("git status, of the sources", *timed(["git", "-C", root + "/content", "status", "--porcelain", "-uno"]), ninja)
    shutil.rmtree(root + "/content/.git")
    timed(galley, 1, env=env)  # (git left another time at the folder)
    line("null", *timed(galley, env=env), ninja)
    looked = os.path.join(root, ".galley/state/standing")
    line("null, that looks at all", *timed(galley, 3, env=env, before=lambda: shutil.rmtree(looked, ignore_errors=True)), ninja)

    def touch():
        for i in range(count):
            os.utime(os.path.join(root, "content", name(i)))
    line("touched", *timed(galley, 1, env=env, before=touch), ninja)

    def edit(i=count // 2):
        path = os.path.join(root, "content", name(i))
        with open(path) as file:
            text = json.load(file)
        text["edit"] = text.get("edit", 0) + 1
        with open(path, "w") as file:
            json.dump(text, file)
    timed(galley, 1, env=env, before=edit)  # (the first one finds all stamps new in its tables)
    line("one", *timed(galley, 5, env=env, before=edit), ninja)

    def same():
        with open(os.path.join(root, "content", name(MANY)), "a") as file:
            file.write(" ")
    line("many", *timed(galley, 3, env=env, before=same), ninja)
    new = os.path.join(root, "content", "0", "new.json")

    def come():
        with open(new, "w") as file:
            file.write("[]")
    for what, change in (("new", come), ("gone", lambda: os.remove(new)), ("new", come), ("gone", lambda: os.remove(new))):
        line(what, *timed(galley, 1, env=env, before=change), ninja)
    toml = os.path.join(root, "galley.toml")
    with open(toml) as file:
        text = file.read()

    def rule(setting):
        with open(toml, "w") as file:
            file.write(text.replace(SETTING, setting))
    line("rule", *timed(galley, 1, env=env, before=lambda: rule(SETTING.replace("0", "1"))), ninja)
    timed(galley, 1, env=env, before=lambda: rule(SETTING))

    def lose():
        edit()
        subprocess.run(galley, check=True, env=env, stderr=subprocess.DEVNULL)
        subprocess.run([galley[0], "store", "gc", "--max-size", "0", "--project", root], check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    line("loss", *timed(galley, 3, env=env, before=lose), ninja)
    subprocess.run(["git", "init", "-q", root + "/content"], check=True)
    subprocess.run(["git", "-C", root + "/content", "add", "."], check=True)
    subprocess.run(["git", "-C", root + "/content", "-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "gc.auto=0", "commit", "-qm", "all"], check=True)
    timed(galley, 1, env=env)
    timed(galley, 1, env=env, before=edit)  # (the standing of this one says what git said)
    line("since", *timed([*galley, "--changed-since", "HEAD"], 3, env=env, before=edit), ninja)
    line("none, since", *timed([*galley, "--changed-since", "HEAD"], 3, env=env), ninja)
    shutil.rmtree(root + "/content/.git")
    timed(galley, 1, env=env)
    line("version", *timed([galley[0], "--version"], env=env))
    serve = [os.path.join(bin_directory, "galley"), "serve", "--project", root]
    subprocess.run([*serve, "--detach"], check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        timed(galley, 1, env=env)
        line("resident", *timed(galley, env=env), ninja)
        line("resident, one", *timed(galley, 5, env=env, before=edit), ninja)
        line("resident, 1000", *timed(galley, 3, env=env, before=lambda: [edit(i) for i in range(0, count, max(1, count // 1000))]), ninja)
        timed(galley, 1, env=env)
        status = json.loads(subprocess.run([os.path.join(bin_directory, "galley"), "status", "--json", "--project", root], env=env, check=True,
                                           stdout=subprocess.PIPE).stdout)
        with open(f"/proc/{status['process']}/status") as file:
            held = {line.split(":")[0]: line.split()[1] for line in file if line.startswith("Vm")}
        print(f"  the resident director holds {int(held['VmRSS']) / 1024:.0f} MB, at most {int(held['VmHWM']) / 1024:.0f} MB", flush=True)
    finally:
        subprocess.run([*serve, "--stop"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    shutil.rmtree(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--bin", default=os.path.join(here, "build-release", "bin"))
    parser.add_argument("--packages", default="10000,100000")
    parser.add_argument("--base", default=None, help="a folder for the projects; default: a temporary one")
    args = parser.parse_args()
    base = tempfile.mkdtemp(prefix="null-bench-", dir=args.base)
    try:
        for count in args.packages.split(","):
            bench(args.bin, base, int(count))
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
