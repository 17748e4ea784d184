"""What a person is told while a long program runs: a line every 15 s, when there is no terminal on which the program itself can draw.

follow() runs the program and gives each line of its output to a log. A log has feed(line), which returns what is to be shown of the line (None:
nothing), and status(), the line of every 15 s (None: there is nothing to say yet).
"""
import os, re, select, subprocess, sys, time

PERIOD_S = 15
NINJA_STATUS = "@%f/%t "  # what Ninja reads: finished, total


def has_terminal(stream=sys.stdout):
    """Whether a program may draw over its own line there."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def rough(seconds):
    """3, "40 s"; 200, "3 min": how long something takes, as far as anybody knows."""
    return f"{max(1, round(seconds / 10)) * 10} s" if seconds < 95 else f"{round(seconds / 60)} min"


class Ninja:
    """The output of ninja under NINJA_STATUS. Steps that went well are counted and not shown; what failed is shown as it came."""

    def __init__(self, clock=time.monotonic):
        self.clock, self.began = clock, clock()
        self.done = self.total = 0

    def feed(self, line):
        step = re.match(r"@(\d+)/(\d+) ", line)
        if step:
            self.done, self.total = int(step[1]), int(step[2])
            return None
        return None if line.startswith(("ninja: Entering directory", "ninja: no work to do")) else line

    def status(self):
        if self.total == 0:
            return None
        left = ""
        if self.done * 20 >= self.total:  # earlier it would be a guess
            left = f", about {rough((self.clock() - self.began) * (self.total - self.done) / self.done)} left"
        return f"built {self.done} of {self.total}{left}"


class Ctest:
    """The output of `ctest -V`, of which nothing is shown: it is kept in `lines`."""

    def __init__(self, total, clock=time.monotonic):
        self.total, self.clock = total, clock
        self.done = 0
        self.running = {}  # name -> when it began
        self.lines = []

    def feed(self, line):
        self.lines.append(line)
        start = re.match(r" *Start +\d+: (\S+)$", line)
        end = re.match(r" *\d+/(\d+) Test +#\d+: (\S+) ", line)
        if start:
            self.running[start[1]] = self.clock()
        elif end:
            self.done, self.total = self.done + 1, int(end[1])
            self.running.pop(end[2], None)
        return None

    def status(self):
        names = [f"{name} (for {self.clock() - began:.0f} s)" for name, began in self.running.items()]
        return f"{self.done} of {self.total} tests are done; running: {', '.join(names) or 'none'}"


class Kept:
    """Any program's output, kept in `lines`; its name and its age are all that is told."""

    def __init__(self, name, clock=time.monotonic):
        self.name, self.clock, self.began = name, clock, clock()
        self.lines = []

    def feed(self, line):
        self.lines.append(line)
        return None

    def status(self):
        return f"{self.name} has run for {self.clock() - self.began:.0f} s"


class Shown(Kept):
    """A program that says by itself how far it is, now and then: its output is shown."""

    def feed(self, line):
        return line


def follow(argv, log, say, period_s=PERIOD_S, clock=time.monotonic, **options):
    """Runs the program to its end and returns its exit code. Standard error goes where standard output goes: to the log."""
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    descriptor = process.stdout.fileno()
    rest, told = b"", clock()
    while True:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, told + period_s - clock()))
        if ready:
            piece = os.read(descriptor, 1 << 16)
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines + ([rest] if not piece and rest else []):
                shown = log.feed(line.decode(errors="replace"))
                if shown is not None:
                    print(shown, flush=True)
            if not piece:
                process.stdout.close()
                return process.wait()
        if clock() - told >= period_s:
            status = log.status()
            if status:
                say(status)
            told = clock()
