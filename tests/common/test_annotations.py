"""Annotations of all public names: named values are Literals that equal the docstrings, and nothing returns Any."""

import inspect
from typing import Any, Literal

import pytest

import fastmetrics as fm
from support.types.annotations import Option, options_of, parts_of, public_options, return_types

OPTIONS = public_options()
# A document is JSON, ids are what a user put into a table, states are those of any statistic.
RETURN_ANY = {
    "COCO.annToRLE", "COCO.dataset", "COCO.document", "COCO.getAnnIds", "COCO.getCatIds", "COCO.getImgIds",
    "COCO.loadAnns", "COCO.loadCats", "COCO.loadImgs", "COCO.loadNumpyAnnotations", "COCOeval.computeIoU",
    "COCOeval.evaluateImg", "CocoResult.to_dict", "Comparison.to_dict", "Difference.to_dict",
    "Evaluation.options", "Evaluation.to_dict", "Task.columns_and_metrics",
    "Metric.interval_statistics", "Metric.mean_statistics", "Metric.statistics", "RankingResult.missing_queries",
    "RankingResult.to_dict", "Report.slices", "Report.to_dict", "Result.to_dict", "Task.other_roles",
    "TextComparison.to_dict", "VocResult.to_dict", "classification_report", "encode_masks", "metric_at_thresholds",
}  # fmt: skip
# Keywords of other functions; ids and rows of COCO's documents; keys that are what users put into a table.
ACCEPT_ANY = {
    "about", "annotation_file", "areaRng", "aRng", "catId", "catIds", "catNms", "changes", "cocoDt", "cocoGt", "data",
    "evaluation", "fields", "first", "ids", "imgId", "imgIds", "iscrowd", "kwds", "options", "resFile", "second",
    "states", "supNms",
}  # fmt: skip


def listed(lines: list[str]) -> str:
    return "\n" + "\n".join(lines)


def complaint_about_values(option: Option) -> str | None:
    """What is wrong where an option has named values, or should have them."""
    wanted, found = option.documented_values, option.named_values
    if option.documented and wanted != found:
        return (
            f"{option.owner}: {option.name} may be {sorted(map(str, wanted))}; its type has {sorted(map(str, found))}"
        )
    default = option.default
    if found and isinstance(default, str) and default not in found:
        return f"{option.owner}: the default of {option.name}, {default!r}, is not of its type"
    return None


def test_named_values_are_those_of_the_docstrings():
    with_values = [option for option in OPTIONS if option.named_values]
    assert len(with_values) > 150
    complaints = [complaint for option in OPTIONS if (complaint := complaint_about_values(option))]
    # The names of formats that other tools use are accepted beside those that the docstring lists in words.
    complaints = [line for line in complaints if ": format may be []" not in line]
    assert not complaints, listed(complaints)


@pytest.mark.parametrize(
    ("hint", "documented", "complains"),
    [
        (str, '{"macro", "micro"}', True),
        (Literal["macro"], '{"macro", "micro"}', True),
        (Literal["macro", "micro"] | None, '{"macro", "micro"}, optional', False),
        (str, "str", False),
    ],
)
def test_a_plain_str_is_found(hint, documented, complains):
    option = Option("f1_score", "average", hint, documented, "macro")
    assert (complaint_about_values(option) is not None) == complains


def test_methods_have_the_types_of_their_functions():
    found = {(option.owner, option.name): option.hint for option in OPTIONS}
    for (owner, name), hint in found.items():
        of_class, _, method = owner.partition(".")
        if of_class == "ScoreOrder" and (method, name) in found:
            assert hint == found[method, name], f"{owner}: {name}"


def test_values_of_metric_strings_are_values_of_their_functions():
    for spec in fm.list_metrics().values():
        if spec.function is None or spec.function.__name__ not in fm.__all__:
            continue
        options = {own.name: own for own in options_of(spec.name, spec.function, spec.function.__doc__ or "")}
        for name, allowed in spec.checks.items():
            named = options[name].named_values if name in options else set()
            texts = {value for value in allowed if isinstance(value, str)} if isinstance(allowed, tuple) else set()
            assert not named or texts <= named, f"{spec.name}: {name}"


def test_no_public_function_returns_any():
    found = {name for name, hint in return_types() if any(part is Any for part in parts_of(hint))}
    assert found == RETURN_ANY & found, f"they return Any: {sorted(found - RETURN_ANY)}"
    assert found == RETURN_ANY, f"no longer needed: {sorted(RETURN_ANY - found)}"
    assert not [name for name, hint in return_types() if hint is inspect.Signature.empty and "." not in name]


def test_no_option_is_any():
    found = [
        f"{option.owner}: {option.name}" for option in OPTIONS if option.hint is Any and option.name not in ACCEPT_ANY
    ]
    assert not found, listed(found)
