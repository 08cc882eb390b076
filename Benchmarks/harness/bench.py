"""What every group of measurements is given, and how subjects take turns."""
import time
from dataclasses import dataclass

from . import peers
from .keychain import Keychains
from .limit import mount_limit
from .meter import Case, Meter, announce
from .results import Results


@dataclass(frozen=True)
class Scale:
    """How much is measured."""
    items: tuple
    repetitions: int
    # Calls of one repetition.
    calls: int
    threads: tuple
    writers: tuple
    sizes: tuple
    growth: tuple
    # Beyond this many the peers are left out: filling them takes minutes, and reads would take no longer.
    peer_items: int = 1000


# After polls that did not pay keychainfs makes none for a second: one case must not decide about the next.
SETTLING_SECONDS = 1.1

QUICK = Scale(items=(1000,), repetitions=2, calls=300, threads=(2, 4), writers=(2, 8), sizes=(1024, 65536),
              growth=(1, 100, 10_000))
FULL = Scale(items=(1000, 100_000, 1_000_000), repetitions=5, calls=2000, threads=(2, 4, 8, 16), writers=(2, 8, 32),
             sizes=(1024, 4096, 16384, 65536), growth=(1, 1000, 100_000, 1_000_000))


class Bench:
    def __init__(self, machine, scratch, programs, scale, wanted):
        self.machine = machine
        self.scratch = scratch
        self.programs = programs
        self.scale = scale
        self.meter = Meter(scratch, programs)
        self.results = Results()
        self.keychains = Keychains(self)
        self._wanted = wanted

    def wants(self, name):
        """Whether a subject was selected; without a selection all are."""
        return not self._wanted or name in self._wanted

    def mount_subjects(self, items, with_peers=True):
        """keychainfs, the limit, and the peers if there are few items; all mounted at the same time, so that they can
        alternate."""
        subjects = [self.keychains.mount(items)]
        if self.keychains.has_spin() and self.wants("keychainfs --no-spin"):
            subjects.append(self.keychains.mount(items, spin=False))
        subjects.append(mount_limit(self, items))
        if with_peers and self.wants("limit-polling"):
            subjects.append(mount_limit(self, items, "polling"))
        if "limit-single" in self._wanted:
            subjects.append(mount_limit(self, items, "single"))
        if with_peers and items <= self.scale.peer_items:
            subjects += [peers.mount_peer(self, peer, items) for peer in peers.installed() if self.wants(peer.name)]
        return subjects

    def unmount(self, subjects):
        for subject in subjects:
            if subject.daemon:
                self.scratch.end(subject.daemon)

    def placement(self, name):
        return {"same": self.machine.same, "other": self.machine.other, "free": self.machine.free}[name]

    def placements(self):
        return [placement.name for placement in self.machine.placements]

    def take_cold_turns(self, subjects, group, operation, items, places):
        """As root only. Each file is read only once, so the number of calls is at most that of items."""
        if self.machine.can_drop_caches:
            cases = [Case(group, operation, items, place, cold=cold) for cold in ("names", "all") for place in places]
            self.take_turns(subjects, cases, min(items, 500))

    def take_turns(self, subjects, cases, calls=None):
        """Each repetition measures each case of each subject; who begins changes. What drifts, drifts for all."""
        for repetition in range(self.scale.repetitions):
            for case in sorted(cases, key=lambda case: case.placement):
                able = [subject for subject in subjects if case.operation not in subject.lacks]
                first = repetition % len(able)
                for subject in able[first:] + able[:first]:
                    if case.cold == "names":
                        subject.read_store()
                    if subject.may_pause and case.placement != "same":
                        time.sleep(SETTLING_SECONDS)
                    sample = self.meter.measure(
                        subject, case, self.calls_of(case, calls), self.placement(case.placement), repetition + 3)
                    self.results.add(case, subject.name, sample)
            announce(f"  {cases[0].group}, {cases[0].items:,} items: {repetition + 1} of {self.scale.repetitions}")

    def calls_of(self, case, calls):
        """Of one repetition. A listing is a call: of many entries few are enough."""
        if case.operation in ("list", "list-long"):
            return max(1, min(20, 200_000 // case.items))
        return (calls or self.scale.calls) * min(case.threads, 4)
