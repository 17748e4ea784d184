#!/usr/bin/env python3
"""What it costs that workers share no files with the director: the same cooks by two workers of the director's own, and by two that have all
bytes by content over loopback, in turn. Prints a line for each figure; asserts nothing.

usage: farm_bench.py [--bin DIR] [--packages N] [--programs N] [--runs N] [--project DIR | --t1] [--base DIR] [--traces DIR]

The projects: N small JSON files (null_bench.py; default 5,000), whose jobs are so short that the way of the bytes is all there is; N packages (default
500) of a script that runs two programs on four files, whose calls are watched where the project is not; and the sample, or DIR. With --t1 only T1 of
docs/content.md, for one platform.

  local     two workers that read files in their places, each cook with --force
  far       two workers over loopback that find nothing in their cache
  kept      the same with the cache of the cook before
  link      as `far`, through a proxy (tests/bench/far_link.cc) that holds bytes for 5 ms each way and lets 1 Gbit/s pass
Times are medians, from the moment when both workers are attached until the last commit, by the trace: behind that the director gives back dead bytes at
the least priority, which takes long on a busy machine. Ratios are to `local` in the same run. `idle` is how long an executor had no job between its first and its last, by the trace of the run with the least,
and beside it how many pauses of more than 5 ms that were. `fetched` is the bytes of files and blobs that came, beside those that jobs read, in the run
with the most; `attached` the time from a worker's start until the director has noted that it is there, of all starts. --traces keeps the traces.
"""
import argparse, collections, itertools, json, os, re, shutil, signal, statistics, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(1, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "content"))
import null_bench
import real_content

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK = ("--delay-us", "5000", "--bytes-per-s", "125e6")
PAUSE_US = 5_000
FARM = '\n[farm]\nlauncher = "none"\nlisten = "127.0.0.1:0"\nprove = 0\nfar_programs = true\n'


class Trace:
    """What a cook's trace says: `seconds` from the attach of the last worker to the last commit; how long, in us, slots had nothing to do between their
    first and their last job; and how often for longer than PAUSE_US."""

    def __init__(self, path):
        with open(path) as file:
            events = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
        attached = max(event["ts"] for event in events if event["name"] == "attached")
        committed = max(event["ts"] + event["dur"] for event in events if event.get("cat") == "commit")
        self.seconds = (committed - attached) / 1e6
        rows = collections.defaultdict(list)
        for event in events:
            if event.get("cat") in ("load", "save"):
                rows[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        self.idle = self.pauses = 0
        for row in rows.values():
            until = min(row)[0]
            for begin, end in sorted(row):
                self.idle += max(0, begin - until)
                self.pauses += begin - until > PAUSE_US
                until = max(until, end)


class FarLink:
    """far_link in front of the director at `target`, while it lives."""

    def __init__(self, program, target):
        self.process = subprocess.Popen([program, "--target", target, *LINK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def end(self):
        """What it tells of itself."""
        self.process.stdin.close()
        told = json.loads(self.process.stdout.read())
        self.process.wait()
        return told


class Cook:
    """One that ended."""

    def __init__(self, told, trace, fetched=0, link=None):
        self.told, self.trace, self.fetched, self.link = told, Trace(trace), fetched, link


class Bench:
    def __init__(self, bin_directory, base, traces=None):
        self.bin = bin_directory
        self.galley = os.path.join(bin_directory, "galley")
        self.base = base
        self.traces = traces
        self.cooks = 0
        self.env = dict(os.environ, HOME=base)
        self.attach_seconds = []

    def cook(self, root, *options):
        self.cooks += 1
        self.summary = os.path.join(self.base, "summary.json")
        self.trace = os.path.join(self.traces or self.base, f"trace-{self.cooks if self.traces else 0}.json")
        return subprocess.Popen([self.galley, "cook", "--project", root, "--force", "--quiet", "--no-stage", "--summary", self.summary, "--trace", self.trace,
                                 *options], env=self.env)

    def ended(self, process):
        """The summary."""
        if process.wait() != 0:
            sys.exit(f"the cook ended with {process.returncode}")
        with open(self.summary) as file:
            return json.load(file)

    def local(self, root):
        process = self.cook(root, "--workers", "2")
        return Cook(self.ended(process), self.trace)

    def far(self, root, cache, is_linked=False):
        state = os.path.join(root, ".galley/state")
        address = os.path.join(state, "farm-address")
        log = os.path.join(state, "logs/director.log")
        before = self.attached(log)
        process = self.cook(root)
        while not os.path.exists(address):
            time.sleep(0.005)
        link, where = None, []
        if is_linked:
            with open(address) as file:
                link = FarLink(os.path.join(self.bin, "far_link"), file.read().strip())
            where = ["--director", link.address]
        workers = []
        started = time.perf_counter()
        for i in range(2):
            out = open(os.path.join(self.base, f"worker{i}.log"), "w")
            workers.append((subprocess.Popen([self.galley, "worker", "--project", root, "--slots", "1", "--cache", cache, "--name", f"far-{i}", *where],
                                             env=self.env, stdout=out, stderr=out), out))
        came = before
        while came < before + 2:
            time.sleep(0.002)
            now = self.attached(log)
            self.attach_seconds += [time.perf_counter() - started] * (now - came)
            came = now
        told = self.ended(process)
        fetched = 0
        for worker, out in workers:
            worker.send_signal(signal.SIGTERM)
            worker.wait()
            out.close()
            with open(out.name) as file:
                fetched += int(re.search(r"fetched_bytes=(\d+)", file.read()).group(1))
        return Cook(told, self.trace, fetched, link.end() if link is not None else None)

    def attached(self, log):
        try:
            with open(log) as file:
                return file.read().count("attached machine=")
        except FileNotFoundError:
            return 0

    def compare(self, name, root, runs):
        far_root = root + "-far"
        shutil.copytree(root, far_root)
        with open(os.path.join(far_root, "galley.toml")) as file:
            text = file.read()
        with open(os.path.join(far_root, "galley.toml"), "w") as file:
            file.write(text.replace(root + "/store", far_root + "/store") + FARM)
        time.sleep(2.1)  # digests of files that changed less than two seconds ago are not kept
        # A new folder for each empty cache: ext4 takes long to make files where many were removed just now.
        caches = (os.path.join(self.base, f"cache-{i}") for i in itertools.count())
        cooks = collections.defaultdict(list)
        for _ in range(runs):
            cooks["local"].append(self.local(root))
            cache = next(caches)
            cooks["far"].append(self.far(far_root, cache))
            cooks["kept"].append(self.far(far_root, cache))
            cooks["link"].append(self.far(far_root, next(caches), is_linked=True))
        told = cooks["local"][0].told
        for cook in itertools.chain(*cooks.values()):
            if cook.told["roots"] != told["roots"]:
                sys.exit(f"{name}: other roots: {told['roots']} {cook.told['roots']}")
        reference = statistics.median(cook.trace.seconds for cook in cooks["local"])
        read = told["bytes"]["read"]
        print(f"{name}: {told['packages']['in_cook']} packages, jobs read {read} bytes")
        for kind, ended in cooks.items():
            median = statistics.median(cook.trace.seconds for cook in ended)
            idle = min((cook.trace for cook in ended), key=lambda trace: trace.idle)
            line = f"  {kind:8}  {median:7.2f} s  {median / reference:5.2f} of local, idle {idle.idle / 1000:.0f} ms ({idle.pauses})"
            if kind != "local":
                fetched = max(cook.fetched for cook in ended)
                line += f", fetched {fetched} bytes, {fetched / max(1, read):.3f} of what was read"
            if kind == "link":
                line += f"; the link took {ended[-1].link['processor_s']:.2f} s of a processor, {ended[-1].link['up_bytes']} bytes went up"
            print(line)
        attach = sorted(self.attach_seconds)
        print(f"  attached  {1000 * statistics.median(attach):7.0f} ms after its start, the median of {len(attach)}; at most {1000 * attach[-1]:.0f} ms")
        sys.stdout.flush()


def make_t1(root):
    content = os.path.join(root, "content")
    os.makedirs(content)
    for package in real_content.DEBIAN_T1:
        real_content.unpack_debian(package, content)
    with open(os.path.join(root, "galley.toml"), "w") as file:
        file.write(real_content.project(["pc"]))


def make_programs(root, count):
    os.makedirs(os.path.join(root, "content/parts"))
    os.makedirs(os.path.join(root, "tools"))
    with open(os.path.join(root, "galley.toml"), "w") as file:
        file.write('[project]\nname = "programs"\n[[mount]]\npath = "/Game"\ndir = "content"\n[[platform]]\nname = "pc"\ntexture = "bc"\n'
                   'shader = "spirv-1.5"\n[[rule]]\nmatch = "/Game/*.in"\ncooker = "command"\n'
                   'settings = { argv = ["tools/join", "{input}", "{output:.out}", "{depfile}"], outputs = [".out"] }\n')
    with open(os.path.join(root, "tools/join"), "w") as file:
        file.write('#!/bin/sh\nset -e\ncat "$1" Game/parts/[abc] | tr a-z A-Z > "$2"\necho "$2: Game/parts/a Game/parts/b Game/parts/c" > "$3"\n')
    os.chmod(os.path.join(root, "tools/join"), 0o755)
    for name in "abc":
        with open(os.path.join(root, "content/parts", name), "w") as file:
            file.write(name * 10_000)
    for i in range(count):
        with open(os.path.join(root, f"content/{i}.in"), "w") as file:
            file.write(f"the input {i}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build-release/bin"))
    parser.add_argument("--packages", type=int, default=5_000)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--project", default=os.path.join(ROOT, "tests/content/sample"))
    parser.add_argument("--t1", action="store_true")
    parser.add_argument("--base")
    parser.add_argument("--traces")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="farm-bench-", dir=arguments.base) as base:
        if arguments.traces:
            os.makedirs(arguments.traces, exist_ok=True)
        bench = Bench(os.path.abspath(arguments.bin), base, arguments.traces)
        if arguments.t1:
            t1 = os.path.join(base, "t1")
            make_t1(t1)
            return bench.compare("T1", t1, arguments.runs)
        small = os.path.join(base, "small")
        null_bench.make_project(small, arguments.packages)
        bench.compare("small files", small, arguments.runs)
        programs = os.path.join(base, "programs")
        make_programs(programs, arguments.programs)
        bench.compare("programs", programs, arguments.runs)
        project = os.path.join(base, "project")
        shutil.copytree(arguments.project, project, symlinks=True, ignore=shutil.ignore_patterns(".galley"))
        bench.compare(os.path.basename(arguments.project.rstrip("/")), project, arguments.runs)


if __name__ == "__main__":
    main()
