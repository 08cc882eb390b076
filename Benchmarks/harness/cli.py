"""The command line of scripts/benchmark."""
import argparse
import dataclasses
import datetime
import json
import os
import subprocess
import sys

from . import peers, pictures, report, stores, workloads
from .bench import FULL, QUICK, Bench
from .build import ROOT, build
from .machine import Machine, output
from .meter import announce
from .scratch import BenchmarkError, Interrupted, Scratch

USAGE = """Compares keychainfs with the limit, a file system in memory on the same libfuse, and with every installed peer:
gocryptfs, securefs, encfs, cryfs, pass, age, secret-tool (`scripts/install benchmark`).
Builds a release, and creates temporary keychains in a separate directory, which is deleted at the end. The subjects
alternate in each repetition. The report contains medians over the repetitions and their ratios to the limit.

As root it also drops the caches, for first reads. On a busy machine the results are useless."""


def numbers(text):
    values = tuple(int(word.replace("_", "")) for word in text.split(","))
    if not values or min(values) < 1:
        raise argparse.ArgumentTypeError("numbers from 1, separated by commas")
    return values


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/benchmark", description=USAGE, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"{', '.join(workloads.GROUPS)}; default: all")
    parser.add_argument("--list", action="store_true", help="prints the groups and the installed peers")
    parser.add_argument("--quick", action="store_true", help="a few minutes: few items and repetitions")
    parser.add_argument("--n", type=numbers, metavar="N,…", help="numbers of items")
    parser.add_argument("--growth-n", type=numbers, metavar="N,…", help="numbers of items for the group growth; default: as --n")
    parser.add_argument("--peer-n", type=int, metavar="N", default=1000,
                        help="the maximum number of items for peers (1000), because filling them takes long")
    parser.add_argument("--reps", type=int, metavar="R", help="repetitions")
    parser.add_argument("--calls", type=int, metavar="C", help="calls of one repetition")
    parser.add_argument("--subjects", metavar="NAME,…",
                        help="subjects besides keychainfs and the limit; default: the peers, and limit-polling, "
                             "the limit with a loop that polls; limit-single: with libfuse's loop of one thread")
    parser.add_argument("--json", metavar="FILE", help="writes all samples")
    parser.add_argument("--output", metavar="DIR", help="writes the table (benchmark.md) and the pictures (SVG)")
    parser.add_argument("--scratch", metavar="DIR", default="/var/tmp", help="the disk to measure on (/var/tmp)")
    parser.add_argument("--no-build", action="store_true", help="uses the last release build")
    parser.add_argument("--self-test", action="store_true", help="tests tables, pictures and arithmetic")
    options = parser.parse_args(arguments)
    for group in options.groups:
        if group not in workloads.GROUPS:
            parser.error(f"unknown group {group}; --list prints the groups")
    if min(options.reps or 1, options.calls or 1) < 1:
        parser.error("too few repetitions or calls")
    return options


def scale_of(options):
    scale = QUICK if options.quick else FULL
    if options.n:
        scale = dataclasses.replace(scale, items=options.n, growth=options.n)
    if options.growth_n:
        scale = dataclasses.replace(scale, growth=options.growth_n)
    scale = dataclasses.replace(scale, peer_items=options.peer_n)
    if options.reps:
        scale = dataclasses.replace(scale, repetitions=options.reps)
    return dataclasses.replace(scale, calls=options.calls) if options.calls else scale


def print_groups():
    for name, group in workloads.GROUPS.items():
        print(f"{name:10}{group.__doc__}")
    print("installed:", ", ".join(installed()))


def installed():
    return [peer.name for peer in (*peers.installed(), *stores.installed_stores())]


def report_omissions(machine):
    """The omitted measurements, one line each."""
    missing = [peer.name for peer in (*peers.PEERS, *stores.STORES) if peer.name not in installed()]
    if missing:
        announce(f"benchmark: not installed, left out: {', '.join(missing)}")
    if not machine.can_drop_caches:
        announce("benchmark: without root caches cannot be dropped: cold reads and look-ups are left out")
    if machine.load > 0.2 * len(machine.processors):
        announce(f"benchmark: the machine is busy (load {machine.load:.1f}); so will the figures be")
    if not machine.other:
        announce("benchmark: one processor: daemon and client always share it")


def describe(machine, scale):
    commit = output("git", "-C", ROOT, "rev-parse", "--short", "HEAD")
    return {**machine.describe(), "commit": commit, "date": datetime.datetime.now(datetime.timezone.utc).isoformat(),
            "scale": dataclasses.asdict(scale)}


def write_files(options, results, description):
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": description, **results.as_json()}, file, indent=1, ensure_ascii=False)
    if options.output:
        os.makedirs(options.output, exist_ok=True)
        files = {"benchmark.md": report.markdown(results, description), **pictures.pictures(results)}
        for name, text in files.items():
            with open(os.path.join(options.output, name), "w") as file:
                file.write(text)


def measure(options, machine, scratch):
    scale = scale_of(options)
    description = describe(machine, scale)
    programs = build(scratch, skip_release=options.no_build)
    wanted = frozenset(options.subjects.split(",")) if options.subjects else frozenset()
    bench = Bench(machine, scratch, programs, scale, wanted)
    for name in options.groups or workloads.GROUPS:
        announce(f"== {name}")
        workloads.GROUPS[name](bench)
    return bench.results, description


def self_test():
    top = os.path.join(ROOT, "Benchmarks")
    discover = ["unittest", "discover", "-q", "-s", os.path.join(top, "harness"), "-t", top]
    return subprocess.run([sys.executable, "-B", "-m", *discover]).returncode


def main(arguments):
    options = parse(arguments)
    if options.self_test:
        return self_test()
    if options.list:
        print_groups()
        return 0
    machine = Machine()
    report_omissions(machine)
    try:
        with Scratch(options.scratch) as scratch:
            results, description = measure(options, machine, scratch)
    except (BenchmarkError, OSError) as error:
        announce(f"benchmark: {error}")
        return 1
    except Interrupted as signal_name:
        announce(f"benchmark: ended by {signal_name}")
        return 130
    print(report.text_tables(results))
    print("\n".join(report.goal_lines(results)))
    write_files(options, results, description)
    return 0
