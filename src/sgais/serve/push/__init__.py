"""Sources that send by themselves: what they send is acknowledged to them once it is in the write-ahead log."""
