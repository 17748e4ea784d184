"""The answers of `galley query`, by a program that shares no code with it: a random project, whose references, classes and sizes are known, and
queries over it at random. A query is a text and a function that gives the expected set of names."""
import collections, json, os

PLATFORMS = ["android", "pc"]
FOLDERS = ["", "a b/", "props/", "props/größe/", "maps/deep/"]
CLASSES = {"json": "data", "cmd": "command", "txt": "copy", "level": "data"}
SUFFIXES = {"json": ".cbor", "level": ".cbor", "cmd": ".out", "txt": ""}
RULES = [
    'match = "/Game/**/*.{json,level}"\ncooker = "data"',
    'match = "/Game/**/*.txt"\ncooker = "copy"',
    'match = "/Game/**/*.cmd"\ncooker = "command"\nsettings = { argv = ["tools/refer", "{input}", "{output:.out}", "{result}", "{platform}"], '
    'outputs = [".out"] }',
]
# A line for each platform of the source is the JSON that the program says.
REFER = '#!/bin/sh\nsed -n "s/^$4 //p" "$1" > "$3"\ncp "$1" "$2"\n'
KINDS = ["hard", "soft", "editor"]


class Package:
    def __init__(self, name, extension):
        self.name, self.extension = name, extension
        self.edges = set()  # (target, kind, platform)
        self.salt = 0

    @property
    def is_never(self):
        return "/dev/" in self.name


class Model:
    """`rng` draws; `write(path, text, mode)` and `remove(path)` change the project."""

    def __init__(self, rng, write, remove, packages):
        self.rng, self.write, self.remove = rng, write, remove
        self.packages, self.numbers = {}, iter(range(10 ** 9))
        # By platform: what the last cook of each package found, (edges, size); and the packages of the last root.
        self.known = {platform: {} for platform in PLATFORMS}
        self.in_cook = {platform: set() for platform in PLATFORMS}
        self.unsure = set()  # cooked once, in no cook now, and another file by now
        write("tools/refer", REFER, 0o755)
        for _ in range(packages):
            self.add()
        for package in list(self.packages.values()):
            self.refer(package)
        self.maps = ["/Game/maps/start.level"]
        start = Package("/Game/maps/start.level", "level")
        self.packages[start.name] = start
        self.refer(start, 8)
        for package in self.packages.values():
            self.save(package)

    def toml(self):
        return f'[cook]\nmaps = {json.dumps(self.maps)}\nnever = ["/Game/dev/**"]\n'

    # ---------------------------------------------------------------- the project

    def add(self):
        extension = self.rng.choices(["json", "txt", "cmd", "level"], [6, 3, 1, 1])[0]
        folder = self.rng.choices(FOLDERS + ["dev/"], [3, 1, 3, 1, 1, 1])[0]
        package = Package(f"/Game/{folder}p{next(self.numbers)}.{extension}", extension)
        self.packages[package.name] = package
        return package

    def refer(self, package, count=None):
        """References at random: in circles, too. Who is never cooked is referred to by editors only."""
        package.edges = set()
        if package.extension == "txt":
            return
        for _ in range(self.rng.choice([0, 1, 2, 4]) if count is None else count):
            target = self.rng.choice(list(self.packages.values())) if len(self.packages) < 1_000 else self.any_of(self.packages)
            kind = "editor" if target.is_never else self.rng.choices(KINDS, [5, 2, 1])[0]
            # Who is referred to on one platform refers to nobody: so each package of a cook is in a tree, and has a file to look at.
            is_of_one = package.extension == "cmd" and target.extension == "txt"
            platforms = self.rng.choice([PLATFORMS, PLATFORMS[:1], PLATFORMS[1:]]) if is_of_one else PLATFORMS
            package.edges |= {(target.name, kind, platform) for platform in platforms}

    def any_of(self, packages):
        if getattr(self, "names", None) is None or len(self.names) != len(packages):
            self.names = list(packages)
        return packages[self.rng.choice(self.names)]

    def save(self, package):
        if package.extension == "txt":
            text = f"{package.salt} " * (1 + package.salt % 7)
        elif package.extension == "cmd":
            lines = []
            for platform in PLATFORMS:
                edges = sorted((target, kind) for target, kind, on in package.edges if on == platform)
                lines.append(f"{platform} " + json.dumps({"references": [{"path": target, "kind": kind} for target, kind in edges]}, ensure_ascii=False))
            text = "\n".join([*lines, str(package.salt)]) + "\n"
        else:
            key = {"hard": "$ref", "soft": "$soft", "editor": "$editor"}
            edges = sorted({(target, kind) for target, kind, _ in package.edges})
            text = json.dumps({"salt": package.salt, "uses": [{key[kind]: target} for target, kind in edges]}, ensure_ascii=False)
        self.write("content/" + package.name.removeprefix("/Game/"), text, None)

    def edit(self):
        """One package goes, some come, and some refer to others. A file that was cooked and is in no cook now keeps its text: whether a cook of a
        difference looks at it once more is not said anywhere."""
        gone = self.rng.choice(sorted(set(self.packages) - set(self.maps)))
        self.remove("content/" + gone.removeprefix("/Game/"))
        del self.packages[gone]
        for known in self.known.values():
            known.pop(gone, None)
        self.names = None
        touched = {name for name, package in self.packages.items() if any(edge[0] == gone for edge in package.edges)}
        for name in touched:
            self.packages[name].edges = {edge for edge in self.packages[name].edges if edge[0] != gone}
        before = {}
        for name in self.rng.sample(sorted(self.packages), min(4, len(self.packages))):
            package = self.packages[name]
            before[name] = package.edges, package.salt
            package.salt += 1
            self.refer(package)
        touched |= {self.add().name for _ in range(2)}
        reached = self.reached_on(PLATFORMS)
        for name, (edges, salt) in before.items():
            if name in self.known["pc"] and name not in reached:
                self.packages[name].edges, self.packages[name].salt = edges, salt
        for name in touched | set(before):
            self.save(self.packages[name])
        self.unsure |= {name for name in touched if name in self.known["pc"] and name not in reached}
        self.unsure &= set(self.packages)

    # ---------------------------------------------------------------- cooks

    def cooked(self, size_of):
        """A cook by the book has ended well. `size_of(platform, path)` is a file's size in the tree."""
        self.in_cook = {platform: self.reached_on([platform]) for platform in PLATFORMS}
        # What one platform reaches is cooked for all of them; these cookers make the same for each.
        cooked = self.reached_on(PLATFORMS)
        self.unsure -= cooked
        for name in cooked:
            path = name.removeprefix("/") + SUFFIXES[self.packages[name].extension]
            sizes = [size_of(platform, path) for platform in PLATFORMS if name in self.in_cook[platform]]
            for platform in PLATFORMS:
                self.known[platform][name] = ({edge for edge in self.packages[name].edges if edge[2] == platform}, sizes[0])

    def reached_on(self, platforms):
        reached, left = set(), list(self.maps)
        while left:
            name = left.pop()
            if name not in reached and not self.packages[name].is_never:
                reached.add(name)
                left += [target for target, kind, on in self.packages[name].edges if kind != "editor" and on in platforms]
        return reached

    # ---------------------------------------------------------------- answers

    def scope(self, is_all=False, platform=None):
        return Scope(self, is_all, platform)


class Scope:
    def __init__(self, model, is_all, platform):
        self.model, self.is_all = model, is_all
        self.platforms = [platform] if platform else PLATFORMS
        self.universe = {name for name, package in model.packages.items() if is_all or not package.is_never}
        self.edges = {name: set() for name in self.universe}
        for known in model.known.values():
            for name in self.universe & set(known):
                self.edges[name] |= {edge for edge in known[name][0] if edge[0] in self.universe}

    def is_looked_at(self, name):
        return any(name in self.model.known[platform] for platform in self.platforms)

    def not_looked_at(self):
        return sum(not self.is_looked_at(name) for name in self.universe)

    def size(self, name):
        if self.is_looked_at(name):
            return sum(self.model.known[platform][name][1] for platform in self.platforms if name in self.model.known[platform])
        return self.source_size(name)

    def source_size(self, name):
        return self.model.source_size(name)

    def targets(self, name, kinds=None, platforms=None):
        kinds = kinds or [kind for kind in KINDS if self.is_all or kind != "editor"]
        return {target for target, kind, on in self.edges[name] if kind in kinds and on in (platforms or self.platforms)}

    def reached(self, names, back=False, without=None, **along):
        step = collections.defaultdict(set)
        for name in self.universe:
            for target in self.targets(name, **along):
                step[target if back else name].add(name if back else target)
        found, left = set(), [name for name in names if name != without]
        while left:
            name = left.pop()
            if name not in found and name != without:
                found.add(name)
                left += step[name]
        return found

    def path_between(self, starts, ends, **along):
        """A shortest path; of several the one whose names come first."""
        distance = {name: 0 for name in ends}
        users = collections.defaultdict(set)
        for name in self.universe:
            for target in self.targets(name, **along):
                users[target].add(name)
        level = set(ends)
        while level and not level & starts:
            level = {user for name in level for user in users[name] if user not in distance}
            distance.update({name: max(distance.values()) + 1 for name in level})
        if not level:
            return []
        path = [min(level & starts, key=str.encode)]
        while distance[path[-1]] > 0:
            path.append(min((t for t in self.targets(path[-1], **along) if distance.get(t) == distance[path[-1]] - 1), key=str.encode))
        return path

    def retained(self, roots):
        """By trying what the roots reach without each package."""
        reached = self.reached(roots)
        sizes = {name: self.size(name) for name in self.universe}
        for name in reached:
            sizes[name] += sum(self.size(other) for other in reached - self.reached(roots, without=name) - {name})
        return sizes

    # ---------------------------------------------------------------- queries at random

    def query(self, depth=3):
        """(text, names)"""
        rng = self.model.rng
        if depth > 0 and rng.random() < 0.7:
            kind = rng.choice(["and", "or", "not", "minus", "deps", "rdeps", "closure", "paths", "path_between"])
            one, names = self.query(depth - 1)
            if kind == "not":
                return f"not ({one})", self.universe - names
            if kind in ("and", "or", "minus"):
                other, others = self.query(depth - 1)
                sign = {"and": rng.choice(["and", "&"]), "or": rng.choice(["or", "+", "|"]), "minus": "-"}[kind]
                return f"({one}) {sign} ({other})", {"and": names & others, "or": names | others, "minus": names - others}[kind]
            text, along = rng.choice([("", {}), (", kind(hard)", {"kinds": ["hard"]}), (", kind(soft, editor)", {"kinds": ["soft", "editor"]}),
                                      (", platform(pc)", {"platforms": ["pc"]})])
            if kind == "deps":
                return f"deps({one}{text})", {target for name in names for target in self.targets(name, **along)}
            if kind == "rdeps":
                return f"rdeps({one}{text})", {name for name in self.universe if self.targets(name, **along) & names}
            if kind == "closure":
                return f"closure({one}{text})", self.reached(names, **along)
            other, others = self.query(depth - 1)
            if kind == "paths":
                return f"paths({one}, {other}{text})", self.reached(names, **along) & self.reached(others, back=True, **along)
            return f"path_between({one}, {other}{text})", set(self.path_between(names, others, **along))
        leaf = rng.choice(["all", "name", "name", "path", "class", "size", "in_cook", "platform", "roots", "kind"])
        if leaf == "name":
            name = rng.choice(sorted(self.universe))
            return rng.choice([name, f'"{name}"']), {name}
        if leaf == "path":
            folder = rng.choice(FOLDERS)
            return f"path(/Game/{folder}**)", {name for name in self.universe if name.startswith("/Game/" + folder)}
        if leaf == "class":
            classes = rng.sample(["data", "copy", "command"], rng.randrange(1, 3))
            return f"class({', '.join(classes)})", {name for name in self.universe if CLASSES[self.model.packages[name].extension] in classes}
        if leaf == "size":
            low, high = sorted(rng.sample(range(400), 2))
            return f"size({low}..{high}B)", {name for name in self.universe if low <= self.size(name) <= high}
        if leaf == "kind":
            kind = rng.choice(KINDS)
            return f"kind({kind})", {target for name in self.universe for target in self.targets(name, kinds=[kind])}
        in_cook = set().union(*(self.model.in_cook[platform] for platform in self.platforms))
        sets = {"all": self.universe, "in_cook": in_cook & self.universe, "platform": set(self.model.known["pc"]) & self.universe,
                "roots": set(self.model.maps) if self.model.in_cook["pc"] else set()}
        return {"platform": "platform(pc)"}.get(leaf, leaf + "()"), sets[leaf]
