"""The text that Prometheus reads (text format 0.0.4), as a test asks for it and understands it."""
import re, urllib.request

SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
UNITS = ("seconds", "bytes", "total", "info", "fds", "blobs", "epoch", "up", "truncated", "slots")
# Counts of things that are there now: their name is what is counted.
PLAIN = {"galley_ahead_packages", "galley_cooks_in_progress", "galley_http_connections", "galley_http_streams", "galley_packages", "galley_jobs", "galley_workers"}


class Exposition:
    """types and helps by metric; value(name, **labels) is the sum over all samples that have these labels."""
    def __init__(self, text):
        self.text, self.types, self.helps, self.samples = text, {}, {}, []
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                name, kind = line[7:].split(" ", 1)
                assert name not in self.types, f"{name} has two TYPE lines"
                self.types[name] = kind
            elif line.startswith("# HELP "):
                name, help_text = line[7:].split(" ", 1)
                self.helps[name] = help_text
            elif line and not line.startswith("#"):
                found = SAMPLE.match(line)
                assert found, f"no sample: {line}"
                self.samples.append((found[1], dict(LABEL.findall(found[2] or "")), float(found[3])))

    def has(self, name, **labels):
        return any(n == name and labels.items() <= l.items() for n, l, _ in self.samples)

    def value(self, name, **labels):
        assert self.has(name), f"no {name} in:\n{self.text}"
        return sum(v for n, l, v in self.samples if n == name and labels.items() <= l.items())

    def family(self, name):
        for end in ("_bucket", "_sum", "_count"):
            if name.endswith(end) and self.types.get(name[:-len(end)]) in ("histogram", "summary"):
                return name[:-len(end)]
        return name

    def wrong(self):
        """What Prometheus' conventions do not allow, a text each. (exposer_* is what the library says of itself.)"""
        texts = []
        for name, kind in self.types.items():
            if name.startswith("exposer_"):
                continue
            if not re.fullmatch(r"(galley|process)_[a-z_]+", name):
                texts.append(f"{name}: its name")
            if (kind == "counter") != name.endswith("_total"):
                texts.append(f"{name}: a {kind}")
            if name not in PLAIN and not name.endswith(UNITS):
                texts.append(f"{name}: no unit")
            if not self.helps.get(name, "").endswith("."):
                texts.append(f"{name}: its help")
        for name, labels, _ in self.samples:
            if self.family(name) not in self.types:
                texts.append(f"{name}: no TYPE line before it")
            if not name.startswith("galley_worker_last_job") and ("worker" in labels or "package" in labels):
                texts.append(f"{name}: a label with too many values: {labels}")
        return texts


def read_metrics(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain"), answer.headers
        return Exposition(answer.read().decode())
