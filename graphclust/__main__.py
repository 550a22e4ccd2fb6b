"""`python -m graphclust` is `graphclust`."""

import sys

from graphclust.cli import main

sys.exit(main())
