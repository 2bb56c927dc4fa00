//! When the blow of a round falls, and how a server on its own dies of it, drawn from the seed; and the fuse that a client
//! lights when it comes to the step that was chosen.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::load::chance::Chance;

/// A step that a client comes by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Half of the content is out.
    Data,
    /// All of it is out, the dot included; there is no reply yet.
    Dot,
    /// The 250 was read this instant.
    Accepted,
    /// A delete or purge is out.
    Removing,
    /// Its answer was read this instant.
    Removed,
}

/// What kills the server.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Death {
    AtAMoment,
    MidData,
    BehindTheDot,
    BehindA250,
    AtARemoval,
    AfterSigterm,
    WhileStarting,
    PowerCut,
    AtASyscall,
}

/// When the blow falls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// At this time at the latest.
    pub(crate) limit: Duration,
    /// The step of a client that lights the fuse, and which of them: the first, the second…
    pub(crate) step: Option<(Step, usize)>,
    /// From the step to the blow.
    pub(crate) delay: Duration,
}

/// The end of one round of a server on its own.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub(super) death: Death,
    pub(super) moment: Moment,
    /// SIGTERM comes so long before SIGKILL.
    pub(super) grace: Option<Duration>,
    /// Further kills while it starts again, each after this share of the time that a start takes.
    pub(super) again: Vec<f64>,
    /// `mailbox.messages_max` of this round.
    pub(super) messages_max: Option<usize>,
}

/// A step comes at the latest now; a round without one is rare and short.
const STEP_LIMIT: Duration = Duration::from_millis(800);

impl Moment {
    /// After this time, whatever the clients do.
    pub(crate) fn after(limit: Duration) -> Self {
        Self { limit, step: None, delay: Duration::ZERO }
    }
}

impl End {
    pub(super) fn drawn(seed: u64, round: u32) -> Self {
        let mut chance = Chance::new(&[seed, u64::from(round), 0xdead]);
        let moment = Duration::from_secs_f64(chance.spread(0.005, 0.6));
        let delay = if chance.percent(50) { Duration::ZERO } else { chance.time(Duration::from_millis(4)) };
        let often = 1 + chance.below(100);
        let removals = 1 + chance.below(16);
        let mut end = Self {
            death: Death::AtAMoment,
            moment: Moment { limit: STEP_LIMIT, step: None, delay },
            grace: None,
            again: Vec::new(),
            messages_max: chance.percent(15).then(|| 5 + chance.below(20)),
        };
        (end.death, end.moment.step) = match chance.below(10) {
            0 => (Death::MidData, Some((Step::Data, often))),
            1 | 2 => (Death::BehindTheDot, Some((Step::Dot, often))),
            3 | 4 => (Death::BehindA250, Some((Step::Accepted, often))),
            5 => (Death::AtARemoval, Some((Step::Removing, removals))),
            6 => (Death::AtARemoval, Some((Step::Removed, removals))),
            7 => (Death::AfterSigterm, None),
            8 => (Death::WhileStarting, None),
            _ => (Death::AtAMoment, None),
        };
        match end.death {
            Death::AfterSigterm => end.grace = Some(chance.time(Duration::from_millis(40))),
            Death::WhileStarting => end.again = (0..1 + chance.below(3)).map(|_| chance.share() * 1.2).collect(),
            _ => {}
        }
        if end.moment.step.is_none() {
            end.moment.limit = moment;
        }
        end
    }
}

/// Who dies by the fuse.
#[derive(Clone, Default, Debug)]
pub(crate) struct Victims {
    /// These, in any case.
    pub(crate) all: Vec<Pid>,
    /// Of these, by the number of their doors, the one that the client is with.
    pub(crate) at_door: Vec<(usize, Pid)>,
}

/// Lit by the client that comes to the chosen step; kills at once, from that client's own thread.
pub(super) struct Fuse {
    step: Option<Step>,
    left: AtomicUsize,
    delay: Duration,
    /// None when it only tells, or when they are about to be waited for and their numbers may be another's soon.
    victims: Mutex<Victims>,
    /// The door of the client that lit it.
    lit_at: Mutex<Option<usize>>,
    out: AtomicBool,
}

impl Fuse {
    pub(super) fn new(moment: Moment, victims: Victims) -> Self {
        let (step, left) = moment.step.unzip();
        Self {
            step,
            left: AtomicUsize::new(left.unwrap_or(0)),
            delay: moment.delay,
            victims: Mutex::new(victims),
            lit_at: Mutex::default(),
            out: AtomicBool::new(false),
        }
    }

    /// A client is at this step, by this door.
    pub(super) fn at(&self, step: Step, door: usize, told: &Sender<()>) {
        if self.step != Some(step) || self.left.fetch_sub(1, Ordering::SeqCst) != 1 {
            return;
        }
        if !self.delay.is_zero() {
            sleep(self.delay);
        }
        *self.lit_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(door);
        let victims = self.victims.lock().unwrap_or_else(PoisonError::into_inner);
        let at_door = victims.at_door.iter().filter(|(number, _)| *number == door).map(|(_, victim)| victim);
        for victim in victims.all.iter().chain(at_door) {
            // It may have died of something else; that is found out by who waits for it.
            let _ = kill_process(*victim, Signal::KILL);
        }
        drop(victims);
        // Nobody waits any more when the round's time was up first.
        let _ = told.send(());
    }

    /// From now on it kills nobody. The door of the client that lit it, if one did.
    pub(super) fn disarm(&self) -> Option<usize> {
        self.out.store(true, Ordering::Relaxed);
        *self.victims.lock().unwrap_or_else(PoisonError::into_inner) = Victims::default();
        *self.lit_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the blow has fallen.
    pub(super) fn is_out(&self) -> bool {
        self.out.load(Ordering::Relaxed)
    }
}

impl fmt::Display for Death {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::AtAMoment => "at a random moment",
            Self::MidData => "amid DATA",
            Self::BehindTheDot => "behind the final dot",
            Self::BehindA250 => "right behind a 250",
            Self::AtARemoval => "at a delete or purge",
            Self::AfterSigterm => "SIGTERM, then SIGKILL",
            Self::WhileStarting => "and again while starting",
            Self::PowerCut => "power cut",
            Self::AtASyscall => "at a system call",
        })
    }
}
