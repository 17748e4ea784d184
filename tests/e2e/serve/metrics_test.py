#!/usr/bin/env python3
"""Metrics: what a director says of itself to Prometheus, read here without one (tests/interop/prometheus_test.py has a real one)."""
import json, os, re, signal, socket, subprocess, time, unittest, urllib.error, urllib.request

from exposition import Exposition, read_metrics
from harness import COPY, LIMIT_S, ResidentTest, read_file

PNG = 'match = "/Game/**/*.png"\ncooker = "texture"'


class MetricsTest(ResidentTest):
    def url(self, project):
        path = os.path.join(project, ".galley/state/metrics-address")
        self.wait_until(lambda: os.path.exists(path))
        return f"http://{read_file(path).decode().strip()}/metrics"

    def wait_for(self, url, is_right):
        """The figures, once they are so: they are half a second old at most."""
        until = time.time() + LIMIT_S
        while True:
            found = read_metrics(url)
            if is_right(found):
                return found
            self.assertLess(time.time(), until, found.text)
            time.sleep(0.05)

    def test_a_cook_is_counted_by_cooker_outcome_class_and_exit_code(self):
        project = self.project({"a.txt": "a", "b.txt": "b", "broken.png": "no image"}, [COPY, PNG])
        before = time.time()
        self.serve(project, "--metrics", "127.0.0.1:0")
        url = self.url(project)
        first = read_metrics(url)
        self.assertEqual(first.value("galley_build_info"), 1)
        self.assertEqual(first.value("galley_cooks_total"), 0)
        self.assertFalse(first.has("galley_cook_last_success_timestamp_seconds"))
        self.assertEqual(self.cook(project).code, 1)
        found = self.wait_for(url, lambda f: f.has("galley_results_total", cooker="texture") and
                              f.value("galley_results_total", outcome="cooked", cooker="copy") == 2)
        self.assertEqual(found.value("galley_results_total", cooker="texture", outcome="failed"), 1)
        self.assertEqual(found.value("galley_results_total", cooker="copy", outcome="failed"), 0)
        self.assertEqual(found.value("galley_cooks_total", **{"class": "nightly", "exit_code": "1"}), 1)
        self.assertFalse(found.has("galley_cook_last_success_timestamp_seconds"), "it had a failure")
        jobs = found.value("galley_job_duration_seconds_count", cooker="copy")
        self.assertIn(jobs, (1, 2), "one that was moved between two workers is not measured")
        self.assertEqual(found.value("galley_job_duration_seconds_bucket", cooker="copy", le="+Inf"), jobs)
        self.assertGreater(found.value("galley_job_saved_bytes_total"), 0)
        self.assertGreater(found.value("galley_store_written_bytes_total"), 0)

        os.unlink(self.path("game/content/broken.png"))
        self.write("game/content/a.txt", "changed")
        self.assertEqual(self.cook(project).code, 0)
        found = self.wait_for(url, lambda f: f.value("galley_results_total", outcome="cooked", cooker="copy") == 3)
        self.assertEqual(found.value("galley_cooks_total", **{"class": "nightly", "exit_code": "0"}), 1)
        self.assertGreaterEqual(found.value("galley_cook_last_success_timestamp_seconds", platform="pc"), int(before))
        self.assertEqual(self.cook(project, "/Game/b.txt").code, 0)
        found = read_metrics(url)
        self.assertEqual(found.value("galley_cooks_total", **{"class": "commit", "exit_code": "0"}), 1)
        self.assertEqual(found.value("galley_cooks_in_progress"), 0)

        # A director that was started again knows when the last good cook was.
        when = found.value("galley_cook_last_success_timestamp_seconds", platform="pc")
        self.assertEqual(self.galley("serve", "--stop", "--project", project).returncode, 0)
        self.assertFalse(os.path.exists(self.path("game/.galley/state/metrics-address")))
        self.serve(project, "--metrics", "127.0.0.1:0")
        self.assertEqual(read_metrics(self.url(project)).value("galley_cook_last_success_timestamp_seconds", platform="pc"), int(when))

    def test_workers_jobs_store_and_process_are_there(self):
        project = self.slow_project(6)
        self.serve(project, "--metrics", "127.0.0.1:0", "--workers", "2")
        url = self.url(project)
        cook = self.start_cook(project)
        busy = self.wait_for(url, lambda f: f.value("galley_workers", launcher="local", state="busy") == 2)
        self.assertEqual(busy.value("galley_worker_slots", launcher="local"), 2)
        self.assertGreater(busy.value("galley_jobs", state="in_hand"), 0)
        self.assertEqual(busy.value("galley_cooks_in_progress", **{"class": "nightly", "state": "running"}), 1)
        self.wait_for(url, lambda f: f.value("galley_packages", **{"class": "nightly"}) == 6)
        for worker in ("local-1", "local-2"):
            self.assertAlmostEqual(busy.value("galley_worker_last_job_timestamp_seconds", worker=worker), time.time(), delta=LIMIT_S)
        self.assertEqual(busy.value("galley_worker_series_truncated"), 0)
        self.assertEqual(self.finish_cook(project, cook).code, 0)
        done = self.wait_for(url, lambda f: f.has("galley_store_size_bytes") and f.value("galley_store_size_bytes") > 0 and
                             f.value("galley_workers", launcher="local", state="idle") == 2)
        self.assertEqual(done.value("galley_packages", state="load"), 0)
        self.assertEqual(done.value("galley_workers_started_total", launcher="local"), 2)
        self.assertEqual(done.value("galley_workers_lost_total"), 0)
        self.assertEqual(done.value("galley_store_quarantined_blobs"), 0)
        self.assertTrue(done.has("galley_store_loss_epoch"))
        self.assertGreater(done.value("galley_store_disk_size_bytes"), done.value("galley_store_disk_free_bytes"))
        self.assertEqual(done.value("galley_store_size_limit_bytes"), 100 << 30)
        self.assertFalse(done.has("galley_store_remote_up"), "there is no remote")
        self.assertGreater(done.value("process_cpu_seconds_total"), 0)
        self.assertGreater(done.value("process_resident_memory_bytes"), 1 << 20)
        self.assertGreater(done.value("process_open_fds"), 5)
        self.assertGreaterEqual(done.value("process_max_fds"), done.value("process_open_fds"))
        self.assertLess(abs(time.time() - done.value("process_start_time_seconds")), LIMIT_S)
        self.assertEqual(done.wrong(), [])

    def test_a_worker_that_is_killed_is_lost_and_its_job_done_again(self):
        project = self.slow_project(2)
        self.serve(project, "--metrics", "127.0.0.1:0", "--workers", "1")
        url = self.url(project)
        cook = self.start_cook(project)
        self.wait_for(url, lambda f: f.value("galley_workers", launcher="local", state="busy") == 1)
        os.kill(self.status(project)["workers"][0]["process"], signal.SIGKILL)
        self.assertEqual(self.finish_cook(project, cook).code, 0)
        found = self.wait_for(url, lambda f: f.value("galley_workers_lost_total", launcher="local") == 1)
        self.assertGreaterEqual(found.value("galley_jobs_retried_total", cause="worker_lost"), 1)
        self.assertEqual(found.value("galley_jobs_retried_total", cause="memory"), 0)

    def test_counts_go_on_when_the_workers_begin_anew(self):
        project = self.project({"a.txt": "a"}, [COPY])
        self.serve(project, "--metrics", "127.0.0.1:0")
        url = self.url(project)
        self.assertEqual(self.cook(project).code, 0)
        self.wait_for(url, lambda f: f.has("galley_results_total") and f.value("galley_results_total", outcome="cooked") == 1)
        # Other resources: the director ends its workers, and starts others.
        self.write("game/galley.toml", read_file(self.path("game/galley.toml")).decode() + "[resources]\ngpu = 1\n")
        self.write("game/content/b.txt", "b")
        self.assertEqual(self.cook(project).code, 0)
        self.wait_for(url, lambda f: f.value("galley_results_total", outcome="cooked") == 2)

    # ------------------------------------------------------------ where it listens

    def test_the_address_of_the_project_file_and_of_the_command_line(self):
        project = self.project({"a.txt": "a"}, [COPY], extra='[director]\nmetrics = "127.0.0.1:0"\n')
        self.serve(project)
        self.assertTrue(read_metrics(self.url(project)).has("galley_build_info"))
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(self.url(project).replace("/metrics", "/"), timeout=30)
        self.assertEqual(refused.exception.code, 404)
        refused.exception.close()
        # A director that listens has its own.
        cook = self.galley("cook", "--project", project, "--metrics", "127.0.0.1:1")
        self.assertEqual(cook.returncode, 2, cook.stderr)
        self.assertIn("director.metrics", cook.stderr)

    def test_a_cook_that_hosts_its_director_answers_while_it_cooks(self):
        project = self.slow_project(3)
        cook = self.start_cook(project, "--metrics", "127.0.0.1:0", "--workers", "1")
        found = self.wait_for(self.url(project), lambda f: f.value("galley_workers", launcher="local", state="busy") == 1)
        self.assertEqual(found.value("galley_cooks_in_progress", state="running"), 1)
        self.assertEqual(self.finish_cook(project, cook).code, 0)
        self.assertFalse(os.path.exists(os.path.join(project, ".galley/state/metrics-address")))

    def test_json_tells_the_address(self):
        project = self.project({"a.txt": "a"}, [COPY])
        serve = subprocess.Popen([os.path.join(self.bin, "galley"), "serve", "--json", "--metrics", "localhost:0", "--project", project],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
        self.addCleanup(serve.stdout.close)
        self.addCleanup(serve.wait)
        self.addCleanup(serve.terminate)
        event = json.loads(serve.stdout.readline())
        self.assertEqual(event["event"], "serving")
        self.assertRegex(event["metrics"], r"^http://127\.0\.0\.1:[1-9]\d*/metrics$")
        self.assertTrue(read_metrics(event["metrics"]).has("galley_build_info"))

    def test_one_that_is_refused_takes_nothing_from_the_one_that_serves(self):
        project = self.project({"a.txt": "a"}, [COPY])
        self.serve(project, "--metrics", "127.0.0.1:0")
        url = self.url(project)
        again = self.galley("serve", "--project", project, "--metrics", "127.0.0.1:0")
        self.assertEqual(again.returncode, 3, again.stderr)
        self.assertIn("a director serves this project already", again.stderr)
        self.assertEqual(self.url(project), url)
        self.assertTrue(read_metrics(url).has("galley_build_info"))

    def test_what_a_killed_director_left_is_told_by_none(self):
        project = self.project({"a.txt": "a"}, [COPY])
        os.kill(self.serve(project, "--metrics", "127.0.0.1:0"), signal.SIGKILL)
        self.assertTrue(os.path.exists(self.path("game/.galley/state/metrics-address")))
        done = self.galley("serve", "--detach", "--json", "--project", project)
        self.addCleanup(lambda: self.galley("serve", "--stop", "--project", project))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("metrics", json.loads(done.stdout))

    def test_other_addresses_than_loopback_are_refused(self):
        project = self.project({"a.txt": "a"}, [COPY])
        for command in ("serve", "cook"):
            for address in ("0.0.0.0:9464", "10.1.2.3:9464", "[::]:9464", "9464", "somewhere:9464"):
                done = self.galley(command, "--project", project, "--metrics", address)
                self.assertEqual(done.returncode, 2, (command, address, done.stderr))
                self.assertIn(address, done.stderr)
        self.assertFalse(os.path.exists(self.path("game/.galley/cooked")))

    def test_an_address_in_use_is_exit_3(self):
        project = self.project({"a.txt": "a"}, [COPY])
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = f"127.0.0.1:{listener.getsockname()[1]}"
            for command in (["serve"], ["serve", "--detach"], ["cook"]):
                done = self.galley(*command, "--project", project, "--metrics", address)
                self.assertEqual(done.returncode, 3, (command, done.stderr))
                self.assertIn(f"{address} cannot be listened on: Address already in use", done.stderr)

    def test_no_command_loads_the_library_that_does_not_need_it(self):
        program = os.path.join(self.bin, "galley")
        listed = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertFalse(re.findall(r"prometheus|civetweb", listed), listed)


class ExpositionTest(unittest.TestCase):
    def test_it_finds_what_is_wrong(self):
        wrong = Exposition("# HELP galley_a_ms Time.\n# TYPE galley_a_ms gauge\ngalley_a_ms 1\n"
                           "# HELP galley_b_total B.\n# TYPE galley_b_total gauge\ngalley_b_total 1\n"
                           "# TYPE galley_c_bytes gauge\ngalley_c_bytes{package=\"/Game/x\"} 1\ngalley_d_bytes 2\n").wrong()
        self.assertEqual(len(wrong), 5, wrong)


if __name__ == "__main__":
    unittest.main()
