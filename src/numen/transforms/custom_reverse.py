"""custom_vjp: a function whose reverse-mode derivative the user gives, as in JAX.

Next: `custom_forward.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numen.errors import GradientError, describe
from numen.transforms.custom import Custom, TreeRule, matched
from numen.transforms.rules import Leaves
from numen.transforms.trees import flatten


class custom_vjp(Custom):  # noqa: N801 (JAX's name)
    """A function whose reverse-mode derivative is given by `defvjp`; also a decorator.

    Parameters
    ----------
    fun : callable
        Takes and returns arrays, or tuples, lists and dicts of them.
    nondiff_argnums : sequence of int
        Positions of arguments that are not differentiated (functions, options); the backward rule
        gets them first.

    Raises
    ------
    GradientError
        When differentiated: if no rule was given, a rule returns something of another form, the
        function's result depends on a captured array that carries a gradient, or in forward mode,
        for which `custom_jvp` is made.

    Notes
    -----
    Higher derivatives differentiate what `fwd` and `bwd` do. What `fwd` saves beside its arguments
    and results is computed again where it is differentiated.

    Examples
    --------
    >>> import numen as nm
    >>> @nm.custom_vjp
    ... def log1pexp(x):
    ...     return nm.log(1 + nm.exp(x))
    >>> def fwd(x):
    ...     return log1pexp(x), x
    >>> def bwd(x, g):
    ...     return (g / (1 + nm.exp(-x)),)
    >>> log1pexp.defvjp(fwd, bwd)
    >>> nm.grad(log1pexp)(nm.array(100.0))
    np.float64(1.0)
    """

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        super().__init__(fun, nondiff_argnums, "custom_vjp")
        self.fwd: Callable[..., Any] | None = None
        self.bwd: Callable[..., Any] | None = None

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Give the rules.

        Parameters
        ----------
        fwd : callable
            Takes the function's arguments, returns (result, residuals): what `bwd` needs.
        bwd : callable
            Takes the arguments of `nondiff_argnums`, the residuals and the result's cotangent;
            returns a tuple with one cotangent for each of the other arguments, of its form; None
            stands for zeros.
        """
        self.fwd, self.bwd = fwd, bwd

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.fwd is None or self.bwd is None:
            raise AttributeError(f"{self.name}: has no rules. Hint: defvjp(fwd, bwd)")
        given = self.positional(args, kwargs)
        return _VjpRule(self, given).run(given)


class _VjpRule(TreeRule):
    """One call of a custom_vjp."""

    custom: custom_vjp

    def forward(self, leaves: Leaves, needs: Sequence[bool]) -> tuple[Leaves, Leaves]:
        assert self.custom.fwd is not None
        pair = self.custom.fwd(*self.all_args(leaves))
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise GradientError(
                f"{self.name}: fwd must return (result, residuals), got {describe(pair)}"
            )
        saved, self.saved_structure = flatten(pair[1])
        return self.results(pair[0], "fwd"), saved

    def backward(self, saved: Leaves, cotangents: Leaves, needs: Sequence[bool]) -> Leaves:
        assert self.custom.bwd is not None
        residuals = self.saved_structure.unflatten(saved)
        found = self.custom.bwd(*self.fixed, residuals, self.full(cotangents))
        count = len(self.positions)
        if not isinstance(found, (tuple, list)) or len(found) != count:
            got = (
                f"{type(found).__name__} of {len(found)}"
                if isinstance(found, (tuple, list))
                else describe(found)
            )
            raise GradientError(
                f"backward: bwd of {self.name} must return a tuple with a cotangent for each of "
                f"{count} arguments; got a {got}"
            )
        return matched(self.structure, tuple(found), f"backward: bwd of {self.name}")

    def tangent(self, primals: Leaves, tangents: Leaves) -> tuple[Leaves, Leaves]:
        raise GradientError(
            f"{self.name}: has no rule for forward mode (jvp). Hint: custom_jvp gives both modes"
        )
