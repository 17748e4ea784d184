"""Of what GoogleTest and unittest print: each failure with its words, in few lines, so that it is read where only the end of an output is kept."""
import re

BLOCK_LINES_MAX = 40
LINE_CHARACTERS_MAX = 1_000
RUN = re.compile(r"\[ RUN      \] (\S+)")
# Behind what a program has printed without ending its line, too.
FAILURE = re.compile(r".*\.(?:cc|h):\d+: Failure$|.*unknown file: Failure$")
MARK = re.compile(r"\[(?: RUN      |       OK |  FAILED  |  PASSED  |  SKIPPED |----------|==========)\]")
RULE = "=" * 70
RAN = re.compile(r"Ran \d+ tests? in ")


def shortened(lines, lines_max=BLOCK_LINES_MAX):
    """Beginning and end of what is longer: the end of a traceback tells more."""
    lines = [line if len(line) <= LINE_CHARACTERS_MAX else f"{line[:LINE_CHARACTERS_MAX]} ... ({len(line)} characters)" for line in lines]
    if len(lines) <= lines_max:
        return lines
    head = lines_max // 3
    tail = lines_max - head - 1
    return [*lines[:head], f"... ({len(lines) - head - tail} lines left out)", *lines[-tail:]]


def failures(lines):
    """A list of lines for each failed assertion and each traceback, in their order."""
    found = []
    block = None
    is_traceback = False
    test = "(no test)"
    for at, line in enumerate(lines):
        if line == RULE and at + 1 < len(lines) and lines[at + 1].startswith(("FAIL: ", "ERROR: ")):
            block, is_traceback = [], True
            found.append(block)
        elif is_traceback and RAN.match(line):
            block, is_traceback = None, False
        elif is_traceback:
            block.append(line)
        elif FAILURE.match(line):
            block = [f"{test}:", line]
            found.append(block)
        elif MARK.match(line):
            block = None
            test = RUN.match(line).group(1) if RUN.match(line) else test
        elif block is not None:
            block.append(line)
    for block in found:
        while block and (not block[-1].strip() or set(block[-1]) == {"-"}):
            block.pop()
    return [shortened(block) for block in found]


def told(blocks, lines_max):
    """As many of them as fit into so many lines, the first one in any case."""
    text = []
    for number, block in enumerate(blocks):
        if number > 0 and len(text) + len(block) + 1 > lines_max:
            text.append(f"... and {len(blocks) - number} more")
            break
        text += [*([""] if number > 0 else []), *block]
    return "\n".join(text)
