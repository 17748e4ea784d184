#!/usr/bin/env python3
"""Cook on the fly: what it costs to answer devices, and how long they wait. Prints a line for each figure (value, reference, ratio, goal, n, spread);
asserts nothing.

usage: fly_bench.py [--bin DIR] [--only PART[,PART...]] [--base DIR] [--packages N] [--million N] [--sessions N] [--streams N] [--rounds N]
                    [--seconds S] [--asks N] [--edits N]

  serve     processor time of the director for a cooked file, beside nginx with the same bytes, in turn (fly_serve.py)
  miss      a file that nobody asked for before, of a project of --packages: the answer's time without the executor's own load and save
  event     from close() of an edited file, which an open session has read, to the event of its new output, without the executor's own time
  session   a session at a project of --million packages of which all are cooked: the time to open one, alone and beside others, what each holds,
            and what the growth of its tree by one node writes
  beside    the first cook of --packages beside an open session and its stream, and the same without one, in turn
  streams   what each of --streams idle streams of changes holds in the director's memory

Run it on a machine where nothing else runs, with a release build, below a folder (--base) on the disk that the figures are to be of. `session` takes
by far the longest, for it writes, scans and cooks a million files; a smaller --million tries it quickly, and a smaller --packages the others.
"""
import argparse, concurrent.futures, os, random, resource, shutil, statistics, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fly_director import (KB, LIMIT_S, PLATFORM, Director, EventStream, cpu_seconds, forget_cooks, json_text, make_json_project, make_toml, remove,
                          resident_bytes, say, stop, sync_ms, write_text, written_bytes)
from fly_growth import new_folder_bytes
from fly_serve import serve

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IN_FOLDER = 250
SOURCE_BYTES = 1000
READ_FILES = 16  # of the session whose files are edited
SESSIONS_OF_STREAMS = 100
CLIENTS = 32  # that open sessions at once
WARM_UP = 10
GROWTHS = 20
DESCRIPTORS = 50_000  # a director takes half of what it may have for connections


def timed_ms(act):
    begin = time.perf_counter()
    act()
    return (time.perf_counter() - begin) * 1e3


def output_of(number):
    return f"Game/all/{number // IN_FOLDER}/{number}.json.cbor"


def miss(args):
    root = make_json_project(os.path.join(args.base, "miss"), args.packages, IN_FOLDER, SOURCE_BYTES)
    asked = random.Random(1).sample(range(args.packages), args.asks + WARM_UP)
    with Director(args, root) as director:
        client = director.client()
        for number in asked[:WARM_UP]:
            client.get(f"/v1/{PLATFORM}/{output_of(number)}")
        director.job_ms_since("data", (0, 0.0), WARM_UP)
        before = director.jobs("data")
        taken = [timed_ms(lambda: client.get(f"/v1/{PLATFORM}/{output_of(number)}")) for number in asked[WARM_UP:]]
        own = director.job_ms_since("data", before, args.asks)
        hit = statistics.median(timed_ms(lambda: client.get(f"/v1/{PLATFORM}/{output_of(asked[0])}")) for _ in range(args.asks))
        over = [one - own for one in taken]
        say("miss", f"at {args.packages} packages, over the executor", statistics.median(over), "ms", goal=5, n=args.asks,
            spread=(min(over), statistics.quantiles(over, n=20)[-1]),
            note=f"spread: least and 95 %; the executor {own:.2f} ms, a hit by the same client {hit:.2f} ms, one sync of the disk {sync_ms(args.base):.2f} ms")
    remove(root)


def event(args):
    root = make_json_project(os.path.join(args.base, "event"), args.packages, IN_FOLDER, SOURCE_BYTES)
    read = random.Random(2).sample(range(args.packages), READ_FILES)
    with Director(args, root) as director:
        client = director.client()
        session = client.open_session()
        for number in read:
            client.get(f"/v1/sessions/{session}/{output_of(number)}")
        stream = EventStream(director.address, session)
        stream.await_begin()
        director.job_ms_since("data", (0, 0.0), READ_FILES)
        before, taken = director.jobs("data"), []
        for edit in range(1, args.edits + 1):
            number = read[edit % READ_FILES]
            write_text(os.path.join(root, "content", output_of(number)[len("Game/"):-len(".cbor")]), json_text(number, edit, SOURCE_BYTES))
            taken.append(timed_ms(lambda: stream.await_modified(output_of(number))))
        own = director.job_ms_since("data", before, args.edits)
        stream.close()
        over = [one - own for one in taken]
        say("event", f"from close() at {args.packages} packages, over the cook", statistics.median(over), "ms", goal=20, n=args.edits,
            spread=(min(over), max(over)), note=f"the executor {own:.2f} ms, one sync of the disk {sync_ms(args.base):.2f} ms")
    remove(root)


def open_at_once(director, count):
    """Opens sessions by clients that all ask at once. Returns each one's time in ms."""
    clients = [director.client() for _ in range(CLIENTS)]

    def open_some(client):
        return [timed_ms(client.open_session) for _ in range(count // CLIENTS)]

    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        return [taken for some in pool.map(open_some, clients) for taken in some]


def measure_opening(director, args):
    client = director.client()
    for _ in range(WARM_UP):
        client.open_session()
    held = resident_bytes(director.pid)
    taken = [timed_ms(client.open_session) for _ in range(args.sessions)]
    kept = (resident_bytes(director.pid) - held) / args.sessions / KB
    say("session", f"one more opens at {args.million} packages", statistics.median(taken), "ms", goal=50, n=args.sessions, spread=(min(taken), max(taken)))
    say("session", f"each of {args.sessions} holds", kept, "KiB", goal=64, n=args.sessions)
    taken = open_at_once(director, args.sessions)
    say("session", f"opens beside {CLIENTS - 1} that open", statistics.median(taken), "ms", n=len(taken), spread=(min(taken), max(taken)))


def measure_growth(director, args):
    client = director.client()
    session = client.open_session()
    growths, taken, written, root = [], [], [], None
    for i in range(GROWTHS + 1):
        wrote, begin = written_bytes(director.pid), time.perf_counter()
        _, fields = client.get(f"/v1/sessions/{session}/Game/late/{i}.json.cbor")
        taken.append((time.perf_counter() - begin) * 1e3)
        written.append(written_bytes(director.pid) - wrote)
        if root is not None:
            growths.append(new_folder_bytes(client, root, fields["Galley-Root"]) / KB)
        root = fields["Galley-Root"]
    say("session", f"growth by one node at {args.million} packages writes", statistics.median(growths), "KiB", goal=64, n=len(growths),
        spread=(min(growths), max(growths)),
        note=f"all that the director wrote meanwhile, the result and logs included: {statistics.median(written) / KB:.1f} KiB; the answer: {statistics.median(taken):.2f} ms")


def session(args):
    root = make_json_project(os.path.join(args.base, "session"), args.million, 1000, size=0, late=GROWTHS + 1)
    with Director(args, root) as director:
        begin = time.perf_counter()
        first = director.client().open_session()
        say("session", f"the first one opens at {args.million} packages", time.perf_counter() - begin, "s", note="the scan, and the folder `static`, included")
        stream = EventStream(director.address, first)  # keeps the session, and so the tree, however long the cook takes
        stream.read_on()
        begin = time.perf_counter()
        director.run("cook", "--quiet", "--no-stage", "/Game/all")
        say("session", f"a cook of {args.million} packages beside it", time.perf_counter() - begin, "s")
        begin = time.perf_counter()
        await_quiet(director, span_s=8)  # the trees wait five seconds for further results
        say("session", "until the director rests afterwards", time.perf_counter() - begin, "s")
        measure_growth(director, args)
        measure_opening(director, args)
        stream.close()
    remove(root)


def await_quiet(director, share=0.05, span_s=3):
    """Until the director takes less than this share of a core for some seconds: trees have what cooks brought."""
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        before = cpu_seconds([director.pid])
        time.sleep(span_s)
        if cpu_seconds([director.pid]) - before < share * span_s:
            return
    stop("the director does not come to rest")


def cook_beside(args, root, has_session):
    """(seconds of the cook, processor time of the director) of the first cook of a project."""
    forget_cooks(root)
    with Director(args, root) as director:
        client, stream = director.client(), None
        client.ask_ready("GET", f"/v1/{PLATFORM}/Game/nothing")  # the world is there
        if has_session:
            stream = EventStream(director.address, client.open_session())
            stream.await_begin()
            stream.read_on()
        await_quiet(director)
        before = cpu_seconds([director.pid])
        seconds = timed_ms(lambda: director.run("cook", "--quiet", "--no-stage")) / 1e3
        spent = cpu_seconds([director.pid]) - before
        if stream is not None:
            stream.close()
        return seconds, spent


def beside(args):
    root = make_json_project(os.path.join(args.base, "beside"), args.packages, IN_FOLDER, SOURCE_BYTES)
    taken = {False: [], True: []}
    for has_session in [False, True] * args.rounds:
        taken[has_session].append(cook_beside(args, root, has_session))
    seconds, spent = ({has: [figures[i] for figures in rounds] for has, rounds in taken.items()} for i in (0, 1))
    say("beside", f"a cook of {args.packages} with an open session", statistics.median(seconds[True]), "s", statistics.median(seconds[False]), 1.02, args.rounds,
        [with_it / without for with_it, without in zip(seconds[True], seconds[False])],
        f"processor time of the director {statistics.median(spent[True]):.2f} s and {statistics.median(spent[False]):.2f} s")
    remove(root)


def raise_descriptors():
    """The most descriptors that a process may have here; root may have more than it was given, but not in every container."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    has_enough = hard == resource.RLIM_INFINITY or hard >= DESCRIPTORS
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, hard if has_enough else DESCRIPTORS))
        return DESCRIPTORS
    except (OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        return hard


def streams(args):
    most = raise_descriptors()
    # A director takes half of its descriptors for connections, and the clients have some as well.
    if args.streams * 2 + SESSIONS_OF_STREAMS > most:
        stop(f"{args.streams} streams need {args.streams * 2 + SESSIONS_OF_STREAMS} descriptors, and {most} is the most (ulimit -Hn): try a smaller --streams")
    root = os.path.join(args.base, "streams")
    make_toml(root, {"json": "data"})
    write_text(os.path.join(root, "content/0.json"), json_text(0))
    with Director(args, root) as director:
        client = director.client()
        sessions = [client.open_session() for _ in range(SESSIONS_OF_STREAMS)]
        opened = [EventStream(director.address, sessions[0])]
        opened[0].await_begin()
        await_quiet(director)
        held = resident_bytes(director.pid)
        for i in range(args.streams):
            opened.append(EventStream(director.address, sessions[i % SESSIONS_OF_STREAMS]))
            opened[-1].await_begin()
        await_quiet(director)
        kept = (resident_bytes(director.pid) - held) / args.streams / KB
        before = cpu_seconds([director.pid])
        time.sleep(30)  # two comments for each
        busy = (cpu_seconds([director.pid]) - before) / 30
        say("streams", f"each of {args.streams} idle ones holds", kept, "KiB", goal=20, n=args.streams, note=f"all of them take {busy:.3f} of a core, with a comment each 15 s")
        for stream in opened:
            stream.close()
    remove(root)


PARTS = {"serve": serve, "miss": miss, "event": event, "session": session, "beside": beside, "streams": streams}


def parts_of(text):
    """argparse's type of --only."""
    wanted = text.split(",")
    for part in wanted:
        if part not in PARTS:
            raise argparse.ArgumentTypeError(f"there is no part {part!r}: expected one or more of {', '.join(PARTS)}")
    return wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build-release/bin"))
    parser.add_argument("--only", type=parts_of, default=list(PARTS), metavar="PART[,PART...]")
    parser.add_argument("--base", help="a folder for the projects; default: a temporary one")
    parser.add_argument("--packages", type=int, default=100_000)
    parser.add_argument("--million", type=int, default=1_000_000)
    parser.add_argument("--sessions", type=int, default=1_000)
    parser.add_argument("--streams", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3, help="of each burst of `serve`")
    parser.add_argument("--asks", type=int, default=200)
    parser.add_argument("--edits", type=int, default=50)
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    args.base = tempfile.mkdtemp(prefix="fly-bench-", dir=args.base)
    print(f"fly: {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, commit "
          f"{subprocess.run(['git', 'rev-parse', '--short', 'HEAD'], cwd=ROOT, text=True, stdout=subprocess.PIPE).stdout.strip()}", flush=True)
    try:
        for part in args.only:
            PARTS[part](args)
    finally:
        shutil.rmtree(args.base, ignore_errors=True)


if __name__ == "__main__":
    main()
