"""What the tests of `galley serve --http` share: a director that answers devices, requests as http.client sends them, and a reader of changes."""
import http.client, json, os, socket, threading, urllib.parse

from harness import LIMIT_S, ResidentTest, read_file, wait_until


class Answer:
    def __init__(self, response, body):
        self.status, self.body = response.status, body
        self.fields = {name.lower(): value for name, value in response.getheaders()}

    def field(self, name):
        return self.fields.get(name.lower())

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.fields}\n{self.body[:2000]!r}"


class Http:
    """Requests at a URL, each on a connection of its own."""

    def __init__(self, url):
        self.url, self.tls = url, None
        self.host = urllib.parse.urlsplit(url).netloc

    def connect(self):
        if self.tls:
            return http.client.HTTPSConnection(self.host, timeout=LIMIT_S, context=self.tls)
        return http.client.HTTPConnection(self.host, timeout=LIMIT_S)

    def ask(self, method, path, body=None, fields=None):
        connection = self.connect()
        try:
            # Paths are sent as they are given: http.client escapes nothing.
            connection.putrequest(method, path, skip_accept_encoding=True)
            for name, value in (fields or {}).items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            return Answer(response, response.read())
        finally:
            connection.close()

    def get(self, path, **fields):
        return self.ask("GET", path, fields={name.replace("_", "-"): value for name, value in fields.items()})

    def head(self, path):
        return self.ask("HEAD", path)

    def open_session(self, **asked):
        return self.ask("POST", "/v1/sessions", json.dumps(asked).encode(), {"Content-Type": "application/json"})


class Changes:
    """The changes of a session, read by a thread: `events` has (id, kind, data)."""

    def __init__(self, client, session, last_id=None):
        self.events, self.status = [], None
        self.connection = client.connect()
        self.connection.request("GET", f"/v1/sessions/{session}/changes", headers={"Last-Event-ID": last_id} if last_id else {})
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        event = {}
        try:
            for line in iter(self.response.readline, b""):
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "data":
                    self.events.append((event.get("id"), event.get("event"), json.loads(value)))
                event = {} if not name else {**event, name: value}
        except (OSError, ValueError, http.client.HTTPException):
            pass  # the director or the test has closed it

    def wait_for(self, is_right, what):
        return wait_until(lambda: next((event for event in list(self.events) if is_right(event[2])), None), what, LIMIT_S)

    def paths(self, *kinds):
        return {entry if isinstance(entry, str) else entry["path"] for _, _, data in list(self.events) for kind in kinds for entry in data.get(kind, [])}

    def close(self):
        if self.connection.sock:
            try:
                self.connection.sock.shutdown(socket.SHUT_RDWR)  # wakes the thread
            except OSError:
                pass  # the director has closed it
        self.thread.join(LIMIT_S)
        self.connection.close()


class HttpTest(ResidentTest):
    def serve_http(self, project, *args, address="127.0.0.1:0"):
        self.process = self.serve(project, "--http", address, *args)
        return Http(read_file(os.path.join(project, ".galley/state/http-url")).decode().strip())

    def get_ready(self, client, path, **fields):
        """The answer, once the director is no longer preparing one."""
        answer = None

        def is_there():
            nonlocal answer
            answer = client.get(path, **fields)
            return answer.status != 503

        self.wait_until(is_there)
        return answer

    def session(self, client, **asked):
        """An open session, once the director has the world ready."""
        opened = None

        def is_open():
            nonlocal opened
            opened = client.open_session(**asked)
            return opened.status != 503

        self.wait_until(is_open)
        self.assertEqual(opened.status, 201, opened)
        self.assertEqual(opened.field("Location"), f"/v1/sessions/{opened.json['session']}")
        return opened.json
