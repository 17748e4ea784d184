"""What the parts of fly_bench.py share: projects, a director that serves devices, its clients, and the figures of processes."""
import http.client, json, os, shutil, socket, statistics, subprocess, sys, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import exposition, job_bench

KB, MB = 1 << 10, 1 << 20
PLATFORM = "pc"
LIMIT_S = 3600  # for a scan, or the first tree, of a million packages
FIGURES_AGE_S = 5  # the figures of a director's metrics are younger


def say(part, what, value, unit, reference=None, goal=None, n=1, spread=(), note="", ratio=None, bench="fly"):
    """A line. Where there is a reference, the ratio to it, or the one that is given, is compared with the goal, else the value."""
    text = f"{bench} {part:8} {what:44} {value:10.2f} {unit}"
    if reference is not None:
        text += f"   reference {reference:10.2f} {unit}"
        ratio = value / reference if ratio is None else ratio
    if ratio is not None:
        text += f"   ratio {ratio:6.3f}"
    if goal is not None:
        text += f"   goal {goal:g}"
    text += f"   n {n}"
    if spread:
        text += f"   spread {min(spread):.3f} to {max(spread):.3f}"
    print(text + (f"   {note}" if note else ""), flush=True)


def stop(why):
    sys.exit(f"fly_bench: {why}")


# ---------------------------------------------------------------- processes

def cpu_seconds(pids):
    """Processor time of these processes, all threads, user and system."""
    return sum(job_bench.own_cpu(pid) for pid in pids)


def children_of(pid):
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as file:
                if int(file.read().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(int(entry))
        except OSError:
            continue  # it has ended
    return found


def resident_bytes(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) * KB for line in file if line.startswith("VmRSS"))


def written_bytes(pid):
    """Bytes that the process gave to write() and its like, sockets not counted."""
    with open(f"/proc/{pid}/io") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("wchar"))


def sync_ms(folder, times=50):
    """The median time of 1 KB appended to a file and synced: what the disk adds to every commit."""
    taken = []
    with open(os.path.join(folder, "sync-probe"), "wb", buffering=0) as file:
        for _ in range(times):
            begin = time.perf_counter()
            file.write(b"x" * KB)
            os.fdatasync(file.fileno())
            taken.append((time.perf_counter() - begin) * 1e3)
    os.remove(os.path.join(folder, "sync-probe"))
    return statistics.median(taken)


# ---------------------------------------------------------------- projects

def write_text(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def json_text(number, edit=0, size=0):
    """The source of a package. No two of them are equal, so that each is cooked."""
    text = json.dumps({"id": number, "edit": edit})
    return text[:-1] + ', "pad": "' + "x" * max(0, size - len(text) - 11) + '"}'


def make_toml(root, rules):
    write_text(os.path.join(root, "galley.toml"),
               f'[project]\nname = "fly"\n[store]\ndir = "{root}/store"\n[[mount]]\npath = "/Game"\ndir = "content"\n[[platform]]\nname = "{PLATFORM}"\n'
               + "".join(f'[[rule]]\nmatch = "/Game/**/*.{extension}"\ncooker = "{cooker}"\n' for extension, cooker in rules.items()))


def make_json_project(root, count, in_folder, size, late=0):
    """`count` packages of the cooker `data`, below /Game/all, and `late` more below /Game/late."""
    make_toml(root, {"json": "data"})
    for i in range(count):
        folder = os.path.join(root, "content/all", str(i // in_folder))
        if i % in_folder == 0:
            os.makedirs(folder)
        with open(os.path.join(folder, f"{i}.json"), "w") as file:
            file.write(json_text(i, size=size))
    for i in range(late):
        write_text(os.path.join(root, "content/late", f"{i}.json"), json_text(count + i, size=size))
    return root


def forget_cooks(root):
    """The project as it was before its first cook. What was made is put away, because removing it takes long."""
    for name in (".galley", "store"):
        job_bench.put_away(os.path.join(root, name))


# ---------------------------------------------------------------- the director and its clients

class Client:
    """One connection that stays open."""

    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address, timeout=LIMIT_S)

    def ask(self, method, path, body=None, fields=None):
        """(status, body, fields)"""
        self.connection.request(method, path, body, fields or {})
        answer = self.connection.getresponse()
        return answer.status, answer.read(), answer.headers

    def ask_ready(self, method, path, body=None, fields=None):
        """The first answer that does not say that the director is not ready."""
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until:
            answer = self.ask(method, path, body, fields)
            if answer[0] != 503:
                return answer
            time.sleep(0.02)
        stop(f"{method} {path}: the director was not ready within {LIMIT_S} s")

    def get(self, path):
        """(body, fields) of a file that must be there."""
        status, body, fields = self.ask_ready("GET", path)
        if status != 200:
            stop(f"GET {path}: {status} {body.decode(errors='replace')}")
        return body, fields

    def open_session(self, **more):
        body = json.dumps({"platform": PLATFORM, **more}).encode()
        status, answer, _ = self.ask_ready("POST", "/v1/sessions", body, {"Content-Type": "application/json"})
        if status != 201:
            stop(f"POST /v1/sessions: {status} {answer.decode(errors='replace')}")
        return json.loads(answer)["session"]


class EventStream:
    """The changes of a session."""

    def __init__(self, address, session):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=LIMIT_S)
        self.socket.sendall(f"GET /v1/sessions/{session}/changes HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
        self.lines = self.socket.makefile("rb")
        status = self.lines.readline()
        if b" 200 " not in status:
            stop(f"the changes of a session: {status.decode(errors='replace')}")

    def await_begin(self):
        """Until the stream has said its first words: the director holds all that it needs of it."""
        for line in self.lines:
            if line.startswith(b"retry:"):
                return
        stop("a stream of changes ended")

    def next(self):
        """The data of the next event. Each is whole in its chunk, so that the lines between are those of chunks."""
        for line in self.lines:
            if line.startswith(b"data: "):
                return json.loads(line[len(b"data: "):])
        stop("a stream of changes ended")

    def await_modified(self, path):
        while not any(change["path"] == path for change in self.next().get("modified", [])):
            pass

    def read_on(self):
        """Takes all that comes, on a thread, as a device does, until close()."""
        threading.Thread(target=self.take_all, daemon=True).start()

    def take_all(self):
        try:
            while self.lines.readline():
                pass
        except (OSError, ValueError):
            pass  # it was closed

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self.socket.close()


class Director:
    """`galley serve --http` with two workers, from `with` to its end."""

    def __init__(self, args, root):
        self.galley, self.root = os.path.join(args.bin, "galley"), root
        self.env = {name: value for name, value in os.environ.items() if name != "GALLEY_STORE_DIR"} | {"HOME": args.base}

    def run(self, *argv):
        done = subprocess.run([self.galley, *argv, "--project", self.root], capture_output=True, text=True, env=self.env)
        if done.returncode != 0:
            stop(f"galley {' '.join(argv)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def __enter__(self):
        self.run("serve", "--detach", "--quiet", "--workers", "2", "--http", "127.0.0.1:0", "--metrics", "127.0.0.1:0")
        self.pid = json.loads(self.run("status", "--json"))["process"]
        self.address = self.state_of("http-url").removeprefix("http://")
        self.metrics = f"http://{self.state_of('metrics-address')}/metrics"
        return self

    def __exit__(self, *_):
        subprocess.run([self.galley, "serve", "--stop", "--project", self.root], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def state_of(self, name):
        with open(os.path.join(self.root, ".galley/state", name)) as file:
            return file.read().strip()

    def client(self):
        return Client(self.address)

    def jobs(self, cooker):
        """(number, seconds) of the jobs of executors so far: loads and saves."""
        figures, name = exposition.read_metrics(self.metrics), "galley_job_duration_seconds"
        if not figures.has(name + "_count", cooker=cooker):
            return 0, 0.0
        return figures.value(name + "_count", cooker=cooker), figures.value(name + "_sum", cooker=cooker)

    def job_ms_since(self, cooker, before, count):
        """The mean time that an executor took for a job since jobs() said `before`."""
        until = time.monotonic() + FIGURES_AGE_S
        while self.jobs(cooker)[0] < before[0] + count and time.monotonic() < until:
            time.sleep(0.1)
        jobs, seconds = (now - then for now, then in zip(self.jobs(cooker), before))
        if jobs == 0:
            stop(f"no job of the cooker {cooker} was counted")
        return seconds / jobs * 1e3


def remove(root):
    shutil.rmtree(root, ignore_errors=True)
