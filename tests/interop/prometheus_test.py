#!/usr/bin/env python3
"""A real Prometheus reads a director, and every expression of deploy/prometheus and deploy/grafana is asked of it. Run by `scripts/test --interop`.

It is that of Debian (package `prometheus`), which is installed for it; where that cannot be, the tests are skipped and say so.
"""
import json, os, re, shutil, signal, subprocess, sys, time, unittest, urllib.error, urllib.parse, urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
import harness
from exposition import read_metrics

DEPLOY = os.path.join(harness.SOURCE, "deploy")
RULES = os.path.join(DEPLOY, "prometheus", "galley-alerts.yml")
DASHBOARD = os.path.join(DEPLOY, "grafana", "galley-dashboard.json")
# Panels that cannot have anything in this test, and why.
EMPTY = {"galley_store_remote_up": "the project has no [store] remote"}
# Metrics of which a director of this test has none, likewise.
ABSENT = {**EMPTY, "galley_farm_certificate_expiry_timestamp_seconds": "the project has no [farm] tls_cert"}


def installed_prometheus():
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        done = subprocess.run([os.path.join(harness.SOURCE, "scripts/install-packages"), "prometheus"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise unittest.SkipTest(f"prometheus cannot be installed: {done.stdout.strip()[-300:]}")


def panels():
    """(title, expression) of each target of the dashboard, as Grafana asks for it."""
    with open(DASHBOARD) as file:
        dashboard = json.load(file)
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            expression = target["expr"].replace("$__rate_interval", "1m").replace("$instance", ".*")
            yield panel["title"], expression


def alerts():
    return re.findall(r"- alert: (\w+)", harness.read_file(RULES).decode())


def promtool(*args, stdin=None):
    done = subprocess.run(["promtool", *args], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


class PrometheusTest(harness.ResidentTest):
    @classmethod
    def setUpClass(cls):
        installed_prometheus()

    def start_prometheus(self, target):
        """Its address. It reads the director each second, and has the rules of deploy/."""
        shutil.copy(RULES, self.path("galley-alerts.yml"))
        self.write("prometheus.yml", "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [galley-alerts.yml]\n"
                   f"scrape_configs:\n  - job_name: galley\n    static_configs: [{{targets: ['{target}']}}]\n")
        # (Port 0 is any port, and its log says which.)
        log = open(self.path("prometheus.log"), "w+")
        self.addCleanup(log.close)
        process = subprocess.Popen(["prometheus", f"--config.file={self.path('prometheus.yml')}", f"--storage.tsdb.path={self.path('tsdb')}",
                                    "--web.listen-address=127.0.0.1:0"], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        found = []

        def listens():
            self.assertIsNone(process.poll(), harness.read_file(self.path("prometheus.log")).decode())
            text = harness.read_file(self.path("prometheus.log")).decode()
            found[:] = re.findall(r'msg="Listening on" address=(127\.0\.0\.1:[1-9]\d*)', text)
            return found
        self.wait_until(listens)

        def is_ready():
            try:
                with urllib.request.urlopen(f"http://{found[0]}/-/ready", timeout=30) as answer:
                    return answer.status == 200
            except urllib.error.HTTPError as error:
                error.close()
                return False
        self.wait_until(is_ready)
        return found[0]

    def query(self, expression):
        """The samples; fails when Prometheus does not take the expression."""
        url = f"http://{self.prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as error:
            self.fail(f"{expression}: {error.read().decode()}")

    def test_every_panel_and_every_alert_can_be_asked(self):
        project = self.project({"a.txt": "a", "b.txt": "b"}, [harness.COPY, harness.SLOW])
        self.serve(project, "--metrics", "127.0.0.1:0", "--workers", "1")
        address = harness.read_file(os.path.join(project, ".galley/state/metrics-address")).decode().strip()
        self.prometheus = self.start_prometheus(address)
        self.wait_until(lambda: [one["value"][1] for one in self.query('up{job="galley"}')] == ["1"])
        # Each count that a panel shows rises while Prometheus looks: a good cook, a failure and another one, a worker that is lost.
        self.assertEqual(self.cook(project).code, 0)
        self.wait_until(lambda: self.query('galley_results_total{outcome="cooked"} > 0'))
        self.write("game/galley.toml", harness.read_file(self.path("game/galley.toml")).decode() +
                   '[[rule]]\nmatch = "/Game/**/*.png"\ncooker = "texture"\n')
        self.write("game/content/broken.png", "no image")
        self.assertEqual(self.cook(project).code, 1)
        self.wait_until(lambda: self.query('galley_results_total{outcome="failed"} > 0'))
        self.write("game/content/broken.png", "no image either")
        for i in range(3):
            self.write(f"game/content/{i}.slow", str(i))
        cook = self.start_cook(project)
        self.wait_until(lambda: self.query('galley_workers{state="busy"} > 0'))
        os.kill(self.status(project)["workers"][0]["process"], signal.SIGKILL)
        self.assertEqual(self.finish_cook(project, cook).code, 1)
        self.wait_until(lambda: self.query("increase(galley_workers_lost_total[1h]) > 0"))

        asked = list(panels())
        self.assertGreater(len(asked), 30)
        empty = {}

        def all_have_something():
            empty.clear()
            empty.update({expression: title for title, expression in asked if not self.query(expression)})
            return all(any(name in expression for name in EMPTY) for expression in empty)
        try:
            self.wait_until(all_have_something)
        except AssertionError:
            self.fail(f"these panels show nothing: {empty}")
        for name, reason in EMPTY.items():
            self.assertTrue(any(name in expression for expression in empty), f"{name} is there, though {reason}")

        with self.subTest("alerts"):
            with urllib.request.urlopen(f"http://{self.prometheus}/api/v1/rules", timeout=30) as answer:
                rules = [rule for group in json.load(answer)["data"]["groups"] for rule in group["rules"]]
            self.assertEqual(sorted(rule["name"] for rule in rules), sorted(alerts()))
            self.assertGreater(len(rules), 10)
            self.assertEqual([(rule["name"], rule.get("lastError")) for rule in rules if rule["health"] == "err"], [])
            for rule in rules:
                self.query(rule["query"])
                for metric in set(re.findall(r"\b(?:galley|process)_[a-z_]+", rule["query"])):
                    self.assertTrue(metric in ABSENT or self.query(metric), f"{rule['name']} asks for {metric}, which no director has")
            self.wait_until(lambda: self.query('ALERTS{alertname="GalleyCookFailing",alertstate="firing"}'))

        with self.subTest("promtool check metrics"):
            text = "\n".join(line for line in read_metrics(f"http://{address}/metrics").text.splitlines()
                             if "exposer_" not in line) + "\n"
            self.assertEqual(promtool("check", "metrics", stdin=text), (0, ""))

        with self.subTest("a director that is gone"):
            self.assertEqual(self.galley("serve", "--stop", "--project", project).returncode, 0)
            self.wait_until(lambda: self.query('up{job="galley"} == 0'))

    # ------------------------------------------------------------ what promtool says of the files

    def test_the_rules_and_their_tests(self):
        folder = os.path.dirname(RULES)
        for args in (["check", "rules", RULES], ["check", "config", os.path.join(folder, "prometheus.yml")],
                     ["test", "rules", os.path.join(folder, "galley-alerts.test.yml")]):
            code, output = promtool(*args)
            self.assertEqual(code, 0, output)

    def test_each_alert_has_a_test_and_is_documented(self):
        tests = harness.read_file(RULES.replace(".yml", ".test.yml")).decode()
        document = harness.read_file(os.path.join(harness.SOURCE, "docs/metrics.md")).decode()
        for name in alerts():
            self.assertRegex(tests, rf"alertname: {name}\n\s+exp_alerts:\n")
            self.assertIn(f"`{name}`", document)

    # ------------------------------------------------------------ the dashboard as a file (there is no Grafana here)

    def test_the_dashboard_is_one(self):
        with open(DASHBOARD) as file:
            dashboard = json.load(file)
        ids = [panel["id"] for panel in dashboard["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual([p["title"] for p in dashboard["panels"] if p["type"] == "row"], ["Cook", "Farm", "Store", "Director"])
        taken = set()
        for panel in dashboard["panels"]:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(cells & taken, f"{panel['title']} lies over another panel")
            taken |= cells
            if panel["type"] == "row":
                continue
            self.assertIn(panel["type"], ("timeseries", "stat"))
            self.assertTrue(panel["description"])
            refs = [target["refId"] for target in panel["targets"]]
            self.assertEqual(len(refs), len(set(refs)))
            for target in panel["targets"]:
                self.assertIn('instance=~"$instance"', target["expr"])
        self.assertEqual([one["name"] for one in dashboard["templating"]["list"]], ["datasource", "instance"])


if __name__ == "__main__":
    unittest.main()
