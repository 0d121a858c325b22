"""Prints what ``lapwingd`` knows of the configuration: every key of the one model, what it takes, and where it goes.

``python tools/lapwingd_model.py > crates/lapwingd/src/configuration/model.json``; a test holds that file against this.

With a configuration file as its argument it prints what a node is started with: ``crates/lapwingd/tests/same`` holds
lapwingd against that.

Nothing of it is written down twice. What a key takes is read off the model; whether "off" is none, and one text a list
of one, pydantic is asked; where a value goes in the node's configuration is seen by changing it and looking.
"""

from __future__ import annotations

import json
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import AfterValidator, BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from lapwing.auth.users_file import BYTES_MAX, HEAD, LAST_LINE
from lapwing.config import Config, load, node_json
from lapwing.config.limit_pair import Pair
from lapwing.config.limit_pairs import PAIRS
from lapwing.config.limit_tables import TABLE_PAIRS
from lapwing.config.limit_topics import TOPIC_PLACES
from lapwing.config.listeners import ListenerConfig, node_table
from lapwing.config.profiles import PROFILES
from lapwing.config.units import Unit

Document = dict[str, Any]
_TEXTS = ("tcp://127.0.0.1:1", "x")
_PACKAGE = ("bridge", "cluster")
"""Sections that no node of `lapwingd` has to do with; what is in them only ``lapwing`` knows."""
_BY_HAND = {"auth": ("users", "jwt", "http")}
"""What is read of files on its way to the node: ``crates/lapwingd/src/access`` does it, and a test compares the two."""


def model() -> Document:
    """All sections, the profiles, what is asked of a file of users, and which limits are held against each other."""
    base = Config()
    sections = {name: _section(name, base) for name in Config.model_fields if name not in _PACKAGE}
    package = {name: {"kind": "package"} for name in _PACKAGE}
    return {
        "sections": {**sections, **package},
        "profiles": PROFILES,
        "users_head": HEAD.rstrip("\n"),
        "users_last_line": LAST_LINE,
        "users_bytes_max": BYTES_MAX,
        "limit_pairs": [_row(pair) for pair in (*PAIRS, *TABLE_PAIRS) if not _is_of_package(pair)],
        "topic_places": [_row(place) for place in TOPIC_PLACES],
    }


def _is_of_package(pair: Pair) -> bool:
    return pair.key.partition(".")[0] in _PACKAGE


def _row(row: Any) -> Any:
    """A named tuple, and those in it, without what is as it is by default."""
    if hasattr(row, "_field_defaults"):
        fields = row._asdict().items()
        return {name: _row(value) for name, value in fields if row._field_defaults.get(name, ...) != value}
    return [_row(value) for value in row] if isinstance(row, tuple) else row


def _section(name: str, base: Config) -> Document:
    section = getattr(base, name)
    if not isinstance(section, BaseModel):
        return _key(Config.model_fields[name], base, lambda changed: json.loads(node_json(changed)), name)

    def node(changed: BaseModel) -> Document:
        document: Document = json.loads(node_json(base.model_copy(update={name: changed})))
        return document

    return {"kind": "table", "keys": _keys(section, node, _BY_HAND.get(name, ()))}


def _keys(table: BaseModel, node: Callable[[Any], Document], by_hand: Iterable[str] = ()) -> Document:
    """The keys of ``table``; ``node`` has such a table as the node does."""
    fields = type(table).model_fields
    return {name: _key(field, table, None if name in by_hand else node, name) for name, field in fields.items()}


def _key(field: FieldInfo, table: BaseModel, node: Callable[[Any], Document] | None, name: str) -> Document:
    key = _kind(field.annotation, field.metadata)
    if key["kind"] == "table":
        return {**key, "keys": _keys(getattr(table, name), lambda _changed: {}, ())}
    if field.is_required():
        key["required"] = True
    else:
        key["default"] = _plain(field.get_default(call_default_factory=True))
    if node is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of values that no such field has
            before, after = node(table), node(table.model_copy(update={name: _other(getattr(table, name), key)}))
        if (route := _difference(before, after)) is not None:
            key["to"] = route
    return key


def _difference(one: Any, other: Any) -> list[str] | None:
    """Where two documents differ; None: nowhere."""
    if one == other:
        return None
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return []
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    assert len(names) == 1, f"one key goes to several: {names}"
    (name,) = names
    # A table that is empty is what the key itself is, and not one of the node's own.
    below = _difference(one[name], other[name]) if one.get(name) else None
    return [name, *(below or [])]


def _other(value: object, key: Document) -> object:
    """Something else than ``value``, of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    if isinstance(value, Path):
        return value / "x"
    if isinstance(value, list):
        return [*value, _entry(key)]
    if isinstance(value, dict):
        return {**value, "x": _entry(key)}
    if key["kind"] in ("size", "ms", "s", "whole"):
        return 7
    return {"flag": True, "list": ["x"], "path": Path("x")}.get(key["kind"], "x")


def _entry(key: Document) -> object:
    """One entry for a list or a table of names."""
    entry = key.get("model")
    return "x" if entry is None else _example(entry)


def _example(entry: type[BaseModel]) -> BaseModel:
    needed: Document = {name: "x" for name, field in entry.model_fields.items() if field.is_required()}
    return entry.model_construct(**needed)


def _kind(annotation: Any, metadata: Iterable[Any]) -> Document:
    """What a value of this type is written as."""
    marks = list(metadata)
    whole = Annotated[annotation, *marks] if marks else annotation
    while get_origin(annotation) is Annotated:
        annotation, *inner = get_args(annotation)
        marks = [*inner, *marks]
    if get_origin(annotation) in (Union, types.UnionType):
        parts = [part for part in get_args(annotation) if part is not type(None)]
        found = _kind(parts[0], marks)
        return {**found, "off": True} if _is_taken(whole, "off", None) else found
    return _base(annotation, marks, whole)


def _base(annotation: Any, marks: list[Any], whole: Any) -> Document:
    unit = next((mark for mark in marks if isinstance(mark, Unit)), None)
    if unit is not None:
        return {"kind": "size" if unit.kind == "bytes" else unit.kind, **_bounds(marks)}
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return {"kind": "choice", "of": list(parts)}
    if origin is list:
        one = any(_is_taken(whole, text, list) for text in _TEXTS)
        of = _of(parts[0])
        return {"kind": "list", "of": of, **({"one": True} if one else {}), **_bounds(marks), **_model(parts[0])}
    if origin is dict:
        names = {"names": list(get_args(parts[0]))} if get_origin(parts[0]) is Literal else {}
        form = _form(getattr(parts[0], "__metadata__", ()), "name_form")
        return {"kind": "named", "of": _of(parts[1]), **names, **form, **_bounds(marks), **_model(parts[1])}
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {"kind": "table"}
    kinds: dict[Any, str] = {bool: "flag", int: "whole", float: "number", str: "text", Path: "path"}
    return {"kind": kinds[annotation], **_bounds(marks), **_form(marks)}


def _form(marks: Iterable[Any], key: str = "form") -> Document:
    """What a text is besides: ``parse_listen_url`` is "listen_url", and lapwingd has a function for each."""
    names = [mark.func.__name__ for mark in marks if isinstance(mark, AfterValidator)]
    if not names:
        return {}
    (name,) = names
    assert name != "<lambda>", "a form has a name"
    return {key: name.lstrip("_").removeprefix("parse_")}


def _model(annotation: Any) -> Document:
    """For `_entry`; not printed."""
    return {"model": annotation} if isinstance(annotation, type) and issubclass(annotation, BaseModel) else {}


def _of(annotation: Any) -> Document:
    """One entry of a list or of a table of names."""
    if not isinstance(annotation, type) or not issubclass(annotation, BaseModel):
        return _kind(annotation, ())
    example = _example(annotation)
    if issubclass(annotation, ListenerConfig):
        example = ListenerConfig(url="sn://127.0.0.1:1")
        return {"kind": "table", "keys": _keys(example, node_table)}
    return {"kind": "table", "keys": _keys(example, lambda changed: changed.model_dump(mode="json", by_alias=True))}


_BOUNDS: dict[type, tuple[str, str]] = {
    Ge: ("least", "ge"), Le: ("most", "le"), MinLen: ("least", "min_length"), MaxLen: ("most", "max_length"),
}  # fmt: skip


def _bounds(marks: Iterable[Any]) -> Document:
    flat = [one for mark in marks for one in (mark.metadata if isinstance(mark, FieldInfo) else [mark])]
    return {_BOUNDS[type(one)][0]: getattr(one, _BOUNDS[type(one)][1]) for one in flat if type(one) in _BOUNDS}


def _is_taken(whole: Any, text: str, as_: object) -> bool:
    """Whether pydantic makes of ``text`` nothing (None), or something of that type."""
    try:
        made = TypeAdapter(whole).validate_python(text)
    except ValidationError:
        return False
    return made is None if as_ is None else type(made) is as_


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return str(value) if isinstance(value, Path) else value


def text() -> str:
    """The file: a key a line."""
    return "\n".join(_lines(_printed(model()), 0)) + "\n"


def _printed(document: Any) -> Any:
    if isinstance(document, dict):
        return {name: _printed(value) for name, value in document.items() if name != "model"}
    return [_printed(value) for value in document] if isinstance(document, list) else document


def _lines(document: Document, depth: int) -> list[str]:
    """A table of keys has a line for each; what a key takes stands in one."""
    lines, pad = ["{"], " " * depth
    for number, (name, value) in enumerate(document.items()):
        comma = "," if number + 1 < len(document) else ""
        below = _lines(value, depth + 1) if _has_keys(value) else _rows(value, pad)
        lines += [f"{pad} {json.dumps(name)}: {below[0]}", *below[1:]]
        lines[-1] += comma
    return [*lines, f"{pad}}}"]


def _rows(value: object, pad: str) -> list[str]:
    """A list of tables has a line for each; everything else stands in one."""
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return [json.dumps(value, ensure_ascii=False)]
    rows = [f"{pad}  {json.dumps(row, ensure_ascii=False)}" for row in value]
    return ["[", *(f"{row}," for row in rows[:-1]), rows[-1], f"{pad} ]"]


def _has_keys(value: object) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    return "keys" in value or "kind" not in value or _has_keys(value.get("of"))


def node_text(file: Path) -> str:
    """What a node is started with for a configuration file; the environment says nothing."""
    return json.dumps(json.loads(node_json(load(file, environment={}).config)), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(node_text(Path(sys.argv[1])) if sys.argv[1:] else text())
