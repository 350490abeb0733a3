"""The critical path of a run: what followed one another up to its end, and when nothing can be said of it."""

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latebind.model import State
from latebind.verify.report.data import Elsewhere
from latebind.verify.report.timeline import list_timelines
from tests.verify.reports import report, row


def timed(*spans, **fields):
    """Test cases that began then and took so long."""
    return [
        row(scenario=f"s{number}", started=started, seconds=seconds, **fields)
        for number, (started, seconds) in enumerate(spans)
    ]


def trace(*spans):
    (line,) = list_timelines(report(*timed(*spans)))
    return [(result.started, result.seconds) for result in line.chain]


def test_the_path_goes_back_from_the_end_to_what_each_test_case_waited_for():
    assert trace((0.0, 2.0), (0.0, 3.0), (2.0, 4.0), (3.0, 1.0), (4.01, 9.0)) == [(0.0, 3.0), (3.0, 1.0), (4.01, 9.0)]


def test_a_pause_does_not_end_the_path():
    assert trace((0.0, 1.0), (5.0, 1.0)) == [(0.0, 1.0), (5.0, 1.0)]


def test_what_began_first_and_ended_last_is_the_whole_path():
    assert trace((0.0, 9.0), (0.0, 1.0), (1.0, 2.0)) == [(0.0, 9.0)]


@given(st.lists(st.tuples(*[st.integers(0, 500).map(lambda number: number / 100)] * 2), min_size=2, max_size=30))
def test_a_path_never_overlaps_and_reaches_the_end(spans):
    path = trace(*spans)
    assert len(path) == len({id(link) for link in path})
    assert all(first[0] + first[1] <= second[0] + 0.03 for first, second in itertools.pairwise(path))
    assert sum(path[-1]) == max(map(sum, spans))


def test_a_timeline_says_how_much_work_took_how_long():
    (line,) = list_timelines(report(*timed((0.0, 60.0), (1.0, 100.0))))
    assert line.summary == "2 test cases (2 min 40 s of work) took 1 min 41 s"
    assert line.meaning == "One test case ran until the end:"


def test_a_shortened_path_has_its_longest_in_their_order():
    (line,) = list_timelines(report(*timed((0.0, 1.0), (1.0, 5.0), (6.0, 2.0), (8.0, 4.0))))
    kept, rest = line.shorten(2)
    assert [result.seconds for result in kept] == [5.0, 4.0]
    assert rest == "2 shorter ones in between took 3.0 s together."
    assert line.shorten(4) == (list(line.chain), "")


def test_remembered_test_cases_have_no_place_in_the_run():
    assert list_timelines(report(*timed((0.0, 1.0)), row(scenario="fork", cached=True))) == []


@pytest.mark.parametrize(("ended", "machines"), [((), [1, 0]), ((Elsewhere(1, State.PASSED),), [0])])
def test_each_machine_has_its_own_and_one_whose_times_were_replaced_has_none(ended, machines):
    cases = [*timed((0.0, 1.0), (1.0, 1.0)), *timed((0.0, 5.0), (5.0, 5.0), machine=1, target="win-x64")]
    cases[0] = msgspec.structs.replace(cases[0], elsewhere=ended)
    two = report(*cases)
    two = msgspec.structs.replace(two, machines=(*two.machines, *two.machines))
    assert [line.machine for line in list_timelines(two)] == machines
