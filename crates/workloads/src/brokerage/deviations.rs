//! Text that must go with every number of this workload.

pub const NOTICE: &str = "The brokerage workload is derived from TPC-E. It is a separate implementation that uses neither its generator \
    nor its texts, and it is not a TPC benchmark. Its results are not comparable with published results of TPC-E.";

pub const DEVIATIONS: &[&str] = &[
    "Rows are our own: the original demands its own generator, with its lists of names, companies and postal codes. Ours are \
     composed of syllables; there are as many of each. Domains of mail are ours, too.",
    "A database may have fewer customers than 5,000, fewer days of initial trading than 300, another scale factor than 500 and \
     shorter news than 100,000 bytes. The defaults are 1,000 customers and 25 days.",
    "After a short initial trading accounts hold more lots for each trade, and a trade changes fewer lots: 0.18 and 1.30 after 25 \
     days, 0.05 and 1.34 after 300. With fewer than 20 days, some accounts have fewer than 50 trades.",
    "Masks of skewed draws shrink with the database, so that they cover the same share of the trades.",
    "Money is whole cents and time whole microseconds in 64-bit integers. Rates are integers, too, and earnings of companies, \
     their margins and yields are whole hundredths.",
    "The text of a news item is a text, not a binary object.",
    "Symbols, postal codes and tax ids have the forms of the original, and other letters. Each of 102 industries has companies \
     in every load unit; the competitors of a company are taken by a rule.",
    "Initial trades of a load unit have ids of their own range. Their times are whole milliseconds.",
    "Daily prices have their key in the order of symbol and date.",
];
