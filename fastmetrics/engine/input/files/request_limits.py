"""Time limits of requests, for stores whose libraries have none that can be set.

A server may accept a connection and never answer. Google's library then waits for two minutes and Azure's for four, and
pyarrow passes no other limit on. So every request is a call in a thread of its own, and nobody waits longer for it than
the limit. The thread ends when the library gives up; it does not keep the process alive.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING, Any

from fastmetrics._core.optional_imports import fs
from fastmetrics._core.optional_imports import pyarrow as pa

if TYPE_CHECKING:
    from concurrent.futures import Future

REQUEST_SECONDS = 20.0
SLOWEST_BYTES = 256 << 10  # a second: a long answer has more time


def start_call(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Call a function in another thread, which ends with the process."""
    from concurrent.futures import Future

    answer: Future[Any] = Future()

    def call() -> None:
        try:
            answer.set_result(function(*arguments))
        except BaseException as error:  # noqa: BLE001 - raised where the answer is awaited
            answer.set_exception(error)

    Thread(target=call, daemon=True, name="fastmetrics-request").start()
    return answer


def await_answer(answer: Future[Any], seconds: float, limit: float) -> Any:
    """The answer of a call, or TimeoutError after some seconds. `limit` is the option that the message names."""
    from concurrent.futures import wait

    if not wait([answer], seconds).done:
        raise TimeoutError(
            f"the store has not answered for {seconds:.3g} seconds; storage_options={{'request_timeout': ...}} sets "
            f"another limit than {limit:.3g}"
        )
    return answer.result()


class LimitedReads(io.RawIOBase):
    """A file of a store, or a stream if `size` is None; every read has a time limit.

    The file is only asked to read: Google's library sends requests for its size and its place too, under the lock of
    the interpreter, so no limit could end them.
    """

    def __init__(self, file: pa.NativeFile, limit: float, size: int | None) -> None:
        super().__init__()
        self._file = file
        self._limit = limit
        self._size = size
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._size is not None

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if self._size is None:
            raise io.UnsupportedOperation("a stream cannot seek")
        self._place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        return self._place

    def read(self, size: int | None = -1) -> bytes:
        """At most `size` bytes from the present place."""
        size = -1 if size is None else size
        if self._size is None:
            answer = start_call(self._file.read, size if size >= 0 else None)
        else:
            left = max(0, self._size - self._place)
            size = left if size < 0 else min(size, left)
            answer = start_call(self._file.read_at, size, self._place)
        content = bytes(await_answer(answer, self._limit + max(0, size) / SLOWEST_BYTES, self._limit))
        self._place += len(content)
        return content


def limit_requests(filesystem: Any, limit: float) -> Any:
    """A file system of pyarrow whose requests end after `limit` seconds. It only reads."""
    def ask(function: Callable[..., Any], *arguments: Any) -> Any:
        return await_answer(start_call(function, *arguments), limit, limit)

    class LimitedHandler(fs.FileSystemHandler):  # type: ignore[misc]
        def get_type_name(self) -> str:
            return str(filesystem.type_name)

        def normalize_path(self, path: str) -> str:
            return str(filesystem.normalize_path(path))

        def get_file_info(self, paths: list[str]) -> Any:
            return ask(filesystem.get_file_info, paths)

        def get_file_info_selector(self, selector: fs.FileSelector) -> Any:
            # A long listing is many requests. While it goes on, a small one tells whether the store still answers.
            listing = start_call(filesystem.get_file_info, selector)
            while True:
                try:
                    return await_answer(listing, limit, limit)
                except TimeoutError:
                    ask(filesystem.get_file_info, selector.base_dir)

        def open_input_file(self, path: str) -> pa.NativeFile:
            opened = start_call(filesystem.open_input_file, path)
            size = ask(filesystem.get_file_info, path).size
            return pa.PythonFile(LimitedReads(await_answer(opened, limit, limit), limit, size), mode="r")

        def open_input_stream(self, path: str) -> pa.NativeFile:
            # By default pyarrow would decompress what its name says is compressed; the caller does that.
            opened = ask(filesystem.open_input_stream, path, None)
            return pa.PythonFile(LimitedReads(opened, limit, None), mode="r")

        def _refuse(self, *arguments: Any) -> None:
            raise NotImplementedError("stores are only read")

        create_dir = delete_dir = delete_dir_contents = delete_root_dir_contents = delete_file = _refuse
        move = copy_file = open_output_stream = open_append_stream = _refuse

    return fs.PyFileSystem(LimitedHandler())
