"""What a page says beside the picture of fresh places."""

from __future__ import annotations

from lapwing.contracts.command_tables import STATES
from lapwing.pipeline.report.freshness_facts import FreshnessFacts
from lapwing.pipeline.report.html import table
from lapwing.pipeline.report.units import count, share


def freshness_words(facts: FreshnessFacts | None) -> str:
    """The caption; without facts it says that there is nothing to show yet."""
    if facts is None:
        return "Freshness: no reading with a position yet."
    means = ", ".join(f"{share(run.mean)} {run.name}" for run in facts.runs)
    return (
        f"Share of {count(facts.places)} places that are fresh, over time: with {facts.samples_wanted} samples of the "
        f"last {facts.fresh_s:g} s. On average {means}."
    )


def freshness_table(facts: FreshnessFacts) -> str:
    """A row for each run, with its commands by state."""
    shown = [state for state in STATES if any(run.states.get(state) for run in facts.runs)]
    head = ("run", "readings", "fresh, on average", "in the second half", *(f"commands {state}" for state in shown))
    body = [
        (
            run.name,
            count(run.readings),
            share(run.mean),
            share(run.mean_of_second_half),
            *(count(run.states.get(state, 0)) for state in shown),
        )
        for run in facts.runs
    ]
    return table(head, body)
