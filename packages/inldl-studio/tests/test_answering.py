"""Who is asked what, and how far answers agree."""

import pytest

from inldl_studio.answering import (
    agreement,
    by_whom,
    combined,
    divided,
    list_name,
    names_of,
    newest,
)


def test_questions_are_divided_and_some_go_to_two():
    people = names_of(" Ada, Emmy ,,Ada,  Sofia  K ")
    assert people == ["Ada", "Emmy", "Sofia K"]
    asked = divided(5, people, 2)
    assert asked == [["Ada", "Emmy"], ["Emmy", "Sofia K"], ["Sofia K"], ["Ada"], ["Emmy"]]
    assert divided(2, [], 2) == [[], []]
    assert divided(2, ["Ada"], 2) == [["Ada"], ["Ada"]]
    with pytest.raises(ValueError, match="at most 50 people"):
        names_of(",".join(map(str, range(51))))


def test_names_become_names_of_files():
    assert list_name("Ada L.") == "Ada_L"
    assert list_name("../..") == "table"


def line(row, who, value):
    return {"row": row, "label": "a", "value": value, "who": who}


def test_the_newest_answer_of_each_person_counts():
    lines = [line(0, "Ada", 0.1), line(0, "Emmy", 0.2), line(0, "Ada", 0.3), line(1, "Ada", 0.5)]
    known = newest([*lines, line(1, "Ada", None)])
    assert known == {(0, "a"): {"Ada": 0.3, "Emmy": 0.2}}
    assert combined(known[0, "a"]) == pytest.approx(0.25)
    assert by_whom(known[0, "a"]) == "Ada, Emmy"


def test_agreement_is_counted_in_cells_and_differences():
    """By hand: .005 apart agrees within a hundredth, .05 does not; their mean is .0275."""
    lines = [line(0, "Ada", 0.1), line(0, "Emmy", 0.105), line(1, "Ada", 0.2)]
    lines += [line(1, "Emmy", 0.25), line(2, "Emmy", 0.9)]
    found = agreement(newest(lines), 1.0)
    assert found["people"] == {"Ada": 2, "Emmy": 3}
    assert (found["cells"], found["agree"], found["tolerance"]) == (2, 0.5, 0.01)
    assert found["difference"] == pytest.approx(0.0275)
    assert [(cell["row"], cell["answers"]) for cell in found["apart"]] == [
        (1, {"Ada": 0.2, "Emmy": 0.25})
    ]
    counts = agreement(newest([line(0, "Ada", 100.0), line(0, "Emmy", 104.0)]), None)
    assert counts["agree"] == 1
    assert agreement({}, 1.0)["cells"] == 0
