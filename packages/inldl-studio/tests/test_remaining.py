"""How long work will take yet."""

import pytest

from inldl_studio.remaining import AUTO, REST, SOONEST, TimeLeft


def told(text, detail="", share=None):
    return {"text": text, "detail": detail, "share": share, "step": 1, "steps": 5}


@pytest.mark.parametrize("speed", [0.2, 1.0, 3.0])
def test_one_total_that_counts_down_on_slow_and_fast_machines(speed):
    """A table on which the parts compare as measured: from the first long one on, it is right."""
    clock, now = TimeLeft("complete"), 0.0
    total = speed * sum(time for *_, time in [*AUTO, *REST])
    for at, (text, words, time) in enumerate([*AUTO, *REST]):
        for part in (0.0, 0.5, 0.9):
            seconds = now + part * time * speed
            clock.hear(
                told(text, f"{words} 7", part if words == "filling in rows" else None), seconds
            )
            left = clock.left(seconds)
            if seconds < SOONEST:
                assert left is None
            elif at > 2:
                assert left == pytest.approx(total - seconds, rel=0.15, abs=0.15 * speed * time)
        now += time * speed


def test_a_part_that_takes_longer_does_not_count_below_nothing():
    clock = TimeLeft("complete", "ridge")
    clock.hear(told("Learning with ridge"), 0.3)
    assert clock.left(60) > 300  # twelve times as long as on the machine that was measured
    clock.hear(told("Drawing the report"), 100)
    assert 0 < clock.left(200) < 200


def test_the_clock_of_other_work_starts_with_its_first_report():
    clock = TimeLeft("predict")
    clock.hear(told("Predicting", "compiling"), 0)
    assert clock.left(10) is None
    clock.hear(told("Predicting", "rows", 0.2), 10)
    clock.hear(told("Predicting", "rows", 0.6), 14)
    assert clock.left(14) == pytest.approx(4)
