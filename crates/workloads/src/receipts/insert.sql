INSERT INTO bakeoff_receipts (number, marks) VALUES ($1, $2)
