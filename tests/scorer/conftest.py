from arena import box, endpoint  # noqa: F401 - fixtures
