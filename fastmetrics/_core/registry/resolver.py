"""The one resolver of names: from what was typed to a metric of the registry, or to an error that says what to type.

A name is looked up as it is typed, then as the rules of `spellings.py` read it. Where it is the name of another number,
the advice of a metric (`near_names`) or of a module (`explain_names`) is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fastmetrics._core import upper_layers
from fastmetrics._core.calls.words import meant
from fastmetrics._core.metric_spec import REQUIRED, MetricSpec
from fastmetrics._core.metric_strings import GREATEST_CUTOFF, METRIC_STRING, read_keywords
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import registration
from fastmetrics._core.registry.arguments import (
    CUTOFF_WORD,
    column_roles,
    known_words,
    parameters_of,
    read_arguments,
    with_full_names,
)
from fastmetrics._core.registry.registration import known_specs, load_plugins
from fastmetrics._core.registry.spellings import (
    ANY_CUTOFF,
    ANY_SPELLING,
    FLAT,
    Spelling,
    key_of,
    other_spellings,
    read_flat_options,
    signature_options,
    snake_name,
)
from fastmetrics._core.suggestions import MOST_SUGGESTED, ask_for, similar_words

NEGATED = "neg_"  # begins the names of scikit-learn's scorers of losses
# What names begin with that say which rows or which labels they are of, and not what is computed.
OF_DATA = (
    "val", "valid", "validation", "train", "training", "test", "eval", "dev", "holdout", "best", "final", "epoch",
)  # fmt: skip
OF_CLASSES = ("multiclass", "multilabel", "multi", "sparse_categorical", "categorical", "sparse")
OF_OBJECTIVES = ("minimize", "maximize")
MEAN, GREATEST = "mean", "max"  # over classes in caret, and over thresholds in H2O
OF_A_CLASS = "_by_label"
# trec_eval writes recall_5, and the metric without a cutoff is one of classes. Of other such names it cannot be said.
NUMBERED = ("recall",)
USUAL_CUTOFF = "10"
CUTOFF_FIRST = r"(?s)^([^@()]*)(@\s*[0-9]+)\s*(\(.*\))\s*$"  # "ndcg@10(gain=exp2)"

# "ndcg@10-" is XGBoost's, with gains of 2^grade - 1; the "-" makes a list without a relevant row 0 in place of 1.
OF_XGBOOST = r"(ndcg)(?:@([0-9]+))?-"
NOTHING_LIKE_IT = "no name is like it: fastmetrics.list_metrics(), or the command fastmetrics list, has all"


class Resolved(NamedTuple):
    """A metric, and its options and cutoff as text."""

    spec: MetricSpec
    name: str
    inside: str
    cutoff: str | None


def split_text(text: str) -> Spelling:
    """A metric string in parts; an error if it has none."""
    if match := re.fullmatch(OF_XGBOOST, text, re.IGNORECASE):
        return Spelling(match[1], ("gain=exp2",), match[2])
    text = re.sub(CUTOFF_FIRST, r"\1\3\2", text)
    match = re.fullmatch(METRIC_STRING, text)
    if match is not None:
        name, inside, cutoff = match.groups()
        return Spelling(name, (inside,) if inside and inside.strip() else (), cutoff)
    match = re.fullmatch(ANY_SPELLING, text.strip().removesuffix("."))
    if match is None:
        raise ValueError(explain_syntax(text))
    name, inside, cutoff, level = match.groups()
    typed = Spelling(name, (inside,) if inside and inside.strip() else (), cutoff)
    if level is not None:
        options = ", ".join([*typed.options, f"relevance_level={level}"])
        line = f"{name.lower()}({options})" + (f"@{cutoff}" if cutoff else "")
        raise ValueError(f"unknown metric {text!r}: write '{line}', as relevance levels are options")
    return typed


def explain_syntax(text: object) -> str:
    advice = "write name, name(parameter=value) or name@10"
    if isinstance(text, str) and (match := re.fullmatch(r"([^()'\"]+)/([\w.@-]+)", text)):
        try:
            resolve(match[2])
        except ValueError as error:
            return f"unknown metric {text!r}; {answer_of(str(error))}"
        if match[1].rpartition("/")[2].strip("_") in OF_DATA:
            return f"{text!r} is not a metric string; write {match[2]!r}, and evaluate the rows that it is of"
        advice = f"it is the value of a slice: write {match[2]!r}, and the columns of slices with by="
    return f"{text!r} is not a metric string; {advice}"


def resolve(text: str) -> Resolved:
    """The metric that a text means, of `fastmetrics` or as another tool writes it; also a signature."""
    known_specs()  # registers metrics at the first call
    head, *facts = text.split("|")
    if facts:
        whole = resolve(head)
        return whole._replace(inside=signature_options(facts, known_words(whole.spec)))
    typed = split_text(text)
    found = find(typed)
    if found is not None and typed.cutoff != ANY_CUTOFF:  # as nearly always: other spellings need not be found
        return Resolved(found[0], typed.name, ", ".join([*found[1], *typed.options]), typed.cutoff)
    resolved = look_up(typed)
    if resolved is None:
        load_plugins()
        resolved = look_up(typed)
    if resolved is None:
        raise ValueError(explain_unknown(typed))
    return resolved


def find_spec(name: str, cutoff: str | None) -> MetricSpec:
    """The metric of this name or alias. "name" and "name@k" may be two different metrics."""
    return resolve(name if cutoff is None else f"{name}@{USUAL_CUTOFF}").spec


def look_up(typed: Spelling) -> Resolved | None:
    """The metric that has the name, or a spelling of it; ValueError for the name of another number."""
    spellings = list(other_spellings(typed))
    if find(typed) is None and (advice := advice_for(typed)) is not None:
        raise ValueError(f"unknown metric {show(typed)}: {advice}")
    for spelling in spellings:
        found = find(spelling)
        if found is None:
            continue
        if spelling.cutoff == ANY_CUTOFF:
            raise ValueError(ask_for_cutoff(typed, spelling.name))
        options = of_spec(spelling, found[0], len(typed.options), found[1])
        if options is not None:
            check_number(typed, spelling)
            return Resolved(found[0], spelling.name, ", ".join(options), spelling.cutoff)
    advice = next(filter(None, map(advice_for, spellings)), None)
    if advice is not None:
        raise ValueError(f"unknown metric {show(typed)}: {advice}")
    return None


def find(spelling: Spelling) -> tuple[MetricSpec, tuple[str, ...]] | None:
    """The metric of a spelling, and the options that its name means."""
    cutoff = spelling.cutoff
    if cutoff is not None and cutoff != ANY_CUTOFF and not cutoff.isdecimal():
        return None
    found = registration.find_spelling(spelling.name, cutoff is not None)
    return None if found is not None and spelling.of_groups and found[0].exchange != "hash" else found


def ask_for_cutoff(typed: Spelling, name: str) -> str:
    cutoff = typed_cutoff(typed._replace(cutoff=number_in(typed.inside)))
    return f"metric {show(typed)} needs a cutoff: write {name}@{cutoff}"


def number_in(inside: str) -> str | None:
    """The number that was typed as an option, "(3)" or "(topk=3)", where a cutoff is meant."""
    for word, number in re.findall(r"(?:^|,)\s*(?:(\w+)\s*=\s*)?([0-9]+)\s*(?=,|$)", inside):
        if word in ("", CUTOFF_WORD) or meant(word, [CUTOFF_WORD]):
            return str(number)
    return None


def show(typed: Spelling) -> str:
    return repr(typed.name)


def of_spec(
    spelling: Spelling, spec: MetricSpec, n_typed: int, of_name: tuple[str, ...] = ()
) -> tuple[str, ...] | None:
    """The options of a spelling; None if its name has options that the metric lacks. Those that were typed stay."""
    words = known_words(spec)
    options = [*of_name, *spelling.options[:n_typed]]
    for option in spelling.options[n_typed:]:
        written = read_flat_options(option.removeprefix(FLAT), words) if option.startswith(FLAT) else option
        if not fits(spec, written):
            return None
        options.append(written)
    return tuple(options)


def fits(spec: MetricSpec, inside: str) -> bool:
    """Does a form of the metric have these options, and are they allowed?"""
    try:
        keywords = with_full_names(read_keywords(inside, inside), spec, inside)
        for form in spec.forms:
            if keywords and keywords.keys() <= {*parameters_of(form), *column_roles(form)}:
                read_arguments(form, spec, keywords, inside)
                return True
    except (ValueError, TypeError):
        pass
    return False


def check_number(typed: Spelling, spelling: Spelling) -> None:
    """ValueError for a number behind an underscore: it may be a cutoff or, as in Keras, the count of a name."""
    if not spelling.is_numbered or key_of(spelling.name) in NUMBERED:
        return
    if registration.find_spelling(spelling.name, False) in (None, registration.find_spelling(spelling.name, True)):
        return
    cut = f"{spelling.name}{inside_of(spelling)}@{spelling.cutoff}".lower()
    raise ValueError(
        f"unknown metric {show(typed)}: write '{cut}' for a cutoff, or '{spelling.name.lower()}' where the number only "
        "counts the metrics of that name, as in Keras"
    )


def inside_of(spelling: Spelling) -> str:
    return f"({spelling.inside})" if spelling.options else ""


# ------------------------------------------------------------------------------------------------------------- answers

# Names of numbers that no metric of the registry has, normalized -> what to use.
_explained: dict[str, str] = {}


def explain_names(advice: Mapping[str, str]) -> None:
    """Say what to use for names that are no metrics of the registry."""
    _explained.update({key_of(name): text for name, text in advice.items()})


def advice_for(spelling: Spelling) -> str | None:
    """The advice for the name of another number."""
    near_names = {key_of(near): text for spec in known_specs().values() for near, text in spec.near_names.items()}
    keys = [key_of(spelling.name)] if spelling.cutoff is None else [spelling.key, key_of(spelling.name)]
    found = next((table[key] for key in keys for table in (near_names, _explained) if key in table), None)
    return None if found is None else with_cutoff_of(spelling, found)


def with_cutoff_of(spelling: Spelling, advice: str) -> str:
    """The advice with the cutoff that was typed."""
    number = typed_cutoff(spelling)
    return advice.replace(f"@{USUAL_CUTOFF}", f"@{number}").replace("{k}", number)


def typed_cutoff(spelling: Spelling) -> str:
    """The cutoff that was typed, if it is one."""
    cutoff = (spelling.cutoff or "").lstrip("0")
    is_number = cutoff.isdigit() and len(cutoff) <= len(str(GREATEST_CUTOFF)) and int(cutoff) <= GREATEST_CUTOFF
    return cutoff if is_number else USUAL_CUTOFF


def explain_unknown(typed: Spelling) -> str:
    """The error of a name that no metric has, or none with such a cutoff: it says what to type."""
    for explain in (explain_cutoff, explain_options, explain_beginning, explain_end, explain_function):
        found = explain(typed)
        if found is not None:
            return found
    return f"unknown metric {show(typed)}; {suggest_metric(typed)}"


def explain_cutoff(typed: Spelling) -> str | None:
    """The error of a metric that lacks its cutoff, or takes none."""
    for spelling in other_spellings(typed):
        found = registration.find_spelling(spelling.name, spelling.cutoff is None)
        if found is None or of_spec(spelling, found[0], len(typed.options)) is None:
            continue
        name = spelling.name if spelling == typed else spelling.name.lower()
        if spelling.cutoff is None:
            return ask_for_cutoff(typed, name)
        if spelling.cutoff == ANY_CUTOFF:
            named = spelling._replace(options=tuple(option for option in spelling.options if "=" in option))
            return f"metric {show(typed)} takes no cutoff; write '{name}{inside_of(named)}'"
        line = f"write '{name}{inside_of(spelling)}'"
        if any(fits(found[0], option) for option in SHARE_OPTIONS):
            line += f", or '{name}@{typed_cutoff(spelling)}%' for a share of the rows"
        return f"metric {show(typed)} takes no cutoff; found @{spelling.cutoff}; {line}"
    return None


SHARE_OPTIONS = ("q=0.1",)


def explain_beginning(typed: Spelling) -> str | None:
    """The error of a name that begins with a word which no name of a metric has."""
    for spelling in other_spellings(typed):
        word, rest = split_beginning(spelling.name.lower())
        if not rest:
            continue
        try:
            known = look_up(spelling.of(rest))
        except ValueError as error:
            return f"unknown metric {show(typed)}: {answer_of(str(error))}"
        if known is None:
            for explain in (explain_cutoff, explain_beginning):
                if (found := explain(spelling.of(rest))) is not None:
                    return f"unknown metric {show(typed)}: {answer_of(found)}"
            continue
        spec, _, inside, cutoff = known
        options = inside if not inside or fits(spec, inside) else ""
        if word == GREATEST and not fits(spec, "threshold=0.5"):
            continue
        if word == MEAN and not options and fits(spec, "average=macro") and not fits(spec, "multi_class=ovr"):
            options = "average=macro"
        if word in OF_CLASSES and not options:
            options = next((own for own in ("average=macro", "multi_class=ovr") if fits(spec, own)), "")
        line = line_of(spec, spec.base_name, options, cutoff)
        if word == NEGATED.rstrip("_"):
            return f"unknown metric {show(typed)}: write {line} ({spec.direction}), which is not negated"
        if word == GREATEST:
            return f"unknown metric {show(typed)}: fm.metric_at_thresholds has {spec.base_name!r} at every threshold"
        if word in (MEAN, *OF_OBJECTIVES):
            return f"unknown metric {show(typed)}: write '{line}'"
        if word in OF_DATA:
            return f"unknown metric {show(typed)}: write '{line}', and evaluate the rows that it is of"
        columns = "prediction= for predicted classes, probabilities= for probabilities"
        return f"unknown metric {show(typed)}: write '{line}', with {columns}"
    return None


def answer_of(message: str) -> str:
    """What an error says of a name, without the name."""
    return re.split("[:;] ", message, maxsplit=1)[-1]


def split_beginning(name: str) -> tuple[str, str]:
    """The word that a name begins with and should not, and the rest; empty if there is none."""
    for word in (NEGATED.rstrip("_"), *OF_DATA, *OF_CLASSES, *OF_OBJECTIVES, MEAN, GREATEST):
        if re.match(f"{word}[_:-]", name):
            return word, name[len(word) + 1 :]
    return "", ""


def explain_end(typed: Spelling) -> str | None:
    """The error of a metric of every class: "precisionByLabel"."""
    for spelling in other_spellings(typed):
        name = spelling.name.lower()
        try:
            is_known = name.endswith(OF_A_CLASS) and look_up(spelling.of(name.removesuffix(OF_A_CLASS))) is not None
        except ValueError:
            is_known = True
        if is_known:
            return f"unknown metric {show(typed)}: it is that of every class, which fm.classification_report has"
    return None


def explain_options(typed: Spelling) -> str | None:
    """The error of a metric with options as CatBoost writes them: "NDCG:top=10;type=Exp"."""
    name, colon, rest = typed.name.partition(":")
    if not colon:
        return None
    cutoff, options = typed.cutoff, []
    for option in rest.lower().split(";"):
        word, _, value = option.partition("=")
        cutoff = value if word == "top" and value.isdecimal() else cutoff
        options.append(CATBOOST_OPTIONS.get(option, option))
    try:
        known = look_up(Spelling(name, cutoff=cutoff))
    except ValueError as error:
        return str(error)
    if known is None:
        return None
    spec = known.spec
    inside = ", ".join(option for option in options if fits(spec, option))
    words = ", ".join(known_words(spec))
    return (
        f"unknown metric {show(typed)}: write '{line_of(spec, spec.base_name, inside, cutoff)}'; its options: {words}"
    )


CATBOOST_OPTIONS = {"type=exp": "gain=exp2"}


def explain_function(typed: Spelling) -> str | None:
    """The error of a name that is a function's, and no metric's."""
    functions = {key_of(name): name for name in upper_layers.PUBLIC_NAMES if name.islower()}
    for spelling in other_spellings(typed):
        if spelling.options != typed.options or spelling.cutoff != typed.cutoff:
            continue
        word, rest = split_beginning(spelling.name.lower())
        own = rest if word in OF_CLASSES else spelling.name.removesuffix("_index")
        for name in (own, f"{own}_score", f"{own}_loss"):
            if key_of(name) in functions:
                function = f"fm.{functions[key_of(name)]}"
                return f"unknown metric {show(typed)}: it is no metric of a log, but a function of arrays: {function}"
    return None


def line_of(spec: MetricSpec, name: str, inside: str, cutoff: str | None) -> str:
    """A metric string that can be typed."""
    if spec.cutoff == REQUIRED:
        cutoff = cutoff or USUAL_CUTOFF
    elif not spec.cutoff:
        cutoff = None
    return name + (f"({inside})" if inside else "") + (f"@{cutoff}" if cutoff else "")


def suggest_metric(typed: Spelling) -> str:
    """The metrics with a similar name or alias as a question, or where all of them are listed."""
    with_cutoff = next((own for own in other_spellings(typed) if own.cutoff is not None), typed)
    cutoff = None if with_cutoff.cutoff is None else typed_cutoff(with_cutoff)
    names = registration.metrics_by_name()
    similar: dict[str, str] = {}  # by metric: the line of the name or alias that is nearest
    for word in similar_words(snake_name(with_cutoff.name), names):
        named = names[word]
        fitting = [own for own in named if (own[0].cutoff if cutoff else own[0].cutoff != REQUIRED)]
        for spec, name in fitting or named:
            inside = typed.inside if typed.options and fits(spec, typed.inside) else ""
            similar.setdefault(spec.name, line_of(spec, name, inside, cutoff))
    lines = list(dict.fromkeys(similar.values()))[:MOST_SUGGESTED]
    return ask_for(lines) if lines else NOTHING_LIKE_IT
