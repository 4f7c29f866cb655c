"""torch's three tables, and how an entry of each is run. Next: `operations.py`."""

from __future__ import annotations

import functools
from typing import Any

from tests.oracle import absent, modules, operations, optimizers
from tests.oracle.cases import Tally
from tests.oracle.counterparts import counterpart
from tests.oracle.mapping import COUNTERPARTS
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db
from torch.testing._internal.common_optimizers import optim_db


@functools.cache
def table(part: str) -> dict[str, Any]:
    """Entries by name, in torch's order."""
    if part == "operations":
        return {operations.name_of(info): info for info in op_db}
    if part == "modules":
        return {modules.name_of(info): info for info in module_db}
    return {info.optim_cls.__name__: info for info in optim_db}


def entries() -> list[tuple[str, str]]:
    return [(p, name) for p in ("operations", "modules", "optimizers") for name in table(p)]


def run(part: str, name: str, limit: int | None, jit: bool) -> Tally:
    """Compare one entry; a Tally with `absent` where numen has nothing like it."""
    info = table(part)[name]
    if part == "modules":
        return modules.run(info, limit, jit)
    if part == "optimizers":
        return optimizers.run(info, jit)
    if name in COUNTERPARTS:
        return operations.run(info, counterpart(COUNTERPARTS[name]), limit, jit)
    tally = Tally(part, name)
    tally.absent = absent.reason(name) or "no reason given"
    return tally
