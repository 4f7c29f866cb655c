"""Business days, and dates as text.

`isnat` is a ufunc, in `ufuncs.py`.
"""

from __future__ import annotations

import numpy as np

from numen.namespace.calling import host

__all__ = ["busday_count", "busday_offset", "is_busday", "busdaycalendar"]
__all__ += ["datetime_as_string", "datetime_data"]

busdaycalendar = np.busdaycalendar
busday_count = host(
    np.busday_count,
    """Business days from begindates up to, not including, enddates.

    Examples
    --------
    >>> import numen as nm
    >>> nm.busday_count("2024-01", "2024-02")
    np.int64(23)
    """,
)
busday_offset = host(
    np.busday_offset,
    """Dates moved to business days (`roll`), then by a number of business days.

    Examples
    --------
    >>> import numen as nm
    >>> nm.busday_offset("2024-03", 0, roll="forward", weekmask="Mon")
    np.datetime64('2024-03-04')
    """,
)
is_busday = host(np.is_busday)
datetime_as_string = host(np.datetime_as_string)
datetime_data = np.datetime_data
