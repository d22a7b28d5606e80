"""Types of numpy arrays that the readers share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.intp]
