"""How far a package came is told by where an error was met, never by its words."""

import pytest
from latebind.errors import InputError, LatebindError, NotRun, ToolError
from latebind.verify.run.bench import PhaseError, failing_at


def test_what_fails_inside_fails_at_that_stage_with_all_that_it_said():
    with pytest.raises(PhaseError) as caught, failing_at("install"):
        raise ToolError("uv failed", where="a.log", advice="Look.")
    assert (caught.value.phase, str(caught.value)) == ("install", "a.log: uv failed\n  Look.")


def test_who_stands_nearer_knows_better():
    with pytest.raises(PhaseError) as caught, failing_at("load"), failing_at("install"):
        raise InputError("no result")
    assert caught.value.phase == "install"


def test_what_cannot_be_tried_has_not_failed():
    with pytest.raises(NotRun), failing_at("install"):
        raise NotRun("no-dotnet", "there is no dotnet")
    assert not issubclass(NotRun, PhaseError)
    assert issubclass(PhaseError, LatebindError)
