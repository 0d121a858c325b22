"""``lapwing cluster init|join|token|status|step-down|remove|demo``: brokers that keep copies of what others have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from lapwing.cli import cluster_demo
from lapwing.cli.cluster_table import CLUSTER_HEAD, exit_code, node_row, summary
from lapwing.cli.common import ConfigFile, Settings, echo_json, examples, table
from lapwing.cli.http_api import HttpApi
from lapwing.cli.http_options import Asked, asks_broker
from lapwing.cli.session_options import Json
from lapwing.errors import BrokerError, LapwingError

if TYPE_CHECKING:
    from lapwing.config import Config

app = typer.Typer(
    help="Make a cluster of brokers, and see how it is.", context_settings={"help_option_names": ["-h", "--help"]}
)


class NoClusterError(BrokerError):
    """The broker that was asked is a node on its own."""


_KINDS: dict[str, type[LapwingError]] = {"no_cluster": NoClusterError}


def _api(asked: Asked) -> HttpApi:
    return HttpApi(*asked, kinds=_KINDS, other=BrokerError)


@app.command(
    epilog=examples(
        "lapwing cluster init --config n1.toml && lapwing broker --config n1.toml",
        "lapwing cluster init --set cluster.name=n1 --set broker.data=/var/lib/lapwing --cluster-name marsh",
    )
)
def init(
    config: ConfigFile = None,
    cluster_name: Annotated[
        str, typer.Option("--cluster-name", metavar="NAME", help="What people call the cluster.")
    ] = "lapwing",
    settings: Settings = [],  # noqa: B006 (typer copies it)
    json_: Json = False,
) -> None:
    """Make the data folder of a stopped broker that of the first node of a new cluster.

    All that the folder has goes on; a broker on its own refuses it from then on. The configuration has [cluster] with
    a name. The folder gets the cluster's own authority and this node's certificate.
    """
    from lapwing._core import cluster_found
    from lapwing.broker_node import core_errors

    given, node, text = _member(config, settings)
    with core_errors():
        cluster_found(node, text, cluster_name)
    if json_:
        echo_json({"cluster": cluster_name, "node": given.cluster.name, "data": str(given.broker.data)})
        return
    typer.echo(f"{given.broker.data}: {given.cluster.name} is the first node of cluster {cluster_name}")


@app.command(epilog=examples('lapwing cluster join "$(lapwing cluster token --url http://n1:8080)" --config n2.toml'))
def join(
    token: Annotated[str, typer.Argument(metavar="TOKEN", help="What `lapwing cluster token` has printed.")],
    config: ConfigFile = None,
    settings: Settings = [],  # noqa: B006 (typer copies it)
    json_: Json = False,
) -> None:
    """Make an empty data folder that of another node of a cluster: it asks the cluster, which must serve.

    The token is good once, and for an hour. Groups, holds, topics, users and rules must be those of the cluster.
    """
    from lapwing._core import cluster_join
    from lapwing.broker_node import core_errors

    given, node, text = _member(config, settings)
    with core_errors():
        number, cluster, is_to_vote = cluster_join(node, text, token)
    if json_:
        echo_json({"cluster": cluster, "node": given.cluster.name, "number": number, "is_to_vote": is_to_vote})
        return
    part = "votes when it has caught up" if is_to_vote else "has a copy and no vote: as many vote as may"
    typer.echo(f"{given.broker.data}: {given.cluster.name} is node {number} of cluster {cluster}; it {part}")


@app.command("token", epilog=examples("lapwing cluster token", "lapwing cluster token --url http://n1:8080"))
@asks_broker
def token_(asked: Asked) -> None:
    """Print a token by which one node joins within an hour. Keep it as you would a password.

    The node that serves is to be asked.
    """
    _, body = _api(asked).request("POST", "/v1/cluster/tokens")
    typer.echo(json.loads(body)["token"])


@app.command(epilog=examples("lapwing cluster remove n3", "lapwing cluster remove 3 --url http://n1:8080"))
@asks_broker
def remove(asked: Asked, node: Annotated[str, typer.Argument(metavar="NODE", help="Its name, or its number.")]) -> None:
    """Take a node out of the cluster for ever: its folder is no member's any more.

    The node that serves is to be asked, and is not taken out itself: let it step down first. Refused where too few of
    those that are connected would be left to acknowledge anything.
    """
    _, body = _api(asked).request("DELETE", f"/v1/cluster/nodes/{quote(node, safe='')}")
    typer.echo(f"node {json.loads(body)['removed']} belongs to the cluster no more")


@app.command(epilog=examples("lapwing cluster status", "lapwing cluster status --json | jq .role"))
@asks_broker
def status(asked: Asked, json_: Json = False) -> None:
    """Show who belongs to the cluster and who serves, as one node sees it; a node that stands by answers too.

    Exit code 0: all nodes are there and one serves; 1: one serves, and not all are there; 2: none serves.
    """
    _, body = _api(asked).request("GET", "/v1/cluster")
    found: dict[str, Any] = json.loads(body)
    if json_:
        echo_json(found)
    else:
        typer.echo(table([node_row(node, found) for node in found["nodes"]], CLUSTER_HEAD))
        for line in summary(found):
            typer.echo(line, err=True)
    if code := exit_code(found):
        raise typer.Exit(code)


@app.command(
    "step-down",
    epilog=examples("lapwing cluster step-down", "lapwing cluster step-down --to n2 --url http://n1:8080"),
)
@asks_broker
def step_down(
    asked: Asked,
    to: Annotated[str | None, typer.Option("--to", metavar="NODE", help="Which one: its name, or its number.")] = None,
) -> None:
    """Let another node serve in place of the one that is asked: its clients are closed, then it hands over.

    Without --to that is the node that is furthest. A node that does not take over within an election leaves it to
    another one.
    """
    query = "" if to is None else f"?to={quote(to, safe='')}"
    _api(asked).request("POST", f"/v1/cluster/step-down{query}")
    typer.echo("asked: see lapwing cluster status for who serves")


app.command("demo", epilog=cluster_demo.EPILOG)(cluster_demo.demo)


def _member(config: Path | None, settings: list[str]) -> tuple[Config, str, str]:
    """The configuration of a member, what its node is told, and what is told of its cluster."""
    from lapwing.config import cluster_json, load, node_json
    from lapwing.errors import ConfigError

    given = load(config, settings=settings).config
    text = cluster_json(given)
    if text is None:
        remedy = 'add [cluster] with name = "n1", what people call this node'
        raise ConfigError("there is no [cluster] in the configuration", where=str(config or ""), remedy=remedy)
    return given, node_json(given), text
