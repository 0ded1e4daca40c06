"""What every source on another machine needs: its address without secrets, and patience when it is away."""
