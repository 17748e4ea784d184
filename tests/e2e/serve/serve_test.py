#!/usr/bin/env python3
"""A resident director: cooks through `galley serve` are those of a `galley cook` that hosts its own, and many can ask."""
import fcntl, json, os, pty, re, select, signal, socket, struct, subprocess, termios, threading, time, unittest

from harness import BIN, COPY, LIMIT_S, SLOW, Cook, ResidentTest, is_running, read_file


class ServeTest(ResidentTest):
    # ------------------------------------------------------------ the same as without it

    def test_a_cook_through_it_is_that_of_a_cook_that_hosts_its_own(self):
        alone, served = self.sample("alone"), self.sample("served")
        for folder in (alone, served):
            self.write(os.path.join(folder, "content/textures/broken.png"), "no image")
        self.serve(served)
        for args in (["--json"], ["--json"], ["--json", "--force", "--platform", "android"], ["--json", "maps/*.level"],
                     ["--json", "/Game/textures/broken.png"], ["--json", "/Game/nothing"], ["--json", "--platform", "none"]):
            one, other = self.cook(alone, *args), self.cook(served, *args)
            self.assertEqual(one.code, other.code, (args, one, other))
            self.assertEqual(one.roots, other.roots, args)
            self.assertEqual(one.failures, other.failures, args)
            self.assertEqual(one.summary.get("warnings"), other.summary.get("warnings"), args)
            self.assertEqual(self.kinds(one), self.kinds(other), args)
            for key in ("in_cook", "failed", "skipped"):
                self.assertEqual(one.summary.get("packages", {}).get(key), other.summary.get("packages", {}).get(key), (args, key))
        self.assertEqual(self.tree(alone), self.tree(served))

    def kinds(self, cook):
        """The events but for their order, times and what depends on them."""
        kinds = []
        for line in cook.stdout.splitlines():
            event = json.loads(line)
            if event["event"] in ("failure", "warning"):
                kinds.append((event["event"], event["package"], event["platform"]))
            elif event["event"] == "done":
                kinds.append(("done", event["package"], event["platform"]))
            elif event["event"] != "progress":
                kinds.append((event["event"],))
        return sorted(kinds)

    def tree(self, project):
        found = {}
        for folder, _, names in os.walk(os.path.join(project, ".galley/cooked")):
            for name in names:
                path = os.path.join(folder, name)
                if ".galley-" not in path[len(project) + len("/.galley/cooked"):] and not name.startswith("."):
                    found[os.path.relpath(path, project)] = read_file(path)
        self.assertTrue(found)
        return found

    def test_workers_stay_and_files_that_changed_are_cooked(self):
        project = self.project({"a.txt": "a", "b.txt": "b"}, [COPY])
        self.serve(project)
        self.assertEqual(self.cook(project).cooked, 2)
        workers = self.status(project)["workers"]
        self.assertTrue(workers)
        self.write("game/content/b.txt", "changed")
        self.write("game/content/c.txt", "new")
        os.unlink(self.path("game/content/a.txt"))
        cook = self.cook(project)
        self.assertEqual((cook.code, cook.cooked), (0, 2), cook)
        self.assertEqual([w["process"] for w in workers], [w["process"] for w in self.status(project)["workers"]])
        self.assertEqual(self.cook(project).results["up_to_date"], 2)
        self.assertEqual(self.read("game/.galley/cooked/pc/Game/b.txt"), b"changed")
        self.assertFalse(os.path.exists(self.path("game/.galley/cooked/pc/Game/a.txt")))

    def test_a_changed_project_file_is_taken_up_and_one_with_an_error_ends_the_cook_that_begins(self):
        project = self.project({"a.txt": "a", "b.data": "b"}, [COPY])
        self.serve(project)
        self.assertEqual(self.cook(project).cooked, 1)
        toml = read_file(os.path.join(project, "galley.toml")).decode()
        self.write("game/galley.toml", toml + '[[rule]]\nmatch = "/Game/**/*.data"\ncooker = "copy"\n')
        self.assertEqual(self.cook(project).cooked, 1)
        self.write("game/galley.toml", toml + "[nonsense]\n")
        self.assertEqual(self.galley("cook", "--project", project).returncode, 2)
        self.write("game/galley.toml", toml + '[store]\nkeep_roots = 3\n')
        self.assertEqual(self.cook(project).code, 0)
        wrong = self.status(project)["wrong"]
        self.assertTrue(any("store.keep_roots" in text for text in wrong), wrong)

    # ------------------------------------------------------------ status

    def test_status_and_top_list_the_last_cooks_also_those_of_earlier_directors(self):
        project = self.project({"a.txt": "a", "b.txt": "b"}, [COPY])
        alone = self.start_cook(project)
        self.assertEqual(self.finish_cook(project, alone).code, 0)
        self.serve(project)
        client = self.start_cook(project, "--force", "--class", "now", "/Game/a.txt")
        self.assertEqual(self.finish_cook(project, client).code, 0)
        self.write("game/content/c.txt", "c")
        self.assertEqual(self.cook(project).code, 0)
        toml = read_file(os.path.join(project, "galley.toml")).decode()
        self.write("game/galley.toml", toml + "[nonsense]\n")
        refused = self.galley("cook", "--detach", "--project", project)
        self.assertEqual(refused.returncode, 2, refused)
        self.write("game/galley.toml", toml)
        last = self.status(project)["last_cooks"]
        numbers = [c["cook"] for c in last]
        self.assertEqual(numbers, sorted(numbers, reverse=True), last)
        book, narrow, first = last
        self.assertEqual([(c["class"], c["cooked"], c["cached"], c["failed"], c["exit_code"]) for c in last],
                         [("nightly", 1, 2, 0, 0), ("now", 1, 0, 0, 0), ("nightly", 2, 0, 0, 0)], last)
        self.assertTrue(narrow["what"].endswith("/Game/a.txt"), narrow)
        self.assertTrue(narrow["asked_by"].endswith(f", process {client.pid}"), narrow)
        self.assertTrue(first["asked_by"].endswith(f", process {alone.pid}"), first)
        self.assertTrue(all(0 < c["seconds"] < LIMIT_S for c in last), last)
        for command in ("status", "top"):
            shown = self.galley(command, "--project", project)
            self.assertIn(f"  {narrow['what']}, by {narrow['asked_by']}", shown.stdout)
            self.assertRegex(shown.stdout, r"LAST +CLASS +EXIT +COOKED +CACHED +FAILED +SECONDS")
        # They survive the director, and a kill of it.
        os.kill(self.status(project)["process"], signal.SIGKILL)
        gone = self.galley("status", "--project", project)
        self.assertEqual(gone.returncode, 3, gone)
        self.assertRegex(gone.stderr, rf"no cook runs there; cook {book['cook']} ended .* ago: exit 0, 1 cooked, 2 cached, 0 failed")
        self.serve(project)
        self.assertEqual(self.status(project)["last_cooks"], last)

    def test_a_plain_cook_is_asked_how_it_gets_on(self):
        project = self.slow_project(3)
        nobody = self.galley("status", "--project", project)
        self.assertEqual(nobody.returncode, 3, nobody)
        self.assertIn("no director serves", nobody.stderr)
        self.assertIn("and no cook runs there", nobody.stderr)
        cook = self.start_cook(project, "--workers", "1")
        self.wait_until(lambda: self.galley("status", "--project", project).returncode == 0)
        # (The first jobs take seconds: what follows is well within them.)
        self.wait_until(lambda: any(w["jobs"] for w in self.status(project)["workers"]))
        status = self.status(project)
        self.assertEqual((status["hosted"], status["process"], status["project"]), (True, cook.pid, "game"), status)
        self.assertEqual([(c["class"], c["state"], c["what"]) for c in status["cooks"]], [("nightly", "cooking", "by the book")], status)
        self.assertTrue(status["cooks"][0]["asked_by"].endswith(f", process {cook.pid}"), status)
        for command in ("status", "top"):
            shown = self.galley(command, "--project", project)
            self.assertEqual(shown.returncode, 0, shown)
            self.assertIn(f"process {cook.pid} (`galley cook`, for its own cook)", shown.stdout)
            self.assertIn("local-1", shown.stdout)
        # What is wrong is said, too.
        toml = read_file(os.path.join(project, "galley.toml")).decode()
        self.write("game/galley.toml", toml + "[nonsense]\n")
        self.assertIn("nonsense", "".join(self.status(project)["wrong"]))
        self.write("game/galley.toml", toml)
        self.assertEqual(self.status(project)["wrong"], [])
        # It takes no other calls.
        for command in (["cancel", "1"], ["drain"]):
            refused = self.galley(*command, "--project", project)
            self.assertEqual(refused.returncode, 3, refused)
            self.assertIn(f"process {cook.pid} (`galley cook`) cooks there for itself", refused.stderr)
        cook.send_signal(signal.SIGINT)
        self.assertEqual(self.finish_cook(project, cook).code, 130)
        ended = self.galley("status", "--project", project)
        self.assertEqual(ended.returncode, 3, ended)
        self.assertRegex(ended.stderr, r"no cook runs there; cook \d+ ended .* ago: exit 130")

    # ------------------------------------------------------------ several at once

    def test_cooks_that_cannot_share_wait_and_the_more_urgent_goes_first(self):
        project = self.slow_project(4)
        self.serve(project, "--workers", "2")
        first = self.start_cook(project)
        self.wait_until(lambda: [c["state"] for c in self.status(project)["cooks"]] == ["cooking"])
        # Another galley.toml, for which the workers must be started anew.
        self.write("game/galley.toml", self.read("game/galley.toml").decode() + "[resources]\nspare = 1\n")
        nightly = self.galley("cook", "--detach", "--never", "/Game/0.*", "--project", project)
        urgent = self.galley("cook", "--detach", "--class", "now", "--never", "/Game/0.*", "--project", project, "/Game/1.slow")
        self.assertEqual((nightly.returncode, urgent.returncode), (0, 0), nightly.stderr + urgent.stderr)
        self.assertEqual([(c["class"], c["state"]) for c in self.status(project)["cooks"]],
                         [("nightly", "cooking"), ("nightly", "waiting"), ("now", "waiting")])
        self.assertEqual(self.finish_cook(project, first).code, 0)
        ends = [self.galley("cook", "--attach", number.stdout.strip(), "--project", project) for number in (urgent, nightly)]
        self.assertEqual([e.returncode for e in ends], [0, 0], ends)
        self.assertIn("1 package in the cook", ends[0].stderr)
        self.assertIn("3 packages in the cook", ends[1].stderr)

    def test_cooks_with_other_cultures_and_never_run_beside_each_other(self):
        files = {f"{i}.slow": f"slow {i}" for i in range(3)}
        files |= {"ui/logo.txt": "en", "L10N/de/ui/logo.txt": "de", "L10N/fr/ui/logo.txt": "fr"}
        project = self.project(files, [SLOW, COPY])
        self.serve(project, "--workers", "1")
        first = self.start_cook(project, "--never", "/Game/ui/*", "--never", "/Game/L10N/**")
        self.wait_until(lambda: [c["state"] for c in self.status(project)["cooks"]] == ["cooking"])
        cooks = [self.start_cook(project, "--culture", culture, "--no-stage", "/Game/ui/logo.txt", "/Game/0.slow") for culture in ("de", "fr")]
        for cook in (self.finish_cook(project, one) for one in cooks):
            self.assertEqual(cook.code, 0, cook)
            self.assertIn("3 packages in the cook", cook.stderr)
            self.assertNotIn("waits for others", cook.stderr)
        ended = self.finish_cook(project, first)
        self.assertEqual(ended.code, 0, ended)
        self.assertIn("3 packages in the cook", ended.stderr)

    def test_a_cancelled_cook_ends_alone_and_its_client_hears_it(self):
        project = self.slow_project(20)
        self.serve(project, "--workers", "1")
        cook = self.start_cook(project)
        self.wait_until(lambda: [c["state"] for c in self.status(project)["cooks"]] == ["cooking"])
        number = self.status(project)["cooks"][0]["cook"]
        self.assertEqual(self.galley("cancel", number, "--project", project).returncode, 0)
        ended = self.finish_cook(project, cook)
        self.assertEqual((ended.code, ended.roots), (130, {}), ended)
        self.assertEqual(self.galley("cancel", number, "--project", project).returncode, 2)
        self.assertEqual(self.status(project)["cooks"], [])

    def test_ctrl_c_cancels_the_clients_own_cook(self):
        project = self.slow_project(20)
        self.serve(project, "--workers", "1")
        cook = self.start_cook(project)
        self.wait_until(lambda: [c["state"] for c in self.status(project)["cooks"]] == ["cooking"])
        cook.send_signal(signal.SIGINT)
        self.assertEqual(self.finish_cook(project, cook).code, 130)
        self.wait_until(lambda: self.status(project)["cooks"] == [])

    def test_a_client_that_is_killed_ends_its_cook_and_a_detached_one_goes_on(self):
        project = self.slow_project(20)
        self.serve(project, "--workers", "1")
        cook = self.start_cook(project)
        self.wait_until(lambda: [c["state"] for c in self.status(project)["cooks"]] == ["cooking"])
        cook.kill()
        cook.communicate()
        self.wait_until(lambda: self.status(project)["cooks"] == [])
        number = self.galley("cook", "--detach", "--project", project, "/Game/19.slow").stdout.strip()
        # (The stream of the client that detached may be counted for a moment.)
        self.wait_until(lambda: all(c["readers"] == 0 for c in self.status(project)["cooks"]))
        follower = subprocess.Popen([os.path.join(BIN, "galley"), "cook", "--attach", number, "--project", project],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.wait_until(lambda: any(c["readers"] == 1 for c in self.status(project)["cooks"]))
        follower.send_signal(signal.SIGINT)
        _, said = follower.communicate(timeout=LIMIT_S)
        self.assertEqual(follower.returncode, 130, said)
        self.assertIn("goes on", said)
        self.assertEqual(self.galley("cook", "--attach", number, "--project", project).returncode, 0)

    def test_what_is_staged_follows_the_umask_of_who_asks(self):
        project = self.project({"deep/a.txt": "a", "b.txt": "b"}, [COPY])
        self.serve(project)
        for out, mask in (("own", "027"), ("group", "002")):
            asked = subprocess.run(["/bin/sh", "-c", f'umask {mask}; exec "$0" "$@"', os.path.join(BIN, "galley"), "cook", "--project", project,
                                    "--out", self.path(out)], text=True, capture_output=True, timeout=LIMIT_S)
            self.assertEqual(asked.returncode, 0, asked.stderr)
            for name, full in (("pc/Game/deep/a.txt", 0o666), ("pc/Game/b.txt", 0o666), ("pc/Game/deep", 0o777), ("pc", 0o777), ("", 0o777)):
                mode = os.stat(self.path(out, name)).st_mode & 0o777
                self.assertEqual(oct(mode), oct(full & ~int(mask, 8)), (out, name))

    # ------------------------------------------------------------ its end

    def test_a_killed_director_is_told_with_how_far_the_cook_was(self):
        project = self.slow_project(20)
        process = self.serve(project, "--workers", "1")
        cook = self.start_cook(project)
        self.wait_until(lambda: any(c["done"] > 0 for c in self.status(project)["cooks"]))
        number = self.status(project)["cooks"][0]["cook"]
        os.kill(process, signal.SIGKILL)
        ended = self.finish_cook(project, cook)
        self.assertEqual(ended.code, 3, ended)
        self.assertIn(f"the director (process {process}) is gone; the cook was at", ended.stderr)
        # The next one goes on; what the dead one's cook said is still there.
        self.assertEqual(self.galley("cook", "--attach", number, "--project", project).returncode, 3)
        again = self.cook(project)
        self.assertEqual(again.code, 0, again)
        self.assertLess(again.cooked, 20)

    def test_a_detached_cook_goes_on_with_the_next_director(self):
        project = self.slow_project(12)
        for end in (signal.SIGKILL, signal.SIGTERM):
            process = self.serve(project, "--workers", "2", env={"SECRET": "hidden treasure"})
            attached = self.start_cook(project, "/Game/0.slow", "/Game/1.slow", "--force", "--no-stage")
            summary = self.path(f"detached-{end.name}.json")
            trace = self.path(f"detached-{end.name}.trace")
            number = self.galley("cook", "--detach", "--force", "--project", project, "--summary", summary, "--trace", trace,
                                 env={"SECRET": "hidden treasure"}).stdout.strip()
            self.wait_until(lambda: any(c["done"] > 0 for c in self.status(project)["cooks"] if str(c["cook"]) == number))
            follower = subprocess.Popen([os.path.join(BIN, "galley"), "cook", "--attach", number, "--project", project],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.wait_for_line(follower, "scanned")
            self.finish_cook(project, attached)
            kept = self.read(f"game/.galley/state/cooks/{number}.ask")
            self.assertNotIn(b"hidden treasure", kept)
            os.kill(process, end)
            said = follower.communicate(timeout=LIMIT_S)[1]
            self.assertEqual(follower.returncode, 3, said)
            self.assertIn("is gone" if end == signal.SIGKILL else f"the next `galley serve` goes on with it (`galley cook --attach {number}`)", said)
            self.wait_until(lambda: not is_running(process))
            waits = self.galley("cook", "--attach", number, "--project", project)
            self.assertEqual(waits.returncode, 3, waits.stderr)
            self.assertIn("the next `galley serve` goes on with it", waits.stderr)
            self.assertFalse(os.path.exists(summary))
            goes_on = f"cook {number} goes on: it is detached, and the director before left it"
            if end == signal.SIGKILL:
                served = self.galley("serve", "--detach", "--project", project, "--workers", "2", env={"SECRET": "hidden treasure"})
                self.assertEqual(served.returncode, 0, served)
                self.assertIn(goes_on, served.stderr)
                again = int(re.search(r"process (\d+)", served.stderr)[1])
            else:
                foreground = subprocess.Popen([os.path.join(BIN, "galley"), "serve", "--project", project, "--workers", "2"], stderr=subprocess.PIPE, text=True,
                                              env={**os.environ, "SECRET": "hidden treasure"})
                self.addCleanup(foreground.kill)
                self.wait_for_line(foreground, goes_on)
                again = foreground.pid
            self.assertEqual([str(c["cook"]) for c in self.status(project)["cooks"]], [number])
            ended = self.galley("cook", "--attach", number, "--project", project)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.wait_until(lambda: not os.path.exists(os.path.join(project, f".galley/state/cooks/{number}.ask")))
            self.assertEqual(self.read_summary(summary)["exit_code"], 0)
            self.assertEqual(self.read_summary(summary)["packages"]["in_cook"], 12)
            self.assertTrue(os.path.exists(trace))
            self.assertEqual(self.galley("serve", "--stop", "--project", project).returncode, 0)
            self.assertFalse(is_running(again))

    def test_a_detached_cook_writes_its_summary_also_when_all_stands(self):
        project = self.project({"a.txt": "a"}, ['match = "/Game/**"\ncooker = "copy"\n'])
        self.serve(project)
        for _ in range(2):
            summary = self.path("summary.json")
            number = self.galley("cook", "--detach", "--project", project, "--summary", "summary.json").stdout.strip()
            self.wait_until(lambda: os.path.exists(summary))
            self.assertEqual(self.read_summary(summary)["packages"]["in_cook"], 1, number)
            os.remove(summary)

    def test_a_closed_terminal_ends_what_runs_in_it_and_nothing_else(self):
        project = self.project({"a.txt": "a"}, ['match = "/Game/**"\ncooker = "copy"\n'])
        detached = self.serve(project)
        os.kill(detached, signal.SIGHUP)
        self.assertEqual(self.galley("cook", "--project", project).returncode, 0)
        self.assertEqual(self.status(project)["process"], detached)
        self.assertEqual(self.galley("serve", "--stop", "--project", project).returncode, 0)
        foreground = subprocess.Popen([os.path.join(BIN, "galley"), "serve", "--project", project], stderr=subprocess.PIPE, text=True)
        self.wait_for_line(foreground, "serving")
        foreground.send_signal(signal.SIGHUP)
        foreground.communicate(timeout=LIMIT_S)
        self.assertIn(b"the director ends: its terminal was closed (SIGHUP)", self.read("game/.galley/state/logs/director.log"))
        # As nohup does it.
        ignores = subprocess.Popen([os.path.join(BIN, "galley"), "serve", "--project", project], stderr=subprocess.PIPE, text=True,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for_line(ignores, "serving")
        ignores.send_signal(signal.SIGHUP)
        self.assertEqual(self.galley("cook", "--project", project).returncode, 0)
        self.assertEqual(self.status(project)["process"], ignores.pid)
        ignores.send_signal(signal.SIGTERM)
        ignores.communicate(timeout=LIMIT_S)
        self.assertIn(b"the director ends: it was asked to (SIGTERM)", self.read("game/.galley/state/logs/director.log"))

    def test_sigterm_hands_running_jobs_to_the_next_director(self):
        project = self.project({f"{i}.slow": f"{i}" for i in range(4)}, [SLOW.replace("sleep 1", "sleep 6")])
        process = self.serve(project, "--workers", "2")
        cook = self.start_cook(project)
        self.wait_until(lambda: sum(w["jobs"] for w in self.status(project)["workers"]) > 1)
        workers = {w["process"] for w in self.status(project)["workers"]}
        time.sleep(0.5)
        os.kill(process, signal.SIGTERM)
        ended = self.finish_cook(project, cook)
        self.assertEqual(ended.code, 3, ended)
        self.assertIn("the director was stopped; cook", ended.stderr)
        self.assertIn("what was finished is kept: ask again", ended.stderr)
        self.wait_until(lambda: not is_running(process))
        self.assertFalse(os.path.exists(os.path.join(project, ".galley/director.sock")))
        self.serve(project, "--workers", "2")
        again = self.cook(project)
        self.assertEqual(again.code, 0, again)
        self.assertEqual({w["process"] for w in self.status(project)["workers"]}, workers)
        log = self.read("game/.galley/state/logs/director.log").decode()
        self.assertRegex(log, r"survivors=2 expected=2 attempts=[1-9]")

    def test_a_stopped_director_cancels_its_cooks_and_leaves_nothing_running(self):
        project = self.slow_project(20)
        process = self.serve(project, "--workers", "2")
        cook = self.start_cook(project)
        self.wait_until(lambda: self.status(project)["workers"] and self.status(project)["cooks"][0]["state"] == "cooking")
        workers = [w["process"] for w in self.status(project)["workers"]]
        stopped = self.galley("serve", "--stop", "--project", project)
        self.assertEqual(stopped.returncode, 0, stopped.stderr)
        ended = self.finish_cook(project, cook)
        self.assertEqual(ended.code, 3, ended)
        self.assertIn("the director was stopped; cook", ended.stderr)
        for one in [process, *workers]:
            self.assertFalse(is_running(one), one)
        self.assertFalse(os.path.exists(os.path.join(project, ".galley/director.sock")))
        self.assertEqual(self.galley("status", "--project", project).returncode, 3)
        self.assertEqual(self.galley("serve", "--stop", "--project", project).returncode, 0)

    def test_a_service_says_that_it_is_ready_and_ends_in_order(self):
        project = self.project({"a.txt": "a"}, [COPY])
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(self.path("notify"))
        notify.settimeout(LIMIT_S)
        self.addCleanup(notify.close)
        service = subprocess.Popen([os.path.join(BIN, "galley-director"), "--project", project], stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "NOTIFY_SOCKET": self.path("notify")})
        self.assertEqual(notify.recv(100), b"READY=1")
        self.assertEqual(self.cook(project).code, 0)
        service.send_signal(signal.SIGTERM)
        self.assertEqual(notify.recv(100), b"STOPPING=1")
        _, said = service.communicate(timeout=LIMIT_S)
        self.assertEqual(service.returncode, 0, said)

    # ------------------------------------------------------------ who may not, and what does not fit

    def test_a_second_director_is_refused_and_a_cook_that_waits_is_taken_by_the_resident_one(self):
        project = self.slow_project(3)
        hosted = self.start_cook(project)
        self.wait_for_line(hosted, "scanned")
        service = subprocess.Popen([os.path.join(BIN, "galley"), "serve", "--project", project], stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (service.terminate(), service.communicate()))
        self.wait_for_line(service, "waiting")
        self.assertEqual(self.finish_cook(project, hosted).code, 0)
        self.wait_for_line(service, "serving")
        self.assertEqual(self.cook(project).results["up_to_date"], 3)
        second = self.galley("serve", "--detach", "--project", project)
        self.assertEqual(second.returncode, 3)
        self.assertIn(f"process {service.pid}", second.stderr)
        alone = self.galley("cook", "--standalone", "--project", project)
        self.assertEqual(alone.returncode, 2, alone.stderr)

    def test_options_that_are_not_the_directors_are_refused_with_both_values(self):
        project = self.project({"a.txt": "a"}, [COPY])
        self.serve(project, "--workers", "1")
        for args, env in ((["--workers", "2"], {}), (["--store", self.path("other")], {}), ([], {"GALLEY_STORE_TRUST": "mine"})):
            done = self.galley("cook", "--project", project, *args, env=env)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("for the director", done.stderr)
        elsewhere = self.cook(project, "--out", self.path("out"))
        self.assertEqual(elsewhere.code, 0, elsewhere)
        self.assertEqual(self.read("out/pc/Game/a.txt"), b"a")

    def test_a_variable_that_a_cook_observed_must_be_the_same_for_both(self):
        look = '\\"observations\\": [{\\"kind\\": \\"env\\", \\"name\\": \\"LEVEL\\"}]'
        rule = 'match = "/Game/**/*.env"\ncooker = "command"\nsettings = { argv = ["/bin/sh", "-c", "echo \'{' + look + '}\' > $2; cp $0 $1", ' \
               '"{input}", "{output:.out}", "{result}"], outputs = [".out"] }'
        project = self.project({"a.env": "a", "b.env": "b", "c.txt": "c"}, [rule, COPY], extra='[farm]\nenv = ["LEVEL"]\n')
        self.serve(project, env={"LEVEL": "1"})
        for _ in ("observed for the first time", "known to be observed"):
            refused = self.galley("cook", "--project", project, "/Game/a.env", "/Game/c.txt", env={"LEVEL": "secret 2"})
            self.assertEqual(refused.returncode, 2, refused.stderr)
            self.assertIn('LEVEL is "1" for the director and "secret 2" here, and the cook of /Game/a.env looked at it', refused.stderr)
            self.assertFalse(os.path.exists(os.path.join(project, ".galley/cooked/pc/Game")))
        self.assertEqual(self.galley("roots", "--project", project).stdout.count("pc"), 0)
        # No matter to packages that did not look.
        other = self.cook(project, "/Game/c.txt", env={"LEVEL": "2", "ANOTHER": "x"})
        self.assertEqual(other.code, 0, other)
        same = self.cook(project, "/Game/a.env", "/Game/b.env", env={"LEVEL": "1", "ANOTHER": "x"})
        self.assertEqual((same.code, same.cooked), (0, 1), same)
        self.assertNotIn("ANOTHER", self.read("game/.galley/state/logs/director.log").decode())

    def test_a_director_of_another_build_is_refused_by_name(self):
        project = self.project({"a.txt": "a"}, [COPY])
        other = self.path("bin")
        os.mkdir(other)
        for name in os.listdir(BIN):
            os.symlink(os.path.abspath(os.path.join(BIN, name)), os.path.join(other, name))
        # The build id is where the program's note is: another one is another build.
        os.unlink(os.path.join(other, "galley"))
        program = bytearray(read_file(os.path.join(BIN, "galley")))
        note = re.search(rb"\x04\x00\x00\x00.\x00\x00\x00\x03\x00\x00\x00GNU\x00", program, re.DOTALL)
        program[note.end()] ^= 0xFF
        self.write("bin/galley", bytes(program), mode=0o755)
        self.serve(project)
        refused = subprocess.run([os.path.join(other, "galley"), "cook", "--project", project], text=True, capture_output=True)
        self.assertEqual(refused.returncode, 3, refused.stderr)
        self.assertIn("galley serve --stop", refused.stderr)
        stopped = subprocess.run([os.path.join(other, "galley"), "serve", "--stop", "--project", project], text=True, capture_output=True)
        self.assertEqual(stopped.returncode, 0, stopped.stderr)

    def test_a_director_that_does_not_answer_is_named(self):
        project = self.project({"a.txt": "a"}, [COPY])
        process = self.serve(project)
        os.kill(process, signal.SIGSTOP)
        try:
            silent = self.galley("cook", "--project", project)
        finally:
            os.kill(process, signal.SIGCONT)
        self.assertEqual(silent.returncode, 3, silent.stderr)
        self.assertIn(f"process {process} has this project, and has not answered", silent.stderr)
        self.assertEqual(self.cook(project).code, 0)

    # ------------------------------------------------------------ to look at, and to forget

    def test_clean_drain_why_and_trace(self):
        project = self.project({"a.txt": "a", "b.txt": "b"}, [COPY])
        self.serve(project)
        self.assertEqual(self.cook(project, "--trace", self.path("trace.json")).cooked, 2)
        self.assertTrue(json.loads(self.read("trace.json"))["traceEvents"])
        self.assertEqual(self.galley("clean", "/Game/a.txt", "--project", project).returncode, 0)
        unknown = self.galley("clean", "/Game/none.txt", "--project", project)
        self.assertEqual((unknown.returncode, unknown.stderr), (2, "galley: /Game/none.txt was in no cook of this project; did you mean /Game/b.txt?\n"), unknown)
        slip = self.galley("clean", "/Game/bb.txt", "--project", project)
        self.assertEqual(slip.returncode, 2, slip)
        self.assertIn("/Game/bb.txt was in no cook of this project; did you mean /Game/b.txt?", slip.stderr)
        self.assertEqual(self.cook(project).cooked, 1)
        why = json.loads(self.galley("why", "--json", "/Game/a.txt", "--project", project).stdout)
        self.assertIsNone(why["running"])
        self.assertEqual(why["platforms"]["pc"]["state"], "cooked")
        self.assertEqual(self.galley("drain", "--project", project).returncode, 0)
        self.wait_until(lambda: self.status(project)["workers"] == [])
        self.assertEqual(self.galley("drain", "nobody", "--project", project).returncode, 2)
        self.assertEqual(self.cook(project, "--force").cooked, 2)
        plain = self.galley("top", "--project", project)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        self.assertIn("no cook runs; 3 ended", plain.stdout)

    def test_a_busy_worker_is_drained_and_another_one_goes_on(self):
        project = self.slow_project(8)
        self.serve(project, "--workers", "1")
        cook = self.start_cook(project)
        self.wait_until(lambda: any(c["done"] > 0 for c in self.status(project)["cooks"]))
        (worker,) = self.status(project)["workers"]
        slip = self.galley("drain", worker["worker"] + "x", "--project", project)
        self.assertEqual(slip.returncode, 2, slip)
        self.assertIn(f'no worker "{worker["worker"]}x" is attached; did you mean "{worker["worker"]}"?', slip.stderr)
        drained = self.galley("drain", worker["worker"], "--project", project)
        self.assertEqual(drained.returncode, 0, drained.stderr)
        self.wait_until(lambda: not is_running(worker["process"]))
        self.assertLess(self.status(project)["cooks"][0]["done"], 8)
        ended = self.finish_cook(project, cook)
        self.assertEqual((ended.code, ended.cooked), (0, 8), ended)
        self.assertEqual((ended.summary["workers"]["lost"], ended.summary["workers"]["jobs_retried"]), (0, 0), ended)
        self.assertNotEqual([w["process"] for w in self.status(project)["workers"]], [worker["process"]])

    def test_top_shows_the_detail_of_a_worker_and_of_its_job(self):
        project = self.slow_project(8)
        self.serve(project, "--workers", "1")
        self.galley("cook", "--detach", "--project", project)
        self.wait_until(lambda: any(w["jobs"] for w in self.status(project)["workers"]))
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        top = subprocess.Popen([os.path.join(BIN, "galley"), "top", "--project", project], stdin=follower, stdout=follower,
                               stderr=follower, env={**os.environ, "TERM": "xterm"})
        os.close(follower)
        said = b""

        def hear(what):
            nonlocal said
            until = time.time() + LIMIT_S
            while what not in said:
                self.assertLess(time.time(), until, said[-2000:])
                if select.select([leader], [], [], 0.1)[0]:
                    said += os.read(leader, 1 << 16)
            said = b""

        hear(b"local-1")
        for key, what in ((b"\x1b[B", b">local-1"), (b"\n", b".slow"), (b"\n", b"handed"), (b"\x1b", b"SINCE"), (b"q", None)):
            os.write(leader, key)
            if what:
                hear(what)
        self.assertEqual(top.wait(timeout=LIMIT_S), 0)
        os.close(leader)
        self.wait_until(lambda: self.status(project)["store"]["bytes"] > 0)

    def test_many_clients_ask_at_once(self):
        project = self.project({f"{i}.txt": f"{i}" for i in range(20)}, [COPY])
        self.serve(project, "--workers", "2")
        codes = []
        clients = [threading.Thread(target=lambda i=i: codes.append(
            self.galley("cook", "--no-stage", "--project", project, f"/Game/{i}.txt").returncode)) for i in range(20)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.assertEqual(codes, [0] * 20)
        self.assertEqual(self.status(project)["cooks_ended"], 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
