"""Two changes side by side, of which one is wrong at first, and a lesson for the next time."""

import json

from repositories.project import FILES

from perdure.testing.models import calls, news_in

LESSON = "A product of numbers is not their sum: test it with numbers of which that shows."
GOAL = {"goal": "Multiply numbers in the calculator"}
CASE = (
    "import unittest\n\nfrom calc import multiply\n\n\nclass Product(unittest.TestCase):\n"
    "    def test_product(self):\n        self.assertEqual(multiply(2, 3), 6)\n"
)
RIGHT = f"{FILES['calc.py']}\n\ndef multiply(a, b):\n    return a * b\n"
WRONG = RIGHT.replace("a * b", "a + b")
CHANGES = [
    {"title": "Multiply", "why": "Somebody asks for it.", "task": "Add multiply to calc.py", "files": ["calc.py"]},
    {"title": "Test products", "why": "It is new.", "task": "Test multiply", "files": ["test_product.py"]},
]
PLANNED = {"summary": "Multiply two numbers", "changes": CHANGES}


def remembered(request):
    """Somebody who passes on what was found, and nothing else."""
    found = json.loads(news_in(request.remarks))["found"]
    return f"Earlier runs say: {' '.join(each['text'] for each in found) or 'nothing'}"


SCRIPT = {
    "Tests fail after a change": {"cause": "it adds", "mend": "multiply instead", "lesson": LESSON},
    "Mend what the tests have found": [calls("files.write", path="calc.py", text=RIGHT), "It multiplies now."],
    "What have earlier runs learned": [calls("memory.search", query="multiply numbers calculator"), remembered],
    "Divide this goal": PLANNED,
    "Add multiply to calc.py": [calls("files.write", path="calc.py", text=WRONG), "It is there."],
    "Test multiply": [calls("files.write", path="test_product.py", text=CASE), "It is tested."],
}
