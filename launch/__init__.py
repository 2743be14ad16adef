"""The `interplay` command: one verb for each stage, plus demo, sweep and tools such as doctor, look and replay."""
