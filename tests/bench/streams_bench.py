#!/usr/bin/env python3
"""A director with a thousand workers: real streams, many sessions in few processes (tests/testing/many_sessions.h), whose jobs sleep and make
nothing (noop_cookers.cc). Prints a line for each figure; asserts nothing.

usage: streams_bench.py [--bin DIR] [--sessions N] [--processes N] [--packages N] [--sleep S] [--tls] [--project DIR]

With --tls both sides show certificates (deploy/dev-certs).

  attach          from the start of the sessions' processes until the director has welcomed the last one
  director        its processor time, all threads: until all are attached, and as a share of a core from then until the cook's end
  jobs            a second, from then on, beside what sessions that never wait could do
  jobs a stream   the least and the most that one stream did
  silence         the longest time between two messages of the director on one stream, of the stream where it was the longest, and the median
"""
import argparse, json, os, select, shutil, signal, statistics, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import job_bench

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FARM = '\n[farm]\nlauncher = "none"\nlisten = "127.0.0.1:0"\nprove = 0\n'


def status(pid, field):
    """0: it has ended."""
    with open(f"/proc/{pid}/status") as file:
        return next((int(line.split()[1]) for line in file if line.startswith(field + ":")), 0)


def cpu(pid):
    return job_bench.own_cpu(pid)


def start_sessions(bin_directory, work, state, sessions, processes, sleep, certificates):
    with open(state + "/farm-address") as file:
        address = file.read().strip()
    tls = [f"--tls-ca={certificates}/ca.pem", f"--tls-cert={certificates}/worker.pem", f"--tls-key={certificates}/worker.key"] if certificates else []
    started = []
    for i in range(processes):
        directory = f"{work}/sessions-{i}"
        os.makedirs(directory)
        count = sessions // processes + (i < sessions % processes)
        with open(directory + "/log", "w") as log:
            started.append(subprocess.Popen([f"{bin_directory}/noop_many_workers", "--director", address, "--token-file", state + "/farm-token", "--sessions", str(count),
                                             "--name", f"s{i}", "--sleep", str(sleep), "--directory", directory, *tls], stdout=subprocess.PIPE, stderr=log, text=True))
    return started


def bench(bin_directory, work, sessions, processes, packages, sleep, project, certificates):
    programs = work + "/bin"
    os.makedirs(programs)
    shutil.copy(f"{bin_directory}/galley", programs)
    shutil.copy(f"{bin_directory}/noop_worker", f"{programs}/galley-worker")
    if not os.path.exists(project + "/galley.toml"):
        job_bench.make_project(project, packages)
    with open(project + "/galley.toml", "w") as file:
        file.write(job_bench.TOML + FARM)
        if certificates:
            file.write(f'tls_ca = "{certificates}/ca.pem"\ntls_cert = "{certificates}/director.pem"\ntls_key = "{certificates}/director.key"\n')
    if os.path.exists(project + "/.galley"):
        job_bench.put_away(project + "/.galley")
    state = project + "/.galley/state"
    summary = work + "/summary.json"
    director = subprocess.Popen([f"{programs}/galley", "cook", "--project", project, "--quiet", "--summary", summary])
    while not os.path.exists(state + "/farm-address"):
        if director.poll() is not None:
            sys.exit(f"galley cook: exit code {director.returncode}")
        time.sleep(0.01)
    before = cpu(director.pid)
    began = time.monotonic()
    workers = start_sessions(bin_directory, work, state, sessions, processes, sleep, certificates)
    open_now = {worker.stdout for worker in workers}
    while open_now and director_runs(director.pid):
        for stream in select.select(open_now, [], [], 0.2)[0]:
            if not stream.readline().startswith("attached"):
                sys.exit("some sessions ended before they attached")
            open_now.remove(stream)
    attached, cpu_attach = time.monotonic() - began, cpu(director.pid)
    threads = 0
    memory = 0
    while director_runs(director.pid):
        time.sleep(0.1)
        threads, memory = (max(most, status(director.pid, field)) for most, field in ((threads, "Threads"), (memory, "VmHWM")))
    ended, cpu_end = time.monotonic() - began, cpu(director.pid)
    if director.wait() != 0:
        sys.exit(f"galley cook: exit code {director.returncode}")
    for worker in workers:
        worker.send_signal(signal.SIGTERM)
    figures = [one for worker in workers for one in json.loads(worker.communicate()[0].splitlines()[-1])]
    if open_now:
        sys.exit(f"the cook ended before all had attached: {sum(one['welcomes'] > 0 for one in figures)} of {sessions}, after {time.monotonic() - began:.1f} s")
    with open(summary) as file:
        done = json.load(file)
    jobs = [one["jobs"] for one in figures]
    gaps = sorted(one["gap_s"] for one in figures)
    seconds = ended - attached
    print(f"streams: {sessions} in {processes} processes, {packages} packages, jobs of {sleep:g} s, {'TLS, ' if certificates else ''}{os.cpu_count()} cores")
    print(f"  attach         {attached:8.2f} s, the director's processor time {cpu_attach - before:.2f} s, {(cpu_attach - before) / sessions * 1000:.2f} ms a stream")
    print(f"  director       {(cpu_end - cpu_attach) / seconds:8.2f} of a core for {seconds:.1f} s; {threads} threads, {memory / 1024:.0f} MiB at most")
    print(f"  jobs           {done['results']['cooked'] / seconds:8.0f} a second ({sessions / sleep:.0f} if none ever waits), {(cpu_end - before) / done['results']['cooked'] * 1e6:.0f} us of the director each")
    print(f"  jobs a stream  {min(jobs):8d} to {max(jobs)}, {sum(one['welcomes'] for one in figures) - sessions} streams broke")
    print(f"  silence        {gaps[-1]:8.2f} s at most, median {statistics.median(gaps):.2f} s", flush=True)


def director_runs(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] != "Z"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build-release/bin"))
    parser.add_argument("--sessions", type=int, default=1_000)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--packages", type=int, default=30_000)
    parser.add_argument("--sleep", type=float, default=1.0)
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--project")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="galley-bench-") as work:
        certificates = work + "/certificates" if args.tls else None
        if args.tls:
            subprocess.run([os.path.join(ROOT, "deploy/dev-certs"), certificates, "127.0.0.1"], check=True, stderr=subprocess.DEVNULL)
        bench(os.path.abspath(args.bin), work, args.sessions, args.processes, args.packages, args.sleep,
              os.path.abspath(args.project) if args.project else work + "/noop", certificates)


if __name__ == "__main__":
    main()
