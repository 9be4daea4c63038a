"""Documents of results, one file a kind."""
