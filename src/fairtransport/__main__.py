"""``python -m fairtransport`` is the command line."""

from fairtransport.cli import main

raise SystemExit(main())
