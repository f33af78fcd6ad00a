"""A release as lm-evaluation-harness tasks `proceval_code` and `proceval_answer`; `TASKS` is the folder for --include_path.

lm_eval --model ... --tasks proceval_code --include_path TASKS --metadata '{"release": "FOLDER"}'
"""

from pathlib import Path

TASKS = str(Path(__file__).resolve().parent)
