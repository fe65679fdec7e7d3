"""Maturin, told which ABI to build for.

The stable ABI has had the buffer protocol, which frames need, since 3.11. So from 3.11 on one build
serves all later versions; 3.9, 3.10 and builds without the GIL get one for their version alone.
"""

import os
import sys
import sysconfig

from maturin import *  # noqa: F403

_FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

if sys.version_info >= (3, 11) and not _FREE_THREADED:
    _given = os.environ.get("MATURIN_PEP517_ARGS", "")
    os.environ["MATURIN_PEP517_ARGS"] = f"{_given} --features abi3".strip()
