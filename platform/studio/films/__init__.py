"""Films: pictures of recorded episodes, drawn again exactly."""
