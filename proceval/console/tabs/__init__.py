"""The scripts that the server runs, one a page; they only show what the modules beside this folder load and count."""
