"""What scripts/check says of the links between documents."""
import os, tempfile, unittest

from doc_links import anchors, broken_links


class DocLinksTest(unittest.TestCase):
    def test_a_link_that_leads_nowhere_is_named_with_its_page(self):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(root + "/docs/cookers")
            for path, text in {
                    "README.md": "[a](docs/a.md), [gone](docs/b.md), [other](https://example.com/x), [a](docs/a.md#two-words)",
                    "docs/a.md": "# A\n## Two words\n[c](cookers/c.md#what-it-does) [here](#two-words) [not](#three) `[code](gone.md)`\n"
                                 "```\n# no heading\n[text](gone.md)\n```\n[up](../README.md)",
                    "docs/cookers/c.md": "# What *it* does?\n[a](../a.md#no-heading)\n![picture](pictures/p.png)"}.items():
                with open(os.path.join(root, path), "w") as file:
                    file.write(text)
            self.assertEqual(broken_links(root), [
                "README.md: docs/b.md: there is no docs/b.md",
                "docs/a.md: #three: docs/a.md has no heading #three",
                "docs/cookers/c.md: ../a.md#no-heading: docs/a.md has no heading #no-heading",
                "docs/cookers/c.md: pictures/p.png: there is no docs/cookers/pictures/p.png"])

    def test_headings_are_named_as_on_the_web(self):
        self.assertEqual(anchors("# `.reflect.cbor`\n## A level, cut\n## [Link](x.md) too\n## Twice\n## Twice\n"),
                         {"reflectcbor", "a-level-cut", "link-too", "twice", "twice-1"})


if __name__ == "__main__":
    unittest.main()
