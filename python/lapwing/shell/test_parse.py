"""What each line means, and what is said of a line that means nothing."""

from __future__ import annotations

import pytest

from lapwing.client import Will
from lapwing.errors import ConfigError
from lapwing.shell.parse import parse
from lapwing.shell.verb import Command, Verb
from lapwing.shell.verbs import (
    VERBS,
    Connect,
    Disconnect,
    Help,
    ListClients,
    Publish,
    Quit,
    Subscribe,
    Unsubscribe,
    Use,
    Wait,
)

MEANINGS: list[tuple[str, Command | None]] = [
    ("", None),
    ("   ", None),
    ("# a comment with 'one quote", None),
    ("connect d1", Connect("d1")),
    ("connect 'd 1' -u tcp://h:1 -V 4 --resume", Connect("d 1", url="tcp://h:1", version=4, resume=True)),
    (
        "connect d1 --session-expiry 4294967295 --keep-alive 0 --receive-maximum 1 --username u --password p",
        Connect("d1", None, None, False, 4_294_967_295, 0, 1, "u", "p"),
    ),
    (
        "connect d1 --will-topic a/b --will-message bye --will-qos 2 --will-retain --will-delay 3",
        Connect("d1", will=Will("a/b", b"bye", 2, True, 3)),
    ),
    ("connect d1 --will-topic a", Connect("d1", will=Will("a", b""))),
    ("disconnect", Disconnect()),
    ("disconnect d1 --forget", Disconnect("d1", forget=True)),
    ("disconnect --forget --abort d1", Disconnect("d1", forget=True, abort=True)),
    ("disconnect --with-will", Disconnect(with_will=True)),
    ("sub #", Subscribe(("#",))),
    ("sub a/# +/b $share/g/+ -q 2", Subscribe(("a/#", "+/b", "$share/g/+"), 2)),
    ("sub a --no-local --retain-as-published --id d2", Subscribe(("a",), 0, True, True, client_id="d2")),
    (
        "sub a --retain-handling 0 --subscription-id 268435455",
        Subscribe(("a",), retain_handling=0, subscription_id=268_435_455),
    ),
    ("unsub a/# b --id d2", Unsubscribe(("a/#", "b"), "d2")),
    ("pub a b", Publish("a", "b")),
    ("pub a ''", Publish("a", "")),
    ("pub a -", Publish("a", "-")),
    ("pub a -- -5", Publish("a", "-5")),
    ("pub -q 1 a b", Publish("a", "b", 1)),
    ("pub a 'two words' --qos=2 -r", Publish("a", "two words", 2, True)),
    ("pub a b -p x=1 --property x=2=3 -p y=", Publish("a", "b", properties=(("x", "1"), ("x", "2=3"), ("y", "")))),
    (
        "pub a b --content-type t --response-topic c --correlation-data 7 --expiry 0 --id d2",
        Publish("a", "b", 0, False, (), "t", "c", "7", 0, "d2"),
    ),
    ("""pub a '{"x": [1, 2]}'""", Publish("a", '{"x": [1, 2]}')),
    ("pub a gr\u00fcn\\ und", Publish("a", "gr\u00fcn und")),
    ("pub a b -q 2 --packet-id 65535", Publish("a", "b", 2, packet_id=65_535)),
    ("disconnect d1 --expiry 0", Disconnect("d1", expiry_s=0)),
    (
        "connect d1 --ca ca.pem --cert c.pem --key c.key --username u --password-file p",
        Connect("d1", username="u", password_file="p", ca="ca.pem", certificate="c.pem", key="c.key"),
    ),
    ("use d1", Use("d1")),
    ("clients", ListClients()),
    ("wait", Wait(1, 10.0)),
    ("wait 5 -t 0.5", Wait(5, 0.5)),
    ("help", Help()),
    ("help pub", Help("pub")),
    ("quit", Quit()),
    ("  exit  ", Quit()),
]

MISTAKES = [
    ("pubb a b", "no verb 'pubb': did you mean pub?"),
    ("xyzzy", "no verb 'xyzzy': help lists the verbs"),
    ("pub a 'b", "no closing quotation (pub a 'b): close the quote"),
    ("pub a b\\", "no escaped character (pub a b\\): write \\\\ for a backslash"),
    ("pub a", "pub needs MESSAGE: write pub TOPIC MESSAGE [options], as: pub lamps/kitchen on --retain"),
    ("pub a b c", "pub takes no more words: 'c': write pub TOPIC MESSAGE [options]; quote what has spaces"),
    ("sub", "sub needs TOPIC...: write sub TOPIC... [options], as: sub lamps/#"),
    ("connect", "connect needs ID: write connect ID [options], as: connect d1"),
    ("clients d1", "clients takes no more words: 'd1': write clients; quote what has spaces"),
    ("pub a b --retian", "pub has no option '--retian': did you mean --retain?"),
    ("pub a -5", "pub has no option '-5': see help pub; -- goes before a word that begins with a dash"),
    ("pub a b --qos", "--qos needs a value: write --qos 0|1|2"),
    ("pub a b --qos 3", "--qos '3': give a whole number from 0 to 2"),
    ("pub a b --qos 1_0", "--qos '1_0': give a whole number from 0 to 2"),
    ("pub a b -q 1 --qos 2", "--qos is given twice: give it once"),
    ("pub a b --retain=yes", "--retain takes no value: write --retain alone"),
    ("pub a b -p floor", "--property 'floor' is not NAME=VALUE: write --property floor=3"),
    ("pub a b --expiry 4294967296", "--expiry '4294967296': give a whole number from 0 to 4294967295"),
    ("pub a b --packet-id 1", "--packet-id at QoS 0: a message has a packet id at --qos 1 and 2 only"),
    ("pub a b --packet-id 0", "--packet-id '0': give a whole number from 1 to 65535"),
    ("sub a --retain-handling 3", "--retain-handling '3': give a whole number from 0 to 2"),
    ("sub a --subscription-id 0", "--subscription-id '0': give a whole number from 1 to 268435455"),
    ("disconnect --expiry -1", "--expiry '-1': give a whole number from 0 to 4294967295"),
    ("disconnect --expiry 5 --abort", "--expiry and --abort: give one: an abort says nothing to the broker"),
    ("disconnect --expiry 5 --forget", "--expiry and --forget: give one: a forgotten session has no time left"),
    ("pub a/+ b", "'a/+' is not a topic name: it has a wildcard, which only a filter may have"),
    ("pub '' b", "'' is not a topic name: it is empty"),
    ("pub a b --response-topic x/#", "'x/#' is not a topic name: it has a wildcard, which only a filter may have"),
    ("sub ''", "'' is not a topic filter: it is empty"),
    ("sub a/#/b", "'a/#/b' is not a topic filter: # must be the whole last level, as in a/#"),
    ("sub a#", "'a#' is not a topic filter: # must be the whole last level, as in a/#"),
    ("unsub a/b+/c", "'a/b+/c' is not a topic filter: + must be a whole level, as in a/+/b"),
    ("connect ''", "ID is empty: a client in the shell has a name: connect d1"),
    ("connect d1 -V 3", "--version '3': give a whole number from 4 to 5"),
    (
        "connect d1 -V 4 --session-expiry 5",
        "MQTT 3.1.1 has no --session-expiry: leave it out, or connect with --version 5",
    ),
    ("connect d1 --password p --password-file f", "--password and --password-file: give one"),
    ("connect d1 --will-qos 1", "--will-qos without --will-topic: say where the will goes"),
    ("connect d1 --receive-maximum 0", "--receive-maximum '0': give a whole number from 1 to 65535"),
    ("disconnect --with-will --abort", "--with-will and --abort: give one: the will goes out either way"),
    ("wait 0", "N '0': give a whole number from 1 to 1000000000"),
    ("wait -t soon", "--timeout 'soon' is no number of seconds: write --timeout 2.5"),
    ("wait -t nan", "--timeout 'nan' is no number of seconds: write --timeout 2.5"),
]


@pytest.mark.parametrize(("line", "command"), MEANINGS)
def test_meaning(line: str, command: Command | None) -> None:
    assert parse(line) == command


@pytest.mark.parametrize(("line", "message"), MISTAKES)
def test_mistake(line: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(line)
    assert str(caught.value) == message


def test_password_is_not_shown() -> None:
    assert "secret" not in repr(parse("connect d1 --password secret"))


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_examples(verb: Verb) -> None:
    """Is every example of the help a line that this version takes, and one of that verb?"""
    assert verb.examples
    for example in verb.examples:
        assert type(parse(example)) is type(parse(verb.examples[0]))
        assert example.split()[0] == verb.name
