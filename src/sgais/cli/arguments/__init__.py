"""From words on the command line to settings."""
