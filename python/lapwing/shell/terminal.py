"""The shell at a terminal: a prompt that stays whole while messages are shown above it."""

from __future__ import annotations

import os
import re
import sys

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_focus
from prompt_toolkit.history import DummyHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout

from lapwing.client.identity import Identity
from lapwing.client_url import without_user
from lapwing.errors import LapwingError
from lapwing.shell.completion import Known, candidates
from lapwing.shell.history import LineHistory, history_file
from lapwing.shell.keyboard import quiet_keyboard
from lapwing.shell.parse import parse
from lapwing.shell.screen import Screen
from lapwing.shell.shell import Shell
from lapwing.shell.verbs import Quit
from lapwing.text import one_line

_NAME_MAX = 32
_LINE_END = re.compile(r"\r\n|[\r\n]")


def run_terminal(url: str, timeout_s: float, who: Identity, *, as_json: bool) -> int:
    """Runs what is typed, until Ctrl-D or ``quit``; errors are shown and the shell goes on."""
    # Whatever any thread prints while a line is typed goes above that line. `raw`: our own colours pass.
    with quiet_keyboard(), patch_stdout(raw=True):
        colours = "NO_COLOR" not in os.environ
        screen = Screen(_print, _print, chatty=True, colours=colours, as_json=as_json)
        shell = Shell(url, timeout_s, who, screen, ask_password=_ask_password)
        try:
            _Terminal(shell, url).run()
        finally:
            for error in shell.close():
                shell.screen.error(error)
    return 0


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _ask_password(username: str) -> str:
    """Typed unseen, and in no history."""
    session: PromptSession[str] = PromptSession(is_password=True, history=DummyHistory())
    try:
        return session.prompt(f"password of {one_line(username)}: ", handle_sigint=False)
    except EOFError as error:
        raise KeyboardInterrupt from error


def lines_of(typed: str) -> list[str]:
    """The lines of what was typed or pasted.

    What only looks like the end of one (U+2028, a form feed) stays in it: it may stand in a topic, and nobody has typed
    a command behind it.
    """
    return _LINE_END.split(typed)


class _Terminal:
    """Reads lines and has the shell run them."""

    def __init__(self, shell: Shell, url: str) -> None:
        self._shell = shell
        self._url = without_user(url)
        self._session: PromptSession[str] = PromptSession(
            self.prompt,
            history=self._history(),
            completer=ShellCompleter(shell),
            complete_while_typing=False,
            enable_history_search=True,
            key_bindings=_keys(),
        )

    def run(self) -> None:
        self._shell.screen.done(f"{self._url}: help lists the verbs, Tab completes, Ctrl-D ends")
        while True:
            try:
                if any(map(self._leaves, lines_of(self._read()))):
                    return
            except KeyboardInterrupt:
                self._shell.screen.done("Ctrl-D ends")
            except EOFError:
                return

    def _read(self) -> str:
        # A prompt reads Ctrl-C as a key. As a signal it is Python's: prompt_toolkit's own handler fails when the
        # signal comes just after the line has ended.
        return self._session.prompt(handle_sigint=False)

    def prompt(self) -> str:
        """The current client, and whether its connection stands."""
        link = self._shell.links.current
        if link is None:
            return "lapwing> "
        name = one_line(link.client_id)
        short = name if len(name) <= _NAME_MAX else f"{name[: _NAME_MAX - 3]}..."
        return f"{short} (lost)> " if link.lost else f"{short}> "

    def _leaves(self, line: str) -> bool:
        """Runs one line; true when it says to leave."""
        try:
            command = parse(line)
            if isinstance(command, Quit):
                return True
            if command is not None:
                self._shell.run(command)
        except LapwingError as error:
            self._shell.screen.error(error)
        except KeyboardInterrupt:
            self._shell.screen.done("interrupted")
        return False

    def _history(self) -> History:
        history = LineHistory(history_file())
        try:
            history.prepare()
        except LapwingError as error:
            self._shell.screen.error(error)
            return InMemoryHistory()
        return history


def _keys() -> KeyBindings:
    """Ctrl-C clears the line; on an empty one it says how to leave."""
    bindings = KeyBindings()

    @bindings.add("c-c", filter=has_focus(DEFAULT_BUFFER))
    def _(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt)

    return bindings


class ShellCompleter(Completer):
    """Completion by what the shell knows at the moment."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> list[Completion]:  # noqa: ARG002
        """Ways to finish the word before the cursor."""
        found = candidates(document.text_before_cursor, self._known())
        return [Completion(one.text, -one.replaces, display_meta=one.note) for one in found]

    def _known(self) -> Known:
        links = self._shell.links
        current = links.current
        return Known(
            clients=[link.client_id for link in links.all()],
            topics=self._shell.seen.all(),
            subscriptions=sorted(current.subscriptions.copy()) if current else [],
        )
