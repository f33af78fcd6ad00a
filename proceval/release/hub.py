"""Uploading a release to the Hugging Face hub, or to whatever HF_ENDPOINT names."""

import os
import re
from pathlib import Path

from proceval.errors import InputError, StorageError
from proceval.release.recheck import manifest

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}\Z", re.ASCII)


def check_name(repo_id: str | None) -> str:
    """The repository's name. Raises InputError unless it is USER/NAME."""
    if repo_id is None:
        raise InputError("repo_id is missing: give repo_id=USER/NAME")
    if not _REPOSITORY.match(repo_id) or ".." in repo_id or "--" in repo_id:
        raise InputError(f"repo_id={repo_id}: allowed is USER/NAME of letters, digits, - _ and . (no -- or ..)")
    return repo_id


def upload(release: Path, *, repo_id: str, private: bool, token: str) -> str:
    """Put the folder's files into the dataset repository, made if need be, in one commit; returns the commit's address.

    Files of an earlier release that this one does not hold are deleted there. Raises InputError for a public repository
    where private was asked for, StorageError when the hub refuses or does not hold afterwards what was sent.
    """
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HfHubHTTPError
    except ImportError as error:
        raise InputError("stage=push needs huggingface_hub: pip install 'proceval[hub]'") from error
    api = HfApi(token=token, endpoint=os.environ.get("HF_ENDPOINT"), library_name="proceval")
    client: type[Exception] = HfHubHTTPError.__mro__[1]  # the base class of its HTTP client's errors
    try:
        api.create_repo(repo_id, repo_type="dataset", private=private, exist_ok=True)
        if private and not api.dataset_info(repo_id).private:
            raise InputError(f"repo_id={repo_id}: exists and is public; nothing was sent (private=false allows it)")
        names = ["manifest.json", *manifest(release)["files"]]
        commit = api.upload_folder(
            repo_id=repo_id,
            repo_type="dataset",
            folder_path=release,
            allow_patterns=names,
            delete_patterns="*",
            commit_message=f"proceval release {manifest(release)['dataset_sha256'][:16]}",
        )
        there = set(api.list_repo_files(repo_id, repo_type="dataset")) - {".gitattributes"}
    except (OSError, ValueError, client) as error:
        raise StorageError(
            f"{repo_id}: the hub refused ({' '.join(str(error).split())[:300]}); the release is whole in {release}, push again"
        ) from error
    if there != set(names):
        raise StorageError(f"{repo_id}: holds {sorted(there ^ set(names))[:5]} differently from {release}; push again")
    return str(commit.commit_url)
