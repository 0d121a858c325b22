"""Messages that are known by their ids: which are first copies, and what ``seen`` remembers of them.

A reading is known by device, boot and serial (`repeats`). What has none of these, because it breaks the contract or is
no reading at all, is known by its ``message_id``, where whoever carried it says one: a bridge writes some messages
twice after a crash, at any distance, and both copies have the same. Without an id each copy is a message of its own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lapwing.pipeline.transforms.groups import Groups
from lapwing.pipeline.transforms.seen_rows import rows_of

MESSAGE_BOOT = -1
"""In ``seen`` the boot of a message: no reading has it, so a device may be called as an id is."""


def first_copies(messages: pa.Table, seen: pa.Table) -> npt.NDArray[np.bool_]:
    """Per message whether it is the first copy, by position; always where it has no id.

    Args:
        messages: All rows of the batch with the ids that are there: ``message_id`` (null: none), ``partition``,
            ``offset``, and others.
        seen: Rows of ``SEEN`` as they stood before the first of these; others' do no harm.
    """
    first = np.zeros(messages.num_rows, dtype=bool)
    groups = Groups(messages, ["message_id"], then=["partition", "offset"])
    first[groups.order[groups.starts]] = True
    ids = messages["message_id"]
    known = pc.unique(seen["device"].filter(pc.equal(seen["boot"], MESSAGE_BOOT)))
    first &= ~pc.is_in(ids, value_set=known).to_numpy()
    first |= ids.is_null().to_numpy()
    return first


def message_marks(first: pa.Table) -> pa.Table:
    """The rows of ``SEEN`` that first copies add; those without an id add none."""
    ids = first["message_id"].drop_null()
    count = len(ids)
    zeros, ones = np.zeros(count, dtype=np.int64), np.ones(count, dtype=np.int64)
    return rows_of(ids, np.full(count, MESSAGE_BOOT), zeros, ones)
