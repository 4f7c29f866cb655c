"""Loads a test file with its imports of NumPy replaced, statement by statement.

`replace_imports` rewrites the syntax tree; `execute` runs it and skips (and reports) top-level
statements and class members that fail, so that one missing name does not cost a whole file. Called
by `plugin.py`. Next: `swap.py`.
"""

from __future__ import annotations
import __future__

import ast
import types
from dataclasses import dataclass
from typing import Any

SWAP = "@swap"
"""The name, no identifier, under which a rewritten module finds its `Swap`."""


@dataclass
class Skipped:
    """A statement that could not be executed: its line, what it defines and the exception."""

    line: int
    what: str
    error: BaseException


class _Imports(ast.NodeTransformer):
    """Turns imports of numpy into assignments from the swap."""

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for alias in node.names:
            if alias.name.split(".")[0] != "numpy":
                out.append(ast.Import([alias]))
            elif alias.asname:
                out.append(_assign(alias.asname, "module", alias.name))
            else:
                out.append(ast.Import([alias]))  # runs the submodule's import
                out.append(_assign("numpy", "module", "numpy"))
        return [ast.copy_location(ast.fix_missing_locations(s), node) for s in out]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if node.level or (node.module or "").split(".")[0] != "numpy":
            return node
        out = [_assign(a.asname or a.name, "name", node.module, a.name) for a in node.names]
        return [ast.copy_location(s, node) for s in out]


def _assign(target: str, method: str, *args: Any) -> ast.stmt:
    function = ast.Attribute(ast.Name(SWAP, ast.Load()), method, ast.Load())
    call = ast.Call(function, [ast.Constant(a) for a in args], [])
    return ast.Assign([ast.Name(target, ast.Store())], call)


def replace_imports(tree: ast.Module) -> ast.Module:
    """The tree with imports of numpy replaced, at any depth."""
    _Imports().visit(tree)
    return ast.fix_missing_locations(tree)


def execute(tree: ast.Module, module: types.ModuleType, path: str) -> list[Skipped]:
    """Run a module's statements in order; returns those that failed."""
    skipped: list[Skipped] = []
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            flags |= sum(getattr(__future__, a.name).compiler_flag for a in node.names)
    for node in tree.body:
        while True:
            code = compile(ast.Module([node], []), path, "exec", flags, dont_inherit=True)
            try:
                exec(code, module.__dict__)
            except Exception as error:
                member = _failing_member(node, error, path)
                skipped.append(_skipped(node if member is None else member, node, error))
                if member is None:
                    break
                node.body.remove(member)  # type: ignore[attr-defined]
            else:
                break
    return skipped


def _failing_member(node: ast.stmt, error: BaseException, path: str) -> ast.stmt | None:
    """The statement of a class body that raised; None if `node` is no class or would be empty."""
    if not isinstance(node, ast.ClassDef) or len(node.body) < 2:
        return None
    lines = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path and trace.tb_frame.f_code.co_name == node.name:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    for member in node.body:
        first = min([member.lineno, *[d.lineno for d in getattr(member, "decorator_list", [])]])
        if lines and first <= lines[0] <= (member.end_lineno or first):
            return member
    return None


def _skipped(node: ast.stmt, outer: ast.stmt, error: BaseException) -> Skipped:
    what = getattr(node, "name", type(node).__name__)
    if node is not outer:
        what = f"{getattr(outer, 'name', '')}::{what}"
    return Skipped(node.lineno, what, error)
