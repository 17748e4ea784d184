#!/usr/bin/env python3
"""Devices: what the mount, the library for games and `galley device sync` cost, beside plain files. Prints a line for each figure (value, reference,
ratio, goal, n, spread); asserts nothing.

usage: device_bench.py [--bin DIR] [--only PART[,PART...]] [--base DIR] [--rounds N] [--files N] [--changed N] [--file-bytes N] [--cooked]

  mount    reads through the mount beside plain files: a large file the first time after its size was asked for (it is cooked and fetched then), and
           again; small files that were read before
  blocked  how long a small file takes while many readers of its folder wait for a cook
  reads    small reads of open files through the library, beside pread
  sync     what `galley device sync` fetches when --changed files of --files differ, each of --file-bytes; they are copied, and in
           the tree of a world at once; with --cooked a program makes them when they are asked for
  memory   what a game holds that has opened each of --files files once

Run it on a machine where nothing else runs, with a release build, as root (for the mount). Needs some 8 GB below --base for `sync`.
"""
import argparse, functools, json, os, random, shutil, statistics, subprocess, sys, tempfile, threading, time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fly_director
from fly_director import KB, Director, remove, write_text

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT_S = 3600
LARGE_BYTES = 256 << 20
SMALL_FILES, SMALL_BYTES = 500, 16 << 10
READ_BYTES = 64 << 10
SECONDS = 2.0
TOML = """[project]
name = "devices"
[[mount]]
path = "/Game"
dir = "content"
[[platform]]
name = "pc"
[[rule]]
match = "/Game/**/*.txt"
cooker = "copy"
[[rule]]
match = "/Game/**/*.raw"
cooker = "command"
settings = { argv = ["cp", "{input}", "{output:.bin}"], outputs = [".bin"] }
[[rule]]
match = "/Game/**/*.gated"
cooker = "command"
settings = { argv = ["/bin/sh", "-c", "until [ -e $2/go ]; do sleep 0.05; done; cp $0 $1", "{input}", "{output:.out}", "%s"], outputs = [".out"] }
"""


say = functools.partial(fly_director.say, bench="device")


def make_project(root, files):
    """`files`: path below the content -> bytes."""
    remove(root)
    write_text(os.path.join(root, "galley.toml"), TOML % root)
    for path, data in files:
        path = os.path.join(root, "content", path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    return root


def device_reads(args, *arguments):
    done = subprocess.run([os.path.join(args.bin, "device_reads"), *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    return [float(line) for line in done.stdout.split()]


class Mount:
    def __init__(self, args, root, at):
        self.at = at
        os.makedirs(at, exist_ok=True)
        command = [os.path.join(args.bin, "galley"), "mount", "pc", at, "--project", root, "--json", "--cache", os.path.join(args.base, "mount-cache")]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert '"mounted"' in line, line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)


def in_small_pages(source, target):
    """A copy that the page cache has in pages of 4 KiB, as FUSE has its files: newer kernels keep what is written at once in larger ones."""
    with open(source, "rb") as read, open(target, "wb", buffering=0) as write:
        while piece := read.read(4096):
            write.write(piece)
    return target


def mount(args):
    rng = random.Random(1)
    large = [f"large{i}.txt" for i in range(args.rounds)]
    block = rng.randbytes(1 << 20)

    def files():
        for name in large:
            yield name, b"".join(rng.randbytes(64) + block[64:] for _ in range(LARGE_BYTES >> 20))
        for i in range(SMALL_FILES):
            yield f"{i}.txt", rng.randbytes(SMALL_BYTES)
    root = make_project(os.path.join(args.base, "mount"), files())
    plain = os.path.join(root, "content")
    with Director(args, root), Mount(args, root, os.path.join(args.base, "mnt")) as mounted:
        game = os.path.join(mounted.at, "Game")
        rates = {"plain": [], "in 4 KiB pages": [], "first": [], "again": []}
        for name in large:
            os.stat(os.path.join(game, name))
            device_reads(args, "large", os.path.join(plain, name))  # into the page cache
            rates["plain"] += device_reads(args, "large", os.path.join(plain, name))
            rates["in 4 KiB pages"] += device_reads(args, "large", in_small_pages(os.path.join(plain, name), os.path.join(args.base, "small-pages")))
            rates["first"] += device_reads(args, "large", os.path.join(game, name))
            rates["again"] += device_reads(args, "large", os.path.join(game, name))
        for what, goal in (("first", 0.25), ("again", 0.6)):
            for reference in ("plain", "in 4 KiB pages"):
                ratios = [one / other for one, other in zip(rates[what], rates[reference])]
                say("mount", f"a large file, {what}", statistics.median(rates[what]) / 1e9, "GB/s", reference=statistics.median(rates[reference]) / 1e9,
                    ratio=statistics.median(ratios), goal=goal, n=len(ratios), spread=(min(ratios), max(ratios)),
                    note=f"of the plain file in the page cache{'' if reference == 'plain' else ', which the kernel keeps there in pages of 4 KiB'}")
        ratios, taken = [], []
        for _ in range(args.rounds):
            device_reads(args, "files", game, SMALL_FILES, 0.2)
            reference = device_reads(args, "files", plain, SMALL_FILES, SECONDS)[0]
            taken += device_reads(args, "files", game, SMALL_FILES, SECONDS)
            ratios.append(reference / taken[-1])
        say("mount", f"a file of {SMALL_BYTES >> 10} KiB, again", statistics.median(taken), "us", ratio=statistics.median(ratios), goal=0.6, n=len(ratios),
            spread=(min(ratios), max(ratios)), note="open, read and close; ratio: of the plain file's rate")
    remove(root)


def blocked(args):
    root = make_project(os.path.join(args.base, "blocked"), [(f"{i}.gated", b"%d" % i) for i in range(64)] + [(f"{i}.txt", b"%d" % i) for i in range(200)])
    with Director(args, root), Mount(args, root, os.path.join(args.base, "mnt")) as mounted:
        game = os.path.join(mounted.at, "Game")

        def times(first):
            taken = []
            for i in range(first, first + 100):
                begin = time.perf_counter()
                with open(os.path.join(game, f"{i}.txt"), "rb") as file:
                    file.read()
                taken.append((time.perf_counter() - begin) * 1e3)
            return statistics.median(taken), max(taken)
        alone = times(0)
        readers = [subprocess.Popen(["cat", os.path.join(game, f"{i}.gated.out")], stdout=subprocess.DEVNULL) for i in range(64)]
        time.sleep(1)
        beside = times(100)
        write_text(os.path.join(root, "go"), "")
        for reader in readers:
            reader.wait(60)
        say("blocked", "a first read beside 64 readers that wait", beside[0], "ms", reference=alone[0], ratio=beside[0] / alone[0], n=100,
            spread=(alone[1], beside[1]), note="spread: the longest alone, and beside them")
    remove(root)


def reads(args):
    rng = random.Random(2)
    root = make_project(os.path.join(args.base, "reads"), ((f"{i}.txt", rng.randbytes(READ_BYTES)) for i in range(SMALL_FILES)))
    with Director(args, root) as director:
        ratios, taken = [], []
        for _ in range(args.rounds):
            plain, library = device_reads(args, "reads", f"http://{director.address}", "pc", os.path.join(args.base, "reads-cache"),
                                          os.path.join(root, "content"), SMALL_FILES, 2 * SECONDS)
            taken.append(library)
            ratios.append(plain / library)
        say("reads", "4 KiB of an open file", statistics.median(taken), "ns", ratio=statistics.median(ratios), goal=0.8, n=len(ratios),
            spread=(min(ratios), max(ratios)), note="ratio: of the rate of pread")
    remove(root)
    remove(os.path.join(args.base, "reads-cache"))


def sync(args):
    rng = random.Random(3)
    block = rng.randbytes(args.file_bytes)
    kind = "raw" if args.cooked else "txt"
    root = make_project(os.path.join(args.base, "sync"), ((f"{i // 1000}/{i}.{kind}", b"%16d" % i + block[16:]) for i in range(args.files)))
    target, cache = os.path.join(args.base, "synced"), os.path.join(args.base, "sync-cache")
    remove(target)
    remove(cache)
    with Director(args, root) as director:
        def run():
            command = [os.path.join(args.bin, "galley"), "device", "sync", f"http://{director.address}", "pc", target, "--cache", cache,
                       "--cache-size", "64GiB", "--json"]
            begin = time.perf_counter()
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout.splitlines()[-1]), time.perf_counter() - begin
        first, first_s = run()
        changed = rng.sample(range(args.files), args.changed)
        for i in changed:
            with open(os.path.join(root, "content", f"{i // 1000}/{i}.{kind}"), "wb") as file:
                file.write(b"%16d edited" % i + block[23:])
        again, again_s = run()
        needed = args.changed * args.file_bytes
        say("sync", f"{args.changed} of {args.files} {'cooked ' if args.cooked else ''}files of {args.file_bytes / KB:g} KiB", again["fetched_bytes"] / KB, "KiB", reference=needed / KB,
            ratio=again["fetched_bytes"] / needed, goal=1.01, n=1, note=f"{again_s:.1f} s; the first sync {first_s:.1f} s; {again}")
    for path in (root, target, cache):
        remove(path)


def memory(args):
    root = make_project(os.path.join(args.base, "memory"), ((f"{i // 1000}/{i}.txt", b"%d" % i) for i in range(args.files)))
    cache = os.path.join(args.base, "memory-cache")
    remove(cache)
    with Director(args, root) as director:
        held = device_reads(args, "memory", f"http://{director.address}", "pc", cache, args.files)[0]
        allowed = (2 << 20) + 64 * args.files
        say("memory", f"after {args.files} files", held / KB, "KiB", reference=allowed / KB, ratio=held / allowed, goal=1, n=1,
            note="reference: 2 MB and 64 bytes for each")
    remove(root)
    remove(cache)


PARTS = {"mount": mount, "blocked": blocked, "reads": reads, "sync": sync, "memory": memory}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build-release/bin"))
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--base")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--changed", type=int, default=1_000)
    parser.add_argument("--cooked", action="store_true")
    parser.add_argument("--file-bytes", type=int, default=64 << 10)
    args = parser.parse_args()
    own = None if args.base else tempfile.mkdtemp(prefix="device_bench_")
    args.base = os.path.abspath(args.base or own)
    os.makedirs(args.base, exist_ok=True)
    for part in args.only.split(","):
        PARTS[part](args)
    if own:
        shutil.rmtree(own)


if __name__ == "__main__":
    main()
