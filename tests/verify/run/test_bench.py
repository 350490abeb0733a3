"""An error's phase depends on where it was raised, not on its words."""

import pytest
from latebind.errors import InputError, LatebindError, NotRun, ToolError
from latebind.verify.run.bench import PhaseError, failing_at


def test_an_error_inside_gets_the_phase_and_keeps_its_words():
    with pytest.raises(PhaseError) as caught, failing_at("install"):
        raise ToolError("uv failed", where="a.log", advice="Look.")
    assert (caught.value.phase, str(caught.value)) == ("install", "a.log: uv failed\n  Look.")


def test_the_inner_phase_wins():
    with pytest.raises(PhaseError) as caught, failing_at("load"), failing_at("install"):
        raise InputError("no result")
    assert caught.value.phase == "install"


def test_not_run_passes_unchanged():
    with pytest.raises(NotRun), failing_at("install"):
        raise NotRun("no-dotnet", "there is no dotnet")
    assert not issubclass(NotRun, PhaseError)
    assert issubclass(PhaseError, LatebindError)
