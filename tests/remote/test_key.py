"""Where a key comes from: the environment, or a file that nobody else can read."""

import pytest

from perdure.remote.errors import BadKeyFile
from perdure.remote.key import key_from


@pytest.fixture
def file(tmp_path):
    return tmp_path / "server.key"


def written(file, text, mode=0o600):
    file.write_text(text)
    file.chmod(mode)


def test_the_environment_goes_before_the_file(file):
    assert key_from({}, file) == ""
    written(file, "prd_of_the_file\n")
    assert key_from({}, file) == "prd_of_the_file"
    assert key_from({"PERDURE_KEY": " prd_said "}, file) == "prd_said"
    assert key_from({"PERDURE_KEY": ""}, file) == "prd_of_the_file"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_file_that_others_can_get_at_is_refused(file, mode):
    written(file, "prd_1", mode)
    with pytest.raises(BadKeyFile, match="others than you") as refused:
        key_from({}, file)
    assert "chmod 600" in refused.value.help


@pytest.mark.parametrize("text", ["two words", "line\nline", "é", "x" * 2_000])
def test_what_is_no_key_is_refused_and_not_shown(file, text):
    written(file, text)
    for env in ({}, {"PERDURE_KEY": text}):
        with pytest.raises(BadKeyFile) as refused:
            key_from(env, file)
        assert text not in refused.value.message


def test_what_is_no_file_is_refused(file):
    file.mkdir()
    with pytest.raises(BadKeyFile):
        key_from({}, file)
