//! Histograms in the compressed V2 format; one compressor serves a whole log of them.
//!
//! The library sets up a new compressor for each histogram, and a new decompressor to read it. That takes longer than the few
//! counts of a second do. So the library only makes the plain V2 format here. Its wrapping, a zlib stream after a cookie and a
//! length, is made with a compressor that is reused. Streams are so short that levels above `fast` gain less than 1 %.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use hdrhistogram::{Counter, Histogram};
use std::io::{self, Write};

/// The beginning of a compressed histogram, followed by the length of the compressed part.
const COOKIE: [u8; 4] = 0x1c84_9314_u32.to_be_bytes();
const HEAD_BYTES: usize = 8;
/// More than an uncompressed histogram with every value takes.
const PLAIN_BYTES: usize = 1 << 20;
/// Far more than zlib adds to data that cannot be compressed.
const ZLIB_BYTES: usize = 1 << 10;

/// Replaces the library's `V2DeflateSerializer`.
pub struct Compressing {
    serializer: V2Serializer,
    zlib: Compress,
    plain: Vec<u8>,
    compressed: Vec<u8>,
}

impl Compressing {
    pub fn new() -> Self {
        let (serializer, zlib) = (V2Serializer::new(), Compress::new(Compression::fast(), true));
        Self { serializer, zlib, plain: Vec::new(), compressed: Vec::new() }
    }
}

impl Serializer for Compressing {
    type SerializeError = io::Error;

    fn serialize<T: Counter, W: Write>(&mut self, histogram: &Histogram<T>, writer: &mut W) -> io::Result<usize> {
        self.plain.clear();
        self.serializer.serialize(histogram, &mut self.plain).map_err(io::Error::other)?;
        self.compressed.clear();
        self.compressed.reserve(self.plain.len() + ZLIB_BYTES);
        self.zlib.reset();
        match self.zlib.compress_vec(&self.plain, &mut self.compressed, FlushCompress::Finish)? {
            Status::StreamEnd => {}
            Status::Ok | Status::BufError => return Err(io::Error::other("a histogram grew when it was compressed")),
        }
        let length = u32::try_from(self.compressed.len()).map_err(io::Error::other)?;
        writer.write_all(&COOKIE)?;
        writer.write_all(&length.to_be_bytes())?;
        writer.write_all(&self.compressed)?;
        Ok(HEAD_BYTES + self.compressed.len())
    }
}

/// Reads what [`Compressing`] wrote, or any other implementation of the format.
pub struct Decompressing {
    deserializer: Deserializer,
    zlib: Decompress,
    plain: Vec<u8>,
}

impl Decompressing {
    pub fn new() -> Self {
        let (deserializer, zlib) = (Deserializer::new(), Decompress::new(true));
        Self { deserializer, zlib, plain: Vec::with_capacity(PLAIN_BYTES) }
    }

    pub fn histogram(&mut self, bytes: &[u8]) -> Result<Histogram<u32>, String> {
        let compressed = bytes.strip_prefix(&COOKIE).and_then(|rest| rest.split_at_checked(HEAD_BYTES - COOKIE.len()));
        let (_, compressed) = compressed.ok_or("it is not in the compressed V2 format")?;
        self.plain.clear();
        self.zlib.reset(true);
        match self.zlib.decompress_vec(compressed, &mut self.plain, FlushDecompress::Finish) {
            Ok(Status::StreamEnd) => {}
            Ok(Status::Ok | Status::BufError) => return Err("it is cut short, or larger than any of ours".to_owned()),
            Err(error) => return Err(error.to_string()),
        }
        self.deserializer.deserialize(&mut &self.plain[..]).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::V2DeflateSerializer;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn histogram(values: &[u64]) -> Histogram<u32> {
        let mut histogram = Histogram::new_with_bounds(1, 4_000_000, 3).unwrap();
        for value in values {
            histogram.record(*value).unwrap();
        }
        histogram
    }

    fn written(serializer: &mut impl Serializer, histogram: &Histogram<u32>) -> Vec<u8> {
        let mut bytes = Vec::new();
        assert_eq!(serializer.serialize(histogram, &mut bytes).unwrap(), bytes.len());
        bytes
    }

    proptest! {
        #[test]
        fn the_library_reads_what_we_write_and_we_read_what_it_writes(each in vec(vec(1..4_000_000_u64, 0..300), 1..5)) {
            let (mut ours, mut theirs) = (Compressing::new(), V2DeflateSerializer::new());
            let (mut our_reader, mut their_reader) = (Decompressing::new(), Deserializer::new());
            for values in each {
                let histogram = histogram(&values);
                let by_us = written(&mut ours, &histogram);
                let read: Histogram<u32> = their_reader.deserialize(&mut &by_us[..]).unwrap();
                prop_assert_eq!(&read, &histogram);
                prop_assert_eq!(our_reader.histogram(&by_us).unwrap(), read);
                prop_assert_eq!(our_reader.histogram(&written(&mut theirs, &histogram)).unwrap(), histogram);
            }
        }

        #[test]
        fn what_is_cut_short_is_refused_and_what_is_damaged_spoils_nothing_after_it(cut in 0.0..1.0_f64, byte in any::<u8>()) {
            let histogram = histogram(&[3, 70_000, 70_001, 3_000_000]);
            let whole = written(&mut Compressing::new(), &histogram);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let place = (cut * whole.len() as f64) as usize;
            let mut damaged = whole.clone();
            damaged[place] = byte;
            let mut reader = Decompressing::new();
            prop_assert!(reader.histogram(&whole[..place]).is_err());
            let _ = reader.histogram(&damaged);
            prop_assert_eq!(reader.histogram(&whole).unwrap(), histogram);
        }
    }

    #[test]
    fn what_would_fill_the_memory_is_refused() {
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), Compression::best());
        zlib.write_all(&vec![0; 4 * PLAIN_BYTES]).unwrap();
        let stream = zlib.finish().unwrap();
        let bytes = [&COOKIE[..], &u32::try_from(stream.len()).unwrap().to_be_bytes(), &stream].concat();
        let told = Decompressing::new().histogram(&bytes).unwrap_err();
        assert!(told.contains("larger than any of ours"), "{told}");
    }
}
