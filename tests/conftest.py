"""What every test gets: an object cache of the run's own, and the default engine."""

import os
import shutil
import tempfile

import pytest
from hypothesis import settings

# Workers of pytest-xdist inherit the variable, so the whole run shares one cache and leaves the
# user's alone.
OWN_CACHE = None
if "NUMEN_CACHE_DIR" not in os.environ:
    OWN_CACHE = os.environ["NUMEN_CACHE_DIR"] = tempfile.mkdtemp(prefix="numen-test-cache-")

settings.register_profile("numen", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("numen")


def pytest_unconfigure(config):
    if OWN_CACHE is not None:
        shutil.rmtree(OWN_CACHE, ignore_errors=True)


@pytest.fixture(autouse=True)
def default_engine():
    """A test may set `config.engine`; the next one starts from "auto" again."""
    from numen.settings import config

    before = config.engine
    yield
    if config.engine != before:
        config.engine = before


@pytest.fixture(autouse=True)
def fast_paths(request):
    """A test that names another device takes the fast paths away; the next one has them again."""
    from numen.dispatch import backends

    yield
    if backends.in_use() and "tests/backends/" not in request.node.nodeid:
        backends.unregister_backend("strict")
