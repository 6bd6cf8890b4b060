//! The samples of a series, in bounded memory.
//!
//! When there is no more room, every other sample is dropped, and from then on only every other moment is sampled. Counts
//! only lose resolution by that. Marks, taken at the beginning and the end, are dropped only if that makes too little room.

use record::telemetry::Sample;

/// The most values that are kept: 16 MiB, which is half an hour of five hundred columns and little enough for a small guest.
const MOST_VALUES: usize = 1 << 20;
/// This many samples are kept, whatever the number of columns.
const FEWEST_SAMPLES: usize = 64;

pub struct SampleBuffer {
    samples: Vec<KeptSample>,
    most: usize,
    /// One of this many moments on the grid is sampled.
    stride: u64,
}

struct KeptSample {
    sample: Sample,
    /// The number of the moment on the grid; `None` for a mark.
    moment: Option<u64>,
}

impl SampleBuffer {
    pub fn for_columns(columns: usize) -> Self {
        Self::of((MOST_VALUES / columns.max(1)).max(FEWEST_SAMPLES))
    }

    fn of(most: usize) -> Self {
        Self { samples: Vec::new(), most, stride: 1 }
    }

    /// Whether a moment on the grid is to be sampled.
    pub fn wants(&self, moment: u64) -> bool {
        moment.is_multiple_of(self.stride)
    }

    /// Keeps the sample of a moment on the grid.
    pub fn keep(&mut self, moment: u64, sample: Sample) {
        self.make_room();
        // Making room may have made the grid coarser.
        if self.wants(moment) {
            self.samples.push(KeptSample { sample, moment: Some(moment) });
        }
    }

    /// Keeps a mark. If a coarser grid does not make enough room, the oldest samples are dropped, whether marks or not.
    pub fn mark(&mut self, sample: Sample) {
        self.make_room();
        self.samples.push(KeptSample { sample, moment: None });
    }

    fn make_room(&mut self) {
        if self.samples.len() < self.most {
            return;
        }
        self.stride = self.stride.saturating_mul(2);
        let stride = self.stride;
        self.samples.retain(|kept| kept.moment.is_none_or(|moment| moment.is_multiple_of(stride)));
        // Either all samples are marks, or all remaining moments are on the coarser grid.
        let too_many = (self.samples.len() + 1).saturating_sub(self.most);
        self.samples.drain(..too_many);
    }

    pub fn into_samples(self) -> Vec<Sample> {
        self.samples.into_iter().map(|kept| kept.sample).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_ns: u64) -> Sample {
        Sample { at_ns, took_ns: 1, values: Vec::new() }
    }

    fn moments(buffer: SampleBuffer) -> Vec<u64> {
        buffer.into_samples().iter().map(|sample| sample.at_ns).collect()
    }

    #[test]
    fn a_full_series_becomes_coarser_and_keeps_its_marks() {
        let mut buffer = SampleBuffer::of(8);
        buffer.mark(sample(1_000));
        for moment in 0..20 {
            if buffer.wants(moment) {
                buffer.keep(moment, sample(moment));
            }
        }
        assert_eq!(moments(buffer), [1_000, 0, 4, 8, 12, 16]);
    }

    #[test]
    fn memory_is_bounded_whatever_comes() {
        let mut buffer = SampleBuffer::of(4);
        for moment in 0..10_000 {
            buffer.keep(moment, sample(moment));
            buffer.mark(sample(moment));
            assert!(buffer.samples.len() <= 4, "{moment}");
        }
        assert_eq!(moments(buffer).last(), Some(&9_999));
        assert_eq!(SampleBuffer::for_columns(0).most, MOST_VALUES);
        assert_eq!(SampleBuffer::for_columns(usize::MAX).most, FEWEST_SAMPLES);
    }
}
