//! Ctrl-C: the first asks the run to stop with what it has, the second ends the process at once.

use crate::say;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};

static REQUESTS: AtomicUsize = AtomicUsize::new(0);

/// What shells report for a process ended by Ctrl-C.
const ENDED_BY_CTRL_C: i32 = 130;

/// Starts listening.
pub fn listen() {
    let listening = ctrlc::set_handler(|| {
        if REQUESTS.fetch_add(1, Ordering::Relaxed) > 0 {
            std::process::exit(ENDED_BY_CTRL_C);
        }
        // A terminal shows ^C itself, and a line here would be lost below the progress bar.
        if !std::io::stderr().is_terminal() {
            say("saltus: stopping with what was drawn; once more to end at once");
        }
    });
    // Without a handler Ctrl-C still ends the process, only without a summary.
    if let Err(error) = listening {
        say(&format!("saltus: Ctrl-C will end without a summary ({error})"));
    }
}

/// Whether the user asked to stop.
pub fn requested() -> bool {
    REQUESTS.load(Ordering::Relaxed) > 0
}
