"""A job of a workflow that runs here gets what it would get from GitHub, and no more."""

import pytest

from latebind.rehearse.workflow import WorkflowError, WorkflowRun, read_workflow
from tests.support.client import write_files
from tests.support.needs import require_programs


def make_job(*steps, **fields):
    return {"runs-on": "ubuntu-24.04", "steps": list(steps), **fields}


@pytest.fixture
def begin(tmp_path):
    def begin(jobs, **fields):
        for name in ("files", "checkout"):
            (tmp_path / name).mkdir()
        return WorkflowRun({"jobs": jobs}, tmp_path / "files", tmp_path / "checkout", **fields)

    return begin


@pytest.mark.parametrize("hidden", [False, True])
def test_hidden_files_are_handed_on_only_if_asked_for(begin, hidden):
    inputs = {"name": "dist", "path": "dist/", **({"include-hidden-files": True} if hidden else {})}
    run = begin({"packages": make_job({"uses": "actions/upload-artifact@0", "with": inputs})})
    write_files(run.checkout / "dist", {"a.whl": "", ".packed.json": ""})
    run.run_job("packages")
    assert {path.name for path in (run.files / "dist").iterdir()} == (
        {"a.whl", ".packed.json"} if hidden else {"a.whl"}
    )


def test_jobs_of_other_events_are_not_wanted(begin):
    jobs = {
        "release": make_job(**{"if": "github.ref_type == 'tag'"}),
        "newest": make_job(**{"if": "${{ !cancelled() && github.event_name == 'schedule' }}"}),
        "gate": make_job(**{"if": "${{ !cancelled() }}"}),
    }
    run = begin(jobs, tag="v1.0")
    assert [name for name in jobs if run.is_wanted(name)] == ["release", "gate"]


def test_a_failed_step_is_named_with_the_end_of_its_output(begin):
    require_programs("bash")
    run = begin({"x": make_job({"name": "Break it", "run": "echo first; echo last >&2; exit 4"})}, say=lambda _: None)
    with pytest.raises(
        WorkflowError, match=r'the job x failed in the step "Break it", with status 4:\n    first\n    last'
    ):
        run.run_job("x")


def test_what_is_installed_already_is_not_installed(begin):
    run = begin({"x": make_job({"run": 'exit 9; pip install "$LATEBIND"'})}, skipped='"$LATEBIND"')
    run.run_job("x")


def test_an_artifact_that_no_job_made_is_an_error(begin):
    run = begin({"x": make_job({"uses": "actions/download-artifact@0", "with": {"name": "dist", "path": "dist/"}})})
    with pytest.raises(WorkflowError, match="no job uploaded dist"):
        run.run_job("x")


def test_a_file_that_is_not_a_workflow_is_refused(tmp_path):
    (tmp_path / "x.yml").write_text("a: [", encoding="utf-8")
    for name in ("x.yml", "absent.yml"):
        with pytest.raises(WorkflowError, match="cannot be read"):
            read_workflow(tmp_path / name)
