"""The local store beside what else keeps files by their content, in the same run, on the same file system, all in the page cache.

small          `galley store put` of 4 KB files beside `git hash-object -w --stdin-paths` of the same: files a second; and what the store does
               with 4 KB blobs out of memory, 4,096 to a commit (store_bench.cc). git's loose objects are not synced by default; with
               core.fsync=loose-object each is. Galley's are durable when it ends.
mixed          a tree of 1 GB in some 54,000 files (60 % of its bytes random files of 64 KB to 4 MB, 40 % text of 1 to 16 KB; a fifth of the
               files are copies of others) put into an empty store: `galley store put`; `git add` with core.compression 0, as it comes (nothing
               synced), and with core.fsync=loose-object,index and core.fsyncMethod=batch; `ostree commit` to a bare repository and
               `casync make`, as they come (ostree syncs, casync does not). MB a second, and what the store takes on the disk.
unchanged      that tree put again: beside lstat() of its files in one loop, and beside a walk with lstat().
checkout-link  50,000 names of 512 large files laid out by `galley checkout --link`, and the second time in one process (store_bench.cc), beside a
               loop of link().
open10m        a store of 10 million blobs of 16 bytes opened: after it was closed, and after its owner died behind its last commit.

By hand: tests/bench/store_bench.py BIN [--only ROW] [--dir DIR] [--runs N] [--blobs N]; BIN holds galley and store_bench. What it makes lies below
DIR and is removed at the end.
"""
import argparse, json, os, random, shutil, statistics, subprocess, sys, tempfile, time

KB, MB = 1024, 1024 * 1024
SMALL_FILES = 20_000
TREE_BYTES, TREE_FILES, RANDOM_SHARE, COPY_SHARE = 1_000_000_000, 54_000, 0.6, 0.2
LINK_FILES, LINK_FOLDERS, LINK_NAMES = 512, 50, 50_000
QUIET = {"stdout": subprocess.DEVNULL}


def timed(*argv, **kw):
    began = time.monotonic()
    subprocess.run(argv, check=True, **{**QUIET, **kw})
    return time.monotonic() - began


def bench(bin, *args):
    return json.loads(subprocess.run([f"{bin}/store_bench", *map(str, args)], check=True, text=True, stdout=subprocess.PIPE).stdout)


def load():
    return os.getloadavg()[0]


def disk_bytes(folder):
    """What it takes on the disk, as du tells."""
    return int(subprocess.run(["du", "-s", "-B1", folder], check=True, text=True, stdout=subprocess.PIPE).stdout.split()[0])


class Scratch:
    """Folders on one file system; what was used goes away at the end, not between runs: removing is slow and not what is measured."""

    def __init__(self, parent):
        self.dir = tempfile.mkdtemp(prefix="galley-store-bench-", dir=parent)
        self.count = 0

    def new(self, name):
        self.count += 1
        return f"{self.dir}/{name}{self.count}"


def settle():
    """What was written before is on the disk: nobody pays for another's writes."""
    os.sync()


def git_repository(path, *config):
    subprocess.run(["git", "init", "-q", path], check=True)
    for key, value in config:
        subprocess.run(["git", "-C", path, "config", key, value], check=True)
    return path


def row(rows, workload, kind, value, unit, goal=None):
    rows.append({"workload": "store", "kind": f"{workload} {kind}", "value": round(value, 3), "unit": unit, "load": round(load(), 1)})
    print(f"store {workload:14} {kind:58} {value:12.2f} {unit}{'' if goal is None else f'   (goal {goal})'}   load {load():.1f}", flush=True)


def median_rates(rounds):
    return {name: statistics.median(values) for name, values in rounds.items()}


def small(bin, scratch, runs, rows):
    files = scratch.new("small")
    paths = []
    for i in range(SMALL_FILES):
        if i % 500 == 0:
            os.makedirs(f"{files}/{i // 500}")
        paths.append(f"{files}/{i // 500}/{i}")
        with open(paths[-1], "wb") as file:
            file.write(os.urandom(4 * KB))
    lists = {"": "\n".join(paths), "synced": "\n".join(paths[:SMALL_FILES // 10])}
    taken = {}
    for _ in range(runs):
        for name, config, synced in (("git hash-object", [], ""), ("git hash-object, each synced", [("core.fsync", "loose-object")], "synced")):
            repository = git_repository(scratch.new("git"), *config)
            settle()
            seconds = timed("git", "-C", repository, "hash-object", "-w", "--stdin-paths", input=lists[synced].encode())
            taken.setdefault(name, []).append(lists[synced].count("\n") / seconds)
        settle()
        taken.setdefault("galley store put", []).append(SMALL_FILES / timed(f"{bin}/galley", "store", "put", files, "--store", scratch.new("store"), "--quiet"))
        settle()
        memory = bench(bin, "small", scratch.new("store"), 40_000)
        taken.setdefault("galley's store, out of memory", []).append(memory["blobs"] / memory["seconds"])
    rates = median_rates(taken)
    for name, rate in rates.items():
        row(rows, "small", name, rate, "/s")
    row(rows, "small", "galley store put / git hash-object", rates["galley store put"] / rates["git hash-object"], "", 10)
    row(rows, "small", "out of memory / git hash-object", rates["galley's store, out of memory"] / rates["git hash-object"], "", 10)


def make_tree(folder):
    """Deterministic but for the bytes of random files. Sizes: random files log-uniform, texts triangular with the mean that the count asks for."""
    chance = random.Random(1)
    words = ["".join(chance.choice("etaoinshrdlucmfwypvbgk") for _ in range(chance.randint(2, 9))) for _ in range(4000)]
    pool = " ".join(chance.choices(words, k=1_000_000)).encode()
    made = {"random": [], "text": []}
    bytes_made = {"random": 0, "text": 0}
    count = 0

    def place(kind, data):
        nonlocal count
        if count % 100 == 0:
            os.makedirs(f"{folder}/set{count // 1000}/part{count // 100 % 10}")
        path = f"{folder}/set{count // 1000}/part{count // 100 % 10}/{count}.{kind}"
        with open(path, "wb") as file:
            file.write(data)
        made[kind].append(path)
        bytes_made[kind] += len(data)
        count += 1

    def copy_of(kind):
        with open(chance.choice(made[kind]), "rb") as file:
            return file.read()

    def random_file():
        return os.urandom(int(64 * KB * 64 ** chance.random()))

    def text_file():
        size = int(chance.triangular(KB, 16 * KB, 5.6 * KB))
        begin = chance.randrange(len(pool) - size)
        return b"%d " % count + pool[begin:begin + size]

    for kind, share, new in (("random", RANDOM_SHARE, random_file), ("text", 1 - RANDOM_SHARE, text_file)):
        while bytes_made[kind] < share * TREE_BYTES:
            place(kind, copy_of(kind) if made[kind] and chance.random() < COPY_SHARE else new())
    return count, sum(bytes_made.values())


def put_tree(name, bin, scratch, tree):
    """(seconds, folder of what was made) of one way to keep the tree."""
    store = scratch.new(name.split()[0])
    if name == "galley":
        settle()
        return timed(f"{bin}/galley", "store", "put", tree, "--store", store, "--quiet"), store
    if name.startswith("git"):
        config = [("core.compression", "0")] if "no compression" in name else []
        config += [("core.fsync", "loose-object,index"), ("core.fsyncMethod", "batch")] if "synced" in name else []
        git_repository(store, *config)
        settle()
        return timed("git", f"--git-dir={store}/.git", f"--work-tree={tree}", "add", "-f", "."), store
    if name == "ostree":
        subprocess.run(["ostree", f"--repo={store}", "init", "--mode=bare"], check=True, **QUIET)
        settle()
        return timed("ostree", f"--repo={store}", "commit", "--branch=b", f"--tree=dir={tree}"), store
    os.makedirs(store)
    settle()
    return timed("casync", "make", f"--store={store}/store.castr", f"{store}/tree.caidx", tree), store


def mixed(bin, scratch, runs, rows):
    tree = scratch.new("mixed")
    count, size = make_tree(tree)
    row(rows, "mixed", "files", count, "")
    row(rows, "mixed", "bytes", size / 1e6, "MB")
    names = ["galley", "git, no compression", "git, no compression, synced", "ostree", "casync"]
    taken, disk = {}, {}
    for i in range(runs):
        for name in names + (["git"] if i == 0 else []):  # as it comes: for its size
            seconds, store = put_tree(name, bin, scratch, tree)
            taken.setdefault(name, []).append(size / 1e6 / seconds)
            disk[name] = disk_bytes(store)
            shutil.rmtree(store)
    rates = median_rates(taken)
    for name in names:
        row(rows, "mixed", name, rates[name], "MB/s")
    best = max(names[1:], key=lambda name: rates[name])
    row(rows, "mixed", f"galley / {best}, the best", rates["galley"] / rates[best], "", 3.4)
    for name, bytes in disk.items():
        row(rows, "mixed", f"on the disk, {name}", bytes / 1e6, "MB")
    row(rows, "mixed", "on the disk, galley / git, no compression", disk["galley"] / disk["git, no compression"], "", "at most 1")
    return tree


def unchanged(bin, scratch, runs, rows, tree=None):
    if tree is None:
        tree = scratch.new("mixed")
        make_tree(tree)
    store = scratch.new("store")
    put = [f"{bin}/galley", "store", "put", tree, "--store", store, "--json"]
    subprocess.run(put, check=True, **QUIET)
    # Digests of files that had just been written were not kept; this time they are.
    subprocess.run(put, check=True, **QUIET)
    taken = {}
    for _ in range(max(5, runs)):
        began = time.monotonic()
        report = json.loads(subprocess.run(put, check=True, text=True, stdout=subprocess.PIPE).stdout)
        taken.setdefault("galley store put again", []).append(time.monotonic() - began)
        if report["read_files"] != 0:
            sys.exit(f"unchanged: {report['read_files']} files were read")
        stat = bench(bin, "stat", tree)
        taken.setdefault("lstat() of each", []).append(stat["seconds"])
        taken.setdefault("a walk with lstat()", []).append(stat["walk"])
    times = median_rates(taken)
    for name, seconds in times.items():
        row(rows, "unchanged", name, seconds * 1000, "ms")
    row(rows, "unchanged", "galley / lstat() of each", times["galley store put again"] / times["lstat() of each"], "", "at most 1.5")
    row(rows, "unchanged", "galley / a walk with lstat()", times["galley store put again"] / times["a walk with lstat()"], "")


def checkout_link(bin, scratch, runs, rows):
    store = scratch.new("store")
    root = bench(bin, "tree", store, LINK_FILES, LINK_FOLDERS, LINK_NAMES)["root"]
    taken = {}
    for _ in range(runs):
        links = scratch.new("links")
        os.makedirs(links)
        link = bench(bin, "link", links, LINK_FOLDERS, LINK_NAMES)
        taken.setdefault("link() in a loop", []).append(link["links"] / link["seconds"])
        command = timed(f"{bin}/galley", "checkout", root, scratch.new("out"), "--store", store, "--link", "--quiet")
        taken.setdefault("galley checkout --link", []).append(LINK_NAMES / command)
        done = bench(bin, "checkout", store, root, scratch.new("out"), 2)
        if done["linked"] != LINK_NAMES:
            sys.exit(f"checkout-link: {done['linked']} links, expected {LINK_NAMES}")
        taken.setdefault("in one process, the first time", []).append(LINK_NAMES / done["seconds"][0])
        taken.setdefault("in one process, the second time", []).append(LINK_NAMES / done["seconds"][1])
    rates = median_rates(taken)
    for name, rate in rates.items():
        row(rows, "checkout-link", name, rate, "/s")
    for name in list(rates)[1:]:
        row(rows, "checkout-link", f"{name} / link()", rates[name] / rates["link() in a loop"], "", 0.5)


def open10m(bin, scratch, runs, rows, blobs=10_000_000):
    store = scratch.new("store")
    fill = bench(bin, "fill", store, blobs)
    row(rows, "open10m", "blobs of 16 bytes put", fill["blobs"] / fill["seconds"], "/s")
    row(rows, "open10m", "on the disk", disk_bytes(store) / 1e6, "MB")

    def opened(kind):
        one = bench(bin, "open", store)
        row(rows, "open10m", f"{kind}: opened in", one["seconds"], "s", 1)
        row(rows, "open10m", f"{kind}: resident", one["resident_kib"] / 1024, "MiB", 100)
        row(rows, "open10m", f"{kind}: resident after 10,000 look-ups", one["resident_after_kib"] / 1024, "MiB", 100)

    opened("after it was closed")
    bench(bin, "fill", store, 100_000, "--kill")
    opened("after its owner died")


ROWS = {"small": small, "mixed": mixed, "unchanged": unchanged, "checkout-link": checkout_link, "open10m": open10m}


def store(bin, parent, runs, only=None, blobs=10_000_000):
    rows, tree = [], None
    scratch = Scratch(parent)
    try:
        for name, measure in ROWS.items():
            if only not in (None, name):
                continue
            if name == "unchanged":
                unchanged(bin, scratch, runs, rows, tree)
            elif name == "open10m":
                open10m(bin, scratch, runs, rows, blobs)
            else:
                tree = measure(bin, scratch, runs, rows) or tree
    finally:
        shutil.rmtree(scratch.dir)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--only", choices=list(ROWS))
    parser.add_argument("--dir", default=os.getcwd())
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--blobs", type=int, default=10_000_000)
    args = parser.parse_args()
    store(args.bin, args.dir, args.runs, args.only, args.blobs)


if __name__ == "__main__":
    main()
