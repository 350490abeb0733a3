"""What a message advises, by the place of the library that holds the loader, and by what its host gave."""

import shutil

import pytest

PIP, NPM = 'pip install "onnxruntime>=1.19"', 'npm install "onnxruntime-node@>=1.19"'
OR, AND = " (or name its file in ONNXRUNTIME_LIB_PATH)", ", and name its file in ONNXRUNTIME_LIB_PATH"


@pytest.mark.parametrize(
    ("place", "beside", "advice"),
    [
        ("lib", "", PIP + AND),
        ("node_modules/engine", "", NPM + AND),
        ("app", "app.deps.json", "dotnet add package Microsoft.ML.OnnxRuntime" + OR),
        ("app", "app.exe.config", "dotnet add package Microsoft.ML.OnnxRuntime" + OR),
        ("latebind-jar-1234", "", PIP + AND),
    ],
    ids=["nowhere", "npm", "NuGet", ".NET Framework", "a folder named like a JAR's, without Java"],
)
def test_a_place(plain, tmp_path, place, beside, advice):
    folder = tmp_path / place
    folder.mkdir(parents=True)
    shutil.copy(plain.folder / "probe", folder)
    if beside:
        (folder / beside).touch()
    message = plain.probe("--no-system", program=folder / "probe")["report"]["message"]
    assert message.partition("Get it with: ")[2] == advice


def test_a_host_that_offers_folders_may_have_the_packages_among_them(plain, tmp_path):
    message = plain.probe("--no-system", "--dir", tmp_path)["report"]["message"]
    assert message.endswith(PIP + OR)


def test_the_hosts_own_advice_goes_first(plain, tmp_path):
    folder = tmp_path / "node_modules"
    folder.mkdir()
    shutil.copy(plain.folder / "probe", folder)
    message = plain.probe("--no-system", "--advice", "apt install it", program=folder / "probe")["report"]["message"]
    assert message.endswith("Get it with: apt install it" + OR)
