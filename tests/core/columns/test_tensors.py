"""Tensors, arrays of types that NumPy lacks and arrays of ctypes are read everywhere, by one function."""

import re
import warnings

import numpy as np
import pytest

import fastmetrics as fm
from support.hostile import changing_arrays
from support.hostile.tensors import TensorWithGradients

ROWS = 100
LOG = {
    "label": np.random.default_rng(0).integers(0, 2, ROWS).astype(np.float32),
    "score": np.random.default_rng(1).random(ROWS).astype(np.float32),
}
KEPT = {"offsets", "small_offsets", "texts"}  # numbers of rows, and the bytes of Arrow's texts


def function(label, score):
    return fm.roc_auc_score(label, score)


def evaluation(label, score):
    return fm.evaluate({"label": label, "score": score}, "auc", label="label", score="score")["auc"]


def accumulation(label, score):
    state = fm.Accumulator("auc", label="label", score="score")
    state.update({"label": label, "score": score})
    return state.result()["auc"]


def training(label, score):
    metrics = fm.TrainingMetrics("auc")
    metrics.update(label=label, score=score)
    return metrics.result()["auc"]


ENTRY_POINTS = (function, evaluation, accumulation, training)


def torch_tensors():
    torch = pytest.importorskip("torch")
    score = torch.tensor(LOG["score"], requires_grad=True)
    yield score, LOG["score"]
    yield torch.stack([score, score], 1)[:, 0], LOG["score"]
    for kind in (torch.bfloat16, torch.float16, torch.float8_e4m3fn):
        yield score.to(kind), score.detach().to(kind).float().numpy()
    yield list(score), LOG["score"]
    yield tuple(score.bfloat16()), score.detach().bfloat16().float().numpy()
    yield torch.nn.Parameter(score.detach()), LOG["score"]


def arrays_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for kind in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        narrow = LOG["score"].astype(kind)
        yield narrow, narrow.astype(np.float32)
        yield list(narrow), narrow.astype(np.float32)


def arrays_of_jax():
    jax = pytest.importorskip("jax").numpy
    score = jax.asarray(LOG["score"])
    yield score, LOG["score"]
    yield score.astype(jax.bfloat16), np.asarray(score.astype(jax.bfloat16)).astype(np.float32)
    yield list(score), LOG["score"]


def other_arrays():
    yield TensorWithGradients(LOG["score"]), LOG["score"]
    yield list(TensorWithGradients(LOG["score"])[:, None]), LOG["score"]
    named = LOG["score"].astype(LOG["score"].dtype.newbyteorder("<"))
    assert memoryview(named).format == "<f"  # what LightGBM gives
    yield named, LOG["score"]


@pytest.mark.parametrize("read", ENTRY_POINTS)
@pytest.mark.parametrize("arrays", [torch_tensors, arrays_of_ml_dtypes, arrays_of_jax, other_arrays])
def test_every_entry_point_reads_them(arrays, read):
    for given, plain in arrays():
        if isinstance(given, list) and getattr(given[0], "ndim", 0):
            continue
        expected = fm.roc_auc_score(LOG["label"], plain)
        assert read(LOG["label"], given) == expected
        assert read(TensorWithGradients(LOG["label"]), given) == expected


@pytest.mark.parametrize("read", ENTRY_POINTS)
def test_what_cannot_be_read_has_one_text(read):
    torch = pytest.importorskip("torch")
    elsewhere, sparse = torch.tensor(LOG["score"]).to("meta"), torch.eye(3).to_sparse()
    for given, advice in ((elsewhere, r"\.cpu\(\)"), (sparse, "to_dense")):
        name = "y_score" if read is function else r"data\['score'\]"
        with pytest.raises(TypeError, match=f"^{name} cannot be read as an array of NumPy: .*{advice}"):
            read(LOG["label"][: len(given)], given)


def called(calls):
    """What the calls return, as texts, or the errors that they raise."""
    found = []
    for call in calls:
        try:
            found.append(re.sub(r", [\d.]+ s\n", "\n", repr(call())))  # without the time of evaluate
        except ValueError as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("form", ["tensor", "ctypes"])
def test_every_function_reads_them(form, monkeypatch):
    monkeypatch.setattr(changing_arrays, "ROWS", 2000)
    monkeypatch.setattr(changing_arrays, "LISTS", 100)
    arrays = changing_arrays.make_arrays()
    forms = {"tensor": TensorWithGradients, "ctypes": lambda own: own.astype(own.dtype.newbyteorder("<"))}
    changed = {name: own if name in KEPT else forms[form](own) for name, own in arrays.items()}
    table = changing_arrays.arrow_columns(arrays)
    monkeypatch.setattr(changing_arrays, "arrow_columns", lambda _: table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        calls, others = (changing_arrays.make_calls(own) for own in (arrays, changed))
        for name, own in calls.items():
            if name != "Accumulator":
                assert called(others[name]) == called(own), name
