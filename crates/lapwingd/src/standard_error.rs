//! Lines for standard error, which may take none: its disk is full, its reader has left, or does not read on.
//!
//! That ends no broker, and holds none up: lines are left out, and counted, and that is said once it takes lines again. As
//! `lapwing.log.standard_error` of the package.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use crate::system::takes_something;

/// So long a reader is waited for, once; while it does not read on, no more.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where lines go.
#[derive(Debug)]
pub(crate) struct StandardError<W = io::Stderr> {
    out: W,
    patience: Duration,
    /// Lines, since it took the last one.
    left_out: u64,
    /// Why the last of them was.
    why: String,
    /// What was written last ends within a line.
    is_within: bool,
}

impl Default for StandardError {
    fn default() -> Self {
        StandardError::of(io::stderr(), PATIENCE)
    }
}

impl<W: Write + AsFd> StandardError<W> {
    fn of(out: W, patience: Duration) -> Self {
        StandardError { out, patience, left_out: 0, why: String::new(), is_within: false }
    }

    /// A line, without its end; `form` makes one of what there is to say of lines before.
    pub(crate) fn write(&mut self, line: &str, form: impl Fn(&str) -> String) {
        let mut text = format!("{line}\n");
        if self.left_out > 0 {
            let said = format!("{} lines of the log are left out here: {}", self.left_out, self.why);
            text.insert_str(0, &format!("{}\n", form(&said)));
        }
        match self.put(&text) {
            Ok(()) => self.left_out = 0,
            Err(error) => {
                self.left_out += 1;
                self.why = error.to_string();
            }
        }
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        let whole = if self.is_within { format!("\n{text}") } else { text.to_owned() };
        let mut left = whole.as_bytes();
        while !left.is_empty() {
            match self.put_some(left) {
                Ok(written) => left = &left[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// As much as it takes without holding anybody up: what says that there is room has it for so much.
    fn put_some(&mut self, data: &[u8]) -> io::Result<usize> {
        let patience = if self.left_out > 0 { Duration::ZERO } else { self.patience };
        if !takes_something(self.out.as_fd(), patience)? {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads it"));
        }
        match self.out.write(&data[..data.len().min(libc::PIPE_BUF)])? {
            0 => Err(io::ErrorKind::WriteZero.into()),
            written => {
                self.is_within = data[written - 1] != b'\n';
                Ok(written)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;

    use super::*;

    fn notice(said: &str) -> String {
        format!("notice: {said}!")
    }

    /// Is nobody held up by a reader who does not read on, and is he told how much he lacks?
    #[test]
    fn a_full_pipe_says_what_it_lacks() {
        let (mut reader, mut filling) = io::pipe().expect("a pipe");
        let mut out = StandardError::of(filling.try_clone().expect("another end"), Duration::from_millis(10));
        while takes_something(filling.as_fd(), Duration::ZERO).expect("asked") {
            filling.write_all(&[b'x'; 1024]).expect("it has room");
        }
        for number in 0..3 {
            out.write(&format!("left out {number}"), notice);
        }
        assert_eq!(out.left_out, 3);
        assert!(reader.read(&mut vec![0; 1 << 20]).expect("read") > 0);
        out.write("again", notice);
        out.write("and again", notice);
        drop((out, filling));
        let mut said = String::new();
        reader.read_to_string(&mut said).expect("read");
        let said: Vec<&str> = said.trim_start_matches('x').lines().collect();
        assert_eq!(said, ["notice: 3 lines of the log are left out here: nobody reads it!", "again", "and again"]);
    }

    /// Is what a full disk and a reader who has left do not take counted, and why?
    #[test]
    fn what_is_not_taken_is_counted() {
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let mut out = StandardError::of(full, PATIENCE);
        ["a", "b"].iter().for_each(|line| out.write(line, notice));
        assert_eq!(out.left_out, 2);
        assert!(out.why.starts_with("No space left on device"), "{}", out.why);

        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let mut out = StandardError::of(writer, PATIENCE);
        out.write("a", notice);
        assert!(out.left_out == 1 && out.why.starts_with("Broken pipe"), "{}", out.why);
    }

    /// Does a line of which only the beginning was taken forge none with the next?
    #[test]
    fn what_broke_off_ends_its_line() {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let mut out = StandardError::of(writer, Duration::ZERO);
        let long = "y".repeat(1 << 20);
        out.write(&long, notice);
        assert_eq!(out.left_out, 1);
        let begun = reader.read(&mut vec![0; 1 << 20]).expect("read");
        assert!(begun > 0);
        out.write("next", notice);
        drop(out);
        let mut said = String::new();
        reader.read_to_string(&mut said).expect("read");
        assert_eq!(said, "\nnotice: 1 lines of the log are left out here: nobody reads it!\nnext\n");
    }
}
