#!/usr/bin/env python3
"""Cooking ahead: idle workers cook what devices are likely to ask for next, so that it is there when they do."""
import json, os, time, unittest

from exposition import read_metrics
from harness import COPY, LIMIT_S, SLOW, read_file
from http_case import HttpTest

REFERENCES = [f"{i}.slow" for i in range(20)]
DATA = 'match = "/Game/**/*.json"\ncooker = "data"'
QUICK = SLOW.replace("sleep 1; ", "")


class AheadTest(HttpTest):
    def map_project(self, references=REFERENCES, rule=QUICK, extra=""):
        """A map whose references are found by its load; each of them is another cook."""
        files = {name: f"bytes of {name}" for name in references}
        files["town.json"] = json.dumps({"shows": [{"$ref": name} for name in references]})
        files["other.slow"] = "nobody refers to it"
        files["other.txt"] = "nor to this one"
        return self.project(files, [rule, COPY, DATA], extra=extra)

    def ahead(self, project):
        return self.status(project)["devices"]["ahead"]

    def wait_for_rest(self, project, made):
        """The figures, once so many packages were made, and nothing is to be made any more."""
        found = None

        def is_resting():
            nonlocal found
            found = self.ahead(project)
            return found["made"] == made and found["waiting"] + found["open"] == 0

        self.wait_until(is_resting)
        return found

    def metrics(self, project):
        return read_metrics(f"http://{read_file(os.path.join(project, '.galley/state/metrics-address')).decode().strip()}/metrics")

    def jobs(self, project):
        """Jobs of the cooker `command` that were done, on one worker; half a second old at most."""
        found = self.metrics(project)
        name = "galley_job_duration_seconds_count"
        return int(found.value(name, cooker="command")) if found.has(name, cooker="command") else 0

    def ask(self, client, name):
        answer = self.get_ready(client, f"/v1/pc/Game/{name}.out")
        self.assertEqual(answer.status, 200, answer)
        return answer.body

    def test_the_references_of_a_map_are_there_when_they_are_asked_for(self):
        project = self.map_project()
        client = self.serve_http(project, "--workers", "1", "--metrics", "127.0.0.1:0")
        self.assertEqual(self.get_ready(client, "/v1/pc/Game/town.json.cbor").status, 200)
        found = self.wait_for_rest(project, made=20)
        self.assertEqual((found["hits"], found["unasked"], found["hit_rate"]), (0, 20, None))
        self.wait_until(lambda: self.jobs(project) == 20)
        for name in REFERENCES:
            self.assertEqual(self.ask(client, name), f"bytes of {name}".encode())
        self.wait_until(lambda: self.ahead(project)["hits"] >= 19)
        self.wait_until(lambda: self.ahead(project)["unasked"] == 0)
        found = self.ahead(project)
        self.assertEqual((found["made"], found["wasted"], found["hit_rate"]), (20, 0, 1))
        self.assertEqual(self.jobs(project), 20, "no request was a cook")
        measured = self.metrics(project)
        self.assertEqual(measured.value("galley_ahead_made_total"), 20)
        self.assertEqual(measured.value("galley_ahead_hits_total"), 20)
        self.assertGreater(measured.value("galley_ahead_slot_seconds_total"), 0)
        self.assertEqual(measured.wrong(), [])
        text = self.galley("status", "--project", project).stdout
        self.assertIn("cooked ahead: 20; asked for later: 20, for nothing: 0, not known yet: 0 (hit rate 100 %); to come: 0\n", text)

    def test_a_session_finds_them_too(self):
        project = self.map_project()
        client = self.serve_http(project, "--workers", "2")
        path = f"/v1/sessions/{self.session(client, platform='pc')['session']}"
        self.assertEqual(client.get(f"{path}/Game/town.json.cbor").status, 200)
        self.wait_for_rest(project, made=20)
        for name in REFERENCES:
            answer = client.get(f"{path}/Game/{name}.out")
            self.assertEqual((answer.status, answer.body), (200, f"bytes of {name}".encode()), answer)
        self.wait_until(lambda: self.ahead(project)["hits"] >= 19)

    def test_switched_off_nothing_is_cooked_that_nobody_asks_for(self):
        project = self.map_project(extra="[director]\nahead = false\n")
        client = self.serve_http(project, "--workers", "1", "--metrics", "127.0.0.1:0")
        self.assertEqual(self.get_ready(client, "/v1/pc/Game/town.json.cbor").status, 200)
        self.ask(client, "other.slow")
        self.wait_until(lambda: self.jobs(project) >= 1)
        self.assertEqual(self.jobs(project), 1, "the one that was asked for")
        self.assertIsNone(self.ahead(project))
        self.assertFalse(self.metrics(project).has("galley_ahead_made_total"))
        for number, name in enumerate(REFERENCES[:5]):
            self.ask(client, name)
            self.wait_until(lambda: self.jobs(project) >= 2 + number)  # the figures are half a second old: time enough for idle workers
            self.assertEqual(self.jobs(project), 2 + number, "nobody asked for more")

    def test_what_a_change_makes_stale_is_made_again(self):
        project = self.map_project()
        client = self.serve_http(project, "--workers", "2")
        self.assertEqual(self.get_ready(client, "/v1/pc/Game/town.json.cbor").status, 200)
        self.wait_for_rest(project, made=20)
        os.rename(self.write("new", "edited"), self.path("game/content/7.slow"))
        found = self.wait_for_rest(project, made=21)
        self.assertEqual((found["wasted"], found["unasked"]), (1, 20))
        self.assertEqual(self.ask(client, "7.slow"), b"edited")
        self.wait_until(lambda: self.ahead(project)["hits"] == 1)

    def test_a_request_does_not_wait_for_what_is_cooked_ahead(self):
        slow_s = 2 * LIMIT_S
        project = self.map_project(["long.slow"], rule=SLOW.replace("sleep 1", f"read text < $0; case $text in *long*) sleep {slow_s};; esac"))
        client = self.serve_http(project, "--workers", "1")
        self.assertEqual(self.get_ready(client, "/v1/pc/Game/town.json.cbor").status, 200)
        self.wait_until(lambda: self.ahead(project)["open"] == 1 and sum(worker["jobs"] for worker in self.status(project)["workers"]) == 1)
        begun = time.monotonic()
        self.assertEqual(self.ask(client, "other.slow"), b"nobody refers to it")
        self.assertLess(time.monotonic() - begun, slow_s / 4)
        self.wait_until(lambda: self.ahead(project)["killed"] >= 1)
        self.assertEqual(self.ahead(project)["made"], 0)
        self.assertEqual(self.status(project)["wrong"], [], "no fault of anybody")


if __name__ == "__main__":
    unittest.main()
