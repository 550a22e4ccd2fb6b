"""`python -m graphclust` is `graphclust`."""

import sys

from graphclust.faces.cli import main

sys.exit(main())
