"""The promises of the contract, and which of them a test carries."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The number of the last promise of each kind: T1 to T6, F1 to F10, ...
LAST = {"T": 6, "F": 10, "X": 5, "L": 6, "S": 8, "H": 6}
# Promises of commands: some numbers are not used.
COMMANDS = [1, 2, 3, 4, 5, 6, 8, 13, 14, 16, 17, 18, 19, 20, 21]
ALL = [f"{letter}{number}" for letter, last in LAST.items() for number in range(1, last + 1)] + [f"E{n}" for n in COMMANDS]


def named(text):
    """The promises that a text names: 'F1-F3, S4' is F1, F2, F3 and S4."""
    found = set()
    for letter, first, last in re.findall(r"\b([A-Z])(\d+)\b(?:[-–][A-Z]?(\d+)\b)?", text):
        found |= {f"{letter}{number}" for number in range(int(first), int(last or first) + 1)}
    return found & set(ALL)


def of_title(title):
    """A test or suite carries the promises before the colon of its title: 'F1, F5: …'."""
    return named(title.split(":")[0]) if ":" in title else set()


def of_case(name):
    """A case carries the promise before the hyphen of its file name: 'F5-rename'."""
    return named(name.split("-")[0])


def in_sources():
    """The promises that at least one test in the repository carries."""
    found = set()
    for path in (ROOT / "Tests").rglob("*.swift"):
        for title in re.findall(r'@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"', path.read_text(encoding="utf-8")):
            found |= of_title(title)
    for path in (ROOT / "Tests" / "MountTests" / "Cases").glob("*.sh"):
        found |= of_case(path.stem)
    return found
