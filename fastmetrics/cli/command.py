"""What all commands do with the words that are typed, before any of them runs.

An option never takes the next option as its value. One that has a single value is given once. An unknown option is
answered with the one that is meant. Help pages show what stands for a value, and no types of Python.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from fastmetrics.cli.near_options import answer_to_unknown

UsageError: Any = typer.BadParameter.__base__


class Command(TyperCommand):
    """A command with the habits of all."""

    def words(self, args: Sequence[str]) -> list[str]:
        """The words that are read in place of those that are typed."""
        return list(args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = self.words(args)
        if ctx.resilient_parsing:  # for completion, also of the value of the last option
            return super().parse_args(ctx, without_waiting(self.get_params(ctx), words))
        check_values(self.get_params(ctx), words, ctx)
        try:
            check_repeated(self.make_parser(ctx).parse_args(args=list(words))[2], ctx)
            return super().parse_args(ctx, words)
        except UsageError as error:
            raise answered(error, ctx, words) from None

    def get_params(self, ctx: Any) -> list[Any]:
        return list(map(without_type, super().get_params(ctx)))


class Group(TyperGroup):
    """The program, whose own options have the same habits."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            raise answered(error, ctx) from None

    def get_params(self, ctx: Any) -> list[Any]:
        return list(map(without_type, super().get_params(ctx)))


def is_valued(parameter: Any) -> bool:
    """Whether it is an option that has a value."""
    return parameter.param_type_name == "option" and not parameter.is_flag


def without_type(parameter: Any) -> Any:
    """A flag has no value, and an argument's name says what it is: help pages show no type of them."""
    if not is_valued(parameter):
        parameter.display_type_rich = nothing
    return parameter


def nothing(ctx: Any) -> None:
    return None


def answered(error: Any, ctx: Any, words: Sequence[str] = ()) -> Any:
    """The error of unknown options says what to type; other errors stay."""
    unknown = getattr(error, "option_name", None)
    if unknown is None or not hasattr(error, "possibilities"):
        return error
    known = [name for own in ctx.command.get_params(ctx) if not own.hidden for name in own.opts if name[:1] == "-"]
    all_unknown = dict.fromkeys([unknown, *unknown_options(ctx, words)])
    return UsageError("; ".join(answer_to_unknown(own, known, ctx.command_path) for own in all_unknown), ctx=ctx)


def unknown_options(ctx: Any, words: Sequence[str]) -> list[str]:
    """The long options among the words that the command does not have. No value of an option begins like one."""
    known = {name for own in ctx.command.get_params(ctx) for name in (*own.opts, *own.secondary_opts)}
    typed = [word.partition("=")[0] for word in takewhile(lambda word: word != "--", words)]
    return [name for name in typed if name.startswith("--") and name not in known]


# ------------------------------------------------------------------------------------------------------------- values


def names_of(parameters: Sequence[Any]) -> tuple[set[str], set[str]]:
    """The names of options that have a value, and those of flags."""
    options = [own for own in parameters if own.param_type_name == "option"]
    valued = {name for own in options if is_valued(own) for name in own.opts}
    return valued, {name for own in options if not is_valued(own) for name in (*own.opts, *own.secondary_opts)}


def without_waiting(parameters: Sequence[Any], words: Sequence[str]) -> list[str]:
    """The words without an option at their end whose value is not typed yet."""
    rest = iter(words)
    is_waiting = [next(rest, None) is None for _ in waiting_options(rest, *names_of(parameters))]
    return list(words[:-1] if is_waiting and is_waiting[-1] else words)


def check_values(parameters: Sequence[Any], words: Sequence[str], ctx: Any) -> None:
    """Report an option without a value: at the end of the line, or before the next option."""
    valued, flags = names_of(parameters)
    rest = iter(words)
    for name in waiting_options(rest, valued, flags):
        value = next(rest, None)
        if value is None:
            raise UsageError(f"{name} needs a value", ctx=ctx)
        if is_option(value, valued | flags):
            meant = "" if value in valued | flags | {"--"} else f"; if it is the value, type {name}={value}"
            raise UsageError(f"{name} needs a value, and {value} is the next option{meant}", ctx=ctx)


def waiting_options(words: Iterator[str], valued: set[str], flags: set[str]) -> Iterator[str]:
    """The options whose value is the next word."""
    for word in words:
        if word == "--":
            return
        if word in valued:
            yield word
        elif word[:1] == "-" and word[:2] != "--" and word not in flags:
            letters = [f"-{letter}" for letter in word[1:]]  # as in -bw 4
            if letters and letters[-1] in valued and all(letter in flags for letter in letters[:-1]):
                yield letters[-1]


def is_option(word: str, known: set[str]) -> bool:
    """Whether a word is an option rather than a value: not a number, "-" or an expression."""
    if word[:1] != "-" or word == "-" or is_number(word) or any(letter.isspace() for letter in word):
        return False
    return word[:2] == "--" or word in known or word[:2] in known


def is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def check_repeated(order: Sequence[Any], ctx: Any) -> None:
    """Of an option that is given twice, only the last value would count, so that is wrong usage."""
    for parameter, count in Counter(order).items():
        # Paths are one parameter, in one place or in several.
        if count > 1 and is_valued(parameter) and not parameter.multiple:
            raise typer.BadParameter("it is given twice, and has one value", param=parameter, ctx=ctx)
