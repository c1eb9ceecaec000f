"""What is answered to an unknown option: the option that is meant, by other tools' words or by its spelling."""

from collections.abc import Sequence

from fastmetrics._core.calls.words import meant
from fastmetrics._core.suggestions import close_matches

MOST = 3
WITH_FILES = {"html", "csv", "parquet"}


def answer_to_unknown(option: str, known: Sequence[str], command: str) -> str:
    """The message for an option that the command does not have."""
    word = parameter_of(option).lower()
    options = {parameter_of(own): own for own in known}
    near = [options[name] for name in meant(word, options)]
    if "--output" in near and word in WITH_FILES:
        return f"there is no option {option}; to write a file type -o report.{word}"
    near = near or [own for own in known if option.startswith("--") and own.startswith(f"{option}-")]
    near = near or [name for name in close_matches(option, known, cutoff=0.6) if name.startswith("--")]
    if near:
        return f"there is no option {option}; did you mean {' or '.join(near[:MOST])}?"
    return f"there is no option {option}; {command} --help lists them"


def parameter_of(option: str) -> str:
    """The name of an option as Python writes it."""
    return option.lstrip("-").replace("-", "_")
