"""Every command that the documents print is run here, and its output is compared with what they show.

How a document says so, in what follows the three back quotes of a block:
    console      lines that begin with `$ ` are commands (a `\\` at the end continues them), the lines after a command are its output
    sh           every line is a command; what it prints is not shown
    file=PATH    (toml, json, ...) the block is written to this file
    exit=N       the exit code of the block's last command; all other commands end with 0, but for one that `echo $?` follows
    needs=NAME   the block and the rest of the page are run only where this program is installed; elsewhere the test is skipped and says so
    skip=WORD    the block is not run; SKIPPED says why
A comment `<!-- $ COMMAND -->` is a command that readers do not see. A page is one story: its commands share one shell, which begins in the
repository's folder. /tmp, /srv and /home are folders of the test's own.

In an output `...` stands for anything, alone in a line also for any number of lines; `<hex>`, times, dates, names of workers and machines match
others of their kind; so does what depends on how a cook was spread over its workers: attempts, what was loaded, and how many of the results were
cooked rather than taken from another platform.
"""
import glob, os, re, select, shlex, shutil, signal, subprocess, sys, time, unittest

from harness import BIN, E2ETest, LIMIT_S, SOURCE

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "scripts"))
from doc_links import broken_links, pages

SKIPPED = {
    "build": "builds Galley, or runs its tests: this is one of them",
    "install": "installs packages, or into the system's folders",
    "bazel": "needs Bazel: tests/interop/bazel_test.py runs it (scripts/test --interop)",
    "server": "needs other machines, or root: tests/e2e/store/store_serve_test.py and galley_remote_test.py run servers",
    "damage": "needs a damaged store or a full disk: tests/e2e/store/rot_test.py, full_disk_test.py and store_verify_test.py make them",
    "service": "is configuration of a CI service, which this machine is not",
    "metrics": "needs a director that stays, or Prometheus: tests/e2e/serve/metrics_test.py and tests/interop/prometheus_test.py run both",
    "devices": "needs a director that stays at a fixed port: tests/e2e/serve/http_test.py asks one for all that the page specifies",
    "variant": "shows the same command with other arguments or sources, of which the page shows a part",
    "large": "takes a large tree, or minutes",
}
OWN_FOLDERS = re.compile(r"(?<![\w./-])/(tmp|srv|home)\b")
BLOCK = re.compile(r"^( *)```(\S*)(.*)$")
HIDDEN = re.compile(r"^<!-- \$ (.*) -->$")
# Parts of an output that differ from run to run: how they look in a document, and what they may be.
VARYING = [(r"\\\.\\\.\\\.", r".*"), (r"<hex>", r"[0-9a-f]+"), (r"\d+(?:\\\.\d+)?\\ (m?s)\b", r"\\d+(?:\\.\\d+)? \1"),
           (r"\d{4}\\-\d\d\\-\d\dT[0-9:]+(?:\\\+00:00)?", r"[0-9T:+-]+"), (r"\blocal\\-\d+", r"local-\\d+"), (r"\battempt\\ (?:\d+|\.\*)", r"attempt .*"),
           (r"[1-9]\d*\\ cooked,\\ [1-9]\d*\\ cached", r"\\d+ cooked, \\d+ cached"), (r"^(\\ )+loaded\\ .*", r" +loaded .* to save .*"),
           (r"\\ on\\ vm\b", r" on \\S+")]


class Step:
    """A command with the output that the document shows; None: none is shown. Or a file to write. Or a program that must be there."""

    def __init__(self, line, command=None, output=None, code=0, file=None, text="", needs=None):
        self.line, self.command, self.output, self.code, self.file, self.text, self.needs = line, command, output, code, file, text, needs


def steps_of_block(number, kind, options, lines):
    """The steps of one block; ValueError: it is marked in a way that is not known."""
    unknown = [option for option in options if option.split("=")[0] not in ("file", "exit", "needs", "skip")]
    if unknown:
        raise ValueError(f"line {number}: {unknown[0]}: expected file=, exit=, needs= or skip=")
    if "skip" in options:
        if options["skip"] not in SKIPPED:
            raise ValueError(f"line {number}: skip={options['skip']}: expected one of {', '.join(SKIPPED)}")
        return []
    needs = [Step(number, needs=options["needs"])] if "needs" in options else []
    if "file" in options:
        return needs + [Step(number, file=options["file"], text="".join(line + "\n" for line in lines))]
    if kind == "sh":
        found = [Step(number + i, command) for i, command in enumerate(lines, 1) if command.strip() and not command.startswith("#")]
    elif kind == "console":
        found, is_continued = [], False
        for i, line in enumerate(lines, 1):
            if is_continued:
                found[-1].command += "\n" + line
            elif line.startswith("$ "):
                found.append(Step(number + i, line[2:], []))
            elif found:
                found[-1].output.append(line)
            else:
                raise ValueError(f"line {number}: the block does not begin with a command")
            is_continued = (is_continued or line.startswith("$ ")) and line.endswith("\\")
    elif any(line.startswith("$ ") for line in lines):
        raise ValueError(f"line {number}: a block with commands is to be marked as console")
    else:
        return []
    for step, after in zip(found, found[1:]):
        step.code = None if after.command == "echo $?" else 0
    if found and "exit" in options:
        found[-1].code = int(options["exit"])
    return needs + found


def steps_of(path):
    """What a page asks for, in its order."""
    found, block = [], None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            fence = BLOCK.match(line)
            if block is not None and fence and not fence[2]:
                found += steps_of_block(*block)
                block = None
            elif block is not None:
                block[3].append(line[len(indent):])
            elif fence:
                indent = fence[1]
                block = (number, fence[2], dict(option.split("=", 1) for option in shlex.split(fence[3])), [])
            elif HIDDEN.match(line):
                found.append(Step(number, HIDDEN.match(line)[1]))
    return found


def pattern_of(lines):
    """What an output must match as a whole."""
    parts = []
    for line in lines:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
            continue
        part = re.escape(line.rstrip())
        for shown, real in VARYING:
            part = re.sub(shown, real, part)
        parts.append(part + r"[ \t]*\n")
    return re.compile("".join(parts))


class Shell:
    """One bash, which is given a command after the other."""

    END = "end-of-the-command"

    def __init__(self, test):
        self.root = test.dir
        for folder in ("tmp", "srv", "home/me", "repository/build"):
            os.makedirs(os.path.join(self.root, folder))
        repository = os.path.join(self.root, "repository")
        for name in os.listdir(SOURCE):
            if not name.startswith("build"):
                os.symlink(os.path.join(SOURCE, name), os.path.join(repository, name))
        os.symlink(os.path.abspath(BIN), os.path.join(repository, "build", "bin"))
        self.process = subprocess.Popen(
            ["bash", "--norc"], cwd=repository, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            env={"PATH": f"{os.path.abspath(BIN)}:{os.environ['PATH']}", "HOME": os.path.join(self.root, "home/me"), "TERM": "dumb", "LANG": "C.UTF-8",
                 "GIT_CONFIG_GLOBAL": "/dev/null", "GALLEY_SOURCE_DIR": SOURCE, "TMPDIR": os.path.join(self.root, "tmp")})
        test.addCleanup(self.close)
        self.code = 0

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)  # with what a page left in the background
        self.process.communicate()

    def mapped(self, text):
        return OWN_FOLDERS.sub(lambda match: self.root + match[0], text)

    def run(self, command):
        """Its exit code and what it printed, with the paths that the document has."""
        script = os.path.join(self.root, "command")
        with open(script, "w") as file:
            file.write(self.mapped(command) + "\n")
        self.process.stdin.write(f"(exit {self.code}); . {script} </dev/null; printf '\\n{self.END} %d\\n' $?\n".encode())
        self.process.stdin.flush()
        printed, limit = b"", time.monotonic() + LIMIT_S
        end = re.compile(rb"\n" + self.END.encode() + rb" (\d+)\n\Z")
        while not end.search(printed):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, limit - time.monotonic()))
            piece = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not piece:
                raise AssertionError(f"{command}: {'the shell ended' if ready else 'it does not end'}; it printed:\n{printed.decode(errors='replace')}")
            printed += piece
        self.code = int(end.search(printed)[1])
        text = end.sub(b"", printed).decode(errors="replace").replace(os.path.realpath(self.root), "").replace(self.root, "")
        return self.code, text.replace("/repository/", "").rstrip("\n") + "\n" if text.strip() else ""


class PagesTest(E2ETest):
    """A test for each page."""

    def run_page(self, page):
        shell = Shell(self)
        for step in steps_of(os.path.join(SOURCE, page)):
            place = f"{page}:{step.line}"
            if step.needs is not None:
                if shutil.which(step.needs) is None:
                    self.skipTest(f"{place}: from here on: {step.needs} is not installed")
                continue
            if step.file is not None:
                path = os.path.join(shell.root, "repository", shell.mapped(step.file))
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as file:
                    file.write(step.text)
                continue
            code, printed = shell.run(step.command)
            if step.code is not None:
                self.assertEqual(code, step.code, f"{place}: $ {step.command}\n{printed}")
            if step.output is not None and not pattern_of(step.output).fullmatch(printed):
                shown = "\n".join(step.output)
                self.fail(f"{place}: $ {step.command}\n-- the document shows:\n{shown}\n-- it prints:\n{printed}")


for page in pages(SOURCE):
    name = "test_" + re.sub(r"\W", "_", page.removeprefix("docs/").removesuffix(".md").lower())
    setattr(PagesTest, name, lambda self, page=page: self.run_page(page))


class MarksTest(unittest.TestCase):
    def test_a_block_is_read_as_it_is_marked(self):
        first, second = steps_of_block(7, "console", {"exit": "1"}, ["$ a \\", "    b", "out", "", "$ c"])
        self.assertEqual((first.line, first.command, first.output, first.code), (8, "a \\\n    b", ["out", ""], 0))
        self.assertEqual((second.line, second.command, second.output, second.code), (12, "c", [], 1))
        self.assertEqual([step.code for step in steps_of_block(1, "console", {}, ["$ false", "$ echo $?", "1"])], [None, 0])
        self.assertEqual([step.command for step in steps_of_block(1, "sh", {}, ["# first", "a", "", "b"])], ["a", "b"])
        self.assertEqual(steps_of_block(1, "sh", {"skip": "install"}, ["apt-get install x"]), [])
        for kind, options, lines in (("", {}, ["$ a"]), ("sh", {"skip": "lazy"}, ["a"]), ("sh", {"only": "x"}, ["a"]), ("console", {}, ["a"])):
            with self.assertRaises(ValueError):
                steps_of_block(1, kind, options, lines)

    def test_an_output_matches_but_for_what_varies(self):
        shown = ["scanned 3 files (0.01 s)", "...", "root <hex>/78 by local-2 on vm at 2026-11-23T05:32:19+00:00", "key 1f705fa4.../9 (a.b)"]
        matches = lambda text: pattern_of(shown).fullmatch(text) is not None
        rest = "root 01ab/78 by local-10 on farm-3 at 2027-01-01T00:00:00+00:00\nkey 1f705fa4ad06/9 (a.b)\n"
        self.assertTrue(matches("scanned 3 files (12.3 s)\n" + rest))
        self.assertTrue(matches("scanned 3 files (1 s)\nx\ny\n" + rest))
        self.assertFalse(matches("scanned 4 files (1 s)\n" + rest))
        self.assertFalse(matches("scanned 3 files (1 s)\n" + rest + "more\n"))
        self.assertFalse(matches("scanned 3 files (1 s)\n" + rest.replace("a.b", "a_b")))

    def test_each_reason_to_skip_is_one_that_somebody_has(self):
        used = set()
        for page in pages(SOURCE):
            with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
                used |= set(re.findall(r"^ *```\S* .*?skip=(\w+)", file.read(), re.M))
        self.assertEqual(used, set(SKIPPED))

    def test_each_launcher_is_in_the_help_and_in_the_pages(self):
        with open(os.path.join(SOURCE, "common/project/sections.cc"), encoding="utf-8") as file:
            launchers = re.findall(r'"(\w+)"', re.search(r'Choice\(layers, "farm.launcher", \{(.*?)\}', file.read()).group(1))
        self.assertGreater(len(launchers), 4)
        with open(os.path.join(SOURCE, "docs/cli.md"), encoding="utf-8") as file:
            row = re.search(r"^\| `--launcher NAME` \|.*", file.read(), re.M).group()
        self.assertEqual([one for one in launchers if f"`{one}`" not in row], [])
        for command in ("cook", "serve"):
            text = subprocess.run([os.path.join(BIN, "galley"), command, "--help"], text=True, stdout=subprocess.PIPE, check=True).stdout
            option = " ".join(text[text.index("--launcher"):].split())[:300]
            self.assertEqual([one for one in launchers if one not in option], [], option)

    def test_sample_batch_scripts_say_what_their_nodes_must_have(self):
        scripts = [name for end in ("slurm/*.sbatch", "condor/*.sub") for name in glob.glob(os.path.join(SOURCE, "deploy", end))]
        self.assertGreater(len(scripts), 2)
        for script in scripts:
            with self.subTest(script), open(script, encoding="utf-8") as file:
                comments = " ".join(line for line in file.read().splitlines() if line.startswith("#"))
                self.assertRegex(comments, r"What its nodes? must have: ")

    def test_links_between_documents_lead_somewhere(self):
        self.assertEqual(broken_links(SOURCE), [])


class SampleTest(E2ETest):
    def test_what_quickstart_prints_at_its_end_can_be_typed(self):
        copy = self.path("sample")
        cook = lambda: subprocess.run([os.path.join(SOURCE, "scripts", "cook-sample"), copy, os.path.abspath(BIN)], text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE)
        first = cook()
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertRegex(first.stderr, r"1\d\d cooked, ")
        said = []
        for line in (line.strip() for line in first.stdout.splitlines() if line.startswith("  ")):
            answer = subprocess.run(["bash", "-c", line], cwd=SOURCE, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(answer.returncode, 0, f"{line}\n{answer.stdout}")
            said.append(answer.stdout)
        _, again, _, edited, why, _, usage = said
        self.assertIn(" 0 cooked", again)
        self.assertEqual(len(re.findall(r"^cooked /Engine/shaders/", edited, re.M)), 9)
        self.assertIn("because file(include/lighting.glsl) changed", why)
        self.assertIn("doctor", usage)
        self.assertFalse(os.path.exists(copy))
        self.assertRegex(cook().stderr, r"1\d\d cooked, ", "the next one makes a new copy")
        self.assertIn(" 0 cooked", cook().stderr, "a copy that is there is cooked as it is")
        self.assertEqual(os.listdir(self.dir), ["sample"])


if __name__ == "__main__":
    unittest.main()
