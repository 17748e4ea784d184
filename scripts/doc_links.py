"""The links between the documents: README.md, docs/**/*.md, deploy/*.md. scripts/check and tests/e2e/init/docs_test.py look at them."""
import glob, os, re

LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?) *#*$", re.M)
CODE = re.compile(r"^( *```).*?^\1$|`[^`\n]*`", re.M | re.S)


def pages(root):
    """The documents, below the repository's top."""
    found = [os.path.join(root, "README.md")]
    for folder in ("docs", "deploy"):
        found += sorted(glob.glob(os.path.join(root, folder, "**", "*.md"), recursive=True))
    return [os.path.relpath(path, root) for path in found]


def anchors(text):
    """The names under which a page's headings are reached, as GitHub makes them."""
    found = {}
    for heading in HEADING.findall(re.sub(r"^( *```).*?^\1$", "", text, flags=re.M | re.S)):
        name = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")
        found[name] = found.get(name, 0) + 1
    return {f"{name}-{i}" if i else name for name, count in found.items() for i in range(count)}


def broken_links(root):
    """A line for each link to a file, or to a heading of a page, that is not there. Links to other hosts are not looked at."""
    texts = {}
    for page in pages(root):
        with open(os.path.join(root, page), encoding="utf-8") as file:
            texts[page] = file.read()
    found = []
    for page, text in texts.items():
        for target in LINK.findall(CODE.sub("", text)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            other = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(os.path.join(root, other)):
                found.append(f"{page}: {target}: there is no {other}")
            elif anchor and other in texts and anchor not in anchors(texts[other]):
                found.append(f"{page}: {target}: {other} has no heading #{anchor}")
    return found
