"""Models behind addresses: MLflow's protocol, the Open Inference Protocol v2, chat completions."""

from fairtransport.access.endpoints.connecting import connect, open_address
from fairtransport.access.endpoints.endpoint import Endpoint

__all__ = ["Endpoint", "connect", "open_address"]
