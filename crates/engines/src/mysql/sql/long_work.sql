-- No limit of statements, locks and the network ends a load or a check. Each server reads its line alone.
SET SESSION wait_timeout = 86400, lock_wait_timeout = 86400, net_read_timeout = 3600, net_write_timeout = 3600
    /*M! , max_statement_time = 0 */
    /*!50708 , max_execution_time = 0 */
