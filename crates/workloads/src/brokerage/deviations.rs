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
    "Isolation is that of the engine's settings, read committed by default, instead of up to serializable. A trade-result locks the \
     row of its account before it reads what the account holds, and on MariaDB and MySQL the holdings, too.",
    "Frames are parts of one function. Their statements are sent by the client, and those of a market-watch are one.",
    "A market-feed is one transaction, which takes its entries by security.",
    "The market is four, each with its share of the securities. Orders that wait for their price are kept by the load engine and \
     are forgotten when driving ends.",
    "Prices follow the load engine's clock. They go on from any place of their wave, not from where the initial trading ended.",
    "Trade-cleanup runs at the beginning of driving, beside the customers, and leaves alone what was ordered since.",
    "Data maintenance pauses for a minute after each change. Its first change is due a minute after driving began.",
    "Limits of response times count from when a transaction is due. A trial that exceeds them counts, and the report tells it. The \
     average is not compared with the 90th percentile.",
    "Runs may be shorter than two hours, no rate is asked for, and nothing is asked of checkpoints and of steadiness.",
    "Trade-status and the history of a customer-position may find less where few days of trading were loaded.",
];
