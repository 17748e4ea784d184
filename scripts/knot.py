"""The knot of a folder of C++: the largest set of files of which each needs all others.

A node is a pair of .h and .cc, an edge is an include of another pair. A type or a function that is named needs no edge of its own: its header is
included, by whatever way, since a forward declaration of the folder's own types is refused where the pair does not include the header. Whoever declares an interface needs those who implement
it, since it calls them. Stored callbacks, and a member that leads to everything (core_), would hide edges: they are refused, too.
"""
import os, re

INCLUDE = re.compile(r'#include "([^"]+)"')
TYPE = re.compile(r"^(?:class|struct|enum class|enum) (\w+)(?: final)?(?: *: *([^{;]*))?[^;{]*\{", re.M)
FORWARD = re.compile(r"^ *(?:class|struct) (\w+);", re.M)
CALLBACK = re.compile(r"^ +(?:const )?(?:std::function|absl::AnyInvocable)<[^;()]*(?:\([^;]*\))?[^;()]*> \w+_;", re.M)


def without_comments(text):
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', lambda m: m.group(0) if m.group(0).endswith('.h"') else '""', text)


def pairs(root, folder):
    """Node -> its text. Tests and their support are left out."""
    nodes = {}
    for base, _, files in os.walk(os.path.join(root, folder)):
        for file in sorted(files):
            name = os.path.relpath(os.path.join(base, file), root)
            if not name.endswith((".h", ".cc")) or name.endswith("_test.cc") or "harness" in name or "/testing/" in name:
                continue
            with open(os.path.join(root, name), encoding="utf-8") as text:
                node = name.rsplit(".", 1)[0]
                nodes[node] = nodes.get(node, "") + without_comments(text.read())
    return nodes


def edges(nodes):
    """(node -> nodes that it needs, what is refused)."""
    types, bases, virtual, refused = {}, {}, set(), []
    for node, text in nodes.items():
        for match in TYPE.finditer(text):
            types[match.group(1)] = node
            bases[match.group(1)] = re.findall(r"\w+", match.group(2) or "")
            if re.search(r"\bvirtual\b[^;]*= 0;", text[match.end():text.find("\n};", match.end())]):
                virtual.add(match.group(1))
    needs = {}
    for node, text in nodes.items():
        needs[node] = {name.rsplit(".", 1)[0] for name in INCLUDE.findall(text)} & nodes.keys() - {node}
        refused += [f"{node}: declares {name} of {types[name]}, which hides that it needs it: include its header"
                    for name in FORWARD.findall(text) if types.get(name, node) not in needs[node] | {node}]
        refused += [f"{node}: keeps a callback ({match.group(0).strip()}): leave a note instead" for match in CALLBACK.finditer(text)]
        if re.search(r"\bcore_\.", text):
            refused.append(f"{node}: reaches for the whole core (core_.): let it receive the parts that it uses")
    for name, of in bases.items():
        for base in of:
            if base in virtual and types[base] != types[name]:
                needs[types[base]].add(types[name])
    return needs, refused


def largest_knot(needs):
    """The largest strongly connected component (Tarjan, without recursion), sorted."""
    index, low, stack, on_stack, best = {}, {}, [], set(), []
    for start in sorted(needs):
        if start in index:
            continue
        work = [(start, iter(sorted(needs[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, others = work[-1]
            for other in others:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(needs[other]))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    best = max(best, sorted(component), key=len)
    return best


def check_knot(root, folder, most):
    needs, found = edges(pairs(root, folder))
    knot = largest_knot(needs)
    if len(knot) > most:
        found.append(f"{folder}: {len(knot)} files need one another, and at most {most} may: {', '.join(os.path.basename(node) for node in knot)}")
    return found
