"""Would a page that lies be noticed?"""

import sys
import tempfile
import unittest
from pathlib import Path

import compare
from blocks import FILE, NOT_RUN, BadPage, blocks
from run import run

sys.path.insert(0, str(Path(__file__).parents[2] / "docs/_guide"))
import check  # noqa: E402

PAGE = Path("page.md")


def kinds(text: str) -> list[str]:
    return [block.kind for block in blocks(PAGE, text)]


class Blocks(unittest.TestCase):
    def test_what_is_to_be_done_is_in_the_info_string(self):
        text = "```sh\na\n```\n- in a list\n\n  ```text output\n  b\n  ```\n\n<!-- sh server\nc\n-->\n\n<!-- postgres -->\n"
        self.assertEqual(kinds(text), ["sh", "text output", "sh server", "postgres"])
        self.assertEqual([block.text for block in blocks(PAGE, text)], ["a\n", "b\n", "c\n", ""])
        self.assertEqual([block.line for block in blocks(PAGE, text)], [1, 6, 10, 14])

    def test_what_is_not_run_has_a_reason(self):
        (block,) = blocks(PAGE, "```ini not-run: needs systemd\n[Unit]\n```\n")
        self.assertEqual((block.kind, block.detail), (NOT_RUN, "needs systemd"))
        with self.assertRaisesRegex(BadPage, "without a reason"):
            kinds("```sh not-run:\na\n```\n")

    def test_what_is_a_file_has_a_name_and_no_path(self):
        (block,) = blocks(PAGE, "```python file: shop.py\nprint(1)\n```\n")
        self.assertEqual((block.kind, block.detail, block.text), (FILE, "shop.py", "print(1)\n"))
        with self.assertRaisesRegex(BadPage, "no name for a file"):
            kinds("```python file: ../shop.py\na\n```\n")

    def test_no_block_slips_through(self):
        for text, complaint in [
            ("```\na\n```\n", "page.md:1: the block has no language"),
            ("text\n\n```perl\na\n```\n", "page.md:3: nobody knows how to test `perl`"),
            ("```sh\na\n", "page.md:1: the block does not end"),
        ]:
            with self.assertRaisesRegex(BadPage, complaint):
                kinds(text)


class Comparisons(unittest.TestCase):
    def test_dots_stand_for_anything_and_nothing_else_does(self):
        self.assertTrue(compare.same_text("took … s\n…\nend\n", "took 3 s\nmore\nand more\nend\n"))
        self.assertTrue(compare.same_text("…\nend\n", "end\n"))
        self.assertFalse(compare.same_text("took … s\n", "took 3 ms\n"))
        self.assertFalse(compare.same_text("a\n", "a\nb\n"))
        self.assertFalse(compare.same_text("a.c\n", "abc\n"))

    def test_json_is_compared_as_values(self):
        same = compare.same_json
        self.assertTrue(same('{"a": 1, "b": ["x…", "…"]}', '{"b":["xyz",2,3],"a":1}'))
        self.assertTrue(same('["…", {"a": 2, "…": "…"}, "…"]', '[{"a":1},{"a":2,"b":3}]'))
        self.assertFalse(same('{"a": 1}', '{"a":1,"b":2}'))
        self.assertFalse(same('{"a": 1, "…": "…"}', '{"b":2}'))
        self.assertFalse(same("[1]", "[1, 2]"))
        self.assertFalse(same("1", "true"))
        self.assertFalse(same("1", "no JSON"))


class Runs(unittest.TestCase):
    """With a stand-in of the service where only the terminal matters."""

    def check(self, text: str):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(text)
            run(Path("/nonexistent/shopkeeper"), page)

    def test_variables_and_files_last_for_the_page(self):
        self.check("```c file: b.c\nint\n```\n\n```sh\ncat b.c\n```\n\n```text output\nint\n```\n")
        self.check("```sh\nexport A=1 && echo 2 >b\n```\n\n```sh\necho $A; cat b\n```\n\n```text output\n1\n2\n```\n")

    def test_a_failure_is_reported_with_its_place(self):
        for text, complaint in [
            ("```sh\ntrue\n```\n\n```sh\necho oh; false\necho no\n```\n", "page.md:5: exit code 1\noh\n\n"),
            ("```sh\nfalse | true\n```\n", "page.md:1: exit code"),
            ("```sh\necho $NOT_SET\n```\n", "page.md:1: exit code"),
            ("```sh\necho 1\n```\n\n```text output\n2\n```\n", "page.md:5: this was printed instead:\n1\n"),
            ("```json output\n{}\n```\n", "page.md:1: no commands come before"),
            ("```json\n{,}\n```\n", "page.md:1: this is no JSON"),
            ("```toml\na = 1\n```\n", "page.md:1: exit code"),
            ("```sh server\nfalse\n```\n", "page.md:1: the server has ended"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(BadPage, complaint):
                self.check(text)


class Guide(unittest.TestCase):
    def faults(self, body: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "a.html").write_text(body)
            (root / "b.html").write_text('<h1 id="here">B</h1>')
            return [fault.rpartition("a.html: ")[2] for fault in check.faults(root)]

    def test_links_lead_somewhere(self):
        self.assertEqual(self.faults('<a href="b.html#here">b</a> <a href="https://example.com">e</a>'), [])
        self.assertEqual(self.faults('<a href="c.html">c</a>'), ["c.html leads nowhere"])
        self.assertEqual(self.faults('<a href="b.html#there">b</a>'), ["b.html#there has no such anchor"])
        self.assertEqual(self.faults('<img src="b.png">'), ["b.png leads nowhere"])

    def test_nothing_is_loaded_from_elsewhere(self):
        for body in [
            '<script src="https://x.example/a.js"></script>',
            '<link rel="stylesheet" href="//x.example/a.css">',
            '<style>@import "https://x.example/a.css";</style>',
            '<p style="background: url(https://x.example/a.png)">',
        ]:
            (fault,) = self.faults(body)
            self.assertIn("from another host", fault)


if __name__ == "__main__":
    unittest.main()
