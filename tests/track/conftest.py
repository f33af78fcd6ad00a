from tests.arena import box, endpoint  # noqa: F401 - fixtures
from tests.audit.conftest import standard  # noqa: F401 - a fixture
