"""`python -m graphclust` is `graphclust`."""

import sys

from graphclust.faces.cli.main import main

sys.exit(main())
