"""What the monitor concludes from figures of the installation. Pure."""
