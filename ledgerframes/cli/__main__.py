"""``python -m ledgerframes.cli``."""

import sys

from ledgerframes.cli.app import main

sys.exit(main())
