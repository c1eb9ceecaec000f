"""From a path or a URI to a file system and a path in it.

pyarrow's own file systems serve S3, Google Cloud Storage, Azure and HDFS; fsspec's serve other schemes, where fsspec is
installed. Credentials are found as these libraries find them, and are never part of a message.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote, urlsplit

from fastmetrics._core.calls.missing_files import printable
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import fs
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.files.data_file import DataFile
from fastmetrics.engine.input.files.request_limits import REQUEST_SECONDS, limit_requests

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
QUERY = re.compile(r"\?((?:[A-Za-z_]+=[^&?*\[\]]*)(?:&[A-Za-z_]+=[^&?*\[\]]*)*)$")
# Google's library repeats a failed request for 15 minutes, unless it is told otherwise.
RETRY_SECONDS = 5.0
TIMEOUT = "request_timeout"
LONGEST_TIMEOUT = 86400
DEFAULT_HDFS_PORT = 8020


class Location(NamedTuple):
    """A path in a file system; None is that of the local disk.

    Messages show `prefix` and the address, without its first `cut` characters.
    """

    filesystem: Any
    address: str
    prefix: str = ""
    cut: int = 0

    def __str__(self) -> str:
        return printable(self.prefix + self.address[self.cut :])

    def child(self, address: str) -> Location:
        """Another path of the same file system."""
        return self._replace(address=address)

    def data_file(self) -> DataFile:
        """The file at this place."""
        return DataFile(str(self), self.filesystem, self.address)


def read_flag(text: str) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if text.lower() not in words:
        raise ValueError("type true or false")
    return words[text.lower()]


def read_seconds(text: str) -> timedelta:
    return timedelta(seconds=float(text))


def read_timeout(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= LONGEST_TIMEOUT:
        raise ValueError(f"type seconds, more than 0 and at most {LONGEST_TIMEOUT}")
    return seconds


def _open_s3(host: str, options: dict[str, Any]) -> Any:
    # The variables of AWS's own tools, of which pyarrow reads only the region.
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint:
        options.setdefault("endpoint_override", endpoint)
    is_known = {"region", "endpoint_override"} & set(options) or any(
        map(os.environ.get, ("AWS_REGION", "AWS_DEFAULT_REGION"))
    )
    if not is_known:
        options["region"] = fs.resolve_s3_region(host)
    return fs.S3FileSystem(**options)


def _open_gcs(host: str, options: dict[str, Any]) -> Any:
    limit = options.pop(TIMEOUT, REQUEST_SECONDS)
    options.setdefault("retry_time_limit", timedelta(seconds=RETRY_SECONDS))
    return limit_requests(fs.GcsFileSystem(**options), limit)


def _open_azure(host: str, options: dict[str, Any]) -> Any:
    account = host.rpartition("@")[2] if "@" in host else ""
    options.setdefault("account_name", account.partition(".")[0] or os.environ.get("AZURE_STORAGE_ACCOUNT_NAME"))
    if options["account_name"] is None:
        raise ValueError(
            "name the storage account: abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/..., or "
            "storage_options={'account_name': ...}"
        )
    limit = options.pop(TIMEOUT, REQUEST_SECONDS)
    return limit_requests(fs.AzureFileSystem(**options), limit)


def _open_hdfs(host: str, options: dict[str, Any]) -> Any:
    name, _, port = host.partition(":")
    options.setdefault("host", name or "default")
    options.setdefault("port", int(port) if port else DEFAULT_HDFS_PORT if name else 0)
    return fs.HadoopFileSystem(**options)


class StoreKind(NamedTuple):
    """A kind of store: its constructor, the types of its options, and other names of them."""

    name: str
    open: Callable[[str, dict[str, Any]], Any]
    options: Mapping[str, Callable[[str], Any]]
    other_names: Mapping[str, str] = {}


S3 = StoreKind(
    "S3", _open_s3,
    {
        "access_key": str, "secret_key": str, "session_token": str, "region": str, "endpoint_override": str,
        "scheme": str, "anonymous": read_flag, "role_arn": str, "session_name": str, "external_id": str,
        "load_frequency": int, "request_timeout": float, "connect_timeout": float, "proxy_options": str,
        "force_virtual_addressing": read_flag, "tls_ca_file_path": str,
    },
    {
        "aws_access_key_id": "access_key", "aws_secret_access_key": "secret_key", "aws_session_token": "session_token",
        "aws_region": "region", "aws_default_region": "region", "endpoint_url": "endpoint_override",
        "aws_endpoint_url": "endpoint_override",
    },
)  # fmt: skip
GCS = StoreKind(
    "Google Cloud Storage", _open_gcs,
    {
        "anonymous": read_flag, "target_service_account": str, "scheme": str, "endpoint_override": str,
        "retry_time_limit": read_seconds, "project_id": str, TIMEOUT: read_timeout,
    },
)  # fmt: skip
AZURE = StoreKind(
    "Azure", _open_azure,
    {
        "account_name": str, "account_key": str, "sas_token": str, "tenant_id": str, "client_id": str,
        "client_secret": str, "blob_storage_authority": str, "blob_storage_scheme": str, "dfs_storage_authority": str,
        "dfs_storage_scheme": str, TIMEOUT: read_timeout,
    },
    {"azure_storage_account_name": "account_name", "azure_storage_account_key": "account_key"},
)  # fmt: skip
HDFS = StoreKind(
    "HDFS", _open_hdfs, {"host": str, "port": int, "user": str, "buffer_size": int, "kerb_ticket": str}
)
STORES = {
    **dict.fromkeys(("s3", "s3a", "s3n"), S3),
    **dict.fromkeys(("gs", "gcs"), GCS),
    **dict.fromkeys(("abfs", "abfss"), AZURE),
    "hdfs": HDFS,
}


def locate_paths(
    items: Iterable[str | os.PathLike[str]], filesystem: Any = None, storage_options: Mapping[str, Any] | None = None
) -> list[Location]:
    """The file systems of paths and URIs, and the paths in them. No path is looked up yet."""
    opened: dict[Any, tuple[Any, str]] = {}
    located = []
    for item in items:
        text = os.fsdecode(item)
        is_empty = not text or (text == os.curdir and isinstance(item, PurePath))
        location = None if is_empty else _locate_path(text, filesystem, storage_options, opened)
        if location is None or (location.filesystem is None and not location.address):
            raise ValueError(
                f"data names an empty path, {item!r}: is a variable not set? For the files of this folder type the "
                "text '.'"
            )
        located.append(location)
    return located


def _locate_path(
    text: str, filesystem: Any, storage_options: Mapping[str, Any] | None, opened: dict[Any, Any]
) -> Location:
    if filesystem is not None:
        if storage_options is not None:
            raise ValueError("storage_options: they belong to a file system that a path names; filesystem is given too")
        return in_file_system(text, filesystem)
    match = SCHEME.match(text)
    if match is None or os.path.exists(text):
        if storage_options is not None:
            raise ValueError(f"storage_options: {text} is a path of the local disk, which has no options")
        return Location(None, os.path.expanduser(text))
    scheme = match[1].lower()
    if scheme == "file":
        if storage_options is not None:
            raise ValueError(f"storage_options: {text} is a path of the local disk, which has no options")
        return Location(None, local_path(text))
    if scheme in STORES:
        return _in_store(text, scheme, STORES[scheme], dict(storage_options or {}), opened)
    return _in_fsspec(text, scheme, dict(storage_options or {}))


def local_path(uri: str) -> str:
    parts = urlsplit(uri.replace("?", "%3F").replace("#", "%23"))
    if parts.netloc not in ("", "localhost"):
        raise ValueError(f"{uri} names the host {parts.netloc}; a local file has three slashes, file:///folder/file")
    from urllib.request import url2pathname  # with all of HTTP

    return url2pathname(parts.path)


def _in_store(
    text: str, scheme: str, kind: StoreKind, given: dict[str, Any], opened: dict[Any, Any]
) -> Location:
    """A path of a store that pyarrow serves. Options may stand behind a question mark too, as pyarrow writes them."""
    rest = text[len(scheme) + 3 :]
    if (query := QUERY.search(rest)) is not None:
        pairs = dict(pair.split("=", 1) for pair in query[1].split("&"))
        given = {**{key: unquote(value) for key, value in pairs.items()}, **given}
        rest = rest[: query.start()]
    host, slash, path = rest.partition("/")
    user, at, bucket = host.rpartition("@")
    if kind is S3 and at:
        access_key, _, secret_key = user.partition(":")
        given = {"access_key": unquote(access_key), "secret_key": unquote(secret_key), **given}
        host = bucket
    shown = f"{scheme}://{host}{slash}{path}"
    if not host and kind is not HDFS:
        raise ValueError(f"{shown} names no bucket; type {scheme}://BUCKET/PATH")
    key = (scheme, host, tuple(sorted(given.items())))
    if key not in opened:
        try:
            opened[key] = kind.open(host, _read_options(kind, given))
        except (pa.ArrowException, OSError, TypeError) as error:
            raise ValueError(f"{shown} cannot be opened: {first_line_without(error, given)}") from None
    if kind is HDFS:
        return Location(opened[key], f"/{path}".rstrip("/") or "/", f"{scheme}://{host}")
    bucket = host.partition("@")[0]
    return Location(opened[key], f"{bucket}/{path}".rstrip("/"), f"{scheme}://{host}", len(bucket))


def known_options(uri: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Those options of another library that the store of a URI has here too, under their own or another name."""
    match = SCHEME.match(uri)
    kind = STORES.get(match[1].lower()) if match else None
    if kind is None:
        return {}
    return {key: value for key, value in given.items() if {key, key.lower()} & {*kind.options, *kind.other_names}}


def first_line_without(error: BaseException, options: Mapping[str, Any]) -> str:
    """The first line of a message, with the values of options left out: they may be credentials."""
    line = (str(error).splitlines() or [type(error).__name__])[0]
    for value in options.values():
        if len(str(value)) > 3:
            line = line.replace(str(value), "...")
    return line


def _read_options(kind: StoreKind, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the constructor."""
    options = {}
    for key, value in given.items():
        name = kind.other_names.get(str(key).lower(), key)
        if name not in kind.options:
            known = ", ".join(kind.options)
            raise ValueError(f"storage_options: {kind.name} has no option {key!r}; known are {known}")
        try:
            read = kind.options[name]
            if isinstance(value, bool) and read is not read_flag:
                raise ValueError(f"{value} is no value of it")
            is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
            options[name] = read(str(value)) if is_plain else value
        except ValueError as error:
            raise ValueError(f"storage_options: {key} of {kind.name} cannot be read: {error}") from None
    return options


def _in_fsspec(text: str, scheme: str, options: dict[str, Any]) -> Location:
    shown = re.sub(r"^([^/]*://)[^/]*@", r"\1", text)
    try:
        import fsspec
    except ImportError as error:
        known = ", ".join([*STORES, "file"])
        raise ImportError(
            f"{shown} needs fsspec, and what fsspec needs for it: pip install fsspec; without it, schemes are {known}"
        ) from error
    try:
        filesystem, address = fsspec.core.url_to_fs(text, **options)
    except (ImportError, ValueError, TypeError, OSError) as error:
        kind = ImportError if isinstance(error, ImportError) else ValueError
        raise kind(f"{shown} cannot be opened by fsspec: {first_line_without(error, options)}") from None
    return in_file_system(address, filesystem)


def in_file_system(text: str, filesystem: Any) -> Location:
    """A path in a file system that the caller has."""
    if isinstance(filesystem, fs.LocalFileSystem):
        return Location(None, local_path(text) if text.lower().startswith("file://") else text)
    if isinstance(filesystem, fs.FileSystem):
        match = SCHEME.match(text)
        address = text[match.end() :] if match else text
        return Location(filesystem, address.rstrip("/") or address, text[: match.end()] if match else "")
    if not (hasattr(filesystem, "_strip_protocol") and hasattr(filesystem, "invalidate_cache")):
        raise TypeError(
            f"filesystem must be a pyarrow.fs.FileSystem or a file system of fsspec; got {type(filesystem).__name__}"
        )
    protocols = filesystem.protocol
    protocols = (protocols,) if isinstance(protocols, str) else tuple(protocols)
    address = filesystem._strip_protocol(text)
    if "file" in protocols:
        return Location(None, address)
    filesystem.invalidate_cache()  # an old listing lacks the files that were written since
    prefix = f"{protocols[0]}:/" if address.startswith("/") else f"{protocols[0]}://"
    return Location(fs.PyFileSystem(exact_reads_handler(filesystem)), address, prefix)


def exact_reads_handler(filesystem: Any) -> Any:
    """pyarrow's handler of an fsspec file system. fsspec would read megabytes ahead of every read."""
    class Handler(fs.FSSpecHandler):  # type: ignore[misc]
        def open_input_file(self, path: str) -> pa.NativeFile:
            try:
                file = self.fs.open(path, mode="rb", cache_type="none")
            except TypeError:  # a file system without caches
                file = self.fs.open(path, mode="rb")
            return pa.PythonFile(file, mode="r")

    return Handler(filesystem)
