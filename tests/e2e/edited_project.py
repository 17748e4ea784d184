"""A project that one thread edits all the time, with all the states that it had: what each of them cooks to is a plain function of its sources."""
import bisect, collections, hashlib, os, random, threading, time

from harness import wait_until

LARGE = (1 << 20) + 100  # a copied file of this size is a link in the trees of devices
SMALL = 40
# The line in front of a note is the rule's; it changes with galley.toml.
TOML = """[project]
name = "game"
{extra}[[mount]]
path = "/Game"
dir = "content"
[[platform]]
name = "pc"
texture = "bc"
shader = "spirv-1.5"
[[rule]]
match = "/Game/**/*.{{txt,bin}}"
cooker = "copy"
[[rule]]
match = "/Game/**/*.json"
cooker = "data"
[[rule]]
match = "/Game/**/*.note"
cooker = "command"
settings = {{ argv = ["/bin/sh", "-c", '(echo "$2"; cat "$0") > "$1"', "{{input}}", "{{output:.out}}", "{line}"], outputs = [".out"] }}
"""
# A tick is a file that is written when somebody wants to know that all earlier edits were seen.
TICK = "tick.txt"
# (how often, what)
EDITS = [(8, "overwrite"), (8, "replace"), (3, "delete"), (3, "create"), (3, "rename"), (3, "restore"), (1, "touch"), (1, "line")]
# No file is edited twice within this time: two edits in one tick of a file system's clock have one stamp.
BETWEEN_EDITS_S = 0.2
NAMES = [f"t/text{i}.txt" for i in range(20)] + [f"n/note{i}.note" for i in range(12)] + [f"data{i}.json" for i in range(16)] + ["l/a.bin", "l/b.bin"]


def kind_of(name):
    return name.rsplit(".", 1)[1]


def source_of(name, number):
    """All sources of a kind have one length, so that a file can be overwritten by one call."""
    if kind_of(name) == "json":
        return f'{{"v": {number}}}'.encode().ljust(SMALL)
    return f"{name} {number} ".encode().ljust(LARGE if kind_of(name) == "bin" else SMALL, b".")


def cbor(number):
    """The map {"v": number} in the deterministic encoding of RFC 8949, 4.2.1."""
    for width, most in ((1, 0x100), (2, 0x10000), (4, 0x100000000)):
        if number < most:
            head = bytes([number]) if number < 24 else bytes([{1: 0x18, 2: 0x19, 4: 0x1a}[width]]) + number.to_bytes(width, "big")
            return b"\xa1\x61v" + head
    raise ValueError(number)


def path_of(name):
    return "Game/" + name + {"txt": "", "bin": "", "note": ".out", "json": ".cbor"}[kind_of(name)]


def output_of(name, source, line):
    if kind_of(name) == "note":
        return line.encode() + b"\n" + source
    return cbor(int(source.split(b":")[1].strip(b" }"))) if kind_of(name) == "json" else source


def sum_of(data):
    return hashlib.sha256(data).hexdigest()


class EditedProject:
    """`states`: {path: SHA-256 of its bytes}, one for each state that the project had, oldest first; a path that is not in it is absent.
    `begun`: when the edit began that led to each state. `lock`: held while the project is edited."""

    def __init__(self, test, seed, extra=""):
        self.rng, self.test, self.extra = random.Random(seed), test, extra
        self.directory, self.content = test.path("game"), test.path("game", "content")
        self.sources, self.earlier = {}, collections.defaultdict(list)
        self.number, self.line, self.edited_at = 0, "line 0", {}
        self.states, self.begun, self.done = [], [], collections.Counter()
        self.lock, self.over = threading.Lock(), threading.Event()
        for name in NAMES:
            os.makedirs(os.path.dirname(os.path.join(self.content, name)), exist_ok=True)
        self.write_toml()
        for name in [TICK] + self.rng.sample(NAMES, len(NAMES) * 3 // 4):
            self.sources[name] = self.new_source(name)
            test.write(f"game/content/{name}", self.sources[name])
        self.outputs = {}  # (name, source, line) -> SHA-256 of the output
        self.add_state()

    def new_source(self, name):
        self.number += 1
        return source_of(name, self.number)

    def write_toml(self):
        self.test.write("new.toml", TOML.format(extra=self.extra, line=self.line))
        os.rename(self.test.path("new.toml"), os.path.join(self.directory, "galley.toml"))

    def sum_of_output(self, name, source):
        key = (name, source, self.line if kind_of(name) == "note" else "")
        if key not in self.outputs:
            self.outputs[key] = sum_of(output_of(*key))
        return self.outputs[key]

    def add_state(self):
        """The project is about to become what `sources` and `line` say."""
        self.begun.append(time.monotonic())
        self.states.append({path_of(name): self.sum_of_output(name, source) for name, source in self.sources.items()})

    # --- edits; each is one call that changes the project

    def place(self, name):
        return os.path.join(self.content, name)

    def pick(self, is_there=True):
        """A name that is there, or is not, and was not edited just now; None: there is none."""
        now = time.monotonic()
        some = [name for name in NAMES if (name in self.sources) == is_there and now - self.edited_at.get(name, 0) > BETWEEN_EDITS_S]
        return self.rng.choice(some) if some else None

    def put(self, name, source):
        """By rename, as most editors save."""
        file = self.test.write("new file", source)
        self.sources[name] = source
        self.add_state()
        os.rename(file, self.place(name))

    def do_overwrite(self, name):
        self.sources[name] = self.new_source(name)
        self.add_state()
        file = os.open(self.place(name), os.O_WRONLY)
        os.pwrite(file, self.sources[name][:SMALL], 0)
        os.close(file)

    def do_replace(self, name):
        self.earlier[name].append(self.sources[name])
        self.put(name, self.new_source(name))

    def do_restore(self, name):
        if self.earlier[name]:
            self.put(name, self.rng.choice(self.earlier[name]))

    def do_delete(self, name):
        if len(self.sources) > len(NAMES) // 2:
            del self.sources[name]
            self.add_state()
            os.remove(self.place(name))

    def do_create(self, _):
        name = self.pick(is_there=False)
        if name is not None:
            self.edited_at[name] = time.monotonic()
            self.put(name, self.new_source(name))

    def do_rename(self, name):
        """Into a name of the same kind. (Sources of JSON have no name in them, others keep the old one.)"""
        to = self.pick(is_there=False)
        if to is not None and kind_of(to) == kind_of(name):
            self.edited_at[to] = time.monotonic()
            self.sources[to] = self.sources.pop(name)
            self.add_state()
            os.rename(self.place(name), self.place(to))

    def do_touch(self, name):
        os.utime(self.place(name))

    def do_line(self, _):
        self.number += 1
        self.line = f"line {self.number}"
        self.add_state()
        self.write_toml()

    def edit(self):
        with self.lock:
            name = self.pick()
            if name is None:
                return
            self.edited_at[name] = time.monotonic()
            what = self.rng.choices([what for _, what in EDITS], [weight for weight, _ in EDITS])[0]
            getattr(self, "do_" + what)(name)
            self.done[what] += 1

    def edit_all_the_time(self):
        while not self.over.wait(self.rng.uniform(0.01, 0.06)):
            self.edit()

    # --- for those who look

    def settle(self, client):
        """The number of the state that the director shows from now on, as long as the caller holds the lock.

        It writes a file and waits until it is seen, twice: the director may have begun to look at all files before the last edits."""
        for _ in range(2):
            source = self.new_source(TICK)
            self.put(TICK, source)
            wait_until(lambda: client.get(f"/v1/pc/{path_of(TICK)}").body == source, "the last edit to be seen", 60)
        return len(self.states) - 1

    def states_with(self, path, digest, last=None):
        """The numbers of the states up to `last` in which the path has these bytes; None: in which it is absent."""
        states = self.states if last is None else self.states[:last + 1]
        return [number for number, state in enumerate(states) if state.get(path) == digest]

    def last_state_at(self, moment):
        return bisect.bisect_right(self.begun, moment) - 1
