#!/usr/bin/env python3
"""Sources are edited all the time, and each answer to a device is of the world that it asks in, or says that this world can no longer make it.

A plain run edits for some seconds; `--long` (or GALLEY_LONG=1) for a minute, and GALLEY_EDIT_SECONDS says otherwise. A seed is printed;
GALLEY_SEED=<seed> draws the same edits and reads again, though not the same interleaving.
"""
import bisect, collections, json, os, random, sys, threading, time, unittest

if "--long" in sys.argv:
    sys.argv.remove("--long")
    os.environ["GALLEY_LONG"] = "1"

from device_case import IS_LONG, IS_SANITIZED, DeviceCase, SessionTree, descriptors, png, resident_bytes
from edited_project import NAMES, TICK, EditedProject, path_of, sum_of
from harness import COPY, wait_until
from http_case import Changes

SECONDS = float(os.environ.get("GALLEY_EDIT_SECONDS") or (60 if IS_LONG else 8))
SESSIONS_AT_ONCE = 3
PATHS = [path_of(name) for name in [TICK] + NAMES] + ["Game/never.txt", "Game/never.json.cbor"]
# A world is put together from files that are looked at one after the other while they are edited, so it may lie between states that are so near
# to each other. A session that is opened while nobody edits is of exactly one state.
STATES_BETWEEN = 25
SECONDS_BETWEEN = 5
TEXTURE_EDITS = 1000 if IS_LONG else 60


class SessionRead:
    """What one session was answered."""

    def __init__(self, session):
        self.session = session
        self.state = None  # its state, where that is known exactly
        self.last_state = None  # the newest one that it may see
        self.answers = []  # (path, SHA-256 of the bytes or None where the path is absent, URL), in order
        self.roots = []

    def texts(self):
        where = f"session {self.session} of {'state ' + str(self.state) if self.state is not None else f'a state up to {self.last_state}'}"
        return where + ": " + ", ".join(f"{path}={str(digest)[:8]}" for path, digest, _ in self.answers)


class WrongAnswers:
    """Looks for answers that no clean cook of the session's world would give. Each is a text."""

    def __init__(self, project):
        self.project = project

    def where(self, path, digest):
        return f"it is that of the states {self.project.states_with(path, digest)[:20]}"

    def of(self, read):
        return self.of_state(read) if read.state is not None else self.of_history(read)

    def of_state(self, read):
        state = self.project.states[read.state]
        for path, digest, url in read.answers:
            if state.get(path) != digest:
                yield f"{url} is {digest}, and in state {read.state} it is {state.get(path)}; {self.where(path, digest)}"

    def of_history(self, read):
        """Nothing is newer than the session, and all answers are of one world."""
        answers = {}
        for path, digest, url in read.answers:
            if answers.setdefault(path, digest) != digest:
                yield f"{url} was {answers[path]}, and then {digest}"
        fits = {}
        for path, digest in answers.items():
            fits[path] = self.project.states_with(path, digest, read.last_state)
            if not fits[path]:
                yield f"{path} is {digest}, and up to state {read.last_state} it never was; {self.where(path, digest)}"
        fits = [states for states in fits.values() if states]
        if not any(all(self.is_near(states, number) for states in fits) for number in range(read.last_state + 1)):
            yield f"the answers are of no state: {read.texts()}"

    def is_near(self, states, number):
        """A world is put together from files that change meanwhile, on a machine that may stand still for a while."""
        oldest = min(number - STATES_BETWEEN, self.project.last_state_at(self.project.begun[number] - SECONDS_BETWEEN))
        before = bisect.bisect_right(states, number)
        return before > 0 and states[before - 1] >= oldest


class Readers:
    """Threads that read in sessions, and in the present world, until the project is edited no more."""

    def __init__(self, client, project, seed):
        self.client, self.project, self.seed = client, project, seed
        self.reads, self.wrong, self.counts = [], [], collections.Counter()

    def run(self, seconds):
        threads = [threading.Thread(target=self.guarded, args=(self.project.edit_all_the_time,))]
        threads += [threading.Thread(target=self.guarded, args=(self.read_sessions, number)) for number in range(SESSIONS_AT_ONCE)]
        threads += [threading.Thread(target=self.guarded, args=(self.read_present,))]
        for thread in threads:
            thread.start()
        self.project.over.wait(seconds)
        self.project.over.set()
        for thread in threads:
            thread.join()

    def guarded(self, call, *arguments):
        try:
            call(*arguments)
        except Exception as error:  # told by the test, which ends
            self.wrong.append(f"{call.__name__}{arguments}: {type(error).__name__}: {error}")
            self.project.over.set()

    def note(self, answer, url):
        """The SHA-256 of the answer's bytes, None: the path is absent. False: the answer says nothing of the world."""
        self.counts[answer.status] += 1
        if answer.status == 200:
            return sum_of(answer.body)
        if answer.status == 404:
            return None
        if answer.status == 503 and answer.field("Retry-After"):
            return False
        if answer.status == 409 and url.startswith("/v1/sessions/") and answer.json.get("root"):
            return False
        raise AssertionError(f"{url}: {answer}")

    # --- sessions

    def read_sessions(self, number):
        rng = random.Random(f"{self.seed} {number}")
        while not self.project.over.is_set():
            is_exact = rng.random() < 0.5
            read = self.open_exactly() if is_exact else self.open_anyhow()
            if read is None:
                continue
            self.reads.append(read)
            for _ in range(rng.randrange(5, 60)):
                if self.project.over.wait(rng.uniform(0, 0.05)):
                    break
                self.read_in(read, rng)

    def open(self):
        opened = self.client.open_session(platform="pc")
        if opened.status == 503:
            self.counts["not opened"] += 1
            return None
        assert opened.status == 201, opened
        return SessionRead(opened.json["session"])

    def open_exactly(self):
        with self.project.lock:
            state = self.project.settle(self.client)
            read = wait_until(self.open, "a session to be opened while nobody edits", 60)
        read.state = read.last_state = state
        self.counts["exact"] += 1
        return read

    def open_anyhow(self):
        read = self.open()
        if read is not None:
            read.last_state = self.project.last_state_at(time.monotonic())
        return read

    def read_in(self, read, rng):
        again = [path for path, _, _ in read.answers]
        path = rng.choice(again) if again and rng.random() < 0.3 else rng.choice(PATHS)
        url = f"/v1/sessions/{read.session}/{path}"
        answer = self.client.get(url)
        digest = self.note(answer, url)
        if digest is not False:
            read.answers.append((path, digest, url))
        if answer.status == 200:
            read.roots.append(answer.field("Galley-Root"))
            self.read_root(read, rng)

    def read_root(self, read, rng):
        """A root of a session is a part of what the session sees; what is not cooked in it is 404."""
        if rng.random() < 0.8:
            return
        root, path = rng.choice(read.roots), rng.choice(PATHS)
        url = f"/v1/root/{root}/static/{path}"
        answer = self.client.get(url)
        self.counts[f"root {answer.status}"] += 1
        if answer.status == 200:
            read.answers.append((path, sum_of(answer.body), url))
        elif answer.status != 404:
            raise AssertionError(f"{url}: {answer}")

    # --- the present world

    def read_present(self):
        """Each answer is of a state that was begun, and no path goes back to an older one."""
        rng = random.Random(f"{self.seed} present")
        oldest = collections.Counter()  # path -> the oldest state that it may be of
        while not self.project.over.wait(rng.uniform(0, 0.03)):
            path = rng.choice(PATHS)
            url = f"/v1/pc/{path}"
            digest = self.note(self.client.get(url), url)
            if digest is False:
                continue
            fits = self.project.states_with(path, digest, self.project.last_state_at(time.monotonic()))
            fits = [number for number in fits if number >= oldest[path]]
            if not fits:
                raise AssertionError(f"{url} is {digest}, and since state {oldest[path]} it never was; "
                                     f"it is that of the states {self.project.states_with(path, digest)[:20]}")
            oldest[path] = fits[0]


class DeviceEditsTest(DeviceCase):
    def setUp(self):
        super().setUp()
        self.use_memory()

    def gc(self, project):
        """Collects what nobody needs. (Blobs that no result names stay for a day, so the store is made two days older.)"""
        old = time.time() - 2 * 86_400
        for part in ("segments", "files"):
            for folder, _, names in os.walk(os.path.join(project, ".galley/store", part)):
                for name in names:
                    os.utime(os.path.join(folder, name), (old, old))
        done = self.galley("store", "gc", "--max-size", "0", "--json", "--project", project)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def restart_and_collect(self, project):
        """As when all devices have gone to the present world: the next director releases the trees of older ones, and then they are collected.
        (What a director itself was told is there stays until it rests, or ends.)"""
        self.stop(project)
        client = self.serve_http(project)
        closed = self.session(client, platform="pc")["session"]
        self.assertEqual(client.ask("DELETE", f"/v1/sessions/{closed}").status, 204)
        self.stop(project)
        return self.gc(project)

    def test_each_answer_is_of_the_world_in_which_it_is_asked_for(self):
        seed = self.seed()
        project = EditedProject(self, seed, extra="[store]\nkeep_sources = true\n" if random.Random(seed).random() < 0.5 else "")
        client = self.serve_http(project.directory, "--workers", "2")
        kept = self.session(client, platform="pc")["session"]
        for path, digest in list(project.states[0].items())[:20]:
            answer = client.get(f"/v1/sessions/{kept}/{path}")
            self.assertEqual((answer.status, sum_of(answer.body)), (200, digest), (path, answer))
        readers = Readers(client, project, seed)
        readers.run(SECONDS)
        told = f"seed {seed}, {len(project.states)} states by {dict(project.done)}, answers {dict(readers.counts)}"
        print(told, end=" ", file=sys.stderr, flush=True)
        wrong = list(readers.wrong)
        for read in readers.reads:
            wrong += list(WrongAnswers(project).of(read))
        self.assertEqual(wrong[:5], [], f"{len(wrong)} are wrong; {told}")
        for count in (200, 404, 409, "exact", "root 200"):
            self.assertGreater(readers.counts[count], 0, f"nobody met {count}: the test says little; {told}")
        last = self.expect_last_state(client, project)
        self.expect_old_roots_to_go(client, project, readers, kept, last)

    def expect_last_state(self, client, project):
        """When nobody edits any more all is there, in a new session and in the present world."""
        with project.lock:
            number = project.settle(client)
        session = self.session(client, platform="pc")["session"]
        state = project.states[number]
        for path in PATHS:
            for face in (f"/v1/sessions/{session}/", "/v1/pc/"):
                answer = self.get_ready(client, face + path)
                found = {200: sum_of(answer.body), 404: None}.get(answer.status, answer)
                self.assertEqual(found, state.get(path), f"{face}{path} in state {number}")
        return session

    def expect_old_roots_to_go(self, client, project, readers, kept, last):
        """Sessions that are open keep their roots through a collection and another director; all others are gone."""
        for read in readers.reads:
            self.assertEqual(client.ask("DELETE", f"/v1/sessions/{read.session}").status, 204, read.session)
        open_roots = {session: client.get(f"/v1/sessions/{session}").json["root"] for session in (kept, last)}
        trees = {session: SessionTree(client).cooked(root) for session, root in open_roots.items()}
        old = {root for read in readers.reads for root in read.roots} - set(open_roots.values())
        self.assertGreater(len(old), 5)
        report = self.restart_and_collect(project.directory)
        self.assertGreater(report["dropped_blobs"], 0, report)
        client = self.serve_http(project.directory)
        for root in sorted(old):
            answer = client.get(f"/v1/root/{root}/world")
            self.assertEqual(answer.status, 410, (root, answer))
        for session, root in open_roots.items():
            self.assertEqual(self.get_ready(client, f"/v1/sessions/{session}").json["root"], root, session)
            self.assertEqual(SessionTree(client).cooked(root), trees[session], session)
            for path, (digest, _) in trees[session].items():
                answer = client.get(f"/v1/root/{root}/static/{path}")
                self.assertEqual((answer.status, sum_of(answer.body)), (200, digest.split("/")[0]), (session, path, answer))

    # --- a texture that is edited again and again

    def edit_texture(self, changes, what, pixel):
        """Waits until the session is told what the texture is now."""
        before = self.told(changes)
        file = self.write("new.png", png(pixel, 16))
        os.rename(file, self.path("game/content/a.png"))
        wait_until(lambda: self.told(changes) not in (before, None), f"{what} to be told; before: {before}", 60)

    @staticmethod
    def told(changes):
        """The texture's digest by the last event that has one; None: there was none."""
        return next((entry["after"] for _, _, data in reversed(list(changes.events)) for entry in data.get("modified", [])
                     if entry["path"] == "Game/a.png.ktx2" and entry["after"]), None)

    def edit_textures(self, changes, count):
        """Each picture is another one than the one before; the last one is always the same."""
        for number in range(count):
            self.edit_texture(changes, f"edit {number} of {count}", (number % 251, number // 251, 7))
        self.edit_texture(changes, "the last edit", (250, 250, 250))

    def open_texture(self, project):
        """A session that has read the texture, and was told of as many worlds as are held."""
        client = self.serve_http(project, "--workers", "1")
        session = self.session(client, platform="pc")["session"]
        self.assertEqual(client.get(f"/v1/sessions/{session}/Game/a.png.ktx2").status, 200)
        changes = Changes(client, session)
        self.addCleanup(changes.close)
        self.edit_textures(changes, 20)
        return client, session, changes

    def close_texture(self, project, client, session, changes):
        """What the store holds when the session has ended and a collection was made."""
        changes.close()
        self.assertEqual(client.ask("DELETE", f"/v1/sessions/{session}").status, 204)
        self.restart_and_collect(project)
        stats = json.loads(self.galley("store", "stats", "--json", "--project", project).stdout)
        return {name: stats[name] for name in ("blobs", "blob_bytes", "results")}

    def test_many_edits_of_one_texture_leave_what_was_there(self):
        files = {f"others/{number}.txt": f"{number}" for number in range(2000)}  # so that a world that is kept is noticed
        # Without loss: BC1 makes one block of many neighbouring colours, and an edit would change nothing.
        texture = 'match = "/Game/**/*.png"\ncooker = "texture"\nsettings = { format = "rgba8" }'
        project = self.project({"a.png": png((1, 2, 3), 16), **files}, [texture, COPY])
        before = self.close_texture(project, *self.open_texture(project))
        client, session, changes = self.open_texture(project)
        held = descriptors(self.process), resident_bytes(self.process)
        self.edit_textures(changes, TEXTURE_EDITS)
        wait_until(lambda: descriptors(self.process) <= held[0] + 8, f"{held[0]} descriptors and a few, after {TEXTURE_EDITS} edits", 30)
        if not IS_SANITIZED:
            self.assertLess(resident_bytes(self.process), held[1] + (24 << 20), f"after {TEXTURE_EDITS} edits; before: {held[1]}")
        after = self.close_texture(project, client, session, changes)
        for name, count in before.items():
            self.assertLessEqual(after[name], count * 1.2 + (4096 if name == "blob_bytes" else 5), (name, before, after))


if __name__ == "__main__":
    unittest.main()
