"""Reports where two outputs of probe.py differ, except for documented differences.

compare.py REFERENCE KEYCHAIN DIFFERENCES [--part]: exits with 1 if a difference is not in the list, or, without --part,
if an entry of the list has no difference."""

import re
import sys


def answers(path):
    """By question, in order: a question may occur more than once."""
    found = {}
    for line in open(path, encoding="utf-8"):
        question, _, answer = line.rstrip("\n").partition(": ")
        found.setdefault(question, []).append(answer)
    return found


def entries(path):
    """Patterns of questions, and the heading in docs/posix-differences.md that each belongs to."""
    heading = None
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("# "):
            heading = line[2:]
        elif line:
            yield re.compile(line), heading


reference, keychain = answers(sys.argv[1]), answers(sys.argv[2])
known = list(entries(sys.argv[3]))
used, unknown = set(), 0
for question in reference.keys() | keychain.keys():
    if reference.get(question) == keychain.get(question):
        continue
    matching = {index for index, (pattern, _) in enumerate(known) if pattern.fullmatch(question)}
    used |= matching
    if not matching:
        unknown += 1
        print(f"{question}\n  wanted {reference.get(question)}\n  got    {keychain.get(question)}")
for index, (pattern, heading) in enumerate(known):
    if index not in used and "--part" not in sys.argv:
        unknown += 1
        print(f"no difference any more: {heading}: {pattern.pattern}")
print(f"answers: {sum(map(len, keychain.values()))}")
sys.exit(1 if unknown else 0)
