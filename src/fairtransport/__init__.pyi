from . import access as access
from . import datasets as datasets
from . import inference as inference
from . import selection as selection
from . import similarity as similarity
from .audits import AuditResult as AuditResult
from .audits import Audits as Audits
from .audits import Comparison as Comparison
from .audits import audit as audit
from .audits import audit_many as audit_many
from .audits import compare as compare
from .data import Clusters as Clusters
from .data import Controls as Controls
from .data import SampleSpace as SampleSpace
from .data import Weights as Weights
from .errors import DataError as DataError
from .errors import FairtransportError as FairtransportError
from .errors import InputError as InputError
from .errors import ModelError as ModelError
from .errors import NoCandidateError as NoCandidateError
from .geometry import Embedding as Embedding
from .geometry import Geometry as Geometry
from .losses import Loss as Loss
from .monitor import Monitor as Monitor
from .settings import Queries as Queries
from .transport import AuditProblem as AuditProblem

__version__: str
