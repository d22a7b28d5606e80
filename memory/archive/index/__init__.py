"""The archive's rows in the cold store, read and written within a transaction of the caller's."""
