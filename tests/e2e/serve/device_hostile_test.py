#!/usr/bin/env python3
"""Requests of people who mean harm, at each kind of path that is served: each is refused, names nothing outside of the tree, and the director goes on
serving."""
import http.client, json, types, unittest

from device_case import DATA, DeviceCase, answer_raw, digest_of, send_raw, status_of
from edited_project import cbor
from harness import COPY

TEXT = "".join(f"line {number}\n" for number in range(500))
# What is appended to the beginning of each kind of path; the statuses that are right. 400: no plain path. 404: a plain path that nobody has.
PATHS = [
    (b"../../../../../etc/passwd", {400}),
    (b"..", {400}),
    (b"Game/../../../../etc/passwd", {400}),
    (b"./a.txt", {400}),
    (b"%2e%2e/%2e%2e/%2e%2e/etc/passwd", {400}),
    (b"%2E./%2e%2E/etc/passwd", {400}),
    (b"%2e%2e%2f%2e%2e%2fetc%2fpasswd", {400}),
    (b"Game%2fa.txt", {400}),
    (b"%c0%ae%c0%ae/%c0%ae%c0%ae/etc/passwd", {400}),
    (b"..%c0%af..%c0%afetc%c0%afpasswd", {400}),
    (b"%ff%fe", {400}),
    (b"%ed%a0%80", {400}),  # half of a surrogate pair
    (b"%252e%252e/%252e%252e/etc/passwd", {404}),
    (b"%252e%252e%252fetc%252fpasswd", {404}),
    (b"%25%32%65%25%32%65/etc/passwd", {404}),
    (b"Game/a.txt%00", {400}),
    (b"Game/a.txt%00.png", {400}),
    (b"Game/a.txt\0.png", {400}),
    (b"..\\..\\..\\etc\\passwd", {400}),
    (b"..%5c..%5cetc%5cpasswd", {400}),
    (b"Game%5ca.txt", {400}),
    (b"/etc/passwd", {400}),
    (b"Game//a.txt", {400}),
    (b"Game/a.txt/", {400}),
    (b"%0d%0aSet-Cookie:%20a=b", {400}),
    (b"a\rb", {400}),
    (b"%7f", {400}),
    (b"%", {400}),
    (b"%2", {400}),
    (b"%zz", {400}),
    (b"a b", {400}),
    (b"\xff\xfe", {400}),
    (b"a#b", {400}),
    (b"x" * 300, {404}),
    (b"a/" * 2000 + b"a", {400, 404}),
    (b"x" * 9_000, {414}),
    (b"%78" * 3_000, {414}),
    (b"x" * 500_000, {414}),
    (b".galley/state/http-token", {404}),
    (b"galley.toml", {404}),
]
# Targets that have no beginning; {good} is the path of a file that is there.
TARGETS = [
    (b"http://localhost{good}", {400}),
    (b"https://evil.example{good}", {400}),
    (b"file:///etc/passwd", {400}),
    (b"localhost:80", {400}),
    (b"/{good}", {400}),
    (b"/v1/../..{good}", {400}),
    (b"/%2e%2e{good}", {400}),
    (b"/etc/passwd", {404}),
    (b"*", {400}),
    (b"", {400}),
]
# Of files that have at least four bytes; 206: of all bytes; 200: such a field is passed over.
RANGES = [
    ("bytes=0-99999999999999999999999999", {206}),
    ("bytes=0-18446744073709551615", {206}),
    ("bytes=0-18446744073709551616", {206}),
    ("bytes=-99999999999999999999999999", {206}),
    ("bytes=99999999999999999999999999-", {416}),
    ("bytes=18446744073709551615-18446744073709551616", {416}),
    ("bytes=9223372036854775807-9223372036854775808", {416}),
    ("bytes=-0", {416}),
    ("bytes=9-1", {200}),
    ("bytes=-", {200}),
    ("bytes=--1", {200}),
    ("bytes=0x0-5", {200}),
    ("bytes=+0-5", {200}),
    ("lines=0-1", {200}),
    ("bytes=" + ",".join(["0-0"] * 1_500), {200}),
    ("bytes=" + ",".join(["0-"] * 2_000), {200}),
    ("bytes=" + ",".join(["0-0"] * 10_000), {431}),
    ("bytes=" + ",".join(f"{first}-{first}" for first in range(0, 3_000, 10)), {200}),
]
# Fields and a body that one server reads in another way than the next; a second request is hidden behind them.
SMUGGLED = [
    b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    b"Content-Length: 0\r\nContent-Length: 5\r\n\r\n",
    b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    b"Content-Length: 5, 5\r\n\r\nhello",
    b"Content-Length: +5\r\n\r\nhello",
    b"Content-Length: -1\r\n\r\n",
    b"Content-Length: 0x5\r\n\r\nhello",
    b"Content-Length: 99999999999999999999\r\n\r\n",
    b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    b"X: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"X: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"X: \0\r\n\r\n",
    b"Host: evil.example\r\n\r\n",
]


class DeviceHostileTest(DeviceCase):
    def setUp(self):
        super().setUp()
        project = self.project({"a.txt": TEXT, "c.json": '{"v": 1}'}, [COPY, DATA])
        self.client = self.serve_http(project)
        session = self.session(self.client, platform="pc")["session"]
        answer = self.client.get(f"/v1/sessions/{session}/Game/c.json.cbor")
        self.assertEqual(answer.status, 200, answer)
        root = answer.field("Galley-Root")
        records = self.galley("records", "/Game/c.json", "--platform", "pc", "--json", "--project", project)
        key = json.loads(records.stdout)["platforms"]["pc"]["action_key"]
        text = TEXT.encode()
        # {kind of path: (how each such path begins, a path of a file that is there, its bytes)}
        self.faces = {"present": ("/v1/pc/", "/v1/pc/Game/a.txt", text),
                      "session": (f"/v1/sessions/{session}/", f"/v1/sessions/{session}/Game/a.txt", text),
                      "root": (f"/v1/root/{root}/", f"/v1/root/{root}/static/Game/a.txt", text),
                      "blob": ("/v1/blob/", f"/v1/blob/{digest_of(text)}", text),
                      "record": (f"/v1/record/{key}/", f"/v1/record/{key}/.cbor", cbor(1))}
        self.expect_served()

    def expect_served(self):
        for kind, (_, good, data) in self.faces.items():
            answer = self.get_ready(self.client, good)
            self.assertEqual((answer.status, answer.body), (200, data), kind)

    def ask(self, target, fields=b""):
        """The answer; its status is None where there is none."""
        try:
            return answer_raw(self.client, b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\n" + fields + b"\r\n")
        except (OSError, http.client.HTTPException) as error:
            return types.SimpleNamespace(status=None, fields=f"{type(error).__name__}: {error}", body=b"", field=lambda name: None)

    def wrong(self, what, answer, statuses):
        """What is wrong with a refusal, as texts."""
        if answer.status not in statuses:
            yield f"{what}: {answer}, expected {statuses}"
        elif answer.field("Content-Type") != "application/problem+json" or answer.field("Cache-Control") != "no-store":
            yield f"{what}: {answer}, expected a problem that nobody keeps"
        elif b"root:" in answer.body or b"Set-Cookie" in answer.body or answer.field("Set-Cookie"):
            yield f"{what}: {answer}"

    def wrong_range(self, what, answer, statuses, data):
        if answer.status not in statuses:
            yield f"{what}: {answer.status} {answer.fields}, expected {statuses}"
        elif answer.status in (200, 206) and answer.body != data:
            yield f"{what}: {answer.status} {answer.fields} with {len(answer.body)} bytes, not the {len(data)} of the file"

    def wrong_smuggling(self, what, data):
        try:
            said = send_raw(self.client, data, limit_s=15)
        except OSError as error:
            said = f"{type(error).__name__}: {error}: the connection is left open".encode()
        status = status_of(said)
        if status not in (400, 411, 413, 417, 501) or said.count(b"HTTP/1.1 ") != 1:
            yield f"{what}: {said[:500]!r}, expected one refusal, and then the end"

    def test_each_kind_of_path_against_each_kind_of_harm(self):
        """The row "HTTP serve" of the table of hostile inputs."""
        wrong = []
        for kind, (begin, good, data) in self.faces.items():
            targets = [(begin.encode() + tail, statuses) for tail, statuses in PATHS]
            targets += [(target.replace(b"{good}", good.encode()), statuses) for target, statuses in TARGETS]
            for target, statuses in targets:
                wrong += self.wrong(f"{kind} {target[:120]!r}", self.ask(target), statuses)
            for field, statuses in RANGES:
                answer = self.ask(good.encode(), f"Range: {field}\r\n".encode())
                wrong += self.wrong_range(f"{kind} Range: {field[:60]} ({len(field)} bytes)", answer, statuses, data)
            for fields in SMUGGLED:
                for method in (b"GET", b"POST"):
                    hidden = b"GET " + good.encode() + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                    data = method + b" " + good.encode() + b" HTTP/1.1\r\nHost: localhost\r\n" + fields + hidden
                    wrong += self.wrong_smuggling(f"{kind} {method} {fields!r}", data)
        self.assertFalse(wrong, "\n".join([f"{len(wrong)} are wrong"] + [text[:600] for text in wrong[:20]]))
        self.expect_served()

    def test_pages_and_names_of_others_are_refused(self):
        for kind, (_, good, _) in self.faces.items():
            for fields, status in ((b"Origin: https://evil.example\r\n", 403), (b"Origin: null\r\n", 403),
                                   (b"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n", 403), (b"Origin: http://localhost\r\n", 200)):
                self.assertEqual(self.ask(good.encode(), fields).status, status, (kind, fields))
            for host, status in ((b"evil.example", 421), (b"localhost.evil.example", 421), (b"127.0.0.1.evil.example:80", 421), (b"a b", 400),
                                 (b"", 400), (b"localhost:1", 200)):
                answer = answer_raw(self.client, b"GET " + good.encode() + b" HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
                self.assertEqual(answer.status, status, (kind, host, answer))
        self.expect_served()


if __name__ == "__main__":
    unittest.main()
