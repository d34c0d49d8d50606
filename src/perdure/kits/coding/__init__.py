"""The coding kit: goals become tested changes of many files, on a branch of their own."""
