"""The strict backend is there for this folder's modules alone: it takes the fast paths away."""

import pytest

from numen.backends import strict
from numen.dispatch.backends import register_backend, unregister_backend


@pytest.fixture(autouse=True, scope="module")
def registered():
    register_backend(strict.BACKEND)
    yield
    unregister_backend("strict")
