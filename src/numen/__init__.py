"""numen: one array for the whole road."""
