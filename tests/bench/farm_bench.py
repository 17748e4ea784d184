#!/usr/bin/env python3
"""What it costs that workers share no files with the director: the same cooks by two workers of the director's own, and by two that have all
bytes by content over loopback, in turn. Prints a line for each figure; asserts nothing.

usage: farm_bench.py [--bin DIR] [--packages N] [--programs N] [--runs N] [--project DIR | --t1] [--base DIR]

The projects: N small JSON files (null_bench.py; default 5,000), whose jobs are so short that the way of the bytes is all there is; N packages (default
500) of a script that runs two programs on four files, whose calls are watched where the project is not; and the sample, or DIR. With --t1 only T1 of
docs/content.md, for one platform.

  local     two workers that read files in their places, each cook with --force
  far       two workers over loopback that find nothing in their cache
  kept      the same with the cache of the cook before
  link      as `far`, through a proxy (tests/e2e/link.py) that holds bytes for 5 ms each way and lets 1 Gbit/s pass
Ratios are to `local` in the same run. `fetched` is the bytes of files and blobs that came, beside those that jobs read; `attached` the time from a
worker's start until the director has noted that it is there, of all starts.
"""
import argparse, itertools, json, os, re, shutil, signal, statistics, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(1, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
sys.path.insert(1, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "content"))
import null_bench
import real_content
from link import Link

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK_DELAY_S, LINK_BYTES_PER_S = 0.005, 125e6
FARM = '\n[farm]\nlauncher = "none"\nlisten = "127.0.0.1:0"\nprove = 0\nfar_programs = true\n'


class Bench:
    def __init__(self, bin_directory, base):
        self.galley = os.path.join(bin_directory, "galley")
        self.base = base
        self.env = dict(os.environ, HOME=base)
        self.attach_seconds = []

    def cook(self, root, *options):
        summary = os.path.join(self.base, "summary.json")
        begin = time.perf_counter()
        process = subprocess.Popen([self.galley, "cook", "--project", root, "--force", "--quiet", "--no-stage", "--summary", summary, *options], env=self.env)
        return process, begin, summary

    def ended(self, process, begin, summary):
        if process.wait() != 0:
            sys.exit(f"the cook ended with {process.returncode}")
        with open(summary) as file:
            return time.perf_counter() - begin, json.load(file)

    def local(self, root):
        return self.ended(*self.cook(root, "--workers", "2"))

    def far(self, root, cache, link=None):
        """Seconds from the moment when both workers are attached, the summary, bytes fetched."""
        state = os.path.join(root, ".galley/state")
        address = os.path.join(state, "farm-address")
        log = os.path.join(state, "logs/director.log")
        before = self.attached(log)
        process, _, summary = self.cook(root)
        while not os.path.exists(address):
            time.sleep(0.005)
        where = []
        if link is not None:
            with open(address) as file:
                link.target = file.read().strip()
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
        begin = time.perf_counter()
        seconds, told = self.ended(process, begin, summary)
        fetched = 0
        for worker, out in workers:
            worker.send_signal(signal.SIGTERM)
            worker.wait()
            out.close()
            with open(out.name) as file:
                fetched += int(re.search(r"fetched_bytes=(\d+)", file.read()).group(1))
        return seconds, told, fetched

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
        local, far, kept, linked, told, fetched, kept_fetched = [], [], [], [], {}, 0, 0
        link = Link(None)
        link.delay_s, link.bytes_per_s = LINK_DELAY_S, LINK_BYTES_PER_S
        for _ in range(runs):
            seconds, told = self.local(root)
            local.append(seconds)
            cache = next(caches)
            seconds, far_told, fetched = self.far(far_root, cache)
            far.append(seconds)
            if told["roots"] != far_told["roots"]:
                sys.exit(f"{name}: other roots: {told['roots']} {far_told['roots']}")
            seconds, _, kept_fetched = self.far(far_root, cache)
            kept.append(seconds)
            seconds, _, link_fetched = self.far(far_root, next(caches), link)
            linked.append(seconds)
        link.end()
        reference = statistics.median(local)
        print(f"{name}: {told['packages']['in_cook']} packages, jobs read {told['bytes']['read']} bytes")
        print(f"  local     {reference:7.2f} s, {1000 * reference / told['packages']['in_cook']:.2f} ms a package")
        for what, seconds, bytes in (("far", far, fetched), ("kept", kept, kept_fetched), ("link", linked, link_fetched)):
            median = statistics.median(seconds)
            print(f"  {what:8}  {median:7.2f} s  {median / reference:5.2f} of local, fetched {bytes} bytes, {bytes / max(1, told['bytes']['read']):.3f} of what was read")
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
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="farm-bench-", dir=arguments.base) as base:
        bench = Bench(os.path.abspath(arguments.bin), base)
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
