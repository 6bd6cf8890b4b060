//! The functions that maintain the data.

settings::names! {
    /// The functions of a refresh run, in its order. What is old goes first, since new rows have the same days.
    #[repr(u16)]
    pub enum Function {
        /// Begins a run, and takes its set.
        DeleteStore => "delete-store",
        DeleteCatalog => "delete-catalog",
        DeleteWeb => "delete-web",
        DeleteInventory => "delete-inventory",
        InsertStoreSales => "insert-store-sales",
        InsertStoreReturns => "insert-store-returns",
        InsertCatalogSales => "insert-catalog-sales",
        InsertCatalogReturns => "insert-catalog-returns",
        InsertWebSales => "insert-web-sales",
        InsertWebReturns => "insert-web-returns",
        InsertInventory => "insert-inventory",
    }
}

pub const FUNCTIONS: [Function; Function::NAMES.len()] = [
    Function::DeleteStore,
    Function::DeleteCatalog,
    Function::DeleteWeb,
    Function::DeleteInventory,
    Function::InsertStoreSales,
    Function::InsertStoreReturns,
    Function::InsertCatalogSales,
    Function::InsertCatalogReturns,
    Function::InsertWebSales,
    Function::InsertWebReturns,
    Function::InsertInventory,
];
