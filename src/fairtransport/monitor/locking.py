"""One monitor at a time works on a state file."""

from __future__ import annotations

import errno
import os
import warnings
from time import monotonic, sleep
from typing import TYPE_CHECKING, Self

from fairtransport.errors import DataError

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CANNOT = {errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""What file systems say that have no locks."""
PAUSE, PATIENCE = 0.05, 1.0
"""Seconds between letting go of a lock and using it, and for which a writer tries to keep it."""


class StateLock:
    """The sole use of a state file, from `acquire` until the end of a ``with`` block.

    The lock lies on the file itself and ends with the process, however that ends; there is no
    further file. Only who holds the lock of the file that has the name writes, and a write puts
    a new file there. Its writer takes up the new lock at once. Somebody else may come first,
    and so lets go of a new lock once before using it; a writer that comes too late even then
    writes no more.

    Parameters
    ----------
    path
        The state file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self._held: int | None = None
        self._can_lock = fcntl is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._release()

    def acquire(self, begin: Callable[[], None]) -> bool:
        """Lock the state; where there is none ``begin`` writes one first. Say whether it did.

        Parameters
        ----------
        begin
            Writes the first state.

        Raises
        ------
        DataError
            If somebody else has it.
        """
        is_new = not self.path.exists()
        if is_new:
            begin()
            self._hold(patience=PATIENCE)
        elif self.path.is_file():  # whoever reads anything else says what it is
            self._hold()
            self._release()
            sleep(PAUSE)
            self._hold()
        return is_new

    def replace(self, write: Callable[[], None]) -> None:
        """Let ``write`` replace the state, and go on with the new file.

        Parameters
        ----------
        write
            Puts a new file in the state's place.

        Raises
        ------
        DataError
            If the state is no longer ours, before anything is written.
        """
        # somebody else put another file in the place of ours: their evidence would be overwritten
        if self._held is not None and not self._is_named(self._held):
            raise self._in_use()
        write()
        self._hold(patience=PATIENCE)

    def remove(self) -> None:
        """Take away the state, if it is still ours: who took in nothing leaves nothing."""
        if self._held is not None and self._is_named(self._held):
            self.path.unlink()

    def _hold(self, patience: float = 0.0) -> None:
        """Lock the file that has the state's name now, in the place of the one held so far.

        Parameters
        ----------
        patience
            Seconds for which a writer tries: whoever came first lets go once.

        Raises
        ------
        DataError
            If the lock is not free, or the file was replaced meanwhile.
        """
        handle = self._opened()
        last = monotonic() + patience
        while not (is_free := self._lock(handle)) and monotonic() < last:
            sleep(PAUSE / 50)
        # locked, but no longer the state: it was replaced between opening and locking
        if not is_free or not self._is_named(handle):
            os.close(handle)
            raise self._in_use()
        self._release()
        self._held = handle

    def _is_named(self, handle: int) -> bool:
        """Say whether an open file is still the one that has the state's name.

        Parameters
        ----------
        handle
            Of the file.
        """
        try:
            return os.path.samestat(os.fstat(handle), self.path.stat())
        except FileNotFoundError:
            return False

    def _in_use(self) -> DataError:
        """Return the error that another monitor works on the state."""
        msg = f"`path` is in use by another monitor, {str(self.path)!r}: run one at a time"
        return DataError(msg)

    def _release(self) -> None:
        """Let go of the lock, if there is one."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _lock(self, handle: int) -> bool:
        """Return whether the lock was free; where there are no locks, say so once.

        Parameters
        ----------
        handle
            Of the file.
        """
        if not self._can_lock:
            return True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in CANNOT:
                raise
            self._can_lock = False
            warnings.warn(
                f"{str(self.path)!r} cannot be locked here ({error.strerror}): make sure that "
                "no two monitors use it at the same time.",
                stacklevel=2,
            )
        return True

    def _opened(self) -> int:
        """Return a handle of the state file."""
        try:
            return os.open(self.path, os.O_RDONLY)
        except OSError as error:
            msg = f"`path` could not be locked, {str(self.path)!r}: {error.strerror}"
            raise DataError(msg) from error
