"""The goals, compared with the measurements. A goal without a measurement is not reported."""
from dataclasses import dataclass

from .machine import PLACES
from .meter import Case

OURS, LIMIT, DISK = "keychainfs", "limit", "disk"


@dataclass(frozen=True)
class Goal:
    text: str
    measured: float
    # At most, or at least.
    bound: float
    at_least: bool = False
    unit: str = "×"

    @property
    def is_met(self):
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound


def goals(results):
    found = [goal for case in results.cases() for goal in goals_of(results, case)]
    return found + goals_of_writers(results) + goals_of_figures(results)


def ratio(results, case, value, text, bound, at_least=False):
    measured = results.ratio(case, OURS, value)
    return [] if measured is None else [Goal(text, measured, bound, at_least)]


def goals_of(results, case):
    where = f"{case.items:,} items"
    if case.group == "reads" and case.operation == "read" and case.size == 32 and not case.cold:
        if case.placement == "other":
            return (ratio(results, case, "p50", f"read, {where}, two processors: of the limit", 0.30)
                    + ratio(results, case, "p99", f"read, {where}, two processors: p99 of the limit's", 1.25))
        if case.placement == "same":
            return (ratio(results, case, "p50", f"read, {where}, one processor: of the limit", 1.00)
                    + ratio(results, case, "p99", f"read, {where}, one processor: p99 of the limit's", 1.25))
        if case.threads == 2:
            text = f"reads a second, {where}, 2 threads: of the limit's"
            return ratio(results, case, "rate", text, 1.0, at_least=True)
    if case.group == "names" and case.operation in ("ls -l", "list-long"):
        return ratio(results, case, "p50", f"{case.operation}, {where}: of the limit", 1.5)
    if case.group == "names" and case.operation == "stat":
        return goals_of_stat(results, case, where)
    if case.group == "start" and (ours := results.summary(case, OURS)):
        return [Goal(f"{case.operation}, {where}", ours.p50 / 1000, 10, unit=" ms")]
    return []


def goals_of_stat(results, case, where):
    ours, limit = results.summary(case, OURS), results.summary(case, LIMIT)
    if not ours or not limit:
        return []
    text = f"stat, {where}, {PLACES[case.placement]}"
    if case.cold == "all":
        return []
    if case.cold:
        return [Goal(f"cold {text}: beyond the limit", ours.p50 - limit.p50, 20, unit=" µs")]
    return [Goal(f"{text}: of the daemon's processor", ours.processor, 0.01, unit=" µs")]


def goals_of_writers(results):
    found = []
    for case in results.cases("writes"):
        if case.operation == "create" and case.threads == 1 and case.placement == "same":
            disk = results.summary(Case("writes", "append", case.items, "same"), DISK)
            limit, ours = results.summary(case, LIMIT), results.summary(case, OURS)
            if disk and limit and ours:
                text = "create, one writer: of an append with fdatasync and the limit's create"
                found.append(Goal(text, ours.p50 / (disk.p50 + limit.p50), 1.2))
        if case.operation == "create" and case.threads == 32:
            one = results.summary(Case("writes", "create", case.items, "free"), OURS)
            many = results.summary(case, OURS)
            if one and many and one.rate:
                text = "creates a second, 32 writers: of one writer's"
                found.append(Goal(text, many.rate / one.rate, 8, at_least=True))
    return found


def goals_of_figures(results):
    found = []
    for (name, items), value in results.figures.items():
        if name in ("mount, ms", "unlock, ms"):
            found.append(Goal(f"{name[:-4]} without key derivation, {items:,} items", value, 50, unit=" ms"))
        if name == "create, ms":
            found.append(Goal("create without key derivation", value, 50, unit=" ms"))
        if name == "memory after use, MiB" and items == 1_000_000:
            found.append(Goal(f"memory after use, {items:,} items", value, 64, unit=" MiB"))
    return found
