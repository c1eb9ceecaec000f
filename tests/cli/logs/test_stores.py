"""Stores and tables on the command line."""

import json

import pytest

import fastmetrics as fm
from support import command_line
from support.files.log_files import log, write_parquet

deltalake = pytest.importorskip("deltalake")
COLUMNS = ["--label", "click", "--score", "score", "-m", "auc"]


def run(*arguments):
    done = command_line.run(*arguments, folder=".")
    return done.returncode, done.stdout, done.stderr


def value(*arguments):
    code, out, err = run("evaluate", *arguments, *COLUMNS, "--json")
    assert code == 0, err
    return json.loads(out)["results"][0]["value"]


def test_stores(store, tmp_path):
    write_parquet(log(500), tmp_path / "day=1" / "part-0.parquet")
    uri = store.upload(tmp_path, f"{store.bucket('command')}/logs")
    expected = fm.evaluate(log(500), "auc", label="click", score="score")["auc"]
    assert value(uri) == value(f"{uri}/day=*") == expected
    options = ["--storage-option", f"endpoint_url={store.address}", "--storage-option", "region=eu-west-1"]
    assert value(uri, *options) == expected
    code, _, err = run("evaluate", uri, *COLUMNS, "--storage-option", "secret=hidden-words")
    assert code == 1
    assert "S3 has no option 'secret'" in err
    assert "hidden-words" not in err
    for wrong in ("hidden-words", "=hidden-words"):
        code, _, err = run("evaluate", uri, *COLUMNS, "--storage-option", wrong)
        assert (code, "hidden-words" in err, "type KEY=VALUE" in err) == (2, False, True)
    code, _, err = run("evaluate", f"{uri}/nowhere", *COLUMNS)
    assert code == 1
    assert f"there is no file {uri}/nowhere" in err.replace("\n", "")


def test_versions_of_tables(tmp_path):
    for seed in (1, 2):
        deltalake.write_deltalake(tmp_path, log(200, seed), mode="overwrite")
    first, second = (fm.evaluate(log(200, seed), "auc", label="click", score="score")["auc"] for seed in (1, 2))
    assert value(tmp_path) == value(tmp_path, "--timestamp", "2100-01-01") == second != first
    assert value(tmp_path, "--table-version", "0") == first
    code, _, err = run("evaluate", tmp_path, *COLUMNS, "--table-version", "7")
    assert code == 1
    assert "no version 7" in err
    code, out, err = run(
        "compare", tmp_path, "--label", "click", "--score", "score", "--score", "user", "-m", "auc",
        "--replicates", "5", "--table-version", "0", "--json",
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["differences"][0]["baseline_value"] == first
