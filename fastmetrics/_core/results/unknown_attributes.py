"""The answer to an attribute that a result does not have: the one that is meant."""

from __future__ import annotations

from typing import Any

from fastmetrics._core.suggestions import MOST_SUGGESTED, similar_words

# Attributes of results, and what other libraries call them.
WORDS = {
    "to_pandas": "to_dataframe to_data_frame to_frame to_df to_pd as_dataframe as_df as_pandas df dataframe frame",
    "to_polars": "to_pl as_polars",
    "to_arrow": "to_table to_pyarrow as_arrow to_pa table",
    "to_dict": "as_dict asdict _asdict dict to_dicts as_dicts to_records records dump model_dump",
    "to_json": "as_json json dumps save write export to_file model_dump_json",
    "to_csv": "as_csv csv write_csv",
    "to_parquet": "parquet write_parquet",
    "to_html": "as_html html show display",
    "to_markdown": "as_markdown to_md markdown",
    "to_metrics": "metrics scores results mean_scores",
    "slices": "slice by groups segments",
    "value": "loc sel at",
    "keys": "names columns",
    "plot": "plots figure curves draw",
    "signature": "signatures",
}


def answer_to_attribute(result: Any, name: str) -> str:
    """The message of an AttributeError."""
    title = f"{type(result).__name__!r} object has no attribute {name!r}"
    if name.startswith("_"):
        return title
    known = [own for own in dir(type(result)) if not own.startswith("_")]
    near = [own for own, words in WORDS.items() if own in known and name.lower() in words.split()]
    if not near and name in result:
        return f"{title}; did you mean [{name!r}]?"
    near = near or similar_words(name.lower(), known)
    typed = [f"{own}()" if callable(getattr(type(result), own)) else own for own in near[:MOST_SUGGESTED]]
    return f"{title}; did you mean {' or '.join(typed)}?" if typed else f"{title}; help(result) lists what it has"
