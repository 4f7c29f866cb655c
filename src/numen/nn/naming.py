"""Which layer of a model an exception came from: a note on the exception, by the layer's path.

Called by `Module.__call__` where a forward pass raises. Next: `module.py`.
"""

from __future__ import annotations

from typing import Any

LAYER = "_numen_layer"


def name_layer(module: Any, error: Exception) -> None:
    """Note the path of the layer that raised, as the model `module` knows it.

    Every module on the way out calls this: the innermost is the layer, each one around it knows a
    longer path.
    """
    inner, note = error.__dict__.get(LAYER, (module, None))
    if inner is not module:
        for path, child in module.named_modules():
            if child is inner:
                notes = getattr(error, "__notes__", [])
                if note in notes:
                    notes.remove(note)
                note = f"in layer {path} ({type(inner).__name__}) of {type(module).__name__}"
                error.add_note(note)
                break
    error.__dict__[LAYER] = (inner, note)
