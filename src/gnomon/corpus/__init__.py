"""Text coming in: the data sets experiments read, and the files they are read from."""
