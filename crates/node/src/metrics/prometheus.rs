//! The text format that Prometheus reads (version 0.0.4).

use std::fmt::Write;

use super::{Metric, MetricKind};
use crate::one_line::is_hidden;

/// Renders `metrics`; those of one name must follow each other.
pub fn to_text(metrics: &[Metric]) -> String {
    let mut text = String::with_capacity(metrics.len() * 96);
    let mut previous = "";
    for metric in metrics {
        if metric.name != previous {
            header(&mut text, metric);
            previous = metric.name;
        }
        text.push_str(metric.name);
        labels(&mut text, &metric.labels);
        // Writing to a String cannot fail.
        let _ = writeln!(text, " {}", metric.value);
    }
    text
}

fn header(text: &mut String, metric: &Metric) {
    let kind = match metric.kind {
        MetricKind::Counter => "counter",
        MetricKind::Gauge => "gauge",
    };
    let _ = writeln!(text, "# HELP {} {}", metric.name, metric.help);
    let _ = writeln!(text, "# TYPE {} {kind}", metric.name);
}

fn labels(text: &mut String, labels: &[(&'static str, String)]) {
    for (n, (name, value)) in labels.iter().enumerate() {
        text.push(if n == 0 { '{' } else { ',' });
        let _ = write!(text, "{name}=\"");
        for c in value.chars() {
            match c {
                '\\' => text.push_str("\\\\"),
                '"' => text.push_str("\\\""),
                // Groups and clients have names that others chose, and an operator may read this at a terminal.
                c if is_hidden(c) => {
                    let _ = write!(text, "\\{}", c.escape_unicode());
                }
                c => text.push(c),
            }
        }
        text.push('"');
    }
    if !labels.is_empty() {
        text.push('}');
    }
}

/// Bytes that a label's value takes between its quotation marks.
pub(super) fn label_bytes(value: &str) -> u64 {
    let shown = |c: char| match c {
        '\\' | '"' => 2,
        c if is_hidden(c) => 1 + c.escape_unicode().len(),
        c => c.len_utf8(),
    };
    value.chars().map(shown).sum::<usize>() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a name announced once, are labels quoted, and whole numbers written whole?
    #[test]
    fn text_is_as_prometheus_wants_it() {
        let metrics = [
            Metric::gauge("lapwing_a", "First.", 1),
            Metric::counter("lapwing_b_total", "Second.", 2).with("reason", "a \"b\"\\"),
            Metric::counter("lapwing_b_total", "Second.", 12_345_678_901).with("reason", "c").with("x", "y"),
        ];
        let expected = "# HELP lapwing_a First.\n# TYPE lapwing_a gauge\nlapwing_a 1\n\
            # HELP lapwing_b_total Second.\n# TYPE lapwing_b_total counter\n\
            lapwing_b_total{reason=\"a \\\"b\\\"\\\\\"} 2\nlapwing_b_total{reason=\"c\",x=\"y\"} 12345678901\n";
        assert_eq!(to_text(&metrics), expected);
    }

    /// Does a name begin no line, move no cursor and turn nothing around?
    #[test]
    fn names_of_others_are_shown_and_not_obeyed() {
        let name = "a\n# TYPE forged counter\u{1b}[2J\u{9b}2J\u{202e}b\u{2028}\u{85}";
        let text = to_text(&[Metric::counter("lapwing_b_total", "Second.", 1).with("group", name)]);
        assert!(text.lines().count() == 3 && !text.contains(|c| is_hidden(c) && c != '\n'), "{text:?}");
        assert!(text.contains(r#"{group="a\\u{a}# TYPE forged counter\\u{1b}[2J\\u{9b}2J"#), "{text}");
    }
}
