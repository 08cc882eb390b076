"""The measurements: samples of each case and subject, their medians, ratios to the limit, and other figures."""
from collections import defaultdict
from dataclasses import asdict, dataclass
from statistics import median

LIMIT = "limit"


@dataclass(frozen=True)
class Summary:
    """Medians over the repetitions."""
    p50: float
    p99: float
    # Calls a second, microseconds of the daemon's processor a call; None: not measured.
    rate: float | None
    processor: float | None
    repetitions: int


@dataclass(frozen=True)
class Wait:
    """How long calls of one operation took during a load, in microseconds."""
    median: float
    p95: float
    longest: float
    count: int

    @staticmethod
    def of(durations):
        ordered = sorted(durations)
        return Wait(median(ordered), ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], ordered[-1], len(ordered))


class Results:
    def __init__(self):
        # (load, operation) → one for each repetition.
        self._waits = defaultdict(list)
        self._samples = defaultdict(lambda: defaultdict(list))
        self._failures = {}
        # Figures of one kind each: (name, items) → values, with a unit in the name.
        self._figures = defaultdict(list)

    def add(self, case, subject, sample):
        """A sample of which a call failed counts for nothing: what failed may have been fast."""
        if sample.failed or not sample.count:
            self._failures[case, subject] = sample.error or "failed"
        else:
            self._samples[case][subject].append(sample)

    def add_figure(self, name, items, value):
        self._figures[name, items].append(value)

    def add_wait(self, operation, load, wait):
        self._waits[load, operation].append(wait)

    def wait(self, operation, load):
        """Medians over the repetitions, and the longest of all; None if it was not measured."""
        found = self._waits.get((load, operation))
        if not found:
            return None
        return Wait(median(wait.median for wait in found), median(wait.p95 for wait in found),
                    max(wait.longest for wait in found), sum(wait.count for wait in found))

    def loads(self):
        return list(dict.fromkeys(load for load, _ in self._waits))

    @property
    def figures(self):
        """Their medians."""
        return {key: median(values) for key, values in self._figures.items()}

    def cases(self, group=None):
        return [case for case in self._samples if group in (None, case.group)]

    def subjects(self, case):
        return list(self._samples[case]) if case in self._samples else []

    def summary(self, case, subject):
        samples = self._samples[case][subject] if subject in self.subjects(case) else []
        if not samples:
            return None
        names = ("p50", "p99", "rate", "processor")
        values = {name: _median(getattr(sample, name) for sample in samples) for name in names}
        return Summary(**values, repetitions=len(samples))

    def ratio(self, case, subject, value="p50", to=LIMIT):
        """Of the medians; None if one of both was not measured."""
        ours, theirs = self.summary(case, subject), self.summary(case, to)
        if not ours or not theirs or not getattr(theirs, value):
            return None
        return getattr(ours, value) / getattr(theirs, value)

    def failures(self):
        return [(case, subject, error) for (case, subject), error in self._failures.items()]

    def as_json(self):
        cases = [{**asdict(case), "subjects": {subject: self._subject_json(case, subject)
                                               for subject in self.subjects(case)}} for case in self.cases()]
        figures = [{"figure": name, "items": items, "value": value} for (name, items), value in self.figures.items()]
        failures = [{**asdict(case), "subject": subject, "error": error} for case, subject, error in self.failures()]
        waits = [{"load": load, "operation": operation, **asdict(self.wait(operation, load))}
                 for load, operation in self._waits]
        return {"unit": "microseconds", "cases": cases, "waits": waits, "figures": figures, "failures": failures}

    def _subject_json(self, case, subject):
        summary = asdict(self.summary(case, subject))
        ratios = {name: self.ratio(case, subject, name) for name in ("p50", "p99", "rate")}
        samples = [asdict(sample) for sample in self._samples[case][subject]]
        return {**summary, "ratioToLimit": ratios, "samples": samples}


def _median(values):
    known = [value for value in values if value is not None]
    return median(known) if known else None
