"""The part `serve` of fly_bench.py: what it costs to answer a file that is cooked, beside nginx with the same bytes in the page cache.

Both have two threads that serve, and get the same requests of the same clients, in turn: wrk with 32 connections for small files, one connection of
our own for large ones. Server processor time for a request is the steadiest figure (utime and stime of all threads; nginx: all its processes); rates
are printed beside it. nginx: sendfile on, no access log, no cache of open files.
"""
import os, shutil, socket, statistics, subprocess, time

from fly_director import KB, MB, PLATFORM, Director, children_of, cpu_seconds, make_toml, remove, say, stop

FILES = 64  # of each small size, asked for in turn
CONNECTIONS = 32
WORKERS = 2  # of nginx: as many as the director has threads that serve
SIZES = {"1 KiB": KB, "16 KiB": 16 * KB}
GOALS = {"1 KiB": 1.1, "16 KiB": 1.1, "64 MiB": 1.25}
LARGE = 64 * MB
NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
WRK = shutil.which("wrk")
CONF = """{user}pid {dir}/nginx.pid;
error_log {dir}/error.log;
daemon off;
worker_processes {workers};
events {{ worker_connections 1024; }}
http {{
  access_log off;
  sendfile on;
  keepalive_requests 1000000000;
  default_type application/octet-stream;
  client_body_temp_path {dir}/body;
  proxy_temp_path {dir}/proxy;
  fastcgi_temp_path {dir}/fastcgi;
  uwsgi_temp_path {dir}/uwsgi;
  scgi_temp_path {dir}/scgi;
  server {{ listen 127.0.0.1:{port}; root {dir}/files; }}
}}
"""
# Prints the exact figures of a run; wrk itself rounds them.
LUA = """local paths = {%s}
local requests, at = {}, 0
function init(args) for i, path in ipairs(paths) do requests[i] = wrk.format("GET", path) end end
function request() at = at %% #requests + 1; return requests[at] end
function done(summary, latency, all)
  local e = summary.errors
  io.write(string.format("RESULT %%d %%d %%d\\n", summary.duration, summary.requests, e.connect + e.read + e.write + e.status + e.timeout))
end
"""


class Nginx:
    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        os.makedirs(self.folder + "/files", exist_ok=True)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        # As root nginx gives its workers another user, who cannot read here.
        user = "user root;\n" if os.geteuid() == 0 else ""
        with open(self.folder + "/nginx.conf", "w") as file:
            file.write(CONF.format(dir=self.folder, port=port, user=user, workers=WORKERS))
        self.process = subprocess.Popen([NGINX, "-c", self.folder + "/nginx.conf"])
        self.address = f"127.0.0.1:{port}"
        until = time.monotonic() + 30
        while not self.answers(port) or len(children_of(self.process.pid)) < WORKERS:
            if time.monotonic() > until or self.process.poll() is not None:
                stop(f"nginx does not answer; {self.folder}/error.log says why")
            time.sleep(0.02)
        self.pids = [self.process.pid, *children_of(self.process.pid)]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    @staticmethod
    def answers(port):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            return False


def ask_small(folder, address, paths, seconds):
    """(requests, seconds) of wrk."""
    script = os.path.join(folder, "paths.lua")
    with open(script, "w") as file:
        file.write(LUA % ", ".join(f'"{path}"' for path in paths))
    done = subprocess.run([WRK, "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "30s", "-s", script, f"http://{address}"],
                          capture_output=True, text=True)
    result = next((line.split()[1:] for line in done.stdout.splitlines() if line.startswith("RESULT ")), None)
    if done.returncode != 0 or result is None:
        stop(f"wrk: exit {done.returncode}\n{done.stdout}{done.stderr}")
    micros, requests, errors = map(int, result)
    if errors > 0:
        stop(f"wrk: {errors} of {requests} requests to {address} failed")
    return requests, micros / 1e6


def receive_head(connection, buffer):
    """(the head, the bytes of the body that came with it)"""
    head = b""
    while b"\r\n\r\n" not in head:
        count = connection.recv_into(buffer)
        if count == 0:
            stop("the connection ended before an answer")
        head += bytes(buffer[:count])
    text, _, rest = head.partition(b"\r\n\r\n")
    return text, len(rest)


def ask_large(address, path, seconds):
    """(requests, seconds) of one connection that reads as fast as it can."""
    host, port = address.rsplit(":", 1)
    request = f"GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n".encode()
    buffer, requests = memoryview(bytearray(MB)), 0
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        begin = time.perf_counter()
        while time.perf_counter() < begin + seconds:
            connection.sendall(request)
            head, had = receive_head(connection, buffer)
            if not head.startswith(b"HTTP/1.1 200"):
                stop(f"GET {path}: {head.decode(errors='replace')}")
            while had < LARGE:
                count = connection.recv_into(buffer, min(MB, LARGE - had))
                if count == 0:
                    stop(f"GET {path}: the body ended after {had} of {LARGE} bytes")
                had += count
            requests += 1
        return requests, time.perf_counter() - begin


def make_project(root):
    make_toml(root, {"bin": "copy"})
    names = {}
    for size, size_bytes in [*SIZES.items(), ("64 MiB", LARGE)]:
        count = 1 if size_bytes == LARGE else FILES
        folder = size.replace(" ", "").lower()
        os.makedirs(os.path.join(root, "content", folder))
        names[size] = [f"Game/{folder}/{i}.bin" for i in range(count)]
        for i in range(count):
            with open(os.path.join(root, "content", folder, f"{i}.bin"), "wb") as file:
                file.write(os.urandom(size_bytes))
    return names


def paths_of(director, nginx, names):
    """Cooks all files and gives nginx the same bytes. Returns the paths of each row: at Galley, and at nginx."""
    client = director.client()
    session = client.open_session()
    rows, digests = {}, {}
    for size, files in names.items():
        for file in files:
            body, fields = client.get(f"/v1/{PLATFORM}/{file}")
            client.get(f"/v1/sessions/{session}/{file}")
            digests[file] = fields["ETag"].strip('"').split("-")[-1]
            target = os.path.join(nginx.folder, "files", file)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as out:
                out.write(body)
        plain = [f"/{file}" for file in files]
        rows[size] = ([f"/v1/{PLATFORM}/{file}" for file in files], plain)
        if size in SIZES:
            rows[f"{size}, in a session"] = ([f"/v1/sessions/{session}/{file}" for file in files], plain)
            rows[f"{size}, by digest"] = ([f"/v1/blob/{digests[file]}/{SIZES[size]}" for file in files], plain)
    return rows


def measure(work, pids, address, paths, seconds):
    """(processor time of a request in us, requests a second)"""
    before = cpu_seconds(pids)
    requests, elapsed = ask_large(address, paths[0], seconds) if len(paths) == 1 else ask_small(work, address, paths, seconds)
    return (cpu_seconds(pids) - before) / requests * 1e6, requests / elapsed


def serve(args):
    if NGINX is None or WRK is None:
        stop("nginx or wrk is missing: scripts/install-packages nginx wrk")
    root, work = os.path.join(args.base, "serve"), os.path.join(args.base, "serve-nginx")
    names = make_project(root)
    with Director(args, root) as director, Nginx(work) as nginx:
        for row, (ours, theirs) in paths_of(director, nginx, names).items():
            sides = {"galley": ([director.pid], director.address, ours), "nginx": (nginx.pids, nginx.address, theirs)}
            taken = {side: [] for side in sides}
            for side, (pids, address, paths) in [*sides.items()] * (args.rounds + 1):  # the first round warms up
                taken[side].append(measure(work, pids, address, paths, args.seconds))
            cpu, rate = ({side: [figures[i] for figures in rounds[1:]] for side, rounds in taken.items()} for i in (0, 1))
            say("serve", f"{row}, processor time", statistics.median(cpu["galley"]), "us", statistics.median(cpu["nginx"]), GOALS.get(row), args.rounds,
                [a / b for a, b in zip(cpu["galley"], cpu["nginx"])],
                f"rates {statistics.median(rate['galley']):,.0f}/s and {statistics.median(rate['nginx']):,.0f}/s")
    remove(root)
    remove(work)
