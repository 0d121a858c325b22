"""Pages of groups: are they bounded by what clients choose, the names?"""

from __future__ import annotations

from typing import Any

from lapwing.http.groups import PAGE_NAME_CHARS_MAX, _page


def test_a_page_of_long_names_ends_early_and_goes_on() -> None:
    long = "x" * (PAGE_NAME_CHARS_MAX // 2)
    groups: list[dict[str, Any]] = [{"name": f"{n:02}", "filter": long, "members": []} for n in range(5)]
    groups.append({"name": "z", "filter": "#", "members": [{"client_id": "y" * (3 * PAGE_NAME_CHARS_MAX)}]})
    seen, lengths, after = [], [], None
    while True:
        page = _page(groups, 10_000, after)
        seen += [group["name"] for group in page["groups"]]
        lengths.append(len(page["groups"]))
        after = page["next"]
        if after is None:
            break
    assert seen == [group["name"] for group in groups]
    assert lengths == [2, 2, 2], "the group that goes beyond is the last of its page"
