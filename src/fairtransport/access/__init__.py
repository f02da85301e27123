"""The black box: boxes, files, endpoints, prompts, and the oracle that asks each question once."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
