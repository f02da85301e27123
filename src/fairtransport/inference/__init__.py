"""Statistical inference: sampling laws of ψ(f_n), confidence bounds, tests, sample sizes."""

import lazy_loader

import fairtransport._core.compilation  # noqa: F401 - before any compiled function

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
