"""Which pictures are drawn of the results: name of the file → SVG."""
from . import plot
from .machine import PLACES
from .report import COLD


def pictures(results):
    drawn = {"reads.svg": reads(results), "threads.svg": threads(results), "names.svg": names(results),
             "writes.svg": writes(results), "writers.svg": writers(results), "growth.svg": growth(results),
             "footprint.svg": footprint(results), "commands.svg": commands(results)}
    return {name: svg for name, svg in drawn.items() if svg}


def medians(results, case, unit=1):
    """Of each subject; what was too short to see is left out, for the axes are logarithmic."""
    values = {subject: results.summary(case, subject).p50 / unit for subject in results.subjects(case)}
    return {subject: value for subject, value in values.items() if value > 0}


def by_case(results, cases, name_of, title, x_label):
    groups = {name_of(case): medians(results, case) for case in cases}
    groups = {name: group for name, group in groups.items() if group}
    return plot.bars(title, x_label, "median, µs", groups) if groups else None


def fewest(cases):
    """The cases with the fewest items: there every peer was measured."""
    least = min((case.items for case in cases), default=0)
    return [case for case in cases if case.items == least]


def reads(results):
    cases = fewest([case for case in results.cases("reads") if case.size == 32 and case.threads == 1 and not case.cold
                    and case.placement != "free"])
    return by_case(results, cases, lambda case: f"{case.operation}, {PLACES[case.placement]}",
                   "Reading one secret of 32 bytes", "operation, and where the daemon runs")


def names(results):
    cases = fewest([case for case in results.cases("names") if case.placement == "same" and not case.cold])
    return by_case(results, cases, lambda case: case.operation, "Names and attributes, one processor", "operation")


def writes(results):
    cases = [case for case in results.cases("writes") if case.placement == "same"]
    return by_case(results, cases, lambda case: case.operation, "One writer, one processor", "operation")


def by_threads(results, group, operation, title, x_label, y_label):
    series = {}
    for case in results.cases(group):
        if case.operation == operation and case.placement == "free" and case.size == 32 and not case.cold:
            for subject in results.subjects(case):
                series.setdefault((subject, case.items), []).append((case.threads, results.summary(case, subject).rate))
    if not series:
        return None
    least = min(items for _, items in series)
    of_least = {name: points for (name, items), points in series.items() if items == least}
    return plot.lines(title, x_label, y_label, of_least)


def threads(results):
    return by_threads(results, "reads", "read", "Reads by several threads", "threads", "reads a second")


def writers(results):
    return by_threads(results, "writes", "create", "Durable creates by several writers", "writers", "creates a second")


def growth(results):
    series = {}
    for case in results.cases("growth"):
        value = medians(results, case).get("keychainfs")
        if value:
            name = f"{case.operation}, {COLD[case.cold]}" if case.cold else case.operation
            series.setdefault(name, []).append((case.items, value))
    return plot.lines("Time as the keychain grows", "items", "median, µs", series) if series else None


def footprint(results):
    series = {}
    for (name, items), value in results.figures.items():
        if name in ("disk, bytes an item", "memory after use, MiB", "add without a mount, µs an item") and value > 0:
            series.setdefault(name, []).append((items, value))
    title = "Disk and memory as the keychain grows"
    return plot.lines(title, "items", "as the legend says", series) if series else None


def commands(results):
    groups = {case.operation: medians(results, case, 1000) for case in results.cases("commands")}
    groups = {name: group for name, group in groups.items() if group}
    return plot.bars("Whole commands", "what is printed", "median, ms", groups) if groups else None
