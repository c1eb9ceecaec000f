"""Options that several commands share, as one record: its fields stand in the signature of each command.

typer makes options from a signature.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, get_type_hints

Fields = Mapping[str, tuple[Any, Any]]  # the type of each option, and its default


def fields_of(record: Any) -> Fields:
    """The options of a record whose types are those of options."""
    hints = get_type_hints(record, include_extras=True)
    return {name: (hint, record._field_defaults[name]) for name, hint in hints.items()}


def spread(record: Any, fields: Fields, make: Callable[[dict[str, Any]], Any]) -> Callable[[Any], Any]:
    """A decorator that puts `fields` into a command's signature, in place of its parameter of type `record`.

    `make` makes the record from their values.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        (place,) = (name for name, hint in hints.items() if hint is record)
        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(command).parameters.values():
            if parameter.name != place:
                parameters.append(parameter.replace(annotation=hints[parameter.name]))
                continue
            parameters += [
                inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=hint)
                for name, (hint, default) in fields.items()
            ]

        @wraps(command)
        def with_record(**values: Any) -> None:
            shared = make({name: values.pop(name) for name in fields})
            command(**values, **{place: shared})

        with_record.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        with_record.__annotations__ = {own.name: own.annotation for own in parameters}
        del with_record.__wrapped__  # its signature is another
        return with_record

    return decorate
