"""One evaluation in a process of its own, to be killed: once.py BASE_URL FOLDER SAMPLES [FILE_BYTES]."""

import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from proceval.errors import ProcevalError  # noqa: E402
from tests.arena import evaluate, http_model, problem, quick  # noqa: E402

if __name__ == "__main__":
    base_url, folder, samples, *limit = sys.argv[1:]
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit[0]), int(limit[0])))
    try:
        report = evaluate(
            [problem(n) for n in range(40)],
            Path(folder),
            model=http_model(base_url),
            engine=quick(concurrency=8),
            samples=int(samples),
        )
    except ProcevalError as error:
        print(f"{type(error).__name__}: {error}")
        sys.exit(error.exit_status)
    print(dict(report.outcomes), report.requests, report.resumed)
    sys.exit(report.exit_status)
