SELECT number, marks FROM bakeoff_receipts
