"""Tables: of everything for the terminal, and a short one in Markdown for docs/performance.md."""
from .goals import goals
from .machine import PLACES
from .results import LIMIT
from .waits import ACCEPTED, OPERATIONS, known_cause

COLD = {"names": "cold names", "all": "cold"}


def duration(microseconds):
    """With a unit that fits, three digits at most before the point."""
    for unit, factor in (("µs", 1), ("ms", 1e3)):
        if microseconds < 1000 * factor:
            return f"{number(microseconds / factor)} {unit}"
    return f"{number(microseconds / 1e6)} s"


def number(value):
    """Three digits that count."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def times(ratio):
    return "" if ratio is None else f"{ratio:.2f}×"


def label(case):
    words = [case.operation, f"n = {case.items:,}"]
    if case.size != 32:
        words.append(f"{case.size:,} B")
    if case.threads > 1:
        words.append(f"{case.threads} threads")
    if case.cold:
        words.append(COLD[case.cold])
    return ", ".join([*words, PLACES[case.placement]])


def text_tables(results):
    """A block for each case, a line in it for each subject."""
    lines = []
    for case in results.cases():
        lines += ["", f"{case.group}: {label(case)}"]
        lines.append(f"  {'':22}{'median':>11}{'p99':>11}{'a second':>11}{'daemon a call':>15}{'median':>9}{'p99':>8}")
        for subject in results.subjects(case):
            lines.append(_line(results, case, subject))
    lines += wait_lines(results)
    lines += ["", *figure_lines(results), "", *failure_lines(results)]
    return "\n".join(lines).strip() + "\n"


def _line(results, case, subject):
    summary = results.summary(case, subject)
    rate = "" if summary.rate is None else number(summary.rate)
    processor = "" if summary.processor is None else duration(summary.processor)
    ratios = [times(results.ratio(case, subject, value)) for value in ("p50", "p99")]
    return (f"  {subject:22}{duration(summary.p50):>11}{duration(summary.p99):>11}{rate:>11}"
            f"{processor:>15}{ratios[0]:>9}{ratios[1]:>8}")


def wait_lines(results):
    """A table of median and 95th percentile in milliseconds, and the values that exceed the limit."""
    if not results.loads():
        return []
    lines = ["", f"  {'load; ms: median p95 longest':42}" + "".join(f"{name:>22}" for name in OPERATIONS)]
    for load in results.loads():
        lines.append(f"  {load:42}" + "".join(f"{_wait(results.wait(name, load)):>22}" for name in OPERATIONS))
    return lines + _long_waits(results)


def _wait(wait):
    return " ".join(number(value / 1000) for value in (wait.median, wait.p95, wait.longest)) if wait else ""


def _wait_cell(wait):
    return " / ".join(number(value / 1000) for value in (wait.median, wait.p95)) if wait else ""


def _long_waits(results):
    lines = []
    for load in results.loads():
        for operation in OPERATIONS:
            wait, idle = results.wait(operation, load), results.wait(operation, "idle")
            if wait and idle and wait.median > ACCEPTED * idle.median:
                cause = known_cause(operation, load)
                note = f"known: {cause}" if cause else "NOT ACCEPTED"
                lines.append(f"  {operation} while {load}: {wait.median / idle.median:.1f} times idle; {note}")
    return lines


def figure_lines(results):
    return [f"{name + (f', n = {items:,}' if items else ''):44}{number(value):>12}"
            for (name, items), value in results.figures.items()]


def failure_lines(results):
    return [f"not measured: {case.group}: {label(case)}: {subject}: {error}"
            for case, subject, error in results.failures()]


def goal_lines(results):
    lines = []
    for goal in goals(results):
        bound = f"{'at least' if goal.at_least else 'at most'} {goal.bound:g}{goal.unit}"
        verdict = "met" if goal.is_met else "NOT MET"
        lines.append(f"{goal.text:72}{goal.measured:>9.2f}{goal.unit:4} {bound:>16}  {verdict}")
    return lines


def markdown(results, description):
    """Medians by operation and subject, with the ratio to the limit; then the goals."""
    machine = "{processor}, {processors} processors, kernel {kernel}, libfuse {libfuse}".format(**description)
    lines = [f"Measured on {machine}; medians, in brackets the ratio to the limit.", ""]
    for group in dict.fromkeys(case.group for case in results.cases()):
        lines += [f"### {group.capitalize()}", "", *_markdown_table(results, results.cases(group)), ""]
    if results.figures:
        lines += ["### Figures", "", "| figure | items | value |", "|---|--:|--:|"]
        lines += [f"| {name} | {f'{items:,}' if items else ''} | {number(value)} |"
                  for (name, items), value in results.figures.items()]
        lines.append("")
    if results.loads():
        lines += ["### Waits", "", "Median and 95th percentile during a load on a slow disk, ms.", "",
                  f"| | {' | '.join(OPERATIONS)} |", "|---" + "|--:" * len(OPERATIONS) + "|"]
        lines += [f"| {load} | {' | '.join(_wait_cell(results.wait(name, load)) for name in OPERATIONS)} |"
                  for load in results.loads()]
        lines.append("")
    found = goals(results)
    if found:
        lines += ["### Goals", "", "| goal | measured | bound | |", "|---|--:|--:|---|"]
        lines += [f"| {goal.text} | {goal.measured:.2f}{goal.unit} | {'≥' if goal.at_least else '≤'} "
                  f"{goal.bound:g}{goal.unit} | {'met' if goal.is_met else '**not met**'} |" for goal in found]
    return "\n".join(lines).rstrip() + "\n"


def _markdown_table(results, cases):
    subjects = list(dict.fromkeys(subject for case in cases for subject in results.subjects(case)))
    rows = [f"| | {' | '.join(subjects)} |", "|---" + "|--:" * len(subjects) + "|"]
    for case in cases:
        cells = [_cell(results, case, subject) for subject in subjects]
        rows.append(f"| {label(case)} | {' | '.join(cells)} |")
    return rows


def _cell(results, case, subject):
    summary = results.summary(case, subject)
    if not summary:
        return ""
    ratio = results.ratio(case, subject)
    suffix = f" ({ratio:.2f})" if ratio is not None and subject != LIMIT else ""
    return duration(summary.p50) + suffix
