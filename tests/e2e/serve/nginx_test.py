#!/usr/bin/env python3
"""A director behind nginx with the configuration of deploy/nginx, as Debian's nginx takes it: what it keeps, and what it must not."""
import hashlib, os, threading, unittest

from harness import COPY, SLOW
from http_case import Changes
from nginx_case import NginxCase


class NginxTest(NginxCase):
    def test_many_clients_who_ask_for_one_file_are_one_request(self):
        project = self.project({"0.slow": "slow", "a.txt": "a"}, [SLOW.replace("sleep 1", "sleep 3"), COPY])
        client = self.start(project, "--workers", "1")
        self.get_ready(self.direct, "/v1/pc/Game/a.txt")
        before, answers = self.answered("2xx"), []
        threads = [threading.Thread(target=lambda: answers.append(client.get("/v1/pc/Game/0.slow.out"))) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual({(answer.status, answer.body) for answer in answers}, {(200, b"slow")})
        # One who is let go on more than a second after the answer, on a machine with much to do, makes nginx ask by the entity tag: 304.
        self.assertEqual(self.answered("2xx") - before, 1)

    def test_an_edit_is_seen_after_a_second_and_a_known_tag_is_asked_for(self):
        project = self.project({"a.txt": "one"}, [COPY])
        client = self.start(project)
        first = self.get_ready(client, "/v1/pc/Game/a.txt")
        self.assertEqual(first.body, b"one")
        self.assertEqual(client.get("/v1/pc/Game/a.txt", If_None_Match=first.field("ETag")).status, 304)
        # The 304 is not kept for others.
        self.assertEqual(client.get("/v1/pc/Game/a.txt").body, b"one")
        self.write("game/content/a.txt", "two")
        self.wait_until(lambda: client.get("/v1/pc/Game/a.txt").body == b"two")
        self.assertEqual(client.get("/v1/pc/Game/a.txt", If_None_Match=first.field("ETag")).status, 200)

    def test_errors_are_never_kept(self):
        client = self.start(self.project({"a.txt": "a"}, [COPY]))
        self.get_ready(client, "/v1/pc/Game/a.txt")
        self.assertEqual(client.get("/v1/pc/Game/b.txt").status, 404)
        self.write("game/content/b.txt", "b")
        self.wait_until(lambda: client.get("/v1/pc/Game/b.txt").status == 200)

    def test_what_is_immutable_is_asked_for_once(self):
        large = os.urandom(3 << 20)
        project = self.project({"a.txt": "text " * 1000, "large.txt": large}, [COPY])
        client = self.start(project)
        session = self.session(client, platform="pc")["session"]
        answer = client.get(f"/v1/sessions/{session}/Game/large.txt")
        root = answer.field("Galley-Root")
        path = f"/v1/root/{root}/static/Game/a.txt"
        for coding in ("gzip", "deflate, gzip;q=0.5", "identity", "gzip;q=0"):
            self.assertEqual(client.get(path, Accept_Encoding=coding).status, 200, coding)
        before = self.answered()
        self.assertEqual(client.get(path, Accept_Encoding="gzip, br").field("Content-Encoding"), "gzip")
        self.assertEqual(client.get(path, Accept_Encoding="br").body, b"text " * 1000)
        self.assertEqual(self.answered(), before, "two codings are kept, however they are asked for")

    def test_a_range_of_a_large_blob_fetches_its_slices_only(self):
        large = os.urandom(5 << 20)
        client = self.start(self.project({"large.txt": large}, [COPY]))
        self.get_ready(self.direct, "/v1/pc/Game/large.txt")
        path = f"/v1/blob/{hashlib.sha256(large).hexdigest()}/{len(large)}"
        before = self.answered()
        part = client.get(path, Range="bytes=2097160-2097169")
        self.assertEqual((part.status, part.body), (206, large[2097160:2097170]))
        self.assertEqual(self.answered() - before, 1, "the third slice, which says how large the blob is")
        self.assertTrue(client.get(path).body == large)
        before = self.answered()
        self.assertTrue(client.get(path).body == large)
        self.assertEqual(client.head(path).field("Content-Length"), str(len(large)))
        self.assertEqual(self.answered(), before)
        empty = client.get(f"/v1/blob/{hashlib.sha256(b'').hexdigest()}/0")
        self.assertEqual((empty.status, empty.body), (200, b""))

    def test_events_come_one_by_one(self):
        project = self.project({"a.txt": "0"}, [COPY])
        client = self.start(project)
        session = self.session(client, platform="pc")["session"]
        changes = Changes(client, session)
        self.addCleanup(changes.close)
        for text in ("1", "2", "3"):
            seen = len(changes.events)
            self.write("game/content/a.txt", text)
            self.wait_until(lambda: len(changes.events) > seen)

    def test_paths_are_as_safe_as_without_it(self):
        client = self.start(self.project({"a.txt": "a"}, [COPY]))
        self.get_ready(client, "/v1/pc/Game/a.txt")
        for path in ("/v1/pc/../../etc/passwd", "/v1/pc/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/v1/pc/Game%2fa.txt", "/v1/pc/a%5cb", "/v1/pc//a",
                     "/v1/pc/%c0%ae/a", "/v1/pc/a%00"):
            self.assertIn(client.get(path).status, (400, 404), path)


if __name__ == "__main__":
    unittest.main()
