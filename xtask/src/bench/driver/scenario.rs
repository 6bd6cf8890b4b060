//! The comparisons, and their limits.

use super::server::Product;

/// The transaction of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// One prepared SELECT by primary key, without a transaction around it.
    PointSelect,
    /// The `read_write` of sysbench: 18 statements between BEGIN and COMMIT.
    ReadWrite,
}

impl Test {
    pub fn statements(self) -> f64 {
        match self {
            Self::PointSelect => 1.0,
            Self::ReadWrite => 20.0,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::PointSelect => "point_select",
            Self::ReadWrite => "read_write",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    pub product: Product,
    pub test: Test,
    pub clients: u32,
    /// Our CPU per statement as a share of pgbench's, at most.
    pub of_pgbench: Option<f64>,
    /// Our CPU per statement as a share of sysbench's, at most.
    pub of_sysbench: f64,
}

impl Scenario {
    pub fn name(&self) -> String {
        format!("{}, {}, {} connections", self.product.name(), self.test.word(), self.clients)
    }
}

pub const SCENARIOS: &[Scenario] = &[
    // So few that most waits end for one answer.
    Scenario { product: Product::Postgres, test: Test::PointSelect, clients: 4, of_pgbench: None, of_sysbench: 0.80 },
    Scenario { product: Product::Mariadb, test: Test::PointSelect, clients: 4, of_pgbench: None, of_sysbench: 0.80 },
    Scenario {
        product: Product::Postgres,
        test: Test::PointSelect,
        clients: 64,
        of_pgbench: Some(0.90),
        of_sysbench: 0.55,
    },
    Scenario {
        product: Product::Postgres,
        test: Test::PointSelect,
        clients: 256,
        of_pgbench: Some(0.90),
        of_sysbench: 0.55,
    },
    Scenario { product: Product::Postgres, test: Test::ReadWrite, clients: 64, of_pgbench: None, of_sysbench: 0.60 },
    Scenario { product: Product::Mariadb, test: Test::PointSelect, clients: 64, of_pgbench: None, of_sysbench: 0.60 },
    Scenario { product: Product::Mariadb, test: Test::PointSelect, clients: 256, of_pgbench: None, of_sysbench: 0.60 },
    Scenario { product: Product::Mariadb, test: Test::ReadWrite, clients: 64, of_pgbench: None, of_sysbench: 0.60 },
];
