"""Does a Spark of others leave ours alone, and is a Python that cannot serve named before anything starts?"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from lapwing.pipeline.errors import SparkUnusableError
from lapwing.pipeline.session import check_java, check_spark
from lapwing.pipeline.surroundings import choose_python, launch_changes, launch_environment

FOREIGN = {
    "SPARK_HOME": "/opt/spark",
    "SPARK_CONF_DIR": "/etc/spark",
    "PYSPARK_SUBMIT_ARGS": "--master yarn pyspark-shell",
    "HADOOP_CONF_DIR": "/etc/hadoop",
    "YARN_CONF_DIR": "/etc/hadoop",
    "LANG": "en_GB.UTF-8",
}


def script(folder: Path, text: str) -> str:
    path = folder / "my python"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_variables_of_another_spark_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "jars").mkdir()
    changes = launch_changes(FOREIGN, tmp_path, local=True)
    conf = changes.pop("SPARK_CONF_DIR")
    assert conf is not None
    assert not Path(conf).exists()
    left_out = ("PYSPARK_SUBMIT_ARGS", "HADOOP_CONF_DIR", "YARN_CONF_DIR")
    assert changes == {"SPARK_HOME": str(tmp_path), **dict.fromkeys(left_out)}


def test_options_of_the_jvm_are_kept_unless_they_set_spark(tmp_path: Path) -> None:
    for options, is_left_out in [("-XX:+UseSerialGC -Dhttp.proxyHost=proxy", False), ("-Dspark.master=yarn", True)]:
        changes = launch_changes({"SPARK_SUBMIT_OPTS": options}, tmp_path, local=True)
        assert ("SPARK_SUBMIT_OPTS" in changes) == is_left_out


@pytest.mark.parametrize("name", ["_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"])
def test_of_what_every_jvm_reads_only_settings_of_spark_are_left_out(tmp_path: Path, name: str) -> None:
    for options, rest in [
        ("-Dspark.master=yarn", None),
        ("-Dhttp.proxyHost=proxy -Dspark.master=spark://h:7077 -Dhadoop.x=y -Xmx1g", "-Dhttp.proxyHost=proxy -Xmx1g"),
    ]:
        assert launch_changes({name: options}, tmp_path, local=True)[name] == rest
        assert name not in launch_changes({name: options}, tmp_path, local=False)
    assert name not in launch_changes({name: " -Dhttp.proxyHost=proxy"}, tmp_path, local=True)


def test_on_a_cluster_its_own_settings_count(tmp_path: Path) -> None:
    """And a PySpark without jars belongs to the Spark that it lies in."""
    assert launch_changes(FOREIGN, tmp_path, local=False) == {}


@pytest.mark.parametrize("locale", [{}, {"LANG": "C"}, {"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}, {"LANG": "de_DE"}])
def test_java_names_files_in_utf_8(tmp_path: Path, locale: dict[str, str]) -> None:
    assert launch_changes(locale, tmp_path, local=False) == {"LC_ALL": "C.UTF-8"}


def test_the_environment_is_as_it_was_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in FOREIGN.items():
        monkeypatch.setenv(name, value)
    before = dict(os.environ)
    with launch_environment(local=True):
        assert os.environ["SPARK_HOME"] != "/opt/spark"
        assert not {"HADOOP_CONF_DIR", "YARN_CONF_DIR"} & set(os.environ)
    assert dict(os.environ) == before


@pytest.mark.parametrize("unset", ["", None])
def test_without_a_word_it_is_this_python(monkeypatch: pytest.MonkeyPatch, unset: str | None) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", unset or "")
    choose_python({}, local=True)
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("echo lapwing asks: 3.1", "Spark's Python is 3.1, and this is"),
        (
            f"echo hello; echo lapwing asks: {sys.version_info[0]}.{sys.version_info[1]} lapwing msgspec",
            "has no lapwing, msg",
        ),
        ("exit 0", "does not run: exit code 0, and no answer"),
        ("echo 3 11", "does not run: exit code 0, and no answer"),
        ("echo no such library >&2; exit 127", "does not run: no such library"),
    ],
)
@pytest.mark.parametrize("named", ["PYSPARK_PYTHON", "spark.pyspark.python"])
def test_a_python_that_cannot_serve_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str, named: str
) -> None:
    python = script(tmp_path, text)
    monkeypatch.setenv("PYSPARK_PYTHON", python if named == "PYSPARK_PYTHON" else sys.executable)
    conf = {} if named == "PYSPARK_PYTHON" else {named: python}
    with pytest.raises(SparkUnusableError) as caught:
        choose_python(conf, local=True)
    assert all(part in str(caught.value) for part in (problem, f"{named} = {python}", "unset it", sys.executable))
    choose_python(conf, local=False)  # on a cluster it is a path of its workers


def test_a_python_that_says_other_things_as_well_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", script(tmp_path, f'echo welcome 9; exec {sys.executable} "$@"'))
    choose_python({}, local=True)


def test_a_python_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", str(tmp_path / "none"))
    with pytest.raises(SparkUnusableError, match="cannot be started"):
        choose_python({}, local=True)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("__version__ = '3.5.1'", "pyspark = 3.5.1, needed is"),
        (
            "raise TypeError('code() argument 13 must be str')",
            "PySpark cannot be imported: code() argument 13 must be str",
        ),
    ],
)
def test_a_spark_of_others_is_named_with_its_place_and_pythonpath(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    """pip would install beside it, and change nothing."""
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark" / "__init__.py").write_text(text)
    monkeypatch.delitem(sys.modules, "pyspark")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", f"/other:{tmp_path}")
    with pytest.raises(SparkUnusableError) as caught:
        check_spark()
    assert f"({tmp_path}/pyspark)" in str(caught.value)
    assert f"{problem}" in str(caught.value)
    assert f"take {tmp_path} out of PYTHONPATH" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("echo 'openjdk version \"11.0.2\"' >&2", "java 11 is too old"),
        ("echo 'openjdk version \"1.8.0_292\"' >&2", "java 8 is too old"),
        ("echo Unrecognized option: -Xwrong >&2; exit 1", "does not start: Unrecognized option: -Xwrong"),
        ("echo unknown", "of unknown version"),
    ],
)
def test_a_java_that_cannot_serve_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text(f"#!/bin/sh\n{text}\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkUnusableError) as caught:
        check_java()
    assert problem in str(caught.value)
    assert str(java) in str(caught.value)
