//! What tests measure of the workers: how much of a CPU one event uses. Outside of tests there is nothing here.

#[cfg(not(test))]
pub(crate) struct Probe;

#[cfg(not(test))]
impl Probe {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn measure(&self, work: impl FnOnce()) {
        work();
    }
}

#[cfg(test)]
pub(crate) use measured::Probe;

#[cfg(test)]
mod measured {
    use std::sync::Mutex;
    use std::time::Duration;

    use rustix::time::{ClockId, clock_gettime};

    /// The most that one event has used.
    pub(crate) struct Probe(Mutex<Duration>);

    impl Probe {
        pub(crate) fn new() -> Self {
            Self(Mutex::default())
        }

        pub(crate) fn measure(&self, work: impl FnOnce()) {
            let began = cpu();
            work();
            let mut most = self.0.lock().unwrap();
            *most = most.max(cpu() - began);
        }

        pub(crate) fn most(&self) -> Duration {
            *self.0.lock().unwrap()
        }
    }

    /// CPU that this thread has used.
    fn cpu() -> Duration {
        let spent = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(spent.tv_sec as u64, spent.tv_nsec as u32)
    }
}
