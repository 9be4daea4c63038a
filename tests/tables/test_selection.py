"""Which columns are labels, features and ids, as a user names them."""

import pytest

from inldl.tables import TableFile, read_table

TEXT = "county,tmp_1,tmp_2,age,total,a,b\nk,1,2,30,1,0.25,0.75\nl,3,4,40,1,0.5,\n"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize(
    ("options", "features"),
    [
        ({}, ["county", "tmp_1", "tmp_2", "age", "total"]),
        ({"ignore": "tmp_*,total"}, ["county", "age"]),
        ({"id": "county"}, ["tmp_1", "tmp_2", "age", "total"]),
        ({"features": "age,tmp_?"}, ["age", "tmp_1", "tmp_2"]),
        ({"features": "*", "id": ["county"], "ignore": "re:t.*"}, ["age"]),
    ],
)
def test_features_are_chosen(path, options, features):
    file = TableFile(path, "a,b", **options)
    assert (file.labels, file.features) == (["a", "b"], features)
    assert list(file.read().features) == features


def test_ids_are_remembered(path):
    assert TableFile(path, "a,b", id="county").ids == ["county"]
    assert TableFile(path, "a,b").ids == []


@pytest.mark.parametrize("others", [{"ignore": "*"}, {"ignore": ["b"]}, {"id": "b"}])
def test_a_label_that_is_named_cannot_be_ignored(path, others):
    with pytest.raises(ValueError, match=r"The column '[ab]' is named as a label and also as an"):
        TableFile(path, "a,b", **others)


def test_a_label_of_a_long_table_can_be_ignored(tmp_path):
    path = tmp_path / "long.csv"
    rows = [f"{i},{party},{i + 1}" for i in range(4) for party in ("red", "blue", "none")]
    path.write_text("\n".join(["id,party,votes", *rows]) + "\n")
    file = TableFile(path, None, long="id=id,label=party,value=votes", ignore="none")
    assert file.labels == ["red", "blue"]


def test_a_pattern_of_labels_leaves_out_what_is_ignored(path):
    file = TableFile(path, "re:total|a|b", ignore="total")
    assert file.labels == ["a", "b"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ignore": "Age"}, r"No columns found for 'Age' \(did you mean 'age'\?\); the columns"),
        ({"features": "agee"}, r"No feature columns found for 'agee' \(did you mean 'age'"),
        ({"id": "key"}, "No id columns found for 'key'"),
        ({"features": "age,a"}, "'a' is named as a feature and also as a label"),
        ({"features": ["age"], "id": "age"}, "'age' is named as a feature and also as a label"),
    ],
)
def test_wrong_names_are_refused(path, options, words):
    with pytest.raises(ValueError, match=words):
        read_table(path, "a,b", **options)
