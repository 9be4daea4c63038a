"""Groups of options as dataclasses: how one is stated, and what is read from it."""

import re
from dataclasses import Field, dataclass, field, fields
from inspect import cleandoc
from types import NoneType
from typing import Any, Self, dataclass_transform, get_args


def option(default: Any, help: str, **more: Any) -> Any:
    """Return a field with a default, a help text with an example, and more about it.

    `flag` and `short` are its names on the command line, if they are not the name of the field;
    `panel` is the part of the help that it belongs to; `show_default`. `choices` is what it can
    be, with a title for each; `words` are names for values that are hard to type; `least` is the
    smallest number. `page` is the part of the page that has a control for it, and the title of
    that; `hint` is what the page says instead of `help`; `example` is shown in an empty control;
    `page_most` is the largest number on the page.
    """
    return field(default=default, metadata={"help": help, **more})


@dataclass_transform(frozen_default=True, kw_only_default=True)
def option_group(cls: type[Any]) -> Any:
    """Make a class a group of options; its docstring gets the help of fields that it lacks."""
    cls = dataclass(frozen=True, kw_only=True)(cls)
    text = cleandoc(cls.__doc__ or "")
    text += "" if "Parameters\n" in text else "\n\nParameters\n----------"
    for each in fields(cls):
        if each.name in cls.__annotations__ and not re.search(rf"\b{each.name}\b.* : ", text):
            kind = getattr(each.type, "__name__", each.type)
            text += f"\n{each.name} : {kind}, default={each.default!r}\n"
            text += f"    {each.metadata['help']}"
    cls.__doc__ = text
    return cls


class Options:
    """What all groups of options can do."""

    def __post_init__(self) -> None:
        """Replace words by the values that they stand for."""
        for each in fields(self):  # type: ignore[arg-type]
            value, words = getattr(self, each.name), each.metadata.get("words", {})
            if isinstance(value, str) and value in words:
                object.__setattr__(self, each.name, words[value])

    @classmethod
    def of(cls, options: "Options | None" = None, **given: Any) -> Self:
        """Return options of this group: the `given` ones, and all others as in `options`.

        These may be of another group, of which only the options of this one are taken.
        """
        names = [each.name for each in fields(cls)]  # type: ignore[arg-type]
        same = {name: getattr(options, name) for name in names if hasattr(options, name)}
        return cls(**{**same, **given})


def names(*groups: type[Options]) -> list[str]:
    """Return the names of the options of some groups."""
    return list(dict.fromkeys(each.name for group in groups for each in fields(group)))  # type: ignore[arg-type]


def flag_of(each: Field[Any]) -> str:
    """Return the name of an option on the command line."""
    return str(each.metadata.get("flag", f"--{each.name.replace('_', '-')}"))


def type_of(each: Field[Any]) -> Any:
    """Return the first type that a field can have, with None added if it can be None."""
    kinds = get_args(each.type) or (each.type,)
    return kinds[0] | None if NoneType in kinds else kinds[0]
