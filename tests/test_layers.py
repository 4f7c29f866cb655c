"""The layer contract: a folder imports only from those below it, and each has its place."""

import tomllib
from pathlib import Path

import grimp
import pytest
from importlinter import cli

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def imports():
    return grimp.build_graph("numen", include_external_packages=True, cache_dir=None)


def layers():
    """The names in the contract, top to bottom, neighbours apart."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (contract,) = table["tool"]["importlinter"]["contracts"]
    return [name.strip(" ()") for layer in contract["layers"] for name in layer.split("|")]


def test_the_contract_is_kept():
    config = str(ROOT / "pyproject.toml")
    assert cli.lint_imports(config_filename=config, no_cache=True) == cli.EXIT_STATUS_SUCCESS


def test_every_module_has_a_layer(imports):
    children = {name.removeprefix("numen.") for name in imports.find_children("numen")}
    assert children <= set(layers())


def test_nothing_inside_imports_the_package_from_the_top(imports):
    assert imports.find_modules_that_directly_import("numen") == set()


def test_errors_import_nothing_of_ours(imports):
    imported = imports.find_modules_directly_imported_by("numen.errors")
    assert not {name for name in imported if name.startswith("numen")}


def test_heavy_packages_are_imported_in_one_place(imports):
    """llvmlite is touched by the native runtime alone, and no test or peer package by anything."""
    users = imports.find_modules_that_directly_import("llvmlite")
    assert users <= {"numen.runtime.native"}
    external = {name for name in imports.modules if imports.is_module_squashed(name)}
    assert not external & {"torch", "safetensors", "pytest", "hypothesis", "tqdm", "PIL"}
