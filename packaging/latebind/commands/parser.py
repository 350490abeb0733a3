"""The argument parser: argparse, which also refuses an option given twice and suggests the nearest word."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from latebind.commands.problems import print_error


class Once(argparse._StoreAction):  # noqa: SLF001  # argparse keeps its actions to itself
    """Stores one value and refuses a second one, of which argparse would keep only the last."""

    _previous: Any = None

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Called by argparse each time that the option is given. Raises ArgumentError for the second."""
        if option_string is not None and self._previous is not None:
            text = f"given twice, as {str(self._previous)!r} and {str(values)!r}\nLeave one of them out."
            raise argparse.ArgumentError(self, text)
        self._previous = values
        super().__call__(parser, namespace, values, option_string)


class GroupedHelp(argparse.HelpFormatter):
    """Lists commands below the headings of `groups`, each with the names of its commands."""

    def __init__(self, *, groups: Mapping[str, Sequence[str]], **settings: Any) -> None:
        """Take the settings of argparse.HelpFormatter, and the groups."""
        super().__init__(**settings)
        self._groups = groups

    def _format_action(self, action: argparse.Action) -> str:
        if not isinstance(action, argparse._SubParsersAction):  # noqa: SLF001  # argparse keeps its actions to itself
            return super()._format_action(action)
        by_name = {str(choice.dest): choice for choice in action._get_subactions()}  # noqa: SLF001  # as above
        texts = []
        self._indent()
        for title, names in self._groups.items():
            texts.append(f"  {title}:\n")
            self._indent()
            texts += [super(GroupedHelp, self)._format_action(by_name[name]) for name in names]
            self._dedent()
        self._dedent()
        return "".join(texts)


class Parser(argparse.ArgumentParser):
    """argparse's parser with Once as its default action; its commands are of this class, too."""

    def __init__(self, **settings: Any) -> None:
        """Take the settings of argparse.ArgumentParser."""
        super().__init__(**settings)
        self.register("action", None, Once)
        self.register("action", "store", Once)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """argparse's check of `choices`, with the nearest choice in the message."""
        choices = [str(choice) for choice in action.choices or ()]
        if action.choices is None or value in action.choices:
            return
        is_command = isinstance(action, argparse._SubParsersAction)  # noqa: SLF001  # as above
        text = f"{value!r} is not a command" if is_command else f"{value!r} is not a possible value"
        raise argparse.ArgumentError(None if is_command else action, f"{text}\n{suggestion(value, choices)}")

    def parse_known_args(  # type: ignore[override]  # argparse has overloads for a namespace of another type
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """argparse's, which takes a list of words at one place: here, options may stand between them."""
        known, rest = super().parse_known_args(args, namespace)
        lists = [action for action in self._actions if not action.option_strings and action.nargs in ("*", "+")]
        for action in lists:
            words = [word for word in rest if not word.startswith("-")]
            setattr(
                known, action.dest, [*getattr(known, action.dest), *(self._get_value(action, word) for word in words)]
            )
            rest = [word for word in rest if word.startswith("-")]
        return known, rest

    def error(self, message: str) -> NoReturn:
        """Exit with an error. A second line of the message is the advice; other errors refer to the help."""
        text, _, advice = message.partition("\n")
        print_error(text, advice or f"See {self.prog} --help.")
        self.exit(2)

    def refuse_option_before_command(self, argv: Sequence[str]) -> None:
        """Exit with an error for a command's option in front of the command: its value would be taken for one."""
        kind = argparse._SubParsersAction  # noqa: SLF001  # as above
        commands = next((action.choices for action in self._actions if isinstance(action, kind)), {})
        name = next((argument for argument in argv if argument in commands), None)
        if name is None:
            return
        own_options = commands[name]._option_string_actions  # noqa: SLF001  # argparse has no other table of them
        for argument in argv[: argv.index(name)]:
            option = argument.partition("=")[0]
            if option in own_options and option not in self._option_string_actions:
                advice = f"Write the command first: {self.prog} {name} {option} ..."
                self.error(f"{option} must come after the command {name}\n{advice}")

    def refuse_unknown(self, arguments: Sequence[str]) -> NoReturn:
        """Exit with an error that names words which the command does not know, and the nearest options."""
        actions = self._option_string_actions
        options = [argument.partition("=")[0] for argument in arguments if argument.startswith("-")]
        suggestions = [near for option in options if (near := _nearest(option, actions))]
        hint = f"Did you mean {', '.join(suggestions)}?" if suggestions else ""
        if "--json" in arguments:
            hint = "This command has no JSON output."
        noun = "argument" if len(arguments) == 1 else "arguments"
        self.error(f"unrecognized {noun}: {' '.join(arguments)}\n{hint}")


def suggestion(text: str, choices: Iterable[str]) -> str:
    """`Did you mean pack?`, or all known words when none is near."""
    names = list(choices)
    near = _nearest(text, names)
    return f"Did you mean {near}?" if near else f"Choose one of: {', '.join(names)}."


def _nearest(text: str, choices: Iterable[str]) -> str | None:
    import difflib

    return next(iter(difflib.get_close_matches(text, list(choices), n=1)), None)
