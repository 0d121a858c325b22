"""Which line a key stands on: for every shape of key, string and table that TOML knows."""

from lapwing.config.toml_lines import key_lines

TEXT = '''\
# a comment with [brackets] and key = "value"
top = 1

[broker]
listen = [
  "tcp://127.0.0.1:0",  # ] a bracket in a comment
  "a ] in a string",
]
"quoted key" = 'single ] quoted'
dotted.key = 2
text = """
[not.a.table]
not_a_key = 1
"""
after = { inline = 1, nested = { deep = 2 } }

  [ streams . "my stream" ]
filter = "a/\\"#\\"=b"   # after
[[array]]
x = 1
[[array]]
x = 2
'''


def test_lines() -> None:
    """Is each key on the line where a reader would look for it?"""
    assert key_lines(TEXT) == {
        ("top",): 2,
        ("broker",): 4,
        ("broker", "listen"): 5,
        ("broker", "quoted key"): 9,
        ("broker", "dotted", "key"): 10,
        ("broker", "text"): 11,
        ("broker", "after"): 15,
        ("streams", "my stream"): 17,
        ("streams", "my stream", "filter"): 18,
        ("array",): 19,
        ("array", "0"): 19,
        ("array", "0", "x"): 20,
        ("array", "1"): 21,
        ("array", "1", "x"): 22,
    }


def test_nothing() -> None:
    """Does an empty file have no keys, rather than an error?"""
    assert key_lines("") == {}
    assert key_lines("# only a comment") == {}
