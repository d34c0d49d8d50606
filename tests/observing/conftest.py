import os
import shutil

import pytest


@pytest.fixture(scope="session")
def of_prometheus():
    """The programs of Prometheus; they are part of the tests, so that a missing package is no reason to leave them out."""
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        missing = "prometheus is not installed (apt install prometheus)"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
