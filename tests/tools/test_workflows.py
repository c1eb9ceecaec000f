"""The workflows of .github are YAML, name what exists, and give no job more than it needs."""

import re
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".github"
WORKFLOWS = sorted((FOLDER / "workflows").glob("*.yml"))

pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="no workflows beside the tests")


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def problems(workflow):
    """What GitHub would refuse, or what it would allow too much."""
    if True not in workflow:  # YAML 1.1 reads the key `on` as true
        yield "no events"
    if workflow.get("permissions") != {"contents": "read"}:
        yield "jobs may do more than read, unless they say so"
    for name, job in workflow.get("jobs", {}).items():
        for needed in [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", []):
            if needed not in workflow["jobs"]:
                yield f"{name} needs {needed}, which is no job"
        if "uses" in job:
            if not (ROOT / job["uses"]).is_file():
                yield f"{name} uses {job['uses']}, which is missing"
            continue
        if not job.get("runs-on"):
            yield f"{name} runs nowhere"
        for step in job.get("steps", []):
            if ("uses" in step) == ("run" in step):
                yield f"{name}: a step that neither uses nor runs, or both"
            if "uses" in step and not re.fullmatch(r"[\w./-]+@(?:v\d[\d.]*|release/v\d+)", step["uses"]):
                yield f"{name}: {step['uses']} names no version"
            for path in re.findall(r"(?:^|\s)((?:tools|tests)/[\w./-]+)(?=\s|$)", step.get("run", ""), re.MULTILINE):
                if not (ROOT / path).exists():
                    yield f"{name}: {path} is missing"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow(path):
    assert list(problems(read(path))) == []


def test_what_is_wrong_is_found():
    step = {"run": "python tools/no_such_tool.py", "uses": "actions/checkout@main"}
    workflow = {"jobs": {"one": {"needs": "two", "steps": [step]}, "three": {"uses": "./no/file.yml"}}}
    assert list(problems(workflow)) == [
        "no events",
        "jobs may do more than read, unless they say so",
        "one needs two, which is no job",
        "one runs nowhere",
        "one: a step that neither uses nor runs, or both",
        "one: actions/checkout@main names no version",
        "one: tools/no_such_tool.py is missing",
        "three uses ./no/file.yml, which is missing",
    ]


def test_only_the_job_that_publishes_has_an_identity():
    jobs = read(FOLDER / "workflows/publish.yml")["jobs"]
    assert {name for name, job in jobs.items() if "id-token" in job.get("permissions", {})} == {"pypi"}
    pypi = jobs["pypi"]
    assert pypi["environment"]["name"] == "pypi"
    assert pypi["permissions"] == {"id-token": "write"}
    assert not [step for step in pypi["steps"] if "run" in step]
    (upload,) = [step for step in pypi["steps"] if step["uses"].startswith("pypa/gh-action-pypi-publish@")]
    assert upload["with"] == {"attestations": True}
    texts = [path.read_text(encoding="utf-8") for path in WORKFLOWS]
    assert not [text for text in texts if "secrets." in text or "password" in text]


def test_what_is_published_is_what_was_checked():
    """publish.yml takes the artifacts that wheels.yml makes after its checks."""
    workflow = read(FOLDER / "workflows/wheels.yml")
    assert "workflow_call" in workflow[True]
    made = {}
    for name, job in workflow["jobs"].items():
        runs = [step.get("run", "") for step in job["steps"]]
        uploads = [step for step in job["steps"] if step.get("uses", "").startswith("actions/upload-artifact@")]
        for upload in uploads:
            assert any("tools/check_release.py" in run for run in runs[: job["steps"].index(upload)]), name
            made[name] = upload["with"]["name"]
    assert made == {"wheels": "dist-${{ matrix.os }}", "sdist": "dist-sdist"}
    downloads = [
        step["with"]["pattern"]
        for job in read(FOLDER / "workflows/publish.yml")["jobs"].values()
        for step in job.get("steps", [])
        if step.get("uses", "").startswith("actions/download-artifact@") and "pattern" in step["with"]
    ]
    assert downloads == ["dist-*", "dist-*"]


@pytest.mark.parametrize("name", ["bug.yml", "feature.yml"])
def test_forms_of_issues(name):
    form = read(FOLDER / "ISSUE_TEMPLATE" / name)
    assert form["name"]
    assert form["description"]
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids)) > 0
    assert all(field["attributes"]["label"] for field in form["body"])
