"""The bytes that every cooker makes of the sample, on the libraries that the goldens name.

GALLEY_UPDATE_GOLDENS=1 writes tests/content/sample.goldens.json anew: its difference is to be reviewed, and a cooker whose bytes changed
without a change of library needs a new revision.
"""
import hashlib, json, os, subprocess, unittest

from harness import BIN, SOURCE, E2ETest

GOLDENS = os.path.join(SOURCE, "tests/content/sample.goldens.json")


def identities():
    described = json.loads(subprocess.run([os.path.join(BIN, "galley-worker"), "describe"], stdout=subprocess.PIPE, check=True).stdout)
    return {cooker["name"]: cooker["identity"] for cooker in described["cookers"]}


def processor():
    """Opus' bytes depend on the make of the processor: docs/cookers/audio.md, Processors."""
    with open("/proc/cpuinfo") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("vendor_id")), "unknown")


def without_opus(files):
    return {platform: {path: digest for path, digest in found.items() if not path.endswith(".opus")} for platform, found in files.items()}


class GoldenTest(E2ETest):
    def cooked(self, *args):
        """platform -> path -> digest."""
        game = self.sample(f"game{len(os.listdir(self.dir))}")
        cook = self.cook(game, *args)
        return {platform: {path: hashlib.sha256(data).hexdigest() for path, data in sorted(self.tree(game, platform).items())}
                for platform in sorted(cook.roots)}

    def test_the_sample_has_the_bytes_that_were_reviewed(self):
        found = {"identities": identities(), "processor": processor(), "files": self.cooked()}
        if os.environ.get("GALLEY_UPDATE_GOLDENS"):
            with open(GOLDENS, "w") as file:
                json.dump(found, file, indent=1, sort_keys=True)
                file.write("\n")
        with open(GOLDENS) as file:
            golden = json.load(file)
        if golden["identities"] != found["identities"]:
            others = [name for name, identity in found["identities"].items() if golden["identities"].get(name) != identity]
            self.skipTest(f"other libraries or revisions than the goldens': {', '.join(others)}; update them (see the head of this file)")
        if golden["processor"] == found["processor"]:
            self.assertEqual(found["files"], golden["files"])
        else:
            self.assertEqual(without_opus(found["files"]), without_opus(golden["files"]))
            self.assertEqual({p: sorted(files) for p, files in found["files"].items()}, {p: sorted(files) for p, files in golden["files"].items()})

    def test_every_cooker_is_in_the_sample(self):
        with open(GOLDENS) as file:
            golden = json.load(file)
        suffixes = {os.path.splitext(path)[1] for files in golden["files"].values() for path in files}
        for suffix in (".ktx2", ".spv", ".essl", ".glb", ".opus", ".ogg", ".cbor", ".bin", ".baked"):
            self.assertIn(suffix, suffixes)

    def test_other_workers_and_another_order_give_the_same_bytes(self):
        self.assertEqual(self.cooked("--workers", 1), self.cooked("--workers", 3))


if __name__ == "__main__":
    unittest.main()
