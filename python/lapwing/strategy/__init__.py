"""Strategies: Python of yours that decides which member of a consumer group gets a message; for experiments.

    class Nearest(Strategy):
        def choose(self, asks: Sequence[Ask]) -> Sequence[Member | str | None]:
            return [min(ask.open, key=lambda member: member.rtt_ms, default=None) for ask in asks]

    [groups."alarms"]
    use = "my_module:Nearest"
    fallback = "auto"       # decides where the class is late or fails
    timeout = "5ms"

- It runs on one thread of its own, on batches: what waited while it was thinking is asked about together. The message
  waits in the group's queue meanwhile; the data threads go on.
- Whatever is late, raises, or names somebody who has gone or is full meets ``fallback``, and is counted.
- The members are as they were when the messages were asked about: a strategy that wants to spread a batch keeps count
  of what it has given to whom.
- ``try_out`` runs a strategy on this same thread and lanes without a broker.
"""

from lapwing.strategy.asks import Ask, Member
from lapwing.strategy.base import Strategy
from lapwing.strategy.trial import TrialMember, TrialResult, try_out

__all__ = ["Ask", "Member", "Strategy", "TrialMember", "TrialResult", "try_out"]
