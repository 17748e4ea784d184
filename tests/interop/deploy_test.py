#!/usr/bin/env python3
"""What lies in deploy/ for other people's systems: Kubernetes manifests and CI files pass the schemas that those publish (kubernetes-validate and
check-jsonschema, from PyPI), and the commands of the CI files are run. Run by `scripts/test --interop`, which installs jq and python3-venv.
"""
import glob, json, os, re, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
import harness

PACKAGES = ["kubernetes-validate==1.37.0", "check-jsonschema==0.39.0"]
KUBERNETES = ["1.31", "1.34", "1.37"]
DEPLOY = os.path.join(harness.SOURCE, "deploy")
# As the launcher fills them in (director/launch/template_text.h).
PLACEHOLDERS = {"name": "galley-tower-0123456789abcdef", "count": "16", "slots": "4", "program": "/usr/bin/galley", "ticket": "dGlja2V0"}


class DeployTest(harness.E2ETest):
    @classmethod
    def setUpClass(cls):
        cls.venv = tempfile.TemporaryDirectory(prefix="galley-venv-")
        cls.addClassCleanup(cls.venv.cleanup)
        subprocess.run([sys.executable, "-m", "venv", cls.venv.name], check=True)
        subprocess.run([cls.tool("pip"), "install", "-q", *PACKAGES], check=True)

    @classmethod
    def tool(cls, name):
        return os.path.join(cls.venv.name, "bin", name)

    def accepted(self, *command):
        done = subprocess.run([self.tool(command[0]), *command[1:]], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.dir)
        return done.returncode == 0, done.stdout

    def yaml(self, path):
        """A document as Python has it: ruamel.yaml came with the validators."""
        done = subprocess.run([self.tool("python3"), "-c", "import json, ruamel.yaml as y, sys; json.dump(y.YAML(typ='safe').load(open(sys.argv[1])), sys.stdout)", path],
                              text=True, stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    # ------------------------------------------------------------ Kubernetes

    def manifests(self):
        """Copies, with what the launcher would put in."""
        for path in sorted(glob.glob(os.path.join(DEPLOY, "kubernetes", "*.yaml"))):
            text = re.sub(r"\{(" + "|".join(PLACEHOLDERS) + r")\}", lambda found: PLACEHOLDERS[found[1]], harness.read_file(path).decode())
            yield self.write(os.path.basename(path), text)

    def test_manifests_pass_the_schemas_of_kubernetes(self):
        manifests = list(self.manifests())
        self.assertIn("worker-job.yaml", [os.path.basename(path) for path in manifests])
        for version in KUBERNETES:
            is_accepted, said = self.accepted("kubernetes-validate", "--strict", "-k", version, *manifests)
            self.assertTrue(is_accepted, said)
            self.assertIn(f"resource job/{PLACEHOLDERS['name']} against version {version}", said)
        # It does find what is wrong.
        wrong = self.write("wrong.yaml", harness.read_file(self.path("workers.yaml")).decode().replace("replicas:", "replica:"))
        is_accepted, said = self.accepted("kubernetes-validate", "--strict", "-k", KUBERNETES[0], wrong)
        self.assertFalse(is_accepted, said)

    # ------------------------------------------------------------ CI

    def test_ci_files_pass_the_schemas_of_their_services(self):
        github = harness.read_file(os.path.join(DEPLOY, "ci", "github.yml")).decode()
        # The schema says nothing of hidden jobs: what the others take of them is put there.
        gitlab = self.yaml(os.path.join(DEPLOY, "ci", "gitlab-ci.yml"))
        hidden = gitlab.pop(".cook")
        for name in ("cook-changes", "cook-nightly"):
            self.assertEqual(gitlab[name].pop("extends"), ".cook")
            gitlab[name] = {**hidden, **gitlab[name]}
        for file, text, right, mistake, schema, *options in (
                ("github.yml", github, "runs-on:", "run-on:", "vendor.github-workflows"),
                ("gitlab-ci.json", json.dumps(gitlab), '"max": 1', '"max": 9', "vendor.gitlab-ci", "--data-transform", "gitlab-ci")):
            is_accepted, said = self.accepted("check-jsonschema", "--builtin-schema", schema, *options, self.write(file, text))
            self.assertTrue(is_accepted, said)
            is_accepted, said = self.accepted("check-jsonschema", "--builtin-schema", schema, *options, self.write(file, text.replace(right, mistake)))
            self.assertFalse(is_accepted, said)

    def git(self, game, *args):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t.example", "-c", "commit.gpgsign=false", *args], cwd=game, check=True)

    def shell(self, game, script, **env):
        """A step, as the service runs it."""
        return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=game, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=harness.LIMIT_S,
                              env={**os.environ, "PATH": os.path.abspath(harness.BIN) + ":" + os.environ["PATH"], "RUNNER_TEMP": self.dir,
                                   "GITHUB_STEP_SUMMARY": self.path("steps"), **env})

    def check(self, summary, cook_all, cook_changes, say, said):
        """A night, a commit, and a commit that breaks something, by these scripts."""
        game = self.sample()
        self.git(game, "init", "-q")
        self.git(game, "add", ".")
        self.git(game, "commit", "-q", "-m", "one")
        self.git(game, "commit", "-q", "--allow-empty", "-m", "two")
        done = self.shell(game, cook_all)
        self.assertEqual(done.returncode, 0, done)
        self.git(game, "commit", "-q", "--allow-empty", "-m", "three")
        done = self.shell(game, cook_changes)
        self.assertEqual(done.returncode, 0, done)
        summary = summary.format(game=game, temporary=self.dir)
        self.assertEqual(self.read_summary(summary)["results"]["cooked"], 0)
        done = self.shell(game, say)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done)
        self.write("game/content/textures/brick_albedo.png", b"no picture")
        self.git(game, "commit", "-q", "-a", "-m", "four")
        done = self.shell(game, cook_changes)
        self.assertEqual(done.returncode, 1, done)
        done = self.shell(game, say)
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout, said)

    def test_the_steps_for_github_do_what_they_say(self):
        steps = self.yaml(os.path.join(DEPLOY, "ci", "github.yml"))["jobs"]["cook"]["steps"]
        scripts = {step["name"]: step["run"] for step in steps if "run" in step}
        self.check("{temporary}/summary.json", scripts["Cook by the book"], scripts["Cook what changed"], scripts["Say what failed"],
                   r"(?m)^::error title=/Game/textures/brick_albedo\.png \(windows\)::.*png")
        self.assertRegex(self.read("steps").decode(), r"0 failed\n.*[1-9] failed\n$")

    def test_the_scripts_for_gitlab_do_what_they_say(self):
        jobs = self.yaml(os.path.join(DEPLOY, "ci", "gitlab-ci.yml"))
        self.check("{game}/summary.json", "\n".join(jobs["cook-nightly"]["script"]), "\n".join(jobs["cook-changes"]["script"]),
                   "\n".join(jobs[".cook"]["after_script"]), r"(?m)^/Game/textures/brick_albedo\.png \(windows\): .*png")

    def test_jenkins_runs_the_same_commands(self):
        jenkins = harness.read_file(os.path.join(DEPLOY, "ci", "Jenkinsfile")).decode()
        gitlab = harness.read_file(os.path.join(DEPLOY, "ci", "gitlab-ci.yml")).decode()
        for options in ("--class commit --changed-since HEAD~1", "--class nightly"):
            self.assertIn(f"cook('{options}')", jenkins)
            self.assertIn(f"galley cook {options} --summary summary.json", gitlab)
        self.assertIn("sh 'galley store gc --max-age 30d'", jenkins)


if __name__ == "__main__":
    unittest.main()
