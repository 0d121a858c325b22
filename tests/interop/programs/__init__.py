"""The client programs of these tests; `clients.peer` says how one is started and spoken to."""
