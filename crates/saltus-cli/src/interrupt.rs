//! Ctrl-C, SIGTERM, and SIGUSR1 by which queues announce the end of a job's time: the first asks the run to stop with
//! what it has, a second Ctrl-C or SIGTERM ends the process at once.

use crate::say;
use saltus::Control;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

static REQUESTS: AtomicUsize = AtomicUsize::new(0);
/// Set by SIGUSR1.
static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

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
    #[cfg(unix)]
    if let Err(error) = signal_hook::flag::register(signal_hook::consts::SIGUSR1, ASKED.clone()) {
        say(&format!("saltus: SIGUSR1 will end without a summary ({error})"));
    }
    // Without a handler Ctrl-C still ends the process, only without a summary.
    if let Err(error) = listening {
        say(&format!("saltus: Ctrl-C will end without a summary ({error})"));
    }
}

/// What the user asks for.
pub fn control() -> Control {
    if requested() { Control::Stop } else { Control::Continue }
}

/// Whether the user asked to stop.
pub fn requested() -> bool {
    REQUESTS.load(Ordering::Relaxed) > 0 || ASKED.load(Ordering::Relaxed)
}
