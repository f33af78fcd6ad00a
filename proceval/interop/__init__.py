"""Published sets inside other people's programs: each gives the verdict that proceval itself gives."""
