"""`numpy.lib.npyio`: the class of what `load` makes of an npz file, and NumPy's DataSource."""

from numpy.lib.npyio import DataSource

from numen.namespace.io import NpzFile

__all__ = ["DataSource", "NpzFile"]
