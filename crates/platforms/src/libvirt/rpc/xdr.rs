//! Values in XDR (RFC 4506): big-endian words, everything padded to four bytes. Pure.
//!
//! Lengths come from the peer. None is believed before as many bytes are there, so a wrong one costs no memory.

/// No text in the answers used here comes near this size.
const LONGEST_TEXT: usize = 4 << 20;
const WORD: usize = 4;

/// Why bytes are not the value that was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum XdrError {
    #[error("it ends {missing} bytes too early")]
    Short { missing: usize },
    #[error("it has a text of {0} bytes")]
    Long(usize),
    #[error("it has a text that is not UTF-8")]
    NotText,
    #[error("it has the number {found} where {expected} is expected")]
    Number { found: u32, expected: &'static str },
}

#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    pub fn word(mut self, value: u32) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn signed(self, value: i32) -> Self {
        self.word(value.cast_unsigned())
    }

    pub fn text(self, text: &str) -> Self {
        // Callers send texts of a few kilobytes.
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.word(length).fixed(text.as_bytes())
    }

    pub fn some_text(self, text: &str) -> Self {
        self.word(1).text(text)
    }

    /// Bytes whose number both sides know.
    pub fn fixed(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self.0.resize(self.0.len().next_multiple_of(WORD), 0);
        self
    }

    pub fn bytes(self) -> Vec<u8> {
        self.0
    }
}

#[derive(Debug)]
pub struct XdrReader<'b>(&'b [u8]);

impl<'b> XdrReader<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8], XdrError> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or(XdrError::Short { missing: count.saturating_sub(self.0.len()) })?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], XdrError> {
        self.take(COUNT)?.try_into().map_err(|_| XdrError::Short { missing: COUNT })
    }

    pub fn word(&mut self) -> Result<u32, XdrError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub fn signed(&mut self) -> Result<i32, XdrError> {
        Ok(self.word()?.cast_signed())
    }

    pub fn long(&mut self) -> Result<u64, XdrError> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    /// Bytes whose number both sides know.
    pub fn fixed<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], XdrError> {
        let bytes = self.array()?;
        self.take(COUNT.next_multiple_of(WORD) - COUNT)?;
        Ok(bytes)
    }

    pub fn text(&mut self) -> Result<String, XdrError> {
        let length = self.word()? as usize;
        if length > LONGEST_TEXT {
            return Err(XdrError::Long(length));
        }
        let bytes = self.take(length)?;
        self.take(length.next_multiple_of(WORD) - length)?;
        Ok(std::str::from_utf8(bytes).map_err(|_| XdrError::NotText)?.to_owned())
    }

    pub fn optional_text(&mut self) -> Result<Option<String>, XdrError> {
        match self.word()? {
            0 => Ok(None),
            1 => Ok(Some(self.text()?)),
            found => Err(XdrError::Number { found, expected: "0 or 1" }),
        }
    }

    /// Values one after another, their number first.
    pub fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Result<T, XdrError>) -> Result<Vec<T>, XdrError> {
        let count = self.word()?;
        let mut values = Vec::new();
        for _ in 0..count {
            // Every value takes at least a word, so a count that is too high ends here.
            values.push(one(self)?);
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let bytes = Writer::default().word(7).signed(-1).text("abcde").some_text("").fixed(&[1, 2, 3]).bytes();
        assert_eq!(bytes.len() % WORD, 0);
        let mut reader = XdrReader::new(&bytes);
        assert_eq!((reader.word(), reader.signed(), reader.text()), (Ok(7), Ok(-1), Ok("abcde".to_owned())));
        assert_eq!(reader.optional_text(), Ok(Some(String::new())));
        assert_eq!(reader.fixed(), Ok([1, 2, 3]));
        assert_eq!(reader.word(), Err(XdrError::Short { missing: 4 }));
    }

    #[test]
    fn lengths_that_are_not_true_are_errors() {
        let of = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
        assert_eq!(XdrReader::new(&of(&[5, 0])).text(), Err(XdrError::Short { missing: 1 }));
        assert_eq!(XdrReader::new(&of(&[u32::MAX, 0])).text(), Err(XdrError::Long(u32::MAX as usize)));
        assert_eq!(XdrReader::new(&of(&[4, u32::MAX])).text(), Err(XdrError::NotText));
        assert!(matches!(XdrReader::new(&of(&[2])).optional_text(), Err(XdrError::Number { found: 2, .. })));
        let endless = XdrReader::new(&of(&[u32::MAX, 1, 2])).list(XdrReader::word);
        assert_eq!(endless, Err(XdrError::Short { missing: 4 }));
    }
}
