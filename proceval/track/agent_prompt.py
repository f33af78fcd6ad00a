"""An agent's system prompt: a Jinja template, ours or a user's."""

from collections.abc import Mapping
from pathlib import Path

from proceval.errors import InputError
from proceval.schema import AgentCase
from sandbox.shell import FOLDER

_OWN = Path(__file__).parent / "agent.md"


class SystemPrompt:
    """Rendered for each case with `folder`, `tools` (name, tells), `group`, `id`, `turns` and `max_turns`.

    An empty text means no system message. Raises InputError for a file that cannot be read or is no such template.
    """

    def __init__(self, path: str | None, tools: Mapping[str, str]):
        from jinja2 import StrictUndefined, TemplateSyntaxError
        from jinja2.sandbox import SandboxedEnvironment

        self._said = f"track.system_prompt={path}"
        self._tools = [{"name": name, "tells": tells} for name, tells in tools.items()]
        try:
            text = (_OWN if path is None else Path(path)).read_text(encoding="utf-8")
            self._template = SandboxedEnvironment(undefined=StrictUndefined, autoescape=False).from_string(text)
        except TemplateSyntaxError as error:
            raise InputError(f"{self._said}, line {error.lineno}: {error.message}") from error
        except UnicodeDecodeError as error:
            raise InputError(f"{self._said}: not UTF-8 text") from error
        except OSError as error:
            raise InputError(f"{self._said}: {(error.strerror or 'cannot be read').lower()}") from error

    def of(self, case: AgentCase) -> str:
        """The text for a case. Raises InputError for a name that is not there."""
        from jinja2 import TemplateError

        group, _, name = case.family.partition("/")
        known = {"group": group, "id": name, "turns": len(case.turns), "max_turns": case.max_turns}
        try:
            return self._template.render(folder=FOLDER, tools=self._tools, **known).strip()
        except (TemplateError, ArithmeticError, TypeError, ValueError) as error:
            raise InputError(f"{self._said}: {error}; known are folder, tools, {', '.join(known)}") from error
