"""Prints what the package takes and refuses of values: of every kind and form, and at the edge of what they may be.

``python tools/lapwingd_verdicts.py > crates/lapwingd/tests/same/values.json``; a test holds that file against this, and
lapwingd is held against the file: both must take, and refuse, the same. Each kind and form stands at one key that has
it; which key has which the table of the model says (``tools/lapwingd_model.py``).
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from lapwing.config import load
from lapwing.errors import ConfigError

Verdicts = dict[str, dict[str, list[str]]]
_HOSTS = (
    '"tcp://127.0.0.1:1883"', '"127.0.0.1:1883"', '"tcp://127.0.0.1"', '"tcp://127.0.0.1:"', '"tcp://:1883"',
    '"tcp://127.0.0.1:65536"', '"tcp://127.0.0.1:+1"', '"tcp://127.0.0.1:0"', '"tcp://127.0.0.1:0001"',
    '"tcp://127.0.0.1:1/"', '"tcp://127.0.0.1:1/x"', '"TCP://127.0.0.1:1"', '"tcp://[::1]:1"', '"tcp://::1:1"',
    '"tcp://[::1]"', '"tcp://[::1]x:1"', '"tcp://[::1%lo]:1"', '"tcp://[127.0.0.1]:1"', '"tcp://LOCALHOST:1"',
    '"tcp://a b:1"', '"tcp://localhost:1#a"', '"tcp://localhost:1?a"', '"tcp://u@localhost:1"', '" tcp://localhost:1"',
    '"tcp://localhost:1\\n"', '"mqtt://localhost:1"', '"mqtt://localhost"', '"ws://localhost:1/mqtt"',
    '"ws://localhost:1#a"', '"ws://localhost"', '"sn://127.0.0.1:1"', '"sn://127.0.0.1"', '"mqtt-sn://[::1]:1"',
    '"udp://127.0.0.1:1"', '"unix:///run/x.sock"', '"unix://x.sock"', '"unix:///run/"', '"://"', '""', "1", "{}",
)  # fmt: skip
_URLS = (
    '"https://a.example/x"', '"http://127.0.0.1/x"', '"a.example"', '"ftp://a.example"', '"https://u:p@a.example/"',
    '"https://a.example/#b"', '"https://a.example/a b"', '"https://a.example:0/"', '"https://a.example:65536/"',
    '"https://a.example:/"', '"https://a.example:x/"', '"https://:1/"', '"https:///x"', '"https://[::1]/"',
    '"https://[x]/"', '"https://a..b/"', '"https://a.example/\\n"', '"http://a.example/"', "1",
)  # fmt: skip
_SN = '[[listeners]]\nurl = "sn://127.0.0.1:0"\n%s'
_WEB = '[[listeners]]\nurl = "ws://127.0.0.1:0"\n%s'
_TCP = '[[listeners]]\nurl = "tcp://127.0.0.1:0"\n%s'
_TLS = '[[listeners]]\nurl = "tls://127.0.0.1:0"\ncertificate = "c"\nkey = "k"\n%s'
_RULE = '[[rules]]\nidentity = "a"\n%s'
VALUES: dict[str, tuple[str, ...]] = {
    "[broker]\nshards = %s": (
        "1", "1.0", "-0.0", "1.5", "1e1", "17", "-1", "true", "[1]", "nan", '"1"', '" 1 "', '"+1"', '"1_0"', '"1__0"',
        '"1.0"', '"1."', '"1.5"', '"0x1"', '""', '"off"', "1979-05-27", "9223372036854775808",
    ),
    "[limits]\nretained_messages_max = %s": ("0", "9223372036854775807", "9223372036854775808", "4294967296.0", "-1"),
    "[broker]\npin = %s": (
        "true", "0", "1", "2", "1.0", "0.5", '"true"', '"T"', '"y"', '"No"', '"off"', '" true"', '""', "[]",
    ),
    "[limits]\nqueue_bytes_max = %s": (
        "8388608", "8388608.0", '"64MiB"', '"64 MiB"', '" 64MiB "', '"64M"', '"64mib"', '"1.5GiB"', '".5MiB"', '"-1B"',
        '"8388607TiB"', '"8388608TiB"', '"\u0661GiB"', "true", "-1",
    ),
    "[events]\nqueue_bytes = %s": ('"0.5B"', '"0.6B"', '"1B"', "0"),
    "[auth]\nfailures_bar = %s": (
        '"0.5ms"', '"0.6ms"', '"1h30m"', '"1h 30m"', '"1h30"', '"30"', "30", '"1w"', '"\u0661s"',
        '"9223372036854775807ms"', '"106751991167d"',
    ),
    "[sys]\ninterval = %s": ("0", "0.0", '"0"', '" 0 "', '" 1s "', '"0s"', '"1.5s"', "false", '"86400001ms"'),
    "[auth.jwt]\nleeway = %s\nalgorithms = ['RS256']\njwks_url = 'https://a.example'": (
        '"1s"', '"1.5s"', '"1500ms"', '"0.5ms"', '"1h"', '"3601s"',
    ),
    "[groups.g]\nparameters = %s": (
        "{window = 3}", "{window = 1.5}", '{window = "3"}', '{window = "1_0"}', "{window = true}", "{window = 0}",
        "{window = nan}", "{windw = 3}", "{}", "[]",
    ),
    "[broker]\ndata = %s": ('"x"', '""', '"a\\u0000b"', "1", "[]"),
    "[broker]\nlisten = %s": (*_HOSTS, "[]", '["tcp://127.0.0.1:1"]', '["127.0.0.1:1"]'),
    "[[listeners]]\nurl = %s": _HOSTS,
    "[broker]\nhttp = %s": (
        '"127.0.0.1:8080"', '"http://127.0.0.1:8080/"', '"https://127.0.0.1:8080"', '"http://http://127.0.0.1:1"',
        '"127.0.0.1"', '":8080"', '"[::1]:1"', '"::1:1"', '"LOCALHOST:1"', '"127.1:1"', '"127.0.0.1:+1"',
        '"127.0.0.1:1#"', '"127.0.0.1:1/x"', '"off"', '""', "1",
    ),
    "[auth.jwt]\nalgorithms = ['RS256']\njwks_url = %s": _URLS,
    "[auth.http]\nurl = %s": _URLS,
    _WEB % "origins = [%s]": (
        '"https://a.example"', '"a.example"', '"https://a.example/"', '"https://a.example:8443"', '"https://"', '"://x"',
        '"https://u@x"', '"https://a b"', '"1a://x"', '"*"', '"null"', '"NULL"', '"**"', '""', '"\u212attp://x"', "1",
    ),
    _WEB % "hosts = [%s]": (
        '"a.example"', '"A.example"', '"*"', '"*.example"', '"https://x"', '"x:1"', '"[::1]"', '"::1"', '"a..b"',
        '"a."', '"a b"', '"\u00e4"', '"a_b"', '""',
    ),
    _WEB % "path = %s": ('"/mqtt"', '"mqtt"', '"/"', '"/a b"', '"/a?b"', '"/a#b"', '"/a\\n"', '""'),
    _TCP % "proxy_protocol_from = [%s]": (
        '"10.0.0.0/8"', '"10.0.0.0/33"', '"10.0.0.0/+8"', '"10.0.0.0/08"', '"10.0.0.0/"', '"::1"', '"::/129"', '"x"',
        '"[::1]"',
    ),
    '[[listeners]]\nurl = "unix:///run/x.sock"\nmode = %s': (
        '"0660"', '"660"', '"00660"', '"+660"', '"1777"', '"888"', "660", '""',
    ),
    _SN % "advertise_to = %s": (
        '"239.1.1.1:1884"', '"[ff02::1]:1884"', '"[ff02::1%1]:1884"', '"[ff02::1%lo]:1884"', '"239.1.1.1"',
        '"localhost:1"', '"239.1.1.1:+1"', '"239.1.1.1:65536"',
    ),
    _TCP % "%s": (
        "retry = '10s'", "retry = '1s'", "predefined = []", "gateway_id = 1", "gateway_id = 2",
        "client_certificate = 'none'", "origins = []", "origins = ['*']", "behind_proxy = false",
    ),
    _TLS % "%s": (
        "client_ca = 'a'", "client_ca = 'a'\nclient_certificate = 'required'", "client_certificate = 'required'",
        "crl = 'l'", "identity = 'certificate-cn'",
    ),
    "[topics.%s]\n": ('"x"', '"a/#"'),
    "[topics.%s]\ndurability = 'memory'": ('"x"', '""', '"a#"', '"+/a"', '"a+"', '"$share/g/a"', '"$SYS/#"'),
    "[streams.%s]\nfilter = 'a'": (
        '"a"', '"-a"', '"_a"', '".a"', '""', '"a/b"', '"\u00e4"', '"a*"', '"%s"' % ("a" * 65),
    ),
    "[groups.%s]": ('"a"', '"a-*"', '""', '"a/b"', '"a b"', '"\\u200b"', '"\\u00a0"', '"\\ue000"', '"a\\n"'),
    "[hold.%s]": ('"a/#"', '""', '"a#"', '"$SYS/#"'),
    _RULE % "may = ['stream']\nstreams = [%s]": ('"a"', '"*"', '"a*"', '""', '"%u"', '"a/b"', '"a b"'),
    _RULE % "may = ['publish']\ntopics = [%s]": ('"a/%c"', '"%x"', '"a#"', '""', '"$share/g/a"'),
    "[auth.http]\n%s": ("", "timeout = '2s'", "timeout = '1s'", "plain = true", "ca = 'x'", "names = 'a'"),
    "[auth.jwt]\n%s": (
        "", "leeway = '10s'", "leeway = '30s'", "issuer = 'x'", "audience = ['a']", "name_claim = 'sub'",
    ),
    "bridge = %s": ("{}", '"off"', "1"),
    "[hooks]\nuse = %s": ('"off"', '""'),
}  # fmt: skip
"""Texts with a value in the place of ``%s``, and the values."""


def verdicts() -> Verdicts:
    """Of each text the values that the package takes, and those that it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "lapwing.toml")
        return {text: _of_one(text, values, file) for text, values in VALUES.items()}


def _of_one(text: str, values: tuple[str, ...], file: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"taken": [], "refused": []}
    for value in values:
        file.write_text(text.replace("%s", value), encoding="utf-8")
        try:
            load(file, environment={})
        except ConfigError:
            found["refused"].append(value)
        else:
            found["taken"].append(value)
    return found


def text() -> str:
    """The file: a line for what is taken of a text, and one for what is refused."""
    return json.dumps(verdicts(), indent=1, ensure_ascii=True).replace("\n   ", " ").replace("\n  ]", " ]") + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
