"""Run the command line with ``python -m ledgerframes``."""

import sys

from ledgerframes.cli import main

sys.exit(main())
