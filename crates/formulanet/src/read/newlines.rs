//! Text as other systems write it: with a byte-order mark, or with carriage returns alone at the ends of lines.

use std::io::{self, BufRead, Read};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Removes a byte-order mark and normalizes line ends of an input.
pub(super) fn normal(mut input: Box<dyn BufRead>) -> io::Result<Box<dyn BufRead>> {
    if input.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
        input.consume(BYTE_ORDER_MARK.len());
    }
    if has_returns_alone(input.fill_buf()?) {
        return Ok(Box::new(io::BufReader::new(Returns(input))));
    }
    Ok(input)
}

/// Removes a byte-order mark and normalizes line ends of a text in memory.
pub(super) fn normal_text(mut text: String) -> String {
    if text.as_bytes().starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len());
    }
    if has_returns_alone(text.as_bytes()) { text.replace('\r', "\n") } else { text }
}

/// Whether lines end with carriage returns, as far as a beginning tells.
pub fn has_returns_alone(beginning: &[u8]) -> bool {
    beginning.contains(&b'\r') && !beginning.contains(&b'\n')
}

/// Without a byte-order mark.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// Reads carriage returns as ends of lines.
struct Returns(Box<dyn BufRead>);

impl Read for Returns {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        buffer[..read].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        Ok(read)
    }
}
