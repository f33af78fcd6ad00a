from tests.arena import box, endpoint  # noqa: F401 - fixtures
