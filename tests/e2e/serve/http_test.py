#!/usr/bin/env python3
"""`galley serve --http`: devices ask for files, which are cooked when they are not; sessions see one world; changes are told."""
import http.client, json, os, signal, socket, ssl, subprocess, threading, unittest

from device_case import DATA, LEVEL
from harness import COPY, LIMIT_S, SLOW, SOURCE, is_running, kill, read_file, wait_until
from http_case import Changes, Http, HttpTest
from exposition import read_metrics

TOWN = json.dumps({"name": "town", "items": [{"position": [x, 0, z]} for x in (10, 150) for z in (20, 220)]})


class FilesTest(HttpTest):
    def test_head_ranges_conditions_and_codings(self):
        text = "".join(f"line {i}\n" for i in range(2000))
        client = self.serve_http(self.project({"a.txt": text}, [COPY]))
        path = "/v1/pc/Game/a.txt"
        whole = self.get_ready(client, path)
        self.assertEqual(whole.body.decode(), text)
        self.assertEqual(whole.field("Content-Type"), "text/plain; charset=utf-8")
        self.assertEqual(whole.field("X-Content-Type-Options"), "nosniff")
        self.assertEqual(whole.field("Content-Security-Policy"), "sandbox")
        tag = whole.field("ETag")
        self.assertRegex(tag, r'^"[0-9a-f]{64}(-[0-9a-f]{64})?"$')
        head = client.head(path)
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertEqual(head.field("Content-Length"), str(len(text)))
        self.assertEqual(head.field("ETag"), tag)
        self.assertEqual(client.get(path, If_None_Match=tag).status, 304)
        part = client.get(path, Range="bytes=5-9", If_Range=tag)
        self.assertEqual((part.status, part.body), (206, text.encode()[5:10]))
        self.assertEqual(part.field("Content-Range"), f"bytes 5-9/{len(text)}")
        self.assertEqual(client.get(path, Range="bytes=99999999-").status, 416)
        huge = client.get(path, Range="bytes=0-99999999999999999999999999")
        self.assertEqual((huge.status, huge.body), (206, whole.body))
        coded = client.get(path, Accept_Encoding="gzip")
        self.assertEqual(coded.field("Content-Encoding"), "gzip")
        self.assertEqual(coded.field("ETag"), f'W/{tag[:-1]}-gzip"')
        self.assertIsNone(coded.field("Repr-Digest"))
        again = client.get(path, Accept_Encoding="gzip", If_None_Match=coded.field("ETag"))
        self.assertEqual(again.status, 304)

    def test_a_known_file_is_not_cooked_again(self):
        project = self.slow_project(1)
        client = self.serve_http(project, "--workers", "1")
        tag = self.get_ready(client, "/v1/pc/Game/0.slow.out").field("ETag")
        self.assertEqual(client.get("/v1/pc/Game/0.slow.out", If_None_Match=tag).status, 304)
        self.assertEqual(client.get("/v1/pc/Game/0.slow.out", If_None_Match='"of something else"').status, 200)

    def test_many_who_ask_for_one_file_cost_one_cook(self):
        # Two cooks would not come to the same bytes.
        client = self.serve_http(self.project({"0.slow": "slow"}, [SLOW.replace("cp $0 $1", "date +%s%N > $1"), COPY]), "--workers", "2")
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.get_ready(client, "/v1/pc/Game/0.slow.out"))) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([answer.status for answer in answers], [200] * 20)
        self.assertEqual(len({answer.body for answer in answers}), 1)

    def test_a_client_says_how_long_it_waits(self):
        project = self.project({"0.slow": "slow", "a.txt": "a"}, [SLOW.replace("sleep 1", "sleep 3"), COPY])
        client = self.serve_http(project, "--workers", "1")
        self.get_ready(client, "/v1/pc/Game/a.txt")
        late = client.get("/v1/pc/Game/0.slow.out", Prefer="wait=1")
        self.assertEqual(late.status, 504, late)
        self.assertEqual(late.field("Cache-Control"), "no-store")
        self.assertEqual(self.get_ready(client, "/v1/pc/Game/0.slow.out").body, b"slow")

    def test_a_package_that_fails_says_why_and_heals(self):
        project = self.project({"broken.json": "{", "a.txt": "a"}, [DATA, COPY])
        client = self.serve_http(project)
        failed = self.get_ready(client, "/v1/pc/Game/broken.json.cbor")
        self.assertEqual(failed.status, 422, failed)
        self.assertEqual(failed.field("Content-Type"), "application/problem+json")
        self.assertEqual(failed.field("Cache-Control"), "no-store")
        self.assertEqual(failed.json["package"], "/Game/broken.json")
        self.assertTrue(failed.json["text"])
        if failed.json.get("log"):
            self.assertEqual(client.get(f"/v1/blob/{failed.json['log']}").status, 200)

        def failures():
            told = self.galley("why", "--json", "/Game/broken.json", "--project", project)
            return json.loads(told.stdout)["failures"] if told.returncode == 0 else []

        self.wait_until(failures)  # it is written a moment later
        failure, = failures()
        self.assertEqual((failure["cook"], failure["platform"], failure["blame"]), (0, "pc", "verdict"), failure)
        self.assertTrue(failure["error"])
        self.write("game/content/broken.json", "{}")
        self.wait_until(lambda: client.get("/v1/pc/Game/broken.json.cbor").status == 200)
        self.wait_until(lambda: not failures())

    def test_what_is_not_there_is_said(self):
        client = self.serve_http(self.project({"a.txt": "a", "a.json": "{}"}, [COPY, DATA]))
        self.get_ready(client, "/v1/pc/Game/a.txt")
        for path in ("/", "/v1", "/v1/pc", "/v1/phone/Game/a.txt", "/v1/pc/Game/b.txt", "/v1/pc/Game", "/v1/pc/Game/a.json.d/lod9",
                     "/v1/pc/Game/A.txt", f"/v1/blob/{'0' * 64}/7", f"/v1/record/{'0' * 64}/7", "/v1/sessions/none"):
            answer = self.get_ready(client, path)
            self.assertEqual(answer.status, 404, (path, answer))
            self.assertEqual(answer.field("Cache-Control"), "no-store")
        self.assertEqual(client.get(f"/v1/root/{'0' * 64}/7/Game/a.txt").status, 410)

    def test_only_some_methods_are_there(self):
        client = self.serve_http(self.project({"a.txt": "a"}, [COPY]))
        for method, path, allowed in (("DELETE", "/v1/pc/Game/a.txt", "GET, HEAD"), ("GET", "/v1/sessions", "POST"),
                                      ("POST", "/v1/sessions/x", "GET, HEAD, DELETE")):
            answer = client.ask(method, path, b"" if method == "POST" else None)
            self.assertEqual((answer.status, answer.field("Allow")), (405, allowed), answer)
        self.assertEqual(client.ask("PUT", "/v1/pc/Game/a.txt", b"x").status, 501)

    def test_a_large_file_comes_whole_and_in_parts(self):
        large = os.urandom(5 << 20)
        client = self.serve_http(self.project({"large.bin": large}, ['match = "/Game/**/*.bin"\ncooker = "copy"']))
        path = "/v1/pc/Game/large.bin"
        self.assertTrue(self.get_ready(client, path).body == large)
        part = client.get(path, Range="bytes=4000000-4999999")
        self.assertEqual(part.status, 206)
        self.assertTrue(part.body == large[4000000:5000000])


class SessionsTest(HttpTest):
    def test_a_session_sees_one_world_and_is_told_of_the_next(self):
        project = self.project({"a.txt": "one", "b.txt": "b", "c.json": '{"c": 1}'}, [COPY, DATA])
        client = self.serve_http(project)
        session = self.session(client, platform="pc")
        path = f"/v1/sessions/{session['session']}"
        first = client.get(f"{path}/Game/c.json.cbor")
        self.assertEqual(first.status, 200, first)
        root = first.field("Galley-Root")
        self.assertEqual(client.get(path).json["root"], root)
        of_root = client.get(f"/v1/root/{root}/static/Game/c.json.cbor")
        self.assertEqual((of_root.status, of_root.body), (200, first.body), of_root)
        self.assertIn("immutable", of_root.field("Cache-Control"))
        self.assertEqual(client.get(f"{path}/Game/a.txt").body, b"one")
        changes = Changes(client, session["session"])
        self.addCleanup(changes.close)
        self.assertEqual(changes.status, 200)

        self.write("game/content/a.txt", "two")
        self.write("game/content/c.json", '{"c": 2}')
        os.remove(os.path.join(project, "content/b.txt"))
        self.write("game/content/d.txt", "d")
        self.wait_until(lambda: "Game/b.txt" in changes.paths("removed") and "Game/d.txt" in changes.paths("added"))
        self.wait_until(lambda: "Game/a.txt" in changes.paths("modified"))
        # The session has read this one: it is cooked without being asked for.
        self.wait_until(lambda: "Game/c.json.cbor" in changes.paths("modified"))
        ids = [id for id, _, _ in changes.events]
        self.assertTrue(all(ids) and len(set(ids)) == len(ids), ids)

        # The old session has the old world, or says that it cannot any more.
        old = client.get(f"{path}/Game/a.txt")
        self.assertIn(old.status, (200, 409), old)
        if old.status == 200:
            self.assertEqual(old.body, b"one")
        self.assertEqual(client.get(f"{path}/Game/c.json.cbor").body, first.body, "its tree has it")
        late = client.get(f"{path}/Game/d.txt")
        self.assertIn(late.status, (404, 409), late)
        newest = client.get(path).json["newest_root"]
        self.assertNotEqual(newest, client.get(path).json["root"])
        new = self.session(client, platform="pc")
        self.assertEqual(client.get(f"/v1/sessions/{new['session']}/Game/a.txt").body, b"two")
        self.assertEqual(client.get(f"/v1/sessions/{new['session']}/Game/b.txt").status, 404)
        self.assertEqual(self.get_ready(client, "/v1/pc/Game/a.txt").body, b"two")

    def test_changes_go_on_behind_the_last_event(self):
        project = self.project({"a.txt": "0"}, [COPY])
        client = self.serve_http(project)
        session = self.session(client, platform="pc")["session"]
        first = Changes(client, session)
        self.write("game/content/a.txt", "1")
        last = first.wait_for(lambda data: any(entry["path"] == "Game/a.txt" for entry in data.get("modified", [])), "the first edit")
        first.close()
        self.write("game/content/b.txt", "b")
        second = Changes(client, session, last_id=last[0])
        self.addCleanup(second.close)
        second.wait_for(lambda data: any(entry["path"] == "Game/b.txt" for entry in data.get("added", [])), "the second edit")
        self.assertNotIn(last[0], [id for id, _, _ in second.events])
        third = Changes(client, session, last_id="999999-1")
        self.addCleanup(third.close)
        self.wait_until(lambda: third.events)
        self.assertEqual(third.events[0][1], "snapshot")

    def test_a_failure_is_told_and_the_last_good_version_is_there_for_who_wants_it(self):
        project = self.project({"c.json": '{"c": 1}'}, [DATA])
        client = self.serve_http(project)
        session = self.session(client, platform="pc", last_good=True)["session"]
        good = client.get(f"/v1/sessions/{session}/Game/c.json.cbor")
        self.assertEqual(good.status, 200, good)
        changes = Changes(client, session)
        self.addCleanup(changes.close)
        self.write("game/content/c.json", "{")
        failure = changes.wait_for(lambda data: data.get("failures"), "the failure")[2]["failures"][0]
        self.assertEqual(failure["package"], "/Game/c.json")
        self.assertTrue(failure["text"])
        lenient = self.session(client, platform="pc", last_good=True)["session"]
        answer = client.get(f"/v1/sessions/{lenient}/Game/c.json.cbor")
        self.assertEqual((answer.status, answer.body), (200, good.body), answer)
        self.assertTrue(answer.field("Galley-Last-Good"))
        self.assertIsNone(answer.field("ETag"))
        strict = self.session(client, platform="pc")["session"]
        self.assertEqual(client.get(f"/v1/sessions/{strict}/Game/c.json.cbor").status, 422)
        self.write("game/content/c.json", '{"c": 3}')
        self.wait_until(lambda: any("/Game/c.json" in data.get("healed", []) for _, _, data in changes.events))

    def test_generated_packages_are_there_and_go(self):
        project = self.project({"town.level": TOWN}, [LEVEL])
        client = self.serve_http(project)
        session = self.session(client, platform="pc")["session"]
        cell = "Game/town.level/_gen/cell_0_0.level.cbor"
        there = client.get(f"/v1/sessions/{session}/{cell}")
        self.assertEqual(there.status, 200, there)
        self.assertEqual(client.get(f"/v1/sessions/{session}/Game/town.level/_gen/cell_9_9.level.cbor").status, 404)
        self.assertEqual(self.get_ready(client, f"/v1/pc/{cell}").body, there.body)
        self.write("game/content/town.level", json.dumps({"name": "town", "items": []}))
        self.wait_until(lambda: client.get(f"/v1/pc/{cell}").status == 404)
        self.assertEqual(client.get(f"/v1/sessions/{session}/{cell}").body, there.body, "its tree has it")

    def test_a_session_goes_on_when_its_director_was_killed(self):
        project = self.project({"a.txt": "a", "c.json": '{"c": 1}', "d.json": '{"d": 1}'}, [COPY, DATA])
        client = self.serve_http(project)
        session = self.session(client, platform="pc")["session"]
        read = client.get(f"/v1/sessions/{session}/Game/c.json.cbor")
        self.assertEqual(read.status, 200, read)
        kill(self.process)
        self.wait_until(lambda: not is_running(self.process))
        client = self.serve_http(project)
        answer = self.get_ready(client, f"/v1/sessions/{session}")
        self.assertEqual(answer.status, 200, answer)
        self.assertFalse(answer.json["frozen"])
        self.assertEqual(self.get_ready(client, f"/v1/sessions/{session}/Game/c.json.cbor").body, read.body)
        self.assertEqual(self.get_ready(client, f"/v1/sessions/{session}/Game/d.json.cbor").status, 200)

    def test_a_session_whose_world_went_with_its_director_is_frozen(self):
        project = self.project({"c.json": '{"c": 1}', "d.json": '{"d": 1}'}, [DATA])
        client = self.serve_http(project)
        session = self.session(client, platform="pc")["session"]
        read = client.get(f"/v1/sessions/{session}/Game/c.json.cbor")
        self.assertEqual(read.status, 200, read)
        kill(self.process)
        self.wait_until(lambda: not is_running(self.process))
        self.write("game/content/c.json", '{"c": 2}')
        self.write("game/content/d.json", '{"d": 2}')
        client = self.serve_http(project)
        self.get_ready(client, "/v1/pc/Game/c.json.cbor")
        self.assertTrue(self.get_ready(client, f"/v1/sessions/{session}").json["frozen"])
        self.assertEqual(client.get(f"/v1/sessions/{session}/Game/c.json.cbor").body, read.body)
        late = client.get(f"/v1/sessions/{session}/Game/d.json.cbor")
        self.assertEqual(late.status, 409, late)
        self.assertRegex(late.json["root"], r"^[0-9a-f]{64}/\d+$")

    @unittest.skipUnless(os.geteuid() == 0, "mounting needs root")
    def test_a_look_at_all_files_makes_no_newer_world(self):
        project = self.project({"c.json": '{"c": 1}', "below/d.json": '{"d": 1}'}, [DATA])
        os.makedirs(os.path.join(project, "content/empty"))
        client = self.serve_http(project)
        session = self.session(client, platform="pc")["session"]
        changes = Changes(client, session)
        self.addCleanup(changes.close)
        mounted = os.path.join(project, "content/empty")
        subprocess.run(["mount", "-t", "tmpfs", "none", mounted], check=True)
        self.addCleanup(subprocess.run, ["umount", mounted])
        # The kernel does not tell what lies in another file system: the director looks at all files.
        self.write("game/content/below/e.json", "{}")
        self.wait_until(lambda: "Game/below/e.json.cbor" in changes.paths("added"))
        told = [entry["path"] for _, _, data in changes.events for name in ("modified", "removed") for entry in data.get(name, [])]
        self.assertEqual(told + [path for _, _, data in changes.events for path in data.get("stale", []) if "e.json" not in path], [])

    def test_two_roots_are_compared(self):
        project = self.project({"a.txt": "one", "b.txt": "b", "c.json": '{"c": 1}', "d.json": '{"d": 1}'}, [COPY, DATA])
        client = self.serve_http(project)
        old = self.session(client, platform="pc")["session"]
        for name in ("c", "d"):
            answer = client.get(f"/v1/sessions/{old}/Game/{name}.json.cbor")
        older = answer.field("Galley-Root")
        self.assertEqual(client.ask("DELETE", f"/v1/sessions/{old}").status, 204)
        for name, text in (("a.txt", "two"), ("c.json", '{"c": 2}'), ("d.json", '{"d": 2}'), ("e.txt", "new")):
            self.write(f"game/content/{name}", text)
        os.remove(os.path.join(project, "content/b.txt"))

        def newest():
            session = self.session(client, platform="pc")["session"]
            cooked = client.get(f"/v1/sessions/{session}/Game/c.json.cbor")
            there = client.get(f"/v1/sessions/{session}/Game/e.txt").status == 200 and client.get(f"/v1/sessions/{session}/Game/b.txt").status == 404
            return cooked if there and cooked.status == 200 else None
        cooked = wait_until(newest, "the edits")
        newer = cooked.field("Galley-Root")
        told = client.get(f"/v1/root/{newer}?since={older}")
        self.assertEqual(told.status, 200, told)
        self.assertIn("immutable", told.field("Cache-Control"))
        files = {entry["path"]: entry["after"] for entry in told.json["modified"]}
        self.assertEqual(sorted(files), ["Game/a.txt", "Game/c.json.cbor"])
        self.assertEqual(client.get(f"/v1/blob/{files['Game/a.txt']}").body, b"two")
        self.assertEqual(client.get(f"/v1/blob/{files['Game/c.json.cbor']}").body, cooked.body)
        self.assertEqual([entry["path"] for entry in told.json["added"]], ["Game/e.txt"])
        self.assertEqual((told.json["removed"], told.json["stale"]), (["Game/b.txt"], ["Game/d.json.cbor"]))
        self.assertEqual(client.get(f"/v1/root/{newer}?since={newer}").json, {})
        for since, status in ((f"{'0' * 64}/7", 410), ("x", 400), (files["Game/a.txt"], 404)):
            self.assertEqual(client.get(f"/v1/root/{newer}?since={since}").status, status, since)

    def test_a_closed_session_is_gone_and_its_streams_end(self):
        client = self.serve_http(self.project({"a.txt": "a"}, [COPY]))
        session = self.session(client, platform="pc")["session"]
        changes = Changes(client, session)
        self.assertEqual(client.ask("DELETE", f"/v1/sessions/{session}").status, 204)
        changes.thread.join(LIMIT_S)
        self.assertFalse(changes.thread.is_alive())
        for method in ("GET", "DELETE"):
            self.assertEqual(client.ask(method, f"/v1/sessions/{session}").status, 404)

    def test_asks_that_make_no_sense_are_refused(self):
        client = self.serve_http(self.project({"a.txt": "a"}, [COPY]))
        self.session(client, platform="pc")
        self.assertEqual(client.open_session(platform="phone").status, 404)
        self.assertEqual(client.open_session(platform="pc", plattform=1).status, 400)
        self.assertEqual(client.open_session(platform="pc", root="ab/7").status, 400)
        self.assertEqual(client.open_session(platform="pc", root=f"{'0' * 64}/7").status, 410)
        self.assertEqual(client.ask("POST", "/v1/sessions", b'{"platform":"pc"}').status, 415)
        self.assertEqual(client.ask("POST", "/v1/sessions", b"x" * 70_000, {"Content-Type": "application/json"}).status, 413)

    def test_the_outputs_of_a_record_are_listed_and_there(self):
        project = self.project({"c.json": '{"c": 1}'}, [DATA])
        client = self.serve_http(project)
        cooked = self.get_ready(client, "/v1/pc/Game/c.json.cbor")
        records = self.galley("records", "/Game/c.json", "--platform", "pc", "--json", "--project", project)
        key = json.loads(records.stdout)["platforms"]["pc"]["action_key"]
        listed = client.get(f"/v1/record/{key}")
        self.assertEqual(listed.status, 200, listed)
        self.assertEqual([output["suffix"] for output in listed.json["outputs"]], [".cbor"])
        output = client.get(f"/v1/record/{key}/.cbor")
        self.assertEqual((output.status, output.body), (200, cooked.body), output)
        self.assertEqual(client.get(f"/v1/record/{key}/.other").status, 404)


class DoorTest(HttpTest):
    def test_the_url_is_said_and_counted(self):
        project = self.project({"a.txt": "a"}, [COPY], extra='[director]\nhttp = "127.0.0.1:0"\n')
        done = self.galley("serve", "--detach", "--metrics", "127.0.0.1:0", "--project", project)
        self.addCleanup(lambda: self.galley("serve", "--stop", "--project", project))
        self.assertEqual(done.returncode, 0, done.stderr)
        url = read_file(os.path.join(project, ".galley/state/http-url")).decode().strip()
        self.assertIn(f"devices: {url}\n", done.stderr)
        self.assertEqual(self.get_ready(Http(url), "/v1/pc/Game/a.txt").body, b"a")
        self.assertEqual(self.status(project)["devices"]["url"], url)
        found = read_metrics(f"http://{read_file(os.path.join(project, '.galley/state/metrics-address')).decode().strip()}/metrics")
        self.assertGreaterEqual(found.value("galley_http_answers_total", status="2xx"), 1)
        self.assertEqual(found.wrong(), [])
        self.assertEqual(self.galley("serve", "--stop", "--project", project).returncode, 0)
        self.assertFalse(os.path.exists(os.path.join(project, ".galley/state/http-url")))

    def test_json_tells_the_url(self):
        project = self.project({"a.txt": "a"}, [COPY])
        serve = subprocess.Popen([os.path.join(self.bin, "galley"), "serve", "--json", "--http", "localhost:0", "--project", project],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
        self.addCleanup(serve.stdout.close)
        self.addCleanup(serve.wait)
        self.addCleanup(serve.terminate)
        event = json.loads(serve.stdout.readline())
        self.assertRegex(event["devices"], r"^http://localhost:[1-9]\d*$")
        self.assertEqual(self.get_ready(Http(event["devices"]), "/v1/pc/Game/a.txt").body, b"a")

    def test_a_director_without_an_address_answers_no_devices(self):
        project = self.project({"a.txt": "a"}, [COPY])
        self.serve(project)
        self.assertIsNone(self.status(project)["devices"])
        self.assertFalse(os.path.exists(os.path.join(project, ".galley/state/http-url")))

    def test_a_cook_asks_the_director_whatever_its_address(self):
        project = self.project({"a.txt": "a"}, [COPY])
        client = self.serve_http(project)
        self.assertEqual(self.cook(project).code, 0)
        answer = self.get_ready(client, "/v1/pc/Game/a.txt")
        self.assertEqual(answer.body, b"a")
        root = json.loads(self.galley("roots", "--json", "--project", project).stdout.splitlines()[0])["root"]
        of_root = client.get(f"/v1/root/{root}/Game/a.txt")
        self.assertEqual((of_root.status, of_root.body), (200, b"a"), of_root)
        self.assertEqual(client.get(f"/v1/root/{root}/Game/b.txt").status, 404)

    def test_what_is_wrong_with_the_address_or_a_platform_is_exit_2(self):
        project = self.project({"a.txt": "a"}, [COPY])
        for address in (":80", "8080", "127.0.0.1:x", "0.0.0.0:8080", "10.1.2.3:8080", "[::]:8080", "somewhere:8080"):
            for more in ([], ["--detach"]):
                done = self.galley("serve", "--http", address, *more, "--project", project)
                self.assertEqual(done.returncode, 2, (address, done.stderr))
                self.assertIn(address, done.stderr)
        for name in ("sessions", "page"):
            other = self.project({"a.txt": "a"}, [COPY], name=name, platforms=[f'name = "{name}"\ntexture = "bc"'])
            done = self.galley("serve", "--http", "127.0.0.1:0", "--project", other)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"`{name}`", done.stderr)
            self.assertEqual(self.galley("cook", "--project", other).returncode, 0, "without HTTP the name is free")

    def test_other_machines_ask_by_tls_with_the_token(self):
        certs = self.path("certs")
        done = subprocess.run([os.path.join(SOURCE, "deploy/dev-certs"), certs, "localhost", "127.0.0.1"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done)
        farm = f'[farm]\ntls_cert = "{certs}/director.pem"\ntls_key = "{certs}/director.key"\n'
        project = self.project({"a.txt": "a"}, [COPY], extra=farm)
        client = self.serve_http(project, address="0.0.0.0:0")
        self.assertRegex(client.url, r"^https://0\.0\.0\.0:[1-9]\d*$")
        token_file = os.path.join(project, ".galley/state/http-token")
        self.assertEqual(os.stat(token_file).st_mode & 0o777, 0o600)
        token = read_file(token_file).decode().strip()
        client.tls = ssl.create_default_context(cafile=f"{certs}/ca.pem")
        client.host = client.host.replace("0.0.0.0", "localhost")
        self.assertEqual(client.get("/v1/pc/Game/a.txt").status, 401)
        self.assertEqual(client.get("/v1/pc/Game/a.txt", Authorization="Bearer " + token[::-1]).status, 401)
        answer = self.get_ready(client, "/v1/pc/Game/a.txt", Authorization=f"Bearer {token}")
        self.assertEqual((answer.status, answer.body), (200, b"a"), answer)
        client.tls = None  # plain HTTP is answered with an error, or with nothing
        try:
            self.assertEqual(client.get("/v1/pc/Game/a.txt", Authorization=f"Bearer {token}").status, 400)
        except (OSError, http.client.HTTPException):
            pass

    def test_an_address_in_use_is_exit_3(self):
        project = self.project({"a.txt": "a"}, [COPY])
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = f"127.0.0.1:{listener.getsockname()[1]}"
            for more in ([], ["--detach"]):
                done = self.galley("serve", "--http", address, *more, "--project", project)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(f"{address} cannot be listened on: Address already in use", done.stderr)

    def test_the_end_of_the_director_ends_requests_and_streams(self):
        project = self.project({"0.slow": "slow", "a.txt": "a"}, [SLOW.replace("sleep 1", "sleep 600"), COPY])
        client = self.serve_http(project, "--workers", "1")
        session = self.session(client, platform="pc")["session"]
        changes = Changes(client, session)
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(client.get("/v1/pc/Game/0.slow.out")))
        waiting.start()
        self.wait_until(lambda: self.status(project)["devices"]["connections"] >= 2)
        os.kill(self.process, signal.SIGTERM)
        waiting.join(LIMIT_S)
        self.assertEqual(answers[0].status, 503, answers)
        changes.thread.join(LIMIT_S)
        self.assertFalse(changes.thread.is_alive())
        self.wait_until(lambda: not is_running(self.process))


if __name__ == "__main__":
    unittest.main()
