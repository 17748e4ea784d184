"""Jobs that do nothing, through real processes: `galley cook` with two workers beside `ninja -j2` running /bin/true, in the same run.

A job has one source of a few bytes, looks at four things (three files that are absent, one that all share) and makes no output: what is
measured is what Galley itself costs. Its worker is noop_worker (noop_cookers.cc), called galley-worker in a folder beside a galley. Two
figures a cook: jobs a second while cooking (from the first result to the end, roots included) and of the whole command, scan and
start-up included. The director's processor time is that of its process, all threads, all of the command; its workers' is told apart.

By hand: tests/bench/job_bench.py BIN [--jobs N] [--runs N] [--project DIR]; a project that DIR holds is used again.
"""
import argparse, json, os, shutil, statistics, subprocess, sys, tempfile, time

JOBS = 100_000
NINJA_SHARE = 50  # ninja runs one job for so many of Galley's
IN_A_FOLDER = 1_000
TICKS = os.sysconf("SC_CLK_TCK")
TOML = ('[project]\nname = "noop"\n[[mount]]\npath = "/Game"\ndir = "content"\n[[platform]]\nname = "pc"\ntexture = "bc"\n'
        '[[rule]]\nmatch = "/Game/**/*.noop"\ncooker = "noop"\n')


def make_project(project, jobs):
    for folder in range((jobs + IN_A_FOLDER - 1) // IN_A_FOLDER):
        content = f"{project}/content/set_{folder}"
        os.makedirs(content)
        with open(f"{content}/shared.txt", "w") as file:
            file.write("shared\n")
        for i in range(folder * IN_A_FOLDER, min(jobs, (folder + 1) * IN_A_FOLDER)):
            with open(f"{content}/p{i}.noop", "w") as file:
                file.write(f"package {i}\n")
    with open(f"{project}/galley.toml", "w") as file:
        file.write(TOML)


def make_ninja(folder, jobs):
    os.makedirs(folder)
    with open(f"{folder}/build.ninja", "w") as file:
        file.write("rule noop\n  command = /bin/true\n" + "".join(f"build out/{i}: noop\n" for i in range(jobs)))


def own_cpu(pid):
    """Processor time of a process that has ended and was not yet waited for, all its threads, none of its children."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def cook(bin, project):
    summary = project + "/summary.json"
    began = time.monotonic()
    process = subprocess.Popen([f"{bin}/galley", "cook", "--project", project, "--workers", "2", "--quiet", "--summary", summary])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    elapsed, director = time.monotonic() - began, own_cpu(process.pid)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"galley cook: exit code {process.returncode}")
    with open(summary) as file:
        done = json.load(file)
    return {"elapsed": elapsed, "cook": done["seconds"]["cook"], "director": director, "workers": usage.ru_utime + usage.ru_stime - director,
            "cooked": done["results"]["cooked"], "rss": usage.ru_maxrss / 1024}


def put_away(path):
    if os.path.exists(path):
        os.rename(path, tempfile.mkdtemp(dir=os.path.dirname(path), prefix="put-away-") + "/it")


def jobs(bin, work, runs, count=JOBS, project=None):
    programs = work + "/noop-bin"
    os.makedirs(programs)
    shutil.copy(f"{bin}/galley", f"{programs}/galley")
    shutil.copy(f"{bin}/noop_worker", f"{programs}/galley-worker")
    project = project or work + "/noop"
    if not os.path.exists(project + "/galley.toml"):
        make_project(project, count)
    edges = count // NINJA_SHARE
    make_ninja(work + "/noop-ninja", edges)
    taken = {}
    for _ in range(runs):
        put_away(project + "/.galley")
        began = time.monotonic()
        subprocess.run(["ninja", "-C", work + "/noop-ninja", "-j2", "--quiet"], check=True, stdout=subprocess.DEVNULL)
        taken.setdefault("ninja", []).append(time.monotonic() - began)
        one = cook(programs, project)
        if one["cooked"] != count:
            sys.exit(f"galley cooked {one['cooked']} jobs, expected {count}")
        for key, value in one.items():
            taken.setdefault(key, []).append(value)
    median = {key: statistics.median(values) for key, values in taken.items()}
    ninja = edges / median["ninja"]
    rows = [{"workload": "jobs", "kind": kind, "value": round(value, 3), "unit": unit} for kind, value, unit in (
        ("ninja -j2 /bin/true", ninja, "jobs/s"), ("galley, while cooking", count / median["cook"], "jobs/s"),
        ("ratio", count / median["cook"] / ninja, "(100 is asked for)"), ("galley, whole command", count / median["elapsed"], "jobs/s"),
        ("director's processor time", median["director"] / count * 1e6, "us a job (10 is asked for)"),
        ("workers' processor time", median["workers"] / count * 1e6, "us a job"))]
    for row in rows:
        print(f"jobs {row['kind']:28} {row['value']:12.2f} {row['unit']}", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--project")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="galley-bench-") as work:
        jobs(args.bin, work, args.runs, args.jobs, args.project and os.path.abspath(args.project))


if __name__ == "__main__":
    main()
