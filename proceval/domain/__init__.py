"""The problem families, one file each; they are found through conf/domain/*.yaml, so nothing is imported here."""
