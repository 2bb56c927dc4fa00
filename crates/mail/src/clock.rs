//! Time in tests, so that a busy machine does not fail them: the processor time of the thread, the least of some runs,
//! bounds far from both the right and the wrong answer.

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

const RUNS: usize = 12;

fn now() -> Duration {
    let at = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(at.tv_sec as u64, at.tv_nsec as u32)
}

fn time<T>(run: impl Fn() -> T) -> Duration {
    let start = now();
    black_box(run());
    now() - start
}

/// The work is done in so many milliseconds, at least once in some runs.
#[track_caller]
pub(crate) fn within<T>(milliseconds: u64, run: impl Fn() -> T) {
    let bound = Duration::from_millis(milliseconds);
    let mut took = time(&run);
    for _ in 1..RUNS {
        if took < bound {
            return;
        }
        took = took.min(time(&run));
    }
    assert!(took < bound, "took {took:?}");
}

/// Eight times the input takes about eight times as long. Quadratic work would take 64 times as long; the bound is far
/// from both, since a big input also misses caches that a small one fits.
#[track_caller]
pub(crate) fn doubling<T>(size: usize, input: impl Fn(usize) -> Vec<u8>, run: impl Fn(&[u8]) -> T) {
    let inputs = [input(size), input(8 * size)];
    let [mut small, mut big] = [Duration::MAX; 2];
    let mut ratio = f64::MAX;
    for turn in 0..RUNS {
        small = small.min(time(|| run(&inputs[0])));
        big = big.min(time(|| run(&inputs[1])));
        ratio = big.as_secs_f64() / small.as_secs_f64().max(20e-6);
        if turn >= 2 && ratio < 24.0 {
            return;
        }
    }
    panic!("{ratio:.1} times as long: {small:?}, then {big:?}");
}

/// Ten times the input takes about ten times as long. On an idle machine it is below twelve; the bound leaves room for
/// caches that neighbours use as well, and is far from the hundred of quadratic work.
#[track_caller]
pub(crate) fn tenfold<T>(size: usize, input: impl Fn(usize) -> String, run: impl Fn(&str) -> T) {
    let inputs = [input(size), input(10 * size)];
    let [mut small, mut big] = [Duration::MAX; 2];
    for turn in 0..RUNS {
        small = small.min(time(|| run(&inputs[0])));
        big = big.min(time(|| run(&inputs[1])));
        if turn > 0 && big <= 16 * small.max(Duration::from_micros(50)) {
            return;
        }
    }
    panic!("{:.1} times as long: {small:?}, then {big:?}", big.as_secs_f64() / small.as_secs_f64());
}
