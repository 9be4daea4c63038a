"""Options of tables are stated once, and functions take them as a group or one by one."""

from dataclasses import fields

import pytest

from inldl.tables import TableFile, fit_table, read_table
from inldl.tables.option_groups import Options, names, option, option_group, type_of
from inldl.tables.options import (
    AskOptions,
    ColumnOptions,
    FileOptions,
    FillOptions,
    LearnOptions,
    ShareOptions,
)

GROUPS = (ColumnOptions, LearnOptions, FillOptions, AskOptions)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "survey.csv"
    file.write_text("age;yes;no\n31;0,25;0,75\n58;0,5;\n40;0,1;0,9\n")
    return file


def test_a_group_and_keywords_read_the_same(path):
    group = ColumnOptions(delimiter=";", decimal=",", ignore="age")
    by_group = read_table(path, "yes,no", group)
    by_name = read_table(path, "yes,no", delimiter=";", decimal=",", ignore="age")
    assert by_group.y.tolist()[0] == by_name.y.tolist()[0] == [0.25, 0.75]
    assert list(by_group.features) == list(by_name.features) == []
    both = TableFile(path, "yes,no", group, ignore=None)
    assert both.features == ["age"]
    assert both.options.decimal == ","


def test_a_group_of_fewer_options_is_enough(path):
    file = TableFile(path, None, FileOptions(decimal=","))
    assert file.options == ColumnOptions(decimal=",")


def test_an_option_that_a_function_does_not_have_is_refused(path):
    with pytest.raises(TypeError, match="colour"):
        TableFile(path, "yes,no", colour="red")
    with pytest.raises(TypeError, match="decimal"):
        fit_table(TableFile(path, "yes,no"), "winldl", decimal=",")


def test_words_stand_for_signs_that_are_hard_to_type():
    assert FileOptions(delimiter="tab", thousands="space") == FileOptions(
        delimiter="\t", thousands=" "
    )
    assert FileOptions(thousands="none").thousands == ""
    assert FileOptions().thousands is None


def test_options_of_another_group_are_taken_where_they_are_the_same():
    learning = LearnOptions(scale="percent", votes=True, weight="w")
    assert ShareOptions.of(learning, weight=None) == ShareOptions(scale="percent")


@pytest.mark.parametrize("group", GROUPS)
def test_each_option_is_documented_and_has_a_type(group):
    text = "".join(each.__doc__ for each in group.__mro__ if issubclass(each, Options))
    for each in fields(group):
        assert each.name in text
        assert type_of(each) in (str, int, float, bool) or type(None) in type_of(each).__args__
        assert each.metadata["help"].endswith((".", ","))
    assert len(names(*GROUPS)) == len({*names(*GROUPS)})


def test_a_new_option_is_documented_by_its_help():
    @option_group
    class Louder(FillOptions):
        """How a completed table is written, and how loudly."""

        loud: bool = option(False, "Say it loudly.")

    assert Louder.__doc__.endswith("loud : bool, default=False\n    Say it loudly.")
    assert Louder.of(FillOptions(filled_columns=True), loud=True) == Louder(
        filled_columns=True, loud=True
    )
