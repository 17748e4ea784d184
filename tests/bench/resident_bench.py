#!/usr/bin/env python3
"""Figures of a resident director (`galley serve`), as ratios of one run. Prints a line for each; asserts nothing.

  client   a command that asks it, start to exit, beside `galley --version`
  status   the answer to `galley status`, beside an answer that says nothing of the project
  shared   two cooks at once that want the same packages, beside one of them
  commit   a cook of ten packages in the middle of a nightly one, beside the same alone
  memory   resident memory, journal and store after the last of many cooks, beside those after a tenth of them
"""
import argparse, json, os, shutil, statistics, subprocess, sys, tempfile, time

PACKAGE = 1024


class Bench:
    def __init__(self, bin_directory, base):
        self.bin, self.base = bin_directory, base
        self.env = dict(os.environ, HOME=base, GALLEY_STORE_DIR="")
        del self.env["GALLEY_STORE_DIR"]

    def run(self, *args, expect=0):
        done = subprocess.run([os.path.join(self.bin, "galley"), *map(str, args)], capture_output=True, text=True, env=self.env)
        if done.returncode != expect:
            sys.exit(f"galley {' '.join(map(str, args))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def start(self, *args):
        return subprocess.Popen([os.path.join(self.bin, "galley"), *map(str, args)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                env=self.env)

    def project(self, name, count, rule='cooker = "copy"'):
        root = os.path.join(self.base, name)
        for i in range(count):
            folder = os.path.join(root, "content", f"{i // 1000}")
            if i % 1000 == 0:
                os.makedirs(folder)
            with open(os.path.join(folder, f"{i}.txt"), "w") as file:
                file.write(f"{name} {i}\n".ljust(PACKAGE, "."))
        with open(os.path.join(root, "galley.toml"), "w") as file:
            file.write(f'[project]\nname = "{name}"\n[store]\ndir = "{root}/store"\n[[mount]]\npath = "/Game"\ndir = "content"\n'
                       f'[[platform]]\nname = "pc"\n[[rule]]\nmatch = "/Game/**/*.txt"\n{rule}\n')
        return root

    def timed(self, *args, times=1):
        taken = []
        for _ in range(times):
            begin = time.perf_counter()
            self.run(*args)
            taken.append(time.perf_counter() - begin)
        return statistics.median(taken)

    def serve(self, root, *args):
        self.run("serve", "--detach", "--project", root, *args)

    def stop(self, root):
        self.run("serve", "--stop", "--project", root)

    def status(self, root):
        return json.loads(self.run("status", "--json", "--project", root))

    # ---------------------------------------------------------------- figures

    def client(self, args):
        root = self.project("client", 10)
        self.serve(root)
        self.run("cook", "--quiet", "--project", root)
        plain = self.timed("--version", times=args.times)
        asks = self.timed("status", "--json", "--project", root, times=args.times)
        self.stop(root)
        print(f"client: status {asks * 1e3:.1f} ms, --version {plain * 1e3:.1f} ms, ratio {asks / plain:.2f}")

    def answers(self, args):
        took = {}
        for count in (10, args.packages):
            root = self.project(f"status{count}", count)
            self.serve(root)
            self.run("cook", "--quiet", "--no-stage", "--project", root)
            took[count] = self.timed("status", "--json", "--project", root, times=args.times)
            self.stop(root)
            shutil.rmtree(root)
        small, large = took[10], took[args.packages]
        print(f"status: {large * 1e3:.1f} ms with {args.packages} packages, {small * 1e3:.1f} ms with 10, difference {(large - small) * 1e3:.1f} ms")

    def shared(self, args):
        took = []
        for cooks in (1, 2, 1, 2):
            root = self.project(f"shared{len(took)}", args.packages)
            self.serve(root)
            begin = time.perf_counter()
            for process in [self.start("cook", "--quiet", "--no-stage", "--project", root) for _ in range(cooks)]:
                if process.wait() != 0:
                    sys.exit("a cook failed")
            took.append(time.perf_counter() - begin)
            self.stop(root)
            shutil.rmtree(root)
        one, two = min(took[0], took[2]), min(took[1], took[3])
        print(f"shared: two cooks of the same {args.packages} packages {two:.2f} s, one {one:.2f} s, ratio {two / one:.3f}")

    def commit(self, args):
        rule = 'cooker = "command"\nsettings = { argv = ["/bin/sh", "-c", "sleep 0.1; cp $0 $1", "{input}", "{output:.out}"], outputs = [".out"] }'
        root = self.project("commit", args.commit_packages, rule)
        names = [f"/Game/0/{i}.txt" for i in range(10)]
        self.serve(root)
        alone = self.timed("cook", "--quiet", "--no-stage", "--force", "--project", root, *names)
        nightly = self.start("cook", "--quiet", "--no-stage", "--project", root)
        while not any(cook["done"] > 20 for cook in self.status(root)["cooks"]):
            time.sleep(0.05)
        within = self.timed("cook", "--quiet", "--no-stage", "--force", "--project", root, *names)
        if nightly.poll() is not None:
            sys.exit("the nightly cook ended too soon: give --commit-packages more")
        nightly.wait()
        self.stop(root)
        print(f"commit: {within:.2f} s within a nightly cook, {alone:.2f} s alone, ratio {within / alone:.2f} (a job takes 0.1 s)")

    def memory(self, args):
        root = self.project("memory", args.memory_packages)
        self.serve(root)

        def look():
            self.run("store", "gc", "--project", root)
            size = lambda folder: sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names
                                      if os.path.exists(os.path.join(at, name)))
            return self.status(root)["memory_bytes"], size(os.path.join(root, ".galley/state")), size(os.path.join(root, "store"))

        before = None
        for cook in range(args.cooks):
            with open(os.path.join(root, "content/0/7.txt"), "w") as file:
                file.write(f"edit {cook}\n".ljust(PACKAGE, "."))
            self.run("cook", "--quiet", "--no-stage", "--project", root)
            if cook + 1 == args.cooks // 10:
                before = look()
        after = look()
        for what, first, last in zip(("memory", "state", "store"), before, after):
            print(f"memory: {what} {last / 2**20:.1f} MiB after {args.cooks} cooks of {args.memory_packages} packages, "
                  f"{first / 2**20:.1f} MiB after {args.cooks // 10}, ratio {last / first:.3f}")
        self.stop(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", default=["client", "status", "shared", "commit", "memory"])
    parser.add_argument("--bin", default="build-release/bin")
    parser.add_argument("--packages", type=int, default=100_000)
    parser.add_argument("--commit-packages", type=int, default=400)
    parser.add_argument("--memory-packages", type=int, default=10_000)
    parser.add_argument("--cooks", type=int, default=1_000)
    parser.add_argument("--times", type=int, default=21)
    args = parser.parse_args()
    base = tempfile.mkdtemp(prefix="galley-bench-")
    try:
        bench = Bench(os.path.abspath(args.bin), base)
        figures = {"client": bench.client, "status": bench.answers, "shared": bench.shared, "commit": bench.commit, "memory": bench.memory}
        for figure in args.figures:
            figures[figure](args)
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
