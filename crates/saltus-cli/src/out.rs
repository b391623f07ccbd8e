//! Stdout, which may be closed while there is other work to do.

use std::io::{self, ErrorKind, StdoutLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static ELSEWHERE: AtomicBool = AtomicBool::new(false);

/// Says whether what is done goes somewhere else as well, to a store or a file. Then it goes on when
/// nobody reads stdout; else there is nothing left to do it for.
pub fn goes_elsewhere(elsewhere: bool) {
    ELSEWHERE.store(elsewhere, Ordering::Relaxed);
}

/// Stdout.
pub fn stdout() -> Out {
    Out(io::stdout().lock())
}

/// Stdout, to be written to.
pub struct Out(StdoutLock<'static>);

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unless_closed(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        unless_closed(self.0.flush(), ())
    }
}

/// The same, as if all had been written where nobody reads and nobody needs to.
fn unless_closed<T>(written: io::Result<T>, all: T) -> io::Result<T> {
    match written {
        Err(error)
            if error.kind() == ErrorKind::BrokenPipe && ELSEWHERE.load(Ordering::Relaxed) =>
        {
            Ok(all)
        }
        written => written,
    }
}
