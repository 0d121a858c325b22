//! How much work a consumer has and how fast it is done: what its reports say.

use std::time::{Duration, Instant};

/// Weight of one message in the mean of the work time.
const WEIGHT: f64 = 0.1;
const SECOND: Duration = Duration::from_secs(1);

/// Work time and rate of a consumer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    service_us: Option<f64>,
    /// Messages finished in the last whole second, and in the one that runs.
    rate: u32,
    counted: u32,
    second_began: Instant,
}

/// What a report says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Messages here, those in work included.
    pub queue: usize,
    pub service_us: Option<u64>,
    pub rate_per_s: u32,
    pub is_high: bool,
}

impl Load {
    pub fn new(now: Instant) -> Self {
        Self { service_us: None, rate: 0, counted: 0, second_began: now }
    }

    /// One message took `work` of a worker.
    pub fn finished(&mut self, work: Duration, now: Instant) {
        let us = work.as_secs_f64() * 1e6;
        self.service_us = Some(self.service_us.map_or(us, |mean| mean + WEIGHT * (us - mean)));
        self.turn(now);
        self.counted += 1;
    }

    /// Mean work, in microseconds; none before the first message.
    pub fn service_us(&self) -> Option<u64> {
        self.service_us.map(|us| us.round() as u64)
    }

    /// Messages finished in the last whole second.
    pub fn rate_per_s(&mut self, now: Instant) -> u32 {
        self.turn(now);
        self.rate
    }

    fn turn(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.second_began);
        if passed < SECOND {
            return;
        }
        // After a pause of two seconds the last whole second had nothing in it.
        self.rate = if passed < 2 * SECOND { self.counted } else { 0 };
        self.counted = 0;
        self.second_began = now;
    }
}

impl Figures {
    /// As the user properties of an acknowledgement.
    pub fn properties(&self) -> lapwing_codec::UserPropertiesBuf {
        let mut user = lapwing_codec::UserPropertiesBuf::new();
        let watermark = if self.is_high { "high" } else { "low" };
        let mut say = |name: &str, value: &str| user.push(name, value);
        let said = say("lapwing-queue", &self.queue.to_string())
            .and_then(|()| self.service_us.map_or(Ok(()), |us| say("lapwing-service-us", &us.to_string())))
            .and_then(|()| say("lapwing-rate", &self.rate_per_s.to_string()))
            .and_then(|()| say("lapwing-watermark", watermark));
        // Four short pairs always fit; without them the acknowledgement is still one.
        if said.is_err() { lapwing_codec::UserPropertiesBuf::new() } else { user }
    }

    /// As the payload of a report, with `probe` if it answers one.
    pub fn json(&self, probe: Option<u16>) -> String {
        let watermark = if self.is_high { "high" } else { "low" };
        let service = self.service_us.map_or_else(String::new, |us| format!(r#","service_us":{us}"#));
        let probe = probe.map_or_else(String::new, |number| format!(r#","probe":{number}"#));
        let Self { queue, rate_per_s, .. } = self;
        format!(r#"{{"queue":{queue}{service},"rate_per_s":{rate_per_s},"watermark":"{watermark}"{probe}}}"#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does the mean follow, and is the rate that of the last whole second?
    #[test]
    fn mean_and_rate() {
        let begun = Instant::now();
        let mut load = Load::new(begun);
        assert_eq!((load.service_us(), load.rate_per_s(begun)), (None, 0));
        for ms in 0..100 {
            load.finished(Duration::from_millis(20), begun + Duration::from_millis(10 * ms));
        }
        assert_eq!(load.service_us(), Some(20_000));
        assert_eq!(load.rate_per_s(begun + SECOND), 100);
        assert_eq!(load.rate_per_s(begun + 4 * SECOND), 0);
        for _ in 0..60 {
            load.finished(Duration::from_millis(200), begun + 5 * SECOND);
        }
        assert!(load.service_us().is_some_and(|us| us > 190_000), "{load:?}");
    }

    /// Are the two forms of a report those of the seam?
    #[test]
    fn forms() {
        let figures = Figures { queue: 12, service_us: Some(20_000), rate_per_s: 48, is_high: true };
        let said: Vec<_> = figures.properties().as_ref().iter().map(|(n, v)| format!("{n}={v}")).collect();
        let expected = ["lapwing-queue=12", "lapwing-service-us=20000", "lapwing-rate=48", "lapwing-watermark=high"];
        assert_eq!(said, expected);
        assert_eq!(figures.json(None), r#"{"queue":12,"service_us":20000,"rate_per_s":48,"watermark":"high"}"#);
        let idle = Figures { queue: 0, service_us: None, rate_per_s: 0, is_high: false };
        assert_eq!(idle.json(Some(7)), r#"{"queue":0,"rate_per_s":0,"watermark":"low","probe":7}"#);
    }
}
