"""The bytes that every cooker makes of the sample, on the libraries that the goldens name.

tests/content/sample.goldens.json: `identities` by cooker; `files` (platform -> path -> digest) but for Opus, whose bytes depend on the make
of the processor (docs/cookers/audio.md, Processors): those are `opus`, make -> platform -> path -> digest.

GALLEY_UPDATE_GOLDENS=1 writes them anew, those of other makes of processors stay unless the audio cooker is another one: the difference is
to be reviewed, and a cooker whose bytes changed without a change of library needs a new revision.
"""
import hashlib, json, os, subprocess, unittest

from harness import BIN, SOURCE, E2ETest

GOLDENS = os.path.join(SOURCE, "tests/content/sample.goldens.json")
COOKERS = {".ktx2": "texture", ".spv": "shader", ".essl": "shader", ".msl": "shader", ".reflect.cbor": "shader", ".glb": "mesh", ".opus": "audio",
           ".ogg": "audio", ".cbor": "data", ".bin": "copy", ".baked": "command"}


def identities():
    described = json.loads(subprocess.run([os.path.join(BIN, "galley-worker"), "describe"], stdout=subprocess.PIPE, check=True).stdout)
    return {cooker["name"]: cooker["identity"] for cooker in described["cookers"]}


def processor():
    with open("/proc/cpuinfo") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("vendor_id")), "unknown")


def cooker_of(path):
    return COOKERS[".reflect.cbor" if path.endswith(".reflect.cbor") else os.path.splitext(path)[1]]


def chosen(files, is_wanted):
    return {platform: {path: digest for path, digest in found.items() if is_wanted(path)} for platform, found in files.items()}


def is_opus(path):
    return path.endswith(".opus")


def load_goldens():
    with open(GOLDENS) as file:
        return json.load(file)


def updated(golden, found_identities, make, files):
    same_audio = golden["identities"].get("audio") == found_identities["audio"]
    return {"identities": found_identities, "files": chosen(files, lambda path: not is_opus(path)),
            "opus": {**(golden["opus"] if same_audio else {}), make: chosen(files, is_opus)}}


def compare(golden, found_identities, make, files):
    """(pairs that must be equal, what could not be compared and why)."""
    others = [name for name, identity in sorted(found_identities.items()) if golden["identities"].get(name) != identity]
    skipped = [f"{name}: other libraries or another revision" for name in others]
    def is_wanted(path):
        return not is_opus(path) and cooker_of(path) not in others
    pairs = [(chosen(files, is_wanted), chosen(golden["files"], is_wanted))]
    if "audio" not in others and make in golden["opus"]:
        pairs.append((chosen(files, is_opus), golden["opus"][make]))
    elif "audio" not in others:
        one = next(iter(golden["opus"].values()))
        pairs.append(tuple({platform: sorted(found) for platform, found in each.items()} for each in (chosen(files, is_opus), one)))
        skipped.append(f"Opus: no goldens of {make}, so their names alone")
    return pairs, skipped


class GoldenTest(E2ETest):
    def cooked(self, *args):
        """platform -> path -> digest."""
        game = self.sample(f"game{len(os.listdir(self.dir))}")
        cook = self.cook(game, *args)
        return {platform: {path: hashlib.sha256(data).hexdigest() for path, data in sorted(self.tree(game, platform).items())}
                for platform in sorted(cook.roots)}

    def test_the_sample_has_the_bytes_that_were_reviewed(self):
        files = self.cooked()
        if os.environ.get("GALLEY_UPDATE_GOLDENS"):
            golden = updated(load_goldens(), identities(), processor(), files)
            with open(GOLDENS, "w") as file:
                json.dump(golden, file, indent=1, sort_keys=True)
                file.write("\n")
        pairs, skipped = compare(load_goldens(), identities(), processor(), files)
        for found, wanted in pairs:
            self.assertEqual(found, wanted)
        if skipped:
            self.skipTest(f"all others are as they were; not compared: {'; '.join(skipped)} (see the head of this file)")

    def test_a_cooker_of_other_libraries_does_not_hide_the_others(self):
        golden = {"identities": {"texture": "1", "mesh": "1", "audio": "1"}, "files": {"pc": {"a.ktx2": "x", "b.glb": "y", "c.ogg": "z"}},
                  "opus": {"Intel": {"pc": {"d.opus": "i"}}}}
        files = {"pc": {"a.ktx2": "x", "b.glb": "other", "c.ogg": "z", "d.opus": "i"}}
        both = ({"pc": {"a.ktx2": "x", "c.ogg": "z"}},) * 2
        opus = ({"pc": {"d.opus": "i"}},) * 2
        self.assertEqual(compare(golden, {**golden["identities"], "mesh": "2"}, "Intel", files),
                         ([both, opus], ["mesh: other libraries or another revision"]))
        self.assertEqual(compare(golden, {**golden["identities"], "mesh": "2"}, "AMD", files)[1],
                         ["mesh: other libraries or another revision", "Opus: no goldens of AMD, so their names alone"])
        (found, wanted), _ = compare(golden, golden["identities"], "Intel", files)[0]
        self.assertNotEqual(found, wanted)
        self.assertEqual(set(updated(golden, golden["identities"], "AMD", files)["opus"]), {"Intel", "AMD"})
        self.assertEqual(set(updated(golden, {**golden["identities"], "audio": "2"}, "AMD", files)["opus"]), {"AMD"})

    def test_every_cooker_is_in_the_sample(self):
        golden = load_goldens()
        suffixes = {os.path.splitext(path)[1] for by_platform in (golden["files"], *golden["opus"].values()) for files in by_platform.values() for path in files}
        for suffix in (".ktx2", ".spv", ".essl", ".glb", ".opus", ".ogg", ".cbor", ".bin", ".baked"):
            self.assertIn(suffix, suffixes)

    def test_other_workers_and_another_order_give_the_same_bytes(self):
        self.assertEqual(self.cooked("--workers", 1), self.cooked("--workers", 3))


if __name__ == "__main__":
    unittest.main()
