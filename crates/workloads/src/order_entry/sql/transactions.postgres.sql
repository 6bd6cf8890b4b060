-- Statements that PostgreSQL needs in another form.

-- Two deliveries of a warehouse may meet at the oldest order. The second waits for the lock, finds the row gone and,
-- because of FOR UPDATE, goes on to the next one instead of treating the queue as empty.
-- statement: take-oldest-queued
DELETE FROM new_order
WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = (
    SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id LIMIT 1 FOR UPDATE)
RETURNING no_o_id;
