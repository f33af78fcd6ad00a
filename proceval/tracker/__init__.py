"""Where a run is shown besides its folder; nothing here can change, delay or lose a local record."""
