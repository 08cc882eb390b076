"""Arithmetic, tables and pictures, of samples that are made up."""
import unittest
import xml.dom.minidom

from harness import pictures, plot, report
from harness.goals import goals
from harness.meter import Case, Sample
from harness.results import Results, Wait

READ = Case("reads", "read", 1000, "other")


def sample(p50, p99=None, rate=1000.0, processor=1.0, failed=0):
    error = "EIO" if failed else ""
    return Sample(p50=p50, p99=p99 or 2 * p50, rate=rate, processor=processor, count=10, failed=failed, error=error)


def results_of(case, **subjects):
    results = Results()
    for subject, medians in subjects.items():
        for p50 in medians:
            results.add(case, subject, sample(p50))
    return results


class ResultsTests(unittest.TestCase):
    def test_a_summary_is_the_median_of_the_repetitions(self):
        results = results_of(READ, keychainfs=[10, 90, 20])
        self.assertEqual(results.summary(READ, "keychainfs").p50, 20)
        self.assertEqual(results.summary(READ, "keychainfs").p99, 40)
        self.assertEqual(results.summary(READ, "keychainfs").repetitions, 3)

    def test_a_ratio_is_that_of_the_medians(self):
        results = results_of(READ, keychainfs=[30, 50, 40], limit=[80, 100, 120])
        self.assertAlmostEqual(results.ratio(READ, "keychainfs"), 0.4)
        self.assertIsNone(results.ratio(READ, "gocryptfs"))
        self.assertIsNone(results_of(READ, keychainfs=[1]).ratio(READ, "keychainfs"))

    def test_what_failed_is_not_measured(self):
        results = results_of(READ, limit=[10])
        results.add(READ, "encfs", sample(1, failed=1))
        self.assertIsNone(results.summary(READ, "encfs"))
        self.assertEqual(report.failure_lines(results), ["not measured: reads: read, n = 1,000, two CPUs: encfs: EIO"])

    def test_figures_are_medians(self):
        results = Results()
        for value in (3, 1, 2):
            results.add_figure("mount, ms", 1000, value)
        self.assertEqual(results.figures, {("mount, ms", 1000): 2})

    def test_a_line_of_the_meter_is_shown_in_microseconds(self):
        line = {"count": 10, "p50": 2500, "p99": 4000, "seconds": 0.5, "daemon_seconds": 0.001, "failed": 0}
        taken = Sample.of(line)
        self.assertEqual((taken.p50, taken.p99, taken.rate), (2.5, 4.0, 20.0))
        self.assertAlmostEqual(taken.processor, 100)
        self.assertIsNone(Sample.of({"count": 0, "failed": 3}).processor)


class GoalTests(unittest.TestCase):
    def test_reads_on_two_processors(self):
        met = {goal.text: goal.is_met for goal in goals(results_of(READ, keychainfs=[30], limit=[100]))}
        self.assertEqual(list(met.values()), [True, True])
        met = {goal.text: goal.is_met for goal in goals(results_of(READ, keychainfs=[31], limit=[100]))}
        self.assertEqual(list(met.values()), [False, True])

    def test_a_cold_look_up_is_compared_where_the_store_is_in_memory(self):
        found = []
        for cold in ("names", "all"):
            found += goals(results_of(Case("names", "stat", 1000, "same", cold=cold), keychainfs=[50], limit=[30]))
        self.assertEqual([(goal.measured, goal.is_met) for goal in found], [(20, True)])

    def test_writers_together_are_compared_to_one(self):
        results = Results()
        for threads, rate in ((1, 100.0), (32, 801.0)):
            results.add(Case("writes", "create", 1000, "free", threads=threads), "keychainfs", sample(10, rate=rate))
        self.assertEqual([(goal.measured, goal.is_met) for goal in goals(results)], [(8.01, True)])

    def test_memory_is_judged_at_a_million_items(self):
        results = Results()
        results.add_figure("memory after use, MiB", 1_000_000, 65)
        results.add_figure("memory after use, MiB", 1000, 65)
        self.assertEqual([goal.is_met for goal in goals(results)], [False])


class ReportTests(unittest.TestCase):
    def test_durations_have_units_that_fit(self):
        texts = [report.duration(value) for value in (0.5, 12.34, 999, 1000, 123_456, 1_000_000, 2.5e6)]
        self.assertEqual(texts, ["0.50 µs", "12.3 µs", "999 µs", "1.00 ms", "123 ms", "1.00 s", "2.50 s"])

    def test_a_table_has_a_cell_for_each_subject(self):
        results = results_of(READ, keychainfs=[30], limit=[100])
        results.add(Case("reads", "cat", 1000, "same"), "limit", sample(5))
        description = {"processor": "P", "processors": 2, "kernel": "6", "libfuse": "3", "commit": "c", "date": "d"}
        table = report.markdown(results, description)
        self.assertIn("| | keychainfs | limit |\n|---|--:|--:|\n", table)
        self.assertIn("| read, n = 1,000, two CPUs | 30.0 µs (0.30) | 100 µs |", table)
        self.assertIn("| cat, n = 1,000, one CPU |  | 5.00 µs |", table)

    def test_the_terminal_shows_all(self):
        text = report.text_tables(results_of(READ, keychainfs=[30], limit=[100]))
        self.assertRegex(text, r"keychainfs +30\.0 µs +60\.0 µs +1,000 +1\.00 µs +0\.30× +0\.30×")


class WaitTests(unittest.TestCase):
    def results(self):
        results = Results()
        for load, factor in (("idle", 1), ("60 items are written", 4), ("one item is truncated", 4)):
            results.add_wait("read", load, Wait.of([100 * factor] * 95 + [1000 * factor] * 5))
        return results

    def test_of_each_load_median_percentile_and_longest_are_shown(self):
        self.assertEqual(Wait.of([3, 1, 2]), Wait(2, 3, 3, 3))
        text = report.text_tables(self.results())
        self.assertRegex(text, r"idle +0\.10 1\.00 1\.00")
        self.assertEqual(self.results().as_json()["waits"][1]["median"], 400)

    def test_beyond_three_times_idle_a_known_cause_is_named(self):
        text = report.text_tables(self.results())
        self.assertIn("read while 60 items are written: 4.0 times idle; NOT ACCEPTED", text)
        self.assertIn("read while one item is truncated: 4.0 times idle; known: ", text)
        self.assertNotIn("while idle", text)


class PlotTests(unittest.TestCase):
    def test_axes_are_whole_decades_around_the_values(self):
        self.assertEqual(plot.decades([0.5, 20, 999]), (-1, 3))
        self.assertEqual(plot.decades([1]), (0, 1))
        self.assertAlmostEqual(plot.scale(10, (0, 2), 100, 300), 200)

    def test_bars_lie_in_the_plot(self):
        svg = xml.dom.minidom.parseString(plot.bars("A < B", "x", "y", {"one": {"a": 1, "b": 1000}, "two": {"b": 5}}))
        bars = [rect for rect in svg.getElementsByTagName("rect") if rect.getElementsByTagName("title")]
        self.assertEqual(len(bars), 3)
        for bar in bars:
            self.assertGreaterEqual(float(bar.getAttribute("x")), plot.LEFT)
            self.assertLessEqual(float(bar.getAttribute("x")) + float(bar.getAttribute("width")), plot.RIGHT)
            self.assertAlmostEqual(float(bar.getAttribute("y")) + float(bar.getAttribute("height")), plot.BOTTOM, 0)
        self.assertEqual([float(bar.getAttribute("height")) for bar in bars][:2], [0, plot.PLOT_HEIGHT])

    def test_lines_go_through_all_points(self):
        svg = xml.dom.minidom.parseString(plot.lines("T", "x", "y", {"a": [(1, 10), (100, 1)], "b": [(10, 5)]}))
        self.assertEqual(len(svg.getElementsByTagName("circle")), 3)
        points = svg.getElementsByTagName("polyline")[0].getAttribute("points").split()
        self.assertEqual(points[0], f"{plot.LEFT}.0,{plot.TOP}.0")

    def test_only_what_was_measured_is_drawn(self):
        drawn = pictures.pictures(results_of(READ, keychainfs=[30], limit=[100]))
        self.assertEqual(list(drawn), ["reads.svg"])
        xml.dom.minidom.parseString(drawn["reads.svg"])
        self.assertEqual(pictures.pictures(Results()), {})


if __name__ == "__main__":
    unittest.main()
