"""Does bisquitt, somebody else's client in Go, get on with us: QoS -1 to 2 both ways, wills, sleep, DTLS?"""

from __future__ import annotations

from pathlib import Path

from certificates import Certificates
from go_device import QOS_MINUS_1, device
from other_device import PREDEFINED

from lapwing import Broker, Client

TIMEOUT_S = 30.0
KNOWN = ("-known", PREDEFINED)


def received(client: Client, count: int) -> list[tuple[str, bytes, int]]:
    """The next messages."""
    messages = [client.receive(TIMEOUT_S) for _ in range(count)]
    return [(m.topic, m.payload, m.qos) for m in messages if m]


def test_publish(port: int, other: Client) -> None:
    """Do its messages arrive, once: each QoS by registered, short and predefined topics, and -1 without CONNECT?"""
    other.subscribe(["up/#", "ab", PREDEFINED], qos=2)
    with device(port, "go-up", *KNOWN) as sender:
        sender.do("connect")
        sender.do("register", "up/t")
        for qos in (0, 1, 2):
            for topic in ("up/t", "ab", "#1"):
                sender.do("publish", qos, topic, qos)
        sender.do("disconnect")
    expected = [(topic, f"{qos}".encode(), qos) for qos in (0, 1, 2) for topic in ("up/t", "ab", PREDEFINED)]
    assert received(other, 9) == expected
    with device(port, "go-nobody", *KNOWN) as nobody:
        nobody.do("publish", QOS_MINUS_1, "#1", "-1")
        nobody.do("publish", QOS_MINUS_1, "ab", "-1")
    assert received(other, 2) == [(PREDEFINED, b"-1", 0), ("ab", b"-1", 0)]


def test_subscribe(port: int, other: Client) -> None:
    """Does it hear each QoS by name, short name, predefined id and wildcard, and no more afterwards?"""
    with device(port, "go-down", *KNOWN) as hearer:
        hearer.do("connect")
        for topic in ("down/t", "cd", "wild/+", "#1"):
            hearer.do("subscribe", 2, topic)
        sent = [(qos, topic) for qos in (0, 1, 2) for topic in ("down/t", "cd", "wild/1", "wild/2", PREDEFINED)]
        for number, (qos, topic) in enumerate(sent):
            other.publish(topic, f"{number:02}".encode(), qos=qos)
        assert hearer.receive(len(sent)) == [(qos, topic, f"{n:02}") for n, (qos, topic) in enumerate(sent)]
        hearer.do("unsubscribe", "down/t")
        other.publish("down/t", b"unheard", qos=1)
        other.publish("cd", b"heard", qos=1)
        assert hearer.receive(1) == [(1, "cd", "heard")]
        hearer.do("disconnect")


def test_wills(port: int, other: Client) -> None:
    """Is its will told when it is lost, and not when it says goodbye?"""
    other.subscribe("will/#", qos=1)
    with device(port, "go-polite", "-will", "will/polite=never", "-keep-alive", "1s") as polite:
        polite.do("connect")
        polite.do("disconnect")
    with device(port, "go-lost", "-will", "will/lost=gone", "-keep-alive", "1s") as lost:
        lost.do("connect")
        lost.die()
        assert received(other, 1) == [("will/lost", b"gone", 1)]


def test_sleep(port: int, other: Client) -> None:
    """Does what comes while it sleeps arrive when it awakes, or when it comes back to stay?"""
    with device(port, "go-asleep", "-kept") as sleeper:
        sleeper.do("connect")
        sleeper.do("subscribe", 2, "sleep/#")
        # It goes to sleep amid these, perhaps with a REGACK on its way.
        sleeper.begin("sleep", 3)
        for qos in (0, 1, 2):
            other.publish("sleep/t", f"{qos}".encode(), qos=qos)
        other.flush()
        sleeper.finished()
        sleeper.do("sleep", 3)
        got = set(sleeper.receive(3))
        while len(got) < 3:
            # That of QoS 1 comes again where its PUBACK was on its way behind DISCONNECT.
            got.update(sleeper.receive(1))
        assert got == {(qos, "sleep/t", f"{qos}") for qos in (0, 1, 2)}
        other.publish("sleep/t", b"later", qos=2)
        other.flush()
        sleeper.do("connect")
        while (last := sleeper.receive(1)[0]) in got:
            pass
        assert last == (2, "sleep/t", "later")
        sleeper.do("disconnect")


def test_refusal(port: int) -> None:
    """Does it hear the code of what is refused?"""
    with device(port, "go-refused", *KNOWN) as refused:
        refused.do("connect")
        assert "rejected with code 2" in refused.refusal("subscribe", 1, "#9"), "invalid topic id"


def test_dtls(tmp_path: Path) -> None:
    """Does it talk through DTLS with a server of its authority, and with no other?"""
    for name in ("ours", "others"):
        (tmp_path / name).mkdir()
    ours, others = Certificates.make(tmp_path / "ours"), Certificates.make(tmp_path / "others")
    listener = {"url": "sns://127.0.0.1:0", "certificate": str(ours.chain), "key": str(ours.key)}
    with Broker(listen="tcp://127.0.0.1:0", listeners=[listener]) as broker, Client(broker.url) as client:
        port = int(next(url for url in broker.urls if url.startswith("sns://")).rpartition(":")[2])
        client.subscribe("ab", qos=2)
        with device(port, "go-sealed", "-ca", str(ours.authority)) as sealed:
            sealed.do("connect")
            sealed.do("publish", 2, "ab", "sealed")
            assert received(client, 1) == [("ab", b"sealed", 2)]
            sealed.do("disconnect")
        with device(port, "go-wary", "-ca", str(others.authority)) as wary:
            assert "unknown authority" in wary.refusal("connect")
