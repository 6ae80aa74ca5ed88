//! Counters in the format of Prometheus.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;

/// Upper ends of the histogram's buckets, in seconds.
const BUCKETS: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Paths with their own counter; all others share one, so that clients cannot fill memory with paths.
pub(crate) const PATHS: [&str; 15] = [
    "/",
    "/healthz",
    "/indexed-modules",
    "/indexed-premises",
    "/max-new-premises",
    "/metrics",
    "/openapi.json",
    "/retrieve",
    "/v1/embed",
    "/v1/graph",
    FACTS,
    "/v1/library",
    "/v1/neighbors",
    "/v1/rank",
    "/v1/select",
];
/// The sum over all libraries.
const FACTS: &str = "/v1/libraries/{name}/facts";
const OTHER: &str = "other";

/// Counters.
#[derive(Default)]
pub(crate) struct Metrics {
    in_flight: Arc<AtomicI64>,
    connections: Arc<AtomicI64>,
    accepted: AtomicU64,
    slow: AtomicU64,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    requests: BTreeMap<(&'static str, u16), u64>,
    seconds: BTreeMap<&'static str, Histogram>,
}

#[derive(Default)]
struct Histogram {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    sum: f64,
}

/// One more as long as it lives.
pub(crate) struct Gauge(Arc<AtomicI64>);

impl Gauge {
    fn of(count: &Arc<AtomicI64>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Gauge(Arc::clone(count))
    }
}

impl Drop for Gauge {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    /// A request is being answered.
    pub(crate) fn request(&self) -> Gauge {
        Gauge::of(&self.in_flight)
    }

    /// A connection is open.
    pub(crate) fn connection(&self) -> Gauge {
        self.accepted.fetch_add(1, Ordering::Relaxed);
        Gauge::of(&self.connections)
    }

    /// The number of connections so far.
    pub(crate) fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// The number of open connections.
    pub(crate) fn open(&self) -> i64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// A client was too slow to finish its first lines.
    pub(crate) fn slow(&self) {
        self.slow.fetch_add(1, Ordering::Relaxed);
    }

    /// A request was answered.
    pub(crate) fn answered(&self, path: &str, status: StatusCode, time: Duration) {
        let is_facts = path.starts_with("/v1/libraries/") && path.ends_with("/facts");
        let path = if is_facts { FACTS } else { path };
        let path = PATHS.iter().find(|known| **known == path).copied().unwrap_or(OTHER);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.requests.entry((path, status.as_u16())).or_default() += 1;
        let histogram = counts.seconds.entry(path).or_default();
        let seconds = time.as_secs_f64();
        for (bucket, end) in histogram.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= end);
        }
        histogram.count += 1;
        histogram.sum += seconds;
    }

    /// The number of answered requests.
    pub(crate) fn total(&self) -> u64 {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.requests.values().sum()
    }

    /// Everything as text.
    pub(crate) fn text(&self) -> String {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = String::new();
        out += "# HELP formulanet_requests_total Requests by path and status.\n";
        out += "# TYPE formulanet_requests_total counter\n";
        for ((path, status), count) in &counts.requests {
            out += &format!("formulanet_requests_total{{path=\"{path}\",status=\"{status}\"}} {count}\n");
        }
        out += "# HELP formulanet_request_seconds Time from a request's first lines to its answer.\n";
        out += "# TYPE formulanet_request_seconds histogram\n";
        for (path, histogram) in &counts.seconds {
            for (count, end) in histogram.buckets.iter().zip(BUCKETS) {
                out +=
                    &format!("formulanet_request_seconds_bucket{{path=\"{path}\",le=\"{end}\"}} {count}\n");
            }
            let Histogram { count, sum, .. } = histogram;
            out += &format!("formulanet_request_seconds_bucket{{path=\"{path}\",le=\"+Inf\"}} {count}\n");
            out += &format!("formulanet_request_seconds_sum{{path=\"{path}\"}} {sum}\n");
            out += &format!("formulanet_request_seconds_count{{path=\"{path}\"}} {count}\n");
        }
        let of_status = |wanted: u16| -> u64 {
            let counts = counts.requests.iter().filter(|((_, status), _)| *status == wanted);
            counts.map(|(_, count)| count).sum()
        };
        let (refused, slow) = (of_status(429), self.slow.load(Ordering::Relaxed));
        let gauge = |value: &AtomicI64| value.load(Ordering::Relaxed);
        let (in_flight, connections) = (gauge(&self.in_flight), gauge(&self.connections));
        for (name, kind, help, value) in [
            ("refused_total", "counter", "Requests refused because too many were waiting.", refused as i64),
            ("slow_clients_total", "counter", "Clients too slow to finish their first lines.", slow as i64),
            ("requests_in_flight", "gauge", "Requests that are being answered.", in_flight),
            ("connections", "gauge", "Connections that are open.", connections),
        ] {
            out += &format!("# HELP formulanet_{name} {help}\n");
            out += &format!("# TYPE formulanet_{name} {kind}\n");
            out += &format!("formulanet_{name} {value}\n");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_cumulative_and_paths_bounded() {
        let metrics = Metrics::default();
        let open = metrics.request();
        metrics.answered("/v1/rank", StatusCode::OK, Duration::from_millis(3));
        metrics.answered("/v1/rank", StatusCode::TOO_MANY_REQUESTS, Duration::from_secs(60));
        metrics.answered("/secret\"\n", StatusCode::NOT_FOUND, Duration::ZERO);
        let text = metrics.text();
        for line in [
            "formulanet_requests_total{path=\"/v1/rank\",status=\"200\"} 1",
            "formulanet_requests_total{path=\"other\",status=\"404\"} 1",
            "formulanet_request_seconds_bucket{path=\"/v1/rank\",le=\"0.0025\"} 0",
            "formulanet_request_seconds_bucket{path=\"/v1/rank\",le=\"0.005\"} 1",
            "formulanet_request_seconds_bucket{path=\"/v1/rank\",le=\"10\"} 1",
            "formulanet_request_seconds_bucket{path=\"/v1/rank\",le=\"+Inf\"} 2",
            "formulanet_refused_total 1",
            "formulanet_requests_in_flight 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
        drop(open);
        assert!(metrics.text().contains("formulanet_requests_in_flight 0"));
    }
}
