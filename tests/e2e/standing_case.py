"""What tests of standings share: a project whose packages look at many things, and what a cook told."""
import json

from harness import E2ETest, ResidentTest

DATA = 'match = "/Game/**/*.json"\ncooker = "data"'
TOOL = 'match = "/Game/**/*.run"\ncooker = "command"\nsettings = { argv = ["tools/run", "{input}", "{output:.out}", "{result}"], outputs = [".out"] }'
LISTED = '[farm]\nenv = ["WHO"]\n'
# Observes an environment variable, a glob and a file that may be absent.
RUN = """#!/bin/sh
here=$(dirname "$1")
cat "$1" > "$2"
echo "$WHO" >> "$2"
ls "$here" | grep '[.]part$' >> "$2"
cat "$here/maybe" >> "$2" 2>/dev/null
cat > "$3" <<X
{"observations": [{"kind": "env", "name": "WHO"}, {"kind": "glob", "path": "$here", "pattern": "*.part"}, {"kind": "file", "path": "$here/maybe"}]}
X
"""


class StandingCase(ResidentTest):
    def events(self, cook):
        return [json.loads(line) for line in cook.stdout.splitlines()]

    def stands(self, cook):
        """Whether the cook was answered from what stands. Then no package is told by itself."""
        events = self.events(cook)
        stands = [e for e in events if e["event"] == "stands" and not e["rest"]]
        if stands:
            self.assertEqual([e for e in events if e["event"] == "done"], [])
            self.assertEqual(cook.results["up_to_date"], stands[0]["results"])
        return bool(stands)

    def look(self, game, *args, expect=0, **kw):
        return E2ETest.cook(self, game, "--json", *args, expect=expect, **kw)

    def check_same(self, one, other):
        """Two cooks that came to the same, whatever was cooked for it."""
        self.assertEqual(one.code, other.code, (one, other))
        self.assertEqual(one.roots, other.roots, (one, other))
        self.assertEqual(self.told(one), self.told(other), (one, other))
        for name in ("in_cook", "failed", "skipped"):
            self.assertEqual(one.summary["packages"][name], other.summary["packages"][name], (name, one, other))

    def told(self, cook):
        def key(entries):
            return sorted(tuple(e.get(k, "").replace("/clean/", "/game/").removesuffix("; the last good tree stays") for k in ("package", "platform", "stage", "error", "text")) for e in entries)
        return key(cook.failures), key(cook.summary["warnings"])
