"""Are the error bars right? Many problems whose log Z is known, and how often the error bars hold it."""
